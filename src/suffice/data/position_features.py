"""The features of positions as users have them: dicts, lists of names, matrices; and what they are in codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import chain, compress, repeat
from numbers import Real
from operator import methodcaller
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.attribute_names import distinct_keys, first_seen, first_unknown, in_rows, numbered
from suffice.data.attributes import Attributes, Vocabulary, offsets_of
from suffice.data.frame import has_columns
from suffice.data.position_faults import first_fault
from suffice.data.position_matrices import is_matrix, is_sparse, read_matrices
from suffice.errors import DataError, require_whole, shown

ALONE = "One sequence alone is [[…]]."
NESTED = (Mapping, list, tuple, Set)


@dataclass(frozen=True, eq=False)
class FeatureRead:
    """Features of positions in codes.

    Attributes
    ----------
    offsets : array of int64, shape (n_sequences + 1,)
        Where each sequence begins.
    states : Attributes
        One row a position.
    vocabulary : Vocabulary
        The one that was given, or the one that was made, in the order of first occurrence.
    n_unknown : int
        How many attributes were left out, since their names are not in the vocabulary.
    unknown : str
        The first of them; empty where there is none.
    """

    offsets: NDArray[np.int64]
    states: Attributes
    vocabulary: Vocabulary
    n_unknown: int = 0
    unknown: str = ""

    def __repr__(self) -> str:
        size = f"{len(self.offsets) - 1:,} sequences, {self.states.n_rows:,} positions"
        return f"FeatureRead({size}, {self.vocabulary!r}, n_unknown={self.n_unknown:,})"


@dataclass(frozen=True)
class _Items:
    """The attributes of all positions, one after the other.

    Attributes
    ----------
    names : list of str
        Names that occur, some of them perhaps twice.
    places : array of int32, shape (n,)
        Which name each attribute has; -1 where its value is zero.
    values : array of float64, shape (n,), or None
    sizes : array of int64, shape (n_positions,)
        How many attributes each position has.
    """

    names: list[str]
    places: NDArray[np.int32]
    values: NDArray[np.float64] | None
    sizes: NDArray[np.int64]


def read_features(
    features: Any, vocabulary: Vocabulary | None = None, *, n_buckets: int = 0, name: str = "X"
) -> FeatureRead:
    """Read the features of the positions of sequences.

    Parameters
    ----------
    features : iterable of sequences
        A sequence is an iterable of positions, or a matrix with a row a position, dense or of scipy.sparse. A position
        is a dict of names and values, or an iterable of names. In a dict, a number or a bool is the value of the
        attribute ``name``; a text makes the attribute ``name:text`` of value 1; a list of texts makes one of each; a
        dict inside is read in the same way, its names preceded by ``name:``. Attributes of value 0 are left out.
    vocabulary : Vocabulary, optional
        Names that are not in it are left out. None makes one.
    n_buckets : int
        Where it is not zero, the vocabulary that is made hashes names into so many buckets.
    name : str
        What errors call the features.

    Returns
    -------
    FeatureRead

    Examples
    --------
    >>> read = read_features([[{"word": "the", "first": True}, {"word": "cat", "length": 3}], [["word:the"]]])
    >>> read.vocabulary.names
    ('word:the', 'first', 'word:cat', 'length')
    >>> read.states.matrix().toarray().tolist()
    [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 3.0], [1.0, 0.0, 0.0, 0.0]]
    >>> read_features([[["word:a", "word:cat"]]], read.vocabulary).n_unknown
    1
    """
    require_whole("n_buckets", n_buckets)
    sequences = _sequences(features, name)
    if any(map(is_matrix, sequences)):
        offsets, states, made = read_matrices(sequences, vocabulary, n_buckets, name)
        return FeatureRead(offsets, states, made)
    offsets = offsets_of(map(len, sequences))
    positions = list(chain.from_iterable(sequences))
    if any(issubclass(kind, Iterator) for kind in set(map(type, positions))):
        positions = [list(position) if isinstance(position, Iterator) else position for position in positions]
    items = _items(positions)
    if items is None:
        raise first_fault(positions, offsets, name)
    n_zeros = np.count_nonzero(items.places < 0)
    unknown = first_unknown(items.names, items.places, vocabulary)
    codes, made = numbered(items.names, items.places, vocabulary, n_buckets)
    n_unknown = int(np.count_nonzero(codes < 0) - n_zeros)
    return FeatureRead(offsets, in_rows(codes, items.values, items.sizes, len(made)), made, n_unknown, unknown)


# Sequences ----------------------------------------------------------------------------------------------------


def _sequences(features: Any, name: str) -> list[Any]:
    """Return a list of lists of positions, or of matrices."""
    if isinstance(features, str | bytes | Mapping) or is_sparse(features) or not isinstance(features, Iterable):
        raise DataError(
            f"The {name!r} argument must be a list of sequences, each of them a list of positions. Got "
            f"{shown(features)} instead. {ALONE}"
        )
    if has_columns(features):
        raise DataError(
            f"The {name!r} argument must be a list of sequences. Got a table instead, which is one. {_remedy(features)}"
        )
    sequences = list(features)
    if set(map(type, sequences)) <= {list, tuple}:
        return sequences
    return [_sequence(sequence, number, name) for number, sequence in enumerate(sequences, 1)]


def _sequence(sequence: Any, number: int, name: str) -> Any:
    if isinstance(sequence, list | tuple) or is_matrix(sequence):
        return sequence
    if isinstance(sequence, np.ndarray) and sequence.ndim:
        return sequence.tolist()
    if hasattr(sequence, "items") and not isinstance(sequence, Iterable):
        return list(sequence.items())  # what python-crfsuite calls an ItemSequence
    if has_columns(sequence):
        raise DataError(
            f"Sequence {number:,} of {name!r} must be a list of positions, each of them a dict of features or a list "
            f"of names. Got a table instead. {_remedy(sequence)}"
        )
    if isinstance(sequence, str | bytes | Mapping) or not isinstance(sequence, Iterable):
        raise DataError(
            f"Sequence {number:,} of {name!r} must be a list of positions, each of them a dict of features or a list "
            f"of names. Got {shown(sequence)} instead. {ALONE}"
        )
    return list(sequence)


def _remedy(table: Any) -> str:
    """Say how a table of pandas or polars is made a list of dicts."""
    made = "to_dicts()" if hasattr(table, "to_dicts") else 'to_dict("records")'
    return f"A table with a row a position is a sequence by table.{made}."


# Positions ----------------------------------------------------------------------------------------------------


def _items(positions: list[Any]) -> _Items | None:
    """Return the attributes of positions; None where something in them is not as it should be."""
    kinds = set(map(type, positions))
    if not all(issubclass(kind, Iterable) and not issubclass(kind, str | bytes) for kind in kinds):
        return None
    try:
        if any(issubclass(kind, Set) for kind in kinds):
            # Python orders the texts of a set anew in every run; runs must be alike.
            positions = [sorted(p) if isinstance(p, Set) and not isinstance(p, Mapping) else p for p in positions]
        if not any(issubclass(kind, Mapping) for kind in kinds):
            return _of_names(positions)
        return _of_values(*_columns(positions, kinds))
    except (TypeError, OverflowError):  # what cannot be hashed, sorted or told as a float
        return None


def _of_names(positions: list[Any]) -> _Items | None:
    sizes = np.fromiter(map(len, positions), np.int64, len(positions))
    names, places = first_seen(chain.from_iterable(positions), int(sizes.sum()))
    return _Items(names, places, None, sizes) if _are_texts(names) else None


def _are_texts(names: list[Any]) -> bool:
    return all(issubclass(kind, str) for kind in set(map(type, names)))


def _columns(positions: list[Any], kinds: set[type]) -> tuple[list[Any], list[Any], NDArray[np.int64]]:
    """Return the names of all attributes, their values, and how many each position has."""
    if all(issubclass(kind, Mapping) for kind in kinds):
        names = list(chain.from_iterable(positions))
        values = list(chain.from_iterable(map(methodcaller("values"), positions)))
    else:
        names = list(chain.from_iterable(positions))
        parts = (p.values() if isinstance(p, Mapping) else repeat(1.0, len(p)) for p in positions)
        values = list(chain.from_iterable(parts))
    sizes = np.fromiter(map(len, positions), np.int64, len(positions))
    if not any(issubclass(kind, NESTED) for kind in set(map(type, values))):
        return names, values, sizes
    spread = [list(_spread(name, value)) for name, value in zip(names, values, strict=True)]
    inner = np.fromiter(map(len, spread), np.int64, len(spread))
    sizes = np.add.reduceat(np.append(inner, 0), offsets_of(sizes)[:-1]) * (sizes > 0) if len(sizes) else sizes
    flat = list(chain.from_iterable(spread))
    return [name for name, _ in flat], [value for _, value in flat], sizes


def _spread(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a name and a value for each attribute that a value makes.

    >>> list(_spread("near", {"left": ["a", "b"], "gap": 2}))
    [('near:left', 'a'), ('near:left', 'b'), ('near:gap', 2)]
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _spread(":".join((name, key)), inner)
    elif isinstance(value, NESTED):
        for text in sorted(value) if isinstance(value, Set) else value:
            # Joining refuses what is no text.
            yield name, "".join((text,))
    else:
        yield name, value


def _of_values(names: list[Any], values: list[Any], sizes: NDArray[np.int64]) -> _Items | None:
    """Return attributes of names with values that are texts or numbers."""
    kinds = set(map(type, values))
    texts = {kind for kind in kinds if issubclass(kind, str)}
    plain, of_names = first_seen(names, len(names))
    if not _are_texts(plain) or not all(issubclass(kind, Real | np.bool_) for kind in kinds - texts):
        return None
    if texts == kinds:
        return _Items(*_of_texts(plain, of_names, values), None, sizes)
    is_text = np.fromiter(map(texts.__contains__, map(type, values)), bool, len(values))
    numbers = np.fromiter(compress(values, (~is_text).tolist()), np.float64)
    if not np.isfinite(numbers).all():
        return None
    made, of_texts = _of_texts(plain, of_names[is_text], compress(values, is_text.tolist()))
    places = np.empty(len(values), np.int32)
    places[is_text] = of_texts
    places[~is_text] = np.where(numbers == 0, -1, len(made) + of_names[~is_text])
    weights = np.ones(len(values))
    weights[~is_text] = numbers
    return _Items(made + plain, places, weights, sizes)


def _of_texts(
    names: list[str], of_names: NDArray[np.int32], texts: Iterable[str]
) -> tuple[list[str], NDArray[np.int32]]:
    """Return the attributes of names whose values are texts, and which of them each one is.

    Names and texts are told apart before they are joined: most pairs occur often.
    """
    words, of_words = first_seen(texts, len(of_names))
    keys = of_names.astype(np.int64) * len(words) + of_words
    pairs, places = distinct_keys(keys, len(names) * len(words))
    left, right = np.divmod(pairs, max(len(words), 1))
    return [f"{names[name]}:{words[word]}" for name, word in zip(left.tolist(), right.tolist(), strict=True)], places
