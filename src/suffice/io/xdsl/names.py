"""Identifiers and user properties of XDSL: how any name and any text are written in them, and recognised again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

OWN = "suffice_"
NAME, STATES, ORDER = OWN + "name", OWN + "states", OWN + "order"
VERBATIM = {"variables": OWN + "property_", "probabilities": OWN + "probability_"}
SHOWN = ("name", "position", "comment")
SAMPLES = ("numsamples", "discsamples")
USUAL_SAMPLES = "10000"
_USER = re.compile(r"([A-Za-z]\w*+) = (.*)", re.DOTALL | re.ASCII)
_GENIE = re.compile(r"genie (\w++) = (.*)", re.DOTALL | re.ASCII)
_FREE = frozenset("0123456789_")


def is_identifier(text: str) -> bool:
    """Whether a text is an identifier: a letter, and then letters, digits and underscores.

    >>> is_identifier("blood_2"), is_identifier("2nd"), is_identifier("a b")
    (True, False, False)
    """
    return text[:1].isalpha() and all(char.isalpha() or char in _FREE for char in text)


def _stem(text: str, prefix: str) -> str:
    """Return the identifier that is nearest to a text, for which others may be written the same."""
    stem = "".join(char if char.isalpha() or char in _FREE else "_" for char in text)
    return stem if stem[:1].isalpha() else f"{prefix}_{stem}"


def identifiers(texts: Iterable[str], prefix: str) -> dict[str, str]:
    """Return an identifier for every text, none of them twice.

    >>> identifiers(["a_b", "a b", "2"], "n")
    {'a_b': 'a_b', 'a b': 'a_b_2', '2': 'n_2'}
    """
    found = {text: text if is_identifier(text) else "" for text in texts}
    used = set(found.values())
    last: dict[str, int] = {}
    for text, identifier in found.items():
        if not identifier:
            stem = name = _stem(text, prefix)
            while name in used:
                last[stem] = last.get(stem, 1) + 1
                name = f"{stem}_{last[stem]}"
            used.add(name)
            found[text] = name
    return found


def stands_for(identifier: str, text: str, prefix: str) -> bool:
    """Whether `identifiers` may have written a text as this identifier."""
    stem = _stem(text, prefix)
    rest = identifier[len(stem) :]
    return identifier == stem or (identifier.startswith(stem) and rest[:1] == "_" and rest[1:].isdigit())


# Texts ----------------------------------------------------------------------------------------------------------


def genie_texts(texts: Iterable[str], known: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """Split texts into what GeNIe shows, by its name, and all others."""
    shown: dict[str, str] = {}
    rest = []
    for text in texts:
        found = _GENIE.fullmatch(text)
        if found and found[1] in known and found[1] not in shown:
            shown[found[1]] = found[2]
        else:
            rest.append(text)
    return shown, rest


def user_properties(texts: Iterable[str], place: str) -> Iterator[tuple[str, str]]:
    """Yield texts as user properties, identifier and value; those of another form under numbered identifiers."""
    used: set[str] = set()
    for position, text in enumerate(texts, 1):
        found = _USER.fullmatch(text)
        if found and place == "variables" and found[1] not in used and not found[1].startswith(OWN):
            used.add(found[1])
            yield found[1], found[2]
        else:
            yield f"{VERBATIM[place]}{position}", text


def text_of(identifier: str, value: str) -> tuple[str, str]:
    """Return the place and the text of a user property; the reverse of `user_properties`."""
    for place, start in VERBATIM.items():
        if identifier.startswith(start):
            return place, value
    return "variables", f"{identifier} = {value}"
