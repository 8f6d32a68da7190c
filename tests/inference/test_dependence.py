"""Relations between features: against exact elimination in fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from suffice.inference.dependence import Relation, combination, dependence, describe


def covariance_of(features: Any, weights: Any | None = None) -> Any:
    p = np.full(len(features), 1 / len(features)) if weights is None else weights / weights.sum()
    gaps = features - p @ features
    return (gaps * p[:, None]).T @ gaps


def exact_echelon(features: list[tuple[int, ...]]) -> tuple[list[int], list[list[Fraction]]]:
    """The columns that do not follow from those before and a constant, and how the others do: reduced echelon form."""
    rows = [[Fraction(1), *map(Fraction, row)] for row in features]
    pivots: list[int] = []
    for column in range(len(rows[0])):
        at = len(pivots)
        pivot = next((i for i in range(at, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [value / rows[at][column] for value in rows[at]]
        for i in range(len(rows)):
            if i != at:
                rows[i] = [a - rows[i][column] * b for a, b in zip(rows[i], rows[at], strict=True)]
        pivots.append(column)
    return pivots, rows


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[int, ...]]:
    k = draw(st.integers(1, 5))
    numbers = draw(st.sampled_from([st.integers(0, 1), st.integers(-3, 3)]))
    return draw(st.lists(st.tuples(*[numbers] * k), min_size=1, max_size=8))


@given(tables(), st.data())
@settings(max_examples=300, deadline=None)
@example([(1, 1), (1, 1)], None)
def test_relations_are_the_reduced_echelon_form(features: list[tuple[int, ...]], data: Any) -> None:
    weights = None
    if data is not None:
        numbers = st.integers(1, 9)
        weights = np.array(data.draw(st.lists(numbers, min_size=len(features), max_size=len(features))), dtype=float)
    found = dependence(covariance_of(np.array(features, dtype=float), weights))
    pivots, rows = exact_echelon(features)
    assert found.rank == len(pivots) - 1
    assert found.independent == tuple(column - 1 for column in pivots if column)
    redundant = [j for j in range(len(features[0])) if j + 1 not in pivots]
    assert [relation.indices[-1] for relation in found.relations] == redundant
    for relation, j in zip(found.relations, redundant, strict=True):
        expected = {pivot - 1: -rows[at][j + 1] for at, pivot in enumerate(pivots) if pivot and rows[at][j + 1]}
        expected[j] = Fraction(1)
        assert relation.indices == tuple(sorted(expected))
        for i, coefficient in zip(relation.indices, relation.coefficients, strict=True):
            assert Fraction(coefficient).limit_denominator(10**6) == expected[i]
            if expected[i].denominator <= 12:
                assert coefficient == float(expected[i])


@given(tables(), st.lists(st.floats(1e-5, 1e5), min_size=5, max_size=5))
@settings(max_examples=100, deadline=None)
def test_units_change_the_coefficients_only(features: list[tuple[int, ...]], factors: list[float]) -> None:
    scale = np.array(factors[: len(features[0])])
    table = np.array(features, dtype=float) * scale
    plain = dependence(covariance_of(np.array(features, dtype=float)))
    found = dependence(covariance_of(table), scale=scale)
    assert found.rank == plain.rank
    assert found.independent == plain.independent
    for relation in found.relations:
        terms = table[:, relation.indices] * relation.coefficients
        assert np.ptp(terms.sum(axis=1)) <= 1e-7 * np.abs(terms).max()


def test_states_of_two_variables_and_their_pairs() -> None:
    a, b = (codes.ravel() for codes in np.indices((2, 3)))
    columns = {f"A={s}": a == s for s in range(2)} | {f"B={s}": b == s for s in range(3)}
    columns |= {f"A=1,B={s}": (a == 1) & (b == s) for s in range(3)}
    found = dependence(covariance_of(np.column_stack(list(columns.values())).astype(float)))
    assert found.rank == 5
    assert [describe(relation, list(columns)) for relation in found.relations] == [
        "A=0 + A=1 = constant",
        "B=0 + B=1 + B=2 = constant",
        "A=0 + A=1,B=0 + A=1,B=1 + A=1,B=2 = constant",
    ]


def test_constants_are_relations_by_themselves() -> None:
    found = dependence([[0.0, 0.0], [0.0, 2.0]])
    assert (found.rank, found.relations) == (1, (Relation((0,), (1.0,)),))
    assert describe(found.relations[0], ["one", "two"]) == "one = constant"
    assert dependence(np.zeros((3, 3))).rank == 0
    assert dependence(np.zeros((0, 0))).relations == ()


def test_the_scale_tells_small_features_from_constants() -> None:
    matrix = np.diag([1.0, 1e-20])
    assert dependence(matrix).rank == 1
    assert dependence(matrix, scale=[1.0, 1e-10]).rank == 2


def test_rare_events_are_no_relations() -> None:
    """Two indicators that differ once in a million."""
    features = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    assert dependence(covariance_of(features, np.array([0.5, 0.5, 1e-6]))).rank == 2
    assert dependence(covariance_of(features, np.array([0.5, 0.5, 1e-6])), tol=1e-4).rank == 1


def test_features_that_are_almost_the_same_do_not_hide_a_relation() -> None:
    """The third is a simple sum of the fourth and fifth, and follows from the first two, which hardly differ, badly."""
    rng = np.random.default_rng(3)
    u, v = rng.standard_normal((2, 4000))
    features = np.column_stack([u, u + 2e-5 * v, v, u + v, u - v])
    found = dependence(covariance_of(features))
    assert found.rank == 2
    centred = features - features.mean(axis=0)
    for relation in found.relations:
        terms = centred[:, relation.indices] * relation.coefficients
        assert np.abs(terms.sum(axis=1)).max() <= 1e-6 * np.abs(terms).max()


@pytest.mark.parametrize("n_redundant", [0, 1, 130, 260])
def test_many_features(n_redundant: int) -> None:
    """More than one block of columns, redundant ones among them."""
    rng = np.random.default_rng(n_redundant)
    base = rng.integers(0, 3, size=(2000, 270)).astype(float)
    extra = 2 * base[:, :n_redundant] - base[:, 10 : 10 + n_redundant]
    order = rng.permutation(270 + n_redundant)
    features = np.hstack([base, extra])[:, order]
    found = dependence(covariance_of(features))
    assert found.rank == 270
    assert len(found.relations) == n_redundant
    for relation in found.relations:
        assert np.ptp(features[:, relation.indices] @ relation.coefficients) < 1e-6


def test_sums_are_written_with_signs_and_fractions() -> None:
    assert describe(Relation((0, 2), (-0.5, 1.0)), "abc") == "c = 1/2·a + constant"
    assert describe(Relation((0, 1), (1.0, 1.0)), "ab") == "a + b = constant"
    assert combination([(-1.0, "x"), (2.0, "y"), (-1 / 3, "z"), (0.123456789, "u")]) == (
        "−x + 2·y − 1/3·z + 0.123457·u"
    )
