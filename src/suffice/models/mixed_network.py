"""A Bayesian network of discrete and continuous nodes as the engine sees it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import ModelError, listing
from suffice.inference.conditional_gaussian import MixedNetwork, Mixture, Seen
from suffice.inference.gaussian_parts import NoExactAnswer, Regression
from suffice.inference.log_tables import LogFactor, log_of
from suffice.models.cpds.kind import CPD
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.rows import all_configurations
from suffice.models.cpds.tabular import whole_values
from suffice.models.joint_normal import JointNormal
from suffice.models.normal_mixture import NormalMixture
from suffice.types import Array, Columns, Floats

if TYPE_CHECKING:
    from suffice.models.bayes_net import BayesianNetwork


def mixed_network(model: BayesianNetwork) -> MixedNetwork:
    """Return a Bayesian network for `suffice.inference.conditional_gaussian`."""
    variables, place = model.schema.variables, model.schema.positions

    def places(names: Sequence[Variable]) -> tuple[int, ...]:
        return tuple(place[variable.name] for variable in names)

    regressions = {}
    for node, cpd in enumerate(model.cpds):
        if isinstance(cpd, LinearGaussianCPD):
            above = places(cpd.family.discrete), places(cpd.family.continuous)
            regressions[node] = Regression(*above, cpd.intercept, cpd.coefficients, cpd.variance)

    whole: dict[int, LogFactor] = {}

    def table(node: int, seen: Seen) -> LogFactor:
        cpd = model.cpds[node]
        if cpd.family.continuous or not cpd.family.child.is_discrete:
            return _with_values(cpd, place, seen, len(variables))
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
        frozenset(node for node, v in enumerate(variables) if not v.is_discrete and node not in regressions),
    )


@runtime_checkable
class OfAllStates(Protocol):
    """A distribution that knows the probabilities of all states at once."""

    def log_probabilities(self, columns: Columns) -> Floats:
        """Return log p of all states for every case of the parents' columns; shape (n_rows, n_states)."""


def _with_values(cpd: CPD, place: Mapping[str, int], seen: Seen, rows_axis: int) -> LogFactor:
    """Return log p(child | parents) over its discrete variables, where its continuous ones were observed."""
    family, child = cpd.family, cpd.family.child
    hidden = [parent.name for parent in family.continuous if place[parent.name] not in seen.values]
    if hidden:
        raise ModelError(
            NoExactAnswer(
                f"p({child.name} | {', '.join(parent.name for parent in family.parents)}) is a "
                f"{cpd.kind.replace('_', ' ')} of the continuous {listing(hidden)}, so that the answer has no closed "
                f"form. Observe {listing(hidden)}",
                ".",
            )
        )
    sizes = [parent.n_states for parent in family.discrete]
    codes, k = all_configurations(sizes), math.prod(sizes)
    columns: dict[str, Array] = {
        parent.name: np.repeat(codes[:, axis], seen.n) for axis, parent in enumerate(family.discrete)
    }
    numbers = family.continuous if child.is_discrete else (*family.continuous, child)
    columns |= {variable.name: np.tile(seen.values[place[variable.name]], k) for variable in numbers}
    above = tuple(place[parent.name] for parent in family.discrete)
    if not child.is_discrete:
        return LogFactor((*above, rows_axis), cpd.log_prob(columns).reshape(*sizes, seen.n))
    if isinstance(cpd, OfAllStates):
        log_p = np.asarray(cpd.log_probabilities(columns), np.float64)
    else:
        states = [np.full(k * seen.n, state) for state in range(child.n_states)]
        log_p = np.stack([cpd.log_prob({**columns, child.name: state}) for state in states], axis=-1)
    by_row = np.moveaxis(log_p.reshape(*sizes, seen.n, child.n_states), -1, -2)
    return LogFactor((*above, place[child.name], rows_axis), by_row)


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
