"""Kernels over dense arrays refuse what they would read or write beyond its end: five subjects in one table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.native.misuse import REFUSALS, misuses

from suffice.native import classify, graphical_lasso, hidden_chains, moments, vectors

N, P, K = 6, 3, 4
"""Rows or positions, inputs, classes or states or cells: all of them different."""


def floats(*shape: int) -> Any:
    return np.linspace(0.1, 1.0, int(np.prod(shape))).reshape(shape)


X, BY_CLASS, START, SCORES = floats(N, P), floats(K, P), floats(K), floats(N, K)
CODES, OFFSETS = np.array([0, 1, -1, 1, 0, 1], np.int32), np.array([0, 2, 2, 6])
STEPS, BACK = floats(K, K), np.array(np.arange(N * K).reshape(N, K) % K, np.uint8)
PASSES = {"transitions": STEPS, "alpha": SCORES, "scales": floats(N)}
FORWARD = {"scores": SCORES, "p": SCORES, "tops": floats(N)}
ROWS = {"x": X, "cell": np.array([0, 3, 2, 1, 0, 3]), "weights": floats(N), "centre": BY_CLASS}

CALLS: dict[str, dict[str, Any]] = {
    "classify.fill_diagonal_scores": {"x": X, "mean": BY_CLASS, "precision": BY_CLASS, "height": BY_CLASS,
                                      "start": START, "out": SCORES},
    "classify.fill_linear_scores": {"x": X, "centre": floats(P), "weights": floats(P, K), "start": START,
                                    "out": SCORES},
    "classify.fill_triangular_scores": {"x": X, "centre": floats(P), "factors": floats(K, P, P), "shift": BY_CLASS,
                                        "start": START, "out": SCORES},
    "classify.fill_whitened_scores": {"z": floats(K * P, N), "shift": BY_CLASS, "start": START, "out": SCORES},
    "classify.fill_table_scores": {"codes": np.ones((N, P), np.int64), "first": np.array([0, 2, 4]),
                                   "tables": floats(6, K), "start": START, "out": SCORES},
    "classify.find_largest": {"scores": SCORES, "out": np.zeros(N, np.int64)},
    "graphical_lasso.sweep_columns": {"s": np.eye(K), "penalty": floats(K, K), "w": np.eye(K), "b": floats(K, K),
                                      "sweeps": 2, "most": 3, "tol": 1e-6},
    "hidden_chains.look_up_emissions": {"codes": CODES, "logs": floats(3, K), "rows": floats(3, K),
                                        "highest": floats(3), **FORWARD},
    "hidden_chains.add_table": {"codes": CODES, "logs": floats(2, K), "scores": SCORES},
    "hidden_chains.count_codes": {"codes": CODES, "gamma": SCORES, "counts": floats(2, K)},
    "hidden_chains.add_normal": {"values": floats(N), "mean": START, "constant": START, "half": START,
                                 "scores": SCORES},
    "hidden_chains.sum_squares": {"values": floats(N), "centre": 0.5, "gamma": SCORES, "sums": floats(K, 3)},
    "hidden_chains.exponentiate": FORWARD,
    "hidden_chains.forward": {**FORWARD, **PASSES, "before": START},
    "hidden_chains.backward": {"p": SCORES, **PASSES, "beta": START, "weight": 1.0, "gamma": SCORES, "pairs": STEPS,
                               "shown": START},
    "hidden_chains.step_back": {"transitions": STEPS, "alpha": START, "shown": START, "beta": START, "weight": 1.0,
                                "pairs": STEPS},
    "hidden_chains.smooth": {**FORWARD, **PASSES, "offsets": OFFSETS, "weights": floats(3), "initial": START,
                             "gamma": SCORES, "first": START, "pairs": STEPS, "totals": floats(3)},
    "hidden_chains.fill_log_likelihoods": {**FORWARD, **PASSES, "offsets": OFFSETS, "initial": START,
                                           "totals": floats(3)},
    "hidden_chains.extend_paths": {"scores": SCORES, "log_transitions": STEPS, "best": START, "begins": False,
                                   "back": BACK},
    "hidden_chains.trace_back": {"best": START, "back": BACK, "path": np.zeros(N, np.int32)},
    "hidden_chains.find_best_paths": {"scores": SCORES, "offsets": OFFSETS, "log_initial": START,
                                      "log_transitions": STEPS, "back": BACK, "path": np.zeros(N, np.int32)},
    "moments.find_first_rows": {"cell": ROWS["cell"], "weights": floats(N), "first": np.zeros(K, np.int64),
                                "n_rows": np.zeros(K, np.int64), "weight": START},
    "moments.sum_shifted_squares": {**ROWS, "sums": BY_CLASS, "squares": BY_CLASS},
    "moments.gather_shifted_rows": {**ROWS, "starts": np.array([0, 2, 3, 4]), "gathered": X, "factors": floats(N),
                                    "sums": BY_CLASS},
    "vectors.add_then_dot": {"result": floats(N), "factor": 0.5, "row": floats(N), "other": floats(N)},
}  # fmt: skip
INPUTS = {
    "classify": {"x", "mean", "precision", "height", "start", "centre", "weights", "factors", "shift", "z", "codes",
                 "first", "tables", "scores"},
    "graphical_lasso": {"s", "penalty"},
    "hidden_chains": {"codes", "logs", "rows", "highest", "values", "mean", "constant", "half", "transitions",
                      "offsets", "weights", "initial", "log_transitions", "log_initial"},
    "moments": {"x", "cell", "weights", "centre", "starts"},
    "vectors": {"row", "other"},
}  # fmt: skip
READ = {
    "hidden_chains.count_codes": {"gamma"}, "hidden_chains.sum_squares": {"gamma"},
    "hidden_chains.exponentiate": {"scores"}, "hidden_chains.forward": {"scores"},
    "hidden_chains.backward": {"p", "alpha", "scales"}, "hidden_chains.step_back": {"alpha", "shown"},
    "hidden_chains.smooth": {"scores"}, "hidden_chains.fill_log_likelihoods": {"scores"},
    "hidden_chains.extend_paths": {"scores"}, "hidden_chains.trace_back": {"best", "back"},
    "hidden_chains.find_best_paths": {"scores"},
}  # fmt: skip
"""What these kernels read and others write."""
INDICES = {"codes", "first", "offsets", "cell", "starts"}
LEGITIMATE = {
    ("classify.fill_table_scores", "codes", "negative"),  # a missing value
    ("hidden_chains.look_up_emissions", "codes", "negative"),
    ("hidden_chains.add_table", "codes", "negative"),
    ("hidden_chains.count_codes", "codes", "negative"),
    ("classify.fill_table_scores", "codes", "type"),  # codes have any width
    ("hidden_chains.look_up_emissions", "codes", "type"),
    ("hidden_chains.add_table", "codes", "type"),
    ("hidden_chains.count_codes", "codes", "type"),
    ("moments.find_first_rows", "first", "far"),  # written, not read
    ("moments.find_first_rows", "first", "negative"),
    ("hidden_chains.smooth", "first", "far"),  # a probability
    ("hidden_chains.smooth", "first", "negative"),
    ("hidden_chains.find_best_paths", "offsets", "short"),  # one sequence less
    ("classify.find_largest", "scores", "narrow"),  # one class less
}


def outputs(name: str) -> set[str]:
    return set(CALLS[name]) - INPUTS[name.partition(".")[0]] - READ.get(name, set()) | (
        {"first"} if name in ("moments.find_first_rows", "hidden_chains.smooth") else set()
    )


def call(name: str, arguments: dict[str, Any]) -> Any:
    module, _, function = name.partition(".")
    copies = {key: value.copy(order="K") if _is_plain(value) else value for key, value in arguments.items()}
    return getattr(globals()[module], function)(**copies)


def _is_plain(value: Any) -> bool:
    """Whether a copy of an array is refused or taken for the same reasons."""
    return isinstance(value, np.ndarray) and value.flags.writeable and value.flags.c_contiguous


def narrow(arguments: dict[str, Any]) -> Any:
    """Yield calls in which one array has a column less."""
    for key, value in arguments.items():
        if isinstance(value, np.ndarray) and value.ndim > 1:
            yield key, "narrow", {**arguments, key: value[..., :-1].copy()}


WRONG = [
    pytest.param(name, wrong, id=f"{name}-{argument}-{what}")
    for name, arguments in CALLS.items()
    for argument, what, wrong in [*misuses(arguments, outputs(name), INDICES), *narrow(arguments)]
    if (name, argument, what) not in LEGITIMATE
]


def test_every_kernel_is_called() -> None:
    modules = classify, graphical_lasso, hidden_chains, moments, vectors
    public = {f"{m.__name__.rpartition('.')[2]}.{name}" for m in modules for name in dir(m) if name[0] != "_"}
    assert public == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_inputs_may_be_read_only(name: str) -> None:
    arguments = dict(CALLS[name])
    inputs = [key for key, value in arguments.items() if isinstance(value, np.ndarray) and key not in outputs(name)]
    assert inputs
    for key in inputs:
        arguments[key] = arguments[key].copy()
        arguments[key].flags.writeable = False
    call(name, arguments)


@pytest.mark.parametrize(("name", "arguments"), WRONG)
def test_arrays_that_do_not_fit_are_refused(name: str, arguments: dict[str, Any]) -> None:
    call(name, CALLS[name])  # a proper call is answered
    with pytest.raises(REFUSALS):
        call(name, arguments)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("classify.fill_table_scores", {"codes": floats(N, P)}),
        ("classify.find_largest", {"scores": np.zeros((N, 0))}),
        ("graphical_lasso.sweep_columns", {"w": np.zeros((K, K))}),
        ("hidden_chains.add_table", {"codes": floats(N)}),
        ("hidden_chains.add_table", {"codes": CODES.astype(np.uint8)}),
        ("hidden_chains.look_up_emissions", {"codes": np.full(N, 2, np.int8)}),  # the row for missing codes
        ("hidden_chains.smooth", {"offsets": np.zeros(0, np.int64)}),
        ("hidden_chains.smooth", {"offsets": np.array([0, 4, 2, 6])}),
        ("hidden_chains.trace_back", {"back": np.full((N, K), K, np.uint8)}),
        ("moments.gather_shifted_rows", {"starts": np.full(K, N)}),
        ("moments.gather_shifted_rows", {"factors": np.zeros(0)}),
        ("vectors.add_then_dot", {"row": floats(N).astype(np.float32)}),
    ],
)
def test_values_that_lead_outside_are_refused(name: str, change: dict[str, Any]) -> None:
    with pytest.raises(REFUSALS):
        call(name, {**CALLS[name], **change})


def test_more_states_than_a_byte_holds_are_refused() -> None:
    k = 257
    with pytest.raises(ValueError, match="so many states"):
        hidden_chains.extend_paths(floats(2, k), floats(k, k), floats(k), True, np.zeros((2, k), np.uint8))
    hidden_chains.extend_paths(floats(2, k), floats(k, k), floats(k), True, np.zeros((2, k), np.uint32))


def test_cells_of_rows_without_weight_may_be_anything() -> None:
    cell, weights, found = np.array([-7, 1 << 40, 0]), np.array([0.0, np.nan, 2.0]), np.empty((1, 1))
    first, n_rows, weight = np.empty(1, np.int64), np.empty(1, np.int64), np.empty(1)
    moments.find_first_rows(cell, weights, first, n_rows, weight)
    assert (first[0], n_rows[0], weight[0]) == (2, 1, 2.0)
    moments.sum_shifted_squares(floats(3, 1), cell, weights, np.zeros((1, 1)), found, np.empty((1, 1)))
    assert found[0, 0] == 2.0


@pytest.mark.parametrize("code", [2**63 - 1, 2**63 - 2, 6])
def test_codes_beyond_all_tables_are_refused(code: int) -> None:
    codes, first = np.array([[code]]), np.array([2])
    with pytest.raises(IndexError, match="past the end"):
        classify.fill_table_scores(codes, first, floats(6, K), START, np.zeros((1, K)))


def test_the_least_code_is_a_missing_one() -> None:
    out = np.zeros((1, K))
    classify.fill_table_scores(np.array([[-(2**63)]]), np.array([2]), floats(6, K), START, out)
    np.testing.assert_array_equal(out[0], START)


def test_weights_are_not_overwritten_by_factors() -> None:
    weights, cell = np.array([1.0, 0.0]), np.array([0, 10**12])  # a row without weight may have any cell
    with pytest.raises(ValueError, match="share memory"):
        moments.gather_shifted_rows(
            np.zeros((2, 1)),
            cell,
            weights,
            np.zeros((1, 1)),
            np.array([1]),
            np.zeros((2, 1)),
            weights,
            np.zeros((1, 1)),
        )
