"""``suffice crf eval MODEL FILE``, or ``suffice crf eval TAGGED``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.crf_options import (
    CommentOption,
    EncodingOption,
    LikeSeparatorOption,
    SchemeOption,
    ThreadsOption,
    scheme_of,
    set_threads,
    text_options,
)
from suffice.cli.shared import JsonOption, reported
from suffice.errors import DataError

if TYPE_CHECKING:
    from suffice.values import Label


def evaluate(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL|TAGGED", help="What suffice crf fit wrote; or, alone, a file of tagged text or -."
        ),
    ],
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="A file like the one learnt from, with labels; - is standard input."),
    ] = None,
    scheme: SchemeOption = "auto",
    separator: LikeSeparatorOption = None,
    comment: CommentOption = None,
    encoding: EncodingOption = "utf-8",
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tag FILE by MODEL and compare with its labels; or compare the last two columns of TAGGED, the true label first.

    Spans are those of conlleval, the script of the CoNLL tasks. Lines that suffice crf tag writes by --score and
    --n-best are left out of TAGGED, and so are all labellings of a sentence but the most probable.
    """
    with reported(as_json):
        from suffice.cli.crf_model import read_tagger
        from suffice.cli.crf_report import print_document, show_scores, told
        from suffice.cli.crf_text import read_like, read_tagged
        from suffice.result.tag_scores import tag_scores

        set_threads(threads)
        true: list[list[str]]
        found: Sequence[Sequence[Label]]
        options = text_options(separator, comment, encoding)
        if file is None:
            true, found = read_tagged(model, options)
        else:
            tagger, layout = read_tagger(model, file)
            sentences = read_like(file, layout, options)
            if not sentences.n_tokens:
                raise DataError(f"{sentences.source.name} has no tokens, so that there is nothing to compare.")
            with told(tagger, sentences):
                true, found = sentences.true_labels(), tagger.predict(sentences.inputs)
        every = (str(tag) for side in (true, found) for tags in side for tag in tags)
        scores = tag_scores(true, found, scheme=scheme_of(scheme, every))
        if as_json:
            print_document(scores.to_dict())
            return
        show_scores(scores)
