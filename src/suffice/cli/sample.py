"""``suffice sample MODEL``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from suffice.cli.given import GivenOption, read_given
from suffice.cli.shared import JsonOption, read_model, reported


def sample(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    n: Annotated[int, typer.Option("-n", "--rows", help="How many rows.")] = 1000,
    seed: Annotated[int | None, typer.Option("--seed", help="The same seed gives the same rows.")] = None,
    given: GivenOption = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="FILE", help="A .csv or .parquet file to write; CSV on standard output without it."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Draw rows from MODEL; with --json and without --out, as one JSON document."""
    with reported(as_json):
        from suffice.io.rows_file import require_ending, write_csv, write_rows

        network = read_model(model)
        seen = {"given": read_given(network, given)} if given else {}
        blocks = network.sample_blocks(n, seed=seed, **seen)  # which checks n and seed before anything is written
        if out is None and as_json:
            write_json(network, blocks, sys.stdout)
            return
        if out is None:
            sys.stdout.flush()
            write_csv(network.schema, blocks, sys.stdout.buffer)
            return
        require_ending(out)
        write_rows(network.schema, blocks, out)
        if as_json:
            print(json.dumps({"rows": n, "seed": seed, "out": out}))
        else:
            print(f"Wrote {n:,} rows to {out}")


def write_json(model: Any, blocks: Iterator[Any], file: Any) -> None:
    """Write drawn rows as one JSON document, a row a line."""
    from suffice.io.own_json import plain

    file.write(f'{{"variables": {json.dumps(model.variables, ensure_ascii=False)},\n"rows": [')
    between = "\n"
    for block in blocks:
        for row in _labelled(block):
            file.write(between + json.dumps(plain(row), ensure_ascii=False))
            between = ",\n"
    file.write("]}\n")


def _labelled(block: Any) -> Iterator[tuple[Any, ...]]:
    columns = []
    for variable in block.schema.variables:
        values = block.columns[variable.name].tolist()
        columns.append([variable.labels[code] for code in values] if variable.is_discrete else values)
    return zip(*columns, strict=True)
