"""Drawn rows written as CSV and Parquet."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import suffice as sf
from suffice.io.rows_file import write_rows

ODD = ('say "hi"', "a,b", "line\nbreak", "", "ü😀")
NETWORK = sf.BayesianNetwork(
    sf.DAG("odd -> flag; n"),
    {"odd": [0.2] * 5, "flag": [[0.5, 0.5]] * 5, "n": [0.3, 0.7]},
    schema={"odd": ODD, "flag": [False, True], "n": [10, 9]},
)


def labels(n: int, seed: int) -> list[tuple]:
    return [
        row
        for block in NETWORK.sample_blocks(n, seed=seed)
        for row in zip(
            *([v.labels[code] for code in block.columns[v.name].tolist()] for v in block.schema.variables), strict=True
        )
    ]


def test_csv_holds_every_label_as_it_is(tmp_path: Path) -> None:
    path = str(tmp_path / "rows.csv")
    write_rows(NETWORK.schema, NETWORK.sample_blocks(500, seed=3), path)
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert tuple(header) == NETWORK.variables
    assert [tuple(row) for row in rows] == [tuple(map(str, row)) for row in labels(500, 3)]


def test_parquet_keeps_types_and_all_states_in_order(tmp_path: Path) -> None:
    path = str(tmp_path / "rows.parquet")
    write_rows(NETWORK.schema, NETWORK.sample_blocks(500, seed=3), path)
    table = pq.read_table(path)
    assert list(zip(*(table.column(name).to_pylist() for name in NETWORK.variables), strict=True)) == labels(500, 3)
    again = sf.collect(NETWORK.dag, path)
    assert again.schema["odd"].states == ODD
    assert again.schema["n"].states == (9, 10)  # Parquet keeps categories of text only; numbers are found and sorted


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("n", [0, 1, 65_536, 65_537])
def test_any_number_of_rows_is_written(tmp_path: Path, ending: str, n: int) -> None:
    path = str(tmp_path / f"rows{ending}")
    write_rows(NETWORK.schema, NETWORK.sample_blocks(n, seed=1), path)
    statistics = sf.collect(NETWORK.dag, path, schema=NETWORK.schema, missing="drop")
    assert statistics.n_read == n


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    def broken():
        yield from NETWORK.sample_blocks(10, seed=1)
        raise KeyboardInterrupt

    for name in ("rows.csv", "rows.parquet"):
        with pytest.raises(KeyboardInterrupt):
            write_rows(NETWORK.schema, broken(), str(tmp_path / name))
    assert list(tmp_path.iterdir()) == []


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(sf.ArgumentError, match=r"ends in \.csv or \.parquet"):
        write_rows(NETWORK.schema, NETWORK.sample_blocks(1, seed=1), str(tmp_path / "rows.xlsx"))
