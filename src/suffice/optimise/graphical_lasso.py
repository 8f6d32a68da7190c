"""The graphical lasso: a sparse inverse of a covariance matrix (Friedman, Hastie and Tibshirani, 2008).

======  =========================================================
S       covariance matrix of the data, in units of its roots
K, W    the precision matrix that is sought, and its inverse
A       penalties, α / (s_i s_j) off the diagonal and zero on it
======  =========================================================

f(K) = tr(S K) − log det K + Σ_{i≠j} A_ij |K_ij| is convex. At its minimum W_ii = S_ii, W_ij − S_ij = A_ij sign K_ij
for K_ij that are not zero, and |W_ij − S_ij| ≤ A_ij for those that are. Pairs with |S_ij| ≤ A_ij split the columns into
parts that are independent of each other. In each part the columns of W are found in turn, as lasso regressions on the
others, which soon finds the zeros; Newton steps that hold the signs of K then find the digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.native.graphical_lasso import sweep_columns
from suffice.settings import one_blas_thread
from suffice.types import Floats

ENOUGH = 1e-11
"""Violations of the conditions, in units of the variances, that end the steps."""
ROUNDING = 1e-10
"""Violations that rounding may leave."""
SWEEPS, PASSES = 10, 1000
"""Sweeps over the columns between two attempts of Newton's, and most passes over the coefficients of a regression."""
SHORTEST, PATIENCE, GIVE_UP = 1e-3, 3, 6
"""The shortest Newton step; steps that may not halve the violation; rounds of sweeps that may find nothing better."""
MOST_GRADIENTS = 300
"""Conjugate gradients of a Newton step."""
FINEST = 1e-15


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
        Rounds of regressions and Newton steps, of the part that needed most.
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
        Most steps. Fewer of them, and a violation, mean that rounding leaves no better point.

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
    k, w = np.eye(len(s)), np.eye(len(s))
    violation, n_steps = 0.0, 0
    for part in _parts(np.abs(s) > penalty):
        block = np.ix_(part, part)
        with one_blas_thread():  # products of matrices this small lose more to waiting than they gain
            best, steps = _minimum(np.ascontiguousarray(s[block]), np.ascontiguousarray(penalty[block]), max_iter)
        k[block], w[block] = best.precision, best.covariance
        violation, n_steps = max(violation, best.violation), max(n_steps, steps)
    unit = roots[:, None] * roots
    return SparseInverse(k / unit, w * unit, violation, n_steps)


def _parts(joined: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Return the connected components of two and more columns."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n_parts, labels = connected_components(csr_array(joined), directed=False)
    parts = [np.flatnonzero(labels == part) for part in range(n_parts)]
    return [part for part in parts if len(part) > 1]


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


# Regressions --------------------------------------------------------------------------------------------------


def _minimum(s: Floats, penalty: Floats, max_iter: int) -> tuple[_Point, int]:
    """Go on until the conditions hold; return the best point and the number of steps."""
    w, b, best = _start(s, penalty)
    tol = min(1e-3, 0.1 * float(np.median(penalty[~np.eye(len(s), dtype=bool)])))
    step = waited = 0
    while best.violation > ENOUGH and step < max_iter and waited < GIVE_UP:
        before, step = best, step + 1
        sweep_columns(s, penalty, w, b, SWEEPS, PASSES, tol)
        if not np.isfinite(w).all():
            w, b, _ = _start(s, penalty)  # which looser regressions made indefinite
        here = _Point.at(_precision(w, b), s, penalty)
        if here is not None:
            found, taken = _polished(here, s, penalty, max_iter - step)
            step += taken
            best = found if found.violation < best.violation else best
        waited = 0 if best.violation < 0.5 * before.violation else waited + (tol <= FINEST)
        tol = max(0.1 * tol, FINEST)
    return best, step


def _start(s: Floats, penalty: Floats) -> tuple[Floats, Floats, _Point]:
    """Return W, which is S shrunk to the identity as far as the conditions allow, its regressions, and a point."""
    off = ~np.eye(len(s), dtype=bool)
    with np.errstate(divide="ignore"):
        share = min(1.0, float((penalty[off] / np.abs(s[off])).min()))
    w = np.where(off, (1 - share) * s, 1.0)
    plain = _Point.at(np.eye(len(s)), s, penalty)
    assert plain is not None
    try:
        half = np.linalg.inv(np.linalg.cholesky(w))
    except np.linalg.LinAlgError:
        return w, np.zeros_like(w), plain
    k = half.T @ half
    b = np.where(off, -k / np.diag(k)[:, None], 0.0)
    here = _Point.at(k, s, penalty)
    return w, b, here if here is not None and here.violation < plain.violation else plain


def _precision(w: Floats, b: Floats) -> Floats:
    """Return K of the regressions of all columns, zero where either of a pair leaves the other out."""
    own = 1 / (np.diag(w) - np.einsum("ij,ij->i", w, b))
    k = -b * own[:, None]
    np.fill_diagonal(k, own)
    return np.asarray(np.where((k != 0) & (k.T != 0), (k + k.T) / 2, 0.0), np.float64)


# Newton steps -------------------------------------------------------------------------------------------------


def _polished(here: _Point, s: Floats, penalty: Floats, limit: int) -> tuple[_Point, int]:
    """Step by Newton while that helps; return the best point and the number of steps."""
    best, step, waited = here, 0, 0
    while best.violation > ENOUGH and step < limit and waited < PATIENCE:
        there = _with_signs(here, s, penalty)
        if there is None:
            break
        here, step = there, step + 1
        waited = 0 if here.violation < best.violation / 2 else waited + 1
        best = here if here.violation < best.violation else best
    return best, step


def _with_signs(here: _Point, s: Floats, penalty: Floats) -> _Point | None:
    """Return the point after a Newton step within the orthant of K, or None when none of its lengths descends.

    Entries that are zero and should not be join on the side to which f falls; those that would cross zero stay there.
    """
    k = here.precision
    gradient = s - here.covariance
    signs = np.where(k != 0, np.sign(k), np.where(np.abs(gradient) > penalty, -np.sign(gradient), 0.0))
    slope = np.where(signs != 0, gradient + penalty * signs, 0.0)
    move, length = _newton_move(here, signs != 0, slope), 1.0
    free = ~np.eye(len(k), dtype=bool)
    while length > SHORTEST:
        stepped = k + length * move
        stepped[free & (np.sign(stepped) != signs)] = 0.0
        there = _Point.at(stepped, s, penalty)
        if there is not None and _is_better(here, there, float((slope * (stepped - k)).sum())):
            return there
        length /= 2
    return None


def _is_better(here: _Point, there: _Point, fall: float) -> bool:
    """Whether f fell by enough of what was promised; where rounding hides that, whether the conditions hold better."""
    if there.objective <= here.objective + 1e-3 * fall and fall < 0:
        return there.objective < here.objective or there.violation <= here.violation / 2
    return there.violation <= here.violation / 2 and there.objective <= here.objective + 1e-12 * abs(here.objective)


def _newton_move(here: _Point, is_free: NDArray[np.bool_], slope: Floats) -> Floats:
    """Solve W D W = −slope over the free entries, D zero elsewhere, by conjugate gradients.

    K R K, which solves it where all entries are free, is the preconditioner.
    """
    k, w = here.precision, here.covariance
    tol = max(0.1 * min(1.0, here.violation) ** 0.5 * here.violation, 1e-15)
    move, rest = np.zeros_like(k), -slope
    along = near = np.where(is_free, k @ rest @ k, 0.0)
    size = float((rest * near).sum())
    for _ in range(MOST_GRADIENTS):
        image = np.where(is_free, w @ along @ w, 0.0)
        curvature = float((along * image).sum())
        if not (size > 0 and curvature > 0):
            break
        move = move + size / curvature * along
        rest = rest - size / curvature * image
        if float(np.abs(rest).max()) <= tol:
            break
        near = np.where(is_free, k @ rest @ k, 0.0)
        before, size = size, float((rest * near).sum())
        along = near + size / before * along
    return np.asarray((move + move.T) / 2, np.float64)
