"""
Rows of evidence, each sent through one junction tree whose tables are sliced by what the row observed.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


FINE: int = 0

IMPOSSIBLE: int = 1

LOST: int = 2

class SlicedTree:
    """
    A junction tree and its factors; cliques come before their parents, the root is last.

    ``x_at`` arrays have one place more than there are lists of x: list number i is ``x_at[i]`` to ``x_at[i + 1]``.
    """

    def __init__(self, sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scope_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scope: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], part_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], part: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parent: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], child_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], child: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], factor_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], factor: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], member_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], member: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], stride: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Check and copy the arrays of a tree.

        Parameters
        ----------
        sizes : array, shape (n_variables,)
            Number of states of every variable.
        scope_at, scope : arrays
            The variables of every clique, in one common order.
        part_at, part : arrays
            The variables of the separator above every clique; none for the root.
        parent : array, shape (n_cliques,)
            The clique above every clique; -1 for the root.
        child_at, child : arrays
            The children of every clique.
        factor_at, factor : arrays
            The factors that every clique holds.
        member_at, member : arrays
            The variables of every factor.
        stride : array
            Their strides in the factor's table.
        start : array, shape (n_factors + 1,)
            Where each factor's table begins, and where the last one ends.
        """

    def __getstate__(self) -> list[list[int]]: ...

    def __setstate__(self, arg: Sequence[Sequence[int]], /) -> None: ...

def count_cells(tree: SlicedTree, rows: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], messages: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write the number of cells of all tables, and of all separators, that each row of codes leaves.

    Parameters
    ----------
    tree : SlicedTree
    rows : array, shape (n_rows, n_variables)
        Codes; negative where nothing was observed.
    cells, messages : arrays, shape (n_rows,)
        Outputs.
    """

def add_expected_counts(tree: SlicedTree, rows: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], status: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], expected: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write log p of every row, and add to the counts that the rows are expected to have in all tables.

    Parameters
    ----------
    tree : SlicedTree
    rows : array, shape (n_rows, n_variables)
        Codes; negative where nothing was observed.
    weights : array, shape (n_rows,)
    tables : array
        The factors' tables one after another.
    log_p, status : arrays, shape (n_rows,)
        Outputs; rows that are IMPOSSIBLE or LOST have -inf and add nothing to the counts.
    expected : array
        The counts, in the layout of ``tables``; they are added to.
    """
