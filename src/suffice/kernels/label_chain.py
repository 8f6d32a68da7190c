"""Chains of labels: scores of positions from their attributes, forward and backward passes, and what they add to sums.

Labels are padded to a width that vector instructions like; padded labels have potentials of zero. Attributes with many
labels have a row of a dense table, the others a list of weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.kernels.jit import kernel


@kernel
def add_scores(starts: Any, rows: Any, values: Any, table: Any, lo: int, hi: int, out: Any) -> None:
    """Add to the scores of positions ``lo`` to ``hi`` the rows of a table that their attributes have.

    ``values`` is empty where all are one.
    """
    width = table.shape[1]
    unit = len(values) == 0
    for t in range(lo, hi):
        own = out[t - lo]
        for at in range(starts[t], starts[t + 1]):
            row = table[rows[at]]
            if unit:
                for k in range(width):
                    own[k] += row[k]
            else:
                value = values[at]
                for k in range(width):
                    own[k] += value * row[k]


@kernel
def add_few_scores(starts: Any, which: Any, labels: Any, values: Any, weights: Any, lo: int, hi: int,
                   out: Any) -> None:  # fmt: skip
    """Add to the scores of positions single weights: ``which`` they are, and their labels."""
    unit = len(values) == 0
    for t in range(lo, hi):
        own = out[t - lo]
        if unit:
            for at in range(starts[t], starts[t + 1]):
                own[labels[at]] += weights[which[at]]
        else:
            for at in range(starts[t], starts[t + 1]):
                own[labels[at]] += values[at] * weights[which[at]]


@kernel
def shift_scores(scores: Any, n_labels: int, tops: Any) -> None:
    """Subtract from every position's scores the largest, which goes to ``tops``."""
    for t in range(scores.shape[0]):
        own = scores[t]
        top = own[0]
        for k in range(1, n_labels):
            top = max(top, own[k])
        for k in range(n_labels):
            own[k] -= top
        tops[t] = top


@kernel
def exponentials(x: Any, room: Any, bits: Any) -> None:
    """Replace numbers of at most zero by their exponentials, to the last digit or the one before; e^−708 at least.

    ``room`` is as long as ``x``, and ``bits`` is the same memory as whole numbers. With x = q log 2 + r, and q whole,
    e^x is 2^q times a polynomial of r; adding 1.5 · 2^52 leaves q in the last bits of a float. Plain loops are several
    times as fast as calls of a library, since they become vector instructions.
    """
    big = 6755399441055744.0
    for i in range(len(x)):
        v = max(x[i], -708.0)
        room[i] = v * 1.4426950408889634 + big
        q = room[i] - big
        r = v - q * 0.6931471803691238  # log 2 in two parts, the first of which has few digits: q times it is exact
        r -= q * 1.9082149292705877e-10
        e = 1.6059043836821613e-10  # 1/13!, and so on down to 1/0!
        e = e * r + 2.08767569878681e-09
        e = e * r + 2.505210838544172e-08
        e = e * r + 2.755731922398589e-07
        e = e * r + 2.7557319223985893e-06
        e = e * r + 2.48015873015873e-05
        e = e * r + 0.0001984126984126984
        e = e * r + 0.001388888888888889
        e = e * r + 0.008333333333333333
        e = e * r + 0.041666666666666664
        e = e * r + 0.16666666666666666
        e = e * r + 0.5
        e = e * r + 1.0
        x[i] = e * r + 1.0
    for i in range(len(bits)):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(len(x)):
        x[i] *= room[i]


@kernel
def forward(psi: Any, step: Any, offsets: Any, n_labels: int, alpha: Any, totals: Any) -> None:
    """Fill in p(label | input so far), and the totals that were divided by; offsets are those of these positions.

    ``psi`` and ``step`` are exponentials, of the scores of positions and of transitions; those of padded labels become
    zero.
    """
    width = psi.shape[1]
    for s in range(len(offsets) - 1):
        for t in range(offsets[s], offsets[s + 1]):
            now, own = alpha[t], psi[t]
            for k in range(n_labels, width):
                own[k] = 0.0
            if t == offsets[s]:
                for k in range(width):
                    now[k] = own[k]
            else:
                before = alpha[t - 1]
                for k in range(width):
                    now[k] = 0.0
                for i in range(0, width, 4):  # four rows at a time: each addition waits for the one before
                    v0, v1, v2, v3 = before[i], before[i + 1], before[i + 2], before[i + 3]
                    r0, r1, r2, r3 = step[i], step[i + 1], step[i + 2], step[i + 3]
                    for k in range(width):
                        now[k] += (v0 * r0[k] + v1 * r1[k]) + (v2 * r2[k] + v3 * r3[k])
                for k in range(width):
                    now[k] *= own[k]  # eq forward
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for k in range(0, width, 4):
                s0 += now[k]
                s1 += now[k + 1]
                s2 += now[k + 2]
                s3 += now[k + 3]
            total = (s0 + s1) + (s2 + s3)
            totals[t] = total
            scale = 1.0 / total if total > 0 else 0.0
            for k in range(width):
                now[k] *= scale


@kernel
def backward(psi: Any, turned: Any, offsets: Any, alpha: Any, totals: Any, weights: Any, p: Any) -> None:
    """Fill in the probabilities of labels, times weights; ``psi`` becomes the part of steps that leads to a position.

    ``turned`` is the transposed matrix of transitions. The expected number of steps from i to j is then the sum over
    positions of alpha[t − 1, i] · step[i, j] · psi[t, j]; ``psi`` of first positions becomes zero.
    """
    width = psi.shape[1]
    beta = np.empty(width)
    for s in range(len(offsets) - 1):
        first, last = offsets[s], offsets[s + 1] - 1
        weight = 1.0 if len(weights) == 0 else weights[s]
        for k in range(width):
            beta[k] = 1.0
        for t in range(last, first - 1, -1):
            own, now, out = psi[t], alpha[t], p[t]
            for k in range(width):
                out[k] = now[k] * beta[k] * weight  # eq backward
            if t == first:
                for k in range(width):
                    own[k] = 0.0
                break
            scale = 1.0 / totals[t] if totals[t] > 0 else 0.0
            for k in range(width):
                own[k] *= beta[k] * scale
            for k in range(width):
                beta[k] = 0.0
            for j in range(0, width, 4):
                v0, v1, v2, v3 = own[j], own[j + 1], own[j + 2], own[j + 3]
                r0, r1, r2, r3 = turned[j], turned[j + 1], turned[j + 2], turned[j + 3]
                for k in range(width):
                    beta[k] += (v0 * r0[k] + v1 * r1[k]) + (v2 * r2[k] + v3 * r3[k])
            for k in range(width):
                own[k] *= weight


@kernel
def add_rows(starts: Any, rows: Any, values: Any, lo: int, hi: int, p: Any, table: Any) -> None:
    """Add the probabilities of positions to the rows of a table that their attributes have."""
    width = table.shape[1]
    unit = len(values) == 0
    for t in range(lo, hi):
        own = p[t - lo]
        for at in range(starts[t], starts[t + 1]):
            row = table[rows[at]]
            if unit:
                for k in range(width):
                    row[k] += own[k]
            else:
                value = values[at]
                for k in range(width):
                    row[k] += value * own[k]


@kernel
def add_few(starts: Any, which: Any, labels: Any, values: Any, lo: int, hi: int, p: Any, sums: Any) -> None:
    """Add the probabilities of positions to the sums of single weights."""
    unit = len(values) == 0
    for t in range(lo, hi):
        own = p[t - lo]
        if unit:
            for at in range(starts[t], starts[t + 1]):
                sums[which[at]] += own[labels[at]]
        else:
            for at in range(starts[t], starts[t + 1]):
                sums[which[at]] += values[at] * own[labels[at]]


@kernel
def add_before(scores: Any, labels: Any, offsets: Any, matrix: Any) -> None:
    """Add to the scores of positions the row of a matrix that the label before them has; first positions have none."""
    for s in range(len(offsets) - 1):
        for t in range(offsets[s] + 1, offsets[s + 1]):
            own, row = scores[t], matrix[labels[t - 1]]
            for k in range(len(row)):
                own[k] += row[k]


@kernel
def add_to_before(p: Any, labels: Any, offsets: Any, matrix: Any) -> None:
    """Add the probabilities of positions to the row of a matrix that the label before them has."""
    for s in range(len(offsets) - 1):
        for t in range(offsets[s] + 1, offsets[s + 1]):
            own, row = p[t], matrix[labels[t - 1]]
            for k in range(len(row)):
                row[k] += own[k]


@kernel
def normalise(psi: Any, n_labels: int, totals: Any, weights: Any) -> None:
    """Turn exponentials of scores into probabilities, times weights unless there are none; totals were divided by."""
    for t in range(psi.shape[0]):
        own = psi[t]
        for k in range(n_labels, len(own)):
            own[k] = 0.0
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for k in range(0, len(own), 4):
            s0 += own[k]
            s1 += own[k + 1]
            s2 += own[k + 2]
            s3 += own[k + 3]
        totals[t] = (s0 + s1) + (s2 + s3)
        scale = (1.0 if len(weights) == 0 else weights[t]) / totals[t]
        for k in range(len(own)):
            own[k] *= scale
