"""Fuzzed calls of `suffice.native.codes`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from tests.native.fuzzing import Case

from suffice.native import codes

KINDS = (np.int64, np.int32, np.int8, np.uint8, np.int16, np.uint16, np.uint32)


def draw_matrix(chance: Generator, low: int, high: int) -> Any:
    """Draw a matrix of whole numbers of any type, some of its numbers the least and the largest ones."""
    kind = KINDS[int(chance.integers(0, len(KINDS)))]
    limits = np.iinfo(kind)
    low, high = max(low, int(limits.min)), min(high, int(limits.max) + 1)
    shape = int(chance.integers(0, 40)), int(chance.integers(1, 9))
    return chance.integers(low, high, shape).astype(kind)


def draw_small(chance: Generator) -> tuple[Any, ...]:
    """Draw numbers that are mostly small, and sometimes one that is not."""
    x = draw_matrix(chance, 0, (2, 10, 127)[int(chance.integers(0, 3))])
    if x.size and chance.random() < 0.2:
        odd = (127, -1, int(np.iinfo(x.dtype).max), int(np.iinfo(x.dtype).min))[int(chance.integers(0, 4))]
        x.flat[int(chance.integers(0, x.size))] = max(odd, int(np.iinfo(x.dtype).min))
    return (x,)


def run_small(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return whether all were small, and if so the codes and the numbers that occur."""
    (x,) = arguments
    found, present = np.empty(x.shape, np.int8), np.zeros((x.shape[1], 127), np.bool_)
    return (1, found, present) if codes.encode_small(x, found, present) else (0,)


def draw_known(chance: Generator) -> tuple[Any, ...]:
    """Draw numbers, and tables of the codes of most of them; some columns have no states."""
    span = (5, 40, 2**62)[int(chance.integers(0, 3))]
    x = draw_matrix(chance, -span, span)
    width, kind = int(chance.integers(1, 50)), (np.int8, np.int16, np.int32)[int(chance.integers(0, 3))]
    low = chance.integers(-20, 5, x.shape[1])
    low[chance.random(len(low)) < 0.1] = 2**62
    return x, low, chance.integers(-1, 20, (x.shape[1], width)).astype(kind)


def run_known(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return how many numbers are no states, and the codes."""
    x, low, tables = arguments
    found = np.empty(x.shape, tables.dtype)
    return codes.encode_known(x, low, tables, found), found


CASES = {"encode_small": Case(draw_small, run_small, 50), "encode_known": Case(draw_known, run_known, 50)}
