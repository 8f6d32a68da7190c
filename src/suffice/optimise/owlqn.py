"""Orthant-wise L-BFGS: a smooth function plus a price on the sizes of all numbers, many of which end at exactly zero.

Where no number changes its sign, c1 ‖x‖₁ is linear, so that L-BFGS needs few changes (Andrew and Gao, ICML 2007): the
gradient becomes the pseudo-gradient ◇F, the steepest of the one-sided slopes; zeros leave zero only against ◇F; and the
line search sets to zero what would change its sign.

Two things differ from theirs, so that the steps are those of L-BFGS on the other numbers alone once the zeros stay as
they are. Their direction leaves out every number that it would move along ◇F, here only zeros are left out: the others
are inside their orthant, and without them it is no longer a quasi-Newton direction, which can take many times as many
steps. And where a number was zero and has stayed zero, its change of gradient is left out of the pairs of changes; the
curvature sᵀy is the same without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from suffice.optimise.descent import Done
from suffice.optimise.lbfgs import PairMemory
from suffice.optimise.line_search import EASY, Evaluate, Point
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

SUFFICIENT = 1e-4
"""The share of the promised decrease that a step must keep."""
MOST_TRIALS = 40
MOST_IDLE = 50
"""After so many steps that lower neither the value nor the slopes the memory is dropped, and after twice as many the
search ends."""


class _OrthantPoint(NamedTuple):
    """A point: the objective, the gradient of its smooth part, the pseudo-gradient and its squared length."""

    x: Floats
    value: float
    gradient: Floats
    slopes: Floats
    size: float


def owlqn(
    evaluate: Evaluate,
    start: ArrayLike,
    c1: float,
    *,
    done: Done,
    steps: Iterable[int],
    memory: int = 10,
    gain: float = math.inf,
) -> Outcome:
    """Minimise f(x) + c1 ‖x‖₁, f smooth, by orthant-wise L-BFGS.

    Parameters
    ----------
    evaluate : callable
        Value and gradient of f at a point; a value that is not finite lies outside the domain. The gradient must be a
        new array, or one that is not written to again.
    start : array_like of shape (n,)
    c1 : float
        Not negative.
    done : callable
        Whether a point, the objective and the pseudo-gradient there are good enough; called at the start and after
        every step.
    steps : iterable of int
        The numbers of the steps; when it ends, so does the search.
    memory : int
        How many pairs of changes are remembered.
    gain : float
        The search goes on after ``done`` while the next step promises to lower the value by more than this.

    Returns
    -------
    Outcome
        ``value`` is that of the whole objective, ``gradient`` that of f.

    Examples
    --------
    >>> from suffice.progress import Watch
    >>> f = lambda x: (0.5 * float((x - [3.0, 0.5]) @ (x - [3.0, 0.5])), x - [3.0, 0.5])
    >>> small = lambda x, value, slopes: bool(abs(slopes).max() < 1e-10)
    >>> found = owlqn(f, [0.0, 9.0], 1.0, done=small, steps=Watch().steps("OWL-QN", 100))
    >>> found.x.round(9).tolist(), found.converged
    ([2.0, 0.0], True)
    """
    x = start_of(start)
    value, gradient = evaluate(x)
    place = _place(x, require_inside(value), gradient, c1)
    pairs, values = PairMemory(x.size, memory, None), list[float]()
    is_done = done(x, place.value, place.slopes)
    if is_done and _promised(place, pairs, c1, gain) <= gain:
        return outcome_of(x, place.value, gradient, (), 1)
    n_evaluations, stop, at_start, best, n_idle = 1, Stop.OUT_OF_STEPS, place.value, place, 0
    for _ in steps:
        noise = rounding_error(at_start, place.value)
        after, n_more = _next_place(evaluate, place, pairs, c1, noise)
        n_evaluations += n_more
        if after is None:
            stop = Stop.CONVERGED if is_done else Stop.NO_BETTER
            break
        place = after
        values.append(place.value)
        is_done = done(place.x, place.value, place.slopes)
        if is_done and _promised(place, pairs, c1, gain) <= gain:
            return outcome_of(place.x, place.value, place.gradient, values, n_evaluations)
        lower = place.value < best.value - noise
        n_idle = 0 if lower or place.size < 0.8 * best.size else n_idle + 1
        if lower or place.size < best.size:
            best = place
        if n_idle == MOST_IDLE:
            pairs.forget()
        elif n_idle == 2 * MOST_IDLE:
            stop = Stop.NO_BETTER
            break
    best = place if stop is Stop.CONVERGED else best
    return outcome_of(best.x, best.value, best.gradient, values, n_evaluations, stop)


def _promised(place: _OrthantPoint, pairs: PairMemory, c1: float, gain: float) -> float:
    """Return by how much the next direction would lower the function if it were a Newton step; not where none asks."""
    return -dot(place.slopes, _direction(place, pairs, c1)) / 2 if gain < math.inf else 0.0


def _direction(place: _OrthantPoint, pairs: PairMemory, c1: float) -> Floats:
    """Return the next direction, in which zeros leave zero only against the pseudo-gradient."""
    direction = pairs.direction(place.slopes)
    if c1:
        # Still downhill: what is left out has no part in the descent.
        direction[(place.x == 0) & (direction * place.slopes >= 0)] = 0.0
    return direction


def pseudo_gradient(x: Floats, gradient: Floats, c1: float) -> Floats:
    """Return the slopes of f + c1 ‖x‖₁, at zero the one that goes down, or zero where none does.

    >>> pseudo_gradient(np.array([2.0, 0.0, 0.0]), np.array([-3.0, -3.0, 0.5]), 1.0).tolist()
    [-2.0, -2.0, 0.0]
    """
    slopes = np.sign(x)
    slopes *= c1
    slopes += gradient
    if c1:
        at_zero = np.flatnonzero(x == 0)
        own = gradient[at_zero]
        slopes[at_zero] = own - np.clip(own, -c1, c1)
    return slopes


def _place(x: Floats, value: float, gradient: Floats, c1: float) -> _OrthantPoint:
    slopes = pseudo_gradient(x, gradient, c1)
    return _OrthantPoint(x, float(value) + _price(x, c1), gradient, slopes, dot(slopes, slopes))


def _price(x: Floats, c1: float) -> float:
    return c1 * float(np.abs(x).sum()) if c1 else 0.0


def _next_place(
    evaluate: Evaluate, before: _OrthantPoint, pairs: PairMemory, c1: float, noise: float
) -> tuple[_OrthantPoint | None, int]:
    """Return a better place along the next direction, else along the pseudo-gradient, else None."""
    n_evaluations = 0
    while True:
        direction = _direction(before, pairs, c1)
        slope = dot(before.slopes, direction)
        if slope < 0:
            step = pairs.first_step(direction, slope)
            after, n_more = _backtrack(evaluate, before, direction, step, c1, noise)
            n_evaluations += n_more
            if after is not None:
                _learn(pairs, before, after, c1)
                return after, n_evaluations
        if not pairs.forget():
            return None, n_evaluations
        noise *= 1000  # values may be rougher than supposed


def _backtrack(
    evaluate: Evaluate, before: _OrthantPoint, direction: Floats, step: float, c1: float, noise: float
) -> tuple[_OrthantPoint | None, int]:
    """Shorten the step until the objective falls enough, or is level but for rounding error, and flatter."""
    orthant = np.where(before.x == 0, -before.slopes, before.x) if c1 else None
    for trial in range(1, MOST_TRIALS + 1):
        x = direction * step
        x += before.x
        if orthant is not None:
            x[x * orthant <= 0] = 0.0
        moved = x - before.x
        if not moved.any():
            return None, trial - 1
        value, gradient = evaluate(x)
        rise = float(value) + _price(x, c1) - before.value
        promised = dot(before.slopes, moved)
        if math.isfinite(rise) and rise <= noise:
            after = _place(x, value, gradient, c1)
            # A promise below the rounding error would be kept or broken by chance.
            if rise <= min(SUFFICIENT * promised, -noise) or abs(dot(after.slopes, moved)) <= -EASY * promised:
                return after, trial
        step *= _share(rise, promised)
    return None, MOST_TRIALS


def _share(rise: float, promised: float) -> float:
    """Return where the parabola through both ends has its minimum, within bounds."""
    if not math.isfinite(rise) or promised >= rise:
        return 0.1
    return min(max(promised / (2 * (promised - rise)), 0.1), 0.5)


def _learn(pairs: PairMemory, before: _OrthantPoint, after: _OrthantPoint, c1: float) -> None:
    """Remember a pair of changes, without those of gradients by numbers that have stayed zero."""
    gradient = after.gradient
    if c1:
        gradient = np.where((before.x == 0) & (after.x == 0), before.gradient, gradient)
    pairs.learn(Point(0.0, before.x, 0.0, before.gradient, 0.0), Point(1.0, after.x, 0.0, gradient, 0.0))
