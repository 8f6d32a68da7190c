"""
The pseudo-likelihood of rows: every variable given all others.

Codes are int32 arrays of shape (n_variables, n_rows), weights n_i have shape (n_rows,), θ is flat with one number per
cell of all tables. Kernels that take ``low`` and ``high`` visit these rows only. All add to what ``out`` holds.
"""

from typing import Annotated

import numpy
from numpy.typing import NDArray


class Incidence:
    """Which variables lie in which scopes."""

    def __init__(self, sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], member_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], member: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Parameters
        ----------
        sizes : int64 array, shape (n_variables,)
            Numbers of states.
        member_at, member : int64 arrays
            The variables of scope s are ``member[member_at[s]:member_at[s + 1]]``; in its table the last one varies fastest.
        """

    def __reduce__(self) -> tuple[object, ...]: ...

class Design:
    """
    A sparse matrix with one row per cell of all tables and one column per weight.
    """

    def __init__(self, at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int) -> None:
        """
        Row c holds ``value[at[c]:at[c + 1]]`` in the columns ``column[at[c]:at[c + 1]]``.
        """

    def __reduce__(self) -> tuple[object, ...]: ...

def count_observed(model: Incidence, codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Add the weight of every observed cell, once for each variable of its scope; ``out`` has shape (n_cells,).
    """

def find_impossible(model: Incidence, codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Mark the rows that have a cell where θ is -inf; ``out`` is a bool array of shape (n_rows,).
    """

def add_expected(model: Incidence, codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: int, high: int, theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> float:
    """
    Add to every cell what rows expect of it beyond what they hold; return Σ_i n_i Σ_v log p(x_v | x_-v).

    ``out`` has shape (copies, n_cells), a power of two of copies that are to be added.
    """

def add_curvature(model: Incidence, codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: int, high: int, theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], direction: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Add the derivative of what `add_expected` adds, in a direction of θ: n_i p_vr (d_vr - Σ_r p_vr d_vr).
    """

def add_scores(model: Incidence, design: Design, codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: int, high: int, theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Add the score of every row, Σ_v (f_v0 - Σ_r p_vr f_vr); ``out`` has shape (high - low, n_columns).
    """

def add_covariances(model: Incidence, design: Design, codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: int, high: int, theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Add Σ_i n_i Σ_v Cov(f_v), each pair of weights once; ``out`` has shape (n_columns, n_columns).

    The matrix is then ``out + out.T`` with the diagonal once. Only weights that touch a variable are visited.
    """
