"""One table, and the ways to hand it to every engine."""

from __future__ import annotations

import os
import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.server import running

N = 600


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
    builder = SparkSession.builder.master("local[2,3]").appName("tests")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
    }.items():
        builder = builder.config(key, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    """A connection of ibis to a server of our own."""
    with running(tmp_path_factory.mktemp("postgres")) as connection:
        yield connection
