"""SQL: which tables are a database's, and how one is opened; `suffice.engines.database` asks it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import narwhals.stable.v2 as nw

from suffice.data.readers import batches, sql
from suffice.engines.spread import Opening
from suffice.errors import DataError
from suffice.progress import Watch
from suffice.stats.source import Source


def accepts(data: object) -> bool:
    """Whether ``data`` is a question to a database, the file of one, a relation of DuckDB's, or a table of ibis."""
    return sql.accepts(data) or batches.is_relation(data) or batches.is_ibis(data)


def open_source(data: Any, opening: Opening, watch: Watch) -> Source:
    """Open a table of a database as a source."""
    from suffice.engines.database import DatabaseSource
    from suffice.engines.database_rows import explained

    native = sql.relation_of(data) if sql.accepts(data) else data
    with explained():
        names = Counter(native.columns)
    repeated = next((name for name, n in names.items() if n > 1), None)
    if repeated is not None:
        raise DataError(f"Column {repeated!r} occurs more than once. Rename or drop the others in the query.")
    if batches.is_relation(native) and any("." in name or name == "*" for name in names):
        return opening(native)  # DuckDB's expressions take a dot for the end of a table's name, a star for all columns
    with explained():
        return DatabaseSource(nw.from_native(native), native, opening, watch)
