"""Existence shown from a fit that is nearly right: how little it must be changed to be quite right."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from suffice.types import Floats

STEPS = 200
SOLVED = 1e-8
"""How much of the gap may be left."""


def is_near_interior(
    gap: Floats, curvature: Callable[[Floats], Floats], rough: Callable[[Floats], Floats], spread: Floats
) -> bool:
    """Whether p can be changed a little, staying positive everywhere, to have the expectations wanted.

    With v = Cov⁺ gap, p (1 + v·(f − E)) has them to rounding error, and is positive where Σ |v_j| spread_j < 1. So the
    targets are inside the hull of the features, and the estimate exists. The same holds input by input for conditional
    models. The system is solved by conjugate gradients, to so many digits that directions of little curvature, in which
    weights may be running away, are not passed over.

    Parameters
    ----------
    gap : array
        The expectations wanted minus those found.
    curvature : callable
        Cov times a direction.
    rough : callable
        About the inverse of Cov, times a gap.
    spread : array
        The largest minus the least value of every feature.

    Examples
    --------
    >>> half = np.array([0.25])
    >>> is_near_interior(np.array([1e-9]), lambda v: half * v, lambda g: g / half, np.ones(1))
    True
    >>> is_near_interior(np.array([0.3]), lambda v: half * v, lambda g: g / half, np.ones(1))
    False
    """
    left = np.array(gap)
    if not np.abs(left).max(initial=0.0) > 0:
        return True
    v, towards = np.zeros_like(left), rough(left)
    direction, size, start = towards, float(left.dot(towards)), float(left.dot(left))
    for _ in range(STEPS):
        if not np.abs(direction).max() < 1e100:  # p is all but on the boundary
            return False
        image = curvature(direction)
        slope = float(direction.dot(image))
        if not 0 < slope < math.inf or not math.isfinite(size / slope):
            return False
        v = v + size / slope * direction
        left = left - size / slope * image
        if float(left.dot(left)) <= SOLVED**2 * start:
            return float(np.abs(v).dot(spread)) < 0.5
        towards = rough(left)
        before, size = size, float(left.dot(towards))
        direction = towards + size / before * direction
    return False
