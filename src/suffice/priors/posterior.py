"""What every posterior distribution answers, whatever it is of: one set of names, shapes and meanings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from suffice.priors.parameter_intervals import ParameterIntervals
from suffice.types import Floats, TableLike

if TYPE_CHECKING:
    from suffice.priors.prior import Prior

M_co = TypeVar("M_co", covariant=True)
"""The type of the models that a posterior is a distribution over."""


@runtime_checkable
class Predictive(Protocol):
    """The distribution of a new case, all parameters integrated out."""

    def log_prob(self, data: TableLike, /) -> Floats:
        """Return the log-probability of every new row by itself; shape (n_rows,)."""


@runtime_checkable
class Posterior(Protocol[M_co]):
    """What is known of a model's parameters after the data: p(θ | data).

    The posterior of a whole fit is one over models, that of a node one over its conditional distributions. Where an
    answer does not exist, as the mean of a variance of too few degrees of freedom, an `EstimationError` says so.
    """

    @property
    def log_marginal_likelihood(self) -> float | None:
        """The log-probability of the data, the parameters integrated out; None under an improper prior."""

    def mean(self) -> M_co:
        """Return the model of posterior means."""

    def mode(self) -> M_co:
        """Return the model at the mode of the posterior density."""

    def sample(self, n: int, /, *, seed: int | None = None) -> tuple[M_co, ...]:
        """Draw ``n`` models, independently."""

    def intervals(self, level: float = 0.95) -> ParameterIntervals:
        """Return the posterior median and the equal-tailed credible interval of every parameter by itself."""

    def predictive(self) -> Predictive:
        """Return the distribution of a new case, all parameters integrated out."""

    def log_predictive(self, data: TableLike, /) -> Floats:
        """Return log p(row | data) of every new row by itself, all parameters integrated out; shape (n_rows,)."""

    def as_prior(self) -> Prior:
        """Return the prior under which new data lead to the posterior that all of the data would have led to."""
