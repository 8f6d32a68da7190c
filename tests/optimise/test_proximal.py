"""Proximal gradient descent on functions with kinks and edges, against other solvers of the same problems."""

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
from scipy.optimize import minimize, nnls

from suffice.errors import EstimationError
from suffice.optimise.kinks import Kinks
from suffice.optimise.outcome import Outcome, Stop
from suffice.optimise.proximal import proximal
from suffice.progress import Watch

Floats = NDArray[np.float64]


def soft(z: Floats, threshold: float) -> Floats:
    return np.asarray(np.sign(z) * np.maximum(np.abs(z) - threshold, 0.0))


def least_squares(a: Floats, b: Floats) -> Callable[[Floats], tuple[float, Floats]]:
    return lambda x: (0.5 * float((a @ x - b) @ (a @ x - b)), a.T @ (a @ x - b))


def lasso(a: Floats, b: Floats, weight: float, steps: Any = range(100_000), **keywords: Any) -> Outcome:
    def done(x: Floats, gradient: Floats) -> bool:
        return bool(np.abs(x - soft(x - gradient, weight)).max() < 1e-10)

    options: dict[str, Any] = {"done": done, "start": np.zeros(a.shape[1]), **keywords}
    start, evaluate = options.pop("start"), options.pop("evaluate", least_squares(a, b))
    kinks = lambda x: weight * float(np.abs(x).sum())  # noqa: E731
    return proximal(evaluate, kinks, lambda z, s: soft(z, s * weight), start, steps=steps, **options)


def drawn(seed: int, n_rows: int = 8, n_columns: int = 4) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_columns)), rng.normal(size=n_rows)


@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([0.0, 0.1, 1.0, 5.0]))
@settings(max_examples=40)
def test_lasso_equals_a_bounded_optimiser_on_two_halves(seed: int, n_columns: int, weight: float) -> None:
    a, b = drawn(seed, 8, n_columns)
    found = lasso(a, b, weight)
    assert found.converged
    f = least_squares(a, b)

    def halves(split: Floats) -> tuple[float, Floats]:
        plus, minus = np.split(split, 2)
        value, slope = f(plus - minus)
        return value + weight * float(split.sum()), np.concatenate([slope + weight, -slope + weight])

    other = minimize(
        halves, np.zeros(2 * n_columns), jac=True, method="L-BFGS-B", bounds=[(0, None)] * 2 * n_columns,
        options={"ftol": 1e-16, "gtol": 1e-11, "maxiter": 10_000, "maxfun": 10_000},
    )  # fmt: skip
    assert found.value == pytest.approx(other.fun, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(found.x, other.x[:n_columns] - other.x[n_columns:], atol=1e-5)
    np.testing.assert_allclose(found.gradient, f(found.x)[1], atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 6))
@settings(max_examples=30)
def test_a_projection_as_proximal_map_solves_a_bounded_problem(seed: int, n_columns: int) -> None:
    a, b = drawn(seed, 8, n_columns)

    def done(x: Floats, gradient: Floats) -> bool:
        return bool(np.abs(x - np.maximum(x - gradient, 0)).max() < 1e-10)

    found = proximal(
        least_squares(a, b), lambda x: 0.0, lambda z, s: np.maximum(z, 0), np.ones(n_columns), done=done,
        steps=range(100_000),
    )  # fmt: skip
    assert found.converged
    np.testing.assert_allclose(found.x, nnls(a, b)[0], atol=1e-7)


@given(st.integers(0, 10**6), st.sampled_from([0.01, 0.5, 3.0]), st.sampled_from([1e-3, 1.0, 1e3]))
@settings(max_examples=30)
def test_values_never_rise_and_tell_of_every_step(seed: int, weight: float, scale: float) -> None:
    a, b = drawn(seed)
    a = a * np.array([1.0, 3.0, 10.0, 0.1]) * scale
    f = least_squares(a, b)
    start = np.full(4, 2.0)
    found = lasso(a, b, weight, steps=range(300), start=start)
    values = np.array([f(start)[0] + weight * np.abs(start).sum(), *found.values])
    assert (np.diff(values) <= 1e-11 * np.abs(values).max()).all()
    assert found.n_steps == len(found.values) <= 300
    assert found.value == values[-1]
    assert found.value == pytest.approx(f(found.x)[0] + weight * np.abs(found.x).sum(), rel=1e-12)


def test_extrapolation_beats_plain_steps_on_a_stretched_problem() -> None:
    curvatures = np.geomspace(1e-4, 1, 30)
    found = lasso(np.diag(np.sqrt(curvatures)), np.ones(30), 1e-6)
    assert found.converged
    assert found.n_steps < 10_000  # steps of 1 without extrapolation need about log(1e10) / 1e-4 = 230,000


def test_steps_shorten_where_the_function_is_steep() -> None:
    found = lasso(np.diag([100.0, 1.0]), np.array([1.0, 2.0]), 1e-3)
    assert found.converged
    np.testing.assert_allclose(found.x, [1e-2 - 1e-7, 2 - 1e-3], rtol=1e-9)


def test_points_outside_the_domain_are_not_taken() -> None:
    seen = []

    def barrier(x: Floats) -> tuple[float, Floats]:
        if not (x < 1).all():
            seen.append(x)
            return math.inf, np.full_like(x, np.nan)
        return float(-np.log(1 - x).sum() - 20 * x.sum()), 1 / (1 - x) - 20

    found = proximal(
        barrier, lambda x: 2 * float(np.abs(x).sum()), lambda z, s: soft(z, 2 * s), [0.0, 0.5], steps=range(10_000),
        done=lambda x, g: bool(np.abs(x - soft(x - g, 2.0)).max() < 1e-9),
    )  # fmt: skip
    assert seen, "the first step must be too long for this test to mean anything"
    np.testing.assert_allclose(found.x, 1 - 1 / 18, rtol=1e-8)


def test_a_start_at_the_optimum_is_returned_at_once() -> None:
    a, b = drawn(1)
    best = lasso(a, b, 0.3).x
    again = lasso(a, b, 0.3, start=best)
    assert again.converged
    assert (again.n_steps, again.n_evaluations, again.values) == (0, 1, ())
    np.testing.assert_array_equal(again.x, best)


def test_the_start_is_not_changed_and_the_answer_is_read_only() -> None:
    a, b = drawn(2)
    start = np.ones(4)
    found = lasso(a, b, 0.3, start=start)
    assert (start == 1).all()
    with pytest.raises(ValueError, match="read-only"):
        found.x[0] = 1


def test_when_the_steps_end_it_says_so() -> None:
    a, b = drawn(3)
    found = lasso(a, b, 0.1, steps=range(3))
    assert not found.converged
    assert found.n_steps == 3
    assert found.stop is Stop.OUT_OF_STEPS
    assert "allow more steps" in found.reason
    assert lasso(a, b, 0.1, steps=range(0)).n_steps == 0


def test_an_interrupt_ends_it_with_its_point() -> None:
    a, b = drawn(4)
    f, watch, calls = least_squares(a, b), Watch(), []

    def interrupted(x: Floats) -> tuple[float, Floats]:
        calls.append(x)
        if len(calls) == 5:
            signal.raise_signal(signal.SIGINT)
        return f(x)

    found = lasso(a, b, 0.1, evaluate=interrupted, done=lambda x, g: False, steps=watch.steps("work", 1000))
    assert watch.interrupted
    assert not found.converged
    assert 1 <= found.n_steps <= 4


def test_no_tolerance_at_all_ends_with_the_steps() -> None:
    a, b = drawn(5)
    found = lasso(a, b, 0.1, done=lambda x, g: False, steps=range(2000))
    np.testing.assert_allclose(found.x, lasso(a, b, 0.1).x, atol=1e-8)
    assert not found.converged


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_start_outside_the_domain_is_refused(value: float) -> None:
    with pytest.raises(EstimationError, match="at the starting point"):
        proximal(lambda x: (value, x), lambda x: 0.0, soft, [1.0], done=lambda x, g: False, steps=range(9))


def test_the_number_of_evaluations_is_counted() -> None:
    a, b = drawn(6)
    f, calls = least_squares(a, b), []

    def counted(x: Floats) -> tuple[float, Floats]:
        calls.append(x)
        return f(x)

    assert lasso(a, b, 0.1, evaluate=counted).n_evaluations == len(calls)


# Kinks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_along_a_relation_the_price_alone_finds_the_middle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = rng.normal(size=5) + 1.0
    wanted, kinks = start - start.mean(), Kinks(np.full(5, 1e-12))

    def evaluate(x: Floats) -> tuple[float, Floats, Callable[[Floats], Floats]]:
        off = x - x.mean() - wanted  # the same for all x + t
        return float(off @ off) / 2, off - off.mean(), lambda v: v - v.mean()

    found, is_end = kinks.finished(evaluate, start, total=1e12, gain=1e-5)
    assert is_end
    np.testing.assert_allclose(found, start - np.median(start), atol=1e-9)
    assert (found == 0).sum() == 1


@pytest.mark.parametrize("seed", range(5))
def test_newton_steps_finish_a_lasso(seed: int) -> None:
    a, b = drawn(seed)
    kinks = Kinks(np.full(4, 1.0))

    def evaluate(x: Floats) -> tuple[float, Floats, Callable[[Floats], Floats]]:
        return *least_squares(a, b)(x), lambda v: a.T @ (a @ v)

    exact = lasso(a, b, 1.0).x
    found, is_end = kinks.finished(evaluate, exact + 0.01 * (exact != 0), total=1.0, gain=1e-16)
    assert is_end
    np.testing.assert_allclose(found, exact, atol=1e-7)


def test_an_end_that_is_not_reached_is_not_called_one() -> None:
    kinks = Kinks(np.ones(1))
    found, is_end = kinks.finished(
        lambda x: (float(x @ x) / 2, x, lambda v: v), np.array([3.0]), total=1.0, gain=1e-9, done=lambda _: False
    )
    assert not is_end
    assert found[0] == 0
