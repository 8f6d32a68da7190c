"""A pass over the rows of a softmax regression that its fitter did not make: formulas as they stand, piece by piece."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify.claim import Claim
from suffice.data.block import Block
from suffice.models.basis import evaluate, in_pieces, sparse_terms
from suffice.models.cpds.softmax_search import WeightedCases
from suffice.models.softmax_model import SoftmaxModel
from suffice.stats.needs import Sum
from suffice.stats.source import BlockSource
from suffice.stats.sums import Sums
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.structures.softmax_regression import SoftmaxClasses

PIECE_NUMBERS = 1 << 17
MOST_CURVATURE = 500
"""Terms up to which the curvature is looked at."""
MANY_ROWS, EVERY = 20_000, 4
"""From so many rows on, every fourth is enough for a bound of the curvature."""
INFORMED = 1e-6
"""Relative differences up to which an information is right; rounding is felt where a probability is next to one."""
POWER = 8
"""The largest of some numbers is at most the root of this power of the sum of their powers, which can be added up."""
FEW_CASES, MOST_CASES = 200_000, 3_000_000
"""Rows times terms times classes up to which a linear program is quick, and up to which it is asked at all."""


@dataclass(frozen=True, eq=False)
class Recomputed:
    """What the pass found; derivatives and curvature over N.

    Attributes
    ----------
    counts : array, shape (K,)
        The weight of every class.
    mean, units : arrays, shape (T,)
        The mean and the spread of every term, the spread around zero without intercepts; one where it does not vary.
    by_intercept, by_weights : arrays, shapes (K,) and (T, K)
        Derivatives of −Σ log p by the intercepts, and by the weights while scores at the mean terms are held.
    raw : array, shape (T + 1, K), or (T, K) without intercepts
        Derivatives by intercepts and weights.
    curvature : array, shape (T + 1,) * 2 or (T,) * 2, or None
        Σ w min(p) f fᵀ over some of the rows.
    extents : array, shape (T + 1,) or (T,)
        Bounds of |f|.
    """

    total: float
    log_likelihood: float
    normalisation: float
    counts: Floats
    mean: Floats
    units: Floats
    by_intercept: Floats
    by_weights: Floats
    raw: Floats
    curvature: Floats | None
    extents: Floats

    @property
    def moment_gap(self) -> float:
        """The largest gap between a mean over the rows of a class and what the model expects of it."""
        return float(np.abs(self.raw).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Check:
    """The task: sums over a block, from the probabilities that the model itself gives."""

    model: SoftmaxModel
    curved: bool
    every: int
    name = "softmax check"

    @property
    def sizes(self) -> list[int]:
        """How many sums: ℓ and gaps of totals, Σ w 1[y], Σ w f, Σ w f², powers of |f|, derivatives, curvature."""
        k, t = self.model.target.n_states, len(self.model.terms)
        return [2, k, t, t, t, k, t * k, (t + 1) ** 2 if self.curved else 0]

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block."""
        k = self.model.target.n_states
        parts = [np.zeros(size, np.longdouble) for size in self.sizes]
        for f, part, codes, w in pieces(self.model, block):
            log_p = self.model.log_posteriors_of(part, len(codes))
            p, rows = np.exp(log_p), np.arange(len(codes))
            gaps = p.copy()
            gaps[rows, codes] -= 1
            parts[0] += [w.dot(log_p[rows, codes]), np.abs(p.sum(axis=1) - 1).sum()]
            parts[1] += np.bincount(codes, w, k)
            parts[2] += f.T @ w
            squares = f * f if isinstance(f, np.ndarray) else f.multiply(f).tocsr()
            parts[3] += squares.T @ w
            parts[4] = np.maximum(parts[4], _largest(squares) ** (POWER // 2))
            parts[5] += w @ gaps
            parts[6] += (f.T @ (gaps * w[:, None])).reshape(-1)
            if self.curved:
                parts[7] += _curvature(f[:: self.every], (w * p.min(axis=1))[:: self.every]).reshape(-1)
        found = Sums(self.name, _rounded(np.concatenate(parts)))
        return {found.need: found}


def pieces(model: SoftmaxModel, block: Block) -> Iterator[tuple[Any, Any, NDArray[np.int64], Floats]]:
    """Yield the terms, the columns, the class and the weight of some rows at a time."""
    known = {variable.name: variable for variable in model.inputs}
    columns, t = block.columns, len(model.terms)
    wide = sparse_terms(model.terms, columns) is not None and t > MOST_CURVATURE
    step = max(block.n_rows, 1) if wide else max(256, PIECE_NUMBERS // max(t, 1))
    for low, high, part in in_pieces(columns, known, block.n_rows, step):
        codes = np.asarray(columns[model.target.name], np.int64)[low:high]
        w = np.ones(high - low) if block.weights is None else np.asarray(block.weights[low:high], np.float64)
        f = sparse_terms(model.terms, part)
        if f is None:
            f = evaluate(model.terms, part, high - low, known, model.centre)
        elif not wide:
            f = f.toarray()
        yield f, part, codes, w


def _largest(squares: Any) -> NDArray[np.longdouble]:
    """Return the largest of every column."""
    if not squares.shape[0]:
        return np.zeros(squares.shape[1], np.longdouble)
    largest = squares.max(axis=0)
    return np.asarray(largest if isinstance(squares, np.ndarray) else largest.toarray().reshape(-1), np.longdouble)


def _rounded(sums: NDArray[np.longdouble]) -> Floats:
    with np.errstate(over="ignore"):
        return sums.astype(np.float64)


def _curvature(f: Floats, w: Floats) -> Floats:
    whole = np.empty((f.shape[1] + 1, len(f)))
    whole[0], whole[1:] = 1.0, f.T
    return np.asarray((whole * w) @ whole.T, np.float64)


def recomputed(claim: Claim[SoftmaxClasses, SoftmaxModel]) -> Recomputed:
    """Make the pass."""
    model, statistics = claim.model, claim.statistics
    assert claim.source is not None
    curved = claim.prior is None and len(model.terms) <= MOST_CURVATURE
    task = Check(model, curved, EVERY if statistics.n_read >= MANY_ROWS else 1)
    sums = claim.source.reduce(task)[Sum(task.name, sum(task.sizes))].values
    first, counts, once, twice, powers, by_intercept, flat, square = np.split(sums, np.cumsum(task.sizes)[:-1])
    total, t = float(counts.sum()), len(model.terms)
    has_intercept = claim.structure.intercept
    mean, squares = once / total, twice / total
    around = squares - mean**2 if has_intercept else squares
    units = np.where(around > 1e-14 * squares, np.sqrt(np.maximum(around, 0.0)), 1.0)
    by_intercept = by_intercept / total if has_intercept else np.zeros_like(by_intercept)
    by_weights = flat.reshape(t, len(counts)) / total
    kept = slice(0 if has_intercept else 1, None)
    return Recomputed(
        total=total,
        log_likelihood=float(first[0]),
        normalisation=float(first[1]),
        counts=counts,
        mean=mean,
        units=units,
        by_intercept=by_intercept,
        by_weights=by_weights - np.outer(mean, by_intercept),
        raw=np.concatenate([by_intercept[None], by_weights])[kept],
        curvature=square.reshape(t + 1, t + 1)[kept, kept] / total if curved else None,
        extents=np.concatenate([[1.0], powers ** (1 / POWER)])[kept],
    )


@dataclass(frozen=True, eq=False)
class Leverage:
    """The task that bounds √(fᵀA⁻¹f) of all rows, ``root`` being one of A⁻¹."""

    model: SoftmaxModel
    root: Floats
    intercept: bool
    name = "softmax leverage"

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return a power of the largest."""
        power = np.longdouble(0)
        for f, _, _, _ in pieces(self.model, block):
            with np.errstate(over="ignore", invalid="ignore"):  # no bound at all where the curvature is next to none
                images = f @ self.root[:, int(self.intercept) :].T
                if self.intercept:
                    images += self.root[:, 0]
                squares = np.einsum("ij,ij->i", images, images)
                power = max(power, np.longdouble(squares.max(initial=0.0)) ** (POWER // 2))
        found = Sums(self.name, _rounded(np.array([power])))
        return {found.need: found}


def leverage(claim: Claim[SoftmaxClasses, SoftmaxModel], root: Floats) -> float:
    """Return a bound of √(fᵀA⁻¹f) for all rows."""
    assert claim.source is not None
    task = Leverage(claim.model, root, claim.structure.intercept)
    return math.pow(claim.source.reduce(task)[Sum(task.name, 1)].values[0], 1 / POWER)


@dataclass(frozen=True, eq=False)
class SecondDerivatives:
    """The task that adds up w (diag p − ppᵀ) ⊗ f fᵀ of the first classes, the intercept of a class first.

    Terms are taken less ``centre``, which makes intercepts those at that point.
    """

    model: SoftmaxModel
    intercept: bool
    n_classes: int
    centre: Floats
    name = "softmax second derivatives"

    @property
    def side(self) -> int:
        """How many parameters there are."""
        return self.n_classes * (len(self.model.terms) + int(self.intercept))

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block."""
        whole = np.zeros((self.side, self.side))
        for f, part, codes, w in pieces(self.model, block):
            terms = (f if isinstance(f, np.ndarray) else f.toarray()) - self.centre
            terms = np.concatenate([np.ones((len(codes), 1)), terms], axis=1) if self.intercept else terms
            p = np.exp(self.model.log_posteriors_of(part, len(codes)))
            others, t = _of_others(p), terms.shape[1]
            for k, j in itertools.combinations_with_replacement(range(self.n_classes), 2):
                both = p[:, k] * others[:, k] if k == j else -p[:, k] * p[:, j]
                found = (terms.T * (w * both)) @ terms
                whole[k * t : (k + 1) * t, j * t : (j + 1) * t] += found
                if k != j:
                    whole[j * t : (j + 1) * t, k * t : (k + 1) * t] += found
        sums = Sums(self.name, whole.reshape(-1))
        return {sums.need: sums}


def _of_others(p: Floats) -> Floats:
    """Return the probabilities of all other classes together, with their digits where a class is all but certain."""
    k = p.shape[1]
    return np.asarray(p @ (np.ones((k, k)) - np.eye(k)))


def second_derivatives(claim: Claim[SoftmaxClasses, SoftmaxModel], n_classes: int, centre: Floats) -> Floats:
    """Return the second derivatives of −Σ log p by the parameters of the first classes, terms less ``centre``."""
    assert claim.source is not None
    task = SecondDerivatives(claim.model, claim.structure.intercept, n_classes, centre)
    return np.asarray(claim.source.reduce(task)[Sum(task.name, task.side**2)].values).reshape(task.side, task.side)


@dataclass(frozen=True, eq=False)
class CurvatureProducts:
    """The task that multiplies the second derivatives of −Σ log p by a direction, shape (T + 1, K)."""

    model: SoftmaxModel
    direction: Floats
    name = "softmax information"

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block, the intercept of each class before its weights."""
        total = np.zeros(self.direction.shape)
        for f, part, codes, w in pieces(self.model, block):
            p = np.exp(self.model.log_posteriors_of(part, len(codes)))
            change = f @ self.direction[1:] + self.direction[0]
            change = w[:, None] * p * (change - (p * change).sum(axis=1, keepdims=True))
            total[0] += change.sum(axis=0)
            total[1:] += f.T @ change
        found = Sums(self.name, total.T.reshape(-1))
        return {found.need: found}


def curvature_along(claim: Claim[SoftmaxClasses, SoftmaxModel], direction: Floats) -> Floats:
    """Return the second derivatives of −Σ log p times a direction, both of shape (T + 1, K)."""
    assert claim.source is not None
    task = CurvatureProducts(claim.model, direction)
    return np.array(claim.source.reduce(task)[Sum(task.name, direction.size)].values).reshape(direction.T.shape).T


@dataclass(frozen=True, eq=False)
class OwnCurvature:
    """The task that adds up w p (1 − p) times 1, f and f² of every class and term."""

    model: SoftmaxModel
    name = "softmax own curvature"

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block."""
        total = np.zeros((1 + 2 * len(self.model.terms), self.model.target.n_states))
        for f, part, codes, w in pieces(self.model, block):
            p = np.exp(self.model.log_posteriors_of(part, len(codes)))
            share = w[:, None] * p * _of_others(p)
            squares = f * f if isinstance(f, np.ndarray) else f.multiply(f).tocsr()
            total += np.concatenate([share.sum(axis=0)[None], f.T @ share, squares.T @ share])
        found = Sums(self.name, total.reshape(-1))
        return {found.need: found}


def own_curvature(claim: Claim[SoftmaxClasses, SoftmaxModel], centre: Floats) -> Floats:
    """Return the second derivatives by every intercept and weight alone, terms less ``centre``; shape (T + 1, K)."""
    assert claim.source is not None
    task, (t, k) = OwnCurvature(claim.model), claim.model.weights.shape
    sums = np.asarray(claim.source.reduce(task)[Sum(task.name, (1 + 2 * t) * k)].values).reshape(1 + 2 * t, k)
    once, twice = sums[1 : 1 + t], sums[1 + t :]
    around = twice - 2 * centre[:, None] * once + centre[:, None] ** 2 * sums[0]
    return np.concatenate([sums[:1], np.maximum(around, 1e-12 * twice)])


def information_gap(claim: Claim[SoftmaxClasses, SoftmaxModel]) -> float:
    """Return how far the model's information is from the second derivatives, along a random direction; relatively."""
    assert claim.source is not None
    information = claim.model.information
    assert information is not None
    k, t = claim.model.target.n_states, len(claim.model.terms) + 1
    if information.shape != (k * t, k * t):
        return math.inf
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    along = np.random.default_rng(0).normal(size=k * t) / scale
    task = CurvatureProducts(claim.model, along.reshape(k, t).T)
    gaps = np.abs(claim.source.reduce(task)[Sum(task.name, k * t)].values - information @ along) / scale
    gap = float(gaps.max(initial=0.0)) / max(float(np.abs(information @ along / scale).max()), 1.0)
    return 0.0 if gap <= INFORMED else gap


@dataclass(frozen=True, eq=False)
class Margins:
    """The task that finds how far the score of a row's own class is below another's at worst, and above at best.

    Over several blocks these add up, which overstates both by at most the number of blocks.
    """

    model: SoftmaxModel
    direction: Floats
    intercept: bool
    name = "softmax margins"

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return both for one block."""
        below, above = 0.0, 0.0
        for f, _, codes, w in pieces(self.model, block):
            scores = f @ self.direction[:, int(self.intercept) :].T
            if self.intercept:
                scores += self.direction[:, 0]
            gains = (scores[np.arange(len(codes)), codes][:, None] - scores)[w > 0]
            below, above = max(below, float(-gains.min(initial=0.0))), max(above, float(gains.max(initial=0.0)))
        found = Sums(self.name, np.array([below, above]))
        return {found.need: found}


def margins(claim: Claim[SoftmaxClasses, SoftmaxModel], direction: Floats) -> tuple[float, float]:
    """Return bounds of the least and the largest margin of all rows; the direction is (K, T + 1) or (K, T)."""
    assert claim.source is not None
    task = Margins(claim.model, direction, claim.structure.intercept)
    below, above = claim.source.reduce(task)[Sum(task.name, 2)].values.tolist()
    return -below, above


def cases_of(claim: Claim[SoftmaxClasses, SoftmaxModel], *, small: bool) -> WeightedCases | None:
    """Return the rows in the form in which separation is looked for; None where there are too many."""
    model, source = claim.model, claim.source
    k, most = model.target.n_states, FEW_CASES if small else MOST_CASES
    if not isinstance(source, BlockSource) or claim.statistics.n_read * len(model.terms) * k > most:
        return None
    parts = [part for found in source.each(lambda block: list(pieces(model, block))) for part in found]
    x = np.concatenate([f if isinstance(f, np.ndarray) else f.toarray() for f, _, _, _ in parts])
    codes, w = (np.concatenate([part[place] for part in parts]) for place in (2, 3))
    weights = np.zeros((len(codes), k))
    weights[np.arange(len(codes)), codes] = w
    return WeightedCases(np.zeros(int((w > 0).sum()), np.int64), x[w > 0], weights[w > 0], np.ones((1, k), bool))
