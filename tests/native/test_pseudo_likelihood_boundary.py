"""Kernels of the pseudo-likelihood refuse arrays that they would read or write beyond their ends."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.native.misuse import REFUSALS, misuses

from suffice.native import pseudo_likelihood
from suffice.native.pseudo_likelihood import Design, Incidence

SIZES, MEMBER_AT, MEMBER = np.array([2, 3, 2]), np.array([0, 2, 4, 5]), np.array([0, 1, 2, 1, 2])
N_CELLS, N_ROWS, N_WEIGHTS = 14, 5, 4
MODEL = Incidence(SIZES, MEMBER_AT, MEMBER)
AT, COLUMN, VALUE = np.arange(N_CELLS + 1), np.arange(N_CELLS) % N_WEIGHTS, np.linspace(-1.0, 1.0, N_CELLS)
DESIGN = Design(AT, COLUMN, VALUE, N_WEIGHTS)
CODES = np.array([[0, 1, 0, 1, 1], [2, 0, 1, 2, 0], [1, 1, 0, 0, 1]], np.int32)
THETA, WEIGHTS = np.linspace(-1.0, 1.0, N_CELLS), np.arange(1.0, N_ROWS + 1)
MODEL_AND_ROWS: dict[str, Any] = {"model": MODEL, "codes": CODES, "weights": WEIGHTS}
RANGE: dict[str, Any] = {"low": 1, "high": 4, "theta": THETA}

CALLS: dict[str, dict[str, Any]] = {
    "Incidence": {"sizes": SIZES, "member_at": MEMBER_AT, "member": MEMBER},
    "Design": {"at": AT, "column": COLUMN, "value": VALUE, "n_columns": N_WEIGHTS},
    "count_observed": {**MODEL_AND_ROWS, "out": np.zeros(N_CELLS)},
    "find_impossible": {"model": MODEL, "codes": CODES, "theta": THETA, "out": np.zeros(N_ROWS, bool)},
    "add_expected": {**MODEL_AND_ROWS, **RANGE, "out": np.zeros((4, N_CELLS))},
    "add_curvature": {**MODEL_AND_ROWS, **RANGE, "direction": THETA, "out": np.zeros((4, N_CELLS))},
    "add_scores": {"model": MODEL, "design": DESIGN, "codes": CODES, **RANGE, "out": np.zeros((3, N_WEIGHTS))},
    "add_covariances": {**MODEL_AND_ROWS, "design": DESIGN, **RANGE, "out": np.zeros((N_WEIGHTS, N_WEIGHTS))},
}
INDICES = {"sizes", "member_at", "member", "at", "column"}
LEGITIMATE = {
    ("Incidence", "member_at", "short"),  # one scope less
    ("Incidence", "sizes", "far"),  # a variable may have that many states
    ("Design", "at", "short"),  # one row less
}
WRONG = [
    pytest.param(name, wrong, id=f"{name}-{argument}-{what}")
    for name, arguments in CALLS.items()
    for argument, what, wrong in misuses(arguments, {"out"}, INDICES)
    if (name, argument, what) not in LEGITIMATE
]
RANGED = ("add_expected", "add_curvature", "add_scores", "add_covariances")


def call(name: str, arguments: dict[str, Any]) -> None:
    getattr(pseudo_likelihood, name)(**arguments)


def test_every_kernel_is_called() -> None:
    assert {name for name in dir(pseudo_likelihood) if not name.startswith("_")} == set(CALLS)


@pytest.mark.parametrize(("name", "arguments"), WRONG)
def test_arrays_that_do_not_fit_are_refused(name: str, arguments: dict[str, Any]) -> None:
    call(name, CALLS[name])  # a proper call is answered
    with pytest.raises(REFUSALS):
        call(name, arguments)


def with_code(v: int, row: int, code: int) -> Any:
    codes = CODES.copy()
    codes[v, row] = code
    return codes


@pytest.mark.parametrize("name", [name for name in CALLS if "codes" in CALLS[name]])
@pytest.mark.parametrize(
    "codes",
    [with_code(1, 2, 3), with_code(2, 3, -1), with_code(0, 1, 2**30), CODES[:2].copy(), CODES.T.copy(), CODES[:, ::2]],
    ids=["a state too many", "negative", "far", "a variable too few", "turned", "strided"],
)
def test_codes_that_are_no_states_are_refused(name: str, codes: Any) -> None:
    with pytest.raises(REFUSALS):
        call(name, CALLS[name] | {"codes": codes})


@pytest.mark.parametrize("name", RANGED)
@pytest.mark.parametrize(("low", "high"), [(-1, 2), (3, 2), (1, N_ROWS + 1), (2**40, 2**40 + 3)])
def test_ranges_beyond_the_rows_are_refused(name: str, low: int, high: int) -> None:
    with pytest.raises(ValueError, match="range of rows"):
        call(name, CALLS[name] | {"low": low, "high": high})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("Incidence", {"sizes": np.array([2, 0, 2])}),
        ("Incidence", {"sizes": np.array([2**31 - 1, 2**31 - 1, 2])}),
        ("Incidence", {"member_at": np.array([0, 4, 2, 5])}),
        ("Incidence", {"member_at": np.zeros(0, np.int64)}),
        ("Design", {"n_columns": N_WEIGHTS - 1}),
        ("Design", {"n_columns": -1}),
        ("Design", {"at": np.zeros(0, np.int64)}),
        ("add_expected", {"out": np.zeros((3, N_CELLS))}),
        ("add_expected", {"out": np.zeros((0, N_CELLS))}),
        ("add_expected", {"out": np.zeros((4, N_CELLS - 1))}),
        ("add_curvature", {"out": np.zeros((4, N_CELLS + 1))}),
        ("add_scores", {"out": np.zeros((3, N_WEIGHTS - 1))}),
        ("add_scores", {"design": Design(AT[:-1].copy(), COLUMN, VALUE, N_WEIGHTS)}),
        ("add_covariances", {"out": np.zeros((N_WEIGHTS, N_WEIGHTS + 1))}),
        ("add_covariances", {"design": Design(AT[:-1].copy(), COLUMN, VALUE, N_WEIGHTS)}),
        ("add_covariances", {"design": MODEL}),
        ("add_expected", {"model": None}),
    ],
)
def test_sizes_that_do_not_fit_are_refused(name: str, change: dict[str, Any]) -> None:
    with pytest.raises(REFUSALS):
        call(name, CALLS[name] | change)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_of_plans_give_the_same(copied: Callable[[Any], Any]) -> None:
    out, again = np.zeros((N_WEIGHTS, N_WEIGHTS)), np.zeros((N_WEIGHTS, N_WEIGHTS))
    call("add_covariances", CALLS["add_covariances"] | {"out": out})
    plans = {"model": copied(MODEL), "design": copied(DESIGN)}
    call("add_covariances", CALLS["add_covariances"] | {"out": again, **plans})
    assert out.any()
    assert out.tolist() == again.tolist()
