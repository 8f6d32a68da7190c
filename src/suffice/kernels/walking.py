"""Walking along a chain: one symbol after the other, each drawn from the row of the symbols before it.

==========  =================================================================================================
``steps``   the distribution function of every row, state by state; shape (n_states, n_rows)
``stored``  the contexts that have rows, as rising keys; empty when all of them do, and the key is the row
``wrap``    n_states to the power of the order less one: what is left of a key when its oldest symbol goes
==========  =================================================================================================

The *key* of a context is its symbols' codes as the digits of one number, the newest last. A context without a row of
its own has the last one.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np

from suffice.kernels.jit import kernel


@kernel
def walk(steps, stored, wrap, keys, uniform, out):
    """Draw the next symbols of several sequences; return the first sequence whose row is unknown, or −1.

    Parameters
    ----------
    keys : int64 array, shape (n_sequences,)
        The context of each sequence; changed in place.
    uniform : float64 array, shape (n_steps, n_sequences)
    out : array, shape (n_sequences, n_steps)
        The drawn codes.
    """
    n_states, n_rows = steps.shape
    for j in range(uniform.shape[1]):
        key = keys[j]
        for t in range(uniform.shape[0]):
            row = key
            if stored.shape[0]:
                row = np.searchsorted(stored, key)
                if row == stored.shape[0] or stored[row] != key:
                    row = n_rows - 1
            if np.isnan(steps[n_states - 1, row]):
                keys[j] = key
                return j
            u, state = uniform[t, j], 0
            for s in range(n_states - 1):
                state += u >= steps[s, row]
            out[j, t] = state
            key = (key % wrap) * n_states + state
        keys[j] = key
    return -1
