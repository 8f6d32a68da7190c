"""Fuzzed calls of `suffice.native.pseudo_likelihood`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from tests.native.fuzzing import Case

from suffice.native import pseudo_likelihood


class Drawn(NamedTuple):
    """Arguments of all kernels."""

    incidence: tuple[Any, ...]
    design: tuple[Any, ...]
    codes: Any
    weights: Any
    low: int
    high: int
    theta: Any
    direction: Any


def draw(chance: Generator) -> Drawn:
    """Draw up to five variables, scopes, rows and weights; some cells that no row holds are impossible."""
    n = int(chance.integers(1, 6))
    sizes = chance.integers(1, 5, n)
    scopes = [
        chance.permutation(n)[: int(chance.integers(0, min(n, 3) + 1))] for _ in range(int(chance.integers(0, 6)))
    ]
    shapes = [sizes[scope] for scope in scopes]
    n_cells = int(sum(np.prod(shape) for shape in shapes))
    n_rows = int(chance.integers(0, 12) if chance.random() < 0.9 else chance.integers(100, 300))
    codes = np.ascontiguousarray((chance.random((n, n_rows)) * sizes[:, None]).astype(np.int32))
    weights = chance.integers(0, 5, n_rows) * (1.0 if chance.random() < 0.7 else chance.random(n_rows))
    theta = chance.normal(0, float(chance.integers(0, 4)), n_cells)
    if chance.random() < 0.3:
        theta = np.where(observed(scopes, shapes, codes, n_cells) | (chance.random(n_cells) < 0.7), theta, -np.inf)
    if chance.random() < 0.1:
        theta *= 300
    low, high = np.sort(chance.integers(0, n_rows + 1, 2)).tolist() if chance.random() < 0.5 else (0, n_rows)
    member = np.concatenate([*scopes, np.zeros(0, np.int64)])
    incidence = sizes, np.cumsum([0, *map(len, scopes)]), member
    return Drawn(incidence, draw_design(chance, n_cells), codes, weights, low, high, theta, chance.normal(size=n_cells))


def observed(scopes: Any, shapes: Any, codes: Any, n_cells: int) -> Any:
    """Return which cells some row holds."""
    found, start = np.zeros(n_cells, bool), 0
    for scope, shape in zip(scopes, shapes, strict=True):
        cell = np.zeros(codes.shape[1], np.int64)
        for v, size in zip(scope, shape, strict=True):
            cell = cell * size + codes[v]
        found[start + cell] = True
        start += int(np.prod(shape))
    return found


def draw_design(chance: Generator, n_cells: int) -> tuple[Any, ...]:
    """Draw rows of up to three entries, which may be in one column; some values are zero or whole."""
    n_columns = int(chance.integers(1, 9))
    at = np.cumsum([0, *chance.integers(0, 4, n_cells)])
    value = chance.normal(size=at[-1]) if chance.random() < 0.5 else chance.integers(-1, 2, at[-1]) * 1.0
    return at, chance.integers(0, n_columns, at[-1]), value, n_columns


def model_of(drawn: Drawn) -> Any:
    """Return the incidence of a drawn model."""
    return pseudo_likelihood.Incidence(*drawn.incidence)


def room_of(drawn: Drawn) -> Any:
    """Return zeros for all cells, in one, two or four copies."""
    return np.zeros((1 << drawn.codes.shape[1] % 3, len(drawn.theta)))


def run_count(drawn: Drawn) -> tuple[Any, ...]:
    """Count observed cells."""
    out = np.zeros(len(drawn.theta))
    pseudo_likelihood.count_observed(model_of(drawn), drawn.codes, drawn.weights, out)
    return (out,)


def run_impossible(drawn: Drawn) -> tuple[Any, ...]:
    """Mark impossible rows: every other cell is impossible."""
    out = np.zeros(drawn.codes.shape[1], bool)
    theta = np.where(drawn.direction > 1, -np.inf, drawn.theta)
    pseudo_likelihood.find_impossible(model_of(drawn), drawn.codes, theta, out)
    return (out,)


def run_expected(drawn: Drawn) -> tuple[Any, ...]:
    """Add what is expected."""
    out = room_of(drawn)
    of_rows = drawn.codes, drawn.weights, drawn.low, drawn.high
    return pseudo_likelihood.add_expected(model_of(drawn), *of_rows, drawn.theta, out), out


def run_curvature(drawn: Drawn) -> tuple[Any, ...]:
    """Add the derivative in a direction."""
    out = room_of(drawn)
    of_rows = drawn.codes, drawn.weights, drawn.low, drawn.high
    pseudo_likelihood.add_curvature(model_of(drawn), *of_rows, drawn.theta, drawn.direction, out)
    return (out,)


def run_scores(drawn: Drawn) -> tuple[Any, ...]:
    """Add the scores of rows."""
    out = np.zeros((drawn.high - drawn.low, drawn.design[3]))
    design = pseudo_likelihood.Design(*drawn.design)
    pseudo_likelihood.add_scores(model_of(drawn), design, drawn.codes, drawn.low, drawn.high, drawn.theta, out)
    return (out,)


def run_covariances(drawn: Drawn) -> tuple[Any, ...]:
    """Add covariances of features."""
    out = np.zeros((drawn.design[3], drawn.design[3]))
    design = pseudo_likelihood.Design(*drawn.design)
    of_rows = drawn.codes, drawn.weights, drawn.low, drawn.high
    pseudo_likelihood.add_covariances(model_of(drawn), design, *of_rows, drawn.theta, out)
    return (out,)


CASES = {
    "count_observed": Case(draw, run_count, 10),
    "find_impossible": Case(draw, run_impossible, 10),
    "add_expected": Case(draw, run_expected, 40),
    "add_curvature": Case(draw, run_curvature, 30),
    "add_scores": Case(draw, run_scores, 30),
    "add_covariances": Case(draw, run_covariances, 30),
}
