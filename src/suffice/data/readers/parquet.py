"""Parquet files, globs and folders: read by row group, text as dictionary codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from suffice.data.raw import ArrowBatch, RawStream, is_text
from suffice.data.readers.paths import Paths, called, expand, local, names_files
from suffice.errors import DamagedError, DataError, FileAccessError, listing
from suffice.text import plural

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow.parquet import ParquetFile

ENDINGS = (".parquet", ".pq")
BATCH_ROWS = 1 << 17
BATCH_VALUES, LEAST_ROWS = 1 << 24, 1 << 12
"""Batches of many columns have fewer rows, for less memory, but not so few that handling columns is all the work."""


def accepts(data: object) -> bool:
    """Whether ``data`` is the path or glob of Parquet files, or a folder of them."""
    return names_files(data, ENDINGS)


def open_table(data: Paths) -> RawStream:
    """Open the files; only their footers are read now."""
    paths = expand(data, ENDINGS)
    with opened(paths[0]) as first:
        names = tuple(first.schema_arrow.names)

    def batches(columns: Sequence[str]) -> Iterator[ArrowBatch]:
        for path in paths:
            yield from batches_of(path, columns)

    label = repr(paths[0].name) if len(paths) == 1 else f"{plural(len(paths), 'file')} of {called(data)!r}"
    return RawStream(names, batches, f"Parquet file {label}" if len(paths) == 1 else f"Parquet {label}", _n_rows(paths))


def _n_rows(paths: list[Path]) -> int | None:
    if len(paths) > 1000:
        return None  # reading so many footers would take longer than not knowing
    total = 0
    for path in paths:
        with opened(path) as file:
            total += file.metadata.num_rows
    return total


def _place(path: str | Path) -> str | NativeFile:
    """Return what Arrow opens: a path, or a file on other storage."""
    text = local(path)
    if "://" not in text:
        return text
    from pyarrow import fs

    system, inside = fs.FileSystem.from_uri(text)
    return system.open_input_file(inside)


def opened(path: str | Path, columns: Sequence[str] = ()) -> ParquetFile:
    """Open one file; the text among ``columns`` will be read as dictionary codes."""
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(_place(path), page_checksum_verification=True)
        schema = file.schema_arrow  # made anew whenever it is asked for
        kinds = dict(zip(schema.names, schema.types, strict=True))
        absent = [name for name in columns if name not in kinds]
        if absent:
            file.close()
            told = listing(schema.names, 12)
            raise DataError(f"Parquet file {str(path)!r} has no column {absent[0]!r}. It has {told}.")
        text = [name for name in columns if is_text(kinds[name])]
        if text:
            file.close()
            file = parquet.ParquetFile(_place(path), read_dictionary=text, page_checksum_verification=True)
        return file
    except FileNotFoundError:
        raise FileAccessError(f"Cannot read {str(path)!r}: no such file.") from None
    except (PermissionError, IsADirectoryError) as error:
        raise FileAccessError(f"Cannot read {str(path)!r}: {error.strerror or error}.") from None
    except (pa.ArrowInvalid, pa.ArrowException, OSError) as error:
        if isinstance(error, DataError):
            raise
        raise _damaged(path, error) from None


def batches_of(path: str | Path, columns: Sequence[str], groups: Sequence[int] | None = None) -> Iterator[ArrowBatch]:
    """Read one file, or some of its row groups, in batches."""
    declared = _dictionary_columns(path)
    with opened(path, columns) as file:
        try:
            n_rows = min(BATCH_ROWS, max(LEAST_ROWS, BATCH_VALUES // max(1, len(columns))))
            for batch in file.iter_batches(batch_size=n_rows, columns=list(columns), row_groups=groups):
                yield ArrowBatch(batch, levels=declared)
        except (pa.ArrowException, OSError) as error:
            raise _damaged(path, error) from None


def _dictionary_columns(path: str | Path) -> frozenset[str]:
    """Return the columns that were categoricals when the file was written; other dictionaries are an encoding only."""
    with opened(path) as file:
        return frozenset(field.name for field in file.schema_arrow if pa.types.is_dictionary(field.type))


def _damaged(path: str | Path, error: Exception) -> DamagedError:
    reason = str(error).splitlines()[0][:200]
    return DamagedError(f"Parquet file {str(path)!r} is damaged or cut off: {reason} Write or copy it again.")
