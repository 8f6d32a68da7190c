"""The fits of single families: what is known of them beside what every `Fit` has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from suffice.data.table import Weights
from suffice.errors import AbsentError, SufficeError
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.joint_normal import JointNormal
from suffice.models.markov_net import MarkovNetwork
from suffice.result.coefficients import CoefficientTable, coefficient_table
from suffice.result.expected import ExpectedTable, expected_table
from suffice.result.fit import Fit, M_co, S_co
from suffice.result.geometry import Geometry, geometry
from suffice.result.goodness import Goodness, goodness
from suffice.result.observed_errors import require_complete
from suffice.result.softmax_coefficients import SoftmaxCoefficients, softmax_coefficients
from suffice.result.wald import WaldTable, wald_table
from suffice.result.weights import WeightTable, weight_table
from suffice.stats.statistics import Statistics
from suffice.types import TableLike
from suffice.values import Label

if TYPE_CHECKING:
    from suffice.models.softmax_model import SoftmaxModel
    from suffice.structures.cliques import Cliques
    from suffice.structures.dag import DAG
    from suffice.structures.features import Features
    from suffice.structures.gaussian_markov import GaussianMarkov
    from suffice.structures.softmax_regression import SoftmaxClasses


class NetworkFit(Fit[BayesianNetwork, "DAG"]):
    """The fit of a `DAG`, or of a lone discrete variable."""

    def coefficients(self, node: str = "", level: float = 0.95) -> CoefficientTable:
        """Return the coefficients of a linear-Gaussian node with standard errors, p and intervals.

        Parameters
        ----------
        node : str
        level : float
            That of the intervals.

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
        require_complete(
            self, "Standard errors of coefficients", "Ask for those of what was observed: fit.standard_errors(data)."
        )
        return coefficient_table(self, node, level)


class SoftmaxFit(Fit["SoftmaxModel", "SoftmaxClasses"]):
    """The fit of a softmax regression."""

    def coefficients(
        self,
        level: float = 0.95,
        *,
        reference: Label | None = None,
        data: TableLike | None = None,
        weights: Weights = None,
    ) -> SoftmaxCoefficients:
        """Return the coefficients of a softmax regression with standard errors, z, p and intervals.

        Parameters
        ----------
        level : float
            That of the intervals.
        reference : label, optional
            The class to compare with.
        data, weights
            The data once more, which large fits need.
        """
        return softmax_coefficients(self, level=level, reference=reference, data=data, weights=weights)


class MeasuredFit(Fit[M_co, S_co]):
    """A fit whose distance from the data is measured against the saturated model."""

    @cached_property
    def goodness(self) -> Goodness:
        """The tests of G² and X² against the saturated model, for fits of complete rows.

        Examples
        --------
        >>> import suffice as sf
        >>> table = sf.Contingency([[20, 10], [12, 18]], {"A": ["x", "y"], "B": ["u", "v"]})
        >>> goodness = sf.fit(sf.Cliques("A + B"), table).goodness
        >>> round(goodness.G2, 4), goodness.df, round(goodness.p_value, 4)
        (4.3392, 1, 0.0372)
        """
        try:
            require_complete(
                self, "G² and X²", "Compare the observed log-likelihoods of nested models, fit.log_likelihood."
            )
            return goodness(self)
        except SufficeError as error:
            raise AbsentError(error.message) from error


class GaussianMarkovFit(MeasuredFit[JointNormal, "GaussianMarkov"]):
    """The fit of `GaussianMarkov`, or of a normal distribution."""


class LogLinearFit(MeasuredFit[M_co, S_co]):
    """The fit of `Cliques` or `Features`: expected counts of cells, and the way to the estimate."""

    def expected(
        self, residuals: str | Sequence[str] = ("pearson", "deviance"), statistics: Statistics | None = None
    ) -> ExpectedTable:
        """Return every cell with its observed and expected count and the residuals.

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

    def geometry(self) -> Geometry:
        """Return the log-likelihood and the divergence from the data after every step.

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


class CliquesFit(LogLinearFit[MarkovNetwork, "Cliques"]):
    """The fit of `Cliques`."""

    def u_terms(self, constraint: str = "sum", level: float = 0.95) -> WaldTable:
        """Return every u-term with its standard error, z, p and interval (Wald).

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


class FeaturesFit(LogLinearFit[M_co, "Features"]):
    """The fit of `Features`, `Ising`, `Boltzmann` or `Potts`."""

    def weights(self, level: float = 0.95) -> WeightTable:
        """Return every weight with its standard error, z, p and interval (Wald).

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
