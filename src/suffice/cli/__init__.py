"""The command line: parse, call, print. ``suffice --help`` lists the commands."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    from suffice.cli.app import app

    if hasattr(sys.stdout, "reconfigure"):
        # States and names are Unicode, whatever the locale says.
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
        sys.stderr.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    app(prog_name="suffice")


__all__ = ["main"]
