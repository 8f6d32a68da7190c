"""
Queries to a calibrated junction tree: only cliques between the target and the evidence are touched.
"""

from typing import Annotated

import numpy
from numpy.typing import NDArray

import suffice.native.trees


def ask(tree: suffice.native.trees.Tree, tables: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], messages: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], home: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], floors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], soft: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], clique: int, wanted: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], answer: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[float, suffice.native.trees.Outcome]:
    """
    Write p(wanted | evidence) from the marginals of a calibrated tree; return log p(evidence) and the outcome.

    Parameters
    ----------
    tree : Tree
    tables, messages : arrays
        The marginals of cliques and separators.
    home : array, shape (n_variables,)
        The clique nearest to the root that holds each variable; -1 for variables in no clique.
    floors : array, shape (n_cliques,)
        The smallest positive value of each clique's table, zero where some may have underflowed.
    codes : array, shape (n_variables,)
        The state that was observed of each variable, or -1.
    soft : array, shape (n_variables,)
        Where in ``weights`` the likelihoods of each variable's states begin, or -1.
    weights : array
        Likelihoods; none exceeds one.
    clique : int
        A clique that holds all variables of ``wanted``.
    wanted : array
        Variables in the common order, none of them observed.
    answer : array
        Receives one value per cell of the variables that are wanted; undefined unless it ended well.
    """

def ask_rows(tree: suffice.native.trees.Tree, tables: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], messages: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], home: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], floors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], soft: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], clique: int, wanted: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], answers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], log_p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], status: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Ask the same of many rows of evidence; see `ask`.

    Parameters
    ----------
    codes : array, shape (n_rows, n_variables)
    answers : array, shape (n_rows, n_cells)
    log_p : array, shape (n_rows,)
    status : array, shape (n_rows,)
        Receives the values of `Outcome`.
    """
