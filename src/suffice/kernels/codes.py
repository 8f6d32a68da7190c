"""Codes of whole numbers that lie in a matrix, row after row."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np

from suffice.kernels.jit import kernel


@kernel
def small_codes(x, codes, present):
    """Copy numbers from 0 to 126 into ``codes``, int8, and mark those that occur in each column.

    ``x`` and ``codes`` have shape (n, p), ``present``, bool, (p, 127). Return whether all numbers were such ones; where
    one was not, the rest is left as it was.
    """
    n, p = x.shape
    for i in range(n):
        row, out = x[i], codes[i]
        for j in range(p):
            value = row[j]
            if value < 0 or value >= 127:
                return False
            out[j] = value
            present[j, np.uint64(value)] = True
    return True


@kernel
def known_codes(x, low, tables, codes):
    """Fill the codes of numbers whose states are known; return how many numbers are no state, which become −1.

    ``x`` and ``codes`` have shape (n, p), ``low`` (p,), its smallest states. ``tables`` has shape (p, width): the code
    of the number low_j + c is tables[j, c], −1 where there is no such state.
    """
    n, p = x.shape
    width = tables.shape[1]
    n_unknown = 0
    for i in range(n):
        row, out = x[i], codes[i]
        for j in range(p):
            place = row[j] - low[j]
            code = tables[j, np.uint64(place)] if 0 <= place < width else tables.dtype.type(-1)
            out[j] = code
            n_unknown += code < 0
    return n_unknown
