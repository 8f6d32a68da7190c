"""L-BFGS on the observed likelihood itself: the gradient is that of complete rows at what the model expects.

By Fisher's identity, ∂ℓ/∂θ of what was observed is the score of complete rows at their expected statistics, so an
E-step gives the value and the gradient. The last step is one of EM's, which never lowers the objective.
"""

from __future__ import annotations

import math
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from suffice.errors import require_whole
from suffice.learn.em import Climb, End
from suffice.learn.em_checkpoint import Checkpoint, Resumed
from suffice.optimise.lbfgs import lbfgs

Floats = NDArray[np.float64]
MEMORY = 10
"""Pairs of changes that are remembered, unless told."""


class Slopes(Protocol):
    """What an `Expectation` provides beyond EM's needs, for searches by gradients."""

    n: float

    def coordinates(self, model: Any) -> Floats:
        """Return the coordinates of a model; any others are those of some model, too."""

    def slope(self, coordinates: Floats) -> tuple[float, Floats, Floats]:
        """Return the objective, its gradient, and the expected statistics."""


class Descent(Climb):
    """Searches by L-BFGS in place of EM's steps."""

    def from_(self, name: str, vector: Floats, label: str, checkpoint: Checkpoint, resumed: Resumed) -> End:
        """Climb from some statistics."""
        watch, held = self.problem.watch, cast(Slopes, self.expectation)
        trace, best, highest = list(resumed.trace[:-1]), vector, -math.inf

        def evaluate(x: Floats) -> tuple[float, Floats]:
            nonlocal best, highest
            value, gradient, expected = held.slope(x)
            if value > highest:
                best, highest = expected, value
                watch.info = f"objective {value:,.6f}, gradient {np.abs(gradient).max(initial=0.0) / held.n:.1e}"
            return -value / held.n, -gradient / held.n

        def done(value: float, gradient: Floats) -> bool:
            if not trace:
                self.estimated(best, self.problem.unseen_parents)  # what no row can tell of is refused here, not later
            trace.append(-value * held.n)
            checkpoint.at(best, trace)
            return bool(np.abs(gradient).max(initial=0.0) <= self.problem.tol / 20)

        memory = require_whole("memory", self.problem.options.get("memory", MEMORY), 1)
        steps = watch.steps(label.replace("EM", "L-BFGS"), self.problem.max_iter)
        start = held.coordinates(self.estimated(vector).model)
        found = lbfgs(evaluate, start, done=done, steps=steps, memory=memory)
        reason = "" if found.converged or watch.interrupted else found.reason.rstrip(".")
        return End(name, best, highest, trace, found.converged, reason)
