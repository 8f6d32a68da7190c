"""Softmax regression under a double-exponential prior: some slopes are exactly zero.

Proximal steps find out which slopes are zero and the signs of the others; with these given the objective is smooth, and
Newton's method finds its optimum to the last digits. Both alternate until the first-order condition holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.learn.softmax_objective import SoftmaxObjective
from suffice.learn.softmax_passes import SoftmaxPoint
from suffice.learn.softmax_search import null_point
from suffice.optimise.decrement import LEFT
from suffice.optimise.kinks import MOST_WRITTEN, Kinks
from suffice.optimise.outcome import Outcome, Stop, outcome_of
from suffice.optimise.proximal import proximal
from suffice.types import Floats

FIRST, AGAIN = 60, 20
"""Proximal steps before the first Newton steps, and before others."""
MOST_CUTS = 12
MOST_IDLE = 5
NOW_AND_THEN = 10
"""Turns after which a Hessian is written out, where conjugate gradients creep along a narrow valley."""
MOST_ROWS = 10_000_000
"""Rows times numbers up to which a Hessian is written out at the end."""


class SoftmaxL1Objective:
    """The objective as a function of one vector: intercepts at the centre, then slopes in units of their terms.

    Slopes of all K classes take part, so that each can be zero by itself. Both are in units of their class, the root of
    π (1 − π) for its share π of the rows, so that the objective is about as round for rare classes as for others.
    """

    def __init__(self, objective: SoftmaxObjective, width: float) -> None:
        self.objective = objective
        self.shape = objective.summary.means.shape
        shares = objective.summary.shares
        self.roots = np.sqrt(np.maximum(shares * (1 - shares), 1e-14))
        self.units = np.outer(self.roots, objective.summary.units)
        self.n_intercepts = self.shape[0] if objective.intercept else 0
        costs = 1 / (width * objective.total * self.units)
        self.kinks = Kinks(np.concatenate([np.zeros(self.n_intercepts), costs.reshape(-1)]))

    def point(self, vector: Floats) -> SoftmaxPoint:
        """Return slopes and intercepts."""
        slopes = vector[self.n_intercepts :].reshape(self.shape) / self.units
        if not self.n_intercepts:
            return SoftmaxPoint(slopes, np.zeros(self.shape[0]))
        return SoftmaxPoint(slopes, vector[: self.n_intercepts] / self.roots - slopes @ self.objective.summary.centre)

    def of(self, point: SoftmaxPoint) -> Floats:
        """Return the vector of a point."""
        at_centre = (point.intercept + point.slopes @ self.objective.summary.centre) * self.roots
        return np.concatenate([at_centre[: self.n_intercepts], (point.slopes * self.units).reshape(-1)])

    def pulled(self, gradient: SoftmaxPoint) -> Floats:
        """Return the gradient by the vector."""
        slopes = (gradient.slopes - np.outer(gradient.intercept, self.objective.summary.centre)) / self.units
        return np.concatenate([(gradient.intercept / self.roots)[: self.n_intercepts], slopes.reshape(-1)])

    def smooth(self, vector: Floats) -> tuple[float, Floats]:
        """Return value and gradient without the prior."""
        value, gradient, _ = self.objective.at(self.point(vector), curved=False)
        return value, self.pulled(gradient)

    def smooth_twice(self, vector: Floats) -> tuple[float, Floats, Callable[[Floats], Floats]]:
        """Return products with the Hessian, too."""
        value, gradient, product = self.objective.at(self.point(vector))
        return value, self.pulled(gradient), lambda direction: self.pulled(product(self.point(direction)))

    def levelled(self, vector: Floats) -> Floats:
        """Return the same probabilities at the least cost: slopes of a term less that of their medians nearest to zero.

        The likelihood does not know what all classes share, so that a search would creep along it.
        """
        slopes = vector[self.n_intercepts :].reshape(self.shape) / self.roots[:, None]
        middle = np.sort(slopes, axis=0)[[(self.shape[0] - 1) // 2, self.shape[0] // 2]]
        shift = np.clip(0.0, middle[0], middle[1])
        at_centre = vector[: self.n_intercepts]
        return np.concatenate([at_centre, ((slopes - shift) * self.roots[:, None]).reshape(-1)])

    def residual(self, vector: Floats, gradient: Floats) -> float:
        """Return the largest violation of the first-order condition."""
        return float(np.abs(self.kinks.left(vector, gradient) * self._by_class).max(initial=0.0))

    @cached_property
    def _by_class(self) -> Floats:
        """The unit of the class of every number."""
        n_terms = self.shape[1]
        return np.concatenate([self.roots[: self.n_intercepts], np.repeat(self.roots, n_terms)])

    def on_support(self, vector: Floats, enough: float) -> tuple[Floats, bool]:
        """Return the optimum with the zeros and the signs held, or where the first sign would change; and which."""
        by_class = self._by_class[self.kinks.free(vector)]

        def done(part: Floats, value: float, slope: Floats) -> bool:
            return bool(np.abs(slope * by_class).max() <= enough)

        gain = LEFT / self.objective.total
        after, is_end = self.kinks.on_support(self.smooth_twice, vector, done=done, steps=range(1, 20), gain=gain)
        reached = self._as_far(vector, after)
        if not (is_end and np.array_equal(reached, after) and self._is_held(reached)):
            return reached, False
        return self.finished(reached) if self.can_be_written else (reached, True)

    @property
    def can_be_written(self) -> bool:
        """Whether the Hessian can be written out quickly."""
        table, n = self.objective.held, self.n_intercepts + self.units.size
        return table is not None and n <= MOST_WRITTEN and n * table.n_expected <= MOST_ROWS

    def finished(self, vector: Floats) -> tuple[Floats, bool]:
        """Return the optimum near a point, by a Hessian that is written out; and whether it is one."""
        return self.kinks.finished(
            self.smooth_twice, vector, total=self.objective.total, gain=LEFT, project=self._apart
        )

    def _apart(self, step: Floats, free: NDArray[np.bool_]) -> Floats:
        """Return a step without what all classes share, where all are free: the objective does not know of it."""

        def centred(part: Floats, is_free: NDArray[np.bool_]) -> Floats:
            moves = part.reshape(self.shape[0], -1) / self.roots[:, None]
            shared = np.where(is_free.reshape(moves.shape).all(axis=0), moves.mean(axis=0), 0.0)
            return np.asarray(((moves - shared) * self.roots[:, None]).reshape(-1), np.float64)

        n = self.n_intercepts
        return np.concatenate([centred(step[:n], free[:n]), centred(step[n:], free[n:])])

    def _is_held(self, vector: Floats) -> bool:
        """Whether numbers at zero have little to gain by leaving it."""
        left = self.kinks.left(vector, self.smooth(vector)[1])[~self.kinks.free(vector)]
        return self.objective.total * float(left.dot(left)) / 2 <= LEFT

    def _as_far(self, before: Floats, after: Floats) -> Floats:
        """Return the farthest point on the way that has not risen, with slopes that change sign at zero."""
        limit = self.smooth(before)[0] + self.kinks.value(before)
        for cut in range(MOST_CUTS):
            trial = before + 0.5**cut * (after - before)
            crossed = (self.kinks.prices > 0) & (np.sign(trial) != np.sign(before))
            trial[crossed] = 0.0
            if self.smooth(trial)[0] + self.kinks.value(trial) <= limit + 1e-14 * abs(limit):
                return trial
        return before


def sparse_search(
    objective: SoftmaxObjective, width: float, enough: float, steps: Iterable[int]
) -> tuple[SoftmaxPoint, Outcome]:
    """Search by proximal steps and Newton's method in turns."""
    problem = SoftmaxL1Objective(objective, width)
    x = problem.of(null_point(objective))
    value, gradient = problem.smooth(x)
    values: list[float] = []
    n_evaluations, n_idle, stop, limit = 1, 0, Stop.OUT_OF_STEPS, enough
    for number in steps:
        n_steps = range(FIRST if number == 1 else AGAIN)
        found = proximal(
            problem.smooth,
            problem.kinks.value,
            problem.kinks.shrink,
            x,
            done=lambda vector, slope: problem.residual(vector, slope) <= limit,  # noqa: B023
            steps=n_steps,
        )
        before = value + problem.kinks.value(x)
        x, is_end = problem.on_support(problem.levelled(found.x), enough / 4)
        if not is_end and number % NOW_AND_THEN == 0 and problem.can_be_written:
            x, is_end = problem.finished(x)
        value, gradient = problem.smooth(x)
        n_evaluations += found.n_evaluations + 1
        values.append(value + problem.kinks.value(x))
        if is_end and problem.residual(x, gradient) <= enough:
            stop = Stop.CONVERGED
            break
        if found.converged:  # and yet signs or zeros are not those of the optimum
            limit /= 100
        n_idle = n_idle + 1 if before - values[-1] <= 1e-14 * abs(before) else 0
        if n_idle >= MOST_IDLE:
            stop = Stop.NO_BETTER
            break
    if stop is Stop.NO_BETTER and problem.can_be_written:
        x, is_end = problem.finished(x)
        value, gradient = problem.smooth(x)
        stop = Stop.CONVERGED if is_end and problem.residual(x, gradient) <= enough else stop
    return problem.point(x), outcome_of(x, value + problem.kinks.value(x), gradient, values, n_evaluations, stop)
