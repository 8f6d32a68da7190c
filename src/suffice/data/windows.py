"""Windows: sequences as a table whose rows are positions, with the value there and the values before it as columns.

The value of ``rain`` one step before is the column ``rain[-1]``, two steps before ``rain[-2]``. What a sequence's first
positions see before its start depends on ``pad``: with it they see the state `START`, so that every position has a
row; without it only positions have rows that have all their predecessors.

Each row carries its own predecessors. So a chain of any order is one table of counts and an autoregression one matrix
of moments, collected by the same pass over blocks as any other statistic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block, BlockColumns, SettledTable, code_dtype
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import DataError
from suffice.types import Array

MOST_LAGS = 3
"""Windows of so many predecessors are counted without columns of lags."""
START = "‹start›"
"""The state that stands for all positions before a sequence begins."""


def lagged(name: str, steps: int) -> str:
    """Return the name of a variable some steps before.

    >>> lagged("rain", 2), lagged("rain", 0)
    ('rain[-2]', 'rain')
    """
    return f"{name}[-{steps}]" if steps else name


def window_names(variables: Sequence[str], order: int) -> tuple[str, ...]:
    """Return the columns of windows: the longest lag first, the values themselves last.

    >>> window_names(["x", "y"], 1)
    ('x[-1]', 'y[-1]', 'x', 'y')
    """
    return tuple(lagged(name, steps) for steps in range(order, -1, -1) for name in variables)


def lag_variable(variable: Variable, steps: int, pad: bool) -> Variable:
    """Return a variable some steps before; padded ones have the state `START` first, and their states as text."""
    name = lagged(variable.name, steps)
    if not steps or not pad or variable.states is None:
        return Variable(name, variable.states, variable.declared)
    if START in variable.states:
        raise DataError(
            f"Variable {variable.name!r} has the state {START!r}, which stands for the time before a sequence begins. "
            "Rename it."
        )
    return Variable(name, (START, *map(str, variable.states)), variable.declared)


@lru_cache(maxsize=64)
def window_schema(schema: Schema, order: int, pad: bool) -> Schema:
    """Return the variables of the windows of some variables."""
    return Schema(
        tuple(lag_variable(variable, steps, pad) for steps in range(order, -1, -1) for variable in schema.variables)
    )


@dataclass(frozen=True)
class SequencePiece:
    """Some consecutive positions of sequences that follow each other.

    Attributes
    ----------
    schema : Schema
        The variables, as far as their states are known.
    columns : dict of str to array
        Codes or numbers, shape (n,) each.
    starts : array of int64
        The positions, from 0, at which a sequence begins; the first sequence may have begun in an earlier piece.
    weights : array, shape (n,), or None
        The weight of each position's sequence.
    """

    schema: Schema
    columns: dict[str, Array]
    starts: NDArray[np.int64]
    weights: Array | None = None

    @property
    def n_positions(self) -> int:
        """How many positions there are."""
        return len(next(iter(self.columns.values())))


class Symbols(Protocol):
    """Sequences in codes or numbers, one after the other, in pieces."""

    @property
    def schema(self) -> Schema:
        """The variables; a stream knows all of their states only after a pass."""

    @property
    def description(self) -> str:
        """A few words, such as ``3 sequences``."""

    @property
    def n_positions(self) -> int | None:
        """The length of all sequences together, where it is known beforehand."""

    def n_windows(self, order: int) -> int | None:
        """Return how many positions have so many predecessors, where it is known beforehand."""

    def pieces(self) -> Iterator[SequencePiece]:
        """Yield the positions in order; may be called again for another pass."""

    def settled(self) -> SettledTable:
        """Return, after a pass, the variables with their states in final order, and what was decided."""

    def with_schema(self, schema: Schema) -> Symbols:
        """Return the same sequences read against known states, for another pass."""


@dataclass(frozen=True)
class Window:
    """All windows of a piece in short: the codes themselves, from which every lag follows.

    Attributes
    ----------
    names : tuple of str
        The columns of windows, the longest lag first and the symbol last.
    values : array of int8, shape (n,)
    starts : array of int64
        Where sequences begin.
    before : array of int8, shape (order,)
        The predecessors of the first position, the oldest first: 0 for the time before a start, else codes plus 1.
    n_states : int
    """

    names: tuple[str, ...]
    values: NDArray[np.int8]
    starts: NDArray[np.int64]
    before: NDArray[np.int8]
    n_states: int


class LagColumns(BlockColumns):
    """The columns of windows by name; lags are made when they are asked for, which counting does not."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self._made: dict[str, Array] = {window.names[-1]: window.values}

    @property
    def n_bytes(self) -> int:
        """Memory of the codes."""
        return int(self.window.values.nbytes)

    def __getitem__(self, name: str) -> Array:
        if name not in self._made:
            window = self.window
            steps = len(window.before) - window.names.index(name)
            self._made[name] = _lag(window.values, window.before, window.starts, steps, True)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.window.names)

    def __len__(self) -> int:
        return len(self.window.names)


@dataclass(frozen=True)
class WindowTable:
    """The table of windows of sequences.

    Attributes
    ----------
    symbols : Symbols
    order : int
        How many predecessors a row has.
    pad : bool
        Whether positions near a start have rows, which see the state `START`; discrete variables only.

    Examples
    --------
    >>> from suffice.data.sequences import open_windows
    >>> table = open_windows(["ab", "b"], ["x"], 1, pad=True)
    >>> table.schema["x[-1]"].states, table.schema["x"].states
    (('‹start›', 'a', 'b'), ('a', 'b'))
    >>> dict(next(table.blocks()).columns)
    {'x[-1]': array([0, 1, 0], dtype=int8), 'x': array([0, 1, 1], dtype=int8)}
    """

    symbols: Symbols
    order: int
    pad: bool

    @property
    def description(self) -> str:
        """A few words on the sequences."""
        return self.symbols.description

    @property
    def n_expected(self) -> int | None:
        """The number of rows, where it is known beforehand."""
        return self.symbols.n_windows(0 if self.pad else self.order)

    @property
    def schema(self) -> Schema:
        """The variables of the windows."""
        return window_schema(self.symbols.schema, self.order, self.pad)

    def blocks(self) -> Iterator[Block]:
        """Yield one block a piece, every position with its predecessors."""
        tails: dict[str, Array] = {}
        row, since_start = 0, 0
        known, schema, n_table = None, self.schema, self.n_expected or 0
        for piece in self.symbols.pieces():
            if piece.schema is not known:
                known, schema = piece.schema, window_schema(piece.schema, self.order, self.pad)
            window = self._window(piece, tails)
            if window is not None:
                n_rows = piece.n_positions
                yield Block(schema, window, piece.weights, n_rows, row, 0, max(n_table, row + n_rows))
                row += n_rows
                continue
            columns = {
                lagged(name, steps): column
                for name, values in piece.columns.items()
                for steps, column in self._lags(piece.schema[name], values, piece.starts, tails).items()
            }
            weights, n_rows = piece.weights, piece.n_positions
            if not self.pad:
                kept = _with_predecessors(n_rows, piece.starts, since_start, self.order)
                columns = {name: column[kept] for name, column in columns.items()}
                weights = None if weights is None else weights[kept]
                n_rows = len(range(*kept.indices(n_rows))) if isinstance(kept, slice) else len(kept)
            begins = piece.starts[-1] if len(piece.starts) else -since_start
            since_start = int(min(piece.n_positions - begins, self.order))
            ordered = {name: columns[name] for name in schema}
            yield Block(schema, ordered, weights, n_rows, row, 0, max(n_table, row + n_rows))
            row += n_rows

    def _lags(
        self, variable: Variable, values: Array, starts: NDArray[np.int64], tails: dict[str, Array]
    ) -> Mapping[int, Array]:
        """Return a variable's values at every number of steps before; keep the last ones for the next piece."""
        if not self.order:
            return {0: values}
        shift = self.pad and variable.is_discrete
        before = np.zeros(self.order, code_dtype(variable.n_states + 1) if shift else values.dtype)
        before[:] = tails.get(variable.name, 0)
        tails[variable.name] = _tail(values, before, starts, shift)
        lags = {steps: _lag(values, before, starts, steps, shift) for steps in range(1, self.order + 1)}
        return {0: values, **lags}

    def _window(self, piece: SequencePiece, tails: dict[str, Array]) -> LagColumns | None:
        """Return the columns of one discrete variable with short codes, its lags to be made only if asked for."""
        name, values = next(iter(piece.columns.items()))
        plain = len(piece.columns) == 1 and values.dtype == np.int8 and values.flags.c_contiguous
        if not (self.pad and plain and 1 <= self.order <= MOST_LAGS and piece.schema[name].n_states < 127):
            return None
        before = np.zeros(self.order, np.int8)
        before[:] = tails.get(name, 0)
        tails[name] = _tail(values, before, piece.starts, True)
        names = window_names([name], self.order)
        return LagColumns(Window(names, values, piece.starts, before, piece.schema[name].n_states))

    def settled(self) -> SettledTable:
        """Return the variables with their states in final order, and what was decided."""
        base = self.symbols.settled()
        recoding = {}
        for name, order in base.recoding.items():
            recoding[name] = order
            for steps in range(1, self.order + 1):
                recoding[lagged(name, steps)] = np.append(0, order + 1) if self.pad else order
        return SettledTable(window_schema(base.schema, self.order, self.pad), base.remarks, recoding)

    def with_schema(self, schema: Schema) -> WindowTable:
        """Return the same windows with known states, for another pass."""
        base = schema.select(self.symbols.schema)
        return WindowTable(self.symbols.with_schema(base), self.order, self.pad)


def _with_predecessors(
    n_positions: int, starts: NDArray[np.int64], since_start: int, order: int
) -> slice | NDArray[np.int64]:
    """Return the positions that have all their predecessors; ``since_start`` many came before the first one."""
    if not len(starts) or (len(starts) == 1 and starts[0] == 0):
        begin = min(n_positions, order if len(starts) else max(0, order - since_start))
        return slice(begin, n_positions)
    kept = np.ones(n_positions, bool)
    kept[: max(0, order - since_start)] = False
    after = (starts[:, None] + np.arange(order)).reshape(-1)
    kept[after[after < n_positions]] = False
    return np.flatnonzero(kept)


def _lag(values: Array, before: Array, starts: NDArray[np.int64], steps: int, shift: bool) -> Array:
    """Return the values so many steps before; codes are raised by one, 0 being the time before the start."""
    column = np.empty(len(values), before.dtype)
    column[:steps] = before[len(before) - steps :][: len(values)]
    np.add(values[: max(len(values) - steps, 0)], int(shift), out=column[steps:], casting="unsafe")
    if shift and len(starts):
        after = (starts[:, None] + np.arange(steps)).reshape(-1)
        column[after[after < len(column)]] = 0
    return column


def _tail(values: Array, before: Array, starts: NDArray[np.int64], shift: bool) -> Array:
    """Return the predecessors of what follows a piece."""
    k = len(before)
    last = np.add(values[max(len(values) - k, 0) :], int(shift), dtype=before.dtype, casting="unsafe")
    tail = np.concatenate([before, last])[-k:]
    if shift and len(starts):
        tail[: max(0, int(starts[-1]) - (len(values) - k))] = 0
    return tail
