"""Every optimiser on every problem: it arrives, its values fall, and it says what it did."""

from __future__ import annotations

import dataclasses
import signal

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from tests.optimise.problems import PROBLEMS, Problem, barrier, log_partition, quadratic, softmax_regression, stretched

from suffice.errors import EstimationError
from suffice.optimise.conjugate_gradient import conjugate_gradient
from suffice.optimise.gradient import gradient_descent
from suffice.optimise.lbfgs import lbfgs
from suffice.optimise.newton_cg import newton_cg
from suffice.optimise.outcome import Outcome, Stop, rounding_error
from suffice.progress import Watch

OPTIMISERS = {
    "lbfgs": lbfgs,
    "conjugate_gradient": conjugate_gradient,
    "newton_cg": newton_cg,
    "gradient_descent": gradient_descent,
}
TOLERANCES = {"lbfgs": 1e-10, "conjugate_gradient": 1e-10, "newton_cg": 1e-12, "gradient_descent": 1e-8}
PAIRS = [
    pytest.param(name, problem, id=f"{name}, {title}")
    for name in OPTIMISERS
    for title, problem in PROBLEMS.items()
    if name not in problem.too_hard_for
]
every_optimiser = pytest.mark.parametrize("name", OPTIMISERS)


def never(x, value, gradient):
    return False


def small(tolerance):
    return lambda x, value, gradient: bool(np.abs(gradient).max() <= tolerance)


class Counted:
    """The function as an optimiser wants it, which keeps what it was asked."""

    def __init__(self, name: str, problem: Problem) -> None:
        self.problem, self.n_results = problem, 3 if name == "newton_cg" else 2
        self.points = []

    def __call__(self, x):
        self.points.append(x.copy())
        return self.problem.evaluate(x)[: self.n_results]


def minimise(name, problem, tolerance=None, steps=range(20_000), done=None, evaluate=None, **options) -> Outcome:
    tolerance = (TOLERANCES[name] if tolerance is None else tolerance) * problem.size
    if problem.scale is not None and name != "gradient_descent":
        options.setdefault("scale", problem.scale)
    evaluate = evaluate or Counted(name, problem)
    return OPTIMISERS[name](evaluate, problem.start, done=done or small(tolerance), steps=steps, **options)


def assert_falling(problem, outcome):
    first = problem.evaluate(problem.start)[0]
    values = np.array([first, *outcome.values])
    assert (np.diff(values) <= rounding_error(*values)).all()


# Arriving -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "problem"), PAIRS)
def test_it_arrives_and_its_report_is_true(name, problem):
    counted, start = Counted(name, problem), problem.start.copy()
    found = minimise(name, problem, evaluate=counted)
    assert found.converged, found
    value, gradient, _ = problem.evaluate(found.x)
    assert found.value == value == found.values[-1]
    np.testing.assert_array_equal(found.gradient, gradient)
    assert np.abs(gradient).max() <= TOLERANCES[name] * problem.size
    assert found.n_steps == len(found.values)
    assert found.n_evaluations == len(counted.points)
    np.testing.assert_array_equal(problem.start, start)
    assert not found.x.flags.writeable
    assert not found.gradient.flags.writeable
    assert problem.best is None or found.value == pytest.approx(problem.best, rel=1e-9, abs=1e-9)
    if problem.solution is not None:
        np.testing.assert_allclose(found.x, problem.solution, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("name", "problem"), PAIRS)
def test_values_never_rise(name, problem):
    assert_falling(problem, minimise(name, problem, steps=range(500)))


@pytest.mark.parametrize("name", ["lbfgs", "conjugate_gradient", "gradient_descent"])
def test_values_never_rise_where_it_does_not_arrive_either(name):
    problem = dataclasses.replace(stretched(), scale=None)
    found = minimise(name, problem, 1e-12, steps=range(100))
    assert not found.converged
    assert found.n_steps > 50
    assert_falling(problem, found)


@pytest.mark.parametrize("offset", [0.0, 1e3, -1e3, 1e6, -1e6])
@pytest.mark.parametrize(
    ("name", "problem"), [pair for pair in PAIRS if "log-partition" in pair.id or "softmax" in pair.id]
)
def test_slopes_carry_on_where_values_have_lost_their_digits(name, problem, offset):
    problem = problem.shifted(offset)
    found = minimise(name, problem)
    assert found.converged, found
    assert_falling(problem, found)


@pytest.mark.parametrize("seed", range(5))
@every_optimiser
def test_a_value_of_zero_at_the_optimum_is_no_obstacle(name, seed):
    plain = log_partition(seed=seed)
    best = minimise("newton_cg", plain).value
    # Adding and taking away 1e4 leaves a value near zero with the rounding error of 1e4.
    problem = plain.shifted(1e4).shifted(-1e4 - best)
    assert minimise(name, problem).converged


@pytest.mark.parametrize("roughness", [1e-12, 1e-11, 1e-10])
@every_optimiser
def test_values_that_are_rougher_than_supposed_are_borne(name, roughness):
    plain = log_partition(seed=2)

    def rough(x):
        value, gradient, product = plain.evaluate(x)
        return (value + roughness * np.sin(1e9 * x.sum()), gradient, product)[: 3 if name == "newton_cg" else 2]

    found = minimise(name, plain, evaluate=rough)
    assert found.converged
    assert name != "newton_cg" or found.n_steps <= 12


def test_newton_needs_few_steps_to_the_last_digits():
    for seed in range(10):
        problem = log_partition(seed=seed, spread=0.5)
        found = minimise("newton_cg", problem, 1e-14)
        assert found.converged
        assert found.n_steps <= 12


def test_lbfgs_needs_about_one_evaluation_a_step():
    for seed in range(10):
        found = minimise("lbfgs", softmax_regression(seed=seed))
        assert found.n_evaluations <= 1.2 * found.n_steps + 5


def test_conjugate_gradients_end_after_as_many_steps_as_there_are_curvatures():
    found = minimise("conjugate_gradient", quadratic([1, 1, 1, 4, 4, 4, 9, 9, 9], seed=1), 1e-8)
    assert found.converged
    assert found.n_steps <= 8


@pytest.mark.parametrize("name", ["lbfgs", "conjugate_gradient", "newton_cg"])
def test_a_scale_makes_up_for_bad_units(name):
    problem, n_products = stretched(), 0

    def evaluate(x):
        value, gradient, product = problem.evaluate(x)

        def counted_product(v):
            nonlocal n_products
            n_products += 1
            return product(v)

        return (value, gradient, counted_product)[: 3 if name == "newton_cg" else 2]

    with_scale = minimise(name, problem, steps=range(100), evaluate=evaluate)
    n_with_scale = with_scale.n_evaluations + n_products
    assert with_scale.converged
    assert n_with_scale < 100
    n_products = 0
    without = minimise(name, problem, steps=range(100), evaluate=evaluate, scale=None)
    assert not without.converged or without.n_evaluations + n_products > 3 * n_with_scale


def test_newton_asks_for_the_scale_at_each_point():
    problem, asked = barrier(start=100.0), []

    def scale(x):
        asked.append(x.copy())
        return x**2

    found = minimise("newton_cg", problem, scale=scale)
    assert found.converged
    assert len(asked) == found.n_steps
    np.testing.assert_array_equal(asked[0], problem.start)


@pytest.mark.parametrize("memory", [1, 2, 30])
def test_lbfgs_works_with_any_memory(memory):
    assert minimise("lbfgs", log_partition(), memory=memory).converged


@every_optimiser
def test_points_outside_the_domain_are_tried_but_never_taken(name):
    problem = barrier(start=0.5)
    counted = Counted(name, problem)
    found = minimise(name, problem, evaluate=counted)
    assert found.converged
    assert any((x <= 0).any() for x in counted.points)
    assert np.isfinite(found.values).all()


# Random problems ----------------------------------------------------------------------------------------------


@given(
    eigenvalues=st.lists(st.sampled_from([0.0, 0.01, 0.1, 0.5, 1.0, 2.0, 10.0]), min_size=1, max_size=12).filter(any),
    seed=st.integers(0, 2**20),
    name=st.sampled_from(["lbfgs", "conjugate_gradient", "newton_cg"]),
)
def test_any_consistent_quadratic_is_solved(eigenvalues, seed, name):
    problem = quadratic(eigenvalues, seed)
    found = minimise(name, problem)
    assert found.converged, found
    assert found.value == pytest.approx(problem.best, rel=1e-9, abs=1e-9)


@given(
    n_features=st.integers(1, 15),
    n_states=st.integers(2, 60),
    spread=st.sampled_from([0.0, 0.3]),
    offset=st.sampled_from([0.0, 1e3, 1e6]),
    seed=st.integers(0, 2**20),
    name=st.sampled_from(["lbfgs", "conjugate_gradient", "newton_cg"]),
)
def test_any_log_partition_function_is_solved(n_features, n_states, spread, offset, seed, name):
    problem = log_partition(n_features, n_states, spread, seed).shifted(offset)
    found = minimise(name, problem)
    assert found.converged, found
    assert_falling(problem, found)


@given(
    n_inputs=st.integers(0, 4),
    n_classes=st.integers(2, 5),
    seed=st.integers(0, 2**20),
    name=st.sampled_from(list(OPTIMISERS)),
)
def test_it_agrees_with_scipy(n_inputs, n_classes, seed, name):
    problem = softmax_regression(40, n_inputs, n_classes, penalty=0.05, seed=seed)
    found = minimise(name, problem)
    theirs = scipy.optimize.minimize(
        lambda x: problem.evaluate(x)[:2], problem.start, jac=True, method="L-BFGS-B", tol=1e-12
    )
    assert found.converged
    assert found.value <= theirs.fun + 1e-14
    np.testing.assert_allclose(found.x, theirs.x, atol=1e-5)


# Ending -------------------------------------------------------------------------------------------------------


def untouchable():
    pytest.fail("no step is needed")
    yield


@every_optimiser
def test_a_start_at_the_optimum_is_returned_at_once(name):
    problem = quadratic([1.0, 2.0])
    problem = dataclasses.replace(problem, start=problem.solution)
    found = minimise(name, problem, steps=untouchable())
    assert found.converged
    assert (found.n_steps, found.n_evaluations, found.values) == (0, 1, ())
    np.testing.assert_array_equal(found.x, problem.start)


@every_optimiser
def test_the_end_is_asked_for_at_every_point_on_the_way_with_its_value_and_gradient(name):
    problem, asked = softmax_regression(), []

    def seen(x, value, gradient):
        asked.append((x.copy(), value))
        np.testing.assert_array_equal(gradient, problem.evaluate(x)[1])
        return small(TOLERANCES[name] * problem.size)(x, value, gradient)

    found = minimise(name, problem, done=seen)
    assert found.stop is Stop.CONVERGED
    assert [value for _, value in asked] == [problem.evaluate(x)[0] for x, _ in asked]
    assert tuple(value for _, value in asked[1:]) == found.values
    np.testing.assert_array_equal(asked[-1][0], found.x)


@pytest.mark.parametrize("limit", [0, 1, 3])
@every_optimiser
def test_the_best_point_is_returned_when_the_steps_end(name, limit):
    problem = softmax_regression()
    found = minimise(name, problem, done=never, steps=range(limit))
    assert not found.converged
    assert found.n_steps == limit
    assert found.stop is Stop.OUT_OF_STEPS
    assert "allow more steps" in found.reason
    values = [problem.evaluate(problem.start)[0], *found.values]
    assert found.value == min(values)
    assert len(set(values)) == limit + 1


@every_optimiser
def test_an_interrupt_ends_it_with_the_best_point(name):
    problem, watch, n_calls = softmax_regression(), Watch(), 0
    counted = Counted(name, problem)

    def interrupted(x):
        nonlocal n_calls
        n_calls += 1
        if n_calls == 4:
            signal.raise_signal(signal.SIGINT)
        return counted(x)

    before = signal.getsignal(signal.SIGINT)
    found = minimise(name, problem, done=never, evaluate=interrupted, steps=watch.steps("work", 1000))
    assert signal.getsignal(signal.SIGINT) is before
    assert watch.interrupted
    assert not found.converged
    assert 1 <= found.n_steps <= 3
    assert found.value == found.values[-1] < problem.evaluate(problem.start)[0]


@every_optimiser
def test_no_tolerance_at_all_ends_with_advice_instead_of_running_on(name):
    # The value cannot be told apart any more, and the gradient is noise: there is nothing left to gain.
    found = minimise(name, log_partition(), done=never, steps=range(3000))
    assert not found.converged
    assert found.stop is Stop.NO_BETTER
    assert "No better point" in found.reason
    # How long rounding error looks like progress to remembered pairs depends on the processor.
    assert found.n_steps < (2000 if name == "lbfgs" else 1000)
    assert np.abs(found.gradient).max() <= 1e-13


@every_optimiser
def test_a_gradient_that_points_the_wrong_way_ends_with_advice(name):
    def lying(x):
        results = float(x @ x), -2 * x, lambda v: 2 * v
        return results[: 3 if name == "newton_cg" else 2]

    start = np.array([1.0, 2.0])
    found = OPTIMISERS[name](lying, start, done=never, steps=range(100))
    assert not found.converged
    assert found.stop is Stop.NO_BETTER
    assert "No better point" in found.reason
    assert found.n_steps == 0
    assert found.n_evaluations < 250
    np.testing.assert_array_equal(found.x, start)


@every_optimiser
def test_a_gradient_of_zero_that_is_not_enough_ends_without_a_crash(name):
    problem = quadratic([1.0])
    flat = lambda x: (1.0, np.zeros(1), lambda v: v)[: 3 if name == "newton_cg" else 2]  # noqa: E731
    found = OPTIMISERS[name](flat, problem.start, done=never, steps=range(10))
    assert not found.converged
    assert found.value == 1.0


@pytest.mark.parametrize("value", [np.inf, np.nan])
@every_optimiser
def test_a_start_outside_the_domain_is_refused(name, value):
    outside = lambda x: (value, x, None)[: 3 if name == "newton_cg" else 2]  # noqa: E731
    with pytest.raises(EstimationError, match=r"starting point.*Start from a point where it is finite"):
        OPTIMISERS[name](outside, [1.0], done=never, steps=range(10))


@every_optimiser
def test_a_function_without_a_minimum_ends_with_the_steps(name):
    def endless(x):
        results = float(-x.sum()), -np.ones(x.size), lambda v: np.zeros(x.size)
        return results[: 3 if name == "newton_cg" else 2]

    found = OPTIMISERS[name](endless, np.zeros(3), done=never, steps=range(5))
    assert not found.converged
    assert found.n_steps == 5
    assert found.value < -5


@pytest.mark.parametrize("name", ["lbfgs", "conjugate_gradient", "gradient_descent"])
def test_a_search_goes_on_until_its_end_is_confirmed(name):
    curvature, asked = np.array([1.0, 1e-2, 1.0]), []

    def confirm(x):
        asked.append(x)
        return bool(abs(x).max() < 1e-6)

    found = OPTIMISERS[name](
        lambda x: (float(x @ (curvature * x)) / 2, curvature * x),
        [3.0, -2.0, 1.0],
        done=lambda x, value, gradient: bool(abs(gradient).max() < 1e-3),
        steps=Watch().steps(name, 10_000),
        confirm=confirm,
    )
    assert found.converged
    assert abs(found.x).max() < 1e-6
    assert np.array_equal(asked[-1], found.x)
    assert len(asked) < max(found.n_steps, 10)


@pytest.mark.parametrize("name", ["lbfgs", "conjugate_gradient", "gradient_descent"])
def test_an_end_that_is_never_confirmed_is_not_called_converged(name):
    found = OPTIMISERS[name](
        lambda x: (float(x @ x), 2 * x),
        [3.0, -2.0],
        done=lambda x, value, gradient: bool(abs(gradient).max() < 1e-3),
        steps=Watch().steps(name, 300),
        confirm=lambda x: False,
    )
    assert not found.converged
