"""Blocks: every row once, in order, whatever the size of a block."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from suffice.data.block import whole
from suffice.data.table import open_table


@given(st.integers(0, 30), st.integers(1, 40))
def test_blocks_are_the_rows_in_order(n_rows, size):
    data = {"x": [f"s{i % 7}" for i in range(n_rows)]}
    table = open_table(data, ["x"], weights=list(range(n_rows)), schema={"x": [f"s{i}" for i in range(7)]})
    blocks = [piece for block in table.blocks() for piece in block.split(size)]
    assert np.concatenate([block.columns["x"] for block in blocks]).tolist() == [i % 7 for i in range(n_rows)]
    assert np.concatenate([block.weights for block in blocks]).tolist() == list(range(n_rows))
    assert all(block.n_rows <= size for block in blocks)
    assert [block.start for block in blocks] == list(range(0, max(n_rows, 1), size))
    assert sum(block.weight for block in blocks) == sum(range(n_rows))


def test_blocks_can_be_iterated_again():
    table = open_table({"x": ["a", "b", "a"]}, ["x"])
    for _ in range(2):
        assert [block.columns["x"].tolist() for block in table.blocks()] == [[0, 1, 0]]


def test_weight_of_a_block_without_weights_is_its_rows():
    (block,) = open_table({"x": ["a", "b", "a"]}, ["x"]).blocks()
    assert block.weights is None
    assert block.weight == 3.0


@given(st.lists(st.floats(0, 1e20)))
def test_whole_floats_become_integers_only_where_that_is_exact(weights):
    result = whole(np.array(weights, float))
    exact = all(value.is_integer() and value < 2**53 for value in weights)
    assert result.dtype == (np.int64 if exact else np.float64)
    assert result.tolist() == weights
