"""Codes of whole numbers in a matrix against plain NumPy, column by column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.native.codes import encode_known, encode_small

KINDS = [np.int64, np.int32, np.int8, np.uint8, np.int16, np.uint16, np.uint32]


def encode_by_columns(x, low, tables):
    """Return the codes of known numbers, −1 where there are none."""
    codes = np.full(x.shape, -1, tables.dtype)
    for j, (least, table) in enumerate(zip(low.tolist(), tables, strict=True)):
        for i, number in enumerate(x[:, j].tolist()):
            if 0 <= number - least < len(table):
                codes[i, j] = table[number - least]
    return codes


@pytest.mark.parametrize("kind", KINDS)
@given(n=st.integers(0, 40), p=st.integers(1, 9), seed=st.integers(0, 999))
def test_small_numbers_are_their_own_codes(kind, n, p, seed):
    x = np.random.default_rng(seed).integers(0, 127, (n, p)).astype(kind)
    codes, present = np.empty((n, p), np.int8), np.zeros((p, 127), np.bool_)
    assert encode_small(x, codes, present)
    np.testing.assert_array_equal(codes, x)
    for column, marks in zip(x.T, present, strict=True):
        assert np.flatnonzero(marks).tolist() == np.unique(column).tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [0, 7, 99])
def test_other_numbers_are_found_wherever_they_are(kind, place):
    x = np.full((20, 5), 126, kind)
    for number in (127, int(np.iinfo(kind).max), int(np.iinfo(kind).min) or 127):
        x.flat[place] = number
        assert not encode_small(x, np.empty(x.shape, np.int8), np.zeros((5, 127), np.bool_))


@pytest.mark.parametrize("kind", KINDS)
@given(
    n=st.integers(0, 20),
    p=st.integers(1, 5),
    width=st.integers(0, 9),
    code=st.sampled_from([np.int8, np.int16, np.int32]),
    span=st.sampled_from([10, 2**62]),
    seed=st.integers(0, 999),
)
def test_known_numbers_are_looked_up(kind, n, p, width, code, span, seed):
    chance = np.random.default_rng(seed)
    limits = np.iinfo(kind)
    x = chance.integers(max(-span, limits.min), min(span, limits.max), (n, p), endpoint=True).astype(kind)
    low = np.where(chance.random(p) < 0.1, 2**62, chance.integers(-9, 9, p))
    tables = chance.integers(-1, 7, (p, width)).astype(code)
    codes = np.empty((n, p), code)
    expected = encode_by_columns(x, low, tables)
    assert encode_known(x, low, tables, codes) == (expected < 0).sum()
    np.testing.assert_array_equal(codes, expected)


def test_differences_beyond_64_bits_do_not_wrap_around():
    x = np.array([[-(2**63)], [2**63 - 1], [3]])
    codes = np.empty((3, 1), np.int8)
    assert encode_known(x, np.array([3]), np.zeros((1, 4), np.int8), codes) == 2
    assert codes.tolist() == [[-1], [-1], [0]]
