"""Kernels of paths of labels refuse arrays that they would read or write beyond their ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.native.misuse import REFUSALS, misuses

from suffice.native import label_paths

N, S, K = 5, 2, 3
RANGE = {"offsets": np.array([0, 3, 5]), "low": 0, "high": S}
SCORES, STEPS = -np.arange(N * K) / 7.0, -np.arange(N * K * K) / 9.0
CHAINS = {**RANGE, "scores": SCORES.reshape(N, K), "steps": STEPS.reshape(N, K, K)}
FILLED = {**RANGE, "steps": CHAINS["steps"], "reach": CHAINS["scores"]}

CALLS: dict[str, dict[str, Any]] = {
    "best_paths": {**CHAINS, "labels": np.zeros(N, np.int32), "totals": np.zeros(S)},
    "n_best": {**CHAINS, "n": 2, "paths": np.zeros((2, N), np.int32), "totals": np.zeros((S, 2)),
               "found": np.zeros(S, np.int64)},
    "forward": {**CHAINS, "reach": np.zeros((N, K)), "log_z": np.zeros(S)},
    "backward": {**FILLED, "pairs": np.zeros((N, K, K))},
    "draw_paths": {**FILLED, "uniform": np.full(N, 0.5), "labels": np.zeros(N, np.int32)},
}  # fmt: skip
OUTPUTS = {
    "best_paths": {"labels", "totals"},
    "n_best": {"paths", "totals", "found"},
    "forward": {"reach", "log_z"},
    "backward": {"reach", "pairs"},
    "draw_paths": {"labels"},
}
WRONG = [
    pytest.param(name, wrong, id=f"{name}-{argument}-{what}")
    for name, arguments in CALLS.items()
    for argument, what, wrong in misuses(arguments, OUTPUTS[name], {"offsets"})
]


def call(name: str, arguments: dict[str, Any]) -> int:
    own = {key: value.copy() if isinstance(value, np.ndarray) and value.flags.writeable and value.flags.c_contiguous
           else value for key, value in arguments.items()}  # fmt: skip
    found: int = getattr(label_paths, name)(**own)
    return found


def test_every_kernel_is_called() -> None:
    public = {name for name in dir(label_paths) if not name.startswith("_")} - {"level"}
    assert public == set(CALLS) == set(OUTPUTS)


@pytest.mark.parametrize("name", CALLS)
def test_proper_calls_are_answered(name: str) -> None:
    assert call(name, CALLS[name]) == -1


@pytest.mark.parametrize(("name", "arguments"), WRONG)
def test_arrays_that_do_not_fit_are_refused(name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(REFUSALS):
        call(name, arguments)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    "change",
    [
        {"low": -1},
        {"low": 2, "high": 1},
        {"high": S + 1},
        {"high": 1 << 40},
        {"offsets": np.array([0, 3, N + 1])},
        {"offsets": np.array([0, 4, 2])},
        {"offsets": np.zeros(0, np.int64)},
        {"steps": np.zeros((0, K, K))},
        {"steps": np.zeros((N + 1, K, K))},
        {"steps": np.zeros((1, K, K + 1))},
    ],
)
def test_ranges_and_sizes_that_do_not_fit_are_refused(name: str, change: dict[str, Any]) -> None:
    with pytest.raises(REFUSALS):
        call(name, CALLS[name] | change)


@pytest.mark.parametrize("n", [0, -1, 3, 1 << 31, 1 << 40])
def test_a_number_of_paths_that_does_not_fit_is_refused(n: int) -> None:
    with pytest.raises(REFUSALS):
        call("n_best", CALLS["n_best"] | {"n": n})


@pytest.mark.parametrize("name", CALLS)
def test_chains_without_labels_are_refused(name: str) -> None:
    empty = {key: np.zeros((N, 0)) for key in ("scores", "reach", "pairs") if key in CALLS[name]}
    with pytest.raises(REFUSALS):
        call(name, CALLS[name] | empty | {"steps": np.zeros((1, 0, 0))})


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_potentials_that_are_no_numbers_crash_nothing(name: str, wrong: float) -> None:
    arguments = dict(CALLS[name])
    for key in {"scores", "steps", "reach"} & set(arguments) - {"labels"}:
        arguments[key] = np.full_like(arguments[key], wrong)
    if "labels" in arguments:
        arguments["labels"] = np.full(N, 1 << 30, np.int32)
    assert call(name, arguments) in range(-1, S)
