"""A matrix as a table: many numeric columns that are held together, and a few others beside them.

Blocks of such a table keep the matrix, so that passes that can use it whole (sums by class, products of all columns)
need not take it apart; for all others its columns are columns like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from suffice.data.block import BLOCK_ROWS, Block, BlockColumns, SettledTable
from suffice.data.schema import Schema
from suffice.data.stream import KEEP, checked_weights, or_else
from suffice.data.variable import Variable
from suffice.errors import DataError, listing, shown, suggestion
from suffice.text import plural
from suffice.types import Array, Codes, Columns, Floats


class MatrixColumns(BlockColumns):
    """Columns by name, most of which are those of a matrix.

    Attributes
    ----------
    matrix : array, shape (n_rows, n_names)
    names : tuple of str
        What its columns are called.
    beside : dict of str to array
        The other columns, shape (n_rows,) each.
    whole : bool
        Whether the matrix is known to have no gaps.
    """

    def __init__(self, matrix: Array, names: tuple[str, ...], beside: Columns, whole: bool = False) -> None:
        self.matrix, self.names, self.beside, self.whole = matrix, names, dict(beside), whole
        self._place = {name: place for place, name in enumerate(names)}

    @property
    def n_bytes(self) -> int:
        """Memory of the values."""
        return int(self.matrix.nbytes) + sum(column.nbytes for column in self.beside.values())

    def __getitem__(self, name: str) -> Array:
        return self.beside[name] if name in self.beside else self.matrix[:, self._place[name]]

    def __iter__(self) -> Iterator[str]:
        yield from self.names
        yield from self.beside

    def __len__(self) -> int:
        return len(self.names) + len(self.beside)

    def rows(self, low: int, high: int) -> MatrixColumns:
        """Return some consecutive rows."""
        beside = {name: column[low:high] for name, column in self.beside.items()}
        return MatrixColumns(self.matrix[low:high], self.names, beside, self.whole)

    def part(self, names: Sequence[str]) -> Array | None:
        """Return a view of neighbouring columns of the matrix; None where the names are not such columns."""
        if not names or any(name not in self._place for name in (names[0], names[-1])):
            return None
        low, high = self._place[names[0]], self._place[names[-1]] + 1
        return self.matrix[:, low:high] if self.names[low:high] == tuple(names) else None


def side_by_side(columns: Columns, names: Sequence[str]) -> Array | None:
    """Return columns as the matrix that they lie in, shape (n_rows, len(names)); None where they do not."""
    return columns.part(names) if isinstance(columns, MatrixColumns) else None


def matrix_of(columns: Columns, names: Sequence[str], n_rows: int) -> Floats:
    """Return columns as a matrix of numbers, shape (n_rows, len(names)); without a copy where they are one already.

    Examples
    --------
    >>> columns = MatrixColumns(np.array([[1.0, 2.0], [3.0, 4.0]]), ("x", "z"), {"y": np.array([0, 1])})
    >>> matrix_of(columns, ("z", "x"), 2).tolist()
    [[2.0, 1.0], [4.0, 3.0]]
    >>> matrix_of(columns, ("x", "z"), 2) is columns.matrix
    True
    """
    whole = side_by_side(columns, names)
    if whole is not None:
        same = isinstance(columns, MatrixColumns) and whole.shape == columns.matrix.shape
        return np.asarray(columns.matrix if same else whole, np.float64)  # type: ignore[attr-defined]
    found = np.empty((n_rows, len(names)))
    for place, name in enumerate(names):
        found[:, place] = columns[name]
    return found


@dataclass(frozen=True, eq=False)
class MatrixTable:
    """A matrix in memory as a table.

    Infinite values are refused at once. Missing ones are kept, until a fit opens the table under its own policy.

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
    n_dropped : int
        Rows that were left out before.

    Examples
    --------
    >>> table = MatrixTable(np.array([[1.0], [np.nan]]), (Variable("x"),))
    >>> table.has_gaps, table.under(("x",), missing="drop").matrix.tolist()
    (True, [[1.0]])
    """

    matrix: Array
    variables: tuple[Variable, ...]
    beside: Columns = field(default_factory=dict)
    others: tuple[Variable, ...] = ()
    weights: Array | None = None
    description: str = "array"
    remarks: tuple[str, ...] = ()
    n_dropped: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", _checked_matrix(self.matrix, self.variables))
        _require_codes(self.matrix, self.variables)
        for variable in self.others:
            _require_beside(variable, self.beside.get(variable.name), len(self.matrix))
        if self.weights is not None:
            object.__setattr__(self, "weights", _checked_weights(self.weights, len(self.matrix)))
        _ = self.has_gaps  # looks for infinite values, too

    @cached_property
    def has_gaps(self) -> bool:
        """Whether a value of the matrix, or beside it, is missing."""
        names = tuple(variable.name for variable in self.variables)
        return _has_gaps(self.matrix, names) or any(_below_zero(column) for column in self.beside.values())

    @cached_property
    def schema(self) -> Schema:
        """All variables."""
        return Schema((*self.variables, *self.others))

    @property
    def n_expected(self) -> int:
        """Rows that the table has."""
        return len(self.matrix) + self.n_dropped

    def under(
        self, columns: Sequence[str], missing: str = "error", weights: Any = None, if_missing: str = ""
    ) -> MatrixTable:
        """Return the table as a fit wants it: with these columns, without gaps unless it keeps them, and weighted."""
        absent = [name for name in columns if name not in self.schema]
        if absent:
            raise DataError(
                f"The structure names the variable {absent[0]!r}, but there is no such column in the "
                f"{self.description}. Its columns are {listing(self.schema, 12)}.{suggestion(absent[0], self.schema)}"
            )
        if weights is not None and self.weights is not None:
            raise DataError("The array carries its own weights; the 'weights' argument must be left out.")
        found = self if weights is None else replace(self, weights=weights)
        if missing == KEEP or not self.has_gaps:
            return found
        return found._without_gaps(columns, missing, if_missing)

    def _without_gaps(self, columns: Sequence[str], missing: str, if_missing: str) -> MatrixTable:
        held = self._columns
        gaps = {name: np.isnan(held[name]) if held[name].dtype.kind == "f" else held[name] < 0 for name in columns}
        for name, gap in gaps.items():
            if missing == "error" and gap.any():
                raise DataError(
                    f"Column {name!r}, row {int(np.argmax(gap)) + 1}: the value is missing, NaN "
                    f"({plural(int(gap.sum()), 'missing value')} in the column). "
                    "Fill it in",
                    or_else(if_missing),
                    ".",
                )
        keep = ~np.logical_or.reduce(list(gaps.values()))
        if keep.all():
            return self
        return replace(
            self,
            matrix=self.matrix[keep],
            beside={name: column[keep] for name, column in self.beside.items()},
            weights=None if self.weights is None else self.weights[keep],
            n_dropped=self.n_dropped + int((~keep).sum()),
        )

    @property
    def _columns(self) -> MatrixColumns:
        names = tuple(variable.name for variable in self.variables)
        return MatrixColumns(self.matrix, names, self.beside, not self.has_gaps)

    def blocks(self) -> Iterator[Block]:
        """Yield the rows in order, a block's worth at a time."""
        n, columns = len(self.matrix), self._columns
        for low in range(0, max(n, 1), BLOCK_ROWS):
            high = min(low + BLOCK_ROWS, n)
            weights = None if self.weights is None else self.weights[low:high]
            n_dropped = 0 if low else self.n_dropped
            yield Block(self.schema, columns.rows(low, high), weights, high - low, low, n_dropped, self.n_expected)

    def settled(self) -> SettledTable:
        """Return the variables and the remarks, which were known from the start."""
        return SettledTable(self.schema, self.remarks)

    def with_schema(self, schema: Schema) -> MatrixTable:
        """Return the table itself: its states are final."""
        return self


# Checks -------------------------------------------------------------------------------------------------------


def _checked_matrix(matrix: ArrayLike, variables: Sequence[Variable]) -> Array:
    found = np.asarray(matrix)
    discrete = {variable.is_discrete for variable in variables}
    kinds = "i" if discrete == {True} else "fiub"
    if found.ndim != 2 or found.shape[1] != len(variables) or found.dtype.kind not in kinds or len(discrete) > 1:
        wanted = "codes, signed whole numbers," if discrete == {True} else "numbers"
        raise DataError(
            f"A matrix of {len(variables)} variables, all continuous or all discrete, must hold {wanted} in "
            f"{plural(len(variables), 'column')}. Got {found.dtype} of shape {found.shape} instead."
        )
    return found if discrete == {True} else np.asarray(found, np.float64)


def _require_codes(matrix: Array, variables: Sequence[Variable]) -> None:
    """Refuse codes beyond the states: kernels would count them elsewhere."""
    if not matrix.size or not variables[0].is_discrete:
        return
    sizes = np.array([variable.n_states for variable in variables])
    if matrix.max() < sizes.min():
        return
    for variable, largest in zip(variables, matrix.max(axis=0).tolist(), strict=True):
        _require_code(variable, largest)


def _require_code(variable: Variable, largest: int) -> None:
    if largest >= variable.n_states:
        raise DataError(
            f"Column {variable.name!r} holds the code {largest}, but the variable has "
            f"{plural(variable.n_states, 'state')}: codes count from 0."
        )


def _require_beside(variable: Variable, column: Array | None, n_rows: int) -> None:
    if column is None or column.shape != (n_rows,) or column.dtype.kind != ("i" if variable.is_discrete else "f"):
        got = "nothing" if column is None else f"{column.dtype} of shape {column.shape}"
        wanted = "codes, signed whole numbers" if variable.is_discrete else "floats"
        raise DataError(
            f"The column {variable.name!r} beside a matrix must hold {n_rows:,} {wanted}. Got {got} instead."
        )
    if variable.is_discrete and n_rows:
        _require_code(variable, int(column.max()))


def _checked_weights(weights: ArrayLike, n_rows: int) -> Array:
    found = np.asarray(weights) if not isinstance(weights, str) else np.zeros(())
    if found.shape != (n_rows,) or found.dtype.kind not in "iufb":
        raise DataError(
            f"The 'weights' argument must hold one number a row, shape ({n_rows},). Got {shown(weights)} instead."
        )
    return checked_weights(found, "the 'weights' argument")


def _below_zero(codes: Codes) -> bool:
    return bool(codes.dtype.kind == "i" and codes.size and codes.min() < 0)


def _has_gaps(matrix: Array, names: Sequence[str]) -> bool:
    """Whether something is NaN or −1; refuse infinite values, by their place."""
    if matrix.dtype.kind != "f":
        return _below_zero(matrix)
    with np.errstate(over="ignore", invalid="ignore"):
        total = matrix.sum()  # one quick pass; only a sum that is not finite needs a closer look
    if np.isfinite(total):
        return False
    for name, column in zip(names, matrix.T, strict=True):
        infinite = np.isinf(column)
        if infinite.any():
            row = int(np.argmax(infinite))
            raise DataError(
                f"Column {name!r}, row {row + 1}: the value {column[row]} is not finite. "
                "Correct it, or replace it by a missing value, NaN."
            )
    return bool(np.isnan(total)) and bool(np.isnan(matrix).any())
