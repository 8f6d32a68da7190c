"""Sums over all paths of labels in linear space, scaled at every position: quicker than logarithms, where it is safe.

Let R be the difference between the largest and the smallest step. Of a position's labels, linear space tells apart what
is e^−708 and more of the largest; the others may come out as large as that. What comes before a position favours one
of its labels over another by e^R at most, and so does what comes after it: these others have probabilities below
K e^(2R − 708), which is nothing beside one as long as R is at most `SPREAD`. Labels and steps that are impossible, and
whose probabilities should be zero, are left to logarithms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice.native import label_chains as kernels
from suffice.types import Floats, Ints

SPREAD = 300.0
LONGEST = 1 << 16
"""Longer sequences are left to logarithms, which need one array instead of four."""
POSITIONS = 1 << 11
"""Pieces have about so many positions: their arrays should stay in the cache."""


class ScaledStep(NamedTuple):
    """Exponentials of steps, the largest of them one, padded to a multiple of four labels; the same transposed."""

    top: float
    values: Floats
    turned: Floats


def is_safe(offsets: Ints, scores: Floats, steps: Floats) -> bool:
    """Whether linear space loses nothing, and has the memory it needs."""
    if np.diff(offsets).max(initial=0) > LONGEST or min(scores.min(initial=0.0), steps.min()) == -np.inf:
        return False
    return bool(steps.max() - steps.min() <= SPREAD)


def exponentials_of(steps: Floats) -> ScaledStep:
    """Return the exponentials of the steps, shape (K, K)."""
    n_labels, width = len(steps), -(-len(steps) // 4) * 4
    top = float(steps.max())
    values = np.zeros((width, width))
    values[:n_labels, :n_labels] = np.exp(steps - top)
    return ScaledStep(top, values, np.ascontiguousarray(values.T))


def fill(offsets: Ints, low: int, high: int, scores: Floats, step: ScaledStep, log_z: Floats, chances: Floats) -> int:
    """Fill log Z of some sequences, (S,), and the probabilities of labels, (n, K), if there is room for them."""
    first, last = int(offsets[low]), int(offsets[high])
    n, n_labels = last - first, scores.shape[1]
    own, lengths = offsets[low : high + 1] - first, np.diff(offsets[low : high + 1])
    psi, alpha = np.zeros((n, len(step.values))), np.empty((n, len(step.values)))
    tops, totals = np.empty(n), np.empty(n)
    psi[:, :n_labels] = scores[first:last]
    kernels.shift_scores(psi, n_labels, tops)
    kernels.exponentiate(psi)
    kernels.forward(psi, step.values, own, n_labels, alpha, totals)
    logs = np.log(totals) + tops + step.top
    logs[own[:-1][lengths > 0]] -= step.top
    log_z[low:high] = np.bincount(np.repeat(np.arange(high - low), lengths), logs, minlength=high - low)
    if len(chances):
        p = np.empty_like(psi)
        kernels.backward(psi, step.turned, own, alpha, totals, np.zeros(0), p)
        chances[first:last] = p[:, :n_labels]
    return -1
