"""Pieces worked on here, one after another, with a checkpoint after every few: a pass that is ended goes on later."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from suffice.data.readers.pieces import ParquetPiece, open_table, with_rows
from suffice.engines.spread import Work
from suffice.errors import ArgumentError, DamagedError, DataError, FileFormatError, require_whole, shown
from suffice.files import read_arrays, write_arrays
from suffice.progress import Watch
from suffice.stats.statistics import RunningSum, Statistics, parts_explained
from suffice.text import plural
from suffice.types import Array

FILE_KIND, FILE_VERSION = "collect_checkpoint", 2
SECONDS = 2.0
"""A checkpoint is written when so much time has passed since the last one, after the piece at hand."""


@dataclass(frozen=True)
class LocalPieces:
    """The engine of this process.

    Attributes
    ----------
    pieces : tuple of ParquetPiece
    checkpoint : path or None
        The file that keeps what was collected so far; removed once all pieces are done.
    asked : str
        What is collected in which way, by which the checkpoint of another job is recognised.
    skip_damaged : bool
        Leave out pieces that cannot be read, and say so.
    """

    pieces: tuple[ParquetPiece, ...]
    checkpoint: str | os.PathLike[str] | None = None
    asked: str = ""
    skip_damaged: bool = False

    @property
    def description(self) -> str:
        """A few words on the table."""
        return plural(len(self.pieces), "piece")

    @property
    def n_parts(self) -> int:
        """How many pieces there are."""
        return len(self.pieces)

    def sample(self) -> ParquetPiece:
        """Return the first piece that has rows, and can be read where others are left out."""
        found = with_rows(self.pieces)
        return next(filter(_begins_well, self.pieces), found) if self.skip_damaged else found

    def map_reduce(self, work: Work, watch: Watch) -> Statistics:
        """Add up what ``work`` returns for every piece, going on from the checkpoint if there is one."""
        print_of_job = fingerprint(self.pieces, work, self.asked)
        done, resumed, skipped = self._resumed(print_of_job)
        sums = RunningSum(resumed)
        if done:
            watch.advance(done, "resumed")
        saved = time.monotonic()
        for place, piece in enumerate(self.pieces[done:], done + 1):
            try:
                found = work(piece)
            except DamagedError as error:
                if not self.skip_damaged:
                    raise
                skipped = (*skipped, f"Left out, since it cannot be read: {piece.description}. {error}")
            else:
                sums.add(found)
            watch.advance(1, piece.description)
            if self.checkpoint is not None and place < len(self.pieces) and time.monotonic() - saved >= SECONDS:
                self._save(print_of_job, place, sums.parts, skipped)
                saved = time.monotonic()
        total = sums.total()
        if total is None:
            raise DataError(f"None of the {plural(len(self.pieces), 'piece')} can be read. {skipped[0]}")
        if self.checkpoint is not None:
            Path(os.path.realpath(self.checkpoint)).unlink(missing_ok=True)  # a link to it stays, as in writing
        return with_remarks(total, skipped)

    def _resumed(self, print_of_job: str) -> tuple[int, list[Statistics], tuple[str, ...]]:
        """Return how many pieces are done, the sums of their statistics, and what was left out."""
        if self.checkpoint is None or not Path(self.checkpoint).exists():
            return 0, [], ()
        meta, arrays = read_arrays(self.checkpoint, FILE_KIND, FILE_VERSION)
        if meta.get("job") != print_of_job:
            raise ArgumentError(
                f"The checkpoint {str(self.checkpoint)!r} is of another job: other files, files that have changed "
                "since, another structure or other settings. Name another file, or remove it to begin anew."
            )
        with parts_explained(self.checkpoint, "Remove it to begin anew."):
            done, skipped = require_whole("done", meta["done"], place="entry"), meta["skipped"]
            if done > len(self.pieces) or not isinstance(skipped, list) or not all(isinstance(n, str) for n in skipped):
                raise FileFormatError(
                    f"The entry 'done' must be at most {len(self.pieces)}, and 'skipped' a list of texts. Got "
                    f"{shown(done)} and {shown(skipped)} instead"
                )
            named: list[dict[str, Array]] = [{} for _ in meta["sums"]]
            for name, array in arrays.items():
                number, _, own = name.partition(":")
                named[int(number)][own] = array
            return done, list(map(Statistics.from_parts, meta["sums"], named)), tuple(skipped)

    def _save(self, print_of_job: str, done: int, sums: Sequence[Statistics], skipped: tuple[str, ...]) -> None:
        """Keep the sums apart, as they wait for more: when work was saved must not change a bit of real weights."""
        assert self.checkpoint is not None
        parts = [part.to_parts() for part in sums]
        meta = {"job": print_of_job, "done": done, "sums": [own for own, _ in parts], "skipped": list(skipped)}
        arrays = {f"{n}:{name}": array for n, (_, own) in enumerate(parts) for name, array in own.items()}
        write_arrays(self.checkpoint, FILE_KIND, FILE_VERSION, meta, arrays)


def _begins_well(piece: ParquetPiece) -> bool:
    """Whether a piece has rows, the first of which can be read."""
    try:
        table = open_table(piece)
        return piece.n_rows > 0 and next(table.batches(table.names), None) is not None
    except DamagedError:
        return False


def fingerprint(pieces: Sequence[ParquetPiece], work: Work, asked: str) -> str:
    """Return a digest of what is collected from which files in which way."""
    listed = [[piece.path, list(piece.groups), piece.start, piece.n_rows, list(piece.mark)] for piece in pieces]
    needs = [{"kind": need.kind, **need.to_dict()} for need in work.needs]
    schema = None if work.schema is None else work.schema.to_dict()
    return hashlib.sha256(json.dumps([FILE_VERSION, listed, needs, schema, asked]).encode()).hexdigest()


def with_remarks(statistics: Statistics, more: tuple[str, ...]) -> Statistics:
    """Return statistics with further remarks on how they were collected."""
    return replace(statistics, remarks=(*statistics.remarks, *more)) if more else statistics
