"""Chains of labels, made ready for many passes: attributes by how many weights they have, and ranges of sequences.

An attribute that meets many labels has a row of a dense table, which is added in one go; one that meets few has a list
of weights. The layout of weights is that of `ChainLayout` throughout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.attributes import Attributes, LabelledSequences, no_attributes
from suffice.data.block import Block
from suffice.data.sequence_positions import SequenceColumns
from suffice.models.chain_layout import ChainLayout
from suffice.types import Array, Bools, Floats, Ints

FEW = 6
"""An attribute with more weights than this, and than a quarter of the labels, has a row of the dense table."""
LANES = 4
"""Labels are padded to a multiple of this."""
RANGE_POSITIONS = 50_000
"""Positions of a range, which has sums of its own; ranges are added up in order, whatever the number of threads."""
MOST_RANGES = 16
PIECE_POSITIONS = 1024
"""Positions whose potentials stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class DenseTable:
    """The attributes that have a row of the dense table, and where their weights lie in it.

    Attributes
    ----------
    row : array, shape (n_attributes,)
        The row of each attribute, −1 for those without one.
    n_rows, width : int
    cells, weights : array
        Cell ``cells[i]`` of the table, rows one after the other, holds weight ``weights[i]``.
    """

    row: NDArray[np.int32]
    n_rows: int
    width: int
    cells: Ints
    weights: Ints

    def filled(self, weights: Floats) -> Floats:
        """Return the table of some weights of attributes; shape (n_rows, width)."""
        table = np.zeros(self.n_rows * self.width)
        table[self.cells] = weights[self.weights]
        return table.reshape(self.n_rows, self.width)

    def add_to(self, sums: Floats, table: Floats) -> None:
        """Add a table of sums to those of the weights."""
        sums[self.weights] += table.reshape(-1)[self.cells]


def table_of(layout: ChainLayout) -> DenseTable:
    """Choose the attributes that have a row of the dense table."""
    n_weights = np.diff(layout.starts)
    width = -(-layout.n_labels // LANES) * LANES
    dense = n_weights > max(FEW, layout.n_labels // 4)
    row = np.where(dense, np.cumsum(dense) - 1, -1).astype(np.int32)
    attribute = np.repeat(np.arange(len(n_weights)), n_weights)
    weights = np.flatnonzero(dense[attribute]) if len(attribute) else np.zeros(0, np.int64)
    cells = row[attribute[weights]].astype(np.int64) * width + layout.labels[weights]
    return DenseTable(row, int(dense.sum()), width, cells, weights)


@dataclass(frozen=True, eq=False)
class Ready:
    """Sequences made ready: their attributes with a row, and the single weights of the others.

    Attributes
    ----------
    sequences : LabelledSequences
    many : Attributes
        Rows of the dense table that positions have.
    few : Attributes
        Single weights that positions have; their number is what the codes say.
    few_labels : array
        The label of each.
    steps : Attributes
        Single weights of attributes of steps.
    step_labels : array
        What each belongs to: two labels as previous · K + current; the current one where the label before is given.
    weights : array
        Those of sequences, or empty where each counts once.
    kept : dict
        Memory that passes use again: fresh pages for every pass would take longer than filling them.
    """

    sequences: LabelledSequences
    many: Attributes
    few: Attributes
    few_labels: Array
    steps: Attributes
    step_labels: Array
    weights: Floats
    kept: dict[int, Any] = field(default_factory=dict, repr=False)

    @property
    def offsets(self) -> Ints:
        """Where each sequence begins."""
        return self.sequences.offsets

    def ranges(self) -> list[tuple[int, int]]:
        """Return ranges of whole sequences, which threads take by turns."""
        n = min(max(self.sequences.n_positions // RANGE_POSITIONS, 1), MOST_RANGES)
        return _cut(self.offsets, 0, self.sequences.n_sequences, -(-self.sequences.n_positions // n))

    def pieces(self, low: int, high: int, positions: int = PIECE_POSITIONS) -> Iterator[tuple[int, int]]:
        """Yield small ranges of whole sequences."""
        yield from _cut(self.offsets, low, high, positions)


def _cut(offsets: Ints, low: int, high: int, positions: int) -> list[tuple[int, int]]:
    """Cut a range of sequences into ranges of about so many positions, and of one sequence at least."""
    cut = []
    while low < high:
        reach = int(np.searchsorted(offsets, offsets[low] + positions, "right")) - 1
        end = min(max(reach, low + 1), high)
        cut.append((low, end))
        low = end
    return cut


class ReadyColumns(SequenceColumns):
    """The columns of a block of sequences that were made ready."""

    def __init__(self, name: str, ready: Ready) -> None:
        super().__init__(name, ready.sequences)
        self.ready = ready


def ready_of(block: Block, layout: ChainLayout, table: DenseTable, *, given: bool = False) -> Ready:
    """Return a block's sequences, made ready for passes unless they are."""
    columns = block.columns
    if isinstance(columns, ReadyColumns):
        return columns.ready
    assert isinstance(columns, SequenceColumns)
    return made_ready(columns.sequences, layout, table, block.weights, given=given)


def made_ready(
    sequences: LabelledSequences,
    layout: ChainLayout,
    table: DenseTable,
    weights: Array | None = None,
    *,
    given: bool = False,
) -> Ready:
    """Return sequences made ready; ``weights`` are those of positions, and ``given`` says that labels before are."""
    row, n_weights = table.row, np.diff(layout.starts)
    many = _kept(sequences.states, row >= 0)
    rows = Attributes(many.starts, row[many.codes], many.values, table.n_rows)
    few = _single_weights(_kept(sequences.states, (row < 0) & (n_weights > 0)), layout.starts)
    short = np.uint8 if layout.n_labels <= 256 else np.uint16 if layout.n_labels <= 65536 else np.int32
    steps, step_labels = _steps(sequences, layout, given)
    labels = layout.labels[few.codes].astype(short)
    return Ready(sequences, rows, few, labels, steps, step_labels, _by_sequence(sequences, weights))


def _single_weights(rows: Attributes, starts: Ints) -> Attributes:
    """Write out, in place of every attribute, its weights: one loop over many is faster than many short ones."""
    n_weights = np.diff(starts)[rows.codes]
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(n_weights)])
    which = np.repeat(starts[:-1][rows.codes] - ends[:-1], n_weights) + np.arange(ends[-1])
    values = None if rows.values is None else np.repeat(rows.values, n_weights)
    return Attributes(ends[rows.starts], which.astype(np.int32), values, int(starts[-1]))


def _steps(sequences: LabelledSequences, layout: ChainLayout, given: bool) -> tuple[Attributes, NDArray[np.int32]]:
    """Return the single weights of attributes of steps; of those, if given, that the label before allows."""
    if sequences.steps is None or not len(layout.step_pairs):
        return no_attributes(sequences.n_positions), np.zeros(0, np.int32)
    steps = _single_weights(sequences.steps, layout.step_starts)
    position = np.repeat(np.arange(sequences.n_positions), np.diff(steps.starts))
    pairs = layout.step_pairs[steps.codes]
    inner = np.ones(sequences.n_positions, bool)
    inner[sequences.offsets[:-1][sequences.lengths > 0]] = False
    keep = inner[position]
    if given:
        assert sequences.labels is not None
        before = np.concatenate([np.zeros(1, np.int32), sequences.labels[:-1]]) if len(inner) else sequences.labels
        keep &= pairs // layout.n_labels == before[position]
        pairs = pairs % layout.n_labels
    return _masked(steps, keep), pairs[keep]


def _by_sequence(sequences: LabelledSequences, weights: Array | None) -> Floats:
    if weights is None:
        return np.zeros(0)
    found = np.ones(sequences.n_sequences)
    some = sequences.lengths > 0
    found[some] = weights[sequences.offsets[:-1][some]]
    return found


def _kept(rows: Attributes, wanted: Bools) -> Attributes:
    """Return rows with the wanted attributes only."""
    return _masked(rows, wanted[rows.codes])


def _masked(rows: Attributes, keep: Bools) -> Attributes:
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(keep, dtype=np.int64)])
    values = None if rows.values is None else rows.values[keep]
    return Attributes(ends[rows.starts], rows.codes[keep], values, rows.n_attributes)


@dataclass(frozen=True, eq=False)
class ReadyTable:
    """A table of sequences that were made ready, for a source of many passes."""

    schema: Any
    held: tuple[Block, ...]
    description: str = "the sequences"

    @property
    def n_expected(self) -> int:
        """Positions that there are."""
        return sum(block.n_rows for block in self.held)

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks."""
        yield from self.held

    def settled(self) -> Any:
        """Return the labels."""
        from suffice.data.block import SettledTable

        return SettledTable(self.schema, ())

    def with_schema(self, schema: Any) -> ReadyTable:
        """Return the table itself: its states are final."""
        return self


Table = DenseTable
"""The name in pickles of 0.1.0."""
