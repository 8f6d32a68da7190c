"""Fuzzed calls of `suffice.native.missing_trees`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import Generator
from tests.native.fuzz.trees import TINY, Parts, draw_parts, draw_values
from tests.native.fuzzing import Case

from suffice.native import missing_trees, trees


def cells_of(parts: Parts) -> list[int]:
    """Return the number of cells of every factor."""
    return [math.prod(parts.sizes[v] for v in scope) for scope in parts.factor_scopes]


def floor_of(values: Any) -> float:
    """Return the smallest positive value, zero if it is tiny."""
    lowest = float(np.min(values, where=values > 0, initial=1.0))
    return lowest if lowest >= TINY else 0.0


def logs_of(values: Any) -> Any:
    """Return logarithms, −inf of zero."""
    with np.errstate(divide="ignore"):
        return np.log(values)


def draw_tree(chance: Generator) -> tuple[Any, ...]:
    """Draw a tree and situations whose factors begin anywhere; some of them are not wanted."""
    parts = draw_parts(chance)
    cells, n = np.array(cells_of(parts), np.int64), int(chance.integers(0, 5))
    values = draw_values(chance, int(cells.max(initial=0)) + int(chance.integers(0, 9)))
    starts = np.floor(chance.random((n, len(cells))) * (len(values) - cells + 1)).astype(np.int64)
    into = np.where(chance.random(starts.shape) < 0.2, -1, np.floor(starts * chance.random()).astype(np.int64))
    return parts, values, np.full(len(cells), floor_of(values)), starts, into, 10 * chance.random(n)


def run_tree(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return expected counts and the logarithms of the sums."""
    parts, values, floors, starts, into, weights = arguments
    expected, log_sums = np.zeros(len(values)), np.zeros(len(weights))
    tree = trees.Tree(*parts)
    missing_trees.sum_by_tree(tree, values, logs_of(values), floors, starts, into, weights, expected, log_sums)
    return expected, log_sums


def draw_forest(chance: Generator) -> tuple[Any, ...]:
    """Draw trees, and situations whose factors have any cells of some tables."""
    forest = [draw_parts(chance) for _ in range(int(chance.integers(1, 4)))]
    values = draw_values(chance, int(chance.integers(1, 40)))
    kind = chance.integers(0, len(forest), int(chance.integers(0, 6)))
    cells = chance.integers(0, len(values), sum(sum(cells_of(forest[t])) for t in kind.tolist()))
    n_tables = int(chance.integers(1, 4))
    table_of = chance.integers(0, n_tables, sum(len(parts.homes) for parts in forest))
    floors = np.full(n_tables, floor_of(values))
    return forest, table_of, kind, cells, values, floors, 10 * chance.random(len(kind)), int(chance.integers(0, 6))


def run_forest(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return expected counts and the logarithms of the sums, in two ranges of situations."""
    forest, table_of, kind, cells, values, floors, weights, middle = arguments
    expected, log_sums, n = np.zeros((2, len(values))), np.zeros(len(kind)), len(kind)
    held = trees.Forest([trees.Tree(*parts) for parts in forest])
    sums = missing_trees.ForestSums(held, table_of, kind, cells)
    for one, lo, hi in zip(expected, (0, min(middle, n)), (min(middle, n), n), strict=True):
        sums.sum(values, logs_of(values), floors, weights, lo, hi, one, log_sums)
    return expected, log_sums


CASES = {"sum_by_tree": Case(draw_tree, run_tree, 55), "ForestSums": Case(draw_forest, run_forest, 55)}
