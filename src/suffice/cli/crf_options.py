"""Options of ``suffice crf``, and what they say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.errors import ArgumentError

if TYPE_CHECKING:
    from suffice.cli.crf_source import TextOptions
    from suffice.data.window_templates import Templates

TEXT = (
    "A file with one token a line and a blank line between sentences; .gz, .bz2 and .xz are unpacked; - is standard "
    "input."
)
TUTORIAL = "tutorial"
NO_TEMPLATE = (
    "Features of tokens are made by a template, which --template names. It is a file with lines such as U0:%x[0,0] for "
    "the token itself, U1:%x[-1,0] for the one before, U2:%x[0,1] for its second column and U3:%x[-1,1]/%x[0,1] for a "
    "pair; --template tutorial takes that of CRFsuite's tutorial, for a word and its part of speech. Files that have "
    "attributes already are read by --attributes."
)
ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help="What suffice crf fit wrote.")]
TextSeparatorOption = Annotated[
    str | None,
    typer.Option(
        "--separator", metavar="tab|space", help="What stands between columns.", show_default="any number of blanks"
    ),
]
LikeSeparatorOption = Annotated[
    str | None,
    typer.Option(
        "--separator",
        metavar="tab|space",
        help="What stands between columns.",
        show_default="as in the file learnt from",
    ),
]
CommentOption = Annotated[
    str | None,
    typer.Option(
        "--comment",
        metavar="PREFIX",
        help="Lines that begin so are no tokens, such as # or -DOCSTART-.",
    ),
]
EncodingOption = Annotated[str, typer.Option("--encoding", help="The encoding of the text, such as latin-1.")]
ThreadsOption = Annotated[
    int | None, typer.Option("--threads", metavar="N", help="Threads that may be used.", show_default="all cores")
]
SchemeOption = Annotated[
    str,
    typer.Option(
        "--scheme",
        help="How tags mark spans: conll, iob1, iob2, iobes, bilou; none; auto is conll where all tags can be of it.",
    ),
]


def set_threads(threads: int | None) -> None:
    """Set how many threads may be used."""
    from suffice.settings import config

    config(threads=threads)


def read_separator(text: str | None) -> str | None:
    r"""Read what stands between columns.

    >>> read_separator("tab"), read_separator(None)
    ('\t', None)
    """
    if text == "":
        raise ArgumentError("The option --separator takes tab, space, or another character. Got nothing instead.")
    return {"tab": "\t", "\\t": "\t", "space": " "}.get(text or "", text)


def text_options(separator: str | None, comment: str | None, encoding: str) -> TextOptions:
    """Return how text is read."""
    from suffice.cli.crf_source import TextOptions

    return TextOptions(read_separator(separator), comment, encoding)


def read_template(template: str | None, attributes: bool, boundary: str | None, ends: bool) -> Templates | None:
    """Return the templates; None where the file has attributes already."""
    from suffice.data import window_templates

    if attributes:
        named = {"--template": template is not None, "--boundary": boundary is not None, "--ends": ends}
        for option in (option for option, is_named in named.items() if is_named):
            raise ArgumentError(f"With --attributes, the file has its features already. Leave {option} out.")
        return None
    if template is None:
        raise ArgumentError(NO_TEMPLATE)
    text, path = (window_templates.TUTORIAL, None) if template == TUTORIAL else (_template_text(template), template)
    return window_templates.Templates.parse(text, boundary=boundary or "mark", ends=ends, path=path)


def _template_text(path: str) -> str:
    from suffice.files import read_bytes

    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        raise ArgumentError(f"The template {path!r} is no text in UTF-8. Write it anew.") from None


def scheme_of(scheme: str, tags: Iterable[str]) -> str:
    """Return how tags mark spans; ``auto`` is ``conll`` where some tag marks one and no tag speaks against it.

    >>> scheme_of("auto", ["O", "B-NP"]), scheme_of("auto", ["DT", "NN"])
    ('conll', 'none')
    """
    from suffice.result import tag_spans

    return tag_spans.scheme_of(scheme, tags)
