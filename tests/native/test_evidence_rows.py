"""Rows of evidence in a sliced junction tree: against enumeration, and with arguments that must be refused."""

from __future__ import annotations

import copy
import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.native.fuzz.evidence_rows import draw_all, ragged
from tests.native.misuse import REFUSALS, misuses

from suffice.native import evidence_rows
from suffice.native.evidence_rows import FINE, IMPOSSIBLE, LOST, SlicedTree, add_expected_counts, count_cells

FIELDS = ("sizes", "scope_at", "scope", "part_at", "part", "parent", "child_at", "child", "factor_at", "factor",
          "member_at", "member", "stride", "start")  # fmt: skip


def enumerate_rows(tree: tuple[Any, ...], rows: Any, weights: Any, tables: Any) -> tuple[Any, Any]:
    """Return p of every row and the expected counts, one completion after another."""
    named = dict(zip(FIELDS, tree, strict=True))
    sizes, at, start = named["sizes"].tolist(), named["member_at"], named["start"]
    held = named["factor"].tolist()
    p, expected = np.zeros(len(rows)), np.zeros(len(tables))
    for row, codes in enumerate(rows.tolist()):
        found = []
        for cell in itertools.product(*(range(n) if c < 0 else [c] for n, c in zip(sizes, codes, strict=True))):
            places, value = [], 1.0
            for f in held:
                mine = range(at[f], at[f + 1])
                place = int(start[f]) + sum(cell[named["member"][i]] * int(named["stride"][i]) for i in mine)
                places.append(place)
                value *= tables[place]
            found.append((places, value))
        p[row] = sum(value for _, value in found)
        for places, value in found if p[row] > 0 else ():
            for place in places:
                expected[place] += weights[row] * value / p[row]
    return p, expected


def counts_of(tree: SlicedTree, rows: Any, weights: Any, tables: Any) -> tuple[Any, Any, Any]:
    """Return log p of every row, how it went, and the expected counts."""
    log_p, status, expected = np.empty(len(rows)), np.empty(len(rows), np.int64), np.zeros(len(tables))
    add_expected_counts(tree, rows, weights, tables, log_p, status, expected)
    return log_p, status, expected


@given(st.integers(0, 2**32))
def test_messages_give_what_enumeration_gives(seed: int) -> None:
    tree, rows, weights, tables = draw_all(np.random.default_rng(seed))
    log_p, status, expected = counts_of(SlicedTree(*tree), rows, weights, tables)
    kept = status != LOST
    p, wanted = enumerate_rows(tree, rows[kept], weights[kept], tables)
    certain = p > 1e-250  # enumeration does not scale its products
    np.testing.assert_allclose(np.exp(log_p[kept][certain]), p[certain], rtol=1e-9)
    assert (status[kept][p > 0] == FINE).all()
    assert (log_p[status == IMPOSSIBLE] == -np.inf).all()
    if certain.all():
        np.testing.assert_allclose(expected, wanted, rtol=1e-9, atol=1e-12)


@given(st.integers(0, 2**32))
def test_cells_are_those_of_the_variables_that_were_not_observed(seed: int) -> None:
    tree, rows, *_ = draw_all(np.random.default_rng(seed))
    named = dict(zip(FIELDS, tree, strict=True))
    cells, messages = np.empty(len(rows)), np.empty(len(rows))
    count_cells(SlicedTree(*tree), rows, cells, messages)
    for name, found in (("scope", cells), ("part", messages)):
        lists = np.split(named[name], named[f"{name}_at"][1:-1])
        wanted = [sum(np.prod(named["sizes"][v][codes[v] < 0], dtype=float) for v in lists) for codes in rows]
        assert found.tolist() == wanted


def test_counts_are_added_to_what_is_there() -> None:
    tree, rows, weights, tables = small()
    _, _, once = counts_of(SlicedTree(*tree), rows, weights, tables)
    log_p, status, twice = np.empty(len(rows)), np.empty(len(rows), np.int64), np.ones(len(tables))
    add_expected_counts(SlicedTree(*tree), rows, weights, tables, log_p, status, twice)
    np.testing.assert_allclose(twice, 1 + once, rtol=1e-14)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))])
def test_a_tree_can_be_copied_and_pickled(copied: Any) -> None:
    tree, rows, weights, tables = small()
    before, after = (counts_of(t, rows, weights, tables) for t in (SlicedTree(*tree), copied(SlicedTree(*tree))))
    assert [part.tolist() for part in before] == [part.tolist() for part in after]


def test_a_state_that_is_no_tree_is_refused() -> None:
    state = SlicedTree(*small()[0]).__getstate__()
    state[5] = [0, 0, -1]
    with pytest.raises(REFUSALS):
        SlicedTree.__new__(SlicedTree).__setstate__(state)


def test_tables_larger_than_any_memory_are_a_memory_error() -> None:
    n = 60
    tree = SlicedTree(
        np.full(n, 2), *ragged([range(n)]), *ragged([[]]), np.array([-1]), *ragged([[]]), *ragged([[]]),
        *ragged([]), np.zeros(0, np.int64), np.zeros(1, np.int64),
    )  # fmt: skip
    with pytest.raises(MemoryError):
        counts_of(tree, np.full((1, n), -1, np.int32), np.ones(1), np.zeros(0))


# What is refused ----------------------------------------------------------------------------------------------


def small() -> tuple[tuple[Any, ...], Any, Any, Any]:
    """Return a tree of three cliques over four variables, rows, weights and tables."""
    scopes = [[0, 1], [1, 2], [2, 3], [3]]
    sizes = [2, 3, 2, 2]
    tree = (
        np.array(sizes), *ragged([[0, 1], [1, 2], [2, 3]]), *ragged([[1], [2], []]), np.array([1, 2, -1]),
        *ragged([[], [0], [1]]), *ragged([[0], [1], [2, 3]]), *ragged(scopes),
        np.array([3, 1, 2, 1, 2, 1, 1]), np.array([0, 6, 12, 16, 18]),
    )  # fmt: skip
    rows = np.array([[-1, 2, -1, 1], [1, -1, -1, -1]], np.int32)
    return tree, rows, np.array([1.0, 2.0]), np.linspace(0.1, 1.0, 18)


def tree_misuses() -> list[Any]:
    arguments = dict(zip(FIELDS, small()[0], strict=True))
    return [pytest.param(a, id=f"{name}-{what}") for name, what, a in misuses(arguments, indices=set(FIELDS))]


def kernel_misuses() -> list[Any]:
    arrays, rows, weights, tables = small()
    room = {"cells": np.zeros(2), "messages": np.zeros(2)}
    counts = {"log_p": np.zeros(2), "status": np.zeros(2, np.int64), "expected": np.zeros(18)}
    calls = (
        ("count_cells", {"tree": SlicedTree(*arrays), "rows": rows, **room}),
        (
            "add_expected_counts",
            {"tree": SlicedTree(*arrays), "rows": rows, "weights": weights, "tables": tables, **counts},
        ),
    )
    return [
        pytest.param(kernel, wrong, id=f"{kernel}-{name}-{what}")
        for kernel, arguments in calls
        for name, what, wrong in misuses(arguments, {*room, *counts}, {"rows"})
        if (name, what) != ("rows", "negative")  # nothing was observed
    ]


@pytest.mark.parametrize("arguments", tree_misuses())
def test_arrays_that_are_no_tree_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(REFUSALS):
        SlicedTree(**arguments)


@pytest.mark.parametrize(("kernel", "arguments"), kernel_misuses())
def test_arrays_that_do_not_fit_are_refused(kernel: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(REFUSALS):
        getattr(evidence_rows, kernel)(**arguments)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("scope", [0, 0, 1, 2, 2, 3]),  # a variable twice
        ("part", [0, 2]),  # not in the clique above
        ("part", [1, 3]),  # not in the clique
        ("parent", [2, 2, -1]),
        ("parent", [1, 2, 0]),
        ("child", [1, 0]),
        ("child", [0, 0]),
        ("factor", [1, 0, 2, 3]),  # factors in cliques that lack their variables
        ("stride", [3, 2, 2, 1, 2, 1, 1]),  # leads out of a table
        ("sizes", [2, 3, 0, 2]),
        ("start", [0, 6, 6, 16, 18]),
        ("part_at", [0, 1, 1, 2]),  # a separator above the root
    ],
)
def test_arrays_that_contradict_each_other_are_refused(field: str, value: list[int]) -> None:
    arguments = dict(zip(FIELDS, small()[0], strict=True))
    with pytest.raises(REFUSALS):
        SlicedTree(**{**arguments, field: np.array(value)})


@pytest.mark.parametrize("tree", [None, 3, "tree"])
def test_what_is_no_tree_is_refused(tree: Any) -> None:
    with pytest.raises(TypeError):
        count_cells(tree, small()[1], np.empty(2), np.empty(2))
