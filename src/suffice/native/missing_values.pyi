"""
Rows with missing values: connected components, equal lists, and sums over missing states.
"""

from typing import Annotated

import numpy
from numpy.typing import NDArray


def find_components(codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], near_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], near: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]]:
    """
    Return the connected components of the variables that are missing in each row.

    Parameters
    ----------
    codes : array, shape (n_rows, n_variables)
        Negative where a value is missing.
    near_at, near : arrays, shapes (n_variables + 1,) and (…,)
        The neighbours of each variable, one list after another.

    Returns
    -------
    row_of : array, shape (n_components,)
    at, members : arrays, shapes (n_components + 1,) and (…,)
        The variables of each component, in ascending order.
    """

def number_lists(tags: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]]:
    """
    Number lists such that equal ones share a number.

    Parameters
    ----------
    tags : array, shape (n,)
        Lists are equal only if their tags are.
    at, values : arrays, shapes (n + 1,) and (…,)
        The lists, one after another.

    Returns
    -------
    number : array, shape (n,)
        In the order in which different lists first occur.
    first : array, shape (n_distinct,)
        The first list of each number.
    """

def find_surroundings(set_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scopes_of_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scopes_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scope_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scope: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]]:
    """
    Return which scopes sets of variables touch, and which other variables these hold.

    Parameters
    ----------
    set_at, sets : arrays, shapes (n_sets + 1,) and (…,)
        The sets of variables, one after another.
    scopes_of_at, scopes_of : arrays, shapes (n_variables + 1,) and (…,)
        The scopes of each variable.
    scope_at, scope : arrays, shapes (n_scopes + 1,) and (…,)
        The variables of each scope.

    Returns
    -------
    touched_at, touched, edge_at, edge : arrays
        Scopes and other variables of each set, in ascending order.
    """

class Enumeration:
    """
    Sums over missing states, all of which are enumerated; immutable.

    Parameters
    ----------
    sizes : array, shape (n_variables,)
        Number of states of every variable.
    scope_at, scope : arrays
        The variables of every table, in the order of its axes.
    member_at, member : arrays
        The missing variables of every kind; in this order they become the levels of a tree.
    touched_at, touched : arrays
        The tables that hold a missing variable, for every kind.
    edge_at, edge : arrays
        The observed variables of these tables, for every kind.
    kind : array, shape (n_situations,)
    code_at, codes : arrays
        The states of the observed variables, for every situation.
    """

    def __init__(self, sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scope_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scope: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], member_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], member: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], touched_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], touched: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], edge_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], edge: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], kind: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], code_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def sum(self, tables: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_tables: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lo: int, hi: int, expected: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], log_sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """
        Sum the products of tables for a range of situations.

        Parameters
        ----------
        tables, log_tables : arrays, shape (n_cells,)
            The cells of all tables, one table after another, and their logarithms.
        weights : array, shape (n_situations,)
        lo, hi : int
            The range of situations.
        expected : array, shape (n_cells,)
            Weight × posterior of every cell is added to it.
        log_sums : array, shape (n_situations,)
            Receives log Σ Π of the situations in the range; −inf where the sum is zero.
        """
