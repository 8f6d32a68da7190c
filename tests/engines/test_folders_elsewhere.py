"""Folders that an engine reads by itself: those of Delta and Iceberg tables are refused all the same."""

from __future__ import annotations

import shutil

import pytest

import suffice as sf

pytestmark = pytest.mark.filterwarnings("ignore")  # engines warn of each other's versions
DAG = sf.DAG("side -> size")


@pytest.fixture
def lake(folder, tmp_path):
    """The Parquet files with the log of a Delta table, or the metadata of an Iceberg table, beside them."""
    shutil.copytree(folder, tmp_path / "lake")
    (tmp_path / "lake" / "_delta_log").mkdir()
    return tmp_path / "lake"


def refused(data):
    with pytest.raises(sf.DataError, match=r"is a Delta table.*to_pyarrow_dataset\(\)"):
        sf.collect(DAG, data)


def test_dask(lake):
    import dask.dataframe as dd

    frame = dd.read_parquet(lake)
    refused(frame)
    refused(frame[frame["size"] < 3])
    refused(dd.read_parquet(lake, columns=["side", "size"]))


def test_queries(lake):
    refused(sf.SQL(f"SELECT * FROM '{lake}/*.parquet'"))
    refused(sf.SQL(f"SELECT * FROM read_parquet('{lake}/**/*.parquet') WHERE side LIKE 'l*'"))
    assert sf.collect(DAG, sf.SQL(f"SELECT * FROM '{lake}/part-0.parquet'")).n_read == 120


@pytest.mark.java
def test_spark(lake, spark, frame):
    files = spark.read.parquet(str(lake))
    refused(files)
    refused(files.filter("size < 3").select("side", "size"))
    refused(files.join(spark.createDataFrame(frame[["times"]].drop_duplicates()), "times"))


def test_hidden_folders_are_skipped_by_dask(folder, tmp_path, frame):
    import dask.dataframe as dd

    shutil.copytree(folder, tmp_path / "parts")
    shutil.copytree(folder, tmp_path / "parts" / "_temporary" / "0")
    assert sf.collect(DAG, dd.read_parquet(tmp_path / "parts")).n_read == len(frame)


@pytest.mark.java
def test_hidden_folders_are_skipped_by_spark(folder, tmp_path, frame, spark):
    shutil.copytree(folder, tmp_path / "parts")
    shutil.copytree(folder, tmp_path / "parts" / "_temporary" / "0")
    assert sf.collect(DAG, spark.read.parquet(str(tmp_path / "parts"))).n_read == len(frame)
