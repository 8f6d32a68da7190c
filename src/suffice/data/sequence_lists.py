"""Sequences given as lists or arrays: of labels, of characters, of numbers or of vectors."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence, Set, Sized
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.held_symbols import RawSequences
from suffice.data.raw import CodedColumn, RawColumn
from suffice.data.readers import is_table_object, open_raw
from suffice.data.sequence_table import read_tables
from suffice.errors import DataError, shown
from suffice.text import plural
from suffice.types import Array

FIRST = 1 << 16
"""So many bytes are looked at for an alphabet, before all are translated by it."""
MOST_RUNS = 4
"""Alphabets of so many stretches of neighbouring bytes are found by subtraction: letters, digits, a space."""


def read_lists(
    data: Any, names: Sequence[str] | None, time: str | None = None, lengths: Sequence[int] | None = None
) -> RawSequences:
    """Read a list of sequences, or an array of them; ``lengths`` divide the rows of an array among sequences."""
    if lengths is not None:
        data = _divided(data, lengths)
    if isinstance(data, np.ndarray):
        return _of_array(data, names)
    sequences = list(data)
    if not sequences:
        return _labels([], names)
    kinds = {_kind(sequence) for sequence in sequences}
    if "value" in kinds:
        place, value = next((i, s) for i, s in enumerate(sequences) if _kind(s) == "value")
        raise DataError(
            "Sequences are given as a list of sequences, each of them a list, an array, a text or a table. Got "
            f"{shown(value)} at place {place + 1} instead. One sequence alone is [[…]]."
        )
    if len(kinds) > 1:
        raise DataError(
            f"All sequences must be of one kind. Got {' and '.join(sorted(kinds))} together; convert them to lists."
        )
    if kinds == {"tables"}:
        return read_tables(sequences, names, time)
    if kinds == {"bytes"}:
        return _bytes(b"".join(sequences), [len(sequence) for sequence in sequences], names)
    read: dict[str, Callable[..., RawSequences]] = {"text": _characters, "vectors": _vectors, "lists": _labels}
    return read[kinds.pop()](sequences, names)


def _kind(sequence: Any) -> str:
    if isinstance(sequence, str):
        return "text"
    if isinstance(sequence, bytes | bytearray):
        return "bytes"
    if isinstance(sequence, np.ndarray):
        return {1: "lists", 2: "vectors"}.get(sequence.ndim, "value")
    if is_table_object(sequence):
        return "tables"
    is_ordered = isinstance(sequence, Sized) and isinstance(sequence, Iterable) and not isinstance(sequence, Set)
    return "lists" if is_ordered else "value"


def are_tables(data: object) -> bool:
    """Whether data is a list of tables, each of them one sequence."""
    return isinstance(data, list | tuple) and bool(data) and _kind(data[0]) == "tables"


def _divided(data: Array, lengths: Sequence[int]) -> list[Array]:
    """Return the sequences of an array whose rows are the positions of all sequences, one after the other."""
    ends = np.cumsum(lengths)
    return [data[end - length : end] for end, length in zip(ends.tolist(), lengths, strict=True)]


def _of_array(data: Array, names: Sequence[str] | None) -> RawSequences:
    """Read an array: one sequence, or one per row; a single column is one sequence, as in hmmlearn."""
    if data.ndim == 2 and data.shape[1] == 1:
        data = data.reshape(-1)
    if data.ndim == 1:
        return _labels([data], names)
    if data.ndim == 2 and (data.dtype.kind in "iubUSO"):
        n, length = data.shape
        if data.dtype in (np.dtype(np.uint8), np.dtype("S1")):
            return _bytes(data.tobytes() if data.dtype.kind == "S" else data.reshape(-1), [length] * n, names)
        return _flat(data.reshape(-1), [length] * n, names)
    raise DataError(
        f"Cannot tell what the sequences are in an array of shape {data.shape} and dtype {data.dtype}. Pass [array] "
        "for one sequence of vectors, one row per position, sf.Sequences(array, lengths=[…]) for several, or "
        "list(array) for one sequence per row."
    )


def _one_name(names: Sequence[str] | None) -> str:
    if names is not None and len(names) != 1:
        raise DataError(f"These sequences are of one variable, but {plural(len(names), 'variable')} were asked for.")
    return "x" if names is None else names[0]


def _described(n_sequences: int) -> str:
    return plural(n_sequences, "sequence")


# Labels -------------------------------------------------------------------------------------------------------


def _labels(sequences: list[Any], names: Sequence[str] | None) -> RawSequences:
    lengths = [len(sequence) for sequence in sequences]
    if sequences and all(isinstance(sequence, np.ndarray) for sequence in sequences):
        return _flat(np.concatenate(sequences), lengths, names)
    values = [
        value.item() if isinstance(value, np.generic) else value for value in itertools.chain.from_iterable(sequences)
    ]
    return _flat(values, lengths, names)


def _flat(values: Any, lengths: list[int], names: Sequence[str] | None) -> RawSequences:
    """Read the values of all sequences, one sequence after the other, as a column."""
    name = _one_name(names)
    if isinstance(values, np.ndarray) and values.dtype.kind == "O":
        values = values.tolist()
    column = open_raw({name: values}).column(name)  # type: ignore[union-attr]
    return RawSequences({name: column}, np.array(lengths, np.int64), _described(len(lengths)))


# Characters ---------------------------------------------------------------------------------------------------


def _characters(sequences: list[str], names: Sequence[str] | None) -> RawSequences:
    text = "".join(sequences)
    lengths = [len(sequence) for sequence in sequences]
    if text.isascii():
        return _bytes(text.encode("ascii"), lengths, names)
    name = _one_name(names)
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    found, codes = np.unique(points, return_inverse=True)
    column = CodedColumn(name, codes.reshape(-1), tuple(map(chr, found.tolist())), "text")
    return RawSequences({name: column}, np.array(lengths, np.int64), _described(len(lengths)))


def _bytes(values: bytes | NDArray[np.uint8], lengths: list[int], names: Sequence[str] | None) -> RawSequences:
    """Read bytes: characters where they come as bytes, small whole numbers where they come as an array."""
    name = _one_name(names)
    as_text = isinstance(values, bytes)
    if isinstance(values, bytes) and not values.isascii():
        raise DataError("Bytes are read as ASCII characters, and some are not. Decode them to text first.")
    array = np.frombuffer(values, np.uint8) if isinstance(values, bytes) else np.ascontiguousarray(values)
    codes, found = byte_codes(array)
    labels: tuple[Any, ...] = tuple(map(chr, found)) if as_text else tuple(found)
    column: RawColumn = CodedColumn(name, codes, labels, "text")  # numbers, too, are no more than labels here
    return RawSequences({name: column}, np.array(lengths, np.int64), _described(len(lengths)))


def byte_codes(values: NDArray[np.uint8]) -> tuple[Array, list[int]]:
    """Return the place of every byte among those that occur, and these in order.

    >>> byte_codes(np.array([7, 3, 7], np.uint8))
    (array([1, 0, 1], dtype=int8), [3, 7])
    """
    alphabet = _alphabet(values[:FIRST])
    while True:
        found = _codes_in(_runs(alphabet), values) if len(alphabet) <= 127 else None
        if found is not None:
            return found, alphabet
        table = np.full(256, -1, np.int8 if len(alphabet) <= 127 else np.int16)
        table[alphabet] = np.arange(len(alphabet))
        if table.dtype == np.int8:
            codes: Array = np.frombuffer(values.tobytes().translate(table.tobytes()), np.int8)
        else:
            codes = table[values]
        if not codes.size or codes.min() >= 0:
            return codes, alphabet
        alphabet = _alphabet(values)


def _runs(alphabet: list[int]) -> list[tuple[int, int]]:
    """Return the first and the last of every stretch of neighbouring bytes.

    >>> _runs([32, 97, 98, 99])
    [(32, 32), (97, 99)]
    """
    runs: list[tuple[int, int]] = []
    for byte in alphabet:
        if runs and runs[-1][1] == byte - 1:
            runs[-1] = (runs[-1][0], byte)
        else:
            runs.append((byte, byte))
    return runs


def _codes_in(runs: list[tuple[int, int]], values: NDArray[np.uint8]) -> NDArray[np.int8] | None:
    """Return codes by a few subtractions; None where runs are many, or a byte is in none of them.

    Whole arrays are compared and subtracted at a fraction of what looking each byte up in a table costs.
    """
    if not runs or len(runs) > MOST_RUNS:
        return None
    if len(runs) == 1:
        first, last = runs[0]
        inside = bool(len(values)) and int(values.max()) <= last and (not first or int(values.min()) >= first)
    else:
        found = sum(int(np.count_nonzero((values >= first) & (values <= last))) for first, last in runs)
        inside = found == len(values)
    if not inside:
        return None
    codes = values - np.uint8(runs[0][0]) if runs[0][0] else values
    for (_, before), (first, _) in pairwise(runs):
        codes = codes - (values >= first).view(np.uint8) * np.uint8(first - before - 1)
    return codes.view(np.int8)


def _alphabet(values: NDArray[np.uint8]) -> list[int]:
    """Return the bytes that occur, in order."""
    found: list[int] = np.flatnonzero(np.bincount(values, minlength=256)).tolist()
    return found


# Vectors ------------------------------------------------------------------------------------------------------


def _vectors(sequences: list[Array], names: Sequence[str] | None) -> RawSequences:
    widths = {sequence.shape[1] for sequence in sequences}
    if len(widths) > 1:
        raise DataError(f"All sequences must have the same number of columns. Got {sorted(widths)} instead.")
    (width,) = widths
    if names is None:
        names = ["x"] if width == 1 else [f"x{number}" for number in range(1, width + 1)]
    if len(names) != width:
        raise DataError(
            f"The sequences have {plural(width, 'column')}, but {plural(len(names), 'variable')} are named: "
            f"{list(names)}. Name each column."
        )
    stacked = np.concatenate(sequences)
    lengths = np.array([len(sequence) for sequence in sequences], np.int64)
    table: Any = open_raw({name: np.ascontiguousarray(stacked[:, place]) for place, name in enumerate(names)})
    return RawSequences({name: table.column(name) for name in names}, lengths, _described(len(lengths)))
