"""From names of attributes to codes of a vocabulary, each distinct name looked at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.attributes import Attributes, Vocabulary, bucket
from suffice.types import Array

BLOCK = 1 << 18
"""Arrays of codes are worked on in blocks of so many, since NumPy turns indices into 8 bytes each."""
DENSE = 4
"""Keys are told apart by a table where it has at most so many cells a key; by sorting otherwise."""


def first_seen(items: Iterable[Any], n: int = -1) -> tuple[list[Any], NDArray[np.int32]]:
    """Return the distinct items in the order in which they come, and the place of each item among them.

    Parameters
    ----------
    items : iterable of hashable items
    n : int
        How many there are, if that is known: the array is then made at once.

    Examples
    --------
    >>> distinct, codes = first_seen("banana")
    >>> distinct, codes.tolist()
    (['b', 'a', 'n'], [0, 1, 2, 1, 2, 1])
    """
    places: defaultdict[Any, int] = defaultdict()
    places.default_factory = places.__len__
    codes = np.fromiter(map(places.__getitem__, items), np.int32, n)
    return list(places), codes


def distinct_keys(keys: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the distinct keys in order, and the place of each key among them.

    Parameters
    ----------
    keys : array of int64, shape (n,)
        At least 0 and below ``size``.
    size : int

    Examples
    --------
    >>> distinct, places = distinct_keys(np.array([7, 3, 7]), 10)
    >>> distinct.tolist(), places.tolist()
    ([3, 7], [1, 0, 1])
    """
    if size > DENSE * len(keys):
        distinct, places = np.unique(keys, return_inverse=True)
        return distinct, places.reshape(-1).astype(np.int32)
    present = np.zeros(size, bool)
    present[keys] = True
    return np.flatnonzero(present), (np.cumsum(present, dtype=np.int32) - np.int32(1))[keys]


def numbered(
    names: Sequence[str], places: NDArray[np.int32], vocabulary: Vocabulary | None, n_buckets: int
) -> tuple[NDArray[np.int32], Vocabulary]:
    """Return codes of a vocabulary for places in a list of names, and the vocabulary.

    Parameters
    ----------
    names : sequence of str
        May hold a name twice, and names that no place points at.
    places : array of int32, shape (n,)
        -1 where there is no attribute. The codes are written over it, since it may be large.
    vocabulary : Vocabulary or None
        Names that are not in it get the code -1. Where it is None, one is made of the names that places point at, in
        the order of the places: what one sequence uses then lies together.
    n_buckets : int
        Where it is not zero, the vocabulary that is made hashes names into so many buckets.

    Examples
    --------
    >>> codes, vocabulary = numbered(["cat", "the"], np.array([1, 0, -1, 1], np.int32), None, 0)
    >>> codes.tolist(), vocabulary.names
    ([0, 1, -1, 0], ('the', 'cat'))
    """
    if vocabulary is None and n_buckets:
        vocabulary = Vocabulary(n_buckets=n_buckets)
    if vocabulary is None:
        return _made(names, places)
    if vocabulary.is_hashed:
        found: Iterable[int] = map(bucket, names, repeat(vocabulary.n_buckets))
    else:
        found = map(vocabulary.index.get, names, repeat(-1))
    return _looked_up(np.fromiter(found, np.int32, len(names)), places), vocabulary


def first_unknown(names: Sequence[str], places: NDArray[np.int32], vocabulary: Vocabulary | None) -> str:
    """Return a name that places point at and that is not in the vocabulary; an empty text if there is none.

    Parameters
    ----------
    names, places, vocabulary
        As `numbered` takes them, and before it has written over the places.

    Examples
    --------
    >>> first_unknown(["cat", "the"], np.array([1, 0, -1], np.int32), Vocabulary(("the",)))
    'cat'
    """
    if vocabulary is None or vocabulary.is_hashed:
        return ""
    used = np.zeros(len(names) + 1, bool)
    used[places] = True  # the last one is that of -1
    return next((str(names[at]) for at in np.flatnonzero(used[:-1]).tolist() if names[at] not in vocabulary.index), "")


def _made(names: Sequence[str], codes: NDArray[np.int32]) -> tuple[NDArray[np.int32], Vocabulary]:
    """Return codes, and the vocabulary of the names that are used, in the order of their first use."""
    if len(set(names)) < len(names):
        names, table = first_seen(names, len(names))
        codes = _looked_up(table, codes)
    order = _by_first_use(codes, len(names))
    if len(order) < len(names) or (order[1:] < order[:-1]).any():
        table = np.full(len(names), -1, np.int32)
        table[order] = np.arange(len(order))
        codes = _looked_up(table, codes)
        names = [names[place] for place in order.tolist()]
    return codes, Vocabulary(tuple(map(str, names)))


def _looked_up(table: NDArray[np.int32], places: NDArray[np.int32]) -> NDArray[np.int32]:
    """Write what places find in a table over them; -1 finds -1, which stands at the table's end."""
    table = np.append(table, np.int32(-1))
    for low in range(0, len(places), BLOCK):
        block = slice(low, low + BLOCK)
        places[block] = table[places[block]]
    return places


def _by_first_use(codes: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    """Return the codes that occur, -1 aside, in the order of their first occurrence.

    >>> _by_first_use(np.array([3, -1, 0, 3], np.int32), 4).tolist()
    [3, 0]
    """
    first = np.full(n + 1, len(codes))
    # Of several values that assignments give to one place, the last one stays: hence backwards.
    for high in range(len(codes), 0, -BLOCK):
        low = max(high - BLOCK, 0)
        first[codes[low:high][::-1]] = np.arange(high - 1, low - 1, -1)
    order = np.argsort(first[:n], kind="stable")
    return order[: np.count_nonzero(first[:n] < len(codes))]


def in_rows(
    codes: NDArray[np.int32], values: NDArray[np.float64] | None, sizes: Array, n_attributes: int
) -> Attributes:
    """Return attributes by rows, without those of the code -1.

    Parameters
    ----------
    codes : array of int32, shape (n,)
        Row after row.
    values : array of float64, shape (n,), or None
    sizes : array of int, shape (n_rows,)
        How many of the codes belong to each row.
    n_attributes : int

    Examples
    --------
    >>> in_rows(np.array([4, -1, 2], np.int32), None, np.array([1, 2]), 5).codes.tolist()
    [4, 2]
    """
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    kept = codes >= 0
    if not kept.all():
        starts -= np.searchsorted(np.flatnonzero(~kept), starts)
        codes = codes[kept]
        values = None if values is None else values[kept]
    if values is not None and (values == 1).all():
        values = None
    return Attributes(starts, codes, values, n_attributes)
