"""The command line for tests: in this process, where its commands are built once, or as a process of its own."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import typer.main
from typer.testing import CliRunner

import suffice as sf
from suffice.cli.app import app

COMMAND = (sys.executable, "-m", "suffice")


@dataclass(frozen=True)
class Finished:
    """What a command left: its exit code, and what it wrote to its standard streams."""

    exit_code: int
    stdout: str
    stderr: str


@functools.cache
def _command() -> Any:
    return typer.main.get_command(app)


def invoke(*arguments: object) -> int:
    """Run a command on the standard streams there are; what it sets for the whole process is set back."""
    before = sf.config()
    try:
        return _command().main(list(map(str, arguments)), prog_name="suffice") or 0
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sf.config(threads=before.threads, memory=before.memory)


def run(*arguments: object, input: str | bytes | None = None) -> Finished:
    """Run a command in this process, as if its standard streams were pipes."""
    with CliRunner().isolation(input) as (out, err, *_):
        code = invoke(*arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        return Finished(code, *(stream.getvalue().decode("utf-8") for stream in (out, err)))


def run_process(*arguments: str, **environment: str) -> Finished:
    """Run a command as a process that prints to pipes."""
    done = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, encoding="utf-8", env={**os.environ, **environment}, check=False
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def good(*arguments: object) -> str:
    """Run a command that must succeed without a word on standard error, and return what it prints."""
    done = run(*arguments)
    assert done.stderr == ""
    assert done.exit_code == 0, done.stdout
    return done.stdout


def bad(*arguments: object) -> str:
    """Run a command that must fail with exit code 2 and one line on standard error, and return that line."""
    done = run(*arguments)
    assert done.exit_code == 2, done.stdout + done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    as_json = run(*arguments, "--json")
    assert as_json.exit_code == 2
    assert set(json.loads(as_json.stderr)["error"]) == {"type", "message"}
    return done.stderr.removeprefix("error: ").rstrip("\n")


def strict(text: str) -> Any:
    """Read JSON of the standard, which has no NaN and no Infinity."""

    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


def document(*arguments: object) -> Any:
    return strict(good(*arguments, "--json"))
