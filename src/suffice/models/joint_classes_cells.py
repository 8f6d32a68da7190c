"""Cells: numbers of the joint configurations of some discrete variables, of which perhaps only some are stored.

A configuration x is known by its key Σ x_a · stride_a, so that a row of a table is found by one search among sorted
whole numbers. Configurations that are not stored share one row of numbers, and their mass is counted, not enumerated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.types import Array, Floats, Ints

Codes = Sequence[Array]
"""A column of codes a variable; −1 is missing."""

MOST_CELLS = 2**62
"""Joint configurations that one whole number can tell apart."""
DIRECT_CELLS, CELLS_A_ROW = 1 << 24, 8
"""A table is looked up by a list of all configurations when they are at most so many, in all and for each row."""


def strides(sizes: Sequence[int]) -> list[int]:
    """Return the stride of each axis, the last one's being 1.

    >>> strides([2, 3, 4])
    [12, 4, 1]
    """
    return [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]


def keys_of(codes: Codes, sizes: Sequence[int], n_rows: int) -> Ints:
    """Return the key of every row; shape (n_rows,)."""
    keys = np.zeros(n_rows, np.int64)
    for size, column in zip(sizes, codes, strict=True):
        keys *= size
        np.add(keys, column, out=keys, casting="unsafe")
    return keys


@dataclass(frozen=True, eq=False)
class Cells:
    """A table of K numbers a configuration.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of states of the variables.
    keys : array, shape (n_stored,), or None
        The stored configurations, in order; None when all of them are.
    values : array, shape (n_stored, K)
    default_row : array, shape (K,)
        The numbers of every other configuration.
    """

    sizes: tuple[int, ...]
    keys: Ints | None
    values: Floats
    default_row: Floats

    @property
    def n_cells(self) -> int:
        """How many configurations there are."""
        return math.prod(self.sizes)

    @property
    def n_unstored(self) -> int:
        """How many of them have no row of their own."""
        return self.n_cells - len(self.values)

    def find(self, keys: Ints) -> Ints:
        """Return the row of each key, −1 where it has none of its own."""
        if self.keys is None:
            return keys
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        if self.n_cells <= min(DIRECT_CELLS, CELLS_A_ROW * len(keys)):
            return np.asarray(self._places[keys], np.int64)
        position = np.searchsorted(self.keys, keys)
        position[position == len(self.keys)] = 0
        return np.where(self.keys[position] == keys, position, -1)

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        """The row of every configuration, −1 where it has none of its own; to look many of them up."""
        places = np.full(self.n_cells, -1, np.int32)
        places[self.keys] = np.arange(len(self.values))
        return places

    @cached_property
    def _log_rows(self) -> Floats:
        """Logarithms of the rows, the default last, where position −1 finds it."""
        with np.errstate(divide="ignore"):
            return np.log(np.vstack([self.values, self.default_row]))

    def log_rows(self, codes: Codes, n_rows: int) -> Floats:
        """Return the logarithms of the numbers of every row; those of missing codes summed out first.

        Returns
        -------
        array, shape (n_rows, K)
            The caller's own.
        """
        gaps = [axis for axis, column in enumerate(codes) if n_rows and int(column.min()) < 0]
        if not gaps:
            return np.asarray(self._log_rows[self.find(keys_of(codes, self.sizes, n_rows))], np.float64)
        found = np.empty((n_rows, self.values.shape[1]))
        for missing, rows in _patterns(codes, gaps):
            known = [np.where(axis in missing, 0, column[rows]) for axis, column in enumerate(codes)]
            keys = keys_of(known, self.sizes, len(rows))
            with np.errstate(divide="ignore"):
                found[rows] = np.log(self.sums(keys, missing)) if missing else self._log_rows[self.find(keys)]
        return found

    def sums(self, keys: Ints, missing: Sequence[int]) -> Floats:
        """Return sums over all states of the missing axes, whose codes are zero in the keys; shape (n_keys, K)."""
        if self.keys is None:
            return self._whole_sums(keys, missing)
        wanted, position = np.unique(keys, return_inverse=True)
        among = self._zeroed(missing)
        place = np.searchsorted(wanted, among)
        place[place == len(wanted)] = 0
        match = np.flatnonzero(wanted[place] == among)
        place, n_stored = place[match], np.bincount(place[match], minlength=len(wanted))
        n_cells = math.prod(self.sizes[axis] for axis in missing)
        found = (n_cells - n_stored)[:, None] * self.default_row
        for column in range(found.shape[1]):
            found[:, column] += np.bincount(place, self.values[match, column], minlength=len(wanted))
        return np.asarray(found[position.reshape(-1)], np.float64)

    def _whole_sums(self, keys: Ints, missing: Sequence[int]) -> Floats:
        """Return the same where all configurations are stored."""
        table, left, codes, each = self.values, list(self.sizes), [], strides(self.sizes)
        for axis in reversed(range(len(left))):
            if axis in missing:
                parts = table.reshape(math.prod(left[:axis]), left[axis], math.prod(left[axis + 1 :]), -1)
                table = parts.sum(axis=1)
                del left[axis]
            else:
                codes.append(keys // each[axis] % self.sizes[axis])
        flat = table.reshape(math.prod(left), -1)
        return np.asarray(flat[keys_of(codes[::-1], left, len(keys))], np.float64)

    def _zeroed(self, missing: Sequence[int]) -> Ints:
        """Return the stored keys with the codes of some axes set to zero."""
        assert self.keys is not None
        each, keys = strides(self.sizes), self.keys.copy()
        for axis in missing:
            keys -= self.keys // each[axis] % self.sizes[axis] * each[axis]
        return keys

    def draw(self, column: int, n: int, stream: np.random.Generator) -> Ints:
        """Draw keys in proportion to one column of numbers; shape (n,)."""
        reached = np.cumsum(self.values[:, column])
        stored = float(reached[-1]) if len(reached) else 0.0
        others = self.n_unstored * float(self.default_row[column]) if self.n_unstored else 0.0
        level = stream.random(n) * (stored + others)
        if len(reached) and not others:
            # From the last configuration that has any, rounding carries no draw past it.
            reached[np.flatnonzero(self.values[:, column])[-1] :] = np.inf
        at = np.searchsorted(reached, level, side="right")
        beyond = at == len(reached)
        keys = np.zeros(n, np.int64)
        keys[~beyond] = at[~beyond] if self.keys is None else self.keys[at[~beyond]]
        if beyond.any():
            keys[beyond] = self._unstored(stream.integers(0, self.n_unstored, int(beyond.sum())))
        return keys

    def _unstored(self, rank: Ints) -> Ints:
        """Return the keys that come at some ranks, from 0, among those that are not stored."""
        assert self.keys is not None
        below = self.keys - np.arange(len(self.keys))  # how many that are not stored come before each stored one
        return np.asarray(rank + np.searchsorted(below, rank, side="right"), np.int64)


def _patterns(codes: Codes, gaps: list[int]) -> Iterator[tuple[tuple[int, ...], Ints]]:
    """Yield every set of axes that are missing together, with the rows that lack just these."""
    signature = np.zeros(len(codes[0]), np.int64)
    for bit, axis in enumerate(gaps):
        signature |= (codes[axis] < 0).astype(np.int64) << bit
    order = np.argsort(signature, kind="stable")
    distinct, starts = np.unique(signature[order], return_index=True)
    for pattern, rows in zip(distinct.tolist(), np.split(order, starts[1:]), strict=True):
        yield tuple(axis for bit, axis in enumerate(gaps) if pattern >> bit & 1), rows
