"""The commands. Each is a file with one function; this file gives them their names."""

from __future__ import annotations

from typing import Annotated

import typer

import suffice
from suffice.cli.classify import classify
from suffice.cli.convert import convert
from suffice.cli.crf import crf
from suffice.cli.demo import demo
from suffice.cli.fit import fit
from suffice.cli.impute import impute
from suffice.cli.info import info
from suffice.cli.query import query
from suffice.cli.sample import sample
from suffice.cli.score import score

app = typer.Typer(
    name="suffice",
    help="Learn the parameters of probabilistic graphical models whose structure is known, with a proof on every fit.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(suffice.__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Hold the options that come before a command."""


app.command()(fit)
app.command()(query)
app.command()(score)
app.command()(sample)
app.command()(impute)
app.command()(convert)
app.command()(info)
app.command()(demo)
app.add_typer(classify)
app.add_typer(crf)
