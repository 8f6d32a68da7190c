"""Another commit's library, in an environment of its own, for the current cases to run against."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "fingerprint"
NEEDED = ("pandas", "polars", "duckdb", "sql")
"""The extras of the library that the cases read tables with."""


def commit_of(name: str) -> str:
    """Return the full name of a commit."""
    return _output("git", "rev-parse", "--verify", f"{name}^{{commit}}").strip()


def python_of(commit: str) -> Path:
    """Return the Python of an environment with the library of a commit, which is made unless it is there."""
    home = FOLDER / commit[:16]
    source, environment = home / "source", home / "env"
    if not (home / "ready").exists():
        print(f"Setting up the library of {commit[:12]} in {home.relative_to(ROOT)} …", flush=True)
        source.mkdir(parents=True, exist_ok=True)
        archive = subprocess.Popen(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", str(source)], stdin=archive.stdout, check=True)
        if archive.wait():
            raise SystemExit(f"git archive {commit} failed.")
        _run(sys.executable, "-m", "venv", "--clear", str(environment))
        install = ["-m", "pip", "--disable-pip-version-check", "install", "-q", "-c", str(source / "constraints.txt")]
        _run(str(environment / "bin" / "python"), *install, f"{source}[{','.join(NEEDED)}]")
        (home / "ready").touch()
    return environment / "bin" / "python"


def run_cases(python: Path, out: Path, arguments: list[str]) -> None:
    """Run the current cases with another Python, which must have a library of its own."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    command = [str(python), "-m", "tests.fingerprint", "run", "--out", str(out), *arguments]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def _run(*command: str) -> None:
    subprocess.run(command, cwd=ROOT, check=True)


def _output(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr.strip() or f"{' '.join(command)} failed.")
    return done.stdout
