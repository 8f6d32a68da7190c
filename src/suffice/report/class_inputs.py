"""The inputs of a classifier as a table, from which other tables of the same kind are made.

Any object with ``classes_`` and ``predict_proba`` is a classifier here; it is asked with a table of the kind that X
is, an array or a frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError, UnknownNameError, is_number, is_whole, listing, shown, suggestion


@dataclass(frozen=True, eq=False)
class FromRows:
    """Values of a column that are taken from rows of the column itself, which keeps types and categories."""

    rows: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Inputs:
    """A table of inputs, an array or a frame.

    Attributes
    ----------
    names : tuple of str
    columns : tuple of array
        The values of each, shape (n_rows,).
    frame : frame of narwhals, or None
        What a frame came as; None of an array.
    """

    names: tuple[Any, ...]
    columns: tuple[NDArray[Any], ...]
    frame: Any = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0])

    def place(self, feature: Any, argument: str) -> int:
        """Return which column a position or a name means."""
        if is_whole(feature) and -len(self.names) <= feature < len(self.names):
            return int(feature) % len(self.names)
        if feature in self.names:
            return self.names.index(feature)
        raise UnknownNameError(
            f"The {argument!r} argument names the column {shown(feature)}, but the columns are "
            f"{listing(self.names, 12)}.{suggestion(feature, self.names)}"
        )

    def first_rows(self, place: int) -> dict[Any, int]:
        """Return the values of a column, each with the first row that has it; gaps left out."""
        found: dict[Any, int] = {}
        for row, value in enumerate(self.columns[place].tolist()):
            if not is_missing(value):
                found.setdefault(value, row)
        return found

    def holds_numbers(self, place: int) -> bool:
        """Whether all values of a column are numbers, and not only true or false."""
        column = self.columns[place]
        if column.dtype.kind != "O":
            return column.dtype.kind in "iuf"
        values = self.first_rows(place)
        return bool(values) and all(map(is_number, values))

    def table(self, values: Mapping[int, Any], n: int) -> Any:
        """Return n rows of given values, an array or one number a column, as a table of the same kind."""
        if self.frame is None:
            kind = object if any(not is_numeric(column) for column in self.columns) else np.float64
            found = np.empty((n, len(self.names)), kind)
            for place, value in values.items():
                found[:, place] = self.columns[place][value.rows] if isinstance(value, FromRows) else value
            return found
        return nw.from_dict(
            {name: self._series(place, values[place], n) for place, name in enumerate(self.names)}
        ).to_native()

    def _series(self, place: int, value: Any, n: int) -> Any:
        name, backend = self.names[place], self.frame.implementation
        if isinstance(value, FromRows):
            return self.frame[name][value.rows.tolist()]
        if isinstance(value, np.ndarray):
            return nw.new_series(name, value, nw.Float64(), backend=backend)
        dtype = self.frame[name].dtype
        is_gap = is_missing(value)
        if dtype.is_numeric() and (is_gap or not is_whole(value)):
            gap = None if is_gap and not backend.is_pandas() else np.nan
            return nw.new_series(name, [gap if is_gap else float(value)] * n, nw.Float64(), backend=backend)
        rows = np.flatnonzero(self.columns[place] == value)
        if len(rows):
            return self.frame[name][np.full(n, rows[0]).tolist()]
        if is_gap and backend.is_pandas() and dtype == nw.Boolean and self.columns[place].dtype.kind == "b":
            dtype = nw.Object()  # NumPy's truth values have no gaps
        return nw.new_series(name, [None if is_gap else value] * n, dtype, backend=backend)


def inputs_of(X: Any, classifier: Any) -> Inputs:  # noqa: N803 - the name that scikit-learn gives it
    """Read a table of inputs of a classifier."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        names = tuple(frame.columns)
        columns = tuple(frame[name].to_arrow().to_numpy(zero_copy_only=False) for name in names)
    else:
        matrix, frame = np.asarray(X), None
        if matrix.ndim != 2:
            raise ArgumentError(
                "The 'X' argument must be a frame, or an array with a row for each case and a column for each input. "
                f"Got {shown(X)} instead."
            )
        columns = tuple(matrix.T)
        names = _told_names(classifier, len(columns))
    if len(columns) < 2:
        raise ArgumentError(
            f"The 'X' argument must have two columns or more, which become the axes. Got {len(columns)}."
        )
    return Inputs(names, columns, frame)


def _told_names(classifier: Any, n: int) -> tuple[str, ...]:
    told = getattr(classifier, "feature_names_in_", None)
    return tuple(told) if told is not None and len(told) == n else tuple(f"x{place}" for place in range(n))


def is_missing(value: Any) -> bool:
    """Whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and np.isnan(value))


def is_numeric(column: NDArray[Any]) -> bool:
    """Whether a column has a type of numbers."""
    return column.dtype.kind in "biuf"
