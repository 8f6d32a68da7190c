"""``suffice crf``: labels of sequences by conditional random fields and MEMMs, on text files."""

from __future__ import annotations

import typer

from suffice.cli.crf_eval import evaluate
from suffice.cli.crf_fit import fit
from suffice.cli.crf_show import show
from suffice.cli.crf_tag import tag
from suffice.cli.shared import Commands

crf = typer.Typer(
    cls=Commands,
    name="crf",
    help=(
        "Learn to label the tokens of sentences, and label those of others. The exit code is 0 when all went well, 1 "
        "when a fit could not be certified, 2 after an error, and 130 after Ctrl-C."
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
)
crf.command()(fit)
crf.command()(tag)
crf.command("eval")(evaluate)
crf.command()(show)
