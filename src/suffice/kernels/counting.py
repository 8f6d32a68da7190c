"""Counting kernels: many families at once over one tile of rows.

A *tile* holds the codes of some columns, one a row of the array. A *family* is a list of columns; its table is laid
out in C order, the last column fastest, in a stretch of one flat buffer.

===========  ==================================================================================================
``members``  the columns of all families, one family after the other
``starts``   where each family begins in ``members``; one entry more than there are families
``sizes``    numbers of states, by column
``offsets``  where each family's table begins in ``out``; one entry more than there are families
===========  ==================================================================================================

Small tables are counted by *bit masks*: one mask a column and state, with a bit a row; a cell's count is the number of
bits that the masks of its states share. The cost grows with the cells, so larger tables use a *histogram*.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg"

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from suffice.kernels.jit import kernel

BYTES = np.uint64(0x0101010101010101)
LOW_BITS = np.uint64(0x7F7F7F7F7F7F7F7F)
HIGH_BITS = np.uint64(0x8080808080808080)
PACK = np.uint64(0x0102040810204080)
SECOND_CELLS = 2048
SEVEN, TOP_BYTE, ALL = np.uint64(7), np.uint64(56), np.uint64(0xFFFFFFFFFFFFFFFF)


@intrinsic
def _popcount(typing_context, word):
    """Count the bits of a 64-bit word, by the processor's own instruction."""

    def generate(context, builder, signature, arguments):
        function = builder.module.declare_intrinsic("llvm.ctpop", [arguments[0].type])
        return builder.call(function, arguments)

    return types.uint64(types.uint64), generate


@kernel
def build_masks(words, n_rows, sizes, first, masks):
    """Fill one bit mask a column and state.

    Parameters
    ----------
    words : uint64 array, shape (n_columns, 8 · n_words)
        A tile of int8 codes, eight rows a word. Codes must lie within the column's states.
    n_rows : int
        Rows of the tile that count; at most 64 · n_words.
    sizes, first : int64 arrays, shape (n_columns,)
        Numbers of states, and where each column's masks begin.
    masks : uint64 array, shape (Σ sizes, n_words)
        Output; bit i of word w stands for row 64 w + i.
    """
    n_words = masks.shape[1]
    for c in range(words.shape[0]):
        row = words[c]
        rest = masks[first[c] + sizes[c] - 1]
        for w in range(n_words):
            left = n_rows - 64 * w
            rest[w] = ALL if left >= 64 else (ALL >> np.uint64(64 - left) if left > 0 else np.uint64(0))
        for s in range(sizes[c] - 1):
            pattern = np.uint64(s) * BYTES
            out = masks[first[c] + s]
            for w in range(n_words):
                bits = np.uint64(0)
                for b in range(8):
                    x = row[8 * w + b] ^ pattern
                    equal = ~(((x & LOW_BITS) + LOW_BITS) | x) & HIGH_BITS  # high bit of every byte that is zero
                    bits |= (((equal >> SEVEN) * PACK) >> TOP_BYTE) << np.uint64(8 * b)
                out[w] = bits & rest[w]
                rest[w] &= ~bits  # what no other state has taken is left to the last one


@kernel
def count_masks(masks, first, members, starts, sizes, out, offsets, shared):
    """Add the counts of families to ``out``, from the masks of their columns.

    ``shared`` is scratch space, uint64, shape (n_words,): the rows that have one parent configuration.
    """
    n_words = masks.shape[1]
    for f in range(starts.shape[0] - 1):
        a, k = starts[f], starts[f + 1] - starts[f]
        last = members[a + k - 1]
        n_above = 1
        for j in range(k - 1):
            n_above *= sizes[members[a + j]]
        cell = offsets[f]
        if k == 1:
            for s in range(sizes[last]):
                mask = masks[first[last] + s]
                total = np.uint64(0)
                for w in range(n_words):
                    total += _popcount(mask[w])
                out[cell] += np.int64(total)
                cell += 1
            continue
        for p in range(n_above):
            above = masks[first[members[a + k - 2]] + p % sizes[members[a + k - 2]]]
            code = p // sizes[members[a + k - 2]]
            for j in range(k - 3, -1, -1):
                column = members[a + j]
                mask = masks[first[column] + code % sizes[column]]
                code //= sizes[column]
                for w in range(n_words):
                    shared[w] = above[w] & mask[w]
                above = shared
            for s in range(sizes[last]):
                mask = masks[first[last] + s]
                total = np.uint64(0)
                for w in range(n_words):
                    total += _popcount(above[w] & mask[w])
                out[cell] += np.int64(total)
                cell += 1


@kernel
def count_histogram(tile, n_rows, members, starts, sizes, out, offsets):
    """Add the counts of families to ``out``, by one histogram a family.

    ``tile`` is an int8 or int32 array, shape (n_columns, at least n_rows).
    """
    cells = np.empty(n_rows, np.int32)  # dense tables are small, and short numbers are quicker
    second = np.zeros(SECOND_CELLS, np.int64)
    for f in range(starts.shape[0] - 1):
        a, k = starts[f], starts[f + 1] - starts[f]
        base, size = offsets[f], offsets[f + 1] - offsets[f]
        column = tile[members[a]]
        for i in range(n_rows):
            cells[i] = column[i]
        for j in range(1, k):
            column, n_states = tile[members[a + j]], np.int32(sizes[members[a + j]])
            for i in range(n_rows):
                cells[i] = cells[i] * n_states + np.int32(column[i])
        if size > SECOND_CELLS:
            for i in range(n_rows):
                out[np.uint64(base + cells[i])] += 1
            continue
        # Two histograms by turns: equal neighbours need not wait for each other's sum.
        second[:size] = 0
        for i in range(0, n_rows - 1, 2):
            out[np.uint64(base + cells[i])] += 1
            second[np.uint64(cells[i + 1])] += 1
        if n_rows % 2:
            out[np.uint64(base + cells[n_rows - 1])] += 1
        for c in range(size):
            out[base + c] += second[c]


@kernel
def count_windows(values, starts, before, n_states, out):
    """Add the counts of every position with its one to three predecessors to ``out``.

    Parameters
    ----------
    values : int8 array, shape (n,)
        Codes of sequences, one after the other.
    starts : int64 array
        Where sequences begin; their first positions have the code 0, the time before the start, as predecessors.
    before : int8 array, shape (order,)
        The predecessors of the first position, the oldest first, as codes plus 1.
    n_states : int
    out : int64 array, shape ((n_states + 1)^order · n_states,)
    """
    order, r = before.shape[0], np.int32(n_states)
    above, unit = np.int32(n_states + 1), np.int32(1)
    has_two, has_three = np.int32(order > 1), np.int32(order > 2)
    # First as if all were one sequence. Digits of predecessors are their codes plus 1, so that cells begin further on.
    n = max(values.shape[0] - order, 0)
    cells = out[((has_three * above + has_two) * above + unit) * r :]
    here, last = values[order : order + n], values[order - 1 : order - 1 + n]
    if order == 1:
        for i in range(n):
            cells[np.uint64(np.int32(last[i]) * r + np.int32(here[i]))] += 1
    elif order == 2:
        second = values[:n]
        for i in range(n):
            cell = np.int32(second[i]) * above + np.int32(last[i])
            cells[np.uint64(cell * r + np.int32(here[i]))] += 1
    else:
        second, third = values[1 : 1 + n], values[:n]
        for i in range(n):
            cell = (np.int32(third[i]) * above + np.int32(second[i])) * above + np.int32(last[i])
            cells[np.uint64(cell * r + np.int32(here[i]))] += 1
    # Then the first positions of every sequence are moved to where they belong.
    one = np.int32(before[order - 1])
    two = np.int32(before[order - 2]) if order > 1 else np.int32(0)
    three = np.int32(before[order - 3]) if order > 2 else np.int32(0)
    low = 0
    for s in range(starts.shape[0] + 1):
        high = starts[s] if s < starts.shape[0] else values.shape[0]
        for i in range(low, min(low + order, high)):
            x = np.int32(values[i])
            if i >= order:
                cell = np.int32(0)
                for steps in range(order, 0, -1):
                    cell = cell * above + np.int32(values[i - steps]) + unit
                out[np.uint64(cell * r + x)] -= 1
            out[np.uint64(((three * above + two) * above + one) * r + x)] += 1
            three, two, one = two * has_three, one * has_two, x + unit
        one, two, three = np.int32(0), np.int32(0), np.int32(0)
        low = high


@kernel
def count_weighted(tile, n_rows, weights, members, starts, sizes, out, offsets):
    """Add weighted counts of families to ``out``, whose type is the weights'."""
    for f in range(starts.shape[0] - 1):
        a, k = starts[f], starts[f + 1] - starts[f]
        for i in range(n_rows):
            cell = np.int64(tile[members[a], i])
            for j in range(1, k):
                cell = cell * sizes[members[a + j]] + tile[members[a + j], i]
            out[np.uint64(offsets[f] + cell)] += weights[i]


@kernel
def count_keys(keys, weights, table_keys, table_values, n_used):
    """Add weights to a hash table with open addressing; return how many keys went in, and how many slots are used.

    Parameters
    ----------
    keys : int64 array, shape (n,)
        Not negative.
    weights : array, shape (n,) or (0,)
        Empty means one each.
    table_keys : int64 array, shape (a power of two,)
        −1 where a slot is free.
    table_values : array, the same shape
    n_used : int
        Slots in use before the call. The call stops when half of them are, so that the caller can enlarge the table.
    """
    mask = np.uint64(table_keys.shape[0] - 1)
    limit = table_keys.shape[0] // 2
    for i in range(keys.shape[0]):
        if n_used >= limit:
            return i, n_used
        key = keys[i]
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        slot = (mixed ^ (mixed >> np.uint64(32))) & mask
        while table_keys[slot] != key:
            if table_keys[slot] < 0:
                table_keys[slot] = key
                n_used += 1
                break
            slot = (slot + np.uint64(1)) & mask
        table_values[slot] += weights[i] if weights.shape[0] else 1
    return keys.shape[0], n_used
