"""What a vector autoregression does over time: its companion matrix, stationary moments, forecasts and paths.

========  ==========================================================================
y_t       the values at time t; shape (d,)
A_i       coefficients of y_{t−i}; shape (d, d), a row an equation
Σ         covariance matrix of the errors
s_t       the state (y_t, y_{t−1}, …, y_{t−k+1}); shape (k·d,)
F         companion matrix, s_t = F s_{t−1} + (c + e_t, 0, …)
Ψ_j       how an error acts j steps later: Ψ_0 = I, Ψ_j = Σ_i A_i Ψ_{j−i}
========  ==========================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.errors import ModelError
from suffice.settings import more_memory, settings
from suffice.text import in_bytes
from suffice.types import Floats

TINY = 2.0**-54
"""Uniform numbers may be zero, whose normal quantile is −∞."""
NUMBERS = 1 << 22
"""So many numbers are drawn at once, unless one path has more."""


def companion(coefficients: Floats) -> Floats:
    """Return F, shape (k·d, k·d), from coefficients, shape (k, d, d).

    >>> companion(np.array([[[0.5]], [[0.25]]]))
    array([[0.5 , 0.25],
           [1.  , 0.  ]])
    """
    k, d, _ = coefficients.shape
    matrix = np.zeros((k * d, k * d))
    if k:
        matrix[:d] = flat(coefficients)
        matrix[d:, :-d] = np.eye((k - 1) * d)
    return matrix


def flat(coefficients: Floats) -> Floats:
    """Return the coefficients side by side, (A_1 … A_k); shape (d, k·d)."""
    k, d, _ = coefficients.shape
    return coefficients.transpose(1, 0, 2).reshape(d, k * d)


def state_covariance(coefficients: Floats, covariance: Floats) -> Floats:
    """Return the stationary covariance matrix of max(k, 1) values in a row, the latest first.

    P = Σ_j F^j Q F^jᵀ by doubling: every term is positive semidefinite, so nothing cancels. The companion matrix must
    have a spectral radius below one.
    """
    k, d, _ = coefficients.shape
    if not k:
        return np.array(covariance)
    power = companion(coefficients)
    total = np.zeros_like(power)
    total[:d, :d] = covariance
    while True:
        added = power @ total @ power.T
        total = total + added
        if np.abs(np.diag(added)).max() <= 1e-17 * np.diag(total).max():
            return (total + total.T) / 2
        power = power @ power


def autocovariances(coefficients: Floats, covariance: Floats, lags: int) -> Floats:
    """Return Γ(h) = Cov(y_t, y_{t−h}) for h = 0, …, lags; shape (lags + 1, d, d)."""
    k, d, _ = coefficients.shape
    state = state_covariance(coefficients, covariance)
    found = [state[:d, h * d : (h + 1) * d] for h in range(min(max(k, 1), lags + 1))]
    for h in range(len(found), lags + 1):  # Yule and Walker's equations
        found.append(sum((coefficients[i] @ found[h - 1 - i] for i in range(k)), np.zeros((d, d))))
    return np.stack(found)


def responses(coefficients: Floats, steps: int) -> Floats:
    """Return Ψ_0, …, Ψ_{steps−1}; shape (steps, d, d)."""
    k, d, _ = coefficients.shape
    found = [np.eye(d)]
    for j in range(1, steps):
        found.append(sum((coefficients[i] @ found[j - 1 - i] for i in range(min(k, j))), np.zeros((d, d))))
    return np.stack(found)


def future_means(intercept: Floats, coefficients: Floats, recent: Floats, steps: int) -> Floats:
    """Return E[y_{T+1}], …, E[y_{T+steps}] given the last k values, the latest last; shape (steps, d)."""
    none = np.zeros((1, steps, len(intercept)))
    found: Floats = walked(intercept, coefficients, recent[None], none)[0]
    return found


def future_covariance(coefficients: Floats, covariance: Floats, steps: int) -> Floats:
    """Return the covariance matrix of the next values together, the nearest first; shape (steps·d, steps·d)."""
    d = len(covariance)
    size = 16 * (steps * d) ** 2
    if size > settings().memory:
        raise ModelError(
            f"The covariances of {steps:,} steps together take {in_bytes(size)}, more than the "
            f"{in_bytes(settings().memory)} that are allowed. Ask for fewer, or allow more: ",
            more_memory(size),
            ".",
        )
    lower = np.zeros((steps, d, steps, d))
    acting = responses(coefficients, steps) @ np.linalg.cholesky(covariance)
    for made in range(steps):
        lower[made:, :, made, :] = acting[: steps - made]
    rows = lower.reshape(steps * d, steps * d)
    found: Floats = rows @ rows.T
    return found


# Paths --------------------------------------------------------------------------------------------------------


def walked(intercept: Floats, coefficients: Floats, before: Floats, errors: Floats) -> Floats:
    """Return the paths that errors, shape (n, length, d), make of the k values before them, shape (n, k, d)."""
    n, length, d = errors.shape
    k = len(coefficients)
    path = np.concatenate([before, errors], axis=1)
    path[:, k:] += intercept
    latest_last = flat(coefficients[::-1]).T
    for t in range(k, k + length if k else 0):
        path[:, t] += path[:, t - k : t].reshape(n, k * d) @ latest_last
    return path[:, k:]


def simulated(
    intercept: Floats,
    coefficients: Floats,
    covariance: Floats,
    start: Floats | tuple[Floats, Floats],
    shape: tuple[int, int],
    key: int,
) -> Floats:
    """Draw paths; shape (n, length, d).

    ``start`` is the k values before all paths, shape (k, d), or mean and covariance matrix of the first k values, the
    earliest first. Every path has a random stream of its own, keyed by seed and number: the first paths do not depend
    on how many there are, nor the first values on how many follow.
    """
    from scipy.special import ndtri

    (n, length), d, k = shape, len(intercept), len(coefficients)
    lower, drawn_start = np.linalg.cholesky(covariance), isinstance(start, tuple)
    group = max(1, NUMBERS // max(1, (length + k) * d))
    parts = []
    for low in range(0, n, group):
        numbers = [_stream(key, path).random((k * drawn_start + length, d)) for path in range(low, min(low + group, n))]
        normal = ndtri(np.stack(numbers) + TINY)
        if isinstance(start, tuple):
            mean, spread = start
            first = normal[:, :k].reshape(len(normal), k * d) @ np.linalg.cholesky(spread).T + mean
            first = first.reshape(len(normal), k, d)
            rest = walked(intercept, coefficients, first, normal[:, k:] @ lower.T)
            parts.append(np.concatenate([first, rest], axis=1)[:, :length])
        else:
            before = np.broadcast_to(start, (len(normal), k, d))
            parts.append(walked(intercept, coefficients, before, normal @ lower.T))
    return np.concatenate(parts) if parts else np.zeros((0, length, d))


def _stream(key: int, path: int) -> Any:
    return np.random.Generator(np.random.Philox(key=np.array([key, path], np.uint64)))
