"""The pseudo-likelihood of a log-linear model: each variable given all others, so that no partition function is needed.

With p(x) ∝ exp(Σ_S θ_S(x_S)), θ = D w + offset, and rows x_i of weight n_i, Σ n_i = N,

    PL(w) = (1/N) Σ_i n_i Σ_v log p(x_iv | x_i,−v)

is concave in w. It has the form of a likelihood: minimise log_z(w) − w·targets, whose gradient is expected − targets.
Both sums run over rows and variables, and a scope counts once for each variable it holds. Besag (1975), "Statistical
Analysis of Non-Lattice Data", The Statistician 24.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import ArgumentError, EstimationError, listing, shown
from suffice.inference.clique_family import Layout
from suffice.native.pseudo_likelihood import (
    Design,
    Incidence,
    add_covariances,
    add_curvature,
    add_expected,
    add_scores,
    count_observed,
    find_impossible,
)
from suffice.optimise.vectors import dot
from suffice.settings import more_memory, settings
from suffice.text import in_bytes
from suffice.types import Codes, Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Range = tuple[int, int]
Result = TypeVar("Result")

PARTS = 16
"""Rows are divided into at most so many ranges, whatever the number of threads."""
PART_STEPS = 1 << 18
"""A range with fewer steps, table cells to look up, is not worth a thread."""
MATRIX_CELLS = 1 << 24
"""So many cells the partial results of all ranges may have together."""
COPIES, SMALL = 4, 1 << 18
"""Sums are made in so many copies, which is faster, for tables of up to so many cells."""
SQUARES, SANDWICH_SQUARES = 2, 8
"""So many matrices over all weights are held at a time for second derivatives, and for their sandwich."""
RANK_TOL = 1e-13
"""Times the number of weights: directions with less than this part of the largest curvature have none."""


class PseudoFamily:
    """Pseudo-likelihood of a log-linear model for given rows.

    Parameters
    ----------
    layout : Layout
        The tables of all scopes.
    design : sparse array, shape (layout.n, n_weights)
        D; column j holds feature j in the cells of all tables.
    codes : integer array, shape (n_rows, n_variables)
        The rows, best distinct ones. Their order matters to rounding only.
    weights : array, shape (n_rows,)
        How often each row occurred.
    offset : array, shape (layout.n,), optional
        A part of θ that does not change; −inf is an impossible cell. Zeros by default.

    Attributes
    ----------
    n_weights : int
        The number of features.
    rows : tuple of two arrays
        The codes of the rows with weight, one line a variable, and their weights.
    total : float
        N, the sum of the rows' weights.
    targets : array, shape (n_weights,)
        What `PseudoPoint.expected` is at the optimum.

    Examples
    --------
    Two coins that agree in three of four rows: the log-odds of agreement is 2w for w on "both the same, or not" as ±1.

    >>> from scipy.sparse import csr_array
    >>> design = csr_array([[1.0], [-1.0], [-1.0], [1.0]])
    >>> family = PseudoFamily(Layout((2, 2), ((0, 1),)), design, [[0, 0], [1, 1], [0, 1]], [2, 1, 1])
    >>> w = np.array([np.log(3) / 2])
    >>> family.targets.tolist(), family.at(w).expected.round(12).tolist()
    ([1.0], [1.0])
    >>> bool(np.isclose(family.log_likelihood(w), 2 * (3 * np.log(3 / 4) + np.log(1 / 4))))
    True

    The pseudo-likelihood counts each row twice, and its inverse Hessian promises too much; the sandwich does not. It is
    that of maximum likelihood here: 1 / (4 N p q), with p = 3/4 and q = 1/4.

    >>> np.linalg.inv(family.sensitivity(w)).round(6).tolist(), family.sandwich(w).round(6).tolist()
    ([[0.166667]], [[0.333333]])
    """

    def __init__(
        self,
        layout: Layout,
        design: ArrayLike | csr_array,
        codes: ArrayLike,
        weights: ArrayLike,
        offset: ArrayLike | None = None,
    ) -> None:
        self.layout = layout
        self.design = _design_of(layout, design)
        self.n_weights = int(self.design.shape[1])
        self.offset = _offset_of(layout, offset)
        rows, counts = _rows_of(layout, codes, weights)
        seen = np.flatnonzero(counts)
        # The kernels run along rows: one line a variable, and rows that did not occur are left out.
        self.rows = np.ascontiguousarray(rows[seen].T, np.int32), counts[seen]
        self.total = float(counts.sum())
        if self.total == 0:
            raise EstimationError("A pseudo-likelihood needs rows with positive weights, and there are none. Add some.")
        self._require_possible(seen)
        self.targets: Floats = self.design.T @ self._observed

    def at(self, w: Floats) -> PseudoPoint:
        """Return value and derivatives at some weights; nothing is calculated before it is asked for."""
        return PseudoPoint(self, self.design @ np.asarray(w, np.float64) + self.offset)

    def log_likelihood(self, w: Floats) -> float:
        """Return the logarithm of the pseudo-likelihood of all rows, N · PL(w); the offset is part of the model."""
        return self.total * self.at(w).mean_log_p

    # The rows -------------------------------------------------------------------------------------------------

    @cached_property
    def model(self) -> Incidence:
        """The scopes, as the kernels see them."""
        return _incidence(self.layout)

    @cached_property
    def _observed(self) -> Floats:
        """The share of every cell in the rows, once for each variable of its scope."""
        found = np.zeros(self.layout.n)
        count_observed(self.model, *self.rows, found)
        return found / self.total

    def _require_possible(self, numbers: NDArray[np.intp]) -> None:
        if (self._observed[self.offset == -np.inf] > 0).any():
            impossible = np.zeros(len(numbers), bool)
            find_impossible(self.model, self.rows[0], self.offset, impossible)
            row = int(np.argmax(impossible))
            raise EstimationError(
                f"Row {numbers[row]} of the data, with codes {listing(self.rows[0][:, row].tolist())}, has a cell with "
                "offset -inf: the model calls it impossible, but it was observed. Allow the cell, or leave the row out."
            )

    def ranges(self, cells: int) -> list[Range]:
        """Return fixed ranges of rows, each worth a thread; ``cells`` is the size of the result of each."""
        n = len(self.rows[1])
        steps = n * sum(map(sum, self.layout.shapes))
        return _split(0, n, min(PARTS, steps // max(PART_STEPS, cells), MATRIX_CELLS // max(cells, 1)))

    def room(self) -> Floats:
        """Return zeros for all cells, in several copies while these are small: see ``put_back`` of the kernels."""
        return np.zeros((COPIES if self.layout.n <= SMALL else 1, self.layout.n))

    # Second derivatives ---------------------------------------------------------------------------------------

    def sensitivity(self, w: Floats) -> Floats:
        """Return the Hessian of −N · PL, Σ_i n_i Σ_v Cov(f | x_i,−v), shape (n_weights, n_weights)."""
        ranges = self.ranges(self.n_weights**2)
        self._require_room("The matrix of second derivatives", SQUARES + len(ranges))
        theta, design = self.at(w).theta, self._kernel_design

        def one(part: Range) -> Floats:
            out = np.zeros((self.n_weights, self.n_weights))
            add_covariances(self.model, design, *self.rows, *part, theta, out)
            return out

        half = _added(one, ranges)
        half[np.diag_indices(self.n_weights)] /= 2
        return half + half.T

    def variability(self, w: Floats) -> Floats:
        """Return Σ_i n_i s_i s_iᵀ, s_i the slope of a row's log pseudo-likelihood, shape (n_weights, n_weights)."""
        self._require_room("The matrix of squared scores", SQUARES)
        theta, design = self.at(w).theta, self._kernel_design
        found, n = np.zeros((self.n_weights, self.n_weights)), len(self.rows[1])
        tall = max(1, MATRIX_CELLS // max(self.n_weights, 1))
        for low in range(0, n, tall):
            scores = np.zeros((min(tall, n - low), self.n_weights))

            def one(part: Range, low: int = low, scores: Floats = scores) -> None:
                add_scores(self.model, design, self.rows[0], *part, theta, scores[part[0] - low : part[1] - low])

            deque(_in_order(one, _split(low, low + len(scores), PARTS)), maxlen=0)
            scores *= np.sqrt(self.rows[1][low : low + tall, None])
            found += scores.T @ scores
        return found

    def sandwich(self, w: Floats) -> Floats:
        """Return the covariance matrix H⁻¹ J H⁻¹ of the estimates, H the sensitivity and J the variability.

        Where features depend on each other, or never matter in these rows, H⁻¹ is the pseudo-inverse: variances of
        contrasts that the rows determine are right, and the other directions have none.
        """
        self._require_room("The sandwich covariance", SANDWICH_SQUARES)
        inverse = _pseudo_inverse(self.sensitivity(w))
        found: Floats = inverse @ self.variability(w) @ inverse  # eq sandwich
        return (found + found.T) / 2

    @cached_property
    def _kernel_design(self) -> Design:
        at, column = self.design.indptr.astype(np.int64), self.design.indices.astype(np.int64)
        return Design(at, column, self.design.data, self.n_weights)

    def _require_room(self, what: str, squares: int) -> None:
        need, allowed = 8 * squares * self.n_weights**2, settings().memory
        if need > allowed:
            raise EstimationError(
                f"{what} over {self.n_weights:,} weights would take {in_bytes(need)}, and may take {in_bytes(allowed)}."
                " Tie weights, do without standard errors, or allow more: ",
                more_memory(need),
                ".",
            )


@dataclass(frozen=True, eq=False)
class PseudoPoint:
    """A `PseudoFamily` at some weights, which gave the parameters θ."""

    family: PseudoFamily
    theta: Floats

    @cached_property
    def _sums(self) -> tuple[float, Floats]:
        """PL, and what is expected of every cell beyond what was observed, from one pass over the rows."""
        family = self.family

        def one(part: Range) -> tuple[float, Floats]:
            out = family.room()
            return add_expected(family.model, *family.rows, *part, self.theta, out), out.sum(axis=0)

        log_p, excess = 0.0, np.zeros(family.layout.n)
        for value, cells in _in_order(one, family.ranges(family.layout.n)):
            log_p += value
            excess += cells
        return log_p / family.total, excess / family.total

    @property
    def mean_log_p(self) -> float:
        """PL(w), the mean over rows of Σ_v log p(x_v | x_−v)."""
        return self._sums[0]

    @property
    def log_z(self) -> float:
        """The mean over rows of Σ_v log Σ_s exp(Σ_{S∋v} θ_S(x with x_v = s))."""
        observed = self.family._observed
        seen = observed > 0
        return dot(observed[seen], self.theta[seen]) - self.mean_log_p

    @cached_property
    def expected(self) -> Floats:
        """The gradient of ``log_z``: features summed over variables and their scopes, each over its conditional."""
        found: Floats = self.family.targets + self.family.design.T @ self._sums[1]
        return found

    def curvature(self, direction: Floats) -> Floats:
        """Return the derivative of ``expected`` in a direction of the weights."""
        family = self.family
        along = family.design @ np.asarray(direction, np.float64)

        def one(part: Range) -> Floats:
            out = family.room()
            add_curvature(family.model, *family.rows, *part, self.theta, along, out)
            summed: Floats = out.sum(axis=0)
            return summed

        found: Floats = family.design.T @ (_added(one, family.ranges(family.layout.n)) / family.total)
        return found


# Threads ------------------------------------------------------------------------------------------------------


def _split(low: int, high: int, parts: int) -> list[Range]:
    """Return about ``parts`` ranges of about the same length."""
    step = max(1, -(-(high - low) // max(1, parts)))
    return [(start, min(start + step, high)) for start in range(low, high, step)]


def _in_order(one: Callable[[Range], Result], parts: list[Range]) -> Iterator[Result]:
    """Yield what a function returns for every part, in their order; a pool of threads works ahead."""
    threads = min(settings().threads, len(parts))
    if threads <= 1:
        yield from map(one, parts)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(one, parts)


def _added(one: Callable[[Range], Floats], parts: list[Range]) -> Floats:
    return reduce(np.add, _in_order(one, parts))


# What was given -----------------------------------------------------------------------------------------------


def _design_of(layout: Layout, design: ArrayLike | csr_array) -> csr_array:
    from scipy.sparse import csr_array

    found = csr_array(design, dtype=np.float64)
    if found.ndim != 2 or found.shape[0] != layout.n or not np.isfinite(found.data).all():
        raise ArgumentError(
            f"The 'design' argument must be a matrix of finite numbers, a row for each of the {layout.n:,} cells. Got "
            f"shape {found.shape}, with {np.sum(~np.isfinite(found.data))} entries that are not finite, instead."
        )
    return found


def _rows_of(layout: Layout, codes: ArrayLike, weights: ArrayLike) -> tuple[Codes, Floats]:
    given, numbers = np.asarray(codes), np.asarray(weights, np.float64)
    if given.ndim != 2 or given.shape[1] != len(layout.sizes) or given.dtype.kind not in "iu":
        raise ArgumentError(
            f"The 'codes' argument must be a table of whole numbers with {len(layout.sizes)} columns, one a variable. "
            f"Got {given.dtype} of shape {given.shape} instead."
        )
    outside = ((given < 0) | (given >= np.array(layout.sizes))).any(axis=0)
    if outside.any():
        v = int(np.argmax(outside))
        raise ArgumentError(
            f"The 'codes' argument must number the states of variable {v} from 0 to {layout.sizes[v] - 1}. Got values "
            f"from {given[:, v].min()} to {given[:, v].max()} instead."
        )
    if numbers.shape != given.shape[:1] or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise ArgumentError(
            f"The 'weights' argument must hold a number, finite and not negative, for each of the {len(given):,} rows. "
            f"Got {shown(numbers.tolist())} instead."
        )
    return given, numbers


def _offset_of(layout: Layout, offset: ArrayLike | None) -> Floats:
    if offset is None:
        return np.zeros(layout.n)
    found = np.array(offset, np.float64)
    if found.shape != (layout.n,) or not (found < np.inf).all():
        raise ArgumentError(
            f"The 'offset' argument must hold a number, or -inf, for each of the {layout.n:,} cells of the tables. "
            f"Got {shown(found.tolist())} instead."
        )
    return found


def _incidence(layout: Layout) -> Incidence:
    lengths = [len(scope) for scope in layout.scopes]
    return Incidence(
        np.array(layout.sizes, np.int64),
        np.cumsum([0, *lengths], dtype=np.int64),
        np.array([variable for scope in layout.scopes for variable in scope], np.int64),
    )


def _pseudo_inverse(matrix: Floats) -> Floats:
    """Return the pseudo-inverse of a matrix of covariances, whatever the scales of its variables.

    Rank and inverse are found with a unit diagonal. Where the rank is full, that is all; otherwise the result is a
    generalised inverse, and its projection onto the range of the matrix is the one of Moore and Penrose.
    """
    diagonal = np.maximum(np.diag(matrix), 0.0)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(matrix / scale / scale[:, None])
    kept = values > RANK_TOL * len(values) * values.max(initial=0.0)
    basis = vectors[:, kept] / np.sqrt(values[kept]) / scale[:, None]
    if not kept.all():
        null = np.linalg.qr(vectors[:, ~kept] / scale[:, None])[0]
        basis -= null @ (null.T @ basis)
    inverse: Floats = basis @ basis.T
    return inverse
