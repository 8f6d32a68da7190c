"""Beliefs over a finite list of hypotheses: prior weights, and the posterior."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suffice.errors import (
    ArgumentError,
    UnknownNameError,
    listing,
    require_fraction,
    require_number,
    require_seed,
    suggestion,
)
from suffice.models.hypothesis_mixture import HypothesisMixture
from suffice.models.sampling import require_draws
from suffice.priors.parameter_intervals import ParameterIntervals
from suffice.priors.prior import ComparedByContent
from suffice.structures.hypotheses import Hypotheses
from suffice.text import html_table, plain_table, probability
from suffice.types import Floats, TableLike


@dataclass(frozen=True, eq=False, repr=False)
class HypothesisWeights(ComparedByContent, Mapping[str, float]):
    """A prior on hypotheses: the weight of each."""

    weights: Mapping[str, float]

    def __getitem__(self, name: str) -> float:
        return self.weights[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.weights)

    def __len__(self) -> int:
        return len(self.weights)

    def __repr__(self) -> str:
        return f"HypothesisWeights({dict(self.weights)})"

    def to_dict(self) -> dict[str, Any]:
        """Return the weights by hypothesis."""
        return dict(self.weights)


def prior_weights(hypotheses: Hypotheses, prior: object) -> Floats:
    """Read the ``prior`` argument, a mapping from hypothesis to weight or ``"uniform"``; the weights sum to one."""
    if isinstance(prior, str) and prior == "uniform":
        return np.full(len(hypotheses.names), 1 / len(hypotheses.names))
    if not isinstance(prior, Mapping):
        raise ArgumentError(
            "The prior of a finite hypothesis space is 'uniform', or a mapping such as "
            f"{{{hypotheses.names[0]!r}: 0.5, …}}. Got {prior!r} instead."
        )
    for name in (*prior, *hypotheses.names):
        if name not in hypotheses.names or name not in prior:
            raise ArgumentError(
                f"The prior must give a weight to each of {listing(hypotheses.names)}, and to no other; "
                f"{name!r} is on one side only.{suggestion(name, hypotheses.names)}"
            )
    weights = np.array([require_number(f"prior[{name!r}]", prior[name]) for name in hypotheses.names])
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise ArgumentError(
            f"The prior's weights must be finite, not negative and not all zero. Got {dict(prior)} instead."
        )
    normalised: Floats = weights / weights.sum()
    return normalised


@dataclass(frozen=True, eq=False)
class HypothesisPosterior(Mapping[str, float]):
    """p(h | data) for every hypothesis.

    Attributes
    ----------
    hypotheses : Hypotheses
    log_weights : array, shape (n_hypotheses,)
        log p(h | data); −inf for hypotheses that the data rules out.
    log_marginal_likelihood : float
        log Σ_h p(h) p(data | h).
    """

    hypotheses: Hypotheses
    log_weights: Floats = field(repr=False)
    log_marginal_likelihood: float

    def __getitem__(self, name: str) -> float:
        if name not in self.hypotheses.names:
            raise UnknownNameError(
                f"There is no hypothesis {name!r}. The hypotheses are {listing(self.hypotheses.names)}."
                + suggestion(name, self.hypotheses.names)
            )
        return float(np.exp(self.log_weights[self.hypotheses.names.index(name)]))

    def __iter__(self) -> Iterator[str]:
        return iter(self.hypotheses.names)

    def __len__(self) -> int:
        return len(self.hypotheses.names)

    @property
    def most_probable(self) -> str:
        """The hypothesis of highest posterior probability; of equal ones the first."""
        return self.hypotheses.names[int(np.argmax(self.log_weights))]

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[name, str(len(self.hypotheses.outcomes(name))), probability(self[name])] for name in self]
        return ["hypothesis", "size", "p"], rows, "<>>"

    def __str__(self) -> str:
        return plain_table(*self._cells())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(*self._cells())

    # As every posterior ----------------------------------------------------------------------------------------

    @property
    def weights(self) -> Floats:
        """p(h | data) of every hypothesis, in order; shape (n_hypotheses,)."""
        weights: Floats = np.exp(self.log_weights)
        weights /= weights.sum()
        return weights

    def mean(self) -> HypothesisMixture:
        """Return the average of the hypotheses under their posterior: the exact predictive distribution."""
        return HypothesisMixture(self.hypotheses, self.weights)

    def mode(self) -> HypothesisMixture:
        """Return the most probable hypothesis; of equal ones the first."""
        return self._alone(int(np.argmax(self.log_weights)))

    def sample(self, n: int, *, seed: int | None = None) -> tuple[HypothesisMixture, ...]:
        """Draw ``n`` hypotheses from the posterior, each as a distribution of its own."""
        stream = np.random.Generator(np.random.Philox(require_seed(seed)))
        size = require_draws(n, 8 * (len(self) + 100), "draws")
        return tuple(self._alone(int(place)) for place in stream.choice(len(self), size, p=self.weights))

    def _alone(self, place: int) -> HypothesisMixture:
        weights = np.zeros(len(self))
        weights[place] = 1.0
        return HypothesisMixture(self.hypotheses, weights)

    def intervals(self, level: float = 0.95) -> ParameterIntervals:
        """Return what is known of the probability of every outcome: its median and interval among the hypotheses.

        There are finitely many values, so a quantile is the smallest one that no less than so much of the posterior
        lies at or below.
        """
        tails = np.array([0.5, (1 - require_fraction("level", level)) / 2, (1 + level) / 2])
        variable = self.hypotheses.variable
        by_hypothesis = np.stack([self._alone(place).table.values for place in range(len(self))])
        order = np.argsort(by_hypothesis, axis=0, kind="stable")
        values = np.take_along_axis(by_hypothesis, order, axis=0)
        below = np.cumsum(self.weights[order], axis=0)
        places = (below[:, :, None] < tails * (1 - 1e-12)).sum(axis=0).clip(max=len(self) - 1)
        numbers = np.take_along_axis(values, places.T, axis=0).T
        return ParameterIntervals(tuple(f"p({variable.name}={label!r})" for label in variable.labels), numbers, level)

    def predictive(self) -> HypothesisMixture:
        """Return the distribution of a new outcome, the hypotheses averaged."""
        return self.mean()

    def log_predictive(self, data: TableLike) -> Floats:
        """Return log p(outcome | data) of every new row by itself; shape (n_rows,)."""
        return np.asarray(self.mean().log_prob(data), np.float64)

    def as_prior(self) -> HypothesisWeights:
        """Return the posterior weights as the prior of further fits; one below 1e-308 is zero then."""
        return HypothesisWeights(dict(zip(self.hypotheses.names, self.weights.tolist(), strict=True)))

    def to_dict(self) -> dict[str, Any]:
        """Return the posterior as JSON-able data."""
        return {"log_weights": self.log_weights, "log_marginal_likelihood": self.log_marginal_likelihood}
