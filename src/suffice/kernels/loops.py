"""Nests of loops over a table and a part of its variables, over flat buffers.

A table is a range of a buffer, its last variable varying fastest; all scopes list their variables in one common order.
Whatever happens between a table and one over a part of its variables is then the same nest of loops with two strides,
in which neighbouring variables that are both in the part, or both outside, are merged to one long loop.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from suffice.kernels.jit import kernel

# Constants have a type of their own here: for each plain number a function would be compiled anew.
ZERO = np.int64(0)
ASSIGN, MULTIPLY, ADD, SUM_OUT = np.int64(0), np.int64(1), np.int64(2), np.int64(3)
MAX_OUT, EXP_OUT, GATHER, DIVIDE = np.int64(4), np.int64(5), np.int64(6), np.int64(7)
WEIGHTED_OUT = np.int64(8)
MAX_LOOPS = 256


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


# The loops ----------------------------------------------------------------------------------------------------


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
    end: Any = ZERO
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
def sum_range(values: Any, lo: int, hi: int) -> float:
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
            sub[np.uint64(s + j * s2)] += sum_range(big, b + j * b2, b + j * b2 + n1)


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
def _other(op: int, big: Any, b: int, b1: int, b2: int, sub: Any, s: int, s1: int, s2: int, third: Any, n1: int,
           n2: int) -> None:  # fmt: skip
    """Do what is asked for more seldom; here the innermost stride of the table may be any."""
    for j in range(n2):
        for i in range(n1):
            p, q = np.uint64(b + j * b2 + i * b1), np.uint64(s + j * s2 + i * s1)
            if op == MAX_OUT:
                sub[q] = max(sub[q], big[p])
            elif op == EXP_OUT:
                if big[p] > -np.inf:
                    third[q] += np.exp(big[p] - sub[q])
            elif op == GATHER:
                sub[q] = big[p]
            else:
                sub[q] = sub[q] / big[p] if big[p] > 0 else 0.0


@kernel
def _block(op: int, big: Any, b: int, b1: int, b2: int, sub: Any, s: int, s1: int, s2: int, third: Any, n1: int,
           n2: int) -> None:  # fmt: skip
    """Do the two innermost loops."""
    if op == MULTIPLY:
        _multiply(big, b, b2, sub, s, s1, s2, n1, n2)
    elif op == SUM_OUT:
        _sum_out(big, b, b2, sub, s, s1, s2, n1, n2)
    elif op == ASSIGN:
        _assign(big, b, b2, sub, s, s1, s2, n1, n2)
    elif op == ADD:
        _add(big, b, b2, sub, s, s1, s2, n1, n2)
    elif op == WEIGHTED_OUT:
        _weighted_out(big, b, b1, b2, sub, s, s1, s2, third, n1, n2)
    else:
        _other(op, big, b, b1, b2, sub, s, s1, s2, third, n1, n2)


@kernel
def sweep(op: int, big: Any, b: int, sub: Any, s: int, third: Any, loops: Any, lo: int, hi: int,
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
def set_range(values: Any, lo: int, hi: int, value: float) -> None:
    """Set a range of values."""
    for i in range(np.uint64(lo), np.uint64(hi)):
        values[i] = value


@kernel
def divide_range(values: Any, lo: int, hi: int, by: float) -> None:
    """Divide a range of values."""
    for i in range(np.uint64(lo), np.uint64(hi)):
        values[i] /= by


@kernel
def least_of(values: Any, lo: int, hi: int) -> float:
    """Return the smallest positive value, at most one."""
    lowest = 1.0
    for i in range(np.uint64(lo), np.uint64(hi)):
        value = values[i]
        if 0 < value < lowest:
            lowest = value
    return lowest


@kernel
def rescale(table: Any, lo: int, hi: int) -> tuple[float, float]:
    """Divide a table by its largest value; return that value and the smallest positive one after it."""
    top = 0.0
    for i in range(np.uint64(lo), np.uint64(hi)):
        top = max(top, table[i])
    if top > 0:
        divide_range(table, lo, hi, top)
    return top, least_of(table, lo, hi)
