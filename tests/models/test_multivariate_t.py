"""Student's t distribution against scipy's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import suffice as sf
from suffice.models.multivariate_t import MultivariateT

NAMES = ("a", "b", "c")


def some_scale(seed: int, p: int) -> np.ndarray:
    root = np.random.default_rng(seed).normal(size=(p, p + 1))
    return root @ root.T + np.eye(p)


def table(x: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(NAMES, x.T, strict=False))


@given(seed=st.integers(0, 10**4), p=st.integers(1, 3), dof=st.floats(0.5, 50))
def test_student_t_is_scipys(seed: int, p: int, dof: float) -> None:
    scale, location, x = some_scale(seed, p), np.arange(p) - 1.0, np.random.default_rng(seed + 1).normal(size=(5, p))
    t = MultivariateT(NAMES[:p], location, scale, dof)
    wanted = stats.multivariate_t(location, scale, df=dof).logpdf(x)
    np.testing.assert_allclose(t.log_prob(table(x)), np.atleast_1d(wanted), rtol=1e-9)
    last = t.marginal(NAMES[p - 1])
    wanted = stats.t(dof, location[-1], math.sqrt(scale[-1, -1]))
    np.testing.assert_allclose(last.log_prob(table(x)), wanted.logpdf(x[:, -1]), rtol=1e-9)
    np.testing.assert_allclose(t.interval(0.9)[-1], wanted.interval(0.9), rtol=1e-9)


def test_student_t_draws_have_its_distribution() -> None:
    t = MultivariateT(["a", "b"], [1.0, -2.0], [[1.0, 0.6], [0.6, 2.0]], 5.0)
    drawn = t.sample(20_000, seed=3, backend="pandas").to_numpy()
    assert stats.kstest(drawn[:, 0], stats.t(5, 1.0, 1.0).cdf).pvalue > 1e-3
    gap = drawn - t.mean
    squares = np.einsum("ij,jk,ik->i", gap, np.linalg.inv(t.scale), gap)
    assert stats.kstest(squares / 2, stats.f(2, 5).cdf).pvalue > 1e-3
    assert t.sample(3, seed=1, backend="pandas").equals(t.sample(5, seed=1, backend="pandas").head(3))
    np.testing.assert_allclose(t.covariance, t.scale * 5 / 3)


def test_student_t_without_moments_says_so() -> None:
    t = MultivariateT(["a"], [0.0], [[2.0]], 1.0)
    for what in ("mean", "covariance"):
        with pytest.raises(sf.ModelError, match=f"has a {what}.*This one has 1"):
            getattr(t, what)
    assert str(t).splitlines()[2].endswith("-")
    assert "1 degree of freedom" in t._repr_html_()
    assert repr(t) == "MultivariateT(1 variable, dof 1)"
    with pytest.raises(sf.ArgumentError, match="'dof'"):
        MultivariateT(["a"], [0.0], [[2.0]], 0)
