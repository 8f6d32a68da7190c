"""Kernels of hidden Markov chains: emissions, forward and backward passes scaled at every position, best paths.

K states, n positions of one sequence or of a stretch of one.

    scores[t, k] = log p(x_t | k)                        tops[t]   what was taken off them before exponentiation
    p[t, k]      = exp(scores[t, k] − tops[t])           A[i, j]   p(z_t = j | z_t−1 = i)
    α[t, k]      = p(z_t = k | x_1, …, x_t)              γ[t, k]   p(z_t = k | all x)
    β[t, k]      = p(x_t+1, … | z_t = k) / p(x_t+1, … | x_1, …, x_t), so that γ = αβ

A state that cannot have been reached, or hardly, has α below `NEVER`. Its β may be beyond what floats hold, and is
taken as zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.jit import kernel

Floats = NDArray[np.float64]
NEVER = 1e-290
LEAST = 1e-200
"""Sums below this are taken in log space."""
HIGHEST = 600.0


# Emissions ----------------------------------------------------------------------------------------------------


@kernel
def take_rows(
    codes: NDArray[Any], logs: Floats, rows: Floats, highest: Floats, scores: Floats, p: Floats, tops: Floats
) -> None:
    """Look up the only column: ``logs``, ``rows`` and ``highest`` have a row for each code, and a last one for none."""
    n_states = scores.shape[1]
    none = rows.shape[0] - 1
    for t in range(codes.shape[0]):
        code = np.int64(codes[t])
        if code < 0:
            code = none
        tops[t] = highest[code]
        for k in range(n_states):
            scores[t, k] = logs[code, k]
            p[t, k] = rows[code, k]


@kernel
def add_table(codes: NDArray[Any], logs: Floats, scores: Floats) -> None:
    """Add the log-probabilities of a discrete column, nothing where it is missing; ``logs`` has a row a code."""
    for t in range(codes.shape[0]):
        code = np.int64(codes[t])
        if code >= 0:
            for k in range(scores.shape[1]):
                scores[t, k] += logs[code, k]


@kernel
def add_normal(values: Floats, mean: Floats, constant: Floats, half: Floats, scores: Floats) -> None:
    """Add log-densities, constant − half (x − mean)² in every state, nothing where x is missing."""
    for t in range(values.shape[0]):
        x = values[t]
        if not np.isnan(x):
            for k in range(scores.shape[1]):
                gap = x - mean[k]
                scores[t, k] += constant[k] - half[k] * gap * gap


@kernel
def exponentiate(scores: Floats, p: Floats, tops: Floats) -> None:
    """Fill p and the tops from scores."""
    n_states = scores.shape[1]
    for t in range(scores.shape[0]):
        top = scores[t, 0]
        for k in range(1, n_states):
            top = max(top, scores[t, k])
        if top == -np.inf:
            top = 0.0
        tops[t] = top
        for k in range(n_states):
            p[t, k] = np.exp(scores[t, k] - top)


@kernel
def count_codes(codes: NDArray[Any], gamma: Floats, counts: Floats) -> None:
    """Add γ to the row of every code; shape (n_codes, K)."""
    for t in range(codes.shape[0]):
        code = np.int64(codes[t])
        if code >= 0:
            for k in range(gamma.shape[1]):
                counts[code, k] += gamma[t, k]


@kernel
def sum_squares(values: Floats, centre: float, gamma: Floats, sums: Floats) -> None:
    """Add γ, γ(x − c) and γ(x − c)² of the positions that have a value; shape (K, 3)."""
    for t in range(values.shape[0]):
        x = values[t] - centre
        if not np.isnan(x):
            for k in range(gamma.shape[1]):
                g = gamma[t, k]
                sums[k, 0] += g
                sums[k, 1] += g * x
                sums[k, 2] += g * x * x


# Passes -------------------------------------------------------------------------------------------------------


@kernel
def _in_logs(t: int, before: Floats, scores: Floats, p: Floats, tops: Floats) -> float:
    """Choose another top for one position, at which the usual one loses all that can be reached; return the sum."""
    top = -np.inf
    for k in range(before.shape[0]):
        if before[k] > 0.0:
            top = max(top, np.log(before[k]) + scores[t, k])
    if top == -np.inf:
        return 0.0
    total = 0.0
    for k in range(before.shape[0]):
        p[t, k] = np.exp(min(scores[t, k] - top, HIGHEST)) if before[k] > 0.0 else 0.0
        total += before[k] * p[t, k]
    tops[t] = top
    return total


@kernel
def forward(
    scores: Floats, p: Floats, tops: Floats, transitions: Floats, before: Floats, alpha: Floats, scales: Floats
) -> float:
    """Fill α and the scales of a stretch; return log p of what it shows, −inf where it is impossible.

    ``before`` is the distribution of the first position's state, what it shows left out of account; it is changed to
    that of the position after the stretch.
    """
    n_states = transitions.shape[0]
    total: float = 0.0
    product: float = 1.0
    for t in range(p.shape[0]):
        scale = 0.0
        for k in range(n_states):
            a = before[k] * p[t, k]  # eq hmm-forward
            alpha[t, k] = a
            scale += a
        if scale < LEAST:
            scale = _in_logs(t, before, scores, p, tops)
            if scale == 0.0:
                return -np.inf
            for k in range(n_states):
                alpha[t, k] = before[k] * p[t, k]
        scales[t] = scale
        total += tops[t]
        product *= scale
        if product < 1e-100 or product > 1e100:
            total += np.log(product)
            product = 1.0
        inverse = 1.0 / scale
        for k in range(n_states):
            alpha[t, k] *= inverse
        for j in range(n_states):
            a = 0.0
            for i in range(n_states):
                a += alpha[t, i] * transitions[i, j]
            before[j] = a
    total += np.log(product)
    return total


@kernel
def backward(
    p: Floats, transitions: Floats, alpha: Floats, scales: Floats, beta: Floats, weight: float, gamma: Floats,
    pairs: Floats, shown: Floats,
) -> None:  # fmt: skip
    """Fill weight · γ of a stretch, and add weight · α_t−1 ⊗ p_t β_t / scale_t to ``pairs`` but for its first position.

    ``beta`` is that of the last position; it is changed to that of the first. ``shown`` is filled with the first
    position's p_t β_t / scale_t, which the stretch before goes on with: `enter`.
    """
    n_states = transitions.shape[0]
    for t in range(p.shape[0] - 1, -1, -1):
        for j in range(n_states):
            if alpha[t, j] < NEVER:
                beta[j] = 0.0
            gamma[t, j] = weight * alpha[t, j] * beta[j]
            shown[j] = p[t, j] * beta[j] / scales[t]
        if t > 0:
            enter(transitions, alpha[t - 1], shown, beta, weight, pairs)


@kernel
def enter(transitions: Floats, alpha: Floats, shown: Floats, beta: Floats, weight: float, pairs: Floats) -> None:
    """Take one step back, from what the next position shows to β of the one whose α this is; add to ``pairs``."""
    n_states = transitions.shape[0]
    for i in range(n_states):
        a, total = weight * alpha[i], 0.0
        for j in range(n_states):
            pairs[i, j] += a * shown[j]  # eq hmm-expected
            total += transitions[i, j] * shown[j]
        beta[i] = total


@kernel
def smooth(
    scores: Floats, p: Floats, tops: Floats, offsets: NDArray[np.int64], weights: Floats, initial: Floats,
    transitions: Floats, alpha: Floats, scales: Floats, gamma: Floats, first: Floats, pairs: Floats, totals: Floats,
) -> None:  # fmt: skip
    """Run whole sequences: fill log p of each and weight · γ; add to the states of first positions, and to the pairs.

    Impossible sequences have log p = −inf and γ = 0.
    """
    n_states = transitions.shape[0]
    before, beta, shown = np.empty(n_states), np.empty(n_states), np.empty(n_states)
    for s in range(offsets.shape[0] - 1):
        low, high = offsets[s], offsets[s + 1]
        totals[s] = 0.0
        if low == high:
            continue
        before[:] = initial
        a, c = alpha[low:high], scales[low:high]
        totals[s] = forward(scores[low:high], p[low:high], tops[low:high], transitions, before, a, c)
        if totals[s] == -np.inf:
            gamma[low:high] = 0.0
            continue
        beta[:] = 1.0
        backward(p[low:high], transitions, a, c, beta, weights[s], gamma[low:high], pairs, shown)
        for k in range(n_states):
            first[k] += gamma[low, k]


@kernel
def weigh(
    scores: Floats, p: Floats, tops: Floats, offsets: NDArray[np.int64], initial: Floats, transitions: Floats,
    alpha: Floats, scales: Floats, totals: Floats,
) -> None:  # fmt: skip
    """Fill log p of whole sequences, −inf where it is zero."""
    before = np.empty(transitions.shape[0])
    for s in range(offsets.shape[0] - 1):
        low, high = offsets[s], offsets[s + 1]
        before[:] = initial
        totals[s] = forward(
            scores[low:high], p[low:high], tops[low:high], transitions, before, alpha[low:high], scales[low:high]
        )


@kernel
def best_step(scores: Floats, log_transitions: Floats, best: Floats, begins: bool, back: NDArray[Any]) -> None:
    """Carry the best log-probability of a path into every state through a stretch, and note where each came from.

    ``best`` is that of the first position without what it shows if the stretch ``begins`` a sequence, else that of the
    position before; it is changed to that of the last position.
    """
    n_states = best.shape[0]
    now = np.empty(n_states)
    for t in range(scores.shape[0]):
        if begins and t == 0:
            for j in range(n_states):
                best[j] += scores[0, j]
            continue
        for j in range(n_states):
            top, came = -np.inf, 0
            for i in range(n_states):
                value = best[i] + log_transitions[i, j]
                if value > top:
                    top, came = value, i
            now[j] = top + scores[t, j]
            back[t, j] = came
        for j in range(n_states):
            best[j] = now[j]


@kernel
def trace_back(best: Floats, back: NDArray[Any], path: NDArray[Any]) -> None:
    """Follow the notes of a whole sequence from its best end to its beginning; of equal ends the first."""
    end = 0
    for k in range(best.shape[0]):
        if best[k] > best[end]:
            end = k
    for t in range(path.shape[0] - 1, -1, -1):
        path[t] = end
        end = back[t, end]


@kernel
def best_paths(
    scores: Floats, offsets: NDArray[np.int64], log_initial: Floats, log_transitions: Floats, back: NDArray[Any],
    path: NDArray[Any],
) -> None:  # fmt: skip
    """Fill the most probable states of whole sequences."""
    best = np.empty(log_initial.shape[0])
    for s in range(offsets.shape[0] - 1):
        low, high = offsets[s], offsets[s + 1]
        best[:] = log_initial
        best_step(scores[low:high], log_transitions, best, True, back[low:high])
        trace_back(best, back[low:high], path[low:high])
