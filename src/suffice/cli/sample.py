"""``suffice sample MODEL``."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from suffice.cli.given import GivenOption, read_given
from suffice.cli.shared import JsonOption, read_model, reported, unable
from suffice.errors import ArgumentError

if TYPE_CHECKING:
    from suffice.data.block import Block
    from suffice.models.model import Model
    from suffice.values import Label


def sample(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    n: Annotated[
        int | None,
        typer.Option("-n", "--rows", help="How many rows, or sequences.", show_default="1000 rows, or 1 sequence"),
    ] = None,
    length: Annotated[
        int | None,
        typer.Option("--length", help="Chains and autoregressions: how long a sequence is.", show_default="100"),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--start",
            metavar="TEXT|FILE",
            help="The first symbols of a chain's sequences; for an autoregression a table of the values before them.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="The same seed gives the same rows.")] = None,
    given: GivenOption = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="METHOD",
            help="exact: independent rows. gibbs: rows of chains, which are correlated, for models that are too large "
            "to be exact.",
            show_default="exact",
        ),
    ] = None,
    burn_in: Annotated[
        int | None, typer.Option("--burn-in", help="gibbs: sweeps before the first row.", show_default="1000")
    ] = None,
    thin: Annotated[
        int | None, typer.Option("--thin", help="gibbs: sweeps from a row of a chain to its next.", show_default="10")
    ] = None,
    chains: Annotated[
        int | None, typer.Option("--chains", help="gibbs: chains that give a row in turn.", show_default="64")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="A .csv or .parquet file to write, or .txt for the sequences of a chain; standard output without it.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Draw rows, or sequences, from MODEL; with --json and without --out, as one JSON document."""
    with reported(as_json):
        from suffice.io.rows_file import require_ending, write_csv, write_rows
        from suffice.models.autoregression import AutoregressiveModel
        from suffice.models.hidden_markov import HiddenMarkovModel
        from suffice.models.markov_chain import MarkovChainModel
        from suffice.models.model import Generative

        network = read_model(model)
        how: dict[str, Any] = {"method": method, "burn_in": burn_in, "thin": thin, "chains": chains}
        how = {name: value for name, value in how.items() if value is not None}
        if isinstance(network, MarkovChainModel | HiddenMarkovModel | AutoregressiveModel):
            from suffice.cli.drawn_sequences import draw_sequences

            require_steps(how, given)
            draw_sequences(network, n, length, start, seed, out, as_json)
            return
        require_rows(network, length, start)
        if not isinstance(network, Generative):
            raise unable(network, "sample_blocks")
        require_whole_rows(network, how, given)
        n = 1000 if n is None else n
        require_chains(network, how)
        if given:
            how["given"] = read_given(network, given)
        blocks = network.sample_blocks(n, seed=seed, **how)  # which checks all numbers before anything is written
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


def require_steps(how: Collection[str], given: list[str] | None) -> None:
    """Raise where something is said about rows and the model is one of sequences."""
    said = [*how, *(["given"] if given else [])]
    if said:
        raise ArgumentError(
            "Sequences are drawn step by step from their beginning, which --start can give. Leave out "
            f"--{said[0].replace('_', '-')}."
        )


def require_rows(model: Model, length: int | None, start: str | None) -> None:
    """Raise where something is said about sequences and the model is one of rows."""
    if length is not None or start is not None:
        raise ArgumentError(
            "The options --length and --start are for Markov chains and autoregressions. MODEL is a "
            f"{type(model).__name__}; leave them out."
        )


def require_whole_rows(model: Model, how: Collection[str], given: list[str] | None) -> None:
    """Raise where something is said about how to draw and the model is a classifier."""
    from suffice.models.capabilities import CanClassify

    said = [*how, *(["given"] if given else [])]
    if said and isinstance(model, CanClassify):
        raise ArgumentError(
            "Rows of a classifier are drawn as they come, the class first and then its inputs. Leave out "
            f"--{said[0].replace('_', '-')}."
        )


def require_chains(model: Model, how: Collection[str]) -> None:
    """Raise where something is said about chains and the model is not discrete."""
    continuous = [variable.name for variable in model.schema.variables if not variable.is_discrete]
    if how and continuous:
        raise ArgumentError(
            f"Rows of a model with continuous variables, such as {continuous[0]!r}, are always drawn exactly. Leave "
            f"out --{next(iter(how)).replace('_', '-')}."
        )


def write_json(model: Model, blocks: Iterator[Block], file: TextIO) -> None:
    """Write drawn rows as one JSON document, a row a line."""
    from suffice.io.own_json import plain

    file.write(f'{{"variables": {json.dumps(model.variables, ensure_ascii=False)},\n"rows": [')
    between = "\n"
    for block in blocks:
        for row in _labelled(block):
            file.write(between + json.dumps(plain(row), ensure_ascii=False))
            between = ",\n"
    file.write("]}\n")


def _labelled(block: Block) -> Iterator[tuple[Label, ...]]:
    columns = []
    for variable in block.schema.variables:
        values = block.columns[variable.name].tolist()
        columns.append([variable.labels[code] for code in values] if variable.is_discrete else values)
    return zip(*columns, strict=True)
