"""``suffice crf tag MODEL FILE``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import IO, Annotated

import typer

from suffice.cli.crf_options import (
    CommentOption,
    EncodingOption,
    LikeSeparatorOption,
    ModelArgument,
    ThreadsOption,
    read_separator,
    set_threads,
    text_options,
)
from suffice.cli.shared import JsonOption, reported
from suffice.errors import ArgumentError, require_whole
from suffice.text import visible


def tag(
    model: ModelArgument,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A file like the one learnt from, with labels or without; - is standard input."
        ),
    ],
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="The file to write; standard output without it.")
    ] = None,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="Also write LABEL/p of every label, after the predicted one.")
    ] = False,
    n_best: Annotated[
        int | None,
        typer.Option("--n-best", metavar="N", help="The N most probable labellings, each after a line # RANK p."),
    ] = None,
    score: Annotated[bool, typer.Option("--score", help="A line # p before each sentence.")] = False,
    separator: LikeSeparatorOption = None,
    comment: CommentOption = None,
    encoding: EncodingOption = "utf-8",
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the lines of FILE as they are, with the predicted label behind each token.

    A tab stands before the label where the line has one, and a blank elsewhere. p is the probability of the whole
    labelling, given the sentence. Of a file with attributes, only labels are written.
    """
    with reported(as_json):
        from suffice.cli.crf_model import read_tagger
        from suffice.cli.crf_report import told
        from suffice.cli.crf_tagged import tagged
        from suffice.cli.crf_text import read_like
        from suffice.files import atomic_write

        if n_best is not None:
            require_whole("n_best", n_best, 1)
            if marginals:
                raise ArgumentError("The probabilities of labels are the same in every labelling. Leave out --n-best.")
        set_threads(threads)
        _require_other_file(out, file)
        tagger, layout = read_tagger(model, file)
        sentences = read_like(file, layout, text_options(separator, comment, encoding))
        with told(tagger, sentences):
            found = tagged(tagger, sentences, n_best, score, marginals)
        between = "\t" if layout.kind == "attributes" else read_separator(separator) or layout.separator
        lines = found.json_lines() if as_json else found.lines(between)
        if out is None:
            _write(lines, sys.stdout)
            return
        with atomic_write(out) as handle:
            _write(lines, handle)
        print(f"Wrote {sentences.said()} to {visible(out)}", file=sys.stderr)


def _require_other_file(out: str | None, file: str) -> None:
    """Refuse to write over the sentences that are read."""
    if out is not None and os.path.realpath(out) == os.path.realpath(file):
        raise ArgumentError(f"--out names {out!r}, which is read as FILE. Give it a path of its own.")


def _write(lines: Iterator[str], handle: IO[str]) -> None:
    for line in lines:
        handle.write(line + "\n")
