"""Writing XML: any text that it can hold, so that it is read back as it was."""

from __future__ import annotations

import re

from suffice.errors import ArgumentError
from suffice.io.syntax.xml_file import SPACE
from suffice.text import shorten

_FOREIGN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def written(text: str) -> str:
    """Return a text as XML writes it within an element.

    >>> print(written('a < "b"'))
    a &lt; "b"
    """
    foreign = _FOREIGN.search(text)
    if foreign:
        raise ArgumentError(
            f"The text {shorten(text)!r} has the character {foreign[0]!r}, which XML cannot hold. "
            "Rename it, or write the network as .json."
        )
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("\r", "&#13;").replace("\n", "&#10;").replace("\t", "&#9;")


def written_attribute(text: str) -> str:
    """Return a text as XML writes it in an attribute, between quotation marks."""
    return '"' + written(text).replace('"', "&quot;") + '"'


def written_element(tag: str, text: str) -> str:
    """Return an element with text; blanks around the text are marked as part of it."""
    keep = ' xml:space="preserve"' if text != text.strip(SPACE) else ""
    return f"<{tag}{keep}>{written(text)}</{tag}>"
