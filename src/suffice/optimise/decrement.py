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

from suffice.types import Bools, Floats

LEFT = 1e-5
"""The nats that a search may leave to be gained: a hundredth of what a certificate lets pass."""
LITTLE = 1e-12
"""The part of the diagonal that is added to a Hessian written out, or to exact products with it."""
LEAST = 1e-14
"""The part under L1, where rounding errors are known: along relations between features only the penalty changes."""
MANY = 10.0
"""From so many times the limit on it does not matter how many."""
NEGLIGIBLE = 1e-9
"""Nats for which no system is solved by conjugate gradients."""
MOST_STEPS = 60
MOST_RELEASES = 20
"""How often parameters at zero under L1 are let go."""
SAFE = 200.0
"""A hundred times 2, since what is found is not less than a hundredth of what there is."""
ROUNDED = 1e-12
"""Slopes equal a price within this part of it."""
CLOSE = 1e-6
"""Conjugate gradients end when what is left of the system is worth less than this part of what was found."""


class Decrement(NamedTuple):
    """The decrement in nats, the place of the parameter that has the largest part in it, and H⁻¹g where it was solved.

    The Newton step is −H⁻¹g.
    """

    size: float
    place: int = 0
    solved: Floats | None = None


def decrement_of(gradient: Floats, hessian: Floats, noise: ArrayLike = 0.0, little: float = LITTLE) -> Decrement:
    """Return the decrement from a Hessian that is written out.

    Parameters
    ----------
    gradient : array, shape (n,)
    hessian : array, shape (n, n)
        Positive semidefinite but for rounding errors.
    noise : float or array, shape (n,)
        About the rounding error of the gradient.
    little : float
        The part of the diagonal that is added to the Hessian.

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
    added = added / unit**2 + np.where(none, 1.0, little)
    try:
        root = np.linalg.cholesky(scaled + np.diag(added))
        half = np.linalg.solve(root, slopes)
        step = np.linalg.solve(root.T, half)
    except np.linalg.LinAlgError:  # rounding errors are larger than what was added
        values, vectors = np.linalg.eigh(scaled + np.diag(added))
        half = (vectors.T @ slopes) / np.sqrt(np.maximum(values, little - float(values.min())))
        step = vectors @ (half / np.sqrt(np.maximum(values, little - float(values.min()))))
    return Decrement(float(half.dot(half)) / 2, int(np.argmax(step * slopes)), step / unit)


def decrement_by_products(
    gradient: Floats,
    product: Callable[[Floats], Floats],
    diagonal: Floats,
    *,
    noise: ArrayLike = 0.0,
    least: float = 0.0,
    negligible: float = NEGLIGIBLE,
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
    added = _doubt(noise, len(gradient)) + LITTLE * diagonal
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


def decrement_at_zeros(
    slopes: Floats,
    prices: Floats,
    at_zero: Bools,
    solve: Callable[[Floats, NDArray[np.intp]], Decrement],
    product: Callable[[Floats], Floats],
    diagonal: Floats,
    left_out: Bools | None = None,
) -> Decrement:
    """Return the decrement under L1: parameters leave zero only if that gains, and in one direction only.

    A parameter stays at zero while its slope is within its price. That is asked of the slope after the step of the
    others: where parameters are related, a step that is worth nothing in nats may change slopes by whole prices, and
    then all that are related move. So sets of parameters that move are tried, each solved for as if all were smooth: a
    parameter that would leave zero to the wrong side goes back, and one whose slope comes to be beyond its price is
    let go. Each set gains more than the one before.

    Parameters
    ----------
    slopes : array, shape (n,)
        The gradient; of parameters at zero that of the smooth function alone.
    prices : array, shape (n,)
        What a parameter pays for leaving zero, to either side.
    at_zero : array of bool, shape (n,)
    solve : callable
        From a gradient of the parameters at some places, and these places, to the decrement in them.
    product : callable
        The Hessian times a direction, both of shape (n,).
    diagonal : array, shape (n,)
        About the diagonal of the Hessian.
    left_out : array of bool, shape (n,), optional
        Parameters that do not move at all.

    Examples
    --------
    Of two parameters that do much the same, the first moves, and then nothing pulls at the second:

    >>> matrix = np.array([[2.0, 1.9], [1.9, 2.0]])
    >>> solve = lambda gradient, kept: decrement_of(gradient, matrix[np.ix_(kept, kept)])
    >>> slopes, prices, zeros = np.array([1.0, 1.1]), np.ones(2), np.array([False, True])
    >>> found = decrement_at_zeros(slopes, prices, zeros, solve, lambda v: matrix @ v, np.diag(matrix))
    >>> round(found.size, 9), found.place
    (0.25, 0)

    Here nothing pulls at the second until the first has moved:

    >>> slopes = np.array([4.0, -0.5])
    >>> found = decrement_at_zeros(slopes, prices, zeros, solve, lambda v: matrix @ v, np.diag(matrix))
    >>> round(found.size, 2), round(4.0**2 / 2 / 2.0, 2)
    (31.92, 4.0)
    """
    moving = ~at_zero if left_out is None else ~at_zero & ~left_out
    may_move = at_zero if left_out is None else at_zero & ~left_out
    side = np.where(may_move & ~(np.abs(slopes) <= prices), np.sign(slopes), 0.0)
    at, best = np.zeros(len(slopes)), Decrement(0.0)
    for _ in range(MOST_RELEASES):
        found, to = _to_one_side(slopes, prices, moving, side, at, solve)
        if not found.size >= best.size and best.solved is not None:  # rounding errors decide
            break
        best = found
        held = may_move & (side == 0)
        if found.solved is None or not held.any():
            break
        reach = np.sqrt(SAFE * found.size * np.maximum(diagonal, 0.0))
        if (np.abs(slopes) + reach <= prices)[held].all():  # |H step| is at most √(2 H · size)
            break
        after = slopes - side * prices + product(to)
        kept = (moving | (side != 0)) & (diagonal > 0)
        doubt = math.sqrt(float((after[kept] ** 2 / diagonal[kept]).sum())) * np.sqrt(np.maximum(diagonal, 0.0))
        beyond = held & (np.abs(after) > prices * (1 + ROUNDED) + doubt)
        if not beyond.any():
            break
        at, side = to, np.where(beyond, np.sign(after), side)
    return best


def _to_one_side(
    slopes: Floats,
    prices: Floats,
    moving: Bools,
    side: Floats,
    at: Floats,
    solve: Callable[[Floats, NDArray[np.intp]], Decrement],
) -> tuple[Decrement, Floats]:
    """Return the decrement and the step of what moves, starting from another step; ``side`` is zero of what does not.

    Slopes have the sign ``side`` where a parameter may leave zero, so that it moves against that. One that would
    not is held from where it comes back to zero: its side is set to zero.
    """
    while True:
        kept = np.flatnonzero(moving | (side != 0))
        found = solve((slopes - side * prices)[kept], kept)
        to = np.zeros(len(slopes))
        if found.solved is None or not len(kept):
            return found._replace(place=int(kept[found.place]) if len(kept) else 0), to
        to[kept] = -found.solved
        wrong = np.flatnonzero(to * side > 0)
        if not len(wrong):
            return found._replace(place=int(kept[found.place]), solved=-to), to
        shares = at[wrong] / (at[wrong] - to[wrong])
        back = wrong[shares <= shares.min()]
        at = at + shares.min() * (to - at)
        at[back] = side[back] = 0.0


def _doubt(noise: ArrayLike, n: int) -> Floats:
    """Return the curvature at which a gradient that is all rounding error is worth ½ · 1e-6 nats."""
    return np.broadcast_to(1e6 * np.square(np.asarray(noise, np.float64)), (n,))
