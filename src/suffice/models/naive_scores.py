"""Sums of log p(x_d | y) over the columns of one kind, for every row and class: arrays in, arrays out.

A missing value, −1 or NaN, adds nothing; counts must not be missing.

======  =====================================================
n, K    rows, classes
r       states of a column
μ, v    mean and variance of a column in a class
θ       probability of a column of counts in a class
======  =====================================================
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from suffice.data.matrix import matrix_of, side_by_side
from suffice.data.sparse_matrix import sparse_part
from suffice.errors import DataError
from suffice.models.class_scoring import DiagonalScores, TableScores
from suffice.types import Array, Bools, Columns, Floats


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


def codes_of(columns: Columns, names: Sequence[str]) -> Array:
    """Return columns of codes side by side, shape (n, p); without a copy where they are a matrix already."""
    whole = side_by_side(columns, names)
    return np.stack([columns[name] for name in names], axis=1) if whole is None else whole


@dataclass(frozen=True, eq=False)
class BitScores:
    """The scores of columns with two states, for sparse matrices that store the second one: Σ log η.

    Attributes
    ----------
    first, second : arrays, shape (K, p)
        log η of both states; −inf where a class never has the state.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> form = BitScores.of([np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.5, 0.5], [0.25, 0.75]])])
    >>> np.exp(form.scores(csr_array(np.array([[1, 0], [0, 0], [-1, 1]], np.int8)))).round(3).tolist()
    [[0.05, 0.2], [0.45, 0.05], [0.5, 0.75]]
    """

    first: Floats
    second: Floats

    @classmethod
    def of(cls, tables: Sequence[Floats]) -> BitScores:
        """Return the scores from p(state | y) of each column, shape (K, 2)."""
        with np.errstate(divide="ignore"):
            log_eta = np.log(np.stack(tables, axis=2))
        return cls(log_eta[:, 0], log_eta[:, 1])

    def scores(self, x: Any) -> Floats:
        """Return the scores of all rows of a sparse matrix of codes: 1, −1 where missing, else 0; shape (n, K)."""
        ones, stored = _marked(x, x.data > 0), _marked(x, x.data != 0)

        def total(first: Floats, second: Floats) -> Floats:
            return np.asarray(first.sum(axis=1) - stored @ first.T + ones @ second.T, np.float64)

        never = np.isneginf(self.first), np.isneginf(self.second)
        found = total(np.where(never[0], 0.0, self.first), np.where(never[1], 0.0, self.second))
        if never[0].any() or never[1].any():
            found[total(never[0].astype(np.float64), never[1].astype(np.float64)) > 0] = -np.inf
        return found


def _marked(x: Any, kept: Bools) -> Any:
    """Return a sparse matrix with ones where some of the stored values are."""
    return type(x)((kept.astype(np.float64), x.indices, x.indptr), x.shape)


@dataclass(frozen=True, eq=False)
class CountScores:
    """The scores of columns of counts, Σ x log θ; where only some columns are given, those given their total.

    Attributes
    ----------
    names : tuple of str
        The p columns.
    log_theta : array, shape (K, p)
        −inf where a class never has a count; zero times −inf counts as zero.

    Examples
    --------
    >>> form = CountScores(("u", "v"), np.log([[0.25, 0.75], [0.5, 0.5]]))
    >>> np.exp(form.scores({"u": np.array([1.0, 0.0]), "v": np.array([1.0, 2.0])}, 2)).round(4).tolist()
    [[0.1875, 0.25], [0.5625, 0.25]]
    >>> np.exp(form.scores({"u": np.array([2.0])}, 1)).tolist()
    [[1.0, 1.0]]
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
        given = [place for place, name in enumerate(self.names) if name in columns]
        if len(given) < len(self.names):
            return self._given_total(given).scores(columns, n_rows)
        x = self._require_counts(columns, n_rows)
        found = np.asarray(x @ self._weights, np.float64)
        if self._impossible is not None:
            found[np.asarray((x > 0).astype(np.float64) @ self._impossible) > 0] = -np.inf
        return found

    def refuse(self, columns: Columns, n_rows: int, start: int) -> None:
        """Refuse counts that are missing or negative, the first row being row ``start`` of a table."""
        self._require_counts(columns, n_rows, start)

    def _given_total(self, given: list[int]) -> CountScores:
        """Return the scores of some of the columns, given the total of their counts."""
        share = np.exp(self.log_theta[:, given]).sum(axis=1, keepdims=True)  # p(one of these columns | y)
        log_theta = self.log_theta[:, given] - np.log(np.where(share > 0, share, 1.0))
        return CountScores(tuple(self.names[place] for place in given), log_theta)

    def _require_counts(self, columns: Columns, n_rows: int, start: int = 0) -> Any:
        """Return the counts as a matrix, dense or sparse, none of them missing or negative."""
        x: Any = sparse_part(columns, self.names)
        if x is None:
            x = matrix_of(columns, self.names, n_rows)
        values = x if isinstance(x, np.ndarray) else x.data
        if values.min(initial=0.0) >= 0:  # which NaN is not
            return x
        bad = ~(values >= 0)
        stored = None if isinstance(x, np.ndarray) else x.tocoo()
        rows, places = np.nonzero(bad) if stored is None else (stored.row[bad], stored.col[bad])
        first = np.lexsort((places, rows))[0]
        row, place, count = rows[first], places[first], values[bad][first]
        what = "is missing (NaN)" if np.isnan(count) else f"is {count:g}"
        raise DataError(
            f"Column {self.names[place]!r}, row {start + row + 1}: the count {what}, where multinomial columns hold "
            "counts of zero and more, none of them missing. Correct it, or leave the row out."
        )
