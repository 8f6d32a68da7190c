"""One state of a database's table for several queries: a transaction that only reads, where the database has them.

Tables of ibis bring their connection along. A relation of DuckDB's does not, so that its queries may see several states
of a table that is being written to, and neither do databases that are not listed here; what their queries count is then
compared, see `suffice.engines.database`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from suffice.data.readers import batches


@contextlib.contextmanager
def snapshot(native: Any) -> Iterator[None]:
    """Let all queries of the block see one state of a table; a transaction that is open already is left as it is.

    Parameters
    ----------
    native : object
        The table as its engine holds it.
    """
    backend = native.get_backend() if batches.is_ibis(native) else None
    begin = None if backend is None else BEGIN.get(backend.name)
    if backend is None or begin is None or not begin(backend.con):
        yield
        return
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):  # the connection may be lost, which is what the error tells
            _run(backend.con, "ROLLBACK")
        raise
    _run(backend.con, "COMMIT")


def _begin_duckdb(connection: Any) -> bool:
    """Begin a transaction, whose first query decides what all see; a nested one would abort the user's own."""
    first, second = (connection.execute("SELECT txid_current()").fetchall() for _ in range(2))
    if first == second:
        return False
    _run(connection, "BEGIN TRANSACTION")
    return True


def _begin_sqlite(connection: Any) -> bool:
    if connection.in_transaction:
        return False
    _run(connection, "BEGIN")
    return True


def _begin_postgres(connection: Any) -> bool:
    from psycopg.pq import TransactionStatus

    if connection.info.transaction_status != TransactionStatus.IDLE:
        return False
    begin = "BEGIN" if connection.autocommit else "SET"  # else the first command begins a transaction by itself
    _run(connection, f"{begin} TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
    return True


BEGIN: dict[str, Callable[[Any], bool]] = {
    "duckdb": _begin_duckdb,
    "postgres": _begin_postgres,
    "sqlite": _begin_sqlite,
}
"""By the name of ibis's backend: begin a transaction on its connection, and return whether one was begun."""


def _run(connection: Any, command: str) -> None:
    """Run a command that answers nothing; DuckDB's connections wait for their answers to be fetched."""
    answer = connection.execute(command)
    if getattr(answer, "description", None):
        answer.fetchall()
