"""How far a softmax regression is from its optimum, in nats: the Newton decrement, from second derivatives of its own.

Intercepts are those at the means of the terms, and all K classes take part: the parameters of a rare class are then
hardly tied to those of the others, and what all classes share is flat, or has the prior's curvature.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from suffice.certify.claim import Claim
from suffice.certify.softmax_rows import Recomputed, curvature_along, own_curvature, second_derivatives
from suffice.optimise.decrement import Decrement, decrement_at_kinks, decrement_by_products, decrement_of
from suffice.priors.penalty import Gaussian, Laplace

Floats = NDArray[np.float64]
MOST_SIDE, MOST_PRODUCTS = 400, 3e8
"""Parameters, and products, up to which second derivatives are written out."""
ROUNDING = 4e-16


def decrement(claim: Claim, found: Recomputed, slopes: Floats) -> tuple[float, int, int]:
    """Return the decrement, and the term and the class that have the largest part in it; term 0 is the intercept.

    Parameters
    ----------
    claim : Claim
    found : Recomputed
    slopes : array, shape (T, K)
        The derivatives by weights with the prior's, over N, scores at the means being held; what is left of them at
        kinks.
    """
    first = 0 if claim.structure.intercept else 1
    gradient = (np.concatenate([found.by_intercept[None], slopes]) * found.total)[first:]
    at_kink = np.zeros(gradient.shape, bool)
    if isinstance(claim.prior, Laplace):
        at_kink[1 - first :] = claim.model.weights == 0
    ridge = np.zeros(gradient.shape)
    if isinstance(claim.prior, Gaussian):
        ridge[1 - first :] = 1 / claim.prior.width**2
    expected = np.maximum(found.counts + found.by_intercept * found.total, found.counts)
    noise = ROUNDING * found.extents[:, None] * expected
    flat = [part.T.reshape(-1) for part in (gradient, ridge, noise)]  # class by class, as second derivatives are
    kinks = at_kink.T.reshape(-1)
    solve = partial(_solved, claim, found, flat[0], flat[1], flat[2])
    size, place, _ = decrement_at_kinks(flat[0], kinks & (flat[0] == 0), kinks, solve)
    code, term = divmod(place, max(len(gradient), 1))
    return size, term + first, code


def _solved(
    claim: Claim, found: Recomputed, gradient: Floats, ridge: Floats, noise: Floats, places: NDArray[np.intp]
) -> Decrement:
    """Return the decrement in the parameters at some places of an array of shape (K, T + 1) or (K, T)."""
    gradient, ridge, noise = gradient[places], ridge[places], noise[places]
    k, has_intercept = len(found.counts), claim.structure.intercept
    centre = found.mean if has_intercept else np.zeros_like(found.mean)
    width = len(centre) + int(has_intercept)
    if k * width <= MOST_SIDE and claim.statistics.n_read * float(k * width) ** 2 <= MOST_PRODUCTS:
        hessian = second_derivatives(claim, k, centre)[np.ix_(places, places)]
        return decrement_of(gradient, hessian + np.diag(ridge), noise)

    def product(vector: Floats) -> Floats:
        flat = np.zeros(k * width)
        flat[places] = vector
        along = np.zeros((1 + len(centre), k))
        along[int(not has_intercept) :] = flat.reshape(k, width).T
        along[0] -= centre @ along[1:]
        image = curvature_along(claim, along)
        image[1:] -= np.outer(centre, image[0])
        return np.asarray(image[int(not has_intercept) :].T.reshape(-1)[places] + ridge * vector)

    diagonal = own_curvature(claim, centre)[int(not has_intercept) :].T.reshape(-1)[places]
    return decrement_by_products(gradient, product, diagonal + ridge, noise=noise)
