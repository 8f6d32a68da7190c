"""FeatureMatching: the expectations that weights have to match, and the objective whose optimum matches them.

Maximum likelihood, conditional likelihood, pseudo-likelihood and maximum entropy are one problem in the weights:

    minimise  log Z(w) − w·α + penalty(w) / N,    whose gradient is  E_w[f] − α + …,

with α the mean of the features over the data, or given by hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.inference.feature_family import WeightFamily, WeightPoint
from suffice.inference.scaled_gaps import feature_gaps
from suffice.learn.feature_start import start_of
from suffice.learn.method import Problem
from suffice.optimise.decrement import LEFT
from suffice.priors.penalty import Gaussian, Penalty
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.structures.features import Features


class Reach(Protocol):
    """How far features reach."""

    @property
    def low(self) -> Floats:
        """A lower bound of every feature."""

    @property
    def unit(self) -> Floats:
        """The range of every feature, largest minus least value; one where that is zero."""

    def largest_sum(self, coefficients: Floats) -> tuple[float, str]:
        """Return the largest value of Σ c_i (f_i − low_i), c ≥ 0, and how it was found."""


@dataclass(frozen=True, eq=False)
class FeatureMatching:
    """Expectations to match within a family of weights.

    Attributes
    ----------
    problem : Problem
    names : tuple of str
        The weights.
    family : WeightFamily
    targets : array of shape (n_weights,)
        α.
    squares : array of shape (n_weights,)
        About the variance of each feature, which scales steps and gaps.
    spread : array of shape (n_weights,)
        The largest minus the least value of each feature, or a bound on it: the unit in which gaps are measured.
    total : float
        N.
    free : array of bool
        The weights to be found; the others stay at zero.
    main : array of bool
        The features of one variable, to which a penalty's ``main`` applies.
    reach : Reach
        For methods that scale.
    origin : array, optional
        Where to begin if not at zero, which is no distribution where supports have no end.
    metric : array of shape (n_weights, n_weights), optional
        About the Hessian of the objective without its penalty, positive definite: the features' covariance in the data.
    root_of : callable
        Returns, in its place, a factor R of it, Rᵀ R, made without squaring: it tells features apart that differ by
        little. None where that is too much work.
    """

    problem: Problem[Features]
    names: tuple[str, ...]
    family: WeightFamily
    targets: Floats
    squares: Floats
    spread: Floats
    total: float
    free: NDArray[np.bool_]
    main: NDArray[np.bool_]
    reach: Reach
    origin: Floats | None = None
    metric: Floats | None = None
    root_of: Callable[[], Floats | None] = lambda: None

    @cached_property
    def root(self) -> Floats | None:
        """What `root_of` returns."""
        return self.root_of()

    @property
    def penalty(self) -> Penalty | None:
        """The penalty on the weights, if there is one."""
        return self.problem.prior if isinstance(self.problem.prior, Penalty) else None

    @cached_property
    def widths(self) -> Floats:
        """The width of every weight's prior; infinite without one."""
        penalty = self.penalty
        if penalty is None:
            return np.full(len(self.names), math.inf)
        return penalty.widths_of(self.main)

    @cached_property
    def start(self) -> Floats:
        """The free weights at the start."""
        begin = self.origin if self.problem.init is None else None
        return (start_of(self.problem, self.names) if begin is None else begin)[self.free]

    def weights(self, x: Floats) -> Floats:
        """Return all weights from the free ones."""
        found = np.zeros(len(self.names))
        found[self.free] = x
        return found

    # The objective --------------------------------------------------------------------------------------------

    def smooth(self, x: Floats) -> tuple[float, Floats, WeightPoint]:
        """Return log Z − w·α, its gradient by the free weights, and the point."""
        point = self.family.at(self.weights(x))
        value = point.log_z - float(self.targets[self.free].dot(x))
        return value, (point.expected - self.targets)[self.free], point  # eq feature-gradient

    def evaluate(self, x: Floats) -> tuple[float, Floats]:
        """Return objective and gradient at the free weights."""
        value, gradient, _ = self.evaluate_twice(x)
        return value, gradient

    def evaluate_twice(self, x: Floats) -> tuple[float, Floats, Any]:
        """Return objective, gradient and products with the Hessian at the free weights."""
        value, gradient, point = self.smooth(x)
        if self.penalty is not None:
            value += 0.5 * float((self.precision * x).dot(x))  # eq map-objective
            gradient = gradient + self.precision * x
        return value, gradient, lambda v: self._product(point, v)

    def _product(self, point: WeightPoint, v: Floats) -> Floats:
        found = point.curvature(self.weights(v))[self.free]
        return found if self.penalty is None else found + self.precision * v

    @cached_property
    def precision(self) -> Floats:
        """1 / (width² N) of every free weight: the curvature of a Gaussian penalty."""
        widths = self.widths if isinstance(self.penalty, Gaussian) else np.full(len(self.names), math.inf)
        return 1 / (widths[self.free] ** 2 * self.total)

    def done(self, x: Floats, value: float, gradient: Floats) -> bool:
        """Whether a search may end at a point."""
        return self.matches(gradient)

    def matches(self, gradient: Floats) -> bool:
        """Whether the expectations match: twice as closely as the certificate asks, which measures anew."""
        gap = self.gap(gradient)
        self.problem.watch.info = f"gap {gap:.1e}"
        return gap <= self.problem.tol / 2 and self.left(gradient) <= LEFT

    def left(self, gradient: Floats) -> float:
        """Return about how many nats are left to gain, weight by weight."""
        return self.total * float((gradient**2 / self.curvature).sum()) / 2

    @cached_property
    def curvature(self) -> Floats:
        """About the Hessian's diagonal; at least one row's of all."""
        least = np.maximum(self.spread[self.free], 1e-300) ** 2 / max(self.total, 1.0)
        found: Floats = np.maximum(self.squares[self.free], least) + self.precision
        return found

    def gap(self, gradient: Floats, squares: Floats | None = None) -> float:
        """Return the largest gap of a free feature's expectation, with other variances if given: see `feature_gaps`."""
        squares = self.squares[self.free] if squares is None else squares
        return float(feature_gaps(gradient, self.spread[self.free], squares, self.total).max(initial=0.0))

    @cached_property
    def scale(self) -> Floats:
        """About the inverse of the Hessian's diagonal."""
        floor = 1e-6 * np.maximum(self.spread[self.free], 1e-300) ** 2
        found: Floats = 1 / (np.maximum(self.squares[self.free], floor) + self.precision)
        return found

    def gain(self, value: float) -> float:
        """Return the log-likelihood (penalised, if there is a penalty) of an objective, for the trace."""
        return -self.total * value
