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
from collections.abc import Iterable, Sequence


class SufficeError(Exception):
    """Base of every error this library raises on purpose."""


class ArgumentError(SufficeError, ValueError):
    """An argument has a value that the call cannot use."""


class DataError(SufficeError, ValueError):
    """The table does not fit the structure or the schema."""


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
    shown = list(items)
    head = ", ".join(repr(item) for item in shown[:limit])
    rest = len(shown) - limit
    return f"[{head}, … {rest} more]" if rest > 0 else f"[{head}]"


def suggestion(name: object, known: Iterable[object]) -> str:
    """Return `` Did you mean 'x'?`` when a known name is close, else an empty string."""
    close = difflib.get_close_matches(str(name), [str(item) for item in known], n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def require_choice(argument: str, value: object, choices: Sequence[object]) -> None:
    """Raise unless ``value`` is one of the words that ``argument`` takes."""
    if value not in choices:
        raise ArgumentError(
            f"The {argument!r} argument must be one of {listing(choices, limit=20)}. Got {value!r} instead."
        )
