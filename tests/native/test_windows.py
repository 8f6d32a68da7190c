"""Windows counted from the codes themselves agree with a loop over sequences."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from suffice.native.counting import count_windows


def naive(sequences: list[list[int]], before: list[int], n_states: int) -> np.ndarray:
    """Return the table of counts; the first sequence goes on from ``before``, as codes plus 1, 0 before a start."""
    order = len(before)
    counts = np.zeros([n_states + 1] * order + [n_states], np.int64)
    for number, sequence in enumerate(sequences):
        digits = [*(before if number == 0 else [0] * order), *(code + 1 for code in sequence)]
        for place, code in enumerate(sequence):
            counts[(*digits[place : place + order], code)] += 1
    return counts


@given(st.integers(1, 3), st.integers(1, 4), st.lists(st.integers(0, 7), max_size=8), st.integers(0, 10_000))
def test_counts_of_windows(order: int, n_states: int, lengths: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    sequences = [rng.integers(0, n_states, length).tolist() for length in [int(rng.integers(0, 5)), *lengths]]
    before = rng.integers(0, n_states + 1, order).tolist()
    values = np.array(list(itertools.chain.from_iterable(sequences)), np.int8)
    starts = np.cumsum([0, *map(len, sequences)])[1:-1].astype(np.int64)
    out = np.zeros((n_states + 1) ** order * n_states, np.int64)
    count_windows(values, starts, np.array(before, np.int8), n_states, out)
    np.testing.assert_array_equal(out.reshape([n_states + 1] * order + [n_states]), naive(sequences, before, n_states))
