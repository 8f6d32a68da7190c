"""Kernels and NumPy learn and say the same, whatever the gaps, weights, kinds of float, layouts and pieces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.models import class_scoring
from suffice.sklearn import base
from suffice.stats import matrix_pieces

NEVER = 1 << 60
LARGE = {}
"""The sizes from which each module goes through kernels."""
GAUSSIAN = ("full", "tied", "diagonal", "tied_diagonal", "spherical", "tied_spherical")
NUMBERS: dict[str, Any] = {
    "gaussian": lambda: sf.NaiveBayes("gaussian"),
    "tied_gaussian": lambda: sf.NaiveBayes("tied_gaussian"),
    **{name: partial(sf.GaussianBayes, name) for name in GAUSSIAN},
}
COUNTS: dict[str, Any] = {
    "multinomial": lambda: sf.NaiveBayes("multinomial"),
    "categorical": lambda: sf.NaiveBayes("categorical"),
    "joint": lambda: sf.JointBayes(0.5),
}


@contextmanager
def through(size: int, rows: int) -> Iterator[None]:
    """Go through kernels from some size on, in pieces of so many rows."""
    with pytest.MonkeyPatch.context() as patch:
        for module, names in LARGE.items():
            for name in names:
                patch.setattr(module, name, size)
        for module, name in ((class_scoring, "PIECE_ROWS"), (base, "PIECE_ROWS"), (matrix_pieces, "MAX_ROWS")):
            patch.setattr(module, name, rows)
        patch.setattr(matrix_pieces, "MIN_ROWS", 1)
        yield


def agree(make: Any, x: np.ndarray, y: np.ndarray, weights: Any, asked: np.ndarray, rows: int) -> None:
    """Fit and ask along both paths, and the second in pieces."""
    with through(NEVER, 1 << 15):
        plain = make().fit(x, y, sample_weight=weights)
        expected, winners = plain.predict_log_proba(asked), plain.predict(asked)
    with through(0, rows):
        quick = make().fit(x, y, sample_weight=weights)
        assert quick.fit_.certificate.ok
        np.testing.assert_allclose(quick.predict_log_proba(asked), expected, rtol=1e-8, atol=1e-8)
        clear = np.sort(expected, axis=1)
        clear = clear[:, -1] - clear[:, -2] > 1e-6
        np.testing.assert_array_equal(quick.predict(asked)[clear], winners[clear])
    assert quick.fit_.log_likelihood == pytest.approx(plain.fit_.log_likelihood, rel=1e-10)


def drawn(data: Any, rng: np.random.Generator, n: int) -> tuple[np.ndarray, Any, int]:
    """Return classes, weights or None, and the rows of a piece."""
    y = np.append(np.arange(30) % 3, rng.integers(0, 3, n - 30))
    weights = data.draw(st.sampled_from([None, rng.integers(1, 4, n), rng.random(n) + 0.5]), label="weights")
    return y, weights, data.draw(st.sampled_from([7, 64, 1 << 15]), label="rows of a piece")


@pytest.mark.parametrize("kind", NUMBERS)
@settings(max_examples=15)
@given(data=st.data(), n=st.integers(40, 150), p=st.integers(1, 5), seed=st.integers(0, 999))
def test_numbers_with_gaps(kind: str, data: Any, n: int, p: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, weights, rows = drawn(data, rng, n)
    x = rng.normal(size=(n, p)) + y[:, None] + data.draw(st.sampled_from([0.0, 100.0]))
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    order = data.draw(st.sampled_from("CF"))
    asked = np.where(rng.random((n, p)) < 0.2, np.nan, x).astype(dtype, order=order)
    x = x.astype(dtype, order=order)
    if kind.endswith("gaussian") and data.draw(st.booleans(), label="gaps in training"):
        x[30:][rng.random((n - 30, p)) < 0.2] = np.nan
    agree(NUMBERS[kind], x, y, weights, asked, rows)


@pytest.mark.parametrize("kind", COUNTS)
@settings(max_examples=15)
@given(data=st.data(), n=st.integers(40, 150), p=st.integers(1, 4), seed=st.integers(0, 999))
def test_whole_numbers(kind: str, data: Any, n: int, p: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, weights, rows = drawn(data, rng, n)
    x = rng.poisson(1.0, (n, p)) + (rng.random((n, p)) < y[:, None] / 3)
    dtype = data.draw(st.sampled_from([np.int64, np.int8, np.uint8, np.int32]))
    x = x.astype(dtype, order=data.draw(st.sampled_from("CF")))
    agree(COUNTS[kind], x, y, weights, x[::-1], rows)
