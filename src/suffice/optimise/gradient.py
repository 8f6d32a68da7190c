"""Gradient descent, as textbooks write it or with steps that it finds itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from numpy.typing import ArrayLike

from suffice.errors import ArgumentError, EstimationError, require_number, shown
from suffice.optimise.descent import Confirm, Confirmation, Done
from suffice.optimise.line_search import Evaluate
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

MOST_RISES = 5
MOST_HALVINGS = 50
_IsEnd = Callable[[Floats, float, Floats], bool]


def gradient_descent(
    evaluate: Evaluate,
    start: ArrayLike,
    *,
    done: Done,
    steps: Iterable[int],
    step: float | None = None,
    confirm: Confirm | None = None,
) -> Outcome:
    """Minimise a smooth function by steps along the gradient.

    Parameters
    ----------
    evaluate : callable
        Returns value and gradient at a point; a value that is not finite lies outside the domain. The gradient must
        be a new array, or one that is not written to again.
    start : array_like of shape (n,)
    done : callable
        Whether a point, the value and the gradient there are good enough; called at the start and after every step.
    steps : iterable of int
        The numbers of the steps; when it ends, so does the search.
    step : float, optional
        The step size ρ of x ← x − ρ g. Without it, each step tries twice the size of the last one, and halves it
        until the value falls enough.
    confirm : callable, optional
        Asked of a point at which ``done`` holds: whether the search may end there.

    Returns
    -------
    Outcome

    Raises
    ------
    EstimationError
        When a fixed step size is too large, so that the value rises.

    Examples
    --------
    >>> from suffice.progress import Watch
    >>> parabola = lambda x: (float(x @ x), 2 * x)
    >>> small = lambda x, value, gradient: bool(abs(gradient).max() < 1e-10)
    >>> gradient_descent(parabola, [3.0], done=small, steps=Watch().steps("descent", 100), step=0.4).n_steps
    16
    >>> gradient_descent(parabola, [3.0], done=small, steps=Watch().steps("descent", 100), step=1.1)
    Traceback (most recent call last):
    ...
    suffice.errors.EstimationError: Gradient descent with the step size 1.1 moved away from the optimum at step 1. Use a
    smaller step size such as 0.11, or step=None, which finds one at every step.
    """
    x = start_of(start)
    value, gradient = evaluate(x)
    value = require_inside(value)
    agreed = Confirmation(confirm)

    def is_end(x: Floats, value: float, gradient: Floats) -> bool:
        return done(x, value, gradient) and agreed(x, gradient)

    if is_end(x, value, gradient):
        return outcome_of(x, value, gradient, (), 1)
    if step is None:
        return _with_found_steps(evaluate, x, value, gradient, is_end, steps)
    size = require_number("step", step)
    if not 0 < size < math.inf:
        raise ArgumentError(f"The 'step' argument must be positive and finite, or None. Got {shown(step)} instead.")
    return _with_fixed_step(evaluate, x, value, gradient, is_end, steps, size)


# A fixed step -------------------------------------------------------------------------------------------------


def _with_fixed_step(
    evaluate: Evaluate, x: Floats, value: float, gradient: Floats, is_end: _IsEnd, steps: Iterable[int], step: float
) -> Outcome:
    at_start, n_rises = value, 0
    values: list[float] = []
    best = x, value, gradient
    for _ in steps:
        x = x - step * gradient
        before = value
        value, gradient = evaluate(x)
        value = float(value)
        values.append(value)
        noise = rounding_error(value, before, at_start)
        n_rises = n_rises + 1 if value > before + noise else 0
        if not math.isfinite(value) or value > at_start + noise or n_rises >= MOST_RISES:
            raise EstimationError(
                f"Gradient descent with the step size {step:g} moved away from the optimum at step {len(values)}. "
                f"Use a smaller step size such as {step / 10:g}, or step=None, which finds one at every step."
            )
        if is_end(x, value, gradient):
            return outcome_of(x, value, gradient, values, len(values) + 1)
        if value <= best[1] + noise:
            best = x, value, gradient
    return outcome_of(*best, values, len(values) + 1, Stop.OUT_OF_STEPS)


# Steps that are found -----------------------------------------------------------------------------------------


def _with_found_steps(
    evaluate: Evaluate, x: Floats, value: float, gradient: Floats, is_end: _IsEnd, steps: Iterable[int]
) -> Outcome:
    values: list[float] = []
    n_evaluations, stop, at_start, slack = 1, Stop.OUT_OF_STEPS, value, 1.0
    step = 1 / max(1.0, math.sqrt(dot(gradient, gradient)))
    for _ in steps:
        for halving in range(2 * MOST_HALVINGS):
            if halving == MOST_HALVINGS:  # values are rougher than supposed, now and from here on
                step, slack = step * 2.0**MOST_HALVINGS, slack * 1000
            new_x = x - step * gradient
            new_value, new_gradient = evaluate(new_x)
            n_evaluations += 1
            noise = slack * rounding_error(at_start, value)
            if _falls_enough(step, noise, slack > 1, value, gradient, float(new_value), new_gradient):
                break
            step /= 2
        else:
            stop = Stop.NO_BETTER
            break
        x, value, gradient = new_x, float(new_value), new_gradient
        step *= 2
        values.append(value)
        if is_end(x, value, gradient):
            stop = Stop.CONVERGED
            break
    return outcome_of(x, value, gradient, values, n_evaluations, stop)


def _falls_enough(
    step: float, noise: float, rough: bool, value: float, gradient: Floats, new_value: float, new_gradient: Floats
) -> bool:
    """Armijo's condition; once values no longer tell, its form in slopes (see `suffice.optimise.line_search`).

    Along flat directions no step changes the slope by much; there it is enough that the gradient becomes shorter.
    """
    if not math.isfinite(new_value):
        return False
    slope = dot(gradient, gradient)
    promised = 0.1 * step * slope
    if promised > noise:
        return new_value <= value - promised
    flatter = abs(dot(gradient, new_gradient)) <= 0.8 * slope or (rough and dot(new_gradient, new_gradient) < slope)
    return new_value <= value + noise and flatter
