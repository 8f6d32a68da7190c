r"""Labels and attributes in the text format of the program CRFsuite.

Each line is a position: its label and the attributes that it has, apart by tabulators. ``name:0.5`` gives an attribute
a value; a colon or a backslash inside a name is written ``\:`` or ``\\``. A blank line ends a sequence, and a line
``@weight:2`` says how often the sequence counts.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from suffice.data.column_text import text_lines
from suffice.errors import DataError, shown

ESCAPED = re.compile(r"\\(.)", re.DOTALL)
PARTS = re.compile(r"((?:[^\\:]|\\.|\\$)*):(.*)", re.DOTALL)
WEIGHT = "@weight"
Position = list[str] | dict[str, float]


@dataclass(frozen=True, eq=False)
class AttributeText:
    """Sequences of labels and attributes.

    Attributes
    ----------
    features : list of list of positions
        A position is a list of names, or a dict of names and values where some value is not one.
    labels : list of list of str
        As they stand; empty where a line begins with a tabulator.
    weights : list of float or None
        How often each sequence counts; None where the text does not say.
    lines : list of list of int
        The number of each position's line, from 1.
    """

    features: list[list[Position]]
    labels: list[list[str]]
    weights: list[float] | None
    lines: list[list[int]]


def read_attributes(
    source: str | os.PathLike[str] | Iterable[str], *, encoding: str = "utf-8", name: str = "The text"
) -> AttributeText:
    r"""Read labels and attributes as CRFsuite has them.

    Parameters
    ----------
    source : path, or iterable of lines
        A path that ends in .gz, .bz2 or .xz is unpacked.
    encoding : str
    name : str
        What errors call a text that is no file.

    Examples
    --------
    >>> text = read_attributes(["D\tw=the", "N\tw=cat\tlength:3", "", "V\tw=10\\:30"])
    >>> text.features
    [[['w=the'], {'w=cat': 1.0, 'length': 3.0}], [['w=10:30']]]
    >>> text.labels
    [['D', 'N'], ['V']]
    """
    lines, described = text_lines(source, encoding, name)
    found: list[_Sequence] = [_Sequence()]
    known: dict[str, tuple[str, float]] = {}
    for number, line in enumerate(lines, 1):
        label, *fields = line.split("\t")
        if not line or line.isspace():
            found.append(_Sequence())
        elif label.startswith(WEIGHT + ":"):
            found[-1].weight = _value(label, label.removeprefix(WEIGHT + ":"), f"{described}, line {number}")
        else:
            for new in set(fields).difference(known):
                known[new] = _attribute(new, f"{described}, line {number}")
            found[-1].add(_plain(label), [known[field] for field in fields if field], number)
    whole = [sequence for sequence in found if sequence.labels]
    weights = [sequence.weight for sequence in whole]
    return AttributeText(
        [sequence.features for sequence in whole],
        [sequence.labels for sequence in whole],
        None if all(weight == 1.0 for weight in weights) else weights,
        [sequence.lines for sequence in whole],
    )


class _Sequence:
    """A sequence as far as it was read."""

    def __init__(self) -> None:
        self.weight = 1.0
        self.features: list[Position] = []
        self.labels: list[str] = []
        self.lines: list[int] = []

    def add(self, label: str, attributes: Sequence[tuple[str, float]], number: int) -> None:
        self.labels.append(label)
        self.lines.append(number)
        if all(value == 1.0 for _, value in attributes):
            self.features.append([name for name, _ in attributes])
            return
        summed: dict[str, float] = {}
        for name, value in attributes:
            summed[name] = summed.get(name, 0.0) + value
        self.features.append(summed)


def _attribute(field: str, place: str) -> tuple[str, float]:
    """Return the name and the value that a field says."""
    found = PARTS.fullmatch(field) if ":" in field else None
    if found is None:
        return _plain(field), 1.0
    return _plain(found[1]), _value(field, found[2], place)


def _plain(name: str) -> str:
    return ESCAPED.sub(r"\1", name) if "\\" in name else name


def _value(field: str, text: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(
            f"{place}: {shown(field)} gives the value {shown(text)}, which is no finite number. A colon inside a name "
            r"is written \:."
        )
    return value
