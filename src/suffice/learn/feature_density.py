"""The solution of a log-linear model with continuous variables."""

from __future__ import annotations

import math

import numpy as np

from suffice.learn.feature_nodes import placement_of
from suffice.learn.feature_setting import FeatureSetting
from suffice.learn.method import Solution, Step
from suffice.learn.weights import FoundWeights
from suffice.models.log_linear_density import LogLinearDensity
from suffice.text import plural

FAR = 30.0


def density_solution(setting: FeatureSetting, found: FoundWeights) -> Solution:
    """Put the density together."""
    problem = setting.problem
    total = problem.statistics.weight
    point = setting.family.at(found.weights)
    remarks = list(found.remarks)
    if not found.converged and not problem.watch.interrupted:
        remarks.append(f"Not converged after {plural(len(found.objectives), 'step')}: {found.reason}")
    remarks.append(f"Integrals by quadrature, on {math.prod(setting.design.layout.sizes):,} nodes.")
    model = LogLinearDensity(
        problem.structure,
        np.array(found.weights),
        schema=problem.schema.select(problem.structure.columns),
        base=problem.base,
        placement=placement_of(problem.structure, problem.statistics),
    )
    return Solution(
        model=model,
        log_likelihood=total * (float(found.weights.dot(setting.moments[0])) - point.log_z),
        n_free=setting.design.n_weights,
        n_free_adjusted=setting.design.n_weights,
        trace=tuple(Step(number, value) for number, value in enumerate(found.objectives, 1)),
        remarks=tuple(remarks),
        interrupted=problem.watch.interrupted,
    )
