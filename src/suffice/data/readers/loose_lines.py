"""Text whose lines are loose: some before the first that counts, or blanks around the fields.

The text is put right on its way to the parser, as UTF-8. Blanks are taken off there and not from the parsed values,
which no longer tell whether a field stood in quotes. Pieces of text without any quotes, nearly all there are, go
through NumPy; the others field by field.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, BinaryIO, TextIO

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, Passed
from suffice.text import plural

PIECE_CHARACTERS = 1 << 19
BLANK, BORDER = 1, 2


def put_right(
    file: BinaryIO, described: str, encoding: str, separator: str, skip: int = 0, trim: bool = False
) -> BinaryIO:
    r"""Return the text of an open file in UTF-8, without its first lines and without blanks around fields.

    Parameters
    ----------
    file : binary file
    described : str
        The file in a few words, for errors.
    encoding : str
        Its encoding; a byte order mark is left out.
    separator : str
        The character between fields.
    skip : int
        How many lines to leave out. An ending inside quotes ends a line too.
    trim : bool
        Take spaces and tabs off both ends of fields; what stands in quotes is kept as it is.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO(b'# a survey\nname , town\n Ann,\t" Bath"\n')
    >>> put_right(file, "survey", "utf-8", ",", skip=1, trim=True).read()
    b'name,town\nAnn," Bath"\n'
    """
    text = io.TextIOWrapper(file, encoding=encoding, newline="")
    for n_lines in range(skip):
        if not text.readline():
            raise DataError(
                f"The {described} has {plural(n_lines, 'line')}, so ",
                Passed("skip", skip),
                " is more than there are. Skip fewer.",
            )
    pieces = _trimmed(text, separator.encode()) if trim else _pieces(text)
    return io.BufferedReader(_Joined(pieces, text))


def _pieces(text: TextIO) -> Iterator[bytes]:
    while piece := text.read(PIECE_CHARACTERS):
        yield piece.encode()


class _Joined(io.RawIOBase):
    """Pieces of bytes, to be read as one file; the text that they come from is closed with it."""

    def __init__(self, pieces: Iterator[bytes], text: TextIO) -> None:
        self._pieces, self._text = pieces, text
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        taken, self._rest = self._rest[: len(room)], self._rest[len(room) :]
        room[: len(taken)] = taken
        return len(taken)

    def close(self) -> None:
        self._text.close()
        super().close()


# Blanks -------------------------------------------------------------------------------------------------------


def _trimmed(text: TextIO, separator: bytes) -> Iterator[bytes]:
    rest = b""
    # What is carried over doubles at most, so that a quote left open costs no more than reading its text twice.
    while piece := text.read(max(PIECE_CHARACTERS, len(rest))):
        done, rest = _trimmed_fields(rest + piece.encode(), separator)
        yield done
    done, rest = _trimmed_fields(rest + b"\n", separator)
    yield (done + rest)[:-1]


def _trimmed_fields(piece: bytes, separator: bytes) -> tuple[bytes, bytes]:
    """Return the fields that end in a piece of text, trimmed, and what follows them; the piece begins with a field."""
    if b'"' in piece:
        return _by_field(piece, separator)
    end = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
    return _without_quotes(np.frombuffer(piece[:end], np.uint8), separator), piece[end:]


def _without_quotes(text: NDArray[np.uint8], separator: bytes) -> bytes:
    """Take out the runs of blanks that begin or end a field; the text ends with a line, or is empty."""
    kind = _kinds(separator)[text]
    is_blank = kind == BLANK
    changes = np.flatnonzero(is_blank[1:] != is_blank[:-1]) + 1
    if len(text) and is_blank[0]:
        changes = np.append(0, changes)
    starts, ends = changes[::2], changes[1::2]
    outer = (starts == 0) | (kind[starts - 1] == BORDER) | (kind[ends] == BORDER)
    starts, lengths = starts[outer], (ends - starts)[outer]
    kept = np.ones(len(text), bool)
    before = np.cumsum(lengths) - lengths
    kept[np.repeat(starts - before, lengths) + np.arange(lengths.sum())] = False
    return text[kept].tobytes()


@cache
def _kinds(separator: bytes) -> NDArray[np.int8]:
    """Return what each byte is between fields; shape (256,)."""
    kinds = np.zeros(256, np.int8)
    kinds[list(b" \t")] = BLANK
    kinds[list(separator + b"\r\n")] = BORDER
    return kinds


def _by_field(piece: bytes, separator: bytes) -> tuple[bytes, bytes]:
    pattern, blanks = _field(separator)
    parts: list[bytes] = []
    end = 0
    for found in pattern.finditer(piece):
        if found.start() != end:  # a quote is open here, and closed in a later piece
            break
        parts += (found[1].rstrip(blanks), found[2])
        end = found.end()
    return b"".join(parts), piece[end:]


@cache
def _field(separator: bytes) -> tuple[re.Pattern[bytes], bytes]:
    """Return the pattern of a field with its end, and the blanks that are no separators."""
    blanks = b" \t".replace(separator, b"")
    sign = re.escape(separator)
    quoted = rb'"(?:[^"]++|"")*+"'
    plain = rb"[^%b\r\n]*+" % sign
    return re.compile(rb'[%b]*+(%b%b|(?!")%b)(%b|\r\n?|\n)' % (blanks, quoted, plain, plain, sign)), blanks
