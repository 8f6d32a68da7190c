"""Fuzzed calls of `suffice.native.markov_walks`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from tests.native.fuzzing import Case

from suffice.native import markov_walks


def draw_walk(chance: Generator) -> tuple[Any, ...]:
    """Draw a chain with rows for all or some contexts, a few of them unknown, and sequences in arrays with strides."""
    n_states, order = int(chance.integers(1, 7)), int(chance.integers(1, 4))
    contexts = n_states**order
    stored = np.zeros(0, np.int64)
    n_rows = contexts
    if chance.random() < 0.5:
        stored = np.flatnonzero(chance.random(contexts) < 0.6)
        n_rows = len(stored) + 1 if len(stored) else contexts
    rows = chance.random((n_rows, n_states))
    rows[chance.random(rows.shape) < 0.2] = 0
    rows[:, int(chance.integers(0, n_states))] += 0.1
    reached = np.cumsum(rows, axis=1) / rows.sum(axis=1)[:, None]
    reached[:, -1] = np.inf
    if chance.random() < 0.2:
        reached[chance.random(n_rows) < 0.1] = np.nan
    n_sequences, n_steps = int(chance.integers(0, 20)), int(chance.integers(0, 40))
    keys = chance.integers(0, contexts, n_sequences)
    uniform = chance.random((n_steps, n_sequences + 3))[:, :n_sequences]
    kind = (np.int8, np.int16, np.int32)[int(chance.integers(0, 3))]
    out = np.zeros((n_sequences, n_steps + 5), kind)[:, 2 : 2 + n_steps]
    return np.ascontiguousarray(reached.T), stored, n_states ** (order - 1), keys, uniform, out


def run_walk(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return which sequence stopped, what was drawn before it, and the contexts so far."""
    stuck = markov_walks.walk(*arguments)
    keys, out = arguments[3], arguments[5]
    n = len(keys) if stuck < 0 else stuck
    return stuck, out[:n], keys[: n + 1]


CASES = {"walk": Case(draw_walk, run_walk)}
