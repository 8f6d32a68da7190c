"""Orthant-wise L-BFGS: the same optimum and the same zeros as proximal steps, and what happens at its edges."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from suffice.errors import EstimationError
from suffice.optimise.lbfgs import lbfgs
from suffice.optimise.outcome import Outcome, Stop
from suffice.optimise.owlqn import MOST_IDLE, owlqn, pseudo_gradient
from suffice.optimise.proximal import proximal
from suffice.progress import Watch

Floats = NDArray[np.float64]
Smooth = Callable[[Floats], tuple[float, Floats]]
seeds = st.integers(0, 2**20)


def logistic(seed: int, n_columns: int, ridge: float = 0.05, n_rows: int = 40) -> Smooth:
    """Minus the log-likelihood of logistic regression, and a penalty of squares."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(n_rows, n_columns)) * np.exp(0.5 * rng.normal(size=n_columns))
    inputs *= np.where(rng.random(n_rows) < 0.5, 1.0, -1.0)[:, None]

    def evaluate(x: Floats) -> tuple[float, Floats]:
        margins = inputs @ x
        wrong = np.exp(-np.logaddexp(0, margins))
        return float(np.logaddexp(0, -margins).sum() + ridge * x @ x), 2 * ridge * x - inputs.T @ wrong

    return evaluate


def bowl(seed: int, n: int, ridge: float = 0.05) -> Smooth:
    """A parabola that is not aligned with the axes, with its minimum anywhere."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    matrix, b = root @ root.T + ridge * np.eye(n), 3 * rng.normal(size=n)
    return lambda x: (float(x @ matrix @ x / 2 - b @ x), matrix @ x - b)


def by_owlqn(f: Smooth, start: Any, c1: float, steps: Any = range(5000), **rest: Any) -> Outcome:
    limit = 1e-9 * max(1.0, float(np.abs(f(np.zeros(len(start)))[1]).max()))
    options: dict[str, Any] = {"done": lambda x, value, slopes: bool(np.abs(slopes).max() < limit), **rest}
    return owlqn(options.pop("evaluate", f), start, c1, steps=steps, **options)


def by_proximal(f: Smooth, n: int, c1: float) -> Outcome:
    return proximal(
        f,
        lambda x: c1 * float(np.abs(x).sum()),
        lambda z, s: np.sign(z) * np.maximum(np.abs(z) - s * c1, 0.0),
        np.zeros(n),
        done=lambda x, gradient: bool(np.abs(pseudo_gradient(x, gradient, c1)).max() < 1e-10),
        steps=range(100_000),
    )


@given(seeds, st.integers(1, 10), st.sampled_from([0.1, 1.0, 4.0]), st.sampled_from([logistic, bowl]), st.booleans())
@settings(max_examples=60)
def test_optimum_and_zeros_equal_those_of_proximal_steps(
    seed: int, n: int, c1: float, problem: Callable[..., Smooth], elsewhere: bool
) -> None:
    f = problem(seed, n)
    start = np.random.default_rng(seed).normal(size=n) if elsewhere else np.zeros(n)
    found, other = by_owlqn(f, start, c1), by_proximal(f, n, c1)
    assert found.converged
    np.testing.assert_allclose(found.x, other.x, atol=1e-7)
    # A number within rounding error of its kink may end on either side of it.
    clear = np.abs(np.abs(other.gradient) - c1) > 1e-6
    np.testing.assert_array_equal((found.x == 0)[clear | (other.x != 0)], (other.x == 0)[clear | (other.x != 0)])
    assert found.value == pytest.approx(other.value, rel=1e-11, abs=1e-11)
    np.testing.assert_allclose(found.gradient, f(found.x)[1], atol=1e-12)


def test_some_numbers_are_exactly_zero_and_some_are_not() -> None:
    f = logistic(3, 30)
    found = by_owlqn(f, np.ones(30), 2.0)
    assert 3 < int((found.x == 0).sum()) < 27
    assert not np.signbit(found.x[found.x == 0]).any()
    assert (np.abs(found.gradient[found.x == 0]) <= 2.0 + 1e-9).all()


@given(seeds, st.integers(1, 10), st.sampled_from([logistic, bowl]))
@settings(max_examples=30)
def test_a_price_above_all_slopes_at_zero_leaves_nothing(seed: int, n: int, problem: Callable[..., Smooth]) -> None:
    f = problem(seed, n)
    price = 1.0001 * float(np.abs(f(np.zeros(n))[1]).max())
    found = by_owlqn(f, np.random.default_rng(seed).normal(size=n), price)
    assert found.converged
    assert (found.x == 0).all()
    assert by_owlqn(f, np.zeros(n), price).n_steps == 0
    assert not (by_owlqn(f, np.zeros(n), 0.99 * price).x == 0).all()


@given(seeds, st.integers(1, 10), st.sampled_from([logistic, bowl]))
@settings(max_examples=30)
def test_without_a_price_it_finds_what_lbfgs_finds(seed: int, n: int, problem: Callable[..., Smooth]) -> None:
    f = problem(seed, n)
    start = np.random.default_rng(seed).normal(size=n)
    found = by_owlqn(f, start, 0.0)
    small = lambda x, value, gradient: bool(np.abs(gradient).max() < 1e-10)  # noqa: E731
    other = lbfgs(f, start, done=small, steps=range(5000))
    assert found.converged
    np.testing.assert_allclose(found.x, other.x, atol=1e-7)


@given(seeds, st.integers(1, 6), st.sampled_from([0.3, 1.0, 3.0]))
def test_the_pseudo_gradient_is_the_steepest_one_sided_slope(seed: int, n: int, c1: float) -> None:
    rng = np.random.default_rng(seed)
    x, gradient = rng.integers(-1, 2, n) * rng.random(n), 2 * rng.normal(size=n)

    def one(x: float, g: float) -> float:
        if x:
            return g + math.copysign(c1, x)
        up, down = g + c1, -g + c1  # slopes of a step to the right, and of one to the left
        return up if up < 0 else -down if down < 0 else 0.0

    expected = [one(*pair) for pair in zip(x, gradient, strict=True)]
    np.testing.assert_allclose(pseudo_gradient(x, gradient, c1), expected, rtol=1e-14)


@given(seeds, st.sampled_from([0.1, 2.0]), st.sampled_from([1.0, 1e3]))
@settings(max_examples=30)
def test_values_never_rise_and_tell_of_every_step(seed: int, c1: float, size: float) -> None:
    plain = logistic(seed, 6)
    told: list[tuple[Floats, float, Floats]] = []

    def f(x: Floats) -> tuple[float, Floats]:
        value, gradient = plain(x)
        return size * value, size * gradient

    def never(x: Floats, value: float, slopes: Floats) -> bool:
        told.append((x, value, slopes))
        return False

    found = owlqn(f, np.full(6, 2.0), c1, steps=range(200), done=never)
    values = [value for _, value, _ in told]
    assert found.values == tuple(values[1:])
    assert found.n_steps == len(found.values) <= 200
    assert (np.diff(values) <= 1e-11 * max(values)).all()
    for x, value, slopes in told:
        smooth, gradient = f(x)
        assert value == pytest.approx(smooth + c1 * np.abs(x).sum(), rel=1e-13)
        np.testing.assert_array_equal(slopes, pseudo_gradient(x, gradient, c1))


@pytest.mark.parametrize("outside", [math.inf, math.nan])
@pytest.mark.parametrize("start", [[0.0, 0.5], [0.9, 0.999], [-3.0, 0.0]])
def test_points_outside_the_domain_are_not_taken(outside: float, start: list[float]) -> None:
    seen = []

    def barrier(x: Floats) -> tuple[float, Floats]:
        if not (x < 1).all():
            seen.append(x)
            return outside, np.full_like(x, np.nan)
        return float(-np.log(1 - x).sum() - 20 * x.sum()), 1 / (1 - x) - 20

    found = owlqn(barrier, start, 2.0, steps=range(1000), done=lambda x, v, s: bool(np.abs(s).max() < 1e-9))
    assert seen or start[1] > 0.9, "a step must be too long for this test to mean anything"
    assert found.converged
    np.testing.assert_allclose(found.x, 1 - 1 / 18, rtol=1e-8)


def test_no_tolerance_at_all_ends_at_the_optimum_with_advice() -> None:
    f = logistic(5, 8)
    found = by_owlqn(f, np.zeros(8), 1.0, done=lambda x, v, s: False, steps=range(100_000))
    assert not found.converged
    assert found.stop is Stop.NO_BETTER
    assert "No better point" in found.reason
    assert found.n_steps < 20 * MOST_IDLE
    np.testing.assert_allclose(found.x, by_owlqn(f, np.zeros(8), 1.0).x, atol=1e-8)


def test_wrong_gradients_end_it_soon() -> None:
    uphill = lambda x: (float(x @ x), -2 * x)  # noqa: E731
    found = by_owlqn(uphill, [1.0, -2.0], 0.5)
    assert not found.converged
    assert found.stop is Stop.NO_BETTER
    assert "No better point" in found.reason
    assert found.n_evaluations < 100


def test_far_fewer_evaluations_than_proximal_steps_on_a_stretched_problem() -> None:
    curvature = np.geomspace(1e-4, 1, 60)
    f = lambda x: (float(curvature @ (x - 1) ** 2 / 2), curvature * (x - 1))  # noqa: E731
    found = owlqn(f, np.zeros(60), 1e-5, done=lambda x, v, s: bool(np.abs(s).max() < 1e-10), steps=range(5000))
    other = by_proximal(f, 60, 1e-5)
    assert found.converged
    assert found.n_evaluations < other.n_evaluations / 5
    np.testing.assert_allclose(found.x, 1 - 1e-5 / curvature, atol=1e-5)


def test_few_evaluations_where_numbers_depend_on_each_other() -> None:
    """With a direction that leaves numbers out which are not zero, these take more than 10,000."""
    found = [by_owlqn(bowl(seed, 10), np.zeros(10), 0.1) for seed in range(10)]
    assert all(one.converged for one in found)
    assert sum(one.n_evaluations for one in found) < 1000


def test_once_the_zeros_are_right_it_takes_the_steps_of_lbfgs_on_the_other_numbers() -> None:
    n_own = n_other = 0
    for seed in range(10):
        f, n = bowl(seed, 8, ridge=1.0), 8
        best = by_owlqn(f, np.zeros(n), 1.0).x
        kept, limit = best != 0, 1e-9 * max(1.0, float(np.abs(f(np.zeros(n))[1]).max()))
        start = best * (1 + 1e-3 * np.random.default_rng(seed).normal(size=n))

        def inner(z: Floats, f: Smooth = f, best: Floats = best, kept: Any = kept) -> tuple[float, Floats]:
            x = np.zeros(8)
            x[kept] = z
            value, gradient = f(x)
            return value + float(np.abs(z).sum()), gradient[kept] + np.sign(best[kept])

        small = lambda x, value, gradient, limit=limit: bool(np.abs(gradient).max() < limit)  # noqa: E731
        n_own += by_owlqn(f, start, 1.0).n_evaluations
        n_other += lbfgs(inner, start[kept], done=small, steps=range(5000)).n_evaluations
    assert n_own < 1.2 * n_other


def test_a_start_at_the_optimum_is_returned_at_once() -> None:
    f = logistic(1, 6)
    best = by_owlqn(f, np.zeros(6), 1.0).x
    again = by_owlqn(f, best, 1.0)
    assert again.converged
    assert (again.n_steps, again.n_evaluations, again.values) == (0, 1, ())
    np.testing.assert_array_equal(again.x, best)


def test_the_start_is_not_changed_and_the_answer_is_read_only() -> None:
    start = np.ones(6)
    found = by_owlqn(logistic(2, 6), start, 1.0)
    assert (start == 1).all()
    with pytest.raises(ValueError, match="read-only"):
        found.x[0] = 1


def test_when_the_steps_end_it_says_so() -> None:
    found = by_owlqn(logistic(3, 6), np.zeros(6), 0.1, steps=range(3))
    assert not found.converged
    assert found.n_steps == 3
    assert found.stop is Stop.OUT_OF_STEPS
    assert "allow more steps" in found.reason


def test_an_interrupt_ends_it_with_its_point() -> None:
    f, watch, calls = logistic(4, 6), Watch(), []

    def interrupted(x: Floats) -> tuple[float, Floats]:
        calls.append(x)
        if len(calls) == 5:
            signal.raise_signal(signal.SIGINT)
        return f(x)

    found = by_owlqn(f, np.zeros(6), 0.1, evaluate=interrupted, steps=watch.steps("work", 1000))
    assert watch.interrupted
    assert not found.converged
    assert 1 <= found.n_steps <= 4


def test_the_number_of_evaluations_is_counted() -> None:
    f, calls = logistic(6, 6), []

    def counted(x: Floats) -> tuple[float, Floats]:
        calls.append(x)
        return f(x)

    found = owlqn(counted, np.full(6, 3.0), 1.0, done=lambda x, v, s: bool(np.abs(s).max() < 1e-9), steps=range(999))
    assert found.n_evaluations == len(calls) > found.n_steps


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_start_outside_the_domain_is_refused(value: float) -> None:
    with pytest.raises(EstimationError, match="at the starting point"):
        owlqn(lambda x: (value, x), [1.0], 1.0, done=lambda x, v, s: False, steps=range(9))


def test_no_numbers_at_all_are_done_with() -> None:
    found = owlqn(
        lambda x: (3.0, x), [], 1.0, done=lambda x, v, s: bool(np.abs(s).max(initial=0.0) < 1), steps=range(9)
    )
    assert found.converged
    assert found.value == 3.0
