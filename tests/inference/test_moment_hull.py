"""Targets inside, on and outside the hull of feature vectors: against exact mixtures of few vectors, in fractions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from suffice.inference import moment_cloud, moment_face, moment_hull
from suffice.inference.dependence import dependence
from suffice.inference.moment_face import MAX_DENOMINATOR
from suffice.inference.moment_hull import face, interior_proof, separation

Vector = tuple[Fraction, ...]
DIE = np.arange(1.0, 7.0)[:, None]
EVENTS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])  # A, and A with B


def solved(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Solve a system of equations, its right side last, by elimination; None unless there is just one solution."""
    rows, n = [list(row) for row in rows], len(rows[0]) - 1
    for column in range(n):
        pivot = next((i for i in range(column, len(rows)) if rows[i][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for i in range(len(rows)):
            if i != column:
                rows[i] = [a - rows[i][column] * b for a, b in zip(rows[i], rows[column], strict=True)]
    return None if any(row[n] for row in rows[n:]) else [row[n] for row in rows[:n]]


def members(vectors: Sequence[Vector], targets: Vector) -> set[int]:
    """The vectors on the smallest face: those with a positive weight in some corner of all mixtures of the targets.

    The vectors of a corner are affinely independent, so that their weights are the only solution. None when outside.
    """
    found: set[int] = set()
    for size in range(1, min(len(vectors), len(targets) + 1) + 1):
        for chosen in itertools.combinations(range(len(vectors)), size):
            rows = [[Fraction(1)] * (size + 1)]
            rows += [[vectors[i][j] for i in chosen] + [targets[j]] for j in range(len(targets))]
            weights = solved(rows) if len(rows) >= size else None
            if weights is not None and all(weight >= 0 for weight in weights):
                found |= {i for i, weight in zip(chosen, weights, strict=True) if weight > 0}
    return found


def exactly(direction: Any, vector: Sequence[Any]) -> Fraction:
    return sum((Fraction(c) * Fraction(v) for c, v in zip(direction.tolist(), vector, strict=True)), Fraction(0))


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[tuple[int, ...]], Vector]:
    """Whole vectors, and targets that are a mixture of some of them, or anywhere near."""
    k = draw(st.integers(1, 3))
    numbers = draw(st.sampled_from([st.integers(0, 1), st.integers(-2, 3)]))
    vectors = draw(st.lists(st.tuples(*[numbers] * k), min_size=1, max_size=6))
    if draw(st.booleans()):
        weights = draw(st.lists(st.integers(0, 5), min_size=len(vectors), max_size=len(vectors)).filter(any))
        total = sum(weights)
        return vectors, tuple(
            Fraction(sum(w * v[j] for w, v in zip(weights, vectors, strict=True)), total) for j in range(k)
        )
    fractions = st.fractions(-3, 4, max_denominator=6)
    return vectors, tuple(draw(fractions) for _ in range(k))


# The face of this one has the direction (5, 18, 16) / 100.
LARGE_DENOMINATOR = (
    [(2, -2, 3), (0, 3, -2), (-2, 0, 2), (-2, -2, -2)],
    (Fraction(-3, 8), Fraction(-1, 16), Fraction(25, 16)),
)


@given(problems(), st.booleans())
@example(LARGE_DENOMINATOR, False)
@settings(max_examples=300, deadline=None)
def test_face_is_the_union_of_all_mixtures(problem: Any, is_sparse: bool) -> None:
    vectors, targets = problem
    features = np.array(vectors, dtype=float)
    point = np.array([float(target) for target in targets])
    found = face(csr_array(features) if is_sparse else features, point)
    expected = members([tuple(map(Fraction, vector)) for vector in vectors], targets)
    assert found.support is not None
    assert found.direction is not None
    assert set(np.flatnonzero(found.support).tolist()) == expected
    assert found.exists == ("yes" if len(expected) == len(vectors) else "no")
    assert found.feasible == ("yes" if expected else "no")
    depths = [exactly(found.direction, targets) - exactly(found.direction, vector) for vector in vectors]
    assert all(depth > 0 for depth, on in zip(depths, found.support, strict=True) if not on)
    parts = [np.abs(n * found.direction - np.rint(n * found.direction)).max() for n in range(1, MAX_DENOMINATOR + 1)]
    slack = 0 if min(parts) < 1e-9 else 1e-12  # fractions with larger denominators are left as they are, rounded
    assert slack or parts[0] == 0 or not expected
    assert all(abs(depth) <= slack for depth, on in zip(depths, found.support, strict=True) if on)


@given(problems())
@settings(max_examples=300, deadline=None)
def test_separations_are_true_and_irreducible(problem: Any) -> None:
    vectors, targets = problem
    exact = [tuple(map(Fraction, vector)) for vector in vectors]
    found = separation(np.array(vectors, dtype=float), [float(target) for target in targets])
    assert (found is None) == bool(members(exact, targets))
    if found is None:
        return
    assert max(exactly(found.direction, vector) for vector in vectors) == Fraction(found.bound)
    assert exactly(found.direction, targets) > Fraction(found.bound)
    assert found.reached == pytest.approx(float(exactly(found.direction, targets)))
    held = np.flatnonzero(found.direction).tolist()
    for left in held if len(held) > 1 else []:
        others = [j for j in held if j != left]
        assert members([tuple(v[j] for j in others) for v in exact], tuple(targets[j] for j in others))


@given(problems(), st.lists(st.floats(1e-4, 1e4), min_size=3, max_size=3), st.lists(st.floats(-10, 10), min_size=3))
@settings(max_examples=100, deadline=None)
def test_units_do_not_matter(problem: Any, factors: list[float], shifts: list[float]) -> None:
    vectors, targets = problem
    k = len(targets)
    scale, shift = np.array(factors[:k]), np.array(factors[:k]) * shifts[:k]
    found = face(np.array(vectors) * scale + shift, np.array([float(t) for t in targets]) * scale + shift)
    plain = face(np.array(vectors, dtype=float), [float(t) for t in targets])
    assert found.exists in (plain.exists, "undecided")
    if found.support is not None:
        np.testing.assert_array_equal(found.support, plain.support)


# Known cases --------------------------------------------------------------------------------------------------


def test_die_with_mean_seven() -> None:
    found = separation(DIE, [7.0])
    assert found is not None
    assert (found.direction.tolist(), found.bound, found.reached) == ([1.0], 6.0, 7.0)
    assert face(DIE, [7.0]).feasible == "no"


@pytest.mark.parametrize(("mean", "sign", "cell"), [(6.0, 1.0, 5), (1.0, -1.0, 0)])
def test_die_on_the_boundary(mean: float, sign: float, cell: int) -> None:
    found = face(DIE, [mean])
    assert (found.exists, found.feasible) == ("no", "yes")
    assert found.support is not None
    assert np.flatnonzero(found.support).tolist() == [cell]
    assert found.direction is not None
    assert found.direction.tolist() == [sign]
    assert separation(DIE, [mean]) is None


def test_a_part_is_not_more_probable_than_the_whole() -> None:
    found = separation(EVENTS, [0.3, 0.5])
    assert found is not None
    assert found.direction.tolist() == [-1.0, 1.0]
    assert found.bound == 0.0
    assert found.reached == pytest.approx(0.2)
    assert face(EVENTS, [0.3, 0.5]).feasible == "no"
    assert face(EVENTS, [0.3, 0.2]).exists == "yes"
    always = face(EVENTS, [0.3, 0.3])
    assert always.support is not None
    assert (always.exists, always.support.tolist()) == ("no", [True, False, True, True])


def test_only_the_features_in_conflict_are_named() -> None:
    bits = np.array(list(itertools.product([0.0, 1.0], repeat=6)))
    features = np.column_stack([bits, bits[:, 1] * bits[:, 4]])
    found = separation(features, [0.5, 0.9, 0.1, 0.4, 0.8, 0.7, 0.6])
    assert found is not None  # P(B and E) ≥ P(B) + P(E) − 1 = 0.7
    assert found.direction.tolist() == [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, -1.0]
    assert found.bound == 1.0
    assert found.reached == pytest.approx(1.1)


def test_coefficients_are_small_whole_numbers_in_mixed_units() -> None:
    bits = np.array(list(itertools.product([0.0, 1.0], repeat=2)))
    features = np.column_stack([bits[:, 0], bits[:, 1], 1000 * (bits[:, 0] + 3 * bits[:, 1])])
    found = separation(features, [0.5, 0.5, 2500.0])
    assert found is not None
    sizes = np.abs(found.direction)
    np.testing.assert_array_equal(sizes / sizes.min(), np.rint(sizes / sizes.min()))
    assert (features @ found.direction).max() == found.bound < found.reached


@pytest.mark.parametrize("n_rows", [10**3, 10**6, 10**8])
def test_one_count_is_not_zero(n_rows: int) -> None:
    assert face(EVENTS, [0.3, 0.3 - 1 / n_rows]).exists == "yes"
    assert face(EVENTS, [0.3, 0.3 + 1 / n_rows]).feasible == "no"


def test_round_off_is_on_the_boundary_and_what_is_between_is_undecided() -> None:
    point = 0.1 + 0.2  # 0.30000000000000004
    assert face(EVENTS, [0.3, point]).exists == "no"
    assert face(EVENTS, [0.3, point]).feasible == "yes"
    assert separation(EVENTS, [0.3, point]) is None
    assert face(EVENTS, [0.3, 0.3 - 1e-11]).exists == "undecided"
    assert face(EVENTS, [0.3, 0.3 + 1e-10]).feasible == "undecided"
    assert separation(EVENTS, [0.3, 0.3 + 1e-10]) is None
    assert separation(EVENTS, [0.3, 0.3 + 1e-7]) is not None
    assert separation(EVENTS, [0.3, 0.3 + 1e-7], tol=1e-6) is None


def test_targets_off_the_affine_hull() -> None:
    """Three states exclude each other, so that their probabilities sum to one."""
    states = np.eye(3)
    assert face(states, [0.2, 0.3, 0.5]).exists == "yes"
    assert face(states, [0.1, 0.2, 0.7]).exists == "yes"
    found = separation(states, [0.2, 0.3, 0.6])
    assert found is not None
    assert (found.direction.tolist(), found.bound) == ([1.0, 1.0, 1.0], 1.0)
    assert found.reached == pytest.approx(1.1)


def test_constant_features_and_single_cells() -> None:
    assert face([[2.0, 0.0], [2.0, 1.0]], [2.0, 0.5]).exists == "yes"
    found = separation([[2.0, 0.0], [2.0, 1.0]], [2.5, 0.5])
    assert found is not None
    assert (found.direction.tolist(), found.bound, found.reached) == ([1.0, 0.0], 2.0, 2.5)
    assert face([[2.0, 3.0]], [2.0, 3.0]).exists == "yes"
    assert face([[2.0, 3.0]], [2.0, 3.1]).feasible == "no"
    assert face(np.zeros((3, 0)), []).exists == "yes"


def test_many_cells_with_few_different_vectors() -> None:
    codes = np.arange(2**16)
    bits = ((codes[:, None] >> np.arange(16)) & 1).astype(float)
    features = np.column_stack([bits.sum(axis=1), bits[:, 0] * bits[:, 1]])
    assert face(csr_array(features), [8.0, 0.25]).exists == "yes"
    found = face(features, [1.0, 0.5])  # all ones or none: two bits half the time
    assert found.support is not None
    expected = (bits.sum(axis=1) == 0) | ((bits.sum(axis=1) == 2) & (features[:, 1] == 1))
    np.testing.assert_array_equal(found.support, expected)


def test_vectors_that_are_not_whole() -> None:
    angles = np.linspace(0, 2 * np.pi, 50, endpoint=False)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    edge = face(circle, 0.3 * circle[7] + 0.7 * circle[8])
    assert edge.support is not None
    assert edge.direction is not None
    assert np.flatnonzero(edge.support).tolist() == [7, 8]
    depths = (0.3 * circle[7] + 0.7 * circle[8] - circle) @ edge.direction
    assert (depths[~edge.support] > 0.5).all()
    assert np.abs(depths[edge.support]).max() < 1e-9
    assert face(circle, [0.2, -0.1]).exists == "yes"
    found = separation(circle, [0.9, 0.9])
    assert found is not None
    assert (circle @ found.direction).max() == found.bound < found.reached


@pytest.mark.parametrize(("excess", "width"), [(1e-2, 1), (1e-4, 1), (1e-6, 2), (1e-8, 7)])
def test_no_more_digits_than_a_narrow_separation_needs(excess: float, width: int) -> None:
    angles = np.r_[1.0 + np.linspace(-1e-3, 1e-3, 401), np.linspace(0, 2 * np.pi, 100)]
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    found = separation(circle, (1 + excess) * circle[200])
    assert found is not None
    assert (circle @ found.direction).max() == found.bound < found.reached
    assert max(len(f"{size:.12g}") for size in np.abs(found.direction)) == width


def test_conflicts_of_very_many_features_stay_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moment_hull, "MAX_TRIALS", 0)
    found = separation(np.eye(6)[:, :5], np.full(5, 0.3))
    assert found is not None
    assert found.direction.tolist() == [1.0] * 5
    assert (found.bound, found.reached) == (1.0, 1.5)


# Limits and failures ------------------------------------------------------------------------------------------


def test_beyond_the_limits_only_single_features_are_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moment_cloud, "MAX_CELLS", 2)
    assert face(EVENTS, [0.3, 0.2]).exists == "undecided"
    assert face(EVENTS, [0.3, 0.5]).feasible == "undecided"
    assert separation(EVENTS, [0.3, 0.5]) is None
    assert face(EVENTS, [1.3, 0.5]).feasible == "no"
    assert separation(EVENTS, [1.3, 0.5]) is not None


def test_without_an_answer_of_the_solver_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moment_hull, "nearest", lambda cloud: None)
    assert separation(EVENTS, [0.3, 0.5]) is None
    assert face(EVENTS, [0.3, 0.5]).feasible == "undecided"


def test_a_wrong_answer_of_the_solver_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    true = moment_cloud.nearest

    def turned(cloud: Any) -> Any:
        found = true(cloud)
        assert found is not None
        return found._replace(direction=-found.direction)

    monkeypatch.setattr(moment_hull, "nearest", turned)
    assert separation(EVENTS, [0.3, 0.5]) is None
    assert face(EVENTS, [0.3, 0.5]).feasible == "undecided"
    shares = moment_face._shares

    def lost(heights: Any) -> Any:
        found = shares(heights)
        assert found is not None
        return found[0], -found[1]

    monkeypatch.setattr(moment_face, "_shares", lost)
    assert face(EVENTS, [0.3, 0.3]).exists == "undecided"


def test_equal_keys_of_different_rows_do_not_merge_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class Zeros:
        def standard_normal(self, n: int) -> Any:
            return np.zeros(n)

    monkeypatch.setattr(np.random, "default_rng", lambda seed: Zeros())
    assert face(DIE, [6.0]).exists == "no"
    assert face(csr_array(DIE), [3.0]).exists == "yes"


# The proof from one distribution ------------------------------------------------------------------------------


def moments(features: Any, weights: Any) -> tuple[Any, Any, Any]:
    p = weights / weights.sum()
    mean = p @ features
    return mean, ((features - mean) * p[:, None]).T @ (features - mean), np.ptp(features, axis=0)


@given(problems(), st.data())
@settings(max_examples=300, deadline=None)
def test_proof_holds_only_inside(problem: Any, data: st.DataObject) -> None:
    vectors, targets = problem
    features = np.array(vectors, dtype=float)
    logs = data.draw(st.lists(st.floats(-12, 0), min_size=len(vectors), max_size=len(vectors)))
    mean, covariance, spread = moments(features, 10.0 ** np.array(logs))
    gaps = features - features.mean(axis=0)
    rank = dependence(gaps.T @ gaps, scale=spread * len(gaps)).rank
    inside = len(members([tuple(map(Fraction, v)) for v in vectors], targets)) == len(vectors)
    point = np.array([float(target) for target in targets])
    assert inside or not interior_proof(mean, covariance, point, spread, rank)
    assert inside or not interior_proof(mean, covariance, point, spread)
    assert interior_proof(mean, covariance, mean, spread, rank) or min(logs) < -8


def test_proof_is_found_near_and_not_far() -> None:
    mean, covariance, spread = moments(EVENTS, np.ones(4))
    assert interior_proof(mean, covariance, mean + 0.05, spread)
    assert not interior_proof(mean, covariance, [0.3, 0.3], spread)
    assert not interior_proof(mean, covariance, [np.nan, 0.3], spread)


@pytest.mark.parametrize("rare", [1e-3, 1e-8, 1e-13, 1e-16, 1e-200])
def test_a_fit_that_approaches_the_boundary_proves_nothing(rare: float) -> None:
    """P(A without B) is zero in the targets, and almost so in the fit."""
    mean, covariance, spread = moments(EVENTS, np.array([1.0, rare, 1.0, 1.0]))
    assert not interior_proof(mean, covariance, [1 / 3, 1 / 3], spread)
    assert not interior_proof(mean, covariance, [1 / 3, 1 / 3], spread, rank=2)


def test_a_covariance_as_small_as_rounding_error_proves_nothing() -> None:
    """A gap of rounding error could then be a step beyond the boundary."""
    assert interior_proof([0.5], [[1e-12]], [0.5], [1.0])
    assert not interior_proof([0.5], [[1e-14]], [0.5], [1.0])


def test_features_without_variation_prove_just_their_own_value() -> None:
    assert interior_proof([0.5], [[0.0]], [0.5], [1.0], rank=0, tol=0.0)
    assert not interior_proof([0.5], [[0.0]], [0.5 + 1e-15], [1.0], rank=0, tol=0.0)


def test_proof_with_dependent_and_constant_features() -> None:
    features = np.column_stack([np.eye(3), np.full(3, 7.0)])
    mean, covariance, spread = moments(features, np.array([1.0, 2.0, 3.0]))
    point = np.array([0.2, 0.3, 0.5, 7.0])
    assert interior_proof(mean, covariance, point, spread, rank=2)
    assert not interior_proof(mean, covariance, point, spread)  # the rank must be known
    assert not interior_proof(mean, covariance, point + np.eye(4)[0] / 100, spread, rank=2)
    assert not interior_proof(mean, covariance, point + np.eye(4)[3] / 10, spread, rank=2)
    assert interior_proof([7.0], [[0.0]], [7.0], [0.0])
    assert not interior_proof([7.0], [[0.0]], [7.1], [0.0])
