"""Kinks: a price on the absolute value of every number, which leaves some of them at exactly zero."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.optimise.decrement import LITTLE, Decrement, decrement_at_kinks, decrement_by_products
from suffice.optimise.descent import Done
from suffice.optimise.newton_cg import EvaluateTwice, Product, newton_cg
from suffice.optimise.outcome import Floats

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Kinks:
    """Σ price · |x|, to be added to a smooth function.

    Attributes
    ----------
    prices : array, shape (n,)
        Not negative; a number of price zero has no kink.

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
        """Return which numbers are not at a kink."""
        return np.asarray((x != 0) | (self.prices == 0))

    def decrement(
        self, x: Floats, slope: Floats, product: Product, diagonal: Floats, total: float, little: float = LITTLE
    ) -> float:
        """Return what a Newton step would gain; numbers leave zero only in the direction of their slopes.

        Parameters
        ----------
        x : array, shape (n,)
        slope, product : array, shape (n,), and callable
            The gradient of the smooth function there, and products with its Hessian, divided by ``total``.
        diagonal : array, shape (n,)
            About the diagonal of the Hessian, divided as well.
        total : float
        little : float
            The part of the diagonal that is added to the Hessian, since products are known to rounding only.

        Examples
        --------
        >>> kinks, hessian = Kinks(np.array([1.0, 1.0])), np.diag([2.0, 8.0])
        >>> size = kinks.decrement(np.zeros(2), np.array([0.5, -1.4]), lambda v: hessian @ v, np.diag(hessian), 10.0)
        >>> round(size, 9)
        0.1
        """
        at_kink = ~self.free(x)
        left = np.where(at_kink, np.sign(slope), 1.0) * self.left(x, slope)

        def solve(kept: NDArray[np.intp]) -> Decrement:
            def multiply(direction: Floats) -> Floats:
                whole = np.zeros(len(x))
                whole[kept] = direction
                return np.asarray(total * product(whole)[kept], np.float64)

            return decrement_by_products(total * left[kept], multiply, total * diagonal[kept], little=little)

        return decrement_at_kinks(left, at_kink & (left == 0), at_kink, solve).size

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
            Whether the value of the sum and its slopes by the numbers that are `free` are good enough.
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
