"""What is wrong with features that cannot be read: the first fault, where it is, and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Set
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, is_number, shown

LISTS = (list, tuple, Set)


def first_fault(positions: list[Any], offsets: NDArray[np.int64], name: str) -> DataError:
    """Return the error that names the first position which cannot be read.

    Parameters
    ----------
    positions : list
        Of all sequences, one after the other.
    offsets : array of int64, shape (n_sequences + 1,)
    name : str
        What the features are called.

    Examples
    --------
    >>> print(first_fault([["a"], {"b": None}], np.array([0, 1, 2]), "X"))
    Sequence 2, position 1 of 'X': the feature 'b' is None. Leave the name out where there is no value.
    """
    found = ((place, fault) for place, position in enumerate(positions) for fault in _faults(position))
    place, fault = next(found, (0, "the features cannot be read. Give a dict of features, or a list of names."))
    sequence = int(np.searchsorted(offsets, place, "right")) - 1
    return DataError(f"Sequence {sequence + 1:,}, position {place - int(offsets[sequence]) + 1:,} of {name!r}: {fault}")


def _faults(position: Any) -> Iterator[str]:
    if isinstance(position, Mapping):
        yield from _of_mapping(position, "")
    elif isinstance(position, str):
        yield (
            f"a position must be a dict of features or a list of names. Got {shown(position)} instead. Write "
            f"[{shown(position)}] for one feature, and [[…]] around a single sequence."
        )
    elif position is None:
        yield "a position must be a dict of features or a list of names. Got None instead; without any, write []."
    elif isinstance(position, bytes) or not isinstance(position, Iterable):
        yield (
            f"a position must be a dict of features or a list of names. Got {shown(position)} instead. Sequences of "
            "numbers are matrices: NumPy arrays with a row a position."
        )
    else:
        yield from _of_names(np.atleast_1d(position) if isinstance(position, np.ndarray) else position)


def _of_names(names: Iterable[Any]) -> Iterator[str]:
    for name in names:
        if not isinstance(name, str):
            yield (
                f"the names of features must be texts. Got {shown(name)} instead. Write str(…) around it, or a dict "
                "{'name': value} for a value."
            )


def _of_mapping(features: Mapping[Any, Any], before: str) -> Iterator[str]:
    for name, value in features.items():
        if not isinstance(name, str):
            yield f"the names of features must be texts. Got {shown(name)} instead. Write {str(name)!r}."
        elif isinstance(value, Mapping):
            yield from _of_mapping(value, f"{before}{name}:")
        elif isinstance(value, LISTS):
            yield from _of_list(value, before + name)
        elif value is None:
            yield f"the feature {before + name!r} is None. Leave the name out where there is no value."
        elif not isinstance(value, str | bool | np.bool_):
            yield from _of_number(value, before + name)


def _of_list(texts: Iterable[Any], name: str) -> Iterator[str]:
    for text in texts:
        if not isinstance(text, str):
            yield (
                f"the feature {name!r} is a list, whose items must be texts. Got {shown(text)} instead. Numbers go "
                f"into a dict: {{{name!r}: {{'first': 0.5}}}}."
            )


def _of_number(value: Any, name: str) -> Iterator[str]:
    if not isinstance(value, Real):
        yield (
            f"the feature {name!r} must be a text, a number, a bool, a list of texts or a dict of these. Got "
            f"{shown(value)} instead."
        )
    elif not is_number(value) or not math.isfinite(value):
        yield f"the feature {name!r} is {shown(value)}. Values must be finite; leave the name out where there is none."
