"""Filling gaps of a table: values put into columns that otherwise stay as they are, in whatever kind of table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.encode import CANONICAL_INTEGER
from suffice.data.frame import to_native
from suffice.data.raw import ArrowColumn, RawColumn, is_number
from suffice.data.variable import Variable
from suffice.types import Array
from suffice.values import Label


class Fill(NamedTuple):
    """What is put into a column.

    Attributes
    ----------
    rows : array of int
        Where.
    values : list
        What, of Python's own types.
    """

    rows: NDArray[np.int64]
    values: list[Any]


def spellings(raw: RawColumn, variable: Variable) -> list[Label]:
    """Return how a column spells each state of a variable: as it does where it has it, otherwise in its own type."""
    own = {variable.find(label): label for label in reversed(raw.labels)}
    kind: Any = type(raw.labels[0]) if raw.labels else None
    return [own[code] if code in own else _of_kind(label, kind) for code, label in enumerate(variable.labels)]


def _of_kind(label: Label, kind: Any) -> Label:
    if kind is None or isinstance(label, kind):
        return label
    try:
        return label if kind is bool else kind(label)
    except ValueError:
        return label


# Columns ------------------------------------------------------------------------------------------------------


def filled_column(column: Any, fill: Fill) -> Any:
    """Return a column, of any kind, with some of its values replaced; the type changes only where it cannot hold them.

    >>> filled_column(["x", None, "y"], Fill(np.array([1]), ["x"]))
    ['x', 'x', 'y']
    """
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return _arrow(column, fill)
    if isinstance(column, np.ndarray):
        return _numpy(column, fill)
    series = nw.from_native(column, series_only=True, pass_through=True)
    if isinstance(series, nw.Series) and series.implementation.is_pandas():
        return _pandas(column, fill)
    if isinstance(series, nw.Series) and series.implementation.is_polars():
        return _polars(column, fill)
    listed = column.to_list() if isinstance(series, nw.Series) else list(column)
    for row, value in zip(fill.rows.tolist(), fill.values, strict=True):
        listed[row] = value
    return listed


def _places(n: int, fill: Fill) -> NDArray[np.int64]:
    """Return, for a column with the new values after its end, where each value is."""
    places = np.arange(n)
    places[fill.rows] = n + np.arange(len(fill.rows))
    return places


def _arrow(column: Any, fill: Fill) -> pa.ChunkedArray:
    whole = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    if pa.types.is_dictionary(whole.type):
        return _dictionary(whole, fill)
    values, kind = pa.array(fill.values), whole.type
    if pa.types.is_integer(kind) and pa.types.is_floating(values.type):
        kind = pa.float64()
    try:
        values = values.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        kind = values.type
    both = pa.chunked_array([*whole.cast(kind).chunks, values], kind)
    return pa.chunked_array([both.combine_chunks().take(pa.array(_places(len(whole), fill)))], kind)


def _dictionary(whole: pa.ChunkedArray, fill: Fill) -> pa.ChunkedArray:
    kind, held = whole.type, ArrowColumn("", whole)
    labels = list(held.labels)
    labels += [label for label in dict.fromkeys(fill.values) if label not in labels]
    code = {label: place for place, label in enumerate(labels)}
    codes = held.codes.astype(np.int64)
    codes[fill.rows] = [code[label] for label in fill.values]
    index: Any = kind.index_type if len(labels) <= 2 ** (kind.index_type.bit_width - 1) else pa.int32()
    indices = pa.array(codes, mask=codes < 0).cast(index)
    levels = pa.array(labels, kind.value_type)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, levels, ordered=kind.ordered)])


def _numpy(column: Array, fill: Fill) -> Array:
    values = np.array(fill.values)
    kind = column.dtype
    if kind.kind in "US" or (kind.kind in "iu" and values.dtype.kind == "f"):
        kind = np.result_type(kind, values.dtype)
    elif kind.kind in "iuf" and values.dtype.kind not in "iuf":
        kind = np.dtype(object)
    filled = column.astype(kind)
    filled[fill.rows] = fill.values if kind.kind == "O" else values
    return filled


def _pandas(series: Any, fill: Fill) -> Any:
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        levels = series.cat.categories
        fresh = [label for label in dict.fromkeys(fill.values) if label not in levels]
        filled = series.cat.add_categories(fresh) if fresh else series.copy()
        filled.iloc[fill.rows] = fill.values
        return filled
    kinds: list[Any] = [series.dtype, *(["Float64"] if pd.api.types.is_extension_array_dtype(series.dtype) else [])]
    numbers = pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_bool_dtype(series.dtype)
    mixed = numbers and any(isinstance(value, bool | str) for value in fill.values)
    for kind in [] if mixed else kinds:
        try:
            values = pd.array(fill.values, dtype=kind)
            filled = series.astype(kind)
        except (TypeError, ValueError, OverflowError, pa.ArrowInvalid):
            continue
        filled = filled.copy()
        filled.iloc[fill.rows] = values
        return filled
    filled = series.astype(object)
    filled.iloc[fill.rows] = fill.values
    return filled.infer_objects()


def _polars(series: Any, fill: Fill) -> Any:
    import polars as pl

    kind, values = series.dtype, pl.Series(fill.values)
    if isinstance(kind, pl.Categorical | pl.Enum):
        text = _polars(series.cast(pl.String), fill)
        if isinstance(kind, pl.Enum):
            known = kind.categories.to_list()
            kind = pl.Enum([*known, *(label for label in dict.fromkeys(fill.values) if label not in known)])
        return text.cast(kind)
    if kind == pl.Null or (kind.is_integer() and values.dtype.is_float()):
        kind = values.dtype
    try:
        both = pl.concat([series.cast(kind), values.cast(kind)])
    except pl.exceptions.PolarsError:
        both = pl.concat([series.cast(values.dtype), values])
    return both.gather(_places(len(series), fill)).alias(series.name)


# Tables -------------------------------------------------------------------------------------------------------


def filled_table(data: Any, fills: Mapping[str, Fill], added: Mapping[str, Any]) -> Any:
    """Return a table in memory with gaps filled and columns added, of the kind that it is.

    Parameters
    ----------
    data : dict of columns or frame
    fills : mapping from str to Fill
    added : mapping from str to Arrow array
        New columns, at the end.
    """
    if isinstance(data, Mapping):
        same = {name: filled_column(column, fills[name]) if name in fills else column for name, column in data.items()}
        return {**same, **{name: column.to_pylist() for name, column in added.items()}}
    if isinstance(data, pa.RecordBatch):
        return filled_table(pa.table(data), fills, added).combine_chunks().to_batches()[0]
    if isinstance(data, pa.Table):
        return _arrow_table(data, fills, added)
    frame = nw.from_native(data, eager_only=True)
    if frame.implementation.is_pandas():
        return _pandas_frame(data, fills, added)
    if frame.implementation.is_polars():
        import polars as pl

        fresh = [filled_column(data.get_column(name), fill) for name, fill in fills.items()]
        return data.with_columns(*fresh, *(pl.Series(name, pl.from_arrow(column)) for name, column in added.items()))
    return to_native({str(name): column for name, column in _arrow_table(frame.to_arrow(), fills, added).items()})


def _arrow_table(table: pa.Table, fills: Mapping[str, Fill], added: Mapping[str, Any]) -> pa.Table:
    for name, fill in fills.items():
        table = table.set_column(table.column_names.index(name), name, filled_column(table.column(name), fill))
    for name, column in added.items():
        table = table.append_column(name, column)
    return table


def _pandas_frame(data: Any, fills: Mapping[str, Fill], added: Mapping[str, Any]) -> Any:
    frame = data.copy()
    place = {str(name): position for position, name in enumerate(frame.columns)}
    for name, fill in fills.items():
        frame.isetitem(place[name], filled_column(data.iloc[:, place[name]], fill))
    for name, column in added.items():
        frame[name] = column.to_pandas().set_axis(frame.index)
    return frame


# Text of files ------------------------------------------------------------------------------------------------


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without the dictionary that it was read with."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def typed_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of a file's text as whole numbers or as numbers, where all of it is such.

    >>> typed_text(pa.chunked_array([["1", None, "20"]])).type, typed_text(pa.chunked_array([["1", "x"]])).type
    (DataType(int64), DataType(string))
    """
    column = decoded(column)
    texts = column.unique().drop_null().to_pylist()
    if not texts or not all(map(is_number, texts)):
        return column
    return column.cast(pa.int64() if all(map(CANONICAL_INTEGER.fullmatch, texts)) else pa.float64())
