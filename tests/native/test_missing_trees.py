"""Sums over missing states through junction trees: against enumeration, and with arguments that must be refused."""

from __future__ import annotations

import contextlib
import itertools
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.native.fuzz.missing_trees import cells_of, draw_forest, draw_tree, logs_of, run_forest, run_tree
from tests.native.fuzz.trees import Parts
from tests.native.misuse import REFUSALS, misuses

import suffice as sf
from suffice.native.missing_trees import ForestSums, sum_by_tree
from suffice.native.trees import Forest, Tree

SEEDS = st.integers(0, 2**32)


def sums_by_enumeration(parts: Parts, factors: list[Any]) -> tuple[float, list[Any]]:
    """Return log Σ Π of some factors, and the posterior of each one's cells."""
    n_states = [parts.sizes[v] for v in sorted({v for clique in parts.cliques for v in clique})]
    place = {v: i for i, v in enumerate(sorted({v for clique in parts.cliques for v in clique}))}
    shapes = [[parts.sizes[v] for v in scope] for scope in parts.factor_scopes]
    total, posterior = 0.0, [np.zeros(len(factor)) for factor in factors]
    for states in itertools.product(*map(range, n_states)):
        cells = [
            int(np.ravel_multi_index([states[place[v]] for v in scope], shape)) if scope else 0
            for scope, shape in zip(parts.factor_scopes, shapes, strict=True)
        ]
        p = math.prod(float(factor[cell]) for factor, cell in zip(factors, cells, strict=True))
        total += p
        for one, cell in zip(posterior, cells, strict=True):
            one[cell] += p
    return math.log(total) if total else -math.inf, [one / (total or 1.0) for one in posterior]


def is_plain(parts: list[Parts], values: Any) -> bool:
    """Whether enumeration is quick, and does not underflow."""
    n_states = [math.prod(one.sizes) for one in parts]
    return max(n_states) <= 1000 and bool((values[values > 0] > 1e-30).all())


@given(SEEDS)
def test_a_shared_tree_gives_what_enumeration_gives(seed: int) -> None:
    parts, values, _, starts, into, weights = arguments = draw_tree(np.random.default_rng(seed))
    if not is_plain([parts], values):
        return
    expected, log_sums = run_tree(arguments)
    wanted = np.zeros(len(values))
    for s, weight in enumerate(weights.tolist()):
        cells = cells_of(parts)
        factors = [values[at : at + n] for at, n in zip(starts[s].tolist(), cells, strict=True)]
        log_sum, posterior = sums_by_enumeration(parts, factors)
        assert log_sums[s] == pytest.approx(log_sum, rel=1e-9, abs=1e-9)
        for at, one in zip(into[s].tolist(), posterior, strict=True):
            if at >= 0:
                wanted[at : at + len(one)] += weight * one
    np.testing.assert_allclose(expected, wanted, rtol=1e-9, atol=1e-12)


@given(SEEDS)
def test_a_forest_gives_what_enumeration_gives(seed: int) -> None:
    forest, _, kind, cells, values, _, weights, _ = arguments = draw_forest(np.random.default_rng(seed))
    if not is_plain(forest, values):
        return
    expected, log_sums = run_forest(arguments)
    wanted, at = np.zeros(len(values)), 0
    for s, t in enumerate(kind.tolist()):
        ends = at + np.cumsum([0, *cells_of(forest[t])])
        own = [cells[lo:hi] for lo, hi in itertools.pairwise(ends.tolist())]
        log_sum, posterior = sums_by_enumeration(forest[t], [values[mine] for mine in own])
        assert log_sums[s] == pytest.approx(log_sum, rel=1e-9, abs=1e-9)
        for mine, one in zip(own, posterior, strict=True):
            np.add.at(wanted, mine, weights[s] * one)
        at = int(ends[-1])
    np.testing.assert_allclose(expected.sum(axis=0), wanted, rtol=1e-9, atol=1e-12)


def test_a_fit_with_missing_values_can_be_pickled() -> None:
    rows = {"A": [0, 1, None, 1, 0, None], "B": [None, 1, 0, 1, 0, 1]}
    fit = sf.fit(sf.DAG("A -> B"), rows, missing="em")
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(again.model.cpd("B").values, fit.model.cpd("B").values)


# What is refused ----------------------------------------------------------------------------------------------

PARTS = Parts([2, 3, 2], [[0, 1], [1, 2]], [[1], []], [1, -1], [[0], [0, 1], [1, 2]], [0, 0, 1])
VALUES = np.random.default_rng(5).random(14) + 0.1
TREE: dict[str, Any] = {
    "tree": PARTS,
    "values": VALUES,
    "logs": logs_of(VALUES),
    "floors": np.full(3, 0.1),
    "starts": np.array([[0, 2, 8], [0, 2, 8]]),
    "into": np.array([[0, 2, 8], [0, -1, 8]]),
    "weights": np.ones(2),
    "expected": np.zeros(14),
    "log_sums": np.zeros(2),
}
FOREST: dict[str, Any] = {
    "forest": [PARTS, PARTS],
    "table_of": np.array([0, 1, 2, 0, 1, 2]),
    "kind": np.array([1, 0, 1]),
    "cells": np.tile(np.arange(14), 3),
}
SUM: dict[str, Any] = {
    "values": VALUES,
    "logs": logs_of(VALUES),
    "floors": np.full(3, 0.1),
    "weights": np.ones(3),
    "lo": 0,
    "hi": 3,
    "expected": np.zeros(14),
    "log_sums": np.zeros(3),
}


def call_tree(tree: Parts, **arguments: Any) -> None:
    sum_by_tree(Tree(*tree), **arguments)


def call_forest(forest: list[Parts], **arguments: Any) -> ForestSums:
    return ForestSums(Forest([Tree(*parts) for parts in forest]), **arguments)


def call_sum(**arguments: Any) -> None:
    call_forest(**FOREST).sum(**arguments)


def test_values_that_no_cell_needs_are_allowed_in_a_forest() -> None:
    more = {name: np.append(SUM[name], 0.5) for name in ("values", "logs", "expected", "floors")}
    call_sum(**SUM | more)
    np.testing.assert_array_equal(more["expected"][-1], 0.5)


def test_a_cell_that_no_table_has_is_refused() -> None:
    far = FOREST | {"cells": np.array([*FOREST["cells"][:-1], 14])}
    with pytest.raises(ValueError, match="values"):
        call_forest(**far).sum(**SUM)
    with pytest.raises(ValueError, match="floors"):
        call_forest(**FOREST | {"table_of": np.array([0, 1, 2, 0, 1, 3])}).sum(**SUM)


KERNELS: dict[str, tuple[Any, dict[str, Any], set[str], set[str]]] = {
    "sum_by_tree": (call_tree, TREE, {"expected", "log_sums"}, {"starts", "into"}),
    "ForestSums": (call_forest, FOREST, set(), set(FOREST)),
    "sum": (call_sum, SUM, {"expected", "log_sums"}, set()),
}
FINE = {
    ("sum_by_tree", "into", "negative"),  # a posterior that is not wanted
    ("ForestSums", "cells", "far"),  # refused by `sum`, which has the tables
    ("ForestSums", "table_of", "far"),
}


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
        call_sum(**SUM | {"lo": lo, "hi": hi})


def test_a_tree_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError):
        sum_by_tree(None, **{name: value for name, value in TREE.items() if name != "tree"})  # type: ignore[arg-type]
