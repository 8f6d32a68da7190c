"""Sequences of which a hidden chain is learnt: one row a position, gaps kept, and blocks that never cut a sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import BLOCK_ROWS, Block, BlockColumns, SettledTable, code_dtype
from suffice.data.held_symbols import HeldSymbols
from suffice.data.schema import Schema, SchemaLike
from suffice.data.sequences import Sequences
from suffice.data.stream import KEEP
from suffice.data.table import UNKNOWN_POLICIES, Weights
from suffice.data.windows import Symbols
from suffice.errors import ArgumentError, Passed, Remedy, Text, require_choice
from suffice.types import Array

Whole = NDArray[np.int64]


class HiddenColumns(BlockColumns):
    """The columns of a block of whole sequences.

    Attributes
    ----------
    columns : dict of str to array
        Codes, −1 where missing, or numbers, NaN where missing; shape (n_positions,) each.
    offsets : array of int64, shape (n_sequences + 1,)
        Where sequences begin, and where the last one ends.
    weights : array, shape (n_sequences,)
    first : int
        The number of the first sequence, from 0.
    """

    indivisible = True

    def __init__(self, columns: dict[str, Array], offsets: Whole, weights: Array, first: int) -> None:
        self.columns, self.offsets, self.weights, self.first = columns, offsets, weights, first

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)


@dataclass(frozen=True)
class HiddenTable:
    """Sequences in memory as a table whose rows are positions.

    Examples
    --------
    >>> table = open_hidden(Sequences(["ab", "", "b"]), ["x"])
    >>> columns = next(table.blocks()).columns
    >>> columns["x"].tolist(), columns.offsets.tolist()
    ([0, 1, 1], [0, 2, 2, 3])
    """

    symbols: HeldSymbols
    block_rows: int = BLOCK_ROWS

    @property
    def schema(self) -> Schema:
        """The variables that are observed."""
        return self.symbols.schema

    @property
    def description(self) -> str:
        """A few words on the sequences."""
        return self.symbols.description

    @property
    def n_expected(self) -> int:
        """The length of all sequences together."""
        return self.symbols.n_positions

    @property
    def lengths(self) -> Whole:
        """How long each sequence is."""
        return self.symbols.lengths

    def blocks(self) -> Iterator[Block]:
        """Yield the sequences in order, none of them cut."""
        lengths, weights = self.symbols.lengths, self.symbols.weights
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        each = np.ones(len(lengths)) if weights is None else np.asarray(weights, np.float64)
        low = 0
        while True:
            reach = int(np.searchsorted(offsets, offsets[low] + self.block_rows, "right")) - 1
            high = min(max(reach, low + 1), len(lengths))
            begin, end = int(offsets[low]), int(offsets[high])
            columns = HiddenColumns(
                {name: values[begin:end] for name, values in self.symbols.columns.items()},
                offsets[low : high + 1] - begin,
                each[low:high],
                low,
            )
            per_row = None if weights is None else np.repeat(weights[low:high], lengths[low:high])
            yield Block(self.schema, columns, per_row, end - begin, begin, 0, self.n_expected)
            low = high
            if low >= len(lengths):
                return

    def settled(self) -> SettledTable:
        """Return the variables and the remarks, which were known from the start."""
        return self.symbols.settled()

    def with_schema(self, schema: Schema) -> HiddenTable:
        """Return the table itself: its states are final."""
        return self


def open_hidden(
    sequences: Sequences,
    variables: Sequence[str] | None,
    *,
    schema: SchemaLike | None = None,
    missing: str = "error",
    weights: Weights = None,
    unknown_states: str = "error",
) -> HiddenTable:
    """Open sequences as whole sequences, held in memory.

    Parameters
    ----------
    sequences : Sequences
    variables : sequence of str or None
        The variables, by the names of their columns; None for those of the sequences. Numbers with a fraction are
        continuous, unless they are declared otherwise.
    schema : mapping or Schema, optional
    missing : {"error", "keep"}
        Whether values may be missing.
    weights : sequence of numbers, optional
        One a sequence.
    unknown_states : str
    """
    require_choice("unknown_states", unknown_states, UNKNOWN_POLICIES)
    if missing == "drop":
        raise ArgumentError(
            Passed("missing", "drop"),
            " would make neighbours of positions that are none. Pass ",
            Remedy("missing", "em"),
            ", under which what is missing was not observed, or cut the sequences there.",
        )
    if missing != KEEP:
        require_choice("missing", missing, ("error", "em"))
    symbols = sequences.symbols(
        variables,
        continuous=None,
        schema=schema,
        weights=weights,
        unknown_states=unknown_states,
        gaps=missing != "error",
        advice=Text(" Or pass ", Remedy("missing", "em"), ", under which what is missing was not observed."),
    )
    return HiddenTable(held_of(symbols))


def held_of(symbols: Symbols) -> HeldSymbols:
    """Return sequences as such in memory, those of a text file read from beginning to end."""
    if isinstance(symbols, HeldSymbols):
        return symbols
    pieces = list(symbols.pieces())
    settled = symbols.settled()
    (name,) = settled.schema
    variable = settled.schema[name]
    codes = np.concatenate([piece.columns[name] for piece in pieces])
    if name in settled.recoding:
        codes = settled.recoding[name][codes]
    begins = np.cumsum([0, *(piece.n_positions for piece in pieces[:-1])])
    starts = np.concatenate([piece.starts + begin for piece, begin in zip(pieces, begins, strict=True)])
    lengths = np.diff(np.append(starts, len(codes))).astype(np.int64)
    columns = {name: codes.astype(code_dtype(variable.n_states))}
    return HeldSymbols(settled.schema, columns, lengths, None, symbols.description, settled.remarks)
