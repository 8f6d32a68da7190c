"""The inputs of a classifier as a table, from which other tables of the same kind are made.

Any object with ``classes_`` and ``predict_proba`` is a classifier here; it is asked with a table of the kind that X
is, an array or a frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import narwhals.stable.v2 as nw
import numpy as np

from suffice.errors import ArgumentError, UnknownNameError, is_number, is_whole, listing, shown, suggestion
from suffice.types import Array, Floats, Ints
from suffice.values import Label

if TYPE_CHECKING:
    from suffice.sklearn.tables import MatrixLike

Value: TypeAlias = "Label | None"
"""A value of an input; None where it is missing."""
Filled: TypeAlias = "Value | Floats | FromRows"
"""What a column is made of."""


class Classifier(Protocol):
    """A fitted classifier in the manner of scikit-learn, of this library or of another."""

    @property
    def classes_(self) -> Array:
        """The classes, in the order of their probabilities."""

    def predict_proba(self, X: Any, /) -> Array:  # noqa: N803 - the name that scikit-learn gives it
        """Return p(class | inputs), one row per case."""


@runtime_checkable
class NamesInputs(Protocol):
    """An estimator that was fitted to a frame."""

    @property
    def feature_names_in_(self) -> Sequence[str] | None:
        """The columns of the frame."""


def has(classifier: Any, name: str) -> bool:
    """Whether an object that may be of another library has an attribute, which may depend on its settings."""
    return hasattr(classifier, name)


@dataclass(frozen=True, eq=False)
class FromRows:
    """Values of a column that are taken from rows of the column itself, which keeps types and categories."""

    rows: Ints


@dataclass(frozen=True, eq=False)
class ClassInputs:
    """A table of inputs, an array or a frame.

    Attributes
    ----------
    names : tuple of str
    columns : tuple of array
        The values of each, shape (n_rows,).
    frame : frame of narwhals, or None
        What a frame came as; None of an array.
    """

    names: tuple[str, ...]
    columns: tuple[Array, ...]
    frame: nw.DataFrame[Any] | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0])

    def place(self, feature: str | int, argument: str) -> int:
        """Return which column a position or a name means."""
        if is_whole(feature) and -len(self.names) <= feature < len(self.names):
            return int(feature) % len(self.names)
        if feature in self.names:
            return self.names.index(feature)
        raise UnknownNameError(
            f"The {argument!r} argument names the column {shown(feature)}, but the columns are "
            f"{listing(self.names, 12)}.{suggestion(feature, self.names)}"
        )

    def first_rows(self, place: int) -> dict[Label, int]:
        """Return the values of a column, each with the first row that has it; gaps left out."""
        found: dict[Label, int] = {}
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

    def table(self, values: Mapping[int, Filled], n: int) -> Any:
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

    def _series(self, place: int, value: Filled, n: int) -> nw.Series[Any]:
        assert self.frame is not None
        name, backend = self.names[place], self.frame.implementation
        if isinstance(value, FromRows):
            found: nw.Series[Any] = self.frame[name][value.rows.tolist()]
            return found
        if isinstance(value, np.ndarray):
            return nw.new_series(name, value, nw.Float64(), backend=backend)
        dtype = self.frame[name].dtype
        is_gap = is_missing(value)
        if dtype.is_numeric() and (is_gap or not is_whole(value)):
            gap = None if is_gap and not backend.is_pandas() else np.nan
            return nw.new_series(
                name, [gap if is_gap or value is None else float(value)] * n, nw.Float64(), backend=backend
            )
        rows = np.flatnonzero(self.columns[place] == value)
        if len(rows):
            return self.frame[name][np.full(n, rows[0]).tolist()]
        if is_gap and backend.is_pandas() and dtype == nw.Boolean and self.columns[place].dtype.kind == "b":
            dtype = nw.Object()  # NumPy's truth values have no gaps
        return nw.new_series(name, [None if is_gap else value] * n, dtype, backend=backend)


def inputs_of(X: MatrixLike, classifier: Classifier) -> ClassInputs:  # noqa: N803 - the name that scikit-learn gives it
    """Read a table of inputs of a classifier."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        names = tuple(frame.columns)
        columns = tuple(frame[name].to_arrow().to_numpy(zero_copy_only=False) for name in names)
        return _checked(ClassInputs(names, columns, frame))
    matrix = np.asarray(X)
    if matrix.ndim != 2:
        raise ArgumentError(
            "The 'X' argument must be a frame, or an array with a row for each case and a column for each input. "
            f"Got {shown(X)} instead."
        )
    return _checked(ClassInputs(_told_names(classifier, matrix.shape[1]), tuple(matrix.T)))


def _checked(inputs: ClassInputs) -> ClassInputs:
    if len(inputs.columns) < 2:
        raise ArgumentError(
            f"The 'X' argument must have two columns or more, which become the axes. Got {len(inputs.columns)}."
        )
    return inputs


def _told_names(classifier: Classifier, n: int) -> tuple[str, ...]:
    told = classifier.feature_names_in_ if isinstance(classifier, NamesInputs) else None
    return tuple(told) if told is not None and len(told) == n else tuple(f"x{place}" for place in range(n))


def is_missing(value: Value) -> bool:
    """Whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and np.isnan(value))


def is_numeric(column: Array) -> bool:
    """Whether a column has a type of numbers."""
    return column.dtype.kind in "biuf"
