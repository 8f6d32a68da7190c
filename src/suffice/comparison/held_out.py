"""Held-out scores: the log-likelihood of one fold under a model that was trained on the others.

It comes from the fold's statistics where they suffice: Σ m(x) log θ(x) of a network's tables, moments of normal
distributions, Σ_C Σ m(x_C) log ψ(x_C) − N log Z of cliques and features. Where they do not, the rows are scored one by
one, all folds and models in one more pass.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.errors import StatisticsError
from suffice.learn.gaussian_markov import chain_log_likelihoods
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import AnyKind, nodes_of
from suffice.models.joint_normal import JointNormal
from suffice.models.markov_net import MarkovNetwork
from suffice.models.model import Model, RowLikelihood
from suffice.stats.counts import Counts
from suffice.stats.moments import Moments
from suffice.stats.needs import Count, Distinct, Moment
from suffice.stats.rows import Rows
from suffice.stats.statistic import Statistic
from suffice.stats.statistics import Statistics
from suffice.structures.structure import Structure
from suffice.types import Array, Columns, Floats


@dataclass(frozen=True)
class HeldOutScore:
    """The log-likelihood of some rows.

    Attributes
    ----------
    total : float
        −inf where a row is impossible, NaN where the model does not know its probability.
    impossible, unknown : float
        The weight of such rows; at least that much where it comes from statistics.
    where : str
        A node whose table has no row for what was held out.
    """

    total: float
    impossible: float = 0.0
    unknown: float = 0.0
    where: str = ""

    def __add__(self, other: HeldOutScore) -> HeldOutScore:
        """Join the scores of different rows."""
        total = _sum(self.total, other.total)
        impossible, unknown = self.impossible + other.impossible, self.unknown + other.unknown
        return HeldOutScore(total, impossible, unknown, self.where or other.where)

    def and_of(self, other: HeldOutScore) -> HeldOutScore:
        """Join the scores of different variables of the same rows."""
        total = _sum(self.total, other.total)
        impossible, unknown = max(self.impossible, other.impossible), max(self.unknown, other.unknown)
        return HeldOutScore(total, impossible, unknown, self.where or other.where)


def _sum(first: float, second: float) -> float:
    return math.nan if math.isnan(first) or math.isnan(second) or first == -second == math.inf else first + second


def score_of(log_p: Floats, weights: Array | None, where: str = "") -> HeldOutScore:
    """Add up log p of rows, each with its weight; rows of weight zero cost nothing."""
    w = np.ones(len(log_p)) if weights is None else np.asarray(weights, np.float64)
    impossible, unknown = float(w[np.isneginf(log_p)].sum()), float(w[np.isnan(log_p)].sum())
    if unknown:
        return HeldOutScore(math.nan, impossible, unknown, where)
    if impossible:
        return HeldOutScore(-math.inf, impossible)
    seen = w > 0
    return HeldOutScore(float(w[seen].dot(log_p[seen])))


def from_statistics(model: Model, structure: Structure, statistics: Statistics) -> HeldOutScore | None:
    """Return the score of the rows that statistics are of; None where these do not suffice."""
    if isinstance(model, BayesianNetwork):
        return _of_network(model, statistics)
    if isinstance(model, JointNormal):
        return HeldOutScore(math.fsum(chain_log_likelihoods(model, statistics[Moment(model.names)]).values()))
    rows = statistics.items_.get(Distinct(structure.columns))
    if isinstance(rows, Rows) and isinstance(model, RowLikelihood):
        columns, n_rows = dict(zip(structure.columns, rows.columns, strict=True)), rows.n_rows
        return score_of(model.log_prob_of(columns, n_rows), rows.weights)
    if isinstance(model, MarkovNetwork):
        return _of_factors(model, statistics)
    return None


def _of_network(model: BayesianNetwork, statistics: Statistics) -> HeldOutScore:
    """Return Σ_v Σ m(x_v, x_pa) log p(x_v | x_pa), and the like for moments."""
    score = HeldOutScore(0.0)
    for node, (kind, family) in nodes_of(model.dag, statistics.schema).items():
        score = score.and_of(_of_family(kind, model.cpd(node), node, statistics[kind.need(family)]))
    return score


def _of_family(kind: AnyKind, cpd: Any, node: str, statistic: Statistic) -> HeldOutScore:
    total = kind.log_likelihood(cpd, statistic)
    if math.isfinite(total):
        return HeldOutScore(total)
    if isinstance(statistic, Moments):
        weight = statistic.weight.reshape(-1)
        if math.isnan(total):
            return HeldOutScore(math.nan, unknown=float(weight[cpd.unknown].sum()), where=node)
        return HeldOutScore(total, float(weight.sum()) if total < 0 else 0.0)
    assert isinstance(statistic, Counts | Rows)
    columns, m = (statistic.columns, statistic.weights) if isinstance(statistic, Rows) else statistic.columns()
    names = [variable.name for variable in statistic.variables]
    return score_of(cpd.log_prob(dict(zip(names, columns, strict=True))), m, node)


def _of_factors(model: MarkovNetwork, statistics: Statistics) -> HeldOutScore | None:
    """Return Σ_C Σ m(x_C) log ψ(x_C) − N log Z, where the counts of every factor were collected."""
    score = HeldOutScore(-statistics.weight * model.log_z)
    for factor in model.factors:
        try:
            counts = statistics[Count(factor.names)]
        except StatisticsError:
            return None
        cells, m = counts.nonzero()
        with np.errstate(divide="ignore"):
            score = score.and_of(score_of(np.log(factor.values[tuple(cells.T)]), m))
    return score


# Row by row ---------------------------------------------------------------------------------------------------


def of_rows(
    models: Mapping[str, tuple[Any, bool]], columns: Columns, n_rows: int, weights: Array | None
) -> dict[str, HeldOutScore]:
    """Score the rows of one block under several models, each with whether what a row lacks is summed out."""
    found = {}
    for name, (model, observed) in models.items():
        log_of = model.log_observed_of if observed else model.log_prob_of
        found[name] = score_of(log_of(columns, n_rows), weights) if n_rows else HeldOutScore(0.0)
    return found
