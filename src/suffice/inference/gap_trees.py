"""Situations with too many missing states to enumerate, summed through junction trees.

Each set of variables that are missing together has a tree of its own, in which what was seen is sliced away; where
there are many such sets, one kernel goes through all their trees. Where there are too many to plan trees for, one tree
serves all, if it is not too large: what was seen enters as tables of one variable, and a table that a situation does
not touch is replaced by ones.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import ModelError
from suffice.inference.gap_forest import Forest, fits
from suffice.inference.plan import TINY, Plan
from suffice.inference.product import Factor, Product
from suffice.native.missing_trees import sum_by_tree
from suffice.settings import settings
from suffice.stats.gap_lists import taken
from suffice.stats.gaps import Gaps
from suffice.types import Floats, Ints

if TYPE_CHECKING:
    from suffice.inference.gap_sums import GapSums

OWN_TREES = 64
"""So many sets of missing variables have trees of their own that are gone through one by one."""
PLANNED = 8192
"""So many have trees of their own in one forest; more share one tree, if that is not too large."""
PIECE = 4096
"""Situations whose beginnings are laid out at a time."""


class ByTrees:
    """Situations that are summed through junction trees."""

    def __init__(self, sums: GapSums, gaps: Gaps, chosen: Ints) -> None:
        self.n = len(chosen)
        kinds = np.unique(gaps.kind[chosen])
        self.groups: Sequence[_TreeGroup | Forest]
        try:
            self.groups = _groups(sums, gaps, kinds, chosen)
        except ModelError as error:
            raise ModelError(
                error.message, " Leaving out the rows that lack many of them at once helps as well."
            ) from None

    def run(self, tables: Floats, expected: Floats) -> Floats:
        """Add what is expected, and return the logarithms of the sums."""
        log_sums = np.empty(self.n)
        for group in self.groups:
            log_sums[group.places] = group.run(tables, expected)
        return log_sums


def _groups(sums: GapSums, gaps: Gaps, kinds: Ints, chosen: Ints) -> Sequence[_TreeGroup | Forest]:
    """Return the situations in groups: a forest of all, one shared tree, or a tree for each kind."""
    if len(kinds) > OWN_TREES:
        if len(kinds) <= PLANNED:
            plans = [_planned(sums, gaps, kind) for kind in kinds.tolist()]
            if fits(plans, len(chosen)):
                return [Forest(sums, gaps, chosen, plans)]
        shared = _shared(sums, gaps, kinds, chosen)
        if shared is not None:
            return [shared]
    return [_Own(sums, gaps, kind, chosen) for kind in kinds.tolist()]


def _planned(sums: GapSums, gaps: Gaps, kind: int) -> tuple[Plan, Ints, Ints]:
    """Return the tree of a kind of situation, the tables that it touches, and their cells in the tree's layout."""
    around, one = gaps.surroundings, np.array([kind])
    members = taken(gaps.member_at, gaps.members, one)[1].tolist()
    variables = [*members, *taken(around.edge_at, around.edge, one)[1].tolist()]
    touched = taken(around.touched_at, around.touched, one)[1]
    product = _product(sums, gaps, variables, [sums.scopes[f] for f in touched.tolist()])
    plan = Plan.of(product, observed=range(len(members), len(variables)))
    plan.require_room(copies=settings().threads)
    return plan, touched, _order(sums, touched, plan)


@dataclass
class _TreeGroup(ABC):
    """Situations that share a tree.

    Attributes
    ----------
    places : array
        Which of the chosen situations they are.
    weights : array
    plan : Plan
    order : array
        The cells of the tables in the layout of the plan.
    """

    places: Ints
    weights: Floats
    plan: Plan
    order: Ints
    n_tables: int

    @abstractmethod
    def laid(self, lo: int, hi: int) -> tuple[Ints, Ints]:
        """Return where the factors of some situations begin, and where what is expected of them goes."""

    def extra(self) -> Floats:
        """Return cells beyond those of the tables."""
        return np.zeros(0)

    def run(self, tables: Floats, expected: Floats) -> Floats:
        from suffice.inference.gap_sums import each_range

        values = tables[self.order]
        bounds = self.plan.starts[: self.n_tables]
        tops = np.maximum.reduceat(values, bounds)
        tops = np.where(tops > 0, tops, 1.0)
        lengths = np.diff(np.append(bounds, len(values)))
        with np.errstate(under="ignore", divide="ignore"):
            lowest = np.minimum.reduceat(np.where(values > 0, values, np.inf), bounds) / tops
            logs = np.log(values) - np.repeat(np.log(tops), lengths)
            values = values / np.repeat(tops, lengths)
        floors = np.ones(len(self.plan.starts) - 1)
        floors[: self.n_tables] = np.where(lowest < TINY, 0.0, np.minimum(lowest, 1.0))
        beyond = self.extra()
        with np.errstate(divide="ignore"):
            values, logs = np.concatenate([values, beyond]), np.concatenate([logs, np.log(beyond)])
        n, n_own = len(self.places), len(self.order)
        log_sums = np.empty(n)

        def part(lo: int, hi: int) -> Floats:
            out = np.zeros(n_own)
            for begin in range(lo, hi, PIECE):
                end = min(hi, begin + PIECE)
                starts, into = self.laid(begin, end)
                sum_by_tree(
                    self.plan.arrays, values, logs, floors, starts, into, self.weights[begin:end], out,
                    log_sums[begin:end],
                )  # fmt: skip
                log_sums[begin:end] += (into[:, : self.n_tables] >= 0) @ np.log(tops)
            return out

        ends = [n] if n < 64 else [n * (k + 1) // 4 for k in range(4)]
        for found in each_range(part, ends, max(n * 64, n)):
            np.add.at(expected, self.order, found)
        return log_sums


class _Own(_TreeGroup):
    """Situations of one kind: what was seen is sliced away."""

    def __init__(self, sums: GapSums, gaps: Gaps, kind: int, chosen: Ints) -> None:
        plan, touched, order = _planned(sums, gaps, kind)
        places = np.flatnonzero(gaps.kind[chosen] == kind)
        super().__init__(places, gaps.weights[chosen][places], plan, order, len(touched))
        codes = taken(gaps.code_at, gaps.codes, chosen[places])[1]
        self.codes = codes.reshape(len(places), -1)
        self.first = len(plan.sizes) - self.codes.shape[1]

    def laid(self, lo: int, hi: int) -> tuple[Ints, Ints]:
        factor, variable, stride = self.plan.slices
        starts = np.repeat(self.plan.starts[None, :-1], hi - lo, axis=0)
        for f, v, step in zip(factor.tolist(), variable.tolist(), stride.tolist(), strict=True):
            starts[:, f] += step * self.codes[lo:hi, v - self.first]
        return starts, starts


class _Shared(_TreeGroup):
    """Situations of many kinds in one tree."""

    def __init__(self, sums: GapSums, gaps: Gaps, kinds: Ints, chosen: Ints, plan: Plan, variables: Ints,
                 touched: Ints) -> None:  # fmt: skip
        super().__init__(np.arange(len(chosen)), gaps.weights[chosen], plan, _order(sums, touched, plan), len(touched))
        self.gaps, self.chosen, self.variables, self.touched = gaps, chosen, variables, touched
        self.sizes = np.array([sums.sizes[v] for v in variables.tolist()], np.int64)
        self.place = np.full(len(sums.sizes), -1, np.int64)
        self.place[variables] = np.arange(len(variables))
        self.number = np.full(len(sums.scopes), -1, np.int64)
        self.number[touched] = np.arange(len(touched))
        widest = int(max(np.diff(plan.starts).max(), self.sizes.max()))
        self.ones_at = len(self.order)
        self.hot_at = self.ones_at + widest + np.concatenate([[0], np.cumsum(self.sizes**2)[:-1]]).astype(np.int64)
        self._extra = np.concatenate([np.ones(widest), *(np.eye(size).reshape(-1) for size in self.sizes.tolist())])

    def extra(self) -> Floats:
        return self._extra

    def laid(self, lo: int, hi: int) -> tuple[Ints, Ints]:
        gaps, chosen, around = self.gaps, self.chosen[lo:hi], self.gaps.surroundings
        kind, n, n_tables = self.gaps.kind[chosen], hi - lo, self.n_tables
        starts = np.full((n, n_tables + len(self.variables)), self.ones_at, np.int64)
        into = np.full(starts.shape, -1, np.int64)
        row, touched = _with_rows(*taken(around.touched_at, around.touched, kind))
        column = self.number[touched]
        starts[row, column] = into[row, column] = self.plan.starts[column]
        starts[:, n_tables:] = self.hot_at  # what plays no part stands at its first state
        row, edge = _with_rows(*taken(around.edge_at, around.edge, kind))
        at = self.place[edge]
        codes = taken(gaps.code_at, gaps.codes, chosen)[1]
        starts[row, n_tables + at] = self.hot_at[at] + codes * self.sizes[at]
        row, member = _with_rows(*taken(gaps.member_at, gaps.members, kind))
        starts[row, n_tables + self.place[member]] = self.ones_at
        return starts, into


def _shared(sums: GapSums, gaps: Gaps, kinds: Ints, chosen: Ints) -> _Shared | None:
    """Return one tree for all kinds; None where it is too large."""
    around = gaps.surroundings
    touched = np.unique(taken(around.touched_at, around.touched, kinds)[1])
    variables = np.unique([v for f in touched.tolist() for v in sums.scopes[f]]).astype(np.int64)
    scopes = [*(sums.scopes[f] for f in touched.tolist()), *((v,) for v in variables.tolist())]
    plan = Plan.of(_product(sums, gaps, variables.tolist(), scopes))
    try:
        plan.require_room(copies=settings().threads)
    except ModelError:
        return None
    return _Shared(sums, gaps, kinds, chosen, plan, variables, touched)


def _product(sums: GapSums, gaps: Gaps, variables: Sequence[int], scopes: Sequence[Sequence[int]]) -> Product:
    """Return tables that say nothing over some scopes, their variables numbered anew."""
    place = {v: position for position, v in enumerate(variables)}
    sizes = tuple(sums.sizes[v] for v in variables)
    factors = []
    for scope in scopes:
        shape = [sums.sizes[v] for v in scope]
        factors.append(Factor(tuple(place[v] for v in scope), np.broadcast_to(1.0, shape)))
    return Product(tuple(gaps.variables[v].name for v in variables), sizes, tuple(factors))


def _order(sums: GapSums, touched: Ints, plan: Plan) -> Ints:
    """Return the cells of some tables in the order of a plan."""
    parts = [np.zeros(0, np.int64)]
    for number, f in enumerate(touched.tolist()):
        scope = sums.scopes[f]
        shape = [sums.sizes[v] for v in scope]
        cells = sums.starts[f] + np.arange(math.prod(shape)).reshape(shape)
        parts.append(cells.transpose(plan._axes[number]).reshape(-1))
    return np.concatenate(parts)


def _with_rows(at: Ints, values: Ints) -> tuple[Ints, Ints]:
    return np.repeat(np.arange(len(at) - 1), np.diff(at)), values
