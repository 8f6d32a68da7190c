"""A dict of columns: lists, NumPy arrays, Series or Arrow arrays of one length."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from suffice.data.raw import ArrowColumn, RawTable, without_decimals
from suffice.data.readers.frames import mixed_types, series_to_arrow
from suffice.errors import DataError


def accepts(data: object) -> bool:
    """Whether ``data`` is a mapping from names to columns."""
    return isinstance(data, Mapping)


def open_table(data: Mapping[str, Any]) -> RawTable:
    """Open a dict of columns."""
    arrays = {name: _arrow(name, values) for name, values in data.items()}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        short, long = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise DataError(
            f"Columns differ in length: {short!r} has {lengths[short]} rows, {long!r} has {lengths[long]}. "
            "All columns of a table need the same number of rows."
        )
    n_rows = next(iter(lengths.values()), 0)

    def column(name: str) -> ArrowColumn:
        return ArrowColumn(name, without_decimals(arrays[name]))

    return RawTable(tuple(arrays), column, n_rows, "dict of columns")


def _arrow(name: str, values: Any) -> pa.ChunkedArray:
    if not isinstance(name, str):
        raise DataError(f"Column names must be strings. Got {name!r} instead.")
    if isinstance(values, str | bytes) or not isinstance(values, Sized):
        raise DataError(f"Column {name!r} must be a list or an array. Got {values!r} instead.")
    if isinstance(values, pa.ChunkedArray):
        return values
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series_to_arrow(name, series)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise DataError(f"Column {name!r} must be one-dimensional. Got an array of shape {values.shape} instead.")
    if isinstance(values, np.ndarray) and values.dtype.kind in "US":
        values = values.tolist()
    floats = isinstance(values, np.ndarray) and values.dtype.kind == "f"
    try:
        # The search for gaps is slow; NaN in a column of numbers is known as one anyway.
        return pa.chunked_array([pa.array(values, from_pandas=not floats)])
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, UnicodeError) as error:
        raise mixed_types(name, error) from None
