"""Fuzzed calls of `suffice.native.moments`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from tests.native.fuzzing import Case

from suffice.native import moments


def draw_cells(chance: Generator) -> tuple[int, int, Any, Any]:
    """Draw sizes, the cell of every row, and weights, some of them zero, negative or NaN, or none at all."""
    n_cells = int(chance.integers(1, 6))
    n = int(chance.integers(1000, 2500)) if chance.random() < 0.05 else int(chance.integers(0, 40))
    cell, weights = chance.integers(0, n_cells, n), np.zeros(0)
    if chance.random() < 0.6:
        weights = chance.random(n) * chance.integers(0, 3, n)
        weights[chance.random(n) < 0.05] = -1.0
        weights[chance.random(n) < 0.05] = np.nan
    return n, n_cells, cell, weights


def draw_rows(chance: Generator) -> tuple[Any, ...]:
    """Draw rows of numbers, some of them far from zero or not finite, and what to subtract."""
    n, n_cells, cell, weights = draw_cells(chance)
    p = int(chance.integers(0, 9))
    x = chance.normal(size=(n, p)) * 2.0 ** int(chance.integers(-40, 40)) + float(chance.integers(-5, 5))
    if chance.random() < 0.3:
        x[chance.random((n, p)) < 0.1] = np.inf if chance.random() < 0.5 else np.nan
    return x, cell, weights, chance.normal(size=(n_cells, p))


def run_first_rows(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return first rows, numbers of rows and weights."""
    _, n_cells, cell, weights = arguments
    found = np.empty(n_cells, np.int64), np.empty(n_cells, np.int64), np.empty(n_cells)
    moments.find_first_rows(cell, weights, *found)
    return found


def run_squares(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return sums and sums of squares."""
    found = np.empty(arguments[3].shape), np.empty(arguments[3].shape)
    moments.sum_shifted_squares(*arguments, *found)
    return found


def run_rows(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the gathered rows, their weights, and sums."""
    x, cell, weights, centre = arguments
    kept = cell[weights > 0] if len(weights) else cell
    counts = np.bincount(kept, minlength=len(centre))
    gathered, factors, sums = np.zeros(x.shape), np.zeros(len(weights)), np.empty(centre.shape)
    moments.gather_shifted_rows(x, cell, weights, centre, np.cumsum(counts) - counts, gathered, factors, sums)
    return gathered, factors, sums


CASES = {
    "find_first_rows": Case(draw_cells, run_first_rows, 30),
    "sum_shifted_squares": Case(draw_rows, run_squares, 40),
    "gather_shifted_rows": Case(draw_rows, run_rows, 40),
}
