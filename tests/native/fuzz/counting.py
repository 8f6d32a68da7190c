"""Fuzzed calls of `suffice.native.counting`."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.random import Generator
from tests.native.fuzzing import Case

from suffice.native import counting

ROWS = (0, 1, 2, 63, 64, 65, 127, 200, 256)
"""Edge sizes of tiles that store 256 rows."""
STORED = 256


def draw_layout(chance: Generator, most_states: int, most_cells: int) -> tuple[Any, ...]:
    """Draw members, starts and sizes of one to five families."""
    sizes = [int(size) for size in chance.integers(1, most_states + 1, int(chance.integers(1, 8)))]
    scopes = []
    for _ in range(int(chance.integers(1, 6))):
        scope = [int(c) for c in chance.permutation(len(sizes))[: int(chance.integers(1, 6))]]
        while math.prod(sizes[c] for c in scope) > most_cells and len(scope) > 1:
            scope.pop()
        scopes.append(scope)
    members = np.array([c for scope in scopes for c in scope], np.int64)
    return members, np.cumsum([0, *map(len, scopes)], dtype=np.int64), np.array(sizes, np.int64)


def draw_tile(chance: Generator, sizes: Any, kind: Any) -> Any:
    """Draw codes within the states, of equal chances or most of them equal."""
    most = sizes if chance.random() < 0.7 else np.minimum(sizes, 2)
    codes = (chance.random((len(sizes), STORED)) * most[:, None]).astype(np.int64)
    return np.minimum(codes, sizes[:, None] - 1).astype(kind)


def draw_rows(chance: Generator) -> int:
    """Draw how many rows of a tile count."""
    return ROWS[int(chance.integers(0, len(ROWS)))] if chance.random() < 0.5 else int(chance.integers(0, STORED + 1))


def n_cells(layout: tuple[Any, ...]) -> int:
    """Return the cells of all families."""
    members, starts, sizes = layout
    return sum(math.prod(sizes[members[a:b]].tolist()) for a, b in pairwise(starts.tolist()))


def draw_masks(chance: Generator) -> tuple[Any, ...]:
    """Draw families of small tables, and a tile of short codes."""
    layout = draw_layout(chance, 128 if chance.random() < 0.1 else 5, 96)
    tile = draw_tile(chance, layout[2], np.int8)
    return layout, tile, draw_rows(chance), chance.integers(0, 9, n_cells(layout))


def run_masks(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the masks and the counts."""
    layout, tile, n_rows, out = arguments
    families = counting.Families(*layout)
    masks = np.full((int(layout[2].sum()), STORED // 64), 0xDEADBEEF, np.uint64)
    counting.build_masks(families, tile, n_rows, masks)
    counting.count_masks(families, masks, n_rows, out)
    return masks, out


def draw_histogram(chance: Generator) -> tuple[Any, ...]:
    """Draw families and a tile of short or long codes."""
    long = chance.random() < 0.3
    layout = draw_layout(chance, 300 if long else 9, 5000)
    tile = draw_tile(chance, layout[2], np.int32 if long else np.int8)
    return layout, tile, draw_rows(chance), chance.integers(0, 9, n_cells(layout))


def run_histogram(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the counts."""
    layout, tile, n_rows, out = arguments
    counting.count_histogram(counting.Families(*layout), tile, n_rows, out)
    return (out,)


def draw_weighted(chance: Generator) -> tuple[Any, ...]:
    """Draw the same with weights, whole or real."""
    layout, tile, n_rows, out = draw_histogram(chance)
    if chance.random() < 0.5:
        return layout, tile, chance.integers(0, 2**40, n_rows), out
    weights = chance.normal(size=n_rows) * 10.0 ** chance.integers(-9, 9, n_rows)
    return layout, tile, weights, chance.normal(size=len(out))


def run_weighted(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the sums."""
    layout, tile, weights, out = arguments
    counting.count_weighted(counting.Families(*layout), tile, weights, out)
    return (out,)


def draw_windows(chance: Generator) -> tuple[Any, ...]:
    """Draw codes of sequences, some of them empty."""
    order, n_states = int(chance.integers(1, 4)), int(chance.integers(1, 8))
    n = int(chance.integers(0, 300))
    starts = np.sort(chance.integers(0, n + 1, int(chance.integers(0, 12))))
    before = chance.integers(0, n_states + 1, order).astype(np.int8)
    values = chance.integers(0, n_states, n).astype(np.int8)
    return values, starts, before, n_states, chance.integers(5, 9, (n_states + 1) ** order * n_states)


def run_windows(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the counts."""
    counting.count_windows(*arguments)
    return (arguments[-1],)


def draw_keys(chance: Generator) -> tuple[Any, ...]:
    """Draw keys, seldom enough of them to enlarge the table, and weights or none."""
    n = int(chance.integers(0, 6000)) if chance.random() < 0.05 else int(chance.integers(0, 300))
    span = (3, 50, 100_000, 2**62)[int(chance.integers(0, 4))]
    keys = chance.integers(0, span, n) * (1 if chance.random() < 0.5 or span > 2**40 else 91_572_877)
    which = int(chance.integers(0, 3))
    if which == 0:
        return (keys,)
    return keys, chance.integers(0, 2**40, n) if which == 1 else chance.normal(size=n)


def run_keys(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the keys in order, and their sums."""
    keys, sums = counting.count_keys(*arguments)
    order = np.argsort(keys)
    return keys[order], sums[order]


CASES = {
    "count_masks": Case(draw_masks, run_masks, 30),
    "count_histogram": Case(draw_histogram, run_histogram, 20),
    "count_weighted": Case(draw_weighted, run_weighted, 20),
    "count_windows": Case(draw_windows, run_windows, 20),
    "count_keys": Case(draw_keys, run_keys, 20),
}
