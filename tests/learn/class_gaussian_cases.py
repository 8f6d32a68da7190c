"""Tables of normal classes, and their estimates by NumPy alone."""

from __future__ import annotations

from typing import Any

import numpy as np

NAMES = ("x", "y", "z")


def table(seed: int, n: int = 40, classes: int = 3, d: int = 3, spread: int = 3) -> dict[str, Any]:
    """Rows of classes with means and covariances of their own; columns of very different scales, far from zero."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.repeat(np.arange(classes), d + 2), rng.integers(0, classes, n - classes * (d + 2))])
    scale = 10.0 ** rng.integers(-spread, spread + 1, d)
    rows = np.empty((n, d))
    for code in range(classes):
        mine = codes == code
        rows[mine] = rng.normal(size=(mine.sum(), d)) @ rng.normal(size=(d, d)) + 0.5 * rng.normal(size=(mine.sum(), d))
        rows[mine] += 2 * rng.normal(size=d)
    order = rng.permutation(n)
    rows = rows[order] * scale + 10 * scale * rng.normal(size=d)
    return {**dict(zip(NAMES[:d], rows.T, strict=True)), "class": np.array(list("abcdef"))[codes[order]]}


def rows_of(data: dict[str, Any], d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    return np.stack([data[name] for name in NAMES[:d]], axis=1), np.asarray(data["class"])


def naive(data: dict[str, Any], covariance: str, divisor: str = "n") -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the means and the covariance matrix of every class."""
    x, y = rows_of(data)
    labels = sorted(set(y))
    means = np.array([x[y == label].mean(axis=0) for label in labels])
    lost = int(divisor == "n-1")
    n = len(y)
    own = [np.cov(x[y == label].T, ddof=lost) for label in labels]
    within = x - means[np.searchsorted(labels, y)]
    pooled = within.T @ within / (n - lost * len(labels))
    matrices = [pooled] * len(labels) if covariance.startswith("tied") else own
    if covariance.endswith("diagonal"):
        matrices = [np.diag(np.diag(matrix)) for matrix in matrices]
    if covariance.endswith("spherical"):
        matrices = [np.eye(len(matrix)) * np.trace(matrix) / len(matrix) for matrix in matrices]
    return means, matrices


def gap(found: np.ndarray, wanted: np.ndarray) -> float:
    """Return the largest difference of two matrices in units of the standard deviations."""
    roots = np.sqrt(np.diag(wanted))
    return float(np.abs((found - wanted) / np.outer(roots, roots)).max())
