"""What a step of a quadratic function with prices on absolute values would gain, against all patterns of signs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from suffice.optimise.decrement import LITTLE, decrement_at_zeros, decrement_by_products, decrement_of
from suffice.optimise.kinks import Kinks

Floats = NDArray[np.float64]


def drawn(seed: int) -> tuple[Floats, Floats, Floats]:
    """Return A, b and prices of ½|Ax − b|² + Σ price |x|, with relations between the columns of A."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    rank = int(rng.integers(1, n + 1))
    a = rng.normal(size=(rank, n)) * 10.0 ** rng.uniform(0, 3)
    if rng.random() < 0.5 and n > 2:  # a relation with whole numbers, as among indicators
        a[:, -1] = -a[:, : n - 1] @ rng.choice([-1.0, 1.0], n - 1)
    prices = np.full(n, 10.0 ** rng.uniform(-1, 1))
    if rng.random() < 0.5:
        prices = prices * rng.uniform(0.5, 2, n)
    return a, a @ rng.normal(size=n) + rng.normal(size=rank), prices


def value(a: Floats, b: Floats, prices: Floats, x: Floats) -> float:
    return float(((a @ x - b) ** 2).sum() / 2 + prices @ np.abs(x))


def optimum(a: Floats, b: Floats, prices: Floats) -> Floats:
    """Return the best of all optima with given zeros and signs; related columns are not used together."""
    best, least = np.zeros(len(prices)), value(a, b, prices, np.zeros(len(prices)))
    for signs in itertools.product([-1.0, 0.0, 1.0], repeat=len(prices)):
        kept = np.flatnonzero(signs)
        part = a[:, kept]
        if not len(kept) or np.linalg.matrix_rank(part) < len(kept):
            continue
        x = np.zeros(len(prices))
        x[kept] = np.linalg.solve(part.T @ part, part.T @ b - prices[kept] * np.array(signs)[kept])
        if (np.sign(x) == signs).all() and value(a, b, prices, x) < least:
            best, least = x, value(a, b, prices, x)
    return best


def gain_by_enumeration(slopes: Floats, hessian: Floats, prices: Floats, at_kink: Any) -> float:
    """Return the largest gain of all steps, numbers at a kink staying there or leaving it to either side."""
    diagonal, best = np.diag(hessian), 0.0
    for sides in itertools.product(*([-1, 0, 1] if kink else [None] for kink in at_kink)):
        kept = np.flatnonzero([side != 0 for side in sides])
        if not len(kept):
            continue
        pull = np.array([0.0 if side is None else side for side in sides]) * prices
        matrix = (hessian + LITTLE * np.diag(diagonal))[np.ix_(kept, kept)]
        step = -np.linalg.solve(matrix, (slopes + pull)[kept])
        if all(sides[i] is None or sides[i] * d >= 0 for i, d in zip(kept, step, strict=True)):
            best = max(best, float(step @ matrix @ step) / 2)
    return best


def found_at(a: Floats, b: Floats, prices: Floats, x: Floats, *, by_products: bool = False) -> float:
    hessian = a.T @ a
    slopes = a.T @ (a @ x - b)
    if by_products:
        return Kinks(prices).decrement(x, slopes, lambda v: hessian @ v, np.diag(hessian), 1.0)
    at_kink = x == 0

    def solve(gradient: Floats, kept: Any) -> Any:
        return decrement_of(gradient, hessian[np.ix_(kept, kept)])

    return decrement_at_zeros(
        slopes + np.sign(x) * prices, prices, at_kink, solve, lambda v: hessian @ v, np.diag(hessian)
    ).size


@pytest.mark.parametrize("seed", range(150))
def test_the_gain_is_that_of_the_best_pattern_of_signs(seed: int) -> None:
    a, b, prices = drawn(seed)
    rng = np.random.default_rng([seed, 1])
    x = optimum(a, b, prices) if rng.random() < 0.5 else np.zeros(len(prices))
    x = x + rng.normal(size=len(x)) * (rng.random(len(x)) < 0.5) * 10.0 ** rng.uniform(-6, 0)
    x[rng.random(len(x)) < 0.4] = 0.0
    hessian, slopes = a.T @ a, a.T @ (a @ x - b)
    wanted = gain_by_enumeration(slopes + np.sign(x) * prices, hessian, prices, x == 0)
    found = found_at(a, b, prices, x)
    assert found == pytest.approx(wanted, rel=1e-2 if wanted < 1e4 else 0.9, abs=1e-9)  # if flat, it is any large size
    true = value(a, b, prices, x) - value(a, b, prices, optimum(a, b, prices))
    assert found >= 0.9 * true - 1e-9


@pytest.mark.parametrize("seed", range(150))
def test_nothing_is_gained_at_the_optimum(seed: int) -> None:
    a, b, prices = drawn(seed)
    x = optimum(a, b, prices)
    assert found_at(a, b, prices, x) < 1e-8
    assert found_at(a, b, prices, x, by_products=True) < 1e-8


@pytest.mark.parametrize("seed", range(60))
def test_products_see_relations_that_should_move(seed: int) -> None:
    """The relation is that all numbers rise together, and what they rise to is not the one that prices like best."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    shares = rng.dirichlet(np.ones(n))
    hessian = 1e8 * (np.diag(shares) - np.outer(shares, shares))
    x = np.sort(rng.normal(size=n))
    x -= x[int(rng.integers(n))]
    prices = np.ones(n)
    best = np.abs(x - np.median(x)).sum()
    for slopes in (np.zeros(n), rng.normal(size=n) @ (np.eye(n) - 1 / n) * 0.1):
        size = Kinks(prices).decrement(x, slopes, lambda v: hessian @ v, np.diag(hessian), 1.0)
        assert (size > 0.01) == (np.abs(x).sum() - best > 1e-9)


def test_a_slope_that_equals_its_price_to_rounding_gains_nothing() -> None:
    hessian = 1e9 * (np.diag([0.1, 0.2, 0.3, 0.4]) - np.outer([0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4]))
    x, prices = np.array([-1.0, 0.0, 1.0, 2.0]), np.full(4, 3.0)  # the slope at zero comes to the price itself
    for seed in range(20):
        slopes = 1e-6 * np.random.default_rng(seed).normal(size=4)
        slopes -= slopes.mean()
        size = Kinks(prices).decrement(x, slopes, lambda v: hessian @ v, np.diag(hessian), 1.0)
        assert size < 1e-6


def test_conjugate_gradients_that_are_not_at_their_end_release_nothing() -> None:
    hessian = np.diag([1e-4, 1.0, 1.0]) + 0.5
    at_kink, prices = np.array([False, False, True]), np.ones(3)
    slopes = np.array([1e-7, 2e-7, 1 - 1e-12])

    def solve(gradient: Floats, kept: Any) -> Any:
        matrix = hessian[np.ix_(kept, kept)]
        return decrement_by_products(gradient, lambda v: matrix @ v, np.diag(matrix))

    found = decrement_at_zeros(slopes, prices, at_kink, solve, lambda v: hessian @ v, np.diag(hessian))
    assert found.size < 1e-9
