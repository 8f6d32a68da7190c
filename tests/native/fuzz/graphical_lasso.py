"""Fuzzed calls of `suffice.native.graphical_lasso`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from tests.native.fuzzing import Case

from suffice.native import graphical_lasso


def draw_sweep(chance: Generator) -> tuple[Any, ...]:
    """Draw correlations, singular ones among them, penalties from none to prohibitive, and where to begin."""
    d = int(chance.integers(0, 8))
    rows = chance.normal(size=(int(chance.integers(1, 12)), d)) + chance.normal(size=(1, d))
    s = np.zeros((d, d))
    for row in rows:  # not a product of matrices, whose rounding differs between machines
        s += row[:, None] * row
    roots = np.sqrt(np.diag(s))
    s = s / roots[:, None] / roots
    penalty = float(chance.integers(0, 4)) * 0.1 * chance.random((d, d))
    np.fill_diagonal(penalty, 0.0)
    shrunk = chance.random() < 0.7
    w = np.where(np.eye(d) > 0, 1.0, 0.5 * s if shrunk else s)
    b = chance.normal(size=(d, d)) * (chance.random((d, d)) < 0.3) if chance.random() < 0.5 else np.zeros((d, d))
    np.fill_diagonal(b, 0.0)
    tol = float(chance.random()) * 2.0 ** int(chance.integers(-40, 0))
    return s, penalty, w, b, int(chance.integers(0, 5)), int(chance.integers(0, 30)), tol


def run_sweep(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return by how much W moved last, W and B."""
    return graphical_lasso.sweep_columns(*arguments), arguments[2], arguments[3]


CASES = {"sweep_columns": Case(draw_sweep, run_sweep)}
