"""Fuzzed calls of `suffice.native.label_chains`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from tests.native.fuzzing import Case

from suffice.native import label_chains

EXTREME = np.array([0.0, -0.0, -5e-324, -708.0, -709.0, -1e300, -np.inf, -1.0])


def below_zero(chance: Generator, shape: tuple[int, ...]) -> Any:
    """Draw numbers of at most zero, some of them extreme."""
    found = -chance.random(shape) * 10.0 ** chance.integers(-9, 4)
    odd = chance.random(shape) < 0.1
    return np.where(odd, EXTREME[chance.integers(0, len(EXTREME), shape)], found)


def draw_size(chance: Generator) -> tuple[int, int, int]:
    """Draw a number of positions, of labels, and of columns."""
    n_labels = int(chance.integers(1, 27))
    return int(chance.integers(0, 9)), n_labels, -(-n_labels // 4) * 4


def draw_offsets(chance: Generator, n: int) -> Any:
    """Draw where sequences begin; some are empty."""
    cuts = np.sort(chance.integers(0, n + 1, int(chance.integers(0, 5))))
    return np.concatenate([[0], cuts, [n]]).astype(np.int64)


def draw_psi(chance: Generator, shape: tuple[int, ...]) -> Any:
    """Draw exponentials, some of them zero or close to it."""
    found = np.exp(-chance.random(shape) * 10.0 ** chance.integers(-2, 3))
    return np.where(chance.random(shape) < 0.1, 1e-300 * chance.integers(0, 2, shape), found)


def draw_attributes(chance: Generator, n: int, n_codes: int) -> tuple[Any, Any, Any, int, int]:
    """Draw the attributes of positions, and a range of positions."""
    starts = np.concatenate([[0], np.cumsum(chance.integers(0, 5, n))]).astype(np.int64)
    codes = chance.integers(0, n_codes, int(starts[-1])).astype(np.int32)
    values = np.zeros(0) if chance.random() < 0.5 else chance.normal(size=len(codes))
    lo, hi = np.sort(chance.integers(0, n + 1, 2)).tolist()
    return starts, codes, values, lo, hi


def draw_labels(chance: Generator, n: int, n_labels: int) -> Any:
    """Draw codes of labels of any of the types."""
    return chance.integers(0, n_labels, n).astype(("u1", "u2", "i4")[int(chance.integers(0, 3))])


def draw_exponents(chance: Generator) -> tuple[Any, ...]:
    """Draw numbers of at most zero, NaN among them at times."""
    x = below_zero(chance, (int(chance.integers(0, 150)),))
    if len(x) and chance.random() < 0.05:
        x[int(chance.integers(0, len(x)))] = np.nan
    return (x,)


def draw_scores(chance: Generator) -> tuple[Any, ...]:
    """Draw scores of positions: ties, zeros of both signs, infinities and NaN among them."""
    n, n_labels, width = draw_size(chance)
    scores = chance.normal(size=(n, width)) * 10.0 ** chance.integers(-3, 5)
    if chance.random() < 0.5:
        scores = np.array([0.0, -0.0, -1.0, -np.inf, np.nan])[chance.integers(0, 5, scores.shape)]
    return scores, n_labels, np.zeros(n)


def draw_added_rows(chance: Generator) -> tuple[Any, ...]:
    """Draw attributes with rows of a table, and scores."""
    n, _, width = draw_size(chance)
    starts, codes, values, lo, hi = draw_attributes(chance, n, 7)
    return starts, codes, values, chance.normal(size=(7, width)), lo, hi, chance.normal(size=(hi - lo, width))


def draw_added_weights(chance: Generator) -> tuple[Any, ...]:
    """Draw attributes with single weights, and scores of any number of columns."""
    n, n_labels, _ = draw_size(chance)
    starts, which, values, lo, hi = draw_attributes(chance, n, 9)
    labels, scores = draw_labels(chance, len(which), n_labels), chance.normal(size=(hi - lo, n_labels))
    return starts, which, labels, values, chance.normal(size=9), lo, hi, scores


def draw_forward(chance: Generator) -> tuple[Any, ...]:
    """Draw exponentials of scores and steps."""
    n, n_labels, width = draw_size(chance)
    psi, step = draw_psi(chance, (n, width)), draw_psi(chance, (width, width))
    return psi, step, draw_offsets(chance, n), n_labels, np.zeros((n, width)), np.zeros(n)


def draw_backward(chance: Generator) -> tuple[Any, ...]:
    """Draw the same with what a forward pass might have filled."""
    n, _, width = draw_size(chance)
    psi, turned, offsets = draw_psi(chance, (n, width)), draw_psi(chance, (width, width)), draw_offsets(chance, n)
    weights = np.zeros(0) if chance.random() < 0.5 else chance.random(len(offsets) - 1) * 3
    totals = chance.random(n) * chance.integers(0, 5, n)
    return psi, turned, offsets, chance.random((n, width)), totals, weights, np.zeros((n, width))


def draw_before(chance: Generator) -> tuple[Any, ...]:
    """Draw scores, labels, and a matrix with a row per label."""
    n, n_labels, width = draw_size(chance)
    labels = chance.integers(0, n_labels, n).astype(np.int32)
    return chance.normal(size=(n, width)), labels, draw_offsets(chance, n), chance.normal(size=(n_labels, n_labels))


def draw_normalised(chance: Generator) -> tuple[Any, ...]:
    """Draw exponentials of shifted scores: one of each position's is one."""
    n, n_labels, width = draw_size(chance)
    psi = draw_psi(chance, (n, width))
    psi[:, :1] = 1.0
    weights = np.zeros(0) if chance.random() < 0.5 or n == 0 else chance.random(n) * 3
    return psi, n_labels, np.zeros(n), weights


def draw_along(chance: Generator) -> tuple[Any, ...]:
    """Draw probabilities of labels and steps, and a direction; steps have one matrix or one each."""
    n, n_labels, width = draw_size(chance)
    p, pairs = draw_psi(chance, (n, width)), draw_psi(chance, (n, n_labels, n_labels))
    step_gains = chance.normal(size=(int(chance.choice([1, n])), n_labels, n_labels))
    return draw_offsets(chance, n), p, pairs, chance.normal(size=(n, width)), step_gains


def draw_along_scaled(chance: Generator) -> tuple[Any, ...]:
    """Draw what passes might have left, and a direction."""
    n, n_labels, width = draw_size(chance)
    alpha, psi, p = (draw_psi(chance, (n, width)) for _ in range(3))
    gains, step_gain = chance.normal(size=(n, width)), chance.normal(size=(n_labels, n_labels))
    step, sums = draw_psi(chance, (width, width)), chance.normal(size=(n_labels, n_labels))
    return draw_offsets(chance, n), alpha, step, psi, p, gains, step_gain, sums


def run_exponentiate(arguments: Any) -> Any:
    """Return exponentials."""
    label_chains.exponentiate(*arguments)
    return arguments


def run_shift_scores(arguments: Any) -> Any:
    """Return shifted scores and what was subtracted."""
    label_chains.shift_scores(*arguments)
    return arguments[0], arguments[2]


def run_add_scores(arguments: Any) -> Any:
    """Return scores."""
    label_chains.add_scores(*arguments)
    return (arguments[-1],)


def run_add_rows(arguments: Any) -> Any:
    """Return the table that was added to."""
    starts, codes, values, table, lo, hi, p = arguments
    label_chains.add_rows(starts, codes, values, lo, hi, p, table)
    return (table,)


def run_add_few_scores(arguments: Any) -> Any:
    """Return scores."""
    label_chains.add_few_scores(*arguments)
    return (arguments[-1],)


def run_add_few(arguments: Any) -> Any:
    """Return the sums of single weights."""
    starts, which, labels, values, sums, lo, hi, p = arguments
    label_chains.add_few(starts, which, labels, values, lo, hi, p, sums)
    return (sums,)


def run_forward(arguments: Any) -> Any:
    """Return potentials, probabilities so far, and totals."""
    label_chains.forward(*arguments)
    return arguments[0], arguments[4], arguments[5]


def run_backward(arguments: Any) -> Any:
    """Return potentials and probabilities."""
    label_chains.backward(*arguments)
    return arguments[0], arguments[6]


def run_add_before(arguments: Any) -> Any:
    """Return scores."""
    label_chains.add_before(*arguments)
    return (arguments[0],)


def run_add_to_before(arguments: Any) -> Any:
    """Return the matrix that was added to."""
    label_chains.add_to_before(*arguments)
    return (arguments[3],)


def run_normalise(arguments: Any) -> Any:
    """Return probabilities and totals."""
    label_chains.normalise(*arguments)
    return arguments[0], arguments[2]


def run_along(arguments: Any) -> Any:
    """Return derivatives of labels and steps."""
    label_chains.along(*arguments)
    return arguments[1], arguments[2]


def run_along_scaled(arguments: Any) -> Any:
    """Return derivatives of labels, and the sums of those of steps."""
    label_chains.along_scaled(*arguments)
    return arguments[4], arguments[7]


CASES = {
    "exponentiate": Case(draw_exponents, run_exponentiate, 10),
    "shift_scores": Case(draw_scores, run_shift_scores, 10),
    "add_scores": Case(draw_added_rows, run_add_scores, 10),
    "add_rows": Case(draw_added_rows, run_add_rows, 10),
    "add_few_scores": Case(draw_added_weights, run_add_few_scores, 10),
    "add_few": Case(draw_added_weights, run_add_few, 10),
    "forward": Case(draw_forward, run_forward, 15),
    "backward": Case(draw_backward, run_backward, 15),
    "add_before": Case(draw_before, run_add_before, 10),
    "add_to_before": Case(draw_before, run_add_to_before, 10),
    "normalise": Case(draw_normalised, run_normalise, 10),
    "along": Case(draw_along, run_along, 10),
    "along_scaled": Case(draw_along_scaled, run_along_scaled, 10),
}
