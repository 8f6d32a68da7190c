"""pandas, Polars and PyArrow tables (any eager frame that narwhals knows)."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from suffice.data.raw import ArrowColumn, CodedColumn, RawColumn, RawTable, without_decimals
from suffice.errors import DataError


def unwrapped(data: Any) -> Any:
    """Return the frame that narwhals speaks for, if data is one of narwhals' own; other data as it is."""
    return nw.to_native(data, pass_through=True)


def accepts(data: object) -> bool:
    """Whether ``data`` is an eager frame."""
    if isinstance(data, pa.RecordBatch):
        return True
    try:
        return isinstance(nw.from_native(data, pass_through=True, eager_only=True), nw.DataFrame)
    except ValueError:  # narwhals refuses frames with repeated names, which open_table explains
        return True


def open_table(data: Any) -> RawTable:
    """Open a frame; columns become Arrow columns one at a time, when asked for."""
    if isinstance(data, pa.RecordBatch):
        data = pa.table(data)
    listed = data.column_names if isinstance(data, pa.Table) else [str(name) for name in getattr(data, "columns", ())]
    if len(set(listed)) < len(listed):  # narwhals would refuse them in its own words
        repeated = next(name for name in listed if listed.count(name) > 1)
        raise DataError(f"Column {repeated!r} occurs more than once. Rename or drop the others.")
    frame = nw.from_native(data, eager_only=True)
    names = tuple(map(str, frame.columns))
    kind = f"{frame.implementation.name.capitalize()} table".replace("Pyarrow", "PyArrow").replace("Pandas", "pandas")
    original = dict(zip(names, frame.columns, strict=True))

    def column(name: str) -> RawColumn:
        if frame.implementation.is_pandas() and (coded := _categorical(name, data[original[name]].array)):
            return coded
        return ArrowColumn(name, without_decimals(series_to_arrow(name, frame.get_column(original[name]))))

    return RawTable(names, column, len(frame), kind)


def _categorical(name: str, native: Any) -> CodedColumn | None:
    """Return a pandas categorical by its codes, without touching a value; None for any other column."""
    if native.dtype.name != "category":
        return None
    labels = native.categories.tolist()
    if not all(isinstance(label, str | int | float) for label in labels):  # which includes bools
        return None
    return CodedColumn(name, native.codes, tuple(labels))


def series_to_arrow(name: str, series: nw.Series[Any]) -> pa.ChunkedArray:
    """Return a column of a frame as Arrow holds it."""
    if series.dtype == nw.Categorical and series.implementation.is_polars():
        # Polars keeps one pool of categories for the whole process: an encoding, not a declaration as Enum is.
        series = series.cast(nw.String())
    try:
        array = _as_it_stands(series)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, UnicodeError) as error:
        raise mixed_types(name, error) from None
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _as_it_stands(series: nw.Series[Any]) -> Any:
    """Return a column without a copy where it is in one piece, with NaN where pandas has it in plain floats."""
    native = series.to_native()
    if isinstance(native, pa.ChunkedArray) and native.num_chunks == 1:
        return native.chunk(0)
    if series.implementation.is_pandas() and isinstance(native.dtype, np.dtype) and native.dtype.kind == "f":
        return pa.array(native.to_numpy())  # narwhals would search it for gaps, slowly
    return series.to_arrow()


def mixed_types(name: str, error: Exception) -> DataError:
    """Say that a column's values are not of one type, or not text that Arrow can hold."""
    detail = str(error).splitlines()[0]
    if isinstance(error, UnicodeError):
        return DataError(
            f"Column {name!r} holds text that is not Unicode ({detail}), as text of the wrong encoding does. Decode it "
            "again, or rename these values."
        )
    return DataError(
        f"Column {name!r} mixes values of different types ({detail}). Convert it to one type first, "
        "for instance to text."
    )
