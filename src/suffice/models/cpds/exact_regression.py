"""Proof of a regression: its normal equations in exact fractions, which no rounding of the fitter can hide from.

The moments are taken as they are; means, slopes and scatter are floats, so their products are fractions. Where there
are too many numbers for fractions, the longest floats there are take their place.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.stats.moments import Moments

MAX_EXACT = 20_000
"""Products of so many numbers are formed as fractions."""

Row = NDArray[Any]


def in_fractions(values: Any, exact: bool) -> NDArray[Any]:
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
        pick = {name: getattr(statistic, name).reshape(len(weight), -1)[self.rows] for name in ("mean", "rest")}
        self.scatter = in_fractions(statistic.scatter.reshape(-1, p, p)[self.rows], exact)
        self.weight = in_fractions(weight[self.rows], exact)
        self.variance = in_fractions(cpd.variance[self.rows], exact)
        ones = np.ones((len(self.rows), 1))
        direction = in_fractions(np.concatenate([-cpd.coefficients[self.rows], ones], axis=1), exact)
        self.slopes = -direction[:, :-1]
        # Σ w (x − x̄) e of every column x, e = y − a − b · x; then ē, and Σ w e².
        self.cross = (self.scatter * direction[:, None, :]).sum(axis=2)
        means = in_fractions(pick["mean"], exact) + in_fractions(pick["rest"], exact)
        self.gap = (means * direction).sum(axis=1) - in_fractions(cpd.intercept[self.rows], exact)
        parts = np.abs(pick["mean"] * np.concatenate([cpd.coefficients[self.rows], ones], axis=1)).sum(axis=1)
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


def _known(cpd: LinearGaussianCPD, statistic: Moments) -> NDArray[np.float64]:
    """Return the parameters of the rows with data."""
    rows = statistic.weight.reshape(-1) > 0
    return np.column_stack([cpd.intercept, cpd.coefficients, cpd.variance])[rows]


def exact_residual(cpd: LinearGaussianCPD, statistic: Moments, kind: Any) -> float:
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


def _slope_gaps(seen: _Seen, q: int, kind: Any) -> list[float]:
    """Return |Σ w (x − x̄) e − ridge · b|, divided by the roots of Σ w (x − x̄)² and of Σ w e²."""
    cross, squares, spread = seen.cross[:, :q], seen.squares, np.diagonal(seen.scatter, axis1=1, axis2=2)[:, :q]
    b = seen.slopes
    if kind.tied in ("slopes", "both") and len(cross):
        # Shared slopes solve the sum of the rows' equations, each divided by its variance.
        share = seen.variance[0] / seen.variance if kind.tied == "slopes" else seen.variance / seen.variance
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
