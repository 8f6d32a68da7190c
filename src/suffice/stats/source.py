"""Sources: re-iterable data with a schema and two verbs, ``gather`` and ``reduce``.

``reduce(task)`` is the one loop over data in this library. A task turns a block of rows into statistics, with
parameters bound into it; gathering needs is the simplest task. An engine that implements `Source` runs every learner.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from suffice.data.block import BLOCK_ROWS, Block, Table
from suffice.data.schema import Schema
from suffice.progress import Watch
from suffice.stats.needs import Need
from suffice.stats.statistic import Statistic
from suffice.stats.statistics import Statistics, add_up, collect_block

Result = TypeVar("Result")


class Task(Protocol):
    """What to compute from each block: statistics by need. Tasks are values, so that they can travel to workers."""

    def __call__(self, block: Block) -> Mapping[Need, Statistic]:
        """Return the statistics of one block."""


class Source(Protocol):
    """Data that statistics can be collected from, wherever it lives."""

    @property
    def schema(self) -> Schema:
        """The variables; which of them are discrete is known before a pass, all of their states only after one."""

    def gather(self, needs: Iterable[Need]) -> Statistics:
        """Collect the statistics that answer ``needs``, in one pass."""

    def reduce(self, task: Task) -> Statistics:
        """Add up what ``task`` returns for every block, in one pass."""

    def settled(self, schema: Schema) -> Source:
        """Return the source for further passes, its states known."""


@dataclass(frozen=True)
class Gather:
    """The task of collecting needs."""

    needs: tuple[Need, ...]

    def __call__(self, block: Block) -> dict[Need, Statistic]:
        """Return one statistic a need."""
        return collect_block(self.needs, block)


@dataclass(frozen=True)
class BlockSource:
    """The source over the blocks of a table.

    Attributes
    ----------
    table : Table
    watch : Watch
        Where progress is reported.
    block_rows : int
        Most rows that a task sees at once; results do not depend on it beyond float round-off.
    """

    table: Table
    watch: Watch = field(default_factory=Watch)
    block_rows: int = BLOCK_ROWS

    @property
    def schema(self) -> Schema:
        """The variables; a streamed table knows all of their states only after a pass."""
        return self.table.schema

    def gather(self, needs: Iterable[Need]) -> Statistics:
        """Collect the statistics that answer ``needs``, in one pass."""
        return self.reduce(Gather(tuple(dict.fromkeys(needs))))

    def reduce(self, task: Task) -> Statistics:
        """Add up what ``task`` returns for every block, in one pass."""
        total = add_up(self.each(lambda block: _of_block(task, block)))
        return total.settled(self.table.settled())

    def each(self, function: Callable[[Block], Result]) -> Iterator[Result]:
        """Yield ``function(block)`` for the blocks in order; every pass over the rows goes through here."""
        began, n_bytes, n_rows = time.monotonic(), 0, 0
        with self.watch.work(f"reading {self.table.description}", self.table.n_expected, "rows"):
            for whole in self.table.blocks():
                for block in whole.split(self.block_rows):
                    yield function(block)
                    n_bytes, n_rows = n_bytes + block.n_bytes, n_rows + block.n_rows + block.n_dropped
                    seconds = max(time.monotonic() - began, 1e-3)
                    speed = f"{n_rows / seconds:,.0f} rows/s, {n_bytes / seconds / 1e6:,.0f} MB/s"
                    self.watch.advance(block.n_rows + block.n_dropped, speed)

    def settled(self, schema: Schema) -> BlockSource:
        """Return the source for further passes, its states known."""
        return BlockSource(self.table.with_schema(schema), self.watch, self.block_rows)


def _of_block(task: Task, block: Block) -> Statistics:
    items = dict(task(block))
    return Statistics(block.schema, items, block.weight, block.n_rows + block.n_dropped, block.n_dropped)
