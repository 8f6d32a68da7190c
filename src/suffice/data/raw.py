"""Raw columns: what every reader hands over, whatever the kind of table.

A reader turns its table into Arrow columns, whole (`RawTable`) or in pieces (`RawStream`). A `RawColumn` shows one of
them, or one piece, as dictionary codes or as numbers. Which of the two a variable wants is decided in
`suffice.data.encode`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.errors import DataError, Remedy, at_row, made
from suffice.types import Array, Codes
from suffice.values import Label

NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf|nan)", re.IGNORECASE
)


LABEL_TYPES = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_boolean,
    pa.types.is_null,
)


class RawColumn(Protocol):
    """A column, or a piece of one.

    ``origin`` is ``"text"``, ``"bool"``, ``"integer"``, ``"float"``, ``"levels"`` (a categorical type, whose list of
    states is a declaration) or ``"empty"`` (no value at all).
    """

    @property
    def name(self) -> str:
        """The column's name."""

    @property
    def origin(self) -> str:
        """Where the values come from; decides whether the variable is discrete."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """The distinct values, in order of appearance, or of declaration for levels."""

    @property
    def codes(self) -> Codes:
        """Positions in `labels`, −1 where the value is missing; shape (n_rows,)."""

    def numbers(self, first_row: int = 0) -> NDArray[np.float64]:
        """Return the values as numbers, NaN where missing; shape (n_rows,)."""


@dataclass(frozen=True)
class RawTable:
    """A table that is in memory.

    Attributes
    ----------
    names : tuple of str
        All columns that there are.
    column : callable
        From a name to its `RawColumn`.
    n_rows : int
    description : str
        A few words for notes and errors, such as ``pandas table``.
    weights : array, shape (n_rows,), or None
        Weights that come with the table itself (a contingency array's cells).
    """

    names: tuple[str, ...]
    column: Callable[[str], RawColumn]
    n_rows: int
    description: str
    weights: Array | None = None


class Batch(Protocol):
    """A piece of a streamed table."""

    @property
    def n_rows(self) -> int:
        """Rows of the piece."""

    def column(self, name: str) -> RawColumn:
        """Return one column of the piece."""


@dataclass(frozen=True)
class ArrowBatch:
    """A piece of a streamed table, as Arrow holds it.

    ``text`` means fields as a file wrote them. Dictionary columns in ``levels`` are categoricals, whose states are
    declared; in other columns the dictionary is an encoding and no more.
    """

    batch: pa.RecordBatch
    text: bool = False
    levels: frozenset[str] = frozenset()

    @property
    def n_rows(self) -> int:
        """Rows of the piece."""
        return int(self.batch.num_rows)

    def column(self, name: str) -> ArrowColumn:
        """Return one column of the piece."""
        column = without_decimals(pa.chunked_array([self.batch.column(name)]))
        return ArrowColumn(name, column, self.text or name not in self.levels)


@dataclass(frozen=True)
class RawStream:
    """A table that is read in pieces.

    Attributes
    ----------
    names : tuple of str
        All columns that there are.
    batches : callable
        From the columns that are wanted to an iterator over batches; may be called again for another pass.
    description : str
        A few words for notes and errors, such as ``CSV file 'asia.csv'``.
    n_rows : int or None
        The number of rows, where it is known beforehand.
    once : bool
        The data can be read only once.
    text : bool
        The values are text as a file wrote it, whose types are still to be inferred.
    """

    names: tuple[str, ...]
    batches: Callable[[Sequence[str]], Iterator[Batch]]
    description: str
    n_rows: int | None = None
    once: bool = False
    text: bool = False


@dataclass(frozen=True)
class CodedColumn:
    """A column that is dictionary codes already, such as a pandas categorical."""

    name: str
    codes: Codes
    labels: tuple[Label, ...]
    origin: str = "levels"

    def numbers(self, first_row: int = 0) -> NDArray[np.float64]:
        """Return the labels as numbers, NaN where missing; shape (n_rows,)."""
        for code, label in enumerate(self.labels):
            if not is_number(label):
                raise not_a_number(self.name, first_row + int(np.argmax(self.codes == code)), label)
        values: NDArray[np.float64] = np.array([*map(float, self.labels), np.nan])[self.codes]
        return values


@dataclass(frozen=True)
class ArrowColumn:
    """An Arrow column, seen as codes or as numbers."""

    name: str
    column: pa.ChunkedArray
    encoding_only: bool = False

    @cached_property
    def origin(self) -> str:
        """Where the values come from; decides whether the variable is discrete."""
        kind = self.column.type
        if pa.types.is_dictionary(kind):
            if not any(check(kind.value_type) for check in LABEL_TYPES):
                raise DataError(
                    f"Column {self.name!r} has categories of type {kind.value_type}. Categories are text, numbers or "
                    "bools; convert them first, for instance to text."
                )
            kind = kind.value_type if self.encoding_only else kind
        for check, origin in (
            (pa.types.is_dictionary, "levels"),
            (pa.types.is_boolean, "bool"),
            (pa.types.is_integer, "integer"),
            (pa.types.is_floating, "float"),
            (pa.types.is_null, "empty"),
            (is_text, "text"),
        ):
            if check(kind):
                return origin
        raise DataError(
            f"Column {self.name!r} has type {kind}, which is neither discrete nor numeric. "
            "Convert it to text, to a number or to a categorical first."
        )

    @cached_property
    def _dictionary(self) -> pa.DictionaryArray:
        column = self.column
        if not len(column) or pa.types.is_null(column.type):
            return self._without_values()
        if pa.types.is_dictionary(column.type):
            column = column.unify_dictionaries() if column.num_chunks > 1 else column
        else:
            if pa.types.is_floating(column.type):
                column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
            column = column.dictionary_encode()
        combined = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        return combined if isinstance(combined, pa.DictionaryArray) else combined.chunk(0)

    def _without_values(self) -> pa.DictionaryArray:
        """Return the codes of a column with no value at all; declared levels stay."""
        kind, n_rows = self.column.type, len(self.column)
        levels = pa.array([], pa.string())
        if pa.types.is_dictionary(kind):
            levels = self.column.chunk(0).dictionary if self.column.num_chunks else pa.array([], kind.value_type)
        return pa.DictionaryArray.from_arrays(pa.array([None] * n_rows, pa.int32()), levels)

    @property
    def dictionary(self) -> pa.Array:
        """The distinct values as Arrow holds them; equal dictionaries have equal codes."""
        return self._dictionary.dictionary

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """The distinct values, in order of appearance (or of declaration, for levels)."""
        try:
            values = self.dictionary.to_pylist()
        except UnicodeDecodeError as error:
            raise DataError(
                f"Column {self.name!r} holds text that is not UTF-8 ({error}); the file is damaged."
            ) from None
        if any(value is None or (isinstance(value, float) and math.isnan(value)) for value in values):
            raise DataError(
                f"Column {self.name!r}: its categories contain a missing value. "
                "Remove it from the categories; missing entries need no category."
            )
        return tuple(values)

    @property
    def codes(self) -> Codes:
        """Positions in `labels`, −1 where the value is missing; shape (n_rows,)."""
        indices = self._dictionary.indices
        if pa.types.is_unsigned_integer(indices.type):
            indices = indices.cast(pa.int64() if indices.type.bit_width > 16 else pa.int32())
        if indices.null_count:
            indices = pc.fill_null(indices, -1)
        return _plain_array(indices)

    def numbers(self, first_row: int = 0) -> NDArray[np.float64]:
        """Return the values as numbers, NaN where missing; shape (n_rows,)."""
        column = self.column
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if is_text(column.type):
            column = pc.utf8_trim_whitespace(column)
        try:
            cast = pc.cast(column, pa.float64(), safe=False)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            listed = enumerate(column.to_pylist())
            row, value = next(((i, v) for i, v in listed if v is not None and not is_number(v)), (0, column.type))
            raise not_a_number(self.name, first_row + row, value) from None
        filled = pc.fill_null(cast, math.nan) if cast.null_count else cast  # both would copy what needs no change
        if filled.num_chunks == 1:
            return _plain_array(filled.chunk(0))
        return _plain_array(pa.concat_arrays(filled.chunks) if filled.num_chunks else pa.array([], pa.float64()))


def without_decimals(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return decimals as whole numbers, if they have no digits behind the point and are not too large, or as floats."""
    if not pa.types.is_decimal(column.type):
        return column
    if column.type.scale == 0:
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            pass
    return column.cast(pa.float64())


def _plain_array(array: pa.Array) -> Array:
    """Return an Arrow array without gaps as NumPy's, without a copy (Arrow's own to_numpy would load pandas)."""
    dtype = np.dtype(array.type.to_pandas_dtype())
    buffer = array.buffers()[1]
    if buffer is None or not len(array):
        return np.zeros(0, dtype)
    return np.frombuffer(buffer, dtype, count=len(array), offset=array.offset * dtype.itemsize)


def not_a_number(name: str, row: int, value: object) -> DataError:
    """Say which value of a continuous column is no number."""
    return DataError(
        f"Column {name!r}",
        at_row(row + 1),
        f": {value!r} is not a number, but the column is continuous. Correct it, or declare the column discrete: ",
        Remedy("schema", {name: made("categorical")}),
        ".",
    )


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one of the kinds of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(value: object) -> bool:
    """Whether a value is a number, or text that a data file would mean as one: ``007`` is a code, not a number.

    >>> [is_number(text) for text in ("1.5", "-2e3", ".5", "NaN", "007", "1_000", " 1", "x")]
    [True, True, True, True, False, False, False, False]
    """
    return NUMBER.fullmatch(value) is not None if isinstance(value, str) else isinstance(value, int | float)
