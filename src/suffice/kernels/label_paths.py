"""Labels along sequences: the best path, the best few, probabilities and draws, with any potentials.

=========  ==========================================================================================
K          labels
s_t, g_t   log-potentials of the labels of position t, (K,), and of the step that leads to it, (K, K)
a_t        log Σ over all paths up to t that end in a label, less their greatest, so that it is zero
c_j        the greatest of column j of g_t
E_ij       exp(g_ij − c_j)
S_j        Σ_i exp(a_i) E_ij
=========  ==========================================================================================

Potentials may be −inf, never +inf or NaN. Sums are made in linear space, where they are sums of products of numbers up
to one; a sum so small that terms may have been lost is made again from logarithms. ``steps`` holds a matrix for every
position, or one for all. ``offsets`` says where sequences begin; kernels take those from ``low`` to ``high``, and
return the first that has no path of positive probability, or −1.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np

from suffice.kernels.jit import kernel
from suffice.kernels.label_chain import exponentials

TINY = 1e-280  # a sum beyond this has lost less than K · 1e-27 of itself to underflow
LEAST = 3.4e-308  # just above e^−708, below which exponentials are not told apart


# The best path ------------------------------------------------------------------------------------------------


@kernel
def best_paths(offsets, low, high, scores, steps, labels, totals):
    """Fill the path of greatest score of each sequence, ``labels`` (n,), and its score, ``totals`` (S,).

    The greatest score of paths that end in a label is kept for each position, and on the way back the label before is
    found anew: pointers would be written for all K labels, and read for one.
    """
    n_labels = scores.shape[1]
    first = offsets[low]
    reach = np.empty((offsets[high] - first, n_labels))
    for s in range(low, high):
        begin, end = offsets[s], offsets[s + 1]
        totals[s] = 0.0
        if begin == end:
            continue
        for j in range(n_labels):
            reach[begin - first, j] = scores[begin, j]
        for t in range(begin + 1, end):
            _extend(reach[t - 1 - first], steps[t if len(steps) > 1 else 0], scores[t], reach[t - first])
        label = np.argmax(reach[end - 1 - first])
        totals[s] = reach[end - 1 - first, label]
        if totals[s] == -np.inf:
            return s
        labels[end - 1] = label
        for t in range(end - 1, begin, -1):
            label = _before(reach[t - 1 - first], steps[t if len(steps) > 1 else 0], label)
            labels[t - 1] = label
    return -1


@kernel
def _extend(before, step, score, after):
    """Fill after_j = max_i (before_i + g_ij) + s_j."""
    n_labels = len(before)
    after[:] = -np.inf
    for i in range(0, n_labels - 3, 4):  # four rows at a time, so that what is filled is read and written less often
        a, b, c, d = before[i], before[i + 1], before[i + 2], before[i + 3]
        ga, gb, gc, gd = step[i], step[i + 1], step[i + 2], step[i + 3]
        for j in range(n_labels):
            w, x, y, z = a + ga[j], b + gb[j], c + gc[j], d + gd[j]
            w = w if w > x else x
            y = y if y > z else z
            w = w if w > y else y
            after[j] = w if w > after[j] else after[j]  # eq viterbi
    for i in range(n_labels // 4 * 4, n_labels):
        value, row = before[i], step[i]
        for j in range(n_labels):
            candidate = value + row[j]
            after[j] = candidate if candidate > after[j] else after[j]
    for j in range(n_labels):
        after[j] += score[j]


@kernel
def _before(before, step, label):
    """Return the first i for which before_i + g_ij is greatest, j being ``label``."""
    best, found = before[0] + step[0, label], 0
    for i in range(1, len(before)):
        candidate = before[i] + step[i, label]
        if candidate > best:
            best, found = candidate, i
    return found


# The best few -------------------------------------------------------------------------------------------------


@kernel
def n_best(offsets, low, high, scores, steps, n, paths, totals, found):
    """Fill the ``n`` paths of greatest score of each sequence, best first.

    Parameters
    ----------
    paths : int32 array, shape (n, n_positions)
        Positions from the first of sequence ``low`` on.
    totals : array, shape (high − low, n)
    found : int64 array, shape (high − low,)
        How many paths of positive probability there are, up to ``n``.
    """
    n_labels = scores.shape[1]
    values, nexts = np.empty((n_labels, n)), np.empty((n_labels, n))
    longest = 0
    for s in range(low, high):
        longest = max(longest, offsets[s + 1] - offsets[s])
    back = np.empty((longest, n_labels, n), np.int32)  # label before, times n, plus the rank of the path there
    counts, fresh = np.zeros(n_labels, np.int64), np.zeros(n_labels, np.int64)
    for s in range(low, high):
        begin, end = offsets[s], offsets[s + 1]
        found[s - low], totals[s - low, 0] = 1, 0.0
        if begin == end:
            continue
        for j in range(n_labels):
            values[j, 0], counts[j] = scores[begin, j], 1 if scores[begin, j] > -np.inf else 0
        for t in range(begin + 1, end):
            for j in range(n_labels):
                step = steps[t if len(steps) > 1 else 0, :, j]
                fresh[j] = _merge(values, counts, step, scores[t, j], n, nexts[j], back[t - begin, j])
            values, nexts = nexts, values
            counts, fresh = fresh, counts
        # One more step, to an end that all labels lead to.
        ends = back[0, 0]
        found[s - low] = _merge(values, counts, np.zeros(n_labels), 0.0, n, totals[s - low], ends)
        if found[s - low] == 0:
            return s
        for r in range(found[s - low]):
            place = ends[r]
            for t in range(end - 1, begin, -1):
                paths[r, t - offsets[low]] = place // n
                place = back[t - begin, place // n, place % n]
            paths[r, begin - offsets[low]] = place // n
    return -1


@kernel
def _merge(values, counts, step, score, n, out, back):
    """Fill the ``n`` greatest of value_ir + g_i, plus score, smaller i and r first among equals; return how many.

    The r-th values of each i fall with r, so that none is looked at behind the first that comes too late.
    """
    size = 0
    if score == -np.inf:
        return size
    for i in range(len(counts)):
        for r in range(counts[i]):
            candidate = values[i, r] + step[i]
            if candidate == -np.inf or (size == n and candidate <= out[n - 1]):
                break
            place = size if size < n else n - 1
            while place > 0 and out[place - 1] < candidate:
                out[place], back[place] = out[place - 1], back[place - 1]
                place -= 1
            out[place], back[place] = candidate, i * n + r
            size = min(size + 1, n)
    for r in range(size):
        out[r] += score
    return size


# Sums over all paths ------------------------------------------------------------------------------------------


@kernel
def forward(offsets, low, high, scores, steps, reach, log_z):
    """Fill a_t for all positions, ``reach`` (n, K), and the logarithm of the sum over all paths, ``log_z`` (S,)."""
    n_labels = scores.shape[1]
    top, weight = np.empty(n_labels), np.empty((n_labels, n_labels))
    mass, total, room = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels * n_labels)
    _weigh(steps[0], top, weight, room)
    for s in range(low, high):
        begin, end = offsets[s], offsets[s + 1]
        log_z[s] = 0.0
        for t in range(begin, end):
            if t == begin:
                greatest = _start(scores[t], reach[t])
            else:
                step = steps[t if len(steps) > 1 else 0]
                if len(steps) > 1:
                    _weigh(step, top, weight, room)
                _sum_over(reach[t - 1], weight, mass, total, room)
                greatest = _advance(reach[t - 1], scores[t], step, top, total, reach[t])
            if greatest == -np.inf:
                return s
            log_z[s] += greatest
        if begin < end:
            _exponentiate(reach[end - 1], mass, room)
            log_z[s] += np.log(np.sum(mass))
    return -1


@kernel
def backward(offsets, low, high, steps, reach, pairs):
    """Turn what `forward` filled into the probabilities of labels, in place.

    Parameters
    ----------
    reach : array, shape (n, K)
    pairs : array, shape (n, K, K) or (0, K, K)
        Room for the probabilities of neighbouring labels, zero at first positions, if they are wanted.

    Notes
    -----
    p(i at t − 1 | j at t) = exp(a_i) E_ij / S_j, whatever comes after; p(i at t − 1) is its sum weighted by p(j at t).
    """
    n_labels = reach.shape[1]
    top, weight, turned = np.empty(n_labels), np.empty((n_labels, n_labels)), np.empty((n_labels, n_labels))
    mass, total, chance = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
    room = np.empty(n_labels * n_labels)
    _weigh(steps[0], top, weight, room)
    turned[:] = weight.T
    for s in range(low, high):
        begin, end = offsets[s], offsets[s + 1]
        if begin == end:
            continue
        _exponentiate(reach[end - 1], mass, room)
        reach[end - 1] = mass / np.sum(mass)
        for t in range(end - 1, begin, -1):
            step = steps[t if len(steps) > 1 else 0]
            if len(steps) > 1:
                _weigh(step, top, weight, room)
                turned[:] = weight.T
            _sum_over(reach[t - 1], weight, mass, total, room)
            _retreat(reach[t - 1], reach[t], step, turned, mass, total, chance)
            if len(pairs):
                _pair(reach[t - 1], reach[t], step, weight, mass, total, pairs[t])
            reach[t - 1] = chance
        if len(pairs):
            pairs[begin] = 0.0
    return -1


@kernel
def _start(score, after):
    """Fill a_t of a first position; return what was taken off."""
    greatest = np.max(score)
    for j in range(len(score)):
        after[j] = score[j] - greatest if greatest > -np.inf else score[j]
    return greatest


@kernel
def _exponentiate(logs, out, room):
    """Fill exponentials of numbers of at most zero; −inf, and what is next to nothing, become zero."""
    for i in range(len(logs)):
        out[i] = logs[i]
    own = room[: len(logs)]
    exponentials(out, own, own.view(np.int64))
    for i in range(len(out)):
        out[i] = out[i] if out[i] > LEAST else 0.0


@kernel
def _weigh(step, top, weight, room):
    """Fill c and E."""
    n_labels = len(top)
    top[:] = step[0]
    for i in range(1, n_labels):
        for j in range(n_labels):
            top[j] = max(top[j], step[i, j])
    for i in range(n_labels):
        for j in range(n_labels):
            weight[i, j] = step[i, j] - top[j] if top[j] > -np.inf else -np.inf
    flat = weight.reshape(-1)
    _exponentiate(flat, flat, room)


@kernel
def _sum_over(before, weight, mass, total, room):
    """Fill exp(a), ``mass``, and S, ``total``."""
    n_labels = len(before)
    _exponentiate(before, mass, room)
    total[:] = 0.0
    for i in range(n_labels):
        value, row = mass[i], weight[i]
        for j in range(n_labels):
            total[j] += value * row[j]


@kernel
def _advance(before, score, step, top, total, after):
    """Fill the next a; return what was taken off."""
    n_labels = len(before)
    greatest = -np.inf
    for j in range(n_labels):
        sums = top[j] + np.log(total[j]) if total[j] > TINY else _log_sum(before, step, j)  # eq forward
        after[j] = sums + score[j]
        greatest = max(greatest, after[j])
    if greatest > -np.inf:
        for j in range(n_labels):
            after[j] -= greatest
    return greatest


@kernel
def _log_sum(before, step, j):
    """Return log Σ_i exp(a_i + g_ij)."""
    top = -np.inf
    for i in range(len(before)):
        top = max(top, before[i] + step[i, j])
    if top == -np.inf:
        return top
    total = 0.0
    for i in range(len(before)):
        total += np.exp(before[i] + step[i, j] - top)
    return top + np.log(total)


@kernel
def _retreat(before, chance_after, step, turned, mass, total, chance):
    """Fill the probabilities of the labels at t − 1, ``chance``, from those at t."""
    n_labels = len(before)
    chance[:] = 0.0
    for j in range(n_labels):
        if total[j] > TINY:
            ratio, row = chance_after[j] / total[j], turned[j]
            for i in range(n_labels):
                chance[i] += ratio * row[i]
    for i in range(n_labels):
        chance[i] *= mass[i]
    for j in range(n_labels):
        if total[j] <= TINY and chance_after[j] > 0:
            sums = _log_sum(before, step, j)
            for i in range(n_labels):
                chance[i] += chance_after[j] * np.exp(before[i] + step[i, j] - sums)


@kernel
def _pair(before, chance_after, step, weight, mass, total, pair):
    """Fill the probabilities of the labels at t − 1 and t together, shape (K, K)."""
    n_labels = len(before)
    for i in range(n_labels):
        for j in range(n_labels):
            pair[i, j] = mass[i] * weight[i, j] * (chance_after[j] / total[j]) if total[j] > TINY else 0.0
    for j in range(n_labels):
        if total[j] <= TINY and chance_after[j] > 0:
            sums = _log_sum(before, step, j)
            for i in range(n_labels):
                pair[i, j] = chance_after[j] * np.exp(before[i] + step[i, j] - sums)


# Draws --------------------------------------------------------------------------------------------------------


@kernel
def draw_paths(offsets, low, high, steps, reach, uniform, labels):
    """Draw one path a sequence after `forward`: the last label first, then each given the one after it.

    ``uniform`` and ``labels`` have shape (n,).
    """
    n_labels = reach.shape[1]
    weights, logs = np.empty(n_labels), np.empty(n_labels)
    for s in range(low, high):
        for t in range(offsets[s + 1] - 1, offsets[s] - 1, -1):
            logs[:] = reach[t]
            if t < offsets[s + 1] - 1:
                logs += steps[t + 1 if len(steps) > 1 else 0, :, labels[t + 1]]
            top, total = np.max(logs), 0.0
            for i in range(n_labels):
                weights[i] = np.exp(logs[i] - top)
                total += weights[i]
            level, passed = uniform[t] * total, 0.0
            for i in range(n_labels):
                if weights[i] > 0:  # rounding carries no draw past what is possible
                    labels[t] = i
                passed += weights[i]
                if passed > level:
                    break
    return -1
