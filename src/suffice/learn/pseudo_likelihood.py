"""Pseudo-likelihood: Σ log p(x_v | all others), which needs no normaliser and is concave in the weights."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import NotFor, Remedy, Text, made
from suffice.inference.pseudo_family import PseudoFamily
from suffice.learn.feature_matching import FeatureMatching
from suffice.learn.feature_setting import MOST_METRIC, FeatureSetting
from suffice.learn.features import model_of, rank_of
from suffice.learn.method import Problem, Solution
from suffice.learn.weight_remarks import no_estimate, steps_of, unfinished
from suffice.learn.weights import WeightSearch, lbfgs, proximal
from suffice.priors.penalty import Laplace
from suffice.stats.needs import Distinct
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.log_linear import LogLinear
    from suffice.structures.features import Features

FAR = 8.0
"""Weights that reach farther are remarked on."""


def refuses(structure: Any, schema: Any) -> str | None:
    """Refuse inputs and continuous variables."""
    if structure.given:
        return NotFor(
            "it is for structures without inputs; with them the likelihood itself is easy. Use ",
            Remedy("method", "lbfgs"),
            ".",
        )
    if structure.continuous:
        return "it sums over states, and there are continuous variables. Use 'lbfgs'."
    return None


class PseudoSetting(FeatureSetting):
    """A setting whose counts come from the distinct rows, and whose family is of conditional distributions."""

    @cached_property
    def rows(self) -> Any:
        """The distinct rows."""
        return self.problem.statistics[Distinct(self.problem.structure.columns)]

    @cached_property
    def family(self) -> PseudoFamily:  # type: ignore[override]
        """The conditional distributions of every variable."""
        offset = np.where(self.allowed, 0.0, -np.inf)
        codes = self.rows.codes(list(self.design.names))
        return PseudoFamily(self.design.layout, self.design.matrix, codes, self.rows.weights, offset)

    @property
    def has_root(self) -> bool:
        """No: the Hessian is another than the features' covariance."""
        return False

    @cached_property
    def metric(self) -> Floats | None:
        """The Hessian at weights of zero, a little of its diagonal added, where weights are not too many."""
        if self.design.n_weights > MOST_METRIC:
            return None
        found = self.family.sensitivity(np.zeros(self.design.n_weights)) / self.family.total
        variance = np.diag(found)
        return found + np.diag(1e-3 * variance + 1e-9 * max(float(variance.max()), 1e-300))

    def matching(self) -> FeatureMatching:
        """Return the problem of the weights."""
        held = super().matching()
        return replace(held, targets=self.family.targets)


def solve(problem: Problem[Features]) -> Solution[LogLinear]:
    """Climb the pseudo-likelihood."""
    setting: Any = PseudoSetting.of(problem)
    if problem.prior is None:
        setting = setting.on_extremes()
    search: WeightSearch = proximal if isinstance(problem.prior, Laplace) else lbfgs
    found = search(setting.matching())
    rank, remarks = rank_of(setting)
    ran_away = np.flatnonzero(setting.limits)
    remarks += no_estimate(setting.names, ran_away)
    if problem.prior is None and float((np.abs(found.weights) * setting.spread).max(initial=0.0)) > FAR:
        remarks.append(
            Text(
                "Some weights are large: they may be running away, the estimate lying on the boundary, where it does "
                "not exist. A prior, such as ",
                Remedy("prior", made("Gaussian", 10)),
                ", keeps them finite.",
            )
        )
    remarks.append(
        "The log-likelihood shown is the pseudo-log-likelihood, Σ log p(x_v | all others); AIC and BIC are of it, too."
    )
    remarks += unfinished(problem, found)
    return Solution(
        model=model_of(setting, found.weights),
        log_likelihood=setting.family.log_likelihood(found.weights),
        n_free=rank,
        n_free_adjusted=max(rank - len(ran_away), 0),
        trace=steps_of(found),
        stop=found.stop,
        remarks=(*found.remarks, *remarks),
        interrupted=problem.watch.interrupted,
        explains_boundary=bool(len(ran_away)),
    )
