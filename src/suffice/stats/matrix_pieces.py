"""Pieces of a matrix: moments of columns that lie side by side in memory, row after row.

A matrix is read row by row, as it lies. Where only squares are wanted a kernel adds them up on the way; where all
products of two columns are, the rows of a cell are put together and multiplied as matrices.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.native import moments
from suffice.types import Array, Floats

if TYPE_CHECKING:
    from suffice.stats.moment_passes import Products

MOST_NUMBERS = 1 << 16
"""Moments of more numbers than this would not stay in the cache while rows come in any order."""
PIECE_NUMBERS = 1 << 19
MIN_ROWS, MAX_ROWS = 1 << 10, 1 << 16

Indices = NDArray[np.int64]
UNWEIGHTED = np.zeros(0)


def suits(products: Products, n_cells: int) -> bool:
    """Whether a matrix is better passed over row by row: its cells are few, and squares or all products are wanted."""
    p, m = products.n_columns, len(products.first)
    every = m in (p, p * (p + 1) // 2)
    return bool(every and n_cells * (p + m) <= MOST_NUMBERS)


def rows_of_piece(n_columns: int) -> int:
    """Rows of a piece, so many that they fit the cache."""
    return min(MAX_ROWS, max(MIN_ROWS, PIECE_NUMBERS // max(n_columns, 1)))


class MatrixPiece:
    """Some rows of a matrix, each in one of some cells.

    Attributes
    ----------
    cells : int64 array, shape (k,)
        The cells that have rows with weight here.
    weight : array, shape (k,)
    """

    def __init__(self, matrix: Array, cell: Indices, weights: Array | None, n_cells: int, products: Products) -> None:
        self._x = np.ascontiguousarray(matrix, np.float64)
        self._cell, self._n_cells, self._products = np.ascontiguousarray(cell, np.int64), n_cells, products
        self._weights = UNWEIGHTED if weights is None else np.ascontiguousarray(weights, np.float64)
        first, n_rows, weight = np.empty(n_cells, np.int64), np.empty(n_cells, np.int64), np.empty(n_cells)
        moments.find_first_rows(self._cell, self._weights, first, n_rows, weight)
        self.cells = np.flatnonzero(n_rows)
        self.weight, self._n_rows, self._first = weight[self.cells], n_rows, first[self.cells]

    def centre(self) -> Floats:
        """Return what to subtract first, shape (k, p): the first row of each cell."""
        return self._x[self._first]

    def around(self, centre: Floats, buffer: Floats) -> tuple[Floats, Floats]:
        """Return Σ w (x − c), shape (k, p), and the wanted sums of products of x − c, shape (k, m)."""
        whole = np.zeros((self._n_cells, centre.shape[1]))
        whole[self.cells] = centre
        sums = np.empty_like(whole)
        if len(self._products.first) == self._products.n_columns:
            squares = np.empty_like(whole)
            moments.sum_shifted_squares(self._x, self._cell, self._weights, whole, sums, squares)
            return sums[self.cells], squares[self.cells]
        products = self._multiplied(whole, sums, buffer)
        return sums[self.cells], products

    def _multiplied(self, whole: Floats, sums: Floats, buffer: Floats) -> Floats:
        """Fill the sums, and return those of all products."""
        bounds = np.concatenate([[0], np.cumsum(self._n_rows)])
        factors = np.empty(len(self._weights))
        moments.gather_shifted_rows(self._x, self._cell, self._weights, whole, bounds[:-1], buffer, factors, sums)
        found = np.empty((len(self.cells), len(self._products.first)))
        stretches = list(pairwise(bounds.tolist()))
        for place, cell in enumerate(self.cells.tolist()):
            low, high = stretches[cell]
            rows = buffer[low:high]
            left = rows if not len(factors) else rows * factors[low:high, None]
            found[place] = (left.T @ rows)[self._products.first, self._products.second]
        return found
