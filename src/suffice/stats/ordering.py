"""Rows in lexicographic order: columns of codes are packed into few whole numbers, which are sorted instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.types import Array

Code = TypeVar("Code", bound=np.integer)

WORD = 2**63
"""Codes are packed into words below this, which 64 signed bits hold."""
CHUNK_ROWS = 1 << 14
"""Rows whose codes stay in a processor's cache while they are packed."""
FEW_RUNS = 8
"""So many sorted parts, one after the other, are merged."""


def words_of(columns: Sequence[Array], sizes: Sequence[int | None], n_rows: int) -> tuple[list[Array], int | None]:
    """Return a few arrays, shape (n_rows,), that order rows as their columns do.

    Neighbouring columns of codes make one word, their codes the digits of a mixed-radix number. A column whose size is
    None holds real numbers, and is a word by itself. A single word of codes comes with the number that it stays below.

    >>> words_of([np.array([0, 1]), np.array([2, 0])], [2, 3], 2)
    ([array([2, 3])], 6)
    """
    words: list[Array] = []
    packed: list[tuple[Array, int]] = []
    span = 1
    for place, size in enumerate(sizes):
        if packed and (size is None or span * size >= WORD):
            words.append(_word(packed, n_rows))
            packed, span = [], 1
        if size is None:
            words.append(columns[place])
        elif size > 1:
            packed.append((columns[place], size))
            span *= size
    if packed or not words:
        words.append(_word(packed, n_rows))
        return words, span if len(words) == 1 else None
    return words, None


def _word(packed: Sequence[tuple[Array, int]], n_rows: int) -> NDArray[np.int64]:
    """Return the number that some columns of codes are the digits of."""
    word = np.zeros(n_rows, np.int64)
    for start in range(0, n_rows, CHUNK_ROWS):
        digits = word[start : start + CHUNK_ROWS]
        for nth, (column, size) in enumerate(packed):
            if nth:
                digits *= size
            digits += column[start : start + CHUNK_ROWS]
    return word


def grouped(words: Sequence[Array], stable: bool = True) -> tuple[NDArray[np.intp] | None, NDArray[np.intp]]:
    """Return the order that sorts rows, and where in it each distinct row begins.

    Parameters
    ----------
    words : sequence of arrays, shape (n,) each, at least one
    stable : bool
        Keep equal rows in the order in which they stood. Whole weights do not need it, and some sorts are quicker
        without.

    Returns
    -------
    order : array, shape (n,), or None
        None for rows that are in order already.
    starts : array, shape (k,)

    Examples
    --------
    >>> grouped([np.array([5, 3, 5])])
    (array([1, 0, 2]), array([0, 1]))
    >>> grouped([np.array([3, 5, 5])])
    (None, array([0, 1]))
    """
    new, n_descents = _steps(words)
    order = None
    if n_descents:
        if len(words) == 1:
            merged = n_descents < FEW_RUNS  # which a stable sort does
            order = np.argsort(words[0], kind="stable" if stable or merged else "quicksort")
        else:
            order = np.lexsort(words[::-1])
        new = np.zeros(len(order), np.bool_)
        for word in words:
            ordered = word[order]
            new[1:] |= ordered[1:] != ordered[:-1]
    new[:1] = True
    return order, np.flatnonzero(new)


def _steps(words: Sequence[Array]) -> tuple[NDArray[np.bool_], int]:
    """Return which rows come after the one before, and how many come before it."""
    new = np.zeros(len(words[0]), np.bool_)
    for word in words:
        before, after = word[:-1], word[1:]
        n_descents = int(np.count_nonzero(~new[1:] & (before > after)))
        if n_descents:
            return new, n_descents
        new[1:] |= before < after
    return new, 0


def unique_rows(rows: NDArray[Code], sizes: Sequence[int] | None = None) -> tuple[NDArray[Code], NDArray[np.int64]]:
    """Return the distinct rows of codes in lexicographic order, and the position of each row among them.

    Parameters
    ----------
    rows : array, shape (n, d)
        Whole numbers, none of them below zero.
    sizes : sequence of int, optional
        What the numbers of each column stay below; found out unless given.

    Returns
    -------
    distinct : array, shape (k, d), of the same type
    position : array, shape (n,)

    Examples
    --------
    >>> distinct, position = unique_rows(np.array([[1, 0], [0, 2], [1, 0]]))
    >>> distinct.tolist(), position.tolist()
    ([[0, 2], [1, 0]], [1, 0, 1])
    """
    if rows.shape[0] == 0:
        return rows, np.zeros(0, np.int64)
    if sizes is None:
        sizes = [int(most) + 1 for most in rows.max(axis=0)]
    words, _ = words_of(list(rows.T), sizes, len(rows))
    order, starts = grouped(words)
    number = np.zeros(len(rows), np.int64)
    number[starts[1:]] = 1
    number = number.cumsum()
    if order is None:
        return rows[starts], number
    position = np.empty_like(number)
    position[order] = number
    return rows[order[starts]], position
