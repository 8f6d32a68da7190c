"""Text in columns, as the CoNLL tasks have it: one token a line, and a blank line between sentences."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError, DataError, Mention, Passed, Remedy, require_text, shown, the_argument
from suffice.files import read_bytes
from suffice.text import plural

UNPACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
}
PIECE_CHARACTERS, PIECE_LINES = 1 << 17, 10_000
"""About so much is cut into columns at a time: lists of a line's columns need more memory than what they hold."""
BLANKS = re.compile(r"[ \t\x0b\x0c]+")
OTHER_BLANKS = "\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""Blanks that `str.split` would cut at, and that may stand inside a token: in Japanese, or in ``10 000``."""


@dataclass(frozen=True, eq=False)
class ColumnText:
    """The columns of a text, token by token.

    Attributes
    ----------
    columns : tuple of list of str
        One entry a token. Without any token, there is no column.
    offsets : array of int64, shape (n_sentences + 1,)
        Where each sentence begins; none is empty.
    line_numbers : array of int64, shape (n_tokens,)
        The line of each token, from 1.
    """

    columns: tuple[list[str], ...]
    offsets: NDArray[np.int64]
    line_numbers: NDArray[np.int64]

    def __repr__(self) -> str:
        sizes = (
            plural(self.n_sentences, "sentence"),
            plural(self.n_tokens, "token"),
            plural(len(self.columns), "column"),
        )
        return f"ColumnText({', '.join(sizes)})"

    @property
    def n_sentences(self) -> int:
        """The number of sentences."""
        return len(self.offsets) - 1

    @property
    def n_tokens(self) -> int:
        """The number of tokens of all sentences."""
        return int(self.offsets[-1])

    def sentences(self, column: int) -> list[list[str]]:
        """Return a column as one list a sentence."""
        bounds = self.offsets.tolist()
        values = self.columns[column]
        return [values[low:high] for low, high in pairwise(bounds)]


def read_columns(
    source: str | os.PathLike[str] | Iterable[str],
    *,
    separator: str | None = None,
    comment: str | None = None,
    encoding: str = "utf-8",
    name: str = "The text",
) -> ColumnText:
    r"""Read a text of one token a line, sentences apart by blank lines.

    Parameters
    ----------
    source : path, or iterable of lines
        A path that ends in .gz, .bz2 or .xz is unpacked.
    separator : str, optional
        What stands between columns, such as ``"\t"``: two in a row have an empty column between them. None takes any
        number of blanks and tabulators for one separator.
    comment : str, optional
        Lines that begin with this are left out, such as ``"#"`` in CoNLL-U. None keeps all: ``#`` is a token elsewhere.
    encoding : str
    name : str
        What errors call a text that is no file.

    Returns
    -------
    ColumnText

    Examples
    --------
    >>> text = read_columns(["the D", "cat N", "", "sleep V"])
    >>> text.columns, text.offsets.tolist()
    ((['the', 'cat', 'sleep'], ['D', 'N', 'V']), [0, 2, 3])
    >>> text.sentences(1)
    [['D', 'N'], ['V']]
    """
    if separator is not None:
        require_text("separator", separator)
    if comment is not None:
        require_text("comment", comment)
    pieces, described = _pieces(source, encoding, name)
    tokens = _Tokens(described)
    for lines in pieces:
        fields = _fields(lines, separator)
        if comment is None:
            tokens.add(fields, np.arange(len(lines)), len(lines))
        else:
            kept = [number for number, line in enumerate(lines) if not line.startswith(comment)]
            tokens.add([fields[number] for number in kept], np.array(kept, np.int64), len(lines))
    return tokens.text()


class _Tokens:
    """The tokens read so far; equal texts are held once."""

    def __init__(self, described: str) -> None:
        self.described = described
        self.columns: tuple[list[str], ...] = ()
        self.shared: dict[str, str] = {}
        self.places = [np.zeros(0, np.int64)]  # among the lines that are no comments
        self.numbers = [np.zeros(0, np.int64)]
        self.n_lines = self.n_kept = self.first_line = 0

    def add(self, fields: list[list[str]], kept: NDArray[np.int64], n_lines: int) -> None:
        """Add the fields of some more lines; ``kept`` tells which of the ``n_lines`` they are of."""
        sizes = np.fromiter(map(len, fields), np.int64, len(fields))
        places = np.flatnonzero(sizes)
        numbers = self.n_lines + kept[places] + 1
        if len(places) and not self.columns:
            self.columns = tuple([] for _ in range(sizes[places[0]]))
            self.first_line = int(numbers[0])
        self._require_even(sizes[places], numbers)
        flat = list(chain.from_iterable(fields))
        texts = list(map(self.shared.setdefault, flat, flat))
        for number, column in enumerate(self.columns):
            column.extend(texts[number :: len(self.columns)])
        self.places.append(self.n_kept + places)
        self.numbers.append(numbers)
        self.n_lines += n_lines
        self.n_kept += len(fields)

    def _require_even(self, sizes: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
        odd = np.flatnonzero(sizes != len(self.columns))
        if len(odd):
            at = int(odd[0])
            raise DataError(
                f"{self.described}, line {int(numbers[at])}: found {plural(int(sizes[at]), 'column')}, where line "
                f"{self.first_line} has {len(self.columns)}. Give every line the same number; ",
                Passed("separator", "\t"),
                " keeps empty ones.",
            )

    def text(self) -> ColumnText:
        """Return all that was read."""
        places = np.concatenate(self.places)
        # A sentence begins where a token does not follow right after another one.
        begins = np.append(True, np.diff(places) > 1)[: len(places)]
        offsets = np.append(np.flatnonzero(begins), len(places)).astype(np.int64)
        return ColumnText(self.columns, offsets, np.concatenate(self.numbers))


def _fields(lines: list[str], separator: str | None) -> list[list[str]]:
    """Return the columns of each line; none where it is blank."""
    if separator is not None:
        return [line.split(separator) if line and not line.isspace() else [] for line in lines]
    whole = "".join(lines)
    if not any(blank in whole for blank in OTHER_BLANKS):
        return list(map(str.split, lines))
    return [[field for field in BLANKS.split(line) if field] for line in lines]


# Lines --------------------------------------------------------------------------------------------------------


def text_lines(source: Any, encoding: str, name: str = "The text") -> tuple[list[str], str]:
    """Return the lines without their ends, and what errors call them: the path, or ``name`` where there is none."""
    pieces, described = _pieces(source, encoding, name)
    return list(chain.from_iterable(pieces)), described


def _pieces(source: Any, encoding: str, name: str) -> tuple[Iterator[list[str]], str]:
    """Return the lines without their ends, some at a time, and what errors call them."""
    if not isinstance(source, str | os.PathLike):
        return _of_lines(source), name
    path = os.fspath(source)
    if "\n" in path:
        raise ArgumentError(
            f"The text in columns must be a path or a list of lines. Got {shown(path)} instead; pass text.splitlines()."
        )
    text = _text(path, encoding).removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _of_text(text), f"{path!r}"


def _of_text(text: str) -> Iterator[list[str]]:
    low = 0
    while low < len(text):
        end = text.find("\n", low + PIECE_CHARACTERS)
        high = len(text) if end < 0 else end
        yield text[low:high].split("\n")
        low = high + 1


def _of_lines(source: Any) -> Iterator[list[str]]:
    lines = iter(source if isinstance(source, Iterable) and not isinstance(source, bytes) else [source])
    n_read = 0
    while piece := list(islice(lines, PIECE_LINES)):
        for number, line in enumerate(piece, n_read + 1):
            if not isinstance(line, str):
                raise ArgumentError(
                    f"The text in columns must be a path or a list of lines, each of them a text. Got {shown(line)} at "
                    f"line {number} instead."
                )
        if not n_read:
            piece[0] = piece[0].removeprefix("\ufeff")
        n_read += len(piece)
        yield [line.rstrip("\r\n") for line in piece]


def _text(path: str, encoding: str) -> str:
    data = read_bytes(path)
    unpack = next((unpack for ending, unpack in UNPACK.items() if path.lower().endswith(ending)), None)
    try:
        content = data if unpack is None else unpack(data)
    except (OSError, ValueError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"{path!r} is damaged or cut off: {error}. Copy it again.") from None
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path!r}, line {line}: the text is not {encoding} ({error.reason}). ",
            Mention("its encoding", "Pass its encoding, such as "),
            Remedy("encoding", "latin-1"),
            ".",
        ) from None
    except (LookupError, TypeError):
        raise ArgumentError(
            the_argument("encoding"),
            f" must be the name of an encoding, such as 'utf-8' or 'latin-1'. Got {shown(encoding)} instead.",
        ) from None
