"""How far regressions are from the optimum of an observed likelihood: its derivatives, from expected moments.

With the residual e of a child, in standardised columns x, they are Σ E[e] / √v, Σ E[e x] / √v and ½ Σ (E[e²] / v − 1),
by intercept, slopes and log v: in these units the certificate measures them. Where v is small, a small change of the
moments is a large one of the likelihood.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from suffice.learn.expected_vector import ExpectedVector
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.stats.needs import Moment, Need
from suffice.types import Floats


def standardised(
    cpd: LinearGaussianCPD, centres: Floats, spreads: Floats, centre: float, spread: float
) -> tuple[Floats, Floats, Floats]:
    """Return intercepts, slopes and variances in centres and spreads: of the parents, and of the child."""
    wide = cpd.coefficients.astype(np.longdouble)
    intercept = (cpd.intercept + wide @ centres.astype(np.longdouble) - centre) / spread
    return intercept.astype(np.float64), cpd.coefficients * spreads / spread, cpd.variance / spread**2


def largest_slope(
    models: Mapping[Need, tuple[Any, LinearGaussianCPD]], layout: ExpectedVector, vector: Floats
) -> float:
    """Return the largest derivative of the likelihood of all rows; ``models`` has a kind and a regression by need."""
    return max((_of_node(kind, cpd, need, layout, vector) for need, (kind, cpd) in models.items()), default=0.0)


def _of_node(kind: Any, cpd: LinearGaussianCPD, need: Need, layout: ExpectedVector, vector: Floats) -> float:
    assert isinstance(need, Moment)
    centres, spreads = (np.array([unit[name] for name in need.xs]) for unit in (layout.centres, layout.spreads))
    place = [need.xs.index(parent.name) for parent in cpd.family.continuous]
    child = need.xs.index(cpd.family.child.name)
    weight, sums, products = layout.parts(need, vector)
    sums, products = sums / spreads, products / spreads[:, None] / spreads
    numbers = standardised(cpd, centres[place], spreads[place], centres[child], spreads[child])
    intercept, slopes, variance = numbers
    held = weight > 0
    direction = np.zeros((len(weight), len(need.xs)))
    direction[:, place], direction[:, child] = -slopes, 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        levels = np.where(held, np.einsum("ri,ri->r", sums, direction) - weight * intercept, 0.0)  # Σ E[e]
        across = np.einsum("rij,rj->ri", products, direction) - sums * intercept[:, None]  # Σ E[e x]
        squares = np.einsum("ri,ri->r", across, direction) - intercept * levels  # Σ E[e²]
        of_slopes = np.where(held[:, None], across[:, place] / np.sqrt(variance)[:, None], 0.0)
        of_variance = np.where(held, (squares / variance - weight) / 2, 0.0)
        of_level = np.where(held, levels / np.sqrt(variance), 0.0)
    if kind.tied in ("slopes", "both"):
        root = np.sqrt(np.where(held, variance, 0.0).max(initial=0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            of_slopes = np.where(held[:, None], of_slopes / np.sqrt(variance)[:, None], 0.0).sum(axis=0) * root
    if kind.tied in ("variance", "both"):
        of_variance = of_variance.sum(keepdims=True)
    return max(float(np.abs(part).max(initial=0.0)) for part in (of_level, of_slopes, of_variance))
