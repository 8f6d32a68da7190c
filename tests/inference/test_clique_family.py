"""Families of cliques on the joint table and through a junction tree, both against all configurations one by one."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from suffice.inference import tree_family
from suffice.inference.clique_family import CliqueFamily, Layout, TableFamily, family_of
from suffice.inference.facial import facial_set
from suffice.inference.interactions import Interactions
from suffice.inference.interior import has_positive_match
from suffice.inference.product import Factor
from suffice.inference.tree_family import TreeFamily

Floats = NDArray[np.float64]
FAMILIES: list[type[CliqueFamily]] = [TableFamily, TreeFamily]


# The slow twin ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """Scopes, parameters and base tables, and what follows from them by loops over all configurations."""

    sizes: tuple[int, ...]
    scopes: tuple[tuple[int, ...], ...]
    theta: Floats
    base: tuple[Factor, ...]

    @property
    def names(self) -> list[str]:
        return [f"v{i}" for i in range(len(self.sizes))]

    @property
    def layout(self) -> Layout:
        return Layout(self.sizes, self.scopes)

    def family(self, kind: type[CliqueFamily]) -> CliqueFamily:
        return kind(self.names, self.sizes, self.scopes, self.base)

    def configurations(self) -> list[tuple[int, ...]]:
        return list(itertools.product(*map(range, self.sizes)))

    def features(self) -> Floats:
        """One row a configuration, one column a cell of a clique."""
        rows = np.zeros((math.prod(self.sizes), self.layout.n))
        for row, x in zip(rows, self.configurations(), strict=True):
            start = 0
            for scope in self.scopes:
                shape = [self.sizes[v] for v in scope]
                place = 0
                for v, size in zip(scope, shape, strict=True):
                    place = place * size + x[v]
                row[start + place] = 1.0
                start += math.prod(shape)
        return rows

    def weights(self, theta: Floats | None = None) -> Floats:
        """h(x) exp Σ θ_C(x_C) of every configuration."""
        theta, found = self.theta if theta is None else theta, []
        for x, row in zip(self.configurations(), self.features(), strict=True):
            weight = math.prod(float(f.values[tuple(x[v] for v in f.scope)]) for f in self.base)
            found.append(weight * math.exp(math.fsum(theta[row > 0])))
        return np.array(found)


@st.composite
def cases(draw: st.DrawFn, zeros: bool = True, base: bool = True, covering: bool = False) -> Case:
    """Draw 1–4 variables of 1–3 states; cliques may be nested, repeated, in any order of axes, and leave some out."""
    sizes = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=4)))
    scope = st.lists(st.integers(0, len(sizes) - 1), min_size=1, unique=True).map(tuple)
    scopes = draw(st.lists(scope, min_size=1, max_size=4))
    if covering:
        scopes += [(v,) for v in range(len(sizes)) if not any(v in scope for scope in scopes)]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    theta = rng.normal(0, draw(st.sampled_from([0.5, 3.0])), Layout(sizes, tuple(scopes)).n)
    if zeros and draw(st.booleans()):
        theta[rng.random(len(theta)) < 0.15] = -np.inf
    factors = []
    for members in draw(st.lists(scope, max_size=2)) if base else ():
        values = rng.random([sizes[v] for v in members]) * (rng.random([sizes[v] for v in members]) > 0.15)
        factors.append(Factor(members, values))
    return Case(sizes, tuple(scopes), theta, tuple(factors))


both = pytest.mark.parametrize("kind", FAMILIES)


# Points -------------------------------------------------------------------------------------------------------


@both
@given(case=cases())
@settings(max_examples=60)
def test_log_z_margins_and_curvature_equal_brute_force(kind: type[CliqueFamily], case: Case) -> None:
    weights, features = case.weights(), case.features()
    point = case.family(kind).at(case.theta)
    if not weights.any():
        assert point.log_z == -math.inf
        return
    p = weights / weights.sum()
    assert point.log_z == pytest.approx(math.log(weights.sum()), abs=1e-11)
    np.testing.assert_allclose(point.expected, p @ features, rtol=1e-10, atol=1e-14)
    covariance = features.T @ (p[:, None] * features) - np.outer(p @ features, p @ features)
    direction = np.random.default_rng(1).normal(size=case.layout.n)
    np.testing.assert_allclose(point.curvature(direction), covariance @ direction, rtol=1e-9, atol=1e-12)


@both
@given(case=cases())
@settings(max_examples=20)
def test_a_point_stays_right_after_others_were_taken(kind: type[CliqueFamily], case: Case) -> None:
    family, direction = case.family(kind), np.arange(case.layout.n) / 7
    assume(case.weights().any())
    point = family.at(case.theta)
    expected, slope = point.expected.copy(), point.curvature(direction)
    other = family.at(case.theta * 0.5 + 0.1)
    other.curvature(direction)
    np.testing.assert_array_equal(point.expected, expected)
    np.testing.assert_allclose(point.curvature(direction), slope, rtol=1e-12, atol=1e-15)


@both
def test_parameters_far_beyond_the_range_of_floats_keep_their_ratios(kind: type[CliqueFamily]) -> None:
    family = kind("ABC", (2, 2, 2), [(0, 1), (1, 2)])
    theta = np.array([5000.0, 5001, 5002, 5000, -4000, -4001, -4003, -4000])
    near = family.at(theta - np.repeat([5000.0, -4000.0], 4))
    far_expected = family.at(theta).expected.copy()
    assert family.at(theta).log_z == pytest.approx(near.log_z + 1000, abs=1e-9)
    np.testing.assert_allclose(far_expected, near.expected, rtol=1e-9)


def test_small_families_are_written_out_and_large_ones_are_not() -> None:
    assert isinstance(family_of("ab", (2, 2), [(0, 1)]), TableFamily)
    chain = [(i, i + 1) for i in range(39)]
    large = family_of([str(i) for i in range(40)], [2] * 40, chain)
    assert isinstance(large, TreeFamily)
    assert large.at(np.zeros(large.layout.n)).log_z == pytest.approx(40 * math.log(2))
    thin = family_of([str(i) for i in range(40)], [1] * 40, chain)
    assert isinstance(thin, TreeFamily)
    np.testing.assert_array_equal(thin.at(np.zeros(39)).expected, np.ones(39))


def test_layout_puts_tables_one_after_another() -> None:
    layout = Layout((2, 3), ((1, 0), (0,)))
    tables = [np.arange(6.0).reshape(3, 2), np.array([6.0, 7.0])]
    flat = layout.flat(tables)
    assert flat.tolist() == list(range(8))
    for given_table, found in zip(tables, layout.tables(flat), strict=True):
        np.testing.assert_array_equal(found, given_table)
    layout.tables(flat)[1][0] = -1
    assert flat[6] == -1


# Proportional fitting -----------------------------------------------------------------------------------------


def order_of(scaling: Any, n: int) -> list[int]:
    """Return the cliques in the order in which they were fitted."""
    return list(map(int, scaling._visits)) if hasattr(scaling, "_visits") else list(range(n))


def targets_of(case: Case, seed: int, zeros: float) -> Floats:
    """Return margins of a random distribution whose support lies inside the family's."""
    rng = np.random.default_rng(seed)
    q = rng.random(math.prod(case.sizes)) * (case.weights() > 0)
    kept = q * (rng.random(len(q)) > zeros)
    q = kept if kept.any() else q
    return np.asarray((q / q.sum()) @ case.features())


def fitted_by_hand(case: Case, p: Floats, targets: Floats, order: list[int]) -> tuple[Floats, list[list[float]]]:
    """Fit the cliques once in turn; return the table, and each one's gain, total and gap before its step."""
    features, starts, rows = case.features(), case.layout.starts, []
    for number in order:
        cells = slice(int(starts[number]), int(starts[number + 1]))
        found, wanted = p @ features[:, cells], targets[cells]
        positive = wanted > 0
        gain = math.fsum(wanted[positive] * np.log(wanted[positive] / found[positive]))
        rows.append([gain, float(found.sum()), float(np.abs(wanted - found).max())])
        ratio = np.divide(wanted, found, out=np.zeros_like(wanted), where=positive)
        p = p * (features[:, cells] @ ratio)
        np.testing.assert_allclose(p @ features[:, cells], wanted, rtol=1e-9, atol=1e-12)
    return p, rows


@both
@given(case=cases(), seed=st.integers(0, 2**32 - 1), zeros=st.sampled_from([0.0, 0.3]))
@settings(max_examples=50)
def test_each_cycle_of_fitting_equals_that_of_the_joint_table(
    kind: type[CliqueFamily], case: Case, seed: int, zeros: float
) -> None:
    weights = case.weights()
    assume(weights.any())
    family, targets = case.family(kind), targets_of(case, seed, zeros)
    scaling, p = family.scaling(case.theta, targets), weights / weights.sum()
    for _ in range(3):
        gains, totals, gaps = scaling.cycle()
        p, by_hand = fitted_by_hand(case, p, targets, order_of(scaling, len(case.scopes)))
        np.testing.assert_allclose(np.array([gains, totals, gaps]).T, by_hand, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(totals, 1.0, atol=1e-10)
        assert (gains >= -1e-12).all()
        point = family.at(scaling.theta)
        np.testing.assert_allclose(point.expected, p @ case.features(), rtol=1e-8, atol=1e-11)
        assert point.log_z == pytest.approx(math.log(weights.sum()), abs=1e-10)


@both
def test_fitting_stays_right_beyond_the_cycle_where_margins_are_calibrated_anew(kind: type[CliqueFamily]) -> None:
    rng = np.random.default_rng(5)
    case = Case((2, 3, 2, 2), ((0, 1), (2, 1), (2, 3), (3, 0)), rng.normal(size=20), ())
    q = rng.random(24) ** 4
    family, targets = case.family(kind), (q / q.sum()) @ case.features()
    scaling, p = family.scaling(case.theta, targets), case.weights() / case.weights().sum()
    for _ in range(2 * tree_family.REFRESH + 3):
        gains, totals, gaps = scaling.cycle()
        p, by_hand = fitted_by_hand(case, p, targets, order_of(scaling, 4))
        np.testing.assert_allclose(np.array([gains, totals, gaps]).T, by_hand, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(family.at(scaling.theta).expected, p @ case.features(), rtol=1e-10)


@both
def test_fitting_does_not_change_what_it_is_given(kind: type[CliqueFamily]) -> None:
    family, theta = kind("AB", (2, 2), [(0,), (0, 1)]), np.zeros(6)
    targets = np.array([0.3, 0.7, 0.1, 0.2, 0.3, 0.4])
    scaling = family.scaling(theta, targets)
    scaling.cycle()
    assert not theta.any()
    assert targets.tolist() == [0.3, 0.7, 0.1, 0.2, 0.3, 0.4]
    assert scaling.theta.any()


# Interactions -------------------------------------------------------------------------------------------------


def summed(case: Case, words: Interactions, constant: float, tables: list[Floats]) -> Floats:
    """Return u + Σ u_A(x_A) of every configuration."""
    return np.array(
        [
            constant + math.fsum(u[tuple(x[v] for v in term)] for term, u in zip(words.terms, tables, strict=True))
            for x in case.configurations()
        ]
    )


interactions_of = cases(zeros=False, base=False)


@given(interactions_of)
@settings(max_examples=40)
def test_terms_add_up_to_the_tables_under_either_constraint(case: Case) -> None:
    words, wanted = Interactions(case.layout), case.features() @ case.theta
    for constraint in ("sum", "corner"):
        constant, tables = words.of(case.theta, constraint)
        np.testing.assert_allclose(summed(case, words, constant, tables), wanted, atol=1e-10)
        for term, u in zip(words.terms, tables, strict=True):
            assert u.shape == tuple(case.sizes[v] for v in term)
            for axis in range(u.ndim):
                zero = u.sum(axis=axis) if constraint == "sum" else u.take(0, axis=axis)
                np.testing.assert_allclose(zero, 0.0, atol=1e-10)
    subsets = {tuple(sorted(s)) for c in case.scopes for n in range(len(c)) for s in itertools.combinations(c, n + 1)}
    assert set(words.terms) == subsets
    assert len(words.terms) == len(subsets)


@given(interactions_of)
@settings(max_examples=40)
def test_terms_put_into_tables_have_the_same_sum(case: Case) -> None:
    words = Interactions(case.layout)
    constant, tables = words.of(case.theta)
    wanted = case.features() @ case.theta
    np.testing.assert_allclose(constant + case.features() @ words.put(tables), wanted, atol=1e-10)


@given(interactions_of, st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_margins_and_adjoint_are_transposes(case: Case, seed: int) -> None:
    words, rng = Interactions(case.layout), np.random.default_rng(seed)
    tables = [rng.normal(size=words.shape(term)) for term in words.terms]
    flat = rng.normal(size=case.layout.n)

    def inner(a: list[Floats], b: list[Floats]) -> float:
        return math.fsum(float((x * y).sum()) for x, y in zip(a, b, strict=True))

    assert inner(words.margins(flat), tables) == pytest.approx(float(flat @ words.put(tables)), abs=1e-9)
    assert inner(words.of(flat)[1], tables) == pytest.approx(float(flat @ words.adjoint(tables)), abs=1e-9)


@both
@given(case=cases(zeros=False, covering=True))
@settings(max_examples=25)
def test_coordinates_are_orthonormal_and_their_covariance_is_that_of_the_statistics(
    kind: type[CliqueFamily], case: Case
) -> None:
    assume(case.weights().any())
    words = Interactions(case.layout)
    terms = words.of(case.theta)[1]
    beta = words.coordinates(terms)
    assert len(beta) == words.n_free == sum(math.prod(case.sizes[v] - 1 for v in term) for term in words.terms)
    assert float(beta @ beta) == pytest.approx(math.fsum(float((u**2).sum()) for u in terms), rel=1e-9, abs=1e-12)
    for again, u in zip(words.spread(beta), terms, strict=True):
        np.testing.assert_allclose(again, u, atol=1e-9)
    columns = np.zeros((math.prod(case.sizes), words.n_free))
    for number in range(words.n_free):
        columns[:, number] = summed(case, words, 0.0, words.spread(np.eye(words.n_free)[number]))
    p = case.weights() / case.weights().sum()
    wanted = columns.T @ (p[:, None] * columns) - np.outer(p @ columns, p @ columns)
    np.testing.assert_allclose(words.covariance(case.family(kind).at(case.theta)), wanted, atol=1e-10)


# Whether a positive table matches ------------------------------------------------------------------------------

NO_THREE_WAY = ((0, 1), (1, 2), (0, 2))


def margins(table: Floats) -> Floats:
    return np.concatenate([table.sum(axis=2).ravel(), table.sum(axis=0).ravel(), table.sum(axis=1).ravel()])


@both
def test_a_match_inside_is_proven_once_the_margins_are_near(kind: type[CliqueFamily]) -> None:
    family = kind("ABC", (2, 2, 2), NO_THREE_WAY)
    m = np.array([[[90, 2], [5, 40]], [[3, 60], [70, 1]]]) / 271.0
    scaling = family.scaling(np.zeros(12), margins(m))
    assert not has_positive_match(family.at(np.zeros(12)), family.layout, margins(m))
    for _ in range(200):
        scaling.cycle()
    assert has_positive_match(family.at(scaling.theta), family.layout, margins(m))


@both
def test_on_the_way_to_a_boundary_nothing_is_proven(kind: type[CliqueFamily]) -> None:
    """Haberman (1974): all two-way margins are positive, and yet no positive table has them."""
    m = np.array([[[0, 3], [4, 5]], [[2, 6], [1, 0]]]) / 21.0
    family, targets = kind("ABC", (2, 2, 2), NO_THREE_WAY), margins(m)
    assert (targets > 0).all()
    scaling = family.scaling(np.zeros(12), targets)
    for _ in range(300):
        scaling.cycle()
        assert not has_positive_match(family.at(scaling.theta), family.layout, targets)


@both
@pytest.mark.parametrize("far", [5.0, 15.0, 25.0, 32.0, 40.0, 200.0])
def test_a_boundary_is_not_taken_for_inside_however_near_it_is(kind: type[CliqueFamily], far: float) -> None:
    m = np.array([[[0, 3], [4, 5]], [[2, 6], [1, 0]]]) / 21.0
    features, seen = Case((2, 2, 2), NO_THREE_WAY, np.zeros(12), ()).features(), m.ravel() > 0
    on_the_face = np.linalg.lstsq(features[seen], np.log(m.ravel()[seen]), rcond=None)[0]
    recession = np.linalg.lstsq(features, (~seen).astype(float), rcond=None)[0]
    np.testing.assert_allclose(features @ recession, ~seen, atol=1e-12)
    family = kind("ABC", (2, 2, 2), NO_THREE_WAY)
    for noise in (0.0, 1e-12, 1e-9):
        nearly = on_the_face - far * recession + noise * np.random.default_rng(0).normal(size=12)
        assert not has_positive_match(family.at(nearly), family.layout, margins(m))


@both
@given(seed=st.integers(0, 2**32 - 1))
def test_what_is_proven_holds(kind: type[CliqueFamily], seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.poisson(rng.choice([0.7, 2.0, 20.0]), (2, 3, 2)) + 0.0
    assume(table.sum() > 0)
    family = kind("ABC", (2, 3, 2), NO_THREE_WAY)
    targets = np.concatenate([(table.sum(axis=a) / table.sum()).ravel() for a in (2, 0, 1)])
    free = targets > 0
    scaling = family.scaling(np.where(free, 0.0, -np.inf), targets)
    for _ in range(60):
        scaling.cycle()
    assume(has_positive_match(family.at(scaling.theta), family.layout, targets))
    assert facial_set(family.sizes, NO_THREE_WAY, family.layout.tables(targets)).exists == "yes"
