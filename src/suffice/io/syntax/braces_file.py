"""Files made of braces, lists and semicolons: what HUGIN NET and GeNIe DSL share.

A file is a sequence of entries, ``key = value;``, ``key = { … };`` or ``words { … }``, whose bodies are sequences of
entries again. Everything is addressed by its position, so that an error can tell line and column.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.errors import FileFormatError
from suffice.io.syntax.marked_text import MarkedText, Span

# A quotation mark opens where a word can begin; and // in a network address is no comment.
_SPECIAL = (
    r"(?P<comment>{line}(?<!:)//[^\n\r]*+|/\*.*?\*/)"
    r'|(?P<quoted>(?<![^\s(){{}}=;,|"])"[^"\\]*+(?:\\.[^"\\]*+)*+")'
    r'|(?P<open>/\*|(?<![^\s(){{}}=;,|"])")'
)
PERCENT = re.compile(_SPECIAL.format(line=r"%[^\n\r]*+|"), re.DOTALL)
"""HUGIN's comments begin with a percent sign; other programs also write those of C."""
SLASHES = re.compile(_SPECIAL.format(line=""), re.DOTALL)
"""Comments as in C."""

_BRACKET = re.compile(r"[(){}]")
_HEAD = re.compile(r"[^;{}]*+")
_KEY = re.compile(r'([^\s=(){},|";]++)\s*+=\s*+')
_WORD = re.compile(r'"[^"]*+"|[^\s,(){}|]++')
_TRAILING = re.compile(r"[ \t]++(?=[\r\n])")
_ESCAPE = re.compile(r'\\(?:([ntr"\\])|[ \t\r]*+\n[ \t]*+)')
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_WRITTEN = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class Word(NamedTuple):
    """A name or a text without its quotation marks, and where it stands."""

    text: str
    at: int


class BracesEntry(NamedTuple):
    """One entry: what stands before its semicolon or brace, and what stands between its braces."""

    at: int
    head: Span
    body: Span | None


class KeyValue(NamedTuple):
    """An entry ``key = value``; the value of a block has its braces."""

    key: str
    at: int
    value: Span
    body: Span | None


class BracesFile(MarkedText):
    """The text of a file made of braces, lists and semicolons."""

    EXCERPT = re.compile(r"[^\s;{}(),|=]{1,30}|\S")
    NUMBER = re.compile(r"[^\s,()]++")
    SEPARATORS = ","
    ADVICE = "Correct it."

    @cached_property
    def closing(self) -> Mapping[int, int]:
        """Where each brace that opens is closed; brackets that do not match are an error."""
        opened: list[int] = []
        closing: dict[int, int] = {}
        for found in _BRACKET.finditer(self.shape):
            at, sign = found.start(), found.group()
            if sign in "({":
                opened.append(at)
            elif not opened or self.shape[opened[-1]] + sign == "{)":
                raise self.error(at, f"This {sign!r} closes nothing. Remove it.")
            elif self.shape[opened[-1]] + sign == "(}":
                raise self._not_closed(opened[-1])
            elif sign == "}":
                closing[opened.pop()] = at
            else:
                opened.pop()
        if opened:
            raise self._not_closed(opened[-1])
        return closing

    def _not_closed(self, at: int) -> FileFormatError:
        return self.error(
            at,
            f"This {self.shape[at]!r} is not closed. Close it; if the file was cut off, write or copy it again.",
        )

    # Entries --------------------------------------------------------------------------------------------------

    def entries(self, span: Span | None = None) -> Iterator[BracesEntry]:
        """Yield the entries of a body, or of the whole file."""
        closing = self.closing
        at, end = span or (0, len(self.shape))
        while (at := self.visible(at)) < end:
            found = _HEAD.match(self.shape, at, end)
            stop = found.end() if found else end
            if stop == end:
                raise self.error(at, f"The entry that begins with {self.excerpt(at)} does not end. Add a ';'.")
            body = (stop + 1, closing[stop]) if self.shape[stop] == "{" else None
            if body or stop > at:
                yield BracesEntry(at, (at, stop), body)
            at = body[1] + 1 if body else stop + 1

    def assignment(self, entry: BracesEntry) -> KeyValue | None:
        """Return an entry as ``key = value``, or None when it is none."""
        found = _KEY.match(self.shape, *entry.head)
        if not found:
            return None
        end = entry.body[1] + 1 if entry.body else entry.head[1]
        return KeyValue(self.clean[slice(*found.span(1))], entry.at, self.strip((found.end(), end)), entry.body)

    def written(self, found: KeyValue) -> str:
        """Return an assignment as one text, which is how properties are kept; without its comments."""
        value = self.clean[slice(*found.value)]
        if value != self.text[slice(*found.value)]:
            value = _TRAILING.sub("", value)
        return f"{found.key} = {value}"

    # Words ----------------------------------------------------------------------------------------------------

    def words(self, span: Span) -> list[Word]:
        """Return the names and texts of a span; blanks and commas separate them."""
        return [self._word(found.span()) for found in _WORD.finditer(self.shape, *span)]

    def _word(self, span: Span) -> Word:
        text = self.clean[slice(*span)]
        return Word(unquoted(text) if self.shape[span[0]] == '"' else text, span[0])

    def is_list(self, span: Span) -> bool:
        """Whether a value is one pair of parentheses without others in it."""
        text = self.shape[slice(*span)]
        return text[:1] == "(" and text.find("(", 1) < 0 and text.find(")") == len(text) - 1

    def is_text(self, span: Span) -> bool:
        """Whether a value is one text between quotation marks."""
        found = _WORD.match(self.shape, *span)
        return found is not None and found.span() == span and self.shape[span[0]] == '"'

    # Numbers --------------------------------------------------------------------------------------------------

    def numbers(self, span: Span, into: array[float]) -> int:
        """Append the numbers of a span, between blanks and commas, and return how many there are."""
        found = self.floats(span)
        into.extend(found)
        return len(found)

    def check_probabilities(self, span: Span, values: NDArray[np.float64]) -> None:
        """Raise at the first number of a span that is no probability."""
        improper = ~(np.isfinite(values) & (values >= 0))
        if not improper.any():
            return
        at = self.number_at(span, int(np.argmax(improper)))
        raise self.error(at, f"{self.excerpt(at)} is not a probability. Correct it.")


def unquoted(text: str) -> str:
    r"""Return what a text between quotation marks says; a backslash at the end of a line joins it to the next.

    >>> print(unquoted(r'"5\" C:\\temp"'), unquoted('"to be \\ \n   or not"'))
    5" C:\temp to be or not
    """
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1] or ""), text[1:-1])


def quoted(text: str) -> str:
    r"""Return a text between quotation marks.

    >>> print(quoted('5" C:\\temp'))
    "5\" C:\\temp"
    """
    return '"' + "".join(_WRITTEN.get(sign, sign) for sign in text) + '"'
