"""A PostgreSQL server of our own: on loopback, in a folder of its own, run by a user of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conftest import postgres_programs, without_sanitizers


@contextlib.contextmanager
def running(where: Path) -> Iterator[Any]:
    """Start a server in an empty folder, and yield a connection of ibis to it."""
    import ibis

    programs = postgres_programs()
    assert programs is not None
    as_user = _as_user(where)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    store = str(where / "store")
    env = without_sanitizers()  # with their libraries a server waits for ever for a lock of its own
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": where, "env": env}
    begin = [*as_user, str(programs / "initdb"), "-D", store, "-U", "tester", "-A", "trust", "-E", "UTF8"]
    subprocess.run(begin, check=True, **quiet)
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={where} -c fsync=off"
    control = [*as_user, str(programs / "pg_ctl"), "-D", store]
    subprocess.run([*control, "-o", options, "-w", "-t", "60", "-l", str(where / "log"), "start"], check=True, **quiet)
    try:
        connection = ibis.postgres.connect(host="127.0.0.1", port=port, user="tester", database="postgres")
        yield connection
        connection.disconnect()
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=False, **quiet)


def _as_user(where: Path) -> list[str]:
    """Return how to run a program as the server's user, which a server asks for where we are root."""
    if os.getuid():
        return []
    shutil.chown(where, "postgres")
    for parent in where.parents:
        with contextlib.suppress(PermissionError):
            parent.chmod(parent.stat().st_mode | 0o011)
    return ["runuser", "-u", "postgres", "--"]


@contextlib.contextmanager
def filled(folder: str, n_rows: int) -> Iterator[Any]:
    """Yield a table of ibis's over some rows of Parquet files, in a server of its own."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.dataset

    with tempfile.TemporaryDirectory() as where, running(Path(where)) as connection:
        rows = pa.dataset.dataset(sorted(Path(folder).glob("*.parquet"))).head(n_rows)
        columns = ", ".join(f'"{name}" text' for name in rows.column_names)
        with connection.con.cursor() as cursor:
            cursor.execute(f"CREATE TABLE rows ({columns})")
            with cursor.copy("COPY rows FROM STDIN WITH (FORMAT csv)") as copy:
                for batch in rows.to_batches(max_chunksize=50_000):
                    sink = pa.BufferOutputStream()
                    pa.csv.write_csv(batch, sink, pa.csv.WriteOptions(include_header=False))
                    copy.write(sink.getvalue().to_pybytes())
            cursor.execute("ANALYZE rows")
        connection.con.commit()
        yield connection.table("rows")
