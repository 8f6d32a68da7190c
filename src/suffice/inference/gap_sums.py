"""Sums of products of tables over what is missing, for all situations of rows with gaps: the E-step's inference.

Few missing states are enumerated; many go through a junction tree. What depends on the situations alone, which cells
belong to which states, is laid out once; then any tables can be summed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.settings import settings
from suffice.stats.gap_lists import ragged, starts, taken
from suffice.stats.gaps import Gaps

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
ENUMERATED = 2048
"""Missing states that are still enumerated."""
RANGES = 4
"""Situations are summed in so many ranges, whatever the number of threads, so that the sums have the same bits."""
SMALL_JOB = 100
"""Fewer kinds of situations than this are summed without kernels, if they have few states."""
SMALL_STATES = 1 << 16
"""So many missing states of all situations are few."""
LOW, HIGH = 1e-200, 1e200
"""Sums outside are formed again, in logarithms."""
FEW = 4096
"""Fewer situations than this are summed on one thread."""


@dataclass(frozen=True)
class Summed:
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
            enumerated = _InNumPy if self._is_small(gaps, few) else _Enumerated
            self._parts.append((few, enumerated(self, gaps, few).run))
        if len(many):
            from suffice.inference.gap_trees import ByTrees

            self._parts.append((many, ByTrees(self, gaps, many).run))

    def _is_small(self, gaps: Gaps, chosen: Ints) -> bool:
        """Whether there is so little to do that loading kernels takes longer.

        It depends on the situations alone, not on what is loaded already: the same rows give the same bits.
        """
        if len(np.unique(gaps.kind[chosen])) >= SMALL_JOB:
            return False
        logs = np.log(np.array(self.sizes, np.float64))
        owner = np.repeat(np.arange(len(gaps.member_at) - 1), np.diff(gaps.member_at))
        states = np.exp(np.bincount(owner, logs[gaps.members], len(gaps.member_at) - 1))
        return float(states[gaps.kind[chosen]].sum()) <= SMALL_STATES

    @property
    def n_cells(self) -> int:
        """Cells of all tables."""
        return int(self.starts[-1])

    def run(self, tables: Floats) -> Summed:
        """Sum for some tables: their cells one table after another, not logarithms, shape (n_cells,)."""
        expected, log_sums = np.zeros(self.n_cells), np.zeros(len(self.weights))
        for places, part in self._parts:
            log_sums[places] = part(tables, expected)
        return Summed(log_sums, expected)

    def total(self, summed: Summed) -> float:
        """Return Σ w log Σ Π."""
        return math.fsum((self.weights * summed.log_sums).tolist()) if len(self.weights) else 0.0


class _Enumerated:
    """Situations of which all missing states are gone through."""

    def __init__(self, sums: GapSums, gaps: Gaps, chosen: Ints) -> None:
        from suffice.kernels.gaps import lay_bases, lay_levels

        self.weights = np.ascontiguousarray(gaps.weights[chosen])
        kinds, self.kind = np.unique(gaps.kind[chosen], return_inverse=True)
        around = gaps.surroundings
        sizes = np.array(sums.sizes, np.int64)
        self.level_at, member = _by_size(*taken(gaps.member_at, gaps.members, kinds), sizes)
        touched_at, touched = taken(around.touched_at, around.touched, kinds)
        edge_at, edge = taken(around.edge_at, around.edge, kinds)
        scope_at, scope = ragged(sums.scopes)
        strides = np.array([s for scope in sums.scopes for s in _strides(scope, sums.sizes)], np.int64)
        self.size = sizes[member]
        part_at, part = np.zeros(len(member) + 1, np.int64), np.empty(len(touched), np.int64)
        offset_at, slope_at = np.empty(len(touched) + 1, np.int64), np.empty(len(kinds) + 1, np.int64)
        given = (self.level_at, member, sizes, touched_at, touched, edge_at, edge, scope_at, scope, strides)
        none = np.empty(0, np.int64)
        lay_levels(*given, part_at, part, offset_at, none, slope_at, none)
        offset, slopes = np.empty(offset_at[-1], np.int64), np.empty(slope_at[-1], np.int64)
        lay_levels(*given, part_at, part, offset_at, offset, slope_at, slopes)
        self.tree = (self.level_at, self.size, part_at, part, offset_at, offset)
        code_at, codes = taken(gaps.code_at, gaps.codes, chosen)
        self.base_at = starts(np.diff(touched_at)[self.kind])
        self.base = np.empty(self.base_at[-1], np.int64)
        lay_bases(
            self.kind, code_at, codes, touched_at, slope_at, slopes, sums.starts, touched, self.base_at, self.base
        )
        leaves = np.multiply.reduceat(self.size, self.level_at[:-1])
        self.room = int((leaves * np.diff(self.level_at)).max())
        self.ends = even_ends(leaves[self.kind])

    def run(self, tables: Floats, expected: Floats) -> Floats:
        """Add what is expected, and return the logarithms of the sums."""
        from suffice.kernels.gaps import sum_situations

        with np.errstate(divide="ignore"):
            logs = np.log(tables)
        n = len(self.kind)
        log_sums = np.empty(n)

        def part(lo: int, hi: int) -> Floats:
            out = np.zeros(len(expected))
            sum_situations(
                tables, logs, lo, hi, self.kind, self.weights, self.base_at, self.base, *self.tree, out,
                np.empty(self.room), log_sums,
            )  # fmt: skip
            return out

        for found in each_range(part, self.ends, n):
            expected += found
        return log_sums


class _InNumPy:
    """The same for small jobs: all situations of a kind, and all their states, at once."""

    def __init__(self, sums: GapSums, gaps: Gaps, chosen: Ints) -> None:
        self.n, around = len(chosen), gaps.surroundings
        self.kinds: list[tuple[Ints, Floats, list[Ints]]] = []
        kind = gaps.kind[chosen]
        for k in np.unique(kind).tolist():
            places = np.flatnonzero(kind == k)
            members, touched, edge = (
                values[at[k] : at[k + 1]].tolist()
                for at, values in (
                    (gaps.member_at, gaps.members),
                    (around.touched_at, around.touched),
                    (around.edge_at, around.edge),
                )
            )
            sizes = [sums.sizes[v] for v in members]
            states = np.stack(np.unravel_index(np.arange(math.prod(sizes)), sizes))
            codes = taken(gaps.code_at, gaps.codes, chosen[places])[1].reshape(len(places), len(edge))
            cells = []
            for f in touched:
                at = np.full((len(places), states.shape[1]), sums.starts[f])
                for v, stride in zip(sums.scopes[f], _strides(sums.scopes[f], sums.sizes), strict=True):
                    seen = v in edge
                    at += stride * (codes[:, edge.index(v), None] if seen else states[members.index(v)])
                cells.append(at)
            self.kinds.append((places, gaps.weights[chosen[places]], cells))

    def run(self, tables: Floats, expected: Floats) -> Floats:
        """Add what is expected, and return the logarithms of the sums."""
        log_sums = np.empty(self.n)
        for places, weights, cells in self.kinds:
            with np.errstate(under="ignore", over="ignore", divide="ignore"):
                values = np.multiply.reduce([tables[at] for at in cells])
                total, top = values.sum(axis=1), np.zeros(len(places))
                if not ((total > LOW) & (total < HIGH)).all():
                    logs = np.add.reduce([np.log(tables[at]) for at in cells])
                    top = logs.max(axis=1)
                    top[top == -math.inf] = 0.0
                    values = np.exp(logs - top[:, None])
                    total = values.sum(axis=1)
                log_sums[places] = np.log(total) + top
            values *= (weights / np.where(total > 0, total, 1.0))[:, None]
            for at in cells:
                np.add.at(expected, at, values)
        return log_sums


def each_range(part: Callable[[int, int], Floats], ends: Sequence[int], n: int) -> list[Floats]:
    """Return what a function gives for each range, on threads where there is enough to do."""
    ranges = list(zip([0, *ends[:-1]], ends, strict=True))
    if n >= FEW and settings().threads > 1:
        with ThreadPoolExecutor(settings().threads) as pool:
            return list(pool.map(lambda bounds: part(*bounds), ranges))
    return [part(lo, hi) for lo, hi in ranges]


def even_ends(costs: NDArray[Any]) -> list[int]:
    """Return the ends of ranges that cost about the same."""
    n = len(costs)
    if n < FEW:
        return [n]
    run = np.cumsum(costs + 4.0)
    ends = np.searchsorted(run, run[-1] * np.arange(1, RANGES) / RANGES).tolist()
    return [*ends, n]


def _strides(scope: Sequence[int], sizes: Sequence[int]) -> list[int]:
    strides, step = [0] * len(scope), 1
    for axis in range(len(scope) - 1, -1, -1):
        strides[axis] = step
        step *= sizes[scope[axis]]
    return strides


def _by_size(at: Ints, member: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Return the members of each list with those of the fewest states first, so that trees branch late."""
    owner = np.repeat(np.arange(len(at) - 1), np.diff(at))
    return at, member[np.lexsort((member, sizes[member], owner))]
