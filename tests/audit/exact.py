"""Costs in sixty digits, which no sum of large numbers can hide."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

DIGITS = 60


def row_cost(counts: Sequence[Any], theta: Sequence[Any]) -> float:
    """Return Σ m log(m / (n θ)) of one row of a table; counts may be fractions."""
    shares = [Fraction(m) if isinstance(m, Fraction) else Fraction(float(m)) for m in counts]
    n, mass = sum(shares), sum(Fraction(float(p)) for p in theta)
    if not n:
        return 0.0
    if any(m and not p for m, p in zip(shares, theta, strict=True)):
        return math.inf
    with localcontext() as context:
        context.prec = DIGITS
        ratios = [(m, m * mass / (n * Fraction(float(p)))) for m, p in zip(shares, theta, strict=True) if m]
        return float(sum(decimal(m) * decimal(ratio).ln() for m, ratio in ratios))


def row_deviation(counts: Sequence[Any], theta: Sequence[Any]) -> float:
    """Return the largest distance from the mean of Dirichlet(counts) in its standard deviations."""
    alpha = [Fraction(float(m)) for m in counts]
    n, worst = sum(alpha), 0.0
    for a, p in zip(alpha, theta, strict=True):
        mean = a / n
        variance = mean * (1 - mean) / (n + 1)
        off = abs(Fraction(float(p)) - mean)
        if off:
            worst = max(worst, math.inf if not variance else math.sqrt(float(off * off / variance)))
    return worst


def decimal(value: Fraction) -> Decimal:
    """Return a fraction in the digits of the context."""
    return Decimal(value.numerator) / Decimal(value.denominator)


# Matrices of fractions ----------------------------------------------------------------------------------------


def exact(values: Any) -> Any:
    """Return an array of floats as an array of fractions."""
    array = np.asarray(values, np.float64)
    return np.array([Fraction(x) for x in array.reshape(-1).tolist()], object).reshape(array.shape)


def inverse_and_determinant(matrix: Any) -> tuple[Any, Fraction]:
    """Return the inverse of a matrix of fractions, by elimination, and its determinant."""
    n = len(matrix)
    rows = np.concatenate([np.array(matrix, object), exact(np.eye(n))], axis=1)
    determinant = Fraction(1)
    for place in range(n):
        pivot = max(range(place, n), key=lambda row: abs(rows[row, place]))
        if pivot != place:
            rows[[place, pivot]] = rows[[pivot, place]]
            determinant = -determinant
        determinant *= rows[place, place]
        rows[place] = rows[place] / rows[place, place]
        for row in range(n):
            if row != place:
                rows[row] = rows[row] - rows[row, place] * rows[place]
    return rows[:, n:], determinant


def log_of(value: Fraction) -> Decimal:
    """Return the logarithm of a positive fraction."""
    return decimal(value).ln()


def normal_objective(weight: Fraction, squares: Any, covariance: Any) -> Decimal:
    """Return −½ (W log det Σ + tr(Σ⁻¹ Q)), Q being Σ w e eᵀ."""
    inverse, determinant = inverse_and_determinant(covariance)
    if determinant <= 0:
        return Decimal("-Infinity")
    trace = sum((inverse[i] * squares[:, i]).sum() for i in range(len(inverse)))
    return -(decimal(weight) * log_of(determinant) + decimal(trace)) / 2


def difference(objective: Callable[[Any], Decimal], best: Any, other: Any) -> float:
    """Return by how much an objective, computed in many digits, is lower at another model."""
    with localcontext() as context:
        context.prec = DIGITS
        return float(objective(best) - objective(other))
