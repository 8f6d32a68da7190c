"""The command line: parse, call, print. ``suffice --help`` lists the commands."""

from __future__ import annotations

import io
import sys


def main() -> None:
    """Run the command line."""
    from suffice.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # States and names are Unicode, whatever the locale says.
            stream.reconfigure(encoding="utf-8", errors="replace")
    app(prog_name="suffice")


__all__ = ["main"]
