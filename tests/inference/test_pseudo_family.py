"""Pseudo-likelihood against conditionals that are taken from the joint table, one row and one variable at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

import suffice as sf
from suffice.inference import pseudo_family
from suffice.inference.clique_family import Layout
from suffice.inference.pseudo_family import PseudoFamily
from suffice.text import in_bytes

Floats = NDArray[np.float64]


# The slow twin ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Case:
    """A model, rows and weights, and what follows from them by loops over the joint table."""

    layout: Layout
    design: Floats
    codes: NDArray[np.int64]
    weights: Floats
    offset: Floats
    w: Floats

    @property
    def family(self) -> PseudoFamily:
        return PseudoFamily(self.layout, csr_array(self.design), self.codes, self.weights, self.offset)

    @property
    def theta(self) -> Floats:
        return self.design @ self.w + self.offset

    @cached_property
    def joint(self) -> Floats:
        table = np.zeros(self.layout.sizes)
        for x in itertools.product(*map(range, self.layout.sizes)):
            table[x] = math.exp(sum(self.theta[cell] for cell in self.cells(x)))
        table /= table.sum()
        return table

    def cells(self, x: Any, holding: int | None = None) -> list[int]:
        """The cells of a row, of all scopes or of those that hold a variable."""
        found, start = [], 0
        for scope, shape in zip(self.layout.scopes, self.layout.shapes, strict=True):
            if holding is None or holding in scope:
                found.append(start + int(np.ravel_multi_index([x[v] for v in scope], shape)))
            start += math.prod(shape)
        return found

    def conditionals(self) -> Iterator[tuple[int, Any, int, list[tuple[int, ...]], Floats]]:
        """Row number, row, variable, the rows it could have been, and their probabilities given all others."""
        for i, x in enumerate(self.codes):
            if self.weights[i] > 0:
                for v, size in enumerate(self.layout.sizes):
                    others = [tuple(int(c) for c in (*x[:v], s, *x[v + 1 :])) for s in range(size)]
                    p = np.array([self.joint[other] for other in others])
                    yield i, x, v, others, p / p.sum()

    def features(self, x: Any, v: int) -> Floats:
        return np.asarray(self.design[self.cells(x, v)].sum(axis=0), np.float64)

    @property
    def log_likelihood(self) -> float:
        return math.fsum(self.weights[i] * math.log(p[x[v]]) for i, x, v, _, p in self.conditionals())

    @property
    def log_z(self) -> float:
        """From the sums of exponentials themselves, without the joint table."""
        total = 0.0
        for i, _, v, others, _ in self.conditionals():
            exponentials = [math.exp(sum(self.theta[cell] for cell in self.cells(other, v))) for other in others]
            total += self.weights[i] * math.log(sum(exponentials))
        return total / float(self.weights.sum())

    @property
    def targets(self) -> Floats:
        return self.mean([self.weights[i] * self.features(x, v) for i, x, v, _, _ in self.conditionals()])

    @property
    def expected(self) -> Floats:
        return self.mean([
            self.weights[i] * sum(q * self.features(other, v) for q, other in zip(p, others, strict=True))
            for i, _, v, others, p in self.conditionals()
        ])  # fmt: skip

    def mean(self, rows: list[Any]) -> Floats:
        return np.asarray(np.sum(rows, axis=0) / self.weights.sum(), np.float64)

    def beside_the_likeliest(self, others: Any, v: int, p: Any) -> tuple[Floats, Floats]:
        """Return features less those of the likeliest state, and these: so that nothing cancels when it is certain."""
        f = np.array([self.features(other, v) for other in others])
        likeliest = f[int(np.argmax(p))].copy()
        return f - likeliest, likeliest

    @property
    def sensitivity(self) -> Floats:
        total = np.zeros((len(self.w), len(self.w)))
        for i, _, v, others, p in self.conditionals():
            f, _ = self.beside_the_likeliest(others, v, p)
            total += self.weights[i] * ((f.T * p) @ f - np.outer(p @ f, p @ f))
        return total

    @property
    def variability(self) -> Floats:
        scores = np.zeros((len(self.codes), len(self.w)))
        for i, x, v, others, p in self.conditionals():
            f, likeliest = self.beside_the_likeliest(others, v, p)
            scores[i] += self.features(x, v) - likeliest - p @ f
        return (scores.T * self.weights) @ scores


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw 1–4 variables of 1–4 states, scopes of 1–3 of them in any order, tied and real-valued features."""
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    scope = st.lists(st.integers(0, len(sizes) - 1), min_size=1, max_size=3, unique=True).map(tuple)
    layout = Layout(sizes, tuple(draw(st.lists(scope, min_size=1, max_size=5))))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_features = draw(st.integers(1, 6))
    real, dense = draw(st.booleans()), draw(st.sampled_from([0.2, 0.6]))
    values = rng.normal(size=(layout.n, n_features)) if real else np.ones((layout.n, n_features))
    design = values * (rng.random((layout.n, n_features)) < dense)
    every = np.array(list(itertools.product(*map(range, sizes))))
    n_rows = draw(st.integers(1, min(12, len(every))))
    codes = every[rng.choice(len(every), n_rows, replace=False)]
    weights = draw(st.sampled_from([1.0, 0.3])) * rng.integers(0, 4, n_rows).astype(np.float64)
    weights[rng.integers(n_rows)] = 2.0
    w = rng.normal(0, draw(st.sampled_from([0.3, 3.0])), n_features)
    case = Case(layout, design, codes, weights, np.zeros(layout.n), w)
    if draw(st.booleans()):
        seen = {cell for x, n in zip(codes, weights, strict=True) if n > 0 for cell in case.cells(x)}
        unseen = ~np.isin(np.arange(layout.n), list(seen))
        offset = rng.normal(size=layout.n)
        offset[unseen & (rng.random(layout.n) < 0.4)] = -np.inf
        case = replace(case, offset=offset)
    return case


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)


# Values and derivatives ---------------------------------------------------------------------------------------


@given(case=cases())
@settings(max_examples=150)
def test_values_and_derivatives_equal_those_of_the_joint_table(case: Case) -> None:
    family = case.family
    point = family.at(case.w)
    assert family.n_weights == len(case.w)
    close(family.targets, case.targets)
    close(point.log_z, case.log_z)
    close(point.expected, case.expected)
    close(family.log_likelihood(case.w), case.log_likelihood)
    direction = np.linspace(-1, 2, len(case.w))
    close(point.curvature(direction), case.sensitivity @ direction / case.weights.sum())
    close(family.sensitivity(case.w), case.sensitivity)
    close(family.variability(case.w), case.variability)


@given(case=cases())
@settings(max_examples=40)
def test_gradient_and_curvature_are_slopes(case: Case) -> None:
    family, step = case.family, 1e-5
    point, n = family.at(case.w), case.weights.sum()
    assert case.w.size
    for j in range(len(case.w)):
        shift = step * np.eye(len(case.w))[j]
        slope = (family.log_likelihood(case.w + shift) - family.log_likelihood(case.w - shift)) / (2 * step)
        assert slope == pytest.approx(n * (family.targets - point.expected)[j], rel=1e-5, abs=1e-5)
        bend = (family.at(case.w + shift).expected - family.at(case.w - shift).expected) / (2 * step)
        np.testing.assert_allclose(point.curvature(shift / step), bend, rtol=1e-5, atol=1e-5)


@given(case=cases(), factor=st.sampled_from([0.25, 3.0, 1e6]))
@settings(max_examples=40)
def test_weights_count_rows(case: Case, factor: float) -> None:
    once, often = case.family, replace(case, weights=factor * case.weights).family
    close(often.targets, once.targets)
    close(often.at(case.w).log_z, once.at(case.w).log_z)
    close(often.at(case.w).expected, once.at(case.w).expected)
    close(often.log_likelihood(case.w) / factor, once.log_likelihood(case.w))
    close(often.sensitivity(case.w) / factor, once.sensitivity(case.w))
    close(often.variability(case.w) / factor, once.variability(case.w))


@given(case=cases())
@settings(max_examples=40)
def test_a_row_given_twice_is_a_row_of_twice_the_weight(case: Case) -> None:
    twice = replace(case, codes=np.repeat(case.codes, 2, axis=0), weights=np.repeat(case.weights, 2) / 2)
    close(twice.family.at(case.w).expected, case.family.at(case.w).expected)
    close(twice.family.variability(case.w), case.family.variability(case.w))


def test_a_variable_in_no_scope_counts_as_uniform() -> None:
    family = PseudoFamily(Layout((2, 5), ((0,),)), csr_array([[0.0], [1.0]]), [[0, 3], [1, 4]], [1, 1])
    assert family.log_likelihood(np.zeros(1)) == pytest.approx(-2 * math.log(10))
    assert family.at(np.zeros(1)).log_z == pytest.approx(math.log(10))


def test_without_scopes_or_features_there_is_still_a_likelihood() -> None:
    family = PseudoFamily(Layout((2, 3), ()), csr_array((0, 0)), [[0, 2]], [4])
    assert family.log_likelihood(np.zeros(0)) == pytest.approx(-4 * math.log(6))
    assert family.sandwich(np.zeros(0)).shape == (0, 0)


def test_large_weights_neither_overflow_nor_lose_small_probabilities() -> None:
    family = PseudoFamily(Layout((2,), ((0,),)), csr_array([[0.0], [1.0]]), [[0], [1]], [1, 1])
    assert family.log_likelihood(np.array([2000.0])) == -2000.0
    assert family.log_likelihood(np.array([-2000.0])) == -2000.0
    certain = family.sensitivity(np.array([60.0]))
    assert certain[0, 0] == pytest.approx(2 * math.exp(-60), rel=1e-12)
    assert family.at(np.array([60.0])).curvature(np.ones(1))[0] == pytest.approx(math.exp(-60), rel=1e-12, abs=2e-17)


def test_nothing_given_is_changed_or_kept() -> None:
    offset, weights, codes = np.zeros(2), np.array([1.0, 0.0, 2.0]), np.array([[0], [0], [1]])
    family = PseudoFamily(Layout((2,), ((0,),)), csr_array([[0.0], [1.0]]), codes, weights, offset)
    before = family.log_likelihood(np.ones(1))
    offset[1] += 1.0
    weights[:] = 7.0
    codes[:] = 0
    family.sandwich(np.ones(1))
    assert family.log_likelihood(np.ones(1)) == before


# Threads and ranges -------------------------------------------------------------------------------------------


def large(seed: int = 3) -> tuple[PseudoFamily, Floats]:
    """Seven variables of 2–3 states, all pairs and a triple, more rows than a tile holds."""
    rng, sizes = np.random.default_rng(seed), (2, 3, 2, 3, 2, 3, 2)
    layout = Layout(sizes, (*((v,) for v in range(7)), *itertools.combinations(range(7), 2), (6, 1, 3)))
    design = csr_array(rng.normal(size=(layout.n, 9)) * (rng.random((layout.n, 9)) < 0.3))
    every = np.array(list(itertools.product(*map(range, sizes))))
    return PseudoFamily(layout, design, every, rng.integers(0, 5, len(every))), rng.normal(0, 0.4, 9)


def answers(family: PseudoFamily, w: Floats) -> list[Any]:
    point = family.at(w)
    return [point.log_z, point.expected, point.curvature(w), family.sensitivity(w), family.variability(w)]


def test_ranges_of_rows_hold_all_rows_and_their_results_fit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pseudo_family, "PART_STEPS", 1)
    monkeypatch.setattr(pseudo_family, "MATRIX_CELLS", 1000)
    family, _ = large()
    for cells, most in ((1, 16), (100, 10), (300, 3), (2000, 1)):
        ranges = family.ranges(cells)
        assert len(ranges) == most
        assert [row for part in ranges for row in range(*part)] == list(range(len(family.rows[1])))


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pseudo_family, "PART_STEPS", 500)
    family, w = large()
    assert len(family.ranges(family.layout.n)) > 4
    before, found = sf.config().threads, []
    try:
        for threads in (1, 2, 5):
            sf.config(threads=threads)
            found.append(answers(family, w))
    finally:
        sf.config(threads=before)
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, same)


@pytest.mark.parametrize(("name", "value"), [("PART_STEPS", 500), ("SMALL", 1), ("MATRIX_CELLS", 90), ("PARTS", 3)])
def test_results_do_not_depend_on_how_rows_are_divided(monkeypatch: pytest.MonkeyPatch, name: str, value: int) -> None:
    family, w = large()
    plain = answers(family, w)
    monkeypatch.setattr(pseudo_family, name, value)
    for one, other in zip(plain, answers(family, w), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def test_more_rows_than_a_tile_equal_the_sum_of_their_parts() -> None:
    family, w = large()
    codes, weights = family.rows[0].T, family.rows[1]
    halves = [PseudoFamily(family.layout, family.design, codes[i::7], weights[i::7]) for i in range(7)]
    assert len(weights) > 128 > len(halves[0].rows[1])
    close(sum(half.log_likelihood(w) for half in halves), family.log_likelihood(w))
    close(sum(half.total * half.at(w).expected for half in halves), family.total * family.at(w).expected)
    close(sum(half.sensitivity(w) for half in halves), family.sensitivity(w))
    close(sum(half.variability(w) for half in halves), family.variability(w))


# The sandwich -------------------------------------------------------------------------------------------------


def ising(tied: bool = True) -> tuple[Layout, csr_array]:
    """Three spins, all connected: three fields, and one coupling that the pairs share, or one each."""
    layout = Layout((2, 2, 2), ((0,), (1,), (2,), (0, 1), (1, 2), (0, 2)))
    design = np.zeros((layout.n, 4 if tied else 6))
    for v in range(3):
        design[2 * v + 1, v] = 1.0
        design[6 + 4 * v : 10 + 4 * v, 3 if tied else 3 + v] = [1.0, -1.0, -1.0, 1.0]
    return layout, csr_array(design)


def solve(family: PseudoFamily) -> Floats:
    w = np.zeros(family.n_weights)
    for _ in range(12):
        w = w + np.linalg.solve(
            family.sensitivity(w) / family.total + 1e-12 * np.eye(len(w)), family.targets - family.at(w).expected
        )
    return w


def test_sandwich_is_the_covariance_of_estimates() -> None:
    (layout, design), truth = ising(tied=False), np.array([0.4, -0.3, 0.0, 0.5, 0.2, -0.4])
    every = np.array(list(itertools.product(range(2), repeat=3)))
    case = Case(layout, design.toarray(), every, np.ones(8), np.zeros(layout.n), truth)
    n, rng = 2000, np.random.default_rng(0)
    drawn = rng.multinomial(n, case.joint.reshape(-1), size=400)
    estimates = np.array([solve(PseudoFamily(layout, design, every, counts)) for counts in drawn])
    family = PseudoFamily(layout, design, every, n * case.joint.reshape(-1))
    close(family.at(truth).expected, family.targets)
    observed, claimed = np.cov(estimates.T), family.sandwich(truth)
    deviations = np.sqrt(np.diag(claimed))
    # With 400 draws a variance is known to about 7 %, a correlation to about 0.05.
    np.testing.assert_allclose(observed / np.outer(deviations, deviations), claimed / np.outer(deviations, deviations),
                               atol=0.22)  # fmt: skip
    naive = np.diag(np.linalg.inv(family.sensitivity(truth)))
    assert (naive[3:] < 0.6 * np.diag(observed)[3:]).all(), "the inverse Hessian alone is far too small here"


def flat_directions_are_certain(matrix: Floats) -> bool:
    """Say whether rounding cannot change the rank, in the units of the weights or in others."""
    units = np.sqrt(np.where(np.diag(matrix) > 0, np.diag(matrix), 1.0))
    ranks = set()
    for one in (matrix, matrix / np.outer(units, units)):
        values = np.abs(np.linalg.eigvalsh(one))
        if ((values > 1e-13 * values.max()) & (values < 1e-6 * values.max())).any():
            return False
        ranks.add(int((values > 1e-9 * values.max()).sum()))
    return len(ranks) == 1


@given(case=cases())
@settings(max_examples=80)
def test_sandwich_is_made_of_pseudo_inverses(case: Case) -> None:
    assume(flat_directions_are_certain(case.sensitivity))
    inverse = np.linalg.pinv(case.sensitivity, rcond=1e-9, hermitian=True)
    wanted, found = inverse @ case.variability @ inverse, case.family.sandwich(case.w)
    size = max(1.0, float(np.abs(wanted).max()))
    np.testing.assert_allclose(found / size, wanted / size, atol=1e-6)
    np.testing.assert_array_equal(found, found.T)


def test_dependent_features_leave_determined_contrasts_as_they_are() -> None:
    (layout, design), every = ising(), np.array(list(itertools.product(range(2), repeat=3)))
    counts, w = np.array([5, 3, 2, 4, 1, 6, 2, 7]), np.array([0.2, 0.1, -0.1, 0.3])
    mix = np.array([[1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 2, 0]], float)
    alone = PseudoFamily(layout, design, every, counts)
    double = PseudoFamily(layout, csr_array(design.toarray() @ mix), every, counts)
    again = np.linalg.pinv(mix) @ w
    close(double.log_likelihood(again), alone.log_likelihood(w))
    close(mix @ double.sandwich(again) @ mix.T, alone.sandwich(w))
    assert np.all(double.sandwich(again)[5] == 0)


def test_scales_of_features_do_not_matter() -> None:
    (layout, design), every = ising(), np.array(list(itertools.product(range(2), repeat=3)))
    counts, w, scale = np.arange(1, 9), np.array([0.2, 0.1, -0.1, 0.3]), np.array([1e-8, 1.0, 1e6, 1e3])
    plain = PseudoFamily(layout, design, every, counts).sandwich(w)
    scaled = PseudoFamily(layout, csr_array(design.toarray() * scale), every, counts).sandwich(w / scale)
    np.testing.assert_allclose(scaled * np.outer(scale, scale), plain, rtol=1e-8)


# Refusals -----------------------------------------------------------------------------------------------------


def test_an_observed_row_that_is_impossible_is_named() -> None:
    layout, offset = Layout((2, 2), ((0, 1),)), np.array([0.0, -np.inf, 0.0, 0.0])
    codes = [[0, 1], [1, 1], [0, 1], [0, 0]]
    with pytest.raises(sf.EstimationError, match=r"Row 2 of the data, with codes \[0, 1\].*offset -inf"):
        PseudoFamily(layout, csr_array(np.eye(4)), codes, [0, 1, 1, 1], offset)
    allowed = PseudoFamily(layout, csr_array(np.eye(4)), codes, [0, 1, 0, 1], offset)
    assert allowed.log_likelihood(np.zeros(4)) == pytest.approx(-2 * math.log(2))


def test_a_large_grid_has_products_but_no_dense_matrices() -> None:
    side, rng = 60, np.random.default_rng(0)
    at = np.arange(side * side).reshape(side, side)
    pairs = [*zip(at[:, 1:].flat, at[:, :-1].flat, strict=True), *zip(at[1:].flat, at[:-1].flat, strict=True)]
    layout = Layout((2,) * side**2, tuple((int(a), int(b)) for a, b in pairs))
    agree = np.tile([1.0, 0.0, 0.0, 1.0], len(pairs))
    design = csr_array((agree, (np.arange(layout.n), np.repeat(np.arange(len(pairs)), 4))))
    codes = rng.integers(0, 2, (5, side**2))
    family = PseudoFamily(layout, design, codes, np.ones(5))
    w = np.full(len(pairs), 0.1)
    assert family.at(w).curvature(w).shape == (len(pairs),)
    before = sf.config().memory
    try:
        sf.config(memory="500MB")
        for ask, matrices in ((family.sensitivity, 3), (family.variability, 2), (family.sandwich, 8)):
            need = in_bytes(8 * matrices * 7080**2)
            with pytest.raises(sf.EstimationError, match=f"7,080 weights would take {need}, and may take 500 MB"):
                ask(w)
    finally:
        sf.config(memory=before)
    tied = PseudoFamily(layout, csr_array(agree[:, None]), codes, np.ones(5))
    same = family.at(w)
    close(tied.at(np.array([0.1])).expected, same.expected.sum())
    close(tied.sensitivity(np.array([0.1])), [[5 * same.curvature(np.ones(len(pairs))).sum()]])
