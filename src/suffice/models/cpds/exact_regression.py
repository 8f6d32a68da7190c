"""Proof of a regression: its normal equations in exact fractions, which no rounding of the fitter can hide from.

The moments are taken as they are; means, slopes and scatter are floats, so their products are fractions. Where there
are too many numbers for fractions, the longest floats there are take their place.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.optimise.distance import Distance, beyond, quadratic_loss, shortfall
from suffice.stats.moments import Moments
from suffice.types import Array, Floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from suffice.models.cpds.linear_gaussian_kind import LinearGaussianKind

MAX_EXACT = 20_000
"""Products of so many numbers are formed as fractions."""


def in_fractions(values: ArrayLike, exact: bool) -> Array:
    """Return numbers as fractions, or as the longest floats."""
    array = np.asarray(values, np.float64)
    if not exact:
        return array.astype(np.longdouble)
    return np.array([Fraction(value) for value in array.reshape(-1).tolist()], object).reshape(array.shape)


class _Seen:
    """The rows with data of a node, around its line."""

    def __init__(self, cpd: LinearGaussianCPD, statistic: Moments) -> None:
        p = len(statistic.variables)
        weight = statistic.weight.reshape(-1)
        self.rows = np.flatnonzero(weight > 0)
        exact = len(self.rows) * p * p <= MAX_EXACT
        mean, rest = (part.reshape(len(weight), -1)[self.rows] for part in (statistic.mean, statistic.rest))
        self.scatter = in_fractions(statistic.scatter.reshape(-1, p, p)[self.rows], exact)
        self.weight = in_fractions(weight[self.rows], exact)
        self.variance = in_fractions(cpd.variance[self.rows], exact)
        ones = np.ones((len(self.rows), 1))
        direction = in_fractions(np.concatenate([-cpd.coefficients[self.rows], ones], axis=1), exact)
        self.slopes = -direction[:, :-1]
        # Σ w (x − x̄) e of every column x, e = y − a − b · x; then ē, and Σ w e².
        self.cross = (self.scatter * direction[:, None, :]).sum(axis=2)
        means = in_fractions(mean, exact) + in_fractions(rest, exact)
        self.gap = (means * direction).sum(axis=1) - in_fractions(cpd.intercept[self.rows], exact)
        parts = np.abs(mean * np.concatenate([cpd.coefficients[self.rows], ones], axis=1)).sum(axis=1)
        self.rounding = 2 * np.finfo(np.float64).eps * (parts + np.abs(cpd.intercept[self.rows]))
        self.squares = (self.cross * direction).sum(axis=1) + self.weight * self.gap * self.gap


def exact_terms(cpd: LinearGaussianCPD, statistic: Moments) -> list[float]:
    """Return the log-likelihood of every configuration with data."""
    seen = _Seen(cpd, statistic) if not np.isnan(_known(cpd, statistic)).any() else None
    if seen is None:
        return [math.nan]
    terms = []
    for w, v, squares in zip(seen.weight, seen.variance, seen.squares, strict=True):
        if v == 0:  # given so
            terms.append(-math.inf if squares > 0 else math.inf)
            continue
        terms += [-0.5 * float(w) * math.log(2 * math.pi * float(v)), -0.5 * float(squares / v)]
    return terms


def _known(cpd: LinearGaussianCPD, statistic: Moments) -> Floats:
    """Return the parameters of the rows with data."""
    rows = statistic.weight.reshape(-1) > 0
    return np.column_stack([cpd.intercept, cpd.coefficients, cpd.variance])[rows]


def exact_residual(cpd: LinearGaussianCPD, statistic: Moments, kind: LinearGaussianKind) -> float:
    """Return the largest miss: of ē in standard deviations, of cov(x, e) as a correlation, of v relative to itself."""
    if np.isnan(_known(cpd, statistic)).any():
        return math.inf
    seen = _Seen(cpd, statistic)
    if not len(seen.rows):
        return 0.0
    if not all(v > 0 for v in seen.variance):
        return math.inf
    q = len(cpd.family.continuous)
    gaps = [0.0]
    for gap, rounding, v in zip(seen.gap, seen.rounding, seen.variance, strict=True):
        gaps.append(max(0.0, abs(float(gap)) - rounding) / math.sqrt(float(v)))  # parameters themselves are rounded
    gaps += _slope_gaps(seen, q, kind)
    divisors = kind.divisors(statistic.weight.reshape(-1), q)[seen.rows]
    squares = seen.squares
    if kind.tied in ("variance", "both"):
        squares = np.array([squares.sum()] * len(squares))
        gaps += [abs(float(v - seen.variance[0]) / float(v)) for v in seen.variance]
    for total, v, divisor in zip(squares, seen.variance, divisors, strict=True):
        gaps.append(abs(float(total / v) / float(divisor) - 1.0))
    return max(gaps)


def _slope_gaps(seen: _Seen, q: int, kind: LinearGaussianKind) -> list[float]:
    """Return |Σ w (x − x̄) e − ridge · b|, divided by the roots of Σ w (x − x̄)² and of Σ w e²."""
    cross, squares, spread = seen.cross[:, :q], seen.squares, np.diagonal(seen.scatter, axis1=1, axis2=2)[:, :q]
    b = seen.slopes
    if kind.tied in ("slopes", "both") and len(cross):
        # Shared slopes solve the sum of the rows' equations, each divided by its variance in units of the smallest.
        share = seen.variance.min() / seen.variance if kind.tied == "slopes" else seen.variance / seen.variance
        if any((row != b[0]).any() for row in b[1:]):
            return [math.inf]
        cross = (cross * share[:, None]).sum(axis=0)[None]
        spread = (spread * share[:, None]).sum(axis=0)[None]
        squares, b = np.array([(squares * share).sum()]), b[:1]
    gaps = []
    for row in range(len(cross)):
        for j in range(q):
            size = math.sqrt(float(spread[row, j])) * math.sqrt(float(squares[row]))
            miss = abs(float(cross[row, j] - in_fractions(kind.ridge, isinstance(b[row, j], Fraction)) * b[row, j]))
            gaps.append(miss / size if size > 0 else (0.0 if miss == 0 or kind.singular != "error" else math.inf))
    return gaps


# Nats ---------------------------------------------------------------------------------------------------------


def exact_distance(cpd: LinearGaussianCPD, statistic: Moments, kind: LinearGaussianKind) -> Distance:
    """Return the Newton decrement of every configuration: of its level, its slopes and its variance.

    With n rows, mean error ē, scatter S of the parents and c = Σ w (x − x̄) e they are ½ n ē²/v, ½ cᵀS⁻¹c/v and
    ½ n (u − 1 − log u), u = Σ w e² / (n v). Where variances are divided by n − p, that takes the place of n in the last
    of them, as in the restricted likelihood; under a ridge penalty S and c have its term. What configurations share is
    one block.
    """
    if np.isnan(_known(cpd, statistic)).any():
        return Distance.in_nats(math.inf, "a configuration that is unknown and has rows")
    seen = _Seen(cpd, statistic)
    if not all(v > 0 for v in seen.variance):
        return Distance.in_nats(math.inf, "a variance that is not positive")
    v, n = (np.array([float(x) for x in values]) for values in (seen.variance, seen.weight))
    levels = n * beyond(seen.gap.astype(np.float64), seen.rounding) ** 2 / v / 2

    def name(row: int) -> str:
        return cpd.describe_row(int(seen.rows[row])) if cpd.family.discrete else ""

    found = Distance.of_rows(levels, name)
    q = len(cpd.family.continuous)
    divisors = kind.divisors(statistic.weight.reshape(-1), q)[seen.rows]
    if kind.tied in ("variance", "both"):
        if len(v) and (v != v[0]).any():
            return Distance.in_nats(math.inf, "variances that are tied and differ")
        ratios = [float(seen.squares.sum() / seen.variance[0]) / float(divisors[0]) - 1] if len(v) else []
        found += Distance.of_rows(divisors[:1] / 2 * shortfall(ratios), lambda _: "the tied variance")
    else:
        ratios = [float(t / x) / float(d) - 1 for t, x, d in zip(seen.squares, seen.variance, divisors, strict=True)]
        found += Distance.of_rows(divisors / 2 * shortfall(ratios), name)
    if q and kind.tied in ("slopes", "both"):
        return found + Distance.in_nats(_shared_slope_loss(seen, v, q, kind), "the tied slopes")
    ridge = kind.ridge
    losses = [_slope_loss(seen.scatter[r], seen.cross[r, :q], seen.slopes[r], ridge, 1 / v[r]) for r in range(len(v))]
    return found + Distance.of_rows(np.array(losses), name)


def _slope_loss(scatter: Array, cross: Array, slopes: Array, ridge: float, share: float) -> float:
    """Return the decrement of slopes, from the scatter of parents and child and from Σ w (x − x̄) e."""
    q = len(slopes)
    if not q:
        return 0.0
    penalty = in_fractions(ridge, isinstance(cross[0], Fraction)).item()
    slope = (cross - penalty * slopes).astype(np.float64) * share
    curvature = (scatter[:q, :q].astype(np.float64) + ridge * np.eye(q)) * share
    rounding = 8 * np.finfo(np.float64).eps * math.sqrt(float(scatter[q, q]) * share)
    return quadratic_loss(slope, curvature, rounding)


def _shared_slope_loss(seen: _Seen, v: Floats, q: int, kind: LinearGaussianKind) -> float:
    """Return the decrement of slopes that all configurations share; the smallest variance is the penalty's unit."""
    if any((row != seen.slopes[0]).any() for row in seen.slopes[1:]):
        return math.inf
    if not len(v):
        return 0.0
    share = seen.variance.min() / seen.variance
    scatter = (seen.scatter * share[:, None, None]).sum(axis=0)
    cross = (seen.cross[:, :q] * share[:, None]).sum(axis=0)
    return _slope_loss(scatter, cross, seen.slopes[0], kind.ridge, 1 / v.min())
