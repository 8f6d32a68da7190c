"""Sparse matrices as tables."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

from suffice.data import sparse_matrix
from suffice.data.sparse_matrix import SparseTable
from suffice.data.table import open_table
from suffice.data.variable import Variable

Y = Variable("y", ("a", "b"))


@given(st.integers(1, 12), st.integers(1, 4), st.integers(1, 5), st.integers(0, 99))
def test_blocks_hold_all_rows_in_order(n: int, d: int, step: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4)
    y, w = rng.integers(0, 2, n), rng.random(n)
    table = SparseTable(csr_array(x), tuple(Variable(f"x{j}") for j in range(d)), {"y": y}, (Y,), w)
    before, sparse_matrix.SPARSE_ROWS = sparse_matrix.SPARSE_ROWS, step
    try:
        blocks = list(table.blocks())
    finally:
        sparse_matrix.SPARSE_ROWS = before
    for j in range(d):
        np.testing.assert_array_equal(np.concatenate([block.columns[f"x{j}"] for block in blocks]), x[:, j])
    np.testing.assert_array_equal(np.concatenate([block.columns["y"] for block in blocks]), y)
    np.testing.assert_array_equal(np.concatenate([np.asarray(block.weights) for block in blocks]), w)
    assert [block.start for block in blocks] == list(range(0, n, step))
    assert sum(block.n_rows for block in blocks) == table.n_expected == n


def test_entries_that_occur_twice_are_added_and_columns_can_be_cut() -> None:
    x = coo_array(([1.0, 2.0, 5.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    table = SparseTable(x, (Variable("u"), Variable("v")))
    (block,) = table.blocks()
    assert block.columns["v"].tolist() == [3.0, 0.0]
    assert block.columns.rows(1, 2)["u"].tolist() == [5.0]  # type: ignore[attr-defined]
    assert not table.has_gaps
    assert open_table(table, ("u", "v")) is table
