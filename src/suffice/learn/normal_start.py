"""Where EM begins for joint normal distributions: moments of the rows that have them, or chance ones."""

from __future__ import annotations

import numpy as np

from suffice.stats.gap_moments import GapMoments
from suffice.types import Floats

LEAST = 0.05
"""Least eigenvalue of the correlations that EM begins at, where they are put together from different rows."""


def normal_start(
    moments: GapMoments, centres: Floats, spreads: Floats, chance: np.random.Generator | None
) -> tuple[Floats, Floats]:
    """Return a mean and a covariance matrix in centres and spreads.

    A mean and a variance come from the rows that have the column, a correlation from the rows that have both columns.
    Correlations from different rows may contradict each other; then they are drawn towards zero.
    """
    p = len(spreads)
    if not moments.missing.any():
        weight = float(moments.weight.sum())
        mean = ((moments.mean[0] - centres) + moments.rest[0]) / spreads
        return mean, moments.scatter[0] / weight / spreads[:, None] / spreads
    seen = (~moments.missing).astype(np.float64)
    means = ((moments.mean - centres) + moments.rest) / spreads * seen
    products = moments.scatter / spreads[:, None] / spreads
    products = products + moments.weight[:, None, None] * means[:, :, None] * means[:, None, :]
    pairs = np.einsum("k,ki,kj->ij", moments.weight, seen, seen)
    mean = (moments.weight @ means) / np.diag(pairs)
    some = np.where(pairs > 0, pairs, 1.0)
    cross_means = np.einsum("k,ki,kj->ij", moments.weight, means, seen) / some
    covariance = products.sum(axis=0) / some - cross_means * cross_means.T
    own = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
    # a correlation of few rows is mostly chance
    correlations = covariance / own[:, None] / own * np.clip((pairs - 3) / np.maximum(pairs, 1), 0.0, 1.0)
    if chance is not None:
        mean = mean + own * chance.standard_normal(p) / 2
        own = own * np.exp(chance.standard_normal(p) / 4)
        correlations = _chance_correlations(correlations, chance)
    np.fill_diagonal(correlations, 1.0)
    least = float(np.linalg.eigvalsh(correlations)[0])
    if least < LEAST:
        share = (LEAST - least) / (1 - least)
        correlations = (1 - share) * correlations + share * np.eye(p)
    return mean, correlations * own[:, None] * own


def _chance_correlations(correlations: Floats, chance: np.random.Generator) -> Floats:
    """Return half of some correlations, and half of those of a few chance directions."""
    p = len(correlations)
    drawn = chance.standard_normal((p, p + 2))
    products = drawn @ drawn.T
    roots = np.sqrt(np.diag(products))
    found: Floats = (correlations + products / roots[:, None] / roots) / 2
    return found
