"""The inner product that all optimisers use."""

from __future__ import annotations

from suffice.types import Floats

# Longer products are spread over threads by BLAS libraries. For a sum this short that only costs time, a hundredfold
# on a busy machine, and it makes results depend on the number of threads.
PIECE = 8192


def dot(one: Floats, other: Floats) -> float:
    """Return the inner product of two vectors.

    >>> import numpy as np
    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    if one.size <= PIECE:
        return float(one.dot(other))
    return sum(float(one[i : i + PIECE].dot(other[i : i + PIECE])) for i in range(0, one.size, PIECE))
