"""A Bayesian network of discrete and continuous nodes as the engine sees it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import ModelError, Remedy, listing
from suffice.inference.conditional_gaussian import MixedNetwork, Mixture, Seen
from suffice.inference.gaussian_parts import Regression
from suffice.inference.log_tables import LogFactor, log_of
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.rows import all_configurations
from suffice.models.cpds.softmax import SoftmaxCPD
from suffice.models.cpds.tabular import whole_values
from suffice.models.joint_normal import JointNormal
from suffice.models.normal_mixture import NormalMixture
from suffice.types import Array

if TYPE_CHECKING:
    from suffice.models.bayes_net import BayesianNetwork


def mixed_network(model: BayesianNetwork) -> MixedNetwork:
    """Return a Bayesian network for `suffice.inference.conditional_gaussian`."""
    variables, place = model.schema.variables, model.schema.positions
    by_place = dict(enumerate(model.cpds))

    def places(names: Sequence[Variable]) -> tuple[int, ...]:
        return tuple(place[variable.name] for variable in names)

    regressions = {}
    for node, cpd in by_place.items():
        if isinstance(cpd, LinearGaussianCPD):
            above = places(cpd.family.discrete), places(cpd.family.continuous)
            regressions[node] = Regression(*above, cpd.intercept, cpd.coefficients, cpd.variance)

    whole: dict[int, LogFactor] = {}

    def table(node: int, seen: Seen) -> LogFactor:
        cpd = by_place[node]
        if isinstance(cpd, SoftmaxCPD):
            return _with_values(cpd, (*places(cpd.family.discrete), node), place, seen, len(variables))
        if node not in whole:
            whole[node] = LogFactor((*places(cpd.family.parents), node), log_of(whole_values(cpd)))
        return whole[node]

    return MixedNetwork(
        tuple(model.schema),
        tuple(variable.n_states if variable.is_discrete else 1 for variable in variables),
        tuple(places(cpd.family.parents) for cpd in model.cpds),
        tuple(place[name] for name in model.dag.order),
        regressions,
        table,
        {node: variable.labels for node, variable in enumerate(variables) if variable.is_discrete},
    )


def _with_values(
    cpd: SoftmaxCPD, scope: tuple[int, ...], place: Mapping[str, int], seen: Seen, rows_axis: int
) -> LogFactor:
    """Return the table that a discrete node with continuous parents has where these were observed."""
    family = cpd.family
    hidden = [parent.name for parent in family.continuous if place[parent.name] not in seen.values]
    if hidden:
        raise ModelError(
            f"p({family.child.name} | {', '.join(parent.name for parent in family.parents)}) is a softmax of the "
            f"continuous {listing(hidden)}, so that the answer has no closed form. Observe {listing(hidden)}, or pass ",
            Remedy("method", "sampling"),
            ".",
        )
    sizes = [parent.n_states for parent in family.discrete]
    codes, k = all_configurations(sizes), math.prod(sizes)
    columns: dict[str, Array] = {
        parent.name: np.repeat(codes[:, axis], seen.n) for axis, parent in enumerate(family.discrete)
    }
    columns |= {parent.name: np.tile(seen.values[place[parent.name]], k) for parent in family.continuous}
    log_p = np.asarray(cpd.log_probabilities(columns), np.float64).reshape(*sizes, seen.n, family.child.n_states)
    return LogFactor((*scope, rows_axis), np.moveaxis(log_p, -1, -2))


def answer_of(
    schema: Schema, mixture: Mixture, n_targets: int, continuous: Sequence[int]
) -> JointNormal | NormalMixture:
    """Return an answer about one row of evidence: a normal distribution where no discrete variable is uncertain."""
    variables = schema.variables
    names = tuple(variables[place].name for place in continuous)
    if not mixture.by:
        return JointNormal(names, mixture.mean[0, 0], covariance=mixture.covariance[0])
    weights = mixture.weights[0]
    held = np.flatnonzero(weights > 0)
    by = tuple(variables[place] for place in mixture.by)
    codes = np.stack(np.unravel_index(held, [variable.n_states for variable in by]), axis=1).astype(np.int64)
    moments = mixture.mean[0][held], mixture.covariance[held]
    return NormalMixture(names, by[:n_targets], by[n_targets:], codes, weights[held], *moments)
