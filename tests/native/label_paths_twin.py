"""The slow twin of `suffice.native.label_paths`: the same functions, with the same arguments, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


def best_paths(offsets: Ints, low: int, high: int, scores: Floats, steps: Floats, labels: Codes,
               totals: Floats) -> int:  # fmt: skip
    """Fill the path of greatest score of each sequence, and its score."""
    for s in range(low, high):
        begin, end = int(offsets[s]), int(offsets[s + 1])
        totals[s] = 0.0
        if begin == end:
            continue
        reach = scores[begin:end].copy()
        for t in range(begin + 1, end):
            reach[t - begin] += (reach[t - 1 - begin, :, None] + _step(steps, t)).max(axis=0)
        totals[s] = reach[-1].max()
        if totals[s] == -np.inf:
            return s
        labels[end - 1] = reach[-1].argmax()
        for t in range(end - 1, begin, -1):
            labels[t - 1] = (reach[t - 1 - begin] + _step(steps, t)[:, labels[t]]).argmax()
    return -1


def n_best(offsets: Ints, low: int, high: int, scores: Floats, steps: Floats, n: int, paths: Codes, totals: Floats,
           found: Ints) -> int:  # fmt: skip
    """Fill the ``n`` paths of greatest score of each sequence, best first."""
    for s in range(low, high):
        begin, end = int(offsets[s]), int(offsets[s + 1])
        found[s - low], totals[s - low, 0] = 1, 0.0
        if begin == end:
            continue
        values = scores[begin, :, None]  # of the paths that end in a label, (K, as many as there may be)
        ways = []
        for t in range(begin + 1, end):
            values, way = _merged(values, _step(steps, t), n)
            values = values + scores[t, :, None]
            ways.append(way)
        best, way = _merged(values, np.zeros((len(values), 1)), n)
        possible = int((best[0] > -np.inf).sum())
        if possible == 0:
            return s
        found[s - low], totals[s - low, :possible] = possible, best[0, :possible]
        label, rank = way[0, 0, :possible], way[1, 0, :possible]
        for t in range(end - 1, begin - 1, -1):
            paths[:possible, t - offsets[low]] = label
            if t > begin:
                label, rank = ways[t - begin - 1][:, label, rank]
    return -1


def _merged(values: Floats, step: Floats, n: int) -> tuple[Floats, Ints]:
    """Return the ``n`` greatest values that lead to each label, (K, n), and the labels and ranks they came from."""
    candidates = (values[:, :, None] + step[:, None, :]).reshape(values.size, -1).T
    order = np.argsort(-candidates, axis=1, kind="stable")[:, :n]
    return np.take_along_axis(candidates, order, axis=1), np.stack(np.divmod(order, values.shape[1]))


def forward(offsets: Ints, low: int, high: int, scores: Floats, steps: Floats, reach: Floats,
            log_z: Floats) -> int:  # fmt: skip
    """Fill log Σ over the paths up to each position that end in a label, less the greatest of them, and log Z."""
    for s in range(low, high):
        begin, end = int(offsets[s]), int(offsets[s + 1])
        log_z[s] = 0.0
        for t in range(begin, end):
            after = scores[t]
            if t > begin:
                after = after + _log_sum(reach[t - 1, :, None] + _step(steps, t))
            greatest = after.max()
            if greatest == -np.inf:
                return s
            reach[t] = after - greatest
            log_z[s] += greatest
        if begin < end:
            log_z[s] += np.log(np.exp(reach[end - 1]).sum())
    return -1


def backward(offsets: Ints, low: int, high: int, steps: Floats, reach: Floats, pairs: Floats) -> int:
    """Turn what `forward` filled into the probabilities of labels, in place."""
    for s in range(low, high):
        begin, end = int(offsets[s]), int(offsets[s + 1])
        if begin == end:
            continue
        last = np.exp(reach[end - 1])
        reach[end - 1] = last / last.sum()
        for t in range(end - 1, begin, -1):
            terms = reach[t - 1, :, None] + _step(steps, t)
            pair = np.exp(terms - _finite(_log_sum(terms))) * reach[t]
            reach[t - 1] = pair.sum(axis=1)
            if len(pairs):
                pairs[t] = pair
        if len(pairs):
            pairs[begin] = 0.0
    return -1


def draw_paths(offsets: Ints, low: int, high: int, steps: Floats, reach: Floats, uniform: Floats,
               labels: Codes) -> int:  # fmt: skip
    """Draw one path a sequence after `forward`: the last label first, then each given the one after it."""
    for s in range(low, high):
        end = int(offsets[s + 1])
        for t in range(end - 1, int(offsets[s]) - 1, -1):
            logs = reach[t] if t == end - 1 else reach[t] + _step(steps, t + 1)[:, labels[t + 1]]
            weights = np.exp(logs - logs.max())
            passed = np.cumsum(weights)
            drawn = int(np.searchsorted(passed, uniform[t] * passed[-1], side="right"))
            labels[t] = min(drawn, int(np.flatnonzero(weights)[-1]))  # rounding carries no draw past what is possible
    return -1


def _step(steps: Floats, t: int) -> Any:
    return steps[t if len(steps) > 1 else 0]


def _log_sum(terms: Floats) -> Floats:
    """Return the logarithm of the sum of exp over the rows of each column."""
    top = _finite(terms.max(axis=0))
    with np.errstate(divide="ignore"):
        sums: Floats = np.log(np.exp(terms - top).sum(axis=0)) + top
    return sums


def _finite(values: Floats) -> Floats:
    """Return the values with zeros in place of −inf, which cannot be subtracted from itself."""
    return np.where(values > -np.inf, values, 0.0)
