"""One table, and the ways to hand it to every engine."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import postgres_programs

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
    """A server of our own on loopback, run by a user of its own, with a connection of ibis to it."""
    import ibis

    programs = postgres_programs()
    where = tmp_path_factory.mktemp("postgres")
    as_user = []
    if os.getuid() == 0:  # a server refuses to be run by root
        shutil.chown(where, "postgres")
        for parent in where.parents:
            with contextlib.suppress(PermissionError):
                parent.chmod(parent.stat().st_mode | 0o011)
        as_user = ["runuser", "-u", "postgres", "--"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    store = where / "store"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": where}
    begin = [*as_user, str(programs / "initdb"), "-D", str(store), "-U", "tester", "-A", "trust", "-E", "UTF8"]
    subprocess.run(begin, check=True, **quiet)
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={where} -c fsync=off"
    start = [*as_user, str(programs / "pg_ctl"), "-D", str(store), "-o", options, "-w", "-t", "60"]
    subprocess.run([*start, "-l", str(where / "log"), "start"], check=True, **quiet)
    try:
        connection = ibis.postgres.connect(host="127.0.0.1", port=port, user="tester", database="postgres")
        yield connection
        connection.disconnect()
    finally:
        stop = [*as_user, str(programs / "pg_ctl"), "-D", str(store), "-m", "immediate", "stop"]
        subprocess.run(stop, check=False, **quiet)
