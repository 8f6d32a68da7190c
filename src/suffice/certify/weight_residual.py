"""The first-order condition of weights: gaps of expectations, with the prior's slope."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.certify.claim import Claim
from suffice.inference.scaled_gaps import STANDARD_ERRORS, feature_gaps
from suffice.priors.penalty import Gaussian, Laplace
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.feature_design import FeatureModel
    from suffice.structures.features import Features

ROUNDING = 1e-15
"""Expectations are known to this relative accuracy."""
FLAT = 1e-13
"""Directions in which features vary less than this, relatively, are taken for none."""


def slopes_under(
    claim: Claim[Features, FeatureModel], weights: Floats, gaps: Floats, main: NDArray[np.bool_]
) -> Floats:
    """Return the gaps with the slope of the prior, for one row; where that has a kink, what is beyond its reach."""
    total, prior = claim.statistics.weight or 1.0, claim.prior
    slopes = np.array(gaps, np.float64)
    if isinstance(prior, Gaussian):
        return np.asarray(slopes + weights / prior.widths_of(main) ** 2 / total)
    if not isinstance(prior, Laplace):
        return slopes
    price = 1 / prior.widths_of(main) / total
    at_kink = np.sign(slopes) * np.maximum(np.abs(slopes) - price, 0.0)
    return np.where(weights == 0, at_kink, slopes + np.sign(weights) * price)


def residual_of(
    claim: Claim[Features, FeatureModel],
    names: Sequence[str],
    weights: Floats,
    gaps: Floats,
    spread: Floats,
    variance: Floats,
    main: NDArray[np.bool_],
) -> tuple[float, str]:
    """Return the largest violation and the feature it is at; gaps count in units of a feature's spread.

    Where that is more, they count in thousandths of a standard error of its mean, so that rare features among very many
    rows are looked at as closely.
    """
    total = claim.statistics.weight or 1.0
    slopes = slopes_under(claim, weights, gaps, main)
    if not np.isfinite(slopes).all():
        return math.inf, "an expectation that is not finite"
    sizes = feature_gaps(slopes, spread, variance, total)
    worst = int(np.argmax(sizes)) if len(sizes) else 0
    return (float(sizes[worst]), f"the feature {names[worst]!r}") if len(sizes) else (0.0, "no feature")


def newton_distance(rows: Floats, slopes: Floats, total: float, size: Floats) -> float:
    """Return how far the optimum is, in any direction, in 1e5 standard errors: Newton's decrement √(N sᵀ H⁻¹ s).

    Gaps of single features say little where features are nearly multiples of each other, as powers of a year are.

    Parameters
    ----------
    rows : array of shape (n, n_weights)
        H = rowsᵀ rows: deviations of the features, not their squares, so that small differences keep their digits.
    slopes : array of shape (n_weights,)
        The gradient of one row's objective.
    total : float
        N.
    size : array of shape (n_weights,)
        How large the expectations are: their rounding errors do not count.

    Examples
    --------
    >>> round(newton_distance(np.array([[0.5]]), np.array([0.001]), 10_000.0, np.ones(1)) * 1e5, 9)
    0.2
    """
    sizes = np.sqrt((rows**2).sum(axis=0))
    moving = sizes > 0
    if not moving.any():
        return 0.0
    _, values, right = np.linalg.svd(rows[:, moving] / sizes[moving], full_matrices=False)
    kept = values > FLAT * values[0]
    parts = np.abs(right[kept] @ (slopes[moving] / sizes[moving])) / values[kept]
    doubt = np.abs(right[kept]) @ (ROUNDING * size[moving] / sizes[moving]) / values[kept]
    return math.sqrt(total) * float(np.linalg.norm(np.maximum(parts - doubt, 0.0))) / STANDARD_ERRORS


def prior_slopes(
    claim: Claim[Features, FeatureModel], weights: Floats, main: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return the slope of a Gaussian prior for one row, and rows that add its curvature; zeros without one."""
    if not isinstance(claim.prior, Gaussian):
        return np.zeros_like(weights), np.zeros((0, len(weights)))
    total = claim.statistics.weight or 1.0
    width = claim.prior.widths_of(main)
    return weights / width**2 / total, np.diag(1 / width / math.sqrt(total))
