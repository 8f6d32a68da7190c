"""Sources: re-iterable data with a schema and two verbs, ``gather`` and ``reduce``.

``reduce(task)`` is the one loop over data in this library. A task turns a block of rows into statistics, with
parameters bound into it; gathering needs is the simplest task. An engine that implements `Source` runs every learner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from suffice.data.block import BLOCK_ROWS, Block, EncodedTable
from suffice.data.schema import Schema
from suffice.progress import Watch
from suffice.stats.needs import Need
from suffice.stats.statistics import Statistics, add_up, statistic_type

Result = TypeVar("Result")


class Task(Protocol):
    """What to compute from each block: statistics by need. Tasks are values, so that they can travel to workers."""

    def __call__(self, block: Block) -> Mapping[Need, Any]:
        """Return the statistics of one block."""


class Source(Protocol):
    """Data that statistics can be collected from, wherever it lives."""

    @property
    def schema(self) -> Schema:
        """The variables, with their states."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Choices that were made while opening the data."""

    def gather(self, needs: Iterable[Need]) -> Statistics:
        """Collect the statistics that answer ``needs``, in one pass."""

    def reduce(self, task: Task) -> Statistics:
        """Add up what ``task`` returns for every block, in one pass."""


@dataclass(frozen=True)
class Gather:
    """The task of collecting needs."""

    needs: tuple[Need, ...]

    def __call__(self, block: Block) -> dict[Need, Any]:
        """Return one statistic a need."""
        return {need: statistic_type(need).of_block(need, block) for need in self.needs}


@dataclass(frozen=True)
class BlockSource:
    """The source over blocks of an encoded table.

    Attributes
    ----------
    table : EncodedTable
    watch : Watch
        Where progress is reported.
    block_rows : int
        Rows in a block; results do not depend on it beyond float round-off.
    """

    table: EncodedTable
    watch: Watch = field(default_factory=Watch)
    block_rows: int = BLOCK_ROWS

    @property
    def schema(self) -> Schema:
        """The variables, with their states."""
        return self.table.schema

    @property
    def remarks(self) -> tuple[str, ...]:
        """Choices that were made while opening the table."""
        return self.table.remarks

    def gather(self, needs: Iterable[Need]) -> Statistics:
        """Collect the statistics that answer ``needs``, in one pass."""
        return self.reduce(Gather(tuple(dict.fromkeys(needs))))

    def reduce(self, task: Task) -> Statistics:
        """Add up what ``task`` returns for every block, in one pass."""
        total = add_up(self.each(lambda block: Statistics(block.schema, dict(task(block)), block.weight)))
        table = self.table
        return Statistics(total.schema, total.items_, total.weight, table.n_read, table.n_dropped, table.remarks)

    def each(self, function: Callable[[Block], Result]) -> Iterator[Result]:
        """Yield ``function(block)`` for the blocks in order; every pass over the rows goes through here."""
        with self.watch.work(f"reading {self.table.description}", self.table.n_rows, "rows"):
            for block in self.table.blocks(self.block_rows):
                yield function(block)
                self.watch.advance(block.n_rows)
