"""Rows with gaps as a statistic: all of them, or a sample that does not depend on how the table was cut."""

from __future__ import annotations

import numpy as np

from suffice.data.block import Block
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.stats.gap_rows import GapRow, GapRows

SCHEMA = Schema((Variable("A", ("u", "v")), Variable("x")))


def block(n: int = 50) -> Block:
    chance = np.random.default_rng(0)
    x = chance.normal(size=n)
    x[chance.random(n) < 0.5] = np.nan
    return Block(SCHEMA, {"A": chance.integers(-1, 2, n).astype(np.int8), "x": x}, None, n)


def test_only_rows_with_gaps_are_kept_and_in_order() -> None:
    rows = GapRows.of_block(GapRow(("A", "x"), 1000), block())
    held = block().columns
    wanted = np.flatnonzero((held["A"] < 0) | np.isnan(held["x"]))
    assert rows.is_whole
    np.testing.assert_array_equal(rows.places, wanted)
    np.testing.assert_array_equal(rows.columns[0], held["A"][wanted])


def test_a_sample_does_not_depend_on_blocks() -> None:
    need = GapRow(("A", "x"), 7)
    whole = GapRows.of_block(need, block())
    cut = [GapRows.of_block(need, part) for part in block().split(8)]
    added = cut[3] + (cut[0] + cut[6] + cut[2]) + (cut[5] + cut[1] + cut[4])
    assert not whole.is_whole
    assert whole.n_all == added.n_all
    np.testing.assert_array_equal(whole.places, added.places)
    np.testing.assert_array_equal(whole.columns[1], added.columns[1])


def test_codes_follow_their_states() -> None:
    rows = GapRows.of_block(GapRow(("A", "x"), 1000), block())
    larger = Schema((Variable("A", ("t", "v", "u")), Variable("x")))
    moved = rows.reindexed(larger)
    np.testing.assert_array_equal(moved.columns[0], np.array([2, 1, -1])[rows.columns[0]])
    back = GapRows.from_arrays(moved.need, larger, moved.to_arrays())
    np.testing.assert_array_equal(back.columns[0], moved.columns[0])
    assert back.scaled(3.0).weights.sum() == 3 * rows.weights.sum()
    assert len(GapRows.zero(rows.need, SCHEMA).weights) == 0
