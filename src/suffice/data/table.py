"""Opening a table: find the columns, settle the schema, encode, and deal with missing values and weights."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import EncodedTable, whole
from suffice.data.encode import Encoded, encode
from suffice.data.raw import RawTable
from suffice.data.readers import open_raw
from suffice.data.schema import Schema, SchemaLike, declarations
from suffice.errors import DataError, SchemaError, listing, require_choice, suggestion
from suffice.text import plural

MISSING_POLICIES = ("error", "drop")
UNKNOWN_POLICIES = ("error", "missing")


def open_table(
    data: object,
    columns: Sequence[str],
    *,
    schema: SchemaLike | None = None,
    continuous: Collection[str] = (),
    weights: str | Sequence[float] | NDArray[Any] | None = None,
    missing: str = "error",
    unknown_states: str = "error",
) -> EncodedTable:
    """Open any kind of table and encode the columns that a structure names.

    Parameters
    ----------
    data : table
        Whatever one of `suffice.data.readers.READERS` recognises.
    columns : sequence of str
        The columns to encode, in this order.
    schema : mapping or Schema, optional
        Declarations; columns that are not declared are inferred.
    continuous : collection of str
        Columns to which the structure gives a continuous role.
    weights : str, sequence or None
        Row weights, or the column that holds them.
    missing, unknown_states : str
        Policies, ``"error"`` by default.
    """
    require_choice("missing", missing, MISSING_POLICIES)
    require_choice("unknown_states", unknown_states, UNKNOWN_POLICIES)
    if isinstance(data, EncodedTable):
        raise DataError("The table is encoded already.")
    raw = open_raw(data)
    row_weights, weight_column = _weights(raw, weights)
    _require_columns(raw, columns)
    declared = declarations(schema)
    for name in declared:
        if name not in raw.names and name not in columns:
            raise SchemaError(
                f"The schema declares {name!r}, but the table has no such column. It has {listing(raw.names, 12)}."
                + suggestion(name, raw.names)
            )
    encoded = [encode(raw.raw(name), declared.get(name), name in continuous, unknown_states) for name in columns]
    keep = _complete_rows(encoded, missing)
    remarks = [remark for column in encoded for remark in column.remarks]
    n_dropped = 0
    if keep is not None:
        n_dropped = int((~keep).sum())
        encoded = [Encoded(column.variable, column.values[keep]) for column in encoded]
        row_weights = None if row_weights is None else row_weights[keep]
    ignored = [name for name in raw.names if name not in columns and name != weight_column]
    if ignored:
        remarks.append(f"Columns outside the structure were ignored: {listing(ignored, 6)}.")
    return EncodedTable(
        Schema(tuple(column.variable for column in encoded)),
        {column.variable.name: column.values for column in encoded},
        row_weights,
        raw.n_rows,
        n_dropped,
        tuple(remarks),
        raw.description,
    )


def _require_columns(raw: RawTable, columns: Sequence[str]) -> None:
    for name in columns:
        if name not in raw.names:
            raise DataError(
                f"The structure names the variable {name!r}, but the {raw.description} has no such column. "
                f"Its columns are {listing(raw.names, 12)}.{suggestion(name, raw.names)}"
            )


def _weights(raw: RawTable, weights: Any) -> tuple[NDArray[Any] | None, str | None]:
    """Return the row weights and, when they are a column, its name."""
    if weights is None:
        return (None if raw.weights is None else _checked(raw.weights, "the contingency table")), None
    if raw.weights is not None:
        raise DataError("A contingency table carries its own weights; the 'weights' argument must be left out.")
    if isinstance(weights, str):
        if weights not in raw.names:
            raise DataError(
                f"The 'weights' argument names the column {weights!r}, but the {raw.description} has only "
                f"{listing(raw.names, 12)}.{suggestion(weights, raw.names)}"
            )
        return _checked(raw.raw(weights).numbers(), f"column {weights!r}"), weights
    array = np.asarray(weights)
    if array.shape != (raw.n_rows,) or array.dtype.kind not in "iufb":
        raise DataError(
            f"The 'weights' argument must hold one number a row, shape ({raw.n_rows},). "
            f"Got shape {array.shape} and dtype {array.dtype} instead."
        )
    return _checked(array, "the 'weights' argument"), None


def _checked(weights: NDArray[Any], where: str) -> NDArray[Any]:
    bad = ~np.isfinite(weights) | (weights < 0)
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(
            f"Weight {weights[row]:g} in {where}, row {row + 1}, is not a frequency. "
            "Weights must be finite and not negative."
        )
    return whole(weights)


def _complete_rows(encoded: Sequence[Encoded], missing: str) -> NDArray[np.bool_] | None:
    """Return which rows to keep, or None when all are complete."""
    incomplete: NDArray[np.bool_] | None = None
    for column in encoded:
        gaps = column.missing
        if not gaps.any():
            continue
        if missing == "error":
            row = int(np.argmax(gaps))
            raise DataError(
                f"Column {column.variable.name!r}, row {row + 1}: the value is missing "
                f"({plural(int(gaps.sum()), 'missing value')} in this column). "
                "Fill it in, or pass missing='drop' to leave out incomplete rows."
            )
        incomplete = gaps if incomplete is None else incomplete | gaps
    return None if incomplete is None else ~incomplete
