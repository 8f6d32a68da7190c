"""CSV files: text as written, read in pieces, types inferred at the end.

Every field is read as text, so that ``007``, ``TRUE`` and ``1.50`` keep the spelling they have in the file. A column
whose values all are whole numbers or all are numbers is then read as such; see `suffice.data.encode`.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from suffice.data.raw import ArrowBatch, RawStream
from suffice.data.readers.arrow_csv import batches
from suffice.data.readers.paths import expand, names_files
from suffice.errors import DataError, FileAccessError, listing, shown

COMPRESSIONS: dict[str, Callable[[Any], Any]] = {
    "": lambda file: file,
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
}
SUFFIXES = tuple(kind + packed for kind in (".csv", ".tsv") for packed in COMPRESSIONS)
MAGIC: dict[bytes, Callable[[Any], Any]] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ": lzma.open, b"BZh": bz2.open}
PIECE_BYTES = 1 << 24
REFUSED_ROW = re.compile(
    r"CSV parse error: (Row #(?P<row>\d+): )?Expected (?P<expected>\d+) columns, got (?P<found>\d+): (?P<text>.*)", re.S
)
"""Arrow's message on a row with too few or too many fields. It is read here because a function that Arrow calls for
such rows would be in its threads' hands; see `suffice.data.readers.arrow_csv`."""


@dataclass(frozen=True)
class CSV:
    """A CSV file, with what its plain path does not say.

    Parameters
    ----------
    path : str or path
        Plain text, or text compressed by gzip, xz or bzip2.
    separator : str, optional
        The character between fields; a tab for ``.tsv``, else a comma.
    na_values : sequence of str
        Fields that mean a missing value.
    names : sequence of str, optional
        The names of the columns, for a file whose first line is data.
    encoding : str
        The text's encoding.

    Examples
    --------
    >>> import suffice as sf
    >>> file = sf.CSV("survey.csv", separator=";", na_values=["", "NA"])
    >>> file.na_values
    ('', 'NA')
    """

    path: str | os.PathLike[str]
    separator: str | None = None
    na_values: Sequence[str] = ("", "?")
    names: Sequence[str] | None = None
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike):
            raise DataError(f"The path of a CSV file must be text or a path object. Got {shown(self.path)} instead.")
        object.__setattr__(self, "na_values", _texts("na_values", self.na_values))
        if self.names is not None:
            object.__setattr__(self, "names", _texts("names", self.names))
        one = isinstance(self.separator, str) and len(self.separator) == 1 and self.separator.isascii()
        if self.separator is not None and not one:
            raise DataError(f"The 'separator' argument must be one ASCII character. Got {self.separator!r} instead.")
        try:
            "".encode(self.encoding)
        except (LookupError, TypeError, ValueError):
            raise DataError(f"There is no encoding {self.encoding!r}; common ones are 'utf-8' and 'latin-1'.") from None

    @property
    def delimiter(self) -> str:
        """The character between fields."""
        return self.separator or ("\t" if ".tsv" in "".join(Path(self.path).suffixes).lower() else ",")


def _texts(argument: str, values: Any) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise DataError(f"The {argument!r} argument must be a list of texts. Got {shown(values)} instead.")
    texts = tuple(values)
    if not all(isinstance(text, str) for text in texts):
        raise DataError(f"The {argument!r} argument must hold texts only. Got {shown(values)} instead.")
    return texts


def accepts(data: object) -> bool:
    """Whether ``data`` is a `CSV`, the path or glob of CSV files, or a folder of them."""
    return isinstance(data, CSV) or names_files(data, SUFFIXES)


def open_table(data: CSV | str | os.PathLike[str]) -> RawStream:
    """Open the files; their first line is read now, the rest in pieces."""
    source = data if isinstance(data, CSV) else CSV(data)
    files = [replace(source, path=path) for path in expand(source.path, SUFFIXES)]
    names, _ = _names(files[0])

    def pieces(columns: Sequence[str]) -> Iterator[ArrowBatch]:
        for file in files:
            found, no_rows = _names(file)
            absent = [name for name in columns if name not in found]
            if absent:
                raise DataError(
                    f"CSV file {str(file.path)!r} has no column {absent[0]!r}. It has {listing(found, 12)}."
                )
            if not no_rows:
                yield from _batches(file, found, columns)

    one = f"CSV file {Path(source.path).name!r}"
    return RawStream(names, pieces, one if len(files) == 1 else f"{len(files)} CSV files", text=True)


def _names(source: CSV) -> tuple[tuple[str, ...], bool]:
    names, no_rows = (tuple(source.names), False) if source.names else _header(source)
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"CSV file {str(source.path)!r}: column {name!r} occurs more than once in the first line.")
    return names, no_rows


@contextmanager
def _opened(source: CSV) -> Iterator[BinaryIO]:
    """Open the file, decompressing what is compressed."""
    with ExitStack() as stack:
        try:
            file: Any = stack.enter_context(open(source.path, "rb"))
            start = file.read(6)
            file.seek(0)
        except (OSError, ValueError) as error:
            raise FileAccessError(f"Cannot read {str(source.path)!r}: {getattr(error, 'strerror', error)}.") from None
        for magic, decompress in MAGIC.items():
            if start.startswith(magic):
                file = stack.enter_context(decompress(file))
                break
        yield file


def _header(source: CSV) -> tuple[tuple[str, ...], bool]:
    """Return the names in the first line, and whether nothing follows it."""
    encoding = "utf-8-sig" if source.encoding.lower().replace("_", "-") in ("utf-8", "utf8") else source.encoding
    with _explained(source), _opened(source) as file:
        text = io.TextIOWrapper(file, encoding=encoding, newline="")
        names = tuple(next(csv.reader(text, delimiter=source.delimiter), []))
        no_rows = not text.read(1)
    if not names:
        raise DataError(f"CSV file {str(source.path)!r} is empty. Its first line must name the columns.")
    if any("\0" in name for name in names):
        raise DataError(f"CSV file {str(source.path)!r} has a NUL character in its first line; it is not a text file.")
    return names, no_rows


class _explained:  # noqa: N801
    """Turn what goes wrong in a file into errors that name it."""

    def __init__(self, source: CSV) -> None:
        self.path = str(source.path)
        self.encoding = source.encoding

    def __enter__(self) -> _explained:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, FileAccessError | DataError):
            return
        refused = REFUSED_ROW.match(str(error)) if isinstance(error, pa.ArrowInvalid) else None
        if refused is not None:
            where = "" if refused["row"] is None else f", row {int(refused['row']) - 1}"
            raise DataError(
                f"CSV file {self.path!r}{where}: expected {refused['expected']} fields, found {refused['found']}: "
                f"{refused['text'][:80]!r}. Correct the row, or name another separator: sf.CSV(path, separator=';')."
            ) from None
        if isinstance(error, UnicodeDecodeError) or (isinstance(error, pa.ArrowInvalid) and "UTF8" in str(error)):
            raise DataError(
                f"CSV file {self.path!r} is not text in {self.encoding} ({error}). "
                "Name its encoding: sf.CSV(path, encoding='latin-1')."
            ) from None
        if isinstance(error, csv.Error):
            raise DataError(f"CSV file {self.path!r}: its first line cannot be read ({error}).") from None
        if isinstance(error, EOFError | gzip.BadGzipFile | lzma.LZMAError | zlib.error):
            raise DataError(f"CSV file {self.path!r} is not complete: {error}. Copy it again.") from None
        if isinstance(error, pa.ArrowInvalid):
            raise DataError(f"CSV file {self.path!r} cannot be read: {error}") from None
        if isinstance(error, OSError):
            raise FileAccessError(f"Cannot read {self.path!r}: {error.strerror or error}.") from None


def _batches(source: CSV, names: tuple[str, ...], columns: Sequence[str]) -> Iterator[ArrowBatch]:
    from pyarrow import csv as arrow_csv

    with _explained(source), _opened(source) as file:
        reading = batches(
            file,
            # One thread, because only then does Arrow know the row's number when it refuses a row.
            read_options=arrow_csv.ReadOptions(
                column_names=list(names),
                skip_rows_after_names=0 if source.names else 1,
                use_threads=False,
                block_size=PIECE_BYTES,
                encoding=source.encoding,
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=source.delimiter,
                newlines_in_values=True,
                ignore_empty_lines=len(names) > 1,
            ),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=list(columns),
                column_types=dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string())),
                null_values=list(source.na_values),
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )
        with closing(reading):
            for batch in reading:
                yield ArrowBatch(batch, text=True)
