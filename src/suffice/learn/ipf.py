"""Iterative proportional fitting: ψ_C ← ψ_C · t_C / p_C, clique after clique.

Each step makes one margin right, keeps Z, and raises the likelihood by N times the divergence between the margin wanted
and the one found. Through a junction tree, messages go only to the clique that is next.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import ArgumentError, EstimationError, Remedy, Text, shown
from suffice.learn.cliques import CliqueEstimate, check, refuses_nothing, refuses_penalties, solve_by
from suffice.learn.likelihood import newton
from suffice.learn.matching import Matching, needs
from suffice.learn.method import Method, Problem
from suffice.optimise.outcome import MORE_STEPS, Stop
from suffice.text import plural
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.markov_net import MarkovNetwork
    from suffice.structures.cliques import Cliques

MORE_CYCLES = Text(MORE_STEPS, ", or use ", Remedy("method", "newton"), ".")
PATIENCE = 30
"""Cycles after which the adaptive method asks how many more are to come."""


def ipf(matching: Matching) -> CliqueEstimate:
    """Fit the cliques in turn, or all at once and damped."""
    simultaneous = matching.problem.options.get("simultaneous", False)
    if not isinstance(simultaneous, bool):
        raise ArgumentError(f"The option 'simultaneous' must be True or False. Got {shown(simultaneous)} instead.")
    return _all_at_once(matching) if simultaneous else _in_turn(matching)


def adaptive(matching: Matching) -> CliqueEstimate:
    """Fit the cliques in turn while that goes fast, then by Newton's method from there."""
    found = _in_turn(matching, patience=PATIENCE)
    if found.converged or matching.problem.watch.interrupted:
        return found
    left = matching.problem.max_iter - len(found.objectives)
    if left <= 0:
        return found
    rest = newton(matching, found.theta, left)
    remark = f"By Newton's method after {plural(len(found.objectives), 'cycle')} of proportional fitting, slow here."
    return replace(rest, objectives=(*found.objectives, *rest.objectives), remarks=(remark,))


def _in_turn(matching: Matching, patience: int | None = None) -> CliqueEstimate:
    """Fit the cliques in turn; with ``patience``, give up where the way is long or the range of floats is left."""
    problem, family = matching.problem, matching.family
    scaling = family.scaling(matching.start, matching.targets)
    objectives: list[float] = []
    log_z = family.at(matching.start).log_z
    value = float(matching.targets[matching.free].dot(matching.start[matching.free])) - log_z
    before, halfway = math.inf, math.inf
    for step in problem.watch.steps("proportional fitting", problem.max_iter):
        gains, _, gaps = scaling.cycle()
        if not np.isfinite(gains).all():
            if patience:
                return CliqueEstimate(matching.start, (), Stop.FAILED)
            raise EstimationError(
                "Proportional fitting left the range of floats: the start gives some cells of a margin no mass. "
                "Start from the uniform distribution (init=None), or use ",
                Remedy("method", "newton"),
                ".",
            )
        value += float(gains.sum())
        objectives.append(matching.total * value)
        gap = float(gaps.max(initial=0.0))
        problem.watch.info = f"gap {gap:.1e}"
        # Gaps are taken before the steps; what the cycle leaves of them is foreseen before it is measured.
        if gap * min(1.0, gap / before) <= problem.tol / 2 and matching.matches(_gradient(matching, scaling.theta)):
            return CliqueEstimate(scaling.theta, tuple(objectives), Stop.CONVERGED, log_z=log_z)
        before = gap
        if patience and step == patience // 2:
            halfway = matching.gap(_gradient(matching, scaling.theta))
        if patience and step == patience:
            gap = matching.gap(_gradient(matching, scaling.theta))
            if _cycles_left(halfway, gap, problem, patience) > patience:
                break
    stop = Stop.CONVERGED if matching.matches(_gradient(matching, scaling.theta)) else Stop.OUT_OF_STEPS
    return CliqueEstimate(scaling.theta, tuple(objectives), stop, MORE_CYCLES, log_z=log_z)


def _gradient(matching: Matching, theta: Floats) -> Floats:
    return matching.family.at(theta).expected - matching.targets


def _cycles_left(before: float, gap: float, problem: Problem[Cliques], patience: int) -> float:
    """Return how many more cycles it takes if the gap goes on to fall as it did in the second half."""
    rate = math.log(before / gap) / (patience - patience // 2) if 0 < gap < before else 0.0
    return math.log(gap / (problem.tol / 2)) / rate if rate > 0 else math.inf


def _all_at_once(matching: Matching) -> CliqueEstimate:
    """ψ_C ← ψ_C (t_C / p_C)^(1/number of cliques): one calibration a step, and the likelihood never falls."""
    problem, free = matching.problem, matching.free
    theta, n, objectives = np.array(matching.start), len(matching.layout.scopes), list[float]()
    point = matching.family.at(theta)
    for _ in problem.watch.steps("simultaneous fitting", problem.max_iter):
        with np.errstate(divide="ignore"):
            theta[free] += np.log(matching.targets[free] / point.expected[free]) / n  # eq ipf-simultaneous
        point = matching.family.at(theta)
        objectives.append(matching.total * (float(matching.targets[free].dot(theta[free])) - point.log_z))
        if matching.matches(point.expected - matching.targets):
            return CliqueEstimate(theta, tuple(objectives), Stop.CONVERGED)
    return CliqueEstimate(theta, tuple(objectives), Stop.OUT_OF_STEPS, MORE_CYCLES)


METHOD: Method[Cliques, MarkovNetwork] = Method(
    solve=solve_by(ipf),
    refuses=refuses_nothing,
    needs=needs,
    check=check,
    refuses_prior=refuses_penalties,
    points=("mle", "map"),
    takes_base=True,
    takes_init=True,
    options=("simultaneous",),
)
ADAPTIVE = replace(METHOD, solve=solve_by(adaptive), options=())
