"""Windows with a column that marks the first of every sequence, and with remarks of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from suffice.data.block import Block, SettledTable
from suffice.data.held_symbols import HeldSymbols
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.data.windows import WindowTable

FIRST = "[first]"
"""The column that says whether a window is the first of its sequence: what it sees before it are the first values."""
MARK = Variable(FIRST, (False, True))


@dataclass(frozen=True)
class MarkedWindows:
    """The windows of sequences in memory, with remarks, and with the column `FIRST` where it is wanted.

    Examples
    --------
    >>> from suffice.data.sequences import open_windows
    >>> windows = open_windows([[1.0, 2.0, 4.0], [0.5, 1.0]], ["x"], 1, pad=False, continuous=True)
    >>> next(MarkedWindows(windows, marked=True).blocks()).columns["[first]"]
    array([1, 0, 1], dtype=int8)
    """

    table: WindowTable
    marked: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """A few words on the sequences."""
        return self.table.description

    @property
    def n_expected(self) -> int | None:
        """The number of windows."""
        return self.table.n_expected

    @property
    def schema(self) -> Schema:
        """The variables of the windows, and the mark."""
        return self._marked(self.table.schema)

    def _marked(self, schema: Schema) -> Schema:
        return Schema((*schema.variables, MARK)) if self.marked else schema

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of the windows, marked."""
        if not self.marked:
            yield from self.table.blocks()
            return
        symbols = self.table.symbols
        assert isinstance(symbols, HeldSymbols)
        windows = np.maximum(symbols.lengths - self.table.order, 0)
        first = (np.cumsum(windows) - windows)[windows > 0]
        for block in self.table.blocks():
            mark = np.zeros(block.n_rows, np.int8)
            low, high = np.searchsorted(first, [block.start, block.start + block.n_rows])
            mark[first[low:high] - block.start] = 1
            yield replace(block, schema=self._marked(block.schema), columns={**block.columns, FIRST: mark})

    def settled(self) -> SettledTable:
        """Return what is known of the windows, the remarks added."""
        found = self.table.settled()
        return replace(found, schema=self._marked(found.schema), remarks=(*found.remarks, *self.remarks))

    def with_schema(self, schema: Schema) -> MarkedWindows:
        """Return the same windows for another pass."""
        return self
