"""The words of UAI files. Errors name the place of a word, which nobody looks for until there is an error."""

from __future__ import annotations

import itertools
import re
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.errors import FileFormatError
from suffice.io.text_file import TextFile, load_text
from suffice.text import shorten

COMMENT = re.compile(r"#[^\n]*+")
WORD = re.compile(r"\S++")
NUMBER = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
PLAIN = re.compile(r"[0-9eE.+\-\s]*+")
MAX_DIGITS = 18


class WordFile(TextFile):
    """A text whose parts are addressed by the number of a word, from 0, where `TextFile` counts characters."""

    @cached_property
    def bare(self) -> str:
        """The text with blanks in place of comments."""
        return COMMENT.sub(lambda comment: " " * len(comment[0]), self.text) if "#" in self.text else self.text

    @cached_property
    def words(self) -> list[str]:
        """The words of the text."""
        return self.bare.split()

    def error(self, at: int, message: str) -> FileFormatError:
        """Return an error that tells file, line and column of a word, or of the end of the file."""
        found = next(itertools.islice(WORD.finditer(self.bare), at, None), None)
        return super().error(len(self.text.rstrip()) if found is None else found.start(), message)

    # Numbers --------------------------------------------------------------------------------------------------

    def whole(self, at: int, what: str) -> int:
        """Return the whole number at one word."""
        return self.wholes(at, 1, what)[0]

    def wholes(self, at: int, n: int, what: str) -> list[int]:
        """Return the whole numbers at ``n`` words; ``what`` tells what they are."""
        words = self._words(at, n, what)
        for place, word in enumerate(words, at):
            if not (word.isascii() and word.isdigit()):
                raise self.error(
                    place, f"Expected {what}: a whole number, not negative. Got {shorten(word)!r} instead."
                )
            if len(word) > MAX_DIGITS:
                raise self.error(place, f"Expected {what}. {shorten(word)!r} is beyond what any file can hold.")
        return list(map(int, words))

    def numbers(self, at: int, n: int, what: str) -> NDArray[np.float64]:
        """Return the numbers at ``n`` words, which must be finite and not negative; shape (n,)."""
        words = self._words(at, n, what)
        if not self._is_plain:
            self._check_numbers(words, at)
        try:
            values = np.fromiter(map(float, words), np.float64, n)
        except ValueError:
            self._check_numbers(words, at)
            raise  # not reached: Python's numbers of these signs are ours
        proper = (values >= 0) & (values < np.inf)
        if not proper.all():
            wrong = int(np.argmin(proper))
            raise self.error(
                at + wrong, f"{shorten(words[wrong])!r} cannot stand in a table: numbers are finite and not negative."
            )
        return values

    def _words(self, at: int, n: int, what: str) -> list[str]:
        words = self.words[at : at + n]
        if len(words) < n:
            found = f", of which it has {len(words):,}" if n > 1 else ""
            raise self.error(
                len(self.words), f"The file ends where {what} should be{found}. It may be cut off; copy it again."
            )
        return words

    @cached_property
    def _is_plain(self) -> bool:
        """Whether Python's spellings of numbers that are not ours, such as ``1_0`` and ``nan``, cannot occur."""
        first = WORD.search(self.bare)
        return PLAIN.fullmatch(self.bare, first.end() if first else 0) is not None

    def _check_numbers(self, words: list[str], at: int) -> None:
        for place, word in enumerate(words, at):
            if not NUMBER.fullmatch(word):
                raise self.error(place, f"Expected a number. Got {shorten(word)!r} instead.")


def load_words(path: str) -> WordFile:
    """Read a file, packed with gzip or not."""
    file = load_text(path)
    return WordFile(file.path, file.text, file.notes)
