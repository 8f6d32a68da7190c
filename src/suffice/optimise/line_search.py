"""A line search that is good to the last digits.

Close to a minimum the value of a function stops changing long before its slope does: a step h changes the value by
about h², so that half of the digits are lost when values are compared. Hager and Zhang (SIAM J. Optim. 16, 2005;
equation and step names below are theirs) therefore accept a step by slopes alone once the value no longer rises by
more than its rounding error:

    |φ'(α)| ≤ σ |φ'(0)|   and   φ(α) − φ(0) ≤ δ α φ'(0)                                (Wolfe)
    |φ'(α)| ≤ σ |φ'(0)|   and   φ(α) ≤ φ(0) + ε   and   φ'(α) ≤ (2δ − 1) φ'(0)         (approximate Wolfe)

where φ(α) = f(x + α d); the bound on rising slopes in the first line is ours. An interval whose left end goes down and
whose right end goes up is found first, and then narrowed by secants of the slope. Values that are not finite lie
outside the domain, and count as too high.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from suffice.optimise.vectors import dot
from suffice.types import Floats

Evaluate = Callable[[Floats], tuple[float, Floats]]

DELTA = 0.1
MAX_EVALUATIONS = 60
PATIENCE = 12  # after so many evaluations, a slope that falls at all will do
EASY = 0.9
MAX_EXPANSIONS = 25  # a function that still falls after these has no minimum on this line


class Point(NamedTuple):
    """A point on the line, with the slope of the function along it."""

    step: float
    x: Floats
    value: float
    gradient: Floats
    slope: float


def search(
    evaluate: Evaluate, origin: Point, direction: Floats, step: float, *, noise: float, sigma: float = EASY
) -> tuple[Point | None, int]:
    """Return an acceptable point on the line, or None when there is none, and the number of evaluations.

    Parameters
    ----------
    evaluate : callable
        Returns value and gradient at a point.
    origin : Point
        Where the line begins; its slope along ``direction`` must be negative.
    direction : ndarray of shape (n,)
    step : float
        The first step to try.
    noise : float
        The rounding error of values.
    sigma : float
        The share of the initial slope that may remain.

    Examples
    --------
    >>> import numpy as np
    >>> parabola = lambda x: (float(x @ x), 2 * x)
    >>> x = np.array([1.0])
    >>> found, n_evaluations = search(parabola, Point(0.0, x, 1.0, 2 * x, -2.0), -x, 0.01, noise=1e-15)
    >>> found.value < 1, n_evaluations
    (True, 2)
    """
    ray = _Ray(evaluate, origin, direction, noise, sigma)
    left, right = _bracket(ray, step)
    while right is not None and ray.open() and right.step - left.step > 1e-15 * right.step:
        width = right.step - left.step
        left, right = _two_secants(ray, left, right)
        if ray.open() and right.step - left.step > 0.66 * width:
            left, right = _update(ray, left, right, (left.step + right.step) / 2)
    return ray.found or ray.fallback, ray.n_evaluations


class _Ray:
    """The function on the line: remembers the first acceptable point, and the next best one."""

    def __init__(self, evaluate: Evaluate, origin: Point, direction: Floats, noise: float, sigma: float) -> None:
        self.evaluate, self.origin, self.direction = evaluate, origin, direction
        self.noise = noise
        self.limit = origin.value + noise
        self.sigma = sigma
        self.most_slope = (2 * DELTA - 1) * origin.slope
        self.found: Point | None = None
        self.fallback: Point | None = None
        self.n_evaluations = 0

    def open(self) -> bool:
        return self.found is None and self.n_evaluations < MAX_EVALUATIONS

    def at(self, step: float) -> Point:
        origin = self.origin
        x = origin.x + step * self.direction
        value, gradient = self.evaluate(x)
        self.n_evaluations += 1
        if not math.isfinite(value) or not math.isfinite(slope := dot(gradient, self.direction)):
            return Point(step, x, math.inf, gradient, math.inf)
        point = Point(step, x, float(value), gradient, slope)
        if self._accepts(point):
            self.found = point
        elif self._is_better(point):
            self.fallback = point
        return point

    def _accepts(self, point: Point) -> bool:
        sigma = self.sigma if self.n_evaluations < PATIENCE else EASY
        if abs(point.slope) > -sigma * self.origin.slope:
            return False
        promised = DELTA * point.step * self.origin.slope
        # A promise below the rounding error would be kept or broken by chance.
        if -promised > self.noise and point.value - self.origin.value <= promised:
            return True
        return point.value <= self.limit and point.slope <= self.most_slope

    def _is_better(self, point: Point) -> bool:
        """Whether a point is worth having when no point is acceptable: lower, or as low and flatter."""
        best = self.fallback or self.origin
        if abs(point.value - best.value) <= self.noise:
            return point.value <= self.limit and abs(point.slope) < 0.99 * abs(best.slope)
        return point.value < best.value


def _bracket(ray: _Ray, step: float) -> tuple[Point, Point | None]:
    """Step outwards until the function goes up again [B1–B3]; None when that is not needed, or never happens."""
    left, wall = ray.origin, math.inf
    for _ in range(MAX_EXPANSIONS):
        # Backing out of a forbidden region has no limit of its own: the domain may be tiny.
        while (point := ray.at(step)).value == math.inf and ray.open() and step > left.step:
            wall, step = step, left.step + 0.1 * (step - left.step)
        if not ray.open():
            return left, None
        if point.slope >= 0:
            return left, point
        if point.value > ray.limit:
            return _bisect(ray, ray.origin, point)
        guess = _secant(left, point)
        step = min(max(guess, 1.2 * point.step), 20 * point.step) if guess > point.step else 5 * point.step
        step = min(step, (point.step + wall) / 2)
        left = point
    return left, None


def _two_secants(ray: _Ray, left: Point, right: Point) -> tuple[Point, Point]:
    """Narrow the interval by a secant from each of its new ends [S1–S4]."""
    step = _secant(left, right)
    new_left, new_right = _update(ray, left, right, step)
    if not ray.open():
        return new_left, new_right
    if step == new_right.step:
        return _update(ray, new_left, new_right, _secant(right, new_right))
    if step == new_left.step:
        return _update(ray, new_left, new_right, _secant(left, new_left))
    return new_left, new_right


def _secant(one: Point, other: Point) -> float:
    """Return the step where the slope would vanish if it were linear; NaN when it is not told."""
    rise = other.slope - one.slope
    if rise == 0 or not math.isfinite(rise):
        return math.nan
    return one.step - one.slope * (other.step - one.step) / rise


def _update(ray: _Ray, left: Point, right: Point, step: float) -> tuple[Point, Point]:
    """Narrow the interval by one more point [U0–U3], if that lies inside."""
    if not left.step < step < right.step:
        return left, right
    point = ray.at(step)
    if point.slope >= 0:
        return left, point
    if point.value <= ray.limit:
        return point, right
    return _bisect(ray, left, point)


def _bisect(ray: _Ray, left: Point, right: Point) -> tuple[Point, Point]:
    """Find where the function goes up, between a low point and a high one that goes down [U3]."""
    while ray.open() and right.step - left.step > 1e-15 * right.step:
        point = ray.at((left.step + right.step) / 2)
        if point.slope >= 0:
            return left, point
        if point.value <= ray.limit:
            left = point
        else:
            right = point
    return left, right
