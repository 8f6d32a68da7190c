"""The graphical lasso: its optimality conditions tightly, scikit-learn loosely."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag
from sklearn.covariance import graphical_lasso as of_scikit_learn

from suffice.optimise.graphical_lasso import graphical_lasso


def covariance(seed: int, p: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + rng.normal(size=(n, 1)) + 0.3 * rng.normal(size=(n, p))
    return np.cov(rows.T, bias=True).reshape(p, p)


def violation(k: np.ndarray, s: np.ndarray, alpha: float) -> float:
    """Return the largest violation of the conditions, relative to the variances, by another inverse."""
    roots = np.sqrt(np.diag(s))
    unit = np.outer(roots, roots)
    w = np.linalg.inv(k * unit)
    worst = 0.0
    for i in range(len(s)):
        for j in range(len(s)):
            slope, limit = s[i, j] / unit[i, j] - w[i, j], 0.0 if i == j else alpha / unit[i, j]
            worst = max(worst, abs(slope + limit * np.sign(k[i, j])) if k[i, j] else abs(slope) - limit)
    return worst


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), p=st.integers(1, 8), extra=st.integers(-3, 20), share=st.floats(0.02, 2.0))
def test_conditions_hold(seed: int, p: int, extra: int, share: float) -> None:
    s = covariance(seed, p, max(p + extra, 3))
    alpha = share * float(np.abs(s).mean())
    found = graphical_lasso(s, alpha)
    assert found.violation <= 1e-10
    assert violation(found.precision, s, alpha) <= 1e-9
    assert (found.precision == found.precision.T).all()
    roots = np.sqrt(np.diag(s))
    np.testing.assert_allclose(np.diag(found.covariance) / roots**2, 1.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_scikit_learn(seed: int) -> None:
    s = covariance(seed, 6, 40)
    alpha = 0.3 * float(np.median(np.abs(s)))
    theirs = of_scikit_learn(s, alpha, tol=1e-10, enet_tol=1e-12, max_iter=5000)[1]
    ours = graphical_lasso(s, alpha).precision
    np.testing.assert_allclose(ours, theirs, atol=1e-5 * np.abs(theirs).max())
    assert ((ours == 0) == (np.abs(theirs) < 1e-9)).all()


def test_columns_of_other_scales_are_other_penalties() -> None:
    s, scale = covariance(1, 4, 30), np.array([1e-6, 1.0, 1e5, 10.0])
    other = s * np.outer(scale, scale)
    found = graphical_lasso(other, 0.2)
    assert violation(found.precision, other, 0.2) <= 1e-9


def test_a_wide_matrix() -> None:
    s = covariance(3, 20, 12)
    found = graphical_lasso(s, 0.5 * float(np.median(np.abs(s))))
    assert found.violation <= 1e-10
    assert 20 < np.count_nonzero(found.precision) < 400


@pytest.mark.parametrize("share", [1.0, 0.1, 0.01, 0.001])
@pytest.mark.parametrize("d", [8, 20, 60])
def test_singular_matrices_and_small_penalties(d: int, share: float) -> None:
    s = covariance(0, d, 2 * d // 3)
    alpha = share * float(np.median(np.abs(s)))
    found = graphical_lasso(s, alpha)
    assert found.violation <= 1e-10
    assert violation(found.precision, s, alpha) <= 1e-9
    assert found.n_steps < 60


@pytest.mark.parametrize("d", [8, 20, 60])
def test_regular_matrices_take_a_few_newton_steps(d: int) -> None:
    s = covariance(0, d, 10 * d)
    found = graphical_lasso(s, float(np.median(np.abs(s))))
    assert found.violation <= 1e-10
    assert found.n_steps <= 5


def test_large_matrices() -> None:
    s = covariance(1, 200, 100)
    alpha = 0.5 * float(np.median(np.abs(s)))
    found = graphical_lasso(s, alpha)
    assert violation(found.precision, s, alpha) <= 1e-10
    steps = np.cumsum(np.random.default_rng(0).normal(size=(400, 200)), axis=1)
    chain = np.cov(steps.T, bias=True)
    found = graphical_lasso(chain, float(np.median(np.abs(chain))))
    assert found.violation <= 1e-10


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), sizes=st.lists(st.integers(1, 4), min_size=2, max_size=4))
def test_parts_that_no_covariance_joins_are_solved_alone(seed: int, sizes: list[int]) -> None:
    rng = np.random.default_rng(seed)
    blocks = [covariance(seed + place, size, 12) for place, size in enumerate(sizes)]
    alpha = 0.3 * min(float(np.abs(block).max()) for block in blocks)
    whole = block_diag(*blocks)
    noise = rng.uniform(-alpha, alpha, whole.shape)
    whole += np.where(
        block_diag(*(np.ones_like(block) for block in blocks)) > 0, 0.0, np.triu(noise, 1) + np.triu(noise, 1).T
    )
    found = graphical_lasso(whole, alpha)
    wanted = block_diag(*(graphical_lasso(block, alpha).precision for block in blocks))
    scale = np.sqrt(np.outer(np.diag(whole), np.diag(whole)))
    np.testing.assert_allclose(found.precision * scale, wanted * scale, atol=1e-8)
    assert (found.precision[wanted == 0] == 0).all()
    assert found.violation <= 1e-10


def test_what_rounding_hides_is_said_soon() -> None:
    s = covariance(0, 30, 20)
    found = graphical_lasso(s, 1e-9 * float(np.median(np.abs(s))))
    assert found.n_steps < 500
    assert found.violation > 1e-10
    np.linalg.cholesky(found.precision)


def test_the_step_limit_is_kept() -> None:
    s = covariance(4, 6, 20)
    found = graphical_lasso(s, 0.05, max_iter=1)
    assert found.n_steps == 1
    assert found.violation > 1e-10
