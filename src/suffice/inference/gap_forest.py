"""Situations of many kinds, each kind with a junction tree of its own, all of them summed by one call of a kernel.

What a situation has observed is sliced away from its tables, so that its tree is over what is missing alone. Trees are
planned once, and one after another in the same arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.inference.plan import TINY, Plan
from suffice.settings import settings
from suffice.stats.gap_lists import starts, taken
from suffice.stats.gaps import Gaps

if TYPE_CHECKING:
    from suffice.inference.gap_sums import GapSums

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Forest:
    """Situations whose kinds have trees of their own.

    Parameters
    ----------
    plans : sequence
        Of every kind: its tree, the tables that it touches, and their cells in the layout of the tree.

    Attributes
    ----------
    places : array
        Which of the chosen situations they are.
    """

    def __init__(self, sums: GapSums, gaps: Gaps, chosen: Ints, plans: Sequence[tuple[Plan, Ints, Ints]]) -> None:
        from suffice.inference.gap_sums import even_ends
        from suffice.kernels.loops import Tree

        self.places, self.weights = np.arange(len(chosen)), np.ascontiguousarray(gaps.weights[chosen])
        self.table_starts = sums.starts
        self.kind = np.unique(gaps.kind[chosen], return_inverse=True)[1].astype(np.int64)
        trees = [plan.arrays for plan, _, _ in plans]
        self.tree = Tree(*(np.concatenate(field) for field in zip(*trees, strict=True)))
        sizes = np.array([[len(field) for field in tree] for tree in trees], np.int64)
        self.bounds = np.concatenate([np.zeros((1, sizes.shape[1]), np.int64), np.cumsum(sizes, axis=0)])
        free = [_free_cells(plan) for plan, _, _ in plans]
        self.start_at = starts(np.array([len(touched) for _, touched, _ in plans], np.int64))
        self.start = np.concatenate([starts(cells)[:-1] for cells in free])
        self.table_of = np.concatenate([touched for _, touched, _ in plans])
        self.cell_at, self.cells = self._laid(gaps, chosen, plans, free)
        self.room = np.array([
            max(int(tree.table_at[-1]) for tree in trees),
            max(int(tree.message_at[-1]) for tree in trees),
            max(1, *(int(np.diff(tree.message_at).max(initial=1)) for tree in trees)),
            max(int(cells.sum()) for cells in free),
            max(len(tree.parent) for tree in trees),
            max(len(cells) for cells in free),
        ])  # fmt: skip
        self.ends = even_ends(np.array([float(tree.table_at[-1]) for tree in trees])[self.kind])

    def _laid(
        self, gaps: Gaps, chosen: Ints, plans: Sequence[tuple[Plan, Ints, Ints]], free: Sequence[Ints]
    ) -> tuple[Ints, Ints]:
        """Return the cells that are left of each situation's tables, one situation after another."""
        code_at, codes = taken(gaps.code_at, gaps.codes, chosen)
        found = []
        for number, kind in enumerate(self.kind.tolist()):
            plan, _, order = plans[kind]
            factor, variable, stride = plan.slices
            n_hidden = len(plan.sizes) - (code_at[number + 1] - code_at[number])
            own = codes[code_at[number] : code_at[number + 1]]
            begin = plan.starts[:-1] + np.bincount(factor, own[variable - n_hidden] * stride, len(plan.starts) - 1)
            first = begin.astype(np.int64)
            found += [order[at : at + n] for at, n in zip(first.tolist(), free[kind].tolist(), strict=True)]
        lengths = np.array([int(cells.sum()) for cells in free], np.int64)[self.kind]
        return starts(lengths), np.concatenate(found)

    def run(self, tables: Floats, expected: Floats) -> Floats:
        """Add what is expected, and return the logarithms of the sums."""
        from suffice.inference.gap_sums import each_range
        from suffice.kernels.gap_trees import sum_by_forest

        first, lengths = self.table_starts[:-1], np.diff(self.table_starts)
        tops = np.maximum.reduceat(tables, first)
        tops = np.where(tops > 0, tops, 1.0)
        with np.errstate(under="ignore", divide="ignore"):
            lowest = np.minimum.reduceat(np.where(tables > 0, tables, np.inf), first) / tops
            logs = np.log(tables) - np.repeat(np.log(tops), lengths)
            values = tables / np.repeat(tops, lengths)
        floors = np.where(lowest < TINY, 0.0, np.minimum(lowest, 1.0))
        log_sums = np.empty(len(self.kind))

        def part(lo: int, hi: int) -> Floats:
            out = np.zeros(len(tables))
            sum_by_forest(
                self.tree, self.bounds, self.kind, self.weights, lo, hi, values, logs, floors, self.cells, self.cell_at,
                self.start, self.table_of, self.start_at, self.room, out, log_sums,
            )  # fmt: skip
            return out

        for found in each_range(part, self.ends, len(self.kind)):
            expected += found
        scales = np.add.reduceat(np.log(tops)[self.table_of], self.start_at[:-1])
        log_sums += scales[self.kind]
        return log_sums


def fits(plans: Sequence[tuple[Plan, Ints, Ints]], n: int) -> bool:
    """Whether the arrays of trees, and of the cells of ``n`` situations, take little of the memory."""
    largest = max(int(_free_cells(plan).sum()) for plan, _, _ in plans)
    numbers = largest * n + sum(int(array.size) for plan, _, _ in plans for array in plan.arrays)
    return 8 * numbers <= settings().memory // 8


def _free_cells(plan: Plan) -> Ints:
    """Return the number of cells that are left of each factor."""
    return np.array([int(np.prod([plan.sizes[v] for v in free])) for free in plan.free_scopes], np.int64)
