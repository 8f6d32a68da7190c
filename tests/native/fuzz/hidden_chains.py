"""Fuzzed calls of `suffice.native.hidden_chains`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from tests.native.fuzzing import Case

from suffice.native import hidden_chains

CODES = (np.int8, np.int16, np.int32, np.int64)


# Emissions ----------------------------------------------------------------------------------------------------


def draw_codes(chance: Generator) -> tuple[int, Any, Any]:
    """Draw the number of states, codes of four widths, some of them missing, and log-probabilities, some −inf."""
    n, k, n_codes = int(chance.integers(0, 30)), int(chance.integers(1, 8)), int(chance.integers(1, 6))
    codes = chance.integers(-1, n_codes, n).astype(CODES[int(chance.integers(0, 4))])
    logs = -8 * chance.random((n_codes, k))
    logs[chance.random((n_codes, k)) < 0.2] = -np.inf
    return k, codes, logs


def run_look_up(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return scores, p and tops."""
    k, codes, logs = arguments
    logs = np.vstack([logs, np.zeros(k)])
    found = np.empty((len(codes), k)), np.empty((len(codes), k)), np.empty(len(codes))
    hidden_chains.look_up_emissions(codes, logs, 0.5 * logs, logs.max(axis=1), *found)
    return found


def run_table(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return scores."""
    k, codes, logs = arguments
    scores = np.linspace(-1, 1, len(codes) * k).reshape(-1, k)
    hidden_chains.add_table(codes, logs, scores)
    return (scores,)


def run_counts(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return counts."""
    k, codes, logs = arguments
    counts = np.zeros(logs.shape)
    hidden_chains.count_codes(codes, np.linspace(0, 1, len(codes) * k).reshape(-1, k), counts)
    return (counts,)


def draw_values(chance: Generator) -> tuple[Any, ...]:
    """Draw numbers, missing and infinite ones among them, and a matrix for K states."""
    n, k = int(chance.integers(0, 30)), int(chance.integers(1, 8))
    values = chance.normal(size=n) * 2.0 ** int(chance.integers(-20, 40))
    values[chance.random(n) < 0.2] = np.nan
    values[chance.random(n) < 0.02] = np.inf
    return values, chance.normal(size=(3, k)), chance.random((n, k))


def run_normal(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return scores."""
    values, (mean, constant, half), scores = arguments
    hidden_chains.add_normal(values, mean, constant, half, scores)
    return (scores,)


def run_squares(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return sums."""
    values, numbers, gamma = arguments
    sums = np.ascontiguousarray(numbers.T)
    hidden_chains.sum_squares(values, float(numbers[0, 0]), gamma, sums)
    return (sums,)


def draw_scores(chance: Generator, n: int, k: int) -> Any:
    """Draw scores of all sizes, some of them −inf, and sometimes all of a position."""
    scores = chance.normal(size=(n, k)) * 2.0 ** int(chance.integers(-6, 13))
    scores[chance.random((n, k)) < 0.1] = -np.inf
    if chance.random() < 0.1:
        scores[chance.random(n) < 0.1] = -np.inf
    return scores


def run_exponentials(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return p and tops."""
    (scores,) = arguments
    p, tops = np.empty(scores.shape), np.empty(len(scores))
    hidden_chains.exponentiate(scores, p, tops)
    return p, tops


# Passes -------------------------------------------------------------------------------------------------------


def draw_chain(chance: Generator) -> tuple[Any, ...]:
    """Draw scores of positions, and a chain with zeros among its probabilities."""
    n, k = int(chance.integers(0, 25)), int(chance.integers(1, 8))
    initial, steps = chance.random(k) + 1e-3, chance.random((k, k)) + 1e-3
    steps[chance.random((k, k)) < 0.2] = 0.0
    initial[1:][chance.random(k - 1) < 0.3] = 0.0
    steps[:, 0] += 1e-9
    return draw_scores(chance, n, k), initial / initial.sum(), steps / steps.sum(axis=1, keepdims=True)


def draw_sequences(chance: Generator) -> tuple[Any, ...]:
    """Draw the same, cut into sequences, empty ones among them, with weights."""
    scores, initial, steps = draw_chain(chance)
    cuts = np.sort(chance.integers(0, len(scores) + 1, int(chance.integers(0, 5))))
    offsets = np.concatenate([[0], cuts, [len(scores)]]).astype(np.int64)
    return scores, initial, steps, offsets, chance.random(len(offsets) - 1)


def exponentials(scores: Any) -> tuple[Any, Any]:
    """Return p and tops by NumPy, −inf being what no state can show."""
    tops = scores.max(axis=1, initial=-np.inf)
    tops[np.isneginf(tops)] = 0.0
    return np.minimum(np.round(np.maximum(scores - tops[:, None], -300.0) / 300.0 + 1.0, 6), 1.0), tops


def run_forward(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return log p and all that is written."""
    scores, initial, steps = arguments
    (p, tops), before = exponentials(scores), initial.copy()
    alpha, scales = np.zeros(scores.shape), np.zeros(len(scores))
    total = hidden_chains.forward(scores, p, tops, steps, before, alpha, scales)
    return total, p, tops, before, alpha, scales


def run_backward(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return all that is written."""
    scores, initial, steps = arguments
    p, scales = exponentials(scores)
    alpha = p * initial + 1e-300 * (p < 0.5)
    beta, shown, gamma, pairs = initial + 0.5, np.zeros(len(initial)), np.zeros(p.shape), steps.copy()
    hidden_chains.backward(p, steps, alpha, np.abs(scales) + 0.1, beta, 0.7, gamma, pairs, shown)
    return beta, gamma, pairs, shown


def run_step(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return β and pairs."""
    _, initial, steps = arguments
    beta, pairs = np.empty(len(initial)), steps.copy()
    hidden_chains.step_back(steps, initial, steps[0].copy(), beta, 1.3, pairs)
    return beta, pairs


def run_smooth(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return all that is written."""
    scores, initial, steps, offsets, weights = arguments
    p, tops = exponentials(scores)
    alpha, scales, gamma = np.zeros(p.shape), np.zeros(len(p)), np.zeros(p.shape)
    first, pairs, totals = np.zeros(len(initial)), np.zeros(steps.shape), np.zeros(len(weights))
    hidden_chains.smooth(scores, p, tops, offsets, weights, initial, steps, alpha, scales, gamma, first, pairs, totals)
    return p, tops, alpha, scales, gamma, first, pairs, totals


def run_likelihoods(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return log p of all sequences."""
    scores, initial, steps, offsets, weights = arguments
    (p, tops), totals = exponentials(scores), np.zeros(len(weights))
    hidden_chains.fill_log_likelihoods(
        scores, p, tops, offsets, initial, steps, np.zeros(p.shape), np.zeros(len(p)), totals
    )
    return (totals,)


# Best paths ---------------------------------------------------------------------------------------------------


def draw_steps(chance: Generator) -> tuple[Any, ...]:
    """Draw scores, often with ties, and what comes before, of two widths."""
    scores, initial, steps, offsets, _ = draw_sequences(chance)
    initial, steps = (np.where(array > 0, array - 1, -np.inf) for array in (initial, steps))
    if chance.random() < 0.5:
        scores, initial, steps = (np.round(array) for array in (scores, initial, steps))
    kind = np.uint8 if chance.random() < 0.7 else np.uint32
    return scores, initial, steps, offsets, kind, bool(chance.random() < 0.5)


def run_extend(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the best log-probabilities, and where they came from."""
    scores, best, steps, _, kind, begins = arguments
    back = np.zeros(scores.shape, kind)
    hidden_chains.extend_paths(scores, steps, best, begins, back)
    return best, back


def run_trace(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a path."""
    scores, best, _, _, kind, _ = arguments
    n, k = scores.shape
    back, path = (np.arange(n * k) * 7 % 11 % k).reshape(n, k).astype(kind), np.empty(n, np.int32)
    hidden_chains.trace_back(best, back, path)
    return (path,)


def run_paths(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the best paths."""
    scores, initial, steps, offsets, kind, _ = arguments
    back, path = np.zeros(scores.shape, kind), np.empty(len(scores), np.int32)
    hidden_chains.find_best_paths(scores, offsets, initial, steps, back, path)
    return (path,)


CASES = {
    "look_up_emissions": Case(draw_codes, run_look_up, 8),
    "add_table": Case(draw_codes, run_table, 6),
    "count_codes": Case(draw_codes, run_counts, 6),
    "add_normal": Case(draw_values, run_normal, 8),
    "sum_squares": Case(draw_values, run_squares, 8),
    "exponentiate": Case(lambda chance: (draw_chain(chance)[0],), run_exponentials, 8),
    "forward": Case(draw_chain, run_forward, 15),
    "backward": Case(draw_chain, run_backward, 10),
    "step_back": Case(draw_chain, run_step, 5),
    "smooth": Case(draw_sequences, run_smooth, 15),
    "fill_log_likelihoods": Case(draw_sequences, run_likelihoods, 6),
    "extend_paths": Case(draw_steps, run_extend, 6),
    "trace_back": Case(draw_steps, run_trace, 4),
    "find_best_paths": Case(draw_steps, run_paths, 8),
}
