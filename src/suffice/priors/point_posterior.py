"""The posterior of a distribution that an expert gave: all of it is known, and the data changes nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import EstimationError, require_fraction, require_seed
from suffice.models.cpds import CPD, NodeFamily
from suffice.models.sampling import require_draws
from suffice.priors.parameter_intervals import ParameterIntervals
from suffice.priors.posterior import PosteriorPredictive, log_predictive_of_rows, warn_of_old_form
from suffice.priors.prior import ConjugatePrior
from suffice.types import Columns, Floats, TableLike

if TYPE_CHECKING:
    from suffice.types import Entry


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
    def family(self) -> NodeFamily:
        """The node and its parents."""
        return self.cpd.family

    def mean(self) -> CPD:
        """Return what was given."""
        return self.cpd

    def mode(self) -> CPD:
        """Return what was given."""
        return self.cpd

    def sample(self, n: int, *, seed: int | None = None) -> tuple[CPD, ...]:
        """Return what was given, ``n`` times."""
        require_seed(seed)
        return (self.cpd,) * require_draws(n, 8, "draws")

    def sample_table(self, *, seed: int | None = None) -> CPD:
        """Return what was given; deprecated, for ``sample(1)[0]``."""
        warn_of_old_form("sample_table(seed=…)", "sample(1, seed=…)[0]")
        return self.sample(1, seed=seed)[0]

    def intervals(self, level: float = 0.95) -> ParameterIntervals:
        """Return no intervals: nothing is left open."""
        return ParameterIntervals((), np.zeros((0, 3)), require_fraction("level", level))

    def predictive(self) -> PosteriorPredictive:
        """Return the distribution of new cases, which is what was given."""
        return PosteriorPredictive(self)

    def log_predictive(self, data: TableLike) -> Floats:
        """Return log p(child | parents) of every row of a table of states; shape (n_rows,)."""
        return log_predictive_of_rows(self, data)

    def log_predictive_of(self, columns: Columns) -> Floats:
        """Return log p(child | parents) of every row of columns, in codes; shape (n_rows,)."""
        return self.cpd.log_prob(columns)

    def as_prior(self) -> GivenNode:
        """Return what stands for a prior where the node is given again, by the ``fixed`` argument."""
        return GivenNode(self.family.child.name)

    def renamed(self, family: NodeFamily) -> PointPosterior:
        """Return the same for a tied family."""
        return PointPosterior(self.cpd.renamed(family), self.log_marginal_likelihood)

    def to_dict(self) -> dict[str, Any]:
        """Return the posterior as JSON-able data, its family left out."""
        return {**self.cpd.to_dict(), "log_marginal_likelihood": self.log_marginal_likelihood}

    @classmethod
    def from_dict(cls, family: NodeFamily, entry: Entry) -> PointPosterior:
        """Rebuild a given regression from `to_dict`'s data."""
        from suffice.models.cpds.linear_gaussian import LinearGaussianCPD

        return cls(LinearGaussianCPD.from_dict(family, entry), float(entry["log_marginal_likelihood"]))


@dataclass(frozen=True)
class GivenNode(ConjugatePrior):
    """The prior of a regression that is given, so that there is nothing to learn of it.

    It takes part in no estimate: the node must be given again by the ``fixed`` argument of `suffice.fit`.

    Attributes
    ----------
    node : str
    """

    node: str

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of nodes that may be given whole."""
        return ("linear_gaussian",)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The node that was given."""
        return (self.node,)

    def of_kind(self, kind: str, family: NodeFamily) -> GivenNode | None:
        """Return itself for the node that was given."""
        return self if family.child.name == self.node else None

    def posterior(self, kind: str, family: NodeFamily, statistic: Any, given: Any = None) -> PointPosterior:
        """Return the distribution that is given."""
        from suffice.models.cpds.linear_gaussian import LinearGaussianCPD

        if given is None:
            raise EstimationError(
                f"Node {self.node!r} was given and not learnt, so that its prior knows nothing of it. Give it again, "
                f"fixed={{{self.node!r}: …}}, or give it a prior of its own."
            )
        cpd = LinearGaussianCPD.from_given(family, given)
        return PointPosterior(cpd, cpd.log_likelihood(statistic))

    def pseudo(self, family: NodeFamily, point: str) -> None:
        """Return nothing: a node that is given is not estimated."""

    def to_dict(self) -> dict[str, Any]:
        """Return the prior as JSON-able data."""
        return {"type": "GivenNode", "node": self.node}
