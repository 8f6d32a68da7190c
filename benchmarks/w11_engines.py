"""W11: ALARM, 20,000,000 rows in 40 Parquet files: the counts of all families, wherever the pass runs.

Local streaming, DuckDB, Dask and Spark read the same files; PostgreSQL holds 1,000,000 of the rows. Spark is asked in
its own ways, too, in the session that ours ran in and on data that it has cached: one ``groupBy().count()`` a family,
and one query with GROUPING SETS. The figure to look at is the wall time: most of the work is done in other processes.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from common import (
    HERE,
    Answer,
    Context,
    Entry,
    Outcome,
    contestant_main,
    measure,
    measured_table,
    race,
    run_one,
    say,
)

TITLE = "W11: ALARM, 20,000,000 × 37 strings in 40 Parquet files → the counts of all families, by engine"
SEED, N_FILES, FILE_ROWS = 100, 40, 500_000
POSTGRES_ROWS = 1_000_000
ENTRIES = (
    Entry("local, streamed", "local", "ours"),
    Entry("local, with a checkpoint", "checkpoint", "ours"),
    Entry("DuckDB, pushed down", "duckdb", "ours"),
    Entry("Dask, 2 workers", "dask", "ours"),
)
SPARK = {
    "spark": "suffice on Spark `local[2]`, warm",
    "groups": "Spark alone, cached: one `groupBy().count()` a family",
    "sets": "Spark alone, cached: one query with GROUPING SETS",
}
"""What runs in one session, in this order."""


def run(context: Context) -> str:
    """Race all engines, and return a section in Markdown."""
    rows = FILE_ROWS // 100 if context.quick else FILE_ROWS
    folder = made(context, rows)
    request = {"folder": str(folder), "rows": rows * N_FILES, "all_rows": rows * N_FILES, "repeats": 2, "budget": 120}
    outcomes = race(context, "w11_engines.py", ENTRIES, request)
    on_spark = session_of_spark(context, request)
    few = {**request, "rows": POSTGRES_ROWS if not context.quick else rows}
    pushed = Entry("PostgreSQL, pushed down", "postgres", "ours")
    held = race(context, "w11_engines.py", (Entry("local, streamed", "head", "ours"), pushed), few)
    return "\n\n".join(
        [
            section(outcomes, outcomes[0], request),
            "One session of Spark, one after another; multiples of the first row:",
            section(on_spark, outcomes[0], request),
            f"{few['rows']:,} of the rows, in a table of PostgreSQL's and in files:",
            section(held, held[0], few),
            f"Counts: of all families, and the probabilities fitted from them, to the last bit. Seeds {SEED} and on. "
            "CPU and peak are those of the process that asks; Spark, PostgreSQL and Dask's workers have their own.",
        ]
    )


def section(outcomes: Sequence[Outcome], reference: Outcome, request: Mapping[str, Any]) -> str:
    """Return a table of measurements."""
    heads = ["rows a second", "counts and fits"]
    return measured_table(outcomes, heads, lambda outcome: facts(reference, outcome, request))


def session_of_spark(context: Context, request: Mapping[str, Any]) -> list[Outcome]:
    """Run all that is asked of Spark in one process, and return an outcome for each."""
    say("  Spark …")
    whole = run_one(context, "w11_engines.py", Entry("Spark", "session", "ours"), request)
    found = whole.measured or {}
    return [Outcome(Entry(title, name, "ours"), found.get(name), whole.trouble) for name, title in SPARK.items()]


def made(context: Context, rows: int) -> Path:
    """Return the folder of files, and make them where they do not exist yet."""
    folder = context.work / f"alarm-{N_FILES}x{rows}"
    if not (folder / "done").exists():
        say(f"  sampling {rows * N_FILES:,} rows of ALARM in {N_FILES} files …")
        folder.mkdir(exist_ok=True)
        source = context.data / "networks_bif" / "alarm.bif.gz"
        subprocess.run(
            [context.python, str(HERE / "w11_engines.py"), "make", str(source), str(folder), str(rows)], check=True
        )
        (folder / "done").touch()
    return folder


def make(source: str, folder: str, rows: str) -> None:
    """Sample the files."""
    import pyarrow as pa
    from pyarrow import parquet

    import suffice as sf

    model = sf.read(source)
    for place in range(N_FILES):
        table = model.sample(int(rows), seed=SEED + place, backend="pyarrow")
        text = pa.table({name: table.column(name).cast(pa.string()) for name in table.column_names})
        parquet.write_table(text, f"{folder}/part-{place:02}.parquet", row_group_size=125_000)
    sf.write(model, f"{folder}/model.json")


def facts(reference: Outcome, outcome: Outcome, request: Mapping[str, Any]) -> list[str]:
    """Say how many rows a second, and whether the counts are those of the first contestant."""
    if outcome.measured is None or reference.measured is None:
        return ["–", "–"]
    wanted, found = reference.measured["answer"], outcome.measured["answer"]
    same = all(found[name] == wanted[name] for name in found)
    told = "equal" if len(found) == len(wanted) else "counts equal"
    speed = request["rows"] / outcome.measured["wall"]
    return [f"{speed:,.0f}", "reference" if outcome is reference else told if same else "DIFFER"]


# Contestants --------------------------------------------------------------------------------------------------


def structure(request: Mapping[str, Any]) -> Any:
    """Return ALARM's network."""
    import suffice as sf

    return sf.read(f"{request['folder']}/model.json").dag


def digest(dag: Any, statistics: Any) -> Answer:
    """Return the counts of all families, and the probabilities that are fitted from them, in one order of states."""
    import suffice as sf

    counts = {",".join(sorted(need.scope)): in_order(statistics[need]) for need in statistics}
    model = sf.estimate(dag, statistics, unseen_parents="uniform").model
    return {**counts, **{f"p({node})": in_order(model.cpd(node).table) for node in dag.nodes}}


def in_order(table: Any) -> list[float]:
    """Return the cells of a table, its variables by name, their states as text."""
    import numpy as np

    names = [variable.name for variable in table.variables]
    states = [[str(state) for state in variable.states] for variable in table.variables]
    values = np.asarray(table.values, dtype=float)[np.ix_(*(np.argsort(own) for own in states))]
    return [float(x) for x in values.transpose(np.argsort(names)).reshape(-1)]


class Ours:
    """Our library, from what its engine holds."""

    def prepare(self, request: Mapping[str, Any]) -> Any:
        """Open what the user holds."""
        return structure(request), self.data(request)

    def data(self, request: Mapping[str, Any]) -> Any:
        """Return the table."""
        return request["folder"]

    def fit(self, held: Any) -> Any:
        """Collect the counts."""
        import suffice as sf

        return sf.collect(held[0], held[1])

    def answer(self, held: Any, fitted: Any) -> Answer:
        """Return the counts and the fit."""
        return digest(held[0], fitted)


class Checkpointed(Ours):
    """The same with a checkpoint."""

    def fit(self, held: Any) -> Any:
        """Collect the counts."""
        import suffice as sf

        return sf.collect(held[0], held[1], checkpoint=f"{held[1]}/so-far")


class DuckDB(Ours):
    """SQL over the files."""

    def data(self, request: Mapping[str, Any]) -> Any:
        """Return the question."""
        import suffice as sf

        return sf.SQL(f"SELECT * FROM '{request['folder']}/part-*.parquet'")


class Dask(Ours):
    """A data frame of Dask's, on two workers."""

    def data(self, request: Mapping[str, Any]) -> Any:
        """Start the workers."""
        import dask.dataframe as dd
        from distributed import Client, LocalCluster

        cluster = LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        )
        self.client = Client(cluster)
        return dd.read_parquet(request["folder"] + "/part-*.parquet")


def session() -> Any:
    """Return a session of Spark on two threads."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "10g",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.files.maxPartitionBytes": "16m",  # so that what Spark caches keeps both cores busy to the end
    }.items():
        builder = builder.config(key, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("ERROR")
    return found


class Spark(Ours):
    """A data frame of Spark's."""

    def data(self, request: Mapping[str, Any]) -> Any:
        """Start the session."""
        return session().read.parquet(request["folder"] + "/part-*.parquet")


class SparkAlone(Spark):
    """Spark's own ways, on data that it has cached."""

    def data(self, request: Mapping[str, Any]) -> Any:
        """Cache the rows."""
        frame = super().data(request).cache()
        frame.count()
        return frame

    def fit(self, held: Any) -> Any:
        """Count one family after another."""
        dag, frame = held
        return {scope: [tuple(row) for row in frame.groupBy(*scope).count().collect()] for scope in scopes_of(dag)}

    def answer(self, held: Any, fitted: Any) -> Answer:
        """Return the counts as our statistics, by which they are compared; all rows are one table of cells."""
        import pyarrow as pa

        import suffice as sf

        parts = {}
        for scope, rows in fitted.items():
            table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(scope)})
            cells = table.append_column("n", pa.array([row[-1] for row in rows]))
            need = sf.Count(scope)
            parts[",".join(sorted(scope))] = in_order(sf.collect(sf.Cliques([scope]), cells, weights="n")[need])
        return parts


class SparkSets(SparkAlone):
    """One query with GROUPING SETS."""

    def fit(self, held: Any) -> Any:
        """Count all families in one query."""
        dag, frame = held
        frame.createOrReplaceTempView("alarm")
        scopes = scopes_of(dag)
        names = list(dict.fromkeys(name for scope in scopes for name in scope))
        sets = ", ".join("(" + ", ".join(f"`{name}`" for name in scope) + ")" for scope in scopes)
        columns = ", ".join(f"`{name}`" for name in names)
        query = f"SELECT {columns}, grouping_id({columns}) AS which, count(*) AS n FROM alarm GROUP BY GROUPING SETS "
        by_mask = {mask(names, scope): scope for scope in scopes}
        found: dict[tuple[str, ...], list[Any]] = {scope: [] for scope in scopes}
        for row in frame.sparkSession.sql(f"{query}({sets})").collect():
            scope = by_mask[row["which"]]
            found[scope].append((*(row[name] for name in scope), row["n"]))
        return found


def scopes_of(dag: Any) -> list[tuple[str, ...]]:
    """Return the families."""
    return [(*parents, node) for node, parents in dag.parents.items()]


def mask(names: Sequence[str], scope: Sequence[str]) -> int:
    """Return how GROUPING SETS numbers the set of some columns."""
    return sum(1 << (len(names) - 1 - place) for place, name in enumerate(names) if name not in scope)


def one_session(request: Mapping[str, Any]) -> dict[str, Any]:
    """Measure ours and Spark's own ways in one session; ours does not profit from the cache."""
    once = {**request, "repeats": 0}  # it takes minutes, in a session that is warm by then
    return {
        "spark": measure(Spark(), request),
        "groups": measure(SparkAlone(), request),
        "sets": measure(SparkSets(), once),
    }


class Head(Ours):
    """Some of the rows, from files."""

    def data(self, request: Mapping[str, Any]) -> Any:
        """Return the first files."""
        n_files = max(1, request["rows"] * N_FILES // request["all_rows"])
        return [f"{request['folder']}/part-{place:02}.parquet" for place in range(n_files)]


class Postgres(Ours):
    """A server of its own on loopback, with some of the rows."""

    def data(self, request: Mapping[str, Any]) -> Any:
        """Start the server and fill the table."""
        sys.path.insert(0, str(HERE.parent))
        from tests.engines.server import filled

        server = contextlib.ExitStack()
        atexit.register(server.close)
        return server.enter_context(filled(request["folder"], request["rows"]))


CONTESTANTS = {
    "local": Ours(),
    "checkpoint": Checkpointed(),
    "duckdb": DuckDB(),
    "dask": Dask(),
    "head": Head(),
    "postgres": Postgres(),
}


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(*sys.argv[2:])
    elif sys.argv[1] == "session":
        Path(sys.argv[3]).write_text(json.dumps(one_session(json.loads(Path(sys.argv[2]).read_text()))))
    else:
        contestant_main(CONTESTANTS)
