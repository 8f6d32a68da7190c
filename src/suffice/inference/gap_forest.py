"""Situations of many kinds, each kind with a junction tree of its own, all of them summed by one call of a kernel.

What a situation has observed is sliced away from its tables, so that its tree is over what is missing alone. Trees are
planned once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from suffice.inference.plan import TINY, Plan
from suffice.native import trees
from suffice.native.missing_trees import ForestSums
from suffice.settings import settings
from suffice.stats.gap_lists import starts, taken
from suffice.stats.gaps import Gaps
from suffice.types import Floats, Ints

if TYPE_CHECKING:
    from suffice.inference.gap_sums import GapSums


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

        self.weights = np.ascontiguousarray(gaps.weights[chosen])
        self.places, self.table_starts = np.arange(len(chosen)), sums.starts
        self.kind = np.unique(gaps.kind[chosen], return_inverse=True)[1].astype(np.int64)
        self.table_of = np.concatenate([touched for _, touched, _ in plans])
        self.factor_at = starts(np.array([len(touched) for _, touched, _ in plans], np.int64))
        forest = trees.Forest([plan.arrays for plan, _, _ in plans])
        self.sums = ForestSums(forest, self.table_of, self.kind, _cells(gaps, chosen, self.kind, plans))
        self.ends = even_ends(np.array([float(plan.cells) for plan, _, _ in plans])[self.kind])

    def run(self, tables: Floats, expected: Floats) -> Floats:
        """Add what is expected, and return the logarithms of the sums."""
        from suffice.inference.gap_sums import each_range

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
            self.sums.sum(values, logs, floors, self.weights, lo, hi, out, log_sums)
            return out

        for found in each_range(part, self.ends, len(self.kind)):
            expected += found
        scales = np.add.reduceat(np.log(tops)[self.table_of], self.factor_at[:-1])
        log_sums += scales[self.kind]
        return log_sums


def _cells(gaps: Gaps, chosen: Ints, kinds: Ints, plans: Sequence[tuple[Plan, Ints, Ints]]) -> Ints:
    """Return the cells that are left of each situation's tables, one situation after another."""
    code_at, codes = taken(gaps.code_at, gaps.codes, chosen)
    free = [plan.arrays.factor_cells.tolist() for plan, _, _ in plans]
    found = []
    for number, kind in enumerate(kinds.tolist()):
        plan, _, order = plans[kind]
        factor, variable, stride = plan.slices
        n_hidden = len(plan.sizes) - (code_at[number + 1] - code_at[number])
        own = codes[code_at[number] : code_at[number + 1]]
        begin = plan.starts[:-1] + np.bincount(factor, own[variable - n_hidden] * stride, len(plan.starts) - 1)
        first = begin.astype(np.int64).tolist()
        found += [order[at : at + n] for at, n in zip(first, free[kind], strict=True)]
    return np.concatenate(found)


def fits(plans: Sequence[tuple[Plan, Ints, Ints]], n: int) -> bool:
    """Whether trees, and the cells of ``n`` situations, take little of the memory."""
    largest = max(int(plan.arrays.factor_cells.sum()) for plan, _, _ in plans)
    n_bytes = 8 * largest * n + sum(plan.arrays.nbytes for plan, _, _ in plans)
    return n_bytes <= settings().memory // 8
