"""Single values of a JSON document, each checked for what it must be. NaN is ``null``, infinities are texts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

from suffice.errors import FileFormatError, require_choice, require_number, require_whole, shown
from suffice.optimise.outcome import Stop

Entry = Mapping[str, Any]
"""An object of a JSON document, of which nothing is known until it is read."""
T = TypeVar("T")


def text(entry: Entry, name: str) -> str:
    """Return an entry that must be text."""
    return _typed(entry, name, str, "text")


def flag(entry: Entry, name: str) -> bool:
    """Return an entry that must be true or false."""
    return _typed(entry, name, bool, "true or false")


def texts(entry: Entry, name: str) -> list[str]:
    """Return an entry that must be a list of texts."""
    found = _typed(entry, name, list, "a list of texts")
    return [text({name: item}, name) for item in found]


def _typed(entry: Entry, name: str, kind: type[T], what: str) -> T:
    value = entry[name]
    if not isinstance(value, kind):
        raise FileFormatError(f"The entry {name!r} must be {what}. Got {shown(value)} instead.")
    return value


def whole(entry: Entry, name: str) -> int:
    """Return an entry that must be a whole number, not negative."""
    require_number(name, entry[name], "entry")  # one that a float can hold, too
    return require_whole(name, entry[name], place="entry")


def number(entry: Entry, name: str) -> float:
    """Return an entry that must be a number."""
    value = entry[name]
    if value is None:
        return math.nan
    return float(value) if value in ("inf", "-inf") else require_number(name, value, "entry")


def number_or_none(entry: Entry, name: str) -> float | None:
    """Return an entry that must be a number, or null where it was not measured."""
    return None if entry[name] is None else number(entry, name)


def stop_of(entry: Entry) -> Stop | None:
    """Return how a search ended, from its name in a file; None where there was none, or the file does not say."""
    name = entry.get("stop")
    return None if name is None else Stop[require_choice("stop", name, tuple(Stop.__members__), "entry")]
