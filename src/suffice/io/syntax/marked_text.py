"""Texts with comments, quotation marks and lists of numbers: what BIF, HUGIN NET and GeNIe DSL share.

Everything is addressed by the position in the file, so that an error can tell line and column; they are counted only
when there is an error to report.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import ClassVar, Self

from suffice.io.text_file import TextFile, load_text

_VISIBLE = re.compile(r"\S")
_NOT_LINE_END = re.compile(r"[^\n]")
_FLOAT = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:nan|inf|infinity))")

Span = tuple[int, int]
"""A part of the text, from its start up to its end."""


@dataclass(frozen=True)
class MarkedText(TextFile):
    """A text in three versions of equal length.

    Attributes
    ----------
    clean : str
        Comments are blanked out: where names and numbers are taken from.
    shape : str
        What stands between quotation marks is masked, too: where the signs of the format are looked for.

    Notes
    -----
    A format says what a message shows of a place (``EXCERPT``), what a number may be made of (``NUMBER``), which signs
    beside blanks separate numbers (``SEPARATORS``), and how to correct what is no number (``ADVICE``).
    """

    clean: str = ""
    shape: str = ""

    EXCERPT: ClassVar[re.Pattern[str]]
    NUMBER: ClassVar[re.Pattern[str]]
    SEPARATORS: ClassVar[str]
    ADVICE: ClassVar[str]

    @classmethod
    def load(cls, path: str, special: re.Pattern[str]) -> Self:
        """Read a file, packed with gzip or not, and find its comments and quotation marks."""
        file = load_text(path)
        return cls.scan(path, file.text, special, file.notes)

    @classmethod
    def scan(cls, path: str, text: str, special: re.Pattern[str], notes: tuple[str, ...] = ()) -> Self:
        """Find the marks of a text: the groups ``comment`` and ``quoted`` of ``special``, and ``open``, an error."""
        clean, shape, last = [], [], 0
        for found in special.finditer(text):
            if found["open"]:
                what = "A comment" if found["open"] == "/*" else "A quotation mark"
                raise TextFile(path, text).error(
                    found.start(), f"{what} opens here and does not close. Close it, or remove it."
                )
            before, part = text[last : found.start()], found.group()
            blank = _NOT_LINE_END.sub(" ", part) if found["comment"] else part
            clean += [before, blank]
            shape += [before, blank if found["comment"] else f'"{"x" * (len(part) - 2)}"']
            last = found.end()
        return cls(path, text, notes, "".join([*clean, text[last:]]), "".join([*shape, text[last:]]))

    # Places ---------------------------------------------------------------------------------------------------

    def visible(self, at: int) -> int:
        """Return the first position from ``at`` on that is not blank, or the end of the text."""
        found = _VISIBLE.search(self.clean, at)
        return found.start() if found else len(self.clean)

    def excerpt(self, at: int) -> str:
        """Show the word at a position for a message, or say that the file ends there."""
        found = self.EXCERPT.match(self.clean, at)
        return repr(found.group()) if found else "the end of the file"

    def strip(self, span: Span) -> Span:
        """Return a span without the blanks around it."""
        text = self.clean[slice(*span)]
        start = span[0] + len(text) - len(text.lstrip())
        return start, start + len(text.strip())

    # Numbers --------------------------------------------------------------------------------------------------

    def floats(self, span: Span) -> list[float]:
        """Return the numbers of a span; separators beside blanks are optional."""
        text = self.clean[slice(*span)]
        # Python takes 1_000 and the digits of all scripts for numbers, these formats do not.
        if "_" in text or not text.isascii():
            self._check_numbers(span)
        for sign in self.SEPARATORS:
            text = text.replace(sign, " ")
        try:
            return [float(word) for word in text.split()]
        except ValueError:
            self._check_numbers(span)
            raise

    def _check_numbers(self, span: Span) -> None:
        for found in self.NUMBER.finditer(self.clean, *span):
            if not _FLOAT.fullmatch(found.group()):
                shown = self.excerpt(found.start())
                raise self.error(found.start(), f"{shown} is not a number. {self.ADVICE}")

    def number_at(self, span: Span, index: int) -> int:
        """Return where the number of that index stands."""
        return next(itertools.islice(self.NUMBER.finditer(self.clean, *span), index, None)).start()
