"""Sequences in a text file: characters, words, or one sequence a line, read in pieces in bounded memory."""

from __future__ import annotations

import codecs
import gzip
import lzma
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import SettledTable, code_dtype
from suffice.data.schema import Declaration, Schema
from suffice.data.variable import Variable, sort_labels
from suffice.data.windows import SequencePiece
from suffice.errors import DataError, FileAccessError, SchemaError, listing, shown
from suffice.types import Array

LEVELS = ("characters", "words", "lines")
ENDINGS = (".txt", ".txt.gz", ".txt.xz")
PIECE_BYTES = 1 << 20
NEWLINE, BLANK = 10, 32
N_POINTS = 0x110000

Stretch = tuple[Any, NDArray[np.int64]]
"""Some symbols in a row, code points or words, and the places among them where a sequence begins."""


def is_text_path(data: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether data is the path of a text file, by its ending."""
    return isinstance(data, str | os.PathLike) and os.fspath(data).lower().endswith(ENDINGS)


@dataclass(frozen=True)
class TextSymbols:
    """The sequences of a text file; states are numbered as they appear, and sorted when a pass is over.

    Attributes
    ----------
    path : str
    level : {"characters", "words", "lines"}
    letters : bool
        Lower case, and every run of characters other than a–z one blank.
    name : str
        The variable's name.
    declaration : Declaration or None
        States that are known beforehand; others are an error.
    """

    path: str
    level: str
    letters: bool
    name: str
    declaration: Declaration | None = None
    _done: list[Variable] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        if self.declaration is not None and self.declaration.kind != "discrete":
            raise SchemaError(f"Text file {self.path!r} holds symbols, so {self.name!r} cannot be continuous.")

    @property
    def description(self) -> str:
        """A few words on the file."""
        return f"text file {self.path!r}"

    @property
    def n_positions(self) -> None:
        """Not known beforehand."""

    def n_windows(self, order: int) -> None:
        """Not known beforehand."""

    @property
    def _states(self) -> tuple[Any, ...] | None:
        return None if self.declaration is None else self.declaration.states

    @property
    def schema(self) -> Schema:
        """The variable: with its declared states, those of the last pass, or none yet."""
        if self._done:
            return self.settled().schema
        return Schema((Variable(self.name, self._states or (), self._states is not None),))

    def pieces(self) -> Iterator[SequencePiece]:
        """Yield the symbols in order, a piece of the file at a time."""
        alphabet = _Alphabet(self)
        empty = True
        for symbols, starts in self._stretches():
            if len(symbols):
                codes = alphabet.codes(symbols)
                yield SequencePiece(alphabet.schema, {self.name: codes}, starts)
                empty = False
        self._done[:] = [alphabet.variable]
        if empty:
            yield SequencePiece(alphabet.schema, {self.name: np.zeros(0, np.int8)}, np.zeros(0, np.int64))

    def _stretches(self) -> Iterator[Stretch]:
        if self.level == "words":
            return _words(self._texts(), self.letters)
        lines = self.level == "lines"
        points = _points(_plain_newlines(self._texts()) if lines else self._texts(), self.letters)
        return _sequences(_only_letters(points, lines) if self.letters else points, lines)

    def _texts(self) -> Iterator[str]:
        """Yield the text in pieces, characters whole."""
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        n_bytes = 0
        try:
            with _opened(self.path) as file:
                while piece := file.read(PIECE_BYTES):
                    yield decoder.decode(piece)
                    n_bytes += len(piece)
                yield decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            raise DataError(
                f"Text file {self.path!r} is not UTF-8 ({error.reason}, at about byte {n_bytes + error.start:,}). "
                "Convert it first."
            ) from None
        except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
            raise DataError(f"Text file {self.path!r} is damaged or cut off: {error}. Copy it again.") from None
        except (OSError, ValueError) as error:
            if isinstance(error, DataError):
                raise
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise FileAccessError(f"Cannot read {self.path!r}: {reason}. Check the path.") from None

    def settled(self) -> SettledTable:
        """Return the variable with its states in order."""
        if not self._done:
            raise DataError("The states of a streamed text are known only after a pass over it.")
        found = self._done[0]
        if found.declared:
            return SettledTable(Schema((found,)), ())
        variable = Variable(self.name, sort_labels(found.labels))
        order = np.array([variable.code(label) for label in found.labels], np.int64)
        return SettledTable(Schema((variable,)), (), {self.name: order})

    def with_schema(self, schema: Schema) -> TextSymbols:
        """Return the same file read against known states, for another pass."""
        declaration = Declaration("discrete", schema[self.name].labels)
        return TextSymbols(self.path, self.level, self.letters, self.name, declaration)


def _opened(path: str) -> Any:
    if path.lower().endswith(".gz"):
        return gzip.open(path, "rb")
    return lzma.open(path, "rb") if path.lower().endswith(".xz") else open(path, "rb")


# From symbols to codes ----------------------------------------------------------------------------------------


class _Alphabet:
    """The states of one pass, in order of appearance unless they were declared."""

    def __init__(self, source: TextSymbols) -> None:
        self.source = source
        self.fixed = source._states is not None
        self.n_read = 0
        self.variable = Variable(source.name, source._states or (), self.fixed)
        self.schema = Schema((self.variable,))
        self.by_point = np.full(N_POINTS if source.level != "words" else 0, -1, np.int32)
        self.by_word: dict[str, int] = {}
        self._learn(self.variable.labels)

    def _learn(self, labels: tuple[Any, ...]) -> None:
        """Enter states from the first new one on."""
        if self.source.level == "words":
            self.by_word.update({str(label): code for code, label in enumerate(labels)})
            return
        for code, label in enumerate(labels):
            if len(str(label)) == 1:
                self.by_point[ord(str(label))] = code

    def codes(self, symbols: Any) -> Array:
        """Return the codes of code points or words; new ones become states, or are an error."""
        codes = self._look_up(symbols)
        unknown = codes < 0
        if unknown.any():
            self._grow(symbols, unknown)
            codes = self._look_up(symbols)
        self.n_read += len(codes)
        return codes.astype(code_dtype(self.variable.n_states))

    def _look_up(self, symbols: Any) -> Array:
        if isinstance(symbols, list):
            return np.array([self.by_word.get(word, -1) for word in symbols], np.int32)
        found: Array = self.by_point.take(symbols)
        return found

    def _grow(self, symbols: Any, unknown: NDArray[np.bool_]) -> None:
        places = np.flatnonzero(unknown)
        if isinstance(symbols, list):
            new: list[str] = list(dict.fromkeys(symbols[place] for place in places.tolist()))
        else:
            points, first = np.unique(symbols[places], return_index=True)
            new = [chr(point) for point in points[np.argsort(first)].tolist()]
        if self.fixed:
            what = "word" if self.source.level == "words" else "symbol"
            raise DataError(
                f"Text file {self.source.path!r}, {what} {self.n_read + int(places[0]) + 1:,}: {shown(new[0])} is not "
                f"one of {listing(self.variable.labels)}. Add it to the states that were declared."
            )
        self.variable = Variable(self.source.name, (*self.variable.labels, *new))
        self.schema = Schema((self.variable,))
        self._learn(self.variable.labels)


# From text to symbols -----------------------------------------------------------------------------------------


def _plain_newlines(texts: Iterator[str]) -> Iterator[str]:
    """Turn the line ends of every system into one character."""
    held = ""
    for text in texts:
        whole = held + text
        held = "\r" if whole.endswith("\r") else ""
        yield whole.removesuffix("\r").replace("\r\n", "\n").replace("\r", "\n")
    if held:
        yield "\n"


def _points(texts: Iterator[str], lower: bool) -> Iterator[Array]:
    """Turn text into code points."""
    for text in texts:
        said = text.lower() if lower else text
        if said.isascii():
            yield np.frombuffer(said.encode("ascii"), np.uint8)
        else:
            yield np.frombuffer(said.encode("utf-32-le", "surrogatepass"), np.uint32)


def _only_letters(pieces: Iterator[Array], lines: bool) -> Iterator[Array]:
    """Turn every run of other characters into one blank, and leave it out at the ends of a sequence."""
    after_letter = held = False  # whether the last symbol was a letter, and whether a blank waits for the next one
    for points in pieces:
        kind = np.where((points >= ord("a")) & (points <= ord("z")), points, BLANK).astype(np.uint8)
        if lines:
            kind[points == NEWLINE] = NEWLINE
        if held:
            kind = np.append(np.array(BLANK, np.uint8), kind)
        letter = kind > BLANK
        before = np.append(after_letter, letter[:-1])[: len(kind)]
        solid = np.flatnonzero(kind != BLANK)
        follows = np.append(letter[solid], False)[np.searchsorted(solid, np.arange(len(kind)))]
        kept = kind[(kind != BLANK) | (before & follows)]
        # A blank at the end of a piece is kept only if a letter follows in the next one.
        end = int(solid[-1]) + 1 if len(solid) else 0
        held = end < len(kind) and bool(letter[end - 1] if end else after_letter)
        after_letter = held or (bool(letter[-1]) if len(kind) else after_letter)
        yield kept


def _sequences(pieces: Iterator[Array], lines: bool) -> Iterator[Stretch]:
    """Find where sequences begin: at the beginning, and after every newline where lines are sequences."""
    begins = True
    for points in pieces:
        if not len(points):
            continue
        if not lines:
            yield points, np.zeros(int(begins), np.int64)
            begins = False
            continue
        newline = points == NEWLINE
        first = np.append(begins, newline[:-1]) & ~newline
        begins = bool(newline[-1])
        kept = ~newline
        yield points[kept], np.flatnonzero(first[kept])


def _words(texts: Iterator[str], letters: bool) -> Iterator[Stretch]:
    """Split text into words; what may go on in the next piece waits for it."""
    pattern = re.compile(r"[a-z]+" if letters else r"\S+")
    rest, begins = "", True
    for text in texts:
        whole = rest + (text.lower() if letters else text)
        found = list(pattern.finditer(whole))
        cut = found[-1].start() if found and found[-1].end() == len(whole) else len(whole)
        words = [match.group() for match in found if match.start() < cut]
        rest = whole[cut:]
        if words:
            yield words, np.zeros(int(begins), np.int64)
            begins = False
    if rest:
        yield [rest], np.zeros(int(begins), np.int64)
