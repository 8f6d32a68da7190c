"""What EM asks of a kind of model: the expected statistics of rows with gaps, as one vector of numbers.

The statistics are of the types that complete rows have, so every M-step is an estimator that already exists. As a
vector they can be added, compared and extrapolated; the maximum of the observed likelihood is where they stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from suffice.errors import EstimationError
from suffice.stats.statistics import Statistics
from suffice.types import Floats

NOTICEABLE = 0.01
"""Probabilities, and other parameters in units of about one, that differ by more than this are said to have moved."""


def largest_change(vector: Floats, expected: Floats, units: Floats, n: float) -> float:
    """Return the largest difference of S and F(S) in their units, a row."""
    return float((np.abs(expected - vector) / units).max(initial=0.0)) / max(n, 1e-300)


def moved(before: Mapping[str, Floats], after: Mapping[str, Floats]) -> tuple[str, ...]:
    """Return the names of the parameters that differ noticeably between two models, those that moved most first."""
    sizes = {name: _change(before.get(name), values) for name, values in after.items()}
    return tuple(name for name in sorted(sizes, key=lambda name: -sizes[name]) if sizes[name] > NOTICEABLE)


def _change(before: Floats | None, after: Floats) -> float:
    return 0.0 if before is None else float(np.nan_to_num(np.abs(after - before)).max(initial=0.0))


class RuledOutError(EstimationError):
    """A model gives what was observed the probability zero."""


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

    def distance(self, model: Any, vector: Floats, expected: Floats) -> tuple[float, float]:
        """Return how far M(S) is from the optimum: the violation that the certificate measures, and a gain.

        The first is the largest derivative of the observed likelihood, a row, in the certificate's units. The second is
        what the step to F(S) would add, in nats, with the curvature of complete rows; it may be left at infinity while
        the first is above the tolerance.
        """

    def parameters(self, model: Any, vector: Floats) -> dict[str, Floats]:
        """Return the parameters of M(S) by names that a user knows, in units of about one."""

    def log_prior(self, model: Any) -> float:
        """Return what the prior adds to the objective, up to a constant: zero without one."""

    def remarks(self, model: Any) -> tuple[str, ...]:
        """Say what the notes should tell of the data and of the model found."""
