"""Passes for moments: every way to multiply, any cells, weights and pieces, against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.data.block import Block
from suffice.data.schema import Schema
from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.stats import moment_passes, moments
from suffice.stats.moment_passes import Job, Products, by_dots, by_matrices, by_runs, pass_over
from suffice.stats.moments import Moments, collect_moments
from suffice.stats.needs import Moment
from suffice.stats.source import BlockSource

WAYS = (by_matrices, by_dots, by_runs)
OFFSETS = (0.0, -3.5, 1e9, 1e12)
A, B = Variable("A", ("u", "v")), Variable("B", ("s", "t", "w"))


def exact(columns: list[np.ndarray], weights: np.ndarray, first: np.ndarray, second: np.ndarray) -> list[Any]:
    """Return weight, mean and some products around it in exact fractions, rounded at the very end."""
    w = [Fraction(float(v)) for v in weights]
    x = [[Fraction(float(v)) for v in column] for column in columns]
    total = sum(w)
    if not total:
        return [0.0, [0.0] * len(x), [0.0] * len(first)]
    mean = [sum(a * b for a, b in zip(w, column, strict=True)) / total for column in x]
    centred = [[value - m for value in column] for column, m in zip(x, mean, strict=True)]
    products = [
        sum(a * b * c for a, b, c in zip(w, centred[i], centred[j], strict=True))
        for i, j in zip(first, second, strict=True)
    ]
    return [float(total), [float(m) for m in mean], [float(v) for v in products]]


def passed(job: Job, way: Any = None, rows: int = 1 << 16, threads: int = 1) -> Any:
    """Pass over rows in small pieces, by one way of multiplying."""
    before = sf.config().threads
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moment_passes, "MIN_ROWS", 1)
        patch.setattr(moment_passes, "MAX_ROWS", rows)
        if way is not None:
            patch.setattr(Job, "multiply", lambda job: way)
        sf.config(threads=threads)
        try:
            return pass_over(job)
        finally:
            sf.config(threads=before)


def job_of(columns: list[np.ndarray], by: Any = (), weights: Any = None, sets: Any = None) -> Job:
    everything = [range(len(columns))]
    products = Products.within(everything if sets is None else sets, len(columns))
    return Job(tuple(columns), products, tuple(by), weights, len(columns[0]))


@given(
    data=st.data(),
    n=st.integers(1, 30),
    seed=st.integers(0, 10**6),
    offset=st.sampled_from(OFFSETS),
    way=st.sampled_from(WAYS),
    rows=st.integers(1, 31),
)
def test_cells_weights_and_pieces_agree_with_exact_fractions(data, n, seed, offset, way, rows) -> None:
    rng = np.random.default_rng(seed)
    columns = [rng.normal(size=n) + offset, 30 * rng.normal(size=n), np.full(n, 0.1)]
    weights = data.draw(st.sampled_from([None, rng.integers(0, 4, n), rng.random(n) * rng.integers(0, 2, n)]))
    by = data.draw(
        st.sampled_from([(), ((rng.integers(0, 3, n), 4),), ((rng.integers(0, 2, n), 2), (np.ones(n, int), 3))])
    )
    sets = data.draw(st.sampled_from([[(0, 1, 2)], [(0, 1), (2,)], [(0,), (1, 2), (0,)]]))
    job = job_of(columns, by, weights, sets)
    weight, mean, rest, scatter = passed(job, way, rows)
    cell = np.zeros(n, int)
    for codes, size in by:
        cell = cell * size + codes
    assert weight.shape == (job.n_cells,)
    for k in range(job.n_cells):
        mine = cell == k
        w = np.ones(n)[mine] if weights is None else weights[mine].astype(float)
        expected = exact([column[mine] for column in columns], w, job.products.first, job.products.second)
        assert weight[k] == pytest.approx(expected[0], rel=1e-14)
        np.testing.assert_allclose(mean[k] + rest[k], expected[1], rtol=3e-16, atol=1e-12)
        size = np.sqrt(np.array(expected[2])[job.products.squares])
        allowed = 1e-13 * job.products.of(size) + 1e-22
        assert (np.abs(scatter[k] - expected[2]) <= allowed).all()
        assert scatter[k][job.products.squares][2] == 0, "a constant column has no scatter at all"
        assert (scatter[k][job.products.squares] >= 0).all()


# Many digits --------------------------------------------------------------------------------------------------


def exactly(x: np.ndarray, w: np.ndarray) -> tuple[float, float]:
    """Return mean and variance of multiples of 2⁻³⁰ in whole numbers."""
    whole = [int(v) for v in (x * 2.0**30).tolist()]
    total = int(w.sum())
    one = sum(a * b for a, b in zip(w.tolist(), whole, strict=True))
    two = sum(a * b * b for a, b in zip(w.tolist(), whole, strict=True))
    return one / total / 2**30, float(Fraction(two * total - one * one, total * total * 2**60))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("arrangement", ["as drawn", "sorted", "shuffled"])
def test_a_mean_of_a_billion_and_a_spread_of_one_keep_nine_digits(arrangement: str, weighted: bool) -> None:
    rng = np.random.default_rng(11)
    x = rng.normal(size=50_000) + 1e9
    weights = rng.integers(0, 5, len(x)) if weighted else None
    order = {"as drawn": np.arange(len(x)), "sorted": np.argsort(x), "shuffled": rng.permutation(len(x))}[arrangement]
    frame = {"x": x[order], **({} if weights is None else {"w": weights[order]})}
    table = open_table(frame, ("x",), weights=None if weights is None else "w")
    mean, variance = exactly(x, np.ones(len(x), int) if weights is None else weights)
    for rows in (1 << 20, 7_001, 100):
        found = BlockSource(table, block_rows=rows).gather([Moment(("x",))])[Moment(("x",))]
        assert abs(found.mean[0] + found.rest[0] - mean) < 1e-9
        assert found.covariance[0, 0] == pytest.approx(variance, rel=1e-9, abs=0)
        assert found.covariance[0, 0] == pytest.approx(variance, rel=1e-13, abs=0), "and in fact nearly all digits"


@pytest.mark.parametrize("way", WAYS)
def test_a_far_first_value_costs_no_digits(way: Any) -> None:
    rng = np.random.default_rng(12)
    columns = [np.append(1e6, 1e-3 * rng.normal(size=500)), np.append(0.0, rng.normal(size=500))]
    weights = np.append(1e-15, np.ones(500))
    job = job_of(columns, (), weights)
    expected = exact(columns, weights, job.products.first, job.products.second)
    _, mean, _, scatter = passed(job, way)
    np.testing.assert_allclose(mean[0], expected[1], rtol=1e-11)
    np.testing.assert_allclose(scatter[0], expected[2], rtol=1e-9)
    shift = columns[0] - columns[0][0]
    careless = (weights * shift**2).sum() - (weights * shift).sum() ** 2 / weights.sum()
    assert abs(careless - expected[2][0]) > 1e-3 * expected[2][0], "which a fixed shift would not pass"


@given(value=st.floats(-1e12, 1e12), n=st.integers(1, 60), seed=st.integers(0, 999), rows=st.integers(1, 61))
def test_constant_columns_have_no_scatter_whatever_the_pieces_and_weights(value, n, seed, rows) -> None:
    rng = np.random.default_rng(seed)
    other = rng.normal(size=n) * 1e3
    codes = rng.integers(0, 2, n)
    by_cell = np.where(codes == 0, value, value / 3)
    spoilt = np.full(n, value)
    weights = rng.integers(0, 3, n)
    spoilt[weights == 0] = 7.7e5
    for columns, by, w in (([np.full(n, value), other], (), None), ([spoilt, other], (), weights),
                           ([by_cell, other], ((codes, 2),), None)):  # fmt: skip
        _, mean, _, scatter = passed(job_of(columns, by, w), None, rows)
        assert (scatter[:, :2] == 0).all(), "neither of its own nor with another"
        wanted = (
            [by_cell[codes == k][:1] for k in range(2)] if by else [np.full(1 if w is None or w.any() else 0, value)]
        )
        for found, expected in zip(mean[:, 0], wanted, strict=True):
            assert found == (expected[0] if len(expected) else 0)


def test_pieces_of_threads_are_added_in_order() -> None:
    rng = np.random.default_rng(13)
    columns = [rng.normal(size=3000) * 10.0 ** rng.integers(-6, 6) for _ in range(4)]
    job = job_of(columns, ((rng.integers(0, 5, 3000), 5),), rng.random(3000))
    alone = passed(job, None, 100)
    for threads in (2, 3):
        found = passed(job, None, 100, threads)
        assert len(found) == len(alone) > 0
        for mine, theirs in zip(found, alone, strict=True):
            np.testing.assert_array_equal(mine, theirs)


# Many needs ---------------------------------------------------------------------------------------------------


def mixed_block(n: int = 400, seed: int = 14) -> Block:
    rng = np.random.default_rng(seed)
    names = tuple(f"x{j}" for j in range(6))
    columns: dict[str, Any] = {name: rng.normal(size=n) + 1e6 * j for j, name in enumerate(names)}
    columns |= {"A": rng.integers(0, 2, n).astype(np.int8), "B": rng.integers(0, 2, n).astype(np.int8)}
    return Block(Schema((*map(Variable, names), A, B)), columns, rng.random(n), n)


def same(first: Moments, second: Moments) -> bool:
    mine, other = first.to_arrays(), second.to_arrays()
    return first.need == second.need and all(np.array_equal(mine[name], other[name]) for name in mine)


def test_needs_collected_together_are_the_margins_of_all_their_columns() -> None:
    block = mixed_block()
    whole = Moment(tuple(f"x{j}" for j in range(6)), ("A", "B"))
    needs = [whole, Moment(("x3", "x1"), ("B", "A")), Moment(("x5",), ("A", "B")), Moment((), ("A", "B"))]
    found = collect_moments(needs, block)
    assert list(found) == needs
    for need in needs:
        assert same(found[need], found[whole].marginal(need.xs, need.by))


@given(seed=st.integers(0, 10**6))
def test_needs_collected_together_agree_with_each_by_itself(seed: int) -> None:
    rng = np.random.default_rng(seed)
    block = mixed_block(30, seed)
    needs = {
        Moment(tuple(f"x{j}" for j in rng.permutation(6)[: rng.integers(0, 4)]), tuple(rng.permutation(["A", "B"])[:k]))
        for k in (0, 0, 0, 1, 1, 2, 2, 2)
    }
    together = collect_moments(list(needs), block)
    for need in needs:
        alone = collect_moments([need], block)[need].to_arrays()
        spread = np.sqrt(np.diagonal(alone["scatter"], axis1=-2, axis2=-1))
        allowed = 1e-13 * spread[..., :, None] * spread[..., None, :]
        assert (np.abs(together[need].scatter - alone["scatter"]) <= allowed).all()
        np.testing.assert_array_equal(together[need].weight, alone["weight"])
        np.testing.assert_allclose(together[need].mean, alone["mean"], rtol=1e-15)


def test_very_many_columns_are_passed_over_in_several_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    block = mixed_block()
    needs = [Moment((f"x{j}", f"x{j + 1}")) for j in range(5)]
    together = collect_moments(needs, block)
    monkeypatch.setattr(moments, "MAX_COLUMNS", 3)
    columns = []
    monkeypatch.setattr(moments, "pass_over", lambda job: columns.append(len(job.columns)) or pass_over(job))
    apart = collect_moments(needs, block)
    assert columns == [3, 3, 2]
    for need in needs:
        np.testing.assert_allclose(apart[need].scatter, together[need].scatter, rtol=1e-12, atol=1e-9)


def test_only_products_within_families_are_formed_for_many_columns() -> None:
    n = 2000
    job = job_of([np.zeros(10)] * n, sets=[(j, (j + 1) % n) for j in range(n)])
    assert len(job.products.first) == 2 * n
    assert job.multiply() in (by_dots, by_runs)
    assert job_of([np.zeros(10**4)] * 40).multiply() is by_matrices
    many = job_of([np.zeros(10**4)] * 3, ((np.zeros(10**4, int), 5000),))
    assert many.multiply() is by_runs


def test_what_does_not_fit_the_memory_is_refused_with_numbers() -> None:
    block, before = mixed_block(), sf.config().memory
    needs = [Moment(("x0", "x1", "x2"), ("B",)), Moment(("x0",))]
    try:
        sf.config(memory=8 * (27 + 1))
        collect_moments(needs, block)
        sf.config(memory=8 * (27 + 1) - 1)
        with pytest.raises(sf.StatisticsError, match=r"take 224 B, too many for the 223 B.* 3 variables for each of 3"):
            collect_moments(needs, block)
    finally:
        sf.config(memory=before)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_streams_give_the_moments_of_the_frame(kind: str, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(15)
    data = {"x": rng.normal(size=700) + 1e9, "y": rng.normal(size=700), "A": rng.choice(["u", "v"], 700)}
    needs = [Moment(("x", "y")), Moment(("y", "x"), ("A",))]
    path = tmp_path / f"rows.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table(data), path, row_group_size=64)
    else:
        lines = [f"{x!r},{y!r},{a}" for x, y, a in zip(data["x"].tolist(), data["y"].tolist(), data["A"], strict=True)]
        path.write_text("\n".join(["x,y,A", *lines]) + "\n")
    streamed = BlockSource(open_table(path, ("x", "y", "A")), block_rows=90).gather(needs)
    whole = BlockSource(open_table(data, ("x", "y", "A"))).gather(needs)
    for need in needs:
        np.testing.assert_allclose(streamed[need].mean, whole[need].mean, rtol=1e-15, atol=1e-14)
        np.testing.assert_allclose(streamed[need].scatter, whole[need].scatter, rtol=1e-12, atol=1e-10)


def test_values_without_weight_may_be_anything() -> None:
    x = Variable("x")
    block = Block(Schema((x,)), {"x": np.array([1.0, np.inf, 3.0])}, np.array([1, 0, 1]), 3)
    found = collect_moments([Moment(("x",))], block)[Moment(("x",))]
    assert (found.mean.tolist(), found.scatter.tolist()) == ([2.0], [[2.0]])
