"""Fuzzed calls of `suffice.native.evidence_rows`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from tests.native.fuzzing import Case

from suffice.native import evidence_rows


def ragged(lists: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """Return where each list begins, and the lists one after another."""
    at = np.cumsum([0, *(len(entries) for entries in lists)], dtype=np.int64)
    return at, np.array([entry for entries in lists for entry in entries], np.int64)


def subset(chance: Generator, entries: Sequence[int], size: int) -> list[int]:
    """Draw some of the entries, sorted."""
    return sorted(entries[i] for i in chance.permutation(len(entries))[:size].tolist())


def draw_cliques(chance: Generator) -> tuple[list[int], list[list[int]], list[list[int]], list[int]]:
    """Draw a junction tree: sizes of variables, cliques, separators and parents; the root is last."""
    n = int(chance.integers(1, 6))
    parents = [int(chance.integers(c + 1, n)) for c in range(n - 1)] + [-1]
    cliques: list[list[int]] = [[] for _ in range(n)]
    parts: list[list[int]] = [[] for _ in range(n)]
    n_variables = 0
    for c in range(n - 1, -1, -1):
        if parents[c] >= 0:
            above = cliques[parents[c]]
            parts[c] = subset(chance, above, int(chance.integers(0, len(above) + 1)))
        fresh = int(chance.integers(0 if parts[c] else 1, 3))
        cliques[c] = [*parts[c], *range(n_variables, n_variables + fresh)]
        n_variables += fresh
    return chance.integers(1, 4, n_variables).tolist(), cliques, parts, parents


def draw_values(chance: Generator, n: int) -> Any:
    """Draw positive values; some are zero, some so small that products of them are lost."""
    values = chance.random(n)
    kind = chance.random()
    if kind < 0.3:
        values[chance.random(n) < 0.2] = 0.0
    elif kind < 0.5:
        values *= 10.0 ** -chance.integers(0, 100, n)
    elif kind < 0.55:
        values *= 10.0 ** -chance.integers(0, 300, n)
    return values


def draw_tree(chance: Generator) -> tuple[tuple[Any, ...], int]:
    """Draw the arrays of a `SlicedTree`; return them and the number of values of its factors."""
    sizes, cliques, parts, parents = draw_cliques(chance)
    children: list[list[int]] = [[] for _ in cliques]
    for c, parent in enumerate(parents[:-1]):
        children[parent].append(c)
    held: list[list[int]] = [[] for _ in cliques]
    scopes: list[list[int]] = []
    for _ in range(int(chance.integers(0, 7))):
        c = int(chance.integers(0, len(cliques)))
        held[c].append(len(scopes))
        drawn = subset(chance, cliques[c], int(chance.integers(0, len(cliques[c]) + 1)))
        scopes.append([drawn[i] for i in chance.permutation(len(drawn)).tolist()])
    strides = [[math.prod(sizes[v] for v in s[place + 1 :]) for place in range(len(s))] for s in scopes]
    starts = np.cumsum([0, *(math.prod(sizes[v] for v in s) for s in scopes)], dtype=np.int64)
    arrays = (np.array(sizes, np.int64), *ragged(cliques), *ragged(parts), np.array(parents, np.int64))
    arrays += (*ragged(children), *ragged(held), *ragged(scopes), ragged(strides)[1], starts)
    return arrays, int(starts[-1])


def draw_rows(chance: Generator, sizes: Any) -> Any:
    """Draw rows of codes, some without missing values, some with nothing but these."""
    n = int(chance.integers(0, 6))
    codes = np.floor(chance.random((n, len(sizes))) * sizes).astype(np.int32)
    share = (0.0, 0.5, 0.5, 1.0)[int(chance.integers(0, 4))]
    codes[chance.random(codes.shape) < share] = -1
    return codes


def draw_all(chance: Generator) -> tuple[Any, ...]:
    """Draw a tree, rows, weights and tables."""
    tree, n_values = draw_tree(chance)
    rows = draw_rows(chance, tree[0])
    return tree, rows, 10 * chance.random(len(rows)), draw_values(chance, n_values)


def run_cells(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the cells of tables and of separators."""
    tree, rows, *_ = arguments
    cells, messages = np.empty(len(rows)), np.empty(len(rows))
    evidence_rows.count_cells(evidence_rows.SlicedTree(*tree), rows, cells, messages)
    return cells, messages


def run_counts(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return log p and how it went, for every row, and the counts."""
    tree, rows, weights, tables = arguments
    log_p, status, counts = np.empty(len(rows)), np.empty(len(rows), np.int64), np.zeros(len(tables))
    evidence_rows.add_expected_counts(evidence_rows.SlicedTree(*tree), rows, weights, tables, log_p, status, counts)
    return log_p, status, counts


CASES = {
    "count_cells": Case(draw_all, run_cells, 20),
    "add_expected_counts": Case(draw_all, run_counts, 130),
}
