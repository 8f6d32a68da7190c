"""The text of a file that another program wrote, and the places in it that errors name."""

from __future__ import annotations

import gzip
import io
import zlib
from dataclasses import dataclass

from suffice.errors import ArgumentError, FileFormatError
from suffice.files import atomic_write, read_bytes

LATIN_1 = "The file is not UTF-8; it was read as Latin-1 (ISO 8859-1). Check names that have accents."
MAX_UNPACKED = 2**28


@dataclass(frozen=True)
class TextFile:
    """A text whose parts are addressed by position; line and column are counted only when there is an error.

    Attributes
    ----------
    path : str
    text : str
        The text as it stands in the file.
    notes : tuple of str
        What was decided on the way in.
    """

    path: str
    text: str
    notes: tuple[str, ...] = ()

    def line(self, at: int) -> int:
        """Return the line, from 1, of a position."""
        return self.text.count("\n", 0, at) + 1

    def error(self, at: int, message: str) -> FileFormatError:
        """Return an error that tells file, line and column."""
        column = at - self.text.rfind("\n", 0, at)
        return FileFormatError(f"{self.path!r}, line {self.line(at)}, column {column}: {message}")


def load_text(path: str) -> TextFile:
    """Read a file, packed with gzip or not (its content decides), as UTF-8 or, where it is none, as Latin-1."""
    data = load_bytes(path)
    try:
        return TextFile(path, data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return TextFile(path, data.decode("latin-1"), (LATIN_1,))


def load_bytes(path: str) -> bytes:
    """Read a file, packed with gzip or not; its content decides."""
    data = read_bytes(path)
    return _unpacked(path, data) if data[:2] == b"\x1f\x8b" else data


def _unpacked(path: str, data: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            parts, size = [], 0
            while size <= MAX_UNPACKED and (part := file.read(1 << 16)):
                parts.append(part)
                size += len(part)
            content = b"".join(parts)
    except (OSError, EOFError, zlib.error) as error:
        raise FileFormatError(f"{path!r} is not a proper gzip file: {error}. Write or copy it again.") from None
    if len(content) > MAX_UNPACKED:
        raise FileFormatError(
            f"{path!r} unpacks to more than {MAX_UNPACKED:,} bytes. Unpack it with gzip first, if it is to be trusted."
        )
    return content


def write_text(path: str, text: str) -> None:
    """Write a text as UTF-8, packed with gzip when the ending of the path says so."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"A name has the character {text[error.start]!r}, which UTF-8 cannot hold.") from None
    with atomic_write(path, binary=True) as file:
        file.write(_packed(data) if path.lower().endswith(".gz") else data)


def _packed(data: bytes) -> bytes:
    """Pack without name and time, so that equal networks make equal files."""
    result = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=result, mtime=0) as file:
        file.write(data)
    return result.getvalue()
