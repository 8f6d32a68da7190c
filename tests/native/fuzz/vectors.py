"""Fuzzed calls of `suffice.native.vectors`."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator
from tests.native.fuzzing import Case

from suffice.native import vectors


def draw_vectors(chance: Generator) -> tuple[Any, ...]:
    """Draw three vectors, the last two of single or double precision."""
    n, kind = int(chance.integers(0, 3000)), "f4" if chance.random() < 0.5 else "f8"
    result, row, other = chance.normal(size=n), chance.normal(size=n), chance.normal(size=n)
    return result, float(chance.normal()), row.astype(kind), other.astype(kind)


def run_vectors(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the product, and the vector that was changed."""
    return vectors.add_then_dot(*arguments), arguments[0]


CASES = {"add_then_dot": Case(draw_vectors, run_vectors)}
