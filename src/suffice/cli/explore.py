"""``suffice explore MODEL [DATA]``."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from suffice.cli.shared import (
    JsonOption,
    NamesOption,
    NaOption,
    SeparatorOption,
    SkipOption,
    TrimOption,
    reported,
    table,
)


def explore(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A whole fit (.json), or a model file.")],
    data: Annotated[
        str | None,
        typer.Argument(metavar="DATA", help="Rows to step through as evidence: a CSV or Parquet file, glob or folder."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open the browser, or to print the address only.")
    ] = True,
    port: Annotated[
        int, typer.Option("--port", metavar="N", help="The port to serve on.", show_default="one that is free")
    ] = 0,
    separator: SeparatorOption = None,
    na: NaOption = None,
    names: NamesOption = None,
    skip: SkipOption = 0,
    trim: TrimOption = False,
    as_json: JsonOption = False,
) -> None:
    """Open a page in the browser on which MODEL is asked by clicking, exactly, until Ctrl-C.

    The page is served on this machine alone, to whoever has its address, and nothing is written. Of a whole fit with a
    prior, answers have credible intervals.
    """
    with reported(as_json):
        from suffice.explore import open_explorer
        from suffice.io import read

        rows = None if data is None else table(data, separator, na, names, skip, trim)
        served = open_explorer(read(model), rows, port, model)
        try:
            print(json.dumps({"model": model, "data": data, "address": served.url}) if as_json else served.url)
            sys.stdout.flush()
            if not as_json:
                _say_how_to_end(served.port)
            if browser:
                served.show()
            served.wait()
        except KeyboardInterrupt:  # before it waits
            pass
        finally:
            served.close()


def _say_how_to_end(port: int) -> None:
    """Say on standard error what to do, where somebody reads it."""
    from suffice.explore.served import forwarding, is_remote

    if sys.stderr.isatty():
        print("Ctrl-C ends it.", file=sys.stderr)
    if is_remote():
        print(forwarding(port), file=sys.stderr)
