"""Spans: the stretches of tokens that tags such as ``B-NP`` and ``I-NP`` mark.

They are read as the script ``conlleval`` of the CoNLL shared tasks reads them. Between two neighbouring tokens there is
a border if either is ``O``, if their types differ, if the second opens a span (``B``, ``S``, ``U``) or if the first
closes one (``E``, ``L``, ``S``, ``U``); the ends of a sequence are borders, too. A span is what lies between two
neighbouring borders and is not ``O``. So ``I-NP`` begins a span after ``O`` and after ``B-VP``, and IOB1, IOB2, IOBES
and BILOU are read alike. The oldest versions of the script know neither ``S`` nor a border between ``E`` and ``B``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from suffice.data.attributes import offsets_of
from suffice.errors import DataError, Passed, Remedy, require_choice, shown
from suffice.types import Array, Bools, Ints
from suffice.values import Label

SCHEMES = {"conll": "BIELSU", "iob1": "BI", "iob2": "BI", "iobes": "BIES", "bilou": "BILU", "none": ""}
"""The letters, beside O, that each scheme of tags knows."""
OUTSIDE = "O"
OPENING, CLOSING = "BSU", "ELSU"


TagLists: TypeAlias = "Iterable[Iterable[Label | None] | Array]"
"""The labels of every sequence; those that are missing are refused or left out."""


@dataclass(frozen=True, eq=False)
class FlatTags:
    """The tags of all sequences, one after the other.

    Attributes
    ----------
    name : str
        The argument that they come from.
    tags : list
    offsets : array, shape (n_sequences + 1,)
        Where each sequence begins.
    """

    name: str
    tags: list[Label]
    offsets: Ints

    @classmethod
    def of(cls, name: str, sequences: TagLists) -> FlatTags:
        """Read a list of lists of tags."""
        if isinstance(sequences, str | bytes | Mapping) or not isinstance(sequences, Iterable):
            raise DataError(
                f"The {name!r} argument must be a list of lists of tags, [['B-NP', 'O'], …]. Got {shown(sequences)} "
                "instead."
            )
        lists = [_listed(name, number, tags) for number, tags in enumerate(sequences, 1)]
        return cls(name, list(itertools.chain.from_iterable(lists)), offsets_of(map(len, lists)))

    @property
    def n_sequences(self) -> int:
        """The number of sequences."""
        return len(self.offsets) - 1

    def distinct(self) -> dict[Label, None]:
        """Return the tags that occur, each once."""
        try:
            found = dict.fromkeys(self.tags)
        except TypeError:
            tag = next(tag for tag in self.tags if not _is_hashable(tag))
            raise DataError(f"{self.place(tag)} is {shown(tag)}. A tag must be text or a number.") from None
        for tag in found:
            if tag is None or (isinstance(tag, float) and math.isnan(tag)):
                raise DataError(f"{self.place(tag)} is missing. Leave sequences without tags out of both arguments.")
        return found

    def place(self, tag: Label) -> str:
        """Say where a tag, one of `distinct`, stands first."""
        at = next(place for place, other in enumerate(self.tags) if other is tag)
        sequence = int(np.searchsorted(self.offsets, at, "right")) - 1
        return f"Sequence {sequence + 1} of {self.name!r}: tag {at - int(self.offsets[sequence]) + 1}"

    def coded(self, index: Mapping[Label, int]) -> Ints:
        """Return the tags as codes; shape (n_tokens,)."""
        return np.fromiter(map(index.__getitem__, self.tags), np.int64, len(self.tags))


def scheme_of(scheme: str, tags: Iterable[Label]) -> str:
    """Return how tags mark spans; ``auto`` is ``conll`` where some tag marks one and no tag speaks against it.

    >>> scheme_of("auto", ["O", "B-NP"]), scheme_of("auto", ["DT", "NN"]), scheme_of("auto", [0, 1])
    ('conll', 'none', 'none')
    """
    require_choice("scheme", scheme, ("auto", *SCHEMES))
    if scheme != "auto":
        return scheme
    known = set(tags)
    found = {tag for tag in known if isinstance(tag, str)}
    if len(found) < len(known):
        return "none"
    letters, marked = SCHEMES["conll"], {tag for tag in found if tag[1:2] == "-" or tag == OUTSIDE}
    fits = all(tag == OUTSIDE or (tag[:1] in tuple(letters) and tag[1:2] in ("", "-")) for tag in found)
    return "conll" if marked and fits else "none"


def _listed(name: str, number: int, tags: Array | Iterable[Label | None]) -> list[Label]:
    if isinstance(tags, list):
        return tags
    if isinstance(tags, np.ndarray) and tags.ndim == 1:
        listed: list[Label] = tags.tolist()
        return listed
    if isinstance(tags, str | bytes | Mapping | np.ndarray) or not isinstance(tags, Iterable):
        raise DataError(
            f"Sequence {number} of {name!r} must be a list of tags, ['B-NP', 'O']. Got {shown(tags)} instead; put the "
            "tags of one sequence into a list of their own, [tags]."
        )
    return list(tags)


def _is_hashable(tag: object) -> bool:
    try:
        hash(tag)
    except TypeError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class SpanReader:
    """What every tag of a list says about spans.

    Attributes
    ----------
    kinds : list of str
        The types of spans.
    kind : array, shape (n_tags,)
        The type of each tag, as a code; −1 is outside.
    opens, closes : arrays of bool, shape (n_tags,)
        Whether a span begins, or ends, at the tag whatever its neighbours.
    """

    kinds: list[str]
    kind: Ints
    opens: Bools
    closes: Bools

    @classmethod
    def of(cls, tags: Iterable[Label], scheme: str, *sources: FlatTags) -> SpanReader:
        """Take tags apart; ``sources`` are where they stand, for messages."""
        parts = [_parted(tag, scheme, sources) for tag in tags]
        index = {kind: code for code, kind in enumerate(sorted({kind for letter, kind in parts if letter}))}
        kind = np.array([index[kind] if letter else -1 for letter, kind in parts], np.int64)
        opens, closes = (
            np.array([letter != "" and letter in edge for letter, _ in parts], bool) for edge in (OPENING, CLOSING)
        )
        return cls(list(index), kind, opens, closes)

    def spans(self, codes: Ints, offsets: Ints) -> tuple[Ints, Ints, Ints]:
        """Return type, first and last token of every span.

        Parameters
        ----------
        codes : array, shape (n_tokens,)
            The tag of every token.
        offsets : array, shape (n_sequences + 1,)
        """
        kind = self.kind[codes]
        borders = np.ones(len(codes) + 1, bool)
        borders[1:-1] = self.closes[codes[:-1]] | self.opens[codes[1:]] | (kind[:-1] != kind[1:])
        borders[offsets] = True
        inside = kind >= 0
        first = np.flatnonzero(inside & borders[:-1])
        return kind[first], first, np.flatnonzero(inside & borders[1:])


def _parted(tag: Label, scheme: str, sources: tuple[FlatTags, ...]) -> tuple[str, str]:
    """Return letter and type of a tag, both empty outside."""
    if isinstance(tag, str):
        letter, _, kind = tag.partition("-")
        if tag == OUTSIDE:
            return "", ""
        if len(letter) == 1 and letter in SCHEMES[scheme]:
            return letter, kind
    source = next(source for source in sources if tag in source.distinct())
    known = ", ".join(f"{letter}-" for letter in SCHEMES[scheme])
    raise DataError(
        f"{source.place(tag)} is {shown(tag)}. Tags of ",
        Passed("scheme", scheme),
        f" are 'O' and those that begin with {known}, such as 'B-NP'. Choose another scheme, or ",
        Remedy("scheme", "none"),
        " for tags that mark no spans.",
    )


def spans(tags: Iterable[str], scheme: str = "conll") -> list[tuple[str, int, int]]:
    """Return the spans that the tags of one sequence mark, each as (type, first token, last token).

    Parameters
    ----------
    tags : iterable of str
    scheme : {"conll", "iob1", "iob2", "iobes", "bilou"}
        Which letters the tags may have; all schemes are read alike.

    Examples
    --------
    >>> spans(["B-NP", "I-NP", "O", "I-NP", "I-VP", "S-VP"])
    [('NP', 0, 1), ('NP', 3, 3), ('VP', 4, 4), ('VP', 5, 5)]
    """
    require_choice("scheme", scheme, [name for name in SCHEMES if name != "none"])
    flat = FlatTags.of("tags", [tags])
    index = {tag: code for code, tag in enumerate(flat.distinct())}
    reader = SpanReader.of(index, scheme, flat)
    found = reader.spans(flat.coded(index), flat.offsets)
    return [(reader.kinds[kind], first, last) for kind, first, last in zip(*(x.tolist() for x in found), strict=True)]
