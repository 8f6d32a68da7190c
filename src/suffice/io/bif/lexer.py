"""The text of a BIF file: where its comments and quotation marks are, its names and its numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from suffice.io.syntax.marked_text import MarkedText, Span
from suffice.io.text_file import load_text

KEYWORDS = frozenset(("network", "variable", "probability", "property", "type", "discrete", "default", "table"))

# A quotation mark opens where a name can begin, so that 5" is a name; and // in a network address is no comment.
_SPECIAL = re.compile(
    r"(?P<comment>(?<!:)//[^\n\r]*+|/\*.*?\*/|^[ \t]*+#[^\n\r]*+)"
    r'|(?P<quoted>(?<![^\s{}()\[\],|=;"])"(?:[^"\\]|\\.)*+")'
    r'|(?P<open>/\*|(?<![^\s{}()\[\],|=;"])")',
    re.DOTALL | re.MULTILINE,
)
_PIECE = re.compile(r"[^,|]+")
_WORD = re.compile(r'"[^"]*"|[^\s,|]+')
_BARE = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9_.?%+-]*")
_ESCAPED = re.compile(r'\\(["\\])')


class Name(NamedTuple):
    """A name without its quotation marks, and where it stands."""

    text: str
    at: int
    end: int


class BifText(MarkedText):
    """The text of a BIF file."""

    EXCERPT = re.compile(r"[^\s;{}(),|]{1,30}|\S")
    NUMBER = re.compile(r"[^\s,|]+")
    SEPARATORS = ",|"
    ADVICE = "A list of numbers ends with ';'."

    def name(self, span: Span) -> Name:
        """Return the text of a span, without blanks around it, as one name."""
        start, end = self.strip(span)
        text = self.clean[start:end]
        if text[:1] == '"' and self.shape.find('"', start + 1, end) == end - 1:
            text = _ESCAPED.sub(r"\1", text[1:-1])
        return Name(text, start, end)

    def names(self, span: Span) -> list[Name]:
        """Return the names between commas or bars; names may contain blanks."""
        pieces = [self.name(found.span()) for found in _PIECE.finditer(self.shape, *span)]
        return [piece for piece in pieces if piece.text or self.shape.startswith('""', piece.at)]

    def words(self, span: Span) -> list[Name]:
        """Return the names where blanks separate as well."""
        return [self.name(found.span()) for found in _WORD.finditer(self.shape, *span)]

    def numbers(self, spans: Sequence[Span]) -> tuple[list[float], list[int]]:
        """Return the numbers of some spans, and how many each of them has."""
        parts = [self.floats(span) for span in spans]
        return [number for part in parts for number in part], [len(part) for part in parts]


def load(path: str) -> BifText:
    """Read a file, packed with gzip or not, and find its comments and quotation marks."""
    file = load_text(path)
    return scan(path, file.text, file.notes)


def scan(path: str, text: str, notes: tuple[str, ...] = ()) -> BifText:
    """Find the comments and quotation marks of a text."""
    if not any(sign in text for sign in ('"', "//", "/*", "#")):
        return BifText(path, text, notes, text, text)
    return BifText.scan(path, text, _SPECIAL, notes)


def written_name(name: str) -> str:
    r"""Return a name as it is written: bare where every program reads it so, else between quotation marks.

    >>> print(written_name("lung_cancer"), written_name("M. Work"), written_name('5" \\ 6"'))
    lung_cancer "M. Work" "5\" \\ 6\""
    """
    if _BARE.fullmatch(name) and name not in KEYWORDS:
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
