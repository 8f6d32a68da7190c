"""The engine beneath mixed answers: tables of logarithms, parts of continuous variables, least squares."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.inference.gaussian_parts import PartSolver, Regression, split
from suffice.inference.log_tables import LogFactor, greatest_of, inverted, summed_out


@st.composite
def products(draw: Any) -> tuple[tuple[int, ...], list[LogFactor]]:
    """Draw a few tables over a few variables, some cells impossible, some far below others."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = tuple(random.integers(1, 4, draw(st.integers(1, 5))).tolist())
    factors = [LogFactor((v,), random.normal(0, 3, sizes[v])) for v in range(len(sizes))]
    for _ in range(draw(st.integers(0, 4))):
        scope = tuple(random.permutation(len(sizes))[: random.integers(0, 4)].tolist())
        values = random.normal(0, random.choice([1.0, 2000.0]), [sizes[v] for v in scope])
        values = np.where(random.random(values.shape) < 0.15, -np.inf, values)
        factors.append(LogFactor(scope, np.asarray(values)))
    return sizes, factors


def whole_table(sizes: tuple[int, ...], factors: list[LogFactor]) -> Any:
    table = np.zeros(sizes)
    for cell in itertools.product(*map(range, sizes)):
        table[cell] = sum(float(factor.values[tuple(cell[v] for v in factor.scope)]) for factor in factors)
    return table


def log_total(table: Any, axes: tuple[int, ...]) -> Any:
    return np.logaddexp.reduce(table, axis=axes) if axes else table


def names(sizes: tuple[int, ...]) -> list[str]:
    return [f"v{place}" for place in range(len(sizes))]


# Tables of logarithms -----------------------------------------------------------------------------------------


@given(products(), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_sums_equal_those_of_the_whole_table(product: Any, random: Any) -> None:
    sizes, factors = product
    kept = random.sample(range(len(sizes)), random.randint(0, len(sizes)))
    found = summed_out(names(sizes), sizes, factors, kept).rest.values
    rest = tuple(v for v in range(len(sizes)) if v not in kept)
    expected = log_total(whole_table(sizes, factors), rest)
    expected = np.transpose(expected, np.argsort(np.argsort(kept))) if kept else expected
    assert np.allclose(found, expected, rtol=1e-10, atol=1e-9)
    greatest = summed_out(names(sizes), sizes, factors, kept, greatest_of).rest.values
    expected = whole_table(sizes, factors).max(axis=rest) if rest else whole_table(sizes, factors)
    assert np.allclose(greatest, np.transpose(expected, np.argsort(np.argsort(kept))) if kept else expected)


@given(products())
@settings(max_examples=150, deadline=None)
def test_marginals_draws_and_maximum_come_from_the_same_tables(product: Any) -> None:
    sizes, factors = product
    table = whole_table(sizes, factors)
    if table.max() == -np.inf:
        return
    p = np.exp(table - np.logaddexp.reduce(table, axis=None))
    summed = summed_out(names(sizes), sizes, factors)
    for factor in factors:
        rest = tuple(v for v in range(len(sizes)) if v not in factor.scope)
        expected = np.transpose(p.sum(axis=rest), np.argsort(np.argsort(factor.scope))) if factor.scope else 1.0
        assert np.allclose(summed.marginals([factor.scope])[0], expected, atol=1e-9)
    best = summed_out(names(sizes), sizes, factors, (), greatest_of).greatest()
    assert table[tuple(best[v] for v in range(len(sizes)))] == pytest.approx(table.max())
    random = np.random.default_rng(0)
    drawn = summed.draw(sizes, lambda: random.random(2000))
    cells = np.stack([drawn[v] for v in range(len(sizes))], axis=1)
    shares = np.zeros(sizes)
    np.add.at(shares, tuple(cells.T), 1 / len(cells))
    assert (shares[p == 0] == 0).all()
    assert (np.abs(shares - p) <= 6 * np.sqrt(p * np.maximum(1 - p, 0) / len(cells)) + 10 / len(cells)).all()


def test_ratios_beyond_any_float_are_kept() -> None:
    factors = [LogFactor((0,), np.array([0.0, -5000.0, -1e6])), LogFactor((0,), np.array([-6000.0, 0.0, 0.0]))]
    found = summed_out(["v"], (3,), factors, (0,)).rest.values
    assert found.tolist() == [-6000.0, -5000.0, -1e6]


# Parts --------------------------------------------------------------------------------------------------------


def regression(discrete: tuple[int, ...], continuous: tuple[int, ...], n_rows: int = 1, seed: int = 0) -> Regression:
    random = np.random.default_rng(seed)
    return Regression(
        discrete,
        continuous,
        random.normal(size=n_rows),
        random.normal(size=(n_rows, len(continuous))),
        np.exp(random.normal(size=n_rows)),
    )


def test_observed_nodes_cut_what_lies_below_them_off() -> None:
    chain = {v: regression((), (v - 1,) if v else ()) for v in range(5)}
    whole = split(range(5), chain, {}, {})
    assert [part.members for part in whole] == [(4, 3, 2, 1, 0)]
    parts = split(range(5), chain, {2: np.zeros(1)}, {})
    assert {part.members for part in parts} == {(2, 1, 0), (4, 3)}
    assert {part.seen for part in parts} == {(2,), ()}


def test_an_observed_child_joins_its_parents() -> None:
    collider = {0: regression((), ()), 1: regression((), ()), 2: regression((), (0, 1))}
    assert [set(part.members) for part in split(range(3), collider, {2: np.zeros(1)}, {})] == [{0, 1, 2}]
    assert len(split([0, 1], collider, {}, {})) == 2


def test_discrete_parents_that_were_observed_add_no_configurations() -> None:
    nodes = {2: regression((0, 1), (), 6), 3: regression((0,), (2,), 2)}
    (part,) = split([2, 3], nodes, {}, {0: 1})
    assert part.by == (1,)


# Least squares ------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_a_part_is_solved_as_by_the_covariance_formulas(seed: int, size: int, n: int) -> None:
    random = np.random.default_rng(seed)
    order = list(range(1, size + 1))  # variable 0 is discrete, with three states
    nodes = {}
    for v in order:
        parents = tuple(w for w in order if w < v and random.random() < 0.6)
        nodes[v] = regression((0,) if random.random() < 0.7 else (), parents, 1, int(random.integers(1 << 30)))
        if nodes[v].discrete:
            nodes[v] = regression((0,), parents, 3, int(random.integers(1 << 30)))
    seen = {v: random.normal(size=n) for v in order if random.random() < 0.4}
    solver = PartSolver(["d", *map(str, order)], [3, *[1] * size], nodes, seen, {}, {0: "abc"}, n)
    parts = split(order, nodes, seen, {})
    for state in range(3):
        slopes, mean, variance = np.zeros((size, size)), np.zeros(size), np.zeros(size)
        for v in order:
            row = state if nodes[v].discrete else 0
            mean[v - 1], variance[v - 1] = nodes[v].intercept[row], nodes[v].variance[row]
            slopes[v - 1, [w - 1 for w in nodes[v].continuous]] = nodes[v].coefficients[row]
        through = np.linalg.inv(np.eye(size) - slopes)
        mean, covariance = through @ mean, through @ np.diag(variance) @ through.T
        at, rest = [v - 1 for v in seen], [v - 1 for v in order if v not in seen]
        values = np.array([seen[v] for v in seen]).reshape(len(seen), n)
        gap = values - mean[at][:, None]
        inner = covariance[np.ix_(at, at)]
        log_p = -0.5 * ((gap * np.linalg.solve(inner, gap)).sum(axis=0) + np.linalg.slogdet(inner)[1]
                        + len(at) * math.log(2 * math.pi)) if at else np.zeros(n)  # fmt: skip
        gain = covariance[np.ix_(rest, at)] @ np.linalg.inv(inner) if at else np.zeros((len(rest), 0))
        expected = mean[rest][:, None] + gain @ gap
        spread = covariance[np.ix_(rest, rest)] - gain @ covariance[np.ix_(at, rest)]
        total = np.zeros(n)
        for part in parts:
            solved = solver.solve(part, part.free)
            here = state if part.by else 0
            total += solved.log_density[here]
            places = [rest.index(v - 1) for v in part.free]
            assert np.allclose(solved.mean[here].T, expected[places], rtol=1e-6, atol=1e-7)
            found = solved.root[here] @ solved.root[here].T
            assert np.allclose(found, spread[np.ix_(places, places)], rtol=1e-6, atol=1e-7)
            peak = -0.5 * np.linalg.slogdet(2 * math.pi * found)[1] if places else 0.0
            assert solved.log_peak[here] == pytest.approx(peak, rel=1e-6, abs=1e-7)
        assert np.allclose(total, log_p, rtol=1e-6, atol=1e-6)


def test_batches_of_configurations_give_what_one_batch_gives() -> None:
    nodes = {1: regression((0,), (), 50, 1), 2: regression((0,), (1,), 50, 2), 3: regression((), (2,), 1, 3)}
    solver = PartSolver(list("dxyz"), [50, 1, 1, 1], nodes, {3: np.array([0.7])}, {}, {0: range(50)})
    (part,) = split([1, 2, 3], nodes, solver.seen, {})
    whole = solver.solve(part, part.free)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.inference.gaussian_parts.CHUNK", 64)
        pieces = solver.solve(part, part.free)
    for name in ("log_density", "log_peak", "mean", "root"):
        assert np.allclose(getattr(pieces, name), getattr(whole, name), rtol=1e-12)


def test_no_draw_is_of_an_impossible_column_at_the_ends_of_the_uniform_numbers() -> None:
    rows = np.array([[0.0, 0.5, 0.5, 0.0]])
    uniform = np.array([0.0, 0.5, np.nextafter(1.0, 0.0)])
    assert inverted(rows, np.zeros(3, np.int64), uniform).tolist() == [1, 2, 2]
