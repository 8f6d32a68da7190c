"""
Sums over missing states through junction trees, where there are too many states to enumerate.
"""

from typing import Annotated

import numpy
from numpy.typing import NDArray

import suffice.native.trees


def sum_by_tree(tree: suffice.native.trees.Tree, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], logs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], floors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], into: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], expected: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], log_sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Sum the products of tables for situations that share a tree.

    Parameters
    ----------
    tree : Tree
    values, logs : arrays, shape (n_values,)
        The cells of the factors, none above one, and their logarithms.
    floors : array, shape (n_factors,)
        Bounds from below of the factors' positive values, zero where some underflowed.
    starts : array, shape (n_situations, n_factors)
        Where each factor begins in ``values``.
    into : array, shape (n_situations, n_factors)
        Where its posterior begins in ``expected``; −1 where it is not wanted.
    weights : array, shape (n_situations,)
    expected : array
        Weight × posterior of every cell is added to it.
    log_sums : array, shape (n_situations,)
        Receives log Σ Π; −inf where the sum is zero.
    """

class ForestSums:
    """
    Sums for situations whose kinds have trees of their own; immutable.

    Parameters
    ----------
    forest : Forest
        The tree of every kind, over its missing variables.
    table_of : array
        The table that each factor is a slice of, one tree after another.
    kind : array, shape (n_situations,)
        The tree of every situation.
    cells : array
        The cells of all tables that agree with a situation's observed states, factor by factor, for every situation.
    """

    def __init__(self, forest: suffice.native.trees.Forest, table_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], kind: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def sum(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], logs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], floors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lo: int, hi: int, expected: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], log_sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """
        Sum the products of tables for a range of situations.

        Parameters
        ----------
        values, logs : arrays, shape (n_cells,)
            The cells of all tables, none above one, and their logarithms.
        floors : array, shape (n_tables,)
            Bounds from below of the tables' positive values, zero where some underflowed.
        weights : array, shape (n_situations,)
        lo, hi : int
            The range of situations.
        expected : array, shape (n_cells,)
            Weight × posterior of every cell is added to it.
        log_sums : array, shape (n_situations,)
            Receives log Σ Π of the situations in the range; −inf where the sum is zero.
        """
