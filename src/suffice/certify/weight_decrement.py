"""How far the weights of features are from their optimum, in nats: the Newton decrement."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.certify.claim import Claim
from suffice.optimise.decrement import Decrement, decrement_at_kinks, decrement_by_products, decrement_of
from suffice.priors.penalty import Gaussian, Laplace

Floats = NDArray[np.float64]
ROUNDING = 1e-15
"""Expectations are known to this relative accuracy."""


@dataclass(frozen=True, eq=False)
class Curvature:
    """Second derivatives of the mean of −log p by the weights.

    Attributes
    ----------
    size : array, shape (n_weights,)
        The mean of the features' absolute values: their rounding errors are in proportion.
    matrix : array, shape (n_weights, n_weights), or None
        All of them, where they are written out.
    product : callable or None
        Otherwise, them times a direction.
    diagonal : array, shape (n_weights,), or None
        And about their diagonal.
    """

    size: Floats
    matrix: Floats | None = None
    product: Callable[[Floats], Floats] | None = None
    diagonal: Floats | None = None


def decrement_at(
    claim: Claim,
    names: Sequence[str],
    weights: Floats,
    limits: NDArray[np.bool_],
    slopes: Floats,
    main: NDArray[np.bool_],
    curvature: Curvature,
) -> tuple[float, str]:
    """Return the decrement, and the feature that has the largest part in it.

    Parameters
    ----------
    claim : Claim
    names : sequence of str
    weights : array, shape (n_weights,)
    limits : array of bool
        The weights that ran away, which are left out.
    slopes : array
        Derivatives of the mean of −log p and the prior; what is left of them at kinks.
    main : array of bool
        The main effects, which may have another prior.
    curvature : Curvature
    """
    total = claim.statistics.weight or 1.0
    at_kink = (weights == 0) & isinstance(claim.prior, Laplace)
    ridge = np.zeros(len(weights))
    if isinstance(claim.prior, Gaussian):
        ridge = 1 / claim.prior.widths_of(main) ** 2
    gradient, noise = total * slopes, ROUNDING * total * curvature.size

    def solve(kept: NDArray[np.intp]) -> Decrement:
        if curvature.matrix is not None:
            matrix = total * curvature.matrix[np.ix_(kept, kept)] + np.diag(ridge[kept])
            return decrement_of(gradient[kept], matrix, noise[kept])
        assert curvature.product is not None
        assert curvature.diagonal is not None
        product = curvature.product

        def multiply(vector: Floats) -> Floats:
            direction = np.zeros(len(weights))
            direction[kept] = vector
            return np.asarray((total * product(direction) + ridge * direction)[kept])

        diagonal, least = (total * curvature.diagonal + ridge)[kept], float(ridge[kept].min(initial=math.inf))
        return decrement_by_products(
            gradient[kept], multiply, diagonal, noise=noise[kept], least=least if len(kept) else 0.0
        )

    found = decrement_at_kinks(gradient, limits | (at_kink & (slopes == 0)), at_kink, solve)
    return found.size, f"the feature {names[found.place]!r}" if len(names) else "no feature"
