"""The different feature vectors of a model, and the distribution on them with moments nearest to some targets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import ArgumentError, shown
from suffice.inference.facial_cone import SOLVER
from suffice.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_CELLS = 20_000
MAX_ENTRIES = 500_000
"""Beyond so many different vectors, or numbers in all of them, a linear program could take more than some ten seconds;
it is then not tried."""

LARGEST = 1e100
"""Numbers beyond this could overflow in sums."""

ROUND_OFF = 2.0**-52


@dataclass(frozen=True, eq=False)
class Cloud:
    """The vectors of all cells, each of them once, around a point.

    Attributes
    ----------
    vectors : array, shape (n, k)
        Empty when they are too many to be worked with.
    place : array of int, shape (cells,)
        The vector of each cell.
    targets, low, high : array, shape (k,)
        The point; the least and the largest value of each feature.
    is_large : bool
    """

    vectors: Floats
    place: NDArray[np.intp]
    targets: Floats
    low: Floats
    high: Floats
    is_large: bool

    @cached_property
    def spread(self) -> Floats:
        """The largest value of each feature less its least."""
        return np.asarray(self.high - self.low)

    @cached_property
    def rounding(self) -> Floats:
        """A bound of the round-off in a scalar product, per unit of a coefficient."""
        sizes = np.maximum(np.maximum(np.abs(self.low), np.abs(self.high)), np.abs(self.targets))
        return np.asarray((len(sizes) + 2) * ROUND_OFF * sizes)

    @cached_property
    def units(self) -> Floats:
        """The vectors with every feature, none of them constant, scaled to run from zero to one."""
        return np.asarray((self.vectors - self.low) / self.spread)

    def of(self, chosen: Ints | Bools | list[int]) -> Cloud:
        """Return the same cells with some of the features."""
        vectors, targets, low, high = self.vectors[:, chosen], self.targets[chosen], self.low[chosen], self.high[chosen]
        first, place = _distinct(vectors)
        return Cloud(vectors[first], place[self.place], targets, low, high, self.is_large)

    def highest(self, direction: Floats) -> float:
        """Return max_x c·f(x)."""
        return float((self.vectors @ direction).max())

    def excess(self, direction: Floats) -> float:
        """Return c·α − max_x c·f(x) less its possible round-off, as a part of Σ |c_j| spread_j."""
        sizes = np.abs(direction)
        total = float(sizes @ self.spread)
        if not total > 0:
            return -np.inf
        return (float(direction @ self.targets) - self.highest(direction) - float(sizes @ self.rounding)) / total


class Nearest(NamedTuple):
    """A distribution on the vectors of a cloud: its moments are nearest to the targets.

    Attributes
    ----------
    distance : float
        The largest gap of a moment, as a part of the spread of its feature.
    weights : array, shape (n,)
    direction : array, shape (k,)
        Where the distance is positive, c with the largest possible excess, Σ |c_j| spread_j being one.
    """

    distance: float
    weights: Floats
    direction: Floats


def nearest(cloud: Cloud) -> Nearest | None:
    """Return the distribution with moments nearest to the targets; None when the solver gives up.

    Notes
    -----
    With features g and targets a scaled to run from zero to one: min t such that −t ≤ Σ p_x g(x) − a ≤ t, Σ p_x = 1.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csc_array, hstack, vstack

    n, k = cloud.vectors.shape
    if k == 0:
        return Nearest(0.0, np.full(n, 1 / n), np.zeros(0))
    moments, wanted = csc_array(cloud.units.T), (cloud.targets - cloud.low) / cloud.spread
    gap = csc_array(-np.ones((k, 1)))
    answer = linprog(
        np.r_[np.zeros(n), 1.0],
        A_ub=vstack([hstack([moments, gap]), hstack([-moments, gap])]).tocsc(),
        b_ub=np.r_[wanted, -wanted],
        A_eq=csc_array(np.r_[np.ones(n), 0.0][None]),
        b_eq=[1.0],
        options=SOLVER,
    )
    if answer.status != 0:
        return None
    weights = np.maximum(answer.x[:n], 0.0)
    weights /= weights.sum()
    # How the distance changes with the targets is the direction.
    changes = np.asarray(answer.ineqlin.marginals)
    distance = float(np.abs(moments @ weights - wanted).max())
    return Nearest(distance, weights, (changes[:k] - changes[k:]) / cloud.spread)


# Reading ------------------------------------------------------------------------------------------------------


def cloud_of(features: ArrayLike | csr_array, targets: ArrayLike) -> Cloud:
    """Return the different vectors of some cells, after a look at shapes and values.

    Parameters
    ----------
    features : array or sparse array, shape (cells, k)
    targets : array, shape (k,)
    """
    from scipy.sparse import csr_array, issparse

    is_sparse = issparse(features)
    matrix = csr_array(features, dtype=np.float64) if is_sparse else np.asarray(features, dtype=np.float64)
    values = matrix.data if is_sparse else matrix
    odd = np.asarray(values)[~(np.abs(values) < LARGEST)]
    if matrix.ndim != 2 or matrix.shape[0] == 0 or odd.size:
        raise ArgumentError(
            "The 'features' argument must be a table of numbers with one row a cell, at least one, and one column a "
            f"feature. Got shape {matrix.shape}{f' with {float(odd[0])!r}' if odd.size else ''} instead."
        )
    point = np.array(targets, dtype=np.float64)
    if point.shape != matrix.shape[1:] or not (np.abs(point) < LARGEST).all():
        raise ArgumentError(
            f"The 'targets' argument must hold one number for each of the {matrix.shape[1]} features. "
            f"Got {shown(point.tolist())} instead."
        )
    first, place = _distinct(matrix)
    is_large = len(first) > MAX_CELLS or len(first) * len(point) > MAX_ENTRIES
    vectors = matrix[first[:0] if is_large else first]
    low, high = (_dense(limit(axis=0)) for limit in (matrix.min, matrix.max)) if len(point) else (point, point)
    return Cloud(_dense(vectors), place, point, low, high, is_large)


def _dense(array: Floats | csr_array) -> Floats:
    return np.asarray(array if isinstance(array, np.ndarray) else array.toarray(), dtype=np.float64)


def _distinct(matrix: Floats | csr_array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the number of one row for each different vector, and for each row the place of its vector among these."""
    # Equal rows have equal products with random numbers, and others do not, but for round-off and rare accidents.
    keys = matrix @ np.random.default_rng(matrix.shape[1]).standard_normal(matrix.shape[1])
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    differs = matrix != matrix[first[place]]
    odd = np.flatnonzero(np.asarray(differs.sum(axis=1)).ravel())
    place[odd] = len(first) + np.arange(len(odd))
    return np.r_[first, odd], place
