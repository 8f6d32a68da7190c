"""Command line of the fingerprint: run the cases, compare two runs, check against another commit."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from tests.fingerprint import base, compare, run, summary


def main() -> int:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(prog="python -m tests.fingerprint", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run", help="run the cases and write what they gave")
    runs.add_argument("--out", type=Path, default=base.FOLDER / "current.json")
    runs.add_argument("--update", action="store_true", help="rewrite the committed summary")
    checks = commands.add_parser("check", help="compare with the library of another commit")
    checks.add_argument("--base", required=True, help="the commit")
    two = commands.add_parser("compare", help="compare two files that run has written")
    two.add_argument("old", type=Path)
    two.add_argument("new", type=Path)
    for one in (runs, checks):
        one.add_argument("--threads", type=int, default=1)
        one.add_argument("--processes", type=int, default=min(4, os.cpu_count() or 1))
        one.add_argument("--only", default="", help="run the cases whose names begin so")
    for one in (checks, two):
        one.add_argument("--tol", type=float, default=None, help="a relative tolerance; in bits without it")
    asked = parser.parse_args()
    return {"run": _run, "check": _check, "compare": _compare}[asked.command](asked)


def _run(asked: argparse.Namespace) -> int:
    began = time.perf_counter()
    names = [name for name in run.all_cases() if name.startswith(asked.only)]
    found = run.run_all(names, threads=asked.threads, processes=asked.processes)
    run.write(asked.out, found)
    refused = sum("refused.error" in fields for fields in found.values())
    print(f"{len(found)} cases, of which the library refuses {refused}, in {time.perf_counter() - began:.0f} s")
    print(f"Wrote {asked.out}")
    if asked.update:
        summary.PATH.write_text(summary.written(found), encoding="utf-8")
        print(f"Wrote {summary.PATH}")
    return 0


def _check(asked: argparse.Namespace) -> int:
    commit = base.commit_of(asked.base)
    python = base.python_of(commit)
    old, new = base.FOLDER / f"{commit[:16]}.json", base.FOLDER / "current.json"
    shared = ["--threads", str(asked.threads), "--processes", str(asked.processes), "--only", asked.only]
    base.run_cases(python, old, shared)
    _run(argparse.Namespace(**{**vars(asked), "out": new, "update": False}))
    return _report(old, new, asked.tol)


def _compare(asked: argparse.Namespace) -> int:
    return _report(asked.old, asked.new, asked.tol)


def _report(old: Path, new: Path, tol: float | None) -> int:
    (before, old_cases), (after, new_cases) = run.read(old), run.read(new)
    for name in before:
        if before[name] != after.get(name):
            print(f"{name}: {before[name]} / {after.get(name)}")
    if before["suffice from"] == after["suffice from"]:
        print("Both runs used the library in the same folder.")
    found = compare.differences(old_cases, new_cases, tol)
    print(compare.report(found, len(new_cases)))
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
