"""W9b: the first use of everything on a new machine: small jobs, each in a fresh process of a fresh installation.

`cold` is the first process that ever ran the job in an environment that the wheel was just installed in; `warm` is the
median of later ones. Nothing is compiled when the library is used, so that both should be the same. Importing
scikit-learn is not counted; the jobs that do it are marked by a star.
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
LIMIT, SPREAD, WARM = 1.5, 1.2, 5
"""Seconds of CPU that a job may take, cold over warm, and warm runs."""


def run(context: Context) -> str:
    """Install the wheel in a new environment, run every job there, and return a section in Markdown."""
    home = Path(tempfile.mkdtemp(dir=context.work))
    python = install(home)
    lines = [row_of(("job", "cold CPU", "warm CPU", "cold / warm")), row_of(["---"] * 4)]
    worst, widest = 0.0, 0.0
    for job in jobs():
        say(f"  {job} …")
        cold, *warm = (once(python, home, context.data, job) for _ in range(1 + WARM))
        middle = statistics.median(warm)
        marked = f"{job.replace('_', ' ')}{' *' if job in LEARNERS else ''}"
        lines.append(row_of((marked, seconds(cold), seconds(middle), f"{cold / middle:.2f}")))
        worst, widest = max(worst, cold), max(widest, cold / middle)
    shutil.rmtree(home)
    verdict = (
        f"{len(jobs())} jobs. The longest takes {seconds(worst)} of CPU at its first use (wanted: at most {LIMIT} s), "
        f"the largest ratio of cold to warm is {widest:.2f} (wanted: at most {SPREAD})."
    )
    return "\n\n".join([verdict, "\n".join(lines)])


def install(home: Path) -> str:
    """Return the Python of a new environment with the library, installed as users do."""
    say("  a new environment …")
    subprocess.run([sys.executable, "-m", "venv", str(home / "env")], check=True)
    python = str(home / "env" / "bin" / "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "-q", "-c", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, str(ROOT)], check=True)
    return python


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
