"""Dask: each partition of a data frame, or each piece of its Parquet files, is reduced where it lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from suffice.data.readers import parquet
from suffice.data.readers.batches import is_of
from suffice.data.readers.paths import refuse_lakes
from suffice.data.readers.pieces import ParquetPiece, pieces_of, with_rows
from suffice.engines.spread import Opening, SpreadSource, Work
from suffice.engines.told import client_of_dask, listening, watching
from suffice.errors import DataError
from suffice.progress import Watch
from suffice.stats.statistics import Statistics, add_up
from suffice.text import plural

FAN_IN = 8
"""So many statistics are added at once."""
CHANGES = ("columns", "filters", "_partitions", "_series")
"""What a reading of Parquet files may leave out of them, beside their rows in other types."""


def accepts(data: object) -> bool:
    """Whether ``data`` is a Dask data frame."""
    return is_of(data, "dask.dataframe", "DataFrame")


def open_source(data: Any, opening: Opening, watch: Watch) -> SpreadSource:
    """Open a data frame: by its files where it is nothing else, else by its partitions."""
    pieces = _plain_pieces(data)
    return SpreadSource(opening, DaskPieces(pieces) if pieces else DaskPartitions(data), watch)


def _plain_pieces(frame: Any) -> tuple[ParquetPiece, ...]:
    """Return the pieces of the Parquet files that a data frame is a plain reading of; none for any other."""
    expression = frame.expr
    for node in expression.walk():
        if type(node).__name__.startswith("ReadParquet") and "path" in _parameters(node):
            refuse_lakes(node.operand("path"))
    if not type(expression).__name__.startswith("ReadParquet"):
        return ()
    parameters = _parameters(expression)
    if "path" not in parameters or any(name in parameters and expression.operand(name) for name in CHANGES):
        return ()
    path = expression.operand("path")
    if not isinstance(path, str) or not parquet.accepts(path):
        return ()
    pieces = pieces_of(path)
    with parquet.opened(pieces[0].path) as first:
        inside = set(first.schema_arrow.names)
    return pieces if inside >= set(frame.columns) else ()  # columns may be in the names of folders


def _parameters(expression: Any) -> Sequence[str]:
    """Return the names of what an expression of Dask's was made of."""
    names: Sequence[str] = getattr(type(expression), "_parameters", ())
    return names


@dataclass(frozen=True)
class DaskPieces:
    """Pieces of Parquet files, which Dask's workers read themselves."""

    pieces: tuple[ParquetPiece, ...]

    @property
    def description(self) -> str:
        """A few words on the table."""
        return f"{plural(len(self.pieces), 'piece')} of Parquet files, by Dask"

    @property
    def n_parts(self) -> int:
        """How many pieces there are."""
        return len(self.pieces)

    def sample(self) -> ParquetPiece:
        """Return the first piece that has rows."""
        return with_rows(self.pieces)

    def map_reduce(self, work: Work, watch: Watch) -> Statistics:
        """Add up what ``work`` returns for every piece, in a tree."""
        return tree(work, self.pieces, watch)


@dataclass(frozen=True)
class DaskPartitions:
    """The partitions of a data frame, which Dask computes."""

    frame: Any

    @property
    def description(self) -> str:
        """A few words on the table."""
        return f"{plural(self.frame.npartitions, 'partition')} of a Dask data frame"

    @property
    def n_parts(self) -> int:
        """How many partitions there are."""
        return int(self.frame.npartitions)

    def sample(self) -> Any:
        """Return the first rows that there are."""
        return self.frame.head(1000, npartitions=-1)

    def map_reduce(self, work: Work, watch: Watch) -> Statistics:
        """Add up what ``work`` returns for every partition, in a tree."""
        return tree(work, self.frame.to_delayed(), watch)


def tree(work: Work, parts: Sequence[Any], watch: Watch, client: Any = None) -> Statistics:
    """Add up what ``work`` returns for every part, a few at a time, on a client's workers or by Dask's own choice."""
    from dask.delayed import delayed

    if not parts:
        raise DataError("The Dask data frame has no partitions. Pass one that has some.")
    client = client or client_of_dask()
    add = delayed(add_up, pure=False)
    with listening(client, work, len(parts), watch) as told:
        leaves = level = [delayed(told, pure=False)(part) for part in parts]
        while len(level) > 1:
            level = [add(level[place : place + FAN_IN]) for place in range(0, len(level), FAN_IN)]
        if client is not None:
            on_workers: Statistics = client.compute(level[0]).result()
            return on_workers
        with watching([leaf.key for leaf in leaves], watch):
            found: Statistics = level[0].compute()
            return found
