"""Fit: one frozen object with the model and everything that is known about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from suffice.certify import Certificate
from suffice.errors import ArgumentError
from suffice.learn.method import Step
from suffice.result.notes import Note
from suffice.result.summary import html_summary, plain_summary
from suffice.stats.statistics import Statistics


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of `suffice.fit` and `suffice.estimate`.

    Attributes
    ----------
    model : Model
        The fitted distribution.
    structure : Structure
        What was known before the data.
    statistics : Statistics
        All that the estimate has seen of the data.
    method, point : str
        How it was estimated, and which estimate it is: ``mle``, ``mean`` or ``map``.
    prior : Prior or None
    log_likelihood : float
    local : dict of str to float
        Local log-likelihood of each family.
    n_free : int
        Free parameters of the structure.
    n_free_adjusted : int
        Free parameters that the data's zeros leave.
    posterior : object or None
        p(θ | data), where the prior is conjugate.
    log_marginal_likelihood : float or None
        log p(data), where the prior is conjugate.
    certificate : Certificate
    trace : tuple of Step
        The steps of an iterative method.
    notes : tuple of Note
        Every choice that was made on the way.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x", "y", "y"], "B": ["u", "v", "v", "v"]})
    >>> fit.certificate.ok, fit.n_free
    (True, 3)
    >>> round(fit.log_likelihood, 6), round(fit.bic, 6)
    (-4.158883, 12.476649)
    """

    model: Any
    structure: Any
    statistics: Statistics = field(repr=False)
    method: str
    point: str
    prior: Any
    log_likelihood: float
    local: Mapping[str, float] = field(repr=False)
    n_free: int
    n_free_adjusted: int
    posterior: Any = field(repr=False)
    log_marginal_likelihood: float | None
    certificate: Certificate = field(repr=False)
    trace: tuple[Step, ...] = field(repr=False)
    notes: tuple[Note, ...] = field(repr=False)

    @property
    def n(self) -> float:
        """The number of rows, each with its weight: N in every formula."""
        return self.statistics.weight

    @property
    def aic(self) -> float:
        """Akaike's criterion, −2ℓ + 2k; smaller is better."""
        return -2 * self.log_likelihood + 2 * self._n_free

    @property
    def bic(self) -> float:
        """Schwarz's criterion, −2ℓ + k log N; smaller is better."""
        return -2 * self.log_likelihood + self._n_free * (math.log(self.n) if self.n > 0 else math.nan)

    @property
    def _n_free(self) -> float:
        """The number of free parameters as a float; infinite where a float cannot hold it."""
        return float(self.n_free) if self.n_free < 1 << 1023 else math.inf

    def query(
        self,
        targets: Any,
        given: Mapping[str, Any] | None = None,
        *,
        interval: float | None = None,
        interval_method: str = "draws",
        draws: int = 1000,
        seed: int | None = 0,
    ) -> Any:
        """Return p(targets | given) under the fitted model, with credible intervals if wanted.

        Parameters
        ----------
        targets, given
            As in the model's `query`.
        interval : float, optional
            The level of credible intervals on the answer, such as 0.95; they need the posterior of a Bayesian fit.
        interval_method : {"draws", "delta"}
            ``"draws"``: quantiles of the exact answers under tables drawn from the posterior. ``"delta"``: from the
            answer's exact gradient and the posterior's covariance; without randomness, and for large samples.
        draws, seed : int
            How many tables to draw, and from which seed.

        Returns
        -------
        LabelledTable or IntervalTable

        Examples
        --------
        >>> import suffice as sf
        >>> data = {"A": ["x"] * 30 + ["y"] * 10, "B": (["u"] * 25 + ["v"] * 5) + (["u"] * 2 + ["v"] * 8)}
        >>> fit = sf.fit(sf.DAG("A -> B"), data, prior=sf.BDeu(1))
        >>> print(fit.query("A", given={"B": "v"}, interval=0.9, interval_method="delta"))
        A       p   lower   upper
        -  ------  ------  ------
        x  0.3889  0.2051  0.6109
        y  0.6111  0.3891  0.7949
        0.9 credible intervals, by delta
        """
        if interval is None:
            return self.model.query(targets, given)
        from suffice.priors.credible import credible
        from suffice.priors.network_posterior import NetworkPosterior

        if not isinstance(self.posterior, NetworkPosterior):
            raise ArgumentError(
                "Intervals on an answer come from the posterior of a network's tables, and this fit has none. "
                "Fit a network with a prior, such as prior=sf.BDeu(10)."
            )
        return credible(self.model, self.posterior, targets, given, interval, interval_method, draws, seed)

    def __str__(self) -> str:
        return plain_summary(self)

    def _repr_html_(self) -> str:
        return html_summary(self)
