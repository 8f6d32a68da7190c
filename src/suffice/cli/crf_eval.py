"""``suffice crf eval MODEL FILE``, or ``suffice crf eval TAGGED``."""

from __future__ import annotations

from typing import Annotated

import typer

from suffice.cli.crf_options import (
    EncodingOption,
    LikeSeparatorOption,
    SchemeOption,
    ThreadsOption,
    read_separator,
    scheme_of,
    set_threads,
)
from suffice.cli.shared import JsonOption, reported


def evaluate(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL|TAGGED", help="What suffice crf fit wrote; or, alone, a file of tagged text."),
    ],
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="A file like the one learnt from, with labels.")
    ] = None,
    scheme: SchemeOption = "auto",
    separator: LikeSeparatorOption = None,
    encoding: EncodingOption = "utf-8",
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tag FILE by MODEL and compare with its labels; or compare the last two columns of TAGGED, the true label first.

    Spans are those of conlleval, the script of the CoNLL tasks.
    """
    with reported(as_json):
        from suffice.cli.crf_model import read_tagger
        from suffice.cli.crf_report import print_document, show_scores
        from suffice.cli.crf_text import read_like, read_tagged
        from suffice.result.tag_scores import tag_scores

        set_threads(threads)
        if file is None:
            true, found = read_tagged(model, read_separator(separator), encoding)
        else:
            tagger, layout = read_tagger(model)
            sentences = read_like(file, layout, read_separator(separator), encoding)
            true, found = sentences.true_labels(), tagger.predict(sentences.inputs)
        every = (tag for side in (true, found) for tags in side for tag in tags)
        scores = tag_scores(true, found, scheme=scheme_of(scheme, every))
        if as_json:
            print_document(scores.to_dict())
            return
        show_scores(scores)
