"""Messages between the tables of a junction tree, over flat buffers.

A table is a range of a buffer, its last variable varying fastest; all scopes list their variables in one common order.
Whatever happens between a table and one over a part of its variables is then the same nest of loops with two strides,
in which neighbouring variables that are both in the part, or both outside, are merged to one long loop.

Three ways of calculating share the code: SUM, in linear space, scaled; LOG, the same in logarithms, for products whose
small values would be lost otherwise; MAX, the greatest instead of the sum, in logarithms.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from suffice.kernels.jit import kernel

# Constants have a type of their own here: for each plain number a function would be compiled anew.
SUM, LOG, MAX = np.int64(0), np.int64(1), np.int64(2)
FINE, IMPOSSIBLE, LOST = np.int64(0), np.int64(1), np.int64(2)
TINY = 1e-280  # below this, products may lose values
SMALL = 1e-30  # below this, it is worth looking how small the values of a message really are
SCANT = 1e-150  # below this, it is worth looking at a whole table
MAX_LOOPS = 256

_ZERO = np.int64(0)
_ASSIGN, _MULTIPLY, _ADD, _SUM_OUT = np.int64(0), np.int64(1), np.int64(2), np.int64(3)
_MAX_OUT, _EXP_OUT, _GATHER, _DIVIDE = np.int64(4), np.int64(5), np.int64(6), np.int64(7)


class Tree(NamedTuple):
    """A junction tree as arrays; cliques come before their parents, the root is last.

    ``x_at`` arrays have one place more than there are x: the range of x number i is ``x_at[i]`` to ``x_at[i + 1]``.
    """

    sizes: Any  # number of states of every variable
    scope_at: Any
    scope: Any  # the variables of every clique
    part_at: Any
    part: Any  # the variables of the separator above every clique; none for the root
    table_at: Any  # the tables of the cliques
    message_at: Any  # the tables of the separators
    parent: Any  # −1 for the root
    child_at: Any
    child: Any  # the children of every clique
    factor_at: Any
    factor: Any  # the factors that every clique holds
    loop_at: Any  # loops: of separators in their cliques, in the parents of these, of factors in their cliques
    loops: Any  # rows (n, stride in the table, stride in the part), innermost first


# Loops --------------------------------------------------------------------------------------------------------


@kernel
def find_loops(scope: Any, lo: int, hi: int, part: Any, part_lo: int, part_hi: int, sizes: Any, codes: Any, dense: bool,
               loops: Any, at: int) -> tuple[int, int]:  # fmt: skip
    """Write the loops over the free variables of a table and of a part of it; return their end, and an offset.

    Observed variables (``codes`` not negative) are no loop. The table holds them unless it is ``dense``; the offset is
    where the slice begins. The part never holds them.
    """
    end, offset, stride, part_stride = at, 0, 1, 1
    j = part_hi - 1
    for i in range(hi - 1, lo - 1, -1):
        variable = scope[i]
        size = sizes[variable]
        inside = j >= part_lo and part[j] == variable
        if inside:
            j -= 1
        if codes[variable] >= 0:
            if not dense:
                offset += codes[variable] * stride
                stride *= size
            continue
        if size > 1:
            step = part_stride if inside else 0
            last = end - 1
            if end > at and stride == loops[last, 1] * loops[last, 0] and step == loops[last, 2] * loops[last, 0]:
                loops[last, 0] *= size
            else:
                loops[end, 0], loops[end, 1], loops[end, 2] = size, stride, step
                end += 1
        stride *= size
        if inside:
            part_stride *= size
    longest = at + 1  # the second loop is the longest of those that are not the innermost
    for k in range(at + 2, end):
        if loops[k, 0] > loops[longest, 0]:
            longest = k
    if end > at + 2:
        for column in range(3):
            loops[at + 1, column], loops[longest, column] = loops[longest, column], loops[at + 1, column]
    return end, offset


@kernel
def lay_out(scope_at: Any, scope: Any, part_at: Any, part: Any, owner: Any, sizes: Any, loop_at: Any,
            loops: Any) -> Any:  # fmt: skip
    """Write the loops of many parts, each with the clique that owns it; return how many there are."""
    free = np.full(len(sizes), -1, np.int64)
    end: Any = _ZERO
    for pair in range(len(owner)):
        loop_at[pair] = end
        if owner[pair] >= 0:
            lo, hi = scope_at[owner[pair]], scope_at[owner[pair] + 1]
            end, _ = find_loops(scope, lo, hi, part, part_at[pair], part_at[pair + 1], sizes, free, False, loops, end)
    loop_at[len(owner)] = end
    return end


# Positions are unsigned, or every access would ask first whether it counts from the end. Pairs are common: most
# variables are yes or no, and a loop of two is not worth a loop.


@kernel
def _multiply(big: Any, b: int, b2: int, sub: Any, s: int, s1: int, s2: int, n1: int, n2: int) -> None:
    n, one = np.uint64(n1), np.uint64(1)
    if n1 == 2:
        other = np.uint64(s1)
        for j in range(n2):
            p, q = np.uint64(b + j * b2), np.uint64(s + j * s2)
            big[p] *= sub[q]
            big[p + one] *= sub[q + other]
    elif s1 == 1:
        for j in range(n2):
            p, q = np.uint64(b + j * b2), np.uint64(s + j * s2)
            for i in range(n):
                big[p + i] *= sub[q + i]
    else:
        for j in range(n2):
            p, value = np.uint64(b + j * b2), sub[np.uint64(s + j * s2)]
            for i in range(n):
                big[p + i] *= value


@kernel
def _sum_out(big: Any, b: int, b2: int, sub: Any, s: int, s1: int, s2: int, n1: int, n2: int) -> None:
    n, one = np.uint64(n1), np.uint64(1)
    if n1 == 2:
        other = np.uint64(s1)
        for j in range(n2):
            p, q = np.uint64(b + j * b2), np.uint64(s + j * s2)
            sub[q] += big[p]
            sub[q + other] += big[p + one]
    elif s1 == 1:
        for j in range(n2):
            p, q = np.uint64(b + j * b2), np.uint64(s + j * s2)
            for i in range(n):
                sub[q + i] += big[p + i]
    else:
        for j in range(n2):
            p, value = np.uint64(b + j * b2), 0.0
            for i in range(n):
                value += big[p + i]
            sub[np.uint64(s + j * s2)] += value


@kernel
def _assign(big: Any, b: int, b2: int, sub: Any, s: int, s1: int, s2: int, n1: int, n2: int) -> None:
    n = np.uint64(n1)
    if s1 == 1:
        for j in range(n2):
            p, q = np.uint64(b + j * b2), np.uint64(s + j * s2)
            for i in range(n):
                big[p + i] = sub[q + i]
    else:
        for j in range(n2):
            p, value = np.uint64(b + j * b2), sub[np.uint64(s + j * s2)]
            for i in range(n):
                big[p + i] = value


@kernel
def _other(op: int, big: Any, b: int, b1: int, b2: int, sub: Any, s: int, s1: int, s2: int, third: Any, n1: int,
           n2: int) -> None:  # fmt: skip
    """Do what is asked for more seldom; here the innermost stride of the table may be any."""
    for j in range(n2):
        for i in range(n1):
            p, q = np.uint64(b + j * b2 + i * b1), np.uint64(s + j * s2 + i * s1)
            if op == _ADD:
                big[p] += sub[q]
            elif op == _MAX_OUT:
                sub[q] = max(sub[q], big[p])
            elif op == _EXP_OUT:
                if big[p] > -np.inf:
                    third[q] += np.exp(big[p] - sub[q])
            elif op == _GATHER:
                sub[q] = big[p]
            else:
                sub[q] = sub[q] / big[p] if big[p] > 0 else 0.0


@kernel
def _block(op: int, big: Any, b: int, b1: int, b2: int, sub: Any, s: int, s1: int, s2: int, third: Any, n1: int,
           n2: int) -> None:  # fmt: skip
    """Do the two innermost loops."""
    if op == _MULTIPLY:
        _multiply(big, b, b2, sub, s, s1, s2, n1, n2)
    elif op == _SUM_OUT:
        _sum_out(big, b, b2, sub, s, s1, s2, n1, n2)
    elif op == _ASSIGN:
        _assign(big, b, b2, sub, s, s1, s2, n1, n2)
    else:
        _other(op, big, b, b1, b2, sub, s, s1, s2, third, n1, n2)


@kernel
def _sweep(op: int, big: Any, b: int, sub: Any, s: int, third: Any, loops: Any, lo: int, hi: int,
           digits: Any) -> None:  # fmt: skip
    """Do one operation over a nest of loops; ``digits`` is room to count the outer ones."""
    n1, b1, s1, n2, b2, s2 = 1, 1, 1, 1, 0, 0
    if hi > lo:
        n1, b1, s1 = loops[lo, 0], loops[lo, 1], loops[lo, 2]
    if hi > lo + 1:
        n2, b2, s2 = loops[lo + 1, 0], loops[lo + 1, 1], loops[lo + 1, 2]
    if hi <= lo + 2:
        _block(op, big, b, b1, b2, sub, s, s1, s2, third, n1, n2)
        return
    for k in range(hi - lo):
        digits[k] = 0
    while True:
        _block(op, big, b, b1, b2, sub, s, s1, s2, third, n1, n2)
        k = lo + 2
        while k < hi:
            digits[k - lo] += 1
            b += loops[k, 1]
            s += loops[k, 2]
            if digits[k - lo] < loops[k, 0]:
                break
            digits[k - lo] = 0
            b -= loops[k, 0] * loops[k, 1]
            s -= loops[k, 0] * loops[k, 2]
            k += 1
        if k == hi:
            return


@kernel
def _set(values: Any, lo: int, hi: int, value: float) -> None:
    for i in range(np.uint64(lo), np.uint64(hi)):
        values[i] = value


@kernel
def _total(values: Any, lo: int, hi: int) -> float:
    """Return the sum, in four parts that run side by side."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    one, end = np.uint64(1), np.uint64(hi)
    i = np.uint64(lo)
    while i + np.uint64(4) <= end:
        a += values[i]
        b += values[i + one]
        c += values[i + np.uint64(2)]
        d += values[i + np.uint64(3)]
        i += np.uint64(4)
    while i < end:
        a += values[i]
        i += one
    return (a + b) + (c + d)


@kernel
def _divided(values: Any, lo: int, hi: int, by: float) -> None:
    for i in range(np.uint64(lo), np.uint64(hi)):
        values[i] /= by


# Messages -----------------------------------------------------------------------------------------------------


@kernel
def _out(way: int, table: Any, at: int, message: Any, to: int, end: int, third: Any, loops: Any, lo: int,
         hi: int, digits: Any) -> None:  # fmt: skip
    """Write what a table says of a part of its variables: the sum, or the greatest, over the others."""
    if way == SUM:
        _set(message, to, end, 0.0)
        _sweep(_SUM_OUT, table, at, message, to, third, loops, lo, hi, digits)
        return
    _set(message, to, end, -np.inf)
    _sweep(_MAX_OUT, table, at, message, to, third, loops, lo, hi, digits)
    if way == LOG:
        _set(third, _ZERO, end - to, 0.0)
        _sweep(_EXP_OUT, table, at, message[to:end], _ZERO, third, loops, lo, hi, digits)
        for i in range(end - to):
            if third[i] > 0:
                message[to + i] += np.log(third[i])


@kernel
def _rescaled(table: Any, lo: int, hi: int) -> tuple[float, float]:
    """Divide a table by its largest value; return that value and the smallest positive one after it."""
    top = 0.0
    for i in range(np.uint64(lo), np.uint64(hi)):
        top = max(top, table[i])
    if top > 0:
        _divided(table, lo, hi, top)
    return top, _lowest(table, lo, hi)


@kernel
def _lowest(values: Any, lo: int, hi: int) -> float:
    """Return the smallest positive value, at most one."""
    lowest = 1.0
    for i in range(np.uint64(lo), np.uint64(hi)):
        value = values[i]
        if 0 < value < lowest:
            lowest = value
    return lowest


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
            total = _total(message, to, end)
            if not total > 0:
                return -np.inf, IMPOSSIBLE
            _divided(message, to, end, total)
            scale[c] = total
            low[c] = floor / total if floor > SMALL else _lowest(message, to, end)
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
    op = _MULTIPLY if way == SUM else _ADD
    if n_factors + n_children == 0:
        _set(table, lo, hi, 1.0 if way == SUM else 0.0)
    for k in range(n_factors + n_children):
        is_factor = k < n_factors
        f = tree.factor[tree.factor_at[c] + k] if is_factor else tree.child[tree.child_at[c] + k - n_factors]
        pair = 2 * n + f if is_factor else n + f
        next_floor = floors[f] if is_factor else low[f]
        if way == SUM and floor * next_floor < TINY:
            if k > 0:
                top, floor = _rescaled(table, lo, hi)
                if top == 0:
                    return -np.inf, floor, IMPOSSIBLE
                log_scale += np.log(top)
            if floor * next_floor < TINY:
                return 0.0, floor, LOST
        first, last = tree.loop_at[pair], tree.loop_at[pair + 1]
        step = op if k > 0 else _ASSIGN
        if is_factor:
            _sweep(step, table, lo, factors, starts[f], third, tree.loops, first, last, digits)
        else:
            _sweep(step, table, lo, message, tree.message_at[f], third, tree.loops, first, last, digits)
        floor *= next_floor
    return log_scale, floor, FINE


@kernel
def _finish(way: int, table: Any, lo: int, hi: int, log_total: float, bottom: Any) -> tuple[float, Any]:
    """Sum up the root's table, and scale it to sum to one if SUM."""
    if way == SUM:
        total = _total(table, lo, hi)
        if not total > 0:
            return -np.inf, IMPOSSIBLE
        _divided(table, lo, hi, total)
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
    _out(way, table, from_at, fresh, _ZERO, size, third, loops, from_lo, from_hi, digits)
    for i in range(size):
        new, old = fresh[i], message[to + i]
        message[to + i] = new
        if way == SUM:
            fresh[i] = new / (old * scale) if old > 0 else 0.0
        else:
            fresh[i] = new - old if old > -np.inf else -np.inf
    if way == SUM:
        bottom[there] = _bottom(table, to_at, to_end, bottom[here], bottom[there], scale, fresh, size)
    _sweep(_MULTIPLY if way == SUM else _ADD, table, to_at, fresh, _ZERO, third, loops, to_lo, to_hi, digits)


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


# Questions to a calibrated tree -------------------------------------------------------------------------------


@kernel
def _holds(scope: Any, lo: int, hi: int, variable: int) -> bool:
    for i in range(lo, hi):  # noqa: SIM110
        if scope[i] == variable:
            return True
    return False


@kernel
def _mark(tree: Any, codes: Any, soft: Any, home: Any, target: int, toward: Any, needed: Any, entry: Any) -> None:
    """Mark the cliques between the target and the nearest clique that holds each piece of evidence."""
    n = len(tree.parent)
    for c in range(n):
        toward[c] = tree.parent[c]
    here, below = target, -1
    while here >= 0:
        toward[here] = below
        below = here
        here = tree.parent[here]
    needed[target] = True
    for variable in range(len(codes)):
        if codes[variable] < 0 and soft[variable] < 0:
            continue
        c = home[variable]
        while c != target and _holds(tree.scope, tree.scope_at[toward[c]], tree.scope_at[toward[c] + 1], variable):
            c = toward[c]
        entry[variable] = c
        while not needed[c]:
            needed[c] = True
            c = toward[c]


@kernel
def _part_of(tree: Any, edge: int, codes: Any) -> int:
    """Return the number of cells of a separator whose observed variables are sliced away."""
    size = 1
    for i in range(tree.part_at[edge], tree.part_at[edge + 1]):
        if codes[tree.part[i]] < 0:
            size *= tree.sizes[tree.part[i]]
    return size


@kernel
def _load(tree: Any, c: int, table: Any, codes: Any, soft: Any, weights: Any, entry: Any, floors: Any, work: Any,
          loops: Any, digits: Any) -> tuple[int, float]:  # fmt: skip
    """Copy the slice of a clique's table that agrees with the evidence; return its size and floor."""
    lo, hi = tree.scope_at[c], tree.scope_at[c + 1]
    end, offset = find_loops(tree.scope, lo, hi, tree.scope, lo, hi, tree.sizes, codes, False, loops, _ZERO)
    _sweep(_GATHER, table, tree.table_at[c] + offset, work, _ZERO, work, loops, _ZERO, end, digits)
    size, floor = 1, floors[c]
    for k in range(end):
        size *= loops[k, 0]
    for i in range(lo, hi):
        variable = tree.scope[i]
        if entry[variable] == c and soft[variable] >= 0:
            end, _ = find_loops(tree.scope, lo, hi, tree.scope, i, i + 1, tree.sizes, codes, True, loops, _ZERO)
            _sweep(_MULTIPLY, work, _ZERO, weights, soft[variable], work, loops, _ZERO, end, digits)
            for k in range(soft[variable], soft[variable] + tree.sizes[variable]):
                if 0 < weights[k] < 1:
                    floor *= weights[k]
    return size, floor


@kernel
def _receive(tree: Any, c: int, codes: Any, needed: Any, toward: Any, low: Any, sent: Any, work: Any, size: int,
             floor: float, loops: Any, digits: Any) -> tuple[float, float]:  # fmt: skip
    """Multiply the messages that come to a clique; return the logarithm of its scale and its floor, 0 if lost."""
    log_scale = 0.0
    lo, hi, n = tree.scope_at[c], tree.scope_at[c + 1], len(tree.parent)
    for k in range(tree.child_at[c], tree.child_at[c + 1] + 1):
        edge, sender = c, tree.parent[c]  # the message from above comes last
        if k < tree.child_at[c + 1]:
            edge = sender = tree.child[k]
        elif c == n - 1:
            continue
        if not needed[sender] or toward[sender] != c:
            continue
        if floor * low[edge] < TINY:
            top, floor = _rescaled(work, _ZERO, size)
            if top == 0:
                return -np.inf, floor
            log_scale += np.log(top)
        floor *= low[edge]
        if floor < TINY:
            return log_scale, 0.0
        part_lo, part_hi = tree.part_at[edge], tree.part_at[edge + 1]
        end, _ = find_loops(tree.scope, lo, hi, tree.part, part_lo, part_hi, tree.sizes, codes, True, loops, _ZERO)
        _sweep(_MULTIPLY, work, _ZERO, sent, tree.message_at[edge], work, loops, _ZERO, end, digits)
    return log_scale, floor


@kernel
def _send(tree: Any, c: int, edge: int, codes: Any, message: Any, sent: Any, work: Any, loops: Any,
          digits: Any) -> float:  # fmt: skip
    """Sum a slice to a separator and divide by that separator's marginal; return what the message summed to."""
    part_lo, part_hi, to = tree.part_at[edge], tree.part_at[edge + 1], tree.message_at[edge]
    size = _part_of(tree, edge, codes)
    end, _ = find_loops(
        tree.scope, tree.scope_at[c], tree.scope_at[c + 1], tree.part, part_lo, part_hi, tree.sizes, codes, True,
        loops, _ZERO,
    )  # fmt: skip
    _set(sent, to, to + size, 0.0)
    _sweep(_SUM_OUT, work, _ZERO, sent, to, work, loops, _ZERO, end, digits)
    end, offset = find_loops(
        tree.part, part_lo, part_hi, tree.part, part_lo, part_hi, tree.sizes, codes, False, loops, _ZERO
    )
    _sweep(_DIVIDE, message, to + offset, sent, to, work, loops, _ZERO, end, digits)
    total = _total(sent, to, to + size)
    if total > 0:
        _divided(sent, to, to + size, total)
    return total  # type: ignore[no-any-return]


@kernel
def ask(tree: Any, table: Any, message: Any, home: Any, floors: Any, codes: Any, soft: Any, weights: Any, target: int,
        wanted: Any, work: Any, sent: Any, answer: Any) -> tuple[float, Any]:  # fmt: skip
    """Write p(wanted | evidence) from the marginals of a calibrated tree; return log p(evidence) and how it went.

    Only the cliques between the target clique and the evidence are touched, each as the slice that agrees with it.

    Parameters
    ----------
    tree : Tree
    table, message : arrays
        The marginals of cliques and separators.
    home : array
        The clique nearest to the root that holds each variable.
    floors : array
        The smallest positive value of each clique's table.
    codes : array
        The state that was seen of each variable, or −1.
    soft, weights : arrays
        Where in ``weights`` the likelihoods of each variable's states begin, or −1; none exceeds one.
    target : int
        A clique that holds all variables of ``wanted``, which are in the common order and not observed.
    work, sent, answer : arrays
        Room for one clique, for all messages, and for the answer.
    """
    n = len(tree.parent)
    toward, needed = np.empty(n, np.int64), np.zeros(n, np.bool_)
    entry, low = np.full(len(codes), -1, np.int64), np.ones(n)
    _mark(tree, codes, soft, home, target, toward, needed, entry)
    loops, digits = np.empty((MAX_LOOPS, 3), np.int64), np.empty(MAX_LOOPS, np.int64)
    log_total = 0.0
    for turn in range(2 * n):  # the subtrees off the path from root to target upwards, then that path downwards
        c = turn if turn < n else 2 * n - 1 - turn
        on_path = c == target or toward[c] != tree.parent[c]
        if not needed[c] or on_path != (turn >= n):
            continue
        size, floor = _load(tree, c, table, codes, soft, weights, entry, floors, work, loops, digits)
        if floor < TINY:
            return 0.0, LOST
        added, floor = _receive(tree, c, codes, needed, toward, low, sent, work, size, floor, loops, digits)
        if added == -np.inf:
            return added, IMPOSSIBLE
        if floor == 0:
            return 0.0, LOST
        log_total += added
        if c == target:
            break
        edge = c if toward[c] == tree.parent[c] else toward[c]
        total = _send(tree, c, edge, codes, message, sent, work, loops, digits)
        if not total > 0:
            return -np.inf, IMPOSSIBLE
        to = tree.message_at[edge]
        low[edge] = floor / total if floor > SMALL else _lowest(sent, to, to + _part_of(tree, edge, codes))
        log_total += np.log(total)
    lo, hi = tree.scope_at[target], tree.scope_at[target + 1]
    end, _ = find_loops(tree.scope, lo, hi, wanted, _ZERO, len(wanted), tree.sizes, codes, True, loops, _ZERO)
    _set(answer, _ZERO, len(answer), 0.0)
    _sweep(_SUM_OUT, work, _ZERO, answer, _ZERO, work, loops, _ZERO, end, digits)
    total = _total(answer, _ZERO, len(answer))
    if not total > 0:
        return -np.inf, IMPOSSIBLE
    _divided(answer, _ZERO, len(answer), total)
    return log_total + np.log(total), FINE


@kernel
def ask_rows(tree: Any, table: Any, message: Any, home: Any, floors: Any, codes: Any, soft: Any, weights: Any,
             target: int, wanted: Any, answers: Any, log_p: Any, status: Any) -> None:  # fmt: skip
    """Ask the same of many rows of evidence; ``codes`` has one row each, −1 where nothing was seen."""
    largest = 1
    for c in range(len(tree.parent)):
        largest = max(largest, tree.table_at[c + 1] - tree.table_at[c])
    work, sent = np.empty(largest), np.empty(len(message))
    for row in range(len(codes)):
        log_p[row], status[row] = ask(
            tree, table, message, home, floors, codes[row], soft, weights, target, wanted, work, sent, answers[row]
        )


# Single tables ------------------------------------------------------------------------------------------------


@kernel
def shrink(tree: Any, way: int, clique: int, wanted: Any, table: Any, part: Any) -> None:
    """Write what a clique's table says of some of its variables, in the common order: the sum, or the greatest."""
    free = np.full(len(tree.sizes), -1, np.int64)
    loops, digits = np.empty((MAX_LOOPS, 3), np.int64), np.empty(MAX_LOOPS, np.int64)
    lo, hi = tree.scope_at[clique], tree.scope_at[clique + 1]
    end, _ = find_loops(tree.scope, lo, hi, wanted, _ZERO, len(wanted), tree.sizes, free, True, loops, _ZERO)
    _out(way, table, tree.table_at[clique], part, _ZERO, len(part), part, loops, _ZERO, end, digits)


@kernel
def sum_part(tree: Any, clique: int, pair: int, table: Any, part: Any) -> None:
    """Write the marginal of a clique's table over one of its parts, named by the number of its loops."""
    _set(part, _ZERO, len(part), 0.0)
    first, last, digits = tree.loop_at[pair], tree.loop_at[pair + 1], np.empty(MAX_LOOPS, np.int64)
    _sweep(_SUM_OUT, table, tree.table_at[clique], part, _ZERO, part, tree.loops, first, last, digits)


@kernel
def scale_part(tree: Any, clique: int, pair: int, table: Any, part: Any) -> None:
    """Multiply a clique's table by a table over one of its parts."""
    first, last, digits = tree.loop_at[pair], tree.loop_at[pair + 1], np.empty(MAX_LOOPS, np.int64)
    _sweep(_MULTIPLY, table, tree.table_at[clique], part, _ZERO, part, tree.loops, first, last, digits)


# What learning asks for ---------------------------------------------------------------------------------------


@kernel
def _weighted_out(big: Any, b: int, b1: int, b2: int, sub: Any, s: int, s1: int, s2: int, weight: Any, n1: int,
                  n2: int) -> None:  # fmt: skip
    """Add table × weight to a part; the weights are laid out like the table."""
    for j in range(n2):
        p, q = np.uint64(b + j * b2), np.uint64(s + j * s2)
        if s1 == 0:
            value = 0.0
            for i in range(np.uint64(n1)):
                value += big[p + i] * weight[p + i]
            sub[q] += value
        else:
            for i in range(n1):
                at = np.uint64(b + j * b2 + i * b1)
                sub[np.uint64(s + j * s2 + i * s1)] += big[at] * weight[at]


@kernel
def _add(big: Any, b: int, b2: int, sub: Any, s: int, s1: int, s2: int, n1: int, n2: int) -> None:
    n = np.uint64(n1)
    for j in range(n2):
        p, q = np.uint64(b + j * b2), np.uint64(s + j * s2)
        if s1 == 1:
            for i in range(n):
                big[p + i] += sub[q + i]
        elif s1 == 0:
            value = sub[q]
            for i in range(n):
                big[p + i] += value
        else:
            for i in range(n1):
                big[np.uint64(b + j * b2 + i)] += sub[np.uint64(s + j * s2 + i * s1)]


@kernel
def _sweep_added(big: Any, b: int, sub: Any, s: int, loops: Any, lo: int, hi: int, digits: Any) -> None:
    """Add a part to a table."""
    n1, s1, n2, b2, s2 = 1, 1, 1, 0, 0
    if hi > lo:
        n1, s1 = loops[lo, 0], loops[lo, 2]
    if hi > lo + 1:
        n2, b2, s2 = loops[lo + 1, 0], loops[lo + 1, 1], loops[lo + 1, 2]
    for k in range(hi - lo):
        digits[k] = 0
    while True:
        _add(big, b, b2, sub, s, s1, s2, n1, n2)
        k = lo + 2
        while k < hi:
            digits[k - lo] += 1
            b += loops[k, 1]
            s += loops[k, 2]
            if digits[k - lo] < loops[k, 0]:
                break
            digits[k - lo] = 0
            b -= loops[k, 0] * loops[k, 1]
            s -= loops[k, 0] * loops[k, 2]
            k += 1
        if k >= hi:
            return


@kernel
def _sweep_weighted(big: Any, b: int, sub: Any, s: int, weight: Any, loops: Any, lo: int, hi: int,
                    digits: Any) -> None:  # fmt: skip
    """Do `_weighted_out` over a nest of loops."""
    n1, b1, s1, n2, b2, s2 = 1, 1, 1, 1, 0, 0
    if hi > lo:
        n1, b1, s1 = loops[lo, 0], loops[lo, 1], loops[lo, 2]
    if hi > lo + 1:
        n2, b2, s2 = loops[lo + 1, 0], loops[lo + 1, 1], loops[lo + 1, 2]
    for k in range(hi - lo):
        digits[k] = 0
    while True:
        _weighted_out(big, b, b1, b2, sub, s, s1, s2, weight, n1, n2)
        k = lo + 2
        while k < hi:
            digits[k - lo] += 1
            b += loops[k, 1]
            s += loops[k, 2]
            if digits[k - lo] < loops[k, 0]:
                break
            digits[k - lo] = 0
            b -= loops[k, 0] * loops[k, 1]
            s -= loops[k, 0] * loops[k, 2]
            k += 1
        if k >= hi:
            return


@kernel
def factor_sums(tree: Any, table: Any, starts: Any, out: Any) -> None:
    """Write the marginals of all factors' scopes from calibrated tables, each at ``starts``."""
    n = len(tree.parent)
    digits = np.empty(MAX_LOOPS, np.int64)
    _set(out, _ZERO, len(out), 0.0)
    for c in range(n):
        for k in range(tree.factor_at[c], tree.factor_at[c + 1]):
            f = tree.factor[k]
            first, last = tree.loop_at[2 * n + f], tree.loop_at[2 * n + f + 1]
            _sweep(_SUM_OUT, table, tree.table_at[c], out, starts[f], out, tree.loops, first, last, digits)


@kernel
def _conditioned(tree: Any, clique: int, edge: int, pair: int, work: Any, table: Any, message: Any, out: Any,
                 digits: Any) -> None:  # fmt: skip
    """Write E[work | separator] of one clique, at the place of the separator above ``edge``."""
    to, end = tree.message_at[edge], tree.message_at[edge + 1]
    _set(out, to, end, 0.0)
    first, last = tree.loop_at[pair], tree.loop_at[pair + 1]
    _sweep_weighted(work, tree.table_at[clique], out, to, table, tree.loops, first, last, digits)
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
    _set(work, _ZERO, len(work), 0.0)
    for c in range(n):
        for k in range(tree.factor_at[c], tree.factor_at[c + 1]):
            pair = 2 * n + tree.factor[k]
            _sweep_added(work, at[c], direction, starts[tree.factor[k]], tree.loops, loop[pair], loop[pair + 1], digits)
        for k in range(tree.child_at[c], tree.child_at[c + 1]):
            pair = n + tree.child[k]
            to = tree.message_at[tree.child[k]]
            _sweep_added(work, at[c], up, to, tree.loops, loop[pair], loop[pair + 1], digits)
        if c < n - 1:
            _conditioned(tree, c, c, c, work, table, message, up, digits)
    mean = 0.0
    for i in range(at[n - 1], at[n]):
        mean += table[i] * work[i]
    for c in range(n - 2, -1, -1):
        _conditioned(tree, tree.parent[c], c, n + c, work, table, message, down, digits)
        for i in range(tree.message_at[c], tree.message_at[c + 1]):
            down[i] -= up[i]
        _sweep_added(work, at[c], down, tree.message_at[c], tree.loops, loop[c], loop[c + 1], digits)
    for i in range(len(work)):
        work[i] -= mean
    _set(out, _ZERO, len(out), 0.0)
    for c in range(n):
        for k in range(tree.factor_at[c], tree.factor_at[c + 1]):
            f = tree.factor[k]
            first, last = loop[2 * n + f], loop[2 * n + f + 1]
            _sweep_weighted(work, at[c], out, starts[f], table, tree.loops, first, last, digits)


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
        _set(ratio, _ZERO, size, 0.0)
        _sweep(_SUM_OUT, table, tree.table_at[clique], ratio, _ZERO, third, tree.loops, first, last, digits)
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
            factors[lo + i] *= ratio[i]
        gains[visit], totals[visit], gaps[visit] = gain, total, gap
        _sweep(_MULTIPLY, table, tree.table_at[clique], ratio, _ZERO, third, tree.loops, first, last, digits)
