"""Beliefs over a finite list of hypotheses: prior weights, and the posterior."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError, UnknownNameError, listing, require_number, suggestion
from suffice.structures.hypotheses import Hypotheses
from suffice.text import html_table, plain_table, probability


def prior_weights(hypotheses: Hypotheses, prior: object) -> NDArray[np.float64]:
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
    normalised: NDArray[np.float64] = weights / weights.sum()
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
    log_weights: NDArray[np.float64] = field(repr=False)
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

    def to_dict(self) -> dict[str, Any]:
        """Return the posterior as JSON-able data."""
        return {"log_weights": self.log_weights, "log_marginal_likelihood": self.log_marginal_likelihood}
