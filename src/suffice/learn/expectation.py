"""What EM asks of a kind of model: the expected statistics of rows with gaps, as one vector of numbers.

The statistics are of the types that complete rows have, so every M-step is an estimator that already exists. As a
vector they can be added, compared and extrapolated; the maximum of the observed likelihood is where they stay.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.stats.statistics import Statistics

Floats = NDArray[np.float64]


class Expectation(Protocol):
    """The E-step of one kind of model, its data bound.

    Attributes
    ----------
    units : array, shape (size,)
        What differences of the vector are measured in, a row: ones for counts, products of standard deviations for
        moments.
    n : float
        The weight of all rows.
    """

    units: Floats
    n: float

    def at(self, model: Any) -> tuple[float, Floats]:
        """Return the observed log-likelihood at a model, and the statistics that it expects, shape (size,)."""

    def statistics(self, vector: Floats) -> Statistics:
        """Return a vector as statistics, which the M-step is made from."""

    def tamed(self, candidate: Floats, plain: Floats) -> Floats | None:
        """Return an extrapolated vector as one that statistics can have, or None; ``plain`` is one that can."""

    def started(self, chance: np.random.Generator | None) -> Floats:
        """Return where to begin: from the rows that each parameter has, or at random."""

    def log_prior(self, model: Any) -> float:
        """Return what the prior adds to the objective, up to a constant: zero without one."""

    def remarks(self, model: Any) -> tuple[str, ...]:
        """Say what the notes should tell of the data and of the model found."""
