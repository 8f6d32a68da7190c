"""Calls that a kernel must refuse: each array argument in turn too short, of another type, read-only, out of range."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np

REFUSALS = (TypeError, ValueError, IndexError)
FAR = 1 << 30


def changed(value: Any, entry: int) -> Any:
    """Return a copy of an array with another first entry."""
    found = np.array(value)
    found.reshape(-1)[0] = entry
    return found


def frozen(value: Any) -> Any:
    """Return a read-only copy."""
    found = np.array(value)
    found.flags.writeable = False
    return found


def misuses(
    arguments: Mapping[str, Any], outputs: Set[str] = frozenset(), indices: Set[str] = frozenset()
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield an argument's name, what is wrong with it, and the arguments of a call to be refused.

    Parameters
    ----------
    arguments : mapping from names to values
        The arguments of a proper call; only arrays are changed, all of which need an entry.
    outputs : set of str
        The arguments that are written to.
    indices : set of str
        The arguments whose values are indices.
    """
    for name, value in arguments.items():
        if not isinstance(value, np.ndarray):
            continue
        other = np.float32 if value.dtype.kind == "f" else np.int16
        wrong = {"short": value[:-1].copy(), "type": value.astype(other), "strided": np.repeat(value, 2, axis=0)[::2]}
        wrong["dimensions"] = value[None]
        if name in outputs:
            wrong["read-only"] = frozen(value)
        if name in indices:
            wrong |= {"far": changed(value, FAR), "negative": changed(value, -FAR)}
        for what, array in wrong.items():
            yield name, what, {**arguments, name: array}
