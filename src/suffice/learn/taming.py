"""Extrapolated statistics, drawn back until they are such as rows can have."""

from __future__ import annotations

import numpy as np

from suffice.learn.expected_vector import ExpectedVector
from suffice.stats.needs import Moment
from suffice.types import Floats

SHARE = 0.01
"""Counts, weights and variances keep at least this share of what they were."""
SHORTER = (1.0, 0.5, 0.25, 0.125)
"""The parts of a step that are tried."""


def tamed(layout: ExpectedVector, candidate: Floats, plain: Floats) -> Floats | None:
    """Return the candidate, or the first of some points between it and ``plain`` that statistics can have; or None."""
    if not np.isfinite(candidate).all():
        return None
    for share in SHORTER:
        tried = candidate if share == 1 else plain + share * (candidate - plain)
        if _is_proper(layout, tried, plain):
            return tried
    return None


def _is_proper(layout: ExpectedVector, tried: Floats, plain: Floats) -> bool:
    """Whether counts and weights stay positive, and scatters positive definite, well away from zero."""
    for need in layout.needs:
        if not isinstance(need, Moment):
            place = layout.place(need)
            if (tried[place] < SHARE * plain[place]).any():
                return False
            continue
        before, after = _covariances(layout, need, plain), _covariances(layout, need, tried)
        if before is None or after is None or (after[0] < SHARE * before[0]).any():
            return False
        held = before[0] > 0
        try:
            np.linalg.cholesky(after[1][held] - SHARE * before[1][held])
        except np.linalg.LinAlgError:
            return False
    return True


def _covariances(layout: ExpectedVector, need: Moment, vector: Floats) -> tuple[Floats, Floats] | None:
    """Return weights and covariance matrices in spreads; None where a weight is negative."""
    weight, sums, products = layout.parts(need, vector)
    if (weight < 0).any():
        return None
    some = np.where(weight > 0, weight, 1.0)
    spread = np.array([layout.spreads[name] for name in need.xs])
    means = sums / some[:, None] / spread
    covariance = products / some[:, None, None] / spread[:, None] / spread - means[:, :, None] * means[:, None, :]
    return weight, covariance
