"""Pairwise coverage: few combinations of options in which every two options meet that may meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from zlib import crc32

Choice = dict[str, str]
TRIES = 16
"""Random completions of a pair, of which the one is taken that covers most pairs."""


def pairwise(options: Mapping[str, Sequence[str]], allows: Callable[[Choice], bool]) -> list[Choice]:
    """Return combinations of one option of each kind, such that every pair of options that is allowed occurs.

    The first combination has the first option of each kind. The choice depends on nothing but the names.
    """
    names = list(options)
    first = {name: options[name][0] for name in names}
    chosen = [first] if allows(first) else []
    covered = {pair for one in chosen for pair in _pairs(one)}
    for pair in _all_pairs(options):
        if pair not in covered:
            found = _best(options, pair, covered, allows)
            if found is not None:
                chosen.append(found)
                covered.update(_pairs(found))
    return chosen


def _pairs(choice: Choice) -> list[tuple[tuple[str, str], ...]]:
    return list(combinations(choice.items(), 2))


def _all_pairs(options: Mapping[str, Sequence[str]]) -> list[tuple[tuple[str, str], ...]]:
    kinds = combinations(options, 2)
    return [((one, a), (other, b)) for one, other in kinds for a in options[one] for b in options[other]]


def _best(
    options: Mapping[str, Sequence[str]],
    pair: tuple[tuple[str, str], ...],
    covered: set[tuple[tuple[str, str], ...]],
    allows: Callable[[Choice], bool],
) -> Choice | None:
    """Return the allowed completion of a pair that covers most new pairs.

    Where drawn ones are not allowed, the usual options may be; so they are tried first.
    """
    fixed = dict(pair)
    tries = [{name: fixed.get(name) or values[0] for name, values in options.items()}]
    tries += [
        {name: fixed.get(name) or _draw(name, values, pair, attempt) for name, values in options.items()}
        for attempt in range(TRIES)
    ]
    allowed = [choice for choice in tries if allows(choice)]
    return max(allowed, key=lambda choice: sum(one not in covered for one in _pairs(choice)), default=None)


def _draw(name: str, values: Sequence[str], pair: object, attempt: int) -> str:
    """Draw an option from a hash, which is the same on every machine and in every version of Python."""
    mixed = crc32(f"{name} {pair} {attempt}".encode()) * 2654435761 % 2**32  # since bits of a CRC are linear
    return values[(mixed >> 16) % len(values)]
