"""Walks along a Markov chain against the same in NumPy, one step of all sequences after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.native.markov_walks import walk


def walk_by_steps(steps, stored, wrap, keys, uniform, out):
    """Draw like the kernel; return the first sequence, by time, whose row is unknown, or −1."""
    n_states, n_rows = steps.shape
    for t, u in enumerate(uniform):
        rows = keys
        if len(stored):
            rows = np.searchsorted(stored, keys)
            found = stored[np.minimum(rows, len(stored) - 1)] == keys
            rows = np.where(found, rows, n_rows - 1)
        unknown = np.isnan(steps[-1, rows])
        if unknown.any():
            return int(np.argmax(unknown))
        drawn = np.zeros(len(keys), np.int64)
        for step in steps[:-1]:
            drawn += u >= step[rows]
        out[:, t] = drawn
        keys[:] = (keys % wrap) * n_states + drawn
    return -1


def chain(n_states, n_rows, chance):
    """Return the distribution functions of random rows."""
    steps = np.cumsum(chance.random((n_rows, n_states)), axis=1)
    steps /= steps[:, -1:]
    steps[:, -1] = np.inf
    return np.ascontiguousarray(steps.T)


@given(
    st.integers(1, 6),
    st.integers(1, 3),
    st.integers(0, 30),
    st.integers(0, 20),
    st.booleans(),
    st.sampled_from([np.int8, np.int16, np.int32]),
    st.integers(0, 999),
)
def test_both_draw_the_same(n_states, order, n_sequences, n_steps, sparse, kind, seed):
    chance = np.random.default_rng(seed)
    contexts = n_states**order
    stored = np.flatnonzero(chance.random(contexts) < 0.5) if sparse else np.zeros(0, np.int64)
    steps = chain(n_states, len(stored) + 1 if len(stored) else contexts, chance)
    keys = chance.integers(0, contexts, n_sequences)
    uniform = chance.random((n_steps, n_sequences + 1))[:, :n_sequences]
    out, expected = np.zeros((2, n_sequences, n_steps + 2), kind)[:, :, 1:-1]
    twin_keys = keys.copy()
    arguments = steps, stored, n_states ** (order - 1)
    assert walk(*arguments, keys, uniform, out) == walk_by_steps(*arguments, twin_keys, uniform, expected) == -1
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(keys, twin_keys)


@pytest.mark.parametrize("stuck", [0, 5, 8, 19])
def test_the_first_sequence_without_a_row_is_named_with_its_context(stuck):
    steps = np.array([[0.5, np.nan], [np.inf, np.nan]])
    keys, uniform, out = np.zeros(20, np.int64), np.full((6, 20), 0.25), np.zeros((20, 6), np.int8)
    uniform[3, stuck], uniform[1, 19] = 0.75, 0.75  # to state 1, where nothing is known
    assert walk(steps, np.zeros(0, np.int64), 1, keys, uniform, out) == stuck
    assert keys[stuck] == 1
