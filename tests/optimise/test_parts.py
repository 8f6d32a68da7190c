"""The parts of the optimisers against slow, obvious twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.optimise.problems import barrier, quadratic, softmax_regression

from suffice.errors import ArgumentError, EstimationError
from suffice.optimise.conjugate_gradient import _Conjugate
from suffice.optimise.gradient import gradient_descent
from suffice.optimise.lbfgs import PairMemory
from suffice.optimise.line_search import DELTA, MAX_EVALUATIONS, Point, search
from suffice.optimise.newton_cg import _next_radius, _SmoothPoint, _solve, _to_boundary
from suffice.optimise.vectors import dot

seeds = st.integers(0, 2**20)


def never(x, value, gradient):
    return False


@pytest.mark.parametrize("n", [0, 1, 8192, 8193, 50_000])
def test_inner_products_of_any_length_are_right(n):
    rng = np.random.default_rng(n)
    one, other = rng.normal(size=n), rng.normal(size=n)
    assert dot(one, other) == pytest.approx(math.fsum(one * other), rel=1e-12, abs=1e-12)
    assert type(dot(one, other)) is float


# The line search ----------------------------------------------------------------------------------------------

LINES = {
    "parabola": lambda t: ((t - 1) ** 2, 2 * (t - 1)),
    "quartic": lambda t: ((t - 1) ** 4, 4 * (t - 1) ** 3),
    "flat far out": lambda t: (float(np.logaddexp(t - 1, 1 - t)), math.tanh(t - 1)),
    "wall of infinity": lambda t: (-3 * t - math.log(2 - t), -3 + 1 / (2 - t)) if t < 2 else (math.inf, 0.0),
    "wall of NaN": lambda t: (-t - math.log(2 - t), -1 + 1 / (2 - t)) if t < 2 else (math.nan, math.nan),
    "wavy": lambda t: ((t - 1) ** 2 + 0.3 * math.cos(9 * t), 2 * (t - 1) - 2.7 * math.sin(9 * t)),
    "hump after a dip": lambda t: (-t * math.exp(-t), (t - 1) * math.exp(-t)),
    "finite value, infinite slope": lambda t: ((t - 1) ** 2, 2 * (t - 1)) if t < 1.5 else (0.0, math.inf),
}


def on_the_line(line, at=0.0):
    """Return a line as a function of a vector, the point where it begins, and its direction."""

    def evaluate(x):
        value, slope = line(float(x[0]))
        return value, np.array([slope])

    value, slope = line(at)
    return evaluate, Point(0.0, np.array([at]), value, np.array([slope]), slope), np.ones(1)


@given(
    name=st.sampled_from([*LINES]),
    step=st.floats(-12, 6).map(lambda power: 10**power),
    sigma=st.sampled_from([0.9, 0.1, 0.005]),
)
def test_the_line_search_finds_an_acceptable_point(name, step, sigma):
    evaluate, origin, direction = on_the_line(LINES[name], -0.01)
    assert origin.slope < 0
    found, n_evaluations = search(evaluate, origin, direction, step, noise=1e-15, sigma=sigma)
    assert found is not None
    assert n_evaluations <= MAX_EVALUATIONS + 1
    np.testing.assert_array_equal(found.x, origin.x + found.step * direction)
    value, gradient = evaluate(found.x)
    assert (found.value, found.slope) == (value, gradient @ direction)
    assert abs(found.slope) <= (sigma if n_evaluations < 12 else 0.9) * abs(origin.slope)
    assert found.value - origin.value <= DELTA * found.step * origin.slope or found.value <= origin.value + 1e-15


@given(step=st.floats(-6, 3).map(lambda power: 10**power), offset=st.sampled_from([1e3, 1e8, -1e12]))
def test_the_line_search_needs_no_digits_of_the_value(step, offset):
    def blunt(t):
        return offset + 1e-9 * (t - 1) ** 2, 2e-9 * (t - 1)

    found, n_evaluations = search(*on_the_line(blunt), step, noise=1e-12 * abs(offset), sigma=0.005)
    assert found is not None
    assert abs(found.step - 1) <= 0.005
    assert n_evaluations <= 12


def test_a_value_that_is_lower_by_rounding_only_does_not_excuse_a_steep_slope():
    def lucky(t):
        return 1e8 - (1e-5 if t > 1.5 else 0.0), 2e-9 * (t - 1)

    found, n_evaluations = search(*on_the_line(lucky), 1.85, noise=1e-4)
    assert n_evaluations == 2
    assert abs(found.slope) <= 0.8 * 2e-9


def test_a_tiny_domain_is_entered_quickly():
    def tiny(t):
        return ((1e6 * t - 0.5) ** 2, 2e6 * (1e6 * t - 0.5)) if t < 1e-6 else (math.inf, 0.0)

    found, n_evaluations = search(*on_the_line(tiny), 1.0, noise=1e-15)
    assert found.value < 0.25
    assert n_evaluations <= 10


@pytest.mark.parametrize("line", [lambda t: (t, -1.0), lambda t: (math.inf if t else 0.0, -1.0)])
def test_a_line_that_does_not_go_down_has_no_acceptable_point(line):
    found, n_evaluations = search(*on_the_line(line), 1.0, noise=1e-15)
    assert found is None
    assert n_evaluations <= MAX_EVALUATIONS + 1


def test_a_minimum_at_the_edge_of_the_domain_is_approached():
    found, _ = search(*on_the_line(lambda t: (-t, -1.0) if t <= 3 else (math.inf, 0.0)), 1.0, noise=1e-15)
    assert 2.9 < found.step <= 3


# L-BFGS -------------------------------------------------------------------------------------------------------


def dense_inverse(pairs, scale):
    """The BFGS formula on matrices, from H₀ = γ diag(scale)."""
    move, change = pairs[-1]
    inverse = np.diag(scale) * (move @ change) / (change @ (scale * change))
    for move, change in pairs:
        rho = 1 / (move @ change)
        left = np.eye(move.size) - rho * np.outer(move, change)
        inverse = left @ inverse @ left.T + rho * np.outer(move, move)
    return inverse


@given(
    n=st.integers(1, 6),
    size=st.integers(1, 5),
    n_pairs=st.integers(1, 12),
    scaled=st.booleans(),
    upside_down=st.sets(st.integers(0, 11)),
    seed=seeds,
)
def test_the_two_loops_equal_the_bfgs_formula_over_the_last_good_pairs(n, size, n_pairs, scaled, upside_down, seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n)) + 3 * np.eye(n)
    hessian = root @ root.T
    assume(np.linalg.cond(hessian) < 1e4)
    scale = rng.uniform(0.5, 2, n)
    memory, good = PairMemory(n, size, scale if scaled else None), []
    for k in range(n_pairs):
        x, move = rng.normal(size=n), rng.normal(size=n)
        change = hessian @ move * (-1 if k in upside_down else 1)
        gradient = rng.normal(size=n)
        before = Point(0.0, x, 0.0, gradient, 0.0)
        memory.learn(before, Point(1.0, x + move, 0.0, gradient + change, 0.0))
        if k not in upside_down:
            good.append((move, change))
    assume(good)
    gradient = rng.normal(size=n)
    expected = -dense_inverse(good[-size:], scale if scaled else np.ones(n)) @ gradient
    np.testing.assert_allclose(memory.direction(gradient), expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())
    assert memory.forget()
    np.testing.assert_allclose(memory.direction(gradient), -gradient * (scale if scaled else 1))
    assert not memory.forget()


# Conjugate gradients ------------------------------------------------------------------------------------------


@given(n=st.integers(2, 6), scaled=st.booleans(), step=st.floats(0.1, 3), seed=seeds)
def test_the_next_direction_is_that_of_hager_and_zhang(n, scaled, step, seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    hessian = root @ root.T + np.eye(n)
    scale = rng.uniform(0.5, 2, n) if scaled else np.ones(n)
    directions = _Conjugate(n, scale if scaled else None)
    x = rng.normal(size=n)
    gradient = hessian @ x
    last = directions.direction(gradient)
    np.testing.assert_allclose(last, -scale * gradient)
    # As far as the best step along the line, times a factor: the formula differs where the slope is not zero.
    step *= -(gradient @ last) / (last @ hessian @ last)
    new_x = x + step * last
    new = hessian @ new_x
    directions.learn(Point(0.0, x, 0.0, gradient, 0.0), Point(step, new_x, 0.0, new, new @ last))
    change = new - gradient
    beta = (scale * change - 2 * last * (change @ (scale * change)) / (last @ change)) @ new / (last @ change)
    beta = max(beta, 0.4 * (last @ gradient) / (last @ (last / scale)))
    following = directions.direction(new)
    np.testing.assert_allclose(following, -scale * new + beta * last, rtol=1e-9, atol=1e-9)
    slope = following @ new
    assert directions.first_step(following, slope) == pytest.approx(step * (last @ gradient) / slope)
    assert directions.forget()
    np.testing.assert_allclose(directions.direction(new), -scale * new)
    assert not directions.forget()


# Newton -------------------------------------------------------------------------------------------------------


def place_of(matrix, gradient):
    return _SmoothPoint(np.zeros(gradient.size), 0.0, gradient, lambda v: matrix @ v)


@given(
    eigenvalues=st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 10.0]), min_size=1, max_size=8).filter(any),
    scaled=st.booleans(),
    seed=seeds,
)
def test_conjugate_gradients_solve_singular_systems_too(eigenvalues, scaled, seed):
    problem, rng = quadratic(eigenvalues, seed), np.random.default_rng(seed)
    _, gradient, product = problem.evaluate(problem.start)
    inverse = rng.uniform(0.5, 2, gradient.size) if scaled else None
    move = _solve(_SmoothPoint(problem.start, 0.0, gradient, product), inverse, math.inf, 0.0)
    np.testing.assert_allclose(product(move.step), -gradient, atol=1e-9)
    assert move.slope == pytest.approx(gradient @ move.step)
    assert move.curvature == pytest.approx(move.step @ product(move.step))
    metric = 1 / inverse if scaled else np.ones(gradient.size)
    assert move.length == pytest.approx(math.sqrt(move.step @ (metric * move.step)), rel=1e-6)


@given(
    eigenvalues=st.lists(st.sampled_from([-3.0, -0.5, 0.0, 0.5, 2.0, 10.0]), min_size=1, max_size=8),
    scaled=st.booleans(),
    radius=st.sampled_from([1e-6, 0.1, 1.0]),
    seed=seeds,
)
def test_the_step_stays_in_the_region_and_is_no_worse_than_the_best_along_the_gradient(
    eigenvalues, scaled, radius, seed
):
    rng = np.random.default_rng(seed)
    n = len(eigenvalues)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    matrix = basis @ np.diag(eigenvalues) @ basis.T
    gradient = rng.normal(size=n)
    inverse = rng.uniform(0.5, 2, n) if scaled else np.ones(n)
    move = _solve(place_of(matrix, gradient), inverse if scaled else None, radius, 1e-9)

    def model(step):
        return gradient @ step + step @ matrix @ step / 2

    steepest = -inverse * gradient
    longest = radius / math.sqrt(steepest @ (steepest / inverse))
    cauchy = min(model(share * longest * steepest) for share in np.linspace(0, 1, 101))
    assert math.sqrt(move.step @ (move.step / inverse)) <= radius * 1.01
    assert move.slope + move.curvature / 2 == pytest.approx(model(move.step), abs=1e-9)
    assert model(move.step) <= cauchy + 1e-9 * abs(cauchy)


@pytest.mark.parametrize(
    ("radius", "length", "kept", "expected"),
    [
        (math.inf, 3.0, 1.0, math.inf),
        (math.inf, 3.0, 0.1, 1.5),
        (math.inf, 3.0, 0.5, 12.0),
        (1.0, 1.0, 0.9, 2.0),
        (1.0, 0.2, 0.9, 1.0),
        (1.0, 0.2, 0.5, 0.8),
        (1.0, 0.2, 0.1, 0.1),
    ],
)
def test_the_region_follows_how_good_the_model_was(radius, length, kept, expected):
    assert _next_radius(radius, length, kept) == pytest.approx(expected)


@given(seed=seeds, radius=st.floats(1, 10))
def test_the_boundary_is_met(seed, radius):
    rng = np.random.default_rng(seed)
    step, direction = rng.normal(size=4), rng.normal(size=4)
    step *= 0.9 / np.linalg.norm(step)
    tau = _to_boundary(step @ step, step @ direction, direction @ direction, radius**2)
    assert tau > 0
    assert np.linalg.norm(step + tau * direction) == pytest.approx(radius)


# Gradient descent ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [0.01, 0.3, 1])
def test_a_fixed_step_is_what_textbooks_write(step):
    problem = softmax_regression()
    found = gradient_descent(lambda x: problem.evaluate(x)[:2], problem.start, done=never, steps=range(25), step=step)
    x = problem.start
    for _ in range(25):
        x = x - step * problem.evaluate(x)[1]
    np.testing.assert_array_equal(found.x, x)
    assert (found.n_steps, found.n_evaluations) == (25, 26)


def test_a_fixed_step_converges():
    problem = quadratic([1.0, 2.0, 3.0])
    found = gradient_descent(
        lambda x: problem.evaluate(x)[:2],
        problem.start,
        done=lambda x, value, gradient: np.abs(gradient).max() < 1e-12,
        steps=range(1000),
        step=0.3,
    )
    assert found.converged
    np.testing.assert_allclose(found.x, problem.solution, atol=1e-11)


def scripted(values):
    """A function that takes these values one after the other, whatever it is asked."""
    left = iter(values)
    return lambda x: (next(left), np.ones(1))


@pytest.mark.parametrize(
    ("values", "at"),
    [
        ([5.0, 4.0, 5.1], 2),
        ([5.0, 4.0, math.nan], 2),
        ([5.0, math.inf], 1),
        ([5.0, 1.0, 2.0, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5], 8),
        ([-1e6, -1e6 + 1e-3], 1),
    ],
)
def test_a_fixed_step_that_is_too_long_is_named_with_a_shorter_one(values, at):
    with pytest.raises(EstimationError, match=rf"step size 0\.5 .* at step {at}\..* such as 0\.05, or step=None"):
        gradient_descent(scripted(values), [0.0], done=never, steps=range(100), step=0.5)


@pytest.mark.parametrize(
    "values",
    [
        [5.0, 1.0, 1.1, 1.2, 1.3, 1.4, 1.3, 1.4, 1.5, 1.6, 1.7],
        [1e6, 1e6 + 1e-8, 1e6 + 2e-8, 1e6 + 3e-8, 1e6 + 4e-8, 1e6 + 5e-8, 1e6 + 6e-8],
    ],
)
def test_a_few_rises_and_rounding_errors_are_no_divergence(values):
    found = gradient_descent(scripted(values), [0.0], done=never, steps=range(len(values) - 1), step=0.5)
    assert found.values == tuple(values[1:])
    assert found.value <= min(values) + 1e-6


def test_a_fixed_step_out_of_the_domain_is_an_error():
    problem = barrier(start=0.5)
    with pytest.raises(EstimationError, match="step size 10 "):
        gradient_descent(lambda x: problem.evaluate(x)[:2], problem.start, done=never, steps=range(9), step=10)


@pytest.mark.parametrize("step", [0, -1.0, math.nan, math.inf, "big", True])
def test_a_step_must_be_a_positive_number(step):
    with pytest.raises(ArgumentError, match="'step' argument"):
        gradient_descent(lambda x: (1.0, x), [1.0], done=never, steps=range(9), step=step)
