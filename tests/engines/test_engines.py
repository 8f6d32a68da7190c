"""Every engine gives the statistics of the rows that it holds: counts to the last bit, moments to rounding."""

from __future__ import annotations

import sqlite3

import numpy as np
import pandas as pd
import pytest

import suffice as sf
from suffice.data.readers import READERS
from suffice.engines import TABLES, UNKNOWN, kind_of
from suffice.engines.spread import SpreadSource, in_groups

pytestmark = pytest.mark.filterwarnings("ignore")  # engines warn of each other's versions


@pytest.fixture(scope="session")
def in_duckdb(frame, tmp_path_factory):
    import duckdb

    path = tmp_path_factory.mktemp("duckdb") / "rows.duckdb"
    with duckdb.connect(path) as connection:
        connection.register("given", frame)
        connection.execute("CREATE TABLE rows AS SELECT * FROM given")
    return path


@pytest.fixture(scope="session")
def in_sqlite(frame, tmp_path_factory):
    import ibis

    path = tmp_path_factory.mktemp("sqlite") / "rows.db"
    with sqlite3.connect(path) as connection:
        frame.assign(warm=frame["warm"].map({True: "True", False: "False"})).to_sql("rows", connection, index=False)
    return ibis.sqlite.connect(path).table("rows")


@pytest.fixture(scope="session")
def in_postgres(frame, postgres):
    kinds = '"side" text, "size" integer, "warm" boolean, "height" double precision, "depth" double precision, '
    kinds += '"times" integer, "share" double precision, "colour" text'
    with postgres.con.cursor() as cursor:
        cursor.execute(f"CREATE TABLE rows ({kinds})")
        rows = [tuple(None if pd.isna(v) else v for v in row) for row in frame.astype(object).itertuples(index=False)]
        cursor.executemany(f"INSERT INTO rows VALUES ({', '.join(['%s'] * frame.shape[1])})", rows)
    postgres.con.commit()
    return postgres.table("rows")


ENGINE_TABLES = [
    "duckdb",
    "duckdb SQL",
    "sqlite",
    "dask files",
    "dask rows",
    pytest.param("postgres", marks=pytest.mark.postgres),
    pytest.param("spark files", marks=pytest.mark.java),
    pytest.param("spark rows", marks=pytest.mark.java),
]


@pytest.fixture(scope="module", params=ENGINE_TABLES)
def table(request, frame, folder):
    """The rows as an engine holds them; tests with the same engine run one after another, mostly in one process."""
    name = request.param
    if name in ("duckdb", "sqlite", "postgres"):
        return request.getfixturevalue(f"in_{name}")
    if name == "duckdb SQL":
        return sf.SQL(f"SELECT * FROM '{folder}/*.parquet'")
    if name.startswith("spark"):
        spark = request.getfixturevalue("spark")
        files = spark.read.parquet(str(folder))
        return files if name == "spark files" else files.filter("size < 100")
    import dask.dataframe as dd

    return dd.read_parquet(folder) if name == "dask files" else dd.from_pandas(frame, npartitions=3)


STRUCTURES = {
    "discrete network": (sf.DAG("side -> size; size -> warm; side -> warm"), {}),
    "cliques": (sf.Cliques("side:size + size:warm"), {}),
    "regressions": (sf.DAG("size -> height; height -> depth; side -> depth"), {}),
    "regression alone": (sf.DAG("height -> depth"), {}),
    "whole weights": (sf.DAG("side -> size"), {"weights": "times"}),
    "fractional weights": (sf.DAG("size -> height; height -> depth"), {"weights": "share"}),
    "dropped gaps": (sf.DAG("side -> colour"), {"missing": "drop"}),
    "declared states": (
        sf.DAG("side -> size"),
        {"schema": {"side": sf.categorical(["right", "it's", "left", "none"])}},
    ),
    "unknown states": (
        sf.DAG("side -> size"),
        {"schema": {"side": sf.categorical(["left", "right"])}, "unknown_states": "missing", "missing": "drop"},
    ),
}


def as_text(frame, table):
    """Return the frame as SQLite holds it, which has no bools."""
    is_sqlite = getattr(table, "get_backend", None) and table.get_backend().name == "sqlite"
    return frame.assign(warm=frame["warm"].map({True: "True", False: "False"})) if is_sqlite else frame


def require_equal(found, wanted):
    assert list(found) == list(wanted)
    assert (found.n_read, found.n_dropped) == (wanted.n_read, wanted.n_dropped)
    assert found.weight == pytest.approx(wanted.weight, rel=1e-12)
    kinds = [[(v.name, v.states) for v in s.schema.variables] for s in (found, wanted)]
    assert kinds[0] == kinds[1]
    for need in wanted:
        theirs, ours = wanted[need].to_arrays(), found[need].to_arrays()
        assert set(theirs) == set(ours)
        for name, array in theirs.items():
            if array.dtype.kind == "f":
                scale = max(1.0, float(np.abs(array).max(initial=0.0)))
                np.testing.assert_allclose(ours[name], array, rtol=1e-9, atol=1e-9 * scale)
            else:
                np.testing.assert_array_equal(ours[name], array)


@pytest.mark.parametrize("case", STRUCTURES)
def test_statistics_equal_those_of_the_rows_at_hand(case, table, frame):
    structure, how = STRUCTURES[case]
    assert kind_of(table).open_source is not UNKNOWN.open_source
    require_equal(sf.collect(structure, table, **how), sf.collect(structure, as_text(frame, table), **how))


def test_fit_is_the_same_and_certified_from_the_data_again(table, frame):
    dag = sf.DAG("side -> size; size -> height; height -> depth")
    found, wanted = sf.fit(dag, table, certify="data"), sf.fit(dag, frame)
    assert found.certificate.ok
    assert found.log_likelihood == pytest.approx(wanted.log_likelihood, rel=1e-9)
    np.testing.assert_array_equal(found.model.cpd("size").table.values, wanted.model.cpd("size").table.values)


def test_moments_of_means_of_a_milliard_are_right(table, frame):
    found = sf.fit(sf.MultivariateNormal(["height", "depth"]), table)
    centred = frame[["height", "depth"]].to_numpy() - [1e9, 0.0]
    covariance = np.cov(centred.T, bias=True)
    np.testing.assert_allclose(found.model.covariance, covariance, rtol=1e-9)
    np.testing.assert_allclose(found.model.mean, np.add(centred.mean(axis=0), [1e9, 0.0]), rtol=1e-15)


def test_em_reaches_the_optimum_of_the_rows_at_hand(table, frame):
    dag = sf.DAG("side -> colour; side -> size")
    found = sf.fit(dag, table, missing="em")
    assert found.certificate.ok
    assert found.log_likelihood == pytest.approx(sf.fit(dag, frame, missing="em").log_likelihood, abs=1e-6)


def test_pseudo_likelihood_reaches_the_optimum_of_the_rows_at_hand(table, frame):
    cliques = sf.Features([sf.indicator(side="left"), sf.indicator(side="left", size=2), sf.indicator(size=3)])
    found = sf.fit(cliques, table, method="pseudo_likelihood")
    wanted = sf.fit(cliques, frame, method="pseudo_likelihood")
    assert found.certificate.ok
    assert found.log_likelihood == pytest.approx(wanted.log_likelihood, abs=1e-6)


def test_gaps_are_refused_with_the_column(table):
    with pytest.raises(sf.DataError, match=r"[Cc]olumn 'colour'"):
        sf.collect(sf.DAG("side -> colour"), table)


def test_columns_that_are_absent_are_named(table):
    with pytest.raises(sf.DataError, match="'sied'"):
        sf.collect(sf.DAG("sied -> size"), table)


def test_numbers_of_many_values_are_refused_though_each_part_has_few(frame, tmp_path):
    import dask.dataframe as dd

    wide = pd.DataFrame({"a": np.repeat(np.arange(24), 10), "b": ["u", "v"] * 120})
    with pytest.raises(sf.SchemaError, match="24 distinct values"):
        sf.collect(sf.DAG("a -> b"), dd.from_pandas(wide, npartitions=6))


def test_weights_of_an_engines_rows_are_a_column(in_duckdb):
    with pytest.raises(sf.ArgumentError, match="must name the column"):
        sf.fit(sf.DAG("side -> size"), in_duckdb, weights=[1.0, 2.0])


def test_sequences_are_not_read_from_an_engine(in_duckdb):
    with pytest.raises(sf.ArgumentError, match="reads sequences"):
        sf.fit(sf.MarkovChain(order=1), in_duckdb)


def test_names_with_dots_are_read_from_a_database(tmp_path):
    import duckdb

    with duckdb.connect(tmp_path / "odd.duckdb") as connection:
        connection.execute("CREATE TABLE odd AS SELECT * FROM (VALUES ('u', 1), ('v', 2)) AS t(\"a.b\", \"it's\")")
    found = sf.collect(sf.DAG([("a.b", "it's")]), tmp_path / "odd.duckdb")
    assert found[sf.Count(("a.b", "it's"))].values.tolist() == [[1, 0], [0, 1]]


def test_data_are_offered_to_engines_first_and_to_every_reader():
    engines = ["spark", "dask", "parts", "database"]
    assert list(TABLES)[:4] == engines
    assert set(TABLES) == {*engines, *READERS}
    assert all(TABLES[name].accepts is reader.accepts for name, reader in READERS.items())


def test_what_no_kind_of_table_accepts_is_left_to_the_structure_and_the_readers(frame, folder):
    assert kind_of([["a", "b"]]) is UNKNOWN
    assert kind_of(frame) is TABLES["frame"]
    assert kind_of(folder) is TABLES["parquet"]


def test_a_pass_over_files_is_spread(folder):
    import dask.dataframe as dd

    from suffice.opening import open_source
    from suffice.progress import Watch

    source = open_source(sf.DAG("side -> size"), dd.read_parquet(folder), Watch())
    assert isinstance(source, SpreadSource)
    assert len(source.engine.pieces) == 5


@pytest.mark.parametrize(("n", "most"), [(1, 1), (5, 2), (5, 9), (7, 7), (100, 8)])
def test_groups_hold_every_piece_once_and_are_alike(n, most):
    groups = in_groups(list(range(n)), most)
    assert [piece for group in groups for piece in group] == list(range(n))
    assert len(groups) <= most
    assert max(map(len, groups)) - min(map(len, groups)) <= 1


class Heard:
    """A display that keeps what it is told."""

    def __init__(self):
        self.begun, self.done, self.ended = [], [], 0

    def begin(self, label, total, unit):
        self.begun.append((label, total, unit))

    def update(self, done, info):
        self.done.append(done)

    def end(self):
        self.ended += 1


def test_a_display_hears_how_far_an_engine_has_come(table):
    display = Heard()
    sf.collect(sf.DAG("side -> size"), table, progress=display)
    assert display.ended == len(display.begun) == 1
    (label, total, unit), *_ = display.begun
    assert display.done == sorted(display.done)
    assert (label, unit) == ("asking the database", "queries") or unit == "parts"
    assert total in (display.done[-1], None)
    assert display.done[-1] >= 1


@pytest.mark.usefixtures("dask_here")
def test_a_display_hears_of_every_part_that_workers_of_dask_have_done(folder):
    import dask.dataframe as dd

    display = Heard()
    sf.collect(sf.DAG("side -> size"), dd.read_parquet(folder), progress=display)
    assert display.begun[0][1:] == (5, "parts")
    assert display.done == [1, 2, 3, 4, 5]


def test_columns_in_the_names_of_folders_are_read_by_dask(frame, tmp_path):
    import dask.dataframe as dd

    frame[["side", "size", "warm"]].to_parquet(tmp_path / "parts", partition_cols=["warm"])
    found = sf.collect(sf.DAG("side -> size"), dd.read_parquet(tmp_path / "parts"))
    require_equal(found, sf.collect(sf.DAG("side -> size"), frame[["side", "size"]]))
    warm = sf.collect(sf.DAG("side -> warm"), dd.read_parquet(tmp_path / "parts"))
    assert warm[sf.Count(("side", "warm"))].total == len(frame)


def test_a_model_answers_for_the_rows_of_a_query(in_duckdb, frame):
    model = sf.fit(sf.DAG("side -> size; size -> warm"), frame).model
    asked = sf.SQL("SELECT side, size, warm FROM rows", in_duckdb)
    np.testing.assert_array_equal(model.log_prob(asked), model.log_prob(frame))
    rows = sf.SQL("SELECT side, size FROM rows", in_duckdb)
    found, wanted = model.predict("warm", rows), model.predict("warm", frame[["side", "size"]])
    np.testing.assert_array_equal(found.probabilities, wanted.probabilities)
