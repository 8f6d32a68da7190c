"""SQL: which tables are a database's, and how one is opened; `suffice.engines.database` asks it."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from suffice.data.readers import batches, sql
from suffice.engines.spread import Opening
from suffice.progress import Watch
from suffice.stats.source import Source


def accepts(data: object) -> bool:
    """Whether ``data`` is a question to a database, the file of one, a relation of DuckDB's, or a table of ibis."""
    return sql.accepts(data) or batches.is_relation(data) or batches.is_ibis(data)


def open_source(data: Any, opening: Opening, watch: Watch) -> Source:
    """Open a table of a database as a source."""
    from suffice.engines.database import DatabaseSource

    native = sql.relation_of(data) if sql.accepts(data) else data
    if batches.is_relation(native) and any("." in name for name in native.columns):
        return opening(native)  # DuckDB's expressions take a dot for the end of a table's name
    return DatabaseSource(nw.from_native(native), native, opening, watch)
