"""How far the weights of features are from their optimum, in nats: the Newton decrement."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.certify.claim import Claim
from suffice.certify.weight_residual import slopes_under
from suffice.optimise.decrement import (
    LEAST,
    LITTLE,
    NEGLIGIBLE,
    Decrement,
    decrement_at_zeros,
    decrement_by_products,
    decrement_of,
)
from suffice.priors.penalty import Gaussian, Laplace
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.feature_design import FeatureModel
    from suffice.structures.features import Features

ROUNDING = 1e-15
"""Expectations are known to this relative accuracy."""


@dataclass(frozen=True, eq=False)
class WeightCurvature:
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
    claim: Claim[Features, FeatureModel],
    names: Sequence[str],
    weights: Floats,
    limits: NDArray[np.bool_],
    gaps: Floats,
    main: NDArray[np.bool_],
    curvature: WeightCurvature,
) -> tuple[float, str]:
    """Return the decrement, and the feature that has the largest part in it.

    Parameters
    ----------
    claim : Claim
    names : sequence of str
    weights : array, shape (n_weights,)
    limits : array of bool
        The weights that ran away, which are left out.
    gaps : array
        Derivatives of the mean of −log p.
    main : array of bool
        The main effects, which may have another prior.
    curvature : WeightCurvature
    """
    total = claim.statistics.weight or 1.0
    ridge, prices, at_kink = np.zeros(len(weights)), np.zeros(len(weights)), np.zeros(len(weights), bool)
    if isinstance(claim.prior, Gaussian):
        ridge = 1 / claim.prior.widths_of(main) ** 2
    if isinstance(claim.prior, Laplace):
        at_kink, prices = weights == 0, np.asarray(1 / claim.prior.widths_of(main), np.float64)
    slopes = total * np.where(at_kink, gaps, slopes_under(claim, weights, gaps, main))
    noise = ROUNDING * total * curvature.size

    def multiply(direction: Floats) -> Floats:
        if curvature.matrix is not None:
            return np.asarray(total * (curvature.matrix @ direction) + ridge * direction)
        assert curvature.product is not None
        return np.asarray(total * curvature.product(direction) + ridge * direction)

    def solve(gradient: Floats, kept: NDArray[np.intp]) -> Decrement:
        if curvature.matrix is not None:
            matrix = total * curvature.matrix[np.ix_(kept, kept)] + np.diag(ridge[kept])
            return decrement_of(gradient, matrix, noise[kept], LEAST if prices.any() else LITTLE)

        def along(part: Floats) -> Floats:
            direction = np.zeros(len(weights))
            direction[kept] = part
            return multiply(direction)[kept]

        least = float(ridge[kept].min(initial=math.inf)) if len(kept) else 0.0
        negligible = 0.0 if at_kink.any() else NEGLIGIBLE  # small steps tell what relations would gain
        return decrement_by_products(
            gradient, along, diagonal[kept], noise=noise[kept], least=least, negligible=negligible
        )

    own = curvature.diagonal if curvature.matrix is None else np.diag(curvature.matrix)
    assert own is not None
    diagonal = total * own + ridge
    found = decrement_at_zeros(slopes, prices, at_kink, solve, multiply, diagonal, limits)
    return found.size, f"the feature {names[found.place]!r}" if len(names) else "no feature"
