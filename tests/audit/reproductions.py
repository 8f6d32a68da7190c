"""Reproductions of defects that were mended: each in a process of its own, with limits of memory and time.

    python -m tests.audit.reproductions [--only NAME] [--seconds 20] [--gigabytes 3]

Prints one line per case, and exits with 1 if one is not as wanted. The cases are in `tests.audit.cases`; ``NAME`` is a
part of a case's name, or the name of a file of cases.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.audit import cases
from tests.audit.cases import Case, wrong_with

ROOT = Path(__file__).parents[2]
WALL = 6
"""A process may take so many times its seconds by the clock, for machines that are busy."""
NOT_AS_WANTED = 3


def topics() -> dict[str, tuple[Case, ...]]:
    """Return the cases of every file of the folder, by the name of the file."""
    names = sorted(module.name for module in pkgutil.iter_modules(cases.__path__))
    return {name: importlib.import_module(f"{cases.__name__}.{name}").CASES for name in names}


def chosen(only: str | None) -> list[Case]:
    """Return the cases that are asked for; names must be unique."""
    by_topic = topics()
    found = [case for some in by_topic.values() for case in some]
    names = [case.name for case in found]
    assert len(set(names)) == len(names), "two cases have the same name"
    if only is None:
        return found
    return list(by_topic[only]) if only in by_topic else [case for case in found if only in case.name]


def run_apart(case: Case, seconds: int, gigabytes: float) -> str | None:
    """Run a case in a process of its own; return what is not as wanted, or None."""
    words = [sys.executable, "-m", __spec__.name, "--inside", case.name]
    words += ["--seconds", str(seconds), "--gigabytes", str(gigabytes)]
    path = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), str(ROOT), str(ROOT / "src")])
    with tempfile.TemporaryDirectory() as folder:
        try:
            ended = subprocess.run(
                words,
                cwd=folder,
                env=os.environ | {"PYTHONPATH": path},
                capture_output=True,
                timeout=WALL * seconds,
                text=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"had not ended after {WALL * seconds} s"
    if ended.returncode == 0:
        return None
    if ended.returncode == NOT_AS_WANTED:
        return ended.stdout.strip().splitlines()[-1]
    last = (ended.stderr.strip().splitlines() or [""])[-1]
    return f"the process ended with {ended.returncode} (out of time or memory): {last[:200]}"


def run_inside(case: Case, seconds: int, gigabytes: float) -> int:
    """Run a case in this process, under limits that stay."""
    size = int(gigabytes * 10**9)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    wrong = wrong_with(case)
    if wrong is None:
        return 0
    print(wrong.replace("\n", " "))
    return NOT_AS_WANTED


def main(arguments: list[str] | None = None) -> int:
    """Run the cases and print one line for each."""
    parser = argparse.ArgumentParser(description="Run the reproductions, each in a process of its own.")
    parser.add_argument("--only", help="a part of a case's name, or the name of a file of cases")
    parser.add_argument("--seconds", type=int, default=20, help="CPU time of one case")
    parser.add_argument("--gigabytes", type=float, default=3.0, help="memory of one case")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.inside is not None:
        (case,) = [case for case in chosen(None) if case.name == given.inside]
        return run_inside(case, given.seconds, given.gigabytes)
    some = chosen(given.only)
    n_wrong = 0
    for case in some:
        start = time.monotonic()
        wrong = run_apart(case, given.seconds, given.gigabytes)
        if wrong is not None and "process ended" in wrong:  # kernels may have been compiled, which is done once
            wrong = run_apart(case, given.seconds, given.gigabytes)
        n_wrong += wrong is not None
        verdict = "as wanted " if wrong is None else "NOT WANTED"
        print(
            f"{verdict}  {time.monotonic() - start:5.1f} s  {case.name}{'' if wrong is None else f': {wrong}'}",
            flush=True,
        )
    print(f"{len(some) - n_wrong} of {len(some)} as wanted.")
    return 1 if n_wrong or not some else 0


if __name__ == "__main__":
    sys.exit(main())
