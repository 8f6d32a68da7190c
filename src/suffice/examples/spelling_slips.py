"""How words are mistyped: which words lie within two edits of what was typed, and how likely such slips are.

An edit drops a letter, swaps two neighbours, replaces a letter or inserts one (Damerau 1964). All words are compared
with what was typed at once, column by column of the usual dynamic programme.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from suffice.types import Floats

LETTERS = 26
ABSENT, OTHER = -1, -2
"""Codes after the end of a word, and of characters that are no letter, which equal none."""
MOST_EDITS = 2


@dataclass(frozen=True)
class Slips:
    """p(typed | word): each edit has the same small probability, and is any of those that the word allows.

    First one of the four kinds is drawn, then its place, and for a replacement or an insertion the letter, all of them
    evenly. So a word of n letters loses a given one with the probability rate / 4n, and gains a given one at a given
    place with rate / (4 · 26 (n + 1)): what was typed is more likely to lack a letter than to have one too many.

    Parameters
    ----------
    rate : float
        The probability of one edit; of two, its square.

    Examples
    --------
    >>> slips = Slips(rate=0.001)
    >>> slips.log_prob("thier", ["their", "tier"]).round(1).tolist()
    [-9.7, -13.2]
    """

    rate: float = 0.001

    def log_prob(self, typed: str, words: Sequence[str]) -> Floats:
        """Return log p(typed | word) of every word, along the likeliest edits; shape (n_words,)."""
        codes, n = encoded(words)
        choices = [n, n - 1, (LETTERS - 1) * n, LETTERS * (n + 1)]
        return -cheapest(typed, codes, n, *(np.log(4 * np.maximum(ways, 1) / self.rate) for ways in choices))


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Words of the letters a to z to choose corrections from.

    Examples
    --------
    >>> Lexicon(["receive", "relieve", "reptile"]).near("recieve")
    ['receive', 'relieve']
    """

    words: Sequence[str]
    codes: NDArray[np.int8] = field(init=False, repr=False)
    lengths: NDArray[np.int64] = field(init=False, repr=False)
    bags: NDArray[np.int8] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        codes, lengths = encoded(self.words)
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "lengths", lengths)
        object.__setattr__(self, "bags", _bags(codes))

    def near(self, typed: str, most: int = MOST_EDITS) -> list[str]:
        """Return the words that one to ``most`` edits make into ``typed``."""
        apart = np.abs(self.bags - _bags(encoded([typed])[0])).sum(axis=1)
        # An edit changes at most two letters of the bag, which spares most words the dynamic programme.
        chosen = np.flatnonzero((apart <= 2 * most) & (np.abs(self.lengths - len(typed)) <= most))
        one = np.ones(len(chosen))
        edits = cheapest(typed, self.codes[chosen], self.lengths[chosen], one, one, one, one)
        return [self.words[place] for place in chosen[(edits >= 1) & (edits <= most)]]


def one_edit_away(typed: str) -> list[str]:
    """Return all strings of letters that one edit makes into ``typed``, words or not.

    >>> [found for found in one_edit_away("fsih") if found in ("fish", "fsi", "fishy", "fsih")]
    ['fish', 'fsi']
    """
    letters = string.ascii_lowercase
    parts = [(typed[:at], typed[at:]) for at in range(len(typed) + 1)]
    found = {head + letter + tail for head, tail in parts for letter in letters}
    found |= {head + tail[1:] for head, tail in parts if tail}
    found |= {head + letter + tail[1:] for head, tail in parts if tail for letter in letters}
    found |= {head + tail[1] + tail[0] + tail[2:] for head, tail in parts if len(tail) > 1}
    return sorted(found - {typed, ""})


def encoded(words: Sequence[str]) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Return the letters as numbers from 0; shape (n_words, longest); and the lengths."""
    lengths = np.array([len(word) for word in words], np.int64)
    codes = np.full((len(words), int(lengths.max(initial=0))), ABSENT, np.int8)
    for row, word in enumerate(words):
        codes[row, : len(word)] = [_code(letter) for letter in word]
    return codes, lengths


def cheapest(
    typed: str,
    codes: NDArray[np.int8],
    lengths: NDArray[np.int64],
    drop: Floats,
    swap: Floats,
    replace: Floats,
    insert: Floats,
) -> Floats:
    """Return the least cost of edits that make every word into ``typed``; costs and result have shape (n_words,).

    No letter is edited twice.
    """
    letters = codes.T
    before: list[Floats] = []
    row = [at * drop for at in range(len(letters) + 1)]  # nothing typed yet: all letters of the word are dropped
    for place, letter in enumerate(map(_code, typed)):
        above, row = row, [(place + 1) * insert]
        for at, own in enumerate(letters):
            kept = above[at] + np.where(own == letter, 0.0, replace)
            best = np.minimum(kept, np.minimum(above[at + 1] + insert, row[at] + drop))
            if place and at:
                swapped = (letters[at - 1] == letter) & (own == _code(typed[place - 1]))
                best = np.minimum(best, np.where(swapped, before[at - 1] + swap, math.inf))
            row.append(best)
        before = above
    return np.asarray(row)[lengths, np.arange(len(lengths))]


def _code(letter: str) -> int:
    return ord(letter) - ord("a") if "a" <= letter <= "z" else OTHER


def _bags(codes: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return how often every letter occurs; shape (n_words, 26)."""
    return np.stack([(codes == letter).sum(axis=1) for letter in range(LETTERS)], axis=1).astype(np.int8)
