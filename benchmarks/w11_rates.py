"""W11b: what a plan for many machines is made of: the rates of one core, and the sizes of statistics.

Columns of three states, drawn at random; each node has two of the columns before it as parents. Families with more than
2²⁰ cells keep the configurations that occur: 24 binary parents stand for these.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from common import HERE, Context, Entry, peak_memory, row_of, run_one, say

TITLE = "W11b: rates of one core, for plans: rows, bytes and cells a second"
SIZES = ((37, 5_000_000), (1000, 1_000_000), (10_000, 200_000))
"""Columns and rows."""
DISTINCT = (1_000_000, 10_000_000)
WIDE = ["families", "rows", "Parquet bytes a row", "rows a second", "families × rows a second", "MB a second"]
WIDE += ["peak MiB", "statistics", "in a file", "add two"]
FEW = ["configurations that occur", "statistics", "in a file", "add two", "configurations added a second"]
N_STATES, N_BINARY, SEED = 3, 24, 5


def run(context: Context) -> str:
    """Measure, and return a section in Markdown."""
    rows = [WIDE]
    part = 100 if context.quick else 1
    for n_columns, all_rows in SIZES:
        n_rows = all_rows // part
        path = made(context, n_columns, n_rows)
        say(f"  {n_columns:,} columns, {n_rows:,} rows …")
        found = measured(context, "wide", {"path": str(path), "columns": n_columns})
        size, seconds = os.path.getsize(path), found["seconds"]
        cells = [f"{n_columns:,}", f"{n_rows:,}", f"{size / n_rows:.3g}", f"{n_rows / seconds:,.0f}"]
        cells += [f"{n_columns * n_rows / seconds:.3g}", f"{size / seconds / 1e6:.3g}", f"{found['peak']:.0f}"]
        cells += [f"{found['bytes'] / 1e6:.3g} MB", f"{found['file'] / 1e6:.3g} MB", f"{found['add'] * 1e3:.3g} ms"]
        rows.append(cells)
    few = [FEW]
    for all_distinct in DISTINCT:
        n_distinct = all_distinct // part
        say(f"  {n_distinct:,} configurations …")
        found = measured(context, "sparse", {"distinct": n_distinct})
        cells = [f"{n_distinct:,}", f"{found['bytes'] / 1e6:,.0f} MB", f"{found['file'] / 1e6:,.0f} MB"]
        few.append([*cells, f"{found['add']:.3g} s", f"{2 * n_distinct / found['add']:.3g}"])
    return (
        f"Three states and two parents a node, one thread, from a Parquet file to counts.\n\n{table(rows)}\n\n"
        f"One family of {N_BINARY + 1} binary columns, kept as what occurs; two parts with the same configurations.\n\n"
        f"{table(few)}"
    )


def table(rows: list[list[str]]) -> str:
    """Return rows as a Markdown table, the first of them its head."""
    return "\n".join([row_of(rows[0]), row_of(["---"] * len(rows[0])), *map(row_of, rows[1:])])


def measured(context: Context, what: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Measure in a process of its own."""
    outcome = run_one(context, "w11_rates.py", Entry(what, what, "ours"), request)
    if outcome.measured is None:
        raise SystemExit(f"{what}: {outcome.trouble}")
    return outcome.measured


def made(context: Context, n_columns: int, n_rows: int) -> Path:
    """Return the file, and make it where it does not exist yet."""
    path = context.work / f"wide-{n_columns}x{n_rows}.parquet"
    if not path.exists():
        say(f"  drawing {n_rows:,} × {n_columns:,} …")
        subprocess.run(
            [context.python, str(HERE / "w11_rates.py"), "make", str(path), str(n_columns), str(n_rows)], check=True
        )
    return path


def make(path: str, n_columns: str, n_rows: str) -> None:
    """Draw the columns, in row groups of some 200 million values."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(SEED)
    states = pa.array(["high", "low", "middle"])
    names = [f"x{column}" for column in range(int(n_columns))]
    schema = pa.schema([(name, pa.dictionary(pa.int8(), pa.string())) for name in names])
    group, left = max(1, 200_000_000 // len(names)), int(n_rows)
    beside = Path(f"{path}.part")
    with parquet.ParquetWriter(beside, schema, store_schema=False) as writer:
        while left:
            size = min(group, left)
            codes = rng.integers(0, N_STATES, (len(names), size), np.int8)
            columns = [pa.DictionaryArray.from_arrays(pa.array(own), states) for own in codes]
            writer.write_table(pa.table(columns, schema=schema), row_group_size=size)
            left -= size
    beside.rename(path)


# In a process of its own --------------------------------------------------------------------------------------


def wide(request: Mapping[str, Any]) -> dict[str, Any]:
    """Time a pass over a file of many columns."""
    import suffice as sf

    sf.config(threads=1)
    n = request["columns"]
    dag = sf.DAG({f"x{i}": [f"x{j}" for j in range(max(0, i - 2), i)] for i in range(n)})
    sf.collect(sf.DAG("x0 -> x1"), request["path"])  # kernels are loaded
    statistics, seconds = timed(lambda: sf.collect(dag, request["path"]))
    return {"seconds": seconds, "peak": peak_memory(), **sizes(statistics)}


def sparse(request: Mapping[str, Any]) -> dict[str, Any]:
    """Time adding two parts that hold what occurs of a large family."""
    import numpy as np

    import suffice as sf
    from suffice.stats.counts import Counts

    rng = np.random.default_rng(SEED)
    variables = tuple(sf.Variable(f"x{i}", (0, 1)) for i in range(N_BINARY + 1))
    chosen = rng.choice(1 << (N_BINARY + 1), request["distinct"], replace=False)
    cells = (chosen[:, None] >> np.arange(N_BINARY, -1, -1)) & 1
    counts = Counts.sparse(variables, cells, np.ones(len(cells), np.int64))
    whole = sf.Statistics(sf.Schema(variables), {counts.need: counts}, float(len(cells)), len(cells))
    return sizes(whole)


def sizes(one: Any) -> dict[str, Any]:
    """Return what statistics take here, in a file and between workers, and how long adding what came from one takes."""
    sent = pickle.dumps(one)
    other = pickle.loads(sent)
    with tempfile.TemporaryDirectory() as folder:
        one.save(f"{folder}/part.stats")
        file = os.path.getsize(f"{folder}/part.stats")
    return {
        "bytes": one.n_bytes,
        "file": file,
        "moved": len(sent),
        "add": min(timed(lambda: one + other)[1] for _ in range(3)),
    }


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what comes of some work, and its time."""
    began = time.perf_counter()
    found = work()
    return found, time.perf_counter() - began


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(*sys.argv[2:])
    else:
        measure = {"wide": wide, "sparse": sparse}[sys.argv[1]]
        Path(sys.argv[3]).write_text(json.dumps(measure(json.loads(Path(sys.argv[2]).read_text()))))
