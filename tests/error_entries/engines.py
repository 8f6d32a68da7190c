"""Errors of data that live elsewhere, and of passes in pieces."""

from __future__ import annotations

import os
import sys
from typing import Any
from unittest import mock

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.error_catalogue import A, C, D, T, World, entry

import suffice as sf
from suffice.data.readers.pieces import pieces_of
from suffice.engines import local
from suffice.engines.dask import tree
from suffice.engines.local import LocalPieces
from suffice.engines.parts import workers_of
from suffice.engines.spark import run_on_spark
from suffice.engines.spread import Work
from suffice.errors import DamagedError
from suffice.files import read_arrays, write_arrays
from suffice.opening import StructureOpening
from suffice.progress import Watch

ROWS = "SELECT * FROM (VALUES ('x', 1, 0.5, 2.0), ('y', 2, 1.5, -1.0), (NULL, 2, 'inf'::DOUBLE, 1.0)) AS t(A, B, u, w)"


def relation(query: str = ROWS) -> Any:
    return sf.SQL(query)


def parquet(world: World, name: str = "rows.parquet") -> str:
    pq.write_table(pa.table(world.data), world.path(name))
    return world.path(name)


def dask_frame(world: World) -> Any:
    import dask.dataframe as dd
    import pandas as pd

    return dd.from_pandas(pd.DataFrame(world.data), npartitions=1)


def changed(world: World) -> Any:
    piece = pieces_of(parquet(world))[0]
    os.utime(piece.path, (1, 1))
    return sf.collect(world.dag, piece)


def other_job(world: World) -> Any:
    parquet(world, "1.parquet")
    parquet(world, "2.parquet")
    with mock.patch.object(local, "SECONDS", 0.0), mock.patch.object(local.Path, "unlink"):
        sf.collect(world.dag, world.path("*.parquet"), checkpoint=world.path("so far"))
    return sf.collect(sf.DAG("A; B"), world.path("*.parquet"), checkpoint=world.path("so far"))


def too_far(world: World) -> Any:
    parquet(world, "1.parquet")
    parquet(world, "2.parquet")
    path = world.path("so far")
    with mock.patch.object(local, "SECONDS", 0.0), mock.patch.object(local.Path, "unlink"):
        sf.collect(world.dag, world.path("*.parquet"), checkpoint=path)
    meta, arrays = read_arrays(path, local.FILE_KIND, local.FILE_VERSION)
    write_arrays(path, local.FILE_KIND, local.FILE_VERSION, {**meta, "done": 3}, arrays)
    return sf.collect(world.dag, world.path("*.parquet"), checkpoint=path)


def damaged(piece: Any) -> Any:
    raise DamagedError("It is cut off.")


def many_numbers(world: World) -> Any:
    for part in (0, 1):
        table = pa.table({"A": [12 * part + number for number in range(12)], "B": ["u", "v"] * 6})
        pq.write_table(table, world.path(f"{part}.parquet"))
    return sf.collect(world.dag, world.path("*.parquet"), checkpoint=world.path("so far"))


def database(world: World, *tables: str) -> str:
    with duckdb.connect(world.path("rows.duckdb")) as connection:
        for table in tables:
            connection.execute(f"CREATE TABLE {table} (A TEXT)")
    return world.path("rows.duckdb")


def outgrown(world: World) -> Any:
    """Let lists of what occurs outgrow the memory that is allowed."""
    rng = np.random.default_rng(0)
    columns = {f"x{place}": rng.integers(0, 12, 160_000) for place in range(8)}
    for part in (0, 1):
        pq.write_table(pa.table(columns).slice(80_000 * part, 80_000), world.path(f"{part}.parquet"))
    sf.config(memory="2MB")
    try:
        return sf.collect(sf.DAG({"x0": list(columns)[1:]}), world.path("*.parquet"))
    finally:
        sf.config(memory="4GB")


def halves(world: World) -> Any:
    """Collect pieces, one of integers with a missing value, one of fractions."""
    for part, numbers in enumerate(([1, None], [2.5, 3.0])):
        pq.write_table(pa.table({"A": numbers, "B": ["u", "v"]}), world.path(f"{part}.parquet"))
    return sf.collect(world.dag, world.path("*.parquet"), missing="drop", checkpoint=world.path("c"))


def without_duckdb(world: World) -> Any:
    with mock.patch.dict(sys.modules, {"duckdb": None}):
        return sf.fit(world.dag, sf.SQL("SELECT 1"))


entry("column that a database lacks", D, lambda w: sf.fit(sf.DAG("A -> C"), relation()), "'C'", "['A', 'B', 'u', 'w']")
entry("gap in a database", D, lambda w: sf.fit(w.dag, relation()), "Column 'A'", "1 value", "row of B=2",
      "missing='drop'")  # fmt: skip
entry("weights of a database that are text", D, lambda w: sf.fit(sf.DAG("B"), relation(), weights="A"), "Column 'A'",
      "weights", "Name another")  # fmt: skip
entry("negative weights of a database", D, lambda w: sf.fit(sf.DAG("B"), relation(), weights="w"), "Column 'w'",
      "1 row", "not negative")  # fmt: skip
entry("endless numbers of a database", D, lambda w: sf.fit(sf.Normal("u"), relation()), "Column 'u'", "infinite")
entry("unknown state of a database", D, lambda w: sf.fit(sf.DAG("A -> B"), relation(), missing="drop",
      schema={"A": ["x"]}), "Column 'A': state 'y'", "unknown_states='missing'")  # fmt: skip
entry("query that fails when it is run", D, lambda w: sf.fit(sf.DAG("A"), relation("SELECT CAST(x AS INT) AS A FROM "
      "(VALUES ('1'), ('no number')) AS t(x)")), "database cannot answer", "Mend")  # fmt: skip
entry("empty query", A, lambda w: sf.SQL(" "), "'query' argument", "empty text")
entry("query that is no SQL", D, lambda w: sf.fit(w.dag, sf.SQL("SELEKT 1")), "database cannot answer", "Mend the")
entry("database that is not there", D, lambda w: sf.fit(w.dag, w.path("none.duckdb")), "no database", "none.duckdb")
entry("database of several tables", A, lambda w: sf.fit(w.dag, database(w, "one", "two")), "['one', 'two']", "sf.SQL(")
entry("database without DuckDB", A, without_duckdb, "DuckDB", "pip install 'suffice[duckdb]'")
entry("database that is no path", A, lambda w: sf.SQL("SELECT 1", 3), "'database' argument", "Got 3")
entry("checkpoint of more pieces than there are", sf.FileFormatError, too_far, "so far",
      "'done' must be at most 2", "Got 3", "Remove it")  # fmt: skip
entry("query that returns nothing", D, lambda w: sf.fit(w.dag, sf.SQL("-- no question")), "returns no table", "SELECT")
entry("column with a name of our own", D, lambda w: sf.fit(sf.DAG("suffice_weight"),
      relation("SELECT 'x' AS suffice_weight")), "Column 'suffice_weight'", "Rename it")  # fmt: skip
entry("weights that a database lacks", D, lambda w: sf.fit(sf.DAG("B"), relation(), weights="v"), "'weights' argument",
      "'v'", "has only")  # fmt: skip
entry("comparison of a Dask frame", A, lambda w: sf.compare({"one": w.dag}, dask_frame(w)), "a Dask data frame",
      "Parquet")  # fmt: skip
entry("checkpoint that is no path", A, lambda w: sf.collect(w.dag, parquet(w), checkpoint=3), "'checkpoint' argument",
      "Got 3")  # fmt: skip
entry("Dask frame without partitions", D, lambda w: tree(Work(StructureOpening(w.dag), None), [], Watch()),
      "no partitions")  # fmt: skip
entry("Spark frame without rows", D, lambda w: run_on_spark(lambda: None), "no rows")
entry("engine that is none", A, lambda w: workers_of("cluster"), "SparkSession", "Got 'cluster'")
entry("weights of an engine's rows", A, lambda w: sf.fit(w.dag, relation(), weights=[1, 2, 3]), "name the column")
entry("sequences of an engine", A, lambda w: sf.fit(sf.MarkovChain(order=1), relation()), "reads sequences", "add")
entry("checkpoint of a CSV file", A, lambda w: sf.collect(w.dag, w.csv("A,B\nx,u\n"), checkpoint=w.path("c")),
      "'checkpoint' argument", "Parquet")  # fmt: skip
entry("policy of damaged files", A, lambda w: sf.collect(w.dag, w.data, damaged="ignore"), "'damaged' argument",
      "['error', 'skip']", "Got 'ignore'")  # fmt: skip
entry("checkpoint of another job", A, other_job, "another job", "Name another file")
entry("only damaged pieces", D, lambda w: LocalPieces(pieces_of(parquet(w)), skip_damaged=True).map_reduce(
      Work(damaged, None), Watch()), "None of the 1 piece can be read", "rows.parquet", "cut off")  # fmt: skip
entry("numbers that are many in all pieces together", C, many_numbers, "'A'", "24 distinct values", "sf.categorical()")
entry("file that changes during a pass", D, changed, "has changed", "Begin again")
entry("file named twice", D, lambda w: sf.collect(w.dag, [parquet(w), parquet(w)]), "named twice", "Name it once")
entry("statistics in place of data", A, lambda w: sf.fit(w.dag, sf.collect(w.dag, w.data)), "'data' argument",
      "sf.estimate(structure, statistics)")  # fmt: skip
entry("statistics that outgrow the memory", T, outgrown, "After 160,000 rows", "2 MB that are allowed", "'x1'",
      "one by one")  # fmt: skip
entry("files of several kinds", D, lambda w: sf.collect(w.dag, [parquet(w), w.csv("A,B\nx,u\n")]), "rows.parquet",
      "not of one kind", "add their statistics")  # fmt: skip
entry("declaration of a column that a database lacks", C, lambda w: sf.fit(sf.DAG("B"), relation(),
      schema={"Bb": sf.categorical()}), "declares 'Bb'", "['A', 'B', 'u', 'w']", "Did you mean 'B'?")  # fmt: skip
entry("column that a query returns twice", D, lambda w: sf.fit(sf.DAG("B"), duckdb.connect().sql(
      "SELECT * FROM (SELECT 1 AS i, 2 AS B) AS s JOIN (SELECT 1 AS i, 3 AS B) AS t ON s.i = t.i")), "Column 'i'",
      "more than once", "in the query")  # fmt: skip
entry("queries of different totals", D, lambda w: sf.collect(sf.DAG("A; B"), relation(
      "SELECT 'x' AS A, 'u' AS B FROM range(300000) WHERE random() < 0.5")), "A query to the database added up to",
      "rows", "at random", "being written to", "CREATE TABLE")  # fmt: skip
entry("query that draws at random", D, lambda w: sf.collect(sf.DAG("A -> B"), relation(
      "SELECT random() < 0.5 AS A, random() < 0.5 AS B FROM range(5000)")), "'A'", "at random",
      "CREATE TABLE")  # fmt: skip
entry("whole numbers and fractions", C, halves, "Column 'A'", "fractions in others", "sf.continuous()")
