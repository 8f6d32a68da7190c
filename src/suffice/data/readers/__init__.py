"""One reader per kind of table. A reader is a file with ``accepts(data)`` and ``open_table(data)``, and a line here."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from suffice.data.frame import has_columns
from suffice.data.raw import RawStream, RawTable
from suffice.data.readers import batches, columns, contingency, csv_file, frames, parquet, pieces, sql
from suffice.errors import DataError, Mention, listing, shown


class Reader(NamedTuple):
    """How to recognise one kind of table, and how to open it."""

    accepts: Callable[[Any], bool]
    open_table: Callable[[Any], RawTable | RawStream]
    wants: str


READERS: dict[str, Reader] = {
    "csv": Reader(csv_file.accepts, csv_file.open_table, "a path or glob of CSV files, or sf.CSV(path, …)"),
    "parquet": Reader(parquet.accepts, parquet.open_table, "a path, glob or folder of Parquet files"),
    "piece": Reader(pieces.accepts, pieces.open_table, "a piece of a Parquet file"),
    "batches": Reader(
        batches.accepts,
        batches.open_table,
        "a PyArrow dataset or record-batch reader, a Polars lazy frame, a DuckDB relation",
    ),
    "sql": Reader(sql.accepts, sql.open_table, "sf.SQL(query, database), the path of a DuckDB database"),
    "contingency": Reader(contingency.accepts, contingency.open_table, "sf.Contingency(array, states)"),
    "columns": Reader(columns.accepts, columns.open_table, "a dict of columns"),
    "frame": Reader(frames.accepts, frames.open_table, "a pandas, Polars or PyArrow table"),
}


def is_table_object(data: object) -> bool:
    """Whether ``data`` is a table as an object: a frame, a dict of columns, sf.CSV(…); paths and lists are not."""
    if isinstance(data, str | bytes | list | tuple | os.PathLike):
        return False
    data = frames.unwrapped(data)
    # Frames that only an engine reads have columns, too, and are refused by name when they are opened.
    return has_columns(data) or any(reader.accepts(data) for reader in READERS.values())


def open_raw(data: object) -> RawTable | RawStream:
    """Open ``data`` with the first reader that recognises it."""
    data = frames.unwrapped(data)
    fitting = [name for name, reader in READERS.items() if reader.accepts(data)]
    if len(fitting) > 1:
        raise DataError(
            f"{str(data)!r} holds tables of several kinds, {listing(fitting)}. Name those to read by a glob."
        )
    if fitting:
        opened = READERS[fitting[0]].open_table(data)
        repeated = next((name for name, n in Counter(opened.names).items() if n > 1), None)
        if repeated is not None:
            raise DataError(f"Column {repeated!r} occurs more than once. Rename or drop the others.")
        return opened
    if isinstance(data, str | os.PathLike):
        raise DataError(
            f"The ending of {shown(str(data), 300)} names no kind of table. Paths, globs and folders are read by their "
            "endings, such as .csv, .tsv, .csv.gz and .parquet; ",
            Mention("CSV", "sf.CSV(path, separator=',')"),
            " reads any text file.",
        )
    if isinstance(data, list | tuple) and data and all(isinstance(entry, str | os.PathLike) for entry in data):
        raise DataError(
            f"The files {listing([os.fspath(entry) for entry in data], 4)} are not of one kind. A list of paths names "
            "CSV files, or Parquet files, by their endings; read others by themselves, and add their statistics."
        )
    wanted = "; ".join(reader.wants for reader in READERS.values())
    raise DataError(f"Cannot read a table from {type(data).__name__} {shown(str(data), 300)}. Pass one of: {wanted}.")
