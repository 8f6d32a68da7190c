"""Messages between the tables of a junction tree.

Three ways of calculating share the code: SUM, in linear space, scaled; LOG, the same in logarithms, for products whose
small values would be lost otherwise; MAX, the greatest instead of the sum, in logarithms.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.kernels.jit import kernel
from suffice.kernels.loops import (
    ADD,
    ASSIGN,
    EXP_OUT,
    MAX_LOOPS,
    MAX_OUT,
    MULTIPLY,
    SUM_OUT,
    ZERO,
    divide_range,
    find_loops,
    least_of,
    rescale,
    set_range,
    sum_range,
    sweep,
)

SUM, LOG, MAX = np.int64(0), np.int64(1), np.int64(2)
FINE, IMPOSSIBLE, LOST = np.int64(0), np.int64(1), np.int64(2)
TINY = 1e-280  # below this, products may lose values
SMALL = 1e-30  # below this, it is worth looking how small the values of a message really are
SCANT = 1e-150  # below this, it is worth looking at a whole table


@kernel
def _out(way: int, table: Any, at: int, message: Any, to: int, end: int, third: Any, loops: Any, lo: int,
         hi: int, digits: Any) -> None:  # fmt: skip
    """Write what a table says of a part of its variables: the sum, or the greatest, over the others."""
    if way == SUM:
        set_range(message, to, end, 0.0)
        sweep(SUM_OUT, table, at, message, to, third, loops, lo, hi, digits)
        return
    set_range(message, to, end, -np.inf)
    sweep(MAX_OUT, table, at, message, to, third, loops, lo, hi, digits)
    if way == LOG:
        set_range(third, ZERO, end - to, 0.0)
        sweep(EXP_OUT, table, at, message[to:end], ZERO, third, loops, lo, hi, digits)
        for i in range(end - to):
            if third[i] > 0:
                message[to + i] += np.log(third[i])


@kernel
def collect(tree: Any, way: int, factors: Any, starts: Any, floors: Any, table: Any, message: Any, scale: Any,
            bottom: Any, third: Any) -> tuple[float, Any]:  # fmt: skip
    """Multiply the factors into their cliques and send messages to the root; return log Σ Π φ and how it went.

    Parameters
    ----------
    tree : Tree
    way : SUM, LOG or MAX
    factors : array
        All factors (their logarithms unless SUM), each at ``starts``; none exceeds one.
    floors : array
        A bound from below of the positive values of every factor.
    table, message : arrays
        Room for the tables of cliques and separators; messages are scaled to sum to one if SUM.
    scale : array
        Room for what each message was divided by.
    bottom : array
        Room for bounds from below of the positive values of every clique.
    third : array
        Room for one separator.
    """
    n = len(tree.parent)
    log_total = 0.0
    low = np.ones(n)  # bounds from below of the positive values in messages
    digits = np.empty(MAX_LOOPS, np.int64)
    for c in range(n):
        lo = tree.table_at[c]
        added, floor, status = _fill(tree, c, way, factors, starts, floors, low, table, message, third, digits)
        if status != FINE:
            return added, status
        log_total += added
        bottom[c] = floor
        if c == n - 1:
            break
        to, end = tree.message_at[c], tree.message_at[c + 1]
        _out(way, table, lo, message, to, end, third, tree.loops, tree.loop_at[c], tree.loop_at[c + 1], digits)
        if way == SUM:
            total = sum_range(message, to, end)
            if not total > 0:
                return -np.inf, IMPOSSIBLE
            divide_range(message, to, end, total)
            scale[c] = total
            low[c] = floor / total if floor > SMALL else least_of(message, to, end)
            log_total += np.log(total)
            if not low[c] > TINY:
                return 0.0, LOST
    return _finish(way, table, tree.table_at[n - 1], tree.table_at[n], log_total, bottom)  # type: ignore[no-any-return]


@kernel
def _fill(tree: Any, c: int, way: int, factors: Any, starts: Any, floors: Any, low: Any, table: Any, message: Any,
          third: Any, digits: Any) -> tuple[float, float, Any]:  # fmt: skip
    """Multiply factors and messages into one clique; return the logarithm of its scale, its floor and how it went."""
    n, lo, hi = len(tree.parent), tree.table_at[c], tree.table_at[c + 1]
    n_factors, n_children = tree.factor_at[c + 1] - tree.factor_at[c], tree.child_at[c + 1] - tree.child_at[c]
    log_scale, floor = 0.0, 1.0
    op = MULTIPLY if way == SUM else ADD
    if n_factors + n_children == 0:
        set_range(table, lo, hi, 1.0 if way == SUM else 0.0)
    for k in range(n_factors + n_children):
        is_factor = k < n_factors
        f = tree.factor[tree.factor_at[c] + k] if is_factor else tree.child[tree.child_at[c] + k - n_factors]
        pair = 2 * n + f if is_factor else n + f
        next_floor = floors[f] if is_factor else low[f]
        if way == SUM and floor * next_floor < TINY:
            if k > 0:
                top, floor = rescale(table, lo, hi)
                if top == 0:
                    return -np.inf, floor, IMPOSSIBLE
                log_scale += np.log(top)
            if floor * next_floor < TINY:
                return 0.0, floor, LOST
        first, last = tree.loop_at[pair], tree.loop_at[pair + 1]
        step = op if k > 0 else ASSIGN
        if is_factor:
            sweep(step, table, lo, factors, starts[f], third, tree.loops, first, last, digits)
        else:
            sweep(step, table, lo, message, tree.message_at[f], third, tree.loops, first, last, digits)
        floor *= next_floor
    return log_scale, floor, FINE


@kernel
def _finish(way: int, table: Any, lo: int, hi: int, log_total: float, bottom: Any) -> tuple[float, Any]:
    """Sum up the root's table, and scale it to sum to one if SUM."""
    if way == SUM:
        total = sum_range(table, lo, hi)
        if not total > 0:
            return -np.inf, IMPOSSIBLE
        divide_range(table, lo, hi, total)
        bottom[len(bottom) - 1] /= total
        return log_total + np.log(total), FINE
    top = -np.inf
    for i in range(lo, hi):
        top = max(top, table[i])
    if top == -np.inf:
        return -np.inf, IMPOSSIBLE
    if way == MAX:
        return top, FINE
    total = 0.0
    for i in range(lo, hi):
        total += np.exp(table[i] - top)
    return top + np.log(total), FINE


@kernel
def _pass(way: int, table: Any, from_at: int, message: Any, to: int, end: int, to_at: int, to_end: int, scale: float,
          bottom: Any, here: int, there: int, fresh: Any, third: Any, loops: Any, from_lo: int, from_hi: int,
          to_lo: int, to_hi: int, digits: Any) -> None:  # fmt: skip
    """Send a message that replaces the one in the separator: the receiver is multiplied by new over old."""
    size = end - to
    _out(way, table, from_at, fresh, ZERO, size, third, loops, from_lo, from_hi, digits)
    for i in range(size):
        new, old = fresh[i], message[to + i]
        message[to + i] = new
        if way == SUM:
            fresh[i] = new / (old * scale) if old > 0 else 0.0
        else:
            fresh[i] = new - old if old > -np.inf else -np.inf
    if way == SUM:
        bottom[there] = _bottom(table, to_at, to_end, bottom[here], bottom[there], scale, fresh, size)
    sweep(MULTIPLY if way == SUM else ADD, table, to_at, fresh, ZERO, third, loops, to_lo, to_hi, digits)


@kernel
def _bottom(table: Any, lo: int, hi: int, above: float, floor: float, scale: float, ratio: Any, size: int) -> float:
    """Return a bound from below of a table's positive values after a message; zero where some may be lost."""
    if above == 0:
        return 0.0
    low = above / scale  # what the message has least, since what it replaces is at most one
    if low * floor < SCANT:
        low = np.inf
        for i in range(np.uint64(0), np.uint64(size)):
            if 0 < ratio[i] < low:
                low = ratio[i]
        if low == np.inf:
            return floor
        if low * floor < SCANT:
            floor = np.inf
            for i in range(np.uint64(lo), np.uint64(hi)):
                if 0 < table[i] < floor:
                    floor = table[i]
    return low * floor if low * floor >= TINY else 0.0


@kernel
def distribute(tree: Any, way: int, table: Any, message: Any, scale: Any, bottom: Any, fresh: Any,
               third: Any) -> None:  # fmt: skip
    """Send messages from the root after `collect`: tables and separators become marginals."""
    n = len(tree.parent)
    at, loop = tree.table_at, tree.loop_at
    digits = np.empty(MAX_LOOPS, np.int64)
    for c in range(n - 2, -1, -1):
        _pass(
            way, table, at[tree.parent[c]], message, tree.message_at[c], tree.message_at[c + 1], at[c], at[c + 1],
            scale[c], bottom, tree.parent[c], c, fresh, third, tree.loops, loop[n + c], loop[n + c + 1], loop[c],
            loop[c + 1], digits,
        )  # fmt: skip


@kernel
def propagate(tree: Any, way: int, factors: Any, starts: Any, floors: Any, table: Any, message: Any, scale: Any,
              bottom: Any, fresh: Any, third: Any) -> tuple[float, Any]:  # fmt: skip
    """Send messages to the root and back; return what `collect` returns."""
    log_total, status = collect(tree, way, factors, starts, floors, table, message, scale, bottom, third)
    if status == FINE:
        distribute(tree, way, table, message, scale, bottom, fresh, third)
    return log_total, status


@kernel
def follow(tree: Any, path: Any, table: Any, message: Any, fresh: Any, third: Any) -> None:
    """Send messages along a path of neighbouring cliques after one of them was changed; SUM only."""
    bottom = np.zeros(len(tree.parent))
    n = len(tree.parent)
    at, loop = tree.table_at, tree.loop_at
    digits = np.empty(MAX_LOOPS, np.int64)
    for k in range(len(path) - 1):
        here, there = path[k], path[k + 1]
        upwards = tree.parent[here] == there
        c = here if upwards else there
        own, other = (c, n + c) if upwards else (n + c, c)
        _pass(
            SUM, table, at[here], message, tree.message_at[c], tree.message_at[c + 1], at[there], at[there + 1], 1.0,
            bottom, here, there, fresh, third, tree.loops, loop[own], loop[own + 1], loop[other], loop[other + 1],
            digits,
        )  # fmt: skip


# Single tables ------------------------------------------------------------------------------------------------


@kernel
def shrink(tree: Any, way: int, clique: int, wanted: Any, table: Any, part: Any) -> None:
    """Write what a clique's table says of some of its variables, in the common order: the sum, or the greatest."""
    free = np.full(len(tree.sizes), -1, np.int64)
    loops, digits = np.empty((MAX_LOOPS, 3), np.int64), np.empty(MAX_LOOPS, np.int64)
    lo, hi = tree.scope_at[clique], tree.scope_at[clique + 1]
    end, _ = find_loops(tree.scope, lo, hi, wanted, ZERO, len(wanted), tree.sizes, free, True, loops, ZERO)
    _out(way, table, tree.table_at[clique], part, ZERO, len(part), part, loops, ZERO, end, digits)


@kernel
def sum_part(tree: Any, clique: int, pair: int, table: Any, part: Any) -> None:
    """Write the marginal of a clique's table over one of its parts, named by the number of its loops."""
    set_range(part, ZERO, len(part), 0.0)
    first, last, digits = tree.loop_at[pair], tree.loop_at[pair + 1], np.empty(MAX_LOOPS, np.int64)
    sweep(SUM_OUT, table, tree.table_at[clique], part, ZERO, part, tree.loops, first, last, digits)


@kernel
def scale_part(tree: Any, clique: int, pair: int, table: Any, part: Any) -> None:
    """Multiply a clique's table by a table over one of its parts."""
    first, last, digits = tree.loop_at[pair], tree.loop_at[pair + 1], np.empty(MAX_LOOPS, np.int64)
    sweep(MULTIPLY, table, tree.table_at[clique], part, ZERO, part, tree.loops, first, last, digits)
