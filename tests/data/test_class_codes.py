"""Classes as codes: the same as np.unique of every kind of label."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as of_numpy

from suffice.data import class_codes as module
from suffice.data.class_codes import class_codes

DTYPES = ["?", "i1", "i2", "i8", "u1", "u8", "f4", "f8", ">i4", "U3"]


def assert_like_unique(labels: np.ndarray) -> None:
    classes, codes = class_codes(labels)
    expected, places = np.unique(labels, return_inverse=True)
    assert classes.dtype == expected.dtype
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, places)
    assert codes.dtype == np.int64


@given(data=st.data(), dtype=st.sampled_from(DTYPES), n=st.integers(0, 30), span=st.sampled_from([1, 40, 1 << 16]))
def test_codes_are_those_of_unique(data: Any, dtype: str, n: int, span: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SPAN", span)
        patch.setattr(module, "MANY_ROWS", 1)
        assert_like_unique(data.draw(of_numpy.arrays(np.dtype(dtype), n)))


@given(data=st.data(), low=st.sampled_from([-(2**63), -128, -3, 0, 5, 2**63 - 9]), step=st.integers(1, 3))
def test_few_whole_numbers_are_counted_wherever_they_lie(data: Any, low: int, step: int) -> None:
    labels = low + step * np.array(data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=20)), np.int64)
    assert_like_unique(labels)
    assert_like_unique(labels[::-2])
    if low >= 0:
        assert_like_unique(labels.astype(np.uint64) + np.uint64(2**63 if low else 0))
    assert_like_unique(labels.astype(np.float64) if abs(low) < 2**50 else labels)


@pytest.mark.parametrize("dtype", [object, "U12"])
def test_many_texts_are_told_apart_without_sorting_them(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    names = np.array(["zebra", "Äpfel", "", "ape", "ape "], dtype)
    labels = names[np.random.default_rng(1).integers(0, 5, 9000)]
    expected = np.unique(labels, return_inverse=True)
    monkeypatch.setattr(module.np, "unique", lambda *_, **__: pytest.fail("sorted all rows"))
    classes, codes = class_codes(labels)
    np.testing.assert_array_equal(classes, expected[0])
    np.testing.assert_array_equal(codes, expected[1])
    assert classes.dtype == expected[0].dtype


def test_objects_that_are_not_all_texts_are_left_to_unique() -> None:
    numbers = np.array([3, 1, 2] * 2000, object)
    assert_like_unique(numbers)
    for odd in (None, 1, b"x"):
        with pytest.raises(TypeError):
            class_codes(np.array(["a", odd] * 3000, object))


def test_floats_with_fractions_gaps_or_infinities_are_sorted() -> None:
    for labels in ([0.5, 1.5, 0.5], [1.0, np.inf, 1.0], [np.nan, 1.0], [1e300, 2.0], [-0.0, 0.0]):
        assert_like_unique(np.array(labels))
