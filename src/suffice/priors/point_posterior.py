"""The posterior of a distribution that an expert gave: all of it is known, and the data changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import require_seed
from suffice.models.cpds import CPD, Family
from suffice.types import Columns


@dataclass(frozen=True, eq=False)
class PointPosterior:
    """All the mass on one distribution.

    Attributes
    ----------
    cpd : CPD
        What was given.
    log_marginal_likelihood : float
        The log-likelihood of the family's data under it.
    """

    cpd: CPD = field(repr=False)
    log_marginal_likelihood: float

    @property
    def family(self) -> Family:
        """The node and its parents."""
        return self.cpd.family

    def mean(self) -> CPD:
        """Return what was given."""
        return self.cpd

    def mode(self) -> CPD:
        """Return what was given."""
        return self.cpd

    def sample_table(self, *, seed: int | None = None) -> CPD:
        """Return what was given."""
        require_seed(seed)
        return self.cpd

    def log_predictive(self, columns: Columns) -> NDArray[np.float64]:
        """Return log p(child | parents) of every row of columns; shape (n_rows,)."""
        return self.cpd.log_prob(columns)

    def renamed(self, family: Family) -> PointPosterior:
        """Return the same for a tied family."""
        return PointPosterior(self.cpd.renamed(family), self.log_marginal_likelihood)

    def to_dict(self) -> dict[str, Any]:
        """Return the posterior as JSON-able data, its family left out."""
        return {**self.cpd.to_dict(), "log_marginal_likelihood": self.log_marginal_likelihood}

    @classmethod
    def from_dict(cls, family: Family, entry: Mapping[str, Any]) -> PointPosterior:
        """Rebuild a given regression from `to_dict`'s data."""
        from suffice.models.cpds.linear_gaussian import LinearGaussianCPD

        return cls(LinearGaussianCPD.from_dict(family, entry), float(entry["log_marginal_likelihood"]))
