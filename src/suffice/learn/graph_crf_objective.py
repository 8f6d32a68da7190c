"""The objective of a conditional random field on graphs, a node, in units of the attributes; and its minimum.

f(v) = (−Σ log p(y | x) + c2 ‖w‖²) / N + (c1 / N) ‖w‖₁, where w = v / u. Here u is how large the values of a weight's
attribute are, so that it does not matter in which units an attribute is told.

What no labelling notices, such as one number added to the weights of all labels, is left where the search began: at
zero. So without a penalty, the weights found are the shortest, in these units, of those with the same probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from suffice.learn.graph_crf_passes import GradientAlong, GraphGradient, PseudoGradient, PseudoGradientAlong, run
from suffice.models.graph_layout import GraphLayout
from suffice.optimise.decrement import LEFT
from suffice.optimise.kinks import MOST_WRITTEN, Kinks
from suffice.optimise.lbfgs import lbfgs
from suffice.optimise.newton_cg import newton_cg
from suffice.optimise.outcome import Outcome, Stop, outcome_of
from suffice.optimise.owlqn import owlqn
from suffice.stats.source import Source
from suffice.types import Floats

IN_TURN, NEWTON = 20, 8
"""Orthant-wise steps, and at most so many of Newton's method, in turns."""
MOST_CUTS, MOST_IDLE = 12, 5


@dataclass(frozen=True, eq=False)
class GraphObjective:
    """f without its kinks.

    Attributes
    ----------
    source : Source
    layout : GraphLayout
    units : array, shape (n_weights,)
    total : float
        N, the number of nodes, each as often as its graph counts.
    c2 : float
    is_pseudo : bool
        Whether each node's label is taken given all others.
    """

    source: Source
    layout: GraphLayout
    units: Floats
    total: float
    c2: float = 0.0
    is_pseudo: bool = False

    def at(self, vector: Floats) -> tuple[float, Floats]:
        """Return value and gradient."""
        weights = vector / self.units
        task = (PseudoGradient if self.is_pseudo else GraphGradient)(self.layout, weights)
        found = run(self.source, task)
        value = found[0] + self.c2 * float(weights @ weights)
        return value / self.total, (found[1:] + 2 * self.c2 * weights) / self.units / self.total

    def twice_at(self, vector: Floats) -> tuple[float, Floats, Callable[[Floats], Floats]]:
        """Return products with the Hessian, too."""
        value, gradient = self.at(vector)
        return value, gradient, lambda direction: self.product(vector, direction)

    def product(self, vector: Floats, direction: Floats) -> Floats:
        """Return the Hessian at a point times a direction."""
        weights, moved = vector / self.units, direction / self.units
        task = (PseudoGradientAlong if self.is_pseudo else GradientAlong)(self.layout, weights, moved)
        return (run(self.source, task) + 2 * self.c2 * moved) / self.units / self.total


def smooth_search(objective: GraphObjective, enough: float, steps: Iterable[int]) -> Outcome:
    """Search for the minimum where there are no kinks, by L-BFGS."""

    def done(vector: Floats, value: float, gradient: Floats) -> bool:
        return bool(np.abs(gradient).max(initial=0.0) <= enough)

    gain, steps = LEFT / max(objective.total, 1.0), iter(steps)
    found = lbfgs(objective.at, np.zeros(objective.layout.size), done=done, steps=steps, gain=gain)
    if not found.converged or not objective.layout.size:
        return found
    # quasi-Newton steps promise little where they know little of the curvature
    more = newton_cg(objective.twice_at, found.x, done=done, steps=steps, gain=gain)
    n_evaluations = found.n_evaluations + more.n_evaluations
    return outcome_of(more.x, more.value, more.gradient, found.values + more.values, n_evaluations)


# Kinks --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class GraphL1Objective:
    """f with its kinks, in the weights themselves, whose prices are equal.

    Orthant-wise steps tell which weights are zero. Along what no labelling notices they creep, since the price is all
    that changes there; Newton's method, with the zeros and signs held, goes to the end at once.
    """

    objective: GraphObjective
    kinks: Kinks
    units: Floats
    enough: float

    def done(self, vector: Floats, value: float, slopes: Floats) -> bool:
        """Whether slopes are small enough, in units of the attributes."""
        return bool(np.abs(slopes / self.units).max(initial=0.0) <= self.enough)

    def total(self, vector: Floats) -> float:
        """Return the value with the kinks."""
        return self.objective.at(vector)[0] + self.kinks.value(vector)

    def polished(self, vector: Floats) -> tuple[Floats, bool]:
        """Return the optimum with the zeros and the signs held, or a point on the way there that has not risen.

        Also return which of the two it is.
        """
        free = self.kinks.free(vector)
        if not free.any():
            return vector, True

        def done(part: Floats, value: float, slopes: Floats) -> bool:
            return bool(np.abs(slopes / self.units[free]).max() <= self.enough / 4)

        gain = LEFT / max(self.objective.total, 1.0)
        steps = range(1, NEWTON + 1)
        after, is_end = self.kinks.on_support(self.objective.twice_at, vector, done=done, steps=steps, gain=gain)
        limit = self.total(vector)
        for cut in range(MOST_CUTS):
            trial = vector + 0.5**cut * (after - vector)
            trial[np.sign(trial) != np.sign(vector)] = 0.0
            if self.total(trial) <= limit + 1e-14 * abs(limit):
                return trial, is_end and np.array_equal(trial, after)
        return vector, False

    def has_more_to_gain(self, vector: Floats, *, is_end: bool) -> bool:
        """Whether a Newton step promises more than may be left; at the end on a support, only weights at zero can."""
        _, slopes, product = self.objective.twice_at(vector)
        if is_end and not self.kinks.left(vector, slopes)[~self.kinks.free(vector)].any():
            return False
        return self.kinks.decrement(vector, slopes, product, self.units**2, self.objective.total) > 10 * LEFT


def sparse_search(objective: GraphObjective, c1: float, enough: float, steps: Iterable[int]) -> Outcome:
    """Search for the minimum with kinks, by orthant-wise L-BFGS and Newton's method in turns."""
    price, gain = c1 / objective.total, LEFT / max(objective.total, 1.0)
    plain = replace(objective, units=np.ones_like(objective.units))
    problem = GraphL1Objective(plain, Kinks(np.full(objective.layout.size, price)), objective.units, enough)
    x, n_idle, stop, values = np.zeros(objective.layout.size), 0, Stop.OUT_OF_STEPS, list[float]()
    steps, n_evaluations, least = iter(steps), 0, 1e-5 * enough
    while True:
        found = owlqn(plain.at, x, price, done=problem.done, steps=islice(steps, IN_TURN), gain=gain)
        n_evaluations += found.n_evaluations
        idle = bool(values) and values[-1] - found.value <= 1e-14 * abs(found.value)
        n_idle, x = n_idle + 1 if idle else 0, found.x
        values += found.values
        before = x
        x, is_end = problem.polished(x)
        if found.converged and (is_end or np.array_equal(x, before)):
            if not problem.has_more_to_gain(x, is_end=is_end):
                stop = Stop.CONVERGED
                break
            if problem.enough <= least:
                stop = Stop.NO_BETTER
                break
            problem = replace(problem, enough=problem.enough / 10)
        elif (found.n_steps < IN_TURN and not found.converged) or n_idle >= MOST_IDLE:
            stop = Stop.NO_BETTER if n_idle >= MOST_IDLE else found.stop
            break
    if stop is not Stop.OUT_OF_STEPS and 0 < len(x) <= MOST_WRITTEN:
        asked = replace(problem, enough=enough)
        x, is_end = problem.kinks.finished(
            plain.twice_at, x, total=objective.total, gain=LEFT, done=lambda slopes: asked.done(x, 0.0, slopes)
        )
        stop = Stop.CONVERGED if is_end else Stop.NO_BETTER
    value, gradient = plain.at(x)
    return outcome_of(x * objective.units, value + problem.kinks.value(x), gradient, values, n_evaluations + 1, stop)
