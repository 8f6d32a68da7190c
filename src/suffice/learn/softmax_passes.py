"""Passes over the rows of a softmax regression: each is a task for `Source.reduce`, and returns sums.

Symbols
-------
W (K, T), b (K,)    slopes and intercepts of the K classes for T terms
p (K, n)            probabilities of the classes of some rows
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block
from suffice.learn.softmax_design import HeldTable, SoftmaxDesign
from suffice.stats.needs import Sum
from suffice.stats.source import BlockSource, Source
from suffice.stats.sums import Sums
from suffice.types import Floats

Codes = NDArray[np.int64]
FEW_ROWS = 512
"""Rows whose terms, times the probabilities of all classes, stay in the cache."""
Kept = dict[tuple[int, int], Floats]
"""Probabilities by where their rows begin: the first row of the block, and that within it."""


@dataclass(frozen=True)
class SoftmaxPoint:
    """Slopes, shape (K, T), and intercepts, shape (K,)."""

    slopes: Floats
    intercept: Floats


class SoftmaxPass(ABC):
    """A task whose sums are some arrays."""

    name: ClassVar[str]
    design: SoftmaxDesign

    @property
    @abstractmethod
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shapes of the sums."""

    @abstractmethod
    def of_rows(self, at: tuple[int, int], x: Any, codes: Codes, weights: Floats | None) -> tuple[Floats, ...]:
        """Return the sums of some rows: where they begin, their terms, their classes, and their weights unless one."""

    def sums(self, block: Block) -> tuple[Floats, ...]:
        """Return the sums of one block."""
        total: tuple[Floats, ...] | None = None
        for low, x, codes, weights in self.design.pieces(block):
            found = self.of_rows((block.start, low), x, codes, weights)
            if total is None:  # kept as they are, not added to zeros: they may be large, and in the order of columns
                total = found
                continue
            for part, more in zip(total, found, strict=True):
                np.add(part, more, out=part)
        return tuple(map(np.zeros, self.shapes)) if total is None else total

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block as one array."""
        found = Sums(self.name, np.concatenate([part.reshape(-1) for part in self.sums(block)]))
        return {found.need: found}


def run(source: Source, task: SoftmaxPass) -> tuple[Floats, ...]:
    """Return the sums of a task over all rows."""
    if isinstance(source, BlockSource) and isinstance(source.table, HeldTable):
        # rows in memory are neither read nor reported, and a search makes many passes
        by_block = [task.sums(block) for block in source.table.held]
        return tuple(reduce(np.add, parts) for parts in zip(*by_block, strict=True))
    sizes = [math.prod(shape) for shape in task.shapes]
    flat = np.array(source.reduce(task)[Sum(task.name, sum(sizes))].values)
    parts = np.split(flat, np.cumsum(sizes)[:-1])
    return tuple(part.reshape(shape) for part, shape in zip(parts, task.shapes, strict=True))


def _times(point: SoftmaxPoint, x: Any) -> Floats:
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
class SoftmaxGradient(SoftmaxPass):
    """−Σ w log p(y | x) and its derivatives by b and W; probabilities go to ``kept``, if there is one."""

    design: SoftmaxDesign
    point: SoftmaxPoint
    kept: Kept | None = None
    name = "softmax gradient"

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Those of the value and of the derivatives."""
        k = self.design.n_classes
        return (1,), (k,), (k, self.design.n_terms)

    def of_rows(self, at: tuple[int, int], x: Any, codes: Codes, weights: Floats | None) -> tuple[Floats, ...]:
        """Return the sums of some rows."""
        p, rows = _times(self.point, x), np.arange(len(codes))
        own = p[codes, rows]
        log_totals, top = _normalise(p)
        losses = log_totals + top - own  # eq softmax-loss
        if self.kept is not None:
            self.kept[at] = p.copy()
        p[codes, rows] -= 1  # eq softmax-gradient
        if weights is not None:
            p *= weights
            losses *= weights
        return losses.sum(keepdims=True), p.sum(axis=1), _gathered(p, x)


@dataclass(frozen=True, eq=False)
class HessianTimes(SoftmaxPass):
    """The derivatives of the gradient along a direction, at a point whose probabilities may have been kept."""

    design: SoftmaxDesign
    point: SoftmaxPoint
    direction: SoftmaxPoint
    kept: Kept | None = None
    name = "softmax curvature"

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Those of the derivatives by b and W."""
        k = self.design.n_classes
        return (k,), (k, self.design.n_terms)

    def of_rows(self, at: tuple[int, int], x: Any, codes: Codes, weights: Floats | None) -> tuple[Floats, ...]:
        """Return the sums of some rows."""
        if self.kept is None:
            p = _times(self.point, x)
            _normalise(p)
        else:
            p = self.kept[at]
        change = _times(self.direction, x)
        change *= p
        change -= p * change.sum(axis=0)
        if weights is not None:
            change *= weights
        return change.sum(axis=1), _gathered(change, x)


@dataclass(frozen=True, eq=False)
class Hessian(SoftmaxPass):
    """Second derivatives, the intercept of each class before its slopes: Σ w (diag p − p pᵀ) ⊗ f fᵀ.

    Those by all classes sum to zero, so that one class, best the most frequent, can be left out until the end.
    """

    design: SoftmaxDesign
    point: SoftmaxPoint
    left_out: int
    name = "softmax Hessian"

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """That of the derivatives by all classes but one."""
        side = (self.design.n_classes - 1) * (1 + self.design.n_terms)
        return ((side, side),)

    def of_rows(self, at: tuple[int, int], x: Any, codes: Codes, weights: Floats | None) -> tuple[Floats, ...]:
        """Return the sums of some rows."""
        p = _times(self.point, x)
        _normalise(p)
        p = np.delete(p, self.left_out, axis=0)
        f = np.empty((p.shape[1], self.design.n_terms + 1))
        f[:, 0], f[:, 1:] = 1.0, x if isinstance(x, np.ndarray) else x.toarray()
        root = np.ascontiguousarray((p if weights is None else p * np.sqrt(weights)).T)
        whole = np.zeros(self.shapes[0])
        for low in range(0, len(f), FEW_ROWS):
            part = slice(low, low + FEW_ROWS)
            crossed = (root[part, :, None] * f[part, None, :]).reshape(len(f[part]), -1)
            whole -= crossed.T @ crossed
        for state, scaled in enumerate(p if weights is None else p * weights):
            own = slice(state * f.shape[1], (state + 1) * f.shape[1])
            whole[own, own] += (f.T * scaled) @ f
        return (whole,)

    def completed(self, whole: Floats) -> Floats:
        """Return the sums with the class that was left out; shape (K (T + 1),) * 2."""
        k, t = self.design.n_classes, self.design.n_terms + 1
        some = whole.reshape(k - 1, t, k - 1, t)
        some = np.insert(some, self.left_out, -some.sum(axis=2), axis=2)
        some = np.insert(some, self.left_out, -some.sum(axis=0), axis=0)
        return some.reshape(k * t, k * t)


@dataclass(frozen=True, eq=False)
class TermMoments(SoftmaxPass):
    """Per class Σ w, and Σ w f; then Σ w f fᵀ of the terms, or only its diagonal."""

    design: SoftmaxDesign
    whole: bool
    name = "softmax terms"

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Those of the counts, the sums and the squares."""
        k, t = self.design.n_classes, self.design.n_terms
        return (k,), (k, t), (t, t) if self.whole else (t,)

    def of_rows(self, at: tuple[int, int], x: Any, codes: Codes, weights: Floats | None) -> tuple[Floats, ...]:
        """Return the sums of some rows."""
        w = np.ones(len(codes)) if weights is None else weights
        chosen = np.zeros((self.design.n_classes, len(codes)))
        chosen[codes, np.arange(len(codes))] = w
        return chosen.sum(axis=1), _gathered(chosen, x), self._squares(x, w)

    def _squares(self, x: Any, w: Floats) -> Floats:
        if not self.whole:
            squared = x * x if isinstance(x, np.ndarray) else x.multiply(x).tocsr()
            return np.asarray(_gathered(w[None], squared)[0])
        dense = x if isinstance(x, np.ndarray) else x.toarray()
        return np.asarray((dense.T * w) @ dense, np.float64)
