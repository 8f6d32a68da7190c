"""Raw columns: what every reader hands over, whatever the kind of table.

A reader turns its table into Arrow columns; `RawColumn` turns one of them into dictionary codes or numbers. Which of
the two a variable wants is decided in `suffice.data.encode`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.data.variable import Label
from suffice.errors import DataError

CANONICAL_INTEGER = re.compile(r"-?[1-9][0-9]{0,17}|0")


@dataclass(frozen=True)
class RawTable:
    """A table as its reader found it.

    Attributes
    ----------
    names : tuple of str
        All columns that there are.
    column : callable
        From a name to its Arrow column.
    n_rows : int
    description : str
        A few words for notes and errors, such as ``CSV file 'asia.csv'``.
    weights : array, shape (n_rows,), or None
        Weights that come with the table itself (a contingency array's cells).
    text : bool
        True when the columns are text as written in a file, whose types are still to be inferred.
    """

    names: tuple[str, ...]
    column: Callable[[str], pa.ChunkedArray]
    n_rows: int
    description: str
    weights: NDArray[Any] | None = None
    text: bool = False

    def raw(self, name: str) -> RawColumn:
        """Return one column."""
        return RawColumn(name, self.column(name), self.text)


@dataclass(frozen=True)
class RawColumn:
    """One Arrow column, seen as codes or as numbers.

    ``origin`` is ``"text"``, ``"bool"``, ``"integer"``, ``"float"``, ``"levels"`` (a categorical type, whose list of
    states is a declaration) or ``"empty"`` (no value at all).
    """

    name: str
    column: pa.ChunkedArray
    text: bool = False

    @cached_property
    def origin(self) -> str:
        """Where the values come from; decides whether the variable is discrete."""
        kind = self.column.type
        if pa.types.is_dictionary(kind):
            return "levels"
        if pa.types.is_boolean(kind):
            return "bool"
        if pa.types.is_integer(kind):
            return "integer"
        if pa.types.is_floating(kind):
            return "float"
        if pa.types.is_null(kind):
            return "empty"
        if _is_text(kind):
            return self._origin_of_text() if self.text else "text"
        raise DataError(
            f"Column {self.name!r} has type {kind}, which is neither discrete nor numeric. "
            "Convert it to text, to a number or to a categorical first."
        )

    def _origin_of_text(self) -> str:
        values = self._dictionary.dictionary.to_pylist()
        if not values:
            return "empty"
        if all(CANONICAL_INTEGER.fullmatch(value) for value in values):
            return "integer"
        return "float" if all(map(_is_float, values)) else "text"

    @cached_property
    def _dictionary(self) -> pa.DictionaryArray:
        column = self.column
        if not len(column) or pa.types.is_null(column.type):
            return self._without_values()
        if pa.types.is_dictionary(column.type):
            column = column.unify_dictionaries()
        else:
            if pa.types.is_floating(column.type):
                column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
            column = column.dictionary_encode()
        combined = column.combine_chunks()
        return combined if isinstance(combined, pa.DictionaryArray) else combined.chunk(0)

    def _without_values(self) -> pa.DictionaryArray:
        """Return the codes of a column with no value at all; declared levels stay."""
        kind, n_rows = self.column.type, len(self.column)
        levels = pa.array([], pa.string())
        if pa.types.is_dictionary(kind):
            levels = self.column.chunk(0).dictionary if self.column.num_chunks else pa.array([], kind.value_type)
        return pa.DictionaryArray.from_arrays(pa.array([None] * n_rows, pa.int32()), levels)

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """The distinct values, in order of appearance (or of declaration, for levels)."""
        values = self._dictionary.dictionary.to_pylist()
        if self.text and self.origin == "integer":
            return tuple(int(value) for value in values)
        if any(value is None for value in values):
            raise DataError(
                f"Column {self.name!r}: its categories contain a missing value. "
                "Remove it from the categories; missing entries need no category."
            )
        return tuple(values)

    @property
    def codes(self) -> NDArray[np.int64]:
        """Positions in `labels`, -1 where the value is missing; shape (n_rows,)."""
        filled: Any = pc.fill_null(self._dictionary.indices.cast(pa.int64()), -1)
        codes: NDArray[np.int64] = filled.to_numpy(zero_copy_only=False)
        return codes

    def numbers(self) -> NDArray[np.float64]:
        """Return the values as numbers, NaN where missing; shape (n_rows,)."""
        column = self.column
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        try:
            cast = pc.cast(column, pa.float64(), safe=False)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            row, value = next((i, v) for i, v in enumerate(column.to_pylist()) if v is not None and not _is_float(v))
            raise DataError(
                f"Column {self.name!r}, row {row + 1}: {value!r} is not a number, but the column is continuous. "
                f"Correct it, or declare the column discrete: schema={{{self.name!r}: sf.categorical()}}."
            ) from None
        values: NDArray[np.float64] = cast.to_numpy(zero_copy_only=False)
        return values


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_float(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    # Python reads 1_000 as a number; no data file means that.
    return "_" not in str(value)
