"""Many names as two arrays: one text in UTF-8, deflated, and how long each name is; and whole vocabularies."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from suffice.data.attributes import Vocabulary, offsets_of
from suffice.errors import FileFormatError
from suffice.models.chain_pruned import columns_of
from suffice.types import Array

LEVEL = 6
BYTES_A_CHARACTER = 4
BUCKETS, COLUMNS, NAMES = "buckets", "columns", "names"
Arrays = dict[str, Array]


def narrow(numbers: Array) -> Array:
    """Return whole numbers, none of them negative, in the smallest type that holds them.

    >>> narrow(np.array([3, 300])).dtype.name
    'uint16'
    """
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def names_to_arrays(names: Sequence[str]) -> tuple[NDArray[np.uint8], Array]:
    """Return the text of all names, and their lengths in characters.

    Any text may be a name, also one that is no proper Unicode: the names of attributes come from users' data.

    >>> text, lengths = names_to_arrays(["a", "", "über"])
    >>> lengths.tolist(), names_from_arrays(text, lengths)
    ([1, 0, 4], ('a', '', 'über'))
    """
    text = zlib.compress("".join(names).encode("utf-8", "surrogatepass"), LEVEL)
    return np.frombuffer(text, np.uint8), narrow(np.fromiter(map(len, names), np.int64, len(names)))


def names_from_arrays(text: NDArray[np.uint8], lengths: Array) -> tuple[str, ...]:
    """Return the names that `names_to_arrays` made arrays of."""
    bounds = offsets_of(lengths.tolist()).tolist()
    unpack = zlib.decompressobj()
    try:
        content = unpack.decompress(text.tobytes(), BYTES_A_CHARACTER * bounds[-1] + 1)
    except zlib.error as error:
        raise FileFormatError(f"The names cannot be unpacked: {error}.") from None
    whole = content.decode("utf-8", "surrogatepass")
    if not unpack.eof or len(whole) != bounds[-1]:
        raise FileFormatError("The names are not as long as is told.")
    return tuple(whole[low:high] for low, high in pairwise(bounds))


# Vocabularies -------------------------------------------------------------------------------------------------


def put_vocabulary(vocabulary: Vocabulary, name: str, arrays: Arrays) -> str:
    """Put names among the arrays, where they are more than their number says; return what they are.

    >>> arrays = {}
    >>> put_vocabulary(Vocabulary(("the", "cat")), "words", arrays), list(arrays)
    ('names', ['words', 'words_lengths'])
    >>> take_vocabulary("names", 2, "words", arrays).names
    ('the', 'cat')
    """
    if vocabulary.is_hashed:
        return BUCKETS
    if vocabulary.names == columns_of(len(vocabulary)):
        return COLUMNS
    arrays[name], arrays[f"{name}_lengths"] = names_to_arrays(vocabulary.names)
    return NAMES


def take_vocabulary(kind: object, n: int, name: str, arrays: Arrays) -> Vocabulary:
    """Return the names of n attributes, which `put_vocabulary` put among the arrays."""
    if kind == BUCKETS:
        return Vocabulary(n_buckets=n)
    if kind == COLUMNS:
        return Vocabulary(columns_of(n))
    if kind != NAMES:
        raise FileFormatError(f"Names of attributes are of no kind {kind!r}.")
    packed = arrays[name]
    if packed.dtype != np.uint8:
        raise FileFormatError(f"The array {name!r} must hold bytes.")
    found = Vocabulary(names_from_arrays(packed, counts(arrays, f"{name}_lengths")))
    if len(found) != n or len(found.index) != n:
        raise FileFormatError(f"{n:,} attributes have weights, and {len(found.index):,} different names are told.")
    return found


def counts(arrays: Arrays, name: str) -> NDArray[np.int64]:
    """Return an array that must be a list of whole numbers, none of them negative."""
    found = arrays[name]
    if found.ndim != 1 or found.dtype.kind not in "iu" or (len(found) and not 0 <= found.min() <= found.max() < 2**31):
        raise FileFormatError(f"The array {name!r} must be a list of whole numbers from 0 to 2**31 - 1.")
    return found.astype(np.int64)
