"""What of a row matters to one variable: its Markov blanket, which grows where members of it are missing.

A variable depends on what its tables hold. Where one of these others is missing too, it depends on what that one's
tables hold as well, and so on; whatever was seen ends the search. In a Bayesian network the tables of nodes that were
not seen, and below which nothing was, say nothing and are left out. The search goes on for all rows at once.

With the rest of a row left out, few different rows remain, however many there were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.inference.product import Product
from suffice.types import Array, Bools, Ints


@dataclass(frozen=True, eq=False)
class Blanket:
    """Which variables meet in which tables.

    Attributes
    ----------
    n : int
        The number of variables, which are positions.
    scopes : sequence of tuple of int
        The variables of each table.
    parents : sequence of tuple of int, or None
        For a Bayesian network, the parents of every variable, whose own table is that of the same number.
    zeros : mapping from int to array
        The tables that have zeros, by number.
    """

    n: int
    scopes: Sequence[tuple[int, ...]]
    parents: Sequence[tuple[int, ...]] | None = None
    zeros: Mapping[int, NDArray[np.float64]] = field(default_factory=dict)

    @classmethod
    def of(cls, product: Product) -> Blanket:
        """Return that of a product of tables."""
        zeros = {number: factor.values for number, factor in enumerate(product.factors) if (factor.values == 0).any()}
        return cls(len(product.sizes), product.scopes, product.parents, zeros)

    @cached_property
    def _holding(self) -> list[list[int]]:
        """For each variable, the tables that hold it."""
        holding: list[list[int]] = [[] for _ in range(self.n)]
        for number, scope in enumerate(self.scopes):
            for variable in scope:
                holding[variable].append(number)
        return holding

    @cached_property
    def _children_first(self) -> list[int]:
        """The variables of a Bayesian network, children before their parents."""
        assert self.parents is not None
        waiting = [len(held) - 1 for held in self._holding]  # children that have not come yet
        ready, order = [v for v in range(self.n) if not waiting[v]], []
        while ready:
            node = ready.pop()
            order.append(node)
            for parent in self.parents[node]:
                waiting[parent] -= 1
                if not waiting[parent]:
                    ready.append(parent)
        return order

    def _speaking(self, known: Bools, target: int | None = None) -> Bools | None:
        """Return which tables say something in each row; shape (n, n_rows). None where all do in all rows."""
        if self.parents is None:
            return None
        speaking = known.copy()
        if target is not None:
            speaking[target] = True
        for node in self._children_first:
            for parent in self.parents[node]:
                speaking[parent] |= speaking[node]
        return speaking

    def reached(self, target: int, known: Bools) -> Bools:
        """Return which variables matter to a target, known or not, itself among them; shape (n_rows, n).

        ``known`` says which variables each row has, shape (n_rows, n); whether it has the target plays no part.

        >>> chain = Blanket(4, [(0, 1), (1, 2), (2, 3)])
        >>> chain.reached(0, np.array([[False, True, True, True], [True, False, False, True]])).astype(int).tolist()
        [[1, 1, 0, 0], [1, 1, 1, 1]]
        """
        first, back = distinct(np.packbits(known, axis=1))
        held = np.ascontiguousarray(known[first].T)
        held[target] = False
        return np.asarray(self._search(target, held).T[back])

    def _search(self, target: int, known: Bools) -> Bools:
        """Return what the search from a target comes to, through whatever is not known; shape (n, n_rows)."""
        speaking = self._speaking(known, target)
        reached = np.zeros_like(known)
        reached[target] = True
        fresh, waiting = {target: reached[target].copy()}, [target]
        while waiting:
            variable = waiting.pop()
            rows = fresh.pop(variable)
            for number in self._holding[variable]:
                here = rows if speaking is None else rows & speaking[number]
                if not here.any():
                    continue
                for other in self.scopes[number]:
                    new = here & ~reached[other]
                    if not new.any():
                        continue
                    reached[other] |= new
                    new &= ~known[other]
                    if not new.any():
                        continue
                    if other in fresh:
                        fresh[other] |= new
                    else:
                        fresh[other] = new
                        waiting.append(other)
        return reached

    def surely_possible(self, codes: Ints) -> Bools:
        """Return which rows of codes, −1 where nothing was seen, meet no zero at all; shape (n_rows,).

        What is left may be possible or not.
        """
        sure = np.ones(len(codes), bool)
        speaking = self._speaking(np.ascontiguousarray((codes >= 0).T)) if self.zeros else None
        for number in self.zeros:
            met = ~self._positive[number][tuple(codes[:, variable] for variable in self.scopes[number])]
            sure &= ~met if speaking is None else ~(met & speaking[number])
        return sure

    @cached_property
    def _positive(self) -> dict[int, Bools]:
        """Where the tables with zeros are positive, with one more place an axis: for all of its states at once."""
        found = {}
        for number, values in self.zeros.items():
            positive = values != 0
            for axis in range(positive.ndim):
                positive = np.concatenate([positive, positive.all(axis=axis, keepdims=True)], axis=axis)
            found[number] = positive
        return found


def distinct(rows: Array) -> tuple[Ints, Ints]:
    """Return where each distinct row of an array comes first, and which of these each row is.

    >>> rows = np.array([[3, 1], [0, 0], [3, 1]])
    >>> first, back = distinct(rows)
    >>> sorted(first.tolist()), rows[first][back].tolist()
    ([0, 1], [[3, 1], [0, 0], [3, 1]])
    """
    whole = np.ascontiguousarray(rows)
    if not whole.size:
        return np.arange(min(1, len(whole))), np.zeros(len(whole), np.int64)
    keys = whole.view(f"V{whole.shape[1] * whole.itemsize}").reshape(-1)
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    return first, back.reshape(-1)


def distinct_codes(codes: Ints) -> tuple[Ints, Ints]:
    """Return the same for rows of codes, −1 where nothing was seen."""
    held = codes[:, (codes >= 0).any(axis=0)]
    narrow = np.int16 if held.size and held.max() < 2**15 else np.int64
    return distinct(held.astype(narrow))
