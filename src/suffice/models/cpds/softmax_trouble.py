"""When softmax parameters are not determined: collinear parents, and states that the parents separate without fail.

Parameters θ are determined when no direction v leaves all scores of a state less those of another unchanged. They are
finite when no direction v has v · (f(x, y) − f(x, k)) ≥ 0 for every row (x, y) and state k, above zero for some: along
such a v the likelihood grows for ever. Both are questions of linear algebra, the second a linear program.

References
----------
Albert and Anderson (1984), On the existence of maximum likelihood estimates in logistic regression models,
Biometrika 71, 1–10.
Konis (2007), Linear programming algorithms for detecting separated data in binary logistic regression models.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice.models.cpds.softmax_search import WeightedCases
from suffice.types import Bools, Floats

SINGULAR = 1e-11
"""Columns whose combination varies by less than this part of their spread are collinear."""

MOST_NUMBERS = 30_000_000
FEW_NUMBERS = 200_000
FELT, KEPT = 1e-6, 1e-9
SOLVER = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "time_limit": 60.0}


class Direction(NamedTuple):
    """A combination of columns: its state, the one it is compared with, and its coefficients on the columns' scale."""

    state: int
    other: int
    coefficients: Floats


def collinear(cases: WeightedCases) -> Direction | None:
    """Return a combination of columns that does not vary where states are compared, of which there are some; or None.

    For every configuration, the slopes of two states that are possible there may differ by what the columns within it
    cannot tell. The slopes of all states must follow from these conditions, for each set of states that are linked.
    """
    groups, r = cases.allowed.shape
    q = cases.x.shape[1]
    scaled = cases.centred / cases.spread * np.sqrt(cases.per_input / cases.total)[:, None]
    rounding = np.finfo(float).eps * np.abs(cases.x).max(axis=0, initial=0.0) / cases.spread
    scaled[:, (np.abs(cases.centred) <= 8 * rounding * cases.spread).all(axis=0)] = 0.0
    limit = max(SINGULAR, 16 * float(rounding.max(initial=0.0)))
    if groups == 1:
        null = _null(_factor(scaled), limit)
        if null is None:
            return None
        first, second = np.flatnonzero(cases.allowed[0])[:2]
        return Direction(int(second), int(first), _readable(null / cases.spread))
    conditions = []
    ends = [*cases.starts[1:], len(cases.row)]
    for states, start, end in zip(cases.allowed, cases.starts, ends, strict=True):
        factor, here = _factor(scaled[start:end]), np.flatnonzero(states)
        for state in here[1:]:
            block = np.zeros((q, r, q))
            block[:, state], block[:, here[0]] = factor, -factor
            conditions.append(block.reshape(q, r * q))
    free = np.repeat(cases.sloped, q)
    null = _null(_factor(np.concatenate(conditions)[:, free]), limit)
    if null is None:
        return None
    slopes = np.zeros(r * q)
    slopes[free] = null
    sizes = np.abs(slopes.reshape(r, q)).max(axis=1)
    state = int(np.argmax(sizes))
    return Direction(state, int(cases.linked[state]), _readable(slopes.reshape(r, q)[state] / cases.spread))


def _factor(matrix: Floats) -> Floats:
    """Return R with RᵀR = MᵀM, square."""
    q = matrix.shape[1]
    padded = np.concatenate([matrix, np.zeros((max(q - len(matrix), 0), q))])
    return np.asarray(np.linalg.qr(padded, mode="r"))


def _null(factor: Floats, limit: float) -> Floats | None:
    """Return the direction in which a matrix is smallest, None where it is not zero."""
    if not factor.size:
        return None
    _, values, vectors = np.linalg.svd(factor)
    if values[-1] > limit * max(float(values[0]), 1e-150):
        return None
    null = np.where(np.abs(vectors[-1]) > 1e-8, vectors[-1], 0.0)
    return np.asarray(null * np.sign(null[np.flatnonzero(null)[0]]))


def separated(cases: WeightedCases) -> Direction | None:
    """Return a combination of columns that separates two states; None if there is none, or too much data to say.

    Every row of the state has a value at least as large as every row of the other in the same configuration. As few
    columns take part as separate at all.
    """
    kept = np.ones(cases.x.shape[1], bool)
    found = _separation(cases, kept)
    if found is None:
        return None
    if cases.weights.size * cases.allowed.size * cases.x.shape[1] <= FEW_NUMBERS:
        for column in np.argsort(np.abs(found).max(axis=0)):
            fewer = kept & (np.arange(len(kept)) != column)
            again = _separation(cases, fewer) if fewer.any() else None
            if again is not None:
                kept, found = fewer, again
    gaps = np.abs(found[:, None] - found[None]).max(axis=2)
    together = np.zeros_like(gaps, dtype=bool)
    for states in cases.allowed:
        together |= states[:, None] & states
    state, other = np.unravel_index(int(np.argmax(np.where(together, gaps, -1.0))), gaps.shape)
    state, other = max(state, other), min(state, other)
    apart = found[state] - found[other]
    apart = np.where(np.abs(apart) > FELT * np.abs(apart).max(), apart, 0.0)
    return Direction(int(state), int(other), _readable(apart / cases.spread))


def _readable(coefficients: Floats) -> Floats:
    """Return a direction whose smallest coefficient is one, and simple fractions where they are as good as exact."""
    shown = coefficients / np.abs(coefficients[coefficients != 0]).min()
    whole = np.rint(12 * shown) / 12
    return np.asarray(np.where(np.abs(shown - whole) <= 1e-8, whole, shown))


def _separation(cases: WeightedCases, kept: Bools) -> Floats | None:
    """Return the slopes of a separating direction on scaled columns, shape (r, q); None if there is none."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    (groups, r), q = cases.allowed.shape, cases.x.shape[1]
    input_, own = np.nonzero(cases.weights > 0)
    seen = np.repeat(np.arange(len(input_)), r)
    other = np.tile(np.arange(r), len(input_))
    used = (other != own[seen]) & cases.allowed[cases.row[input_[seen]], other]
    seen, other = seen[used], other[used]
    if not len(seen) or len(seen) * 2 * (q + 1) > MOST_NUMBERS:
        return None
    which, mine = input_[seen], own[seen]
    x = np.concatenate([np.ones((len(cases.x), 1)), cases.centred / cases.spread * kept], axis=1)
    width = q + 1

    def places(state: Floats) -> Floats:
        intercept = cases.row[which] * r + state
        slopes = groups * r + state[:, None] * q + np.arange(q)
        return np.concatenate([intercept[:, None], slopes], axis=1)

    values = np.concatenate([x[which], -x[which]], axis=1)
    columns = np.concatenate([places(mine), places(other)], axis=1)
    ends = np.arange(0, 2 * width * len(seen) + 1, 2 * width)
    gains = csr_array((values.reshape(-1), columns.reshape(-1), ends), shape=(len(seen), groups * r + r * q))
    answer = linprog(
        -np.asarray(gains.sum(axis=0)).reshape(-1),
        A_ub=-gains,
        b_ub=np.zeros(len(seen)),
        bounds=(-1, 1),
        method="highs",
        options=SOLVER,
    )
    if answer.x is None:
        return None
    gained = gains @ answer.x
    size = np.abs(gains).max() if gains.nnz else 1.0
    if gained.max() <= FELT or gained.min() < -KEPT * size:
        return None
    return np.asarray(answer.x[groups * r :].reshape(r, q) * kept)
