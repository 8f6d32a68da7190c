"""Counts of the columns of a sparse matrix of codes: only what is stored is looked at.

A column of two states stores its second one. What is counted of a column and the columns beside the matrix follows from
the stored rows of each cell, and from the weight of the cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from suffice.data.block import Block
from suffice.data.sparse_matrix import SparseColumns
from suffice.stats.counts import Counts
from suffice.stats.needs import Count
from suffice.types import Array


def count_stored(needs: Sequence[Count], block: Block) -> dict[Count, Counts]:
    """Count the scopes that have one column of a sparse matrix, with two states, and other columns beside it.

    Scopes of other kinds are left out; all of them where no column is that of a sparse matrix.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from suffice.data.schema import Schema
    >>> from suffice.data.variable import Variable
    >>> schema = Schema((Variable("a", (0, 1)), Variable("b", (0, 1)), Variable("y", ("u", "v"))))
    >>> bits = csr_array(np.array([[0, 1], [1, 1], [0, 0]], np.int8))
    >>> block = Block(schema, SparseColumns(bits, ("a", "b"), {"y": np.array([0, 1, 1])}), None, 3)
    >>> count_stored([Count(("y", "b"))], block)[Count(("y", "b"))].table().tolist()
    [[0, 1], [1, 1]]
    """
    columns = block.columns
    if not isinstance(columns, SparseColumns):
        return {}
    groups: dict[tuple[str, ...], list[tuple[Count, str]]] = {}
    for need in needs:
        inside = [name for name in need.scope if name not in columns.beside]
        if len(inside) == 1 and block.schema[inside[0]].n_states == 2:
            beside = tuple(name for name in need.scope if name in columns.beside)
            groups.setdefault(beside, []).append((need, inside[0]))
    found: dict[Count, Counts] = {}
    for beside, members in groups.items():
        first, second = _sums(columns, beside, block)
        place = columns.place
        for need, name in members:
            table = np.stack([first[..., place[name]], second[..., place[name]]], axis=need.scope.index(name))
            found[need] = Counts.dense([block.schema[other] for other in need.scope], table)
    return found


def _sums(columns: SparseColumns, beside: tuple[str, ...], block: Block) -> tuple[Array, Array]:
    """Return the weight of both states of every column in each cell of the columns beside; shape (…, p) each."""
    sizes = [block.schema[name].n_states for name in beside]
    n_cells, p = math.prod(sizes), len(columns.names)
    codes = tuple(columns.beside[name] for name in beside)
    cell = np.ravel_multi_index(codes, sizes) if codes else np.zeros(block.n_rows, np.int64)
    matrix = columns.matrix
    row = np.repeat(np.arange(block.n_rows), np.diff(matrix.indptr))
    stored = np.flatnonzero(matrix.data > 0)
    place = cell[row[stored]] * p + matrix.indices[stored]
    weights = block.weights
    kind = np.dtype(np.int64) if weights is None else weights.dtype
    each = None if weights is None else weights[row[stored]]
    second = np.bincount(place, each, n_cells * p).astype(kind).reshape(n_cells, p)
    total = np.bincount(cell, weights, n_cells).astype(kind)[:, None]
    first = np.maximum(total - second, 0)
    return first.reshape(*sizes, p), second.reshape(*sizes, p)
