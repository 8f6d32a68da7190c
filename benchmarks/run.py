"""Runs workloads and writes RESULTS.md: python benchmarks/run.py --peers-python PATH [WORKLOAD …].

Sections of workloads that are not run stay as they were.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from common import HERE, ROOT, Context, machine, say, versions

WORKLOADS = (
    "w1_alarm",
    "w1b_large",
    "w1c_parquet",
    "w2_gaussian",
    "w3a_table",
    "w3b_grids",
    "w3b_features",
    "w3c_calibration",
    "w3d_queries",
    "w4_softmax",
    "w4b_gis",
    "w5_crf",
    "w6_classifiers",
    "w7_em",
    "w8_markov",
    "w9_start",
    "w9_first_use",
    "w10_gibbs",
    "compare_folds",
    "w11_engines",
    "w11_rates",
    "w12_explore",
)
OURS = ("suffice", "numpy", "pyarrow", "narwhals", "pandas")
PEERS = (
    "pgmpy",
    "pybnesian",
    "pyAgrum",
    "duckdb",
    "polars",
    "pandas",
    "numpy",
    "pyarrow",
    "mbi",
    "jax",
    "ipfn",
    "nltk",
    "python-crfsuite",
    "scikit-learn",
    "pomegranate",
)
HONESTY = (
    "Ratios are multiples of this library's figure (the first row): above 1 the peer needs more. Times count from what "
    "the user holds to fitted parameters, our certificate included; they are the best of "
    "several calls in one process, a process a contestant, all on the same data in the same run. `peak` is the most "
    "memory the process ever held, `(data)` what it held before the first fit. CPU time counts all threads. W3c and "
    "W3d time inference, not fits, and say what is in their times."
)


def main() -> None:
    """Run what was asked for."""
    arguments = parsed()
    arguments.work.mkdir(parents=True, exist_ok=True)
    context = Context(
        arguments.python, arguments.peers_python, arguments.data.resolve(), arguments.work.resolve(), arguments.quick
    )
    for name in arguments.workloads or WORKLOADS:
        section = run(context, name)
        print(section, flush=True)
        if not context.quick:
            (context.work / f"{name}.md").write_text(section)
    if not context.quick:
        arguments.out.write_text(results(context, written(arguments.out)))
        say(f"Wrote {arguments.out}.")


def run(context: Context, name: str) -> str:
    """Run one workload, and return its section in Markdown."""
    workload = importlib.import_module(name)
    say(workload.TITLE)
    before = os.getloadavg()[0]
    body = workload.run(context)
    when = f"Run on {datetime.date.today().isoformat()} ({machine()}), load average {before:.1f} before and "
    when += f"{os.getloadavg()[0]:.1f}"
    return f"## {workload.TITLE}\n\n{body}\n\n{when} after.\n"


def results(context: Context, before: Mapping[str, str]) -> str:
    """Put together the newest section of every workload, or the one that was written before."""
    sections = []
    for name in WORKLOADS:
        path = context.work / f"{name}.md"
        section = path.read_text() if path.exists() else before.get(importlib.import_module(name).TITLE)
        sections += [] if section is None else [section]
    return "\n".join([head(context, before.get("", "")), *sections])


def written(path: Path) -> dict[str, str]:
    """Return the sections of an earlier file by their titles, and its opening under no title."""
    opening, *parts = path.read_text().split("\n## ") if path.exists() else [""]
    return {"": opening, **{part.partition("\n")[0]: f"## {part.rstrip()}\n" for part in parts}}


def with_earlier(found: str, opening: str) -> str:
    """Return versions, those of packages that are not installed now as they were when their sections were written."""
    shown = []
    for entry in found.split(", "):
        name = entry.removesuffix(" not installed")
        earlier = re.search(rf"(?<=[, ]){re.escape(name)} [0-9][^,\s]*", opening)
        shown.append(earlier[0] if name != entry and earlier else entry)
    return ", ".join(shown)


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
    parser.add_argument("--out", type=Path, default=HERE / "RESULTS.md", help="the file to write")
    parser.add_argument(
        "--quick", action="store_true", help="a hundredth of the rows, to try the code out; writes nothing"
    )
    arguments = parser.parse_args()
    unknown = [name for name in arguments.workloads if name not in WORKLOADS]
    if unknown:
        parser.error(f"there is no workload {unknown[0]!r}; there are {', '.join(WORKLOADS)}")
    return arguments


def head(context: Context, opening: str) -> str:
    """Return the opening of the results."""
    known = re.search(r"(?<=- Machine: ).*", opening)
    peers = with_earlier(versions(context.peers_python, PEERS), opening)
    return "\n\n".join(
        [
            "# Results of `make bench`",
            "This file is written by `benchmarks/run.py`; do not edit it.",
            HONESTY,
            f"- Machine: {known[0] if known else f'{machine()}, unless a section names another'}\n"
            "- Noise: other work shared the cores. It shows in wall times most, in minima of "
            "CPU times least (shared caches: some 10–20 %); each section gives its load averages.\n"
            f"- Ours: {versions(context.python, OURS)}\n- Peers: {peers}\n",
        ]
    )


if __name__ == "__main__":
    main()
