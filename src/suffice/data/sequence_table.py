"""Sequences in a long table: one row a position, a column that says to which sequence it belongs, one for the time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.data.encode import encode, missing_in
from suffice.data.held_symbols import RawSequences
from suffice.data.raw import ArrowColumn, CodedColumn, RawColumn, RawStream, RawTable
from suffice.data.readers import open_raw
from suffice.data.readers.frames import mixed_types
from suffice.data.schema import Declaration
from suffice.errors import DataError, Mention, listing, shown, suggestion
from suffice.text import plural
from suffice.types import Array


def read_table(data: Any, names: Sequence[str] | None, id: str | None, time: str | None) -> RawSequences:
    """Read a long table; its rows are put in order of sequence and time.

    Parameters
    ----------
    data : table
        Whatever `suffice.data.readers.READERS` recognises; the columns that are needed are held in memory.
    names : sequence of str or None
        The columns to model; without them the only one that is left.
    id, time : str or None
        The columns that say to which sequence a row belongs and when it was. Without ``id`` there is one sequence,
        without ``time`` rows are in order already.
    """
    raw = open_raw(data)
    for column in (id, time, *(names or ())):
        if column is not None and column not in raw.names:
            raise DataError(
                f"There is no column {column!r} in the {raw.description}. Its columns are {listing(raw.names, 12)}."
                + suggestion(column, raw.names)
            )
    names = _the_rest(raw, id, time) if names is None else names
    columns = _columns(raw, list(dict.fromkeys(name for name in (id, time, *names) if name is not None)))
    text = isinstance(raw, RawStream) and raw.text
    n_rows = len(columns[names[0]].codes) if isinstance(columns[names[0]], CodedColumn) else _length(columns[names[0]])
    label, owner = _owners(columns, id, text, n_rows)
    order, remarks = _in_time(columns, time, text, owner, label)
    lengths = np.bincount(owner, minlength=len(label)) if n_rows else np.zeros(0, np.int64)
    if order is not None:
        columns = {name: _taken(columns[name], order) for name in names}
    ignored = [name for name in raw.names if name not in (id, time, *names)]
    if ignored:
        remarks = (*remarks, f"Columns that are not modelled were ignored: {listing(ignored, 6)}.")
    described = f"{plural(len(lengths), 'sequence')} of the {raw.description}"
    found = {name: columns[name] for name in names}
    return RawSequences(found, lengths.astype(np.int64), described, label if id else None, text, remarks)


def read_tables(tables: Sequence[Any], names: Sequence[str] | None, time: str | None) -> RawSequences:
    """Read a list of tables, each of them one sequence with one row per position."""
    parts: list[RawSequences] = []
    for number, table in enumerate(tables, 1):
        try:
            parts.append(read_table(table, names, None, time))
        except DataError as error:
            raise DataError(f"Sequence {number} of {len(tables):,}: ", error.message) from None
    first = parts[0]
    for number, part in enumerate(parts, 1):
        if list(part.columns) != list(first.columns) or part.text != first.text:
            raise DataError(
                f"Sequence {number} of {len(tables):,} has the column {listing(part.columns)}"
                f"{' of a text file' * part.text}, and the first one {listing(first.columns)}"
                f"{' of a text file' * first.text}. Name the column to model, ",
                Mention("variable", "variable='…'"),
                ", and pass tables of one kind.",
            )
    return RawSequences(
        {name: _joined(name, [part.columns[name] for part in parts]) for name in first.columns},
        np.concatenate([part.lengths for part in parts]),
        f"{plural(len(parts), 'sequence')} in tables",
        None,
        first.text,
        tuple(dict.fromkeys(remark for part in parts for remark in part.remarks)),
    )


def _the_rest(raw: RawTable | RawStream, id: str | None, time: str | None) -> list[str]:
    """Return the one column that is neither the sequence's nor the time's."""
    rest = [name for name in raw.names if name not in (id, time)]
    if len(rest) != 1:
        raise DataError(
            f"The {raw.description} has the columns {listing(rest, 12)} besides those of sequence and time. Say which "
            "to model: ",
            Mention("variable", "variable='…'"),
            ".",
        )
    return rest


def _columns(raw: RawTable | RawStream, names: list[str]) -> dict[str, RawColumn]:
    """Return whole columns, whether they are in memory already or come in batches."""
    if isinstance(raw, RawTable):
        if raw.weights is not None:
            raise DataError("A contingency table has no order of rows. Pass a table with one row a position.")
        return {name: raw.column(name) for name in names}
    parts: dict[str, list[RawColumn]] = {name: [] for name in names}
    for batch in raw.batches(names):
        for name in names:
            parts[name].append(batch.column(name))
    return {name: _joined(name, found) for name, found in parts.items()}


def _joined(name: str, parts: list[RawColumn]) -> RawColumn:
    """Return one column of the values of several, one after the other; numbers of different types become floats."""
    if not parts:
        return ArrowColumn(name, pa.chunked_array([], pa.string()))
    coded = [part for part in parts if isinstance(part, CodedColumn)]
    if len(coded) == len(parts) and all(part.labels == coded[0].labels for part in coded):
        codes = np.concatenate([part.codes for part in coded])
        return CodedColumn(name, codes, coded[0].labels, coded[0].origin)
    columns = [part.column if isinstance(part, ArrowColumn) else _decoded(part) for part in parts]
    if len({column.type for column in columns}) > 1:
        columns = [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in columns]
    try:
        tables = [pa.table({name: column}) for column in columns]
        joined = pa.concat_tables(tables, promote_options="permissive").column(0)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise mixed_types(name, error) from None
    return ArrowColumn(name, joined, isinstance(parts[0], ArrowColumn) and parts[0].encoding_only)


def _decoded(column: RawColumn) -> pa.ChunkedArray:
    """Return the values of a column that is held in codes; its list of levels is lost."""
    labels = [*column.labels, None]
    return pa.chunked_array([pa.array([labels[code] for code in column.codes.tolist()])])


def _length(column: RawColumn) -> int:
    return len(column.column) if isinstance(column, ArrowColumn) else len(column.codes)


def _taken(column: RawColumn, order: NDArray[np.int64]) -> RawColumn:
    """Return a column's values in another order."""
    if isinstance(column, ArrowColumn):
        return ArrowColumn(column.name, column.column.take(pa.array(order)), column.encoding_only)
    return CodedColumn(column.name, column.codes[order], column.labels, column.origin)


def _owners(
    columns: dict[str, RawColumn], id: str | None, text: bool, n_rows: int
) -> tuple[tuple[Any, ...], NDArray[np.int64]]:
    """Return what the sequences are called, in order of their first rows, and the number of each row's sequence."""
    if id is None:
        return ("1",), np.zeros(n_rows, np.int64)
    found = encode(columns[id], Declaration("discrete"), False, "error", text)
    if found.missing.any():
        raise DataError(
            f"Column {id!r}, row {int(np.argmax(found.missing)) + 1}: the value is missing, so the row belongs to no "
            "sequence. Fill it in."
        )
    codes, first, owner = np.unique(found.values, return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    rank = np.empty(len(codes), np.int64)
    rank[appearance] = np.arange(len(codes))
    return tuple(found.variable.labels[code] for code in codes[appearance]), rank[owner.reshape(-1)]


def _in_time(
    columns: dict[str, RawColumn], time: str | None, text: bool, owner: NDArray[np.int64], label: tuple[Any, ...]
) -> tuple[NDArray[np.int64] | None, tuple[str, ...]]:
    """Return the order of rows by sequence and time, None where they are in order, and remarks on the times."""
    if time is None:
        sorted_already = bool((np.diff(owner) >= 0).all())
        return (None if sorted_already else np.argsort(owner, kind="stable")), ()
    when = _times(columns[time], text)
    order = np.lexsort((when, owner))
    same = (np.diff(owner[order]) == 0) & (np.diff(when[order]) == 0)
    if same.any():
        row = int(order[int(np.argmax(same))])
        which = "" if label == ("1",) else f" of sequence {shown(label[owner[row]])}"
        raise DataError(
            f"Column {time!r}: the time {shown(_written(columns[time], row))}{which} occurs more than once, so that "
            "its rows have no order. Keep one of them, or name the column that tells sequences apart: ",
            Mention("id", "id='…'"),
            ".",
        )
    return order, _uneven(time, when[order], owner[order])


def _times(column: RawColumn, text: bool) -> Array:
    """Return numbers that rise with time: the values themselves, or the ranks of text."""
    if isinstance(column, ArrowColumn) and pa.types.is_temporal(column.column.type):
        values = column.column
        if values.null_count:
            at = pc.index(values.is_null(), True).as_py()
            raise DataError(f"Column {column.name!r}, row {at + 1}: the time is missing. Fill it in.")
        bits = values.type.bit_width
        return np.array(values.cast(pa.int32() if bits == 32 else pa.int64()).to_pylist(), np.int64)
    try:
        found: Array = column.numbers()
    except DataError:
        found = encode(column, Declaration("discrete"), False, "error", text).values
    gaps = missing_in(found)
    if gaps.any():
        raise DataError(f"Column {column.name!r}, row {int(np.argmax(gaps)) + 1}: the time is missing. Fill it in.")
    return found


def _written(column: RawColumn, row: int) -> Any:
    if isinstance(column, ArrowColumn):
        return column.column[row].as_py()
    return column.labels[column.codes[row]]


def _uneven(time: str, when: Array, owner: NDArray[np.int64]) -> tuple[str, ...]:
    """Remark on steps of different length, where times are whole numbers; rows are neighbours all the same."""
    steps = np.diff(when)[np.diff(owner) == 0]
    if not steps.size or not (steps == np.trunc(steps)).all() or steps.min() == steps.max():
        return ()
    longer = int((steps > steps.min()).sum())
    return (
        f"{time}: {plural(longer, 'step')} of {steps.size:,} are longer than {steps.min():g}, the shortest; rows that "
        "follow each other were taken as neighbours.",
    )
