"""Scores of many rows under every class, and the class with the largest: arrays in, arrays out.

Each form of score is a small class with `scores` and `best`. Rows are taken in pieces that stay in the cache, so that a
prediction that needs only the best class never writes all scores down. Kernels do the work; many inputs that are
multiplied by a matrix go through BLAS, which is faster then.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.native import classify
from suffice.settings import one_blas_thread, settings
from suffice.types import Array, Floats, Ints

PIECE_ROWS, RANGE_ROWS = 1 << 12, 1 << 17
SMALL_PRODUCT = 800_000
"""Products of matrices with fewer multiplications than this are done without copying them first, in half the time."""

FEW_INPUTS = 64
"""Up to so many inputs a kernel is quicker than a product of matrices."""

NEAR = 64.0
"""Standard deviations from zero, up to which subtracting a centre first saves no digits worth its time."""

Codes = Ints


class ClassScores(ABC):
    """Scores of rows, shape (n, p) each, under K classes: the largest wins."""

    start: Floats

    def __post_init__(self) -> None:
        for name, value in vars(self).items():  # as the kernels take them
            kind = np.int64 if name == "first" else np.float64
            object.__setattr__(self, name, np.ascontiguousarray(value, kind))

    @abstractmethod
    def _fill(self, x: Array, out: Floats) -> None:
        """Fill scores, shape (n, K), of a piece of rows."""

    def _prepared(self, x: Array) -> Array:
        """Return a piece of rows as the kernels take it."""
        return np.ascontiguousarray(x, np.float64)

    def scores(self, x: Array) -> Floats:
        """Return the scores of all rows; shape (n, K)."""
        found = np.empty((len(x), len(self.start)))
        self._each_piece(x, lambda low, high: self._fill(self._prepared(x[low:high]), found[low:high]))
        return found

    def best(self, x: Array) -> Codes:
        """Return the class of the largest score, of equal ones the first; shape (n,)."""
        found = np.zeros(len(x), np.int64)

        def one(low: int, high: int) -> None:
            out = np.empty((high - low, len(self.start)))
            self._fill(self._prepared(x[low:high]), out)
            classify.find_largest(out, found[low:high])

        self._each_piece(x, one)
        return found

    def _each_piece(self, x: Array, one: Callable[[int, int], None]) -> None:
        """Call ``one`` for all pieces; threads take ranges of them, and write to rows of their own."""
        n, size = len(x), PIECE_ROWS

        def some(first: int) -> None:
            last = min(first + RANGE_ROWS, n)
            for low in range(first, last, size):
                one(low, min(low + size, last))

        ranges = range(0, n, RANGE_ROWS)
        threads = min(settings().threads, len(ranges))
        with one_blas_thread():
            if threads <= 1:
                for first in ranges:
                    some(first)
                return
            with ThreadPoolExecutor(threads) as pool:
                for _ in pool.map(some, ranges):
                    pass


def best_class(scores: Floats) -> Codes:
    """Return the class of each row's largest score, of equal ones the first; shape (n,).

    >>> best_class(np.array([[-1.0, -2.0, -1.0], [-np.inf, -3.0, -4.0]])).tolist()
    [0, 1]
    """
    found = np.empty(len(scores), np.int64)
    classify.find_largest(np.ascontiguousarray(scores, np.float64), found)
    return found


@dataclass(frozen=True, eq=False)
class DiagonalScores(ClassScores):
    """Inputs that are independent and normal given the class: start_k + Σ_j (h_kj − a_kj (x_j − μ_kj)² / 2).

    Attributes
    ----------
    mean, precision, height : arrays, shape (K, p)
        μ, a = 1/σ² and h, usually −½ log 2πσ². A NaN in x leaves its term out.
    start : array, shape (K,)

    Examples
    --------
    >>> one = np.ones((2, 1))
    >>> form = DiagonalScores(np.array([[0.0], [4.0]]), one, 0 * one, np.zeros(2))
    >>> form.scores(np.array([[1.0], [np.nan]])).tolist()
    [[-0.5, -4.5], [0.0, 0.0]]
    >>> form.best(np.array([[1.0], [3.0], [2.0]])).tolist()
    [0, 1, 0]
    """

    mean: Floats
    precision: Floats
    height: Floats
    start: Floats

    def _fill(self, x: Array, out: Floats) -> None:
        classify.fill_diagonal_scores(x, self.mean, self.precision, self.height, self.start, out)


@dataclass(frozen=True, eq=False)
class LinearScores(ClassScores):
    """Scores that are linear in the inputs: start_k + Σ_j W_jk (x_j − c_j).

    Attributes
    ----------
    centre : array, shape (p,)
    weights : array, shape (p, K)
    start : array, shape (K,)

    Examples
    --------
    >>> form = LinearScores(np.array([10.0]), np.array([[-1.0, 1.0]]), np.zeros(2))
    >>> form.scores(np.array([[12.0]])).tolist(), form.best(np.array([[12.0], [9.0]])).tolist()
    ([[-2.0, 2.0]], [1, 0])
    """

    centre: Floats
    weights: Floats
    start: Floats

    def _fill(self, x: Array, out: Floats) -> None:
        if x.shape[1] <= FEW_INPUTS:
            classify.fill_linear_scores(x, self.centre, self.weights, self.start, out)
        else:
            np.add((x - self.centre) @ self.weights, self.start, out=out)


@dataclass(frozen=True, eq=False)
class WhitenedScores(ClassScores):
    """Normal inputs, each class with a covariance of its own: start_k − |R_k (x − c) − s_k|² / 2.

    Attributes
    ----------
    centre : array, shape (p,)
        Near all means, so that numbers far from zero keep their digits.
    factors : array, shape (K, p, p)
        R_k, for which R_kᵀ R_k is the inverse covariance.
    shift : array, shape (K, p)
        s_k = R_k (μ_k − c).
    start : array, shape (K,)

    Examples
    --------
    >>> form = WhitenedScores(np.zeros(1), np.array([[[1.0]], [[0.5]]]), np.array([[0.0], [2.0]]), np.zeros(2))
    >>> form.scores(np.array([[2.0]])).tolist(), form.best(np.array([[2.0], [0.5]])).tolist()
    ([[-2.0, -0.5]], [1, 0])
    """

    centre: Floats
    factors: Floats
    shift: Floats
    start: Floats

    @cached_property
    def _around(self) -> tuple[Floats | None, Floats]:
        """Return what to subtract from rows, None where that would save no digits, and from whitened ones."""
        moved = np.einsum("kij,j->ki", self.factors, self.centre)
        if np.abs(moved).max(initial=0.0) <= NEAR:
            return None, self.shift + moved
        return self.centre, self.shift

    @cached_property
    def _is_triangular(self) -> bool:
        return not np.triu(self.factors, 1).any()

    def _fill(self, x: Array, out: Floats) -> None:
        centre, shift = self._around
        if self._is_triangular and x.shape[1] <= FEW_INPUTS:
            about = np.zeros(x.shape[1]) if centre is None else centre
            classify.fill_triangular_scores(x, about, self.factors, shift, self.start, out)
            return
        factors = self.factors.reshape(-1, x.shape[1])
        size = int(np.clip(SMALL_PRODUCT // max(factors.size, 1), 256, 1024))
        white = np.empty((len(factors), min(size, len(x))))  # made once: fresh memory costs as much as the product
        for low in range(0, len(x), size):
            rows = x[low : low + size]
            near = rows if centre is None else rows - centre
            z = white if len(rows) == size else np.empty((len(factors), len(rows)))
            np.dot(factors, near.T, out=z)
            classify.fill_whitened_scores(z, shift, self.start, out[low : low + size])


@dataclass(frozen=True, eq=False)
class TableScores(ClassScores):
    """Discrete inputs that are independent given the class: start_k + Σ_j log η_jk(x_j).

    Attributes
    ----------
    first : int64 array, shape (p,)
        Where each input's states begin among the rows of ``tables``.
    tables : array, shape (Σ_j n_states_j, K)
        log η, −inf where a state is impossible. A code of −1 leaves its term out.
    start : array, shape (K,)

    Examples
    --------
    >>> form = TableScores(np.array([0]), np.log([[0.9, 0.2], [0.1, 0.8]]), np.zeros(2))
    >>> np.exp(form.scores(np.array([[1], [-1]]))).round(3).tolist(), form.best(np.array([[0], [1]])).tolist()
    ([[0.1, 0.8], [1.0, 1.0]], [0, 1])
    """

    first: Codes
    tables: Floats
    start: Floats

    def _prepared(self, x: Array) -> Array:
        return np.ascontiguousarray(x, None if x.dtype.kind == "i" else np.int64)

    def _fill(self, x: Array, out: Floats) -> None:
        classify.fill_table_scores(x, self.first, self.tables, self.start, out)
