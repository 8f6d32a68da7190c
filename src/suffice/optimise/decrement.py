"""The Newton decrement ½ gᵀH⁻¹g: by how much a Newton step would still change a convex objective.

In nats, and not divided by the number of rows, it tells how far an estimate is from the optimum whatever the sample
size: a gap that is nothing among 10⁹ rows may be all that there is of a rare class.

Two things keep rounding errors out of it. A small part of the diagonal is added to H, so that directions along which
the objective is flat but for rounding, as where a model has more parameters than it needs, do not count; and as much
again as makes a gradient of the size of its rounding error worth less than a millionth of a nat. Both make the result
smaller, never larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
LEFT = 1e-5
"""The nats that a search may leave to be gained: a hundredth of what a certificate lets pass."""
LITTLE = 1e-12
"""The part of the diagonal that is added to a Hessian written out, or to exact products with it."""
BLURRED = 3e-6
"""The part that is added where products with the Hessian are differences of gradients."""
MANY = 10.0
"""From so many times the limit on it does not matter how many."""
MOST_STEPS = 60
CLOSE = 1e-6
"""Conjugate gradients end when what is left of the system is worth less than this part of what was found."""


class Decrement(NamedTuple):
    """The decrement in nats, the place of the parameter that has the largest part in it, and H⁻¹g where it was solved.

    The Newton step is −H⁻¹g.
    """

    size: float
    place: int = 0
    solved: Floats | None = None


def decrement_of(gradient: Floats, hessian: Floats, noise: ArrayLike = 0.0) -> Decrement:
    """Return the decrement from a Hessian that is written out.

    Parameters
    ----------
    gradient : array, shape (n,)
    hessian : array, shape (n, n)
        Positive semidefinite but for rounding errors.
    noise : float or array, shape (n,)
        About the rounding error of the gradient.

    Examples
    --------
    >>> found = decrement_of(np.array([0.2, 0.0]), np.array([[4.0, 0.0], [0.0, 1.0]]))
    >>> round(found.size, 9), found.place
    (0.005, 0)
    """
    if not len(gradient):
        return Decrement(0.0)
    if not (np.isfinite(gradient).all() and np.isfinite(hessian).all()):
        return Decrement(math.inf, int(np.argmin(np.isfinite(gradient))))
    added = _doubt(noise, len(gradient))
    diagonal = np.maximum(np.diag(hessian), 0.0)
    unit = np.sqrt(diagonal + added)
    none = unit == 0
    unit = np.where(none, 1.0, unit)
    scaled, slopes = hessian / unit / unit[:, None], gradient / unit
    if (slopes[none] != 0).any():
        return Decrement(math.inf, int(np.argmax(none & (slopes != 0))))
    added = added / unit**2 + np.where(none, 1.0, LITTLE)
    try:
        root = np.linalg.cholesky(scaled + np.diag(added))
        half = np.linalg.solve(root, slopes)
        step = np.linalg.solve(root.T, half)
    except np.linalg.LinAlgError:  # rounding errors are larger than what was added
        values, vectors = np.linalg.eigh(scaled + np.diag(added))
        half = (vectors.T @ slopes) / np.sqrt(np.maximum(values, LITTLE - float(values.min())))
        step = vectors @ (half / np.sqrt(np.maximum(values, LITTLE - float(values.min()))))
    return Decrement(float(half.dot(half)) / 2, int(np.argmax(step * slopes)), step / unit)


def decrement_by_products(
    gradient: Floats,
    product: Callable[[Floats], Floats],
    diagonal: Floats,
    *,
    noise: ArrayLike = 0.0,
    least: float = 0.0,
    little: float = LITTLE,
    negligible: float = 1e-9,
    limit: float = 1e-3,
) -> Decrement:
    """Return the decrement by conjugate gradients, for Hessians too large to be written out.

    The steps add up to it from below. Where the Hessian is known to be at least ``least`` in every direction, what is
    left of the system bounds the rest, and the sum of both is returned as soon as it is well below ``limit``.

    Parameters
    ----------
    gradient : array, shape (n,)
    product : callable
        The Hessian times a direction.
    diagonal : array, shape (n,)
        About the diagonal of the Hessian.
    noise : float or array, shape (n,)
        About the rounding error of the gradient.
    least : float
        A bound from below of the Hessian's eigenvalues; zero where there is none.
    little : float
        The part of the diagonal that is added to the Hessian.
    negligible : float
        Where the sum of ½ g² over the diagonal is less, no system is solved.
    limit : float

    Examples
    --------
    >>> matrix = np.array([[4.0, 1.0], [1.0, 1.0]])
    >>> slopes = np.array([0.2, 0.1])
    >>> found = decrement_by_products(slopes, lambda v: matrix @ v, np.diag(matrix))
    >>> abs(found.size - decrement_of(slopes, matrix).size) < 1e-12
    True
    """
    if not len(gradient):
        return Decrement(0.0)
    if not np.isfinite(gradient).all():
        return Decrement(math.inf, int(np.argmin(np.isfinite(gradient))))
    diagonal = np.maximum(diagonal, 0.0)
    added = _doubt(noise, len(gradient)) + little * diagonal
    weight = diagonal + added
    if (gradient[weight == 0] != 0).any():
        return Decrement(math.inf, int(np.argmax((weight == 0) & (gradient != 0))))
    inverse = np.where(weight > 0, 1 / np.where(weight > 0, weight, 1.0), 0.0)
    left, found, step = gradient.copy(), 0.0, np.zeros_like(gradient)
    direction = inverse * left
    size = float(left.dot(direction))
    place = int(np.argmax(np.abs(left) * np.abs(direction)))
    for _ in range(MOST_STEPS):
        rest = float(left.dot(left)) / (2 * least) if least > 0 else math.inf
        if found + min(rest, math.inf) <= limit / 10:
            return Decrement(found + rest, place, step)
        if size / 2 <= max(negligible, CLOSE * found) or found > MANY * limit:
            break
        image = product(direction) + added * direction
        bend = float(direction.dot(image))
        if not 0 < bend < math.inf:
            break
        alpha = size / bend
        step += alpha * direction
        found += alpha * size / 2
        left = left - alpha * image
        before, towards = size, inverse * left
        size = float(left.dot(towards))
        direction = towards + size / before * direction
        place = int(np.argmax(step * gradient))
    return Decrement(found + size / 2, place, step)


def decrement_at_kinks(
    gradient: Floats,
    held: NDArray[np.bool_],
    at_kink: NDArray[np.bool_],
    solve: Callable[[NDArray[np.intp]], Decrement],
) -> Decrement:
    """Return the decrement where some parameters are held at a kink, and others may leave theirs in one direction only.

    Parameters
    ----------
    gradient : array, shape (n,)
        At a kink, what is beyond its reach: against that the parameter may move.
    held : array of bool, shape (n,)
        The parameters that stay where they are.
    at_kink : array of bool, shape (n,)
    solve : callable
        The decrement in the parameters at some places.

    Examples
    --------
    >>> matrix = np.array([[2.0, 1.9], [1.9, 2.0]])
    >>> slopes, kinks = np.array([1.0, 0.1]), np.array([False, True])
    >>> solve = lambda kept: decrement_of(slopes[kept], matrix[np.ix_(kept, kept)])
    >>> found = decrement_at_kinks(slopes, np.zeros(2, bool), kinks, solve)
    >>> round(found.size, 9), found.place
    (0.25, 0)
    """
    kept = np.flatnonzero(~held)
    while True:
        found = solve(kept)
        if found.solved is None or not len(kept):
            break
        wrong = at_kink[kept] & (found.solved * gradient[kept] < 0)
        if not wrong.any():
            break
        kept = kept[~wrong]
    return found._replace(place=int(kept[found.place]) if len(kept) else 0)


def _doubt(noise: ArrayLike, n: int) -> Floats:
    """Return the curvature at which a gradient that is all rounding error is worth ½ · 1e-6 nats."""
    return np.broadcast_to(1e6 * np.square(np.asarray(noise, np.float64)), (n,))
