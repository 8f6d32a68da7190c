"""Lists of whole numbers, one after another in one array; ``at`` holds where each begins, and where the last ends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.types import Ints


def ragged(lists: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Return lists one after another.

    >>> at, values = ragged([[3, 4], [], [5]])
    >>> at.tolist(), values.tolist()
    ([0, 2, 2, 3], [3, 4, 5])
    """
    at = starts(np.array([len(entries) for entries in lists], np.int64))
    return at, np.array([entry for entries in lists for entry in entries], np.int64)


def starts(lengths: NDArray[np.integer]) -> Ints:
    """Return where lists of some lengths begin, and where the last ends."""
    at = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=at[1:])
    return at


def taken(at: Ints, values: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """Return some of the lists, one after another."""
    lengths = np.diff(at)[chosen]
    ends = starts(lengths)
    return ends, values[np.arange(ends[-1]) + np.repeat(at[chosen] - ends[:-1], lengths)]


def order_of(at: Ints, values: Ints) -> NDArray[np.uint64]:
    """Return a number for each list by which lists can be put in order, the same wherever they come from.

    Different lists have different numbers, but for one chance in 2⁶⁴ a pair.

    >>> numbers = order_of(*ragged([[3, 4], [], [3, 4], [4, 3]]))
    >>> bool(numbers[0] == numbers[2]), len(set(numbers.tolist()))
    (True, 3)
    """
    lengths = np.diff(at)
    place = (np.arange(len(values)) - np.repeat(at[:-1], lengths)).astype(np.uint64)
    with np.errstate(over="ignore"):
        mixed = _mixed(_mixed(place) + values.astype(np.uint64) + np.uint64(1))
        run = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
        return _mixed(run[at[1:]] - run[at[:-1]] + lengths.astype(np.uint64))


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return well-mixed bits of whole numbers (the finaliser of SplitMix64)."""
    x = (x + np.uint64(0x9E3779B97F4A7C15)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
