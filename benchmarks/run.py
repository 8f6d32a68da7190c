"""Runs workloads and writes RESULTS.md: python benchmarks/run.py --peers-python PATH [WORKLOAD …]."""

from __future__ import annotations

import argparse
import datetime
import importlib
import os
import sys
from pathlib import Path

from common import HERE, ROOT, Context, machine, say, versions

WORKLOADS = ("w1_alarm", "w1b_large", "w1c_parquet", "w9_start")
OURS = ("suffice", "numpy", "numba", "pyarrow", "narwhals", "pandas")
PEERS = ("pgmpy", "pybnesian", "pyAgrum", "duckdb", "polars", "pandas", "numpy", "pyarrow")
HONESTY = (
    "Ratios are multiples of this library's figure (the first row): above 1 the peer needs more. Times count from what "
    "the user holds to fitted parameters, our certificate included, kernels compiled before; they are the best of "
    "several calls in one process, a process a contestant, all on the same data in the same run. `peak` is the most "
    "memory the process ever held, `(data)` what it held before the first fit. CPU time counts all threads."
)


def main() -> None:
    """Run what was asked for."""
    arguments = parsed()
    arguments.work.mkdir(parents=True, exist_ok=True)
    context = Context(
        arguments.python, arguments.peers_python, arguments.data.resolve(), arguments.work.resolve(), arguments.quick
    )
    load = os.getloadavg()[0]
    sections = []
    for name in arguments.workloads or WORKLOADS:
        workload = importlib.import_module(name)
        say(workload.TITLE)
        sections.append(f"## {workload.TITLE}\n\n{workload.run(context)}")
        print(sections[-1], flush=True)
    if arguments.out:
        arguments.out.write_text("\n\n".join([head(context, load), *sections]) + "\n")
        say(f"Wrote {arguments.out}.")


def parsed() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Run benchmarks of suffice and its peers.")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"some of {', '.join(WORKLOADS)}")
    parser.add_argument("--peers-python", required=True, help="interpreter of the environment with the peers")
    parser.add_argument("--python", default=sys.executable, help="interpreter of the environment with suffice")
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("SUFFICE_DATA", ROOT.parent / "shared" / "data"))
    )
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "bench", help="where data is made and kept")
    parser.add_argument("--out", type=Path, default=None, help=f"such as {HERE.name}/RESULTS.md")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the rows, to try the code out")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.workloads if name not in WORKLOADS]
    if unknown:
        parser.error(f"there is no workload {unknown[0]!r}; there are {', '.join(WORKLOADS)}")
    return arguments


def head(context: Context, load: float) -> str:
    """Return the opening of the results."""
    return "\n\n".join(
        [
            "# Results of `make bench`",
            "This file is written by `benchmarks/run.py`; do not edit it.",
            HONESTY,
            f"- Date: {datetime.date.today().isoformat()}\n- Machine: {machine()}\n"
            f"- Noise: load average {load:.1f} before the run and {os.getloadavg()[0]:.1f} after it; other work on "
            "the same cores shows in wall times most, in minima of CPU times least (shared caches: some 10–20 %).\n"
            f"- Ours: {versions(context.python, OURS)}\n- Peers: {versions(context.peers_python, PEERS)}",
        ]
    )


if __name__ == "__main__":
    main()
