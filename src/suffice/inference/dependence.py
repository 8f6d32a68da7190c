"""Features that say the same: the linear relations between them, found in their covariance matrix.

Σ c_j f_j(x) is the same number for every configuration x exactly when its variance is zero under some distribution that
is positive everywhere. The null vectors of a covariance matrix are therefore the relations between the features, and
the weights of a log-linear model are determined up to them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import ArgumentError, require_fraction, the_argument
from suffice.types import Bools, Floats

CONSTANT = 1e-15
"""A variance below this part of the squared size of a feature is the round-off of a variance that is zero."""

LEAST = 1e-6
"""Where all features are constant, their variances have no size but that of round-off to compare with."""

ROUND = 1e-8
"""Coefficients this close to a simple fraction are that fraction; those this close to zero are zero."""

MAX_DENOMINATOR = 12
BLOCK = 64


@dataclass(frozen=True)
class Relation:
    """Σ coefficients · features[indices] is constant.

    Attributes
    ----------
    indices : tuple of int
        The features, in ascending order but for the last: it follows from the others, and no other relation holds it.
    coefficients : tuple of float
        One a feature; the last is one.
    """

    indices: tuple[int, ...]
    coefficients: tuple[float, ...]


@dataclass(frozen=True)
class Dependence:
    """The number of features that are independent, and how the others follow from them."""

    rank: int
    relations: tuple[Relation, ...]

    @property
    def independent(self) -> tuple[int, ...]:
        """The features that follow from no others, in ascending order: as many as the rank."""
        redundant = {relation.indices[-1] for relation in self.relations}
        return tuple(j for j in range(self.rank + len(redundant)) if j not in redundant)


def dependence(covariance: ArrayLike, tol: float = 1e-11, scale: ArrayLike | None = None) -> Dependence:
    """Find which features follow from others, and how.

    Parameters
    ----------
    covariance : array, shape (k, k)
        Of the features, under any distribution that is positive everywhere. One without very rare configurations is
        best, such as the uniform one: what happens less often than about `tol` is not seen.
    tol : float
        A feature is redundant when others leave at most this share of its variance unexplained.
    scale : array, shape (k,), optional
        The size of each feature, for instance its largest value less its smallest. A feature is constant when its
        variance is zero to round-off in this scale; by default, the largest standard deviation of all, at least 1e-6.

    Returns
    -------
    Dependence
        As few relations as say everything, one for each redundant feature, in ascending order of these. Later features
        are explained by earlier ones, unless that would not be accurate.

    Notes
    -----
    Cholesky's decomposition of the correlations, column by column, meets a pivot of zero where a feature follows from
    those before it. Solving for it gives the reduced echelon form of the null space, mostly of simple fractions, which
    are taken where they are within 1e-8 and leave the variance zero. When the features before are so close to a
    relation themselves that the answer fails its check, the pivots are taken by size instead.

    Examples
    --------
    >>> weights = np.array([1, 1, 1, 1]) / 4
    >>> features = np.array([[0, 0, 1, 5], [1, 0, 0, 5], [0, 1, -2, 5], [1, 1, -3, 5]])
    >>> gaps = features - weights @ features
    >>> found = dependence(gaps.T @ np.diag(weights) @ gaps)
    >>> found.rank, [describe(relation, "abcd") for relation in found.relations]
    (2, ['a + 3·b + c = constant', 'd = constant'])
    """
    matrix = np.asarray(covariance, dtype=np.float64)
    sizes = None if scale is None else np.asarray(scale, dtype=np.float64)
    require_fraction("tol", tol)
    _require_shapes(matrix, sizes)
    variances = np.maximum(matrix.diagonal(), 0.0)
    varies = variances > CONSTANT * (variances.max(initial=LEAST**2) if sizes is None else sizes**2)
    deviations = np.sqrt(variances[varies])
    correlations = matrix[np.ix_(varies, varies)] / deviations[:, None] / deviations
    correlations = (correlations + correlations.T) / 2

    numbers = np.flatnonzero(varies)
    relations = [Relation((int(j),), (1.0,)) for j in np.flatnonzero(~varies)]
    basis, redundant = _relations(correlations, deviations, tol)
    for row, last in zip(basis, redundant, strict=True):
        others = [int(i) for i in np.flatnonzero(row) if i != last]
        places = tuple(int(numbers[i]) for i in (*others, last))
        relations.append(Relation(places, tuple(float(row[i]) for i in (*others, last))))
    relations.sort(key=lambda relation: relation.indices[-1])
    return Dependence(len(matrix) - len(relations), tuple(relations))


def describe(relation: Relation, names: Sequence[str]) -> str:
    """Write a relation as an equation.

    Examples
    --------
    >>> describe(Relation((0, 1), (1.0, 1.0)), ["B=1", "B=2"])
    'B=1 + B=2 = constant'
    >>> describe(Relation((0, 1, 2), (-1.0, 2.0, 1.0)), "abc")
    'c = a − 2·b + constant'
    """
    pairs = list(zip(relation.coefficients, (names[j] for j in relation.indices), strict=True))
    if all(coefficient > 0 for coefficient, _ in pairs):
        return f"{combination(pairs)} = constant"
    # The coefficient of the last is one.
    return f"{pairs[-1][1]} = {combination([(-coefficient, name) for coefficient, name in pairs[:-1]])} + constant"


def combination(terms: Sequence[tuple[float, str]]) -> str:
    """Write Σ coefficient · name.

    >>> combination([(-1.0, "a"), (0.5, "b"), (-0.3141, "c")])
    '−a + 1/2·b − 0.3141·c'
    """
    text = ""
    for coefficient, name in terms:
        sign = " − " if coefficient < 0 else " + "
        size = abs(coefficient)
        text += (sign if text else sign.strip(" +")) + (name if size == 1 else f"{_number(size)}·{name}")
    return text


# The steps ----------------------------------------------------------------------------------------------------


def _require_shapes(matrix: Floats, sizes: Floats | None) -> None:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise ArgumentError(
            the_argument("covariance"),
            f" must be a square matrix of finite numbers, one row a feature. Got {_seen(matrix)} instead.",
        )
    if sizes is not None and (sizes.shape != matrix.shape[:1] or not (np.isfinite(sizes) & (sizes >= 0)).all()):
        raise ArgumentError(
            f"The 'scale' argument must hold one finite size, not negative, for each of the {len(matrix)} features. "
            f"Got {_seen(sizes)} instead."
        )


def _seen(array: Floats) -> str:
    odd = array[~np.isfinite(array) | (array < 0)] if array.ndim == 1 else array[~np.isfinite(array)]
    return f"shape {array.shape}" + (f" with {float(odd[0])!r}" if odd.size else "")


def _relations(correlations: Floats, deviations: Floats, tol: float) -> tuple[Floats, list[int]]:
    """Return the relations between features that vary, one a row, and the feature that each of them explains."""
    first = _earliest(correlations, tol)
    second = _largest(correlations, tol)
    # The second is the safer count; the first is easier to read, and is taken when it finds the same and passes.
    for independent in (first, second):
        rows, redundant = _solved(correlations, independent)
        if independent is second or (
            np.count_nonzero(independent) == np.count_nonzero(second) and _hold(rows, correlations, tol).all()
        ):
            break
    exact = _simplified(rows, redundant, deviations)
    rounded = exact * deviations
    rounded /= rounded[np.arange(len(rows)), redundant][:, None]
    holds = _hold(rounded, correlations, tol)
    raw = rows / deviations * deviations[redundant][:, None]
    return np.where(holds[:, None], exact, raw), redundant


def _earliest(correlations: Floats, tol: float) -> Bools:
    """Return which features do not follow from those before them: the columns of a Cholesky factor, by blocks."""
    left = correlations.copy()
    chosen = np.zeros(len(left), dtype=np.bool_)
    for start in range(0, len(left), BLOCK):
        width = min(BLOCK, len(left) - start)
        panel = left[start:, start : start + width].copy()
        for j in range(width):
            pivot = panel[j, j]
            if pivot <= tol:
                panel[:, j] = 0.0
                continue
            chosen[start + j] = True
            panel[:, j] /= math.sqrt(pivot)
            panel[:, j + 1 :] -= np.outer(panel[:, j], panel[j + 1 : width, j])
        below = panel[width:]
        left[start + width :, start + width :] -= below @ below.T
    return chosen


def _largest(correlations: Floats, tol: float) -> Bools:
    """Return independent features, as many as there are: at each step the one that is explained least."""
    from scipy.linalg.lapack import dpstrf

    chosen = np.zeros(len(correlations), dtype=np.bool_)
    if len(chosen):
        _, order, rank, _ = dpstrf(correlations, tol=tol)
        chosen[order[:rank] - 1] = True
    return chosen


def _solved(correlations: Floats, independent: Bools) -> tuple[Floats, list[int]]:
    """Return, one a row, each other feature less what the independent ones make of it, all of variance one."""
    redundant = np.flatnonzero(~independent)
    rows = np.zeros((len(redundant), len(correlations)))
    if len(redundant):
        known, wanted = correlations[np.ix_(independent, independent)], correlations[np.ix_(independent, ~independent)]
        # A general solver does not mind a matrix that round-off has made indefinite.
        rows[:, independent] = -np.linalg.solve(known, wanted).T
        rows[np.arange(len(redundant)), redundant] = 1.0
    return rows, [int(j) for j in redundant]


def _hold(rows: Floats, correlations: Floats, tol: float) -> Bools:
    """Whether the variance of each combination is zero, as a share of those of its terms."""
    variances = np.einsum("ij,ij->i", rows @ correlations, rows)
    return np.asarray(np.abs(variances) <= tol * np.einsum("ij,ij->i", rows, rows))


def _simplified(rows: Floats, redundant: list[int], deviations: Floats) -> Floats:
    """Return the coefficients of the features as they are given, as simple fractions where they are close to one."""
    rows = np.where(np.abs(rows) <= ROUND, 0.0, rows) / deviations * deviations[redundant][:, None]
    simple, closest = rows.copy(), np.zeros(rows.shape, dtype=np.bool_)
    for denominator in range(1, MAX_DENOMINATOR + 1):
        whole = np.rint(rows * denominator)
        close = ~closest & (whole != 0) & (np.abs(whole / denominator - rows) <= ROUND * np.abs(rows))
        simple[close] = whole[close] / denominator
        closest |= close
    return simple


def _number(value: float) -> str:
    fraction = Fraction(value).limit_denominator(MAX_DENOMINATOR)
    return str(fraction) if float(fraction) == value else f"{value:.6g}"
