"""Sequences that are in memory: their values as codes or numbers, one sequence after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import BLOCK_ROWS, SettledTable
from suffice.data.encode import encode, missing_in
from suffice.data.float_kinds import Trait, refuse_unclear
from suffice.data.raw import RawColumn
from suffice.data.schema import Declaration, Schema
from suffice.data.stream import checked_weights
from suffice.data.table import Weights
from suffice.data.variable import Variable
from suffice.data.windows import SequencePiece
from suffice.errors import DataError, listing, shown, suggestion
from suffice.text import plural
from suffice.types import Array


@dataclass(frozen=True)
class RawSequences:
    """What a reader of sequences hands over.

    Attributes
    ----------
    columns : dict of str to RawColumn
        The values of all sequences, one sequence after the other.
    lengths : array of int64, shape (n_sequences,)
    description : str
    names : sequence or None
        What errors call the sequences; their numbers without it.
    text : bool
        The values are text as a file wrote it.
    remarks : tuple of str
    """

    columns: dict[str, RawColumn]
    lengths: NDArray[np.int64]
    description: str
    names: tuple[Any, ...] | None = None
    text: bool = False
    remarks: tuple[str, ...] = ()

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each sequence begins."""
        return np.cumsum(self.lengths) - self.lengths

    def place(self, position: int) -> str:
        """Say ``sequence 3, position 17``."""
        number = int(np.searchsorted(self.starts, position, side="right")) - 1
        name = f"{number + 1}" if self.names is None else shown(self.names[number])
        return f"sequence {name}, position {position - int(self.starts[number]) + 1}"


@dataclass(frozen=True)
class HeldSymbols:
    """Sequences in memory.

    Attributes
    ----------
    schema : Schema
    columns : dict of str to array
        Codes or numbers of all sequences, shape (n_positions,) each.
    lengths : array of int64, shape (n_sequences,)
    weights : array, shape (n_sequences,), or None
    """

    schema: Schema
    columns: dict[str, Array]
    lengths: NDArray[np.int64]
    weights: Array | None = None
    description: str = "sequences"
    remarks: tuple[str, ...] = ()

    @property
    def n_positions(self) -> int:
        """The length of all sequences together."""
        return int(self.lengths.sum())

    def n_windows(self, order: int) -> int:
        """Return how many positions have so many predecessors."""
        return int(np.maximum(self.lengths - order, 0).sum())

    def pieces(self) -> Iterator[SequencePiece]:
        """Yield the positions in order, a block's worth at a time."""
        n = self.n_positions
        held = self.lengths > 0
        lengths = self.lengths[held]
        starts = np.cumsum(lengths) - lengths
        weights = None if self.weights is None else self.weights[held]
        for low in range(0, max(n, 1), BLOCK_ROWS):
            high = min(low + BLOCK_ROWS, n)
            inside = starts[np.searchsorted(starts, low) : np.searchsorted(starts, high)] - low
            columns = {name: values[low:high] for name, values in self.columns.items()}
            each = None
            if weights is not None:
                begins = np.maximum(starts, low)
                each = np.repeat(weights, np.maximum(np.minimum(starts + lengths, high) - begins, 0))
            yield SequencePiece(self.schema, columns, inside, each)

    def settled(self) -> SettledTable:
        """Return the variables and the remarks, which were known from the start."""
        return SettledTable(self.schema, self.remarks)

    def with_schema(self, schema: Schema) -> HeldSymbols:
        """Return the sequences themselves: their states are final."""
        return self


def held(
    raw: RawSequences,
    declared: Mapping[str, Declaration],
    continuous: bool | None,
    weights: Weights = None,
    unknown_states: str = "error",
    gaps: bool = False,
    advice: str = "",
) -> HeldSymbols:
    """Encode sequences that are in memory.

    Without a word on whether they are ``continuous``, each column is what a table's would be. Missing values are kept
    as −1 and NaN with ``gaps``, and refused without; ``advice`` says what else the caller takes.
    """
    variables: list[Variable] = []
    columns: dict[str, Array] = {}
    remarks: list[str] = []
    traits: set[Trait] = set()
    for name, column in raw.columns.items():
        usual = None if continuous is None else Declaration("continuous" if continuous else "discrete")
        declaration = declared.get(name, usual)
        if unknown_states == "error" and declaration is not None:
            _require_states(raw, column, declaration)
        encoded = encode(column, declaration, False, unknown_states, raw.text)
        _require_values(raw, name, encoded.values, gaps, advice)
        variables.append(encoded.variable)
        columns[name] = encoded.values
        remarks += encoded.remarks
        traits |= encoded.traits
    refuse_unclear(traits)
    return HeldSymbols(
        Schema(tuple(variables)),
        columns,
        raw.lengths,
        sequence_weights(weights, len(raw.lengths)),
        raw.description,
        (*remarks, *raw.remarks),
    )


def _require_states(raw: RawSequences, column: RawColumn, declaration: Declaration) -> None:
    """Refuse values outside the declared states, and say where the first one stands."""
    if declaration.states is None:
        return
    variable = Variable(column.name, declaration.states)
    unknown = [code for code, label in enumerate(column.labels) if variable.find(label) is None]
    at = np.flatnonzero(np.isin(column.codes, unknown)) if unknown else np.zeros(0, np.int64)
    if len(at):
        label = column.labels[column.codes[at[0]]]
        raise DataError(
            f"Variable {column.name!r}, {raw.place(int(at[0]))}: state {shown(label)} is not one of "
            f"{listing(variable.labels)}.{suggestion(label, variable.labels)} Add it to the states that were declared."
        )


def _require_values(raw: RawSequences, name: str, values: Array, keep: bool, advice: str) -> None:
    """Refuse gaps: what comes before and after one would become neighbours. Hidden chains may keep them."""
    if values.dtype.kind != "f" and (keep or not values.size or values.min() >= 0):
        return
    gaps = missing_in(values)
    if gaps.any() and not keep:
        own = "" if values.dtype.kind == "f" else " give it a state of its own,"
        raise DataError(
            f"Variable {name!r}, {raw.place(int(np.argmax(gaps)))}: the value is missing "
            f"({plural(int(gaps.sum()), 'missing value')} in all). Fill it in,{own} or cut the sequence there into two."
            + advice
        )
    if values.dtype.kind == "f" and np.isinf(values).any():
        at = int(np.argmax(np.isinf(values)))
        raise DataError(f"Variable {name!r}, {raw.place(at)}: the value {values[at]:g} is not finite. Correct it.")


def sequence_weights(weights: Weights, n_sequences: int) -> Array | None:
    """Return one weight a sequence."""
    if weights is None:
        return None
    if isinstance(weights, str):
        raise DataError(
            f"Sequences are weighted one by one, so the 'weights' argument must hold one number for each of the "
            f"{plural(n_sequences, 'sequence')}, in order. Got the name of a column, {weights!r}, instead."
        )
    try:
        array = np.asarray(weights)
    except ValueError:
        array = np.zeros(0, object)
    if array.shape != (n_sequences,) or array.dtype.kind not in "iufb":
        raise DataError(
            f"The 'weights' argument must hold one number a sequence, shape ({n_sequences},). Got {shown(weights)} "
            "instead."
        )
    return checked_weights(array, "the 'weights' argument")
