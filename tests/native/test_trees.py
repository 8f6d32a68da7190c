"""Junction trees at the boundary: what is refused, and what trees promise as objects.

Their answers are compared with the joint table in tests/conformance/test_inference.py and
tests/inference/test_clique_family.py.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from tests.native.fuzz.trees import Parts, draw_question, room_of, run_layout, run_propagate
from tests.native.misuse import REFUSALS, misuses

from suffice.inference.calibration import calibrate
from suffice.inference.plan import Plan
from suffice.inference.product import Factor, Product
from suffice.native import trees
from suffice.native.trees import Outcome, Semiring

CHAIN = Parts(
    sizes=[2, 3, 2, 2],
    cliques=[[0, 1], [1, 2], [2, 3]],
    separators=[[1], [2], []],
    parents=[1, 2, -1],
    factor_scopes=[[0, 1], [1], [1, 2], [2, 3]],
    homes=[0, 0, 1, 2],
)
TREE = trees.Tree(*CHAIN)
STARTS = np.array([0, 6, 9, 15, 19])


def tables() -> dict[str, Any]:
    """Return calibrated tables of uniform factors."""
    cliques, messages, floors = room_of(TREE)
    trees.propagate(TREE, Semiring.SUM, np.ones(19), STARTS[:-1].copy(), np.ones(4), cliques, messages, floors)
    return {"tables": cliques, "messages": messages}


def floats(n: int) -> Any:
    return np.linspace(0.1, 1.0, n)


FIT = {
    "visits": np.array([0, 2, 3]), "path_at": np.array([0, 3, 5, 7]), "path": np.array([2, 1, 0, 0, 1, 1, 2]),
    "starts": STARTS, "targets": floats(19), "potentials": np.ones(19), **tables(),
    "gains": np.zeros(3), "totals": np.zeros(3), "gaps": np.zeros(3),
}  # fmt: skip
CALLS: dict[Callable[..., Any], tuple[dict[str, Any], set[str], set[str]]] = {
    trees.propagate: (
        {"tree": TREE, "semiring": Semiring.SUM, "values": floats(19), "starts": STARTS[:-1].copy(),
         "floors": floats(4), **tables(), "table_floors": np.zeros(3)},
        {"tables", "messages", "table_floors"}, {"starts"},
    ),
    trees.follow: ({"tree": TREE, "path": np.array([2, 1, 0]), **tables()}, {"tables", "messages"}, {"path"}),
    trees.marginalise_clique: (
        {"tree": TREE, "semiring": Semiring.MAX, "clique": 1, "wanted": np.array([1, 2]), "tables": floats(16),
         "part": np.zeros(6)},
        {"part"}, {"wanted"},
    ),
    trees.marginalise_factor: (
        {"tree": TREE, "factor": 2, "tables": floats(16), "part": np.zeros(6)}, {"part"}, set()
    ),
    trees.multiply_factor: ({"tree": TREE, "factor": 2, "tables": floats(16), "part": floats(6)}, {"tables"}, set()),
    trees.marginalise_factors: (
        {"tree": TREE, "tables": floats(16), "starts": STARTS, "out": np.zeros(19)}, {"out"}, {"starts"}
    ),
    trees.multiply_covariance: (
        {"tree": TREE, **tables(), "starts": STARTS, "direction": floats(19), "work": np.zeros(16), "up": np.zeros(6),
         "down": np.zeros(6), "out": np.zeros(19)},
        {"work", "up", "down", "out"}, {"starts"},
    ),
    trees.fit_in_turn: (
        {"tree": TREE, **FIT}, {"potentials", "tables", "messages", "gains", "totals", "gaps"},
        {"visits", "path_at", "path", "starts"},
    ),
}  # fmt: skip
LEGITIMATE = {("follow", "path", "short")}  # a shorter path is a path


MISUSES = [
    pytest.param(kernel, wrong, id=f"{kernel.__name__}-{name}-{what}")
    for kernel, call in CALLS.items()
    for name, what, wrong in misuses(*call)
    if (kernel.__name__, name, what) not in LEGITIMATE
]


@pytest.mark.parametrize(("kernel", "wrong"), MISUSES)
def test_wrong_arrays_are_refused(kernel: Callable[..., Any], wrong: dict[str, Any]) -> None:
    kernel(**copy.deepcopy(CALLS[kernel][0]))  # a proper call is answered
    with pytest.raises(REFUSALS):
        kernel(**wrong)


@pytest.mark.parametrize(
    ("kernel", "name", "number"),
    [
        (trees.marginalise_clique, "clique", 3), (trees.marginalise_clique, "clique", -1),
        (trees.marginalise_factor, "factor", 4), (trees.marginalise_factor, "factor", -1),
        (trees.multiply_factor, "factor", 4), (trees.multiply_factor, "factor", -1),
    ],
)  # fmt: skip
def test_there_is_no_clique_or_factor_out_of_range(kernel: Callable[..., Any], name: str, number: int) -> None:
    with pytest.raises(IndexError, match=f"no {name} {number}"):
        kernel(**{**CALLS[kernel][0], name: number})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"path": np.array([2, 0, 0, 0, 1, 1, 2])}, "no neighbours"),
        ({"visits": np.array([2, 2, 3])}, "must end at the factor's clique"),
        ({"path_at": np.array([0, 0, 5, 7])}, "at least one clique"),
        ({"starts": np.array([0, 7, 9, 15, 19])}, "as many cells"),
    ],
)
def test_visits_follow_the_tree(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trees.fit_in_turn(TREE, **{**FIT, **changed})


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"sizes": [2, 3, 0, 2]}, IndexError),
        ({"sizes": [2, 3, 2]}, IndexError),
        ({"sizes": [2**31] * 4}, ValueError),
        ({"sizes": [1.5, 3, 2, 2]}, TypeError),
        ({"cliques": []}, ValueError),
        ({"cliques": [[0, 1], [1, 2], [2, -1]]}, IndexError),
        ({"cliques": [[0, 1], [1, 2], [2, 2, 3]]}, ValueError),
        ({"separators": [[1], [2]]}, ValueError),
        ({"separators": [[0], [2], []]}, ValueError),
        ({"separators": [[1], [2], [3]]}, ValueError),
        ({"parents": [1, 2]}, ValueError),
        ({"parents": [1, 1, -1]}, IndexError),
        ({"parents": [1, 3, -1]}, IndexError),
        ({"parents": [1, -1, -1]}, IndexError),
        ({"parents": [1, 2, 0]}, ValueError),
        ({"factor_scopes": [[1, 0], [1], [1, 2], [2, 3]]}, ValueError),
        ({"factor_scopes": [[0, 1], [1], [1, 2]]}, ValueError),
        ({"homes": [0, 0, 1, 3]}, IndexError),
        ({"homes": [0, 0, -1, 2]}, IndexError),
        ({"homes": [0, 0, 0, 2]}, ValueError),
    ],
)
def test_trees_are_validated(changed: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        trees.Tree(*CHAIN._replace(**changed))


def test_views_are_read_only_and_keep_the_tree_alive() -> None:
    views = [np.asarray(view) for view in run_layout(CHAIN)]  # the tree itself is gone
    assert all(not view.flags.writeable for view in views)
    assert views[5].tolist() == [0, 6, 12, 16]
    with pytest.raises(AttributeError):
        TREE.parent = np.zeros(3, np.int64)  # type: ignore[misc]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))])
def test_trees_are_copied_and_pickled(again: Callable[[Any], Any]) -> None:
    tree, forest = again(TREE), again(trees.Forest([TREE, TREE]))
    assert tree.loops.tolist() == TREE.loops.tolist()
    assert tree.nbytes == TREE.nbytes
    assert len(forest) == 2


def test_a_plan_is_pickled_with_its_tree() -> None:
    agree = np.array([[3.0, 1.0], [1.0, 3.0]])
    product = Product(("A", "B", "C"), (2, 2, 2), (Factor((0, 1), agree), Factor((1, 2), agree)))
    plan = Plan.of(product)
    first = calibrate(plan, plan.packed(product.factors))
    again = pickle.loads(pickle.dumps(first))
    assert again.plan.arrays.table_at.tolist() == plan.arrays.table_at.tolist()
    assert again.marginal((1,)).tolist() == first.marginal((1,)).tolist()


def test_threads_share_a_tree() -> None:
    questions = [draw_question(np.random.default_rng(3)) for _ in range(64)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(run_propagate, questions))
    bits = {b"".join(np.asarray(part).tobytes() for part in parts) for parts in found}
    assert len(bits) == 1


def test_outcomes_are_told_apart() -> None:
    tree = trees.Tree([2], [[0]], [[]], [-1], [[0], [0]], [0, 0])
    room = room_of(tree)

    def outcome(*values: float) -> Outcome:
        table, least = np.array(values), min(value for value in values if value > 0)
        return trees.propagate(tree, Semiring.SUM, table, np.array([0, 2]), np.full(2, least), *room)[1]

    assert outcome(1.0, 0.5, 1.0, 0.5) == Outcome.FINE
    assert outcome(1.0, 0.0, 0.0, 1.0) == Outcome.IMPOSSIBLE
    assert outcome(1.0, 1e-200, 1e-200, 1.0) == Outcome.LOST


def test_log_marginal_of_a_clique_is_the_logarithm_of_the_sum() -> None:
    table, part, logs = floats(16), np.zeros(3), np.zeros(3)
    wanted = np.array([1])
    trees.marginalise_clique(TREE, Semiring.SUM, 1, wanted, table, part)
    trees.marginalise_clique(TREE, Semiring.LOG, 1, wanted, np.log(table), logs)
    np.testing.assert_allclose(np.exp(logs), part)
    np.testing.assert_allclose(part, table[6:12].reshape(3, 2).sum(axis=1))
