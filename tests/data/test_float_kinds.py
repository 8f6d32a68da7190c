"""A missing value never changes what a column is: integers stay discrete, floats continuous, and what could be either
is refused, all such columns at once, by every reader alike."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import suffice as sf
from suffice.data.readers import csv_file, parquet

NODES = sf.DAG("a; b; x; y")
DISCRETE, MEASURED = sf.categorical(), sf.continuous()
N = 40


def columns(**more: Any) -> dict[str, list[Any]]:
    """Return two columns of whole floats that lack values, the second one late, and two that are clear."""
    a = [float(i % 3) for i in range(N)]
    b = [float(i % 2) for i in range(N)]
    x = [i + 0.0 for i in range(N - 1)] + [0.5]
    a[1] = b[-2] = x[2] = None  # type: ignore[call-overload]
    return {"a": a, "b": b, "x": x, "y": [float(i) for i in range(N)], **more}


def parquet_file(data: dict[str, list[Any]], folder: Path) -> Path:
    pq.write_table(pa.table(data), folder / "t.parquet", row_group_size=5)
    return folder / "t.parquet"


def parquet_folder(data: dict[str, list[Any]], folder: Path) -> Path:
    for place in range(4):
        pq.write_table(pa.table(data).slice(place * 10, 10), folder / f"part-{place}.parquet")
    return folder


def csv_path(data: dict[str, list[Any]], folder: Path) -> Path:
    pd.DataFrame(data).to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def duckdb_relation(data: dict[str, list[Any]], folder: Path) -> Any:
    duckdb = pytest.importorskip("duckdb")
    table = pa.table(data)
    return duckdb.connect().from_arrow(table)


def dask_partitions(data: dict[str, list[Any]], folder: Path) -> Any:
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(pd.DataFrame(data), npartitions=4, sort=False)


def dask_files(data: dict[str, list[Any]], folder: Path) -> Any:
    dd = pytest.importorskip("dask.dataframe")
    return dd.read_parquet(parquet_folder(data, folder))


READERS: dict[str, Callable[[dict[str, list[Any]], Path], Any]] = {
    "dict": lambda data, folder: data,
    "arrays": lambda data, folder: {name: np.array(values, float) for name, values in data.items()},
    "pandas": lambda data, folder: pd.DataFrame(data),
    "Polars": lambda data, folder: pl.DataFrame(data),
    "Polars, lazy": lambda data, folder: pl.LazyFrame(data),
    "PyArrow": lambda data, folder: pa.table(data),
    "record batches": lambda data, folder: pa.table(data).to_reader(max_chunksize=5),
    "dataset": lambda data, folder: ds.dataset(parquet_folder(data, folder)),
    "CSV": csv_path,
    "Parquet": parquet_file,
    "Parquet folder": parquet_folder,
    "DuckDB": duckdb_relation,
    "Dask": dask_partitions,
    "Dask files": dask_files,
}


@pytest.fixture(params=READERS.values(), ids=list(READERS))
def read(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return what hands columns to every reader, in small pieces."""
    monkeypatch.setattr(csv_file, "PIECE_BYTES", 64)
    monkeypatch.setattr(parquet, "BATCH_ROWS", 7)
    monkeypatch.setattr(parquet, "LEAST_ROWS", 7)
    return lambda data: request.param(data, tmp_path)


@pytest.mark.filterwarnings("ignore")
class TestEveryReader:
    @pytest.mark.parametrize("missing", ["drop", "em"])
    def test_refuses_all_columns_at_once_with_both_lines(self, read: Callable[..., Any], missing: str) -> None:
        with pytest.raises(sf.SchemaError) as caught:
            sf.fit(NODES, read(columns()), missing=missing)
        said = str(caught.value)
        assert "The columns ['a', 'b'] hold whole numbers as floats" in said
        assert "schema={'a': sf.categorical(), 'b': sf.categorical()}" in said
        assert "schema={'a': sf.continuous(), 'b': sf.continuous()}" in said

    def test_obeys_either_line(self, read: Callable[..., Any]) -> None:
        data = columns()
        fit = sf.fit(NODES, read(data), missing="drop", schema={"a": DISCRETE, "b": DISCRETE})
        assert fit.model.schema["a"].states == (0, 1, 2)
        assert {type(state) for state in fit.model.schema["b"].labels} == {int}
        assert fit.model.schema["x"].states is fit.model.schema["y"].states is None
        numbers = sf.fit(NODES, read(data), missing="drop", schema={"a": MEASURED, "b": MEASURED})
        assert numbers.model.schema["a"].states is None

    def test_takes_floats_without_missing_values_as_continuous(self, read: Callable[..., Any]) -> None:
        data = {name: [float(i) for i in range(N)] for name in NODES.nodes}
        assert all(v.states is None for v in sf.fit(NODES, read(data)).model.schema.variables)

    def test_takes_floats_as_continuous_where_a_late_value_is_no_whole_number(self, read: Callable[..., Any]) -> None:
        data = columns()
        data["a"][-1] = data["b"][-1] = 0.5
        schema = sf.fit(NODES, read(data), missing="drop").model.schema
        assert all(variable.states is None for variable in schema.variables)

    def test_a_missing_value_is_named_first_where_none_may_be_missing(self, read: Callable[..., Any]) -> None:
        with pytest.raises(sf.DataError, match=r"Column '[abx]'.*(the value is missing|lacks 1 value)"):
            sf.fit(NODES, read(columns()))


TYPED: dict[str, Callable[[Path], Any]] = {
    "dict": lambda folder: {"a": [1, None, 2, 1]},
    "nullable pandas": lambda folder: pd.DataFrame({"a": pd.array([1, None, 2, 1], dtype="Int64")}),
    "pandas of Arrow": lambda folder: pd.DataFrame({"a": pd.array([1, None, 2, 1], dtype="int64[pyarrow]")}),
    "Polars": lambda folder: pl.DataFrame({"a": [1, None, 2, 1]}),
    "PyArrow": lambda folder: pa.table({"a": [1, None, 2, 1]}),
    "decimals": lambda folder: pa.table({"a": pa.array([1, None, 2, 1]).cast(pa.decimal128(20, 0))}),
    "Parquet": lambda folder: parquet_file({"a": [1, None, 2, 1]}, folder),
    "DuckDB": lambda folder: sf.SQL("SELECT * FROM (VALUES (1), (NULL), (2), (1)) t(a)"),
    "DuckDB decimals": lambda folder: sf.SQL(
        "SELECT CAST(v AS DECIMAL(20, 0)) AS a FROM (VALUES (1), (NULL), (2), (1)) t(v)"
    ),
}


@pytest.mark.parametrize("made", TYPED.values(), ids=list(TYPED))
def test_typed_integers_stay_discrete(made: Callable[[Path], Any], tmp_path: Path) -> None:
    fit = sf.fit(sf.DAG("a"), made(tmp_path), missing="drop")
    assert fit.model.schema["a"].states == (1, 2)
    assert fit.n == 3


def test_decimals_without_digits_are_integers_in_a_database_without_missing_values() -> None:
    query = "SELECT CAST(v AS DECIMAL(20, 0)) AS a FROM (VALUES (1), (2), (1)) t(v)"
    assert sf.fit(sf.DAG("a"), sf.SQL(query)).model.schema["a"].states == (1, 2)


def test_integers_of_a_file_with_empty_cells_stay_discrete(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,u\n,u\n2,v\n1,v\n")
    assert sf.fit(sf.DAG("a -> b"), tmp_path / "t.csv", missing="drop").model.schema["a"].states == (1, 2)


def test_a_column_that_the_structure_needs_continuous_is_clear() -> None:
    fit = sf.fit(sf.Normal("a"), {"a": [1.0, None, 2.0, 4.0]}, missing="drop")
    assert fit.n == 3


def test_integers_in_one_file_and_floats_in_the_next_are_the_same_states(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1, 2, 1]}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"a": [1.0, None, 2.0]}), tmp_path / "1.parquet")
    fit = sf.fit(sf.DAG("a"), tmp_path, missing="drop")
    assert fit.model.schema["a"].states == (1, 2)
    assert fit.n == 5


def test_a_first_piece_without_values_does_not_decide(tmp_path: Path) -> None:
    for values, name in (([None, None], "0"), ([0.5, 1.5, 3.0], "1")):
        pq.write_table(pa.table({"a": pa.array(values, pa.float64())}), tmp_path / f"{name}.parquet")
    fit = sf.fit(sf.DAG("a"), tmp_path, missing="drop")
    assert fit.model.schema["a"].states is None
    assert fit.n == 3
    pq.write_table(pa.table({"a": [1.0, 2.0]}), tmp_path / "1.parquet")
    with pytest.raises(sf.SchemaError, match="whole numbers as floats"):
        sf.fit(sf.DAG("a"), tmp_path, missing="drop")


def test_hidden_chains_refuse_all_columns_at_once() -> None:
    chain = sf.MarkovChain(latent={"z": 2}, variable=["u", "v"])
    data = pd.DataFrame({"u": [1.0, None, 2.0], "v": [0.0, 1.0, None]})
    with pytest.raises(sf.SchemaError, match=re.escape("schema={'u': sf.continuous(), 'v': sf.continuous()}")):
        sf.fit(chain, data, missing="em")


def test_naive_bayes_names_kinds() -> None:
    frame, y = pd.DataFrame({"age": [1.0, None, 2.0, 3.0, 5.0, 4.0], "word": list("xyxyxy")}), [0, 1, 0, 1, 0, 1]
    with pytest.raises(sf.SchemaError, match=re.escape("kinds={'age': 'categorical'} or kinds={'age': 'gaussian'}")):
        sf.NaiveBayes().fit(frame, y)
    assert sf.NaiveBayes({"age": "gaussian"}).fit(frame, y).kinds_["age"] == "gaussian"


def test_pieces_with_a_checkpoint_are_judged_together(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    parquet_folder(columns(), folder)
    with pytest.raises(sf.SchemaError, match=r"The columns \['a', 'b'\]"):
        sf.collect(NODES, folder, missing="drop", checkpoint=tmp_path / "c")
    data = columns()
    data["a"][-1] = data["b"][-1] = 0.5
    parquet_folder(data, folder)
    found = sf.collect(NODES, folder, missing="drop", checkpoint=tmp_path / "other")
    assert found.schema["a"].states is None
    assert not found.traits
