"""Proximal gradient descent, accelerated: for a smooth function plus one with kinks whose proximal map is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from suffice.optimise.line_search import Evaluate
from suffice.optimise.outcome import (
    Outcome,
    Stop,
    outcome_of,
    require_inside,
    rounding_error,
    start_of,
)
from suffice.types import Floats

Prox = Callable[[Floats, float], Floats]


def proximal(
    evaluate: Evaluate,
    kinks: Callable[[Floats], float],
    prox: Prox,
    start: ArrayLike,
    *,
    done: Callable[[Floats, Floats], bool],
    steps: Iterable[int],
) -> Outcome:
    """Minimise f + k, f smooth and k convex with kinks.

    Parameters
    ----------
    evaluate : callable
        Value and gradient of f.
    kinks : callable
        The value of k.
    prox : callable
        ``prox(z, s)`` is the point that minimises ½‖x − z‖² + s k(x).
    start : array_like of shape (n,)
    done : callable
        Whether a point and the gradient of f there are good enough.
    steps : iterable of int
        The numbers of the steps; when it ends, so does the search.

    Returns
    -------
    Outcome
        ``gradient`` is that of f.

    Notes
    -----
    Beck and Teboulle's FISTA (2009): x ← prox(y − s ∇f(y), s) from an extrapolated point y, the step size s halved
    while the curvature along the step exceeds 1/s, and extrapolation begun anew whenever the objective rises
    (O'Donoghue and Candès, 2015).

    Examples
    --------
    >>> from suffice.progress import Watch
    >>> shrink = lambda z, s: np.sign(z) * np.maximum(abs(z) - s, 0)
    >>> f = lambda x: (0.5 * float((x - 3) @ (x - 3)), x - 3)
    >>> small = lambda x, gradient: bool(abs(x - shrink(x - gradient, 1.0)).max() < 1e-10)
    >>> found = proximal(f, lambda x: abs(x).sum(), shrink, [0.0], done=small, steps=Watch().steps("proximal", 100))
    >>> found.x.round(9).tolist(), found.converged
    ([2.0], True)
    """
    x = start_of(start)
    value, gradient = evaluate(x)
    require_inside(value)
    total, n_evaluations, values = value + kinks(x), 1, list[float]()
    if done(x, gradient):
        return outcome_of(x, total, gradient, (), 1)
    y, slope, t, step, stop = x, gradient, 1.0, 1.0, Stop.OUT_OF_STEPS
    for _ in steps:
        step *= 1.5
        while True:
            after = prox(y - step * slope, step)
            moved = after - y
            value, gradient = evaluate(after)
            n_evaluations += 1
            # Slopes tell the curvature along the step to the last digit, where values differ by rounding only.
            if math.isfinite(value) and float((gradient - slope).dot(moved)) <= float(moved.dot(moved)) / step:
                break
            step /= 2
        now = value + kinks(after)
        if now > total + rounding_error(now, total) and t > 1:
            y, t = x, 1.0  # extrapolation led upwards: begin again from the best point
            slope = evaluate(x)[1]
            n_evaluations += 1
            continue
        t, before = (1 + math.sqrt(1 + 4 * t * t)) / 2, t
        y = after + (before - 1) / t * (after - x)
        x, total = after, now
        values.append(total)
        if done(x, gradient):
            stop = Stop.CONVERGED
            break
        slope = evaluate(y)[1]
        n_evaluations += 1
    at_x = evaluate(x)[1]
    return outcome_of(x, total, np.asarray(at_x), values, n_evaluations + 1, stop)
