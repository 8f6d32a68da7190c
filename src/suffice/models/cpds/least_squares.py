"""Least squares from moments: slopes and residual squares of one regression, or of several that share their slopes.

======  ==========================================================
T       scatter of the parents and, last, of the child
b, r    slopes, and the sum of squares that they leave
======  ==========================================================

Everything happens on the scale of correlations, so that the units of a column mean nothing; two steps of iterative
refinement, with residuals in the longest floats there are, bring back what nearly collinear parents cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.types import Floats

SINGULAR = 1e-12
"""What is left of a column's squares after the other columns, relative, below which it is a combination of them."""
STILL = 8 * np.finfo(np.float64).eps
"""A standard deviation below this, relative to the mean, is rounding error: the column does not vary."""
REFINEMENTS = 2


@dataclass(frozen=True)
class Trouble:
    """Why a regression is not determined: the columns that do not vary, or one that is a combination of others."""

    constant: tuple[int, ...] = ()
    dependent: int | None = None
    others: tuple[int, ...] = ()


def constant_columns(weight: float, means: NDArray[np.longdouble], scatter: Floats) -> list[int]:
    """Return the columns that do not vary, up to rounding."""
    smallest = weight * (STILL * np.abs(means.astype(np.float64))) ** 2
    return [int(place) for place in np.flatnonzero(np.diag(scatter) <= smallest)]


def trouble_with(scatter: Floats, constant: Sequence[int]) -> Trouble | None:
    """Return what keeps the parents' scatter from determining slopes, shape (q, q), or None."""
    if constant:
        return Trouble(constant=tuple(constant))
    scaled, _ = on_scale(scatter)
    for place in range(1, len(scaled)):
        inner = scaled[:place, :place]
        combination = np.linalg.lstsq(inner, scaled[:place, place], rcond=None)[0]
        if scaled[place, place] - combination @ scaled[:place, place] <= SINGULAR:
            used = np.flatnonzero(np.abs(combination) > 1e-6)
            return Trouble(dependent=place, others=tuple(int(other) for other in used))
    return None


def on_scale(scatter: Floats) -> tuple[Floats, Floats]:
    """Return the scatter divided by the roots of its diagonal, and these roots; one where a root is zero."""
    roots = np.sqrt(np.diag(scatter))
    roots = np.where(roots > 0, roots, 1.0)
    return scatter / roots[:, None] / roots, roots


def slopes(inner: Floats, cross: Floats, ridge: float = 0.0) -> Floats | None:
    """Return the solution b of (T_xx + ridge · I) b = T_xy, or None where T_xx is singular; shape (q,)."""
    from scipy.linalg import cho_solve

    if not len(cross):
        return np.zeros(0)
    wide = np.longdouble
    matrix = inner + ridge * np.eye(len(cross))
    scaled, roots = on_scale(matrix)
    try:
        lower = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:
        return None
    if not (np.diag(lower) ** 2 > SINGULAR).all():
        return None
    b = cho_solve((lower, True), cross / roots) / roots  # eq normal-equations
    for _ in range(REFINEMENTS):
        left = cross.astype(wide) - inner.astype(wide) @ b.astype(wide) - ridge * b.astype(wide)
        b = b + cho_solve((lower, True), left.astype(np.float64) / roots) / roots
    found: Floats = b
    return found


def shortest_slopes(inner: Floats, cross: Floats) -> Floats:
    """Return the shortest of all b that minimise the squares: the minimum-norm solution, in the columns' own units."""
    scaled, roots = on_scale(inner)
    values, vectors = np.linalg.eigh(scaled)
    kept = values > SINGULAR * max(float(values.max(initial=0.0)), 1.0) * len(values)
    b = vectors[:, kept] @ ((vectors[:, kept].T @ (cross / roots)) / values[kept]) / roots
    flat = vectors[:, ~kept] / roots[:, None]  # directions along which nothing changes
    if flat.shape[1]:
        basis, _ = np.linalg.qr(flat)
        b = b - basis @ (basis.T @ b)
    found: Floats = b
    return found


def left_over(scatter: Floats, b: Floats) -> float:
    """Return the sum of squares around the line, (−b, 1) T (−b, 1)ᵀ."""
    direction = np.append(-b, 1.0).astype(np.longdouble)
    return max(0.0, float(direction @ scatter.astype(np.longdouble) @ direction))  # eq residual-variance
