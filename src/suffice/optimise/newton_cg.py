"""Newton's method with conjugate gradients inside a trust region: products with the Hessian are enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from suffice.optimise.descent import Done
from suffice.optimise.outcome import (
    Outcome,
    Stop,
    outcome_of,
    require_inside,
    rounding_error,
    start_of,
)
from suffice.optimise.vectors import dot
from suffice.types import Floats

Product = Callable[[Floats], Floats]
EvaluateTwice = Callable[[Floats], tuple[float, Floats, Product]]
Scale = Floats | Callable[[Floats], Floats] | None

# Curvatures below this share of the largest one are zero but for rounding error.
FLAT = 1e-13
CLOSELY = 1e-3
"""The residual of conjugate gradients, relatively, once ``done`` and only the gain is in question."""
LITTLE = 1e-2
"""Where the flattest steps so far would gain less than this part of what matters, none is solved for to learn that."""
MOST_CUTS = 40
MOST_ROUNDED_CUTS = 4  # where values no longer tell, shorter steps do not help much


class _SmoothPoint(NamedTuple):
    """A point and what is known there."""

    x: Floats
    value: float
    gradient: Floats
    product: Product


class _Move(NamedTuple):
    """A step, its length in the norm of the trust region, and the two terms of the quadratic model along it."""

    step: Floats
    length: float
    slope: float
    curvature: float


def newton_cg(
    evaluate: EvaluateTwice,
    start: ArrayLike,
    *,
    done: Done,
    steps: Iterable[int],
    scale: Scale = None,
    gain: float = math.inf,
) -> Outcome:
    """Minimise a smooth function by Newton steps, each solved by conjugate gradients as far as is worth it.

    The Hessian may be singular, as it is when a model has more parameters than it needs.

    Parameters
    ----------
    evaluate : callable
        Returns value, gradient and product at a point, where ``product(v)`` is the Hessian times v; a value that is
        not finite lies outside the domain. Gradient and product must keep their meaning when ``evaluate`` is called
        again.
    start : array_like of shape (n,)
    done : callable
        Whether a point, the value and the gradient there are good enough; called at the start and after every step.
    steps : iterable of int
        The numbers of the steps; when it ends, so does the search.
    scale : ndarray of shape (n,) or callable, optional
        Positive, the preconditioner P: about the diagonal of the inverse Hessian, or a function that returns it at
        a point.
    gain : float
        The search goes on after ``done`` while the next step promises to lower the value by more than this.

    Returns
    -------
    Outcome

    Notes
    -----
    Steihaug's and Toint's method: conjugate gradients stop when the residual is below min(½, √‖g‖) ‖g‖, where the
    trust region ends, or where the curvature is negative. Norms are those of P. A step that does not keep what the
    quadratic model promised is cut instead of solved again (Nocedal and Yuan, 1998).

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.progress import Watch
    >>> curvature = np.array([2.0, 200.0])
    >>> valley = lambda x: (float(x @ (curvature * x)) / 2, curvature * x, lambda v: curvature * v)
    >>> small = lambda x, value, gradient: bool(abs(gradient).max() < 1e-12)
    >>> found = newton_cg(valley, [3.0, 1.0], done=small, steps=Watch().steps("Newton", 100))
    >>> found.converged, found.value < 1e-20
    (True, True)
    """
    x = start_of(start)
    value, gradient, product = evaluate(x)
    place = first = _SmoothPoint(x, require_inside(value), gradient, product)
    is_done = done(x, place.value, gradient)
    if is_done and gain == math.inf:
        return outcome_of(x, place.value, gradient, (), 1)
    values: list[float] = []
    n_evaluations, stop, radius, at_start, flattest = 1, Stop.OUT_OF_STEPS, math.inf, math.nan, 0.0
    for _ in steps:
        inverse = scale(place.x) if callable(scale) else scale
        size = _norm(place.gradient, inverse)
        if size == 0:
            stop = Stop.CONVERGED if is_done else Stop.NO_BETTER
            break
        at_start = size if math.isnan(at_start) else at_start
        most = CLOSELY if is_done else 0.5  # what is left to gain is asked of a step that is solved for more closely
        move = _solve(place, inverse, radius, min(most, math.sqrt(size), math.sqrt(size / at_start)) * size)
        promised = -(move.slope + move.curvature / 2)
        if is_done and promised <= gain:
            stop = Stop.CONVERGED
            break
        flattest = max(flattest, promised / size**2)
        after, radius, n_more = _go(evaluate, place, move, inverse, radius, rounding_error(first.value, place.value))
        n_evaluations += n_more
        if after is None:
            stop = Stop.CONVERGED if is_done else Stop.NO_BETTER
            break
        place = after
        values.append(place.value)
        is_done = done(place.x, place.value, place.gradient)
        if is_done and (gain == math.inf or flattest * _norm(place.gradient, inverse) ** 2 <= LITTLE * gain):
            stop = Stop.CONVERGED
            break
    return outcome_of(place.x, place.value, place.gradient, values, n_evaluations, stop)


# The step of the model ----------------------------------------------------------------------------------------


def _solve(place: _SmoothPoint, inverse: Floats | None, radius: float, tolerance: float) -> _Move:
    """Minimise gᵀp + ½ pᵀHp within the radius by preconditioned conjugate gradients from p = 0.

    In the norm ‖v‖² = vᵀP⁻¹v the iterates only grow, and lengths follow from recurrences without P⁻¹. Where the
    Hessian is singular, rounding error in the gradient asks for ever longer steps in flat directions: the step with
    the smallest residual is the one to keep.
    """
    residual = place.gradient.copy()  # g + Hp
    scaled = residual if inverse is None else inverse * residual
    direction, step = -scaled, np.zeros_like(residual)
    rz = dot(residual, scaled)
    pp, pd, dd = 0.0, 0.0, rz  # products of step and direction in that norm
    kept, kept_pp, kept_rz, kept_end = step.copy(), 0.0, rz, 0.0
    steepest = 0.0
    for _ in range(min(2 * residual.size, 2000) + 500):
        image = place.product(direction)
        bend = dot(direction, image)
        steepest = max(steepest, bend / dd)
        if steepest > 0 and abs(bend / dd) <= FLAT * steepest:
            break
        alpha = rz / bend if bend > 0 else math.inf
        if bend <= 0 or pp + alpha * (2 * pd + alpha * dd) >= radius * radius:
            # Without a region yet, negative curvature is followed for one length of the direction.
            limit = max(radius * radius if radius < math.inf else dd, 1.01 * pp)
            alpha = _to_boundary(pp, pd, dd, limit)
            step += alpha * direction
            residual += alpha * image
            return _move(place, step, limit, dot(step, residual))
        step += alpha * direction
        residual += alpha * image
        pp += alpha * (2 * pd + alpha * dd)
        scaled = residual if inverse is None else inverse * residual
        rz_before, rz = rz, dot(residual, scaled)
        if math.sqrt(rz) <= tolerance:
            return _move(place, step, pp, dot(step, residual))
        if rz < kept_rz:
            np.copyto(kept, step)
            kept_pp, kept_rz, kept_end = pp, rz, dot(step, residual)
        beta = rz / rz_before
        pd = beta * (pd + alpha * dd)
        dd = rz + beta * beta * dd
        direction *= beta
        direction -= scaled
    if kept_pp == 0:
        return _move(place, step, pp, dot(step, residual))
    return _move(place, kept, kept_pp, kept_end)


def _move(place: _SmoothPoint, step: Floats, length_squared: float, end: float) -> _Move:
    """Return the step with what the model says of it; ``end`` is pᵀ(g + Hp), its slope at the end."""
    slope = dot(place.gradient, step)
    return _Move(step, math.sqrt(length_squared), slope, end - slope)


def _to_boundary(pp: float, pd: float, dd: float, limit: float) -> float:
    """Return the positive τ with ‖p + τ d‖² = limit."""
    root = math.sqrt(max(pd * pd + dd * (limit - pp), 0.0))
    # The form without cancellation.
    return (limit - pp) / (pd + root) if pd > 0 else (root - pd) / dd


# The step of the function -------------------------------------------------------------------------------------


def _go(
    evaluate: EvaluateTwice, place: _SmoothPoint, move: _Move, inverse: Floats | None, radius: float, noise: float
) -> tuple[_SmoothPoint | None, float, int]:
    """Try the move, cut it until it is acceptable; return the new place, the new radius and the evaluations."""
    share, n_rounded = 1.0, 0
    for n_evaluations in range(1, MOST_CUTS + 1):
        x = place.x + (move.step if share == 1 else share * move.step)
        value, gradient, product = evaluate(x)
        promised = -share * (move.slope + share * move.curvature / 2)
        kept = _kept(place, value, gradient, promised, inverse, noise) if math.isfinite(value) else 0.0
        if kept > 1e-4:
            after = _SmoothPoint(x, float(value), gradient, product)
            return after, _next_radius(radius, share * move.length, kept), n_evaluations
        n_rounded += promised <= noise
        if n_rounded > MOST_ROUNDED_CUTS:
            break
        share /= 4
    return None, radius, n_evaluations


def _kept(
    place: _SmoothPoint, value: float, gradient: Floats, promised: float, inverse: Floats | None, noise: float
) -> float:
    """Return the share of the promise that came true, judged by gradients where values do not tell."""
    if promised + noise <= 0:
        return 0.0
    gained = place.value - value
    # Adding the rounding error on both sides lets the share tend to one where values no longer tell.
    kept = (gained + noise) / (promised + noise)
    if promised > 1000 * noise:
        return kept
    left = _norm(gradient, inverse) / _norm(place.gradient, inverse)
    if promised <= noise and left >= 1:
        return 0.0
    # Values may be rougher than supposed; a gradient that is halved is then the better witness.
    return max(kept, 1.0) if left <= 0.5 and gained >= -1000 * noise else kept


def _next_radius(radius: float, length: float, kept: float) -> float:
    """Shrink the region where the model was poor; double it where it was good and the region was in the way."""
    if kept < 0.25:
        return length / 2
    if kept > 0.75 and length > 0.9 * radius:
        return 2 * radius
    return min(radius, 4 * length) if kept < 0.75 else radius


def _norm(gradient: Floats, inverse: Floats | None) -> float:
    return math.sqrt(dot(gradient, gradient if inverse is None else inverse * gradient))
