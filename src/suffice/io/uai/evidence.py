"""Evidence files beside UAI networks: which variables were observed, and in which states.

::

    2 3 1 7 0

says that two variables were observed, ``x3`` in state ``1`` and ``x7`` in state ``0``. Since 2014 a file may hold
several samples: it begins with their number, and each is then such a line. ``0``, or nothing, says that nothing was
observed.

Lines mean nothing, so a file is taken for the form that uses up its numbers exactly. Where both would, it is one set
of observations when it stands on one line or has its pairs on lines of their own, and several samples when each of
them has a line; anything else is an error.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from suffice.errors import ArgumentError, FileFormatError, is_whole, shown
from suffice.io.text_file import write_text
from suffice.io.uai.words import MAX_DIGITS, WordFile, load_words
from suffice.text import plural

Evidence = dict[str, str]
POSITION = rf"0|[1-9][0-9]{{0,{MAX_DIGITS - 1}}}+"
NAME = re.compile(f"x({POSITION})")
STATE = re.compile(POSITION)


# Reading ------------------------------------------------------------------------------------------------------


def read_evidence(path: str | os.PathLike[str]) -> Evidence:
    """Read one set of observations, ``{"x3": "1"}``; several samples are an error."""
    found = read(os.fspath(path))
    if isinstance(found, list):
        raise FileFormatError(
            f"{os.fspath(path)!r} holds {plural(len(found), 'sample')} of evidence. Read them with sf.read."
        )
    return found


def read(path: str) -> Evidence | list[Evidence]:
    """Read one set of observations, or a list of them when the file holds several samples."""
    file = load_words(path)
    numbers = file.wholes(0, len(file.words), "the number of a variable or of a state")
    starts = _starts(file, numbers)
    samples = [_sample(file, numbers, start) for start in starts]
    return samples if len(samples) > 1 else samples[0] if samples else {}


def _starts(file: WordFile, numbers: Sequence[int]) -> list[int]:
    """Return the words at which the samples begin."""
    if not numbers:
        return []
    is_one = len(numbers) == 1 + 2 * numbers[0]
    starts = _sample_starts(numbers)
    if is_one and starts:
        return [0] if _is_one_by_lines(file) else _starts_by_lines(file, numbers, starts)
    if is_one:
        return [0]
    if starts is None:
        raise file.error(
            0,
            "Evidence is the number of observations and then a variable and a state for each, or the number of samples "
            f"and then such a line for each. The file begins with {numbers[0]:,} and has "
            f"{plural(len(numbers), 'number')}, which fits neither. Correct the first number, or the observations.",
        )
    return starts


def _sample_starts(numbers: Sequence[int]) -> list[int] | None:
    """Return where samples begin if the first number counts them; None when they do not use up the numbers."""
    starts: list[int] = []
    at = 1
    while at < len(numbers) and len(starts) < numbers[0]:
        starts.append(at)
        at += 1 + 2 * numbers[at]
    return starts if at == len(numbers) and len(starts) == numbers[0] else None


def _line_lengths(file: WordFile) -> list[int]:
    return [n for line in file.bare.split("\n") if (n := len(line.split()))]


def _is_one_by_lines(file: WordFile) -> bool:
    first, *others = _line_lengths(file)
    return first % 2 == 1 and all(n % 2 == 0 for n in others)


def _starts_by_lines(file: WordFile, numbers: Sequence[int], starts: list[int]) -> list[int]:
    if _line_lengths(file) != [1, *(1 + 2 * numbers[start] for start in starts)]:
        raise file.error(
            0,
            f"This can be read as {plural(numbers[0], 'observation')} or as {plural(numbers[0], 'sample')}. Put all "
            "observations on one line, or each sample on a line of its own.",
        )
    return starts


def _sample(file: WordFile, numbers: Sequence[int], start: int) -> Evidence:
    evidence: Evidence = {}
    for at in range(start + 1, start + 1 + 2 * numbers[start], 2):
        name = f"x{numbers[at]}"
        if name in evidence:
            raise file.error(at, f"Variable {numbers[at]} is observed twice. Remove one of them.")
        evidence[name] = str(numbers[at + 1])
    return evidence


# Writing ------------------------------------------------------------------------------------------------------


def write_evidence(evidence: Mapping[str, str | int], path: str | os.PathLike[str]) -> None:
    """Write one set of observations, ``{"x3": "1"}``, by the positions of variables and states."""
    if not isinstance(evidence, Mapping):
        raise ArgumentError(f"Evidence is a mapping such as {{'x3': '1'}}. Got {shown(evidence)} instead.")
    write_text(os.fspath(path), f"{_line(evidence)}\n")


def write(thing: Any, path: str) -> None:
    """Write one set of observations, or a list of them as samples."""
    if isinstance(thing, list | tuple) and all(isinstance(sample, Mapping) for sample in thing):
        write_text(path, "".join(f"{line}\n" for line in (str(len(thing)), *map(_line, thing))))
    elif isinstance(thing, Mapping):
        write_evidence(thing, path)
    else:
        raise ArgumentError(
            f"An .evid file holds evidence: a mapping such as {{'x3': '1'}}, or a list of them. "
            f"Got {shown(thing)} instead."
        )


def _line(evidence: Mapping[str, str | int]) -> str:
    pairs = [f" {_variable(name)} {_state(name, state)}" for name, state in evidence.items()]
    return f"{len(evidence)}{''.join(pairs)}"


def _variable(name: object) -> str:
    found = NAME.fullmatch(name) if isinstance(name, str) else None
    if found is None:
        raise ArgumentError(
            f"Evidence names variables by position: 'x0', 'x1', …. Got {shown(name)} instead. Use its position in the "
            "network that was written."
        )
    return found[1]


def _state(name: object, state: object) -> str:
    if isinstance(state, str) and STATE.fullmatch(state):
        return state
    if is_whole(state) and 0 <= state < 10**MAX_DIGITS:
        return str(int(state))
    raise ArgumentError(
        f"Evidence gives states by position: '0', '1', …. Got {shown(state)} for {name!r} instead. Use its position "
        "among the states of the variable."
    )
