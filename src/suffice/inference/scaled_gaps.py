"""How large a gap between margins is: in probability, and in standard errors of the counts behind it."""

from __future__ import annotations

import numpy as np

from suffice.types import Floats

STANDARD_ERRORS = 1e5
"""So many tolerances are the gap allowed in standard errors: a thousandth at the usual tolerance, 1e-8."""
ROUNDING = 1e-13
"""Margins are known to this relative accuracy."""


def scaled_gaps(gaps: Floats, targets: Floats, total: float) -> Floats:
    """Return max(|gap|, |gap| / (1e5 · standard error)), the standard error of a margin being √(t/N).

    A gap of 1e-8 is nothing among a thousand rows, and a hundred of them among 1e10. Cells without a count are taken
    for cells with one.

    >>> scaled_gaps(np.array([1e-9, 1e-9]), np.array([0.5, 1e-9]), 1e10).round(12).tolist()
    [1.414e-09, 3.1622777e-05]
    """
    expected = np.maximum(targets, 1 / max(total, 1.0))
    sizes = np.abs(gaps)
    excess = np.maximum(sizes - ROUNDING * expected, 0.0)
    scaled: Floats = np.maximum(sizes, excess * np.sqrt(max(total, 0.0) / expected) / STANDARD_ERRORS)
    return scaled


def feature_gaps(gaps: Floats, spread: Floats, variance: Floats, total: float) -> Floats:
    """Return each gap in units of its feature's spread, or in standard errors of its mean where that is more.

    A gap of 1e-8 is nothing among a thousand rows, and a thousandth of a standard error among 1e10 rare ones.

    >>> feature_gaps(np.array([1e-9, 2e-9]), np.array([1.0, 2.0]), np.array([0.25, 1.0]), 100.0).tolist()
    [1e-09, 1e-09]
    """
    unit = np.where(spread > 0, spread, 1.0)
    sizes = np.abs(gaps) / unit
    relative = np.maximum(variance / unit**2, 1 / max(total, 1.0))
    excess = np.maximum(sizes - ROUNDING * relative, 0.0)
    found: Floats = np.maximum(sizes, excess * np.sqrt(max(total, 0.0) / relative) / STANDARD_ERRORS)
    return found
