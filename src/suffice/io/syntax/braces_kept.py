r"""What HUGIN NET and GeNIe DSL cannot hold as such: it is kept in attributes of our own, which others pass over.

``suffice_name``         The name of a node (or network) that is no identifier; a made-up identifier stands for it.
``suffice_place``        The number of a node in the network's own order, where parents have to come first.
``suffice_state_2``      The second state, where a state has to be an identifier and is none.
``suffice_property_2``   The property with two others before it, which the format has no place for.
``suffice_potential_2``  The same, of the node's table.

Their values are texts with the escapes of JSON, and ``\u0022`` for quotation marks, which not every program can skip.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from suffice.errors import FileFormatError
from suffice.io.syntax.braces_file import BracesFile, KeyValue
from suffice.io.syntax.marked_text import Span
from suffice.text import shorten

_OWN = re.compile(r"suffice_(?:(name|place)|(state|property|potential)_([0-9]{1,9}))")
_PLACE = re.compile(r"[0-9]{1,9}")
_NUMBERED = re.compile(r"_[0-9]++")
_OTHER = re.compile(r"[^A-Za-z0-9_]++")
_CLEAN = re.compile(r'[^"\\\x00-\x1f\x7f]*+')


@dataclass
class Kept:
    """The attributes of our own of one block, by their number."""

    name: str | None = None
    place: str | None = None
    state: dict[int, str] = field(default_factory=dict)
    property: dict[int, str] = field(default_factory=dict)
    potential: dict[int, str] = field(default_factory=dict)


# Reading ------------------------------------------------------------------------------------------------------


def take(file: BracesFile, found: Iterable[KeyValue], kept: Kept, kinds: Sequence[str]) -> list[KeyValue]:
    """Move the attributes of our own, of the given kinds, into ``kept``, and return the others."""
    others = []
    for assignment in found:
        match = _OWN.fullmatch(assignment.key)
        if match is None or (match[1] or match[2]) not in kinds or not file.is_text(assignment.value):
            others.append(assignment)
        elif match[1]:
            setattr(kept, match[1], _own_text(file, assignment.value))
        else:
            getattr(kept, match[2])[int(match[3])] = _own_text(file, assignment.value)
    return others


def place(kept: Kept, default: int) -> int:
    """Return the place of a node in the network's own order."""
    return int(kept.place) if kept.place and _PLACE.fullmatch(kept.place) else default


def _own_text(file: BracesFile, span: Span) -> str:
    try:
        text = str(json.loads(file.clean[slice(*span)], strict=False))
        text.encode()
    except ValueError:
        raise file.error(
            span[0], "This text has an escape that JSON does not know. Write a backslash as two of them."
        ) from None
    return text


def named(identifier: str, name: str | None) -> str:
    """Return the name that an identifier stands for; one that was changed since stands for itself.

    >>> named("light_on", "light-on"), named("light_on_2", "light-on"), named("lamp", "light-on"), named("a", None)
    ('light-on', 'light-on', 'lamp', 'a')
    """
    if name is None:
        return identifier
    stands = any(
        identifier == stem or (identifier.startswith(stem) and _NUMBERED.fullmatch(identifier, len(stem)))
        for stem in _stems(name)
    )
    return name if stands else identifier


def changed(identifiers: Mapping[str, str]) -> list[str]:
    """Return a note on identifiers that another program has changed, from the names that they stood for."""
    if not identifiers:
        return []
    pairs = [f"{shorten(new)!r} for {shorten(name)!r}" for name, new in identifiers.items()]
    more = f" and {len(pairs) - 12:,} more" if len(pairs) > 12 else ""
    return [
        f"Names that were changed since the file was written are read as they are now: {', '.join(pairs[:12])}{more}."
    ]


def merged(texts: Sequence[str], numbered: Mapping[int, str]) -> list[str]:
    """Put the numbered texts back in their places among the others."""
    result = list(texts)
    for number in sorted(numbered):
        result.insert(number, numbered[number])
    return result


# Writing ------------------------------------------------------------------------------------------------------


def own(key: str, text: str) -> str:
    r"""Return an attribute of our own.

    >>> print(own("suffice_name", 'a "b" \\ c'))
    suffice_name = "a \u0022b\u0022 \\ c"
    """
    escaped = json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', "\\u0022")
    return f'{key} = "{escaped}"'


def numbered(kind: str, texts: Mapping[int, str]) -> Iterator[str]:
    """Yield attributes of our own of one kind."""
    return (own(f"suffice_{kind}_{number}", text) for number, text in texts.items())


def parted(texts: Sequence[str], fits: Callable[[str], bool]) -> tuple[list[str], dict[int, str]]:
    """Part properties into those that the format can hold, one for each key, and the others with their numbers."""
    plain: dict[str, str] = {}
    others: dict[int, str] = {}
    for number, text in enumerate(texts):
        key = text.partition(" = ")[0]
        if key not in plain and not _OWN.match(key) and fits(text):
            plain[key] = text
        else:
            others[number] = text
    return list(plain.values()), others


def reads_back(text: str, special: re.Pattern[str]) -> bool:
    """Whether a property is one ``key = value``, and would be read from a file as it is."""
    try:
        file = BracesFile.scan("", f"{text};", special)
        found = [file.assignment(entry) for entry in file.entries()]
    except FileFormatError:
        return False
    return len(found) == 1 and found[0] is not None and file.written(found[0]) == text


def is_clean(text: str) -> bool:
    """Whether a text can stand between quotation marks without an escape."""
    return _CLEAN.fullmatch(text) is not None


def identifiers(names: Sequence[str], proper: Callable[[str], bool]) -> dict[str, str]:
    """Return an identifier for every name: itself when it is ``proper``, else one that is made up.

    >>> identifiers(["a", "a b", "a-b", "2 é"], str.isidentifier)
    {'a': 'a', 'a b': 'a_b', 'a-b': 'a_b_2', '2 é': 'x_2_e'}
    """
    result = {name: name if proper(name) else "" for name in names}
    taken, counts = set(result.values()), dict[str, int]()
    for name in names:
        if not result[name]:
            base = _made_up(name, proper)
            identifier, counts[base] = base, counts.get(base, 1)
            while identifier in taken:
                counts[base] += 1
                identifier = f"{base}_{counts[base]}"
            taken.add(identifier)
            result[name] = identifier
    return result


def _made_up(name: str, proper: Callable[[str], bool]) -> str:
    return next(stem for stem in _stems(name) if proper(stem))


def _stems(name: str) -> tuple[str, str, str]:
    """Return what may stand for a name, the nearest first; the last is always an identifier."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    base = _OTHER.sub("_", plain)
    base = base if base.strip("_") else "x"
    return base, f"{base}_", f"x_{base}".rstrip("_")
