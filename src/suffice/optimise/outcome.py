"""What an optimiser hands back, and how each of them begins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import EstimationError
from suffice.types import Floats

ROUNDING = 1e-12

OUT_OF_STEPS = "The steps ended before the gradient was small enough; allow more steps, or start from this point."
NO_BETTER = (
    "No better point was found along the last direction; rounding error may not allow a smaller gradient, "
    "so try a larger tolerance or another method."
)


@dataclass(frozen=True)
class Outcome:
    """The end of a minimisation.

    Attributes
    ----------
    x : ndarray of shape (n,)
        The best point, read-only.
    value : float
    gradient : ndarray of shape (n,)
        Value and gradient at ``x``.
    n_steps : int
        Steps that were accepted.
    n_evaluations : int
        Calls of ``evaluate``.
    converged : bool
        Whether ``done`` said yes at ``x``.
    reason : str
        Why it stopped, and what to try when it has not converged.
    values : tuple of float
        The value after each accepted step.
    """

    x: Floats
    value: float
    gradient: Floats
    n_steps: int
    n_evaluations: int
    converged: bool
    reason: str
    values: tuple[float, ...]


def outcome_of(
    x: Floats, value: float, gradient: Floats, values: Sequence[float], n_evaluations: int, trouble: str = ""
) -> Outcome:
    """Freeze the last point; it has converged when there is no ``trouble``."""
    x, gradient = x.copy(), gradient.copy()
    x.setflags(write=False)
    gradient.setflags(write=False)
    reason = trouble or "The gradient is small enough."
    return Outcome(x, value, gradient, len(values), n_evaluations, not trouble, reason, tuple(values))


def rounding_error(*values: float) -> float:
    """Return the difference below which values say nothing, given some that the function takes.

    A value is often the difference of long sums: zero at the optimum by chance, and exact to the digits of its terms.
    The value at the start is a better witness of their size; the terms are taken to be no less than about a thousandth.
    """
    return ROUNDING * max(1e-3, *map(abs, values))


def start_of(start: ArrayLike) -> Floats:
    """Return the start as a new vector of floats: what was passed in stays as it is."""
    return np.array(start, dtype=np.float64).reshape(-1)


def require_inside(value: float) -> float:
    """Return the value at the start, which must be finite."""
    if not math.isfinite(value):
        raise EstimationError(
            f"The objective is {float(value)} at the starting point, so that no direction leads down from there. "
            "Start from a point where it is finite."
        )
    return float(value)
