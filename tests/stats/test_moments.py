"""Moments: a commutative monoid that agrees with exact fractions, however the rows are cut."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.data.schema import Schema
from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.stats.moments import Moments
from suffice.stats.needs import Moment
from suffice.stats.source import BlockSource
from suffice.stats.statistics import Statistics

X, Y, A, B = Variable("x"), Variable("y"), Variable("A", ("u", "v")), Variable("B", ("s", "t", "w"))


def exact(rows: np.ndarray, weights: np.ndarray | None = None) -> tuple[float, list[float], list[list[float]]]:
    """Return weight, mean and scatter in exact fractions, rounded at the very end."""
    w = [Fraction(1)] * len(rows) if weights is None else [Fraction(float(v)) for v in weights]
    x = [[Fraction(float(v)) for v in row] for row in rows]
    p, total = rows.shape[1], sum(w)
    mean = [sum(wi * row[j] for wi, row in zip(w, x, strict=True)) / total for j in range(p)]
    scatter = [
        [sum(wi * (row[j] - mean[j]) * (row[k] - mean[k]) for wi, row in zip(w, x, strict=True)) for k in range(p)]
        for j in range(p)
    ]
    return float(total), [float(m) for m in mean], [[float(s) for s in row] for row in scatter]


def in_parts(rows: np.ndarray, weights: np.ndarray | None, cuts: list[int]) -> Moments:
    bounds = [0, *sorted(cuts), len(rows)]
    parts = [Moments.of_rows((X, Y), rows[a:b], None if weights is None else weights[a:b]) for a, b in pairwise(bounds)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


@given(data=st.data(), n=st.integers(2, 25), seed=st.integers(0, 10**6), offset=st.sampled_from([0.0, 3.5, -1e8, 1e12]))
def test_any_cut_of_the_rows_agrees_with_exact_fractions(data, n: int, seed: int, offset: float) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 2)) * [1.0, 30.0] + [offset, 0.0]
    weights = data.draw(st.sampled_from([None, rng.integers(0, 4, n), rng.random(n)]))
    if weights is not None:
        weights[0] = 1
    found = in_parts(rows, weights, data.draw(st.lists(st.integers(0, n), max_size=5)))
    weight, mean, scatter = exact(rows, weights)
    assert float(found.weight) == pytest.approx(weight, rel=1e-14)
    np.testing.assert_allclose(found.mean, mean, rtol=3e-16, atol=1e-12)
    spread = np.sqrt(np.diag(scatter))
    allowed = 1e-13 * np.outer(spread, spread) + 1e-22
    assert (np.abs(found.scatter - scatter) <= allowed).all()


def test_large_offsets_keep_their_digits_through_many_parts() -> None:
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(6000, 2)) + 1e8
    parts = in_parts(rows, None, list(range(3, 6000, 3)))
    whole = Moments.of_rows((X, Y), rows)
    _, mean, scatter = exact(rows)
    for found in (parts, whole):
        assert found.mean.tolist() == mean
        np.testing.assert_allclose(found.scatter, scatter, rtol=0, atol=1e-12 * scatter[0][0])


def test_a_naive_sum_of_squares_would_fail_that() -> None:
    rows = np.random.default_rng(5).normal(size=(6000, 1)) + 1e8
    naive = (rows * rows).sum() - rows.sum() ** 2 / len(rows)
    assert abs(naive - exact(rows)[2][0][0]) > 10


@given(seed=st.integers(0, 10**6))
def test_addition_commutes_bit_by_bit_and_zero_is_neutral(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (
        Moments.of_rows((X, Y), rng.normal(size=(rng.integers(0, 5), 2)) * 10.0 ** rng.integers(-3, 4))
        for _ in range(2)
    )
    zero = Moments.zero(first.need, Schema((X, Y)))
    assert same(first + second, second + first)
    assert same(first + zero, first)
    assert same(zero + first, first)


def same(first: Moments, second: Moments) -> bool:
    mine, other = first.to_arrays(), second.to_arrays()
    return all(np.array_equal(mine[name], other[name]) for name in mine)


def test_scaling_multiplies_weights() -> None:
    rows = np.random.default_rng(1).normal(size=(7, 2))
    found = Moments.of_rows((X, Y), rows)
    assert same(found.scaled(2), found + found)
    doubled = Moments.of_rows((X, Y), rows, np.full(7, 2.0))
    np.testing.assert_allclose(found.scaled(2).scatter, doubled.scatter, rtol=1e-14)
    assert same(found.scaled(0), Moments.zero(found.need, Schema((X, Y))))


def test_block_size_does_not_matter_beyond_rounding() -> None:
    rng = np.random.default_rng(2)
    data = {"x": rng.normal(size=500) + 1e6, "y": rng.random(500), "A": rng.choice(["u", "v"], 500)}
    needs = [Moment(("x", "y")), Moment(("y",), ("A",))]
    table = open_table(data, ("x", "y", "A"))
    whole = BlockSource(table).gather(needs)
    for rows in (1, 7, 499):
        cut = BlockSource(table, block_rows=rows).gather(needs)
        for need in needs:
            np.testing.assert_allclose(cut[need].mean, whole[need].mean, rtol=1e-15)
            np.testing.assert_allclose(cut[need].scatter, whole[need].scatter, rtol=1e-10, atol=1e-11)


def by_groups(data: dict, names: tuple[str, ...], by: tuple[Variable, ...]) -> dict:
    rows = np.stack([data[name] for name in names], axis=1)
    found = {}
    for cell in np.ndindex(*(v.n_states for v in by)):
        mask = np.all([data[v.name] == v.labels[code] for v, code in zip(by, cell, strict=True)], axis=0)
        if mask.any():
            found[cell] = exact(rows[mask])
    return found


def grouped(n: int = 60) -> dict:
    rng = np.random.default_rng(3)
    data = {"x": rng.normal(size=n), "y": rng.normal(size=n), "A": rng.choice(["u", "v"], n)}
    data["B"] = np.where(data["A"] == "u", rng.choice(["s", "t"], n), "w")
    return data


def test_moments_by_configuration_are_those_of_its_rows() -> None:
    data = grouped()
    need = Moment(("y", "x"), ("A", "B"))
    found = BlockSource(open_table(data, ("x", "y", "A", "B"))).gather([need])[need]
    expected = by_groups(data, ("y", "x"), (A, B))
    assert len(expected) == 3
    for cell in np.ndindex(2, 3):
        weight, mean, scatter = expected.get(cell, (0, [0, 0], [[0, 0], [0, 0]]))
        assert found.weight[cell] == weight
        np.testing.assert_allclose(found.mean[cell], mean, atol=1e-14)
        np.testing.assert_allclose(found.scatter[cell], scatter, atol=1e-12)
    assert np.isnan(found.covariance[0, 2]).all()


def test_parts_with_other_states_are_added() -> None:
    data = grouped()
    need = Moment(("x", "y"), ("B",))
    halves = [{name: column[part] for name, column in data.items()} for part in (data["B"] != "s", data["B"] == "s")]
    parts = [BlockSource(open_table(half, ("x", "y", "B"))).gather([need]) for half in halves]
    whole = BlockSource(open_table(data, ("x", "y", "B"))).gather([need])[need]
    for total in (parts[0] + parts[1], parts[1] + parts[0]):
        assert total[need].by == whole.by
        for name, array in total[need].to_arrays().items():
            np.testing.assert_allclose(array, whole.to_arrays()[name], atol=1e-13)


def test_two_codes_that_become_one_are_merged() -> None:
    rows = np.random.default_rng(4).normal(size=(9, 1))
    parts = [Moments.of_rows((X,), rows[:4]), Moments.of_rows((X,), rows[4:])]
    arrays = [np.stack([getattr(part, name) for part in parts]) for name in ("weight", "mean", "rest", "scatter")]
    one = Variable("A", ("u",))
    merged = Moments((X,), (A,), *arrays).recoded(Schema((X, one)), {"A": np.array([0, 0])})
    weight, mean, scatter = exact(rows)
    assert merged.weight.tolist() == [weight]
    np.testing.assert_allclose(merged.mean[0], mean, atol=1e-15)
    np.testing.assert_allclose(merged.scatter[0], scatter, rtol=1e-14)


def test_a_larger_schema_has_empty_cells() -> None:
    found = Moments((X,), (A,), np.array([2.0, 1.0]), np.ones((2, 1)), np.zeros((2, 1)), np.ones((2, 1, 1)))
    larger = found.reindexed(Schema((X, Variable("A", ("a", "u", "v")))))
    assert larger.weight.tolist() == [0, 2, 1]
    assert larger.mean[:, 0].tolist() == [0, 1, 1]


def test_marginals_drop_columns_and_add_up_configurations() -> None:
    data = grouped()
    need = Moment(("x", "y"), ("A", "B"))
    source = BlockSource(open_table(data, ("x", "y", "A", "B")))
    found = source.gather([need])[need]
    for smaller in (Moment(("y",)), Moment(("y", "x"), ("B",)), Moment(("x",), ("B", "A"))):
        direct = source.gather([smaller])[smaller]
        for name, array in found.marginal(smaller.xs, smaller.by).to_arrays().items():
            np.testing.assert_allclose(array, direct.to_arrays()[name], atol=1e-13)
    with pytest.raises(sf.StatisticsError, match="no marginal over 'z'"):
        found.marginal(("z",))
    with pytest.raises(sf.StatisticsError, match="no marginal over 'A'"):
        found.marginal(("A",))


def test_renamed_moments_are_the_same_numbers() -> None:
    found = Moments.of_rows((X, Y), np.eye(2)).renamed({"x": Variable("z")})
    assert found.need == Moment(("z", "y"))


def test_a_saved_file_has_equal_bits(tmp_path) -> None:
    data = grouped()
    need = Moment(("x", "y"), ("A",))
    statistics = BlockSource(open_table(data, ("x", "y", "A"))).gather([need])
    statistics.save(tmp_path / "m.stats")
    assert same(Statistics.load(tmp_path / "m.stats")[need], statistics[need])


def test_arrays_are_frozen_copies() -> None:
    mean = np.zeros(1)
    found = Moments((X,), (), np.ones(()), mean, np.zeros(1), np.ones((1, 1)))
    mean[0] = 7
    assert found.mean[0] == 0
    for array in found.to_arrays().values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.mean = mean


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_named(bad: float) -> None:
    with pytest.raises(sf.DataError, match=r"Column 'y', row 3: the value -?inf is not finite"):
        sf.collect(sf.GaussianMarkov("x:y"), {"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, bad]})


def test_the_row_is_not_guessed_after_rows_were_dropped() -> None:
    data = {"x": [np.nan, 2.0, 3.0], "y": [1.0, 2.0, np.inf]}
    with pytest.raises(sf.DataError, match="Column 'y': the value inf"):
        sf.collect(sf.GaussianMarkov("x:y"), data, missing="drop")


def test_missing_values_are_an_error_or_dropped() -> None:
    data = {"x": [1.0, np.nan, 3.0], "y": [1.0, 2.0, 5.0]}
    with pytest.raises(sf.DataError, match="Column 'x', row 2: the value is missing"):
        sf.collect(sf.GaussianMarkov("x:y"), data)
    kept = sf.collect(sf.GaussianMarkov("x:y"), data, missing="drop")[Moment(("x", "y"))]
    assert kept.mean.tolist() == [2, 3]


def test_overflow_is_an_error() -> None:
    with pytest.raises(sf.DataError, match="Column 'x' holds numbers so large"):
        sf.collect(sf.GaussianMarkov("x"), {"x": [1e200, -1e200]})


def test_too_many_configurations_are_refused() -> None:
    many = tuple(Variable(f"D{i}", tuple(range(40))) for i in range(6))
    with pytest.raises(sf.StatisticsError, match="too many for the 4 GB"):
        Moments.zero(Moment(("x",), tuple(v.name for v in many)), Schema((X, *many)))


def test_moments_of_other_columns_cannot_be_added() -> None:
    with pytest.raises(sf.StatisticsError, match="cannot be added"):
        Moments.of_rows((X,), np.eye(1)) + Moments.of_rows((Y,), np.eye(1))


def test_wrong_shapes_and_improper_numbers_are_refused() -> None:
    with pytest.raises(sf.StatisticsError, match=r"'mean' has shape \(2,\)"):
        Moments((X,), (), np.ones(()), np.zeros(2), np.zeros(1), np.ones((1, 1)))
    arrays = Moments.of_rows((X,), np.array([[1.0], [2.0]])).to_arrays()
    for name, value in (("weight", -1.0), ("mean", np.nan), ("scatter", -1.0)):
        spoilt = {**arrays, name: np.full_like(arrays[name], value)}
        with pytest.raises(sf.StatisticsError, match="not proper"):
            Moments.from_arrays(Moment(("x",)), Schema((X,)), spoilt)


def test_no_rows_give_zeros() -> None:
    found = sf.collect(sf.GaussianMarkov("x"), {"x": np.zeros(0)})[Moment(("x",))]
    assert same(found, Moments.zero(Moment(("x",)), Schema((X,))))
