"""The text of a BIF file: where its comments and quotation marks are, its names and numbers, and its errors.

Everything is addressed by the position in the file, so that an error can tell line and column; they are counted only
when there is an error to report.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from suffice.io.text_file import TextFile, load_text

KEYWORDS = frozenset(("network", "variable", "probability", "property", "type", "discrete", "default", "table"))

# A quotation mark opens where a name can begin, so that 5" is a name; and // in a network address is no comment.
_SPECIAL = re.compile(
    r"(?P<comment>(?<!:)//[^\n\r]*+|/\*.*?\*/|^[ \t]*+#[^\n\r]*+)"
    r'|(?P<quoted>(?<![^\s{}()\[\],|=;"])"(?:[^"\\]|\\.)*+")'
    r'|(?P<open>/\*|(?<![^\s{}()\[\],|=;"])")',
    re.DOTALL | re.MULTILINE,
)
_VISIBLE = re.compile(r"\S")
_EXCERPT = re.compile(r"[^\s;{}(),|]{1,30}|\S")
_PIECE = re.compile(r"[^,|]+")
_WORD = re.compile(r'"[^"]*"|[^\s,|]+')
_NUMBER = re.compile(r"[^\s,|]+")
_FLOAT = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:nan|inf|infinity))")
_BARE = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9_.?%+-]*")
_ESCAPED = re.compile(r'\\(["\\])')

Span = tuple[int, int]
"""A part of the text, from its start up to its end."""


class Name(NamedTuple):
    """A name without its quotation marks, and where it stands."""

    text: str
    at: int
    end: int


@dataclass(frozen=True)
class Source(TextFile):
    """A text in three versions of equal length.

    Attributes
    ----------
    clean : str
        Comments are blanked out: where names and numbers are taken from.
    shape : str
        What stands between quotation marks is masked, too: where the signs of the format are looked for.
    """

    clean: str = ""
    shape: str = ""

    # Places ---------------------------------------------------------------------------------------------------

    def visible(self, at: int) -> int:
        """Return the first position from ``at`` on that is not blank, or the end of the text."""
        found = _VISIBLE.search(self.clean, at)
        return found.start() if found else len(self.clean)

    def excerpt(self, at: int) -> str:
        """Show the word at a position for a message, or say that the file ends there."""
        found = _EXCERPT.match(self.clean, at)
        return repr(found.group()) if found else "the end of the file"

    # Names ----------------------------------------------------------------------------------------------------

    def name(self, span: Span) -> Name:
        """Return the text of a span, without blanks around it, as one name."""
        text = self.clean[slice(*span)]
        start = span[0] + len(text) - len(text.lstrip())
        text = text.strip()
        end = start + len(text)
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

    # Numbers --------------------------------------------------------------------------------------------------

    def numbers(self, spans: Sequence[Span]) -> tuple[list[float], list[int]]:
        """Return the numbers of some spans, and how many each of them has; commas and bars between are optional."""
        texts = [self.clean[start:end] for start, end in spans]
        words = [text.replace(",", " ").replace("|", " ").split() for text in texts]
        # Python takes 1_000 and the digits of all scripts for numbers, BIF does not.
        if any("_" in text or not text.isascii() for text in texts):
            self._check_numbers(spans)
        try:
            return [float(word) for part in words for word in part], [len(part) for part in words]
        except ValueError:
            self._check_numbers(spans)
            raise

    def _check_numbers(self, spans: Sequence[Span]) -> None:
        for span in spans:
            for found in _NUMBER.finditer(self.clean, *span):
                if not _FLOAT.fullmatch(found.group()):
                    shown = self.excerpt(found.start())
                    raise self.error(found.start(), f"{shown} is not a number. A list of numbers ends with ';'.")

    def number_at(self, span: Span, index: int) -> int:
        """Return where the number of that index stands."""
        return [found.start() for found in _NUMBER.finditer(self.clean, *span)][index]


def load(path: str) -> Source:
    """Read a file, packed with gzip or not, and find its comments and quotation marks."""
    file = load_text(path)
    return scan(path, file.text, file.notes)


def scan(path: str, text: str, notes: tuple[str, ...] = ()) -> Source:
    """Find the comments and quotation marks of a text."""
    plain = Source(path, text, notes, text, text)
    if not any(sign in text for sign in ('"', "//", "/*", "#")):
        return plain
    clean, shape, last = [], [], 0
    for found in _SPECIAL.finditer(text):
        if found["open"]:
            what = "A comment" if found["open"] == "/*" else "A quotation mark"
            raise plain.error(found.start(), f"{what} opens here and does not close. Close it, or remove it.")
        before, part = text[last : found.start()], found.group()
        blank = re.sub(r"[^\n]", " ", part) if found["comment"] else part
        clean += [before, blank]
        shape += [before, blank if found["comment"] else f'"{"x" * (len(part) - 2)}"']
        last = found.end()
    return Source(path, text, notes, "".join([*clean, text[last:]]), "".join([*shape, text[last:]]))


def written_name(name: str) -> str:
    r"""Return a name as it is written: bare where every program reads it so, else between quotation marks.

    >>> print(written_name("lung_cancer"), written_name("M. Work"), written_name('5" \\ 6"'))
    lung_cancer "M. Work" "5\" \\ 6\""
    """
    if _BARE.fullmatch(name) and name not in KEYWORDS:
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
