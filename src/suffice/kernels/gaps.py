"""Rows with gaps: their missing variables in connected components, equal ones found, and sums over what is missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.kernels.jit import kernel

LOW, HIGH = 1e-200, 1e200
"""Sums outside are formed again, in logarithms."""


@kernel
def components(codes: Any, near_at: Any, near: Any, row_of: Any, member_at: Any, member: Any) -> int:
    """Cut the missing variables of every row into connected components; return how many there are.

    Parameters
    ----------
    codes : array, shape (n_rows, n_variables)
        Negative where a value is missing.
    near_at, near : arrays
        The variables that share a scope with each variable, one list after another.
    row_of : array
        Room for the row of every component.
    member_at, member : arrays
        Room for where each component's variables begin, and for the variables, in ascending order.
    """
    n_rows, n_variables = codes.shape
    seen = np.zeros(n_variables, np.bool_)
    n, end = 0, 0
    member_at[0] = 0
    for row in range(n_rows):
        begin = end
        for first in range(n_variables):
            if codes[row, first] >= 0 or seen[first]:
                continue
            start = end
            seen[first] = True
            member[end] = first
            end += 1
            place = start
            while place < end:  # what was found is the queue of what is to be looked at
                v = member[place]
                place += 1
                for k in range(near_at[v], near_at[v + 1]):
                    w = near[k]
                    if codes[row, w] < 0 and not seen[w]:
                        seen[w] = True
                        member[end] = w
                        end += 1
            for i in range(start + 1, end):  # few: sorted by insertion
                held = member[i]
                j = i - 1
                while j >= start and member[j] > held:
                    member[j + 1] = member[j]
                    j -= 1
                member[j + 1] = held
            row_of[n] = row
            n += 1
            member_at[n] = end
        for i in range(begin, end):
            seen[member[i]] = False
    return n


@kernel
def distinct_lists(tag: Any, at: Any, values: Any, slot: Any, group: Any, first: Any) -> int:
    """Give equal lists one number, in the order in which they are first met; return how many differ.

    Parameters
    ----------
    tag : array, shape (n,)
        A number that equal lists share, too.
    at, values : arrays
        The lists, one after another.
    slot : array
        Room for a hash table, all −1; its length a power of two, at least twice n.
    group, first : arrays, shape (n,)
        Room for the number of each list, and for the first list of each number.
    """
    n, mask, found = len(tag), len(slot) - 1, 0
    for i in range(n):
        mixed = np.uint64(14695981039346656037) ^ np.uint64(tag[i] + 1)
        for k in range(at[i], at[i + 1]):
            mixed = (mixed ^ np.uint64(values[k] + 1)) * np.uint64(1099511628211)
            mixed ^= mixed >> np.uint64(29)
        mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(11400714819323198485)
        place = np.int64((mixed >> np.uint64(20)) & np.uint64(mask))
        while True:
            held = slot[place]
            if held < 0:
                slot[place] = found
                first[found] = i
                group[i] = found
                found += 1
                break
            other = first[held]
            same = tag[other] == tag[i] and at[other + 1] - at[other] == at[i + 1] - at[i]
            if same:
                for k in range(at[i + 1] - at[i]):
                    if values[at[other] + k] != values[at[i] + k]:
                        same = False
                        break
            if same:
                group[i] = held
                break
            place = (place + 1) & mask
    return found


@kernel
def around(member_at: Any, member: Any, scopes_of_at: Any, scopes_of: Any, scope_at: Any, scope: Any, touched_at: Any,
           touched: Any, edge_at: Any, edge: Any) -> None:  # fmt: skip
    """Write, for sets of variables, which scopes they touch, and which other variables these scopes hold.

    ``touched`` and ``edge`` are in ascending order within each set; arrays too short are only counted into ``…_at``.
    """
    n_scopes, n_variables = len(scope_at) - 1, len(scopes_of_at) - 1
    has_scope, has_variable = np.zeros(n_scopes, np.bool_), np.zeros(n_variables, np.bool_)
    scopes, variables = np.empty(n_scopes, np.int64), np.empty(n_variables, np.int64)
    n_touched, n_edge = 0, 0
    touched_at[0], edge_at[0] = 0, 0
    for i in range(len(member_at) - 1):
        for k in range(member_at[i], member_at[i + 1]):
            has_variable[member[k]] = True
        here, wide = 0, 0
        for k in range(member_at[i], member_at[i + 1]):
            for j in range(scopes_of_at[member[k]], scopes_of_at[member[k] + 1]):
                f = scopes_of[j]
                if has_scope[f]:
                    continue
                has_scope[f] = True
                scopes[here] = f
                here += 1
                for m in range(scope_at[f], scope_at[f + 1]):
                    if not has_variable[scope[m]]:
                        has_variable[scope[m]] = True
                        variables[wide] = scope[m]
                        wide += 1
        for k in range(member_at[i], member_at[i + 1]):
            has_variable[member[k]] = False
        for k in range(wide):
            has_variable[variables[k]] = False
        for k in range(here):
            has_scope[scopes[k]] = False
        if n_touched + here <= len(touched) and n_edge + wide <= len(edge):
            touched[n_touched : n_touched + here] = np.sort(scopes[:here])
            edge[n_edge : n_edge + wide] = np.sort(variables[:wide])
        n_touched += here
        n_edge += wide
        touched_at[i + 1], edge_at[i + 1] = n_touched, n_edge


# Sums over what is missing ------------------------------------------------------------------------------------


@kernel
def lay_bases(kind: Any, codes_at: Any, codes: Any, touched_at: Any, slope_at: Any, slopes: Any, starts: Any,
              touched: Any, base_at: Any, base: Any) -> None:  # fmt: skip
    """Write where the tables of each situation begin: their slices at the codes around it.

    ``slopes`` holds, for each kind, a matrix (touched scopes × variables around) of strides, zero where a scope does
    not hold the variable.
    """
    for i in range(len(kind)):
        t = kind[i]
        n_edge = codes_at[i + 1] - codes_at[i]
        for k in range(touched_at[t + 1] - touched_at[t]):
            at = starts[touched[touched_at[t] + k]]
            row = slope_at[t] + k * n_edge
            for j in range(n_edge):
                at += slopes[row + j] * codes[codes_at[i] + j]
            base[base_at[i] + k] = at


@kernel
def _enter(logs: bool, table: Any, offset: Any, offset_at: Any, part: Any, lo: int, hi: int, here: int, base: Any,
           node_at: int, n_nodes: int, values: Any) -> None:  # fmt: skip
    """Multiply the tables of one level into its nodes; add them if they are logarithms."""
    for k in range(lo, hi):
        begin, off = base[here + part[k]], offset_at[k]
        if logs:
            for i in range(n_nodes):
                values[node_at + i] += table[begin + offset[off + i]]
        else:
            for i in range(n_nodes):
                values[node_at + i] *= table[begin + offset[off + i]]


@kernel
def _grow(logs: bool, table: Any, first: int, last: int, here: int, base: Any, size: Any, part_at: Any, part: Any,
          offset_at: Any, offset: Any, values: Any) -> tuple[int, int]:  # fmt: skip
    """Form the products along all paths of a tree, level by level; return where the leaves begin and how many are."""
    at, n_nodes = 0, 1
    for level in range(first, last):
        above, many = at - n_nodes, size[level]
        for i in range(n_nodes):
            start = (0.0 if logs else 1.0) if level == first else values[above + i]
            for j in range(many):
                values[at + i * many + j] = start
        n_nodes *= many
        _enter(
            logs, table, offset, offset_at, part, part_at[level], part_at[level + 1], here, base, at, n_nodes, values
        )
        at += n_nodes
    return at - n_nodes, n_nodes


@kernel
def _from_logs(values: Any, leaf: int, n_leaves: int) -> tuple[float, float]:
    """Turn the leaves from logarithms into numbers, the greatest one; return their sum and what was taken off."""
    top, total = -np.inf, 0.0
    for i in range(leaf, leaf + n_leaves):
        top = max(top, values[i])
    if top > -np.inf:
        for i in range(leaf, leaf + n_leaves):
            values[i] = np.exp(values[i] - top)
            total += values[i]
    return total, top


@kernel
def _spread(by: float, first: int, last: int, here: int, base: Any, size: Any, part_at: Any, part: Any, offset_at: Any,
            offset: Any, values: Any, leaf: int, n_nodes: int, out: Any) -> None:  # fmt: skip
    """Add the totals of all nodes, times ``by``, to the cells of the tables that enter there, from the leaves up."""
    for i in range(leaf, leaf + n_nodes):
        values[i] *= by
    for level in range(last - 1, first - 1, -1):
        for k in range(part_at[level], part_at[level + 1]):
            begin, off = base[here + part[k]], offset_at[k]
            for i in range(n_nodes):
                out[begin + offset[off + i]] += values[leaf + i]
        if level > first:
            many = size[level]
            n_above = n_nodes // many
            above = leaf - n_above
            for i in range(n_above):
                held = 0.0
                for j in range(many):
                    held += values[leaf + i * many + j]
                values[above + i] = held
            leaf, n_nodes = above, n_above


@kernel
def sum_situations(table: Any, log_table: Any, lo: int, hi: int, kind: Any, weight: Any, base_at: Any, base: Any,
                   level_at: Any, size: Any, part_at: Any, part: Any, offset_at: Any, offset: Any, out: Any,
                   values: Any, log_sum: Any) -> None:  # fmt: skip
    """Sum products of tables over all states of what is missing, situation by situation.

    The states are the leaves of a tree with one level a missing variable. A table enters at the first level at which
    all its variables are known; totals come back up, so that every table gets the posterior of its cells.

    Parameters
    ----------
    table, log_table : arrays
        The cells of all tables, and their logarithms.
    lo, hi : int
        The range of situations.
    kind, weight : arrays
    base_at, base : arrays
        Where the tables of every situation begin.
    level_at, size : arrays
        The levels of every kind, and the number of states of the variable of each.
    part_at, part, offset_at : arrays
        The tables that enter at every level, as places among those of the kind, and where their offsets begin.
    offset : array
        What the states of a node add to the beginning of a table.
    out : array
        Receives weight × posterior of every cell.
    values : array
        Room for all nodes of the largest tree.
    log_sum : array
        Receives the logarithm of every situation's sum.
    """
    for s in range(lo, hi):
        first, last, here, top = level_at[kind[s]], level_at[kind[s] + 1], base_at[s], 0.0
        leaf, n = _grow(False, table, first, last, here, base, size, part_at, part, offset_at, offset, values)
        total = 0.0
        for i in range(leaf, leaf + n):
            total += values[i]
        if not LOW < total < HIGH:
            leaf, n = _grow(True, log_table, first, last, here, base, size, part_at, part, offset_at, offset, values)
            total, top = _from_logs(values, leaf, n)
        if not total > 0:
            log_sum[s] = -np.inf
            continue
        log_sum[s] = np.log(total) + top  # eq gap-sum
        _spread(  # eq gap-posterior
            weight[s] / total, first, last, here, base, size, part_at, part, offset_at, offset, values, leaf, n, out
        )


@kernel
def _stride(scope_at: Any, scope: Any, strides: Any, f: int, variable: int) -> int:
    """Return the stride of a variable in a table, zero if the table is not over it."""
    for k in range(scope_at[f], scope_at[f + 1]):
        if scope[k] == variable:
            return strides[k]  # type: ignore[no-any-return]
    return 0


@kernel
def _is_met(member: Any, lo: int, hi: int, scope_at: Any, scope: Any, strides: Any, f: int) -> bool:
    """Return whether a table is over one of some variables."""
    for k in range(lo, hi):  # noqa: SIM110
        if _stride(scope_at, scope, strides, f, member[k]) > 0:
            return True
    return False


@kernel
def _lay_offsets(member: Any, first: int, level: int, sizes: Any, scope_at: Any, scope: Any, strides: Any, f: int,
                 n_nodes: int, at: int, offset: Any) -> None:  # fmt: skip
    """Write what the states of every node of a level add to the beginning of a table."""
    for node in range(n_nodes):
        rest, held = node, 0
        for up in range(level, first - 1, -1):
            many = sizes[member[up]]
            held += (rest % many) * _stride(scope_at, scope, strides, f, member[up])
            rest //= many
        offset[at + node] = held


@kernel
def lay_levels(member_at: Any, member: Any, sizes: Any, touched_at: Any, touched: Any, edge_at: Any, edge: Any,
               scope_at: Any, scope: Any, strides: Any, part_at: Any, part: Any, offset_at: Any, offset: Any,
               slope_at: Any, slopes: Any) -> None:  # fmt: skip
    """Lay out the trees of all kinds for `sum_situations`, and the strides around them for `lay_bases`.

    The levels of a kind are its members in their order. ``offset`` and ``slopes`` that are too short are only counted.
    """
    n_parts, n_offsets, n_slopes = 0, 0, 0
    part_at[0], offset_at[0], slope_at[0] = 0, 0, 0
    for t in range(len(member_at) - 1):
        first, last = member_at[t], member_at[t + 1]
        n_edge = edge_at[t + 1] - edge_at[t]
        n_nodes = 1
        for level in range(first, last):
            n_nodes *= sizes[member[level]]
            for k in range(touched_at[t], touched_at[t + 1]):
                f = touched[k]
                if _stride(scope_at, scope, strides, f, member[level]) == 0:
                    continue
                if _is_met(member, level + 1, last, scope_at, scope, strides, f):
                    continue  # it enters later
                part[n_parts] = k - touched_at[t]
                if n_offsets + n_nodes <= len(offset):
                    _lay_offsets(member, first, level, sizes, scope_at, scope, strides, f, n_nodes, n_offsets, offset)
                n_offsets += n_nodes
                n_parts += 1
                offset_at[n_parts] = n_offsets
            part_at[level + 1] = n_parts
        for k in range(touched_at[t], touched_at[t + 1]):
            if n_slopes + n_edge <= len(slopes):
                for j in range(n_edge):
                    slopes[n_slopes + j] = _stride(scope_at, scope, strides, touched[k], edge[edge_at[t] + j])
            n_slopes += n_edge
        slope_at[t + 1] = n_slopes
