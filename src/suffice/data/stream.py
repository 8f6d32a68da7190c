"""Streamed tables: encoded piece by piece, in bounded memory whatever the table's size."""

from __future__ import annotations

import contextlib
import itertools
import operator
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import EXACT, Block, SettledTable, whole
from suffice.data.encode import ColumnEncoder, missing_in
from suffice.data.float_kinds import Trait, refuse_unclear, unclear_in
from suffice.data.raw import Batch, RawStream
from suffice.data.schema import Declaration, Schema, declarations
from suffice.errors import DataError, Remedy, Text, also, at_row
from suffice.text import plural
from suffice.types import Array, Codes, Columns

KEEP = "keep"
DROP = Text("pass ", Remedy("missing", "drop", "to leave out incomplete rows"))
"""What can be done about missing values by calls that can leave rows out."""
"""The policy that keeps gaps as they are, −1 or NaN; for evidence, not for fits."""


@dataclass(frozen=True)
class Policies:
    """How a table is to be read: declarations by column, roles, weights, and what to do with missing values.

    A ``part`` of a larger table tells what its floats are, and does not judge them. ``if_missing`` says what the call
    that reads the table can do about missing values, for the error.
    """

    columns: tuple[str, ...]
    declared: Mapping[str, Declaration]
    continuous: Collection[str] = ()
    weights: str | None = None
    missing: str = "error"
    unknown_states: str = "error"
    part: bool = False
    if_missing: str = ""

    def encoder(self, name: str, text: bool) -> ColumnEncoder:
        """Return a fresh encoder for one column."""
        declared = self.declared.get(name)
        return ColumnEncoder(name, declared, name in self.continuous, self.unknown_states, text, self.part)


@dataclass
class _Pass:
    """One pass over the pieces: its encoders, the first piece in codes, and columns whose numbers come later."""

    encoders: dict[str, ColumnEncoder]
    first: dict[str, Array]
    pieces: Iterator[tuple[Batch, int]]
    close: Callable[[], None]
    numbers: frozenset[str] = frozenset()
    _schema: Schema = field(default_factory=lambda: Schema(()))

    @property
    def schema(self) -> Schema:
        """The variables so far; the same object as before where no piece has shown another state."""
        variables = tuple(encoder.variable for encoder in self.encoders.values())
        before = self._schema.variables
        if len(before) != len(variables) or not all(map(operator.is_, before, variables)):
            self._schema = Schema(variables)
        return self._schema


@dataclass(frozen=True)
class StreamedTable:
    """A table that is read in pieces.

    The first piece is read when the table is opened, to learn which variables are discrete. A pass reads the rest.
    """

    stream: RawStream
    policies: Policies
    text: bool
    remarks: tuple[str, ...] = ()
    _passes: list[_Pass] = field(default_factory=list, repr=False)
    _done: list[_Pass] = field(default_factory=list, repr=False)

    @property
    def description(self) -> str:
        """A few words on the table."""
        return self.stream.description

    @property
    def n_expected(self) -> int | None:
        """The number of rows, where it is known beforehand."""
        return self.stream.n_rows

    @property
    def schema(self) -> Schema:
        """The variables as far as they are known: after the first piece, or after the last pass."""
        if self._done:
            return self.settled().schema
        if not self._passes:
            self._passes.append(self._look_ahead(self._begin()))
        return self._passes[0].schema

    def _begin(self) -> _Pass:
        """Open the stream and encode its first piece, which tells the schema; the pass goes on from there."""
        if self.stream.once and self._done:
            raise DataError(f"The {self.description} can be read only once. Pass a file, a dataset or a frame instead.")
        policies = self.policies
        wanted = list(dict.fromkeys([*policies.columns, *([policies.weights] if policies.weights else [])]))
        batches = (batch for batch in self.stream.batches(wanted) if batch.n_rows)
        encoders = {name: policies.encoder(name, self.text) for name in policies.columns}
        encoded: dict[str, Array] = {}
        try:
            first = next(batches, None)
            if first is not None:
                encoded = {name: encoder.encode(first.column(name)) for name, encoder in encoders.items()}
        except BaseException:
            batches.close()  # the traceback would keep the file open
            raise
        pieces = itertools.chain([] if first is None else [first], batches)
        return _Pass(encoders, encoded, _numbered(pieces), batches.close)

    def _look_ahead(self, started: _Pass) -> _Pass:
        """Read on where the first piece does not tell what a column is: it has no value, or floats that could be codes.

        What is found to be unclear to the end is refused before anything is learnt.
        """
        open_still = [name for name, encoder in started.encoders.items() if encoder.is_open]
        lacking = {name for name in open_still if started.encoders[name].origin == "empty"}
        if self.stream.once or self.policies.missing == "error" or self.policies.part:
            return started
        if not lacking and not unclear_in(_traits(started.encoders)):
            return started
        ahead = {name: self.policies.encoder(name, self.text) for name in open_still}
        try:
            self._read_on(ahead, lacking)
        except BaseException:
            started.close()
            raise
        started.numbers = frozenset(name for name in lacking if ahead[name].continuous)
        for name in started.numbers:  # what was made of their first piece, which has no value, is no number
            started.encoders[name] = replace(self.policies, continuous=(name,), part=True).encoder(name, self.text)
            started.first.pop(name, None)
        return started

    def _read_on(self, encoders: Mapping[str, ColumnEncoder], lacking: Collection[str]) -> None:
        """Read some columns until it is clear what they are, or to the end."""
        with contextlib.closing(piece for piece in self.stream.batches(list(encoders))) as pieces:
            for piece in pieces:
                for name, encoder in encoders.items():
                    encoder.encode(piece.column(name))
                is_empty = any(encoders[name].origin in (None, "empty") for name in lacking)
                if not is_empty and not unclear_in(_traits(encoders)):
                    return
        refuse_unclear(_traits(encoders))

    def blocks(self) -> Iterator[Block]:
        """Yield one block a piece."""
        started = self._passes.pop() if self._passes else self._begin()
        empty, weight = True, 0.0
        try:
            for piece, start in started.pieces:
                block = self._block(started, piece, start)
                weight += block.weight
                require_exact(weight, f"column {self.policies.weights!r}")
                yield block
                empty = False
        finally:
            started.close()
        if not self.policies.part:
            refuse_unclear(_traits(started.encoders))
        self._done[:] = [started]
        if empty:
            columns: dict[str, Array] = {
                name: np.zeros(0, np.float64 if encoder.continuous else np.int8)
                for name, encoder in started.encoders.items()
            }
            yield Block(started.schema, columns, None, 0)

    def _block(self, current: _Pass, piece: Batch, start: int) -> Block:
        held, current.first = current.first, {}
        columns = {
            name: held[name] if name in held else encoder.encode(piece.column(name), start)
            for name, encoder in current.encoders.items()
        }
        weights = None
        if self.policies.weights:
            numbers = piece.column(self.policies.weights).numbers(start)
            weights = checked_weights(numbers, f"column {self.policies.weights!r}", start)
        keep = complete_rows(columns, self.policies.missing, start, self.policies.if_missing)
        n_dropped = 0
        if keep is not None:
            n_dropped = int((~keep).sum())
            columns = {name: values[keep] for name, values in columns.items()}
            weights = None if weights is None else weights[keep]
        n_table = max(self.n_expected or 0, start + piece.n_rows)
        return Block(current.schema, columns, weights, piece.n_rows - n_dropped, start, n_dropped, n_table)

    def settled(self) -> SettledTable:
        """Return the variables with their states in final order, and what was decided."""
        if not self._done:
            raise DataError("The states of a streamed table are known only after a pass over it.")
        encoders = self._done[0].encoders
        found = {name: encoder.settled() for name, encoder in encoders.items()}
        remarks = [remark for encoder in encoders.values() for remark in encoder.remarks()]
        recoding: dict[str, Codes] = {
            name: settled.order for name, settled in found.items() if settled.order is not None
        }
        schema = Schema(tuple(settled.variable for settled in found.values()))
        traits = _traits(encoders) if self.policies.part else frozenset()
        return SettledTable(schema, (*remarks, *self.remarks), recoding, traits)

    def with_schema(self, schema: Schema) -> StreamedTable:
        """Return the same table read against a known schema, for another pass."""
        known = replace(self.policies, declared=declarations(schema))
        return StreamedTable(self.stream, known, self.text, self.remarks, [], self._done if self.stream.once else [])


def _traits(encoders: Mapping[str, ColumnEncoder]) -> frozenset[Trait]:
    return frozenset[Trait]().union(*(encoder.traits for encoder in encoders.values()))


def _numbered(pieces: Iterator[Batch]) -> Iterator[tuple[Batch, int]]:
    """Yield each piece with the number of rows before it."""
    start = 0
    for piece in pieces:
        yield piece, start
        start += piece.n_rows


def checked_weights(weights: Array, where: str, first_row: int = 0) -> Array:
    """Return weights as exact numbers, or name the row whose weight is no frequency."""
    bad = ~np.isfinite(weights) | (weights < 0)
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(
            f"Weight {weights[row]:g} in {where}",
            at_row(first_row + row + 1),
            ", is not a frequency. Weights must be finite and not negative.",
        )
    with np.errstate(over="ignore"):
        require_exact(float(weights.sum(dtype=np.float64)), where)
    return whole(weights)


def require_exact(total: float, where: str) -> None:
    """Refuse weights whose sum is too large for exact counts."""
    if not total < EXACT:
        raise DataError(
            f"The weights in {where} add up to {total:.6g}, beyond the 2**53 up to which counts are exact. "
            "Divide them by a common factor."
        )


def or_else(advice: str) -> str:
    """Return what else can be done, as the end of a sentence."""
    parts = advice.parts if isinstance(advice, Text) else (advice,)
    return Text(also(", or ", *parts)) if advice else ""


def complete_rows(columns: Columns, missing: str, first_row: int = 0, if_missing: str = "") -> NDArray[np.bool_] | None:
    """Return which rows to keep, or None when all are complete, or incomplete ones are wanted."""
    if missing == KEEP:
        return None
    incomplete: NDArray[np.bool_] | None = None
    for name, values in columns.items():
        if values.dtype.kind != "f" and (not values.size or values.min() >= 0):
            continue
        gaps = missing_in(values)
        if not gaps.any():
            continue
        if missing == "error":
            raise DataError(
                f"Column {name!r}, row {first_row + int(np.argmax(gaps)) + 1}: the value is missing "
                f"({plural(int(gaps.sum()), 'missing value')} in the rows read so far). "
                "Fill it in",
                or_else(if_missing),
                ".",
            )
        incomplete = gaps if incomplete is None else incomplete | gaps
    return None if incomplete is None else ~incomplete
