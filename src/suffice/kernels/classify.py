"""Scores of rows under classes: kernels that see a few rows at a time, all of them in the cache.

======  =====================================================
n, p    rows, inputs
K       classes
======  =====================================================

Numbers are turned on their side, `TILE` rows at a time, so that the innermost loop runs over rows and needs no sums of
neighbours. A NaN, or a code of −1, is a missing input: its factor is left out of the product.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np

from suffice.kernels.jit import kernel

TILE = 64


@kernel
def diagonal_scores(x, mean, precision, height, start, out):
    """Fill start_k + Σ_j (h_kj − a_kj (x_j − μ_kj)² / 2), the sum over the inputs that are there.

    ``x`` has shape (n, p), ``mean``, ``precision`` and ``height`` (K, p), ``start`` (K,), ``out`` (n, K).
    """
    n, p = x.shape
    tile, total = np.zeros((p, TILE)), np.zeros(TILE)
    for low in range(0, n, TILE):
        m = min(TILE, n - low)
        whole = True
        for r in range(m):
            for j in range(p):
                value = x[low + r, j]
                tile[j, r] = value
                whole &= not np.isnan(value)
        for k in range(start.shape[0]):
            total[:] = 0.0
            top = start[k]
            for j in range(p):
                column, mu, a, h = tile[j], mean[k, j], -0.5 * precision[k, j], height[k, j]
                if whole:
                    top += h
                    for r in range(TILE):
                        d = column[r] - mu
                        total[r] += d * d * a
                else:
                    for r in range(m):
                        if not np.isnan(column[r]):
                            d = column[r] - mu
                            total[r] += h + d * d * a
            for r in range(m):
                out[low + r, k] = top + total[r]


@kernel
def linear_scores(x, centre, weights, start, out):
    """Fill start_k + Σ_j W_jk (x_j − c_j).

    ``x`` has shape (n, p), ``centre`` (p,), ``weights`` (p, K), ``start`` (K,), ``out`` (n, K).
    """
    n, p = x.shape
    tile, total = np.zeros((p, TILE)), np.zeros(TILE)
    for low in range(0, n, TILE):
        m = min(TILE, n - low)
        for r in range(m):
            for j in range(p):
                tile[j, r] = x[low + r, j] - centre[j]
        for k in range(start.shape[0]):
            total[:] = start[k]
            for j in range(0, p - 3, 4):  # four columns at a time, so that totals are read and written less often
                a, b, c, d = tile[j], tile[j + 1], tile[j + 2], tile[j + 3]
                wa, wb, wc, wd = weights[j, k], weights[j + 1, k], weights[j + 2, k], weights[j + 3, k]
                for r in range(TILE):
                    total[r] += (wa * a[r] + wb * b[r]) + (wc * c[r] + wd * d[r])
            for j in range(p // 4 * 4, p):
                a, wa = tile[j], weights[j, k]
                for r in range(TILE):
                    total[r] += wa * a[r]
            for r in range(m):
                out[low + r, k] = total[r]


@kernel
def sums_of_squares(z, shift, start, out):
    """Fill start_k − Σ_j (z_kj − shift_kj)² / 2; ``z`` has shape (K · p, n), ``shift`` (K, p), ``out`` (n, K)."""
    n_classes, p = shift.shape
    n = z.shape[1]
    total = np.empty(n)
    for k in range(n_classes):
        total[:] = 0.0
        for j in range(p):
            column, about = z[k * p + j], shift[k, j]
            for r in range(n):
                d = column[r] - about
                total[r] += d * d
        for r in range(n):
            out[r, k] = start[k] - 0.5 * total[r]


@kernel
def triangular_scores(x, centre, factors, shift, start, out):
    """Fill start_k − |R_k (x − c) − s_k|² / 2, of whose factors R_k only the lower triangles are read.

    ``x`` has shape (n, p), ``centre`` (p,), ``factors`` (K, p, p), ``shift`` (K, p), ``start`` (K,), ``out`` (n, K).
    """
    n, p = x.shape
    tile, white, total = np.zeros((p, TILE)), np.zeros(TILE), np.zeros(TILE)
    for low in range(0, n, TILE):
        m = min(TILE, n - low)
        for r in range(m):
            row = x[low + r]
            for j in range(p):
                tile[j, r] = row[j] - centre[j]
        for k in range(start.shape[0]):
            total[:] = 0.0
            for i in range(p):
                factor = factors[k, i]
                white[:] = -shift[k, i]
                fours = (i + 1) // 4 * 4  # four inputs at a time, so that sums are fetched and stored less often
                for j in range(0, fours, 4):
                    f0, f1, f2, f3 = factor[j], factor[j + 1], factor[j + 2], factor[j + 3]
                    x0, x1, x2, x3 = tile[j], tile[j + 1], tile[j + 2], tile[j + 3]
                    for r in range(TILE):
                        white[r] += (f0 * x0[r] + f1 * x1[r]) + (f2 * x2[r] + f3 * x3[r])
                for j in range(fours, i + 1):
                    f0, x0 = factor[j], tile[j]
                    for r in range(TILE):
                        white[r] += f0 * x0[r]
                for r in range(TILE):
                    total[r] += white[r] * white[r]
            for r in range(m):
                out[low + r, k] = start[k] - 0.5 * total[r]


@kernel
def table_scores(codes, first, tables, start, out):
    """Fill start_k + Σ_j T[first_j + code_j, k].

    ``codes`` has shape (n, p), any signed whole numbers; ``first``, int64, (p,); ``tables`` (Σ states, K).
    """
    n, p = codes.shape
    n_classes = start.shape[0]
    for i in range(n):
        row = codes[i]
        for k in range(0, n_classes - 3, 4):  # four sums at a time stay in registers
            a, b, c, d = start[k], start[k + 1], start[k + 2], start[k + 3]
            for j in range(p):
                if row[j] >= 0:
                    cell = np.uint64(first[j] + row[j])
                    a += tables[cell, k]
                    b += tables[cell, k + 1]
                    c += tables[cell, k + 2]
                    d += tables[cell, k + 3]
            out[i, k], out[i, k + 1], out[i, k + 2], out[i, k + 3] = a, b, c, d
        for k in range(n_classes // 4 * 4, n_classes):
            a = start[k]
            for j in range(p):
                if row[j] >= 0:
                    a += tables[np.uint64(first[j] + row[j]), k]
            out[i, k] = a


@kernel
def largest(scores, out):
    """Fill the place of each row's largest score, of equal ones the first; no score is NaN."""
    for i in range(scores.shape[0]):
        best, place = scores[i, 0], 0
        for k in range(1, scores.shape[1]):
            if scores[i, k] > best:
                best, place = scores[i, k], k
        out[i] = place
