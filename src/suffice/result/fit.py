"""Fit: one frozen object with the model and everything that is known about it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic

from suffice.certify.certificate import Certificate
from suffice.errors import AbsentError, ArgumentError, listing
from suffice.families import family_of
from suffice.learn.method import Start, Step
from suffice.models.model import Model
from suffice.optimise.outcome import Stop
from suffice.result.notes import Note
from suffice.result.observed_errors import ObservedErrors, observed_errors
from suffice.result.summary import html_summary, plain_summary
from suffice.stats.statistics import Statistics
from suffice.structures.structure import Structure, public_name
from suffice.values import Estimate

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    # Any, so that whoever annotates a plain `sf.Fit` may use what the models and structures of some families have
    M_co = TypeVar("M_co", bound=Model, covariant=True, default=Any)
    S_co = TypeVar("S_co", bound=Structure[object], covariant=True, default=Any)
else:
    from typing import TypeVar

    M_co, S_co = TypeVar("M_co", covariant=True), TypeVar("S_co", covariant=True)

OF_FAMILIES = {
    "coefficients": "Coefficients are those of a linear-Gaussian node of a Bayesian network, or of a "
    "softmax regression.",
    "expected": "Expected counts are those of the cells of sf.Cliques and sf.Features.",
    "geometry": "The geometry of a fit is known for sf.Cliques and sf.Features.",
    "goodness": "Goodness of fit is known for fits of sf.Cliques, sf.GaussianMarkov and sf.Features.",
    "u_terms": "u-terms are those of sf.Cliques.",
    "weights": "Weights are those of the features of sf.Features, sf.Ising, sf.Boltzmann and sf.Potts; those of "
    "sf.Cliques are fit.u_terms().",
}
"""What only the fits of some families have, and of which."""


@dataclass(frozen=True, eq=False)
class Fit(Generic[M_co, S_co]):
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
    starts : tuple of Start
        Where a method began that may end in a local optimum, and what came of each; the best was kept.
    stop : Stop or None
        How the search of an iterative method ended: ``fit.stop.name`` is such as ``CONVERGED`` or ``OUT_OF_STEPS``.
        None where there was none; of networks fitted to complete rows, whose nodes are searched each by itself and
        raise where that fails; and of files of earlier versions.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x", "y", "y"], "B": ["u", "v", "v", "v"]})
    >>> fit.certificate.ok, fit.n_free
    (True, 3)
    >>> round(fit.log_likelihood, 6), round(fit.bic, 6)
    (-4.158883, 12.476649)
    """

    model: M_co
    structure: S_co = field(repr=False)
    statistics: Statistics = field(repr=False)
    method: str
    point: Estimate
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
    starts: tuple[Start, ...] = field(default=(), repr=False)
    stop: Stop | None = field(default=None, repr=False)

    @property
    def n(self) -> float:
        """The number of rows, each with its weight: N in every formula."""
        return self.statistics.weight

    @property
    def aic(self) -> float:
        """Akaike's criterion, −2ℓ + 2k; smaller is better."""
        return -2 * self.log_likelihood + 2 * self._n_free  # eq aic

    @property
    def bic(self) -> float:
        """Schwarz's criterion, −2ℓ + k log N; smaller is better."""
        return -2 * self.log_likelihood + self._n_free * (math.log(self.n) if self.n > 0 else math.nan)  # eq bic

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
        **how: Any,
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
            How many tables to draw for intervals, and from which seed.
        **how
            What else the model's `query` takes, such as ``method``.

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
        model: Any = self.model
        if interval is None:
            return model.query(targets, given, **how)
        if how:
            raise ArgumentError(f"Intervals come from exact answers; leave {listing(list(how))} out.")
        from suffice.priors.credible import credible
        from suffice.result.absent_posterior import explain_absent_posterior

        absence = explain_absent_posterior(self)
        return credible(model, self.posterior, targets, given, interval, interval_method, draws, seed, absence)

    def standard_errors(
        self, data: Any, *, weights: Any = None, unknown_states: str = "error", level: float = 0.95
    ) -> ObservedErrors:
        """Return every parameter of a fit to incomplete rows with its standard error and interval.

        They are from the observed information: minus the second derivatives of the likelihood of what was observed, so
        that gaps widen them by as much as they hide. What the data do not determine, and what lies on the boundary, has
        none (NaN), and the remarks say so.

        Parameters
        ----------
        data : table
            The data of the fit once more.
        weights, unknown_states
            As in `suffice.fit`.
        level : float
            That of the intervals.

        Raises
        ------
        ArgumentError
            For fits of complete rows, more than 1,000 free parameters, or other data.

        Examples
        --------
        >>> import suffice as sf
        >>> data = {"x": ["a"] * 6 + ["b"] * 3 + [None], "y": ["u", "u", "v", "u", None, "v", "v", "v", "u", "v"]}
        >>> print(sf.fit(sf.DAG("x -> y"), data, missing="em").standard_errors(data))
        node  given  parameter  estimate  std. error  95 % from       to
        ----  -----  ---------  --------  ----------  ---------  -------
        x            a          0.655153      0.1602    0.32134  0.88403
        x            b          0.344847      0.1602    0.11597  0.67866
        y     x='a'  u          0.540392      0.2183    0.17359   0.8681
        y     x='a'  v          0.459608      0.2183     0.1319  0.82641
        y     x='b'  u          0.289984      0.2487   0.036854  0.81341
        y     x='b'  v          0.710016      0.2487    0.18659  0.96315
        """
        return observed_errors(self, data, weights=weights, unknown_states=unknown_states, level=level)

    # For people -----------------------------------------------------------------------------------------------

    def report(
        self, path: str | os.PathLike[str], *, data: Any = None, title: str | None = None, **settings: Any
    ) -> None:
        """Write one HTML page that shows the fit to people: graph, certificate, notes and tables, offline too.

        Parameters
        ----------
        path : str or path
            Ends in .html; or in .pdf, for a PDF file, which needs Chromium, Chrome or Edge.
        data : table, optional
            Rows to score under the model.
        title : str, optional
        **settings
            ``plots=False`` leaves plots out, which need the extra ``plot``; ``weights``, ``missing`` and
            ``unknown_states`` are of reading the data.
        """
        from suffice.report.page import write_report

        write_report(self, path, data=data, title=title, **settings)

    def explore(self, data: Any = None, *, browser: bool = True, port: int = 0, wait: bool | None = None) -> Any:
        """Serve a page on which the fit is asked by clicking, and open it in the browser.

        The page is served on this machine alone, to whoever has its address; nothing is written. In a notebook on
        another machine, whose browser cannot reach the page, an explorer that answers by itself is shown in the cell.

        Parameters
        ----------
        data : table, optional
            Rows to step through as evidence.
        browser : bool
            Whether to open the browser; the address is printed in any case.
        port : int
            0 for one that is free.
        wait : bool, optional
            Whether to serve until Ctrl-C, as in scripts, or in the background, as at a prompt and in notebooks.

        Returns
        -------
        Served, Shown or None
            What serves in the background, to be closed; in a notebook on another machine, an explorer for the cell.

        Raises
        ------
        ArgumentError
            For models that cannot be asked about all of their variables, such as classifiers; they have reports.
        """
        from suffice.explore import explore

        return explore(self, data, browser=browser, port=port, wait=wait)

    def __post_init__(self) -> None:
        """Take the type of the fits of the structure's family, whoever makes the fit."""
        kind, mine = fit_type(self.structure), type(self)
        if issubclass(mine, kind):
            return
        if not issubclass(kind, mine):
            raise ArgumentError(
                f"A {mine.__name__} is no fit of {public_name(type(self.structure))}, whose fits are of the type "
                f"{kind.__name__}. Make a sf.Fit: it takes the type that belongs to its structure."
            )
        object.__setattr__(self, "__class__", kind)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        if type(self) is Fit:  # as the first version pickled the fits of all families
            object.__setattr__(self, "__class__", fit_type(self.structure))
            object.__setattr__(self, "posterior", _posterior_of(self.structure, self.posterior))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            own = getattr(type(self), name, None)
            if isinstance(own, cached_property):  # which failed, and fails again with its own words
                return own.func(self)
            if name not in OF_FAMILIES:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            raise AbsentError(f"{OF_FAMILIES[name]} This fit is of {public_name(type(self.structure))}.")

    def __str__(self) -> str:
        return plain_summary(self)

    def _repr_html_(self) -> str:
        from suffice.report.static_graph import graph_html

        return graph_html(self.model) + html_summary(self)


def _posterior_of(structure: Structure[object], posterior: Any) -> Any:
    """Return a posterior of the first version, in which that of an autoregression was that of its regression."""
    from suffice.priors.autoregression_posterior import AutoregressionPosterior
    from suffice.priors.regression_posterior import RegressionPosterior
    from suffice.structures.autoregression import Autoregression

    if isinstance(structure, Autoregression) and isinstance(posterior, RegressionPosterior):
        return AutoregressionPosterior(structure, posterior)
    return posterior


def fit_type(structure: Structure[object]) -> type[Fit]:
    """Return the type of the fits of a structure."""
    result = family_of(structure).result
    return Fit if result is None else result()
