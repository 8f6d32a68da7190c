"""W11: ALARM, 20,000,000 rows in 40 Parquet files: the counts of all families, wherever the pass runs.

Local streaming, DuckDB, Dask and Spark read the same files; PostgreSQL holds 1,000,000 of the rows. Spark is also asked
in its own ways, on data that it has cached: one ``groupBy().count()`` a family, and one query with GROUPING SETS. The
figure to look at is the wall time: the work is done in other processes as well.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from common import HERE, Answer, Context, Entry, Outcome, contestant_main, measured_table, race, say

TITLE = "W11: ALARM, 20,000,000 × 37 strings in 40 Parquet files → the counts of all families, by engine"
SEED, N_FILES, FILE_ROWS = 100, 40, 500_000
POSTGRES_ROWS = 1_000_000
ENTRIES = (
    Entry("local, streamed", "local", "ours"),
    Entry("local, with a checkpoint", "checkpoint", "ours"),
    Entry("DuckDB, pushed down", "duckdb", "ours"),
    Entry("Dask, 2 workers", "dask", "ours"),
    Entry("Spark `local[2]`, warm", "spark", "ours"),
    Entry("Spark alone, cached: one `groupBy().count()` a family", "spark-groups", "ours"),
    Entry("Spark alone, cached: one query with GROUPING SETS", "spark-sets", "ours"),
)


def run(context: Context) -> str:
    """Race all engines, and return a section in Markdown."""
    rows = FILE_ROWS // 100 if context.quick else FILE_ROWS
    folder = made(context, rows)
    request = {"folder": str(folder), "rows": rows * N_FILES, "repeats": 2, "budget": 120}
    outcomes = race(context, "w11_engines.py", ENTRIES, request)
    table = measured_table(outcomes, ["rows a second", "counts"], lambda outcome: facts(outcomes[0], outcome, request))
    few = {**request, "postgres": POSTGRES_ROWS if not context.quick else rows}
    held = race(context, "w11_engines.py", (Entry("PostgreSQL, pushed down", "postgres", "ours"),), few)
    few["rows"] = few["postgres"]
    other = measured_table(held, ["rows a second", "counts"], lambda outcome: facts(outcome, outcome, few))
    return f"{table}\n\n{few['postgres']:,} of the rows in a table of PostgreSQL's:\n\n{other}\n\nSeeds {SEED} and on."


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
    same = outcome.measured["answer"] == reference.measured["answer"]
    speed = request["rows"] / outcome.measured["wall"]
    return [f"{speed:,.0f}", "reference" if outcome is reference else "equal" if same else "DIFFER"]


# Contestants --------------------------------------------------------------------------------------------------


def structure(request: Mapping[str, Any]) -> Any:
    """Return ALARM's network."""
    import suffice as sf

    return sf.read(f"{request['folder']}/model.json").dag


def digest(statistics: Any) -> Answer:
    """Return the counts of all families as numbers that can be compared."""
    return {",".join(need.columns): [float(x) for x in statistics[need].values.reshape(-1)] for need in statistics}


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
        """Return the counts."""
        return digest(fitted)


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
        "spark.driver.memory": "6g",
        "spark.sql.shuffle.partitions": "4",
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

    def counted(self, held: Any) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
        """Yield the rows of counts of every family."""
        for node, parents in held[0].parents.items():
            scope = (*parents, node)
            yield scope, [tuple(row) for row in held[1].groupBy(*scope).count().collect()]

    def fit(self, held: Any) -> Any:
        """Count."""
        return dict(self.counted(held))

    def answer(self, held: Any, fitted: Any) -> Answer:
        """Return the counts in full tables."""
        import numpy as np

        import suffice as sf

        model = sf.read(f"{held[1].inputFiles()[0].removeprefix('file://').rsplit('/', 1)[0]}/model.json")
        found: dict[str, list[float]] = {}
        for scope, rows in fitted.items():
            states = [sorted(map(str, model.schema[name].labels)) for name in scope]
            table = np.zeros([len(own) for own in states])
            for *labels, count in rows:
                table[tuple(own.index(label) for own, label in zip(states, labels, strict=True))] = count
            found[",".join(scope)] = [float(x) for x in table.reshape(-1)]
        return found


class SparkSets(SparkAlone):
    """One query with GROUPING SETS."""

    def fit(self, held: Any) -> Any:
        """Count all families in one query."""
        frame = held[1]
        frame.createOrReplaceTempView("alarm")
        scopes = [(*parents, node) for node, parents in held[0].parents.items()]
        names = list(dict.fromkeys(name for scope in scopes for name in scope))
        sets = ", ".join("(" + ", ".join(f"`{name}`" for name in scope) + ")" for scope in scopes)
        columns = ", ".join(f"`{name}`" for name in names)
        query = f"SELECT {columns}, grouping_id({columns}) AS which, count(*) AS n FROM alarm GROUP BY GROUPING SETS "
        query += f"({sets})"
        by_mask = {self._mask(names, scope): scope for scope in scopes}
        found: dict[tuple[str, ...], list[Any]] = {scope: [] for scope in scopes}
        for row in frame.sparkSession.sql(query).collect():
            scope = by_mask[row["which"]]
            found[scope].append((*(row[name] for name in scope), row["n"]))
        return found

    @staticmethod
    def _mask(names: list[str], scope: tuple[str, ...]) -> int:
        return sum(1 << (len(names) - 1 - place) for place, name in enumerate(names) if name not in scope)


class Postgres(Ours):
    """A server of its own on loopback, with some of the rows."""

    def data(self, request: Mapping[str, Any]) -> Any:
        """Start the server and fill the table."""
        sys.path.insert(0, str(HERE.parent))
        from tests.engines.server import filled

        self.server = contextlib.ExitStack()
        return self.server.enter_context(filled(request["folder"], request["postgres"]))


CONTESTANTS = {
    "local": Ours(),
    "checkpoint": Checkpointed(),
    "duckdb": DuckDB(),
    "dask": Dask(),
    "spark": Spark(),
    "spark-groups": SparkAlone(),
    "spark-sets": SparkSets(),
    "postgres": Postgres(),
}


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(*sys.argv[2:])
    else:
        contestant_main(CONTESTANTS)
