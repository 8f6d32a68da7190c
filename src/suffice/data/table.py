"""Opening a table: find the columns, settle how each is read, and deal with missing values and weights."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from suffice.data.block import EncodedTable
from suffice.data.encode import MARK, REFUSE, encode
from suffice.data.float_kinds import Trait, refuse_unclear
from suffice.data.matrix import MatrixTable
from suffice.data.raw import RawStream, RawTable
from suffice.data.readers import open_raw
from suffice.data.schema import Schema, SchemaLike, declarations
from suffice.data.stream import KEEP, Policies, StreamedTable, checked_weights, complete_rows
from suffice.errors import DataError, Remedy, SchemaError, Text, listing, require_choice, shown, suggestion
from suffice.types import Array

MISSING_POLICIES = ("error", "drop")
UNKNOWN_POLICIES = ("error", "missing")
Weights = str | Sequence[float] | Array | None


def open_table(
    data: object,
    columns: Sequence[str],
    *,
    schema: SchemaLike | None = None,
    continuous: Collection[str] = (),
    weights: Weights = None,
    missing: str = "error",
    unknown_states: str = REFUSE,
    part: bool = False,
    if_absent: str = "",
    if_missing: str = "",
) -> EncodedTable | StreamedTable | MatrixTable:
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
        Policies; both are errors by default. ``unknown_states="error"`` is for calls that take the argument, so that
        the error proposes it.
    part : bool
        The table is a part of a larger one, so that what its floats are is told and not judged.
    if_absent : str
        What else can be done where a column is absent; a sentence for the error.
    if_missing : str
        What the call can do about missing values, such as "pass missing='drop'"; the end of a sentence.
    """
    if missing is not KEEP:
        require_choice("missing", missing, MISSING_POLICIES)
    if unknown_states not in (MARK, REFUSE):
        require_choice("unknown_states", unknown_states, UNKNOWN_POLICIES)
    if isinstance(data, MatrixTable):
        return data.under(columns, missing, weights, if_missing)
    raw = open_raw(data)
    weight_column = _weight_column(raw, weights)
    _require_columns(raw, columns, if_absent)
    declared = declarations(schema)
    for name in declared:
        if name not in raw.names and name not in columns:
            raise SchemaError(
                f"The schema declares {name!r}, but the table has no such column. It has {listing(raw.names, 12)}."
                + suggestion(name, raw.names)
            )
    policies = Policies(tuple(columns), declared, continuous, weight_column, missing, unknown_states, part, if_missing)
    used = {*columns, weight_column}
    ignored = [name for name in raw.names if name not in used]
    remarks = (f"Columns outside the structure were ignored: {listing(ignored, 6)}.",) if ignored else ()
    if isinstance(raw, RawStream):
        if weights is not None and weight_column is None:
            raise DataError(
                f"The rows of the {raw.description} are streamed; name the column that holds their weights."
            )
        return StreamedTable(raw, policies, raw.text, remarks)
    return _whole_table(raw, policies, weights, remarks)


def _whole_table(raw: RawTable, policies: Policies, weights: Weights, remarks: tuple[str, ...]) -> EncodedTable:
    """Encode a table that is in memory, all at once."""
    encoded = [
        encode(
            raw.column(name),
            policies.declared.get(name),
            name in policies.continuous,
            policies.unknown_states,
            part=policies.part,
        )
        for name in policies.columns
    ]
    values = {column.variable.name: column.values for column in encoded}
    row_weights = _row_weights(raw, weights)
    keep = complete_rows(values, policies.missing, if_missing=policies.if_missing)
    traits = frozenset[Trait]().union(*(column.traits for column in encoded))
    if not policies.part:
        refuse_unclear(traits)
    if keep is not None:
        values = {name: column[keep] for name, column in values.items()}
        row_weights = None if row_weights is None else row_weights[keep]
    return EncodedTable(
        schema=Schema(tuple(column.variable for column in encoded)),
        columns=values,
        weights=row_weights,
        n_read=raw.n_rows,
        n_dropped=0 if keep is None else int((~keep).sum()),
        remarks=(*(remark for column in encoded for remark in column.remarks), *remarks),
        description=raw.description,
        traits=traits if policies.part else frozenset(),
    )


def _require_columns(raw: RawTable | RawStream, columns: Sequence[str], if_absent: str) -> None:
    names = frozenset(raw.names)
    for name in columns:
        if name not in names:
            raise DataError(
                f"The structure names the variable {name!r}, but there is no such column in the {raw.description}. "
                f"Its columns are {listing(raw.names, 12)}.",
                suggestion(name, raw.names),
                _separator_hint(raw.names),
                f" {if_absent}" if if_absent else "",
            )


def _separator_hint(names: tuple[str, ...]) -> str:
    """Say which separator a file of one column seems to have."""
    signs = [sign for sign in ";\t|" if len(names) == 1 and sign in names[0]]
    return (
        Text(
            f" Is {signs[0]!r} its separator? Then read it by ",
            Remedy("separator", signs[0], call="sf.CSV(path, …)"),
            ".",
        )
        if signs
        else ""
    )


def _weight_column(raw: RawTable | RawStream, weights: Weights) -> str | None:
    if not isinstance(weights, str):
        return None
    if weights not in raw.names:
        raise DataError(
            f"The 'weights' argument names the column {weights!r}, but the {raw.description} has only "
            f"{listing(raw.names, 12)}.{suggestion(weights, raw.names)}"
        )
    return weights


def _row_weights(raw: RawTable, weights: Weights) -> Array | None:
    """Return the weights of a table in memory: its own, a column's, or given ones."""
    if weights is None:
        return None if raw.weights is None else checked_weights(raw.weights, "the contingency table")
    if raw.weights is not None:
        raise DataError("A contingency table carries its own weights; the 'weights' argument must be left out.")
    if isinstance(weights, str):
        return checked_weights(raw.column(weights).numbers(), f"column {weights!r}")
    try:
        array = np.asarray(weights)
    except ValueError:
        raise DataError(f"The 'weights' argument must hold one number a row. Got {shown(weights)} instead.") from None
    if array.shape != (raw.n_rows,) or array.dtype.kind not in "iufb":
        raise DataError(
            f"The 'weights' argument must hold one number a row, shape ({raw.n_rows},). "
            f"Got shape {array.shape} and dtype {array.dtype} instead."
        )
    return checked_weights(array, "the 'weights' argument")
