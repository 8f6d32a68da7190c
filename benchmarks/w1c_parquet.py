"""W1c: a Parquet file of 5,000,000 × 37 strings, all conditional probability tables of ALARM, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import samples
from common import Answer, Context, Entry, contestant_main, race, ratio_table
from networks import Held, described, suffice_answer

TITLE = "W1c: Parquet file, 5,000,000 × 37 strings → all CPTs of ALARM"
SEED = 2
N_ROWS = 5_000_000
Cells = dict[tuple[str, ...], float]
"""Probabilities by the states of parents and child."""
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
    """One grouped query a family, its few counts normalised in Python: a window in the query doubles its cost."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Load the library; what the user holds is the path."""
        import duckdb  # noqa: F401

        return Held(request["rows"], described(request))

    def fit(self, held: Held) -> list[Cells]:
        """Run the queries."""
        import duckdb

        with duckdb.connect() as connection:
            return [normalised(connection.execute(self.query(held, node)).fetchall()) for node in held.nodes]

    @staticmethod
    def query(held: Held, node: str) -> str:
        """Return the query of one family."""
        columns = ", ".join(f'"{name}"' for name in held.scope(node))
        return f"SELECT {columns}, count(*) FROM '{held.frame}' GROUP BY {columns}"

    def answer(self, held: Held, fitted: list[Cells]) -> Answer:
        """Return the tables."""
        return {node: spread(held, node, cells) for node, cells in zip(held.nodes, fitted, strict=True)}


class Polars:
    """All families as lazy queries of one plan, so that the file may be read once."""

    def __init__(self, engine: str) -> None:
        self.engine = engine

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Load the library; what the user holds is the path."""
        import polars  # noqa: F401

        return Held(request["rows"], described(request))

    def fit(self, held: Held) -> list[Cells]:
        """Collect all queries together."""
        import polars as pl

        scan = pl.scan_parquet(held.frame)
        queries = [scan.group_by(held.scope(node)).len() for node in held.nodes]
        return [normalised(frame.rows()) for frame in pl.collect_all(queries, engine=self.engine)]

    def answer(self, held: Held, fitted: list[Cells]) -> Answer:
        """Return the tables."""
        return {node: spread(held, node, cells) for node, cells in zip(held.nodes, fitted, strict=True)}


def normalised(counted: Iterable[tuple[Any, ...]]) -> Cells:
    """Turn counts, one row (parents' states, child's state, count) a cell, into probabilities by cell."""
    cells = {row[:-1]: row[-1] for row in counted}
    totals: dict[tuple[str, ...], int] = {}
    for labels, count in cells.items():
        totals[labels[:-1]] = totals.get(labels[:-1], 0) + count
    return {labels: count / totals[labels[:-1]] for labels, count in cells.items()}


def spread(held: Held, node: str, cells: Cells) -> list[float]:
    """Put the cells that occur into a full table; rows without data are zeros."""
    import numpy as np

    states = [held.nodes[name]["states"] for name in held.scope(node)]
    table = np.zeros([len(found) for found in states])
    for labels, p in cells.items():
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
    return f"{ratio_table(outcomes, sizes)}\n\nSampled with seed {SEED}, {n_rows:,} rows."


if __name__ == "__main__":
    contestant_main(CONTESTANTS)
