"""Labelled sequences as a table: one row a position, and blocks that never cut a sequence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from suffice.data.attributes import LabelledSequences
from suffice.data.block import Block, BlockColumns, SettledTable
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.types import Array

BLOCK_POSITIONS = 1 << 20
"""A block has about so many positions, and at least one sequence."""


class SequenceColumns(BlockColumns):
    """The columns of a block of sequences: the labels by name, and the sequences as a whole."""

    indivisible = True

    def __init__(self, name: str, sequences: LabelledSequences) -> None:
        assert sequences.labels is not None
        self.name, self.sequences, self._labels = name, sequences, sequences.labels

    @property
    def n_bytes(self) -> int:
        """Memory of the codes and values."""
        return self.sequences.n_bytes

    def __getitem__(self, name: str) -> Array:
        return {self.name: self._labels}[name]

    def __iter__(self) -> Iterator[str]:
        return iter((self.name,))

    def __len__(self) -> int:
        return 1


@dataclass(frozen=True, eq=False)
class PositionTable:
    """Labelled sequences as a table whose rows are positions.

    Attributes
    ----------
    sequences : LabelledSequences
        With labels.
    label : Variable
        What the labels' codes stand for.
    weights : array, shape (n_sequences,), or None
        How often each sequence counts.
    remarks : tuple of str
        What was decided while reading.
    n_dropped : int
        Positions of sequences that were left out.
    description : str
    """

    sequences: LabelledSequences
    label: Variable
    weights: Array | None = None
    remarks: tuple[str, ...] = ()
    n_dropped: int = 0
    description: str = "the sequences"

    def __repr__(self) -> str:
        return f"PositionTable({self.sequences!r}, {self.label!r})"

    @property
    def schema(self) -> Schema:
        """The labels."""
        return Schema((self.label,))

    @property
    def n_expected(self) -> int:
        """Positions that there are."""
        return self.sequences.n_positions + self.n_dropped

    def blocks(self) -> Iterator[Block]:
        """Yield the sequences in order, none of them cut."""
        for low, high in self._bounds():
            part = self.sequences if high - low == self.sequences.n_sequences else self.sequences.part(low, high)
            weights = None if self.weights is None else np.repeat(self.weights[low:high], part.lengths)
            start = int(self.sequences.offsets[low])
            columns = SequenceColumns(self.label.name, part)
            n_dropped = 0 if low else self.n_dropped
            yield Block(self.schema, columns, weights, part.n_positions, start, n_dropped, self.n_expected)

    def _bounds(self) -> Iterator[tuple[int, int]]:
        offsets, low = self.sequences.offsets, 0
        while True:
            reach = int(np.searchsorted(offsets, offsets[low] + BLOCK_POSITIONS, "right")) - 1
            high = min(max(reach, low + 1), self.sequences.n_sequences)
            yield low, high
            low = high
            if low >= self.sequences.n_sequences:
                return

    def parts(self, n: int) -> list[PositionTable]:
        """Cut the table into at most so many, with about as many positions each, and no sequence cut."""
        offsets = self.sequences.offsets
        wanted = np.linspace(0, offsets[-1], max(n, 1) + 1)[1:-1]
        cuts = np.unique([0, *np.searchsorted(offsets, wanted), self.sequences.n_sequences])
        found = []
        for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            weights = None if self.weights is None else self.weights[low:high]
            first = (self.remarks, self.n_dropped) if not low else ((), 0)
            part = self.sequences.part(low, high)
            found.append(PositionTable(part, self.label, weights, *first, description=self.description))
        return found or [self]

    def settled(self) -> SettledTable:
        """Return the labels and the remarks, which were known from the start."""
        return SettledTable(self.schema, self.remarks)

    def with_schema(self, schema: Schema) -> PositionTable:
        """Return the table itself: its states are final."""
        return self
