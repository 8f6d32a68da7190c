"""The graphical lasso: a sparse inverse of a covariance matrix (Friedman, Hastie and Tibshirani, 2008).

======  =========================================================
S       covariance matrix of the data, in units of its roots
K, W    the precision matrix that is sought, and its inverse
A       penalties, α / (s_i s_j) off the diagonal and zero on it
======  =========================================================

f(K) = tr(S K) − log det K + Σ_{i≠j} A_ij |K_ij| is convex. At its minimum W_ii = S_ii, W_ij − S_ij = A_ij sign K_ij
for K_ij that are not zero, and |W_ij − S_ij| ≤ A_ij for those that are. Newton steps hold the signs of K (Olsen et
al., 2012); where none of them descends, proximal ones change the signs, their quadratic problems solved by coordinate
descent over the entries that may change (Hsieh et al., 2014).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ENOUGH = 1e-11
"""Violations of the conditions, in units of the variances, that end the steps."""
DENSE = 3000
"""Newton steps with at most so many unknowns hold the signs; beyond, coordinate descent goes on alone."""
SHORTEST, SWEEPS = 1e-3, 10
"""The shortest Newton step that is tried, and the sweeps of coordinate descent for a proximal one."""


@dataclass(frozen=True)
class SparseInverse:
    """What the graphical lasso found.

    Attributes
    ----------
    precision : array, shape (d, d)
        With exact zeros.
    covariance : array, shape (d, d)
        Its inverse.
    violation : float
        Largest violation of the optimality conditions, in units of the variances.
    n_steps : int
    """

    precision: Floats
    covariance: Floats
    violation: float
    n_steps: int


def graphical_lasso(covariance: Floats, alpha: float, max_iter: int = 500) -> SparseInverse:
    """Minimise tr(S K) − log det K + α Σ_{i≠j} |K_ij| over positive definite matrices K.

    Parameters
    ----------
    covariance : array, shape (d, d)
        S, whose diagonal must be positive; it may be singular.
    alpha : float
        α > 0.
    max_iter : int
        Most steps.

    Examples
    --------
    >>> found = graphical_lasso(np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]]), 0.25)
    >>> found.precision.round(4)
    array([[ 1.0667, -0.2667,  0.    ],
           [-0.2667,  1.0667,  0.    ],
           [ 0.    ,  0.    ,  1.    ]])
    """
    roots = np.sqrt(np.diag(covariance))
    s = covariance / roots[:, None] / roots
    penalty = alpha / roots[:, None] / roots
    np.fill_diagonal(penalty, 0.0)
    best, n_steps = _descend(s, penalty, max_iter)
    unit = roots[:, None] * roots
    return SparseInverse(best.precision / unit, best.covariance * unit, best.violation, n_steps)


def _descend(s: Floats, penalty: Floats, max_iter: int) -> tuple[_Point, int]:
    """Step from the identity until the conditions hold; return the best point and the number of steps."""
    here = _Point.at(np.eye(len(s)), s, penalty)
    assert here is not None
    best, step = here, 0
    while best.violation > ENOUGH and step < max_iter:
        there = _with_signs(here, s, penalty) or _proximal(here, s, penalty, SWEEPS)
        if there is None:
            break  # rounding leaves no descent
        here, step = there, step + 1
        best = here if here.violation <= best.violation else best
    return best, step


@dataclass(frozen=True)
class _Point:
    precision: Floats
    covariance: Floats
    objective: float
    violation: float

    @classmethod
    def at(cls, k: Floats, s: Floats, penalty: Floats) -> _Point | None:
        """Return the point at K, or None when K is not positive definite."""
        try:
            lower = np.linalg.cholesky(k)
        except np.linalg.LinAlgError:
            return None
        half = np.linalg.inv(lower)
        w = half.T @ half
        log_det = 2 * float(np.log(np.diag(lower)).sum())
        objective = float((s * k).sum()) - log_det + float((penalty * np.abs(k)).sum())
        return cls(k, w, objective, violation_of(k, w, s, penalty)) if math.isfinite(objective) else None


def violation_of(k: Floats, w: Floats, s: Floats, penalty: Floats) -> float:
    """Return the largest violation of the optimality conditions."""
    slope = s - w
    held = np.abs(slope + penalty * np.sign(k))
    return float(np.where(k != 0, held, np.maximum(np.abs(slope) - penalty, 0.0)).max())


# Signs held ---------------------------------------------------------------------------------------------------


def _with_signs(here: _Point, s: Floats, penalty: Floats) -> _Point | None:
    """Return the point after a Newton step within the orthant of K, or None when none of its lengths descends.

    Entries that are zero and should not be join on the side to which f falls; those that would cross zero stay there.
    """
    k, w = here.precision, here.covariance
    gradient = s - w
    signs = np.where(k != 0, np.sign(k), np.where(np.abs(gradient) > penalty, -np.sign(gradient), 0.0))
    a, b = np.nonzero(np.triu((signs != 0) | np.eye(len(k), dtype=bool)))
    slope = (gradient + penalty * signs)[a, b]
    move = _newton_move(w, a, b, slope) if len(a) <= DENSE else None
    if move is None:
        return None
    held, length = signs[a, b], 1.0
    while length > SHORTEST:
        entries = k[a, b] + length * move
        entries[(a != b) & (np.sign(entries) != held)] = 0.0
        stepped = np.zeros_like(k)
        stepped[a, b] = stepped[b, a] = entries
        there = _Point.at(stepped, s, penalty)
        fall = float((np.where(a == b, 1.0, 2.0) * slope) @ (entries - k[a, b]))
        if there is not None and _is_better(here, there, fall):
            return there
        length /= 2
    return None


def _is_better(here: _Point, there: _Point, fall: float) -> bool:
    """Whether f fell by enough of what was promised; where rounding hides that, whether the conditions hold better."""
    if there.objective <= here.objective + 1e-3 * fall and fall < 0:
        return there.objective < here.objective or there.violation <= here.violation / 2
    return there.violation <= here.violation / 2 and there.objective <= here.objective + 1e-12 * abs(here.objective)


def _newton_move(w: Floats, a: NDArray[np.int64], b: NDArray[np.int64], slope: Floats) -> Floats | None:
    """Solve H D = −slope over the entries (a, b), or return None where H is singular to working precision."""
    from scipy.linalg import cho_factor, cho_solve

    counts = np.where(a == b, 1.0, 2.0)
    hessian = w[np.ix_(a, a)] * w[np.ix_(b, b)] + w[np.ix_(a, b)] * w[np.ix_(b, a)]
    hessian *= np.outer(counts, counts) / 2
    try:
        return -np.asarray(cho_solve(cho_factor(hessian, overwrite_a=True), counts * slope), np.float64)
    except np.linalg.LinAlgError:
        return None


# Proximal Newton ----------------------------------------------------------------------------------------------


def _proximal(here: _Point, s: Floats, penalty: Floats, sweeps: int) -> _Point | None:
    """Return the point after a proximal Newton step with a line search, or None when none descends."""
    move, slope = _direction(here, s, penalty, sweeps)
    if not slope < 0:
        return None
    length = 1.0
    while length > 1e-10:
        there = _Point.at(here.precision + length * move, s, penalty)
        if there is not None and there.objective <= here.objective + 1e-3 * length * slope:
            return there
        length /= 2
    return None


def _direction(here: _Point, s: Floats, penalty: Floats, sweeps: int) -> tuple[Floats, float]:
    """Minimise the quadratic model of f with its penalty by coordinate descent; return D and the fall it promises."""
    k, w = here.precision, here.covariance
    gradient = s - w
    free = np.triu((k != 0) | (np.abs(gradient) > penalty))
    entries = [(int(i), int(j)) for i, j in np.argwhere(free)]
    move, product = np.zeros_like(k), np.zeros_like(k)  # D and D W
    for _ in range(sweeps):
        largest = 0.0
        for i, j in entries:
            change = _change(i, j, k, w, gradient, penalty, move, product)
            if change:
                move[i, j] += change
                product[i] += change * w[j]
                if i != j:
                    move[j, i] += change
                    product[j] += change * w[i]
                largest = max(largest, abs(change))
        if largest <= 1e-3 * float(np.abs(move).max(initial=0.0)):
            break
    fall = float((gradient * move).sum()) + float((penalty * (np.abs(k + move) - np.abs(k))).sum())
    return move, fall


def _change(
    i: int, j: int, k: Floats, w: Floats, gradient: Floats, penalty: Floats, move: Floats, product: Floats
) -> float:
    """Return by how much one entry of D should change, all others held."""
    slope = float(gradient[i, j] + w[i] @ product[:, j])  # of the model, at D
    if i == j:
        return -slope / float(w[i, i] ** 2)
    curvature = float(w[i, j] ** 2 + w[i, i] * w[j, j])
    value = float(k[i, j] + move[i, j])
    aim = value - slope / curvature
    limit = float(penalty[i, j]) / curvature
    return math.copysign(max(abs(aim) - limit, 0.0), aim) - value
