"""Statistics of folds: those of every fold, for all models, from one pass over the table.

Where counts and moments are all that is asked for, the fold is one more discrete variable of them: one pass counts
everything, and each fold is a slice of what was counted. Else the rows of a block are sorted by fold, and statistics
are gathered from one fold after the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.comparison.folds import AssignedBlock, FoldedTable
from suffice.data.block import Block, SettledTable, Table
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.progress import Watch
from suffice.stats.counts import DENSE_CELLS, Counts, n_cells
from suffice.stats.moments import Moments
from suffice.stats.needs import Count, Moment, Need
from suffice.stats.source import BlockSource
from suffice.stats.statistic import Statistic
from suffice.stats.statistics import Statistics, add_up

WAITING = 8
"""So many statistics of a fold wait to be added."""
MOST_NUMBERS = 1 << 22
"""So many numbers at most may the moments of all folds take together."""
Over = Callable[[Table], BlockSource]
"""From a table to a source over it."""


@dataclass(frozen=True)
class OneBlock:
    """The table that one block is, so that a source gathers from it as from any other."""

    block: Block

    @property
    def schema(self) -> Schema:
        """The variables as far as the block knows them."""
        return self.block.schema

    @property
    def description(self) -> str:
        """A few words on the table."""
        return "block"

    @property
    def n_expected(self) -> int:
        """The number of rows."""
        return self.block.n_rows

    def blocks(self) -> Iterator[Block]:
        """Yield the block."""
        yield self.block

    def settled(self) -> SettledTable:
        """Return the schema of the block; the whole table settles later."""
        return SettledTable(self.block.schema, ())

    def with_schema(self, schema: Schema) -> OneBlock:
        """Return the block itself."""
        return self


@dataclass(frozen=True)
class Gathered:
    """What one pass has found for one kind of source: the statistics of each fold, and of all rows.

    Attributes
    ----------
    folds : tuple of Statistics
    before : tuple of Statistics
        The sum of each fold and those before it.
    n_read, n_dropped : int
        Rows of the table, counted once; a row with a weight may be in several folds.
    fractional : bool
        Whether some weights are no whole numbers.
    """

    folds: tuple[Statistics, ...]
    before: tuple[Statistics, ...]
    n_read: int
    n_dropped: int
    fractional: bool

    @property
    def whole(self) -> Statistics:
        """The statistics of all rows."""
        return replace(self.before[-1], n_read=self.n_read, n_dropped=self.n_dropped)

    def training(self) -> Iterator[Statistics]:
        """Yield, fold by fold, the statistics of all others: sums from both ends, so that nothing is subtracted."""
        after = list(itertools.accumulate(reversed(self.folds[1:])))[::-1]
        yield after[0]
        for fold in range(1, len(self.folds) - 1):
            yield self.before[fold - 1] + after[fold]
        yield self.before[-2]


def gather_folds(
    table: FoldedTable, sources: Sequence[tuple[Over, Sequence[Need]]], watch: Watch
) -> tuple[Gathered, ...]:
    """Collect statistics of every fold, for several kinds of sources, in one pass over the table.

    Parameters
    ----------
    table : FoldedTable
    sources : sequence of (callable, needs)
        From a table to a `BlockSource` over it, and what it is asked to gather from each block.
    watch : Watch
        Where progress is reported.
    """
    waiting: list[list[list[Statistics]]] = [[[] for _ in range(table.n_folds)] for _ in sources]
    n_read = n_dropped = 0
    fractional = False

    def of_block(block: Any) -> tuple[AssignedBlock, list[list[Statistics]]]:
        return block, [_of_block(over, needs, block) for over, needs in sources]

    for block, found in BlockSource(replace(table, cut=False), watch).each(of_block):
        n_read, n_dropped = n_read + block.n_rows + block.n_dropped, n_dropped + block.n_dropped
        fractional |= block.fractional
        for mine, statistics in zip(itertools.chain(*waiting), itertools.chain(*found), strict=True):
            mine.append(statistics)
            if len(mine) >= WAITING:
                mine[:] = [add_up(mine)]
    gathered = []
    for (over, _), parts in zip(sources, waiting, strict=True):
        settled = over(table).table.settled()
        folds = tuple(add_up(mine).settled(settled) for mine in parts)
        gathered.append(Gathered(folds, tuple(itertools.accumulate(folds)), n_read, n_dropped, fractional))
    return tuple(gathered)


def _of_block(over: Over, needs: Sequence[Need], block: AssignedBlock) -> list[Statistics]:
    """Return the statistics of every fold of a block."""
    if block.n_folds == 1:
        return [over(OneBlock(block)).gather(needs)]
    if block.folds is not None and _can_be_sliced(needs, block):
        return _sliced(over, needs, block)
    return [over(OneBlock(part)).gather(needs) for part in block.cut()]


# The fold as a variable ---------------------------------------------------------------------------------------


def _can_be_sliced(needs: Sequence[Need], block: AssignedBlock) -> bool:
    """Whether all needs are tables that have room for one more variable."""
    known = block.schema
    for need in needs:
        if not isinstance(need, Count | Moment) or any(name not in known for name in need.columns):
            return False
        by = need.scope if isinstance(need, Count) else need.by
        size = block.n_folds * n_cells([known[name] for name in by])
        room = DENSE_CELLS if isinstance(need, Count) else MOST_NUMBERS // max(len(need.xs), 1) ** 2
        if size > room:
            return False
    return True


def _sliced(over: Over, needs: Sequence[Need], block: AssignedBlock) -> list[Statistics]:
    """Gather once, with the fold as a variable, and cut what was found."""
    assert block.folds is not None
    name = "fold"
    while name in block.schema:
        name += "_"
    schema = Schema((*block.schema.variables, Variable(name, tuple(range(block.n_folds)), True)))
    columns = {**block.columns, name: block.folds}
    longer = Block(schema, columns, None, block.n_rows, block.start, block.n_dropped, block.n_table)
    wanted = {need: _with_fold(need, name) for need in needs}
    found = over(OneBlock(longer)).gather(wanted.values())
    left = found.schema.select([other for other in found.schema if other != name])
    parts = []
    for fold, size in enumerate(np.bincount(block.folds, minlength=block.n_folds).tolist()):
        items: dict[Need, Statistic] = {need: _slice(found[several], fold) for need, several in wanted.items()}
        n_dropped = 0 if fold else block.n_dropped
        parts.append(Statistics(left, items, float(size), size + n_dropped, n_dropped))
    return parts


def _with_fold(need: Need, name: str) -> Count | Moment:
    if isinstance(need, Count):
        return Count((*need.scope, name))
    assert isinstance(need, Moment)
    return Moment(need.xs, (*need.by, name))


def _slice(statistic: Statistic, fold: int) -> Counts | Moments:
    """Return the part of a fold, which is the last of the discrete variables."""
    if isinstance(statistic, Counts):
        return Counts.dense(statistic.variables[:-1], statistic.table()[..., fold])
    assert isinstance(statistic, Moments)
    cells = statistic.weight.ndim - 1
    arrays = (array.take(fold, axis=cells) for array in statistic.to_arrays().values())
    return Moments(statistic.variables, statistic.by[:-1], *arrays)
