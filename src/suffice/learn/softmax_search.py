"""The search for the parameters of a softmax regression: Newton's method or L-BFGS, from a good start.

The class means and the common scatter of the terms, which one pass has shown, make Fisher's linear discriminant: the
softmax that would be exact if the terms were normal within the classes. From there a tenth of the rows leads close to
the optimum at a tenth of the cost. The Hessian of some of them, written out, makes the objective so round that L-BFGS
needs few steps more, each of one pass.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.learn.softmax_coordinates import Coordinates, Scaled, coordinates_of
from suffice.learn.softmax_objective import SoftmaxObjective
from suffice.learn.softmax_passes import SoftmaxPoint
from suffice.optimise.decrement import LEFT
from suffice.optimise.lbfgs import lbfgs
from suffice.optimise.newton_cg import newton_cg
from suffice.optimise.outcome import Outcome
from suffice.types import Floats

LARGE = 4_000_000
"""Numbers, rows times terms, from which on it pays to look at some of the rows first."""
THIN = 10
MOST_WHOLE = 1500
"""Parameters up to which a Hessian is written out."""
PER_PARAMETER = 10
"""Rows a parameter that a Hessian is made of."""
NEAR = 1e-3
QUICK = 30
"""Steps by which L-BFGS has come to the end where some rows are like the others."""


def null_point(objective: SoftmaxObjective) -> SoftmaxPoint:
    """Return the parameters of a model that knows no inputs."""
    summary = objective.summary
    k, t = summary.means.shape
    return SoftmaxPoint(np.zeros((k, t)), np.log(summary.shares) if objective.intercept else np.zeros(k))


def null_value(objective: SoftmaxObjective) -> float:
    """Return the mean of −log p(y) under that model."""
    shares = objective.summary.shares
    return float(-(shares * np.log(shares)).sum()) if objective.intercept else float(np.log(len(shares)))


def discriminant(objective: SoftmaxObjective) -> SoftmaxPoint | None:
    """Return Fisher's linear discriminant, shrunk by the ridge; None where moments are unknown or singular."""
    summary = objective.summary
    if summary.correlations is None or not objective.intercept or not len(summary.centre):
        return None
    around = (summary.means - summary.centre) / summary.units
    within = summary.correlations - (around.T * summary.shares) @ around
    within[np.diag_indices_from(within)] += 1e-6 + objective.ridge / objective.total / summary.units**2
    try:
        root = np.linalg.inv(np.linalg.cholesky(within))
    except np.linalg.LinAlgError:
        return None
    slopes = around @ root.T @ root
    intercept = np.log(summary.shares) - 0.5 * (slopes * around).sum(axis=1)
    slopes = slopes / summary.units
    return SoftmaxPoint(slopes, intercept - slopes @ summary.centre)


class Search:
    """One search, in coordinates: what it evaluates, when it is done, and how it steps.

    It is done when the gradient is at most ``enough``, and a step would raise the log-likelihood by at most ``left``.
    """

    def __init__(
        self, objective: SoftmaxObjective, coordinates: Coordinates | Scaled, enough: float, left: float = LEFT
    ) -> None:
        self.objective, self.coordinates, self.enough = objective, coordinates, enough
        self.gain = left / objective.total
        self._tried: list[tuple[Floats, float]] = []

    def twice(self, vector: Floats) -> tuple[float, Floats, Callable[[Floats], Floats]]:
        """Return value, gradient and products with the Hessian."""
        value, gradient, product = self.objective.at(self.coordinates.point(vector))
        self._tried.append((vector, self.objective.residual(gradient)))

        def multiply(direction: Floats) -> Floats:
            return self.coordinates.pulled(product(self.coordinates.point(direction)))

        return value, self.coordinates.pulled(gradient), multiply

    def once(self, vector: Floats) -> tuple[float, Floats]:
        """Return value and gradient."""
        value, gradient, _ = self.objective.at(self.coordinates.point(vector), curved=False)
        self._tried.append((vector, self.objective.residual(gradient)))
        return value, self.coordinates.pulled(gradient)

    def done(self, vector: Floats, value: float, gradient: Floats) -> bool:
        """Whether the gradient is small enough on the scale of the terms; asked of one of the points tried last."""
        residual = next(residual for tried, residual in reversed(self._tried) if tried is vector)
        self._tried.clear()
        return residual <= self.enough

    def newton(self, start: SoftmaxPoint, steps: Any) -> Outcome:
        """Search by Newton's method."""
        return newton_cg(self.twice, self.coordinates.of(start), done=self.done, steps=steps, gain=self.gain)

    def lbfgs(self, start: SoftmaxPoint, steps: Any) -> Outcome:
        """Search by L-BFGS."""
        return lbfgs(self.once, self.coordinates.of(start), done=self.done, steps=steps, gain=self.gain)


def first_point(objective: SoftmaxObjective) -> SoftmaxPoint:
    """Return the start: Fisher's discriminant where it beats knowing no inputs."""
    guess = discriminant(objective)
    if guess is not None and objective.at(guess, curved=False)[0] < null_value(objective):
        return guess
    return null_point(objective)


def closer(objective: SoftmaxObjective, coordinates: Coordinates | Scaled) -> tuple[SoftmaxPoint, Coordinates] | None:
    """Return a point near the optimum and rounder coordinates, both from some of the rows; None where it is no gain."""
    table, design = objective.held, objective.design
    if table is None or isinstance(coordinates, Scaled) or coordinates.size > MOST_WHOLE:
        return None
    n = table.n_expected
    stride = min(THIN, n // (PER_PARAMETER * coordinates.size))
    if n * design.n_terms * design.n_classes < LARGE or stride < 2 or objective.summary.counts.min() < 3 * THIN:
        return None
    thin = objective.every(stride)
    found = Search(thin, coordinates, NEAR, math.inf).newton(first_point(thin), range(1, 16))
    near = coordinates.point(found.x)
    rows = objective.every(max(1, n // (PER_PARAMETER * coordinates.size)))
    return near, coordinates.rounded(rows.hessian(near))


def newton(objective: SoftmaxObjective, root: Floats | None, enough: float, steps: Any) -> tuple[SoftmaxPoint, Outcome]:
    """Search by Newton's method with conjugate gradients, of many rows by a few of them first."""
    plain = coordinates_of(objective, root)
    near = closer(objective, plain)
    if near is None:
        found = Search(objective, plain, enough).newton(first_point(objective), steps)
        return plain.point(found.x), found
    start, coordinates = near
    search, each = Search(objective, coordinates, enough), iter(steps)
    found = search.lbfgs(start, itertools.islice(each, QUICK))
    if not found.converged:
        more = search.newton(coordinates.point(found.x), each)
        values = found.values + more.values
        found = replace(
            more, values=values, n_steps=len(values), n_evaluations=found.n_evaluations + more.n_evaluations
        )
    return coordinates.point(found.x), found


def quasi_newton(
    objective: SoftmaxObjective, root: Floats | None, enough: float, steps: Any
) -> tuple[SoftmaxPoint, Outcome]:
    """Search by L-BFGS."""
    coordinates = coordinates_of(objective, root)
    found = Search(objective, coordinates, enough).lbfgs(first_point(objective), steps)
    return coordinates.point(found.x), found
