"""Proportional fitting of log-linear models whose features are all the configurations of some scopes.

Such a model is a Markov random field: a weight is the logarithm of a cell's potential.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.errors import EstimationError, Remedy
from suffice.learn import ipf
from suffice.learn.cliques import solve_by
from suffice.learn.feature_setting import FeatureSetting
from suffice.learn.features import rank_of
from suffice.learn.method import Problem, Solution, Step
from suffice.learn.weights import Space
from suffice.models.feature_design import FeatureDesign
from suffice.models.log_linear import LogLinear
from suffice.structures.cliques import Cliques
from suffice.structures.feature_products import IndicatorsSpec

if TYPE_CHECKING:
    from suffice.models.markov_net import MarkovNetwork
    from suffice.structures.features import Features


def refuses(structure: Any, schema: Any) -> str | None:
    """Refuse features other than all configurations of scopes."""
    if structure.given or structure.continuous:
        return "it scales tables of discrete variables, without inputs."
    whole = all(isinstance(spec, IndicatorsSpec) and not spec.reference for spec in structure.specs)
    if not whole or structure.tie or len({frozenset(s.variables) for s in structure.specs}) < len(structure.specs):
        return "it scales whole tables: all features must be sf.indicators(…), without ties. Use 'lbfgs' or 'gis'."
    return None


def solve(problem: Problem[Features]) -> Solution[LogLinear]:
    """Fit the cliques in turn, and read the weights off their potentials."""
    setting = FeatureSetting.of(problem)
    design = setting.design
    scopes = [tuple(design.names[v] for v in scope) for scope in design.layout.scopes]
    held = {name for scope in scopes for name in scope}
    lonely = [name for name in design.names if name not in held]
    for name in lonely:
        if any(name in table.names for table in problem.base):
            raise EstimationError(
                f"The base measure is over {name!r}, which no feature holds; tables cannot be scaled to that. Use ",
                Remedy("method", "lbfgs"),
                ".",
            )
    cliques = Cliques(scopes)
    found = _scaled(problem.about(cliques), setting)
    # Variables that no feature holds are uniform.
    even = problem.statistics.weight * sum(math.log(problem.schema[name].n_states) for name in lonely)
    trace = tuple(Step(step.number, step.objective - even) for step in found.trace)
    factors = found.model.factors[: len(scopes)]
    with np.errstate(divide="ignore"):
        theta = design.layout.flat([np.log(factor.values) for factor in factors])
    rank, remarks = rank_of(setting)
    schema = problem.schema.select(problem.structure.columns)
    model = LogLinear(
        problem.structure,
        _weights(design, theta),
        schema=schema,
        base=problem.base,
        support=_support(found.model, len(cliques.cliques), len(problem.base), factors),
        design=design,
    )
    return Solution(
        model=model,
        log_likelihood=found.log_likelihood - even,
        n_free=rank,
        n_free_adjusted=found.n_free_adjusted,
        trace=trace,
        remarks=(*found.remarks, *remarks),
        interrupted=found.interrupted,
    )


def _scaled(problem: Problem[Cliques], setting: FeatureSetting) -> Solution[MarkovNetwork]:
    """Scale the tables until their margins match, and so do the features' expectations, as the certificate asks."""
    found, n_cliques = solve_by(ipf.ipf)(problem), len(problem.structure.cliques)
    for tol in (problem.tol / 10, problem.tol / 100):
        matching = setting.matching()
        with np.errstate(divide="ignore"):
            theta = setting.design.layout.flat([np.log(factor.values) for factor in found.model.factors[:n_cliques]])
        weights = _weights(setting.design, theta)
        unfinished = len(found.trace) >= problem.max_iter or problem.watch.interrupted
        if unfinished or not np.isfinite(weights).all() or not matching.free.all():
            return found
        value, gradient = matching.evaluate(weights)
        if Space(matching).done_by_weights(weights, value, gradient):
            return found
        found = solve_by(ipf.ipf)(replace(problem, tol=tol))
    return found


def _weights(design: FeatureDesign, theta: Any) -> Any:
    """Return the weight of every cell: columns of the matrix have a single one."""
    cells = design.by_column.indices
    return np.where(np.isfinite(theta), theta, -math.inf)[cells]


def _support(network: Any, n_cliques: int, n_base: int, factors: Any) -> list[LabelledTable]:
    zeros = [
        LabelledTable(factor.variables, (factor.values > 0).astype(np.float64), "h")
        for factor in factors
        if (factor.values == 0).any()
    ]
    return [*zeros, *network.factors[n_cliques + n_base :]]
