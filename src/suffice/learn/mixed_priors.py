"""What priors on the nodes of a network add to the observed likelihood: the densities that M-steps maximise.

======================  =================================================================================
Dirichlet, "map"        Σ (α − 1) log θ, the density of the probabilities
Dirichlet, "mean"       Σ α log θ, that of their log-odds, whose mode is at the posterior means
NormalInverseGamma      −(a + 1 + k/2) log σ² − (b + ½ (β − m)ᵀ Λ (β − m)) / σ², of k coefficients and σ²
Gaussian                −Σ b² / (2 width²) − Σ a² / (2 main²), of the weights of softmax nodes
======================  =================================================================================
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.schema import Schema
from suffice.errors import EstimationError, Remedy
from suffice.models.cpds import nodes_of
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.linear_gaussian_prior import RegressionPseudo
from suffice.models.cpds.softmax import SoftmaxCPD, SoftmaxPenalty
from suffice.models.cpds.softmax_kind import SoftmaxKind
from suffice.models.cpds.tabular import whole_values
from suffice.priors.binding import bound, prior_of
from suffice.priors.dirichlet import DirichletPrior
from suffice.priors.normal_inverse_gamma import NormalInverseGamma, RegressionPrior
from suffice.priors.penalty import Gaussian
from suffice.stats.statistics import Statistics
from suffice.structures.dag import DAG
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.priors.prior import Prior


def refuses_prior(dag: DAG, prior: Prior | None) -> str | None:
    """Return why EM cannot use a prior in a network with continuous nodes, or None."""
    if prior is None:
        return None
    for part in prior.parts:
        if not isinstance(part, DirichletPrior | NormalInverseGamma | Gaussian):
            return (
                "with incomplete rows and continuous nodes it knows Dirichlet priors on tables, sf.NormalInverseGamma "
                f"on regressions and sf.Gaussian on softmax nodes, not {part.describe()}. Pass one of "
                "these."
            )
    return None


class NetworkLogPrior:
    """The log-density of a network's parameters under its prior, up to a constant."""

    def __init__(
        self, dag: DAG, schema: Schema, statistics: Statistics, prior: Prior | None, point: str, fixed: Any
    ) -> None:
        whole = bound(prior, dag, statistics)
        nodes = nodes_of(dag, schema)
        self._tables: list[tuple[str, Any]] = []
        self._regressions: list[tuple[str, RegressionPseudo]] = []
        self._softmaxes: list[tuple[str, SoftmaxPenalty, bool]] = []
        for group in dag.groups:
            kind, family = nodes[group[0]]
            if any(node in fixed for node in group):
                continue  # what was given stays; its density is a constant
            mine = prior_of(whole, kind, family)
            if mine is None or kind.name not in mine.kinds:
                continue  # the estimator says what is wrong, or nothing is
            if isinstance(mine, DirichletPrior):
                shape = (-1, family.child.n_states)
                self._tables.append((group[0], mine.alpha(family).reshape(shape) - (point == "map")))
            elif isinstance(mine, Gaussian):
                tied = isinstance(kind, SoftmaxKind) and kind.tied == "slopes"
                self._softmaxes.append((group[0], mine.pseudo(family, point), tied))
            elif isinstance(mine, RegressionPrior):
                if point != "map":
                    raise EstimationError(
                        "Posterior means of regressions are no optimum of a likelihood, so that EM cannot find them. "
                        "Pass ",
                        Remedy("point", "map"),
                        ".",
                    )
                self._regressions.append((group[0], mine.regression(family)))

    def __call__(self, model: Any) -> float:
        """Return the log-density at a model."""
        terms = []
        for node, powers in self._tables:
            values = whole_values(model.cpd(node)).reshape(-1, powers.shape[-1])
            with np.errstate(divide="ignore", invalid="ignore"):
                log_p = np.where(np.broadcast_to(powers, values.shape) == 0, 0.0, powers * np.log(values))
            terms.append(float(log_p.sum()))
        terms += [regression_log_prior(model.cpd(node), pseudo) for node, pseudo in self._regressions]
        terms += [softmax_log_prior(model.cpd(node), penalty, tied) for node, penalty, tied in self._softmaxes]
        return math.fsum(terms) if all(map(math.isfinite, terms)) else sum(terms)


def regression_log_prior(cpd: LinearGaussianCPD, pseudo: RegressionPseudo) -> float:
    """Return the normal inverse gamma density of every configuration's coefficients and variance."""
    k = cpd.coefficients.shape[1] + (pseudo.weight > 0)
    level = cpd.intercept + cpd.coefficients @ pseudo.centre - pseudo.level
    apart = cpd.coefficients - pseudo.slopes
    squares = pseudo.weight * level**2 + np.einsum("ri,ij,rj->r", apart, pseudo.scatter, apart)
    terms = -(pseudo.shape + 1 + k / 2) * np.log(cpd.variance) - (pseudo.scale + squares / 2) / cpd.variance
    return float(terms.sum())


def softmax_log_prior(cpd: SoftmaxCPD, penalty: SoftmaxPenalty, tied: bool) -> float:
    """Return the normal density of every configuration's parameters, which sum to zero over its possible states."""
    total = 0.0
    for number, (intercept, slopes) in enumerate(zip(cpd.intercept, cpd.coefficients, strict=True)):
        possible = np.isfinite(intercept)
        if not possible.any():
            continue
        total -= _squares(intercept[possible]) / (2 * penalty.main**2)
        if number == 0 or not tied:  # slopes that all configurations share count once
            total -= _squares(slopes[possible]) / (2 * penalty.width**2)
    return total


def _squares(values: Floats) -> float:
    return float(((values - values.mean(axis=0)) ** 2).sum())
