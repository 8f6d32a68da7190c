"""Kernels of chains of labels refuse arrays that they would read or write beyond their ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.native.misuse import REFUSALS, misuses

from suffice.native import label_chains

N, K, WIDTH = 5, 3, 4


def table(rows: int = N, width: int = WIDTH) -> Any:
    return np.linspace(0.1, 0.9, rows * width).reshape(rows, width)


STARTS, CODES = np.array([0, 2, 2, 3, 5, 6]), np.array([6, 0, 3, 6, 1, 6], np.int32)
OFFSETS, LABELS, WEIGHTS = np.array([0, 3, 5]), np.array([2, 0, 1, 2, 0], np.int32), np.array([1.0, 2.0])

CALLS: dict[str, dict[str, Any]] = {
    "add_scores": {"starts": STARTS, "rows": CODES, "values": np.ones(6), "table": table(7), "lo": 0, "hi": N,
                   "scores": table()},
    "add_rows": {"starts": STARTS, "rows": CODES, "values": np.ones(6), "lo": 0, "hi": N, "p": table(),
                 "table": table(7)},
    "add_few_scores": {"starts": STARTS, "which": CODES, "labels": np.array([3, 0, 1, 2, 3, 0], np.int32),
                       "values": np.ones(6), "weights": np.ones(7), "lo": 0, "hi": N, "scores": table()},
    "add_few": {"starts": STARTS, "which": CODES, "labels": np.array([3, 0, 1, 2, 3, 0], np.int32),
                "values": np.ones(6), "lo": 0, "hi": N, "p": table(), "sums": np.ones(7)},
    "shift_scores": {"scores": table(), "n_labels": K, "tops": np.ones(N)},
    "exponentiate": {"x": -table()},
    "forward": {"psi": table(), "step": table(WIDTH), "offsets": OFFSETS, "n_labels": K, "alpha": table(),
                "totals": np.ones(N)},
    "backward": {"psi": table(), "turned": table(WIDTH), "offsets": OFFSETS, "alpha": table(), "totals": np.ones(N),
                 "weights": WEIGHTS, "p": table()},
    "add_before": {"scores": table(), "labels": LABELS, "offsets": OFFSETS, "matrix": table(K, K)},
    "add_to_before": {"p": table(), "labels": LABELS, "offsets": OFFSETS, "matrix": table(K, K)},
    "normalise": {"psi": table(), "n_labels": K, "totals": np.ones(N), "weights": np.ones(N)},
    "along": {"offsets": OFFSETS, "p": table(), "pairs": np.ones((N, K, K)), "gains": table(),
              "step_gains": np.ones((N, K, K))},
    "along_scaled": {"offsets": OFFSETS, "alpha": table(), "step": table(WIDTH), "psi": table(), "p": table(),
                     "gains": table(), "step_gain": table(K, K), "transitions": table(K, K)},
}  # fmt: skip
OUTPUTS = {
    "add_scores": {"scores"},
    "add_rows": {"table"},
    "add_few_scores": {"scores"},
    "add_few": {"sums"},
    "shift_scores": {"scores", "tops"},
    "exponentiate": {"x"},
    "forward": {"psi", "alpha", "totals"},
    "backward": {"psi", "p"},
    "add_before": {"scores"},
    "add_to_before": {"matrix"},
    "normalise": {"psi", "totals"},
    "along": {"p", "pairs"},
    "along_scaled": {"p", "transitions"},
}
INDICES = {"starts", "rows", "which", "labels", "offsets"}
LEGITIMATE = {
    ("exponentiate", "x", "short"),  # any numbers do,
    ("exponentiate", "x", "dimensions"),  # in any shape
    ("forward", "offsets", "short"),  # fewer sequences
    ("add_before", "offsets", "short"),
    ("add_to_before", "offsets", "short"),
    ("along", "offsets", "short"),
    ("along_scaled", "offsets", "short"),
}
WRONG = [
    pytest.param(name, wrong, id=f"{name}-{argument}-{what}")
    for name, arguments in CALLS.items()
    for argument, what, wrong in misuses(arguments, OUTPUTS[name], INDICES)
    if (name, argument, what) not in LEGITIMATE
]


def call(name: str, arguments: dict[str, Any]) -> None:
    own = {key: value.copy() if isinstance(value, np.ndarray) and value.flags.writeable and value.flags.c_contiguous
           else value for key, value in arguments.items()}  # fmt: skip
    getattr(label_chains, name)(**own)


def test_every_kernel_is_called() -> None:
    public = {name for name in dir(label_chains) if not name.startswith("_")} - {"level"}
    assert public == set(CALLS) == set(OUTPUTS)


@pytest.mark.parametrize(("name", "arguments"), WRONG)
def test_arrays_that_do_not_fit_are_refused(name: str, arguments: dict[str, Any]) -> None:
    call(name, CALLS[name])  # a proper call is answered
    with pytest.raises(REFUSALS):
        call(name, arguments)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("add_scores", {"lo": -1}),
        ("add_scores", {"lo": 3, "hi": 2}),
        ("add_rows", {"hi": N + 1}),
        ("add_few", {"hi": 1 << 40}),
        ("add_scores", {"table": table(7, 5), "scores": table(N, 5)}),
        ("add_rows", {"table": table(7, 5), "p": table(N, 5)}),
        ("shift_scores", {"n_labels": 0}),
        ("shift_scores", {"n_labels": WIDTH + 1}),
        ("forward", {"n_labels": WIDTH + 1}),
        ("forward", {"n_labels": -1}),
        ("forward", {"offsets": np.zeros(0, np.int64)}),
        ("forward", {"offsets": np.array([0, N + 1])}),
        ("forward", {"offsets": np.array([0, 4, 2, N])}),
        ("forward", {"psi": table(N, 5), "alpha": table(N, 5), "step": table(5, 5)}),
        ("backward", {"psi": table(N, 5), "alpha": table(N, 5), "p": table(N, 5), "turned": table(5, 5)}),
        ("normalise", {"psi": table(N, 5)}),
        ("normalise", {"n_labels": WIDTH + 1}),
        ("add_before", {"matrix": table(K, WIDTH + 1)}),
        ("along", {"pairs": np.ones((N, WIDTH + 1, WIDTH + 1))}),
        ("along", {"step_gains": np.ones((2, K, K))}),
        ("along_scaled", {"transitions": table(WIDTH + 1, WIDTH + 1)}),
        ("add_to_before", {"matrix": table(K, WIDTH + 1)}),
        ("add_few", {"labels": np.array([3, 0, 1, 2, 4, 0], np.uint8)}),
        ("add_few_scores", {"labels": np.array([3, 0, 1, 2, 400, 0], np.uint16)}),
    ],
)
def test_sizes_and_ranges_that_do_not_fit_are_refused(name: str, change: dict[str, Any]) -> None:
    with pytest.raises(REFUSALS):
        call(name, CALLS[name] | change)
