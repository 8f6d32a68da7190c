"""L-BFGS on the observed likelihood itself: the gradient is that of complete rows at what the model expects.

By Fisher's identity, ∂ℓ/∂θ of what was observed is the score of complete rows at their expected statistics, so an
E-step gives the value and the gradient. In units of what is expected, the first step is about that of EM.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from suffice.optimise.lbfgs import lbfgs

Floats = NDArray[np.float64]
MEMORY = 12
"""Pairs of changes that are remembered."""


@runtime_checkable
class Slopes(Protocol):
    """What an `Expectation` provides beyond EM's needs, for searches by gradients."""

    n: float

    @property
    def has_slopes(self) -> bool:
        """Whether gradients are known of this problem."""

    def coordinates(self, model: Any) -> Floats:
        """Return the coordinates of a model; any others are those of some model, too."""

    def slope(self, coordinates: Floats) -> tuple[float, Floats, Floats]:
        """Return the objective, its gradient, and the expected statistics."""

    def scale(self, expected: Floats) -> Floats:
        """Return about the diagonal of the inverse Hessian, a row."""


@dataclass(frozen=True)
class Ascent:
    """Where a search by gradients ended: the statistics expected there, the objective, and why it ended."""

    vector: Floats
    objective: float
    converged: bool
    reason: str


def ascend(
    held: Slopes, start: Floats, tol: float, steps: Iterable[int], told: Callable[[float, float, Floats], None]
) -> Ascent:
    """Climb by L-BFGS.

    Parameters
    ----------
    held : Slopes
    start : array
        Coordinates.
    tol : float
        The gradient, a row, at which it is done.
    steps : iterable of int
    told : callable
        Hears of every step: the objective, the largest slope a row, and the expected statistics.
    """
    best, highest = held.slope(start)[2], -math.inf

    def evaluate(x: Floats) -> tuple[float, Floats]:
        nonlocal best, highest
        value, gradient, expected = held.slope(x)
        if value > highest:
            best, highest = expected, value
        return -value / held.n, -gradient / held.n

    def done(value: float, gradient: Floats) -> bool:
        largest = float(np.abs(gradient).max(initial=0.0))
        told(-value * held.n, largest, best)
        return largest <= tol

    found = lbfgs(evaluate, start, done=done, steps=steps, memory=MEMORY, scale=held.scale(best))
    return Ascent(best, highest, found.converged, "" if found.converged else found.reason.rstrip("."))
