"""X as the library's columns.

Arrays stay matrices where all columns are numbers. Frames, and arrays with states, are opened by the library's own
reader, which tells states from numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from suffice.data.block import EncodedTable
from suffice.data.encode import above, missing_in
from suffice.data.matrix import MatrixColumns
from suffice.data.matrix_codes import states_of_matrix
from suffice.data.position_matrices import CompressedRows
from suffice.data.raw import RawTable
from suffice.data.readers import frames, open_raw
from suffice.data.schema import SchemaLike
from suffice.data.sparse_matrix import SparseColumns
from suffice.data.stream import KEEP
from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.errors import DataError
from suffice.sklearn.tables import MatrixLike, as_array, holds_text, is_frame, refuse_text
from suffice.types import Array, Columns, Floats, Frame
from suffice.values import Label

Column: TypeAlias = Array | list[Label | None]
"""A column of an array of X: numbers, or numbers beside text."""


class InputReader(Protocol):
    """A classifier as far as reading X is concerned; scikit-learn counts and names its inputs."""

    n_features_in_: int
    _if_text: ClassVar[str]


@dataclass(frozen=True)
class Inputs:
    """The inputs of some rows.

    Attributes
    ----------
    variables : tuple of Variable
    columns : mapping of str to array
        Codes (−1 is missing) or numbers (NaN is missing), shape (n_rows,) each; `MatrixColumns` where X is a matrix.
    n_rows : int
    remarks : tuple of str
        What was decided in reading them.
    """

    variables: tuple[Variable, ...]
    columns: Columns
    n_rows: int
    remarks: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What the inputs are called."""
        return tuple(variable.name for variable in self.variables)

    def rows(self, kept: NDArray[np.int64] | slice) -> Inputs:
        """Return some of the rows."""
        columns: Columns
        if isinstance(self.columns, MatrixColumns):
            columns = type(self.columns)(self.columns.matrix[kept], self.columns.names, {})
        else:
            columns = {name: column[kept] for name, column in self.columns.items()}
        n_rows = len(range(self.n_rows)[kept]) if isinstance(kept, slice) else len(kept)
        return Inputs(self.variables, columns, n_rows, self.remarks)

    def as_if_alone(self, *, declared: bool = False) -> Inputs:
        """Return the inputs without states that the data told, or also declared ones, and that none of the rows has."""
        if all(not variable.is_discrete or (variable.declared and not declared) for variable in self.variables):
            return self
        seen = [_seen(variable, self.columns[variable.name], declared) for variable in self.variables]
        columns = {variable.name: codes for variable, codes in seen}
        return Inputs(tuple(variable for variable, _ in seen), columns, self.n_rows, self.remarks)


def _seen(variable: Variable, codes: Array, declared: bool) -> tuple[Variable, Array]:
    if not variable.is_discrete or (variable.declared and not declared):
        return variable, codes
    present = np.bincount(codes[codes >= 0], minlength=variable.n_states) > 0
    if present.all():
        return variable, codes
    states = tuple(state for state, there in zip(variable.labels, present, strict=True) if there)
    places = np.append(np.cumsum(present) - 1, -1).astype(codes.dtype)  # −1, missing, is found at the end
    return Variable(variable.name, states, variable.declared), places[codes]


def _frame_names(shell: InputReader) -> Array | None:
    """Return the names of a frame's columns, which scikit-learn keeps where all of them are text."""
    return getattr(shell, "feature_names_in_", None)


def names_of(shell: InputReader) -> tuple[str, ...]:
    """Return the names of the inputs: those of a frame, else x0, x1 and so on."""
    named = _frame_names(shell)
    return tuple(f"x{place}" for place in range(shell.n_features_in_)) if named is None else tuple(map(str, named))


def first_gap(inputs: Inputs) -> tuple[str, int] | None:
    """Return the column and the number of the first row in it that lacks a value; None when all are there."""
    held = inputs.columns
    matrix: Any = held.matrix if isinstance(held, MatrixColumns) else None
    if isinstance(held, SparseColumns):
        places = np.flatnonzero(missing_in(matrix.data))
        if not len(places):
            return None
        return inputs.names[matrix.indices[places[0]]], int(np.searchsorted(matrix.indptr, places[0], side="right"))
    if matrix is not None and not np.isnan(matrix.sum()):
        return None
    for name in inputs.names:
        gaps = missing_in(held[name])
        if gaps.any():
            return name, int(np.argmax(gaps)) + 1
    return None


# Numbers ------------------------------------------------------------------------------------------------------


def read_numbers(
    shell: InputReader, X: MatrixLike, *, first: bool, sparse: bool = False, finite: bool = True
) -> Inputs:
    """Read X as a matrix of numbers; NaN is missing. Infinities are refused, unless that is done later."""
    matrix = _as_numbers(shell, X, first=first, accepted="csr" if sparse else False)
    names = names_of(shell)
    if finite:
        _refuse_infinities(matrix, names)
    held = MatrixColumns(matrix, names, {}) if isinstance(matrix, np.ndarray) else SparseColumns(matrix, names, {})
    return Inputs(tuple(map(Variable, names)), held, matrix.shape[0])


def compared(inputs: Inputs, variables: tuple[Variable, ...], threshold: float) -> Inputs:
    """Return the codes of a sparse matrix: 1 for numbers above a threshold, which is at least 0, and −1 for NaN."""
    assert isinstance(inputs.columns, SparseColumns)
    matrix: Any = inputs.columns.matrix.copy()
    matrix.sum_duplicates()
    codes = type(matrix)((above(matrix.data, threshold), matrix.indices, matrix.indptr), matrix.shape)
    codes.eliminate_zeros()
    return Inputs(variables, SparseColumns(codes, inputs.names, {}), inputs.n_rows, inputs.remarks)


def _as_numbers(
    shell: InputReader, X: MatrixLike, *, first: bool, accepted: Literal["csr", False]
) -> Floats | CompressedRows:
    """Return X as a matrix; text is refused by the names of its columns."""
    if is_frame(X):
        refuse_text(X, shell._if_text, first=first)
    try:
        found: Floats | CompressedRows = validate_data(
            shell, X, reset=first, dtype=np.float64, ensure_all_finite=False, accept_sparse=accepted
        )
        return found
    except ValueError:
        refuse_text(X, shell._if_text, first=first)
        raise


def _refuse_infinities(matrix: Floats | CompressedRows, names: tuple[str, ...]) -> None:
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(values.sum()) or not np.isinf(values).any():  # most often one pass is enough
            return
    dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    row, column = np.argwhere(np.isinf(dense))[0]
    raise DataError(
        f"Column {names[column]!r}, row {row + 1}: {dense[row, column]:g} is not a finite number. Correct it, or write "
        "NaN where the value is missing."
    )


# States and numbers -------------------------------------------------------------------------------------------


class ArrayColumns(dict[str, Column]):
    """The columns of an array by name, and the array itself."""

    def __init__(self, array: Array, names: tuple[str, ...]) -> None:
        super().__init__({name: _plain(array[:, place]) for place, name in enumerate(names)})
        self.array = array


def open_columns(shell: InputReader, X: MatrixLike, *, first: bool) -> Frame | ArrayColumns | dict[str, Column]:
    """Return X as a table that the library opens: a frame as it is, an array as a dict of columns."""
    if is_frame(X):
        validate_data(shell, X, reset=first, skip_check_array=True)
        if not frames.open_table(X).n_rows:
            raise DataError("X has 0 sample(s): there is no row to learn from or to classify. Pass at least one.")
        return X if _frame_names(shell) is not None else _renamed(X, names_of(shell))
    array = as_array(X)
    wanted = None if holds_text(array) else "numeric"
    array = validate_data(shell, array, reset=first, dtype=wanted, ensure_all_finite=False)
    names = names_of(shell)
    if array.dtype.kind == "f":
        _refuse_infinities(array, names)
    return ArrayColumns(array, names)


def origins_of(table: Frame | Mapping[str, Column], names: tuple[str, ...]) -> dict[str, str]:
    """Return what the values of each column are: text, bool, integer, float, levels or empty."""
    if isinstance(table, ArrayColumns) and table.array.dtype.kind in "iub":
        return dict.fromkeys(names, "bool" if table.array.dtype.kind == "b" else "integer")
    raw = open_raw(table)
    assert isinstance(raw, RawTable)  # a frame or columns in memory
    return {name: raw.column(name).origin for name in names}


def read_columns(
    table: Frame | Mapping[str, Column], names: tuple[str, ...], schema: SchemaLike | None, unknown_states: str
) -> Inputs:
    """Read a table in memory as columns of states and numbers, gaps kept."""
    whole = states_of_matrix(table.array, names, schema, unknown_states) if isinstance(table, ArrayColumns) else None
    if whole is not None:
        codes, variables, remarks = whole
        return Inputs(variables, MatrixColumns(codes, names, {}), len(codes), remarks)
    encoded = open_table(table, names, schema=schema, missing=KEEP, unknown_states=unknown_states)
    assert isinstance(encoded, EncodedTable)  # a frame or columns in memory
    for variable in encoded.schema.variables:
        if not variable.is_discrete:
            _refuse_infinities(encoded.columns[variable.name][:, None], (variable.name,))
    return Inputs(encoded.schema.variables, encoded.columns, encoded.n_rows, encoded.remarks)


def _plain(column: Array) -> Column:
    """Return a column of objects as a list, whose numbers and texts Arrow tells apart."""
    return column.tolist() if column.dtype.kind == "O" else column


def _renamed(frame: Any, names: tuple[str, ...]) -> dict[str, Column]:
    """Return a frame whose columns are not called by text as a dict of columns."""
    return {name: frame.iloc[:, place] for place, name in enumerate(names)}
