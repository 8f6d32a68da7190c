"""Sources that live elsewhere: one file per engine, with ``accepts(data)`` and ``open_source(…)``, and a line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import suffice.engines.dask as dask_frames
import suffice.engines.parts as tables_in_parts
import suffice.engines.spark as spark_frames
import suffice.engines.sql as databases
from suffice.engines.spread import Opening
from suffice.progress import Watch
from suffice.stats.source import Source


class EngineKind(NamedTuple):
    """How to recognise the tables of an engine, and how to open them as a source."""

    accepts: Callable[[Any], bool]
    open_source: Callable[[Any, Opening, Watch], Source]
    wants: str
    keeps_order: bool = False


ENGINES: dict[str, EngineKind] = {
    "spark": EngineKind(spark_frames.accepts, spark_frames.open_source, "a Spark data frame"),
    "dask": EngineKind(dask_frames.accepts, dask_frames.open_source, "a Dask data frame"),
    "parts": EngineKind(tables_in_parts.accepts, tables_in_parts.open_source, "a table in parts", keeps_order=True),
    "sql": EngineKind(databases.accepts, databases.open_source, "sf.SQL(query, database), a lazy table of a database"),
}


def engine_for(data: Any) -> EngineKind | None:
    """Return the engine whose table ``data`` is; None for tables that this process reads itself."""
    return next((engine for engine in ENGINES.values() if engine.accepts(data)), None)
