"""Rows of evidence, each sent through one junction tree whose tables are cut down to what the row leaves open.

Of a clique's table only the cells that agree with the row are ever made: one cell where all was seen. Messages go to
the root and back in linear space, scaled; a row whose values lie too far apart for that is given back as LOST.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from suffice.kernels.jit import kernel

FINE, IMPOSSIBLE, LOST = np.int64(0), np.int64(1), np.int64(2)
TINY = 1e-280  # below this, products may lose values
SMALL = 1e-60  # tables whose largest value is below this are scaled


class SlicedTree(NamedTuple):
    """A junction tree and its factors as arrays; cliques come before their parents, the root is last.

    ``x_at`` arrays have one place more than there are x: the range of x number i is ``x_at[i]`` to ``x_at[i + 1]``.
    """

    sizes: Any  # number of states of every variable
    scope_at: Any
    scope: Any  # the variables of every clique, in one common order
    part_at: Any
    part: Any  # the variables of the separator above every clique; none for the root
    parent: Any  # −1 for the root
    child_at: Any
    child: Any  # the children of every clique
    factor_at: Any
    factor: Any  # the factors that every clique holds
    member_at: Any
    member: Any  # the variables of every factor
    stride: Any  # their strides in the factor's table
    start: Any  # where each factor's table begins


@kernel
def sliced_cells(tree: Any, codes: Any, cells: Any, messages: Any) -> None:
    """Write the cells of all tables, and of all separators, that each row of codes leaves; −1 is what was not seen."""
    for row in range(len(codes)):
        for scope_at, scope, out in ((tree.scope_at, tree.scope, cells), (tree.part_at, tree.part, messages)):
            total = 0.0
            for c in range(len(tree.parent)):
                size = 1.0
                for i in range(scope_at[c], scope_at[c + 1]):
                    if codes[row, scope[i]] < 0:
                        size *= tree.sizes[scope[i]]
                total += size
            out[row] = total


@kernel
def _lay(scope: Any, lo: int, hi: int, codes: Any, sizes: Any, strides: Any) -> int:
    """Write the strides of the variables that were not seen in their table; return its number of cells."""
    cells = 1
    for i in range(hi - 1, lo - 1, -1):
        if codes[scope[i]] < 0:
            strides[scope[i]] = cells
            cells *= sizes[scope[i]]
    return cells


@kernel
def _clear(scope: Any, lo: int, hi: int, strides: Any) -> None:
    for i in range(lo, hi):
        strides[scope[i]] = 0


@kernel
def _multiply(table: Any, at: int, cells: int, sub: Any, s: int, free: Any, n_free: int, sizes: Any, strides: Any,
              digits: Any) -> tuple[float, bool]:  # fmt: skip
    """Multiply a table by one over some of its variables; return its largest value, and whether values were lost."""
    top, lost = 0.0, False
    for k in range(n_free):
        digits[k] = 0
    for i in range(at, at + cells):
        before, by = table[i], sub[s]
        value = before * by
        table[i] = value
        top = max(top, value)
        if value < TINY and before > 0 and by > 0 and cells > 1:
            lost = True
        k = n_free - 1
        while k >= 0:
            step = strides[free[k]]
            digits[k] += 1
            s += step
            if digits[k] < sizes[free[k]]:
                break
            s -= step * digits[k]
            digits[k] = 0
            k -= 1
    return top, lost or (top == 0 and cells == 1 and before > 0 and by > 0)


@kernel
def _add(table: Any, at: int, cells: int, weight: float, out: Any, s: int, free: Any, n_free: int, sizes: Any,
         strides: Any, digits: Any) -> None:  # fmt: skip
    """Add a table, weighted, to one over some of its variables."""
    for k in range(n_free):
        digits[k] = 0
    for i in range(at, at + cells):
        out[s] += weight * table[i]
        k = n_free - 1
        while k >= 0:
            step = strides[free[k]]
            digits[k] += 1
            s += step
            if digits[k] < sizes[free[k]]:
                break
            s -= step * digits[k]
            digits[k] = 0
            k -= 1


@kernel
def _factor(tree: Any, f: int, codes: Any, strides: Any) -> int:
    """Write the strides of a factor's variables that were not seen; return where its slice begins."""
    begin = tree.start[f]
    for i in range(tree.member_at[f], tree.member_at[f + 1]):
        variable = tree.member[i]
        if codes[variable] < 0:
            strides[variable] = tree.stride[i]
        else:
            begin += codes[variable] * tree.stride[i]
    return begin  # type: ignore[no-any-return]


@kernel
def _free(tree: Any, c: int, codes: Any, free: Any) -> tuple[int, int]:
    """Write the variables of a clique that were not seen; return their number, and that of the cells."""
    n_free, cells = 0, 1
    for i in range(tree.scope_at[c], tree.scope_at[c + 1]):
        if codes[tree.scope[i]] < 0:
            free[n_free] = tree.scope[i]
            n_free += 1
            cells *= tree.sizes[tree.scope[i]]
    return n_free, cells


@kernel
def _scaled(table: Any, at: int, cells: int, top: float) -> float:
    """Divide a table by its largest value where that is small; return the logarithm of what it was divided by."""
    if top >= SMALL:
        return 0.0
    for i in range(at, at + cells):
        table[i] /= top
    return np.log(top)  # type: ignore[no-any-return]


@kernel
def _collect(tree: Any, codes: Any, tables: Any, table: Any, at: Any, message: Any, message_at: Any, scale: Any,
             strides: Any, free: Any, digits: Any) -> tuple[float, Any]:  # fmt: skip
    """Send messages to the root; return log p of what was seen, and how it went."""
    n, log_p = len(tree.parent), 0.0
    end = message_end = 0
    for c in range(n):
        n_free, cells = _free(tree, c, codes, free)
        at[c], message_at[c] = end, message_end
        end += cells
        for i in range(at[c], end):
            table[i] = 1.0
        for k in range(tree.factor_at[c], tree.factor_at[c + 1]):
            f = tree.factor[k]
            begin = _factor(tree, f, codes, strides)
            top, lost = _multiply(table, at[c], cells, tables, begin, free, n_free, tree.sizes, strides, digits)
            _clear(tree.member, tree.member_at[f], tree.member_at[f + 1], strides)
            if lost or not top > 0:
                return -np.inf, LOST if lost else IMPOSSIBLE
            log_p += _scaled(table, at[c], cells, top)
        for k in range(tree.child_at[c], tree.child_at[c + 1]):
            other = tree.child[k]
            lo, hi = tree.part_at[other], tree.part_at[other + 1]
            _lay(tree.part, lo, hi, codes, tree.sizes, strides)
            begin = message_at[other]
            top, lost = _multiply(table, at[c], cells, message, begin, free, n_free, tree.sizes, strides, digits)
            _clear(tree.part, lo, hi, strides)
            if lost or not top > 0:
                return -np.inf, LOST if lost else IMPOSSIBLE
            log_p += _scaled(table, at[c], cells, top)
        lo, hi = tree.part_at[c], tree.part_at[c + 1]
        size = _lay(tree.part, lo, hi, codes, tree.sizes, strides)
        message_end += size
        for i in range(message_at[c], message_end):
            message[i] = 0.0
        _add(table, at[c], cells, 1.0, message, message_at[c], free, n_free, tree.sizes, strides, digits)
        _clear(tree.part, lo, hi, strides)
        total = 0.0
        for i in range(message_at[c], message_end):
            total += message[i]
        for i in range(message_at[c], message_end):
            message[i] /= total
            if 0 < message[i] < TINY:
                return -np.inf, LOST
        scale[c] = total
        log_p += np.log(total)
    return log_p, FINE


@kernel
def _distribute(tree: Any, codes: Any, weight: float, table: Any, at: Any, message: Any, message_at: Any, scale: Any,
                fresh: Any, strides: Any, free: Any, digits: Any, expected: Any) -> None:  # fmt: skip
    """Send messages from the root, and add the marginals of all factors to the expected counts."""
    n = len(tree.parent)
    for c in range(n - 1, -1, -1):
        lo, hi = tree.part_at[c], tree.part_at[c + 1]
        size = _lay(tree.part, lo, hi, codes, tree.sizes, strides)
        for i in range(size):
            fresh[i] = 0.0
        if c == n - 1:
            fresh[0] = 1.0
        else:
            above = tree.parent[c]
            n_free, cells = _free(tree, above, codes, free)
            _add(table, at[above], cells, 1.0, fresh, 0, free, n_free, tree.sizes, strides, digits)
        for i in range(size):
            old = message[message_at[c] + i]
            fresh[i] = fresh[i] / (old * scale[c]) if old > 0 else 0.0
        n_free, cells = _free(tree, c, codes, free)
        _multiply(table, at[c], cells, fresh, 0, free, n_free, tree.sizes, strides, digits)
        _clear(tree.part, lo, hi, strides)
        for k in range(tree.factor_at[c], tree.factor_at[c + 1]):
            f = tree.factor[k]
            begin = _factor(tree, f, codes, strides)
            _add(table, at[c], cells, weight, expected, begin, free, n_free, tree.sizes, strides, digits)
            _clear(tree.member, tree.member_at[f], tree.member_at[f + 1], strides)


@kernel
def expected_counts(tree: Any, rows: Any, weights: Any, tables: Any, n_cells: int, n_messages: int, log_p: Any,
                    status: Any, expected: Any) -> None:  # fmt: skip
    """Write log p of every row, and add to the counts that the rows are expected to have in all factors' tables.

    Parameters
    ----------
    tree : SlicedTree
    rows : array, shape (n_rows, n_variables)
        Codes; −1 is what was not seen.
    weights : array, shape (n_rows,)
    tables, expected : arrays
        The factors' tables one after another, and room for the counts in the same layout.
    n_cells, n_messages : int
        The most cells of tables and of separators that a row leaves; see `sliced_cells`.
    log_p, status : arrays, shape (n_rows,)
        Rows that are IMPOSSIBLE or LOST add nothing to the counts.
    """
    n = len(tree.parent)
    table, message, fresh = np.empty(n_cells), np.empty(n_messages), np.empty(n_messages)
    at, message_at, scale = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    strides = np.zeros(len(tree.sizes), np.int64)
    free, digits = np.empty(len(tree.sizes), np.int64), np.empty(len(tree.sizes), np.int64)
    for row in range(len(rows)):
        codes = rows[row]
        log_p[row], status[row] = _collect(
            tree, codes, tables, table, at, message, message_at, scale, strides, free, digits
        )
        if status[row] == FINE:
            _distribute(
                tree, codes, weights[row], table, at, message, message_at, scale, fresh, strides, free, digits,
                expected,
            )  # fmt: skip
