"""A table that is written to while it is read: one state of it is learnt from, or the fit is refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import suffice as sf
from suffice.engines import database

pytestmark = pytest.mark.filterwarnings("ignore")  # engines warn of each other's versions

FRAME = pd.DataFrame(
    {"a": ["x", "y", "x", "x"], "b": ["u", "v", "u", "v"], "t": [1.0, 2.5, 0.5, 4.0], "w": [1, 2, 1, 3]}
)
APART = sf.DAG("a; b")
"""Two families that share no variable."""
INSERT = "INSERT INTO rows VALUES ('y', 'v', 9.5, 4)"
UPDATE = "UPDATE rows SET b = 'u'"


@pytest.fixture
def meddle(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Return what lets something happen after the first query for a family, once."""

    def between(write: Callable[[], None]) -> None:
        asked = []

        def counted(self: Any, need: Any) -> Any:
            found = original(self, need)
            asked.append(need)
            if len(asked) == 1:
                write()
            return found

        original = database.DatabaseSource._counts
        monkeypatch.setattr(database.DatabaseSource, "_counts", counted)

    return between


def in_duckdb(tmp_path: Any, request: Any) -> tuple[Any, Callable[[str], Any], Callable[[], bool]]:
    import ibis

    backend = ibis.duckdb.connect()
    backend.con.register("given", FRAME)
    backend.con.execute("CREATE TABLE rows AS SELECT * FROM given")
    writer = backend.con.cursor()

    def is_open() -> bool:
        first, second = (backend.con.execute("SELECT txid_current()").fetchall() for _ in range(2))
        return first == second

    return backend.table("rows"), writer.execute, is_open


def in_sqlite(tmp_path: Any, request: Any) -> tuple[Any, Callable[[str], Any], Callable[[], bool]]:
    import ibis

    writer = sqlite3.connect(tmp_path / "rows.db", isolation_level=None)
    writer.execute("PRAGMA journal_mode=WAL")
    FRAME.to_sql("rows", writer, index=False)
    backend = ibis.sqlite.connect(tmp_path / "rows.db")
    return backend.table("rows"), writer.execute, lambda: backend.con.in_transaction


def in_postgres(tmp_path: Any, request: Any) -> tuple[Any, Callable[[str], Any], Callable[[], bool]]:
    import psycopg
    from psycopg.pq import TransactionStatus

    backend = request.getfixturevalue("postgres")
    info = backend.con.info
    writer = psycopg.connect(host=info.host, port=info.port, user=info.user, dbname=info.dbname, autocommit=True)
    writer.execute("DROP TABLE IF EXISTS rows")
    writer.execute("CREATE TABLE rows (a text, b text, t double precision, w bigint)")
    for row in FRAME.itertuples(index=False):
        writer.execute("INSERT INTO rows VALUES (%s, %s, %s, %s)", list(row))

    def tidy() -> None:
        writer.execute("DROP TABLE rows")
        writer.close()

    request.addfinalizer(tidy)
    return backend.table("rows"), writer.execute, lambda: info.transaction_status != TransactionStatus.IDLE


MAKERS = {"duckdb": in_duckdb, "sqlite": in_sqlite, "postgres": in_postgres}


@pytest.fixture(params=["duckdb", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def held(request: Any, tmp_path: Any) -> tuple[Any, Callable[[str], Any], Callable[[], bool]]:
    """Return a table, how to write to it through another connection, and whether its own has a transaction open."""
    return MAKERS[request.param](tmp_path, request)


@pytest.mark.parametrize("command", [INSERT, UPDATE])
@pytest.mark.parametrize("how", [{}, {"missing": "drop"}, {"weights": "w"}])
def test_all_queries_see_one_state(held: Any, meddle: Any, command: str, how: dict[str, Any]) -> None:
    table, write, is_open = held
    meddle(lambda: write(command))
    found, wanted = sf.collect(APART, table, **how), sf.collect(APART, FRAME, **how)
    assert (found.weight, found.n_read, found.n_dropped) == (wanted.weight, wanted.n_read, wanted.n_dropped)
    for need in wanted:
        np.testing.assert_array_equal(found[need].values, wanted[need].values)
    assert not is_open()
    again = sf.collect(APART, table, **how)  # which sees what was written
    assert any((again[need].table() != wanted[need].table()).any() for need in wanted)


def test_moments_see_the_same_state(held: Any, meddle: Any) -> None:
    table, write, is_open = held
    meddle(lambda: write(INSERT))
    structure = sf.DAG("a; t")
    assert sf.fit(structure, table).log_likelihood == pytest.approx(sf.fit(structure, FRAME).log_likelihood, rel=1e-9)
    assert not is_open()


def interrupt() -> None:
    raise KeyboardInterrupt


def test_errors_leave_no_transaction_open(held: Any, meddle: Any) -> None:
    table, _, is_open = held
    meddle(interrupt)
    with pytest.raises(KeyboardInterrupt):
        sf.collect(APART, table)
    assert not is_open()
    with pytest.raises(sf.SufficeError):
        sf.collect(sf.DAG("a -> nothing"), table)
    with pytest.raises(sf.SufficeError):
        sf.collect(sf.DAG("a; t"), table, schema={"a": ["x"], "t": sf.continuous()})
    assert not is_open()
    assert sf.collect(sf.DAG("a"), table).weight == 4


def test_a_transaction_of_the_user_is_left_open(held: Any) -> None:
    table, _, is_open = held
    connection = table.get_backend().con
    connection.execute("BEGIN")
    assert sf.collect(APART, table).weight == 4
    assert is_open()
    connection.execute("ROLLBACK")
    assert not is_open()


def relation() -> tuple[Any, Any]:
    import duckdb

    connection = duckdb.connect()
    connection.register("given", FRAME)
    connection.execute("CREATE TABLE rows AS SELECT * FROM given")
    return connection.table("rows"), connection.cursor()


@pytest.mark.parametrize("how", [{}, {"missing": "drop"}, {"weights": "w"}])
@pytest.mark.parametrize("structure", [APART, sf.DAG("a; t")], ids=["counts", "moments"])
def test_totals_that_differ_are_refused(meddle: Any, structure: Any, how: dict[str, Any]) -> None:
    table, writer = relation()
    meddle(lambda: writer.execute(INSERT))
    with pytest.raises(
        sf.DataError, match=r"(4 rows|5 rows|7 as 'w').* (5|4|11)\. .*being written to\. Store .*CREATE TABLE"
    ):
        sf.fit(structure, table, **how)


def test_rows_that_go_before_the_first_query_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    table, writer = relation()
    original = database.DatabaseSource._pushed

    def late(self: Any, needs: Any) -> Any:
        assert self.table.facts  # asked before
        writer.execute("DELETE FROM rows WHERE w = 3")
        return original(self, needs)

    monkeypatch.setattr(database.DatabaseSource, "_pushed", late)
    with pytest.raises(sf.DataError, match=r"4 rows.* 3\. .*being written to"):
        sf.collect(APART, table)


def test_a_query_that_draws_at_random_is_refused() -> None:
    query = "SELECT 'x' AS a, 'u' AS b FROM range(300000) WHERE random() < 0.5"
    with pytest.raises(sf.DataError, match="draws at random"):
        sf.fit(APART, sf.SQL(query))


@pytest.mark.postgres
def test_a_connection_that_commits_by_hand_has_snapshots_too(tmp_path: Any, request: Any, meddle: Any) -> None:
    table, write, is_open = in_postgres(tmp_path, request)
    connection = table.get_backend().con
    connection.autocommit = False
    try:
        meddle(lambda: write(UPDATE))
        found, wanted = sf.collect(APART, table), sf.collect(APART, FRAME)
        assert not is_open()
        for need in wanted:
            np.testing.assert_array_equal(found[need].values, wanted[need].values)
    finally:
        connection.rollback()
        connection.autocommit = True
