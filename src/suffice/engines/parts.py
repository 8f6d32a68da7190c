"""Tables in codes, handed in parts to an engine whose workers keep them: for methods of many passes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from suffice.data.block import Table
from suffice.data.readers.batches import is_of
from suffice.engines.dask import tree
from suffice.engines.spark import merged, run_on_spark
from suffice.engines.spread import Opening, SpreadSource, Work
from suffice.engines.told import tasks_of_spark
from suffice.errors import ArgumentError, shown
from suffice.progress import Watch
from suffice.stats.statistics import Statistics
from suffice.text import plural


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a table, and where they are to be worked on.

    Attributes
    ----------
    tables : tuple of Table
    where : SparkSession, or a client of Dask's
    """

    tables: tuple[Table, ...]
    where: Any

    @property
    def description(self) -> str:
        """A few words on the table."""
        return f"{plural(len(self.tables), 'part')}, elsewhere"

    @property
    def n_parts(self) -> int:
        """How many parts there are."""
        return len(self.tables)

    def sample(self) -> Table:
        """Return a part."""
        return self.tables[0]

    def map_reduce(self, work: Work, watch: Watch) -> Statistics:
        """Add up what ``work`` returns for every part; the parts travel to the workers once."""
        if self._on_spark:
            with tasks_of_spark(self.where.sparkContext, len(self.tables), watch):
                return run_on_spark(lambda: self._on_workers.map(work).treeReduce(merged, depth=2))
        return tree(work, self._on_workers, watch, self.where)

    @property
    def _on_spark(self) -> bool:
        return is_spark(self.where)

    @cached_property
    def _on_workers(self) -> Any:
        if self._on_spark:
            return self.where.sparkContext.parallelize(self.tables, len(self.tables)).cache()
        return self.where.scatter(list(self.tables))


def is_spark(engine: Any) -> bool:
    """Whether an engine is a session of Spark's."""
    return hasattr(engine, "sparkContext")


def workers_of(engine: Any) -> int:
    """Return how many parts an engine works on at the same time, or say that it is none."""
    if is_spark(engine):
        return int(engine.sparkContext.defaultParallelism)
    if is_of(engine, "distributed", "Client"):
        return max(1, int(sum(engine.nthreads().values())))
    raise ArgumentError(
        f"The 'engine' argument must be a SparkSession or a client of Dask's, distributed.Client(…). Got "
        f"{shown(engine)} instead; leave it out to learn here."
    )


def accepts(data: object) -> bool:
    """Whether ``data`` is a table in parts."""
    return isinstance(data, Parts)


def open_source(data: Parts, opening: Opening, watch: Watch) -> SpreadSource:
    """Open the parts as a source."""
    return SpreadSource(opening, data, watch)
