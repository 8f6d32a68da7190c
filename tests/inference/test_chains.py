"""Diagnostics of chains, against autoregressive ones whose correlations are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.inference.chains import effective_size, monte_carlo_error, r_hat


def autoregressive(phi: float, n_chains: int, n_draws: int, seed: int) -> Any:
    """Chains x_t = φ x_{t−1} + noise of variance one, from the stationary distribution; ρ_t = φᵗ."""
    noise = np.random.default_rng(seed).normal(size=(n_draws, n_chains)) * math.sqrt(1 - phi**2)
    values = np.empty((n_draws, n_chains))
    values[0] = noise[0] / math.sqrt(1 - phi**2)
    for t in range(1, n_draws):
        values[t] = phi * values[t - 1] + noise[t]
    return values.T


def plain_effective_size(values: Any) -> float:
    """Geyer's initial monotone sequence by loops."""
    m, n = values.shape
    means = [math.fsum(chain) / n for chain in values]
    within = sum(sum((x - mean) ** 2 for x in chain) / (n - 1) for chain, mean in zip(values, means, strict=True)) / m
    grand = sum(means) / m
    between = sum((mean - grand) ** 2 for mean in means) / (m - 1) if m > 1 else 0.0
    total = (n - 1) / n * within + between

    def correlation(lag: int) -> float:
        if lag == 0:
            return 1.0
        covariance = 0.0
        for chain, mean in zip(values, means, strict=True):
            covariance += sum((chain[i] - mean) * (chain[i + lag] - mean) for i in range(n - lag)) / (n - 1)
        return float(1 - (within - covariance / m) / total)

    summed, last = 0.0, math.inf
    for lag in range(0, n - 1, 2):
        pair = correlation(lag) + correlation(lag + 1)
        if pair <= 0:
            break
        last = min(last, pair)
        summed += last
    return float(m * n / max(2 * summed - 1, 1 / math.log10(max(m * n, 10))))


@pytest.mark.parametrize("phi", [-0.4, 0.0, 0.5, 0.9])
@pytest.mark.parametrize("n_chains", [1, 8])
def test_effective_size_of_autoregressive_chains(phi: float, n_chains: int) -> None:
    values = autoregressive(phi, n_chains, 80_000 // n_chains, 1)
    assert effective_size(values) == pytest.approx(80_000 * (1 - phi) / (1 + phi), rel=0.1)


@pytest.mark.parametrize("shape", [(1, 4), (1, 7), (3, 4), (3, 25), (2, 60)])
@pytest.mark.parametrize("phi", [-0.9, 0.0, 0.7])
def test_effective_size_equals_plain_loops(phi: float, shape: tuple[int, int]) -> None:
    values = autoregressive(phi, *shape, 3) + 100.0
    assert effective_size(values) == pytest.approx(plain_effective_size(values), rel=1e-8)


def test_chains_that_disagree_are_worth_little() -> None:
    values = autoregressive(0.0, 4, 1000, 2)
    assert effective_size(values) > 3000
    assert effective_size(values + np.array([[0], [0], [5], [5]])) < 12


def test_the_error_of_the_mean_is_the_one_that_is_met() -> None:
    """Standardised errors of 400 means have the variance one, within 4.5 standard errors of that."""
    z = []
    for seed in range(400):
        values = autoregressive(0.8, 4, 500, 1000 + seed)
        z.append(values.mean() / monte_carlo_error(values))
    assert abs(np.mean(np.square(z)) - 1) < 4.5 * math.sqrt(2 / 400)


def test_r_hat() -> None:
    values = autoregressive(0.5, 4, 4000, 5)
    assert 0.999 < r_hat(values) < 1.01
    # eight halves with means 0 and 2, whose variance is 8/7, and variance one within
    assert r_hat(values + np.array([[0], [0], [2], [2]])) == pytest.approx(math.sqrt(1 + 8 / 7), rel=0.05)
    trend = values + np.linspace(-2, 2, 4000)
    assert r_hat(trend) > 1.2  # which whole chains, all with the same trend, would not tell
    assert r_hat(values[:1]) < 1.01


def test_chains_that_stand_still() -> None:
    same, stuck = np.full((3, 10), 0.1), np.repeat([[0.1], [0.7]], 10, axis=1)
    assert (effective_size(same), monte_carlo_error(same), r_hat(same)) == (30.0, 0.0, 1.0)
    assert r_hat(stuck) == math.inf
    assert effective_size(stuck) < 3


@pytest.mark.parametrize("values", [[1.0] * 9, [[1.0, 2.0, 3.0]], np.zeros((0, 9)), [[1.0, 2.0, 3.0, math.nan]]])
@pytest.mark.parametrize("diagnose", [effective_size, monte_carlo_error, r_hat])
def test_other_arrays_are_refused(values: Any, diagnose: Any) -> None:
    with pytest.raises(sf.ArgumentError, match=r"'values' argument .* one row a chain, with at least 4 draws"):
        diagnose(values)
