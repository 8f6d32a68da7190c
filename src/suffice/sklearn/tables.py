"""What X may be before it is read: an array, rows, or a frame in memory. Everything else is refused with a remedy."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias, TypeGuard

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from suffice.data.position_matrices import SparseMatrix, is_sparse
from suffice.data.raw import RawColumn
from suffice.data.readers import batches, frames
from suffice.errors import DataError, listing, shown
from suffice.types import Array, Frame
from suffice.values import Label

Rows: TypeAlias = Sequence[Sequence[Label | None]]
"""Rows as lists, whose cells may be missing."""
MatrixLike: TypeAlias = ArrayLike | Rows | SparseMatrix | Frame
"""What X may be: an array or nested lists, a matrix of scipy.sparse, or a pandas, Polars or PyArrow table."""
LabelsLike: TypeAlias = ArrayLike | Sequence[Label | None]
"""What y may be: one class for every row."""


def as_table(X: MatrixLike) -> MatrixLike:
    """Return X in a form that can be read; of frames, those with columns that have names of their own, and dense.

    >>> as_table({"a": [1, 2]})
    Traceback (most recent call last):
    ...
    suffice.errors.DataError: X must be an array, rows or a table in memory. Got {'a': [1, 2]} instead. Make a table of
    it first, for instance pandas.DataFrame(X).
    """
    _require_rows(X)
    if not is_frame(X):
        return X
    frame = pa.table(X) if isinstance(X, pa.RecordBatch) else X
    if not frames.open_table(frame).names:  # which also refuses names that occur twice
        raise DataError("X has 0 feature(s): a frame without columns. Pass one with at least one column.")
    return _dense(frame)


def is_frame(X: MatrixLike) -> TypeGuard[Frame]:
    """Whether X is a pandas, Polars or PyArrow table."""
    return not isinstance(X, np.ndarray | list | tuple) and not is_sparse(X) and frames.accepts(X)


def has_columns(value: object) -> bool:
    """Whether a value is a table with named columns, of whatever library."""
    return hasattr(value, "columns")


def may_have_states(X: MatrixLike) -> bool:
    """Whether X can be more than numbers: a frame, or rows with text."""
    return is_frame(X) or holds_text(as_array(X))


def as_array(X: MatrixLike) -> Array | MatrixLike:
    """Return rows as an array in which numbers beside text stay numbers."""
    if isinstance(X, np.ndarray) or is_sparse(X):
        return X
    try:
        array = np.asarray(X)
        return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array
    except ValueError:  # rows of different lengths, which scikit-learn explains
        return X


def holds_text(array: Array | MatrixLike) -> bool:
    """Whether an array has text in it."""
    if not isinstance(array, np.ndarray):  # rows of different lengths, or a sparse matrix
        return False
    kind = array.dtype.kind
    return kind in "US" or (kind == "O" and any(isinstance(value, str) for value in np.ravel(array)))


def columns_of_text(X: MatrixLike) -> list[str]:
    """Return the columns that hold text which is no number; in frames, any text, also as the levels of a categorical.

    >>> columns_of_text([["a", 1.0], ["b", "2"]])
    ['x0']
    """
    if is_frame(X):
        if all(isinstance(kind, np.dtype) and kind.kind in "iufb" for kind in _dtypes(X)):
            return []  # pandas tells without a look at the columns
        raw = frames.open_table(X)
        return [name for name in raw.names if _is_text(raw.column(name))]
    array = as_array(X)
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "OUS":
        return []  # numbers, or a shape that is scikit-learn's to explain
    return [f"x{place}" for place, column in enumerate(array.T) if any(map(_is_word, column))]


def _is_text(column: RawColumn) -> bool:
    if column.origin == "levels":
        return any(isinstance(label, str) for label in column.labels)
    return column.origin == "text"


def _is_word(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


def _require_rows(X: MatrixLike) -> None:
    if isinstance(X, np.ndarray):
        if X.dtype.names:
            _refuse("a structured array", "Make a table of it first, for instance pandas.DataFrame(X).")
        return
    if isinstance(X, Mapping) or (isinstance(X, list | tuple) and X and isinstance(X[0], Mapping)):
        _refuse(shown(X), "Make a table of it first, for instance pandas.DataFrame(X).")
    if isinstance(X, str | os.PathLike):
        _refuse(shown(X), "Read the file first, for instance by pandas.read_csv.")
    if isinstance(X, Generator):
        _refuse("a generator", "Go through it first: list(X).")
    if batches.accepts(X):
        _refuse(
            f"a {type(X).__name__}",
            "Bring it into memory first: X.collect() of a lazy frame, X.to_table() of a dataset.",
        )


def _refuse(found: str, remedy: str) -> NoReturn:
    raise DataError(f"X must be an array, rows or a table in memory. Got {found} instead. {remedy}")


def _dtypes(frame: Any) -> Iterable[Any]:
    """Return the types of the columns of a pandas or Polars frame; of others, one that is no type of NumPy."""
    return getattr(frame, "dtypes", (None,))


def _dense(frame: Any) -> Frame:
    """Return a pandas frame with its sparse columns written out; others as they are."""
    dense: Frame = frame
    if hasattr(frame, "astype"):
        sparse = {name: kind.subtype for name, kind in frame.dtypes.items() if hasattr(kind, "fill_value")}
        dense = frame.astype(sparse) if sparse else frame
    return dense


def refuse_text(X: MatrixLike, remedy: str, *, first: bool) -> None:
    """Refuse columns of text where numbers are wanted, or where training had numbers."""
    text = columns_of_text(X)
    if text and first:
        raise DataError(f"The columns {listing(text)} hold text, but numbers are wanted. {remedy}")
    if text:
        raise DataError(f"The columns {listing(text)} hold text, but held numbers in training. Convert them.")
