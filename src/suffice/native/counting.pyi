"""Counting many families of columns at once, over one tile of rows."""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def level() -> str:
    """
    Return the level of instructions that was chosen: ``baseline``, ``avx2`` or ``avx512``.
    """

class Families:
    """
    Which columns the families have; their tables lie one after the other.

    Parameters
    ----------
    members : array of int64
        The columns of all families, one family after the other.
    starts : array of int64, shape (n_families + 1,)
        Where each family begins in ``members``.
    sizes : array of int64, shape (n_columns,)
        Numbers of states.
    """

    def __init__(self, members: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def n_cells(self) -> int:
        """Cells of all tables."""

    @property
    def n_masks(self) -> int:
        """States of all columns."""

def build_masks(families: Families, tile: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_rows: int, masks: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Fill one bit mask per column and state.

    Parameters
    ----------
    families : Families
    tile : array of int8, shape (n_columns, 64 · n_words)
        Codes, within the states of their columns.
    n_rows : int
        Rows of the tile that count.
    masks : array of uint64, shape (n_masks, n_words)
        Output: the masks of all states of the first column, of the second, and so on. Bit i of word w is row 64 w + i.
    """

def count_masks(families: Families, masks: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_rows: int, out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Add the counts of all families to ``out``, from the masks of their columns.

    Parameters
    ----------
    families : Families
    masks : array of uint64, shape (n_masks, n_words)
        As `build_masks` fills them for the same families and rows.
    n_rows : int
    out : array of int64, shape (n_cells,)
        The tables of all families, one after the other.
    """

@overload
def count_histogram(families: Families, tile: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_rows: int, out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def count_histogram(families: Families, tile: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_rows: int, out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Add the counts of all families to ``out``, by one histogram per family.

    Parameters
    ----------
    families : Families
    tile : array of int8 or int32, shape (n_columns, at least n_rows)
        Codes, within the states of their columns.
    n_rows : int
        Rows of the tile that count.
    out : array of int64, shape (n_cells,)
        The tables of all families, one after the other.
    """

@overload
def count_weighted(families: Families, tile: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def count_weighted(families: Families, tile: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def count_weighted(families: Families, tile: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def count_weighted(families: Families, tile: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Add the weights of all families' configurations to ``out``, in the order of the rows.

    Parameters
    ----------
    families : Families
    tile : array of int8 or int32, shape (n_columns, at least n_rows)
        Codes, within the states of their columns.
    weights : array of int64 or float64, shape (n_rows,)
    out : array of the same type, shape (n_cells,)
        The tables of all families, one after the other.
    """

def count_windows(values: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], before: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], n_states: int, out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Add the counts of every position with its one to three predecessors to ``out``.

    Parameters
    ----------
    values : array of int8, shape (n,)
        Codes of sequences, one after the other.
    starts : array of int64
        Where sequences begin; their first positions have the digit 0, the time before the start, as predecessors.
    before : array of int8, shape (order,)
        The predecessors of the first position, the oldest first, as codes plus 1.
    n_states : int
    out : array of int64, shape ((n_states + 1)^order · n_states,)
    """

@overload
def count_keys(keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]]: ...

@overload
def count_keys(keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]]: ...

@overload
def count_keys(keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]]:
    """
    Return the distinct keys, in any order, and the sum of the weights of each.

    Parameters
    ----------
    keys : array of int64, shape (n,)
        Not negative.
    weights : array of int64 or float64, shape (n,), optional
        One each unless given; added in their order.
    """
