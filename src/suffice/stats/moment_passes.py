"""One pass over rows for the moments of many columns at once: arrays in, arrays out.

Rows are taken in pieces that fit a processor's cache. Within a piece the rows of one *cell* (a configuration of the
discrete variables) stand together, and every column is shifted by its first values there, so that large offsets cost no
digits and a constant column has a scatter of exactly zero. Pieces are added by the formula of Chan, Golub and LeVeque
(1979), in order, so that results do not depend on the number of threads.

======  =====================================================
n, p    rows of a piece, columns
k, m    cells in a piece, wanted products of two columns
w, μ    weight and mean of a cell
δ       what a mean is above the value that was subtracted
======  =====================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from suffice.settings import one_blas_thread, settings
from suffice.stats.matrix_pieces import MatrixPiece, rows_of_piece, suits
from suffice.types import Array, Codes, Floats

PIECE_NUMBERS = 1 << 20
MIN_ROWS, MAX_ROWS = 1 << 10, 1 << 16
FIRST_ROWS = 16
RANGE_PIECES = 8
FAR = 64.0
"""A mean further than eight standard deviations from the value subtracted costs digits: shift by the mean instead."""
MANY_NUMBERS = 1 << 22
"""Parts of more numbers than this are not held side by side for threads."""
SMALL_JOB = 1 << 15
"""Numbers below which linear algebra takes one thread by itself."""

Indices = NDArray[np.int64]
Arrays = tuple[Floats, Floats, Floats, Floats]
"""Weight, mean, what rounding cut off the mean, and scatter; leading axes are cells."""


# Adding -------------------------------------------------------------------------------------------------------


def whole_matrix(gap: Floats) -> Floats:
    """Return all products of two entries, shape (…, p, p)."""
    return gap[..., :, None] * gap[..., None, :]


def added(first: Arrays, second: Arrays, products: Callable[[Floats], Floats] = whole_matrix) -> Arrays:
    """Add moments, cell by cell; the same bits whichever comes first."""
    (w1, m1, r1, t1), (w2, m2, r2, t2) = first, second
    weight = w1 + w2
    safe = np.where(weight > 0, weight, 1.0)
    p1, p2 = (w1 / safe)[..., None], (w2 / safe)[..., None]
    # A part without rows has no mean; the other's takes its place, so that nothing is pulled towards zero.
    m1, m2 = np.where(p1 > 0, m1, m2), np.where(p2 > 0, m2, m1)
    r1, r2 = np.where(p1 > 0, r1, r2), np.where(p2 > 0, r2, r1)
    gap = (m2 - m1) + (r2 - r1)
    centre = np.where(p1 >= p2, m1, m2)
    centre = np.where(p1 == p2, np.minimum(m1, m2), centre)
    rest = p1 * ((m1 - centre) + r1) + p2 * ((m2 - centre) + r2)
    mean, rest = _split(centre, rest)
    found = products(gap)
    factor = w1 * w2 / safe
    cross = factor.reshape(factor.shape + (1,) * (found.ndim - factor.ndim)) * found  # Chan et al., eq 2.1b
    return weight, mean, rest, t1 + t2 + cross


def _split(large: Floats, small: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sum and what rounding cut off it."""
    total = large + small
    return total, small - (total - large)


# What is wanted -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Products:
    """Which products of two columns are wanted: those within some sets of columns, each once.

    Attributes
    ----------
    n_columns : int
    first, second : int64 arrays, shape (m,)
        The columns of each product, first ≤ second, in lexicographic order. Every column is there with itself.

    Examples
    --------
    >>> wanted = Products.within([[2, 0], [1]], 3)
    >>> list(zip(wanted.first.tolist(), wanted.second.tolist()))
    [(0, 0), (0, 2), (1, 1), (2, 2)]
    >>> wanted.places([2, 0]).tolist()
    [[3, 1], [1, 0]]
    """

    n_columns: int
    first: Indices
    second: Indices

    @classmethod
    def within(cls, sets: Iterable[Sequence[int]], n_columns: int) -> Products:
        """Return the products within each of some sets of columns, which together are all columns."""
        held = list(sets)
        if all(len(columns) == 1 for columns in held):  # often very many
            alone = np.unique(np.array(held, np.int64).reshape(-1))
            return cls(n_columns, alone, alone)
        keys = [_keys(np.unique(np.asarray(columns, np.int64)), n_columns) for columns in held]
        first, second = np.divmod(np.unique(np.concatenate([np.zeros(0, np.int64), *keys])), max(n_columns, 1))
        return cls(n_columns, first, second)

    @cached_property
    def squares(self) -> Indices:
        """Where each column's product with itself is, shape (p,)."""
        return np.flatnonzero(self.first == self.second)

    def of(self, values: Floats) -> Floats:
        """Return the wanted products of numbers, one a column; shape (…, p) becomes (…, m)."""
        return values[..., self.first] * values[..., self.second]

    def places(self, columns: Sequence[int]) -> Indices:
        """Return where the products of some columns are, shape (len(columns), len(columns))."""
        chosen = np.asarray(columns, np.int64)
        low, high = np.minimum.outer(chosen, chosen), np.maximum.outer(chosen, chosen)
        return np.searchsorted(self.first * self.n_columns + self.second, low * self.n_columns + high)


def _keys(columns: Indices, n_columns: int) -> Indices:
    low, high = np.triu_indices(len(columns))
    return columns[low] * n_columns + columns[high]


@dataclass(frozen=True)
class Job:
    """Columns and what is wanted of them.

    Attributes
    ----------
    columns : tuple of arrays, shape (n_rows,) each
    products : Products
    by : tuple of (codes, number of states)
        The discrete columns whose configurations are the cells, the last one fastest; often none.
    weights : array, shape (n_rows,), or None
    n_rows : int
    matrix : array, shape (n_rows, p), or None
        The same columns, where they lie side by side in memory.
    """

    columns: tuple[Array, ...]
    products: Products
    by: tuple[tuple[Codes, int], ...]
    weights: Array | None
    n_rows: int
    matrix: Array | None = None

    @property
    def n_cells(self) -> int:
        """Number of configurations."""
        return int(np.prod([size for _, size in self.by], dtype=np.int64))

    @property
    def by_rows(self) -> bool:
        """Whether rows are better read as they lie in the matrix."""
        return self.matrix is not None and suits(self.products, self.n_cells)

    @property
    def piece_rows(self) -> int:
        """Rows of a piece; its columns fit the cache unless there are very many."""
        if self.by_rows:
            return rows_of_piece(len(self.columns))
        return min(MAX_ROWS, max(MIN_ROWS, PIECE_NUMBERS // max(len(self.columns), 1)))

    def cells_of(self, piece: slice) -> Indices:
        """Return in which cell each row of a piece is."""
        cell = np.zeros(piece.stop - piece.start, np.int64)
        for codes, size in self.by:
            cell = cell * size + codes[piece]
        return cell

    def multiply(self) -> Multiply:
        """Return the way to multiply columns that takes the least time, by nanoseconds measured on one machine."""
        rows, p, m = min(self.n_rows, self.piece_rows), len(self.columns), len(self.products.first)
        cells = min(self.n_cells, rows)
        times = {
            by_matrices: cells * (10_000 + p**2) + rows * (0.5 * p + (0.045 if self.weights is None else 0.09) * p**2),
            by_dots: m * (600 * cells + 0.2 * rows),
            by_runs: m * (5_000 + 1.3 * rows),
        }
        return min(times, key=times.__getitem__)


# Products within a piece ---------------------------------------------------------------------------------------


Multiply = Callable[[Floats, Floats, Indices, Products], Floats]
"""From weighted columns and columns, shape (p, n) each, and where cells begin, to sums of products, shape (k, m)."""


def by_matrices(left: Floats, right: Floats, starts: Indices, wanted: Products) -> Floats:
    """Multiply all columns with all others, cell by cell; best where most products are wanted."""
    found = np.empty((len(starts), len(wanted.first)))
    for cell, rows in enumerate(_runs(starts, right.shape[1])):
        found[cell] = (left[:, rows] @ right[:, rows].T)[wanted.first, wanted.second]
    return found


def by_dots(left: Floats, right: Floats, starts: Indices, wanted: Products) -> Floats:
    """Multiply only what is wanted, cell by cell; best where there are many columns and small families."""
    found = np.empty((len(starts), len(wanted.first)))
    pairs = list(zip(wanted.first.tolist(), wanted.second.tolist(), strict=True))
    for cell, rows in enumerate(_runs(starts, right.shape[1])):
        mine, others = list(left[:, rows]), list(right[:, rows])
        found[cell] = [mine[i].dot(others[j]) for i, j in pairs]
    return found


def by_runs(left: Floats, right: Floats, starts: Indices, wanted: Products) -> Floats:
    """Multiply only what is wanted, all cells at once; best where cells have few rows."""
    found = np.empty((len(starts), len(wanted.first)))
    for place, (i, j) in enumerate(zip(wanted.first.tolist(), wanted.second.tolist(), strict=True)):
        found[:, place] = np.add.reduceat(left[i] * right[j], starts)
    return found


def _runs(starts: Indices, n_rows: int) -> Iterator[slice]:
    bounds = [*starts.tolist(), n_rows]
    return (slice(low, high) for low, high in pairwise(bounds))


_Part = tuple[Indices, Arrays]
"""The cells that have rows in a piece, and their moments."""
Around = Callable[[Floats], tuple[Floats, Floats]]
"""From what to subtract, shape (k, p), to sums and sums of products of what is left, shapes (k, p) and (k, m)."""


# One piece ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows:
    """The rows of a piece that have weight, cell after cell.

    ``order`` is None where they stand as they are; ``run`` tells for each of them in which cell of the piece it is.
    """

    cells: Indices
    starts: Indices
    order: Indices | None
    run: Indices
    weights: Floats | None
    n_rows: int

    @property
    def weight(self) -> Floats:
        """Weight of each cell, shape (k,)."""
        if self.weights is None:
            return np.diff(self.starts, append=self.n_rows).astype(np.float64)
        return np.add.reduceat(self.weights, self.starts)


def _rows_of(job: Job, piece: slice) -> _Rows:
    weights = None if job.weights is None else np.asarray(job.weights[piece], np.float64)
    n_rows = piece.stop - piece.start
    if not job.by and (weights is None or (weights > 0).all()):
        nothing = np.zeros(1, np.int64)
        return _Rows(nothing, nothing, None, nothing, weights, n_rows)
    cell = job.cells_of(piece)
    # Sixteen bits are sorted by radix, many times faster.
    order = np.argsort(cell.astype(np.int16) if job.n_cells < 1 << 15 else cell, kind="stable")
    if weights is not None:
        order = order[weights[order] > 0]
        weights = weights[order]
    cell = cell[order]
    change = np.diff(cell, prepend=-1) != 0
    starts = np.flatnonzero(change)
    return _Rows(cell[starts], starts, order, np.cumsum(change) - 1, weights, len(order))


def _centre(job: Job, piece: slice, rows: _Rows) -> Floats:
    """Return what to subtract, shape (k, p): values near the means, and the value itself of a constant column."""
    if rows.order is None:
        some = np.empty((len(job.columns), min(FIRST_ROWS, rows.n_rows)))
        for j, column in enumerate(job.columns):
            some[j] = column[piece.start : piece.start + some.shape[1]]
        near: Floats = some[:, 0] + (some - some[:, :1]).mean(axis=1)
        return near[None]
    begin = piece.start + rows.order[rows.starts]
    return np.stack([np.zeros(len(begin)), *(column[begin] for column in job.columns)], axis=1)[:, 1:]


def _fill(shifted: Floats, job: Job, piece: slice, rows: _Rows, centre: Floats) -> None:
    """Write every column's values less the cell's ``centre``, shape (k, p), into a row of ``shifted``."""
    for j, column in enumerate(job.columns):
        if rows.order is None:
            np.subtract(column[piece], centre[0, j], out=shifted[j])
        else:
            np.take(column[piece], rows.order, out=shifted[j], mode="clip")
            shifted[j] -= centre[0, j] if len(centre) == 1 else centre[:, j].take(rows.run)


def _of_columns(job: Job, piece: slice, multiply: Multiply, buffer: Floats) -> _Part | None:
    """Return the cells that have rows in a piece, and their moments, column by column."""
    rows = _rows_of(job, piece)
    if not rows.n_rows:
        return None
    shifted = buffer[:, : rows.n_rows]

    def around(centre: Floats) -> tuple[Floats, Floats]:
        _fill(shifted, job, piece, rows, centre)
        left = shifted if rows.weights is None else shifted * rows.weights
        return np.add.reduceat(left, rows.starts, axis=1).T, multiply(left, shifted, rows.starts, job.products)

    return rows.cells, _around_means(rows.weight, _centre(job, piece, rows), around, job.products)


def _of_matrix(job: Job, piece: slice, buffer: Floats) -> _Part | None:
    """Return the same, row by row."""
    assert job.matrix is not None
    weights = None if job.weights is None else job.weights[piece]
    rows = MatrixPiece(job.matrix[piece], job.cells_of(piece), weights, job.n_cells, job.products)
    if not len(rows.cells):
        return None
    return rows.cells, _around_means(
        rows.weight, rows.centre(), lambda centre: rows.around(centre, buffer), job.products
    )


@np.errstate(over="ignore", invalid="ignore")
def _around_means(weight: Floats, centre: Floats, around: Around, wanted: Products) -> Arrays:
    """Turn sums around any ``centre``, shape (k, p), into moments; far from the means they are taken again."""
    for _ in range(2):
        sums, products = around(centre)
        above = sums / weight[:, None]
        square = weight[:, None] * above**2
        scatter = products - weight[:, None] * wanted.of(above)
        far = square > FAR * scatter[:, wanted.squares]
        if not far.any():
            break
        centre = np.where(far, centre + above, centre)
    scatter[:, wanted.squares] = np.maximum(scatter[:, wanted.squares], 0)
    mean, rest = _split(centre, above)
    return weight, mean, rest, scatter


# All of them --------------------------------------------------------------------------------------------------


def pass_over(job: Job) -> Arrays:
    """Return the moments of every cell: shapes (n_cells,), (n_cells, p) twice, and (n_cells, m).

    Numbers that overflow, or are not finite, make some of the result not finite.
    """
    n_cells, p, m = job.n_cells, len(job.columns), len(job.products.first)
    total: Arrays = (np.zeros(n_cells), np.zeros((n_cells, p)), np.zeros((n_cells, p)), np.zeros((n_cells, m)))
    small = job.n_rows * p < SMALL_JOB
    with nullcontext() if small else one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        for cells, part in _parts(job):
            weight, mean, rest, scatter = (array[cells] for array in total)
            for array, value in zip(total, added((weight, mean, rest, scatter), part, job.products.of), strict=True):
                array[cells] = value
    return total


def _parts(job: Job) -> Iterator[_Part]:
    """Yield the moments of all pieces, in order."""
    size, multiply = job.piece_rows, job.multiply()
    pieces = [slice(low, min(low + size, job.n_rows)) for low in range(0, job.n_rows, size)]
    ranges = [pieces[low : low + RANGE_PIECES] for low in range(0, len(pieces), RANGE_PIECES)]

    def one(several: list[slice]) -> Iterator[_Part]:
        n_rows, p = several[0].stop - several[0].start, len(job.columns)
        if job.by_rows:
            buffer = np.empty((n_rows, p))
            found = (_of_matrix(job, piece, buffer) for piece in several)
        else:
            buffer = np.empty((p, n_rows))
            found = (_of_columns(job, piece, multiply, buffer) for piece in several)
        return (part for part in found if part is not None)

    threads = min(settings().threads, len(ranges))
    numbers = min(job.n_cells, size) * len(job.products.first)
    if threads <= 1 or numbers > MANY_NUMBERS:
        for several in ranges:
            yield from one(several)
        return
    with ThreadPoolExecutor(threads) as pool:
        for parts in pool.map(lambda several: list(one(several)), ranges):
            yield from parts
