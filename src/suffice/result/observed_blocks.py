"""Free coordinates of a model's parameters, with the score of expected statistics in each.

By Fisher's identity the score of what was observed is that of complete rows at the statistics that the model expects.
Tables move by the log-odds of their rows; regressions by their value at the parents' mean, their slopes and the
logarithm of the variance; a normal distribution by mean and covariance in units of its Cholesky factor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import EstimationError
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import CPD, AnyKind, nodes_of
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.linear_gaussian_kind import LinearGaussianKind
from suffice.models.cpds.rows import all_configurations
from suffice.models.cpds.tabular import TabularCPD, whole_values
from suffice.models.joint_normal import JointNormal
from suffice.priors.binding import bound, prior_of
from suffice.result.observed_regressions import Regressions, together
from suffice.result.observed_tables import Parameter, ParameterBlock, Tables, counted
from suffice.stats.needs import Count, Moment
from suffice.stats.statistics import Statistics
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.result.fit import Fit


GIVEN = 1e-6
"""A score of more than this, a row, at a certified optimum: the parameters were given, and not estimated."""


# Normal distributions -----------------------------------------------------------------------------------------


@dataclass(eq=False)
class Normals:
    """A normal distribution: μ + L δ and L (I + E) Lᵀ, L being the Cholesky factor of the covariance."""

    model: JointNormal

    def __post_init__(self) -> None:
        self._root = np.linalg.cholesky(self.model.covariance)
        self._upper = np.triu_indices(len(self.model.names))
        self._now: JointNormal = self.model

    @property
    def size(self) -> int:
        """The number of free coordinates."""
        return len(self.model.names) + len(self._upper[0])

    def moved(self, step: Floats) -> JointNormal:
        """Return the distribution after a step."""
        p = len(self.model.names)
        inner = np.zeros((p, p))
        inner[self._upper] = step[p:]
        inner = np.eye(p) + inner + np.triu(inner, 1).T
        covariance = self._root @ inner @ self._root.T
        mean = self.model.mean + self._root @ step[:p]
        self._now = JointNormal(self.model.names, mean, covariance=(covariance + covariance.T) / 2)
        return self._now

    def score(self, statistics: Statistics) -> Floats:
        """Return Lᵀ Σ⁻¹ Σ(x − μ), and Lᵀ ∂ℓ/∂Σ L of what is on and above the diagonal."""
        moments, precision = statistics[Moment(self.model.names)], self._now.precision
        weight, apart = float(moments.weight), moments.mean + moments.rest - self._now.mean
        scatter = moments.scatter + weight * np.outer(apart, apart)
        slope = self._root.T @ (precision @ scatter @ precision - weight * precision) @ self._root
        rows, columns = self._upper
        return np.concatenate(
            [weight * self._root.T @ precision @ apart, slope[self._upper] * np.where(rows == columns, 0.5, 1.0)]
        )

    @cached_property
    def parameters(self) -> list[Parameter]:
        """Means, then variances and covariances."""
        names, rows, columns = self.model.names, *self._upper
        found = [Parameter(name, "", "mean", float(mean)) for name, mean in zip(names, self.model.mean, strict=True)]
        for a, b in zip(rows.tolist(), columns.tolist(), strict=True):
            what = ("variance", "log") if a == b else (f"covariance with {names[b]}", "plain")
            found.append(Parameter(names[a], "", what[0], float(self.model.covariance[a, b]), what[1]))
        return found

    @cached_property
    def jacobian(self) -> Floats:
        """Their derivatives."""
        root, p = self._root, len(self.model.names)
        found = np.zeros((self.size, self.size))
        found[:p, :p] = root
        rows, columns = self._upper
        for k, (i, j) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
            change = np.outer(root[:, i], root[:, j])
            change = change if i == j else change + change.T
            found[p:, p + k] = change[self._upper]
        return found


# Putting them together ----------------------------------------------------------------------------------------


def blocks_of_network(fit: Fit, statistics: Statistics, certified: bool) -> list[ParameterBlock]:
    """Return the blocks of a Bayesian network; ``statistics`` are those expected at its parameters."""
    nodes = nodes_of(fit.structure, statistics.schema)
    prior = bound(fit.prior, fit.structure, statistics)
    found: list[ParameterBlock] = []
    for group in fit.structure.groups:
        kind, family = nodes[group[0]]
        cpds = tuple(fit.model.cpd(name) for name in group)
        needs = tuple(nodes[name][0].need(nodes[name][1]) for name in group)
        mine = prior_of(prior, kind, family)
        maker = MAKERS.get(kind.name)
        if maker is None:
            raise EstimationError(
                f"Node {group[0]!r} is of kind {kind.name!r}, and standard errors of incomplete rows are given for "
                "tables and linear-Gaussian nodes."
            )
        found.append(maker(group, cpds, needs, kind, mine, fit, statistics, certified))
    return found


def _tables(
    group: Sequence[str],
    cpds: tuple[TabularCPD, ...],
    needs: tuple[Count, ...],
    kind: AnyKind,
    mine: Any,
    fit: Fit,
    statistics: Statistics,
    certified: bool,
) -> Tables:
    family = cpds[0].family
    above = all_configurations([parent.n_states for parent in family.parents])
    shape = (len(above), family.child.n_states)
    pseudo = np.zeros(shape) if mine is None else np.array(mine.pseudo(family, fit.point)(above), np.float64)
    counts = pseudo + counted(statistics, needs, shape)
    theta = whole_values(cpds[0]).reshape(shape)
    apart = np.abs(counts - counts.sum(axis=1, keepdims=True) * theta).max(axis=1) / max(fit.n, 1.0)
    return Tables(tuple(group), cpds, needs, pseudo, counts, (apart > GIVEN) & certified)


def _regressions(
    group: Sequence[str],
    cpds: tuple[LinearGaussianCPD, ...],
    needs: tuple[Moment, ...],
    kind: LinearGaussianKind,
    mine: Any,
    fit: Fit,
    statistics: Statistics,
    certified: bool,
) -> Regressions:
    if mine is not None:
        raise EstimationError(
            f"Standard errors of {group[0]!r} are those of maximum likelihood, without a prior on regressions. Fit "
            "without it for them."
        )
    block = Regressions(tuple(group), cpds, needs, kind.tied, together(statistics, needs, cpds), False)
    if certified and np.abs(block.score(statistics)).max(initial=0.0) / max(fit.n, 1.0) > GIVEN:
        block = Regressions(tuple(group), cpds, needs, kind.tied, together(statistics, needs, cpds), True)
    return block


MAKERS: Mapping[str, Callable[..., ParameterBlock]] = {"tabular": _tables, "linear_gaussian": _regressions}


def network_at(fit: Fit, blocks: list[ParameterBlock], steps: list[Floats]) -> BayesianNetwork:
    """Return the network after a step in every block."""
    tables: dict[str, CPD] = {}
    for block, step in zip(blocks, steps, strict=True):
        tables |= block.moved(step)
    return BayesianNetwork(fit.model.dag, tables)
