"""What correlated draws are worth: effective sample size, Monte Carlo error, and whether chains agree.

Values have the shape (n_chains, n_draws). With W the mean variance within chains and B/n the variance of their means,
V = (n − 1)/n · W + B/n estimates the variance of the distribution; it is too large as long as chains disagree.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import ArgumentError
from suffice.types import Floats

LEAST_DRAWS = 4


def effective_size(values: ArrayLike) -> float:
    """Return how many independent draws would tell as much about the mean.

    Parameters
    ----------
    values : array, shape (n_chains, n_draws)

    Returns
    -------
    float
        The number of draws divided by τ = 1 + 2 Σ ρ_t. Draws that are all equal count as independent.

    Notes
    -----
    ρ_t = 1 − (W − mean autocovariance at lag t) / V. Sums of neighbours, ρ_2k + ρ_2k+1, are positive and fall in a
    reversible chain: the sum ends before the first that is not positive, and each counts at most as much as the one
    before it (Geyer's initial monotone sequence, 1992).

    Examples
    --------
    >>> draws = np.random.default_rng(1).normal(size=(4, 1000))
    >>> 3400 < effective_size(draws) < 4600
    True
    >>> repeated = np.repeat(draws, 5, axis=1)
    >>> 3400 < effective_size(repeated) < 4600
    True
    """
    checked = _checked(values)
    within, total = _variances(checked)
    if total == 0:
        return float(checked.size)
    correlations = 1 - (within - _autocovariances(checked).mean(axis=0)) / total
    correlations[0] = 1.0
    pairs = correlations[: len(correlations) // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0)
    kept = np.minimum.accumulate(pairs[: negative[0] if len(negative) else None])
    # Draws may be worth more than independent ones, but beyond this only through the noise of the correlations.
    least = 1 / math.log10(max(checked.size, 10))
    return checked.size / max(2 * float(kept.sum()) - 1, least)


def monte_carlo_error(values: ArrayLike) -> float:
    """Return the standard error of the mean of all draws, √(V / effective size).

    >>> draws = np.random.default_rng(1).normal(size=(4, 2500))
    >>> 0.009 < monte_carlo_error(draws) < 0.011
    True
    """
    checked = _checked(values)
    return math.sqrt(_variances(checked)[1] / effective_size(checked))


def r_hat(values: ArrayLike) -> float:
    """Return √(V / W) of the halves of all chains: near one when chains agree, with each other and over time.

    Values above 1.01 say that chains should run longer. It is infinite when every half stands still somewhere else.

    >>> draws = np.random.default_rng(1).normal(size=(4, 1000))
    >>> r_hat(draws) < 1.01 < 1.5 < r_hat(draws + [[0], [0], [0], [3]])
    True
    """
    checked = _checked(values)
    half = checked.shape[1] // 2
    within, total = _variances(np.concatenate([checked[:, :half], checked[:, -half:]]))
    if total == 0:
        return 1.0
    return math.sqrt(total / within) if within > 0 else math.inf


def _checked(values: ArrayLike) -> Floats:
    array = np.asarray(values, np.float64)
    if array.ndim != 2 or not len(array) or array.shape[1] < LEAST_DRAWS or not np.isfinite(array).all():
        raise ArgumentError(
            f"The 'values' argument must be an array of finite numbers, one row a chain, with at least {LEAST_DRAWS} "
            f"draws. Got one of shape {array.shape}{'' if np.isfinite(array).all() else ', not all finite'} instead."
        )
    return array


def _variances(values: Floats) -> tuple[float, float]:
    """Return W and V; rounding makes no variance of equal numbers."""
    n_chains, n_draws = values.shape
    moved = values - values[:, :1]
    within = float(moved.var(axis=1, ddof=1).mean())
    means = values[:, 0] - values[0, 0] + moved.mean(axis=1)
    between = float(means.var(ddof=1)) if n_chains > 1 else 0.0
    return within, (n_draws - 1) / n_draws * within + between


def _autocovariances(values: Floats) -> Floats:
    """Return Σ_i (x_i − x̄)(x_{i+t} − x̄) / (n − 1) for every chain and lag t; shape (n_chains, n_draws)."""
    n = values.shape[1]
    centred = values - values.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * n, axis=1)
    found: Floats = np.fft.irfft(np.abs(spectrum) ** 2, 2 * n, axis=1)[:, :n] / (n - 1)
    return found
