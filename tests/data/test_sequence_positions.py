"""The table of positions: blocks in order, none of which cuts a sequence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.chain_twin import Toy, toy_of, toys

from suffice.data import sequence_positions
from suffice.data.attributes import LabelledSequences, no_attributes
from suffice.data.schema import Schema
from suffice.data.sequence_positions import PositionTable, SequenceColumns
from suffice.data.variable import Variable


@given(toys(), st.integers(1, 12))
def test_blocks_are_the_sequences_in_order(toy: Toy, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence_positions, "BLOCK_POSITIONS", most)
        blocks = list(toy.table.blocks())
    labels, weights, start = [], [], 0
    for block in blocks:
        own = block.columns.sequences
        labels += [part.tolist() for part in own.apart(own.labels)]
        assert block.start == start
        assert block.n_rows == own.n_positions == len(block.columns["label"])
        assert own.n_positions <= most or np.count_nonzero(own.lengths) == 1
        start += own.n_positions
        if toy.weights is not None:
            weights += block.weights.tolist()
    assert labels == toy.labels
    if toy.weights is not None:
        assert weights == [toy.weights[s] for s, own in enumerate(toy.labels) for _ in own]


def test_no_sequences_are_one_block_without_rows() -> None:
    table = PositionTable(
        LabelledSequences(np.zeros(1, np.int64), no_attributes(0), np.zeros(0, np.int32)), Variable("y")
    )
    (block,) = table.blocks()
    assert block.n_rows == 0
    assert table.n_expected == 0


def test_what_was_dropped_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequence_positions, "BLOCK_POSITIONS", 2)
    toy = toy_of(0, 2, [2, 2, 2])
    table = PositionTable(toy.sequences, toy.variable, None, ("one left out",), 5)
    assert [block.n_dropped for block in table.blocks()] == [5, 0, 0]
    assert table.n_expected == 11
    assert table.settled().remarks == ("one left out",)
    assert table.with_schema(Schema(())) is table
    assert table.schema["label"] == toy.variable


def test_columns_have_the_labels_alone() -> None:
    columns = SequenceColumns("label", toy_of(0, 2, [2]).sequences)
    assert list(columns) == ["label"]
    assert len(columns) == 1
    assert columns.n_bytes > 0
    with pytest.raises(KeyError, match="word"):
        columns["word"]


def test_parts_hold_all_sequences_and_tell_what_was_dropped_once() -> None:
    toy = toy_of(0, 2, [2, 3, 1, 2])
    table = PositionTable(toy.sequences, toy.variable, np.arange(1.0, 5.0), ("one left out",), 5)
    parts = table.parts(3)
    assert len(parts) == 3
    assert [length for part in parts for length in part.sequences.lengths.tolist()] == [2, 3, 1, 2]
    assert [weight for part in parts for weight in part.weights.tolist()] == [1, 2, 3, 4]
    assert [part.n_dropped for part in parts] == [5, 0, 0]
    assert [part.remarks for part in parts] == [("one left out",), (), ()]
