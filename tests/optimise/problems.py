"""Functions to minimise: value, gradient and product with the Hessian, written for clarity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Problem:
    """A function with a start; gradients are small when they are small beside ``size``."""

    evaluate: Callable[[Any], tuple[float, Any, Any]]
    start: Any
    size: float = 1.0
    scale: Any = None
    too_hard_for: tuple[str, ...] = ()
    best: float | None = None
    solution: Any = field(default=None)

    def shifted(self, offset: float) -> Problem:
        """Add a constant, so that values keep few digits of what changes."""

        def evaluate(x):
            value, gradient, product = self.evaluate(x)
            return value + offset, gradient, product

        return replace(self, evaluate=evaluate, best=None if self.best is None else self.best + offset)


def quadratic(eigenvalues, seed=0, **options) -> Problem:
    """½ xᵀAx − bᵀx with b in the range of A, so that a minimum exists even where A is singular."""
    rng = np.random.default_rng(seed)
    eigenvalues = np.asarray(eigenvalues, float)
    basis = np.linalg.qr(rng.normal(size=(eigenvalues.size, eigenvalues.size)))[0]
    matrix = basis @ (eigenvalues[:, None] * basis.T)
    matrix = (matrix + matrix.T) / 2
    solution = basis @ (np.where(eigenvalues > 0, 1.0, 0.0) * rng.normal(size=eigenvalues.size))
    b = matrix @ solution

    def evaluate(x):
        image = matrix @ x
        return float(x @ image / 2 - b @ x), image - b, lambda v: matrix @ v

    start = rng.normal(size=eigenvalues.size)
    unique = solution if eigenvalues.min() > 0 else None
    return Problem(evaluate, start, eigenvalues.max(), best=float(-b @ solution / 2), solution=unique, **options)


def stretched(n=40, decades=8, seed=0) -> Problem:
    """A parabola with curvatures over many decades, and a scale that knows them up to a factor of two."""
    rng = np.random.default_rng(seed)
    curvature = 10 ** np.linspace(0, decades, n)
    solution = rng.normal(size=n)

    def evaluate(x):
        return float(curvature @ (x - solution) ** 2 / 2), curvature * (x - solution), lambda v: curvature * v

    scale = rng.uniform(0.5, 2, n) / curvature
    return Problem(evaluate, np.zeros(n), 1e4, scale, ("gradient_descent",), 0.0, solution)


def log_partition(n_features=12, n_states=60, spread=0.0, seed=0, **options) -> Problem:
    """log Σ exp(Fx) − μᵀx, overparametrised: a third of the features occur twice, and one is constant."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_states, n_features)) * np.exp(spread * rng.normal(size=n_features))
    features = np.c_[features, features[:, : n_features // 3], np.ones(n_states)]
    target = rng.dirichlet(np.ones(n_states)) @ features

    def evaluate(x):
        scores = features @ x
        weights = np.exp(scores - scores.max())
        p = weights / weights.sum()

        def product(v):
            image = features @ v
            return (p * (image - p @ image)) @ features

        return float(scores.max() + np.log(weights.sum()) - target @ x), p @ features - target, product

    return Problem(evaluate, np.zeros(features.shape[1]), np.abs(features).max(), **options)


def softmax_regression(n_rows=80, n_inputs=3, n_classes=4, penalty=0.0, seed=0) -> Problem:
    """Mean negative log-likelihood of classes; every class has weights, one set more than needed."""
    rng = np.random.default_rng(seed)
    inputs = np.c_[np.ones(n_rows), rng.normal(size=(n_rows, n_inputs))]
    labels = rng.integers(n_classes, size=n_rows)
    one_hot = np.eye(n_classes)[labels]
    shape = (n_inputs + 1, n_classes)

    def evaluate(x):
        scores = inputs @ x.reshape(shape)
        scores -= scores.max(axis=1, keepdims=True)
        weights = np.exp(scores)
        total = weights.sum(axis=1, keepdims=True)
        p = weights / total
        value = float((np.log(total[:, 0]) - scores[np.arange(n_rows), labels]).mean() + penalty * x @ x / 2)

        def product(v):
            image = inputs @ v.reshape(shape)
            change = p * (image - (p * image).sum(axis=1, keepdims=True))
            return (inputs.T @ change / n_rows).ravel() + penalty * v

        return value, (inputs.T @ (p - one_hot) / n_rows).ravel() + penalty * x, product

    return Problem(evaluate, np.zeros(shape[0] * shape[1]))


def rosenbrock(n=6) -> Problem:
    """The banana-shaped valley: not convex."""

    def evaluate(x):
        head, tail = x[:-1], x[1:]
        gap = tail - head**2
        gradient = np.zeros(n)
        gradient[:-1] = -400 * head * gap - 2 * (1 - head)
        gradient[1:] += 200 * gap

        def product(v):
            image = np.zeros(n)
            image[:-1] = (2 - 400 * tail + 1200 * head**2) * v[:-1] - 400 * head * v[1:]
            image[1:] += 200 * v[1:] - 400 * head * v[:-1]
            return image

        return float((100 * gap**2 + (1 - head) ** 2).sum()), gradient, product

    start = np.tile([-1.2, 1.0], n)[:n]
    return Problem(evaluate, start, 10.0, too_hard_for=("gradient_descent",))


def barrier(outside=np.inf, n=8, start=1.0, **options) -> Problem:
    """Σ c x − log x, which exists for positive x only, and has its minimum at 1/c."""
    c = np.linspace(1, 10, n)

    def evaluate(x):
        if not (x > 0).all():
            return outside, None, None
        return float(c @ x - np.log(x).sum()), c - 1 / x, lambda v: v / x**2

    best = float(n + np.log(c).sum())
    return Problem(evaluate, np.full(n, start), 100.0, best=best, solution=1 / c, **options)


PROBLEMS = {
    "one number": quadratic([3.0]),
    "a well-rounded bowl": quadratic(np.linspace(1, 3, 10)),
    "an oblong bowl": quadratic(np.geomspace(1, 1e3, 15)),
    "a bowl with flat directions": quadratic([0, 0, 0, *np.linspace(1, 5, 9)]),
    "an oblong bowl with flat directions": quadratic([0, 0, *np.geomspace(1, 100, 10)]),
    "a stretched bowl with its scale": stretched(),
    "a log-partition function": log_partition(),
    "a log-partition function of unequal features": log_partition(spread=0.7, too_hard_for=("gradient_descent",)),
    "softmax regression": softmax_regression(),
    "softmax regression with a penalty": softmax_regression(penalty=0.1),
    "Rosenbrock's valley": rosenbrock(),
    "a barrier of infinity": barrier(),
    "a barrier of NaN": barrier(outside=np.nan),
    "a barrier close by": barrier(start=1e-3, too_hard_for=("gradient_descent",)),
}
