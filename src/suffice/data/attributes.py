"""Attributes: which names, with which values, hold at each position of a sequence or at each part of a graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError
from suffice.types import Array, Entry, JsonObject

if TYPE_CHECKING:
    from scipy.sparse import csr_array


Values = TypeVar("Values", Array, list[str])
"""What belongs to positions, one after the other."""


@dataclass(frozen=True, eq=False)
class Attributes:
    """A sparse matrix by rows, one row a position: the attributes that it has, as codes of a vocabulary.

    Attributes
    ----------
    starts : array of int64, shape (n_rows + 1,)
        Where each row's codes begin.
    codes : array of int32, shape (n,)
        An attribute may stand in a row more than once; its values then add up.
    values : array of float64, shape (n,), or None
        None says that all are one.
    n_attributes : int
        The size of the vocabulary.

    Examples
    --------
    >>> Attributes(np.array([0, 2, 2]), np.array([0, 2], np.int32), None, 3).matrix().toarray().tolist()
    [[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """

    starts: NDArray[np.int64]
    codes: NDArray[np.int32]
    values: NDArray[np.float64] | None
    n_attributes: int

    def __repr__(self) -> str:
        return f"Attributes({self.n_rows:,} rows, {len(self.codes):,} entries, {self.n_attributes:,} attributes)"

    @property
    def n_rows(self) -> int:
        """The number of positions."""
        return len(self.starts) - 1

    @property
    def n_bytes(self) -> int:
        """Memory of the codes and values."""
        return self.starts.nbytes + self.codes.nbytes + (0 if self.values is None else self.values.nbytes)

    def rows(self, low: int, high: int) -> Attributes:
        """Return some consecutive rows."""
        first, last = int(self.starts[low]), int(self.starts[high])
        values = None if self.values is None else self.values[first:last]
        return Attributes(self.starts[low : high + 1] - first, self.codes[first:last], values, self.n_attributes)

    def chosen(self, which: NDArray[np.int64]) -> Attributes:
        """Return some rows, in the order of their numbers ``which``."""
        lengths = np.diff(self.starts)[which]
        starts = offsets_of(lengths)
        place = np.arange(starts[-1]) + np.repeat(self.starts[which] - starts[:-1], lengths)
        values = None if self.values is None else self.values[place]
        return Attributes(starts, self.codes[place], values, self.n_attributes)

    def matrix(self) -> csr_array:
        """Return the matrix as `scipy.sparse.csr_array`, shape (n_rows, n_attributes)."""
        from scipy.sparse import csr_array

        values = np.ones(len(self.codes)) if self.values is None else self.values
        return csr_array((values, self.codes, self.starts), shape=(self.n_rows, self.n_attributes))

    def totals(self) -> NDArray[np.float64]:
        """Return the sum of each attribute's values, in size; shape (n_attributes,)."""
        weights = None if self.values is None else np.abs(self.values)
        return np.bincount(self.codes, weights, minlength=self.n_attributes).astype(np.float64)


def no_attributes(n_rows: int, n_attributes: int = 0) -> Attributes:
    """Return rows without attributes.

    >>> no_attributes(2).n_rows
    2
    """
    return Attributes(np.zeros(n_rows + 1, np.int64), np.zeros(0, np.int32), None, n_attributes)


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The names of attributes, in the order of their codes; or so many buckets that names are hashed into.

    Attributes
    ----------
    names : tuple of str
        Empty where names are hashed.
    n_buckets : int
        Zero unless names are hashed.

    Examples
    --------
    >>> words = Vocabulary(("the", "cat"))
    >>> words.code("cat"), words.code("dog"), len(words)
    (1, None, 2)
    """

    names: tuple[str, ...] = ()
    n_buckets: int = 0

    @cached_property
    def index(self) -> dict[str, int]:
        """The code of each name."""
        return {name: code for code, name in enumerate(self.names)}

    @cached_property
    def fingerprint(self) -> str:
        """A short text that other names, or another order of them, do not have."""
        from hashlib import sha256

        names = "".join(f"{name}\0" for name in self.names)
        return sha256(str(self.n_buckets).encode() + names.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def is_hashed(self) -> bool:
        """Whether names are hashed."""
        return self.n_buckets > 0

    def __len__(self) -> int:
        return self.n_buckets or len(self.names)

    def __getstate__(self) -> dict[str, tuple[str, ...] | int]:
        """Leave out what follows from the names."""
        return {"names": self.names, "n_buckets": self.n_buckets}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and (self.n_buckets, self.names) == (other.n_buckets, other.names)

    def __hash__(self) -> int:
        return hash((self.n_buckets, len(self.names), self.names[:8]))

    def __repr__(self) -> str:
        return f"Vocabulary({self.n_buckets:,} buckets)" if self.is_hashed else f"Vocabulary({len(self.names):,} names)"

    def to_dict(self) -> JsonObject:
        """Return the vocabulary as JSON-able data."""
        return {"names": list(self.names), "n_buckets": self.n_buckets}

    @classmethod
    def from_dict(cls, entry: Entry) -> Vocabulary:
        """Rebuild the vocabulary from `to_dict`'s data."""
        return cls(tuple(entry["names"]), int(entry["n_buckets"]))

    def code(self, name: str) -> int | None:
        """Return the code of a name; None if it is not known."""
        return bucket(name, self.n_buckets) if self.is_hashed else self.index.get(name)

    def name(self, code: int) -> str:
        """Return what stands for a code: a name, or ``#`` and the number of a bucket."""
        return f"#{code}" if self.is_hashed else self.names[code]


def bucket(name: str, n_buckets: int) -> int:
    """Return the bucket of a name: the same on every machine and in every run.

    >>> bucket("the", 1024) == bucket("the", 1024) < 1024
    True
    """
    from zlib import crc32

    return crc32(name.encode("utf-8", "surrogatepass")) % n_buckets


def offsets_of(lengths: Iterable[int]) -> NDArray[np.int64]:
    """Return where parts of some lengths begin, and where the last one ends.

    >>> offsets_of([2, 0, 1]).tolist()
    [0, 2, 2, 3]
    """
    sizes = np.fromiter(lengths, np.int64)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def ends_of(offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last positions of sequences that have any.

    >>> [ends.tolist() for ends in ends_of(np.array([0, 2, 2, 3]))]
    [[0, 2], [1, 2]]
    """
    some = offsets[1:] > offsets[:-1]
    return offsets[:-1][some], offsets[1:][some] - 1


@dataclass(frozen=True, eq=False)
class LabelledSequences:
    """Sequences of positions, one after the other: their attributes and, where they are known, their labels.

    Attributes
    ----------
    offsets : array of int64, shape (n_sequences + 1,)
        Where each sequence begins; sequences may be empty.
    states : Attributes
        One row a position.
    labels : array of int32, shape (n_positions,), or None
        Codes of labels.
    steps : Attributes or None
        Attributes of the step that leads to each position from the one before, for weights that depend on both labels.
        Those of first positions have no effect.

    Examples
    --------
    >>> words = Attributes(np.arange(4), np.array([0, 1, 0], np.int32), None, 2)
    >>> two = LabelledSequences(np.array([0, 2, 3]), words, np.array([0, 1, 1], np.int32))
    >>> two.n_sequences, two.part(1, 2).labels.tolist()
    (2, [1])
    """

    offsets: NDArray[np.int64]
    states: Attributes
    labels: NDArray[np.int32] | None = None
    steps: Attributes | None = field(default=None)

    def __post_init__(self) -> None:
        n = int(self.offsets[-1])
        for part in (self.states, self.steps):
            if part is not None and part.n_rows != n:
                raise DataError(f"The sequences have {n:,} positions, but attributes are given for {part.n_rows:,}.")
        if self.labels is not None and len(self.labels) != n:
            raise DataError(f"The sequences have {n:,} positions, but {len(self.labels):,} labels are given.")

    def __repr__(self) -> str:
        labels = "without labels" if self.labels is None else "with labels"
        return f"LabelledSequences({self.n_sequences:,} sequences, {self.n_positions:,} positions, {labels})"

    @property
    def n_sequences(self) -> int:
        """The number of sequences."""
        return len(self.offsets) - 1

    @property
    def n_positions(self) -> int:
        """The number of positions of all sequences."""
        return int(self.offsets[-1])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The length of each sequence."""
        return np.diff(self.offsets)

    @property
    def n_bytes(self) -> int:
        """Memory of the codes and values."""
        steps = 0 if self.steps is None else self.steps.n_bytes
        return self.states.n_bytes + steps + (0 if self.labels is None else self.labels.nbytes) + self.offsets.nbytes

    def part(self, low: int, high: int) -> LabelledSequences:
        """Return some consecutive sequences."""
        first, last = int(self.offsets[low]), int(self.offsets[high])
        return LabelledSequences(
            self.offsets[low : high + 1] - first,
            self.states.rows(first, last),
            None if self.labels is None else self.labels[first:last],
            None if self.steps is None else self.steps.rows(first, last),
        )

    def chosen(self, which: NDArray[np.int64]) -> LabelledSequences:
        """Return some sequences, in the order of their numbers ``which``."""
        lengths = self.lengths[which]
        offsets = offsets_of(lengths)
        place = np.arange(offsets[-1]) + np.repeat(self.offsets[which] - offsets[:-1], lengths)
        return LabelledSequences(
            offsets,
            self.states.chosen(place),
            None if self.labels is None else self.labels[place],
            None if self.steps is None else self.steps.chosen(place),
        )

    def apart(self, values: Values) -> list[Values]:
        """Cut what belongs to positions into one piece a sequence."""
        return [values[low:high] for low, high in pairwise(self.offsets.tolist())]
