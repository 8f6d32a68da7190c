"""A second count of the data, by sorting instead of by histogram: the proof that the statistics are the data's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.block import Block
from suffice.stats.counts import Counts
from suffice.stats.needs import Count, Need
from suffice.stats.source import Source
from suffice.stats.statistics import Statistics


@dataclass(frozen=True)
class Recount:
    """The task of counting scopes anew: rows are sorted, and equal neighbours added up."""

    scopes: tuple[Count, ...]

    def __call__(self, block: Block) -> dict[Need, Any]:
        """Return the counts of one block."""
        return {need: self._count(need, block) for need in self.scopes}

    @staticmethod
    def _count(need: Count, block: Block) -> Counts:
        variables = tuple(block.schema[name] for name in need.scope)
        weights = np.ones(block.n_rows, np.int64) if block.weights is None else block.weights
        if not block.n_rows:
            return Counts.zero(need, block.schema)
        columns = [block.columns[name] for name in need.scope]
        order = np.lexsort(columns[::-1])
        rows = np.stack([column[order] for column in columns], axis=1)
        starts = np.flatnonzero(np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)]))
        return Counts.sparse(variables, rows[starts], np.add.reduceat(weights[order], starts))


def recount_gap(source: Source, statistics: Statistics) -> tuple[float, str]:
    """Return the largest difference between the statistics and a second count, and where it is.

    Whole counts must agree exactly; real ones are compared relative to their size, since sums of them round.
    """
    known = set(source.schema)
    scopes = tuple(need for need in statistics if isinstance(need, Count) and known.issuperset(need.scope))
    again = source.reduce(Recount(scopes))
    worst, where = abs(again.weight - statistics.weight) / max(1.0, again.weight), "the total weight"
    for need in scopes:
        mine = statistics[need]
        other = again[need].reindexed(statistics.schema.select(source.schema))
        (cells, m), (other_cells, n) = mine.nonzero(), other.nonzero()
        both = Counts.sparse(
            mine.variables, np.concatenate([cells, other_cells]), np.concatenate([m.astype(float), -n.astype(float)])
        )
        exact = m.dtype.kind == n.dtype.kind == "i"
        gap = float(np.abs(both.values).max(initial=0.0))
        gap = gap if exact else gap / max(1.0, float(np.abs(n).max(initial=0.0)))
        if gap > worst:
            worst, where = gap, " × ".join(need.scope)
    return worst, where
