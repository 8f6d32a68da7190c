"""Pieces of Parquet files: some row groups, which are a table by themselves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from suffice.data.raw import ArrowBatch, RawStream
from suffice.data.readers import parquet
from suffice.data.readers.paths import Paths, expand, local
from suffice.errors import DamagedError, DataError, shown

PIECE_ROWS = 1 << 20
"""Row groups are put together to pieces of about so many rows."""


@dataclass(frozen=True)
class ParquetPiece:
    """Some rows of a Parquet file.

    Attributes
    ----------
    path : str
        A path, or the address of a file on other storage, such as ``hdfs://…``.
    groups : tuple of int
        Its row groups.
    start : int
        The rows of the file before it.
    n_rows : int
    mark : tuple of int
        Size and time of the file when the pieces were listed, by which a changed file is recognised.
    """

    path: str
    groups: tuple[int, ...]
    start: int
    n_rows: int
    mark: tuple[int, ...] = ()

    @property
    def description(self) -> str:
        """A few words, such as ``'part-3.parquet', row groups 4 to 7``."""
        if len(self.groups) < 2:
            return f"{self.path!r}, row group {self.groups[0] if self.groups else 0}"
        return f"{self.path!r}, row groups {self.groups[0]} to {self.groups[-1]}"


def accepts(data: object) -> bool:
    """Whether ``data`` is a piece."""
    return isinstance(data, ParquetPiece)


def open_table(piece: ParquetPiece) -> RawStream:
    """Open a piece; only the footer of its file is read now."""
    if piece.mark and _mark(piece.path) != piece.mark:
        raise DataError(f"The file {shown(piece.path, 300)} has changed since its pieces were listed. Begin again.")
    with parquet.opened(piece.path) as file:
        names = tuple(file.schema_arrow.names)

    def batches(columns: Sequence[str]) -> Iterator[ArrowBatch]:
        return parquet.batches_of(piece.path, columns, piece.groups)

    return RawStream(names, batches, f"Parquet file {piece.description}", piece.n_rows)


def pieces_of(data: Paths, rows: int = PIECE_ROWS) -> tuple[ParquetPiece, ...]:
    """List the pieces of a path, glob or folder of Parquet files, in order."""
    return pieces_of_files((str(path) for path in expand(data, parquet.ENDINGS)), rows)


def pieces_of_files(paths: Iterable[str], rows: int = PIECE_ROWS) -> tuple[ParquetPiece, ...]:
    """List the pieces of some files: neighbouring row groups of about so many rows together."""
    return tuple(piece for path in paths for piece in _of_file(path, rows))


def with_rows(pieces: Sequence[ParquetPiece]) -> ParquetPiece:
    """Return the first piece that has rows, which tells what the columns are; any piece where none has."""
    return next((piece for piece in pieces if piece.n_rows), pieces[0])


def _of_file(path: str, rows: int) -> Iterator[ParquetPiece]:
    mark = _mark(path)
    try:
        with parquet.opened(path) as file:
            sizes = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
    except DamagedError:
        yield ParquetPiece(path, (), 0, 0, mark)  # whoever reads it will say so
        return
    groups: list[int] = []
    start = held = 0
    for group, size in enumerate(sizes):
        if groups and held + size > rows:
            yield ParquetPiece(path, tuple(groups), start, held, mark)
            groups, start, held = [], start + held, 0
        groups.append(group)
        held += size
    yield ParquetPiece(path, tuple(groups), start, held, mark)


def _mark(path: str) -> tuple[int, ...]:
    """Return the size and the time of a local file; nothing for files on other storage."""
    try:
        found = os.stat(local(path))
    except OSError:
        return ()
    return found.st_size, found.st_mtime_ns
