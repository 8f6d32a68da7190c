"""Errors of matrices as data."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.error_catalogue import D, entry

from suffice.data.matrix import MatrixTable
from suffice.data.matrix_codes import known_matrix
from suffice.data.table import open_table
from suffice.data.variable import Variable

X, COIN = Variable("x"), Variable("coin", ("heads", "tails"))


def numbers(*values: float, **more: Any) -> MatrixTable:
    return MatrixTable(np.array(values)[:, None], (X,), **more)


entry("a matrix of text", D, lambda w: MatrixTable(np.array([["a"]]), (X,)), "must hold numbers in 1 column", "<U1")
entry(
    "a code beyond the states",
    D,
    lambda w: MatrixTable(np.array([[2]]), (COIN,)),
    "Column 'coin' holds the code 2",
    "2 states: codes count from 0",
)
entry(
    "a column beside a matrix of another length",
    D,
    lambda w: numbers(1.0, beside={"coin": np.array([0, 1])}, others=(COIN,)),
    "The column 'coin' beside a matrix must hold 1 codes",
    "shape (2,)",
)
entry("a matrix with an infinite value", D, lambda w: numbers(1.0, np.inf), "Column 'x', row 2: the value inf", "NaN")
entry(
    "a matrix with a gap",
    D,
    lambda w: open_table(numbers(1.0, np.nan), ("x",)),
    "Column 'x', row 2: the value is missing, NaN (1 missing value",
    "Fill it in",
)
entry(
    "a matrix without the column",
    D,
    lambda w: open_table(numbers(1.0), ("y",)),
    "names the variable 'y', but there is no such column in the array",
    "['x']",
)
entry(
    "weights of a matrix, one too many",
    D,
    lambda w: numbers(1.0, weights=[1, 2]),
    "The 'weights' argument must hold one number a row, shape (1,)",
)
entry(
    "weights of a matrix, twice",
    D,
    lambda w: open_table(numbers(1.0, weights=[1]), ("x",), weights=[1]),
    "carries its own weights",
)
entry(
    "an unknown state in a matrix",
    D,
    lambda w: known_matrix(np.array([[0], [7]]), [Variable("x", (0, 1))], "error"),
    "Column 'x', row 2: state 7 is not one of [0, 1]",
    "unknown_states='missing'",
)
