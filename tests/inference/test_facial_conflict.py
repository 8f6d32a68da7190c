"""Margins in conflict: against linear programs over the whole table, and conflicts made on purpose."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.inference.test_facial import PAIRS, cases, indicators, margins_of

from suffice.inference import facial_conflict
from suffice.inference.facial_conflict import Conflict, infeasibility

Table = Any
OPPOSITE = np.array([[0.0, 0.5], [0.5, 0.0]])


def is_feasible(shape: Any, scopes: Any, margins: Any, allowed: Table | None = None) -> bool:
    if not scopes:
        return True
    free = np.ones(shape, dtype=bool) if allowed is None else allowed
    bounds = [(0, None if cell else 0) for cell in free.ravel()]
    target = np.concatenate([np.ravel(margin) for margin in margins])
    answer = linprog(np.zeros(free.size), A_eq=indicators(shape, scopes), b_eq=target, bounds=bounds)
    assert answer.status in (0, 2)
    return bool(answer.status == 0)


def least_discrepancy(shape: Any, scopes: Any, margins: Any, allowed: Table) -> float:
    """Absolute values as two inequalities, p − t ≤ e and t − p ≤ e, with the total fixed."""
    design = indicators(shape, scopes)
    target = np.concatenate([np.ravel(margin) for margin in margins])
    m, n = design.shape
    above = np.block([[design, -np.eye(m)], [-design, -np.eye(m)]])
    answer = linprog(
        np.r_[np.zeros(n), np.ones(m)],
        A_ub=above,
        b_ub=np.r_[target, -target],
        A_eq=np.r_[np.ones(n), np.zeros(m)][None],
        b_eq=[float(margins[0].sum())],
        bounds=[(0, None if cell else 0) for cell in allowed.ravel()] + [(0, None)] * m,
    )
    return float(answer.fun)


@given(cases())
@settings(max_examples=60, deadline=None)
def test_margins_of_a_table_are_in_no_conflict(case: tuple[Table, list[tuple[int, ...]]]) -> None:
    counts, scopes = case
    assert infeasibility(counts.shape, scopes, margins_of(counts, scopes)) is None
    if counts.any():
        assert infeasibility(counts.shape, scopes, margins_of(counts, scopes), counts > 0) is None


@given(cases(), st.data())
@settings(max_examples=100, deadline=None)
def test_structural_zeros_make_irreducible_conflicts(
    case: tuple[Table, list[tuple[int, ...]]], data: st.DataObject
) -> None:
    counts, scopes = case
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=counts.size, max_size=counts.size)))
    allowed[data.draw(st.integers(0, counts.size - 1))] = True
    allowed = allowed.reshape(counts.shape)
    margins = margins_of(counts, scopes)
    found = infeasibility(counts.shape, scopes, margins, allowed)
    assert (found is None) == is_feasible(counts.shape, scopes, margins, allowed)
    if found is not None:
        assert found.kind == "joint"
        chosen = [scopes[number] for number in found.scopes]
        tables = [margins[number] for number in found.scopes]
        assert not is_feasible(counts.shape, chosen, tables, allowed)
        for left in range(len(chosen)):
            rest = [number for number in range(len(chosen)) if number != left]
            assert is_feasible(
                counts.shape, [chosen[number] for number in rest], [tables[number] for number in rest], allowed
            )
        expected = least_discrepancy(counts.shape, scopes, margins, allowed)
        assert found.discrepancy == pytest.approx(expected, rel=1e-6)


@given(st.floats(0, 0.5), st.floats(0, 0.5), st.floats(0, 0.5))
@settings(max_examples=60, deadline=None)
def test_three_correlations(first: float, second: float, third: float) -> None:
    """Fair coins that agree with probability 2a, 2b, 2c: possible when the triangle inequalities hold."""
    agree = [first, second, third]
    slack = min(sum(agree) - 0.5, *(0.5 + 2 * a - sum(agree) for a in agree))
    if abs(slack) < 1e-6:
        return
    margins = [np.array([[a, 0.5 - a], [0.5 - a, a]]) for a in agree]
    found = infeasibility((2, 2, 2), PAIRS, margins)
    assert (found is None) == (slack > 0)
    if found is not None:
        assert found.scopes == (0, 1, 2)


def test_opposites_with_other_margins_name_only_the_three() -> None:
    scopes = [(3,), (0, 1), (3, 0), (1, 2), (2, 0)]
    half = np.array([0.5, 0.5])
    found = infeasibility((2, 2, 2, 2), scopes, [half, OPPOSITE, np.full((2, 2), 0.25), OPPOSITE, OPPOSITE])
    assert found == Conflict("joint", (1, 3, 4), pytest.approx(2.0))  # type: ignore[arg-type]


def test_totals_that_differ() -> None:
    found = infeasibility((2, 2), [(0,), (1,)], [[3, 4], [3, 5]])
    assert found == Conflict("totals", (0, 1), 1.0, values=(7.0, 8.0))


def test_overlaps_that_differ_name_the_shared_cell() -> None:
    first = np.array([[1.0, 2, 3], [4, 5, 6]])
    second = np.array([[5.0, 0], [8, 0], [7, 1]])
    found = infeasibility((2, 3, 2), [(0,), (0, 1), (1, 2)], [first.sum(1), first, second])
    assert found == Conflict("overlap", (1, 2), 2.0, (1,), (1,), (7.0, 8.0))


def test_round_off_is_no_conflict() -> None:
    table = np.random.default_rng(0).random((3, 3, 3))
    margins = [margin * (1 + 1e-13 * number) for number, margin in enumerate(margins_of(table, PAIRS))]
    assert infeasibility((3, 3, 3), PAIRS, margins) is None
    assert infeasibility((3, 3, 3), PAIRS, [margins[0] * (1 + 1e-7), *margins[1:]]) is not None


def test_large_tables_are_compared_two_by_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facial_conflict, "MAX_CELLS", 4)
    assert infeasibility((2, 2, 2), PAIRS, [OPPOSITE] * 3) is None
    n = 40
    scopes = list(itertools.pairwise(range(n)))
    tables = [np.full((2, 2), 0.25)] * (n - 1)
    assert infeasibility((2,) * n, scopes, tables) is None
    found = infeasibility((2,) * n, scopes, [np.array([[0.3, 0.3], [0.2, 0.2]]).T, *tables[1:]])
    assert found is not None
    assert (found.kind, found.scopes) == ("overlap", (0, 1))


def test_nothing_is_in_conflict_with_nothing() -> None:
    assert infeasibility((2, 2, 2), PAIRS, [np.zeros((2, 2))] * 3) is None
    assert infeasibility((2, 2), [()], [3.0], np.array([[True, False], [False, False]])) is None
