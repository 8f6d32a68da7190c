"""The graphical lasso, column by column."""

from typing import Annotated

import numpy
from numpy.typing import NDArray


def sweep_columns(s: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], penalty: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], b: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], sweeps: int, most: int, tol: float) -> float:
    """
    Regress every column on the others until ``w`` moves by at most ``tol``; return how far it moved last.

    Parameters
    ----------
    s, penalty : arrays, shape (d, d)
        Covariance matrix, and penalties, zero on the diagonal.
    w, b : arrays, shape (d, d)
        The model's covariance matrix, and the coefficients of column j in row j; both are changed.
    sweeps, most : int
        Most sweeps over all columns, and most passes over the coefficients of one regression.
    tol : float
    """
