"""A sparse matrix as a table: as many columns as there are words, of which a row has few."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suffice.data.block import Block
from suffice.data.encode import missing_in
from suffice.data.matrix import MatrixColumns, MatrixTable
from suffice.data.stream import checked_weights
from suffice.errors import DataError, shown
from suffice.text import plural
from suffice.types import Array, Columns

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SPARSE_ROWS = 1 << 16
"""Rows of a block; their scores, one a class, are written out."""


class SparseColumns(MatrixColumns):
    """Columns by name, most of which are those of a sparse matrix; a single one is written out when asked for.

    The matrix holds numbers, or codes of discrete variables as signed whole numbers; what is not stored is 0.
    """

    matrix: csr_array

    def __init__(self, matrix: csr_array, names: tuple[str, ...], beside: Columns) -> None:
        self.matrix, self.names, self.beside = matrix, names, dict(beside)
        self.whole = True  # a `SparseTable` has no gaps

    @cached_property
    def _place(self) -> dict[str, int]:  # type: ignore[override]
        return {name: place for place, name in enumerate(self.names)}

    @property
    def place(self) -> Mapping[str, int]:
        """Which column of the matrix each name is."""
        return self._place

    @property
    def n_bytes(self) -> int:
        """Memory of the values."""
        return int(self.matrix.data.nbytes) + sum(column.nbytes for column in self.beside.values())

    def __getitem__(self, name: str) -> Array:
        if name in self.beside:
            return self.beside[name]
        return np.asarray(self.matrix[:, [self._place[name]]].toarray()).reshape(-1)

    def rows(self, low: int, high: int) -> SparseColumns:
        """Return some consecutive rows."""
        beside = {name: column[low:high] for name, column in self.beside.items()}
        return SparseColumns(self.matrix[low:high], self.names, beside)

    def part(self, names: Sequence[str]) -> Array | None:
        """Return None: there is no array that the columns lie in."""
        return None


def sparse_part(columns: Columns, names: Sequence[str]) -> csr_array | None:
    """Return the sparse matrix of neighbouring columns; None where the names are not such columns.

    >>> from scipy.sparse import csr_array
    >>> words = SparseColumns(csr_array(np.eye(3)), ("cat", "dog", "owl"), {})
    >>> sparse_part(words, ("dog", "owl")).shape, sparse_part(words, ("owl", "dog")) is None
    ((3, 2), True)
    """
    if not isinstance(columns, SparseColumns) or not names or names[0] not in columns._place:
        return None
    low = columns._place[names[0]]
    high = low + len(names)
    if columns.names[low:high] != tuple(names):
        return None
    return columns.matrix if (low, high) == (0, len(columns.names)) else columns.matrix[:, low:high]


@dataclass(frozen=True, eq=False)
class SparseTable(MatrixTable):
    """A sparse matrix of numbers or codes as a table, without missing values; see `MatrixTable`.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from suffice.data.variable import Variable
    >>> words = csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> table = SparseTable(words, (Variable("cat"), Variable("dog")))
    >>> [block.columns["dog"].tolist() for block in table.blocks()]
    [[2.0, 0.0]]
    """

    matrix: csr_array

    def __post_init__(self) -> None:
        from scipy.sparse import issparse

        matrix = self.matrix
        if not issparse(matrix) or matrix.ndim != 2 or matrix.shape[1] != len(self.variables):
            raise DataError(
                f"A sparse table needs a scipy.sparse matrix of {plural(len(self.variables), 'column')}. Got "
                f"{shown(matrix)} instead."
            )
        rows = matrix.tocsr()
        rows = rows.copy() if all(v.is_discrete for v in self.variables) else rows.astype(np.float64)
        rows.sum_duplicates()
        if missing_in(rows.data).any() or not np.isfinite(rows.data).all():
            raise DataError("The sparse matrix holds NaN or infinity. Fill missing values in, or leave such rows out.")
        object.__setattr__(self, "matrix", rows)
        for name, column in self.beside.items():
            if column.shape != (self.n_rows,) or (column < 0).any():
                raise DataError(
                    f"The column {name!r} beside a sparse matrix must hold {self.n_rows:,} codes, none missing. Got "
                    f"{shown(column)} instead."
                )
        if self.weights is not None:
            object.__setattr__(self, "weights", checked_weights(np.asarray(self.weights), "the 'weights' argument"))

    @property
    def n_rows(self) -> int:
        """Rows that are there."""
        return int(self.matrix.shape[0])

    @cached_property
    def has_gaps(self) -> bool:
        """Whether a value is missing: none is."""
        return False

    @property
    def n_expected(self) -> int:
        """Rows that the table has."""
        return self.n_rows + self.n_dropped

    @property
    def _columns(self) -> SparseColumns:
        return SparseColumns(self.matrix, tuple(variable.name for variable in self.variables), self.beside)

    def blocks(self) -> Iterator[Block]:
        """Yield the rows in order, a block's worth at a time."""
        n, columns = self.n_rows, self._columns
        for low in range(0, max(n, 1), SPARSE_ROWS):
            high = min(low + SPARSE_ROWS, n)
            weights = None if self.weights is None else self.weights[low:high]
            part = columns if high - low == n else columns.rows(low, high)
            yield Block(self.schema, part, weights, high - low, low, self.n_dropped if not low else 0, self.n_expected)
