"""Moments of a matrix row by row: as exact as column by column, whatever the pieces, cells, weights and threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stats.test_moment_passes import OFFSETS, exact

import suffice as sf
from suffice.data.matrix import MatrixTable
from suffice.data.variable import Variable
from suffice.native import moments
from suffice.stats import matrix_pieces
from suffice.stats.matrix_pieces import rows_of_piece, suits
from suffice.stats.moment_passes import Job, Products, pass_over
from suffice.stats.needs import Moment
from suffice.stats.source import BlockSource


def job_of(x: np.ndarray, by: Any = (), weights: Any = None, *, squares: bool = False) -> Job:
    p = x.shape[1]
    products = Products.within([[j] for j in range(p)] if squares else [range(p)], p)
    return Job(tuple(x.T), products, tuple(by), weights, len(x), x)


def passed(job: Job, rows: int = 1 << 14, threads: int = 1) -> Any:
    """Pass over a matrix row by row, in small pieces."""
    before = sf.config().threads
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrix_pieces, "MIN_ROWS", 1)
        patch.setattr(matrix_pieces, "MAX_ROWS", rows)
        sf.config(threads=threads)
        try:
            assert job.by_rows
            return pass_over(job)
        finally:
            sf.config(threads=before)


@given(
    data=st.data(),
    n=st.integers(1, 30),
    seed=st.integers(0, 10**6),
    offset=st.sampled_from(OFFSETS),
    rows=st.integers(1, 31),
    squares=st.booleans(),
    order=st.sampled_from("CF"),
)
def test_cells_weights_and_pieces_agree_with_exact_fractions(data, n, seed, offset, rows, squares, order) -> None:
    rng = np.random.default_rng(seed)
    x = np.stack([rng.normal(size=n) + offset, 30 * rng.normal(size=n), np.full(n, 0.1)], axis=1).copy(order)
    weights = data.draw(st.sampled_from([None, rng.integers(0, 4, n), rng.random(n) * rng.integers(0, 2, n)]))
    by = data.draw(
        st.sampled_from([(), ((rng.integers(0, 3, n), 4),), ((rng.integers(0, 2, n), 2), (np.ones(n, int), 3))])
    )
    job = job_of(x, by, weights, squares=squares)
    weight, mean, rest, scatter = passed(job, rows)
    cell = job.cells_of(slice(0, n))
    for k in range(job.n_cells):
        mine = cell == k
        w = np.ones(n)[mine] if weights is None else weights[mine].astype(float)
        expected = exact(list(x[mine].T), w, job.products.first, job.products.second)
        assert weight[k] == pytest.approx(expected[0], rel=1e-14)
        np.testing.assert_allclose(mean[k] + rest[k], expected[1], rtol=3e-16, atol=1e-12)
        size = np.sqrt(np.array(expected[2])[job.products.squares])
        assert (np.abs(scatter[k] - expected[2]) <= 1e-13 * job.products.of(size) + 1e-22).all()
        assert scatter[k][job.products.squares][2] == 0, "a constant column has no scatter at all"
        assert (scatter[k][job.products.squares] >= 0).all()


@pytest.mark.parametrize("squares", [False, True])
def test_a_far_first_row_costs_no_digits(squares: bool) -> None:
    rng = np.random.default_rng(12)
    x = np.stack([np.append(1e6, 1e-3 * rng.normal(size=500)), np.append(0.0, rng.normal(size=500))], axis=1)
    weights = np.append(1e-15, np.ones(500))
    job = job_of(x, (), weights, squares=squares)
    expected = exact(list(x.T), weights, job.products.first, job.products.second)
    _, mean, _, scatter = passed(job)
    np.testing.assert_allclose(mean[0], expected[1], rtol=1e-11)
    np.testing.assert_allclose(scatter[0], expected[2], rtol=1e-9)


@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize("arrangement", ["as drawn", "sorted"])
def test_a_mean_of_a_billion_and_a_spread_of_one_keep_their_digits(arrangement: str, squares: bool) -> None:
    rng = np.random.default_rng(11)
    column = rng.normal(size=20_000) + 1e9
    x = (np.sort(column) if arrangement == "sorted" else column)[:, None] * np.ones(2)
    _, mean, rest, scatter = passed(job_of(x, ((rng.integers(0, 2, len(x)) * 0, 1),), squares=squares))
    centred = column - 1e9
    centre = centred.mean()
    assert abs((mean[0, 0] - 1e9) + rest[0, 0] - centre) < 1e-13
    assert scatter[0, 0] == pytest.approx(((centred - centre) ** 2).sum(), rel=1e-13, abs=0)


@given(value=st.floats(-1e12, 1e12), n=st.integers(1, 60), seed=st.integers(0, 999), rows=st.integers(1, 61))
def test_constant_columns_have_no_scatter_within_their_cells(value, n, seed, rows) -> None:
    rng = np.random.default_rng(seed)
    codes, weights = rng.integers(0, 2, n), rng.integers(0, 3, n)
    by_cell = np.where(codes == 0, value, value / 3)
    by_cell[weights == 0] = np.inf
    x = np.stack([by_cell, rng.normal(size=n) * 1e3], axis=1)
    for squares in (False, True):
        weight, mean, _, scatter = passed(job_of(x, ((codes, 2),), weights, squares=squares), rows)
        assert (scatter[:, 0] == 0).all()
        assert squares or (scatter[:, 1] == 0).all(), "neither of its own nor with another"
        for k in np.flatnonzero(weight):
            assert mean[k, 0] == (value if k == 0 else value / 3)


def test_results_do_not_depend_on_threads() -> None:
    rng = np.random.default_rng(13)
    x = rng.normal(size=(3000, 4)) * 10.0 ** rng.integers(-6, 6, 4)
    for squares in (False, True):
        job = job_of(x, ((rng.integers(0, 5, 3000), 5),), rng.random(3000), squares=squares)
        alone = passed(job, 100)
        for threads in (2, 3):
            for mine, theirs in zip(passed(job, 100, threads), alone, strict=True):
                np.testing.assert_array_equal(mine, theirs)


def test_long_sums_are_taken_in_parts() -> None:
    n = 64 * 1024
    x, cell = np.full((n, 1), 0.1), np.zeros(n, np.int64)
    sums, squares, rows = np.empty((1, 1)), np.empty((1, 1)), np.empty((n, 1))
    moments.sum_shifted_squares(x, cell, np.zeros(0), np.zeros((1, 1)), sums, squares)
    again = np.empty((1, 1))
    starts = np.zeros(1, np.int64)
    moments.gather_shifted_rows(x, cell, np.zeros(0), np.zeros((1, 1)), starts, rows, np.zeros(0), again)
    one_by_one = abs(float(np.cumsum(x)[-1]) - math.fsum(x[:, 0]))
    assert abs(sums[0, 0] - math.fsum(x[:, 0])) < one_by_one / 10
    assert abs(again[0, 0] - math.fsum(x[:, 0])) < one_by_one / 10
    assert squares[0, 0] == pytest.approx(math.fsum(x[:, 0] ** 2), rel=1e-13, abs=0)


def test_only_matrices_with_few_cells_are_read_by_rows() -> None:
    every, squares = Products.within([range(20)], 20), Products.within([[j] for j in range(20)], 20)
    some = Products.within([(0, 1), *([j] for j in range(2, 20))], 20)
    assert suits(every, 5)
    assert suits(squares, 5)
    assert not suits(some, 5)
    assert not suits(every, 1000)
    assert 1000 < rows_of_piece(20) * 20 <= 1 << 19
    assert not Job((), every, (), None, 10**6).by_rows


@pytest.mark.parametrize("n_needs", ["one", "each"])
def test_a_table_gives_the_same_moments_either_way(n_needs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(17)
    names, cls = ("x", "z", "t"), Variable("y", (0, 1, 2))
    x, codes = rng.normal(size=(5000, 3)) + 1e5, rng.integers(0, 3, 5000).astype(np.int8)
    table = MatrixTable(x, tuple(map(Variable, names)), {"y": codes}, (cls,))
    needs = [Moment(names, ("y",))] if n_needs == "one" else [Moment((name,), ("y",)) for name in names]
    after = BlockSource(table, block_rows=700).gather(needs)
    monkeypatch.setattr(matrix_pieces, "MOST_NUMBERS", 0)
    before = BlockSource(table).gather(needs)
    assert len(before) == len(needs) > 0
    for need in needs:
        np.testing.assert_allclose(after[need].mean, before[need].mean, rtol=1e-15)
        np.testing.assert_allclose(after[need].scatter, before[need].scatter, rtol=1e-12, atol=1e-9)
