"""Sums over what is missing through a junction tree, situation by situation, where there is too much to enumerate."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.kernels.jit import kernel
from suffice.kernels.loops import MAX_LOOPS, SUM_OUT, sweep
from suffice.kernels.propagation import FINE, LOG, LOST, SUM, propagate


@kernel
def sum_by_tree(tree: Any, values: Any, logs: Any, floors: Any, starts: Any, into: Any, weight: Any, out: Any,
                log_sum: Any) -> None:  # fmt: skip
    """Add weight × posterior of every factor's cells, and write the logarithm of every situation's sum.

    Parameters
    ----------
    tree : Tree
    values, logs : arrays
        The cells of the factors, none above one, and their logarithms.
    floors : array, shape (n_factors,)
        Bounds from below of the factors' positive values, zero where some were lost.
    starts, into : arrays, shape (n, n_factors)
        Where each factor begins in ``values``, and in ``out``; −1 for factors whose posterior is not wanted.
    weight, log_sum : arrays, shape (n,)
    """
    n = len(tree.parent)
    table, message = np.empty(tree.table_at[n]), np.empty(tree.message_at[n])
    largest = 1
    for c in range(n):
        largest = max(largest, tree.message_at[c + 1] - tree.message_at[c])
    scale, bottom = np.ones(n), np.empty(n)
    fresh, third = np.empty(largest), np.empty(largest)
    digits = np.empty(MAX_LOOPS, np.int64)
    for s in range(len(weight)):
        log_z, status = propagate(tree, SUM, values, starts[s], floors, table, message, scale, bottom, fresh, third)
        if status == LOST:
            log_z, status = propagate(tree, LOG, logs, starts[s], floors, table, message, scale, bottom, fresh, third)
            for i in range(len(table)):
                table[i] = np.exp(table[i] - log_z) if log_z > -np.inf else 0.0
        if status != FINE:
            log_sum[s] = -np.inf
            continue
        log_sum[s] = log_z
        for i in range(len(table)):
            table[i] *= weight[s]
        for c in range(n):
            for k in range(tree.factor_at[c], tree.factor_at[c + 1]):
                f = tree.factor[k]
                if into[s, f] >= 0:
                    first, last = tree.loop_at[2 * n + f], tree.loop_at[2 * n + f + 1]
                    sweep(SUM_OUT, table, tree.table_at[c], out, into[s, f], out, tree.loops, first, last, digits)
