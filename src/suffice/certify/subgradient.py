"""The first-order condition under a penalty on u-terms, kinks included."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.inference.clique_family import FamilyPoint, Layout
from suffice.inference.interactions import Interactions, centred
from suffice.optimise.decrement import Decrement, decrement_by_products
from suffice.priors.penalty import Laplace, Penalty
from suffice.types import Floats

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
    if not isinstance(penalty, Laplace):
        return gaps + words.adjoint(penalty.slope(words.of(theta)[1])) / total
    return words.put(_left_of_terms(penalty, words, theta, gaps, total))


def _left_of_terms(penalty: Laplace, words: Interactions, theta: Floats, gaps: Floats, total: float) -> list[Floats]:
    """Return what is left of the slope by every u-term."""
    terms = words.of(theta)[1]
    slopes = [centred(table) for table in words.margins(gaps)]  # by u_A, within the tables that sum to zero
    left = []
    for slope, u, width in zip(slopes, terms, penalty.widths(terms), strict=True):
        left.append(slope if width == np.inf else _left_over(slope, u, 1 / (width * total)))
    return left


def decrement_under_penalty(
    penalty: Penalty, layout: Layout, theta: Floats, gaps: Floats, point: FamilyPoint, total: float, noise: Floats
) -> Decrement:
    """Return how much a Newton step would gain, in nats, and the cell with the largest part in it.

    Under Laplace's penalty what is left of the slopes by u-terms is followed, as if no term were at a kink: such steps
    gain no less than those that keep to the terms which are not zero.

    Parameters
    ----------
    penalty, layout, theta, gaps, total
        As for `residual_under_penalty`.
    point : FamilyPoint
        The model.
    noise : array
        About the rounding error of the margins times N.
    """
    words, p = Interactions(layout), point.expected
    variance = total * p * (1 - p)
    if not isinstance(penalty, Laplace):
        slopes = residual_under_penalty(penalty, layout, theta, gaps, total)

        def along(v: Floats) -> Floats:
            return np.asarray(total * point.curvature(v) + words.adjoint(penalty.slope(words.of(v)[1])))

        return decrement_by_products(total * slopes, along, variance, noise=noise)
    left = _left_of_terms(penalty, words, theta, gaps, total)
    shapes, cuts = [table.shape for table in left], np.cumsum([table.size for table in left])[:-1]

    def joined(tables: Sequence[Floats]) -> Floats:
        return np.concatenate([table.reshape(-1) for table in tables])

    def product(v: Floats) -> Floats:
        tables = [centred(part.reshape(shape)) for part, shape in zip(np.split(v, cuts), shapes, strict=True)]
        return joined([centred(table) for table in words.margins(total * point.curvature(words.put(tables)))])

    by_term = [joined(words.margins(held)) for held in (total * p, noise)]
    size, place, _ = decrement_by_products(total * joined(left), product, by_term[0], noise=by_term[1])
    marked = np.zeros(len(by_term[0]))
    marked[place] = 1.0
    tables = [part.reshape(shape) for part, shape in zip(np.split(marked, cuts), shapes, strict=True)]
    return Decrement(size, int(np.argmax(words.put(tables))))


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
