"""One table, and the ways to hand it to every engine."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.server import running

N = 600
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of Java for small jobs: code is compiled quickly rather than well, and memory is freed by one thread."""
SPARK = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": QUICK_JAVA,
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Settings of the session of Spark, which is used for small data: what takes time to begin is left out."""


def made(n=N, seed=0, offset=1e9):
    """Return rows of discrete and continuous columns, with weights, gaps, and means far from zero."""
    rng = np.random.default_rng(seed)
    side = rng.choice(["left", "right", "it's"], n)
    size = rng.choice([1, 2, 3], n)
    height = rng.normal(offset, 1.0, n) + size
    frame = pd.DataFrame({"side": side, "size": size, "warm": rng.random(n) < 0.4, "height": height})
    frame["depth"] = 0.5 * (height - offset) + rng.normal(size=n) * 1e-3
    frame["times"] = rng.integers(0, 4, n)
    frame["share"] = rng.integers(1, 9, n) / 8
    frame["colour"] = np.where(rng.random(n) < 0.1, None, rng.choice(["red", "blue"], n))
    return frame


@pytest.fixture(scope="session")
def frame():
    return made()


@pytest.fixture(scope="session")
def folder(frame, tmp_path_factory):
    """The table as five Parquet files of several row groups each."""
    path = tmp_path_factory.mktemp("parts")
    for place, rows in enumerate(np.array_split(np.arange(len(frame)), 5)):
        part = pa.Table.from_pandas(frame.iloc[rows], preserve_index=False)
        pq.write_table(part, path / f"part-{place}.parquet", row_group_size=50)
    return path


@pytest.fixture(scope="session")
def spark():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("PYTHONPATH", "")
    os.environ["SPARK_LAUNCHER_OPTS"] = QUICK_JAVA
    builder = SparkSession.builder.master("local[1,2]").appName("tests")  # one core; a task that fails is tried twice
    for key, value in SPARK.items():
        builder = builder.config(key, value)
    # Spark begins with a program that waits for ever if a sanitizer's libraries are loaded; Python's workers need them.
    if libraries := os.environ.pop("LD_PRELOAD", ""):
        builder = builder.config("spark.executorEnv.LD_PRELOAD", libraries)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    if libraries:
        os.environ["LD_PRELOAD"] = libraries
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgres():
    """A connection of ibis to a server of our own; pytest's own folders are closed to the server's user."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as connection:
        yield connection


@pytest.fixture
def dask_here():
    """A client of Dask with one worker, which is a thread of this process."""
    from distributed import Client, LocalCluster

    workers = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with LocalCluster(**workers) as cluster, Client(cluster) as client:
        yield client
