"""Where the text of ``suffice crf`` comes from, and what is said of text that cannot be read."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass

from suffice.data.column_text import BLANKS, ColumnText, read_columns, text_lines
from suffice.errors import ArgumentError, DataError, shown
from suffice.files import MAGIC
from suffice.text import plural

STANDARD_INPUT = "-"
COMMENTS = ("#", "-DOCSTART-")
"""What lines begin with, in some files, that hold no token."""


@dataclass(frozen=True)
class TextOptions:
    """How text is read: what stands between columns, how lines begin that hold no token, and the encoding."""

    separator: str | None = None
    comment: str | None = None
    encoding: str = "utf-8"


@dataclass(frozen=True, eq=False)
class TextSource:
    """A text that was asked for.

    Attributes
    ----------
    name : str
        What errors call it.
    content : str or list of str
        A path, or the lines of standard input.
    encoding : str
    """

    name: str
    content: str | list[str]
    encoding: str

    def lines(self) -> list[str]:
        """Return the lines; an end of line behind the last one begins no other."""
        found, _ = text_lines(self.content, self.encoding, self.name)
        return found[:-1] if found and not found[-1] else found


def open_text(path: str, encoding: str) -> TextSource:
    """Return the text at a path, or on standard input; a model is no text."""
    if path == STANDARD_INPUT:
        return TextSource("Standard input", _standard_input(encoding), encoding)
    if begins_with(path, MAGIC):
        raise ArgumentError(
            f"{path!r} is a model, where text is needed. Models come first: suffice crf tag MODEL FILE."
        )
    return TextSource(repr(path), path, encoding)


def begins_with(path: str, start: bytes) -> bool:
    """Whether a file begins with some bytes; of one that cannot be read, the error comes when all is read."""
    try:
        with open(path, "rb") as handle:
            return handle.read(len(start)) == start
    except (OSError, ValueError):
        return False


def columns_of(source: TextSource, options: TextOptions, lines: list[str] | None = None) -> ColumnText:
    """Cut a text into columns; ``lines`` takes the place of what stands there."""
    content = source.content if lines is None else lines
    if options.comment == "":
        raise ArgumentError("The option --comment takes what such lines begin with, such as '#'. Got nothing instead.")
    try:
        return read_columns(
            content,
            separator=options.separator,
            comment=options.comment,
            encoding=options.encoding,
            name=source.name,
        )
    except DataError:
        _require_even(source, options, source.lines() if lines is None else lines)
        raise


def _require_even(source: TextSource, options: TextOptions, lines: list[str]) -> None:
    """Say which line has not as many columns as most lines have."""
    sizes = {
        number: _width(line, options.separator)
        for number, line in enumerate(lines, 1)
        if line.strip() and not (options.comment and line.startswith(options.comment))
    }
    usual, n_usual = Counter(sizes.values()).most_common(1)[0] if sizes else (0, 0)
    for number in (number for number, size in sizes.items() if size != usual):
        other = next(start for start in (*COMMENTS, "") if lines[number - 1].startswith(start))
        remedy = f"leave such lines out by --comment {other!r}" if other else "--separator tab keeps empty ones"
        raise DataError(
            f"{source.name}, line {number}: found {plural(sizes[number], 'column')}, where {plural(n_usual, 'line')} "
            f"{'has' if n_usual == 1 else 'have'} {usual}. Give every line the same number; {remedy}."
        )


def _width(line: str, separator: str | None) -> int:
    fields = line.split(separator) if separator else list(filter(None, BLANKS.split(line)))
    return len(fields)


def _standard_input(encoding: str) -> list[str]:
    data = sys.stdin.buffer.read()
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"Standard input, line {line}: the text is not {encoding} ({error.reason}). Pass its encoding, such as "
            "--encoding latin-1."
        ) from None
    except LookupError:
        raise ArgumentError(
            "The option --encoding must be the name of an encoding, such as 'utf-8' or 'latin-1'. Got "
            f"{shown(encoding)} instead."
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n") if text else []
