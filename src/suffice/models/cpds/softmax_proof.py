"""Proof of softmax parameters: the gradient of what they maximise, row by row through the distribution's ``log_prob``.

In a configuration d with rows of weight W and means x̄, the derivatives of the log-likelihood by a_k, and by b_k where
a_k + b_k · x̄ is held, are Σ w (1[y = k] − p_k) and Σ w (1[y = k] − p_k)(x − x̄). A prior adds its own.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from suffice.models.cpds.softmax import SoftmaxCPD, SoftmaxPenalty
from suffice.stats.rows import Rows
from suffice.types import Columns, Floats


def residual_of(cpd: SoftmaxCPD, statistic: Rows, penalty: SoftmaxPenalty | None, tied: bool) -> float:
    """Return the largest derivative, over the weight of its rows and the standard deviation of its column."""
    columns = {v.name: column for v, column in zip(statistic.variables, statistic.columns, strict=True)}
    row, gaps = cpd.rows_of(columns, statistic.n_rows), _gaps(cpd, columns, statistic)
    x = np.stack([np.asarray(columns[parent.name], np.float64) for parent in cpd.family.continuous], axis=1)
    seen = np.unique(row)
    shared, found = shared_slopes(cpd, seen) if tied else (None, 0.0)
    if penalty is not None and math.isfinite(penalty.main):
        found = max(found, _without_data(cpd, seen, penalty, shared))
    r, q = gaps.shape[1], x.shape[1]
    slopes, squares = np.zeros((r, q)), np.zeros(q)
    for number in seen:
        here = row == number
        w = statistic.weights[here]
        total = math.fsum(w.tolist())
        mean = np.array([math.fsum(terms) / total for terms in (w[:, None] * x[here]).T.tolist()])
        around = x[here] - mean
        by_intercept = _sums(gaps[here])
        with np.errstate(invalid="ignore"):
            by_slope = gaps[here].T @ around
        square = (w[:, None] * around**2).sum(axis=0)
        if penalty is not None:
            possible = np.isfinite(cpd.intercept[number])
            pulled = _centred(cpd.intercept[number], possible) / penalty.main**2
            by_intercept -= pulled
            by_slope += pulled[:, None] * mean
            if not tied:
                by_slope -= _centred(cpd.coefficients[number], possible) / penalty.width**2
        found = max(found, float(np.abs(by_intercept).max()) / total)
        if tied:
            slopes, squares = slopes + by_slope, squares + square
        else:
            found = max(found, _in_units(by_slope, square, total))
    if tied and len(row):
        if penalty is not None and shared is not None:
            slopes -= shared / penalty.width**2
        found = max(found, _in_units(slopes, squares, statistic.weight))
    return found


def _gaps(cpd: SoftmaxCPD, columns: Columns, statistic: Rows) -> Floats:
    """Return w (1[y = k] − p_k) of every row and state; infinite where parameters are unknown."""
    child, r = cpd.family.child.name, cpd.family.child.n_states
    y = np.asarray(columns[child], np.int64)
    p = np.stack([np.exp(cpd.log_prob({**columns, child: np.full(len(y), state)})) for state in range(r)], axis=1)
    gaps = statistic.weights[:, None] * ((y[:, None] == np.arange(r)) - p)
    return np.where(np.isnan(gaps), np.inf, gaps)


def _sums(terms: Floats) -> Floats:
    return np.array([math.fsum(column.tolist()) if np.isfinite(column).all() else math.inf for column in terms.T])


def _in_units(by_slope: Floats, square: Floats, total: float) -> float:
    spread = np.sqrt(square / total)
    gap = float((np.abs(by_slope) / np.where(spread > 0, spread, 1.0)).max(initial=0.0)) / total
    return math.inf if math.isnan(gap) else gap


def _centred(values: Floats, possible: NDArray[np.bool_]) -> Floats:
    """Return parameters less their mean over the possible states, zero for the others."""
    kept = np.where(possible.reshape(-1, *[1] * (values.ndim - 1)), values, 0.0)
    centred = kept - kept.sum(axis=0) / np.count_nonzero(possible)
    centred[~possible] = 0.0
    return np.asarray(centred)


def _without_data(cpd: SoftmaxCPD, seen: NDArray[np.int64], penalty: SoftmaxPenalty, shared: Floats | None) -> float:
    """Return the largest derivative of the prior in configurations without rows, where there is nothing else."""
    found = 0.0
    for number in np.setdiff1d(np.arange(len(cpd.intercept)), seen):
        possible = np.isfinite(cpd.intercept[number])
        slopes = _centred(cpd.coefficients[number], possible) - (0.0 if shared is None else shared)
        for gap, width in ((_centred(cpd.intercept[number], possible), penalty.main), (slopes, penalty.width)):
            found = max(found, float(np.abs(gap).max()) / width**2)
        found = found if possible.all() else math.inf
    return found


def shared_slopes(cpd: SoftmaxCPD, seen: NDArray[np.int64]) -> tuple[Floats, float]:
    """Return the slopes that configurations with rows share, summing to zero, and how far any of theirs is from them.

    Every configuration tells the differences between its possible states. The shortest slopes with these differences
    sum to zero over every set of states that are linked.
    """
    possible = np.isfinite(cpd.intercept)
    rows, states = np.nonzero(possible & np.isin(np.arange(len(possible)), seen)[:, None])
    if not len(rows):
        return np.zeros(cpd.coefficients.shape[1:]), 0.0
    first = np.argmax(possible, axis=1)[rows]
    signs = np.zeros((len(rows), possible.shape[1]))
    np.add.at(signs, (np.arange(len(rows)), states), 1.0)
    np.add.at(signs, (np.arange(len(rows)), first), -1.0)
    told = cpd.coefficients[rows, states]
    shared = np.linalg.pinv(signs) @ told
    size = np.maximum(np.abs(told).max(axis=0), 1e-300)
    return shared, float((np.abs(signs @ shared - told) / size).max())
