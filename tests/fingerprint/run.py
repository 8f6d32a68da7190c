"""Run the cases, spread over processes, and write what they gave."""

from __future__ import annotations

import functools
import json
import multiprocessing
import os
import tempfile
from pathlib import Path
from typing import Any

THREAD_SETTINGS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
Fields = dict[str, Any]


@functools.cache
def all_cases() -> dict[str, tuple[Any, dict[str, str]]]:
    """Return every case by name: its family and its options."""
    from tests.fingerprint.families import FAMILIES

    return {name: (family, choice) for family in FAMILIES for name, choice in family.cases.items()}


def run_case(name: str, cases: dict[str, Any]) -> Fields:
    """Run one case in the current folder, where it may write files, and return its fields."""
    from tests.fingerprint.record import Record

    family, choice = cases[name]
    record = Record()
    with record.watched():
        family.run(record, dict(choice))
    return record.fields


def run_all(names: list[str], *, threads: int, processes: int) -> dict[str, Fields]:
    """Run cases, each alone in one of several processes, and return their fields by name."""
    os.environ.update(dict.fromkeys(THREAD_SETTINGS, str(threads)))
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, initializer=_begin, initargs=(threads,)) as pool:
        found = dict(pool.imap_unordered(_run_one, names, chunksize=4))
    return {name: found[name] for name in names}


_cases: dict[str, Any] = {}


def _begin(threads: int) -> None:
    import suffice as sf

    sf.config(threads=threads)
    _cases.update(all_cases())


def _run_one(name: str) -> tuple[str, Fields]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # so that messages name files without their folder
        try:
            return name, run_case(name, _cases)
        except Exception as error:
            raise RuntimeError(f"The case {name!r} failed: {type(error).__name__}: {error}") from error
        finally:
            os.chdir(before)


def described() -> dict[str, str]:
    """Return which library was run, with what."""
    import platform
    from importlib.metadata import version

    import suffice as sf

    parts = ("numpy", "scipy", "pyarrow", "pandas", "polars", "duckdb", "scikit-learn")
    library = {"suffice": sf.__version__, "suffice from": str(Path(sf.__file__).parent)}
    return {**library, "python": platform.python_version(), **{part: version(part) for part in parts}}


def write(path: Path, found: dict[str, Fields]) -> None:
    """Write the fields of all cases, with the versions of what was run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"run": described(), "cases": found}, indent=0, ensure_ascii=False), encoding="utf-8")


def read(path: Path) -> tuple[dict[str, str], dict[str, Fields]]:
    """Return what `write` wrote."""
    entries = json.loads(path.read_text(encoding="utf-8"))
    return entries["run"], entries["cases"]
