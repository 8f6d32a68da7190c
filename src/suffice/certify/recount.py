"""A second count of the data, by other means than the first: the proof that the statistics are the data's.

Counts are taken by sorting instead of by histogram; moments as sums of squares around the mean that is to be proven,
in the longest floating-point numbers there are, instead of by merging parts.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify.violation import Violation
from suffice.data.block import Block
from suffice.stats.available import complete_in
from suffice.stats.counts import Counts
from suffice.stats.moments import Moments
from suffice.stats.needs import Count, Need, Sum
from suffice.stats.source import Source
from suffice.stats.statistics import Statistics
from suffice.stats.sums import Sums


@dataclass(frozen=True)
class Recount:
    """The task of counting scopes anew: rows are sorted, and equal neighbours added up; and of taking sums anew."""

    scopes: tuple[Count, ...]
    moments: tuple[Moments, ...] = ()

    def __call__(self, block: Block) -> dict[Need, Any]:
        """Return the counts and the sums of one block."""
        found: dict[Need, Any] = {need: self._count(need, complete_in(block, need.scope)) for need in self.scopes}
        for mine in self.moments:
            found[_name(mine)] = Sums(_name(mine).name, _sums(mine, complete_in(block, mine.need.columns)))
        return found

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
    mine = {need: statistic for need, statistic in statistics.items() if known.issuperset(need.columns)}
    scopes = tuple(need for need in mine if isinstance(need, Count))
    moments = tuple(statistic for statistic in mine.values() if isinstance(statistic, Moments))
    again = source.reduce(Recount(scopes, moments))
    found = Violation(0.0, "the total weight")
    found = found.or_larger(abs(again.weight - statistics.weight) / max(1.0, again.weight), "the total weight")
    for need in scopes:
        gap = _count_gap(statistics[need], again[need].reindexed(statistics.schema.select(source.schema)))
        found = found.or_larger(gap, " × ".join(need.scope))
    for statistic in moments:
        of_moments = _moment_gap(statistic, again[_name(statistic)].values)
        found = found.or_larger(of_moments.size, f"the moments of {of_moments.where}")
    return found.size, found.where


def _count_gap(mine: Counts, other: Counts) -> float:
    (cells, m), (other_cells, n) = mine.nonzero(), other.nonzero()
    both = Counts.sparse(
        mine.variables, np.concatenate([cells, other_cells]), np.concatenate([m.astype(float), -n.astype(float)])
    )
    exact = m.dtype.kind == n.dtype.kind == "i"
    gap = float(np.abs(both.values).max(initial=0.0))
    return gap if exact else gap / max(1.0, float(np.abs(n).max(initial=0.0)))


# Moments ------------------------------------------------------------------------------------------------------


def _name(mine: Moments) -> Sum:
    p = len(mine.variables)
    return Sum(repr(mine.need), mine.weight.size * (1 + p + p * (p + 1) // 2))


def _sums(mine: Moments, block: Block) -> NDArray[np.float64]:
    """Return Σ w, Σ w (x − c) and Σ w (x − c)(x − c)ᵀ around the claimed means c, of every configuration."""
    p, size = len(mine.variables), mine.weight.size
    flat = np.zeros(block.n_rows, np.int64)
    for variable in mine.by:
        codes = np.array([variable.code(label) for label in block.schema[variable.name].labels], np.int64)
        flat = flat * variable.n_states + codes[block.columns[variable.name]]
    weights = np.ones(block.n_rows) if block.weights is None else block.weights
    w = weights.astype(np.longdouble)
    centred = []
    for axis, variable in enumerate(mine.variables):
        centre = mine.mean[..., axis].reshape(-1).astype(np.longdouble) + mine.rest[..., axis].reshape(-1)
        centred.append(block.columns[variable.name] - centre[flat])
    products = (w * centred[a] * centred[b] for a in range(p) for b in range(a, p))
    order = np.argsort(flat, kind="stable")
    cells, starts = np.unique(flat[order], return_index=True)
    found = []
    for values in itertools.chain([w], (w * x for x in centred), products):
        sums = np.zeros(size)
        if len(cells):
            sums[cells] = [float(part.sum()) for part in np.split(values[order], starts[1:])]
        found.append(sums)
    return np.stack(found, axis=1).reshape(-1)


def _moment_gap(mine: Moments, sums: NDArray[np.float64]) -> Violation:
    """Compare weights, means in standard deviations, and scatter as correlations."""
    p = len(mine.variables)
    again = sums.reshape(mine.weight.size, -1)
    upper = np.triu_indices(p)
    found = Violation(0.0, "no column")
    for cell, row in enumerate(again):
        weight, first, second = float(row[0]), row[1 : p + 1], np.zeros((p, p))
        second[upper] = row[p + 1 :]
        claimed = float(mine.weight.reshape(-1)[cell])
        shift = first / max(weight, 1e-300)
        scatter = mine.scatter.reshape(-1, p, p)[cell]
        spread = np.sqrt(np.diag(scatter))
        # A column that does not vary is compared by its size.
        sizes = np.abs(mine.mean.reshape(-1, p)[cell]) * np.sqrt(claimed)
        spread = np.where(spread > 1e-12 * sizes, spread, np.maximum(sizes, 1.0))
        gaps = np.triu(np.abs(second - weight * np.outer(shift, shift) - scatter) / spread[:, None] / spread)
        gaps[np.diag_indices(p)] += np.abs(shift) * np.sqrt(claimed) / spread
        found = found.or_larger(abs(weight - claimed) / max(1.0, weight), _columns(mine))
        if p:
            place = int(np.argmax(gaps.max(axis=0)))
            found = found.or_larger(float(gaps.max()), repr(mine.variables[place].name))
    return found


def _columns(mine: Moments) -> str:
    """Name the columns of moments."""
    return " × ".join(mine.need.columns)
