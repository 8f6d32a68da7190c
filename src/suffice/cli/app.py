"""The commands. Each is a file with one function; this file gives them their names."""

from __future__ import annotations

from typing import Annotated

import typer

import suffice
from suffice.cli.check import check
from suffice.cli.classify import classify
from suffice.cli.collect import collect
from suffice.cli.compare import compare
from suffice.cli.convert import convert
from suffice.cli.crf import crf
from suffice.cli.demo import demo
from suffice.cli.estimate import estimate
from suffice.cli.explore import explore
from suffice.cli.fit import fit
from suffice.cli.impute import impute
from suffice.cli.info import info
from suffice.cli.merge import merge
from suffice.cli.predict import predict
from suffice.cli.query import query
from suffice.cli.report import report
from suffice.cli.sample import sample
from suffice.cli.score import score
from suffice.cli.shared import Commands

app = typer.Typer(
    cls=Commands,
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
app.command()(predict)
app.command()(score)
app.command()(compare)
app.command()(sample)
app.command()(impute)
app.command()(check)
app.command()(convert)
app.command()(info)
app.command()(explore)
app.command()(report)
app.command()(collect)
app.command()(merge)
app.command()(estimate)
app.command()(demo)
app.add_typer(classify)
app.add_typer(crf)
