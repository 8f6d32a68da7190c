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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.matrix import matrix_of, side_by_side
from suffice.models.class_scoring import DiagonalScores, TableScores

Floats = NDArray[np.float64]
Columns = Mapping[str, NDArray[Any]]
PIECE_NUMBERS = 1 << 17
"""Counts that are looked at together; a megabyte of them stays in the cache."""


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


def count_scores(columns: Columns, n_rows: int, names: Sequence[str], log_theta: Floats) -> Floats:
    """Return Σ x log θ of columns of counts; of rows in which some are missing, given the total of the others.

    Parameters
    ----------
    columns : mapping of str to counts, shape (n,)
    n_rows : int
    names : sequence of str
        The p columns of counts.
    log_theta : array, shape (K, p)
        −inf where a class never has a count; zero times −inf counts as zero.

    Returns
    -------
    array, shape (n, K)
    """
    impossible = np.isneginf(log_theta)
    finite = np.where(impossible, 0.0, log_theta)
    scores = np.empty((n_rows, len(log_theta)))
    counts = matrix_of(columns, names, n_rows)
    size = max(64, PIECE_NUMBERS // len(names))
    for low in range(0, n_rows, size):
        x = counts[low : low + size]
        high = low + len(x)
        known = ~np.isnan(x)
        given = np.zeros((high - low, len(log_theta)))
        if not known.all():
            x = np.where(known, x, 0.0)
            share = known @ np.exp(log_theta).T  # p(one of the columns that are there | y)
            total = x.sum(axis=1, keepdims=True)
            given = total * np.log(np.where(share > 0, share, 1.0))
        scores[low:high] = x @ finite.T - given
        if impossible.any():
            scores[low:high][(x > 0).astype(np.float64) @ impossible.T > 0] = -np.inf
    return scores
