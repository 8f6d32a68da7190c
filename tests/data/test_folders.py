"""Folders: hidden folders are left out, and those of Delta and Iceberg tables are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import suffice as sf

DAG = sf.DAG("a -> b")
ROWS = pd.DataFrame({"a": ["x", "y"] * 50, "b": ["u", "v", "v", "u"] * 25})
HIDDEN = ["_temporary/0/", ".staging/", "_temporary/0/key=1/", "key=1/_attempt/", ".ipynb_checkpoints/"]
ENDINGS = ["csv", "parquet"]


def write(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        ROWS.to_csv(path, index=False)
    else:
        ROWS.to_parquet(path)


@pytest.fixture(params=ENDINGS)
def folder(tmp_path: Path, request: Any) -> Path:
    """A folder with two files, one of them in a partition."""
    for name in ("part-0", "key=1/part-1"):
        write(tmp_path / "table" / f"{name}.{request.param}")
    return tmp_path / "table"


def ending_of(folder: Path) -> str:
    return next(path.suffix for path in folder.iterdir() if path.is_file())


@pytest.mark.parametrize("hidden", HIDDEN)
def test_hidden_folders_are_skipped_like_hidden_files(folder: Path, hidden: str) -> None:
    write(folder / hidden / f"part-9{ending_of(folder)}")
    write(folder / f"_part-8{ending_of(folder)}")
    assert sf.collect(DAG, folder).n_read == 200
    for pattern in ("**/*", "*", "*/../**/*"):
        assert sf.collect(DAG, f"{folder}/{pattern}{ending_of(folder)}").n_read == (100 if pattern == "*" else 200)


def test_hidden_folders_that_are_named_are_read(folder: Path) -> None:
    write(folder / "_temporary" / f"part-9{ending_of(folder)}")
    for named in ("_temporary", f"_temporary/*{ending_of(folder)}", f"_*/*{ending_of(folder)}"):
        assert sf.collect(DAG, f"{folder}/{named}").n_read == 100
    with pytest.raises(sf.SufficeError, match="No file matches"):
        sf.collect(DAG, f"{folder}/*/part-9{ending_of(folder)}")


def as_lake(folder: Path, kind: str) -> None:
    if kind == "Delta":
        (folder / "_delta_log").mkdir()
        (folder / "_delta_log" / "00000000000000000000.json").write_text("{}")
    else:
        (folder / "metadata").mkdir()
        (folder / "metadata" / "00000-1f.metadata.json").write_text("{}")


LINES = {"Delta": r"deltalake\.DeltaTable\('.*table'\)\.to_pyarrow_dataset\(\)", "Iceberg": r"scan\(\)\.to_arrow\(\)"}


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("named", ["", "key=1", "..", "*", "**/*"])
def test_tables_of_a_lake_are_refused_with_the_line_to_write(folder: Path, kind: str, named: str) -> None:
    as_lake(folder, kind)
    pattern = named + ending_of(folder) if "*" in named else named
    with pytest.raises(sf.DataError, match=f"(?s)is an? {kind} table.*{LINES[kind]}"):
        sf.collect(DAG, f"{folder}/{pattern}")


def test_the_data_folder_of_an_iceberg_table_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "table" / "data" / "day=1" / "part-0.parquet")
    as_lake(tmp_path / "table", "Iceberg")
    for named in ("table", "table/data", "table/data/day=1", "table/data/**/*.parquet"):
        with pytest.raises(sf.DataError, match="is an Iceberg table"):
            sf.collect(DAG, str(tmp_path / named))


def test_a_file_of_a_lake_that_is_named_is_read(folder: Path) -> None:
    as_lake(folder, "Delta")
    assert sf.collect(DAG, folder / f"part-0{ending_of(folder)}").n_read == 100


def test_a_folder_called_metadata_is_nothing_else(folder: Path) -> None:
    write(folder / "metadata" / f"part-2{ending_of(folder)}")
    assert sf.collect(DAG, folder).n_read == 300
