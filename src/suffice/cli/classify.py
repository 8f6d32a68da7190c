"""``suffice classify``: Bayes classifiers and softmax regression on files."""

from __future__ import annotations

import typer

from suffice.cli.classify_fit import fit
from suffice.cli.classify_predict import predict
from suffice.cli.shared import Commands

classify = typer.Typer(
    cls=Commands,
    name="classify",
    help="Learn a classifier from a table, and classify the rows of others.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
classify.command()(fit)
classify.command()(predict)
