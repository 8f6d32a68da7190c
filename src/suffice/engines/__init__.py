"""Kinds of tables, in the order in which they are asked whether they accept data: those of engines, then of readers.

An engine is a file with ``accepts(data)`` and ``open_source(data, opening, watch)``, and a line in `TABLES`. So is a
reader, which has a line in `suffice.data.readers`, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import suffice.engines.dask as dask_frames
import suffice.engines.parts as tables_in_parts
import suffice.engines.spark as spark_frames
import suffice.engines.sql as databases
from suffice.data.readers import READERS
from suffice.data.readers.pieces import ParquetPiece, pieces_of
from suffice.engines.spread import Opening
from suffice.progress import Watch
from suffice.stats.source import Source


class TableKind(NamedTuple):
    """How to recognise one kind of table, and how to open it as a source.

    Attributes
    ----------
    accepts : callable
        Whether data is such a table.
    open_source : callable
        From data, the opening of a structure and a watch to the source.
    wants : str
        What to pass, for errors.
    keeps_order : bool
        Whether the rows have an order, by which weights and sequences go.
    is_at_hand : bool
        Whether this process can read the rows one by one.
    pieces : callable or None
        From data to pieces that can be read by themselves, for a pass that goes on from a checkpoint.
    """

    accepts: Callable[[object], bool]
    open_source: Callable[[Any, Opening, Watch], Source]
    wants: str
    keeps_order: bool = True
    is_at_hand: bool = True
    pieces: Callable[[Any], tuple[ParquetPiece, ...]] | None = None


def _open_here(data: Any, opening: Opening, watch: Watch) -> Source:
    """Read a table in this process."""
    return opening(data, watch)


def _read_here(reader: str, pieces: Callable[[Any], tuple[ParquetPiece, ...]] | None = None) -> TableKind:
    return TableKind(READERS[reader].accepts, _open_here, READERS[reader].wants, pieces=pieces)


TABLES: dict[str, TableKind] = {
    "spark": TableKind(
        spark_frames.accepts, spark_frames.open_source, "a Spark data frame", keeps_order=False, is_at_hand=False
    ),
    "dask": TableKind(
        dask_frames.accepts, dask_frames.open_source, "a Dask data frame", keeps_order=False, is_at_hand=False
    ),
    "parts": TableKind(tables_in_parts.accepts, tables_in_parts.open_source, "a table in parts", is_at_hand=False),
    "database": TableKind(
        databases.accepts,
        databases.open_source,
        "sf.SQL(query, database), a lazy table of a database",
        keeps_order=False,
    ),
    "parquet": _read_here("parquet", pieces_of),
    "csv": _read_here("csv"),
    "piece": _read_here("piece"),
    "batches": _read_here("batches"),
    "sql": _read_here("sql"),
    "contingency": _read_here("contingency"),
    "columns": _read_here("columns"),
    "frame": _read_here("frame"),
}

UNKNOWN = TableKind(lambda data: True, _open_here, "")
"""What none of them accepts: a structure may read it by itself, as sequences, or the readers say what they want."""


def kind_of(data: object) -> TableKind:
    """Return the first kind of table that accepts the data."""
    return next((kind for kind in TABLES.values() if kind.accepts(data)), UNKNOWN)
