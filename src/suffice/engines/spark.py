"""Spark: workers read files or Arrow batches, run our kernels, and statistics are merged in a tree.

A data frame that is nothing but Parquet files is not read by Spark at all: its workers are given row groups, which
they read as dictionary codes. Any other data frame is computed by Spark and handed over in Arrow batches.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from suffice import errors
from suffice.data.readers.batches import is_of
from suffice.data.readers.paths import refuse_lakes
from suffice.data.readers.pieces import ParquetPiece, pieces_of_files, with_rows
from suffice.engines.spread import Opening, SpreadSource, Work, in_groups
from suffice.engines.told import tasks_of_spark
from suffice.errors import DataError
from suffice.progress import Watch
from suffice.stats.statistics import Statistics, add_up
from suffice.text import plural

TASKS_A_CORE = 4
"""Pieces are divided among so many tasks a core: few enough to start quickly, many enough to keep all cores busy."""
PLAIN = ("LogicalRelation", "SubqueryAlias", "View")
"""Parts of a plan that leave the rows of a file as they are."""
PARQUET = ("org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat", "InMemoryFileIndex")
"""The format of files that hold the rows of a table and nothing else, and how they were listed."""
SAMPLE_ROWS = 1 << 17


def accepts(data: object) -> bool:
    """Whether ``data`` is a Spark data frame."""
    return any(is_of(data, module, "DataFrame") for module in ("pyspark.sql", "pyspark.sql.connect.dataframe"))


def open_source(data: Any, opening: Opening, watch: Watch) -> SpreadSource:
    """Open a data frame: by its files where it is nothing else, else by Arrow batches."""
    files = _plain_files(data)
    if files:
        return SpreadSource(opening, SparkFiles(data.sparkSession, pieces_of_files(files)), watch)
    return SpreadSource(opening, SparkRows(data), watch)


def _plain_files(frame: Any) -> list[str]:
    """Return the Parquet files that a data frame is a plain reading of; none where Spark has to compute something."""
    plan = getattr(getattr(frame, "_jdf", None), "queryExecution", None)
    if plan is None:  # a session over Spark Connect keeps its plans to itself
        return []
    node = plan().analyzed()
    _refuse_lakes(node.collectLeaves())
    while True:
        if node.getClass().getSimpleName() not in PLAIN:
            return []
        if not node.children().size():
            break
        node = node.children().head()
    relation = node.relation()
    if relation.getClass().getSimpleName() != "HadoopFsRelation" or relation.partitionSchema().size():
        return []  # no files, or columns that only the names of folders carry
    kinds = (relation.fileFormat().getClass().getName(), relation.location().getClass().getSimpleName())
    if kinds != PARQUET:
        return []  # such as Delta, whose files hold rows that are deleted
    return sorted(frame.inputFiles())


def _refuse_lakes(leaves: Any) -> None:
    """Refuse plain readings of Parquet files that belong to a Delta or Iceberg table."""
    for place in range(leaves.size()):
        leaf = leaves.apply(place)
        relation = leaf.relation() if leaf.getClass().getSimpleName() == "LogicalRelation" else None
        if relation is not None and relation.getClass().getSimpleName() == "HadoopFsRelation":
            kinds = (relation.fileFormat().getClass().getName(), relation.location().getClass().getSimpleName())
            roots = relation.location().rootPaths() if kinds == PARQUET else None
            refuse_lakes([roots.apply(n).toString() for n in range(roots.size())] if roots is not None else [])


@dataclass(frozen=True)
class SparkFiles:
    """Pieces of Parquet files, which Spark's workers read themselves."""

    session: Any
    pieces: tuple[ParquetPiece, ...]

    @property
    def description(self) -> str:
        """A few words on the table."""
        return f"{plural(len(self.pieces), 'piece')} of Parquet files, by Spark"

    @property
    def n_parts(self) -> int:
        """How many tasks the pieces are divided among."""
        return min(TASKS_A_CORE * int(self.session.sparkContext.defaultParallelism), len(self.pieces))

    def sample(self) -> ParquetPiece:
        """Return the first piece that has rows."""
        return with_rows(self.pieces)

    def map_reduce(self, work: Work, watch: Watch) -> Statistics:
        """Add up what ``work`` returns for every piece, in a tree."""
        context = self.session.sparkContext
        groups = in_groups(self.pieces, self.n_parts)
        found = context.parallelize(groups, len(groups)).map(_OfGroup(work))
        with tasks_of_spark(context, len(groups), watch):
            return run_on_spark(lambda: found.treeReduce(merged, depth=2))


@dataclass(frozen=True)
class SparkRows:
    """The partitions of a data frame, which Spark computes and hands over in Arrow batches."""

    frame: Any

    @property
    def description(self) -> str:
        """A few words on the table."""
        return "a Spark data frame"

    @property
    def n_parts(self) -> None:
        """How many partitions there will be is known once Spark has begun."""

    def sample(self) -> Any:
        """Return some rows."""
        return self.frame.limit(SAMPLE_ROWS).toArrow()

    def map_reduce(self, work: Work, watch: Watch) -> Statistics:
        """Add up what ``work`` returns for every partition, in a tree where the session has one."""
        found = self.frame.mapInArrow(_OfBatches(work), "statistics binary")
        if hasattr(self.frame, "_jdf"):
            rows = found.rdd.map(_unpacked)
            with tasks_of_spark(self.frame.sparkSession.sparkContext, rows.getNumPartitions(), watch):
                return run_on_spark(lambda: rows.treeReduce(merged, depth=2))
        return run_on_spark(lambda: add_up(pickle.loads(row[0]) for row in found.collect()))


@dataclass(frozen=True)
class _OfGroup:
    """The statistics of some pieces."""

    work: Work

    def __call__(self, pieces: Iterable[ParquetPiece]) -> Statistics:
        return add_up(map(self.work, pieces))


@dataclass(frozen=True)
class _OfBatches:
    """The statistics of one partition, packed into one row."""

    work: Work

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        first = next(batches, None)
        if first is None:
            empty = pickle.dumps(None)
            yield pa.RecordBatch.from_pydict({"statistics": [empty]})
            return
        reader = pa.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches))
        yield pa.RecordBatch.from_pydict({"statistics": [pickle.dumps(self.work(reader))]})


def _unpacked(row: Any) -> Statistics | None:
    found: Statistics | None = pickle.loads(row[0])
    return found


def merged(first: Statistics | None, second: Statistics | None) -> Statistics | None:
    """Add two statistics; a partition without rows has none."""
    if first is None or second is None:
        return second if first is None else first
    return first + second


def run_on_spark(run: Callable[[], Statistics | None]) -> Statistics:
    """Run a job of Spark's; an error of ours that a worker raised is raised here, as it would be on one machine."""
    try:
        found = run()
    except Exception as error:
        raise _own_error(error) or error from None
    if found is None:
        raise DataError("The Spark data frame has no rows. Pass one that has some.")
    return found


def _own_error(error: Exception) -> errors.SufficeError | None:
    """Find an error of this library in what Spark says of a failed worker."""
    for line in str(error).splitlines():
        name, colon, message = line.strip().removeprefix("suffice.errors.").partition(": ")
        kind = vars(errors).get(name)
        if colon and isinstance(kind, type) and issubclass(kind, errors.SufficeError):
            return kind(message)
    return None
