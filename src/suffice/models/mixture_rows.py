"""Mixtures of normal distributions of one variable, one a row: their means, standard deviations and intervals."""

from __future__ import annotations

import numpy as np

from suffice.types import Floats

STEPS = 100
CLOSE = 1e-13
"""Bisection ends when the ends are this close, beside the standard deviation."""


def summary(weights: Floats, means: Floats, sd: Floats, level: float) -> Floats:
    """Return mean, standard deviation and the ends of the central interval of each row's mixture; shape (n_rows, 4).

    Parameters
    ----------
    weights, means : array, shape (n_rows, k)
    sd : array, shape (k,)
        The same in all rows.
    level : float
        The probability of the interval.

    Examples
    --------
    >>> summary(np.array([[1.0]]), np.array([[2.0]]), np.array([0.5]), 0.95).round(4).tolist()
    [[2.0, 0.5, 1.02, 2.98]]
    """
    mean = np.einsum("nk,nk->n", weights, means)
    apart = means - mean[:, None]
    spread = np.sqrt(weights @ sd**2 + np.einsum("nk,nk->n", weights, apart**2))
    tail = (1 - level) / 2
    ends = [quantile(weights, means, sd, spread, p) for p in (tail, 1 - tail)]
    return np.stack([mean, spread, *ends], axis=1)


def quantile(weights: Floats, means: Floats, sd: Floats, spread: Floats, p: float) -> Floats:
    """Return the number below which each row's mixture has the probability p; shape (n_rows,).

    It lies between the least and the greatest of the components' own.
    """
    from scipy.special import ndtr, ndtri

    own = means + sd * float(ndtri(p))
    held = weights > 0
    low = np.where(held, own, np.inf).min(axis=1)
    high = np.where(held, own, -np.inf).max(axis=1)
    left = np.flatnonzero(high - low > CLOSE * spread)  # nothing is left of rows with one component
    for _ in range(STEPS):
        if not len(left):
            break
        middle = (low[left] + high[left]) / 2
        reached = np.einsum("nk,nk->n", weights[left], ndtr((middle[:, None] - means[left]) / sd))
        low[left], high[left] = np.where(reached < p, middle, low[left]), np.where(reached < p, high[left], middle)
        left = left[high[left] - low[left] > CLOSE * spread[left]]
    return np.asarray((low + high) / 2)
