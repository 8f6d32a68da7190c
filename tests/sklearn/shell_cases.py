"""Small tables and classifiers that the tests of the shells share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import suffice as sf

COVARIANCES = ("full", "tied", "diagonal", "tied_diagonal", "spherical", "tied_spherical")


def blobs(n: int = 60, d: int = 3, k: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Numbers around one centre a class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return rng.normal(size=(n, d)) + 1.5 * y[:, None] * np.arange(1, d + 1) / d, y


def states(n: int = 60, d: int = 2, k: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers from 0 to 2 that depend on the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return (rng.integers(0, 3, size=(n, d)) + y[:, None] * rng.integers(0, 2, size=(n, d))) % 3, y


def people(n: int = 60, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """A frame of text, bools, categories and numbers, with a named class."""
    rng = np.random.default_rng(seed)
    sick = rng.random(n) < 0.4
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n) + 8 * sick,
            "town": rng.choice(["Bern", "Graz", "Linz"], n),
            "smokes": (rng.random(n) < 0.3) | (sick & (rng.random(n) < 0.3)),
            "grade": pd.Categorical(rng.choice(["a", "b"], n), ["a", "b", "c"]),
            "visits": rng.integers(0, 4, n),
        }
    )
    return frame, pd.Series(np.where(sick, "ill", "well"), name="health")


def classifiers() -> dict[str, Any]:
    """One of each kind, with data that it can learn from."""
    return {
        "gaussian": (sf.GaussianBayes(), blobs()),
        "naive": (sf.NaiveBayes(), blobs()),
        "naive states": (sf.NaiveBayes(), states()),
        "naive mixed": (sf.NaiveBayes(), people()),
        "naive counts": (sf.NaiveBayes("multinomial"), states()),
        "naive bits": (sf.NaiveBayes("bernoulli"), states()),
        "joint": (sf.JointBayes(), states()),
        "softmax": (sf.SoftmaxRegression("l2"), blobs()),
    }
