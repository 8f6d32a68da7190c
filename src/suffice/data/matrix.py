"""A matrix as a table: many numeric columns that are held together, and a few others beside them.

Blocks of such a table keep the matrix, so that passes that can use it whole (sums by class, products of all columns)
need not take it apart; for all others its columns are columns like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import BLOCK_ROWS, Block, SettledTable
from suffice.data.schema import Schema
from suffice.data.variable import Variable

Floats = NDArray[np.float64]


class MatrixColumns(Mapping[str, NDArray[Any]]):
    """Columns by name, most of which are those of a matrix.

    Attributes
    ----------
    matrix : array, shape (n_rows, n_names)
    names : tuple of str
        What its columns are called.
    beside : dict of str to array
        The other columns, shape (n_rows,) each.
    """

    def __init__(self, matrix: NDArray[Any], names: tuple[str, ...], beside: Mapping[str, NDArray[Any]]) -> None:
        self.matrix, self.names, self.beside = matrix, names, dict(beside)
        self._place = {name: place for place, name in enumerate(names)}

    @property
    def n_bytes(self) -> int:
        """Memory of the values."""
        return int(self.matrix.nbytes) + sum(column.nbytes for column in self.beside.values())

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.beside[name] if name in self.beside else self.matrix[:, self._place[name]]

    def __iter__(self) -> Iterator[str]:
        yield from self.names
        yield from self.beside

    def __len__(self) -> int:
        return len(self.names) + len(self.beside)

    def rows(self, low: int, high: int) -> MatrixColumns:
        """Return some consecutive rows."""
        beside = {name: column[low:high] for name, column in self.beside.items()}
        return MatrixColumns(self.matrix[low:high], self.names, beside)


def matrix_of(columns: Mapping[str, NDArray[Any]], names: Sequence[str], n_rows: int) -> Floats:
    """Return columns as a matrix of numbers, shape (n_rows, len(names)); without a copy where they are one already."""
    if isinstance(columns, MatrixColumns) and columns.names == tuple(names) and columns.matrix.dtype == np.float64:
        return columns.matrix
    found = np.empty((n_rows, len(names)))
    for place, name in enumerate(names):
        found[:, place] = columns[name]
    return found


@dataclass(frozen=True, eq=False)
class MatrixTable:
    """A matrix in memory as a table.

    Attributes
    ----------
    matrix : array, shape (n_rows, n_variables)
        Numbers of continuous variables (NaN is missing) or codes of discrete ones (−1 is missing).
    variables : tuple of Variable
        One a column of the matrix, all continuous or all discrete.
    beside : dict of str to array
        Codes of further variables, such as the class, shape (n_rows,) each.
    others : tuple of Variable
        Those variables.
    weights : array, shape (n_rows,), or None
    """

    matrix: NDArray[Any]
    variables: tuple[Variable, ...]
    beside: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    others: tuple[Variable, ...] = ()
    weights: NDArray[Any] | None = None
    description: str = "array"
    remarks: tuple[str, ...] = ()

    @property
    def schema(self) -> Schema:
        """All variables."""
        return Schema((*self.variables, *self.others))

    @property
    def n_expected(self) -> int:
        """The number of rows."""
        return len(self.matrix)

    def blocks(self) -> Iterator[Block]:
        """Yield the rows in order, a block's worth at a time."""
        schema, n = self.schema, len(self.matrix)
        columns = MatrixColumns(self.matrix, tuple(variable.name for variable in self.variables), self.beside)
        for low in range(0, max(n, 1), BLOCK_ROWS):
            high = min(low + BLOCK_ROWS, n)
            weights = None if self.weights is None else self.weights[low:high]
            yield Block(schema, columns.rows(low, high), weights, high - low, low, 0, n)

    def settled(self) -> SettledTable:
        """Return the variables and the remarks, which were known from the start."""
        return SettledTable(self.schema, self.remarks)

    def with_schema(self, schema: Schema) -> MatrixTable:
        """Return the table itself: its states are final."""
        return self
