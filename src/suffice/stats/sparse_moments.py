"""Moments of the columns of a sparse matrix, each by itself: only what is stored is looked at.

======  =====================================================
k, p    cells, columns
w, μ    weight and mean of a cell
======  =====================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.types import Array, Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def moments_by_cell(
    matrix: csr_array, cell: NDArray[np.int64], n_cells: int, weights: Array | None
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return weight, mean, what rounding cut off the mean, and Σ w (x − μ)² of every cell and column.

    Parameters
    ----------
    matrix : scipy.sparse matrix in the CSR form, shape (n_rows, p)
    cell : int64 array, shape (n_rows,)
    n_cells : int
    weights : array, shape (n_rows,), or None

    Returns
    -------
    arrays, shape (k,), and (k, p) three times

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> words = csr_array(np.array([[0.0, 3.0], [1.0, 0.0], [0.0, 5.0]]))
    >>> weight, mean, _, squares = moments_by_cell(words, np.array([0, 1, 0]), 2, None)
    >>> weight.tolist(), mean.tolist(), squares.tolist()
    ([2.0, 1.0], [[0.0, 4.0], [1.0, 0.0]], [[0.0, 2.0], [0.0, 0.0]])
    """
    n_rows, p = matrix.shape
    w = np.ones(n_rows) if weights is None else np.asarray(weights, np.float64)
    weight = np.asarray(np.bincount(cell, w, n_cells), np.float64)
    row = np.repeat(np.arange(n_rows), np.diff(matrix.indptr))
    place, x, w = cell[row] * p + matrix.indices, matrix.data, w[row]

    def summed(values: Floats) -> Floats:
        return np.asarray(np.bincount(place, values, n_cells * p), np.float64).reshape(n_cells, p)

    divisor = np.where(weight > 0, weight, 1.0)[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        sums = summed(w * x)
        mean = sums / divisor
        rest = ((sums - divisor * mean.astype(np.longdouble)) / divisor).astype(np.float64)
        unstored = np.maximum(weight[:, None] - summed(w), 0)  # their values are zero
        squares = summed(w * (x - mean.reshape(-1)[place]) ** 2) + unstored * mean**2
    return weight, mean, rest, squares
