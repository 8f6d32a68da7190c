"""Fuzzed calls of `suffice.native.classify`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from tests.native.fuzzing import Case

from suffice.native import classify

CODES = (np.int8, np.int16, np.int32, np.int64)


def draw_sizes(chance: Generator) -> tuple[int, int, int]:
    """Draw the numbers of rows, on both sides of a tile, inputs and classes."""
    return int(chance.integers(0, 150)), int(chance.integers(0, 10)), int(chance.integers(1, 8))


def draw_numbers(chance: Generator, n: int, p: int) -> Any:
    """Draw inputs, of very different sizes and some of them infinite."""
    x = chance.normal(size=(n, p)) * 2.0 ** int(chance.integers(-20, 40))
    if chance.random() < 0.2:
        x[chance.random((n, p)) < 0.05] = np.inf
    return x


def draw_diagonal(chance: Generator) -> tuple[Any, ...]:
    """Draw inputs, often with missing ones, and normal densities."""
    n, p, k = draw_sizes(chance)
    x = draw_numbers(chance, n, p)
    if chance.random() < 0.6:
        x[chance.random((n, p)) < 0.1] = np.nan
    return x, chance.normal(size=(k, p)), chance.random((k, p)), chance.normal(size=(k, p)), chance.normal(size=k)


def draw_linear(chance: Generator) -> tuple[Any, ...]:
    """Draw inputs and weights."""
    n, p, k = draw_sizes(chance)
    return draw_numbers(chance, n, p), chance.normal(size=p), chance.normal(size=(p, k)), chance.normal(size=k)


def draw_triangular(chance: Generator) -> tuple[Any, ...]:
    """Draw inputs and triangular factors."""
    n, p, k = draw_sizes(chance)
    x, centre, factors = draw_numbers(chance, n, p), chance.normal(size=p), chance.normal(size=(k, p, p))
    return x, centre, factors, chance.normal(size=(k, p)), chance.normal(size=k)


def draw_whitened(chance: Generator) -> tuple[Any, ...]:
    """Draw inputs that were whitened already."""
    n, p, k = draw_sizes(chance)
    return draw_numbers(chance, k * p, n), chance.normal(size=(k, p)), chance.normal(size=k)


def draw_tables(chance: Generator) -> tuple[Any, ...]:
    """Draw codes of four widths, some of them missing, and tables with zeros."""
    n, p, k = draw_sizes(chance)
    kind, sizes = CODES[int(chance.integers(0, 4))], chance.integers(1, 5, p)
    codes = np.floor(chance.random((n, p)) * (sizes + 1)).astype(kind) - kind(1)
    tables = -8 * chance.random((int(sizes.sum()), k))
    tables[tables < -7] = -np.inf
    return codes, np.cumsum(sizes) - sizes, tables, chance.normal(size=k)


def draw_scores(chance: Generator) -> tuple[Any, ...]:
    """Draw scores with ties and infinities."""
    n, _, k = draw_sizes(chance)
    scores = chance.integers(-3, 4, (n, k)).astype(float)
    scores[scores == -3] = -np.inf
    return (scores,)


def scored(name: str) -> Any:
    """Return a function that fills scores: rows are along the first axis of all inputs but whitened ones."""

    def run(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        n = arguments[0].shape[name == "fill_whitened_scores"]
        out = np.empty((n, len(arguments[-1])))
        getattr(classify, name)(*arguments, out)
        return (out,)

    return run


def run_largest(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the best classes."""
    out = np.empty(len(arguments[0]), np.int64)
    classify.find_largest(*arguments, out)
    return (out,)


CASES = {
    "fill_diagonal_scores": Case(draw_diagonal, scored("fill_diagonal_scores"), 20),
    "fill_linear_scores": Case(draw_linear, scored("fill_linear_scores"), 20),
    "fill_triangular_scores": Case(draw_triangular, scored("fill_triangular_scores"), 20),
    "fill_whitened_scores": Case(draw_whitened, scored("fill_whitened_scores"), 15),
    "fill_table_scores": Case(draw_tables, scored("fill_table_scores"), 20),
    "find_largest": Case(draw_scores, run_largest, 10),
}
