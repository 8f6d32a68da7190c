"""W9: what it costs to start: imports, help, the first and later fits of a small file, and the size on disk."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from common import ROOT, Context, row_of, say, seconds

TITLE = "W9: start-up"
PEER_IMPORTS = ("pgmpy.models", "pybnesian", "pyagrum", "sklearn.naive_bayes", "polars", "duckdb")
CLOSURE = ("scikit-learn", "pyarrow")
"""The dependency closure is compared with that of these together."""


def run(context: Context) -> str:
    """Measure everything, and return a section in Markdown."""
    return "\n\n".join([start_table(context), import_table(context), closure_line(context)])


# Processes ----------------------------------------------------------------------------------------------------


def best(command: Sequence[str], k: int, environment: Mapping[str, str] | None = None) -> tuple[float, float]:
    """Return the least CPU and the least wall time of ``k`` fresh processes."""
    runs = [once(command, environment) for _ in range(k)]
    return min(cpu for cpu, _ in runs), min(wall for _, wall in runs)


def once(command: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[float, float]:
    """Return the CPU time of one process, with all its threads, and its wall time."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=errors, env={**os.environ, **(environment or {})}
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise RuntimeError(f"{' '.join(command)} failed: {errors.read().decode()[-400:]}")
    return usage.ru_utime + usage.ru_stime, wall


def start_table(context: Context) -> str:
    """Measure the bare interpreter, the import, the help, and fits of a small file."""
    scratch = Path(tempfile.mkdtemp(dir=context.work))
    suffice = [context.python, "-m", "suffice"]
    example = ROOT / "src" / "suffice" / "examples" / "berkeley.csv"
    fit = [*suffice, "fit", "Gender -> Dept; Gender -> Admit; Dept -> Admit", str(example), "--weights", "Freq"]
    fit += ["--out", str(scratch / "berkeley.json")]
    untouched = {"PYTHONPYCACHEPREFIX": str(scratch / "bytecode")}
    jobs: list[tuple[str, list[str], int, Mapping[str, str]]] = [
        ("bare interpreter", [context.python, "-c", "pass"], 10, {}),
        ("`import suffice`", [context.python, "-c", "import suffice"], 10, {}),
        ("`import suffice; suffice.fit`", [context.python, "-c", "import suffice; suffice.fit"], 10, {}),
        ("`suffice --help`", [*suffice, "--help"], 10, {}),
        ("`suffice fit`, no bytecode of the library or its dependencies yet", fit, 1, untouched),
        ("`suffice fit`, later", fit, 5, {}),
    ]
    lines = [row_of(("", "CPU", "wall")), row_of(["---"] * 3)]
    for title, command, k, environment in jobs:
        say(f"  {title} …")
        lines.append(row_of((f"{title} (best of {k})", *map(seconds, best(command, k, environment)))))
    shutil.rmtree(scratch)
    return "\n".join(lines)


def import_table(context: Context) -> str:
    """Measure the imports of the peers, the interpreter included."""
    lines = [row_of(("import of a peer, interpreter included (best of 3)", "CPU", "wall")), row_of(["---"] * 3)]
    for module in PEER_IMPORTS:
        say(f"  import {module} …")
        try:
            figures = [*map(seconds, best([context.peers_python, "-c", f"import {module}"], 3))]
        except RuntimeError:
            figures = ["not installed", "–"]
        lines.append(row_of((f"`{module}`", *figures)))
    return "\n".join(lines)


# Size on disk -------------------------------------------------------------------------------------------------

INVENTORY = """
import importlib.metadata as m, json, re
found = {}
for dist in m.distributions():
    name = re.sub('[-_.]+', '-', dist.metadata['Name']).lower()
    paths = [dist.locate_file(f) for f in dist.files or () if '__pycache__' not in str(f)]
    size = sum(p.stat().st_size for p in paths if p.is_file())
    needs = [re.sub('[-_.]+', '-', re.match('[A-Za-z0-9._-]+', r)[0]).lower()
             for r in dist.requires or () if 'extra ==' not in r and '_system' not in r and 'sys_platform' not in r]
    found[name] = {'size': size, 'needs': needs}
print(json.dumps(found))
"""


def closure_line(context: Context) -> str:
    """Compare the dependency closure with that of scikit-learn and PyArrow."""
    installed = {**inventory(context.peers_python), **inventory(context.python)}
    ours, theirs = closure(own_requirements(), installed), closure(CLOSURE, installed)
    absent = sorted(name for name in ours | theirs if name not in installed)
    mine, other = (
        sum(installed[name]["size"] for name in names if name in installed) / 1e6 for names in (ours, theirs)
    )
    return (
        f"Dependencies on disk without bytecode: what suffice requires {mine:.0f} MB ({len(ours)} distributions), "
        f"{' + '.join(CLOSURE)} {other:.0f} MB ({len(theirs)}): {100 * (mine / other - 1):+.1f} %."
        + (f" Not installed here, hence not counted: {', '.join(absent)}." if absent else "")
    )


def own_requirements() -> list[str]:
    """Return what this library requires; an editable installation may remember what it required once."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [re.split(r"[<>=!~ \[;]", requirement)[0].lower() for requirement in project["dependencies"]]


def inventory(python: str) -> dict[str, Any]:
    """Return the size and the requirements of every distribution of an environment."""
    found = subprocess.run([python, "-c", INVENTORY], capture_output=True, text=True, check=True).stdout
    distributions: dict[str, Any] = json.loads(found)
    return distributions


def closure(names: Sequence[str], installed: Mapping[str, Any]) -> set[str]:
    """Return the names with everything that they require."""
    reached: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += installed[name]["needs"] if name in installed else []
    return reached


if __name__ == "__main__":
    sys.exit("Run benchmarks/run.py w9_start.")
