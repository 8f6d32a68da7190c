"""Situations of rows with gaps: the monoid, recoding, files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.stats.gaps import Gaps
from suffice.stats.needs import Gap
from suffice.stats.statistics import Statistics

SCOPES = (("A",), ("A", "B"), ("B", "C"), ("A", "D"))
VARIABLES = tuple(Variable(name, (0, 1, 2)) for name in "ABCD")
Situation = tuple[tuple[int, ...], tuple[tuple[int, int], ...]]


def naive(rows: np.ndarray, weights: np.ndarray) -> Counter[Situation]:
    """Return the weight of every situation, by sets and searches."""
    scopes = [["ABCD".index(name) for name in scope] for scope in SCOPES]
    found: Counter[Situation] = Counter()
    for row, weight in zip(rows.tolist(), weights.tolist(), strict=True):
        left = {v for v, code in enumerate(row) if code < 0}
        while left:
            part = {left.pop()}
            while more := {v for scope in scopes if part & set(scope) for v in scope if v in left}:
                part |= more
                left -= more
            around = {v for scope in scopes if part & set(scope) for v in scope} - part
            found[tuple(sorted(part)), tuple(sorted((v, row[v]) for v in around))] += weight
    return found


def listed(gaps: Gaps) -> Counter[Situation]:
    around = gaps.surroundings
    found: Counter[Situation] = Counter()
    for s in range(gaps.n):
        k = gaps.kind[s]
        members = tuple(gaps.members[gaps.member_at[k] : gaps.member_at[k + 1]].tolist())
        edge = around.edge[around.edge_at[k] : around.edge_at[k + 1]].tolist()
        codes = gaps.codes[gaps.code_at[s] : gaps.code_at[s + 1]].tolist()
        key = members, tuple(zip(edge, codes, strict=True))
        assert key not in found
        found[key] = gaps.weights[s]
    return found


ROWS = st.lists(st.lists(st.integers(-1, 2), min_size=4, max_size=4), min_size=1, max_size=40).map(np.array)


@given(ROWS)
def test_situations_equal_those_of_sets_and_searches(rows: np.ndarray) -> None:
    weights = np.arange(1.0, len(rows) + 1)
    assert listed(Gaps.of_rows(VARIABLES, SCOPES, rows, weights)) == naive(rows, weights)


@given(ROWS, ROWS, ROWS)
def test_adding_is_commutative_and_associative(first: np.ndarray, second: np.ndarray, third: np.ndarray) -> None:
    a, b, c = (Gaps.of_rows(VARIABLES, SCOPES, rows) for rows in (first, second, third))
    together = listed(Gaps.of_rows(VARIABLES, SCOPES, np.concatenate([first, second, third])))
    assert listed((a + b) + c) == listed(a + (b + c)) == listed(c + (b + a)) == together
    assert listed(a + Gaps.zero(a.need, Schema(VARIABLES))) == listed(a)
    assert listed(a.scaled(2.0)) == listed(a + a)


@given(ROWS)
def test_states_can_be_recoded(rows: np.ndarray) -> None:
    gaps = Gaps.of_rows(VARIABLES, SCOPES, rows)
    wider = Schema(tuple(Variable(name, (2, 7, 0, 1)) for name in "ABCD"))
    moved = rows.copy()
    for old, new in ((0, 2), (1, 3), (2, 0)):
        moved[rows == old] = new
    assert listed(gaps.reindexed(wider)) == naive(moved, np.ones(len(rows)))


@given(ROWS)
def test_files_give_back_what_was_written(rows: np.ndarray) -> None:
    gaps = Gaps.of_rows(VARIABLES, SCOPES, rows)
    again = Gaps.from_arrays(Gap.from_dict(gaps.need.to_dict()), Schema(VARIABLES), gaps.to_arrays())
    assert listed(again) == listed(gaps)


def test_a_damaged_file_is_refused() -> None:
    rows = np.array([[0, -1, 1, 2], [-1, -1, 0, 0]])
    arrays = Gaps.of_rows(VARIABLES, SCOPES, rows).to_arrays()
    assert "weights" in arrays
    for name, array in arrays.items():
        for wrong in (array[:-1], -array - 1, *([] if name == "weights" else [np.full_like(array, 99)])):
            with pytest.raises(sf.StatisticsError, match="not proper"):
                Gaps.from_arrays(Gap(SCOPES), Schema(VARIABLES), {**arrays, name: wrong})


def test_statistics_with_gaps_are_saved(tmp_path: Path) -> None:
    dag = sf.DAG("A -> B")
    statistics = sf.collect(dag, {"A": ["u", None, "v"], "B": [None, "x", "y"]}, missing="em")
    statistics.save(tmp_path / "gaps.stats")
    again = Statistics.load(tmp_path / "gaps.stats")
    (need,) = (need for need in statistics if isinstance(need, Gap))
    assert listed(again[need]) == listed(statistics[need])


def test_rows_with_gaps_of_different_structures_are_not_added() -> None:
    one = Gaps.of_rows(VARIABLES, SCOPES, np.array([[0, -1, 1, 2]]))
    other = Gaps.of_rows(VARIABLES, SCOPES[1:], np.array([[0, -1, 1, 2]]))
    with pytest.raises(sf.StatisticsError, match="different structures"):
        one + other
