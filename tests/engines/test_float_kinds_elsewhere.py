"""Floats that could be codes are refused by every engine alike: all such columns at once, with both lines to choose."""

from __future__ import annotations

import sqlite3

import numpy as np
import pandas as pd
import pytest

import suffice as sf

pytestmark = pytest.mark.filterwarnings("ignore")  # engines warn of each other's versions
NODES = sf.DAG("a; b; x; y")


def rows(late=None):
    """Return two columns of whole floats that lack values, the second one late, and two that are clear."""
    frame = pd.DataFrame(
        {"a": np.arange(60) % 3.0, "b": np.arange(60) % 2.0, "x": np.arange(60.0), "y": np.arange(60.0)}
    )
    frame.loc[1, "a"] = frame.loc[58, "b"] = frame.loc[2, "x"] = np.nan
    frame.loc[59, "x"] = 0.5
    if late is not None:
        frame.loc[59, ["a", "b"]] = late
    return frame


def as_table(name, frame, request, folder):
    if name == "sqlite":
        import ibis

        with sqlite3.connect(folder / "rows.db") as connection:
            frame.to_sql("rows", connection, index=False)
        return ibis.sqlite.connect(folder / "rows.db").table("rows")
    if name == "postgres":
        server = request.getfixturevalue("postgres")
        table = "clear" if frame.loc[59, "a"] == 0.5 else "unclear"
        with server.con.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {table} (a double precision, b double precision, x double precision, y real)")
            values = [tuple(None if pd.isna(v) else v for v in row) for row in frame.itertuples(index=False)]
            cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s, %s, %s)", values)
        server.con.commit()
        return server.table(table)
    spark = request.getfixturevalue("spark")
    for place in range(3):
        frame.iloc[place * 20 : place * 20 + 20].to_parquet(folder / f"part-{place}.parquet", index=False)
    files = spark.read.parquet(str(folder))
    return files if name == "spark files" else files.repartition(3)


@pytest.mark.parametrize(
    "name",
    [
        "sqlite",
        pytest.param("postgres", marks=pytest.mark.postgres),
        pytest.param("spark files", marks=pytest.mark.java),
        pytest.param("spark rows", marks=pytest.mark.java),
    ],
)
def test_floats_that_could_be_codes(name, request, tmp_path):
    (tmp_path / "unclear").mkdir()
    (tmp_path / "clear").mkdir()
    table = as_table(name, rows(), request, tmp_path / "unclear")
    with pytest.raises(sf.SchemaError) as caught:
        sf.fit(NODES, table, missing="drop")
    assert "The columns ['a', 'b'] hold whole numbers as floats" in str(caught.value)
    assert "schema={'a': sf.categorical(), 'b': sf.categorical()}" in str(caught.value)
    assert "schema={'a': sf.continuous(), 'b': sf.continuous()}" in str(caught.value)
    declared = sf.fit(NODES, table, missing="drop", schema={"a": sf.categorical(), "b": sf.continuous()})
    assert declared.model.schema["a"].states == (0, 1, 2)
    assert declared.model.schema["b"].states is None
    clear = as_table(name, rows(0.5), request, tmp_path / "clear")
    assert sf.fit(NODES, clear, missing="drop").model.schema["a"].states is None


@pytest.mark.postgres
def test_decimals_of_postgres_without_digits_are_integers(postgres):
    with postgres.con.cursor() as cursor:
        cursor.execute("CREATE TABLE codes (a numeric(9, 0), b numeric(9, 0), c integer)")
        cursor.executemany("INSERT INTO codes VALUES (%s, %s, %s)", [(1, 1, 1), (2, None, None), (1, 2, 2), (2, 1, 1)])
    postgres.con.commit()
    fit = sf.fit(sf.DAG("a; b; c"), postgres.table("codes"), missing="drop")
    assert [fit.model.schema[name].states for name in "abc"] == [(1, 2)] * 3
