"""The step of long vectors against the same in plain arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.native.vectors import add_then_dot
from suffice.optimise import lbfgs as module
from suffice.optimise.lbfgs import lbfgs
from suffice.progress import Watch


@given(st.integers(0, 5000), st.sampled_from([np.float32, np.float64]), st.integers(0, 99))
def test_it_adds_and_multiplies(n, kind, seed):
    chance = np.random.default_rng(seed)
    result, (row, other) = chance.normal(size=n), chance.normal(size=(2, n)).astype(kind)
    expected = result + 0.3 * row.astype(float)
    assert add_then_dot(result, 0.3, row, other) == pytest.approx(float(expected @ other), abs=1e-9)
    np.testing.assert_allclose(result, expected, atol=1e-12)


def test_a_search_takes_the_same_way_in_single_and_double_precision(monkeypatch):
    chance = np.random.default_rng(5)
    size, target = np.exp(chance.normal(size=400)), chance.normal(size=400)

    def bowl(x):
        return float(size @ (x - target) ** 2 + ((x - target) ** 4).sum()), 2 * size * (x - target) + 4 * (
            x - target
        ) ** 3

    def search():
        small = lambda x, value, gradient: bool(abs(gradient).max() < 1e-9)  # noqa: E731
        return lbfgs(bowl, np.zeros(400), done=small, steps=Watch().steps("L-BFGS", 300))

    plain = search()
    monkeypatch.setattr(module, "LONG", 100)
    single = search()
    assert plain.converged
    assert single.converged
    assert abs(single.n_steps - plain.n_steps) <= 2
    np.testing.assert_allclose(plain.x, target, atol=1e-9)
    np.testing.assert_allclose(single.x, target, atol=1e-9)
