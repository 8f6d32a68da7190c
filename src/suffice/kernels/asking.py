"""Questions to a calibrated junction tree: only the cliques between the target and the evidence are touched."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.kernels.jit import kernel
from suffice.kernels.loops import (
    DIVIDE,
    GATHER,
    MAX_LOOPS,
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
from suffice.kernels.propagation import FINE, IMPOSSIBLE, LOST, SMALL, TINY


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
    end, offset = find_loops(tree.scope, lo, hi, tree.scope, lo, hi, tree.sizes, codes, False, loops, ZERO)
    sweep(GATHER, table, tree.table_at[c] + offset, work, ZERO, work, loops, ZERO, end, digits)
    size, floor = 1, floors[c]
    for k in range(end):
        size *= loops[k, 0]
    for i in range(lo, hi):
        variable = tree.scope[i]
        if entry[variable] == c and soft[variable] >= 0:
            end, _ = find_loops(tree.scope, lo, hi, tree.scope, i, i + 1, tree.sizes, codes, True, loops, ZERO)
            sweep(MULTIPLY, work, ZERO, weights, soft[variable], work, loops, ZERO, end, digits)
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
            top, floor = rescale(work, ZERO, size)
            if top == 0:
                return -np.inf, floor
            log_scale += np.log(top)
        floor *= low[edge]
        if floor < TINY:
            return log_scale, 0.0
        part_lo, part_hi = tree.part_at[edge], tree.part_at[edge + 1]
        end, _ = find_loops(tree.scope, lo, hi, tree.part, part_lo, part_hi, tree.sizes, codes, True, loops, ZERO)
        sweep(MULTIPLY, work, ZERO, sent, tree.message_at[edge], work, loops, ZERO, end, digits)
    return log_scale, floor


@kernel
def _send(tree: Any, c: int, edge: int, codes: Any, message: Any, sent: Any, work: Any, loops: Any,
          digits: Any) -> float:  # fmt: skip
    """Sum a slice to a separator and divide by that separator's marginal; return what the message summed to."""
    part_lo, part_hi, to = tree.part_at[edge], tree.part_at[edge + 1], tree.message_at[edge]
    size = _part_of(tree, edge, codes)
    end, _ = find_loops(
        tree.scope, tree.scope_at[c], tree.scope_at[c + 1], tree.part, part_lo, part_hi, tree.sizes, codes, True,
        loops, ZERO,
    )  # fmt: skip
    set_range(sent, to, to + size, 0.0)
    sweep(SUM_OUT, work, ZERO, sent, to, work, loops, ZERO, end, digits)
    end, offset = find_loops(
        tree.part, part_lo, part_hi, tree.part, part_lo, part_hi, tree.sizes, codes, False, loops, ZERO
    )
    sweep(DIVIDE, message, to + offset, sent, to, work, loops, ZERO, end, digits)
    total = sum_range(sent, to, to + size)
    if total > 0:
        divide_range(sent, to, to + size, total)
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
        low[edge] = floor / total if floor > SMALL else least_of(sent, to, to + _part_of(tree, edge, codes))
        log_total += np.log(total)
    lo, hi = tree.scope_at[target], tree.scope_at[target + 1]
    end, _ = find_loops(tree.scope, lo, hi, wanted, ZERO, len(wanted), tree.sizes, codes, True, loops, ZERO)
    set_range(answer, ZERO, len(answer), 0.0)
    sweep(SUM_OUT, work, ZERO, answer, ZERO, work, loops, ZERO, end, digits)
    total = sum_range(answer, ZERO, len(answer))
    if not total > 0:
        return -np.inf, IMPOSSIBLE
    divide_range(answer, ZERO, len(answer), total)
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
