"""What learning asks of a calibrated junction tree: margins of factors, their slopes, and proportional fitting."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.kernels.jit import kernel
from suffice.kernels.loops import ADD, MAX_LOOPS, MULTIPLY, SUM_OUT, WEIGHTED_OUT, ZERO, set_range, sweep
from suffice.kernels.propagation import follow


@kernel
def factor_sums(tree: Any, table: Any, starts: Any, out: Any) -> None:
    """Write the marginals of all factors' scopes from calibrated tables, each at ``starts``."""
    n = len(tree.parent)
    digits = np.empty(MAX_LOOPS, np.int64)
    set_range(out, ZERO, len(out), 0.0)
    for c in range(n):
        for k in range(tree.factor_at[c], tree.factor_at[c + 1]):
            f = tree.factor[k]
            first, last = tree.loop_at[2 * n + f], tree.loop_at[2 * n + f + 1]
            sweep(SUM_OUT, table, tree.table_at[c], out, starts[f], out, tree.loops, first, last, digits)


@kernel
def _conditioned(tree: Any, clique: int, edge: int, pair: int, work: Any, table: Any, message: Any, out: Any,
                 digits: Any) -> None:  # fmt: skip
    """Write E[work | separator] of one clique, at the place of the separator above ``edge``."""
    to, end = tree.message_at[edge], tree.message_at[edge + 1]
    set_range(out, to, end, 0.0)
    first, last = tree.loop_at[pair], tree.loop_at[pair + 1]
    sweep(WEIGHTED_OUT, work, tree.table_at[clique], out, to, table, tree.loops, first, last, digits)
    for i in range(to, end):
        out[i] = out[i] / message[i] if message[i] > 0 else 0.0


@kernel
def curvature(tree: Any, table: Any, message: Any, starts: Any, direction: Any, work: Any, up: Any, down: Any,
              out: Any) -> None:  # fmt: skip
    """Write the covariance of every factor's cells with Σ direction, from calibrated tables.

    E[Σ direction | x_C] of every clique is found by messages of conditional expectations to the root and back; then
    out(x_f) = p(x_f) (E[Σ direction | x_f] − E[Σ direction]).

    Parameters
    ----------
    tree : Tree
    table, message : arrays
        The marginals of cliques and separators.
    starts : array
        Where each factor begins in ``direction`` and in ``out``.
    work, up, down : arrays
        Room like ``table``, ``message`` and ``message``.
    """
    n, at, loop = len(tree.parent), tree.table_at, tree.loop_at
    digits = np.empty(MAX_LOOPS, np.int64)
    set_range(work, ZERO, len(work), 0.0)
    for c in range(n):
        for k in range(tree.factor_at[c], tree.factor_at[c + 1]):
            pair = 2 * n + tree.factor[k]
            sweep(
                ADD,
                work,
                at[c],
                direction,
                starts[tree.factor[k]],
                work,
                tree.loops,
                loop[pair],
                loop[pair + 1],
                digits,
            )
        for k in range(tree.child_at[c], tree.child_at[c + 1]):
            pair = n + tree.child[k]
            to = tree.message_at[tree.child[k]]
            sweep(ADD, work, at[c], up, to, work, tree.loops, loop[pair], loop[pair + 1], digits)
        if c < n - 1:
            _conditioned(tree, c, c, c, work, table, message, up, digits)
    mean = 0.0
    for i in range(at[n - 1], at[n]):
        mean += table[i] * work[i]
    for c in range(n - 2, -1, -1):
        _conditioned(tree, tree.parent[c], c, n + c, work, table, message, down, digits)
        for i in range(tree.message_at[c], tree.message_at[c + 1]):
            down[i] -= up[i]
        sweep(ADD, work, at[c], down, tree.message_at[c], work, tree.loops, loop[c], loop[c + 1], digits)
    for i in range(len(work)):
        work[i] -= mean
    set_range(out, ZERO, len(out), 0.0)
    for c in range(n):
        for k in range(tree.factor_at[c], tree.factor_at[c + 1]):
            f = tree.factor[k]
            first, last = loop[2 * n + f], loop[2 * n + f + 1]
            sweep(WEIGHTED_OUT, work, at[c], out, starts[f], table, tree.loops, first, last, digits)


@kernel
def fit_in_turn(tree: Any, visits: Any, path_at: Any, path: Any, starts: Any, targets: Any, factors: Any, table: Any,
                message: Any, fresh: Any, third: Any, gains: Any, totals: Any, gaps: Any) -> None:  # fmt: skip
    """Proportional fitting of factors one after another, marginals following along the tree; SUM only.

    Parameters
    ----------
    tree : Tree
    visits : array
        The factors in the order in which they are fitted.
    path_at, path : arrays
        The cliques on the way to each visit's clique, from that of the visit before.
    starts, targets, factors : arrays
        Where factors begin, the marginals wanted, and the potentials, which are multiplied by target over marginal.
    table, message : arrays
        Tables that are right at the first path's beginning.
    gains, totals, gaps : arrays
        Of every visit: Σ target log(target / marginal), Σ marginal and max |target − marginal| before its step.
    """
    n = len(tree.parent)
    digits = np.empty(MAX_LOOPS, np.int64)
    ratio = np.empty(len(third))
    for visit in range(len(visits)):
        follow(tree, path[path_at[visit] : path_at[visit + 1]], table, message, fresh, third)
        f = visits[visit]
        clique, lo, size = path[path_at[visit + 1] - 1], starts[f], starts[f + 1] - starts[f]
        first, last = tree.loop_at[2 * n + f], tree.loop_at[2 * n + f + 1]
        set_range(ratio, ZERO, size, 0.0)
        sweep(SUM_OUT, table, tree.table_at[clique], ratio, ZERO, third, tree.loops, first, last, digits)
        gain, total, gap = 0.0, 0.0, 0.0
        for i in range(size):
            found, wanted = ratio[i], targets[lo + i]
            total += found
            gap = max(gap, abs(wanted - found))
            if wanted > 0:
                ratio[i] = wanted / found if found > 0 else np.inf
                gain += wanted * np.log(ratio[i])
            else:
                ratio[i] = 0.0
            factors[lo + i] *= ratio[i]  # eq ipf-step
        gains[visit], totals[visit], gaps[visit] = gain, total, gap
        sweep(MULTIPLY, table, tree.table_at[clique], ratio, ZERO, third, tree.loops, first, last, digits)
