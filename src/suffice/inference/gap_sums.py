"""Sums of products of tables over what is missing, for all situations of rows with gaps: the E-step's inference.

Few missing states are enumerated; many go through a junction tree. What depends on the situations alone, which cells
belong to which states, is laid out once; then any tables can be summed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from suffice.native.missing_values import Enumeration
from suffice.settings import settings
from suffice.stats.gap_lists import ragged, starts, taken
from suffice.stats.gaps import Gaps
from suffice.types import Floats, Ints

ENUMERATED = 2048
"""Missing states that are still enumerated."""
RANGES = 4
"""Situations are summed in so many ranges, whatever the number of threads, so that the sums have the same bits."""
FEW = 4096
"""Fewer situations than this are summed on one thread."""


@dataclass(frozen=True)
class MissingSums:
    """What the tables say of the gaps.

    Attributes
    ----------
    log_sums : array, shape (n_situations,)
        log Σ Π over what is missing; −inf for situations that the tables rule out.
    expected : array, shape (n_cells,)
        Expected counts of the cells of all tables.
    """

    log_sums: Floats
    expected: Floats


class GapSums:
    """The layout of some situations over tables of given scopes.

    Parameters
    ----------
    sizes : sequence of int
        Number of states of every variable.
    scopes : sequence of sequence of int
        The variables of every table, in the order of its axes; the scopes that the gaps were collected for.
    gaps : Gaps
    """

    def __init__(self, sizes: Sequence[int], scopes: Sequence[Sequence[int]], gaps: Gaps) -> None:
        self.sizes, self.scopes = tuple(sizes), tuple(map(tuple, scopes))
        self.starts = starts(np.array([math.prod(sizes[v] for v in scope) for scope in scopes], np.int64))
        self.weights = np.asarray(gaps.weights)
        logs = np.log2(np.array(self.sizes, np.float64))
        bits = np.bincount(
            np.repeat(np.arange(len(gaps.member_at) - 1), np.diff(gaps.member_at)),
            logs[gaps.members],
            len(gaps.member_at) - 1,
        )
        small = bits <= math.log2(ENUMERATED) + 1e-9
        few, many = np.flatnonzero(small[gaps.kind]), np.flatnonzero(~small[gaps.kind])
        self._parts: list[tuple[Ints, Callable[[Floats, Floats], Floats]]] = []
        if len(few):
            self._parts.append((few, _Enumerated(self, gaps, few).run))
        if len(many):
            from suffice.inference.gap_trees import ByTrees

            self._parts.append((many, ByTrees(self, gaps, many).run))

    @property
    def n_cells(self) -> int:
        """Cells of all tables."""
        return int(self.starts[-1])

    def run(self, tables: Floats) -> MissingSums:
        """Sum for some tables: their cells one table after another, not logarithms, shape (n_cells,)."""
        expected, log_sums = np.zeros(self.n_cells), np.zeros(len(self.weights))
        for places, part in self._parts:
            log_sums[places] = part(tables, expected)
        return MissingSums(log_sums, expected)

    def total(self, summed: MissingSums) -> float:
        """Return Σ w log Σ Π."""
        return math.fsum((self.weights * summed.log_sums).tolist()) if len(self.weights) else 0.0


class _Enumerated:
    """Situations of which all missing states are gone through."""

    def __init__(self, sums: GapSums, gaps: Gaps, chosen: Ints) -> None:
        self.weights = np.ascontiguousarray(gaps.weights[chosen])
        kinds, kind = np.unique(gaps.kind[chosen], return_inverse=True)
        around = gaps.surroundings
        sizes = np.array(sums.sizes, np.int64)
        level_at, member = _by_size(*taken(gaps.member_at, gaps.members, kinds), sizes)
        touched = taken(around.touched_at, around.touched, kinds)
        edge = taken(around.edge_at, around.edge, kinds)
        codes = taken(gaps.code_at, gaps.codes, chosen)
        self.plan = Enumeration(sizes, *ragged(sums.scopes), level_at, member, *touched, *edge, kind, *codes)
        self.ends = even_ends(np.multiply.reduceat(sizes[member], level_at[:-1])[kind])

    def run(self, tables: Floats, expected: Floats) -> Floats:
        """Add what is expected, and return the logarithms of the sums."""
        with np.errstate(divide="ignore"):
            logs = np.log(tables)
        n = len(self.weights)
        log_sums = np.empty(n)

        def part(lo: int, hi: int) -> Floats:
            out = np.zeros(len(expected))
            self.plan.sum(tables, logs, self.weights, lo, hi, out, log_sums)
            return out

        for found in each_range(part, self.ends, n):
            expected += found
        return log_sums


def each_range(part: Callable[[int, int], Floats], ends: Sequence[int], n: int) -> list[Floats]:
    """Return what a function gives for each range, on threads where there is enough to do."""
    ranges = list(zip([0, *ends[:-1]], ends, strict=True))
    if n >= FEW and settings().threads > 1:
        with ThreadPoolExecutor(settings().threads) as pool:
            return list(pool.map(lambda bounds: part(*bounds), ranges))
    return [part(lo, hi) for lo, hi in ranges]


def even_ends(costs: Floats | Ints) -> list[int]:
    """Return the ends of ranges that cost about the same."""
    n = len(costs)
    if n < FEW:
        return [n]
    run = np.cumsum(costs + 4.0)
    ends = np.searchsorted(run, run[-1] * np.arange(1, RANGES) / RANGES).tolist()
    return [*ends, n]


def _by_size(at: Ints, member: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Return the members of each list with those of the fewest states first, so that trees branch late."""
    owner = np.repeat(np.arange(len(at) - 1), np.diff(at))
    return at, member[np.lexsort((member, sizes[member], owner))]
