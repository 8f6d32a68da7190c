"""The inner product that all optimisers use, and the step of L-BFGS."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Longer products are spread over threads by BLAS libraries. For a sum this short that only costs time, a hundredfold
# on a busy machine, and it makes results depend on the number of threads.
PIECE = 8192

LARGE = 1 << 17
"""Longer vectors are added and multiplied in one reading, by a kernel."""


def dot(one: Floats, other: Floats) -> float:
    """Return the inner product of two vectors.

    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    if one.size <= PIECE:
        return float(one.dot(other))
    return sum(float(one[i : i + PIECE].dot(other[i : i + PIECE])) for i in range(0, one.size, PIECE))


def add_then_dot(result: Floats, factor: float, row: Floats, other: Floats, work: Floats) -> float:
    """Add ``factor`` times ``row`` to ``result``, and return its inner product with ``other`` then.

    >>> result = np.array([1.0, 2.0])
    >>> add_then_dot(result, 2.0, np.array([1.0, 0.0]), np.array([1.0, 1.0]), np.empty(2)), result
    (5.0, array([3., 2.]))
    """
    if result.size > LARGE:
        from suffice.kernels import vectors as kernels

        return float(kernels.add_then_dot(result, factor, row, other))
    np.multiply(row, factor, out=work)
    result += work
    return dot(other, result)
