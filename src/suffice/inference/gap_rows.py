"""Rows of codes with gaps: their log-probability, and the gaps filled, exactly.

The gaps of a row fall into groups: two gaps are in one group when a table holds both, or others join them. Groups do
not depend on each other once the row is given, and a group depends on no more of the row than what its tables hold: its
surroundings. So rows are not solved one by one: equal groups with equal surroundings, in whatever rows, are solved
once, and all surroundings of a group at a time.

In a Bayesian network some gaps need no group. Where nothing below a variable was seen, its table sums to one; and a
variable without children can be maximised out of its own table, or drawn, by itself. Such a *loose end* is one more
state in the surroundings of others, so that the rows of a class with many inputs are solved together, whatever they
lack.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import EllipsisType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.graph.elimination import bits
from suffice.inference.log_tables import LogFactor, Summed, first_of_greatest, greatest_of, inverted, log_of, summed_out
from suffice.inference.product import Product
from suffice.types import Floats, Ints

CHUNK = 2**20
"""Cells of the tables of one batch of surroundings, about."""


class MissingGroup(NamedTuple):
    """Gaps that hang together.

    Attributes
    ----------
    members : tuple of int
        The variables that are missing.
    factors : tuple of int
        The tables that hold some of them.
    """

    members: tuple[int, ...]
    factors: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class MissingTableValues:
    """How the gaps of rows are summed out and filled, for one product of tables."""

    product: Product

    # What there is --------------------------------------------------------------------------------------------

    @cached_property
    def _tables(self) -> list[LogFactor]:
        """The logarithms of all tables; variables in none have one that says nothing."""
        loose = [] if self.product.parents is not None else [self.product.unit(v) for v in self.product.loose]
        return [LogFactor(factor.scope, log_of(factor.values)) for factor in (*self.product.factors, *loose)]

    @cached_property
    def _holding(self) -> list[int]:
        """For each variable, the tables that hold it, as bits."""
        holding = [0] * len(self.product.sizes)
        for number, table in enumerate(self._tables):
            for variable in table.scope:
                holding[variable] |= 1 << number
        return holding

    @cached_property
    def _scopes(self) -> list[int]:
        return [sum(1 << variable for variable in table.scope) for table in self._tables]

    @cached_property
    def _childless(self) -> int:
        """The variables of a Bayesian network that are in no table but their own, as bits."""
        if self.product.parents is None:
            return 0
        return sum(1 << v for v, holding in enumerate(self._holding) if holding == 1 << v)

    # Rows in groups -------------------------------------------------------------------------------------------

    def _groups(self, codes: Ints, loose: str = "") -> dict[MissingGroup, Ints]:
        """Return the groups of gaps, each with the rows that have it.

        ``loose`` says which gaps are left out as loose ends: with ``"below"`` those below which nothing was seen, with
        ``"childless"`` those without children, otherwise none.
        """
        found: dict[MissingGroup, list[Ints]] = {}
        for pattern, rows in patterns(codes < 0):
            gaps = sum(1 << int(v) for v in np.flatnonzero(pattern))
            ends = gaps & self._childless if loose == "childless" else self._below(gaps) if loose else 0
            for group in self._groups_of(gaps & ~ends, ends if loose == "below" else 0):
                found.setdefault(group, []).append(rows)
        return {group: np.concatenate(rows) for group, rows in found.items()}

    def _below(self, gaps: int) -> int:
        """Return the gaps of a Bayesian network below which nothing was seen."""
        if self.product.parents is None:
            return 0
        above = 0
        for variable in range(len(self.product.sizes)):
            if not gaps >> variable & 1:
                above |= self.product.above[variable]
        return gaps & ~above

    def _groups_of(self, gaps: int, empty: int) -> Iterator[MissingGroup]:
        """Yield the groups of some gaps; the tables in ``empty``, numbered as their nodes, join nothing."""
        left = gaps
        while left:
            group = self._group_from(left & -left, gaps, empty)
            left &= ~sum(1 << member for member in group.members)
            yield group

    def _group_from(self, start: int, gaps: int, empty: int) -> MissingGroup:
        """Return the group of a gap, which is a bit; the tables in ``empty`` join nothing."""
        members, factors, fresh = 0, 0, start
        while fresh:
            members |= fresh
            reached = 0
            for variable in bits(fresh):
                factors |= self._holding[variable]
            for factor in bits(factors & ~empty):
                reached |= self._scopes[factor]
            fresh = reached & gaps & ~members
        # Tables that join nothing stay if they are within, so that rows with and without them are in one group.
        within = [f for f in bits(factors) if not empty >> f & 1 or not self._scopes[f] & gaps & ~members]
        return MissingGroup(tuple(bits(members)), tuple(within))

    def _seen(self, codes: Ints) -> Floats:
        """Return the sum of the logarithms of all tables of which nothing is missing, of each row; shape (n_rows,)."""
        total = np.zeros(len(codes))
        for table in self._tables:
            held = codes[:, list(table.scope)]
            rows = (held >= 0).all(axis=1)
            total[rows] += table.values[tuple(held[rows].T)]
        return total

    def _batches(
        self, group: MissingGroup, rows: Ints, codes: Ints, greatest: bool = False
    ) -> Iterator[tuple[Ints, Ints, int, list[LogFactor]]]:
        """Yield rows, the number of each one's surroundings, how many these are, and the tables with a row axis."""
        sizes, tables = self.product.sizes, [self._tables[factor] for factor in group.factors]
        around = sorted({variable for table in tables for variable in table.scope} - set(group.members))
        distinct, back = _distinct(codes[rows][:, around], [sizes[variable] for variable in around])
        column = {variable: place for place, variable in enumerate(around)}
        step = max(1, CHUNK // self._widest(group))
        for start in range(0, len(distinct), step):
            held = distinct[start : start + step]
            here = slice(None) if len(held) == len(distinct) else (back >= start) & (back < start + step)
            found = [self._surrounded(factor, held, column, greatest) for factor in group.factors]
            yield rows[here], back[here] - start, len(held), found

    def _surrounded(self, factor: int, held: Ints, column: dict[int, int], greatest: bool) -> LogFactor:
        """Return a table at each of some surroundings, which are its first axis."""
        table = self._tables[factor]
        seen = [axis for axis, variable in enumerate(table.scope) if variable in column]
        free = [axis for axis, variable in enumerate(table.scope) if variable not in column]
        scope = tuple(table.scope[axis] for axis in free)
        if not seen:
            return LogFactor(scope, table.values)
        codes = [held[:, column[table.scope[axis]]] for axis in seen]
        ends = any((code < 0).any() for code in codes)
        values = (self._with_end(factor, greatest) if ends else table.values).transpose(*seen, *free)
        within: tuple[EllipsisType | slice[None, int, None], ...] = (
            ...,
            *(slice(self.product.sizes[variable]) for variable in scope),
        )
        return LogFactor((self._axis, *scope), values[within][tuple(codes)])

    def _with_end(self, factor: int, greatest: bool) -> Floats:
        """Return a node's table with one more state for each variable, at the end, where −1 finds it: a loose end.

        That of the node itself says what its table comes to without it, its maximum or its sum, which is one.
        """
        values = self._tables[factor].values
        padded = np.zeros([size + 1 for size in values.shape])
        within = tuple(slice(size) for size in values.shape)
        padded[within] = values
        if greatest:
            last: tuple[slice[None, int, None] | int, ...] = (*within[:-1], -1)
            padded[last] = values.max(axis=-1)
        return padded

    @property
    def _axis(self) -> int:
        """The position that stands for the surroundings, beside the variables'."""
        return len(self.product.sizes)

    def _widest(self, group: MissingGroup) -> int:
        """Return the number of cells of the largest table that summing a group out makes, for one surrounding."""
        cells = math.prod(self.product.sizes[variable] for variable in group.members)
        if cells <= CHUNK // 64:
            return cells
        tables = [self._tables[factor] for factor in group.factors]
        free = [[variable for variable in table.scope if variable in group.members] for table in tables]
        units = [LogFactor(tuple(scope), np.zeros([self.product.sizes[v] for v in scope])) for scope in free]
        steps = summed_out(self.product.names, self.product.sizes, units).steps
        return max(table.values.size for _, table in steps)

    def _out(self, n: int, factors: Sequence[LogFactor], greatest: bool = False) -> Summed:
        names, sizes = (*self.product.names, "surroundings"), (*self.product.sizes, n)
        return summed_out(names, sizes, factors, (self._axis,), greatest_of if greatest else None, rows=self._axis)

    # Answers --------------------------------------------------------------------------------------------------

    def log_sum(self, codes: Ints) -> Floats:
        """Return log Σ Π φ over all gaps, of each row; −inf where a row is impossible, NaN where it is not known.

        >>> from suffice.inference.product import Factor
        >>> pair = Product(("A", "B"), (2, 2), (Factor((0, 1), np.array([[1.0, 2.0], [3.0, 4.0]])),))
        >>> np.exp(MissingTableValues(pair).log_sum(np.array([[0, 1], [0, -1], [-1, 1], [-1, -1]]))).round(9).tolist()
        [2.0, 3.0, 6.0, 10.0]
        """
        total = self._seen(codes)
        for group, rows in self._groups(codes, "below").items():
            for here, at, n, factors in self._batches(group, rows, codes):
                total[here] += self._out(n, factors).rest.values[at]
        return total

    def most_likely(self, codes: Ints) -> tuple[Ints, Floats]:
        """Return the rows with their gaps filled by the codes that are jointly most likely.

        And a logarithm, −inf where a row is impossible and NaN where it is not known.
        """
        filled, total = codes.copy(), self._seen(codes)
        for group, rows in self._groups(codes, "childless").items():
            for here, at, n, factors in self._batches(group, rows, codes, greatest=True):
                found = self._out(n, factors, greatest=True)
                total[here] += found.rest.values[at]
                for variable, chosen in found.greatest_given({self._axis: np.arange(n)}).items():
                    filled[here, variable] = np.broadcast_to(chosen, n)[at]
        for variable, rows, log_p in self._ends(filled):
            filled[rows, variable] = first_of_greatest(log_p)
            total[rows] += log_p.max(axis=1)
        return filled, total

    def each_alone(self, codes: Ints) -> tuple[Ints, Floats]:
        """Return the rows with each gap filled by its own most likely code, and log Σ Π φ."""
        filled, total = codes.copy(), self._seen(codes)
        for group, rows in self._groups(codes).items():
            for here, at, n, factors in self._batches(group, rows, codes):
                found = self._out(n, factors)
                total[here] += found.rest.values[at]
                singles = found.marginals([(variable,) for variable in group.members])
                for variable, p in zip(group.members, singles, strict=True):
                    filled[here, variable] = np.broadcast_to(first_of_greatest(p), n)[at]
        return filled, total

    def marginal(self, variable: int, codes: Ints, members: NDArray[np.bool_]) -> Floats:
        """Return p(variable | row) of each row, none of which has it; shape (n_rows, n_states).

        Only what hangs together with the variable is looked at: ``members`` says which gaps of each row do, itself
        among them, shape (n_rows, n_variables). In a Bayesian network all others that its tables hold are loose ends.
        NaN where what is looked at is impossible, or not known.

        >>> from suffice.inference.product import Factor
        >>> pair = Product(("A", "B"), (2, 2), (Factor((0, 1), np.array([[1.0, 2.0], [3.0, 4.0]])),))
        >>> codes = np.array([[-1, 0], [-1, -1]])
        >>> MissingTableValues(pair).marginal(0, codes, codes < 0).round(4).tolist()
        [[0.25, 0.75], [0.3, 0.7]]
        """
        found = np.empty((len(codes), self.product.sizes[variable]))
        for pattern, rows in patterns(members):
            missing = tuple(np.flatnonzero(pattern).tolist())
            touched = 0
            for member in missing:
                touched |= self._holding[member]
            group = MissingGroup(missing, tuple(bits(touched)))
            for here, at, n, factors in self._batches(group, rows, codes):
                names, sizes = (*self.product.names, "surroundings"), (*self.product.sizes, n)
                joint = summed_out(names, sizes, factors, (self._axis, variable), rows=self._axis).rest.values
                top = joint.max(axis=1, keepdims=True)
                with np.errstate(invalid="ignore", under="ignore"):  # −inf − −inf is NaN, as it should be
                    p = np.exp(joint - top)
                    found[here] = (p / p.sum(axis=1, keepdims=True))[at]
        return found

    def draw(self, codes: Ints, uniform: Floats) -> tuple[Ints, Floats]:
        """Return the rows with their gaps drawn from p(gaps | row), and log Σ Π φ.

        ``uniform`` has a number for every value of every row, shape (n_rows, n_variables), of which those of gaps are
        used: what is drawn in a row does not depend on other rows.
        """
        filled, total = codes.copy(), self._seen(codes)
        for group, rows in self._groups(codes, "below").items():
            for here, at, n, factors in self._batches(group, rows, codes):
                found = self._out(n, factors)
                total[here] += found.rest.values[at]
                supply = (uniform[here, variable] for variable, _ in reversed(found.steps))
                drawn = found.draw((*self.product.sizes, n), supply.__next__, {self._axis: at})
                for variable, chosen in drawn.items():
                    filled[here, variable] = chosen
        for variable, rows, log_p in self._ends(filled):
            filled[rows, variable] = inverted(np.exp(log_p), np.arange(len(rows)), uniform[rows, variable])
            total[rows] += np.where(np.isnan(log_p).any(axis=1), np.nan, 0.0)
        return filled, total

    def _ends(self, codes: Ints) -> Iterator[tuple[int, Ints, Floats]]:
        """Yield the variables that are left, parents first, their rows, and log p(variable | parents) there.

        Each must be filled in ``codes`` before the next is asked for.
        """
        if self.product.parents is None:
            return
        for variable in sorted(range(len(self.product.sizes)), key=lambda v: self.product.above[v].bit_count()):
            rows = np.flatnonzero(codes[:, variable] < 0)
            if len(rows):
                table = self._tables[variable]
                log_p = table.values[tuple(codes[rows, parent] for parent in table.scope[:-1])]
                yield variable, rows, np.broadcast_to(log_p, (len(rows), self.product.sizes[variable]))


def patterns(gaps: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.bool_], Ints]]:
    """Yield each pattern of gaps that occurs, with its rows."""
    if not len(gaps):
        return
    packed = np.ascontiguousarray(np.packbits(gaps, axis=1))
    _, first, back = np.unique(packed.view(f"V{packed.shape[1]}").reshape(-1), return_index=True, return_inverse=True)
    order = np.argsort(back.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(back.reshape(-1)))
    for place, rows in zip(first, np.split(order, ends[:-1]), strict=True):
        yield gaps[place], rows


def _distinct(codes: Ints, sizes: Sequence[int]) -> tuple[Ints, Ints]:
    """Return the distinct rows, and which of them each row is."""
    if math.prod(size + 1 for size in sizes) >= 2**62:
        distinct, back = np.unique(codes, axis=0, return_inverse=True)
        return distinct, back.reshape(-1)
    number = np.zeros(len(codes), np.int64)
    for column, size in enumerate(sizes):
        number = number * (size + 1) + codes[:, column] + 1  # a loose end is −1
    _, first, back = np.unique(number, return_index=True, return_inverse=True)
    return codes[first], back.reshape(-1)
