"""L1: a price on the absolute value of every number, which leaves some of them at exactly zero."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.optimise.decrement import (
    NEGLIGIBLE,
    Decrement,
    decrement_at_zeros,
    decrement_by_products,
    decrement_of,
)
from suffice.optimise.descent import Done
from suffice.optimise.newton_cg import EvaluateTwice, Product, newton_cg
from suffice.types import Bools, Floats

MOST_WRITTEN = 100
"""Numbers up to which a Hessian is worth writing out at the end of a search."""
MOST_FINISHING, MOST_CUTS = 50, 12
ROUNDED_SLOPES = 3e-15
"""Slopes are known to this part of how much a function varies by a number: the root of their own derivative."""
ROUNDED = 1e-14
"""Relative rises of the sum that rounding explains."""
ROUGHLY = 10
"""Where rounding allows no better point, so many times the gain may be left."""


class _NewtonPoint(NamedTuple):
    """A point, the sum and the slopes there, what a Newton step would gain, and that step."""

    x: Floats
    value: float
    slopes: Floats
    left: float
    step: Floats


@dataclass(frozen=True, eq=False)
class Kinks:
    """Σ price · |x|, to be added to a smooth function.

    Attributes
    ----------
    prices : array, shape (n,)
        Not negative; a number of price zero is not penalised.

    Examples
    --------
    >>> kinks = Kinks(np.array([1.0, 1.0, 0.0]))
    >>> kinks.shrink(np.array([3.0, -0.5, -0.5]), 1.0).tolist()
    [2.0, 0.0, -0.5]
    >>> kinks.left(np.array([2.0, 0.0, -0.5]), np.array([-1.0, 0.4, 0.1])).tolist()
    [0.0, 0.0, 0.1]
    """

    prices: Floats

    def value(self, x: Floats) -> float:
        """Return the sum."""
        return float(self.prices.dot(np.abs(x)))

    def shrink(self, z: Floats, step: float) -> Floats:
        """Move every number towards zero by its price: the proximal map."""
        return np.asarray(np.sign(z) * np.maximum(np.abs(z) - step * self.prices, 0.0) + 0.0, np.float64)  # no −0

    def left(self, x: Floats, slope: Floats) -> Floats:
        """Return what no subgradient takes up of a smooth slope: at zero it may be as large as the price."""
        at_zero = np.maximum(np.abs(slope) - self.prices, 0.0)
        return np.asarray(np.where(x == 0, at_zero, slope + np.sign(x) * self.prices), np.float64)

    def free(self, x: Floats) -> Bools:
        """Return which numbers are not at zero, or have no price."""
        return np.asarray((x != 0) | (self.prices == 0))

    def decrement(self, x: Floats, slope: Floats, product: Product, diagonal: Floats, total: float) -> float:
        """Return what a Newton step would gain; numbers leave zero only in the direction of their slopes.

        Parameters
        ----------
        x : array, shape (n,)
        slope, product : array, shape (n,), and callable
            The gradient of the smooth function there, and products with its Hessian, divided by ``total``.
        diagonal : array, shape (n,)
            About the diagonal of the Hessian, divided as well.
        total : float

        Examples
        --------
        >>> kinks, hessian = Kinks(np.array([1.0, 1.0])), np.diag([2.0, 8.0])
        >>> size = kinks.decrement(np.zeros(2), np.array([0.5, -1.4]), lambda v: hessian @ v, np.diag(hessian), 10.0)
        >>> round(size, 9)
        0.1
        """
        # small steps tell what relations would gain; where numbers are few, `finished` looks at that
        negligible = 0.0 if len(x) > MOST_WRITTEN else NEGLIGIBLE
        noise = ROUNDED_SLOPES * total * np.sqrt(np.maximum(diagonal, 0.0))

        def multiply(direction: Floats) -> Floats:
            return np.asarray(total * product(direction), np.float64)

        def solve(gradient: Floats, kept: NDArray[np.intp]) -> Decrement:
            def along(part: Floats) -> Floats:
                whole = np.zeros(len(x))
                whole[kept] = part
                return multiply(whole)[kept]

            own = total * diagonal[kept]
            return decrement_by_products(gradient, along, own, noise=noise[kept], negligible=negligible)

        slopes = total * (slope + np.sign(x) * self.prices)
        return decrement_at_zeros(slopes, total * self.prices, ~self.free(x), solve, multiply, total * diagonal).size

    def finished(
        self,
        evaluate: EvaluateTwice,
        x: Floats,
        *,
        total: float,
        gain: float,
        done: Callable[[Floats], bool] = lambda _: True,
        project: Callable[[Floats, Bools], Floats] = lambda step, _: step,
        rounding: float = 0.0,
    ) -> tuple[Floats, bool]:
        """Return the optimum by Newton steps with a Hessian that is written out, for a few numbers; and if it is one.

        Conjugate gradients do not see a direction that a few rows of very many determine, nor one along which only the
        prices change; and values are rounded to more than what is left to gain there. So steps are judged by the
        decrement, the measure of certificates. A number that would change its sign stops at zero.

        Parameters
        ----------
        evaluate : callable
            Value, gradient and products with the Hessian of the smooth function, divided by ``total``.
        x : array, shape (n,)
            A point near the optimum.
        total, gain : float
            The point is an optimum where a Newton step would lower ``total`` times the sum by at most ``gain``.
        done : callable, optional
            And where this holds of the slopes that are `left`.
        project : callable, optional
            From a step, and which numbers are `free`, to an equivalent one of which rounding has made less.
        rounding : float
            Rises of the sum that rounding explains, where that is the difference of larger numbers.

        Examples
        --------
        >>> kinks = Kinks(np.array([1e-9, 1e-9, 1e-9]))
        >>> along = np.array([1.0, 1.0, -1.0])  # x and x + t (1, -1, 0) have the same value, but for the prices
        >>> def evaluate(x):
        ...     off = float(along @ x) - 3
        ...     return off**2 / 2, off * along, lambda v: along * float(along @ v)
        >>> x, is_end = kinks.finished(evaluate, np.array([4.0, -0.5, 0.5]), total=1e10, gain=1e-5)
        >>> is_end, bool((x[1:] <= 0).all())
        (True, True)
        """
        place = self._newton(evaluate, x, total)
        for _ in range(MOST_FINISHING):
            step = project(place.step, self.free(place.x))
            if place.left <= gain and done(place.slopes):
                # only where slopes agree with the prices do numbers at zero show that they would leave it
                trial = up_to_zero(place.x, place.x + step, (self.prices > 0) & (place.x != 0))
                after = self._newton(evaluate, trial, total)
                if after.left <= gain or not self._has_not_risen(place, after, rounding):
                    return place.x, True
                place = after
                continue
            for cut in range(MOST_CUTS):
                trial = up_to_zero(place.x, place.x + 0.5**cut * step, (self.prices > 0) & (place.x != 0))
                after = self._newton(evaluate, trial, total)
                if self._is_better(place, after, rounding):
                    break
            else:  # rounding allows no better point
                return place.x, place.left <= ROUGHLY * gain and done(place.slopes)
            place = after
        return place.x, place.left <= gain and done(place.slopes)

    def _is_better(self, before: _NewtonPoint, after: _NewtonPoint, rounding: float) -> bool:
        """Whether a step is worth taking: less is left to gain, numbers have come to zero, or the sum has fallen.

        Along a direction in which only prices change, as much is left after a step as before.
        """
        if not self._has_not_risen(before, after, rounding):
            return False
        has_fallen = after.value < before.value and after.left <= 2 * before.left
        return after.left < before.left or has_fallen or not np.array_equal(self.free(after.x), self.free(before.x))

    @staticmethod
    def _has_not_risen(before: _NewtonPoint, after: _NewtonPoint, rounding: float) -> bool:
        return after.value <= before.value + max(rounding, ROUNDED * abs(before.value))

    def _newton(self, evaluate: EvaluateTwice, x: Floats, total: float) -> _NewtonPoint:
        """Return the sum at a point, and the Newton step there; numbers leave zero in the direction of their slopes."""
        value, slope, product = evaluate(x)
        at_zero = ~self.free(x)
        left = np.where(at_zero, np.sign(slope), 1.0) * self.left(x, slope)
        hessian = np.array([product(unit) for unit in np.eye(len(x))]).reshape(len(x), len(x))
        hessian = total * (hessian + hessian.T) / 2

        noise = ROUNDED_SLOPES * np.sqrt(total * np.maximum(np.diag(hessian), 0.0))

        def solve(gradient: Floats, kept: NDArray[np.intp]) -> Decrement:
            return decrement_of(gradient, hessian[np.ix_(kept, kept)], noise[kept])

        slopes = total * (slope + np.sign(x) * self.prices)
        found = decrement_at_zeros(
            slopes, total * self.prices, at_zero, solve, lambda v: np.asarray(hessian @ v), np.diag(hessian)
        )
        step = np.zeros(len(x)) if found.solved is None else -found.solved
        return _NewtonPoint(x, value + self.value(x), left, found.size, step)

    def on_support(
        self,
        evaluate: EvaluateTwice,
        x: Floats,
        *,
        done: Done,
        steps: Iterable[int],
        gain: float = math.inf,
        scale: Floats | None = None,
    ) -> tuple[Floats, bool]:
        """Return the optimum with the zeros of x, and with the slopes that the signs of x have; and if it was reached.

        Both given, the sum is smooth, and Newton's method finds its optimum to the last digits. That has the signs of x
        only if it is the optimum of the sum itself.

        Parameters
        ----------
        evaluate : callable
            Value, gradient and products with the Hessian of the smooth function.
        x : array, shape (n,)
        done : callable
            Whether a point, the value of the sum and its slopes are good enough, of the numbers that are `free` alone.
        steps : iterable of int
        gain : float
            The search goes on after ``done`` while the next step promises to lower the value by more than this.
        scale : array, shape (n,), optional
            About the diagonal of the inverse Hessian.
        """
        free = self.free(x)
        pull = (np.sign(x) * self.prices)[free]

        def whole(part: Floats) -> Floats:
            found = np.zeros_like(x)
            found[free] = part
            return found

        def twice(part: Floats) -> tuple[float, Floats, Product]:
            value, slope, product = evaluate(whole(part))

            def multiply(direction: Floats) -> Floats:
                return np.asarray(product(whole(direction))[free], np.float64)

            return value + float(pull.dot(part)), slope[free] + pull, multiply

        inverse = None if scale is None else scale[free]
        found = newton_cg(twice, x[free], done=done, steps=steps, gain=gain, scale=inverse)
        return whole(found.x), found.converged


def up_to_zero(x: Floats, y: Floats, held: Bools) -> Floats:
    """Return y, or the point on the way from x where the first number of those held changes its sign, zero there.

    >>> up_to_zero(np.array([1.0, 2.0]), np.array([3.0, -2.0]), np.array([True, True])).tolist()
    [2.0, 0.0]
    """
    crossing = held & (np.sign(y) != np.sign(x))
    if not crossing.any():
        return y
    shares = x[crossing] / (x[crossing] - y[crossing])
    first = float(shares.min(initial=1.0))
    there = x + first * (y - x)
    there[np.flatnonzero(crossing)[shares == first]] = 0.0
    return there
