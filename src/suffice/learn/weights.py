"""Weights found by the gradient of their likelihood: plain, conjugate, L-BFGS, Newton; and proximal under kinks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError, require_number, shown
from suffice.inference.scaled_gaps import STANDARD_ERRORS
from suffice.learn.feature_matching import FeatureMatching
from suffice.optimise.conjugate_gradient import conjugate_gradient
from suffice.optimise.decrement import LEFT, decrement_by_products
from suffice.optimise.gradient import gradient_descent
from suffice.optimise.kinks import MOST_WRITTEN, Kinks, up_to_zero
from suffice.optimise.lbfgs import lbfgs as minimise_by_lbfgs
from suffice.optimise.line_search import Point, search
from suffice.optimise.newton_cg import newton_cg
from suffice.optimise.outcome import MORE_STEPS, Outcome, Stop, rounding_error
from suffice.optimise.proximal import proximal as minimise_by_proximal
from suffice.types import Floats

FLAT = 1e-13
"""Directions of less curvature than this, relatively, are left alone."""
SUSPECT = 1e-8
"""Columns of which combinations of others leave less than this, relatively, are looked at again."""
ROUNDED = 256 * float(np.finfo(np.float64).eps)
"""What rounding may leave of them, for coefficients that add up to one; a single row of 10¹⁵ leaves far more."""
NEGLIGIBLE = 1e-9
"""The part of what a step may still gain that is not looked at any closer."""
ROUND, SMOOTH = 40, 50
"""Proximal steps between attempts to finish on the weights that are not zero, and steps of such an attempt."""
PATIENT, LEVEL = 8 * ROUND, 1e-3
"""Steps before flat directions are searched, and the part of the slope there that may be left."""


@dataclass(frozen=True, eq=False)
class FoundWeights:
    """What a search came to.

    Attributes
    ----------
    weights : array
        All weights; those that are not free are zero.
    objectives : tuple of float
        The log-likelihood after every step, penalty included.
    stop : Stop
        How it ended.
    advice : str
        What to try next, where the search knows better than ``stop`` does.
    remarks : tuple of str
    """

    weights: Floats
    objectives: tuple[float, ...]
    stop: Stop
    advice: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def converged(self) -> bool:
        """Whether the optimum was found."""
        return self.stop is Stop.CONVERGED

    @property
    def reason(self) -> str:
        """Why it stopped, and what to try when it has not converged."""
        return self.advice or self.stop.value


WeightSearch = Callable[[FeatureMatching], FoundWeights]


def found_by(matching: FeatureMatching, outcome: Outcome) -> FoundWeights:
    """Translate what an optimiser returned."""
    objectives = tuple(matching.gain(value) for value in outcome.values)
    return FoundWeights(matching.weights(outcome.x), objectives, outcome.stop, outcome.advice)


def quietly(search: WeightSearch, matching: FeatureMatching) -> FoundWeights:
    """Search without warnings: trial points may leave the range of floats, and are turned down there."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return search(matching)


def lbfgs(matching: FeatureMatching) -> FoundWeights:
    """Climb by L-BFGS."""
    space = Space(matching)
    confirm = space.is_near if matching.root is not None else None
    return space.climbed("L-BFGS", partial(minimise_by_lbfgs, gain=space.gain, confirm=confirm), space.evaluate)


def conjugate(matching: FeatureMatching) -> FoundWeights:
    """Climb by conjugate gradients."""
    space = Space(matching)
    return space.climbed("conjugate gradients", partial(conjugate_gradient, confirm=space.is_near), space.evaluate)


def newton(matching: FeatureMatching) -> FoundWeights:
    """Climb by Newton's method, its systems solved by conjugate gradients."""
    space = Space(matching)
    return space.climbed("Newton's method", partial(newton_cg, gain=space.gain), space.evaluate_twice)


def _root_of(matrix: Floats) -> Floats:
    """Return R, upper triangular, with Rᵀ R about a matrix that should be positive definite."""
    sizes = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    values, vectors = np.linalg.eigh(matrix / sizes[:, None] / sizes)
    root = np.sqrt(np.maximum(values, 1e-14))[:, None] * vectors.T * sizes
    return np.asarray(np.linalg.qr(root, mode="r"), np.float64)


def _dependent(root: Floats) -> NDArray[np.bool_]:
    """Return which columns of a triangle, each of length one, are combinations of those before but for rounding.

    What rounding leaves of such a column grows with the coefficients of the combination, as where frequent features add
    up to a rare one.
    """
    found = np.abs(np.diag(root)) <= FLAT
    for column in np.flatnonzero(~found & (np.abs(np.diag(root)) <= SUSPECT)):
        before = np.flatnonzero(~found[:column])
        coefficients = np.linalg.solve(root[np.ix_(before, before)], root[before, column])
        rounding = ROUNDED * (1 + float(np.abs(coefficients).sum()))
        found[column] = abs(root[column, column]) <= rounding
    return found


class Space:
    """The free weights in coordinates in which the objective is about round: w = T y with T Tᵀ ≈ Hessian⁻¹.

    T comes from the features' covariance in the data where that is known; otherwise coordinates are the weights
    themselves, and only their scales are told.
    """

    def __init__(self, matching: FeatureMatching) -> None:
        self.matching = matching
        self.scale: Floats | None = matching.scale
        self._t: Floats | None = None
        self._given: tuple[Floats, Floats] | None = None
        self.start = matching.start
        if matching.metric is not None and matching.free.any():
            held = matching.metric[np.ix_(matching.free, matching.free)] + np.diag(matching.precision)
            self._turn(_root_of(held))
        elif matching.root is not None and matching.free.any():
            rows = np.vstack([matching.root[:, matching.free], np.diag(np.sqrt(matching.precision + 1e-300))])
            self._turn(np.asarray(np.linalg.qr(rows, mode="r"), np.float64))

    def _turn(self, root: Floats) -> None:
        """Take coordinates y = R w, directions in which nothing changes left as they are."""
        sizes = np.sqrt((root**2).sum(axis=0))
        flat = _dependent(root / np.maximum(sizes, 1e-150))
        self._given = (root, sizes) if flat.any() else None
        root = root + np.diag(np.where(flat, np.maximum(sizes, 1e-150), 0.0))
        self._t, self._root = np.asarray(np.linalg.inv(root), np.float64), root
        self.start, self.scale = root @ self.matching.start, None

    def evaluate(self, y: Floats) -> tuple[float, Floats]:
        """Return objective and gradient."""
        value, gradient, _ = self.evaluate_twice(y)
        return value, gradient

    def evaluate_twice(self, y: Floats) -> tuple[float, Floats, Callable[[Floats], Floats]]:
        """Return objective, gradient and products with the Hessian."""
        t = self._t
        if t is None:
            return self.matching.evaluate_twice(y)
        value, gradient, product = self.matching.evaluate_twice(t @ y)
        return value, t.T @ gradient, lambda v: t.T @ product(t @ v)

    def done(self, y: Floats, value: float, gradient: Floats) -> bool:
        """Whether the expectations match."""
        return self._matches(gradient)

    def _matches(self, gradient: Floats) -> bool:
        if self._t is None:
            return self.matching.matches(gradient)
        if self.matching.root is not None and not self._is_close(gradient):
            return False
        return self.matching.matches(self._root.T @ gradient)

    @property
    def gain(self) -> float:
        """What a step may still gain, for one row, so that the optimum is within a small part of a standard error.

        Densities are searched again on nodes that follow them, so that the end of one search is not looked at closely.
        """
        if self.matching.problem.structure.continuous:
            return math.inf
        distance = STANDARD_ERRORS * self.matching.problem.tol / 2
        return min(LEFT, distance**2 / 2) / self.matching.total

    def done_by_weights(self, x: Floats, value: float, gradient: Floats) -> bool:
        """Whether the expectations match, given the gradient by the weights themselves."""
        return self._matches(gradient if self._t is None else self._t.T @ gradient)

    def is_near(self, y: Floats) -> bool:
        """Whether a Newton step would gain little, by the Hessian at the point itself: the certificate's measure."""
        gain, total = self.gain, self.matching.total
        if gain == math.inf:
            return True
        _, gradient, product = self.evaluate_twice(y)
        diagonal = self.matching.curvature if self._t is None else np.ones(len(y))
        left = decrement_by_products(
            total * gradient,
            lambda v: total * product(v),
            total * diagonal,
            negligible=NEGLIGIBLE * gain * total,
            limit=gain * total,
        )
        return left.size <= gain * total

    def is_near_by_weights(self, x: Floats) -> bool:
        """Whether a Newton step would gain little, given the weights themselves."""
        return self.is_near(x if self._t is None else self._root @ x)

    def _is_close(self, gradient: Floats) -> bool:
        """Whether the optimum is within a small part of a standard error, in whatever direction."""
        distance = math.sqrt(self.matching.total * float(gradient.dot(gradient)))
        return distance / STANDARD_ERRORS <= self.matching.problem.tol / 2

    def _shortest(self, x: Floats) -> Floats:
        """Return the shortest weights of the same distribution, where directions are flat."""
        if self._given is None:
            return x
        root, sizes = self._given
        unit = np.where(sizes > 0, sizes, 1.0)
        return np.asarray(np.linalg.lstsq(root / unit, root @ x, rcond=FLAT)[0] / unit, np.float64)

    def climbed(self, label: str, optimiser: Callable[..., Outcome], evaluate: Callable[..., Any]) -> FoundWeights:
        """Run an optimiser in these coordinates."""
        problem = self.matching.problem
        steps = problem.watch.steps(label, problem.max_iter)
        return self.found(optimiser(evaluate, self.start, done=self.done, steps=steps, scale=self.scale))

    def found(self, outcome: Outcome) -> FoundWeights:
        """Translate what an optimiser returned."""
        x = outcome.x if self._t is None else self._shortest(self._t @ outcome.x)
        objectives = tuple(self.matching.gain(value) for value in outcome.values)
        return FoundWeights(self.matching.weights(x), objectives, outcome.stop, outcome.advice)


def gradient(matching: FeatureMatching) -> FoundWeights:
    """Climb along the gradient, with a given step size or one that is found."""
    problem = matching.problem
    step = problem.options.get("step")
    if step is not None and not 0 < require_number("step", step) < math.inf:
        raise ArgumentError(f"The option 'step' must be a positive number. Got {shown(step)} instead.")
    steps = problem.watch.steps("gradient ascent", problem.max_iter)
    space = Space(matching)
    outcome = gradient_descent(
        matching.evaluate,
        matching.start,
        done=space.done_by_weights,
        steps=steps,
        step=step,
        confirm=space.is_near_by_weights,
    )
    return found_by(matching, outcome)


# Kinks --------------------------------------------------------------------------------------------------------


def proximal(matching: FeatureMatching) -> FoundWeights:
    """Alternate between proximal steps, which find the zeros, and Newton's on the weights that are not zero."""
    priced = Priced(matching)
    x, objectives = matching.start, list[float]()
    steps = matching.problem.watch.steps("proximal steps", matching.problem.max_iter)
    while True:
        outcome = minimise_by_proximal(
            priced.evaluate, priced.kinks.value, priced.kinks.shrink, x, done=priced.done, steps=islice(steps, ROUND)
        )
        objectives += [matching.gain(value) for value in outcome.values]
        x = outcome.x
        if not outcome.converged:
            x = priced.finished(x, steps, flat=len(objectives) > PATIENT)
            if len(objectives) < matching.problem.max_iter:
                objectives.append(matching.gain(priced.evaluate(x)[0] + priced.kinks.value(x)))
        if outcome.converged or priced.done(x, priced.evaluate(x)[1]):
            x, is_end = priced.settled(x)
            return FoundWeights(matching.weights(x), tuple(objectives), Stop.CONVERGED if is_end else Stop.NO_BETTER)
        if next(steps, None) is None:
            return FoundWeights(matching.weights(x), tuple(objectives), Stop.OUT_OF_STEPS, MORE_STEPS)


class Priced:
    """Laplace's penalty on the free weights, in units of one row's log-likelihood, beside the smooth rest."""

    def __init__(self, matching: FeatureMatching) -> None:
        self.matching = matching
        self.kinks = Kinks(1 / (matching.widths[matching.free] * matching.total))

    def evaluate(self, x: Floats) -> tuple[float, Floats]:
        """Return the smooth part of the objective and its gradient."""
        value, slope, _ = self.matching.smooth(x)
        return value, slope

    def evaluate_twice(self, x: Floats) -> tuple[float, Floats, Callable[[Floats], Floats]]:
        """Return products with its Hessian, too."""
        value, slope, point = self.matching.smooth(x)
        return value, slope, lambda v: point.curvature(self.matching.weights(v))[self.matching.free]

    def done(self, x: Floats, slope: Floats) -> bool:
        """Whether no subgradient is left, and little to gain: slopes of weights at zero may be up to their price."""
        return self.matching.matches(self.kinks.left(x, slope)) and self.decrement(x) <= LEFT

    def decrement(self, x: Floats) -> float:
        """Return what a Newton step would gain, in nats; weights leave zero only in the direction of their slopes."""
        _, slope, product = self.evaluate_twice(x)
        return self.kinks.decrement(x, slope, product, self.matching.curvature, self.matching.total)

    def settled(self, x: Floats) -> tuple[Floats, bool]:
        """Return the optimum near a point that is done, where weights are few; and whether it is one.

        Given inputs that leave little in doubt, a feature varies far less than it did before the search.
        """
        if len(x) > MOST_WRITTEN:
            return x, True
        tol, (_, _, product) = self.matching.problem.tol / 2, self.evaluate_twice(x)
        here = np.array([unit @ product(unit) for unit in np.eye(len(x))])
        squares = np.minimum(here, self.matching.squares[self.matching.free])
        return self.kinks.finished(
            self.evaluate_twice,
            x,
            total=self.matching.total,
            gain=LEFT,
            done=lambda slopes: self.matching.gap(slopes, squares) <= tol,
        )

    def finished(self, x: Floats, steps: Iterator[int], flat: bool) -> Floats:
        """Return the optimum among weights with zeros and signs like those of x.

        Weights that meet zero on the way there stay at zero, one after another. Newton's method may step over the
        minimum to where probabilities are zero and one, so that the objective is flat but for its slope, and creep from
        there. With ``flat`` a line along that slope is searched.
        """
        while True:
            y, is_end = self._on_support(x, islice(steps, SMOOTH))
            if flat and not is_end and len(x) <= MOST_WRITTEN:
                y = self._lowest(y)
            x = up_to_zero(x, y, (self.kinks.prices > 0) & (x != 0))
            if np.array_equal(x, y):
                return x

    def _on_support(self, x: Floats, steps: Iterable[int]) -> tuple[Floats, bool]:
        """Return the optimum with the zeros of x and the slopes that its signs have; and if it was reached."""
        tol, gain, free = self.matching.problem.tol / 20, LEFT / self.matching.total / 10, self.kinks.free(x)

        def done(part: Floats, value: float, slope: Floats) -> bool:
            whole = np.zeros(len(x))
            whole[free] = slope
            return self.matching.gap(whole) <= tol

        return self.kinks.on_support(self.evaluate_twice, x, done=done, steps=steps, gain=gain)

    def _lowest(self, x: Floats) -> Floats:
        """Return about the lowest point along the part of the slope in whose direction there is no curvature."""
        pull, free = np.sign(x) * self.kinks.prices, self.kinks.free(x)

        def evaluate(z: Floats) -> tuple[float, Floats]:
            value, slope = self.evaluate(z)
            return value + float(pull.dot(z)), np.where(free, slope + pull, 0.0)

        value, slope = evaluate(x)
        product = self.evaluate_twice(x)[2]
        hessian = np.array([product(unit) for unit in np.eye(len(x))])[np.ix_(free, free)]
        units = np.sqrt(np.maximum(np.diag(hessian), 1e-300))
        values, vectors = np.linalg.eigh(hessian / units[:, None] / units)
        plane = vectors[:, values <= FLAT * values.max(initial=0.0)]
        direction = np.zeros(len(x))
        direction[free] = -(plane @ (plane.T @ (slope[free] / units))) / units
        origin = Point(0.0, x, value, slope, float(slope.dot(direction)))
        if not origin.slope < 0:
            return x
        found, _ = search(evaluate, origin, direction, 1.0, noise=rounding_error(value, value), sigma=LEVEL)
        return x if found is None else found.x
