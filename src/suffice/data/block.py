"""Blocks and tables: the form in which rows reach the statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from suffice.data.schema import Schema
from suffice.types import Array, Codes, Columns

BLOCK_ROWS = 1 << 20
EXACT = 2**53
"""Whole numbers below this have exact floating-point counterparts."""


def code_dtype(n_states: int) -> type[np.int8] | type[np.int16] | type[np.int32]:
    """Return the smallest signed type that holds codes of so many states, and the marks below zero."""
    return np.int8 if n_states <= 127 else np.int16 if n_states <= 32767 else np.int32


class BlockColumns(Mapping[str, Array]):
    """Columns by name that belong together, such as those of a matrix.

    Attributes
    ----------
    indivisible : bool
        Whether the rows are never cut, since they are parts of sequences or of graphs.
    """

    indivisible: ClassVar[bool] = False

    @property
    def n_bytes(self) -> int:
        """Memory of the codes and values."""
        return sum(column.nbytes for column in self.values())

    def rows(self, low: int, high: int) -> Columns:
        """Return some consecutive rows."""
        return {name: values[low:high] for name, values in self.items()}


class PlainColumns(BlockColumns):
    """Columns of which each is an array of its own."""

    def __init__(self, columns: Columns) -> None:
        self._arrays = columns

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


@dataclass(frozen=True)
class Block:
    """Some complete rows of a table.

    Attributes
    ----------
    schema : Schema
        The variables that the codes refer to; the states of a streamed table grow from block to block.
    columns : dict of str to array
        Codes of discrete variables (signed integers), values of continuous ones (float64); shape (n_rows,) each.
    weights : array, shape (n_rows,), or None
        Row weights, integers or floats; None means one each.
    n_rows : int
    start : int
        Position of the first row in the table.
    n_dropped : int
        Rows left out of this block because of missing values.
    n_table : int
        Rows of the whole table, as far as they are known; 0 when they are not.
    """

    schema: Schema
    columns: Columns
    weights: Array | None
    n_rows: int
    start: int = 0
    n_dropped: int = 0
    n_table: int = 0

    @property
    def weight(self) -> float:
        """Sum of the row weights."""
        return float(self.n_rows) if self.weights is None else float(self.weights.sum())

    @property
    def n_bytes(self) -> int:
        """Memory of the codes and values."""
        return self._columns.n_bytes

    def split(self, size: int) -> Iterator[Block]:
        """Yield the rows in order, at most ``size`` at a time; a small or an indivisible block yields itself."""
        if self.n_rows <= size or self._columns.indivisible:
            yield self
            return
        for low in range(0, max(self.n_rows, 1), size):
            high = min(low + size, self.n_rows)
            columns = self._columns.rows(low, high)
            weights = None if self.weights is None else self.weights[low:high]
            n_dropped = 0 if low else self.n_dropped
            yield Block(self.schema, columns, weights, high - low, self.start + low, n_dropped, self.n_table)

    @property
    def _columns(self) -> BlockColumns:
        return self.columns if isinstance(self.columns, BlockColumns) else PlainColumns(self.columns)


@dataclass(frozen=True)
class SettledTable:
    """What is known of a table after a pass.

    Attributes
    ----------
    schema : Schema
        The variables with their states in final order.
    remarks : tuple of str
        What was decided on the way.
    recoding : dict of str to array
        For variables whose blocks had another order: the final code of each code.
    traits : frozenset of (str, str)
        What the floats of a part of a table are; see `suffice.data.float_kinds`.
    """

    schema: Schema
    remarks: tuple[str, ...]
    recoding: dict[str, Codes] = field(default_factory=dict)
    traits: frozenset[tuple[str, str]] = frozenset()


class Table(Protocol):
    """A table in codes: re-iterable blocks, and what was decided while reading it."""

    @property
    def schema(self) -> Schema:
        """The variables; a streamed table knows all of their states only after a pass."""

    @property
    def description(self) -> str:
        """A few words, such as ``CSV file 'asia.csv'``."""

    @property
    def n_expected(self) -> int | None:
        """The number of rows, where it is known beforehand."""

    def blocks(self) -> Iterator[Block]:
        """Yield the rows in order; a table without rows yields one empty block."""

    def settled(self) -> SettledTable:
        """Return, after a pass, the variables with their states in final order, and what was decided."""

    def with_schema(self, schema: Schema) -> Table:
        """Return the same table read against a known schema, for another pass."""


@dataclass(frozen=True)
class EncodedTable:
    """A whole table in codes, in memory.

    Attributes
    ----------
    n_read, n_dropped : int
        Rows that the table has, and rows left out because of missing values.
    remarks : tuple of str
        Every choice that was made on the way; they become notes of the fit.
    traits : frozenset of (str, str)
        As in `SettledTable`.
    """

    schema: Schema
    columns: dict[str, Array]
    weights: Array | None
    n_read: int
    n_dropped: int
    remarks: tuple[str, ...]
    description: str
    traits: frozenset[tuple[str, str]] = frozenset()

    @property
    def n_rows(self) -> int:
        """Rows that are kept."""
        return self.n_read - self.n_dropped

    @property
    def n_expected(self) -> int:
        """Rows that the table has."""
        return self.n_read

    def blocks(self) -> Iterator[Block]:
        """Yield the one block that the table is."""
        yield Block(self.schema, self.columns, self.weights, self.n_rows, 0, self.n_dropped, self.n_read)

    def settled(self) -> SettledTable:
        """Return the schema and the remarks, which were known from the start."""
        return SettledTable(self.schema, self.remarks, traits=self.traits)

    def with_schema(self, schema: Schema) -> EncodedTable:
        """Return the table itself: its states are final."""
        return self


def whole(weights: Array) -> Array:
    """Return weights as integers when they all are whole numbers, so that counts stay exact; else as float64."""
    if weights.dtype.kind in "iub":
        return weights.astype(np.int64)
    as_float = weights.astype(np.float64)
    exact = np.isfinite(as_float).all() and (as_float == np.trunc(as_float)).all() and (abs(as_float) < EXACT).all()
    return as_float.astype(np.int64) if exact else as_float
