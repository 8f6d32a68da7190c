"""Every exception that a user of this library can meet.

Each message says what was wrong with which value, where, and what to do about it.
All of them are `SufficeError`; most are also the built-in error a Python reader would expect.

Examples
--------
>>> import suffice as sf
>>> try:
...     sf.DAG("A -> B -> A")
... except sf.SufficeError as error:
...     print(error)
The graph has a cycle: A -> B -> A. A Bayesian network needs a directed graph without cycles; remove one of these edges.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeGuard


class SufficeError(Exception):
    """Base of every error this library raises on purpose."""


class ArgumentError(SufficeError, ValueError):
    """An argument has a value that the call cannot use."""


class DataError(SufficeError, ValueError):
    """The table does not fit the structure or the schema."""


class DamagedError(DataError):
    """A file of the table cannot be read."""


class SchemaError(SufficeError, ValueError):
    """The description of the variables is contradictory or incomplete."""


class StructureError(SufficeError, ValueError):
    """The structure (graph, cliques, features …) is not well formed."""


class StatisticsError(SufficeError, ValueError):
    """Statistics are missing, or cannot be added to each other."""


class EstimationError(SufficeError, ValueError):
    """The data and the prior do not determine the estimate that was asked for."""


class ModelError(SufficeError, ValueError):
    """Parameters do not form a distribution, or cannot answer the question."""


class FileFormatError(SufficeError, ValueError):
    """A file is damaged, foreign, or from a newer version."""


class FileAccessError(SufficeError, OSError):
    """A file cannot be read or written."""


class UnknownNameError(SufficeError, KeyError):
    """A variable, state, method or format is not one of those that exist."""

    def __str__(self) -> str:  # KeyError would show the repr of the message
        return str(self.args[0]) if self.args else ""


def listing(items: Iterable[object], limit: int = 8) -> str:
    """Show a few items as a Python list and say how many were left out.

    >>> listing(["no", "yes"])
    "['no', 'yes']"
    >>> listing(range(12), limit=3)
    '[0, 1, 2, … 9 more]'
    """
    listed = list(items)
    head = ", ".join(shown(item, 200) for item in listed[:limit])
    rest = len(listed) - limit
    return f"[{head}, … {rest} more]" if rest > 0 else f"[{head}]"


def suggestion(name: object, known: Iterable[object]) -> str:
    """Return `` Did you mean 'x'?`` when a known name is close, else an empty string."""
    close = difflib.get_close_matches(str(name), [str(item) for item in known], n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


# Checks at the boundary ---------------------------------------------------------------------------------------
# ``place`` is what the value was given as: an argument of a call, an entry of a file.


def shown(value: object, limit: int = 80) -> str:
    """Return the representation of a value, cut where it runs long.

    >>> shown("x"), shown([1] * 100, limit=9)
    ("'x'", '[1, 1, 1…')
    """
    # Python refuses to spell out whole numbers of many thousand digits.
    text = repr(value) if not isinstance(value, int) or value.bit_length() < 1000 else "a huge whole number"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number, of Python or of NumPy, and no bool."""
    return not isinstance(value, bool) and isinstance(value, Integral)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number that a float can hold, and no bool."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return not is_whole(value) or abs(value) < 1 << 1023


def is_unicode(text: str) -> bool:
    r"""Whether a text can be encoded: it has no half of a surrogate pair without the other.

    >>> is_unicode("Föhn"), is_unicode("\ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def require_choice(name: str, value: object, choices: Sequence[str], place: str = "argument") -> None:
    """Raise unless ``value`` is one of the words that ``name`` takes."""
    if not isinstance(value, str) or value not in choices:
        raise ArgumentError(
            f"The {name!r} {place} must be one of {listing(choices, limit=20)}. Got {shown(value)} instead."
        )


def require_text(name: str, value: object, place: str = "argument") -> str:
    """Return ``value``, which must be text and not empty."""
    if not isinstance(value, str) or not value:
        raise ArgumentError(f"The {name!r} {place} must be text, and not empty. Got {shown(value)} instead.")
    return value


def require_mapping(name: str, value: object, example: str, place: str = "argument") -> Mapping[Any, Any]:
    """Return ``value``, which must be a mapping such as ``example``."""
    if not isinstance(value, Mapping):
        raise ArgumentError(f"The {name!r} {place} must be a mapping such as {example}. Got {shown(value)} instead.")
    return value


def require_whole(name: str, value: object, least: int = 0, place: str = "argument") -> int:
    """Return ``value``, which must be a whole number of at least ``least``."""
    if not is_whole(value) or value < least:
        raise ArgumentError(
            f"The {name!r} {place} must be a whole number, at least {least}. Got {shown(value)} instead."
        )
    return int(value)


def require_number(name: str, value: object, place: str = "argument") -> float:
    """Return ``value``, which must be a number that a float can hold."""
    if not is_number(value):
        raise ArgumentError(f"The {name!r} {place} must be a number. Got {shown(value)} instead.")
    return float(value)


def require_fraction(name: str, value: object) -> float:
    """Return ``value``, which must be a number between 0 and 1, both excluded."""
    number = require_number(name, value)
    if not 0 < number < 1:
        raise ArgumentError(f"The {name!r} argument must lie between 0 and 1. Got {shown(value)} instead.")
    return number


def require_seed(seed: object) -> int | None:
    """Return the seed of random numbers: None, or a whole number of 64 bits."""
    if seed is None:
        return None
    if not is_whole(seed) or not 0 <= seed < 2**64:
        raise ArgumentError(
            f"The 'seed' argument must be a whole number from 0 to 2**64 - 1, or None. Got {shown(seed)} instead."
        )
    return int(seed)
