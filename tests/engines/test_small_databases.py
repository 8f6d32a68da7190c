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
    "whole numbers with gaps": ({"a": [1, 2, None], "b": UV}, {"missing": "drop", "schema": {"a": sf.categorical()}}),
    "weights of yes and no": ({"a": ABC, "b": UV, "w": [False, True, True]}, {"weights": "w"}),
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


# What a hostile table may hold -------------------------------------------------------------------------------


def relation(frame):
    import duckdb

    return duckdb.connect().from_df(frame)


AX = sf.DAG("a -> x")


def require_same(structure, frame, **how):
    found, wanted = sf.collect(structure, relation(frame), **how), sf.collect(structure, frame, **how)
    assert (found.n_read, found.n_dropped, found.weight) == (wanted.n_read, wanted.n_dropped, wanted.weight)
    assert [(v.name, v.states) for v in found.schema.variables] == [(v.name, v.states) for v in wanted.schema.variables]
    for need in wanted:
        for name, array in wanted[need].to_arrays().items():
            scale = 1e-12 * max(1.0, float(np.abs(array).max(initial=0.0)))
            np.testing.assert_allclose(found[need].to_arrays()[name], array, rtol=1e-12, atol=scale)


@pytest.mark.parametrize("far", [5.0, 1e17])
@pytest.mark.parametrize("weight", [0, 0.0])
def test_rows_without_weight_do_not_draw_the_centre_away(far, weight):
    frame = pd.DataFrame({"a": ["u", "u", "u", "v"], "x": [1e9, 1e9 + 1, 1e9 + 2, far], "w": [1, 1, 1, weight]})
    require_same(AX, frame, weights="w")
    require_same(AX, frame.assign(a="u"), weights="w")
    require_same(sf.DAG("x"), frame, weights="w")


def test_a_row_of_little_weight_far_away_costs_no_digits():
    frame = pd.DataFrame({"a": ["u"] * 4, "x": [70.1, 71.2, 69.7, 1e9], "w": [1, 1, 1, 1e-6]})
    found = sf.collect(AX, relation(frame), weights="w")[sf.Moment(("x",), ("a",))]
    wanted = sf.collect(AX, frame, weights="w")[sf.Moment(("x",), ("a",))]
    np.testing.assert_allclose(found.scatter, wanted.scatter, rtol=1e-13)
    np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-14)


@pytest.mark.parametrize(
    ("column", "states"),
    [
        ([1, 2, 1, 7], [1.0, 2.0]),
        ([1, 2, 1, 7], ["1.0", "2.0"]),
        (["1.0", "2", "1", "zz"], [1, 2]),
        (["1.0", "2", "1", "zz"], [1.0, 2.0]),
        (["TRUE", "false", "True", "zz"], [True, False]),
        ([True, False, True, True], ["true", "false"]),
        ([True, False, True, True], [0, 1]),
        ([1.0, 2.0, 1.0, 7.5], ["1", "2", "0"]),
        ([1.0, 2.0, 1.0, 7.5], ["p", "q"]),
    ],
)
def test_states_that_are_spelled_otherwise_are_known_as_everywhere(column, states):
    frame = pd.DataFrame({"a": ["x", "y", "x", "y"], "b": column})
    how = {"schema": {"b": sf.categorical(states)}, "unknown_states": "missing", "missing": "drop"}
    require_same(sf.DAG("a -> b"), frame, **how)


def test_answers_that_contradict_each_other_are_refused():
    import duckdb

    drawn = (
        "SELECT CASE WHEN random() < 0.5 THEN 'x' ELSE 'y' END AS a, CASE WHEN random() < 0.5 THEN 1 ELSE 2 END AS b"
    )
    with pytest.raises(sf.DataError, match=r"differently.*at random"):
        sf.collect(sf.DAG("a -> b"), duckdb.connect().sql(f"{drawn} FROM range(2000)"))
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (a VARCHAR COLLATE NOCASE, b VARCHAR)")
    connection.execute("INSERT INTO t VALUES ('Yes', 'p'), ('yes', 'q'), ('no', 'p'), ('yes', 'p')")
    with pytest.raises(sf.DataError, match=r"differently.*case"):
        sf.collect(sf.DAG("a -> b"), connection.table("t"))


def test_columns_that_occur_twice_are_refused():
    import duckdb

    joined = "SELECT * FROM (VALUES (1, 'u', 1)) l(id, a, x) JOIN (VALUES (1, 0.5)) r(id, x) ON l.id = r.id"
    with pytest.raises(sf.DataError, match="more than once"):
        sf.collect(AX, duckdb.connect().sql(joined))


def test_misspelt_arguments_are_refused_as_for_every_table():
    frame = pd.DataFrame({"a": ABC, "b": UV})
    with pytest.raises(sf.SchemaError, match="declares 'bb'"):
        sf.collect(sf.DAG("a -> b"), relation(frame), schema={"bb": sf.categorical(["u"])})
    with pytest.raises(sf.ArgumentError, match="unknown_states"):
        sf.collect(sf.DAG("a -> b"), relation(frame), unknown_states="mising")


def test_endless_numbers_among_whole_ones_with_gaps_are_refused():
    frame = pd.DataFrame({"a": ["u", "v", "w"], "x": [1.0, np.inf, np.nan]})
    with pytest.raises(sf.DataError, match=r"'x'.*infinite"):
        sf.collect(AX, relation(frame), missing="drop")


def test_sums_and_decimals_are_numbers():
    import duckdb

    connection = duckdb.connect()
    summed = connection.sql("SELECT a, sum(v) AS b FROM (VALUES ('x', 1), ('x', 1), ('y', 3)) t(a, v) GROUP BY a")
    assert sf.collect(sf.DAG("a -> b"), summed).schema["b"].states == (2, 3)
    priced = connection.sql("SELECT * FROM (VALUES ('x', 1.50), ('x', 2.50), ('y', 3.00), ('y', 4.25)) t(a, x)")
    for how in ({}, {"missing": "em"}):
        assert sf.fit(AX, priced, **how).model.cpd("x").sd.tolist() == [0.5, 0.625]


@pytest.mark.parametrize("fault", ["closed", "gone"])
def test_tables_that_are_gone_are_told_in_errors_of_ours(fault):
    import duckdb

    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 'x' AS a, 'y' AS b")
    held = connection.table("t")
    connection.execute("DROP TABLE t") if fault == "gone" else connection.close()
    with pytest.raises(sf.DataError, match="database cannot answer"):
        sf.collect(sf.DAG("a -> b"), held)


def test_views_schemas_and_cases_are_found_in_the_file_of_a_database(tmp_path):
    import duckdb

    path = tmp_path / "rows.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE SCHEMA z")
        connection.execute("CREATE TABLE z.visits AS SELECT 'x' AS a, 'y' AS b")
    dag = sf.DAG("a -> b")
    wanted = sf.collect(dag, path)
    with duckdb.connect(path) as connection:
        connection.execute("CREATE VIEW seen AS SELECT * FROM z.visits")
    for name in ("seen", "SEEN", "z.visits", "SELECT * FROM z.visits"):
        assert sf.collect(dag, sf.SQL(name, path)).weight == wanted.weight == 1
    with pytest.raises(sf.ArgumentError, match=r"\['seen', 'z.visits'\]"):
        sf.collect(dag, path)
    with duckdb.connect(path) as held:
        with pytest.raises(sf.DataError, match="close that connection"):
            sf.collect(dag, path)
        held.execute("SELECT 1")


def test_an_unknown_state_is_refused_without_a_row_of_the_answer_and_with_its_remedy():
    frame = pd.DataFrame({"a": ["x", "x", "z"], "w": [1, 2, 3]})
    for how in ({}, {"weights": "w"}):
        with pytest.raises(sf.DataError, match=r"^Column 'a': state 'z' is not one of \['x', 'y'\]") as caught:
            sf.collect(sf.DAG("a"), relation(frame), schema={"a": ["x", "y"]}, **how)
        assert [remedy.argument for remedy in caught.value.remedies] == ["unknown_states"]
