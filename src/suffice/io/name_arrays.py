"""Many names as two arrays: one text in UTF-8, deflated, and how long each name is."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.attributes import offsets_of
from suffice.errors import FileFormatError

LEVEL = 6
BYTES_A_CHARACTER = 4


def narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers, none of them negative, in the smallest type that holds them.

    >>> narrow(np.array([3, 300])).dtype.name
    'uint16'
    """
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def names_to_arrays(names: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Return the text of all names, and their lengths in characters.

    Any text may be a name, also one that is no proper Unicode: the names of attributes come from users' data.

    >>> text, lengths = names_to_arrays(["a", "", "über"])
    >>> lengths.tolist(), names_from_arrays(text, lengths)
    ([1, 0, 4], ('a', '', 'über'))
    """
    text = zlib.compress("".join(names).encode("utf-8", "surrogatepass"), LEVEL)
    return np.frombuffer(text, np.uint8), narrow(np.fromiter(map(len, names), np.int64, len(names)))


def names_from_arrays(text: NDArray[np.uint8], lengths: NDArray[Any]) -> tuple[str, ...]:
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
