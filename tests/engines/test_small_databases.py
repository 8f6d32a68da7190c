"""Tables of databases that are unusual: what is dropped, what lacks a value, and names that queries use themselves."""

from __future__ import annotations

import sqlite3

import numpy as np
import pandas as pd
import pytest

import suffice as sf

pytestmark = pytest.mark.filterwarnings("ignore")  # engines warn of each other's versions

ABC, UV = ["x", "y", "z"], ["u", "u", "v"]


@pytest.fixture(params=["duckdb", "sqlite"])
def held(request, tmp_path):
    """Return how a frame is handed to a database."""

    def in_duckdb(frame):
        import duckdb

        with duckdb.connect(tmp_path / "rows.duckdb") as connection:
            connection.register("given", frame)
            connection.execute("CREATE OR REPLACE TABLE rows AS SELECT * FROM given")
        return tmp_path / "rows.duckdb"

    def in_sqlite(frame):
        import ibis

        with sqlite3.connect(tmp_path / "rows.db") as connection:
            frame.to_sql("rows", connection, index=False, if_exists="replace")
        return ibis.sqlite.connect(tmp_path / "rows.db").table("rows")

    return in_duckdb if request.param == "duckdb" else in_sqlite


CASES = {
    "a state of dropped rows alone": ({"a": ["x", "y", None], "b": UV}, {"missing": "drop"}),
    "a state beside an unknown one": (
        {"a": ABC, "b": UV},
        {"missing": "drop", "unknown_states": "missing", "schema": {"a": ["x", "y"]}},
    ),
    "states as text of numbers": (
        {"a": [1, 2, 3], "b": UV},
        {"missing": "drop", "unknown_states": "missing", "schema": {"a": ["1", "2"]}},
    ),
    "whole numbers with gaps": ({"a": [1, 2, None], "b": UV}, {"missing": "drop"}),
    "weights of zero": ({"a": ABC, "b": UV, "w": [0, 2, 1]}, {"weights": "w"}),
    "no rows": ({"a": pd.Series([], dtype=str), "b": pd.Series([], dtype=str)}, {}),
}


@pytest.mark.parametrize("case", CASES)
def test_statistics_and_states_are_those_of_the_rows_at_hand(case, held):
    columns, how = CASES[case]
    frame, dag = pd.DataFrame(columns), sf.DAG("a -> b")
    found, wanted = sf.collect(dag, held(frame), **how), sf.collect(dag, frame, **how)
    for name in ("a", "b"):
        assert found.schema[name].states == wanted.schema[name].states
    assert (found.weight, found.n_read, found.n_dropped) == (wanted.weight, wanted.n_read, wanted.n_dropped)
    for need in wanted:
        np.testing.assert_array_equal(found[need].values, wanted[need].values)


def test_values_that_are_taken_as_missing_are_counted(held):
    how = {"missing": "drop", "unknown_states": "missing", "schema": {"a": ["x"]}}
    found = sf.collect(sf.DAG("a -> b"), held(pd.DataFrame({"a": ABC, "b": UV})), **how)
    assert found.remarks == ("a: 2 values outside the declared states taken as missing (such as 'y').",)


def test_a_softmax_knows_the_states_before_the_first_pass(held):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"t": rng.normal(size=80), "b": rng.choice(["u", "v"], 80)})
    dag = sf.DAG("t -> b")
    assert sf.fit(dag, held(frame)).log_likelihood == pytest.approx(sf.fit(dag, frame).log_likelihood, rel=1e-9)


def test_other_columns_may_have_the_names_that_queries_use(held):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"s": rng.normal(size=30), "t": rng.normal(size=30) + 7})
    more = frame.assign(suffice_centre_0=99.0, suffice_weight=5)
    dag = sf.DAG("s -> t")
    assert sf.fit(dag, held(more)).log_likelihood == pytest.approx(sf.fit(dag, frame).log_likelihood, rel=1e-9)
    with pytest.raises(sf.DataError, match="Rename it"):
        sf.collect(sf.DAG("suffice_centre_0 -> t"), held(more.assign(suffice_centre_0=frame["s"])))


def test_endless_weights_are_refused_with_their_column(held):
    frame = pd.DataFrame({"a": ABC, "b": UV, "w": [1.0, np.inf, 2.0]})
    with pytest.raises(sf.DataError, match="Column 'w' is to hold weights, but in 1 row it is negative, infinite or"):
        sf.collect(sf.DAG("a -> b"), held(frame), weights="w")


def test_a_comparison_reads_a_database(tmp_path):
    frame = pd.DataFrame({"a": ABC * 20, "b": (UV * 20)[::-1]})
    frame.to_parquet(tmp_path / "rows.parquet")
    models = {"joined": sf.DAG("a -> b"), "free": sf.DAG("a; b")}
    found = sf.compare(models, sf.SQL(f"SELECT * FROM '{tmp_path}/rows.parquet'"), prior=sf.BDeu(1))
    assert found.to_dict() == sf.compare(models, frame, prior=sf.BDeu(1)).to_dict()
