"""Small tables from integer arithmetic, and the same table in every form that the library reads."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

Columns = dict[str, list[Any]]
FORMS = ("dict", "csv", "parquet", "duckdb", "sqlite", "pandas", "polars", "arrow", "numpy")


def uniform(seed: int, n: int, low: int, high: int) -> list[int]:
    """Return whole numbers from low up to, and without, high; Philox's raw bits are the same for ever."""
    return [low + int(word >> np.uint64(11)) % (high - low) for word in np.random.Philox(key=seed).random_raw(n)]


def bell(seed: int, n: int) -> list[float]:
    """Return multiples of 1/256 that are about normal, with mean 0 and standard deviation 1."""
    rows = np.array(uniform(seed, 6 * n, 0, 2**16)).reshape(n, 6).sum(axis=1)
    return [round(float(row - 6 * 2**15) / 2**16 * 1.4 * 256) / 256 for row in rows]


def with_gaps(columns: Mapping[str, list[Any]], names: str, seed: int, one_in: int = 9) -> Columns:
    """Return the columns with some values of those named taken out."""
    result = {name: list(values) for name, values in columns.items()}
    for place, name in enumerate(names.split()):
        for row, number in enumerate(uniform(seed + place, len(result[name]), 0, one_in)):
            if number == 0:
                result[name][row] = None
    return result


def mixed(n: int = 72, seed: int = 1) -> Columns:
    """Return a table of states, numbers and weights in which most columns depend on each other."""
    draw = [uniform(seed * 100 + place, n, 0, 100) for place in range(8)]
    a = [value % 3 for value in draw[0]]
    b = [int(value < 30 + 20 * one) for value, one in zip(draw[1], a, strict=True)]
    c = [int(value < 25 + 40 * one) for value, one in zip(draw[2], b, strict=True)]
    d = [(one + two + (value < 45)) % 3 for value, one, two in zip(draw[3], b, c, strict=True)]
    e = [int(value < (15 + 60 * (one or two))) for value, one, two in zip(draw[4], b, c, strict=True)]
    noise = [bell(seed * 100 + 10 + place, n) for place in range(4)]
    x = noise[0]
    y = [0.5 * one + two + 0.25 * three for one, two, three in zip(x, noise[1], a, strict=True)]
    z = [one - 0.5 * two + 0.75 * three for one, two, three in zip(x, y, noise[2], strict=True)]
    s = [("lo", "mid", "hi")[(one > 0) + (one + two > 1)] for one, two in zip(noise[3], x, strict=True)]
    return {
        "A": [f"a{value}" for value in a],
        "B": [["no", "yes"][value] for value in b],
        "C": [["no", "yes"][value] for value in c],
        "D": [f"d{value}" for value in d],
        "E": [["off", "on"][value] for value in e],
        "S": s,
        "k": [1 + value % 3 for value in draw[5]],
        "x": x,
        "y": y,
        "z": z,
        "w": [1 + value % 4 for value in draw[6]],
    }


def _write_csv(columns: Columns) -> str:
    with Path("table.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return "table.csv"


def _write_parquet(columns: Columns) -> str:
    import pyarrow.parquet as pq

    pq.write_table(_arrow(columns), "table.parquet", row_group_size=29)
    return "table.parquet"


def _write_duckdb(columns: Columns) -> Any:
    import duckdb

    import suffice as sf

    Path("table.duckdb").unlink(missing_ok=True)
    with duckdb.connect("table.duckdb") as database:
        database.execute(f"CREATE TABLE rows ({_declared(columns, 'VARCHAR', 'BIGINT', 'DOUBLE')})")
        rows = list(zip(*columns.values(), strict=True))
        database.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(columns))})", rows)
    return sf.SQL("SELECT * FROM rows", "table.duckdb")


def _write_sqlite(columns: Columns) -> Any:
    import ibis

    Path("table.sqlite").unlink(missing_ok=True)
    database = sqlite3.connect("table.sqlite")
    with database:
        database.execute(f"CREATE TABLE rows ({_declared(columns, 'TEXT', 'INTEGER', 'REAL')})")
        rows = zip(*columns.values(), strict=True)
        database.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(columns))})", rows)
    database.close()
    return ibis.sqlite.connect("table.sqlite").table("rows")


def _declared(columns: Columns, text: str, whole: str, number: str) -> str:
    """Return the columns with their types, as SQL declares them."""
    types = {str: text, int: whole, float: number}
    first = {name: next(value for value in values if value is not None) for name, values in columns.items()}
    return ", ".join(f'"{name}" {types[type(value)]}' for name, value in first.items())


def _arrow(columns: Columns) -> Any:
    import pyarrow as pa

    return pa.table(columns)


def _pandas(columns: Columns) -> Any:
    import pandas as pd

    return pd.DataFrame(columns)


def _polars(columns: Columns) -> Any:
    import polars as pl

    return pl.DataFrame(columns)


def _numpy(columns: Columns) -> Any:
    def array(values: list[Any]) -> Any:
        if all(isinstance(value, float | None) for value in values):
            return np.array([np.nan if value is None else value for value in values])
        return np.array(values, dtype=object if None in values else None)

    return {name: array(values) for name, values in columns.items()}


MAKERS: dict[str, Callable[[Columns], Any]] = {
    "dict": dict,
    "csv": _write_csv,
    "parquet": _write_parquet,
    "duckdb": _write_duckdb,
    "sqlite": _write_sqlite,
    "pandas": _pandas,
    "polars": _polars,
    "arrow": _arrow,
    "numpy": _numpy,
}


def in_form(columns: Columns, form: str) -> Any:
    """Return the table in one of `FORMS`; files are written into the current folder."""
    return MAKERS[form](columns)
