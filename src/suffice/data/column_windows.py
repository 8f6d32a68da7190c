"""Columns of texts, and what windows over them say at each position: in codes, and as texts only where they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.data.attribute_names import distinct_keys, first_seen

Macro = tuple[int, int]
Pattern = tuple[tuple[str, ...], tuple[Macro, ...]]
"""Texts before, between and after macros; row and column of each macro."""
Said = tuple[list[str], NDArray[np.int32]]
"""Texts, and which of them stands at each position: -1 for none."""


class Columns:
    """Columns of texts over sequences.

    Parameters
    ----------
    columns : sequence of columns
        One text a position each.
    offsets : array of int64, shape (n_sequences + 1,)
    omit : bool
        Whether windows that leave their sequence say nothing; otherwise they say how far they are out.

    Attributes
    ----------
    before, behind : array of int64, shape (n_positions,)
        How many positions of the sequence lie before each one, and behind it.

    Examples
    --------
    >>> columns = Columns([["the", "cat"]], np.array([0, 2]), omit=False)
    >>> names, places = columns.attributes([(("U:", "/", ""), ((0, 0), (1, 0)))])
    >>> [names[place] for place in places[:, 0]]
    ['U:the/cat', 'U:cat/_B+1']
    """

    def __init__(self, columns: Sequence[Sequence[str]], offsets: NDArray[np.int64], omit: bool) -> None:
        lengths = np.diff(offsets)
        self.n = int(offsets[-1])
        self.before = np.arange(self.n) - np.repeat(offsets[:-1], lengths)
        self.behind = np.repeat(offsets[1:], lengths) - 1 - np.arange(self.n)
        self.omit = omit
        self._columns = columns
        self._coded: dict[int, tuple[list[str], NDArray[np.int32]]] = {}
        self._said: dict[Macro, Said] = {}

    def attributes(
        self, patterns: Sequence[Pattern], held: Mapping[str, NDArray[np.bool_]] | None = None
    ) -> tuple[list[str], NDArray[np.int32]]:
        """Return names, and which of them there are at each position, shape (n_positions, n_patterns + n_held).

        Parameters
        ----------
        patterns : sequence of Pattern
        held : mapping, optional
            More names, and at which positions they are.
        """
        more = held or {}
        names: list[str] = []
        places = np.full((self.n, len(patterns) + len(more)), -1, np.int32)
        if not self.n:
            return names, places  # of a text without any token, not even the number of columns is known
        for number, pattern in enumerate(patterns):
            made, found = self._filled(pattern)
            places[:, number] = np.where(found < 0, found, found + np.int32(len(names)))
            names += made
        for number, (name, where) in enumerate(more.items(), len(patterns)):
            places[where, number] = len(names)
            names.append(name)
        return names, places

    def _filled(self, pattern: Pattern) -> Said:
        """Return the texts that a pattern makes when its macros are filled in."""
        texts, macros = pattern
        if not macros:
            return [texts[0]], np.zeros(self.n, np.int32)
        said = [self._around(macro) for macro in macros]
        inside = np.flatnonzero(np.all([places >= 0 for _, places in said], axis=0))
        chosen, found = _combinations(said, inside)
        blank = "{}".join(text.replace("{", "{{").replace("}", "}}") for text in texts)
        words = [map(listed.__getitem__, places.tolist()) for (listed, _), places in zip(said, chosen, strict=True)]
        places = np.full(self.n, -1, np.int32)
        places[inside] = found
        return list(map(blank.format, *words)), places

    def _around(self, macro: Macro) -> Said:
        """Return what a macro stands for at each position."""
        if macro not in self._said:
            row, column = macro
            if column not in self._coded:
                self._coded[column] = first_seen(self._columns[column], self.n)
            self._said[macro] = self._shifted(row, *self._coded[column])
        return self._said[macro]

    def _shifted(self, row: int, words: list[str], codes: NDArray[np.int32]) -> Said:
        places = codes[np.clip(np.arange(self.n) + row, 0, self.n - 1)]
        beyond = np.maximum(-row - self.before if row < 0 else row - self.behind, 0)
        outside = beyond > 0
        if self.omit:
            places[outside] = -1
            return words, places
        sign = "-" if row < 0 else "+"
        marks = [f"_B{sign}{distance}" for distance in range(1, int(beyond.max()) + 1)]
        places[outside] = len(words) + beyond[outside] - 1
        return words + marks, places


def _combinations(said: Sequence[Said], inside: NDArray[np.int64]) -> tuple[list[NDArray[np.int64]], NDArray[np.int32]]:
    """Return the distinct combinations of places, an array for each part, and which of them is at each position.

    Those of the first parts are numbered anew before the next part joins, so that no number grows too large.
    """
    (first, places), *others = said
    distinct, found = distinct_keys(places[inside].astype(np.int64), len(first))
    chosen = [distinct]
    for words, places in others:
        keys = found * np.int64(len(words)) + places[inside]
        distinct, found = distinct_keys(keys, len(distinct) * len(words))
        left, right = np.divmod(distinct, max(len(words), 1))
        chosen = [*(part[left] for part in chosen), right]
    return chosen, found
