"""Questions to a DuckDB database, and the files of such databases: which table they stand for, and its rows."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from suffice.data.raw import RawStream
from suffice.data.readers import batches
from suffice.data.readers.paths import refuse_lakes
from suffice.errors import ArgumentError, DataError, is_unicode, listing, require_text, shown

ENDINGS = (".duckdb", ".ddb")
NAME = re.compile(r"\w+(\.\w+)?")
PATTERN = re.compile(r"'([^']*[*?\[][^']*\.\w+)'")
"""The pattern of names of files in a query, such as 'visits/*.parquet'."""
TABLES = "SELECT table_schema, table_name FROM information_schema.tables ORDER BY table_schema <> 'main', 1, 2"


@dataclass(frozen=True)
class SQL:
    """A question to a DuckDB database, whose answer is a table; DuckDB runs within this process.

    Parameters
    ----------
    query : str
        What to read, such as ``SELECT * FROM visits WHERE year = 2020``, or the name of a table. DuckDB also reads
        files by their names: ``SELECT * FROM 'visits-*.parquet'``.
    database : str or path, optional
        The file of the database; without one the query reads files only.

    Notes
    -----
    Only one ``SELECT`` is run; what would write, such as ``COPY``, is refused.

    Needs the extra ``duckdb``: ``pip install 'suffice[duckdb]'``. Other databases, such as PostgreSQL and SQLite, are
    reached through ibis, whose tables are data like any other.
    """

    query: str
    database: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        if not require_text("query", self.query).strip():
            raise ArgumentError("The 'query' argument must be SQL or the name of a table. Got an empty text instead.")
        if not is_unicode(self.query):
            raise ArgumentError(f"The 'query' argument must be Unicode text. Got {shown(self.query)} instead.")
        if self.database is not None and not isinstance(self.database, str | os.PathLike):
            raise ArgumentError(
                f"The 'database' argument must be the path of a file. Got {shown(self.database)} instead."
            )


def accepts(data: object) -> bool:
    """Whether ``data`` is a question to a database, or the file of one."""
    return isinstance(data, SQL) or (isinstance(data, str | os.PathLike) and _names_database(os.fspath(data)))


def open_table(data: Any) -> RawStream:
    """Open the rows of the table, which are streamed."""
    return batches.open_table(relation_of(data))


def _names_database(path: Any) -> bool:
    return isinstance(path, str) and path.lower().endswith(ENDINGS)


def relation_of(data: Any) -> Any:
    """Return DuckDB's relation that a question to a database, or the file of one, stands for."""
    try:
        import duckdb
    except ImportError:
        raise ArgumentError(
            "Databases are read by DuckDB, which is not installed. Install it: pip install 'suffice[duckdb]'."
        ) from None
    asked = data if isinstance(data, SQL) else None
    for pattern in PATTERN.findall(asked.query) if asked is not None else ():
        refuse_lakes(sorted({os.path.dirname(path) for path in glob.glob(pattern, recursive=True)}))
    path: Any = asked.database if asked is not None else data
    if path is not None and not os.path.exists(path):
        raise DataError(f"There is no database {shown(os.fspath(path), 300)}. Check the path.")
    try:
        connection = duckdb.connect(":memory:" if path is None else os.fspath(path), read_only=path is not None)
        tables = {_spoken(*row): row for row in connection.execute(TABLES).fetchall()}
        if asked is None:
            return connection.sql(_all_of(*tables[_only(list(tables), path)]))
        query = asked.query.strip()
        if query in tables:
            return connection.sql(_all_of(*tables[query]))
        query = f"SELECT * FROM {query}" if NAME.fullmatch(query) else query
        _require_reading(connection, query)
        found = connection.sql(query)
        if found is None:
            raise DataError(f"The query {shown(asked.query)} returns no table. Ask by SELECT, or name a table.")
        return found
    except duckdb.Error as error:
        remedy = (
            "It is open in this process: close that connection, or pass its own table, connection.table('name')"
            if isinstance(error, duckdb.ConnectionException)
            else "Mend the query, or name one of its tables"
        )
        raise DataError(
            f"The database cannot answer: {str(error).splitlines()[0][:300].rstrip('.')}. {remedy}."
        ) from None


def _require_reading(connection: Any, query: str) -> None:
    """Refuse statements that do more than read, such as COPY, which writes files."""
    kinds = [str(statement.type).rpartition(".")[2] for statement in connection.extract_statements(query)]
    if kinds and kinds != ["SELECT"]:  # EXPLAIN ANALYZE would run what it explains
        raise DataError(
            f"The query {shown(query)} must be one SELECT; its statements are {listing(kinds)}. sf.SQL only reads; run "
            "other statements in DuckDB itself."
        )


def _spoken(schema: str, name: str) -> str:
    """Return what a table is called: without its schema, where that is the usual one."""
    return name if schema == "main" else f"{schema}.{name}"


def _all_of(*names: str) -> str:
    quoted = ".".join('"' + name.replace('"', '""') + '"' for name in names)
    return f"SELECT * FROM {quoted}"


def _only(tables: Sequence[str], path: Any) -> str:
    if len(tables) == 1:
        return tables[0]
    found = f"the tables {listing(tables, 12)}" if tables else "no table"
    raise ArgumentError(
        f"The database {shown(os.fspath(path), 300)} has {found}. Say which to read: "
        f"sf.SQL('SELECT * FROM {tables[0] if tables else 'name'}', {os.fspath(path)!r})."
    )
