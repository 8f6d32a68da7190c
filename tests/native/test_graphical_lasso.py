"""Sweeps of the graphical lasso against the same in NumPy."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.optimise.test_graphical_lasso import covariance

from suffice.native.graphical_lasso import sweep_columns
from suffice.optimise.graphical_lasso import _start


def sweep_slowly(
    s: np.ndarray, penalty: np.ndarray, w: np.ndarray, b: np.ndarray, sweeps: int, most: int, tol: float
) -> float:
    """Do by NumPy what `sweep_columns` does."""
    moved = 0.0
    for _ in range(sweeps):
        moved = 0.0
        for j, own in enumerate(b):
            fitted = w @ own
            for _ in range(most):
                largest = 0.0
                for i in range(len(s)):
                    if i == j:
                        continue
                    aim = float(s[i, j] - fitted[i] + w[i, i] * own[i])
                    change = math.copysign(max(abs(aim) - penalty[i, j], 0.0) / w[i, i], aim) - own[i]
                    if change:
                        own[i] += change
                        fitted += change * w[i]
                        largest = max(largest, abs(change) * float(w[i, i]))
                if largest <= tol:
                    break
            fitted[j] = w[j, j]
            moved = max(moved, float(np.abs(w[j] - fitted).max()))
            w[j] = w[:, j] = fitted
        if moved <= tol:
            break
    return moved


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), d=st.integers(2, 9), share=st.floats(0.05, 1.0), sweeps=st.integers(1, 5))
def test_it_does_what_numpy_does(seed: int, d: int, share: float, sweeps: int) -> None:
    s = covariance(seed, d, 20)
    roots = np.sqrt(np.diag(s))
    s = s / np.outer(roots, roots)
    penalty = np.where(np.eye(d) > 0, 0.0, share * np.abs(s).mean())
    results = []
    for sweep in (sweep_columns, sweep_slowly):
        # From a W that breaks |W − S| ≤ A, sweeps may lose positive definiteness and diverge (Mazumder, Hastie 2012).
        w, b = _start(s, penalty)[0], np.zeros((d, d))
        moved = sweep(s, penalty, w, b, sweeps, 50, 1e-9)
        results.append((w, b, moved))
    ours, theirs = results
    for place in range(3):
        np.testing.assert_allclose(ours[place], theirs[place], atol=1e-9)
