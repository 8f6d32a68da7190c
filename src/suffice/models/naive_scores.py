"""Sums of log p(x_d | y) over the columns of one kind, for every row and class: arrays in, arrays out.

A missing value, −1 or NaN, adds nothing.

======  =====================================================
n, K    rows, classes
r       states of a column
μ, v    mean and variance of a column in a class
θ       probability of a column of counts in a class
======  =====================================================
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.matrix import matrix_of, side_by_side
from suffice.data.sparse_matrix import sparse_part
from suffice.errors import DataError
from suffice.models.class_scoring import DiagonalScores, TableScores

Floats = NDArray[np.float64]
Columns = Mapping[str, NDArray[Any]]


def table_form(tables: Sequence[Floats]) -> TableScores:
    """Return the scores of discrete columns from p(state | y) of each, shape (K, r)."""
    first = np.cumsum([0, *(table.shape[1] for table in tables[:-1])], dtype=np.int64)
    with np.errstate(divide="ignore"):
        return TableScores(
            first, np.ascontiguousarray(np.log(np.concatenate(tables, axis=1).T)), np.zeros(len(tables[0]))
        )


def normal_form(mean: Floats, variance: Floats) -> DiagonalScores:
    """Return the scores of normal columns from their means and variances, shape (K, p)."""
    return DiagonalScores(mean, 1 / variance, -0.5 * np.log(2 * math.pi * variance), np.zeros(len(mean)))


def codes_of(columns: Columns, names: Sequence[str]) -> NDArray[Any]:
    """Return columns of codes side by side, shape (n, p); without a copy where they are a matrix already."""
    whole = side_by_side(columns, names)
    return np.stack([columns[name] for name in names], axis=1) if whole is None else whole


@dataclass(frozen=True, eq=False)
class CountScores:
    """The scores of columns of counts, Σ x log θ; of rows in which some are missing, given the total of the others.

    Attributes
    ----------
    names : tuple of str
        The p columns.
    log_theta : array, shape (K, p)
        −inf where a class never has a count; zero times −inf counts as zero.

    Examples
    --------
    >>> form = CountScores(("u", "v"), np.log([[0.25, 0.75], [0.5, 0.5]]))
    >>> columns = {"u": np.array([1.0, 2.0]), "v": np.array([1.0, np.nan])}
    >>> np.exp(form.scores(columns, 2)).round(4).tolist()
    [[0.1875, 0.25], [1.0, 1.0]]
    """

    names: tuple[str, ...]
    log_theta: Floats

    @cached_property
    def _impossible(self) -> Floats | None:
        """One where a class never has a count; None where there is no such place. Shape (p, K)."""
        found = np.isneginf(self.log_theta)
        return np.ascontiguousarray(found.T, np.float64) if found.any() else None

    @cached_property
    def _weights(self) -> Floats:
        return np.ascontiguousarray(np.where(np.isneginf(self.log_theta), 0.0, self.log_theta).T)

    def scores(self, columns: Columns, n_rows: int) -> Floats:
        """Return the scores of all rows; shape (n_rows, K)."""
        x: Any = sparse_part(columns, self.names)
        if x is None:
            x = matrix_of(columns, self.names, n_rows)
        self._require_counts(x)
        found = np.asarray(x @ self._weights, np.float64)
        if self._impossible is not None:
            found[np.asarray((x > 0).astype(np.float64) @ self._impossible) > 0] = -np.inf
        gaps = np.flatnonzero(np.isnan(found[:, 0]))  # one count that is missing makes all scores of its row NaN
        if len(gaps):
            rows = x[gaps]
            found[gaps] = self._given_total(rows if isinstance(x, np.ndarray) else rows.toarray())
        return found

    def _given_total(self, x: Floats) -> Floats:
        """Return the scores of rows with gaps, each column divided by the share of those that are there."""
        known = ~np.isnan(x)
        x = np.where(known, x, 0.0)
        share = known @ np.exp(self.log_theta).T  # p(one of the columns that are there | y)
        found: Floats = x @ self._weights - x.sum(axis=1, keepdims=True) * np.log(np.where(share > 0, share, 1.0))
        if self._impossible is not None:
            found[(x > 0) @ self._impossible > 0] = -np.inf
        return found

    def _require_counts(self, x: Any) -> None:
        values = x if isinstance(x, np.ndarray) else x.data
        if not np.fmin.reduce(values, axis=None, initial=0.0) < 0:
            return
        dense = x if isinstance(x, np.ndarray) else x.toarray()
        row, place = np.argwhere(dense < 0)[0]
        raise DataError(
            f"Column {self.names[place]!r}, row {row + 1}: the count is {dense[row, place]:g}, where multinomial "
            "columns hold counts of zero and more. Correct it."
        )
