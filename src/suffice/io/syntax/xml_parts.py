"""What formats take from a tree of XML: the elements within another, their texts and their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.errors import listing
from suffice.io.syntax.xml_file import SPACE, Element
from suffice.io.text_file import TextFile
from suffice.text import shorten

_WORD = re.compile(r"\S++")
_NUMBER = re.compile(r"[+-]?+(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+")

Parts = Mapping[str, Sequence[Element]]


class Taker:
    """Takes elements apart, and remembers what a network has no place for.

    Parameters
    ----------
    file : TextFile
    older : mapping from str to str
        Tags that stand for others, in small letters.
    """

    def __init__(self, file: TextFile, older: Mapping[str, str] | None = None) -> None:
        self.file = file
        self._older = dict(older or {})
        self._left_out: dict[str, None] = {}

    def notes(self) -> list[str]:
        """Say what was left out."""
        if not self._left_out:
            return []
        return [f"Left out, since a network has no place for it: {listing(self._left_out, 12)}."]

    def leave_out(self, element: Element, parent: Element) -> None:
        """Remember an element that is not known."""
        self._left_out[f"{shorten(element.tag)} in {shorten(parent.tag)}"] = None

    def attributes(self, element: Element, known: Iterable[str] = ()) -> None:
        """Remember the attributes of an element that are not known."""
        for name in element.attributes:
            if name not in known and not name.startswith(("xml:", "xmlns", "xsi:")):
                self._left_out[f"{shorten(name)} of {shorten(element.tag)}"] = None

    def parts(self, element: Element, tags: Iterable[str], attributes: Iterable[str] = ()) -> Parts:
        """Return the elements within another, by their tags, which may be in capital or small letters."""
        self.check_no_text(element)
        self.attributes(element, attributes)
        known = {tag.lower(): tag for tag in tags}
        parts: dict[str, list[Element]] = {tag: [] for tag in known.values()}
        for child in element.children:
            tag = child.tag.lower()
            tag = self._older.get(tag, tag)
            if tag in known:
                parts[known[tag]].append(child)
            else:
                self.leave_out(child, element)
        return parts

    def check_no_text(self, element: Element) -> None:
        """Raise when an element that holds others holds text as well."""
        if element.text.strip(SPACE):
            raise self.file.error(
                element.at,
                f"<{shorten(element.tag)}> holds the text {shorten(element.text.strip(SPACE))!r}, where only elements "
                "are expected. Remove it.",
            )

    def single(self, element: Element, parts: Parts, tag: str) -> Element:
        """Return the one element of a tag within another."""
        found = parts[tag]
        if len(found) != 1:
            raise self.file.error(
                found[1].at if found else element.at,
                f"<{shorten(element.tag)}> holds one <{tag}> element. Got {len(found)} instead.",
            )
        return found[0]

    def check_leaf(self, element: Element) -> None:
        """Raise when an element that holds text holds others as well."""
        if element.children:
            child = element.children[0]
            raise self.file.error(
                child.at, f"<{shorten(child.tag)}> stands within <{shorten(element.tag)}>, which holds text only."
            )

    def text(self, element: Element) -> str:
        """Return the text of an element, without the blanks around it unless it asks to keep them."""
        self.check_leaf(element)
        keep = element.attributes.get("xml:space") == "preserve"
        return element.text if keep else element.text.strip(SPACE)

    def texts(self, elements: Iterable[Element]) -> list[str]:
        """Return the texts of several elements."""
        return [self.text(element) for element in elements]

    def numbers(self, element: Element) -> NDArray[np.float64]:
        """Return the numbers that an element lists."""
        self.check_leaf(element)
        return np.fromiter(self._numbers(element), np.float64)

    def _numbers(self, element: Element) -> Iterator[float]:
        for position, word in enumerate(_WORD.finditer(element.text), 1):
            if not _NUMBER.fullmatch(word[0]):
                raise self.file.error(
                    element.at,
                    f"Entry {position:,} of <{shorten(element.tag)}> is {shorten(word[0])!r}, which is no number.",
                )
            yield float(word[0])
