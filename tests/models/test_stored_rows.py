"""Rows of tables that are stored only for the parent configurations that occur: found by any question."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.models.cpds.rows import find_rows, in_order

sizes_of_parents = st.lists(st.sampled_from([1, 2, 3, 200, 2**31, 2**40]), max_size=4)


@st.composite
def questions(draw):
    """Return numbers of states, configurations that have rows, and wanted ones, some outside all states."""
    sizes = draw(sizes_of_parents)
    inside = st.tuples(*(st.integers(0, min(size, 3) - 1) | st.just(size - 1) for size in sizes))
    around = st.tuples(*(st.sampled_from([-1, 0, 1, size - 1, size, size + 1]) for size in sizes))
    stored = sorted(draw(st.sets(inside, max_size=8)))
    wanted = draw(st.lists(inside | around, max_size=8))
    return sizes, stored, wanted


@given(questions())
def test_rows_are_found_by_their_configuration(question):
    sizes, stored, wanted = question
    if any(code < 0 for row in wanted for code in row) and int(np.prod(sizes, dtype=object)) >= 2**63:
        wanted = [row for row in wanted if min(row, default=0) >= 0]  # only codes are asked of such large tables
    held = np.array(stored, np.int64).reshape(len(stored), len(sizes))
    asked = np.array(wanted, np.int64).reshape(len(wanted), len(sizes))
    known = {row: place for place, row in enumerate(stored)}
    assert find_rows(asked, sizes, held).tolist() == [known.get(row, -1) for row in wanted]
    assert in_order(held)
    assert in_order(held[::-1]) is (len(held) < 2)
    assert not len(held) or not in_order(np.concatenate([held, held[-1:]]))


@pytest.mark.parametrize("dtype", [np.int8, np.int32])
def test_short_codes_find_rows_of_large_tables(dtype):
    sizes = [100] * 6
    held = np.array([[0, 1, 2, 3, 4, 5], [99, 98, 97, 96, 95, 94]])
    wanted = np.array([[99, 98, 97, 96, 95, 94], [99, 98, 97, 96, 95, 93], [0, 1, 2, 3, 4, 5]], dtype)
    assert find_rows(wanted, sizes, held).tolist() == [1, -1, 0]
