"""L-BFGS on the observed likelihood itself: the gradient is that of complete rows at what the model expects.

By Fisher's identity, ∂ℓ/∂θ of what was observed is the score of complete rows at their expected statistics, so an
E-step gives the value and the gradient. In units of what is expected, the first step is about that of EM.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from suffice.optimise.descent import next_point
from suffice.optimise.lbfgs import PairMemory
from suffice.optimise.line_search import Point
from suffice.optimise.outcome import require_inside, rounding_error
from suffice.types import Floats

MEMORY = 20
"""Pairs of changes that are remembered."""


class Slope(NamedTuple):
    """The objective at some coordinates, its gradient, the expected statistics, and the certificate's measure."""

    objective: float
    gradient: Floats
    expected: Floats
    gap: float


@runtime_checkable
class Slopes(Protocol):
    """What an `Expectation` provides beyond EM's needs, for searches by gradients."""

    n: float

    @property
    def has_slopes(self) -> bool:
        """Whether gradients are known of this problem."""

    def coordinates(self, model: Any) -> Floats:
        """Return the coordinates of a model; any others are those of some model, too."""

    def slope(self, coordinates: Floats) -> Slope:
        """Return the objective and its gradient, with the expected statistics and the largest violation, a row."""

    def scale(self, expected: Floats) -> Floats:
        """Return about the diagonal of the inverse Hessian, a row."""

    def risen(self, coordinates: Floats) -> Floats | None:
        """Return coordinates in which zeros with which the likelihood rises are lifted; None without any."""


class Ascent:
    """A climb by L-BFGS that is under way.

    Attributes
    ----------
    slope : Slope
        At the present point.
    """

    def __init__(self, held: Slopes, start: Floats, state: Mapping[str, Floats] | None = None) -> None:
        self.held = held
        self._tried: list[tuple[Floats, Slope]] = []
        value, gradient = self._evaluate(start)
        self.slope = self._tried[-1][1]
        self._point = Point(0.0, start, require_inside(value), gradient, 0.0)
        self._first = self._point.value if state is None else float(state["first"][0])
        self._scale = held.scale(self.slope.expected) if state is None else np.array(state["scale"])
        self._memory = PairMemory(len(start), MEMORY, self._scale)
        self._is_fresh = state is None
        if state is not None:
            self._memory.restore(state)

    def _evaluate(self, x: Floats) -> tuple[float, Floats]:
        found = self.held.slope(x)
        self._tried.append((x, found))
        return -found.objective / self.held.n, -found.gradient / self.held.n

    def advance(self) -> bool:
        """Take a step, the first one to where the climb begins; False where no better point is found."""
        if self._is_fresh:
            self._is_fresh = False
            return True
        noise = rounding_error(self._first, self._point.value)
        self._tried.clear()
        after, _ = next_point(self._evaluate, self._point, self._memory, noise)
        if after is None:
            return False
        self._point = after
        self.slope = next(found for x, found in reversed(self._tried) if x is after.x)
        return True

    @property
    def vector(self) -> Floats:
        """The statistics that the next M-step would be made from."""
        return self.slope.expected

    @property
    def expected(self) -> Floats:
        """The same: the model of the present point is not estimated from statistics."""
        return self.slope.expected

    @property
    def objective(self) -> float:
        """At the present point."""
        return self.slope.objective

    @property
    def gap(self) -> float:
        """The largest violation of the first-order condition, a row, as the certificate measures it."""
        return self.slope.gap

    @property
    def gain(self) -> float:
        """What a step would still add to the objective, in nats, by what is known of its curvature."""
        direction = self._memory.direction(self._point.gradient)
        return max(0.0, -0.5 * self.held.n * float(self._point.gradient @ direction))

    @property
    def coordinates(self) -> Floats:
        """Where the climb has come to."""
        return self._point.x

    def to_arrays(self) -> dict[str, Floats]:
        """Return all that a new `Ascent` needs to go on with the same bits."""
        return {
            "coordinates": self._point.x,
            "first": np.array([self._first]),
            "scale": self._scale,
            **self._memory.to_arrays(),
        }
