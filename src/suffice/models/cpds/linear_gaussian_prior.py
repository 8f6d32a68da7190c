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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

from suffice.models.cpds.exact_regression import MAX_EXACT, in_fractions
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.optimise.distance import EPS, Distance, beyond, shortfall
from suffice.stats.moments import Moments
from suffice.types import Array, Floats
from suffice.values import Estimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

W = TypeVar("W", float, Floats)


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
    point: Estimate = "mean"

    @classmethod
    def from_precision(
        cls, precision: ArrayLike, mean: ArrayLike, shape: float, scale: float, point: Estimate = "mean"
    ) -> Self:
        """Build from Λ, shape (q + 1, q + 1), and m, shape (q + 1,), intercepts first."""
        matrix, m = np.array(precision, np.float64), np.array(mean, np.float64)
        weight = float(matrix[0, 0])
        centre = matrix[1:, 0] / weight if weight > 0 else np.zeros(len(m) - 1)
        scatter = matrix[1:, 1:] - weight * np.outer(centre, centre)
        return cls(weight, centre, scatter, float(m[0] + m[1:] @ centre), m[1:], shape, scale, point)

    def of_row(self, row: int) -> RegressionPseudo:
        """Return the prior of one configuration of the discrete parents."""
        return self

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


@dataclass(frozen=True, eq=False)
class PseudoByRow(RegressionPseudo):
    """Priors that differ between the configurations of the discrete parents; the numbers are those of the first."""

    rows: tuple[RegressionPseudo, ...] = ()

    @classmethod
    def of(cls, rows: Sequence[RegressionPseudo]) -> PseudoByRow:
        """Put the priors of all configurations together, in their order."""
        return cls(**vars(rows[0]), rows=tuple(rows))

    def of_row(self, row: int) -> RegressionPseudo:
        """Return the prior of one configuration."""
        return self.rows[row]


def shape_after(pseudo: RegressionPseudo, weight: W) -> W:
    """Return the shape of σ² after rows of some weight: half a row is spent on an intercept that was free."""
    return pseudo.shape + (weight - (pseudo.weight == 0)) / 2


def posterior_residual(cpd: LinearGaussianCPD, moments: Moments, pseudo: RegressionPseudo) -> float:
    """Return how far an estimate is from the conjugate formula, worked out anew by least squares on pseudo-rows.

    Where child and parents of a configuration are nearly collinear, the least squares lose the digits of the variance,
    so they are corrected by their equations in exact fractions, unless there are too many numbers for those.
    Slopes are compared relative to their size and their posterior standard deviation, the level at the data's mean
    relative to what it is the sum of, variances relative to themselves. Configurations without rows under a free
    intercept are left to ``unseen_parents``.
    """
    return max((row.residual(cpd) for row in _posterior_rows(cpd, moments, pseudo)), default=0.0)


def posterior_distance(cpd: LinearGaussianCPD, moments: Moments, pseudo: RegressionPseudo) -> Distance:
    """Return the Newton decrement of a posterior mode, or how far a posterior mean is off in standard deviations.

    The coefficients' distance is that of Mahalanobis, with their posterior covariance: no coefficient, and no
    prediction, is further off than that. σ² has the relative standard deviation 1/√(a − 2), here taken as 1/√a.
    """
    found = Distance.in_sds(0.0, "") if pseudo.point == "mean" else Distance.in_nats(0.0, "")
    for row in _posterior_rows(cpd, moments, pseudo):
        name = cpd.describe_row(row.row) if cpd.family.discrete else ""
        found += (
            Distance.in_sds(row.deviation(cpd), name)
            if pseudo.point == "mean"
            else Distance.in_nats(row.decrement(cpd), name)
        )
    return found


def _posterior_rows(cpd: LinearGaussianCPD, moments: Moments, prior: RegressionPseudo) -> Iterator[_Posterior]:
    """Yield the posterior of every configuration that the data or the prior determine."""
    q = len(prior.centre)
    weight = moments.weight.reshape(-1)
    mean, rest = moments.mean.reshape(-1, q + 1), moments.rest.reshape(-1, q + 1)
    scatter = moments.scatter.reshape(-1, q + 1, q + 1)
    rows = range(len(weight)) if isinstance(prior, PseudoByRow) else _rows_to_prove(cpd, weight)
    is_exact = len(rows) * (q + 1) ** 2 <= MAX_EXACT
    for row in rows:
        n, pseudo = float(weight[row]), prior.of_row(row)
        if not shape_after(pseudo, n) > 0 or (not n > 0 and not pseudo.weight > 0):
            continue
        origin = mean[row] if n > 0 else np.append(pseudo.centre, pseudo.level)
        stacked = _stacked(pseudo, n, origin, rest[row], scatter[row])
        beta, root, squares = _least_squares(stacked)
        if is_exact:
            beta, squares = _corrected(pseudo, n, origin, rest[row], scatter[row], beta, root)
        shape, scale = shape_after(pseudo, n), pseudo.scale + squares / 2
        divisor = shape + 1 + len(beta) / 2 if pseudo.point == "map" else shape - 1
        yield _Posterior(row, origin, beta, root, shape, divisor, scale / divisor if divisor > 0 else math.nan)


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
    roots = np.sqrt(np.maximum(np.diag(matrix), 0.0))  # of expected moments rounding may leave less than nothing
    units = np.where(roots > 0, roots, 1.0)
    values, vectors = np.linalg.eigh(matrix / units[:, None] / units)
    root: Floats = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T * units
    return root


def _least_squares(stacked: Floats) -> tuple[Floats, Floats, float]:
    """Return the solution of (1, parents) β ≈ child, R with RᵀR = XᵀX, and the squares left."""
    from scipy.linalg import qr, solve_triangular

    k = stacked.shape[1] - 1
    order = qr(stacked[:, :-1], mode="r", pivoting=True)[1]
    r: Floats = np.asarray(np.linalg.qr(stacked[:, [*order, k]], mode="r"))
    beta, root = np.empty(k), np.empty((k, k))
    beta[order] = solve_triangular(r[:k, :k], r[:k, k])
    root[:, order] = r[:k, :k]
    return beta, root, float((r[k:, k] ** 2).sum())


def _corrected(
    pseudo: RegressionPseudo, n: float, origin: Floats, rest: Floats, scatter: Floats, beta: Floats, root: Floats
) -> tuple[Floats, float]:
    """Return the solution and the squares left, from the normal equations at ``beta`` in exact fractions."""
    level, along = Fraction(float(beta[0])), _fractions(np.append(-beta[1:], 1.0))
    apart = _fractions(pseudo.slopes) + along[:-1]
    cross, pull = _fractions(scatter).dot(along), _fractions(pseudo.scatter).dot(apart)
    squares = max(along.dot(cross), Fraction(0)) + apart.dot(pull)  # rounded moments may leave less than nothing
    by_level, by_slopes = Fraction(0), cross[:-1] + pull  # half the fall of the squares
    centre = _fractions(np.append(pseudo.centre, pseudo.level)) - _fractions(origin)
    for weight, place in ((Fraction(n), _fractions(rest)), (Fraction(pseudo.weight), centre)):
        gap = along.dot(place) - level
        squares += weight * gap * gap
        by_level += weight * gap
        by_slopes += weight * gap * place[:-1]
    units = np.sqrt((root**2).sum(axis=0))
    fall = np.append(float(by_level), by_slopes.astype(np.float64)) / units
    half = np.linalg.solve((root / units).T, fall)
    return beta + np.linalg.solve(root / units, half) / units, float(squares) - float(half @ half)


def _fractions(values: Floats) -> Array:
    return in_fractions(values, exact=True)


@dataclass(frozen=True, eq=False)
class _Posterior:
    """The posterior of one configuration's regression, its child and parents measured from ``origin``.

    ``beta`` is the mean of level and slopes, RᵀR/σ² their precision with R ``root``, ``shape`` that of σ², ``variance``
    the estimate of σ², a scale divided by ``divisor``.
    """

    row: int
    origin: Floats
    beta: Floats
    root: Floats
    shape: float
    divisor: float
    variance: float

    def _off(self, cpd: LinearGaussianCPD) -> tuple[float, float, Floats]:
        """Return how far the level is off, what it is the sum of, and how far the slopes are."""
        slopes, intercept = cpd.coefficients[self.row], float(cpd.intercept[self.row])
        parts = slopes * self.origin[:-1]
        level = math.fsum([intercept, *parts.tolist(), -float(self.origin[-1])]) - float(self.beta[0])
        size = abs(intercept) + float(np.abs(parts).sum()) + abs(float(self.origin[-1]))
        return level, size, slopes - self.beta[1:]

    def residual(self, cpd: LinearGaussianCPD) -> float:
        """Return the largest miss of level, slopes and variance, relative to their sizes."""
        if not self.divisor > 0:
            return math.inf
        level, size, slopes = self._off(cpd)
        units = np.sqrt((self.root**2).sum(axis=0))
        sd = math.sqrt(self.variance) * (np.sqrt((np.linalg.inv(self.root / units) ** 2).sum(axis=1)) / units)[1:]
        gaps = np.abs(slopes) / (np.abs(self.beta[1:]) + sd)
        relative = abs(float(cpd.variance[self.row]) / self.variance - 1)
        all_gaps: list[float] = [abs(level) / (size + math.sqrt(self.variance)), *gaps.tolist(), relative]
        return math.inf if any(map(math.isnan, all_gaps)) else max(all_gaps)

    def _squares(self, cpd: LinearGaussianCPD) -> float:
        """Return (β − β̂)ᵀ RᵀR (β − β̂), without what the rounding of the level explains."""
        level, size, slopes = self._off(cpd)
        off = np.append(beyond(np.array(level), 2 * EPS * size), slopes)
        return float(((self.root @ off) ** 2).sum())

    def deviation(self, cpd: LinearGaussianCPD) -> float:
        """Return the distance of a posterior mean in standard deviations."""
        if not self.divisor > 0:
            return math.inf
        of_variance = abs(float(cpd.variance[self.row]) / self.variance - 1) * math.sqrt(self.shape)
        found = math.sqrt(self._squares(cpd) / self.variance), of_variance
        return math.inf if any(map(math.isnan, found)) else max(found)

    def decrement(self, cpd: LinearGaussianCPD) -> float:
        """Return the Newton decrement of a posterior mode."""
        v = float(cpd.variance[self.row])
        if not (self.divisor > 0 and v > 0):
            return math.inf
        return self._squares(cpd) / v / 2 + self.divisor * float(shortfall(self.variance / v - 1))
