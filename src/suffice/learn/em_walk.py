"""Steps of EM, each mixed from those before it, as a search that can be broken off and go on with the same bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from suffice.learn.expectation import Expectation, RuledOutError
from suffice.optimise.mixing import Mixing
from suffice.types import Floats

SLACK = 1e-12
"""By how much of itself rounding may lower the objective."""


class Taken(NamedTuple):
    """A step of EM from some statistics S.

    Attributes
    ----------
    objective : float
        At M(S).
    expected : array
        F(S).
    gap : float
        The largest violation of the first-order condition at M(S), a row, as the certificate measures it.
    gain : float
        What the step would add to the objective, in nats; infinity where that was not worked out.
    """

    objective: float
    expected: Floats
    gap: float
    gain: float


class Stepping(Protocol):
    """What a walk needs of a climb."""

    expectation: Expectation

    def step(self, vector: Floats) -> Taken:
        """Return a step from some statistics."""

    def tried(self, candidate: Floats) -> Taken | None:
        """Return a step from extrapolated statistics, or None where no model comes of them."""


class Walk:
    """Steps of EM; one that would lower the objective is not taken.

    Attributes
    ----------
    vector, expected : array
        The statistics S of the last step, and F(S).
    objective, gap, gain : float
        At M(S): see `Taken`.
    """

    def __init__(
        self, climb: Stepping, vector: Floats, memory: int, objective: float, state: Mapping[str, Floats]
    ) -> None:
        self.climb, self.objective = climb, objective
        self.vector, self.expected = vector, state.get("plain", vector)
        self._candidate: Floats | None = state.get("candidate") if state else vector
        self._mixing = Mixing(memory)
        self._mixing.restore(state)
        self.gap, self.gain = np.inf, np.inf

    def advance(self) -> bool:
        """Take a step; False where rounding leaves none."""
        candidate, units = self._candidate, self.climb.expectation.units
        found = None if candidate is None else self.climb.tried(candidate)
        if (
            candidate is None
            or found is None
            or found.objective < self.objective - SLACK * max(1.0, abs(self.objective))
        ):
            self._mixing.forget()
            candidate = self.expected
            try:
                found = self.climb.step(candidate)
            except RuledOutError:
                if self.objective == -np.inf:
                    raise
                return False  # on the way to a zero, rounding rules out what was observed
        self.vector, (self.objective, self.expected, self.gap, self.gain) = candidate, found
        mixed = self._mixing.next(candidate / units, self.expected / units)
        self._candidate = self.climb.expectation.tamed(mixed * units, self.expected)
        return True

    def to_arrays(self) -> dict[str, Floats]:
        """Return all that a new `Walk` needs to go on with the same bits."""
        held = {"plain": self.expected, **self._mixing.to_arrays()}
        return held if self._candidate is None else {**held, "candidate": self._candidate}


class WarmStart:
    """Where the search of the next M-step begins: nowhere in particular, for estimators in closed form."""

    init: Any = None
    steps: ClassVar[int] = 1000
    """How many steps one search may take, whatever EM itself may: so a fit that is continued has the same bits."""

    def learn(self, model: Any) -> None:
        """Take note of what the last M-step found."""

    def to_arrays(self) -> dict[str, Floats]:
        """Return what was noted."""
        return {}

    def restore(self, arrays: Mapping[str, Floats]) -> None:
        """Note what `to_arrays` returned; without it, begin anew."""
