"""CSV files: text as written, types inferred afterwards.

Every field is read as text, so that ``007``, ``TRUE`` and ``1.50`` keep the spelling they have in the file. A column
whose values all are whole numbers or all are numbers is then read as such; see `suffice.data.encode`.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from suffice.data.raw import RawTable
from suffice.errors import DataError, FileAccessError

SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")


@dataclass(frozen=True)
class CSV:
    """A CSV file, with what its plain path does not say.

    Parameters
    ----------
    path : str or path
        Plain or gzip-compressed text in UTF-8, the names of the columns in the first line.
    separator : str, optional
        The character between fields; a tab for ``.tsv``, else a comma.
    na_values : sequence of str
        Fields that mean a missing value.

    Examples
    --------
    >>> import suffice as sf
    >>> sf.CSV("survey.csv", separator=";", na_values=["", "NA"])
    CSV(path='survey.csv', separator=';', na_values=('', 'NA'))
    """

    path: str | os.PathLike[str]
    separator: str | None = None
    na_values: Sequence[str] = ("", "?")

    def __post_init__(self) -> None:
        if isinstance(self.na_values, str):
            raise DataError(f"The 'na_values' argument must be a list of texts. Got {self.na_values!r} instead.")
        object.__setattr__(self, "na_values", tuple(self.na_values))
        if self.separator is not None and len(self.separator) != 1:
            raise DataError(f"The 'separator' argument must be one character. Got {self.separator!r} instead.")


def accepts(data: object) -> bool:
    """Whether ``data`` is a `CSV` or the path of a CSV file."""
    return isinstance(data, CSV) or (isinstance(data, str | os.PathLike) and str(data).lower().endswith(SUFFIXES))


def open_table(data: CSV | str | os.PathLike[str]) -> RawTable:
    """Read the whole file as text columns."""
    source = data if isinstance(data, CSV) else CSV(data)
    path = Path(source.path)
    separator = source.separator or ("\t" if ".tsv" in "".join(path.suffixes).lower() else ",")
    content = _content(path)
    names = _header(path, content, separator)
    table = _parse(path, content, names, separator, source.na_values)
    return RawTable(names, table.column, table.num_rows, f"CSV file {path.name!r}", text=True)


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    except (gzip.BadGzipFile, EOFError) as error:
        raise DataError(f"CSV file {str(path)!r} is not complete: {error}.") from None
    except OSError as error:
        raise FileAccessError(f"Cannot read {str(path)!r}: {error.strerror or error}.") from None


def _header(path: Path, content: bytes, separator: str) -> tuple[str, ...]:
    try:
        text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
        names = tuple(next(csv.reader(text, delimiter=separator), []))
    except UnicodeDecodeError as error:
        raise _not_utf8(path, error) from None
    if not names:
        raise DataError(f"CSV file {str(path)!r} is empty. Its first line must name the columns.")
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"CSV file {str(path)!r}: column {name!r} occurs more than once in the first line.")
    return names


def _parse(path: Path, content: bytes, names: tuple[str, ...], separator: str, na_values: Sequence[str]) -> pa.Table:
    from pyarrow import csv as arrow_csv

    bad: list[Any] = []

    def refuse(row: Any) -> str:
        bad.append(row)
        return "error"

    try:
        return arrow_csv.read_csv(
            io.BytesIO(content),
            # One thread, because only then does Arrow know the row's number when it refuses a row.
            read_options=arrow_csv.ReadOptions(
                column_names=list(names), skip_rows=0, skip_rows_after_names=1, use_threads=False
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator,
                newlines_in_values=True,
                ignore_empty_lines=len(names) > 1,
                invalid_row_handler=refuse,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=list(na_values),
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid as error:
        if bad:
            row = bad[0]
            where = "" if row.number is None else f", row {row.number - 1}"
            raise DataError(
                f"CSV file {str(path)!r}{where}: expected {row.expected_columns} fields, found {row.actual_columns}: "
                f"{row.text[:80]!r}. Correct the row, or name another separator: sf.CSV(path, separator=';')."
            ) from None
        if "UTF8" in str(error):
            raise _not_utf8(path, error) from None
        raise DataError(f"CSV file {str(path)!r} cannot be read: {error}") from None


def _not_utf8(path: Path, error: Exception) -> DataError:
    return DataError(f"CSV file {str(path)!r} is not UTF-8 text ({error}). Save it as UTF-8 first.")
