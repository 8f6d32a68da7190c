"""Writing Arrow tables, a piece at a time: CSV and Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from suffice.files import atomic_write
from suffice.io.rows_file import require_ending


def write_tables(names: Sequence[str], tables: Iterable[pa.Table], path: str) -> None:
    """Write tables of the same columns one after another to a file, which is renamed into place when it is whole.

    ``names`` are the columns, for a file without rows.
    """
    require_ending(path)
    with atomic_write(path, binary=True) as file:
        if path.lower().endswith(".csv"):
            write_csv(names, tables, file)
        else:
            _write_parquet(names, tables, file)


def write_csv(names: Sequence[str], tables: Iterable[pa.Table], file: IO[bytes]) -> None:
    """Write a header and the rows in UTF-8, quoted where needed; missing values are empty fields."""
    header = _line(names)
    file.write(header.encode() + b"\n")
    for table in tables:
        if not table.num_rows:
            continue
        columns = [_fields(column, alone=table.num_columns == 1) for column in table.columns]
        lines = pc.binary_join_element_wise(*columns, ",") if len(columns) > 1 else columns[0]
        file.write(pc.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), "\n")[0].as_buffer())
        file.write(b"\n")


def _fields(column: pa.ChunkedArray, alone: bool) -> pa.Array:
    """Return a column as fields of a CSV file; each distinct value is written once."""
    kind = column.type
    plain = column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column
    coded = plain.dictionary_encode().combine_chunks()
    coded = coded if isinstance(coded, pa.DictionaryArray) else coded.chunk(0)
    values: list[Any] = coded.dictionary.to_pylist()
    texts = pa.array([*(_line([_text(value)]) if value is not None else "" for value in values)], pa.string())
    empty = '""' if alone else ""  # an empty line would be no row
    return pc.fill_null(pc.take(texts, coded.indices), empty)


def _text(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _line(fields: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(fields)  # the writer quotes what its line end holds
    return text.getvalue().removesuffix("\r\n")


def _write_parquet(names: Sequence[str], tables: Iterable[pa.Table], file: IO[bytes]) -> None:
    from pyarrow import parquet

    writer = None
    try:
        for table in tables:
            writer = writer or parquet.ParquetWriter(file, table.schema)
            writer.write_table(table.cast(writer.schema))
        if writer is None:
            kinds = pa.schema([pa.field(name, pa.string()) for name in names])
            writer = parquet.ParquetWriter(file, kinds)
    finally:
        if writer is not None:
            writer.close()
