"""Rows with missing values: components, equal lists, surroundings and sums, against plain Python; and refusals."""

from __future__ import annotations

import contextlib
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.native.fuzz.missing_values import draw_lists, draw_rows, draw_sets, draw_situations, flat, surroundings
from tests.native.misuse import REFUSALS, misuses

from suffice.native.missing_values import Enumeration, find_components, find_surroundings, number_lists

LAYOUT = ("sizes", "scope_at", "scope", "member_at", "member", "touched_at", "touched", "edge_at", "edge", "kind",
          "code_at", "codes")  # fmt: skip
SEEDS = st.integers(0, 2**32)


def lists_of(at: Any, values: Any) -> list[list[int]]:
    return [values[lo:hi].tolist() for lo, hi in itertools.pairwise(at.tolist())]


def same(found: Any, wanted: Any) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(found, wanted, strict=True))


# The twins ----------------------------------------------------------------------------------------------------


def components_by_sets(codes: Any, near_at: Any, near: Any) -> Any:
    """Return the connected components of the missing variables, by sets."""
    rows: list[int] = []
    lists: list[list[int]] = []
    for row, missing in enumerate(codes < 0):
        left = set(np.flatnonzero(missing).tolist())
        while left:
            part = [min(left)]
            left.remove(part[0])
            for v in part:
                others = left.intersection(near[near_at[v] : near_at[v + 1]].tolist())
                left -= others
                part += others
            rows.append(row)
            lists.append(sorted(part))
    return np.array(rows, np.int64), *flat(lists)


def numbers_by_dictionary(tags: Any, at: Any, values: Any) -> Any:
    """Return the numbers of lists, and the first list of each number."""
    known: dict[Any, int] = {}
    keys = [(tag, *entries) for tag, entries in zip(tags.tolist(), lists_of(at, values), strict=True)]
    numbers = [known.setdefault(key, len(known)) for key in keys]
    return np.array(numbers, np.int64), np.array([keys.index(key) for key in known], np.int64)


def sums_by_enumeration(layout: Any, tables: Any, weights: Any) -> tuple[Any, Any]:
    """Return expected counts and logarithms of sums, one completion after another."""
    named = dict(zip(LAYOUT, layout, strict=True))
    sizes = named["sizes"].tolist()
    scopes, members, touched, edges = (lists_of(named[f"{x}_at"], named[x]) for x in LAYOUT[2:9:2])
    shapes = [[sizes[v] for v in scope] for scope in scopes]
    start = np.cumsum([0, *map(math.prod, shapes)]).tolist()
    expected, log_sums = np.zeros(len(tables)), np.empty(len(weights))
    for s, codes in enumerate(lists_of(named["code_at"], named["codes"])):
        t = int(named["kind"][s])
        states, found = dict(zip(edges[t], codes, strict=True)), []
        for missing in itertools.product(*(range(sizes[v]) for v in members[t])):
            states.update(zip(members[t], missing, strict=True))
            cells = [
                start[f] + int(np.ravel_multi_index([states[v] for v in scopes[f]], shapes[f])) for f in touched[t]
            ]
            found.append((cells, math.prod(tables[cells].tolist())))
        total = sum(p for _, p in found)
        log_sums[s] = math.log(total) if total else -math.inf
        for cells, p in found if total else ():
            expected[cells] += weights[s] * p / total
    return expected, log_sums


def summed(layout: Any, tables: Any, weights: Any) -> tuple[Any, Any]:
    expected, log_sums = np.zeros(len(tables)), np.empty(len(weights))
    with np.errstate(divide="ignore"):
        Enumeration(*layout).sum(tables, np.log(tables), weights, 0, len(weights), expected, log_sums)
    return expected, log_sums


# Against the twins --------------------------------------------------------------------------------------------


@given(SEEDS)
def test_components_are_those_of_a_search_by_sets(seed: int) -> None:
    arguments = draw_rows(np.random.default_rng(seed))
    assert same(find_components(*arguments), components_by_sets(*arguments))


@given(SEEDS)
def test_equal_lists_share_a_number(seed: int) -> None:
    arguments = draw_lists(np.random.default_rng(seed))
    assert same(number_lists(*arguments), numbers_by_dictionary(*arguments))


@given(SEEDS)
def test_surroundings_are_those_found_by_sets(seed: int) -> None:
    set_at, sets, _, _, scope_at, scope = arguments = draw_sets(np.random.default_rng(seed))
    touched, edge = surroundings(lists_of(set_at, sets), lists_of(scope_at, scope))
    assert same(find_surroundings(*arguments), (*flat(touched), *flat(edge)))


@given(SEEDS)
def test_sums_are_those_of_an_enumeration(seed: int) -> None:
    layout, tables, weights, _ = draw_situations(np.random.default_rng(seed))
    tables = tables / (tables.max(initial=0.0) or 1.0)
    (expected, log_sums), wanted = summed(layout, tables, weights), sums_by_enumeration(layout, tables, weights)
    np.testing.assert_allclose(expected, wanted[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(log_sums, wanted[1], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_products_beyond_the_range_of_floats_are_summed_in_logarithms(scale: float) -> None:
    layout, tables, weights = small()
    expected, log_sums = summed(layout, tables, weights)
    scaled, log_scaled = summed(layout, tables * scale, weights)
    np.testing.assert_allclose(scaled, expected, rtol=1e-12)
    n_touched = np.diff(layout[LAYOUT.index("touched_at")])[layout[LAYOUT.index("kind")]]
    np.testing.assert_allclose(log_scaled, log_sums + n_touched * math.log(scale), rtol=1e-12)


# What is refused ----------------------------------------------------------------------------------------------


def small() -> tuple[tuple[Any, ...], Any, Any]:
    """Return three situations of two kinds in a chain of four variables, tables and weights."""
    scopes, kinds = [[0], [0, 1], [1, 2], [2, 3]], [[0, 1], [0, 2]]
    layout = (
        np.array([2, 3, 2, 2]), *flat(scopes), *flat(kinds),
        *itertools.chain.from_iterable(map(flat, surroundings(kinds, scopes))), np.array([0, 1, 1]),
        *flat([[1], [0, 1], [2, 0]]),
    )  # fmt: skip
    return layout, np.random.default_rng(3).random(2 + 6 + 6 + 4) + 0.1, np.array([1.0, 2.0, 3.0])


ROWS = {
    "codes": np.array([[0, -1, -1], [-1, 1, -1]], np.int32),
    "near_at": np.array([0, 1, 3, 4]),
    "near": np.array([1, 0, 2, 1]),
}
LISTS = {"tags": np.array([0, 0, 1]), "at": np.array([0, 1, 2, 4]), "values": np.array([5, 5, 5, 6])}
SETS = dict(
    zip(
        ("set_at", "sets", "scopes_of_at", "scopes_of", "scope_at", "scope"),
        (*flat([[0], [2]]), *flat([[0], [0, 1], [1]]), *flat([[0, 1], [1, 2]])),
        strict=True,
    )
)
PLAN = dict(zip(LAYOUT, small()[0], strict=True))
TABLES = small()[1]
SUM = {
    "tables": TABLES, "log_tables": np.log(TABLES), "weights": small()[2], "lo": 0, "hi": 3,
    "expected": np.zeros(len(TABLES)), "log_sums": np.zeros(3),
}  # fmt: skip
KERNELS: dict[str, tuple[Any, dict[str, Any], set[str], set[str]]] = {
    "find_components": (find_components, ROWS, set(), {"near_at", "near"}),
    "number_lists": (number_lists, LISTS, set(), {"at"}),
    "find_surroundings": (find_surroundings, SETS, set(), set(SETS)),
    "Enumeration": (Enumeration, PLAN, set(), set(PLAN)),
    "sum": (lambda **arguments: Enumeration(**PLAN).sum(**arguments), SUM, {"expected", "log_sums"}, set()),
}
FINE = {("find_components", "codes", "short"), ("find_surroundings", "set_at", "short")}
"""Fewer rows, and fewer sets."""


@pytest.mark.parametrize("kernel", KERNELS)
def test_wrong_arguments_are_refused(kernel: str) -> None:
    function, arguments, outputs, indices = KERNELS[kernel]
    function(**arguments)
    taken = set()
    for name, what, wrong in misuses(arguments, outputs, indices):
        with contextlib.suppress(*REFUSALS):
            function(**wrong)
            taken.add((kernel, name, what))
    assert taken == {fine for fine in FINE if fine[0] == kernel}


@pytest.mark.parametrize(("lo", "hi"), [(-1, 2), (2, 1), (0, 4), (5, 5)])
def test_ranges_that_are_none_are_refused(lo: int, hi: int) -> None:
    with pytest.raises(ValueError, match="range"):
        Enumeration(**PLAN).sum(**SUM | {"lo": lo, "hi": hi})


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("member", [0, 0, 0, 2], "twice"),
        ("edge", [0, 1, 3], "twice"),
        ("member_at", [0, 2, 2], "no missing variable"),
        ("sizes", [1 << 20, 1 << 20, 2, 2], "too many"),
        ("sizes", [2, 3, 2, 1 << 60], "too many"),
        ("codes", [1, 0, 2, 2, 0], "codes"),
        ("code_at", [0, 2, 3, 5], "one code"),
        ("code_at", [], "code_at"),
    ],
)
def test_layouts_that_lead_out_of_the_tables_are_refused(name: str, values: list[int], message: str) -> None:
    with pytest.raises(REFUSALS, match=message):
        Enumeration(**{**PLAN, name: np.array(values, np.int64)})


@pytest.mark.parametrize("name", ["near_at", "near"])
def test_empty_lists_of_neighbours_are_refused(name: str) -> None:
    with pytest.raises(REFUSALS):
        find_components(**{**ROWS, name: np.zeros(0, np.int64)})
