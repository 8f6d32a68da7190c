"""Tables that hand over record batches: PyArrow datasets and readers, Polars lazy frames, DuckDB relations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from suffice.data.raw import ArrowBatch, RawStream
from suffice.errors import DataError

BATCH_ROWS = 1 << 17
Batches = Callable[[Sequence[str]], Iterator[ArrowBatch]]


def accepts(data: object) -> bool:
    """Whether ``data`` is one of these kinds of table."""
    return isinstance(data, pa.RecordBatchReader) or any(is_of(data, *kind) for kind in OPENERS)


def open_table(data: Any) -> RawStream:
    """Open the table; nothing is read yet."""
    if isinstance(data, pa.RecordBatchReader):
        return _reader(data)
    return next(opener for kind, opener in OPENERS.items() if is_of(data, *kind))(data)


def is_relation(data: object) -> bool:
    """Whether ``data`` is a relation of DuckDB's."""
    return is_of(data, *RELATION)


def is_ibis(data: object) -> bool:
    """Whether ``data`` is a table of ibis."""
    return is_of(data, *IBIS)


def is_of(data: object, module: str, name: str) -> bool:
    """Whether ``data`` is of a class in a module that need not be installed; if it is, the module is loaded."""
    kind = loaded(module, name)
    return kind is not None and isinstance(data, kind)


def loaded(module: str, name: str) -> type | None:
    """Return a class of a module that need not be installed; None where the module is not loaded."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind if isinstance(kind, type) else None


def _reader(reader: pa.RecordBatchReader) -> RawStream:
    def batches(columns: Sequence[str]) -> Iterator[ArrowBatch]:
        for batch in reader:
            yield ArrowBatch(batch.select(list(columns)), levels=_levels(reader.schema))

    return RawStream(tuple(reader.schema.names), _explained(batches), "PyArrow record-batch reader", once=True)


def _dataset(dataset: Any) -> RawStream:
    def batches(columns: Sequence[str]) -> Iterator[ArrowBatch]:
        for batch in dataset.to_batches(columns=list(columns), batch_size=BATCH_ROWS):
            yield ArrowBatch(batch, levels=_levels(dataset.schema))

    return RawStream(tuple(dataset.schema.names), _explained(batches), "PyArrow dataset")


def _lazy_frame(frame: Any) -> RawStream:
    import polars

    try:
        schema = frame.collect_schema()
    except _engine_errors() as error:
        raise DataError(
            f"The Polars lazy frame cannot be read: {str(error).splitlines()[0][:200]}. Mend its query."
        ) from None

    def batches(columns: Sequence[str]) -> Iterator[ArrowBatch]:
        # Polars keeps one pool of categories for the whole process: an encoding, not a declaration as Enum is.
        pooled = [name for name in columns if schema[name] == polars.Categorical]
        query = (
            frame.select(columns).with_columns(polars.col(pooled).cast(polars.String))
            if pooled
            else frame.select(columns)
        )
        for piece in query.collect_batches(chunk_size=BATCH_ROWS):
            for batch in piece.to_arrow().to_batches():
                yield ArrowBatch(batch, levels=frozenset(columns))

    return RawStream(tuple(schema.names()), _explained(batches), "Polars lazy frame")


def _relation(relation: Any) -> RawStream:
    def batches(columns: Sequence[str]) -> Iterator[ArrowBatch]:
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
        chosen = relation.project(quoted)
        read = getattr(chosen, "to_arrow_reader", None) or chosen.fetch_record_batch  # the name before DuckDB 1.4
        for batch in read(BATCH_ROWS):
            yield ArrowBatch(batch, levels=frozenset(columns))

    return RawStream(tuple(relation.columns), _explained(batches), "DuckDB relation")


def _ibis(table: Any) -> RawStream:
    def batches(columns: Sequence[str]) -> Iterator[ArrowBatch]:
        for batch in table.select(list(columns)).to_pyarrow_batches(chunk_size=BATCH_ROWS):
            yield ArrowBatch(batch, levels=frozenset(columns))

    return RawStream(tuple(table.columns), _explained(batches), "table of ibis")


def _levels(schema: pa.Schema) -> frozenset[str]:
    return frozenset(field.name for field in schema if pa.types.is_dictionary(field.type))


def _explained(batches: Batches) -> Batches:
    """Turn what goes wrong in an engine into an error of ours."""

    def safely(columns: Sequence[str]) -> Iterator[ArrowBatch]:
        try:
            yield from batches(columns)
        except _engine_errors() as error:
            reason = str(error).splitlines()[0][:200].rstrip(".")
            raise DataError(f"The table cannot be read any further: {reason}. Write or copy its files again.") from None

    return safely


def _engine_errors() -> tuple[type[Exception], ...]:
    """Return the errors that reading can raise, of the engines that are loaded."""
    named = [("polars.exceptions", "PolarsError"), ("duckdb", "Error")]
    return (pa.ArrowException, OSError, *(kind for error in named if (kind := loaded(*error)) is not None))


RELATION = ("duckdb", "DuckDBPyRelation")
IBIS = ("ibis.expr.types", "Table")
OPENERS = {
    ("pyarrow.dataset", "Dataset"): _dataset,
    ("polars", "LazyFrame"): _lazy_frame,
    RELATION: _relation,
    IBIS: _ibis,
}
