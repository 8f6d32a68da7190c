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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import pyarrow as pa

from suffice.data.raw import ArrowBatch, RawStream
from suffice.data.readers.arrow_csv import batches
from suffice.data.readers.loose_lines import put_right
from suffice.data.readers.paths import called, expand, names_files
from suffice.errors import (
    ArgumentError,
    DataError,
    FileAccessError,
    Mention,
    Remedy,
    Text,
    is_unicode,
    listing,
    require_whole,
    shown,
)
from suffice.types import PathLike

COMPRESSIONS = ("", ".gz", ".xz", ".bz2")
SUFFIXES = tuple(kind + packed for kind in (".csv", ".tsv") for packed in COMPRESSIONS)
MAGIC: dict[bytes, Callable[[BinaryIO], Any]] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ": lzma.open, b"BZh": bz2.open}
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
    path : str or path, or several
        Plain text, or text compressed by gzip, xz or bzip2.
    separator : str, optional
        The character between fields; a tab for ``.tsv``, else a comma.
    na_values : sequence of str
        Fields that mean a missing value.
    names : sequence of str, optional
        The names of the columns, for a file whose first line is data.
    encoding : str
        The text's encoding.
    skip : int
        How many lines to leave out at the top, such as a title; the next one names the columns, unless `names` does.
        Of several files, each is so.
    trim : bool
        Take spaces and tabs off both ends of every field and name, so that `` ?`` is missing and `` 3`` a number.
        What stands in quotes is kept as it is.

    Examples
    --------
    >>> import suffice as sf
    >>> file = sf.CSV("survey.csv", separator=";", na_values=["", "NA"])
    >>> file.na_values
    ('', 'NA')

    A file with a line of comment instead of names, and blanks after the separators:

    >>> file = sf.CSV("adult.test", names=["age", "sex", "income"], skip=1, trim=True)
    """

    path: str | os.PathLike[str]
    separator: str | None = None
    na_values: Sequence[str] = ("", "?")
    names: Sequence[str] | None = None
    encoding: str = "utf-8"
    skip: int = 0
    trim: bool = False

    def __post_init__(self) -> None:
        for path in self.path if isinstance(self.path, list | tuple) and self.path else (self.path,):
            if not isinstance(path, str | os.PathLike):
                raise DataError(f"The path of a CSV file must be text or a path object. Got {shown(path)} instead.")
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
        object.__setattr__(self, "skip", require_whole("skip", self.skip))
        if not isinstance(self.trim, bool):
            raise ArgumentError(f"The 'trim' argument must be True or False. Got {shown(self.trim)} instead.")

    @property
    def delimiter(self) -> str:
        """The character between fields."""
        return self.separator or ("\t" if ".tsv" in "".join(Path(called(self.path)).suffixes).lower() else ",")

    @property
    def is_loose(self) -> bool:
        """Whether the text must be put right before it is parsed."""
        return self.skip > 0 or self.trim


def _texts(argument: str, values: Any) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise DataError(f"The {argument!r} argument must be a list of texts. Got {shown(values)} instead.")
    texts = tuple(values)
    if not all(isinstance(text, str) for text in texts):
        raise DataError(f"The {argument!r} argument must hold texts only. Got {shown(values)} instead.")
    for text in texts:
        if not is_unicode(text) or "\0" in text:
            fault = "has a NUL character" if is_unicode(text) else "is not Unicode"
            raise DataError(f"The {argument!r} argument holds {shown(text)}, which {fault}. Leave it out or rename it.")
    return texts


def accepts(data: object) -> bool:
    """Whether ``data`` is a `CSV`, the path or glob of CSV files, or a folder of them."""
    return isinstance(data, CSV) or names_files(data, SUFFIXES)


def open_table(data: CSV | PathLike) -> RawStream:
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

    one = f"CSV file {called(source.path)!r}"
    return RawStream(names, pieces, one if len(files) == 1 else f"{len(files)} CSV files", text=True)


def _names(source: CSV) -> tuple[tuple[str, ...], bool]:
    names, no_rows = (tuple(source.names), _is_empty(source)) if source.names else _header(source)
    if len(set(names)) < len(names):
        repeated, _ = Counter(names).most_common(1)[0]
        where = Mention("names", "'names'") if source.names else _first_line(source)
        raise DataError(f"CSV file {str(source.path)!r}: column {repeated!r} occurs more than once in ", where, ".")
    return names, no_rows


@contextmanager
def _opened(source: CSV) -> Iterator[tuple[BinaryIO, str]]:
    """Open the file, decompressing what is compressed and putting right what is loose; and say how it is encoded."""
    with ExitStack() as stack:
        try:
            file: Any = stack.enter_context(open(source.path, "rb"))
            start = file.read(6)
            file.seek(0)
        except (OSError, ValueError) as error:
            raise FileAccessError(
                f"Cannot read {str(source.path)!r}: {error.strerror if isinstance(error, OSError) else error}."
            ) from None
        for magic, decompress in MAGIC.items():
            if start.startswith(magic):
                file = stack.enter_context(decompress(file))
                break
        encoding = source.encoding
        if source.is_loose:
            described = f"CSV file {str(source.path)!r}"
            text = put_right(file, described, _marked(encoding), source.delimiter, source.skip, source.trim)
            file = stack.enter_context(text)
            encoding = "utf-8"
        yield file, encoding


def _marked(encoding: str) -> str:
    """Return the encoding, with a byte order mark where it may have one."""
    return "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding


def _is_empty(source: CSV) -> bool:
    with _explained(source), _opened(source) as (file, _):
        start = file.read(1)
    return not start


def _header(source: CSV) -> tuple[tuple[str, ...], bool]:
    """Return the names in the first line, and whether nothing follows it."""
    with _explained(source), _opened(source) as (file, encoding):
        text = io.TextIOWrapper(file, encoding=_marked(encoding), newline="")
        names = tuple(next(csv.reader(text, delimiter=source.delimiter), []))
        no_rows = not text.read(1)
    path, line = repr(str(source.path)), _first_line(source)
    if not names:
        if source.skip:
            raise DataError(f"CSV file {path} has nothing in {line}, which must name the columns. Skip fewer lines.")
        raise DataError(f"CSV file {path} is empty. Its first line must name the columns.")
    if any("\0" in name for name in names):
        raise DataError(f"CSV file {path} has a NUL character in {line}; it is not a text file.")
    return names, no_rows


def _first_line(source: CSV) -> str:
    """Say which line names the columns."""
    return f"line {source.skip + 1:,}" if source.skip else "its first line"


class _explained:  # noqa: N801
    """Turn what goes wrong in a file into errors that name it."""

    def __init__(self, source: CSV) -> None:
        self.path = str(source.path)
        self.encoding = source.encoding
        self.line = _first_line(source)
        self.n_before = 0 if source.names else 1
        self.remedy = Text(
            f" If {self.line} is no part of the table, leave it out: ",
            Remedy("skip", source.skip + 1, call="sf.CSV(path, …)"),
            ".",
        )

    def __enter__(self) -> _explained:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, FileAccessError | DataError):
            return
        refused = REFUSED_ROW.match(str(error)) if isinstance(error, pa.ArrowInvalid) else None
        if refused is not None:
            row = None if refused["row"] is None else int(refused["row"]) - self.n_before
            where = "" if row is None else f", row {row}"
            raise DataError(
                f"CSV file {self.path!r}{where}: expected {refused['expected']} fields, found {refused['found']}: "
                f"{refused['text'][:80]!r}. Correct the row, or name another separator: ",
                Remedy("separator", ";", call="sf.CSV(path, …)"),
                ".",
                self.remedy if row == 1 else "",
            ) from None
        if isinstance(error, UnicodeError) or (isinstance(error, pa.ArrowInvalid) and "UTF8" in str(error)):
            raise DataError(
                f"CSV file {self.path!r} is not text in {self.encoding} ({error}). Name its encoding: ",
                Remedy("encoding", "latin-1", call="sf.CSV(path, …)"),
                ".",
            ) from None
        if isinstance(error, csv.Error):
            raise DataError(f"CSV file {self.path!r}: {self.line} cannot be read ({error}).") from None
        if isinstance(error, EOFError | gzip.BadGzipFile | lzma.LZMAError | zlib.error):
            raise DataError(f"CSV file {self.path!r} is not complete: {error}. Copy it again.") from None
        if isinstance(error, pa.ArrowInvalid):
            raise DataError(f"CSV file {self.path!r} cannot be read: {error}") from None
        if isinstance(error, OSError):
            raise FileAccessError(f"Cannot read {self.path!r}: {error.strerror or error}.") from None


def _batches(source: CSV, names: tuple[str, ...], columns: Sequence[str]) -> Iterator[ArrowBatch]:
    from pyarrow import csv as arrow_csv

    with _explained(source), _opened(source) as (file, encoding):
        reading = batches(
            file,
            # One thread, because only then does Arrow know the row's number when it refuses a row.
            read_options=arrow_csv.ReadOptions(
                column_names=list(names),
                skip_rows_after_names=0 if source.names else 1,
                use_threads=False,
                block_size=PIECE_BYTES,
                encoding=encoding,
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
