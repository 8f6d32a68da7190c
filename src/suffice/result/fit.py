"""Fit: one frozen object with the model and everything that is known about it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from suffice.certify import Certificate
from suffice.errors import ArgumentError, listing
from suffice.learn.method import Start, Step
from suffice.models.softmax_model import SoftmaxModel
from suffice.result.coefficients import CoefficientTable, coefficient_table
from suffice.result.expected import ExpectedTable, expected_table
from suffice.result.geometry import Geometry, geometry
from suffice.result.goodness import Goodness, goodness
from suffice.result.notes import Note
from suffice.result.observed_errors import ObservedErrors, observed_errors, require_complete
from suffice.result.softmax_coefficients import SoftmaxCoefficients, softmax_coefficients
from suffice.result.summary import html_summary, plain_summary
from suffice.result.wald import WaldTable, wald_table
from suffice.result.weights import WeightTable, weight_table
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
    starts : tuple of Start
        Where a method began that may end in a local optimum, and what came of each; the best was kept.

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
    structure: Any = field(repr=False)
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
    starts: tuple[Start, ...] = field(default=(), repr=False)

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
        if interval is None:
            return self.model.query(targets, given, **how)
        if how:
            raise ArgumentError(f"Intervals come from exact answers; leave {listing(list(how))} out.")
        from suffice.priors.credible import credible
        from suffice.result.absent_posterior import explain_absent_posterior

        absence = explain_absent_posterior(self)
        return credible(self.model, self.posterior, targets, given, interval, interval_method, draws, seed, absence)

    def coefficients(self, node: str = "", level: float = 0.95, **how: Any) -> CoefficientTable | SoftmaxCoefficients:
        """Return coefficients with standard errors, p and intervals: of a linear-Gaussian node, or of a softmax.

        Parameters
        ----------
        node : str
            The node of a Bayesian network; left out for a softmax regression.
        level : float
            That of the intervals.
        **how
            For a softmax regression ``reference``, ``data`` and ``weights``: the class to compare with, and the data
            once more, which large fits need.

        Raises
        ------
        EstimationError
            Where the estimate is not least squares of the node by itself.

        Examples
        --------
        >>> import suffice as sf
        >>> data = {"dose": [0.0, 1.0, 2.0, 3.0], "effect": [1.0, 3.5, 4.5, 7.0]}
        >>> print(sf.fit(sf.DAG("dose -> effect"), data).coefficients("effect"))
        term         estimate  std. error     t       p  95 % from      to
        -----------  --------  ----------  ----  ------  ---------  ------
        (intercept)      1.15      0.3969  2.90  0.1013   -0.55756  2.8576
        dose              1.9      0.2121  8.96  0.0122    0.98727  2.8127
        """
        if not node and isinstance(self.model, SoftmaxModel):
            return softmax_coefficients(self, level=level, **how)
        if how:
            raise ArgumentError(f"Coefficients of a node take no {listing(list(how))}; leave it out.")
        require_complete(
            self, "Standard errors of coefficients", "Ask for those of what was observed: fit.standard_errors(data)."
        )
        return coefficient_table(self, node, level)

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

    # Markov random fields -------------------------------------------------------------------------------------

    @cached_property
    def goodness(self) -> Goodness:
        """The tests of G² and X² against the saturated model, for fits of `Cliques`, `Features` and `GaussianMarkov`.

        Examples
        --------
        >>> import suffice as sf
        >>> table = sf.Contingency([[20, 10], [12, 18]], {"A": ["x", "y"], "B": ["u", "v"]})
        >>> goodness = sf.fit(sf.Cliques("A + B"), table).goodness
        >>> round(goodness.G2, 4), goodness.df, round(goodness.p_value, 4)
        (4.3392, 1, 0.0372)
        """
        require_complete(
            self, "G² and X²", "Compare the observed log-likelihoods of nested models, fit.log_likelihood."
        )
        return goodness(self)

    def expected(self, residuals: Any = ("pearson", "deviance"), statistics: Statistics | None = None) -> ExpectedTable:
        """Return every cell with its observed and expected count and the residuals, for `Cliques` and `Features`.

        Parameters
        ----------
        residuals : str or sequence of str, optional
            ``"pearson"``, (m − m̂)/√m̂, whose squares add up to X²; ``"deviance"``, whose squares add up to G²; and
            ``"adjusted"`` (or standardised; Haberman, 1973), which are standard normal for large samples if the model
            holds. NaN where the model fits a cell exactly whatever the data.
        statistics : Statistics, optional
            Where the counts of the whole table are, if not among those of the fit.

        Examples
        --------
        >>> import suffice as sf
        >>> table = sf.Contingency([[20, 10], [12, 18]], {"A": ["x", "y"], "B": ["u", "v"]})
        >>> print(sf.fit(sf.Cliques("A + B"), table).expected("adjusted"))
        A  B  observed  expected  adjusted
        -  -  --------  --------  --------
        x  u        20   16.0000    2.0702
        x  v        10   14.0000   -2.0702
        y  u        12   16.0000   -2.0702
        y  v        18   14.0000    2.0702
        """
        require_complete(self, "Observed counts", "Cells of the model: fit.model.marginal(names).")
        return expected_table(self, residuals, self.statistics if statistics is None else statistics)

    def u_terms(self, constraint: str = "sum", level: float = 0.95) -> WaldTable:
        """Return every u-term with its standard error, z, p and interval (Wald), for fits of `Cliques`.

        The terms are those of expected counts, log(N p). Standard errors are from the Fisher information of N rows;
        under pseudo-counts of N + ess rows, and under `Gaussian` with its curvature: then they are posterior standard
        deviations by Laplace's approximation.

        Parameters
        ----------
        constraint : {"sum", "corner"}
            Every term sums to zero over each of its variables, or is zero at their first states.
        level : float
            That of the intervals.

        Raises
        ------
        EstimationError
            On the boundary, where terms are infinite, and under penalties without a curvature.

        Examples
        --------
        >>> import suffice as sf
        >>> table = sf.Contingency([[20, 10], [12, 18]], {"A": ["x", "y"], "B": ["u", "v"]})
        >>> print(sf.fit(sf.Cliques("A:B"), table).u_terms("corner"))
        term  states        u  std. error      z       p  95 % from      to
        ----  ------  -------  ----------  -----  ------  ---------  ------
        A     y       -0.5108      0.3651  -1.40  0.1618    -1.2265  0.2049
        B     v       -0.6931      0.3873  -1.79  0.0735    -1.4522  0.0659
        A:B   y:v      1.0986      0.5375   2.04  0.0410     0.0452  2.1521
        constant 2.99573; every term is zero at the first state of each of its variables
        """
        require_complete(self, "Standard errors of u-terms", "The u-terms themselves are fit.model.u_terms().")
        return wald_table(self, constraint, level)

    # Log-linear models ----------------------------------------------------------------------------------------

    def weights(self, level: float = 0.95) -> WeightTable:
        """Return every weight with its standard error, z, p and interval (Wald), for fits of `Features`.

        Standard errors are from the Fisher information of N rows; under `Gaussian` with its curvature, when they are
        posterior standard deviations by Laplace's approximation; of ``method="pseudo_likelihood"`` by the sandwich.
        Weights that features depending on each other leave undetermined have none, nor have those that ran away.

        Parameters
        ----------
        level : float
            That of the intervals.

        Raises
        ------
        EstimationError
            Under penalties without a curvature, for more than 2,000 weights, and where the covariance of the features
            is out of reach.

        Examples
        --------
        >>> import suffice as sf
        >>> table = sf.Contingency([[20, 10], [12, 18]], {"A": ["x", "y"], "B": ["u", "v"]})
        >>> features = [sf.indicator(A="y"), sf.indicator(B="v"), sf.indicator(A="y", B="v")]
        >>> weights = sf.fit(sf.Features(features), table).weights()
        >>> print(weights)
        feature     weight  std. error      z       p  95 % from      to
        ---------  -------  ----------  -----  ------  ---------  ------
        A=y        -0.5108      0.3651  -1.40  0.1618    -1.2265  0.2049
        B=v        -0.6931      0.3873  -1.79  0.0735    -1.4522  0.0659
        A=y & B=v   1.0986      0.5375   2.04  0.0410     0.0452  2.1521
        >>> round(weights["A=y"].se, 4)
        0.3651
        """
        require_complete(self, "Standard errors of weights", "The weights themselves are fit.model.weights.")
        return weight_table(self, level)

    def geometry(self) -> Geometry:
        """Return the log-likelihood and the divergence from the data after every step, for `Cliques` and `Features`.

        KL(p̃‖p) where the counts of the whole table are known; else KL(p*‖p), which is less by KL(p̃‖p*), whatever p.
        The fall of a cycle of proportional fitting is the sum of the divergences of the margins that it matched.

        Examples
        --------
        >>> import suffice as sf
        >>> table = sf.Contingency([[20, 10], [12, 18]], {"A": ["x", "y"], "B": ["u", "v"]})
        >>> features = sf.Features([sf.indicators("A"), sf.indicators("B")])
        >>> print(sf.fit(features, table, method="newton", tol=1e-5).geometry())
            step  log-likelihood  KL(data‖p)       fall
        --------  --------------  ----------  ---------
               1        -83.0494    0.036246
               2        -83.0442    0.036160  8.571e-05
        estimate        -83.0442    0.036160  0.000e+00
        """
        require_complete(self, "Divergences from the data", "The objective after every step is in fit.trace.")
        return geometry(self)

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
        """Serve a page on this machine on which the fit is asked by clicking, and open it in the browser.

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

    def __str__(self) -> str:
        return plain_summary(self)

    def _repr_html_(self) -> str:
        from suffice.report.static_graph import graph_html

        return graph_html(self.model) + html_summary(self)
