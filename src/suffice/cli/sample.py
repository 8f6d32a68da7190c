"""``suffice sample MODEL``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from suffice.cli.shared import JsonOption, read_model, reported
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
    """Draw rows from MODEL as CSV; with --json and without --out, as one JSON document."""
    with reported(as_json):
        from suffice.files import atomic_write

        network = read_model(model)
        if out is None:
            write = write_json if as_json else write_rows
            write(network, n, seed, sys.stdout)
            return
        if not out.lower().endswith(".csv"):
            raise ArgumentError(f"The rows are written as CSV, to a path that ends in .csv. Got {out!r} instead.")
        with atomic_write(out) as file:
            write_rows(network, n, seed, file)
        if as_json:
            print(json.dumps({"rows": n, "seed": seed, "out": out}))
        else:
            print(f"Wrote {n:,} rows to {out}")


def write_rows(model: Any, n: int, seed: int | None, file: Any) -> None:
    """Write drawn rows as CSV, a block at a time."""
    import csv

    blocks = model.sample_blocks(n, seed=seed)  # which checks n and seed before the header is written
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(model.variables)
    for block in blocks:
        writer.writerows(_labelled(block))


def write_json(model: Any, n: int, seed: int | None, file: Any) -> None:
    """Write drawn rows as one JSON document, a row a line."""
    from suffice.io.own_json import plain

    blocks = model.sample_blocks(n, seed=seed)
    file.write(f'{{"variables": {json.dumps(model.variables, ensure_ascii=False)},\n"rows": [')
    between = "\n"
    for block in blocks:
        for row in _labelled(block):
            file.write(between + json.dumps(plain(row), ensure_ascii=False))
            between = ",\n"
    file.write("]}\n")


def _labelled(block: Any) -> Iterator[tuple[Any, ...]]:
    columns = [
        [variable.labels[code] for code in block.columns[variable.name].tolist()] for variable in block.schema.variables
    ]
    return zip(*columns, strict=True)
