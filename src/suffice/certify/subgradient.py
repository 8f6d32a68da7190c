"""The first-order condition under a penalty on u-terms, kinks included."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.inference.clique_family import Layout
from suffice.inference.interactions import Interactions, centred
from suffice.priors.penalty import Laplace, Penalty

Floats = NDArray[np.float64]
ZERO = 1e-9
"""Terms smaller than this are at the kink."""


def residual_under_penalty(penalty: Penalty, layout: Layout, theta: Floats, gaps: Floats, total: float) -> Floats:
    """Return what is left of p − t + slope / N, flat: zero at the optimum.

    Parameters
    ----------
    penalty : Penalty
    layout : Layout
    theta : array
        log ψ of the cliques.
    gaps : array
        p − t of the cliques.
    total : float
        N.
    """
    words = Interactions(layout)
    terms = words.of(theta)[1]
    if not isinstance(penalty, Laplace):
        return gaps + words.adjoint(penalty.slope(terms)) / total
    slopes = [centred(table) for table in words.margins(gaps)]  # by u_A, within the tables that sum to zero
    left = []
    for slope, u, width in zip(slopes, terms, penalty.widths(terms), strict=True):
        left.append(slope if width == np.inf else _left_over(slope, u, 1 / (width * total)))
    return words.put(left)


def _left_over(slope: Floats, u: Floats, weight: float) -> Floats:
    """Return the smallest slope + weight · s with s in the subdifferential of Σ |u| on tables that sum to zero.

    s is the sign of u where that is not zero and anything between −1 and 1 elsewhere; only its part that sums to zero
    counts. The nearest such s is found by least squares within these bounds.
    """
    from scipy.optimize import lsq_linear

    at_kink = np.abs(u).reshape(-1) <= ZERO
    fixed = centred((np.sign(u) * (np.abs(u) > ZERO)) * weight) + slope
    if not at_kink.any():
        return fixed
    columns = np.zeros((u.size, int(at_kink.sum())))
    for column, position in enumerate(np.flatnonzero(at_kink)):
        unit = np.zeros(u.size)
        unit[position] = weight
        columns[:, column] = centred(unit.reshape(u.shape)).reshape(-1)
    best = lsq_linear(columns / weight, -fixed.reshape(-1) / weight, bounds=(-1, 1), method="bvls", tol=1e-14)
    left: Floats = (fixed.reshape(-1) + columns @ best.x).reshape(u.shape)
    return left
