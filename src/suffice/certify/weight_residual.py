"""The first-order condition of weights: gaps of expectations, with the prior's slope."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.certify.claim import Claim
from suffice.inference.scaled_gaps import STANDARD_ERRORS
from suffice.priors.penalty import Gaussian, Laplace

Floats = NDArray[np.float64]


def residual_of(
    claim: Claim,
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
    slopes = np.array(gaps, np.float64)
    prior = claim.prior
    if prior is not None:
        widths = np.where(main & (prior.main is not None), prior.main or 1.0, prior.width)
        if isinstance(prior, Gaussian):
            slopes = slopes + weights / widths**2 / total
        elif isinstance(prior, Laplace):
            price = 1 / widths / total
            slopes = np.where(weights == 0, np.maximum(np.abs(slopes) - price, 0.0), slopes + np.sign(weights) * price)
    if not np.isfinite(slopes).all():
        return math.inf, "an expectation that is not finite"
    unit = np.where(spread > 0, spread, 1.0)
    sizes = np.abs(slopes) / unit
    relative = np.maximum(variance / unit**2, 1 / max(total, 1.0))
    excess = np.maximum(sizes - 1e-13 * relative, 0.0)
    sizes = np.maximum(sizes, excess * np.sqrt(total / relative) / STANDARD_ERRORS)
    worst = int(np.argmax(sizes)) if len(sizes) else 0
    return (float(sizes[worst]), f"the feature {names[worst]!r}") if len(sizes) else (0.0, "no feature")
