"""Passes over the rows of a softmax regression: each is a task for `Source.reduce`, and returns sums.

Symbols
-------
W (K, T), b (K,)    slopes and intercepts of the K classes for T terms
p (K, n)            probabilities of the classes of some rows
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block
from suffice.learn.softmax_design import Design
from suffice.stats.needs import Sum
from suffice.stats.source import Source
from suffice.stats.sums import Sums

Floats = NDArray[np.float64]
Kept = dict[tuple[int, int], Floats]
"""Probabilities by where their rows begin: the first row of the block, and that within it."""


@dataclass(frozen=True)
class Point:
    """Slopes, shape (K, T), and intercepts, shape (K,)."""

    slopes: Floats
    intercept: Floats


def run(source: Source, name: str, size: int, task: Any) -> Floats:
    """Return the sums of a task over all rows."""
    return np.array(source.reduce(task)[Sum(name, size)].values)


def _times(point: Point, x: Any) -> Floats:
    """Return W xᵀ + b of some rows; shape (K, n)."""
    scores = point.slopes @ x.T if isinstance(x, np.ndarray) else np.ascontiguousarray((x @ point.slopes.T).T)
    scores += point.intercept[:, None]
    return np.asarray(scores, np.float64)


def _gathered(values: Floats, x: Any) -> Floats:
    """Return Σ value · term over some rows; shape (K, T)."""
    if isinstance(x, np.ndarray):
        return np.asarray(values @ x, np.float64)
    return np.asarray((x.T @ np.ascontiguousarray(values.T)).T, np.float64)


def _normalise(scores: Floats) -> tuple[Floats, Floats]:
    """Turn scores into probabilities, in place; return the log of what was divided by, and the largest scores."""
    top = scores.max(axis=0)
    scores -= top
    np.exp(scores, out=scores)
    totals = scores.sum(axis=0)
    scores /= totals
    return np.log(totals), top


@dataclass(frozen=True, eq=False)
class Gradient:
    """−Σ w log p(y | x) and its derivatives by b and W; probabilities go to ``kept``, if there is one."""

    design: Design
    point: Point
    kept: Kept | None = None
    name = "softmax gradient"

    @property
    def size(self) -> int:
        """How many sums there are."""
        return 1 + self.design.n_classes * (1 + self.design.n_terms)

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block."""
        k, value = self.design.n_classes, 0.0
        by_intercept, by_slopes = np.zeros(k), np.zeros((k, self.design.n_terms))
        for low, x, codes, weights in self.design.pieces(block):
            p = _times(self.point, x)
            rows = np.arange(len(codes))
            own = p[codes, rows]
            log_totals, top = _normalise(p)
            losses = log_totals + top - own
            if self.kept is not None:
                self.kept[block.start, low] = p.copy()
            p[codes, rows] -= 1
            if weights is not None:
                p *= weights
                losses *= weights
            value += float(losses.sum())
            by_intercept += p.sum(axis=1)
            by_slopes += _gathered(p, x)
        found = Sums(self.name, np.concatenate([[value], by_intercept, by_slopes.reshape(-1)]))
        return {found.need: found}


@dataclass(frozen=True, eq=False)
class HessianTimes:
    """The derivatives of the gradient along a direction, at a point whose probabilities may have been kept."""

    design: Design
    point: Point
    direction: Point
    kept: Kept | None = None
    name = "softmax curvature"

    @property
    def size(self) -> int:
        """How many sums there are."""
        return self.design.n_classes * (1 + self.design.n_terms)

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block."""
        k = self.design.n_classes
        by_intercept, by_slopes = np.zeros(k), np.zeros((k, self.design.n_terms))
        for low, x, _, weights in self.design.pieces(block):
            if self.kept is None:
                p = _times(self.point, x)
                _normalise(p)
            else:
                p = self.kept[block.start, low]
            change = _times(self.direction, x)
            change *= p
            change -= p * change.sum(axis=0)
            if weights is not None:
                change *= weights
            by_intercept += change.sum(axis=1)
            by_slopes += _gathered(change, x)
        found = Sums(self.name, np.concatenate([by_intercept, by_slopes.reshape(-1)]))
        return {found.need: found}


@dataclass(frozen=True, eq=False)
class Hessian:
    """All second derivatives, the intercept of each class before its slopes: Σ w (diag p − p pᵀ) ⊗ f fᵀ."""

    design: Design
    point: Point
    name = "softmax Hessian"

    @property
    def size(self) -> int:
        """How many sums there are."""
        return (self.design.n_classes * (1 + self.design.n_terms)) ** 2

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block."""
        k, t = self.design.n_classes, self.design.n_terms + 1
        whole = np.zeros((k * t, k * t))
        for _, x, _, weights in self.design.pieces(block):
            p = _times(self.point, x)
            _normalise(p)
            f = np.empty((p.shape[1], t))
            f[:, 0], f[:, 1:] = 1.0, x if isinstance(x, np.ndarray) else x.toarray()
            root = 1.0 if weights is None else np.sqrt(weights)[:, None, None]
            crossed = (root * p.T[:, :, None] * f[:, None, :]).reshape(len(f), k * t)
            whole -= crossed.T @ crossed
            for state in range(k):
                part = slice(state * t, (state + 1) * t)
                scaled = p[state] if weights is None else p[state] * weights
                whole[part, part] += (f.T * scaled) @ f
        found = Sums(self.name, whole.reshape(-1))
        return {found.need: found}


@dataclass(frozen=True, eq=False)
class TermMoments:
    """Per class Σ w, and Σ w f; then Σ w f fᵀ of the terms, or only its diagonal."""

    design: Design
    whole: bool
    name = "softmax terms"

    @property
    def size(self) -> int:
        """How many sums there are."""
        k, t = self.design.n_classes, self.design.n_terms
        return k + k * t + (t * t if self.whole else t)

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block."""
        k, t = self.design.n_classes, self.design.n_terms
        counts, sums = np.zeros(k), np.zeros((k, t))
        squares = np.zeros((t, t) if self.whole else t)
        for _, x, codes, weights in self.design.pieces(block):
            w = np.ones(len(codes)) if weights is None else weights
            chosen = np.zeros((k, len(codes)))
            chosen[codes, np.arange(len(codes))] = w
            counts += chosen.sum(axis=1)
            sums += _gathered(chosen, x)
            if self.whole:
                squares += _gathered_squares(x, w)
            else:
                squared = x * x if isinstance(x, np.ndarray) else x.multiply(x).tocsr()
                squares += _gathered(w[None], squared)[0]
        found = Sums(self.name, np.concatenate([counts, sums.reshape(-1), squares.reshape(-1)]))
        return {found.need: found}


def _gathered_squares(x: Any, weights: Floats) -> Floats:
    dense = x if isinstance(x, np.ndarray) else x.toarray()
    return np.asarray((dense.T * weights) @ dense, np.float64)
