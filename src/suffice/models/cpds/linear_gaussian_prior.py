"""What a conjugate prior says of a regression, as rows that were never seen, and the proof of an estimate under it.

The prior β | σ² ~ N(m, σ² Λ⁻¹) of β = (intercept, slopes) is the same as pseudo-rows: with Λ = [[κ, κ uᵀ], [κ u, P + κ
u uᵀ]] it is κ rows whose parents are u and whose child is m · (1, u), and a scatter P of the parents around u along a
line of the slopes' prior means. Data far from zero keeps its digits in this form, as it does in moments.

======  ======================================================
κ, u    weight and centre of the pseudo-rows
P       scatter of their parents
a, b    shape and scale of the prior of σ²
======  ======================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.stats.moments import Moments

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RegressionPseudo:
    """The prior of one regression on q parents; the same for every configuration of the discrete parents.

    Attributes
    ----------
    weight : float
        κ ≥ 0: how many rows the prior of the level counts for; zero leaves the intercept free.
    centre : array, shape (q,)
        u: where the parents of these rows are.
    scatter : array, shape (q, q)
        P: the prior precision of the slopes, in units of 1/σ²; positive definite.
    level : float
        The prior mean of the child where the parents are at the centre.
    slopes : array, shape (q,)
        Their prior means.
    shape, scale : float
        σ² ~ InverseGamma(shape, scale).
    point : {"mean", "map"}
        The estimate that is to be proven.

    Examples
    --------
    >>> prior = RegressionPseudo.from_precision([[2.0, 2.0], [2.0, 5.0]], [1.0, 3.0], shape=2.0, scale=1.0)
    >>> prior.weight, prior.centre.tolist(), prior.scatter.tolist(), prior.level
    (2.0, [1.0], [[3.0]], 4.0)
    >>> prior.precision.tolist(), prior.mean.tolist()
    ([[2.0, 2.0], [2.0, 5.0]], [1.0, 3.0])
    """

    weight: float
    centre: Floats = field(repr=False)
    scatter: Floats = field(repr=False)
    level: float
    slopes: Floats = field(repr=False)
    shape: float
    scale: float
    point: str = "mean"

    @classmethod
    def from_precision(cls, precision: Any, mean: Any, shape: float, scale: float, point: str = "mean") -> Any:
        """Build from Λ, shape (q + 1, q + 1), and m, shape (q + 1,), intercepts first."""
        matrix, m = np.array(precision, np.float64), np.array(mean, np.float64)
        weight = float(matrix[0, 0])
        centre = matrix[1:, 0] / weight if weight > 0 else np.zeros(len(m) - 1)
        scatter = matrix[1:, 1:] - weight * np.outer(centre, centre)
        return cls(weight, centre, scatter, float(m[0] + m[1:] @ centre), m[1:], shape, scale, point)

    @property
    def precision(self) -> Floats:
        """Λ, of intercept and slopes; shape (q + 1, q + 1)."""
        z = np.append(1.0, self.centre)
        matrix = self.weight * np.outer(z, z)
        matrix[1:, 1:] += self.scatter
        return matrix

    @property
    def mean(self) -> Floats:
        """m, the prior means of intercept and slopes; shape (q + 1,)."""
        return np.append(self.level - self.slopes @ self.centre, self.slopes)


def shape_after(pseudo: RegressionPseudo, weight: Any) -> Any:
    """Return the shape of σ² after rows of some weight: half a row is spent on an intercept that was free."""
    return pseudo.shape + (weight - (pseudo.weight == 0)) / 2


def posterior_residual(cpd: LinearGaussianCPD, moments: Moments, pseudo: RegressionPseudo) -> float:
    """Return how far an estimate is from the conjugate formula, worked out anew by least squares on pseudo-rows.

    Slopes are compared relative to their size and their posterior standard deviation, the level at the data's mean
    relative to what it is the sum of, variances relative to themselves. Configurations without rows under a free
    intercept are left to ``unseen_parents``.
    """
    q = len(pseudo.centre)
    weight = moments.weight.reshape(-1)
    mean, rest = moments.mean.reshape(-1, q + 1), moments.rest.reshape(-1, q + 1)
    scatter = moments.scatter.reshape(-1, q + 1, q + 1)
    worst = 0.0
    for row in _rows_to_prove(cpd, weight):
        n = float(weight[row])
        if not shape_after(pseudo, n) > 0 or (not n > 0 and not pseudo.weight > 0):
            continue
        origin = mean[row] if n > 0 else np.append(pseudo.centre, pseudo.level)
        stacked = _stacked(pseudo, n, origin, rest[row], scatter[row])
        worst = max(worst, _row_residual(cpd, row, origin, pseudo, n, *_least_squares(stacked)))
    return worst


def _rows_to_prove(cpd: LinearGaussianCPD, weight: Floats) -> list[int]:
    """Return the configurations with rows, and one without: equal ones without rows have the same answer."""
    seen, empty = np.flatnonzero(weight > 0), np.flatnonzero(~(weight > 0))
    numbers = np.column_stack([cpd.intercept, cpd.coefficients, cpd.variance])[empty]
    odd = (numbers != numbers[:1]).any(axis=1)
    return [*seen.tolist(), *empty[:1].tolist(), *empty[odd].tolist()]


def _stacked(pseudo: RegressionPseudo, n: float, origin: Floats, rest: Floats, scatter: Floats) -> Floats:
    """Return rows (1, parents, child), measured from ``origin``, whose squares add up to prior and data."""
    q = len(pseudo.centre)
    inner = _root(pseudo.scatter)
    prior = math.sqrt(pseudo.weight) * np.concatenate([[1.0], np.append(pseudo.centre, pseudo.level) - origin])
    rows = [prior[None, :], np.column_stack([np.zeros(q), inner, inner @ pseudo.slopes])]
    if n > 0:
        rows.append(math.sqrt(n) * np.concatenate([[1.0], rest])[None, :])
        rows.append(np.column_stack([np.zeros(q + 1), _root(scatter)]))
    stacked = np.concatenate(rows)
    # Least squares keeps the digits of small rows when large ones come first (Cox and Higham, 1998).
    return stacked[np.argsort(-np.abs(stacked).max(axis=1), kind="stable")]


def _root(matrix: Floats) -> Floats:
    """Return R with RᵀR equal to a matrix that may be singular; the units of its columns mean nothing."""
    roots = np.sqrt(np.diag(matrix))
    units = np.where(roots > 0, roots, 1.0)
    values, vectors = np.linalg.eigh(matrix / units[:, None] / units)
    root: Floats = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T * units
    return root


def _least_squares(stacked: Floats) -> tuple[Floats, Floats, float]:
    """Return the solution of (1, parents) β ≈ child, the root of (XᵀX)⁻¹'s diagonal, and the squares left."""
    from scipy.linalg import qr, solve_triangular

    k = stacked.shape[1] - 1
    order = qr(stacked[:, :-1], mode="r", pivoting=True)[1]
    r: Floats = np.asarray(np.linalg.qr(stacked[:, [*order, k]], mode="r"))
    beta, spread = np.empty(k), np.empty(k)
    beta[order] = solve_triangular(r[:k, :k], r[:k, k])
    spread[order] = np.sqrt((solve_triangular(r[:k, :k], np.eye(k)) ** 2).sum(axis=1))
    return beta, spread, float((r[k:, k] ** 2).sum())


def _row_residual(
    cpd: LinearGaussianCPD,
    row: int,
    origin: Floats,
    pseudo: RegressionPseudo,
    n: float,
    beta: Floats,
    spread: Floats,
    squares: float,
) -> float:
    shape, scale = shape_after(pseudo, n), pseudo.scale + squares / 2
    k = len(beta)
    divisor = shape + 1 + k / 2 if pseudo.point == "map" else shape - 1
    if not divisor > 0:
        return math.inf
    variance = scale / divisor
    slopes, intercept = cpd.coefficients[row], float(cpd.intercept[row])
    parts = slopes * origin[:-1]
    level = math.fsum([intercept, *parts.tolist(), -float(origin[-1])]) - float(beta[0])
    size = abs(intercept) + float(np.abs(parts).sum()) + abs(float(origin[-1])) + math.sqrt(variance)
    sd = math.sqrt(variance) * spread[1:]
    gaps = np.abs(slopes - beta[1:]) / (np.abs(beta[1:]) + sd)
    all_gaps: list[float] = [abs(level) / size, *gaps.tolist(), abs(float(cpd.variance[row]) / variance - 1)]
    return math.inf if any(map(math.isnan, all_gaps)) else max(all_gaps)
