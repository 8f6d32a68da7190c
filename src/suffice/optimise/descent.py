"""Descent along lines: what L-BFGS and conjugate gradients share, which differ in their directions only."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Protocol

from numpy.typing import ArrayLike

from suffice.optimise.line_search import Evaluate, Point, search
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

# Steps that lower neither the value nor the gradient follow rounding errors, once there are this many of them and as
# many as half of all.
MOST_IDLE = 200
PATIENCE = 20
"""Steps after which a costly question is asked again although the gradient has not become much smaller."""

Done = Callable[[Floats, float, Floats], bool]
"""Whether a point, the value and the gradient there are good enough; asked at the start and after every step."""
Confirm = Callable[[Floats], bool]


class Confirmation:
    """A second opinion about points that are ``done``, as of a measure that costs more than a step.

    Once it was no, the question is put again when the gradient has halved, or after some steps.
    """

    def __init__(self, confirm: Confirm | None) -> None:
        self._confirm = confirm
        self._limit, self._n_waited = math.inf, 0

    def __call__(self, x: Floats, gradient: Floats) -> bool:
        """Whether the search may end here."""
        size = dot(gradient, gradient)
        self._n_waited += 1
        if size > self._limit and self._n_waited < PATIENCE:
            return False
        self._limit, self._n_waited = size / 4, 0
        return self.at_last(x)

    def at_last(self, x: Floats) -> bool:
        """Whether the search may end here, from where it cannot go on."""
        return self._confirm is None or self._confirm(x)


class Directions(Protocol):
    """Chooses the next direction from what the steps so far have shown."""

    sigma: float

    def direction(self, gradient: Floats) -> Floats:
        """Return where to go from a point with this gradient."""

    def first_step(self, direction: Floats, slope: float) -> float:
        """Return the step that the line search tries first."""

    def learn(self, before: Point, after: Point) -> None:
        """Take note of an accepted step."""

    def forget(self) -> bool:
        """Go back to the plain gradient; False when the last direction was that already."""


def descend(
    evaluate: Evaluate,
    start: ArrayLike,
    directions: Directions,
    done: Done,
    steps: Iterable[int],
    gain: float = math.inf,
    confirm: Confirm | None = None,
) -> Outcome:
    """Follow the directions downwards until ``done``, or until the steps or the directions end.

    Where ``gain`` is finite the search goes on after ``done`` as long as the next direction, taken for a Newton step,
    promises more than that; and as long as ``confirm``, asked of the point, says no.
    """
    is_end = Confirmation(confirm)
    x = start_of(start)
    value, gradient = evaluate(x)
    point = Point(0.0, x, require_inside(value), gradient, 0.0)
    is_done = done(point.x, point.value, point.gradient)
    if is_done and promised(directions, point.gradient, gain) <= gain and is_end(point.x, point.gradient):
        return outcome_of(x, point.value, gradient, (), 1)
    values: list[float] = []
    best, least, n_idle = point, dot(gradient, gradient), 0
    n_evaluations, stop, at_start = 1, Stop.OUT_OF_STEPS, point.value
    for _ in steps:
        noise = rounding_error(at_start, point.value)
        after, n_more = next_point(evaluate, point, directions, noise)
        n_evaluations += n_more
        if after is None:
            stop = Stop.CONVERGED if is_done and is_end.at_last(point.x) else Stop.NO_BETTER
            break
        point = after
        values.append(point.value)
        is_done = done(point.x, point.value, point.gradient)
        if is_done and promised(directions, point.gradient, gain) <= gain and is_end(point.x, point.gradient):
            return outcome_of(point.x, point.value, point.gradient, values, n_evaluations)
        size, lower = dot(point.gradient, point.gradient), point.value < best.value - noise
        n_idle = 0 if lower or size < 0.8 * least else n_idle + 1
        if lower or size < least:
            best, least = point, size
        if n_idle >= max(MOST_IDLE, len(values) / 2):
            stop = Stop.NO_BETTER
            break
    if stop is Stop.CONVERGED:
        best = point
    return outcome_of(best.x, best.value, best.gradient, values, n_evaluations, stop)


def promised(directions: Directions, gradient: Floats, gain: float) -> float:
    """Return by how much the next direction would lower the function if it were a Newton step; not where none asks."""
    return -dot(gradient, directions.direction(gradient)) / 2 if gain < math.inf else 0.0


def next_point(evaluate: Evaluate, before: Point, directions: Directions, noise: float) -> tuple[Point | None, int]:
    """Return an acceptable point along the next direction, else along the plain gradient, else None."""
    n_evaluations = 0
    while True:
        direction = directions.direction(before.gradient)
        slope = dot(before.gradient, direction)
        if slope < 0:
            step = directions.first_step(direction, slope)
            origin = Point(0.0, before.x, before.value, before.gradient, slope)
            after, n_more = search(evaluate, origin, direction, step, sigma=directions.sigma, noise=noise)
            n_evaluations += n_more
            if after is not None:
                directions.learn(before, after)
                return after, n_evaluations
        if not directions.forget():
            return None, n_evaluations
        noise *= 1000  # values may be rougher than supposed
