"""How far weights under the penalty c1 ‖w‖₁ + c2 ‖w‖² are from their optimum, in nats: the Newton decrement."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.optimise.decrement import (
    LEAST,
    LITTLE,
    Decrement,
    decrement_at_zeros,
    decrement_by_products,
    decrement_of,
)
from suffice.priors.elastic import Elastic
from suffice.types import Floats

MOST_WRITTEN, MOST_CELLS = 100, 5e7
"""Weights, and numbers that one derivative of all probabilities along all of them takes, up to which second derivatives
are written out."""
MANY_WEIGHTS, FEW_NATS, FEWER_NATS = 2000, 1e-7, 1e-9
"""Otherwise, nats that are not looked into, weight by weight: of so many weights the first, which saves passes over the
data, else the other."""


def slopes_under(penalty: Elastic, weights: Floats, gap: Floats) -> Floats:
    """Return the gradient of −Σ log p and the penalty; of weights at zero, what c1 leaves of it.

    Parameters
    ----------
    penalty : Elastic
    weights : array, shape (n,)
    gap : array, shape (n,)
        The gradient of −Σ log p: features expected minus those of the data.

    Examples
    --------
    >>> slopes_under(Elastic(c1=1.0), np.array([0.0, 0.0, 2.0]), np.array([0.5, -3.0, -1.0])).tolist()
    [0.0, -2.0, 0.0]
    """
    slopes = gap + 2 * penalty.c2 * weights
    if not penalty.c1:
        return slopes
    at_zero = np.sign(slopes) * np.maximum(np.abs(slopes) - penalty.c1, 0.0)
    return np.asarray(np.where(weights == 0, at_zero, slopes + penalty.c1 * np.sign(weights)))


@dataclass(frozen=True, eq=False)
class ElasticCurvature:
    """Second derivatives of −Σ log p by the weights.

    Attributes
    ----------
    products : callable
        From directions, shape (n, D), to the second derivatives times each of them.
    variance : array, shape (n,)
        About their diagonal.
    cells : float
        The numbers that the products with one direction take.
    """

    products: Callable[[Floats], Floats]
    variance: Floats
    cells: float

    @cached_property
    def matrix(self) -> Floats | None:
        """All of them, where they are few.

        Of two features, products along the one that varies less have the smaller rounding errors.
        """
        n = len(self.variance)
        if n > MOST_WRITTEN or n * self.cells > MOST_CELLS:
            return None
        found = self.products(np.eye(n))
        varies_less = np.diag(found) < np.diag(found)[:, None]
        return np.where(varies_less | (np.eye(n) > 0), found, np.where(varies_less.T, found.T, (found + found.T) / 2))

    def times(self, direction: Floats) -> Floats:
        """Return the product with one direction."""
        if not direction.any():
            return np.zeros(len(direction))
        if self.matrix is not None:
            return np.asarray(self.matrix @ direction)
        return self.products(direction[:, None])[:, 0]


def decrement_under(
    penalty: Elastic, weights: Floats, gap: Floats, curvature: ElasticCurvature, noise: Floats, limit: float = 1e-3
) -> Decrement:
    """Return the decrement; weights at zero under L1 that would not gain by leaving it stay there.

    Parameters
    ----------
    penalty : Elastic
    weights, gap : array, shape (n,)
    curvature : ElasticCurvature
    noise : array, shape (n,)
        About the rounding error of the gap.
    limit : float

    Notes
    -----
    Along a combination of features that hardly varies, c1 may be all that determines the weights. Its curvature is then
    many orders of magnitude smaller than the diagonal, which conjugate gradients do not resolve: so the Hessian is
    written out where it can be. A penalty c2 bounds the curvature from below, and often no product is needed.
    """
    ridge, at_zero = 2 * penalty.c2, (weights == 0) & (penalty.c1 > 0)

    def solve(gradient: Floats, kept: NDArray[np.intp]) -> Decrement:
        most = float(gradient @ gradient) / (2 * ridge) if ridge else math.inf
        if not len(gradient) or most <= limit / 10:
            place = int(np.argmax(np.abs(gradient))) if len(gradient) else 0
            return Decrement(most if len(gradient) else 0.0, place, np.zeros(len(gradient)))
        if np.isfinite(gradient).all() and curvature.matrix is not None:
            matrix = curvature.matrix[np.ix_(kept, kept)] + ridge * np.eye(len(kept))
            return decrement_of(gradient, matrix, noise[kept], LEAST if penalty.c1 else LITTLE)

        def along(part: Floats) -> Floats:
            direction = np.zeros(len(weights))
            direction[kept] = part
            return curvature.times(direction)[kept] + ridge * part

        few = FEW_NATS if len(kept) > MANY_WEIGHTS else FEWER_NATS
        diagonal = curvature.variance[kept] + ridge
        return decrement_by_products(
            gradient, along, diagonal, noise=noise[kept], least=ridge, negligible=few, limit=limit
        )

    def multiply(direction: Floats) -> Floats:
        return curvature.times(direction) + ridge * direction

    slopes, prices = np.where(at_zero, gap, slopes_under(penalty, weights, gap)), np.full(len(weights), penalty.c1)
    return decrement_at_zeros(slopes, prices, at_zero, solve, multiply, curvature.variance + ridge)
