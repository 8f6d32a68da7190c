"""
Moments of the rows of a matrix, cell by cell, in one reading of every row.
"""

from typing import Annotated

import numpy
from numpy.typing import NDArray


def find_first_rows(cell: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], n_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Find the first row of every cell (−1 where there is none), how many rows it has, and their weight.

    Parameters
    ----------
    cell : int64 array, shape (n,)
    weights : array, shape (n,) or (0,)
        None at all: every row counts once. Rows without weight are left out.
    first, n_rows : int64 arrays, shape (K,)
    weight : array, shape (K,)
    """

def sum_shifted_squares(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], cell: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], squares: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Fill Σ w (x − c) and Σ w (x − c)² of every cell and column.

    Parameters
    ----------
    x : array, shape (n, p)
    cell : int64 array, shape (n,)
    weights : array, shape (n,) or (0,)
    centre, sums, squares : arrays, shape (K, p)
    """

def gather_shifted_rows(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], cell: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], gathered: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write x − c with the rows of one cell after those of another, and fill Σ w (x − c).

    Parameters
    ----------
    x : array, shape (n, p)
    cell : int64 array, shape (n,)
    weights : array, shape (n,) or (0,)
    centre, sums : arrays, shape (K, p)
    starts : int64 array, shape (K,)
        Where the rows of each cell begin.
    gathered : array, shape (at least n, p)
    factors : array, shape (at least n,), or (0,) without weights
        The weights in the same order.
    """
