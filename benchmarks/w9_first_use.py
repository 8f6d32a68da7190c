"""W9b: the first use of everything on a new machine: small jobs, each in a fresh process of a fresh installation.

`cold` is the first process that ever ran the job in an environment that the wheel was just installed in, `warm` the
next one there. Single processes differ by a fifth, so that both are medians over several environments: the one that the
wheel was installed in, and copies of it that were made before anything was run. Nothing is compiled when the library is
used, so that both should be the same. Importing scikit-learn is not counted; the jobs that do it are marked by a star.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from common import HERE, ROOT, Context, row_of, say, seconds
from first_use_jobs import LEARNERS, jobs

TITLE = "W9b: first use"
LIMIT, SPREAD, ENVIRONMENTS = 1.5, 1.2, 5
"""Seconds of CPU that a job may take, cold over warm, and environments."""


def run(context: Context) -> str:
    """Install the wheel in new environments, run every job in each twice, and return a section in Markdown."""
    home = Path(tempfile.mkdtemp(dir=context.work))
    pythons = install(home)
    lines = [row_of(("job", "cold CPU", "warm CPU", "cold / warm")), row_of(["---"] * 4)]
    worst, widest = 0.0, 0.0
    for job in jobs():
        say(f"  {job} …")
        pairs = [[once(python, home, context.data, job) for _ in ("cold", "warm")] for python in pythons]
        cold, warm = (statistics.median(column) for column in zip(*pairs, strict=True))
        marked = f"{job.replace('_', ' ')}{' *' if job in LEARNERS else ''}"
        lines.append(row_of((marked, seconds(cold), seconds(warm), f"{cold / warm:.2f}")))
        worst, widest = max(worst, cold), max(widest, cold / warm)
    shutil.rmtree(home)
    verdict = (
        f"{len(jobs())} jobs. The longest takes {seconds(worst)} of CPU at its first use (wanted: at most {LIMIT} s), "
        f"the largest ratio of cold to warm is {widest:.2f} (wanted: at most {SPREAD})."
    )
    return "\n\n".join([verdict, "\n".join(lines)])


def install(home: Path) -> list[str]:
    """Return the Pythons of new environments: one with the library, installed as users do, and copies of it."""
    say("  new environments …")
    first, *others = (home / f"env{number}" for number in range(ENVIRONMENTS))
    subprocess.run([sys.executable, "-m", "venv", str(first)], check=True)
    python = str(first / "bin" / "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "-q", "-c", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, str(ROOT)], check=True)
    for other in others:
        shutil.copytree(first, other, symlinks=True)
    pythons = [str(environment / "bin" / "python") for environment in (first, *others)]
    for python, environment in zip(pythons, (first, *others), strict=True):
        command = [python, "-P", "-c", "import importlib.util as u; print(u.find_spec('suffice').origin)"]
        found = Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
        if not found.is_relative_to(environment):
            raise RuntimeError(f"{python} would import {found}")
    return pythons


def once(python: str, home: Path, data: Path, job: str) -> float:
    """Return the CPU time of one process, less what importing scikit-learn took in it."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [python, "-P", str(HERE / "first_use_jobs.py"), job, str(data)]
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, env=clean, cwd=home, check=False)
    after = os.times()
    if done.returncode:
        raise RuntimeError(f"{job}: {done.stderr[-400:]}")
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent - sum(float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("scikit-learn "))


if __name__ == "__main__":
    sys.exit("Run benchmarks/run.py w9_first_use.")
