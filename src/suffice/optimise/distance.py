"""How far an estimate is from the optimum that it claims, in nats, and from a posterior mean, in standard deviations.

Both are sums and ratios of differences, never differences of sums, so that small distances keep their digits whatever
the weight of the data. Nothing here knows of models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TypedDict, overload

import numpy as np
from numpy.typing import NDArray

from suffice.types import Bools, Floats, Ints

Reals = NDArray[np.floating]
"""Numbers of whichever precision they were found in."""

EPS = 2.0**-52
SMALL = 1e-4
"""Relative differences below this are taken by their series."""
ENOUGH, MANY = 1e-5, 1000
"""Upper bounds below so many nats are good enough; systems of more equations are not solved to improve on them."""


class DistanceParts(TypedDict):
    """A distance under the names that a certificate gives its parts."""

    decrement: float | None
    decrement_worst: str
    deviation: float | None
    deviation_worst: str


@dataclass(frozen=True)
class Distance:
    """A distance in nats, added up over independent blocks of parameters, and the largest one in posterior deviations.

    Attributes
    ----------
    nats : float or None
        The Newton decrement, or the loss itself where it has a formula; None where nothing was an optimum.
    where : str
        The block that contributes most.
    most : float
        What that block contributes.
    sds : float or None
        The largest distance from a posterior mean in posterior standard deviations; None where there was none.
    sds_where : str

    Examples
    --------
    >>> total = Distance.in_nats(0.25, "A") + Distance.in_nats(0.5, "B") + Distance.in_sds(0.01, "C")
    >>> total.nats, total.where, total.sds, total.sds_where
    (0.75, 'B', 0.01, 'C')
    """

    nats: float | None = None
    where: str = ""
    most: float = -1.0
    sds: float | None = None
    sds_where: str = ""

    @classmethod
    def in_nats(cls, size: float, where: str) -> Distance:
        """Return the distance of one block from its optimum; what is not a number is infinite."""
        nats = _finite(size)
        return cls(nats, where, nats)

    @classmethod
    def in_sds(cls, size: float, where: str) -> Distance:
        """Return the distance of one block from a posterior mean; what is not a number is infinite."""
        return cls(sds=_finite(size), sds_where=where)

    @classmethod
    def of_rows(cls, sizes: Reals, name: Callable[[int], str], of_mean: bool = False) -> Distance:
        """Return the distance of many blocks, in nats or in standard deviations; the worst of them is named."""
        if not len(sizes):
            return cls.in_sds(0.0, "") if of_mean else cls.in_nats(0.0, "")
        known = np.where(np.isnan(sizes), math.inf, sizes).astype(np.float64)
        worst = int(np.argmax(known))
        if of_mean:
            return cls.in_sds(known[worst], name(worst))
        return cls(float(known.sum()), name(worst), float(known[worst]))

    @classmethod
    def total(cls, parts: Iterable[Distance]) -> Distance:
        """Return the distance of several parts together."""
        return reduce(add, parts, cls())

    def __add__(self, other: Distance) -> Distance:
        first, second = (self, other) if self.most >= other.most else (other, self)
        above, below = (self, other) if (self.sds or 0.0) >= (other.sds or 0.0) else (other, self)
        return Distance(
            nats=None if self.nats is None and other.nats is None else (self.nats or 0.0) + (other.nats or 0.0),
            where=first.where or second.where,
            most=first.most,
            sds=below.sds if above.sds is None else above.sds,
            sds_where=above.sds_where or below.sds_where,
        )

    def inside(self, place: str) -> Distance:
        """Return the same distance with a place put before the names of its blocks."""
        return replace(self, where=_joined(place, self.where), sds_where=_joined(place, self.sds_where))

    def as_measured(self) -> DistanceParts:
        """Return the numbers under the names that a certificate gives them."""
        return {
            "decrement": self.nats,
            "decrement_worst": self.where,
            "deviation": self.sds,
            "deviation_worst": self.sds_where,
        }


def _finite(size: float) -> float:
    return math.inf if math.isnan(size) else float(size)


def _joined(place: str, where: str) -> str:
    return ", ".join(word for word in (place, where) if word)


def excess(difference: Reals) -> Reals:
    """Return (1 + d) log(1 + d) − d, the divergence of a ratio 1 + d ≥ 0 from one, with all its digits."""
    d: Reals = np.asarray(difference)
    series: Reals = d * d * (0.5 - d / 6 + d * d / 12)
    small = np.abs(d) < SMALL
    if small.all():
        return series
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = (1 + d) * np.log1p(np.maximum(d, -1)) - d
    exact = np.where(d <= -1, np.where(d == -1, 1.0, math.nan), exact)
    return np.where(small, series, exact)


def shortfall(difference: Reals | Sequence[float] | float) -> Reals:
    """Return d − log(1 + d), which is zero at d = 0 and infinite at −1, with all its digits."""
    d: Reals = np.asarray(difference)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = d - np.log1p(d)
    return np.where(np.abs(d) < SMALL, d * d / 2 * (1 - 2 * d / 3 + d * d / 2), exact)


def table_losses(counts: Floats, theta: Floats, repeats: Floats | Ints | None = None) -> Floats:
    """Return n KL(m/n ‖ θ) of every row: by how much Σ m log θ falls short of its maximum; shape (n_rows,).

    Cell by cell it is n θ ((1 + d) log(1 + d) − d) with d = m/(n θ) − 1, which is never negative. A cell with counts
    and without probability costs an infinity.

    Parameters
    ----------
    counts, theta : array, shape (n_rows, n_states)
        Counts m, or pseudo-counts added to them, and probabilities.
    repeats : array, shape (n_states,), optional
        How many equal states each column stands for.

    Examples
    --------
    >>> table_losses(np.array([[1e10, 9.0], [1.0, 1.0], [3.0, 0.0]]), np.array([[1.0, 9e-11], [1.0, 0.0], [0.5, 0.5]]))
    array([12.62326583,         inf,  2.07944154])
    """
    counts = np.asarray(counts, np.float64)
    times = np.ones(counts.shape[1]) if repeats is None else repeats
    n = (counts * times).sum(axis=1, keepdims=True, dtype=np.longdouble).astype(np.float64)
    expected = n * theta
    is_zero = expected == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (counts - expected) / expected
        ratio[is_zero] = 0.0
        cells = expected * excess(ratio)
    cells[is_zero & (counts != 0)] = math.inf
    losses: Floats = np.where(n[:, 0] == 0, 0.0, cells.sum(axis=1) if repeats is None else (cells * times).sum(axis=1))
    return losses


def table_deviations(counts: Floats, theta: Floats, repeats: Floats | Ints | None = None) -> Floats:
    """Return how many posterior standard deviations θ is from the mean m/n of Dirichlet(m), the largest of every row.

    The standard deviation is √(μ (1 − μ) / (n + 1)). What the rounding of a probability explains is left out.
    A probability of zero is infinitely far from a mean that is not.
    """
    counts = np.asarray(counts, np.float64)
    times = np.ones(counts.shape[1]) if repeats is None else repeats
    n = (counts * times).sum(axis=1, keepdims=True, dtype=np.longdouble)
    others = n - counts
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (counts / n).astype(np.float64)
        sd = np.sqrt(mean * (others / n).astype(np.float64) / (n + 1)).astype(np.float64)
        missed = np.abs(theta - mean) - 4 * EPS * mean
        sds = np.where(missed > 0, missed / sd, 0.0)
    sds = np.where((theta == 0) & (mean > np.finfo(np.float64).tiny), math.inf, sds)
    sds = np.where(np.isnan(theta), math.inf, sds)
    found: Floats = np.where(n[:, 0] == 0, 0.0, sds.max(axis=1, initial=0.0))
    return found


def quadratic_loss(slope: Reals, curvature: Reals, rounding: float = 0.0) -> float:
    """Return ½ gᵀ H⁻¹ g; the units of the parameters mean nothing.

    ``rounding`` is what rounding may leave of a slope divided by the root of its curvature. Along directions without
    curvature no more than that may be left of g; more of it is an infinite distance.
    """
    slope, curvature = np.asarray(slope, np.float64), np.asarray(curvature, np.float64)
    if not len(slope) or not slope.any():
        return 0.0
    if not (np.isfinite(slope).all() and np.isfinite(curvature).all()):
        return math.inf
    roots = np.sqrt(np.maximum(np.diag(curvature), 0.0))
    units = np.where(roots > 0, roots, 1.0)
    g = slope / units
    values, vectors = np.linalg.eigh(curvature / units[:, None] / units)
    along = beyond(vectors.T @ g, rounding)
    flat = values <= 4 * len(g) * EPS * max(values[-1], 0.0)
    if along[flat].any():
        return math.inf
    return float((along[~flat] ** 2 / values[~flat]).sum() / 2)


def matrix_loss(weight: float, found: Reals, gap: Reals) -> float:
    """Return (n/4) tr((Σ⁻¹ G)²), the Newton decrement of a covariance matrix Σ that misses its optimum by G.

    Where entries of Σ⁻¹ are known to be zero, G is zero there; the number is then an upper bound.
    """
    if not gap.any():
        return 0.0
    roots = np.sqrt(np.diag(found))
    if not (np.isfinite(gap).all() and (roots > 0).all()):
        return math.inf
    unit = roots[:, None] * roots
    try:
        solved = np.linalg.solve(found / unit, gap / unit)
    except np.linalg.LinAlgError:
        return math.inf
    return float(weight / 4 * np.einsum("ij,ji->", solved, solved))


@overload
def beyond(size: Floats, rounding: Floats | float) -> Floats: ...


@overload
def beyond(size: Reals | float, rounding: Reals | float) -> Reals: ...


def beyond(size: Reals | float, rounding: Reals | float) -> Reals:
    """Return numbers where they are more than rounding explains, and zero elsewhere; NaN stays."""
    return np.where(np.abs(size) <= rounding, 0.0, size)


# Covariance matrices ------------------------------------------------------------------------------------------


def mean_loss(weight: float, covariance: Reals, shift: Reals) -> float:
    """Return (n/2) δᵀ Σ⁻¹ δ, the loss of a mean that is off by δ."""
    if not shift.any():
        return 0.0
    roots = np.sqrt(np.diag(covariance))
    if not (np.isfinite(shift).all() and (roots > 0).all()):
        return math.inf
    units = shift / roots
    try:
        solved = np.linalg.solve(covariance / roots[:, None] / roots, units)
    except np.linalg.LinAlgError:
        return math.inf
    return float(weight / 2 * (units @ solved))


def sparse_matrix_loss(weight: float, covariance: Reals, gap: Reals, free: Bools) -> float:
    """Return the Newton decrement of a precision matrix whose entries are free in some places only.

    ``gap`` is how far the covariance matrix misses there. The cheap upper bound of `matrix_loss` is returned where it
    is small, or where the free entries are many; otherwise their equations are solved.
    """
    masked = np.where(free, gap, 0.0)
    bound = matrix_loss(weight, covariance, masked)
    rows, columns = np.nonzero(np.triu(free))
    if bound <= ENOUGH or len(rows) > MANY or free.all() or not math.isfinite(bound):
        return bound
    twice = np.where(rows == columns, 1.0, 2.0)
    slope = weight / 2 * twice * masked[rows, columns]
    pairs = covariance[np.ix_(rows, rows)] * covariance[np.ix_(columns, columns)]
    crossed = covariance[np.ix_(rows, columns)] * covariance[np.ix_(columns, rows)]
    return quadratic_loss(slope, weight / 4 * np.outer(twice, twice) * (pairs + crossed))


def matrix_deviation(dof: float, found: Reals, wanted: Reals, rounding: Reals | float) -> float:
    """Return the largest distance of an entry of a matrix from its posterior mean in standard deviations.

    Of a Wishart distribution with ν degrees of freedom they are √((W_ij² + W_ii W_jj) / ν); the inverse distribution's
    are larger than that with ν − p.
    """
    diagonal = np.diag(wanted)
    sd = np.sqrt((wanted**2 + np.outer(diagonal, diagonal)) / max(dof, 1e-300))
    off = beyond(found - wanted, rounding)
    if not (np.isfinite(off).all() and (sd > 0).all()):
        return math.inf
    return float((np.abs(off) / sd).max(initial=0.0))
