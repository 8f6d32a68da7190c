"""The posterior of an autoregression of one variable: that of a regression on the variable's own past."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.models.autoregression import AutoregressiveModel
from suffice.models.autoregression_node import model_of_node
from suffice.priors.parameter_intervals import ParameterIntervals
from suffice.priors.posterior import PosteriorPredictive, warn_of_old_form
from suffice.priors.regression_posterior import RegressionPosterior
from suffice.stats.moments import Moments
from suffice.structures.autoregression import Autoregression
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.priors.normal_inverse_gamma import NormalInverseGammaRows


@dataclass(frozen=True, eq=False)
class AutoregressionPosterior:
    """p(θ | sequences) of an autoregression of one variable.

    Attributes
    ----------
    structure : Autoregression
    regression : RegressionPosterior
        The posterior of a value's regression on those before it.

    Examples
    --------
    >>> import suffice as sf
    >>> series = [[1.0, 2.0, 2.5, 2.0, 3.0]]
    >>> fit = sf.fit(sf.Autoregression(1, "x"), series, prior=sf.NormalInverseGamma(2, 1.0))
    >>> print(fit.posterior.intervals(0.9))
    parameter         median      lower    upper
    --------------  --------  ---------  -------
    intercept          0.775  -0.335268  1.88527
    slope of x[-1]      0.75   0.134134  1.36587
    sd              0.772927   0.531913  1.26712
    0.9 credible intervals, equal-tailed
    """

    structure: Autoregression
    regression: RegressionPosterior

    @property
    def log_marginal_likelihood(self) -> float | None:
        """The log-density of the sequences given their first values, all parameters integrated out."""
        return self.regression.log_marginal_likelihood

    def mean(self) -> AutoregressiveModel:
        """Return the autoregression of posterior means."""
        return model_of_node(self.structure, self.regression.mean())

    def mode(self) -> AutoregressiveModel:
        """Return the autoregression at the posterior mode."""
        return model_of_node(self.structure, self.regression.mode())

    def sample(self, n: int, *, seed: int | None = None) -> tuple[AutoregressiveModel, ...]:
        """Draw ``n`` autoregressions from the posterior; some of them may be explosive."""
        return tuple(model_of_node(self.structure, cpd) for cpd in self.regression.sample(n, seed=seed))

    def intervals(self, level: float = 0.95) -> ParameterIntervals:
        """Return medians and equal-tailed credible intervals of intercept, slopes and the errors' sd."""
        return self.regression.intervals(level)

    def predictive(self) -> PosteriorPredictive:
        """Return the distribution of a new sequence given its first values, all parameters integrated out."""
        return PosteriorPredictive(self)

    def log_predictive(self, data: Any) -> Floats:
        """Return log p(sequence | data) of every new sequence by itself, given its first values; shape (n_sequences,).

        A sequence uses the same parameters again and again, so that each value also learns from those before it.

        Parameters
        ----------
        data : Sequences, or what makes them
        """
        family, prior = self.regression.family, self.as_prior()
        windows, owner, n_sequences = self.mode().windows(data)
        ends = np.searchsorted(owner, np.arange(n_sequences + 1))
        found = np.zeros(n_sequences)
        for number in np.flatnonzero(np.diff(ends)):
            moments = Moments.of_rows(family.variables, windows[ends[number] : ends[number + 1]])
            evidence = prior.posterior("linear_gaussian", family, moments).log_marginal_likelihood
            found[number] = np.nan if evidence is None else evidence
        return found

    def as_prior(self) -> NormalInverseGammaRows:
        """Return this posterior as the prior of further fits of the same autoregression."""
        return self.regression.as_prior()

    def to_dict(self) -> dict[str, Any]:
        """Return the posterior of the regression as JSON-able data."""
        return self.regression.to_dict()

    def __repr__(self) -> str:
        return f"AutoregressionPosterior(order {self.structure.order}, {self.regression.family.child.name!r})"

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Return what the posterior had while it was that of the regression."""
            if name.startswith("__") or name in ("structure", "regression"):
                raise AttributeError(name)
            found = getattr(self.regression, name)
            warn_of_old_form(f"posterior.{name} of an autoregression", f"posterior.regression.{name}")
            return found
