"""Writing drawn rows, a block at a time: CSV and Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.block import Block
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import ArgumentError
from suffice.files import atomic_write
from suffice.types import Codes

ENDINGS = (".csv", ".parquet")


def write_rows(schema: Schema, blocks: Iterable[Block], path: str) -> None:
    """Write blocks of codes with their labels to a file, which is renamed into place when it is whole."""
    require_ending(path)
    with atomic_write(path, binary=True) as file:
        if path.lower().endswith(".csv"):
            write_csv(schema, blocks, file)
        else:
            _write_parquet(schema, blocks, file)


def require_ending(path: str) -> None:
    """Refuse a path whose ending names no format for rows."""
    if not path.lower().endswith(ENDINGS):
        raise ArgumentError(f"Rows are written to a path that ends in {' or '.join(ENDINGS)}. Got {path!r} instead.")


def write_csv(schema: Schema, blocks: Iterable[Block], file: IO[bytes]) -> None:
    """Write a header and the rows as CSV in UTF-8, quoted where needed."""
    file.write(_line(schema) + b"\n")
    fields = {v.name: pa.array(_fields(v)) for v in schema.variables if v.is_discrete}
    for block in blocks:
        if not block.n_rows:
            continue
        columns = [_texts(block.columns[name], fields.get(name)) for name in schema]
        lines = pc.binary_join_element_wise(*columns, ",") if len(columns) > 1 else columns[0]
        file.write(pc.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), "\n")[0].as_buffer())
        file.write(b"\n")


def _texts(values: Any, fields: pa.Array | None) -> pa.Array:
    """Return a column as text: the fields of codes, or numbers with all their digits."""
    return pa.array([repr(value) for value in values.tolist()]) if fields is None else pc.take(fields, pa.array(values))


def _fields(variable: Variable) -> list[str]:
    """Return each state as a CSV field."""
    return [_line([str(label)]).decode() for label in variable.labels]


def _line(fields: Iterable[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(fields)  # the writer quotes what its line end holds
    return text.getvalue().removesuffix("\r\n").encode()


def _write_parquet(schema: Schema, blocks: Iterable[Block], file: IO[bytes]) -> None:
    """Write the rows as Parquet; discrete columns are categoricals with all their states."""
    from pyarrow import parquet

    kinds = pa.schema([pa.field(variable.name, _kind(variable)) for variable in schema.variables])
    with parquet.ParquetWriter(file, kinds) as writer:
        for block in blocks:
            arrays = [_labelled(variable, block.columns[variable.name]) for variable in schema.variables]
            writer.write_table(pa.table(arrays, schema=kinds))


def _kind(variable: Variable) -> pa.DataType:
    if not variable.is_discrete:
        return pa.float64()
    labels = pa.array(list(variable.labels))
    return labels.type if pa.types.is_boolean(labels.type) else pa.dictionary(pa.int32(), labels.type)


def _labelled(variable: Variable, codes: Codes) -> pa.Array:
    if not variable.is_discrete:
        return pa.array(np.asarray(codes, np.float64))
    labels = pa.array(list(variable.labels))
    if pa.types.is_boolean(labels.type):
        return pc.take(labels, pa.array(codes))
    return pa.DictionaryArray.from_arrays(pa.array(np.asarray(codes, np.int32)), labels)
