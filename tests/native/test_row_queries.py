"""Queries to a calibrated junction tree: against the joint table, and with arguments that must be refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.native.fuzz.evidence_rows import draw_cliques
from tests.native.fuzz.row_queries import draw_codes
from tests.native.misuse import REFUSALS, misuses

from suffice.native import row_queries, trees
from suffice.native.trees import Outcome, Semiring, Tree

MOST_CELLS = 5000
NAMES = ("tree", "tables", "messages", "home", "floors", "codes", "soft", "weights", "clique", "wanted")


def calibrated(sizes: list[int], cliques: Any, parts: Any, parents: Any, factors: list[Any]) -> tuple[Any, ...]:
    """Return a tree and its marginals, one factor per clique."""
    tree = Tree(sizes, cliques, parts, parents, cliques, list(range(len(cliques))))
    values = np.concatenate([factor.reshape(-1) for factor in factors])
    tables, messages = np.empty(tree.table_at[-1]), np.empty(tree.message_at[-1])
    floors = np.array([factor[factor > 0].min(initial=1.0) for factor in factors])
    _, outcome = trees.propagate(
        tree, Semiring.SUM, values, np.array(tree.table_at[:-1]), floors, tables, messages, np.empty(len(cliques))
    )
    assert outcome == Outcome.FINE
    home = np.full(len(sizes), -1, np.int64)
    for clique, scope in enumerate(cliques):
        home[scope] = clique
    lowest = np.minimum.reduceat(np.where(tables > 0, tables, 1.0), tree.table_at[:-1])
    return tree, tables, messages, home, lowest


def joint_of(sizes: list[int], scopes: Any, factors: list[Any]) -> Any:
    """Return the product of all factors as one table."""
    joint = np.ones(sizes)
    for scope, factor in zip(scopes, factors, strict=True):
        joint = joint * factor.reshape([n if v in scope else 1 for v, n in enumerate(sizes)])
    return joint


def answer_of(joint: Any, codes: list[int], soft: dict[int, Any], wanted: list[int]) -> tuple[Any, float]:
    """Return p(wanted | evidence), and p(evidence), from the joint table."""
    for variable, weights in soft.items():
        joint = joint * weights.reshape([-1 if v == variable else 1 for v in range(joint.ndim)])
    table = joint[tuple(slice(None) if code < 0 else slice(code, code + 1) for code in codes)]
    found = table.sum(axis=tuple(v for v in range(joint.ndim) if v not in wanted)).reshape(-1)
    total = float(found.sum())
    return found / total if total > 0 else found, total


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.2]))
def test_answers_are_those_of_the_joint_table(seed: int, zeros: float) -> None:
    chance = np.random.default_rng(seed)
    sizes, cliques, parts, parents = draw_cliques(chance)
    assume(math.prod(sizes) <= MOST_CELLS)
    factors = [chance.random([sizes[v] for v in scope]) for scope in cliques]
    factors = [np.where(chance.random(factor.shape) < zeros, 0.0, factor) for factor in factors]
    joint = joint_of(sizes, cliques, factors)
    assume(joint.any())
    joint /= joint.sum()
    marginals = calibrated(sizes, cliques, parts, parents, factors)
    clique = int(chance.integers(0, len(cliques)))
    wanted = [v for v in cliques[clique] if chance.random() < 0.6]
    codes = draw_codes(chance, sizes, wanted, 4)
    unseen = np.flatnonzero((codes < 0).all(axis=0)).tolist()
    soft = {v: chance.random(sizes[v]) for v in unseen if chance.random() < 0.3}
    at, weights, cells = np.full(len(sizes), -1, np.int64), [0.5], math.prod(sizes[v] for v in wanted)
    for variable, likelihoods in soft.items():
        at[variable] = len(weights)
        weights += likelihoods.tolist()
    answers, log_p, status = np.empty((4, cells)), np.empty(4), np.empty(4, np.int64)
    asked = (at, np.array(weights), clique, np.array(wanted, np.int64))
    row_queries.ask_rows(*marginals, codes, *asked, answers, log_p, status)
    for row, evidence in enumerate(codes):
        answer, p = answer_of(joint, evidence.tolist(), soft, wanted)
        assert status[row] == (Outcome.FINE if p > 0 else Outcome.IMPOSSIBLE)
        assert math.exp(log_p[row]) == pytest.approx(p, rel=1e-9)
        alone = np.empty(cells)
        assert row_queries.ask(*marginals, evidence, *asked, alone) == (log_p[row], status[row])
        if p > 0:
            np.testing.assert_allclose(answers[row], answer, rtol=1e-9, atol=1e-15)
            np.testing.assert_array_equal(alone, answers[row])


# What is refused ----------------------------------------------------------------------------------------------


def proper(n_rows: int | None) -> dict[str, Any]:
    """Return the arguments of a proper call, for one row or several."""
    cliques, factors = [[0, 1], [1, 2]], [np.full((2, 3), 0.5), np.full((3, 2), 0.25)]
    marginals = calibrated([2, 3, 2], cliques, [[1], []], [1, -1], factors)
    codes = np.array([-1, -1, 1])
    soft = np.array([1, -1, -1])
    arguments = (*marginals, codes, soft, np.array([1.0, 0.5, 0.25]), 0, np.array([0, 1]))
    found = dict(zip(NAMES, arguments, strict=True))
    if n_rows is None:
        return found | {"answer": np.zeros(6)}
    room = {"answers": np.zeros((n_rows, 6)), "log_p": np.zeros(n_rows), "status": np.zeros(n_rows, np.int64)}
    return found | {"codes": np.tile(codes, (n_rows, 1))} | room


KERNELS = {"ask": None, "ask_rows": 3}


def wrong_calls() -> list[Any]:
    indices, outputs = {"home", "codes", "soft", "wanted"}, {"answer", "answers", "log_p", "status"}
    return [
        pytest.param(kernel, arguments, id=f"{kernel}-{name}-{what}")
        for kernel, n_rows in KERNELS.items()
        for name, what, arguments in misuses(proper(n_rows), outputs, indices)
        if not (what == "negative" and name in {"codes", "soft"})
    ]


@pytest.mark.parametrize(("kernel", "arguments"), wrong_calls())
def test_arrays_that_do_not_fit_are_refused(kernel: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(REFUSALS):
        getattr(row_queries, kernel)(**arguments)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("clique", 2),
        ("clique", -1),
        ("clique", 1),  # which lacks a variable that is wanted
        ("wanted", np.array([1, 0])),  # not in the common order
        ("wanted", np.array([0, 0])),
        ("home", np.array([1, 1, 1])),  # a clique that does not hold its variable
        ("home", np.array([-1, 1, 1])),  # with soft evidence
        ("home", np.array([0, 1, -1])),  # observed
        ("soft", np.array([2, -1, -1])),  # weights that end too soon
        ("tree", None),
        ("tree", 3),
    ],
)
def test_arguments_that_contradict_each_other_are_refused(kernel: str, name: str, value: Any) -> None:
    with pytest.raises(REFUSALS):
        getattr(row_queries, kernel)(**{**proper(KERNELS[kernel]), name: value})


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("variable", [0, 1])
def test_evidence_on_what_is_wanted_is_refused(kernel: str, variable: int) -> None:
    arguments = proper(KERNELS[kernel])
    arguments["codes"][..., variable] = 0
    with pytest.raises(IndexError, match="wanted"):
        getattr(row_queries, kernel)(**arguments)


def test_no_rows_are_no_answers() -> None:
    row_queries.ask_rows(**proper(0))


@pytest.mark.parametrize("code", [-1, 0, 1])
def test_what_was_seen_clearly_has_one_of_the_weights(code: int) -> None:
    table, weights = np.array([0.3, 0.7]), np.array([0.5, 0.9])
    tree, tables, messages, home, floors = calibrated([2], [[0]], [[]], [-1], [table])
    none, codes, soft = np.zeros(0, np.int64), np.array([code]), np.array([0])
    log_p, _ = row_queries.ask(tree, tables, messages, home, floors, codes, soft, weights, 0, none, np.zeros(1))
    both = table * weights
    assert math.exp(log_p) == pytest.approx(both.sum() if code < 0 else both[code])
