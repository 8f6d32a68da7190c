"""Sums over what is missing through a junction tree, situation by situation, where there is too much to enumerate."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.kernels.jit import kernel
from suffice.kernels.loops import MAX_LOOPS, SUM_OUT, Tree, sweep
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


@kernel
def sum_by_forest(forest: Any, bounds: Any, kind: Any, weight: Any, lo: int, hi: int, values: Any, logs: Any,
                  floors: Any, cells: Any, cell_at: Any, starts: Any, table_of: Any, start_at: Any, room: Any, out: Any,
                  log_sum: Any) -> None:  # fmt: skip
    """Do what `sum_by_tree` does for situations that have trees of many kinds.

    Parameters
    ----------
    forest : Tree
        The arrays of all trees, one tree after another.
    bounds : array, shape (n_trees + 1, n_fields)
        Where each tree begins in each of these arrays.
    kind, weight : arrays, shape (n,)
        The tree of every situation, and its weight; those from ``lo`` to ``hi`` are summed.
    values, logs : arrays
        The cells of all tables, none above one, and their logarithms.
    floors : array
        Bounds from below of the tables' positive values, zero where some were lost.
    cells, cell_at : arrays
        The cells that are left of its factors where a situation's observed values are sliced away.
    starts, table_of, start_at : arrays
        For each tree, where its factors begin among these, and the tables that they are of.
    room : array
        The most cells of a tree's tables, its separators, one separator, a situation's factors; cliques; factors.
    out : array
        Expected counts of the cells of all tables.
    log_sum : array, shape (n,)
    """
    table, message = np.empty(room[0]), np.empty(room[1])
    fresh, third = np.empty(room[2]), np.empty(room[2])
    own, posterior = np.empty(room[3]), np.empty(room[3])
    scale, bottom, floor = np.ones(room[4]), np.empty(room[4]), np.empty(room[5])
    digits = np.empty(MAX_LOOPS, np.int64)
    for s in range(lo, hi):
        t = kind[s]
        at, to = bounds[t], bounds[t + 1]
        tree = Tree(
            forest.sizes[at[0] : to[0]], forest.scope_at[at[1] : to[1]], forest.scope[at[2] : to[2]],
            forest.part_at[at[3] : to[3]], forest.part[at[4] : to[4]], forest.table_at[at[5] : to[5]],
            forest.message_at[at[6] : to[6]], forest.parent[at[7] : to[7]], forest.child_at[at[8] : to[8]],
            forest.child[at[9] : to[9]], forest.factor_at[at[10] : to[10]], forest.factor[at[11] : to[11]],
            forest.loop_at[at[12] : to[12]], forest.loops[at[13] : to[13]],
        )  # fmt: skip
        n, begin, end = len(tree.parent), cell_at[s], cell_at[s + 1]
        first, n_factors = start_at[t], start_at[t + 1] - start_at[t]
        start = starts[first : first + n_factors]
        for f in range(n_factors):
            floor[f] = floors[table_of[first + f]]
        for i in range(begin, end):
            own[i - begin] = values[cells[i]]
            posterior[i - begin] = 0.0
        n_cells = tree.table_at[n]
        log_z, status = propagate(tree, SUM, own, start, floor, table, message, scale, bottom, fresh, third)
        if status == LOST:
            for i in range(begin, end):
                own[i - begin] = logs[cells[i]]
            log_z, status = propagate(tree, LOG, own, start, floor, table, message, scale, bottom, fresh, third)
            for i in range(n_cells):
                table[i] = np.exp(table[i] - log_z) if log_z > -np.inf else 0.0
        if status != FINE:
            log_sum[s] = -np.inf
            continue
        log_sum[s] = log_z
        for i in range(n_cells):
            table[i] *= weight[s]
        for c in range(n):
            for k in range(tree.factor_at[c], tree.factor_at[c + 1]):
                f = tree.factor[k]
                low, high = tree.loop_at[2 * n + f], tree.loop_at[2 * n + f + 1]
                sweep(SUM_OUT, table, tree.table_at[c], posterior, start[f], posterior, tree.loops, low, high, digits)
        for i in range(begin, end):
            out[cells[i]] += posterior[i - begin]
