"""Filling the gaps of a table by what a model knows: the most likely values, or draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.encode import missing_in
from suffice.data.filling import Fill, decoded, filled_table, spellings, typed_text
from suffice.data.frame import to_native
from suffice.data.raw import ArrowColumn, RawStream, RawTable
from suffice.data.readers import open_raw
from suffice.data.table import UNKNOWN_POLICIES
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, DataError, ModelError, Remedy, require_choice, require_whole, shown
from suffice.models.incomplete_rows import rows_of
from suffice.models.row_pieces import Piece, RowReader, pieces_of, require_finite
from suffice.models.sampling import stream_key
from suffice.types import Array, Columns, Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

    from suffice.models.row_model import RowModel

METHODS = ("mode", "marginal", "sample")
STREAM_ROWS = 1024
"""Rows whose random numbers come from one stream."""
TABLES = 2**40
"""Streams of one table among several."""


@dataclass(frozen=True, eq=False)
class Completed:
    """The variables of a piece without gaps.

    Attributes
    ----------
    columns : mapping from str to array
        Codes and values of every variable, or of those that have gaps alone.
    gaps : mapping from str to array of int
        The rows that lacked a value, of each column that there is.
    """

    columns: Columns
    gaps: Mapping[str, Ints]


@dataclass(frozen=True)
class Imputer:
    """How gaps are filled.

    Attributes
    ----------
    model : RowModel
    method : {"mode", "marginal", "sample"}
    key : int
        Of the random streams.
    latent : bool
        Whether variables without a column get one.
    unknown_states : {"error", "missing"}
    """

    model: RowModel
    method: str = "mode"
    key: int = 0
    latent: bool = False
    unknown_states: str = "error"

    @classmethod
    def checked(
        cls, model: RowModel, method: str, n: int | None, seed: int | None, latent: bool, unknown_states: str
    ) -> Imputer:
        """Check what a user says."""
        require_choice("method", method, METHODS)
        require_choice("unknown_states", unknown_states, UNKNOWN_POLICIES)
        for argument, value in (("n", n), ("seed", seed)):
            if value is not None and method != "sample":
                raise ArgumentError(
                    f"The {argument!r} argument is for draws; method={method!r} fills gaps in one way. Leave it out, "
                    "or pass ",
                    Remedy("method", "sample"),
                    ".",
                )
        if n is not None:
            require_whole("n", n, 1)
        if not isinstance(latent, bool):
            raise ArgumentError(f"The 'latent' argument must be True or False. Got {shown(latent)} instead.")
        return cls(model, method, stream_key(seed) if method == "sample" else 0, latent, unknown_states)

    # Codes and values -----------------------------------------------------------------------------------------

    def reader(self, raw: RawTable | RawStream) -> RowReader:
        """Return what reads a table's variables as codes and values, −1 and NaN in gaps."""
        text = isinstance(raw, RawStream) and raw.text
        return RowReader(self.model.schema, raw.names, raw.description, self.unknown_states, text)

    def completed(self, columns: Columns, n_rows: int, start: int, table: int = 0) -> Completed:
        """Fill the gaps of columns of codes and values; ``table`` is the number of the table among several draws."""
        schema = self.model.schema
        gaps = {name: np.flatnonzero(missing_in(column)) for name, column in columns.items()}
        extra = [v for v in schema.variables if v.name not in columns] if self.latent else []
        whole = {name: column.copy() for name, column in columns.items() if len(gaps[name])}
        whole |= {v.name: np.zeros(n_rows, np.int64 if v.is_discrete else np.float64) for v in extra}
        wanted = np.full(n_rows, bool(extra))
        for rows in gaps.values():
            wanted[rows] = True
        for rows, codes, values in rows_of(schema, columns, np.flatnonzero(wanted)):
            require_finite(schema.variables, values, rows + start)
            found, numbers = self._filled(codes, values, rows + start, table)
            for name, column in whole.items():
                place = schema.positions[name]
                column[rows] = (found if schema[name].is_discrete else numbers)[:, place]
        return Completed(whole, gaps)

    def _filled(self, codes: Ints, values: Floats, rows: Ints, table: int) -> tuple[Ints, Floats]:
        missing = self.model._engine.missing
        if self.method == "mode":
            found, numbers, log_p = missing.most_likely(codes, values)
        elif self.method == "marginal":
            found, numbers, log_p = missing.each_alone(codes, values)
        else:
            found, numbers, log_p = missing.draw(codes, values, uniforms(self.key, table, rows, codes.shape[1]))
        bad = ~(log_p > -np.inf)
        if bad.any():
            row = int(np.argmax(bad))
            raise ModelError(f"Row {rows[row] + 1}: {self.model._engine.refusal(codes[row], values[row])}")
        return found, numbers

    # Tables ---------------------------------------------------------------------------------------------------

    def fills(self, piece: Piece, done: Completed) -> dict[str, Fill]:
        """Return what to put into the columns of a piece, in each column's own spelling."""
        found = {}
        for name, rows in done.gaps.items():
            if not len(rows):
                continue
            variable, values = self.model.schema[name], done.columns[name][rows].tolist()
            if variable.is_discrete:
                spelled = spellings(piece.column(name), variable)
                values = [spelled[code] for code in values]
            found[name] = Fill(rows, values)
        return found

    def added(self, done: Completed, names: Any) -> dict[str, pa.Array]:
        """Return the columns of variables that a table has none for."""
        held = [v for v in self.model.schema.variables if v.name in done.columns and v.name not in names]
        return {variable.name: labelled(variable, done.columns[variable.name]) for variable in held}

    def pieces(
        self, stream: RawStream, table: int = 0, typed: bool = False
    ) -> Iterator[tuple[pa.Table, dict[str, int]]]:
        """Yield the pieces of a stream without gaps, and how many values were filled in each column.

        A file's text stays text, unless it is to be ``typed``: then variables are as the model knows them.
        """
        reader = self.reader(stream)
        for piece in pieces_of(stream, stream.names):
            columns = reader.read(piece)
            done = self.completed(columns, piece.n_rows, piece.start, table)
            fills = self.fills(piece, done)
            if stream.text:
                fills = {name: Fill(fill.rows, list(map(_written, fill.values))) for name, fill in fills.items()}
            held = filled_table(_arrow_table(piece), fills, self.added(done, stream.names))
            for name, column in {**columns, **done.columns}.items() if typed and stream.text else ():
                whole = labelled(self.model.schema[name], column)
                held = held.set_column(held.column_names.index(name), name, whole)
            yield held, {name: len(fill.rows) for name, fill in fills.items()}


def imputed(imputer: Imputer, data: Any, n: int | None) -> Any:
    """Return a table with its gaps filled, or ``n`` of them."""
    raw = open_raw(data)
    if isinstance(raw, RawTable) and raw.weights is not None:
        raise DataError("A contingency table counts complete rows, so it has no gaps to fill. Pass rows.")
    whole = raw if isinstance(raw, RawTable) else _gathered(raw)
    text = isinstance(raw, RawStream) and raw.text
    piece = Piece(whole.names, whole.column, whole.n_rows, text=text)
    columns = imputer.reader(raw).read(piece)

    def filled(table: int) -> Any:
        done = imputer.completed(columns, piece.n_rows, 0, table)
        if text:
            return _typed(imputer, piece, {**columns, **done.columns})
        added = imputer.added(done, piece.names)
        if isinstance(raw, RawTable):
            return filled_table(data, imputer.fills(piece, done), added)
        held = filled_table(_arrow_table(piece), imputer.fills(piece, done), added)
        return to_native({name: held.column(name) for name in held.column_names}, _backend(data))

    return filled(0) if n is None else [filled(table) for table in range(n)]


def uniforms(key: int, table: int, rows: Ints, n_variables: int) -> Floats:
    """Return the uniform numbers of some rows, one a variable: they depend on key, table and row alone."""
    found = np.empty((len(rows), n_variables))
    streams = rows // STREAM_ROWS
    for number in np.unique(streams).tolist():
        here = streams == number
        pair = np.array([key, table * TABLES + number], np.uint64)
        drawn = np.random.Generator(np.random.Philox(key=pair)).random((STREAM_ROWS, n_variables))
        found[here] = drawn[rows[here] % STREAM_ROWS]
    return found


def labelled(variable: Variable, column: Array) -> pa.Array:
    """Return codes as a categorical with all states in order, nothing where they are below zero; values as they are."""
    import pyarrow as pa

    if not variable.is_discrete:
        return pa.array(np.asarray(column, np.float64))
    none = np.asarray(column) < 0
    if isinstance(variable.labels[0], bool):
        return pa.array(np.array(variable.labels, bool)[column], mask=none)
    codes = pa.array(np.asarray(column, np.int32), mask=none)
    return pa.DictionaryArray.from_arrays(codes, pa.array(list(variable.labels)))


# Streams ------------------------------------------------------------------------------------------------------


def _gathered(stream: RawStream) -> RawTable:
    """Read a stream into memory."""
    import pyarrow as pa

    parts: dict[str, list[ArrowColumn]] = {name: [] for name in stream.names}
    n_rows = 0
    for batch in stream.batches(stream.names):
        n_rows += batch.n_rows
        for name in stream.names:
            piece = batch.column(name)
            assert isinstance(piece, ArrowColumn)  # as every stream has them
            parts[name].append(piece)

    def column(name: str) -> ArrowColumn:
        pieces = [chunk for part in parts[name] for chunk in part.column.chunks]
        held = pa.chunked_array(pieces) if pieces else pa.chunked_array([pa.array([], pa.string())])
        return ArrowColumn(name, held, bool(parts[name]) and parts[name][0].encoding_only)

    return RawTable(stream.names, column, n_rows, stream.description)


def _arrow_table(piece: Piece) -> pa.Table:
    """Return the columns of a stream as Arrow holds them, without dictionaries that are an encoding and no more."""
    import pyarrow as pa

    columns: dict[str, Any] = {name: piece.column(name) for name in piece.names}
    return pa.table(
        {name: decoded(held.column) if held.encoding_only else held.column for name, held in columns.items()}
    )


def _typed(imputer: Imputer, piece: Piece, columns: Columns) -> Any:
    """Return the text of a file as a frame: variables as the model knows them, and other columns as they look."""
    schema = imputer.model.schema
    found: dict[str, Any] = {}
    for name in (*piece.names, *(name for name in columns if name not in piece.names)):
        known = name in columns
        found[name] = labelled(schema[name], columns[name]) if known else typed_text(piece.column(name).column)  # type: ignore[attr-defined]
    return to_native(found)


def _written(value: Any) -> str:
    """Return a value as a file has it, numbers with all their digits."""
    return value if isinstance(value, str) else repr(value) if isinstance(value, float) else str(value)


def _backend(data: Any) -> str | None:
    """Return the kind of frame for what has no eager kind of its own."""
    home = type(data).__module__.partition(".")[0]
    return home if home in ("polars", "pyarrow") else None
