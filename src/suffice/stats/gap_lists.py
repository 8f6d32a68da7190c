"""Components of missing variables and equal lists, for small jobs without compiled kernels, for large ones with them.

Lists of whole numbers stand one after another in one array; ``at`` tells where each begins, and where the last ends.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
SMALL_JOB = 20_000
"""Fewer numbers than this are gone through without kernels, unless these are loaded: loading them takes longer."""


def is_small(size: int) -> bool:
    """Whether a job is done without kernels."""
    return size < SMALL_JOB and "suffice.kernels.gaps" not in sys.modules


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


def distinct(tag: Ints, at: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Return the number of each list among those that differ, and the first list of each number.

    Lists are equal if their tags are equal, too; numbers are given in the order in which lists are first met.
    """
    n = len(tag)
    group, first = np.empty(n, np.int64), np.empty(n, np.int64)
    if is_small(len(values) + n):
        known: dict[tuple[int, bytes], int] = {}
        met: list[int] = []
        for i, (mine, lo, hi) in enumerate(zip(tag.tolist(), at[:-1].tolist(), at[1:].tolist(), strict=True)):
            number = known.setdefault((mine, values[lo:hi].tobytes()), len(known))
            group[i] = number
            if number == len(met):
                met.append(i)
        return group, np.array(met, np.int64)
    from suffice.kernels.gaps import distinct_lists

    slot = np.full(1 << max(2 * n, 2).bit_length(), -1, np.int64)
    found = distinct_lists(np.ascontiguousarray(tag), at, values, slot, group, first)
    return group, first[:found]


def components(codes: NDArray[np.int32], near_at: Ints, near: Ints) -> tuple[Ints, Ints, Ints]:
    """Cut the missing variables of every row into components that are connected.

    Parameters
    ----------
    codes : array, shape (n_rows, n_variables)
        Negative where a value is missing.
    near_at, near : arrays
        The variables that each is connected with.

    Returns
    -------
    row_of : array
        The row of every component.
    at, members : arrays
        Its variables, in ascending order.
    """
    n = int((codes < 0).sum())
    if is_small(n):
        return _components(codes, near_at, near)
    from suffice.kernels import gaps

    row_of, at, members = np.empty(n, np.int64), np.empty(n + 1, np.int64), np.empty(n, np.int64)
    found = gaps.components(codes, near_at, near, row_of, at, members)
    return row_of[:found], at[: found + 1], members


def _components(codes: NDArray[np.int32], near_at: Ints, near: Ints) -> tuple[Ints, Ints, Ints]:
    rows: list[int] = []
    lists: list[list[int]] = []
    for row, missing in enumerate(codes < 0):
        left = set(np.flatnonzero(missing).tolist())
        while left:
            first = min(left)
            left.remove(first)
            part = [first]
            for v in part:
                others = left.intersection(near[near_at[v] : near_at[v + 1]].tolist())
                left -= others
                part += others
            rows.append(row)
            lists.append(sorted(part))
    return np.array(rows, np.int64), *ragged(lists)


def around(
    at: Ints, members: Ints, holding: tuple[Ints, Ints], scopes: tuple[Ints, Ints]
) -> tuple[Ints, Ints, Ints, Ints]:
    """Return which scopes some sets of variables touch, and which other variables these scopes hold.

    Parameters
    ----------
    at, members : arrays
        The sets.
    holding : arrays
        The scopes of every variable.
    scopes : arrays
        The variables of every scope.

    Returns
    -------
    touched_at, touched, edge_at, edge : arrays
        In ascending order for each set.
    """
    if is_small(len(members)):
        touched, edge = [], []
        for lo, hi in zip(at[:-1].tolist(), at[1:].tolist(), strict=True):
            mine = members[lo:hi].tolist()
            met = {f for v in mine for f in holding[1][holding[0][v] : holding[0][v + 1]].tolist()}
            held = {v for f in met for v in scopes[1][scopes[0][f] : scopes[0][f + 1]].tolist()}
            touched.append(sorted(met))
            edge.append(sorted(held.difference(mine)))
        return *ragged(touched), *ragged(edge)
    from suffice.kernels.gaps import around as find

    touched_at, edge_at, none = np.empty(len(at), np.int64), np.empty(len(at), np.int64), np.empty(0, np.int64)
    find(at, members, *holding, *scopes, touched_at, none, edge_at, none)
    found = np.empty(touched_at[-1], np.int64), np.empty(edge_at[-1], np.int64)
    find(at, members, *holding, *scopes, touched_at, found[0], edge_at, found[1])
    return touched_at, found[0], edge_at, found[1]
