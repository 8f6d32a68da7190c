"""Blocks: the unit in which rows reach the statistics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Schema

BLOCK_ROWS = 1 << 16


@dataclass(frozen=True)
class Block:
    """Some complete rows of a table.

    Attributes
    ----------
    schema : Schema
        The variables that the codes refer to.
    columns : dict of str to array
        Codes of discrete variables (signed integers), values of continuous ones (float64); shape (n_rows,) each.
    weights : array, shape (n_rows,), or None
        Row weights, integers or floats; None means one each.
    start : int
        Position of the first row among the kept rows of the table.
    """

    schema: Schema
    columns: dict[str, NDArray[Any]]
    weights: NDArray[Any] | None
    n_rows: int
    start: int = 0

    @property
    def weight(self) -> float:
        """Sum of the row weights."""
        return float(self.n_rows) if self.weights is None else float(self.weights.sum())


@dataclass(frozen=True)
class EncodedTable:
    """A whole table in codes: re-iterable blocks, and what was decided while reading it.

    Attributes
    ----------
    n_read, n_dropped : int
        Rows that the table has, and rows left out because of missing values.
    remarks : tuple of str
        Every choice that was made on the way; they become notes of the fit.
    """

    schema: Schema
    columns: dict[str, NDArray[Any]]
    weights: NDArray[Any] | None
    n_read: int
    n_dropped: int
    remarks: tuple[str, ...]
    description: str

    @property
    def n_rows(self) -> int:
        """Rows that are kept."""
        return self.n_read - self.n_dropped

    def blocks(self, size: int = BLOCK_ROWS) -> Iterator[Block]:
        """Yield the rows in order, at most ``size`` at a time; an empty table yields one empty block."""
        for start in range(0, max(self.n_rows, 1), size):
            stop = min(start + size, self.n_rows)
            columns = {name: values[start:stop] for name, values in self.columns.items()}
            weights = None if self.weights is None else self.weights[start:stop]
            yield Block(self.schema, columns, weights, stop - start, start)


def whole(weights: NDArray[Any]) -> NDArray[Any]:
    """Return weights as integers when they all are whole numbers, so that counts stay exact; else as float64."""
    if weights.dtype.kind in "iub":
        return weights.astype(np.int64)
    as_float = weights.astype(np.float64)
    exact = np.isfinite(as_float).all() and (as_float == np.trunc(as_float)).all() and (abs(as_float) < 2**53).all()
    return as_float.astype(np.int64) if exact else as_float
