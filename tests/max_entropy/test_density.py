"""maxent over continuous variables: the families of the textbook, their supports, and draws from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import digamma, i0e, i1e

import suffice as sf

INF = math.inf
LINE, HALF, UNIT, CIRCLE = (-INF, INF), (0, INF), (0, 1), (-math.pi, math.pi)
X, XX, Y, YY, XY = (sf.product(*names) for names in ("x", "xx", "y", "yy", "xy"))


def named(function: Callable[..., Any], name: str) -> Any:
    return sf.feature(function, over="x", name=name, vectorised=True)


LOG, LOG_REST = named(np.log, "log x"), named(lambda x: np.log1p(-x), "log(1 − x)")
COS, SIN = named(np.cos, "cos"), named(np.sin, "sin")


def over(support: tuple[float, float], *specs: Any) -> sf.Features:
    return sf.Features(list(specs), support={"x": support})


def certified(structure: sf.Features, targets: Any, **options: Any) -> sf.Fit:
    fit = sf.maxent(structure, targets, **options)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "yes"
    assert fit.certificate.duality_gap == pytest.approx(0, abs=1e-7)
    return fit


def draws_agree(drawn: Any, law: Any) -> None:
    assert stats.kstest(drawn, law.cdf).pvalue > 1e-4


# One variable -------------------------------------------------------------------------------------------------


@given(st.floats(0.002, 0.998), st.floats(-50, 50), st.floats(0.01, 100))
@settings(max_examples=40)
def test_a_mean_on_an_interval_gives_a_truncated_exponential(share: float, low: float, width: float) -> None:
    mean = low + width * share
    fit = certified(over((low, low + width), X), mean)

    def excess(rate: float) -> float:  # of the mean on [0, 1]: 1/(1 − e^(−r)) − 1/r
        return (1 / -math.expm1(-rate) - 1 / rate if abs(rate) > 1e-5 else 0.5 + rate / 12) - share

    rate = brentq(excess, -600, 600, xtol=1e-13)
    assert fit.model.weights["x"] * width == pytest.approx(rate, rel=1e-6, abs=1e-6)
    assert fit.model.expected(lambda x: x, over="x") == pytest.approx(mean, abs=1e-9 * width + 1e-14 * abs(low))


@given(st.floats(-300, 300), st.floats(1e-2, 1e3))
@settings(max_examples=40)
def test_mean_and_variance_on_the_line_give_the_normal(deviations: float, sigma: float) -> None:
    mu = deviations * sigma
    fit = certified(over(LINE, X, XX), [mu, mu**2 + sigma**2])
    ratio = 1 + (mu / sigma) ** 2  # what forming μ² + σ² loses
    assert fit.model.weights["x·x"] == pytest.approx(-1 / (2 * sigma**2), rel=1e-9 * ratio)
    assert fit.model.weights["x"] == pytest.approx(mu / sigma**2, rel=1e-9 * ratio, abs=1e-9 * ratio / sigma)
    x = mu + sigma * np.linspace(-4, 4, 9)
    np.testing.assert_allclose(fit.model.log_prob({"x": x}), stats.norm(mu, sigma).logpdf(x), atol=1e-6 * ratio)
    # h = 1 has no total on the line: the dual value is minus the entropy.
    assert fit.certificate.dual == pytest.approx(-stats.norm(mu, sigma).entropy(), abs=1e-7 * ratio)


@given(st.floats(1e-3, 1e4))
@settings(max_examples=20)
def test_a_mean_on_the_half_line_gives_the_exponential(mean: float) -> None:
    fit = certified(over(HALF, X), mean)
    assert fit.model.weights["x"] == pytest.approx(-1 / mean, rel=1e-9)
    assert fit.certificate.dual == pytest.approx(-1 - math.log(mean), abs=1e-8)


@pytest.mark.parametrize(("ends", "mean"), [((5, INF), 5.5), ((-INF, 1), -3.0), ((-2, INF), 100.0), ((-INF, -7), -7.1)])
def test_half_lines_may_end_anywhere_on_either_side(ends: tuple[float, float], mean: float) -> None:
    fit = certified(over(ends, X), mean)
    end = next(end for end in ends if math.isfinite(end))
    assert fit.model.weights["x"] == pytest.approx(-1 / (mean - end), rel=1e-9)
    drawn = np.asarray(fit.model.sample(4000, seed=2)["x"])
    draws_agree((drawn - end) / (mean - end), stats.expon)


@given(st.floats(0.3, 15), st.floats(0.05, 20))
@settings(max_examples=30)
def test_means_of_x_and_log_x_give_the_gamma(shape: float, rate: float) -> None:
    fit = certified(over(HALF, X, LOG), [shape / rate, digamma(shape) - math.log(rate)])
    assert fit.model.weights["log x"] == pytest.approx(shape - 1, rel=1e-6, abs=1e-6)
    assert fit.model.weights["x"] == pytest.approx(-rate, rel=1e-6)


@given(st.floats(1, 12), st.floats(1, 12))
@settings(max_examples=30)
def test_means_of_both_logarithms_give_the_beta(a: float, b: float) -> None:
    both = digamma(a + b)
    fit = certified(over(UNIT, LOG, LOG_REST), [digamma(a) - both, digamma(b) - both])
    assert fit.model.weights["log x"] == pytest.approx(a - 1, abs=1e-6)
    assert fit.model.weights["log(1 − x)"] == pytest.approx(b - 1, abs=1e-6)
    assert fit.certificate.dual == pytest.approx(-stats.beta(a, b).entropy(), abs=1e-7)


def test_a_beta_too_singular_for_the_nodes_is_near_and_not_certified() -> None:
    targets = [digamma(0.3) - digamma(0.6)] * 2
    fit = sf.maxent(over(UNIT, LOG, LOG_REST), targets)
    assert fit.model.weights["log x"] == pytest.approx(-0.7, abs=1e-3)
    assert not fit.certificate.ok
    assert "match of expectations" in fit.certificate.verdict


@given(st.floats(0.01, 20), st.floats(-3, 3))
@settings(max_examples=30)
def test_means_of_cosine_and_sine_give_von_mises(kappa: float, angle: float) -> None:
    length = i1e(kappa) / i0e(kappa)
    fit = certified(over(CIRCLE, COS, SIN), [length * math.cos(angle), length * math.sin(angle)])
    assert fit.model.weights["cos"] == pytest.approx(kappa * math.cos(angle), rel=1e-7, abs=1e-7)
    assert fit.model.weights["sin"] == pytest.approx(kappa * math.sin(angle), rel=1e-7, abs=1e-7)
    # The divergence from the uniform law on the circle.
    entropy = stats.vonmises(kappa).entropy()
    assert fit.certificate.dual == pytest.approx(math.log(2 * math.pi) - entropy, abs=1e-7)


def test_mean_absolute_value_gives_laplace() -> None:
    fit = certified(over(LINE, named(np.abs, "|x|")), 0.5)
    assert fit.model.weights["|x|"] == pytest.approx(-2, abs=1e-8)


def test_second_and_fourth_moments_give_two_peaks() -> None:
    fit = certified(over(LINE, XX, sf.product("x", "x", "x", "x")), [1.0, 1.2])
    second, fourth = fit.model.weights.to_numpy()
    assert second > 0 > fourth

    def p(x: float) -> float:
        return math.exp(second * x**2 + fourth * x**4)

    z = quad(p, -8, 8, points=[-1, 1], limit=200)[0]
    for power, wanted in ((2, 1.0), (4, 1.2)):
        found = quad(lambda x, power=power: x**power * p(x), -8, 8, points=[-1, 1], limit=200)[0] / z
        assert found == pytest.approx(wanted, abs=1e-8)
    assert fit.certificate.dual == pytest.approx(second + 1.2 * fourth - math.log(z), abs=1e-8)


@pytest.mark.parametrize("spread", [1e-2, 1e-4])
@pytest.mark.parametrize("support", [UNIT, LINE, HALF])
def test_nodes_find_a_narrow_density_of_which_only_a_distance_is_known(
    support: tuple[float, float], spread: float
) -> None:
    fit = certified(over(support, named(lambda x: (x - 0.3172) ** 2, "square")), spread**2)
    assert fit.model.weights["square"] == pytest.approx(-1 / (2 * spread**2), rel=1e-6)


# Base measures ------------------------------------------------------------------------------------------------


def test_a_normal_base_is_shifted_to_another_mean() -> None:
    fit = certified(over(LINE, X), 1.5, base=lambda x: math.exp(-(x**2) / 2))
    assert fit.model.weights["x"] == pytest.approx(1.5, abs=1e-9)
    assert fit.certificate.dual == pytest.approx(1.5**2 / 2, abs=1e-8)  # KL between two normals
    np.testing.assert_allclose(fit.model.log_prob({"x": [0.0, 1.5]}), stats.norm(1.5).logpdf([0.0, 1.5]), atol=1e-9)
    draws_agree(np.asarray(fit.model.sample(4000, seed=3)["x"]), stats.norm(1.5))


@given(st.floats(0.2, 0.9))
@settings(max_examples=20)
def test_divergence_from_a_base_on_an_interval_is_the_dual_value(mean: float) -> None:
    fit = certified(over(UNIT, X), mean, base=lambda x: 5 * x * x)

    def log_p(x: float) -> float:
        return float(fit.model.log_prob({"x": [x]})[0])

    kl = quad(lambda x: math.exp(log_p(x)) * (log_p(x) - math.log(3 * x * x)), 0, 1)[0]
    assert fit.certificate.dual == pytest.approx(kl, abs=1e-6)


def test_a_jump_of_the_base_between_nodes_is_not_certified() -> None:
    fit = sf.maxent(over(UNIT, X), 0.6, base=lambda x: float(x > 1 / 3))
    assert not fit.certificate.ok


def test_a_base_over_states_beside_a_density() -> None:
    table = sf.LabelledTable((sf.Variable("c", ("a", "b"), True),), np.array([3.0, 1.0]))
    structure = sf.Features([X], support={"x": UNIT}, variables=["c"])
    for base in (table, [table]):
        fit = certified(structure, 0.3, base=base)
        np.testing.assert_allclose(fit.model.query("c").values, [0.75, 0.25], atol=1e-12)


# Several variables --------------------------------------------------------------------------------------------


# On a grid of nodes a narrow ridge is coarse: from about |r| = 0.895 on it is not certified.
@given(st.floats(-3, 3), st.floats(0.2, 3), st.floats(-0.87, 0.87))
@example(0.0, 1.0, 0.87)
@example(-3.0, 0.2, -0.87)
@settings(max_examples=8, deadline=None)
def test_first_and_second_moments_of_two_variables_give_the_joint_normal(mu: float, sigma: float, r: float) -> None:
    structure = sf.Features([X, Y, XX, YY, XY], support={"x": LINE, "y": LINE})
    mean, covariance = np.array([mu, 1.0]), np.array([[sigma**2, r * sigma], [r * sigma, 1.0]])
    second = covariance + np.outer(mean, mean)
    fit = certified(structure, [*mean, second[0, 0], second[1, 1], second[0, 1]])
    precision = np.linalg.inv(covariance)
    linear = precision @ mean
    wanted = [*linear, -precision[0, 0] / 2, -precision[1, 1] / 2, -precision[0, 1]]
    np.testing.assert_allclose(fit.model.weights.to_numpy(), wanted, rtol=1e-6, atol=1e-6)
    rows = {"x": [0.0, mu], "y": [1.0, -1.0]}
    law = stats.multivariate_normal(mean, covariance)
    np.testing.assert_allclose(fit.model.log_prob(rows), law.logpdf(np.column_stack([*rows.values()])), atol=1e-6)


def test_a_ridge_too_narrow_for_the_nodes_is_not_certified() -> None:
    fit = sf.maxent(sf.Features([X, Y, XX, YY, XY], support={"x": LINE, "y": LINE}), [0.0, 0.0, 1.0, 1.0, 0.95])
    assert not fit.certificate.ok
    assert "the match of expectations is violated" in fit.certificate.verdict


def test_a_product_on_a_square_has_the_targets_by_another_integration() -> None:
    fit = certified(sf.Features([X, Y, XY], support={"x": UNIT, "y": (-1, 1)}), [0.6, 0.2, 0.2])
    a, b, c = fit.model.weights.to_numpy()
    points, weights = np.polynomial.legendre.leggauss(40)
    x, y = np.meshgrid((points + 1) / 2, points, indexing="ij")
    p = np.outer(weights / 2, weights) * np.exp(a * x + b * y + c * x * y)
    found = [(p * value).sum() / p.sum() for value in (x, y, x * y)]
    np.testing.assert_allclose(found, [0.6, 0.2, 0.2], atol=1e-10)


def test_groups_with_means_of_their_own() -> None:
    # E[x], E[x²], E[x; a] and P(a): normal in each group, with one variance.
    structure = sf.Features([X, XX, sf.product("x", sf.indicator(c="a")), sf.indicator(c="a")], support={"x": LINE})
    share, means, variance = 0.3, (2.0, -1.0), 0.5
    mixed = share * means[0] + (1 - share) * means[1]
    second = variance + share * means[0] ** 2 + (1 - share) * means[1] ** 2
    fit = certified(structure, [mixed, second, share * means[0], share], over={"c": ["a", "b"]})
    np.testing.assert_allclose(fit.model.query("c").values, [share, 1 - share], atol=1e-9)
    for state, mean, part in (("a", means[0], share), ("b", means[1], 1 - share)):
        found = fit.model.log_prob({"x": [0.3], "c": [state]})
        assert found[0] == pytest.approx(math.log(part) + stats.norm(mean, math.sqrt(variance)).logpdf(0.3), abs=1e-7)
    drawn = fit.model.sample(6000, seed=4)
    inside = np.asarray(drawn["c"]) == "a"
    assert stats.binomtest(int(inside.sum()), 6000, share).pvalue > 1e-4
    draws_agree(np.asarray(drawn["x"])[inside], stats.norm(means[0], math.sqrt(variance)))
    draws_agree(np.asarray(drawn["x"])[~inside], stats.norm(means[1], math.sqrt(variance)))


def test_three_variables_on_a_cube() -> None:
    structure = sf.Features([X, Y, sf.product("z"), XY], support=dict.fromkeys("xyz", UNIT))
    fit = certified(structure, [0.6, 0.4, 0.2, 0.26])
    alone = certified(sf.Features([sf.product("z")], support={"z": UNIT}), 0.2)
    assert fit.model.weights["z"] == pytest.approx(alone.model.weights["z"], abs=1e-8)


def test_too_many_variables_are_refused_before_memory_is_spent() -> None:
    structure = sf.Features([sf.product(name) for name in "uvxyz"], support=dict.fromkeys("uvxyz", UNIT))
    with pytest.raises(sf.StructureError, match="Model fewer variables together"):
        sf.maxent(structure, [0.5] * 5)


# Draws --------------------------------------------------------------------------------------------------------


def test_draws_of_one_variable_follow_the_law() -> None:
    fit = certified(over(HALF, X, LOG), [1.5, digamma(3) - math.log(2)])
    draws_agree(np.asarray(fit.model.sample(20_000, seed=5)["x"]), stats.gamma(3, scale=0.5))


def test_draws_of_two_variables_follow_the_law_in_every_direction() -> None:
    structure = sf.Features([X, Y, XX, YY, XY], support={"x": LINE, "y": LINE})
    fit = certified(structure, [1.0, 2.0, 2.0, 8.0, 2.8])
    drawn = fit.model.sample(100_000, seed=6)
    x, y = np.asarray(drawn["x"]) - 1, np.asarray(drawn["y"]) - 2
    for cosine in np.linspace(0, math.pi, 7)[:-1]:
        a, b = math.cos(cosine), math.sin(cosine)
        # 100,000 draws show deviations of the distribution function of 0.005.
        draws_agree(a * x + b * y, stats.norm(0, math.sqrt(a * a + 4 * b * b + 1.6 * a * b)))
    draws_agree((y - 0.8 * x) / math.sqrt(4 - 0.64), stats.norm())


def test_draws_near_a_singular_end_follow_the_law() -> None:
    both = digamma(2.7)
    structure = sf.Features([LOG, LOG_REST, Y], support={"x": UNIT, "y": HALF})
    fit = sf.maxent(structure, [digamma(0.7) - both, digamma(2) - both, 3.0], tol=1e-6)
    drawn = fit.model.sample(50_000, seed=7)
    draws_agree(np.asarray(drawn["x"]), stats.beta(0.7, 2))
    draws_agree(np.asarray(drawn["y"]), stats.expon(scale=3))


def test_draws_are_the_same_for_a_seed_and_as_many_as_wanted() -> None:
    model = certified(sf.Features([X, Y], support={"x": UNIT, "y": HALF}), [0.3, 2.0]).model
    first, again, other = (model.sample(500, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first["x"], again["x"])
    assert not np.array_equal(first["x"], other["x"])
    assert len(model.sample(0, seed=1)) == 0
    assert len(model.sample(1, seed=1)) == 1


# Outside the support ------------------------------------------------------------------------------------------


def test_nothing_is_possible_outside_the_support_where_features_need_not_be_defined() -> None:
    model = certified(over(HALF, X, LOG), [1.0, -0.5]).model
    found = model.log_prob({"x": [-1.0, 0.5, -1e9]})
    assert found[0] == found[2] == -INF
    assert math.isfinite(found[1])


def test_a_feature_that_is_not_finite_at_an_end_is_named() -> None:
    model = certified(over(HALF, X, LOG), [1.0, -0.5]).model
    with pytest.raises(sf.StructureError, match="'log x' must be a finite number"):
        model.log_prob({"x": [0.0]})


def test_a_density_gives_targets_to_another() -> None:
    first = certified(over(UNIT, X), 0.3).model
    assert certified(over(UNIT, X), first).model.weights["x"] == pytest.approx(first.weights["x"], abs=1e-9)
    both = certified(over(UNIT, X, XX), first).model
    np.testing.assert_allclose(both.weights.to_numpy(), [first.weights["x"], 0.0], atol=1e-7)


# What no density has ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("support", [UNIT, HALF, (-INF, 0)])
@pytest.mark.parametrize("size", [0.0, 1.5])
def test_means_at_the_end_of_the_support_or_beyond_are_refused(support: tuple[float, float], size: float) -> None:
    low, high = support
    end = low if math.isfinite(low) else high
    beyond = end - size if end == low else end + size
    with pytest.raises(sf.EstimationError, match="of the feature 'x' is out of reach"):
        sf.maxent(over(support, X), beyond)


@pytest.mark.parametrize("square", [4.0, 3.0])
@pytest.mark.parametrize("support", [LINE, HALF])
def test_mean_squares_that_leave_no_variance_are_refused(support: tuple[float, float], square: float) -> None:
    with pytest.raises(sf.EstimationError, match="no variance is left"):
        sf.maxent(over(support, X, XX), [2.0, square])


def test_directions_beyond_the_circle_are_refused_by_the_combination() -> None:
    with pytest.raises(sf.EstimationError, match=r"\[cos\] \+ \[sin\] is at most 1\.41421"):
        sf.maxent(over(CIRCLE, COS, SIN), [0.9, 0.9])


@pytest.mark.parametrize(
    ("support", "specs", "targets"),
    [
        (LINE, [X], [1.0]),  # the uniform law on the line is none
        (LINE, [X, XX, sf.product("x", "x", "x")], [0.0, 1.0, 0.5]),  # cubes have no end on one side
        (HALF, [X, XX], [1.0, 2.5]),  # more variance than the exponential has
        (LINE, [XX, sf.product("x", "x", "x", "x")], [1.0, 4.0]),  # more kurtosis than the normal has
        (HALF, [LOG], [0.0]),  # powers of x are not integrable at both ends
    ],
)
def test_expectations_without_a_density_are_refused_or_explained(
    support: tuple[float, float], specs: list[Any], targets: list[float]
) -> None:
    try:
        fit = sf.maxent(over(support, *specs), targets)
    except sf.EstimationError as error:
        assert "cannot be normalised" in str(error)  # noqa: PT017
        return
    assert not fit.certificate.ok
    assert any("no density of this form" in note.text for note in fit.notes)


def test_states_and_a_support_for_one_variable_contradict_each_other() -> None:
    with pytest.raises(sf.SchemaError, match="states and a support"):
        sf.maxent(over(UNIT, X), 0.5, over={"x": [0, 1]})
