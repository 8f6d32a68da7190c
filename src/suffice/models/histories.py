"""Values over time that a person passes, as an array."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.data.table import open_table
from suffice.errors import ArgumentError, shown
from suffice.text import plural
from suffice.types import Floats


def history_rows(argument: str, values: Any, variables: Sequence[str], least: int) -> Floats:
    """Return values over time as an array, shape (length, d), from an array or from any table, in order of time.

    >>> history_rows("history", [1, 2, 4], ["x"], 2)
    array([[1.],
           [2.],
           [4.]])
    """
    d = len(variables)
    rows = _array(values, d) if isinstance(values, np.ndarray | list | tuple) else _table(values, variables)
    if rows.ndim != 2 or rows.shape[1] != d or len(rows) < least or not np.isfinite(rows).all():
        raise ArgumentError(
            f"The {argument!r} argument must hold at least {plural(least, 'row')} of {plural(d, 'finite number')}, for "
            f"{list(variables)}, the latest last. Got {shown(values)} instead."
        )
    return rows


def _array(values: Any, d: int) -> Floats:
    try:
        rows = np.array(values, np.float64)
    except (TypeError, ValueError):
        return np.full((1, d), math.nan)
    if not rows.size:
        return np.zeros((0, d))
    return rows.reshape(-1, 1) if d == 1 and rows.ndim <= 1 else rows


def _table(values: Any, variables: Sequence[str]) -> Floats:
    table = open_table(values, variables, continuous=variables)
    blocks = [np.stack([block.columns[name] for name in variables], axis=1) for block in table.blocks()]
    found: Floats = np.concatenate(blocks)
    return found
