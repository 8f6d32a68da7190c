"""Counting many scopes in one pass over a block: which kernel counts which scope, tile by tile.

Small tables are counted by bit masks, larger ones by histograms, and those of which only what occurs is kept by a hash
table. Threads take fixed ranges of rows, and their results are added in the order of the ranges.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block, code_dtype
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.data.windows import LagColumns
from suffice.native.counting import (
    Families,
    build_masks,
    count_histogram,
    count_keys,
    count_masks,
    count_weighted,
    count_windows,
)
from suffice.settings import settings
from suffice.stats import counts as dense_or_sparse
from suffice.stats.counts import Counts
from suffice.stats.needs import Count
from suffice.stats.ordering import words_of
from suffice.stats.plan import CountPlan, plan
from suffice.stats.sparse_counts import count_stored
from suffice.types import Array

MASK_CELLS = 96
"""Tables up to this size are counted by bit masks: their cost grows with the cells, a histogram's does not."""
RANGE_ROWS = 1 << 17
ROWS_A_CELL = 16
"""Ranges have so many rows a cell at least, so that clearing and adding tables is little of the work."""
THREAD_WORK = 1 << 21
"""Rows times scopes that are worth another thread: starting it and adding its tables cost as much as counting some."""
TILE_BYTES = 1 << 19
MASK_ROWS, HISTOGRAM_ROWS = 1 << 14, 1 << 16
"""Most rows of a tile."""

Made = TypeVar("Made")


def count_block(needs: Sequence[Count], block: Block) -> dict[Count, Counts]:
    """Count all scopes over one block of rows."""
    planned, sizes = _recall_plan(needs, block.schema)
    planned.require_memory()
    stored = count_stored(needs, block)
    if stored:
        rest = [need for need in needs if need not in stored]
        stored |= count_block(rest, block) if rest else {}
        return {need: stored[need] for need in needs}
    whole = _covering(needs, block, sizes)
    if whole is not None:
        table = count_block([whole], block)[whole]
        held = {frozenset(whole.scope): table.values}
        return {need: table if need == whole else _margin(table, need, held) for need in needs}
    dense = [need for need in needs if need.scope and sizes[need] <= dense_or_sparse.DENSE_CELLS]
    counted = _count_dense(dense, block, sizes)
    for need in needs:
        if need not in counted:
            counted[need] = _count_sparse(need, block) if need.scope else Counts.of_block(need, block)
    return {need: counted[need] for need in needs}


def _planned(needs: Sequence[Count], schema: Schema) -> tuple[CountPlan, dict[Count, int]]:
    """Return how the tables will be held, and the cells of each scope."""
    found = plan(needs, schema)
    return found, dict(zip(needs, (table.n_cells for table in found.tables), strict=True))


class _Recalled(Generic[Made]):
    """What was made last: most blocks of a pass share their scopes and variables."""

    def __init__(self, make: Callable[[Sequence[Count], Schema], Made]) -> None:
        self._make = make
        self._held: tuple[Schema, Sequence[Count], Made] | None = None

    def __call__(self, needs: Sequence[Count], schema: Schema) -> Made:
        """Return what is made for scopes and variables, anew only where they are not those of the last call."""
        held = self._held
        if held is None or held[0] is not schema or held[1] != needs:
            held = self._held = (schema, needs, self._make(needs, schema))
        return held[2]


_recall_plan = _Recalled(_planned)


def _covering(needs: Sequence[Count], block: Block, sizes: Mapping[Count, int]) -> Count | None:
    """Return the scope of which all others are parts, if summing its table is less work than counting rows again."""
    if len(needs) < 2 or not all(need.scope for need in needs):
        return None
    largest = max(needs, key=lambda need: len(need.scope))
    if sizes[largest] > min(max(block.n_rows, block.n_table), dense_or_sparse.DENSE_CELLS):
        return None
    return largest if all(set(need.scope) <= set(largest.scope) for need in needs) else None


def _margin(whole: Counts, need: Count, held: dict[frozenset[str], Array]) -> Counts:
    """Return a margin, summing one variable at a time out of the smallest table at hand; ``held`` keeps them."""
    names, wanted = whole.need.scope, frozenset(need.scope)
    start = min((scope for scope in held if wanted <= scope), key=lambda scope: held[scope].size)
    for name in reversed([name for name in names if name in start and name not in wanted]):
        axis = [other for other in names if other in start].index(name)
        table = held[start].sum(axis=axis)
        start = start - {name}
        held[start] = table
    inside = [name for name in names if name in wanted]
    variables = tuple(whole.variables[names.index(name)] for name in need.scope)
    return Counts.dense(variables, held[wanted].transpose([inside.index(name) for name in need.scope]))


# Dense tables -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CountLayout:
    """Scopes as the kernels see them: columns by number, tables in one flat buffer."""

    names: tuple[str, ...]
    most_states: int
    families: Families
    offsets: tuple[int, ...]
    tables: tuple[tuple[Count, tuple[Variable, ...], tuple[int, ...]], ...]

    @classmethod
    def of(cls, needs: Iterable[Count], schema: Schema) -> CountLayout:
        """Lay out some scopes; neighbours share columns, so that tiles stay in cache."""
        scopes = [need.scope for need in needs]
        names = tuple(dict.fromkeys(name for scope in scopes for name in scope))
        number = {name: position for position, name in enumerate(names)}
        size = {name: schema[name].n_states for name in names}
        shapes = [tuple(size[name] for name in scope) for scope in scopes]
        variables = [tuple(schema[name] for name in scope) for scope in scopes]
        families = Families(
            np.array([number[name] for scope in scopes for name in scope], np.int64),
            np.cumsum([0, *map(len, scopes)], dtype=np.int64),
            np.array(list(size.values()), np.int64),
        )
        offsets = tuple(accumulate(map(math.prod, shapes), initial=0))
        return cls(names, max(size.values()), families, offsets, tuple(zip(needs, variables, shapes, strict=True)))

    def split(self, out: Array) -> dict[Count, Counts]:
        """Cut the flat buffer into the tables of the scopes."""
        out.flags.writeable = False  # so that tables are not copied
        return {
            need: Counts.of_table(variables, out[low:high].reshape(shape))
            for (low, high), (need, variables, shape) in zip(pairwise(self.offsets), self.tables, strict=True)
        }


_recall_small, _recall_large = _Recalled(CountLayout.of), _Recalled(CountLayout.of)


def _count_windows(need: Count, block: Block) -> Counts | None:
    """Count the windows of sequences from the codes themselves, their lags never made; None for anything else."""
    window = block.columns.window if isinstance(block.columns, LagColumns) else None
    if window is None or window.names != need.scope or block.weights is not None:
        return None
    variables = tuple(block.schema[name] for name in need.scope)
    shape = [variable.n_states for variable in variables]
    if shape != [window.n_states + 1] * (len(shape) - 1) + [window.n_states]:
        return None
    out = np.zeros(math.prod(shape), np.int64)
    count_windows(window.values, window.starts, window.before, window.n_states, out)
    table = out.reshape(shape)
    table.flags.writeable = False  # so that it is not copied
    return Counts(variables, None, table)


def _count_dense(needs: list[Count], block: Block, sizes: Mapping[Count, int]) -> dict[Count, Counts]:
    if len(needs) == 1 and (windows := _count_windows(needs[0], block)) is not None:
        return {needs[0]: windows}
    small = [] if block.weights is not None else [need for need in needs if sizes[need] <= MASK_CELLS]
    by_masks = set(small)
    large = [need for need in needs if need not in by_masks]
    counted: dict[Count, Counts] = {}
    for group, recall, count in ((small, _recall_small, _by_masks), (large, _recall_large, _by_histogram)):
        if group:
            layout = recall(group, block.schema)
            counted |= layout.split(_over_ranges(layout, block, count))
    return counted


CountRange = Callable[[CountLayout, Block, int, int], Array]
"""Counts all scopes of a layout in the rows from one to another."""


def _over_ranges(layout: CountLayout, block: Block, count: CountRange) -> Array:
    """Count fixed ranges of rows on a pool of threads, and add the results in order."""
    n_cells = layout.families.n_cells
    n_rows = max(RANGE_ROWS, ROWS_A_CELL * n_cells)
    starts = range(0, block.n_rows, n_rows)

    def one(start: int) -> Array:
        return count(layout, block, start, min(start + n_rows, block.n_rows))

    nothing = np.zeros(n_cells, np.int64)
    work = block.n_rows * len(layout.tables)
    threads = min(settings().threads, len(starts), 1 + work // THREAD_WORK)
    if threads <= 1 and block.weights is None and block.n_rows:  # whole numbers add up the same, however they are cut
        return np.asarray(count(layout, block, 0, block.n_rows))
    if threads <= 1:
        return sum(map(one, starts), nothing)
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(one, starts), nothing)


def _tile_rows(layout: CountLayout, item_bytes: int, most: int = MASK_ROWS) -> int:
    """Rows of a tile that fits a processor's cache, a multiple of 64."""
    rows = TILE_BYTES // (item_bytes * max(len(layout.names), 1))
    return max(4096, min(most, rows // 64 * 64))


def _fill(tile: Array, layout: CountLayout, block: Block, start: int, stop: int) -> None:
    for row, name in enumerate(layout.names):
        tile[row, : stop - start] = block.columns[name][start:stop]


def _whole_or_real(weights: Array | None) -> Array | None:
    """Return weights as one of the two types that are counted; those of a table are."""
    if weights is None:
        return None
    return np.ascontiguousarray(weights, np.float64 if weights.dtype.kind == "f" else np.int64)


def _by_masks(layout: CountLayout, block: Block, start: int, stop: int) -> NDArray[np.int64]:
    rows, families = _tile_rows(layout, 1), layout.families
    tile = np.zeros((len(layout.names), rows), np.int8)
    masks = np.zeros((families.n_masks, rows // 64), np.uint64)
    out = np.zeros(families.n_cells, np.int64)
    for low in range(start, stop, rows):
        high = min(low + rows, stop)
        _fill(tile, layout, block, low, high)
        build_masks(families, tile, high - low, masks)
        count_masks(families, masks, high - low, out)
    return out


def _by_histogram(layout: CountLayout, block: Block, start: int, stop: int) -> Array:
    kind = np.dtype(np.int8 if layout.most_states <= 127 else np.int32)
    rows = _tile_rows(layout, kind.itemsize, HISTOGRAM_ROWS)
    tile: Array = np.zeros((len(layout.names), rows), kind)
    weights = _whole_or_real(block.weights)
    out = np.zeros(layout.families.n_cells, np.int64 if weights is None else weights.dtype)
    for low in range(start, stop, rows):
        high = min(low + rows, stop)
        _fill(tile, layout, block, low, high)
        if weights is None:
            count_histogram(layout.families, tile, high - low, out)
        else:
            count_weighted(layout.families, tile, weights[low:high], out)
    return out


# Sparse tables ------------------------------------------------------------------------------------------------


def _count_sparse(need: Count, block: Block) -> Counts:
    """Count the configurations that occur: by a hash table where they fit one whole number, else by sorting."""
    variables = tuple(block.schema[name] for name in need.scope)
    sizes = [variable.n_states for variable in variables]
    words, span = words_of([block.columns[name] for name in need.scope], sizes, block.n_rows)
    if span is None:
        return Counts.of_block(need, block)
    found, values = _count_keys(words[0], block.weights)
    cells = np.empty((len(found), len(sizes)), code_dtype(max(sizes)))
    for axis in reversed(range(len(sizes))):
        found, cells[:, axis] = np.divmod(found, sizes[axis])
    cells.flags.writeable = values.flags.writeable = False  # so that they are not copied
    return Counts._of_codes(variables, cells, values)


def _count_keys(keys: NDArray[np.int64], weights: Array | None) -> tuple[NDArray[np.int64], Array]:
    """Return the distinct keys in order, and the sum of the weights of each."""
    each = _whole_or_real(weights)
    found, values = count_keys(keys) if each is None else count_keys(keys, each)
    order = np.argsort(found)
    return found[order], values[order]
