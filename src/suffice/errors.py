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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self, TypeAlias, TypeGuard, TypeVar

Word = TypeVar("Word", bound=str)

# What to do about it ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Made:
    """A value that a public name makes, such as ``sf.Gaussian(10)``, without making it.

    >>> made("NormalInverseGamma", 2, 1.0), {"age": made("continuous")}
    (sf.NormalInverseGamma(2, 1.0), {'age': sf.continuous()})
    """

    name: str
    args: tuple[Value, ...] = ()
    named: tuple[tuple[str, Value], ...] = ()

    def __repr__(self) -> str:
        listed = [*map(repr, self.args), *(f"{name}={value!r}" for name, value in self.named)]
        return f"sf.{self.name}({', '.join(listed)})"


def made(name: str, *args: Value, **named: Value) -> Made:
    """Return what ``sf.name(*args, **named)`` makes, as data."""
    return Made(name, args, tuple(named.items()))


Value: TypeAlias = "str | float | bool | Made | Sequence[Value] | Mapping[str, Value] | None"


@dataclass(frozen=True)
class Remedy:
    """An argument with which the call goes another way.

    Attributes
    ----------
    argument : str
    value : Value
        Data: text, a number, a list or mapping, or what is `made` by a public name.
    why : str
        What that does, such as ``to leave out incomplete rows``.
    call : str
        What takes the argument, where it is not the call that failed: ``sf.CSV(path, …)``.
    beside : tuple of (str, Value)
        Other arguments that it needs.
    """

    argument: str
    value: Value
    why: str = ""
    call: str = ""
    beside: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        given = f"{self.argument}={self.value!r}"
        others = "".join(f" and {name}={value!r}" for name, value in self.beside)
        return (self.call.replace("…", given) or given) + others + f" {self.why}" * bool(self.why)


@dataclass(frozen=True)
class Passed:
    """An argument as it was passed: a fact, no remedy."""

    argument: str
    value: Value

    def __str__(self) -> str:
        return f"{self.argument}={self.value!r}"


@dataclass(frozen=True)
class Mention:
    """Words for something that not every front end calls so, such as ``max_iter=…`` or ``The 'prior' argument``.

    Attributes
    ----------
    what : str
        An argument, a public name, or a piece of advice of which front ends have words of their own.
    words : str
        How Python says it.
    kind : str
        ``subject`` where the words begin a sentence, as in "The 'prior' argument must be …".
    """

    what: str
    words: str
    kind: str = ""

    def __str__(self) -> str:
        return self.words


def the_argument(name: str, place: str = "argument") -> Mention:
    """Return the argument of this name as the subject of a sentence."""
    return Mention(name, f"The {name!r} {place}", "subject")


def at_row(row: int) -> Mention:
    """Return the place of a row of the table that was passed; errors of a query's answer leave it out."""
    return Mention("row", f", row {row}")


class InPython(str):
    """Python's words for a part for which a front end has none; parts that are said beside others are left out then."""


@dataclass(frozen=True)
class Also:
    """Parts that are left out where the front end has no words for one of them."""

    parts: tuple[Part, ...]

    def __str__(self) -> str:
        return "".join(map(str, self.parts))


def also(*parts: Part) -> Also:
    """Return parts that are left out where the front end has no words for one of them."""
    return Also(parts)


Part: TypeAlias = str | Remedy | Passed | Mention | Made | Also
Change: TypeAlias = Callable[[Remedy | Passed | Mention | Made], Part | None]
"""How a front end says a part; None where it has nothing of the kind."""


class Text(str):
    """A sentence that knows its remedies: Python's words, of parts that other front ends say in words of their own.

    >>> text = Text("Row 3 lacks 'x'. Pass ", Remedy("missing", "drop", "to leave it out"), ".")
    >>> print(text)
    Row 3 lacks 'x'. Pass missing='drop' to leave it out.
    >>> print(text.change(lambda part: f"--{part.argument} {part.value}"))
    Row 3 lacks 'x'. Pass --missing drop.
    """

    parts: tuple[Part, ...]

    def __new__(cls, *parts: Part) -> Self:
        """Join parts; those of other texts keep what they are."""
        flat = [piece for part in parts for piece in (part.parts if isinstance(part, Text) else (part,))]
        text = super().__new__(cls, "".join(map(str, flat)))
        text.parts = tuple(flat)
        return text

    def __reduce__(self) -> tuple[type[Self], tuple[Part, ...]]:
        return type(self), self.parts

    def __add__(self, other: str) -> Text:
        return Text(self, other)

    def __radd__(self, other: str) -> Text:
        return Text(other, self)

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """The remedies, in the order in which they are said."""
        return _remedies(self.parts)

    def change(self, say: Change) -> Text:
        """Return the text with its parts as a front end says them; what begins a sentence keeps its capital."""
        found: list[Part] = []
        for part in self.parts:
            new = _changed(part, say)
            if new is None:
                continue
            begins = not found or str(found[-1]).endswith(". ")
            found.append(new[:1].upper() + new[1:] if begins and isinstance(new, str) and part != new else new)
        return Text(*found)


class NotFor(Text):
    """Why a method refuses what it is not made for at all, such as "it is for smooth penalties"."""


def _remedies(parts: Iterable[Part]) -> tuple[Remedy, ...]:
    found: list[Remedy] = []
    for part in parts:
        found += [part] if isinstance(part, Remedy) else _remedies(part.parts) if isinstance(part, Also) else []
    return tuple(found)


def _changed(part: Part, say: Change) -> Part | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, Also):
        return say(part)
    found = [_changed(each, say) for each in part.parts]
    said = [each for each in found if each is not None and not isinstance(each, InPython)]
    return Also(tuple(said)) if len(said) == len(found) else None


def worded(text: str, say: Change) -> str:
    """Return a message as a front end says it; a plain one as it is."""
    return str(text.change(say)) if isinstance(text, Text) else text


def joined(separator: str, texts: Iterable[Part]) -> Text:
    """Join texts, as `str.join` does, and keep their remedies.

    >>> joined(", or ", ["leave it out", Text("pass ", Remedy("missing", "drop"))]).remedies
    (Remedy(argument='missing', value='drop', why='', call='', beside=()),)
    """
    listed = list(texts)
    return Text(*[part for text in listed for part in (separator, text)][1:])


# Errors -----------------------------------------------------------------------------------------------------------


class SufficeError(Exception):
    """Base of every error this library raises on purpose.

    Parameters
    ----------
    *parts : str, Remedy, Passed, Mention, Made or Also
        The message; pieces of it that are remedies are data.

    Attributes
    ----------
    message : str
        The message, a `Text` where it has remedies.
    remedies : tuple of Remedy
        Arguments with which the call goes another way.
    """

    def __init__(self, *parts: Part) -> None:
        super().__init__(
            *([parts[0]] if len(parts) == 1 and isinstance(parts[0], str) else [Text(*parts)] * bool(parts))
        )

    @property
    def message(self) -> str:
        """The message, a `Text` where it has remedies."""
        return self.args[0] if self.args else ""

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """Arguments with which the call goes another way."""
        return self.message.remedies if isinstance(self.message, Text) else ()

    def worded(self, say: Change) -> str:
        """Return the message as a front end says it."""
        return worded(self.message, say)


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


class AbsentError(ArgumentError, StatisticsError, EstimationError, AttributeError):
    """A fit does not have what was asked for, so that `hasattr` answers no."""


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


def require_choice(name: str, value: object, choices: Sequence[Word], place: str = "argument") -> Word:
    """Return ``value``, which must be one of the words that ``name`` takes."""
    for choice in choices:
        if isinstance(value, str) and value == choice:
            return choice
    raise ArgumentError(
        the_argument(name, place), f" must be one of {listing(choices, limit=20)}. Got {shown(value)} instead."
    )


def require_text(name: str, value: object, place: str = "argument") -> str:
    """Return ``value``, which must be text and not empty."""
    if not isinstance(value, str) or not value:
        raise ArgumentError(the_argument(name, place), f" must be text, and not empty. Got {shown(value)} instead.")
    return value


def require_mapping(name: str, value: object, example: str, place: str = "argument") -> Mapping[Any, Any]:
    """Return ``value``, which must be a mapping such as ``example``."""
    if not isinstance(value, Mapping):
        raise ArgumentError(
            the_argument(name, place), f" must be a mapping such as {example}. Got {shown(value)} instead."
        )
    return value


def require_whole(name: str, value: object, least: int = 0, place: str = "argument") -> int:
    """Return ``value``, which must be a whole number of at least ``least``."""
    if not is_whole(value) or value < least:
        raise ArgumentError(
            the_argument(name, place), f" must be a whole number, at least {least}. Got {shown(value)} instead."
        )
    return int(value)


def require_number(name: str, value: object, place: str = "argument") -> float:
    """Return ``value``, which must be a number that a float can hold."""
    if not is_number(value):
        raise ArgumentError(the_argument(name, place), f" must be a number. Got {shown(value)} instead.")
    return float(value)


def require_fraction(name: str, value: object) -> float:
    """Return ``value``, which must be a number between 0 and 1, both excluded."""
    number = require_number(name, value)
    if not 0 < number < 1:
        raise ArgumentError(the_argument(name), f" must lie between 0 and 1. Got {shown(value)} instead.")
    return number


def require_seed(seed: object) -> int | None:
    """Return the seed of random numbers: None, or a whole number of 64 bits."""
    if seed is None:
        return None
    if not is_whole(seed) or not 0 <= seed < 2**64:
        raise ArgumentError(
            the_argument("seed"),
            f" must be a whole number from 0 to 2**64 - 1, or None. Got {shown(seed)} instead.",
        )
    return int(seed)
