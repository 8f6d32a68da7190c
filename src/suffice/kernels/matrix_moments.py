"""Moments of the rows of a matrix, cell by cell: kernels that walk every row once.

======  =====================================================
n, p    rows and columns of a piece of the matrix
K       cells; ``cell`` tells for every row in which it is
======  =====================================================

``weights`` has one number a row, or none at all: then every row counts once. Rows without weight are left out, whatever
they hold. Sums are taken over `NEAR` rows at a time first, so that rounding grows with the square root of few.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np

from suffice.kernels.jit import kernel

NEAR = 1024


@kernel
def first_rows(cell, weights, first, n_rows, weight):
    """Find the first row of every cell (−1 where there is none), how many rows it has, and their weight.

    ``cell`` is int64, shape (n,); ``first`` and ``n_rows``, int64, and ``weight``, float64, have shape (K,).
    """
    first[:] = -1
    n_rows[:] = 0
    weight[:] = 0.0
    weighted = weights.shape[0] > 0
    for i in range(cell.shape[0]):
        w = weights[i] if weighted else 1.0
        if w > 0:
            k = cell[i]
            if n_rows[k] == 0:
                first[k] = i
            n_rows[k] += 1
            weight[k] += w


@kernel
def shifted_squares(x, cell, weights, centre, sums, squares):
    """Fill Σ w (x − c) and Σ w (x − c)² of every cell and column.

    ``x`` has shape (n, p); ``centre``, ``sums`` and ``squares`` have shape (K, p).
    """
    n, p = x.shape
    weighted = weights.shape[0] > 0
    near, near_squares = np.zeros(sums.shape), np.zeros(sums.shape)
    sums[:] = 0.0
    squares[:] = 0.0
    for low in range(0, n, NEAR):
        for i in range(low, min(low + NEAR, n)):
            k = cell[i]
            one, two, c, row = near[k], near_squares[k], centre[k], x[i]
            if not weighted:
                for j in range(p):
                    d = row[j] - c[j]
                    one[j] += d
                    two[j] += d * d
            elif weights[i] > 0:
                w = weights[i]
                for j in range(p):
                    d = row[j] - c[j]
                    one[j] += w * d
                    two[j] += w * d * d
        sums += near
        squares += near_squares
        near[:] = 0.0
        near_squares[:] = 0.0


@kernel
def shifted_rows(x, cell, weights, centre, place, rows, factors, sums):
    """Write x − c with the rows of one cell after those of another, and fill Σ w (x − c).

    Parameters
    ----------
    x : array, shape (n, p)
    centre, sums : arrays, shape (K, p)
    place : int64 array, shape (K,)
        Where the rows of each cell begin; afterwards, where they end.
    rows : array, shape (at least n, p)
    factors : array, shape (at least n,) or (0,)
        The weights in the same order.
    """
    n, p = x.shape
    weighted = weights.shape[0] > 0
    near = np.zeros(sums.shape)
    sums[:] = 0.0
    for low in range(0, n, NEAR):
        for i in range(low, min(low + NEAR, n)):
            w = weights[i] if weighted else 1.0
            if not w > 0:
                continue
            k = cell[i]
            one, c, row, out = near[k], centre[k], x[i], rows[place[k]]
            if weighted:
                factors[place[k]] = w
            place[k] += 1
            for j in range(p):
                d = row[j] - c[j]
                out[j] = d
                one[j] += w * d
        sums += near
        near[:] = 0.0
