"""Sums and products of long vectors, in one reading of them."""

from __future__ import annotations

from typing import Any

from suffice.kernels.jit import kernel

PIECE = 1024


@kernel
def add_then_dot(result: Any, factor: float, row: Any, other: Any) -> float:
    """Add ``factor`` times ``row`` to ``result``, and return its product with ``other`` then.

    Eight sums side by side: one alone would wait for every addition before the next.
    """
    n = len(result)
    total = 0.0
    for start in range(0, n, PIECE):
        size = min(PIECE, n - start)
        own, step, by = result[start : start + size], row[start : start + size], other[start : start + size]
        for i in range(size):
            own[i] += factor * step[i]
        a = b = c = d = e = f = g = h = 0.0
        even = size // 8 * 8
        for i in range(0, even, 8):
            a += own[i] * by[i]
            b += own[i + 1] * by[i + 1]
            c += own[i + 2] * by[i + 2]
            d += own[i + 3] * by[i + 3]
            e += own[i + 4] * by[i + 4]
            f += own[i + 5] * by[i + 5]
            g += own[i + 6] * by[i + 6]
            h += own[i + 7] * by[i + 7]
        for i in range(even, size):
            a += own[i] * by[i]
        total += ((a + b) + (c + d)) + ((e + f) + (g + h))
    return total
