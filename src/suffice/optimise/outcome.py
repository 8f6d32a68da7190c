"""What an optimiser hands back, and how each of them begins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import EstimationError, Mention, Text
from suffice.text import plural
from suffice.types import Floats

ROUNDING = 1e-12


class Stop(Enum):
    """How a search ended. The value says so to people, with what to try next; files have the name.

    Examples
    --------
    >>> print(Stop.CONVERGED.value)
    The gradient is small enough.
    """

    CONVERGED = "The gradient is small enough."
    OUT_OF_STEPS = Text(
        "The steps ended before the gradient was small enough; ",
        Mention("more steps", "allow more steps, or start from this point"),
        ".",
    )
    NO_BETTER = Text(
        "No better point was found along the last direction; rounding error may not allow a smaller gradient, so ",
        Mention("larger tolerance", "try a larger tolerance or another method"),
        ".",
    )
    LEVEL = "The objective hardly changes any more, although the gradient is not small enough."
    HELD_OUT = "The loss of what was held out no longer falls."
    FAILED = "The search met an error."
    INTERRUPTED = "The search was interrupted."


MORE_STEPS = Text("allow more by ", Mention("max_iter", "max_iter=…"))
"""What to try after a search that was out of steps, where an argument gives their number."""


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
    stop : Stop
        How it ended.
    values : tuple of float
        The value after each accepted step.
    advice : str
        What to try next, where the search knows better than ``stop`` does.
    """

    x: Floats
    value: float
    gradient: Floats
    n_steps: int
    n_evaluations: int
    stop: Stop
    values: tuple[float, ...]
    advice: str = ""

    @property
    def converged(self) -> bool:
        """Whether ``done`` said yes at ``x``."""
        return self.stop is Stop.CONVERGED

    @property
    def reason(self) -> str:
        """Why it stopped, and what to try when it has not converged."""
        return self.advice or self.stop.value


def outcome_of(
    x: Floats,
    value: float,
    gradient: Floats,
    values: Sequence[float],
    n_evaluations: int,
    stop: Stop = Stop.CONVERGED,
    advice: str = "",
) -> Outcome:
    """Freeze the last point."""
    x, gradient = x.copy(), gradient.copy()
    x.setflags(write=False)
    gradient.setflags(write=False)
    return Outcome(x, value, gradient, len(values), n_evaluations, stop, tuple(values), advice)


def not_converged(n_steps: int, reason: str, hint: str = "") -> Text:
    """Say that a search ended before its goal, why, and what to try."""
    return Text(f"Not converged after {plural(n_steps, 'step')}: ", reason, hint)


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
