"""How far a softmax regression is from its optimum, in nats: the Newton decrement, from second derivatives of its own.

Intercepts are those at the means of the terms, and all K classes take part: the parameters of a rare class are then
hardly tied to those of the others, and what all classes share is flat, or has the prior's curvature.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.certify.claim import Claim
from suffice.certify.softmax_rows import Recomputed, curvature_along, own_curvature, second_derivatives
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
    from suffice.models.softmax_model import SoftmaxModel
    from suffice.structures.softmax_regression import SoftmaxClasses

MOST_SIDE, MOST_PRODUCTS = 400, 3e8
"""Parameters, and products, up to which second derivatives are written out."""
ROUNDING = 4e-16


def decrement(
    claim: Claim[SoftmaxClasses, SoftmaxModel], found: Recomputed, slopes: Floats, smooth: Floats
) -> tuple[float, int, int]:
    """Return the decrement, and the term and the class that have the largest part in it; term 0 is the intercept.

    Parameters
    ----------
    claim : Claim
    found : Recomputed
    slopes : array, shape (T, K)
        The derivatives by weights with the prior's, over N, scores at the means being held; what is left of them at
        kinks.
    smooth : array, shape (T, K)
        Those without the prior's.
    """
    first = 0 if claim.structure.intercept else 1
    at_kink, ridge = np.zeros(slopes.shape, bool), np.zeros(slopes.shape)
    price = 0.0
    if isinstance(claim.prior, Laplace):
        at_kink, price = claim.model.weights == 0, 1 / claim.prior.width
    if isinstance(claim.prior, Gaussian):
        ridge += 1 / claim.prior.width**2
    expected = np.maximum(found.counts + found.by_intercept * found.total, found.counts)
    own = np.where(at_kink, smooth, slopes)
    gradient = np.concatenate([found.by_intercept[None], own]) * found.total
    none = np.zeros((1, gradient.shape[1]))
    # class by class, as second derivatives are
    flat, flat_ridge = (part[first:].T.reshape(-1) for part in (gradient, np.concatenate([none, ridge])))
    kinks = np.concatenate([none > 0, at_kink])[first:].T.reshape(-1)
    noise = (ROUNDING * found.extents[:, None] * expected).T.reshape(-1)
    second = _SecondDerivatives(claim, len(found.counts), found.mean, flat_ridge)

    def solve(part: Floats, places: NDArray[np.intp]) -> Decrement:
        if second.matrix is not None:
            little = LEAST if price else LITTLE
            return decrement_of(part, second.matrix[np.ix_(places, places)], noise[places], little)

        def along(direction: Floats) -> Floats:
            whole = np.zeros(len(noise))
            whole[places] = direction
            return second.times(whole)[places]

        negligible = 0.0 if kinks.any() else NEGLIGIBLE  # small steps tell what relations would gain
        return decrement_by_products(part, along, second.diagonal[places], noise=noise[places], negligible=negligible)

    prices = np.full(len(noise), price)
    size, place, _ = decrement_at_zeros(flat, prices, kinks, solve, second.times, second.diagonal)
    shared = _shared_gains(claim.model.weights, price)
    if shared.sum() > size:
        worst = int(np.argmax(shared))
        return float(shared.sum()), worst + 1, int(np.argmax(np.abs(claim.model.weights[worst])))
    code, term = divmod(place, max(len(gradient) - first, 1))
    return size, term + first, code


def _shared_gains(weights: Floats, price: float) -> Floats:
    """Return the nats of L1 that each term gains where the same number is added to its weights of all classes.

    No probability notices that, and the median is the best number to take away. The gradient along such a shift is the
    prior's alone, but entry by entry it is buried under the rounding errors of 10¹² rows.
    """
    with np.errstate(invalid="ignore"):
        best = np.abs(weights - np.median(weights, axis=1, keepdims=True)).sum(axis=1)
        gains = price * (np.abs(weights).sum(axis=1) - best)
    return np.where(np.isfinite(gains), gains, 0.0)


@dataclass(frozen=True, eq=False)
class _SecondDerivatives:
    """Second derivatives by the parameters of all classes, an array of shape (K, T + 1) or (K, T) made flat."""

    claim: Claim[SoftmaxClasses, SoftmaxModel]
    n_classes: int
    mean: Floats
    ridge: Floats

    @property
    def centre(self) -> Floats:
        """What terms are less of."""
        return self.mean if self.claim.structure.intercept else np.zeros_like(self.mean)

    @cached_property
    def matrix(self) -> Floats | None:
        """All of them, where they are few."""
        side = len(self.ridge)
        if side > MOST_SIDE or self.claim.statistics.n_read * float(side) ** 2 > MOST_PRODUCTS:
            return None
        return second_derivatives(self.claim, self.n_classes, self.centre) + np.diag(self.ridge)

    @cached_property
    def diagonal(self) -> Floats:
        """Those by every parameter alone."""
        if self.matrix is not None:
            return np.diag(self.matrix)
        own = own_curvature(self.claim, self.centre)[int(not self.claim.structure.intercept) :]
        return np.asarray(own.T.reshape(-1) + self.ridge)

    def times(self, direction: Floats) -> Floats:
        """Return the product with a direction."""
        if self.matrix is not None:
            return np.asarray(self.matrix @ direction)
        first, centre = int(not self.claim.structure.intercept), self.centre
        along = np.zeros((1 + len(centre), self.n_classes))
        along[first:] = direction.reshape(self.n_classes, -1).T
        along[0] -= centre @ along[1:]
        image = curvature_along(self.claim, along)
        image[1:] -= np.outer(centre, image[0])
        return np.asarray(image[first:].T.reshape(-1) + self.ridge * direction)
