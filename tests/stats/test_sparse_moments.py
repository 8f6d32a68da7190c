"""Moments of sparse columns are those of the columns written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import suffice as sf
from suffice.data.matrix import MatrixTable
from suffice.data.sparse_matrix import SparseTable
from suffice.data.variable import Variable
from suffice.stats import moments as module
from suffice.stats.needs import Count, Moment
from suffice.stats.source import BlockSource

CLASS = Variable("y", ("a", "b", "c"))


def both(x: np.ndarray, codes: np.ndarray, weights: Any, block_rows: int = 1 << 16) -> tuple[Any, Any, list[Moment]]:
    """Collect the moments of each column by class from a sparse and from a dense table."""
    variables = tuple(Variable(f"x{j}") for j in range(x.shape[1]))
    needs = [Moment((variable.name,), ("y",)) for variable in variables]
    tables = (
        SparseTable(csr_array(x), variables, {"y": codes}, (CLASS,), weights),
        MatrixTable(x, variables, {"y": codes}, (CLASS,), weights),
    )
    mine, theirs = (BlockSource(table, block_rows=block_rows).gather([Count(("y",)), *needs]) for table in tables)
    assert len(mine) == len(theirs) == len(needs) + 1 > 1
    return mine, theirs, needs


@given(
    data=st.data(),
    n=st.integers(1, 40),
    p=st.integers(1, 5),
    seed=st.integers(0, 999),
    offset=st.sampled_from([0.0, 1e6]),
)
def test_sparse_moments_are_those_of_the_dense_matrix(data: Any, n: int, p: int, seed: int, offset: float) -> None:
    rng = np.random.default_rng(seed)
    x = np.where(rng.random((n, p)) < 0.4, rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, p) + offset, 0.0)
    codes = rng.integers(0, data.draw(st.integers(1, 3)), n).astype(np.int8)
    weights = data.draw(st.sampled_from([None, rng.integers(0, 3, n), rng.random(n)]))
    if weights is not None and not weights.any():
        weights = None
    mine, theirs, needs = both(x, codes, weights, data.draw(st.sampled_from([3, 1 << 16])))
    for need in needs:
        a, b = mine[need], theirs[need]
        np.testing.assert_allclose(a.weight, b.weight, rtol=1e-14)
        np.testing.assert_allclose(a.mean + a.rest, b.mean + b.rest, rtol=1e-13, atol=1e-14 * np.abs(x).max())
        np.testing.assert_allclose(a.scatter, b.scatter, rtol=1e-10, atol=1e-13 * (x * x).sum())
        assert (a.scatter >= 0).all()


def test_columns_in_several_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_COLUMNS", 3)
    rng = np.random.default_rng(2)
    x, codes = rng.poisson(0.5, (50, 8)).astype(float), rng.integers(0, 3, 50).astype(np.int8)
    mine, theirs, needs = both(x, codes, None)
    for j, need in enumerate(needs):
        np.testing.assert_allclose(mine[need].scatter, theirs[need].scatter, rtol=1e-12)
        sums = mine[need].weight * (mine[need].mean[:, 0] + mine[need].rest[:, 0])
        assert sums.round(9).tolist() == [x[codes == k, j].sum() for k in range(3)]


def test_products_of_two_sparse_columns_are_not_lost() -> None:
    x, codes = np.array([[0.0, 2.0], [3.0, 1.0], [0.0, 0.0]]), np.zeros(3, np.int8)
    table = SparseTable(csr_array(x), (Variable("u"), Variable("v")), {"y": codes}, (CLASS,))
    found = BlockSource(table).gather([Moment(("u", "v"), ("y",))])[Moment(("u", "v"), ("y",))]
    np.testing.assert_allclose(found.scatter[0], np.cov(x.T, bias=True) * 3, rtol=1e-14)


def test_squares_that_overflow_are_refused() -> None:
    with pytest.raises(sf.DataError, match="Column 'x1' holds numbers so large"):
        both(np.array([[0.0, 1e200], [1.0, 0.0]]), np.zeros(2, np.int8), None)
