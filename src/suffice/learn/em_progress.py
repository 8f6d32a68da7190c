"""When EM is done: the certificate's own measure is small enough, or neither it nor the objective moves any more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from suffice.optimise.outcome import Stop
from suffice.types import Floats

AIM, ENOUGH = 1 / 20, 1 / 4
"""The parts of the tolerance that a climb aims at, and that it is content with where the objective no longer rises."""
FLAT, STEPS = 1e-3, 40
"""The objective is flat where it has risen by no more nats than this within so many steps."""
FLAT_STEPS = 100
"""So many steps are allowed from then on, and more only while the violation falls to a tenth within `STEPS` of them."""
GAIN = 1e-6
"""The nats that a step of EM may still promise at the end."""
ROUNDED = 1e-12
"""Rises of the objective that are smaller, beside its size, are rounding error."""
REASONS = {
    Stop.CONVERGED: "",
    Stop.LEVEL: (
        f"the objective rose by less than {FLAT:g} nats in any {STEPS} of the last {FLAT_STEPS} steps, so that it is "
        "flat along a direction, and the data do not determine the parameters that lie along it"
    ),
    Stop.NO_BETTER: (
        "no better point was found along the last direction, so that further steps are lost in rounding error"
    ),
}
"""What the ends of a climb mean."""


class Progress:
    """What the steps of one climb have reached.

    Parameters
    ----------
    tol : float
        The largest violation of the first-order condition, a row, that the certificate allows.
    moved : callable
        From two vectors of statistics to the names of the parameters that differ noticeably between their models.
    objectives : sequence of float
        After every step so far.
    state : mapping
        What `to_arrays` returned of a climb that goes on.

    Attributes
    ----------
    undetermined : tuple of str
        Where the climb ended on a ridge: the parameters that moved along it.

    Examples
    --------
    >>> progress = Progress(1e-8, lambda before, after: ())
    >>> progress.add(-10.0, 1e-3, 0.0, np.zeros(1)) is None, progress.add(-9.0, 1e-12, 0.0, np.ones(1)).name
    (True, 'CONVERGED')
    """

    def __init__(
        self,
        tol: float,
        moved: Callable[[Floats, Floats], tuple[str, ...]],
        objectives: Sequence[float] = (),
        state: Mapping[str, Floats] | None = None,
    ) -> None:
        self.tol, self._moved, self._objectives = tol, moved, list(objectives)
        held = state or {}
        self._least: list[float] = held.get("least", np.zeros(0)).tolist()
        self._kept: list[Floats] = list(held.get("kept", ()))
        self._n_flat = int(held.get("n_flat", np.zeros(1))[0])
        self.undetermined: tuple[str, ...] = ()

    def to_arrays(self) -> dict[str, Floats]:
        """Return all that a new `Progress` needs to go on."""
        counts = {"least": np.array(self._least), "n_flat": np.array([float(self._n_flat)])}
        return {**counts, "kept": np.stack(self._kept)} if self._kept else counts

    def restart(self) -> None:
        """Forget how small the violation has been: the climb goes on from elsewhere."""
        self._least, self._kept, self._n_flat = [], [], 0

    def add(self, objective: float, gap: float, gain: float, vector: Floats) -> Stop | None:
        """Take note of a step; return how the climb ends with it, or None to go on.

        ``gain`` is what a further step promises to add to the objective, in nats; ``vector`` are the statistics that
        the model is estimated from.
        """
        if len(self._least) % STEPS == 0:
            self._kept = [*self._kept[-3:], vector]
        self._objectives.append(objective)
        self._least.append(min(gap, self._least[-1]) if self._least else gap)
        if gap <= AIM * self.tol and gain <= GAIN:
            return Stop.CONVERGED
        if not self._is_flat(objective):
            self._n_flat = 0
            return None
        if gap <= ENOUGH * self.tol and gain <= GAIN:
            return Stop.CONVERGED
        self._n_flat += 1
        if self._n_flat <= FLAT_STEPS:
            return None
        self.undetermined = self._moved(self._kept[0], vector)
        return Stop.LEVEL

    def _is_flat(self, objective: float) -> bool:
        """Whether the last steps have neither raised the objective nor made the violation much smaller."""
        if len(self._least) <= STEPS:
            return False
        rise = objective - self._objectives[-1 - STEPS]
        if self._least[-1] <= 0.1 * self._least[-1 - STEPS] or self._is_leaving_a_saddle():
            return False
        return not rise > max(FLAT, ROUNDED * abs(objective))

    def _is_leaving_a_saddle(self) -> bool:
        """Whether the objective rises ever faster: near a saddle point it does, slowly at first, and on a ridge not."""
        if len(self._objectives) <= 2 * STEPS:
            return False
        first, middle, last = (self._objectives[-1 - back] for back in (2 * STEPS, STEPS, 0))
        return last - middle > middle - first + ROUNDED * abs(last)
