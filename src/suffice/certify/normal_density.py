"""What certificates of normal densities measure: the log-likelihood, and whether a density integrates to one."""

from __future__ import annotations

import math

import numpy as np

from suffice.models.joint_normal import JointNormal
from suffice.stats.moments import Moments
from suffice.types import Array, Floats


def log_likelihood_of(model: JointNormal, moments: Moments) -> float:
    """Return the log-likelihood of a normal distribution from the moments of its rows."""
    weight = float(moments.weight)
    gap = moments.mean + moments.rest - model.mean
    return log_likelihood(model.covariance, weight, moments.scatter + weight * np.outer(gap, gap))


def log_likelihood(covariance: Floats, weight: float, squares: Floats) -> float:
    """Return it from Σ w e eᵀ by Gaussian elimination with pivots, where fitters factorise by Cholesky."""
    roots = np.sqrt(np.diag(covariance))
    correlations = covariance / roots[:, None] / roots
    sign, log_det = np.linalg.slogdet(correlations)
    if not sign > 0:
        return math.nan
    seen = np.diag(np.linalg.solve(correlations, squares / roots[:, None] / roots))
    constant = len(roots) * math.log(2 * math.pi) + 2 * math.fsum(np.log(roots)) + float(log_det)
    return -0.5 * (weight * constant + math.fsum(seen))


def integral_gap(precision: Array, covariance: Array) -> float:
    """Return how far √(det Σ det K) is from one: the integral of a density that is normalised by the other matrix."""
    (sign, log_k), (other, log_sigma) = np.linalg.slogdet(precision), np.linalg.slogdet(covariance)
    return abs(math.expm1(0.5 * float(log_k + log_sigma))) if sign > 0 and other > 0 else math.inf
