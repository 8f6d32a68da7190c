"""``suffice sample MODEL``."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from suffice.cli.shared import JsonOption, reported
from suffice.errors import ArgumentError


def sample(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    n: Annotated[int, typer.Option("-n", "--rows", help="How many rows.")] = 1000,
    seed: Annotated[int | None, typer.Option("--seed", help="The same seed gives the same rows.")] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="A CSV file to write; standard output without it.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Draw rows from MODEL as CSV."""
    with reported(as_json):
        from suffice.files import atomic_write
        from suffice.io import read

        loaded = read(model)
        network = getattr(loaded, "model", loaded)
        if out is None:
            write_rows(network, n, seed, sys.stdout)
            return
        if not out.lower().endswith(".csv"):
            raise ArgumentError(f"The rows are written as CSV, to a path that ends in .csv. Got {out!r} instead.")
        with atomic_write(out) as file:
            write_rows(network, n, seed, file)
        if as_json:
            import json

            print(json.dumps({"rows": n, "seed": seed, "out": out}))
        else:
            print(f"Wrote {n:,} rows to {out}")


def write_rows(model: Any, n: int, seed: int | None, file: Any) -> None:
    """Write drawn rows as CSV, a block at a time."""
    import csv

    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(model.variables)
    for block in model.sample_blocks(n, seed=seed):
        columns = [
            [variable.labels[code] for code in block.columns[variable.name].tolist()]
            for variable in block.schema.variables
        ]
        writer.writerows(zip(*columns, strict=True))
