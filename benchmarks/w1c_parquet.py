"""W1c: a Parquet file of 5,000,000 × 37 strings, all conditional probability tables of ALARM, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import samples
from common import Answer, Context, Entry, contestant_main, first_compilation, race, ratio_table
from networks import Held, described, suffice_answer

TITLE = "W1c: Parquet file, 5,000,000 × 37 strings → all CPTs of ALARM"
SEED = 2
N_ROWS = 5_000_000
OURS = Entry("suffice", "suffice", "ours")
START_LIST = (
    OURS,
    Entry("DuckDB, one GROUP BY a family", "duckdb"),
    Entry("Polars lazy, streaming", "polars-streaming"),
    Entry("Polars lazy, in memory", "polars-memory"),
)


class Suffice:
    """Our library, from the path."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Build the structure."""
        import suffice as sf

        nodes = described(request)
        return Held(request["rows"], nodes, sf.DAG({node: entry["parents"] for node, entry in nodes.items()}))

    def fit(self, held: Held) -> Any:
        """Fit, with the certificate that every fit has."""
        import suffice as sf

        return sf.fit(held.structure, held.frame, unseen_parents="nan")

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the tables."""
        return suffice_answer(held, fitted)


class DuckDB:
    """One grouped query a family; a window over the parents turns counts into probabilities."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Load the library; what the user holds is the path."""
        import duckdb  # noqa: F401

        return Held(request["rows"], described(request))

    def fit(self, held: Held) -> list[Iterable[tuple[Any, ...]]]:
        """Run the queries."""
        import duckdb

        with duckdb.connect() as connection:
            return [connection.execute(self.query(held, node)).fetchall() for node in held.nodes]

    @staticmethod
    def query(held: Held, node: str) -> str:
        """Return the query of one family."""
        columns = ", ".join(f'"{name}"' for name in held.scope(node))
        parents = ", ".join(f'"{name}"' for name in held.nodes[node]["parents"])
        over = f"PARTITION BY {parents}" if parents else ""
        return f"SELECT {columns}, count(*) / sum(count(*)) OVER ({over}) FROM '{held.frame}' GROUP BY {columns}"

    def answer(self, held: Held, fitted: list[Iterable[tuple[Any, ...]]]) -> Answer:
        """Return the tables; configurations without data are absent, so their rows are zeros."""
        return {node: spread(held, node, rows) for node, rows in zip(held.nodes, fitted, strict=True)}


class Polars:
    """All families as lazy queries of one plan, so that the file may be read once."""

    def __init__(self, engine: str) -> None:
        self.engine = engine

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Load the library; what the user holds is the path."""
        import polars  # noqa: F401

        return Held(request["rows"], described(request))

    def fit(self, held: Held) -> list[Any]:
        """Collect all queries together."""
        import polars as pl

        scan = pl.scan_parquet(held.frame)
        return pl.collect_all([self.query(scan, held, node) for node in held.nodes], engine=self.engine)

    @staticmethod
    def query(scan: Any, held: Held, node: str) -> Any:
        """Return the query of one family."""
        import polars as pl

        parents, count = held.nodes[node]["parents"], pl.col("len")
        total = count.sum().over(parents) if parents else count.sum()
        return scan.group_by(held.scope(node)).len().with_columns((count / total).alias("len"))

    def answer(self, held: Held, fitted: list[Any]) -> Answer:
        """Return the tables; configurations without data are absent, so their rows are zeros."""
        return {node: spread(held, node, frame.iter_rows()) for node, frame in zip(held.nodes, fitted, strict=True)}


def spread(held: Held, node: str, rows: Iterable[tuple[Any, ...]]) -> list[float]:
    """Put listed cells into a full table."""
    import numpy as np

    states = [held.nodes[name]["states"] for name in held.scope(node)]
    table = np.zeros([len(found) for found in states])
    for *labels, p in rows:
        table[tuple(found.index(label) for found, label in zip(states, labels, strict=True))] = p
    return [float(p) for p in table.reshape(-1)]


CONTESTANTS = {
    "suffice": Suffice(),
    "duckdb": DuckDB(),
    "polars-streaming": Polars("streaming"),
    "polars-memory": Polars("in-memory"),
}


def run(context: Context) -> str:
    """Race all contestants, and return a section in Markdown."""
    n_rows = N_ROWS // 100 if context.quick else N_ROWS
    request = {**samples.made(context, "alarm", n_rows, SEED, "text"), "repeats": 5, "budget": 40}
    sizes = {node: len(entry["states"]) for node, entry in described(request).items()}
    outcomes = race(context, "w1c_parquet.py", START_LIST, request)
    first = first_compilation(context, "w1c_parquet.py", OURS, request)
    return f"{ratio_table(outcomes, sizes)}\n\nSampled with seed {SEED}, {n_rows:,} rows. {first}"


if __name__ == "__main__":
    contestant_main(CONTESTANTS)
