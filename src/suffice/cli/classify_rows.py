"""Predictions as rows: what was kept, the class, and probabilities; to CSV, Parquet or JSON, a piece at a time."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.variable import Variable
from suffice.errors import DataError
from suffice.files import atomic_write
from suffice.types import Codes, Floats

SPECIAL = '[",\r\n]'


@dataclass(frozen=True)
class ClassifiedRows:
    """The answers about some rows.

    Attributes
    ----------
    kept : dict of str to Arrow array
    classes : array of codes, shape (n_rows,)
        −1 where a row is impossible under every class.
    log_posteriors : array, shape (n_rows, n_classes)
    """

    kept: Mapping[str, pa.Array]
    classes: Codes
    log_posteriors: Floats


@dataclass(frozen=True)
class OutputColumns:
    """The columns of the rows: those kept, ``predicted``, and ``p_…`` of every class where that is wanted."""

    target: Variable
    keep: tuple[str, ...] = ()
    probabilities: bool = False

    @property
    def names(self) -> list[str]:
        """What the columns are called; underscores are added where a column that is kept has the name."""
        wanted = ["predicted"]
        if self.probabilities:
            wanted += [f"p_{label}" for label in self.target.labels]
        names = list(self.keep)
        for name in wanted:
            free = name
            while free in names:
                free += "_"
            names.append(free)
        return names

    def table(self, found: ClassifiedRows) -> pa.Table:
        """Return the rows as an Arrow table; nothing stands for what cannot be said."""
        unsaid = found.classes < 0
        labels = pa.array(list(self.target.labels))
        classes = pc.take(labels, pa.array(np.where(unsaid, 0, found.classes), mask=unsaid))
        arrays = [found.kept[name] for name in self.keep] + [classes]
        if self.probabilities:
            p = np.exp(found.log_posteriors)
            arrays += [pa.array(p[:, k], mask=np.isnan(p[:, k])) for k in range(self.target.n_states)]
        return pa.table(arrays, names=self.names)

    def empty(self) -> pa.Table:
        """Return a table without rows."""
        nothing = ClassifiedRows(
            {name: pa.array([], pa.string()) for name in self.keep},
            np.zeros(0, np.int64),
            np.zeros((0, self.target.n_states)),
        )
        return self.table(nothing)


def write_predictions(layout: OutputColumns, found: Iterable[ClassifiedRows], path: str) -> None:
    """Write rows to a file, which is renamed into place when it is whole."""
    with atomic_write(path, binary=True) as file:
        if path.lower().endswith(".csv"):
            write_csv(layout, found, file)
        else:
            _write_parquet(layout, found, file)


# CSV ----------------------------------------------------------------------------------------------------------


def write_csv(layout: OutputColumns, found: Iterable[ClassifiedRows], file: IO[bytes]) -> None:
    """Write a header and the rows as CSV in UTF-8, quoted where needed."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(layout.names)  # the writer quotes what its line end holds
    file.write(text.getvalue().removesuffix("\r\n").encode() + b"\n")
    for table in _tables(layout, found):
        fields = [_fields(name, table.column(name).combine_chunks()) for name in table.column_names]
        if len(fields) == 1:  # where an empty field would be an empty line, which readers skip
            fields = [pc.if_else(pc.equal(fields[0], ""), '""', fields[0])]
        lines = pc.binary_join_element_wise(*fields, ",") if len(fields) > 1 else fields[0]
        file.write(pc.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), "\n")[0].as_buffer())
        file.write(b"\n")


def _fields(name: str, values: pa.Array) -> pa.Array:
    """Return a column as fields of text, quoted where they must be; empty where there is no value."""
    try:
        texts = values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(
            f"Column {name!r} has type {values.type}, which has no form as text. Write to a .parquet file, or do not "
            "keep it."
        ) from None
    texts = pc.fill_null(texts, "")
    special = pc.match_substring_regex(texts, SPECIAL)
    if not pc.any(special).as_py():
        return texts
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(texts, '"', '""'), '"', "")
    return pc.if_else(special, quoted, texts)


# Parquet ------------------------------------------------------------------------------------------------------


def _write_parquet(layout: OutputColumns, found: Iterable[ClassifiedRows], file: IO[bytes]) -> None:
    from pyarrow import parquet

    tables = _tables(layout, found)
    first = next(tables, layout.empty())
    with parquet.ParquetWriter(file, first.schema) as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(_like(table, first.schema))


def _like(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table of the types that the first one had; files of one glob may differ in them."""
    try:
        return table.cast(schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        name = next(field.name for field in schema if table.schema.field(field.name).type != field.type)
        found, first = table.schema.field(name).type, schema.field(name).type
        raise DataError(
            f"Column {name!r} has type {first} in the first file and {found} in another. Write to a .csv file, or do "
            "not keep it."
        ) from None


# JSON ---------------------------------------------------------------------------------------------------------


def write_json(layout: OutputColumns, found: Iterable[ClassifiedRows], file: IO[str]) -> None:
    """Write the beginning of a JSON document, the names of the columns and the rows, a row a line."""
    from suffice.io.own_json import plain

    file.write(f'{{"columns": {json.dumps(layout.names, ensure_ascii=False)},\n"rows": [')
    between = "\n"
    for table in _tables(layout, found):
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
            file.write(between + json.dumps(plain(row), ensure_ascii=False, default=str))
            between = ",\n"
    file.write("]")


def _tables(layout: OutputColumns, found: Iterable[ClassifiedRows]) -> Iterator[pa.Table]:
    return (layout.table(part) for part in found if len(part.classes))
