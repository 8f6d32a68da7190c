"""The normal inverse gamma prior against exact fractions, multivariate t densities, quantiles and draws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

import suffice as sf
from suffice.data.variable import Variable
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.linear_gaussian_prior import RegressionPseudo, posterior_residual
from suffice.priors.regression_posterior import RegressionPosterior
from suffice.stats.moments import Moments

SEEDS = st.integers(0, 10**4)
Y, D = Variable("y"), Variable("d", ("no", "yes", "maybe"))


def family(q: int, *discrete: Variable) -> NodeFamily:
    return NodeFamily(Y, (*discrete, *(Variable(f"x{j}") for j in range(q))))


def moments(of: NodeFamily, x: np.ndarray, weights: np.ndarray | None = None) -> Moments:
    """Return the moments of rows (parents, child)."""
    return Moments.of_rows((*of.continuous, of.child), x, weights)


def some_rows(rng: np.random.Generator, n: int, q: int) -> np.ndarray:
    x = rng.normal(size=(n, q)) * rng.uniform(0.5, 3, q) + rng.normal(size=q)
    y = 1.5 + x @ rng.normal(size=q) + rng.normal(size=n) * 0.7
    return np.column_stack([x, y])


def some_prior(rng: np.random.Generator, q: int) -> RegressionPseudo:
    root = rng.normal(size=(q + 1, q + 2))
    return RegressionPseudo.from_precision(
        root @ root.T + 0.1 * np.eye(q + 1), rng.normal(size=q + 1), rng.uniform(1.2, 4), rng.uniform(0.3, 3)
    )


def solved(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """Solve linear equations by elimination, exactly."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        pivot = next(k for k in range(i, len(rows)) if rows[k][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(len(rows)):
            if k != i:
                factor = rows[k][i] / rows[i][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def naive(prior: RegressionPseudo, rows: np.ndarray) -> tuple[list[Fraction], Fraction]:
    """Return posterior mean of (intercept, slopes) and scale from the design matrix, in fractions."""
    z = [[Fraction(1), *map(Fraction, row[:-1])] for row in rows.tolist()]
    y = [Fraction(row[-1]) for row in rows.tolist()]
    k = len(prior.centre) + 1
    u = [Fraction(1), *map(Fraction, prior.centre.tolist())]
    kappa = Fraction(prior.weight)
    before = [[kappa * u[i] * u[j] for j in range(k)] for i in range(k)]
    for i in range(1, k):
        for j in range(1, k):
            before[i][j] += Fraction(float(prior.scatter[i - 1, j - 1]))
    slopes = list(map(Fraction, prior.slopes.tolist()))
    m = [Fraction(prior.level) - sum((a * b for a, b in zip(slopes, u[1:], strict=True)), Fraction(0)), *slopes]
    after = [[before[i][j] + sum((row[i] * row[j] for row in z), Fraction(0)) for j in range(k)] for i in range(k)]
    right = [
        sum((before[i][j] * m[j] for j in range(k)), Fraction(0))
        + sum((row[i] * value for row, value in zip(z, y, strict=True)), Fraction(0))
        for i in range(k)
    ]
    beta = solved(after, right)
    squares = sum((value * value for value in y), Fraction(0))
    squares += sum((m[i] * before[i][j] * m[j] for i in range(k) for j in range(k)), Fraction(0))
    squares -= sum((beta[i] * right[i] for i in range(k)), Fraction(0))
    return beta, Fraction(prior.scale) + squares / 2


def as_prior(posterior: RegressionPosterior, row: int = 0) -> RegressionPseudo:
    """Return a posterior as the prior of what comes next."""
    spread = posterior.spread[row]
    return RegressionPseudo(
        float(posterior.weight[row]),
        posterior.centre[row],
        np.linalg.inv(spread @ spread.T),
        float(posterior.level[row]),
        posterior.slopes[row],
        float(posterior.shape[row]),
        float(posterior.scale[row]),
    )


# The posterior ------------------------------------------------------------------------------------------------


@given(seed=SEEDS, q=st.integers(0, 3), n=st.integers(0, 9))
def test_posterior_is_that_of_the_design_matrix(seed: int, q: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    prior, rows = some_prior(rng, q), some_rows(rng, n, q)
    found = RegressionPosterior.from_moments(family(q), prior, moments(family(q), rows))
    beta, scale = naive(prior, rows)
    np.testing.assert_allclose([found.intercept[0], *found.slopes[0]], [float(b) for b in beta], rtol=1e-8, atol=1e-10)
    assert found.scale[0] == pytest.approx(float(scale), rel=1e-9)
    assert found.shape[0] == prior.shape + n / 2
    z = np.column_stack([np.ones(n), rows[:, :-1]])
    covariance = np.linalg.inv(prior.precision + z.T @ z)
    np.testing.assert_allclose(found.spread[0] @ found.spread[0].T, covariance[1:, 1:], rtol=1e-7, atol=1e-10)
    assert 1 / found.weight[0] + (found.spread[0].T @ found.centre[0]) @ (found.spread[0].T @ found.centre[0]) == (
        pytest.approx(covariance[0, 0], rel=1e-7)
    )


@given(seed=SEEDS, q=st.integers(0, 3), n=st.integers(1, 9))
def test_evidence_is_a_multivariate_t_density(seed: int, q: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    prior, rows = some_prior(rng, q), some_rows(rng, n, q)
    z = np.column_stack([np.ones(n), rows[:, :-1]])
    spread = prior.scale / prior.shape * (np.eye(n) + z @ np.linalg.solve(prior.precision, z.T))
    expected = stats.multivariate_t(z @ prior.mean, spread, df=2 * prior.shape).logpdf(rows[:, -1])
    found = RegressionPosterior.from_moments(family(q), prior, moments(family(q), rows))
    assert found.log_marginal_likelihood == pytest.approx(float(expected), rel=1e-9, abs=1e-9)


@given(seed=SEEDS, q=st.integers(0, 2), weight=st.sampled_from([0.0, 1.0, 40.0]))
@settings(max_examples=40)
def test_data_far_from_zero_keeps_its_digits(seed: int, q: int, weight: float) -> None:
    rng = np.random.default_rng(seed)
    rows = some_rows(rng, 30, q) + 1e9 * rng.choice([-1, 1], q + 1)
    prior = RegressionPseudo(weight, np.zeros(q), np.diag(rng.uniform(0.5, 2, q)), 0.0, rng.normal(size=q), 2.0, 1.0)
    found = RegressionPosterior.from_moments(family(q), prior, moments(family(q), rows))
    beta, scale = naive(prior, rows)
    np.testing.assert_allclose(found.slopes[0], [float(b) for b in beta[1:]], rtol=1e-6, atol=1e-9)
    assert found.scale[0] == pytest.approx(float(scale), rel=1e-6)
    level = beta[0] + sum(
        (b * Fraction(u) for b, u in zip(beta[1:], found.centre[0].tolist(), strict=True)), Fraction(0)
    )
    assert found.level[0] == pytest.approx(float(level), rel=1e-14)
    for estimate, point in ((found.mean(), "mean"), (found.mode(), "map")):
        pseudo = RegressionPseudo(**{**vars(prior), "point": point})
        assert posterior_residual(estimate, moments(family(q), rows), pseudo) < 1e-8


@given(seed=SEEDS, q=st.integers(0, 2))
def test_no_data_leaves_the_prior(seed: int, q: int) -> None:
    prior = some_prior(np.random.default_rng(seed), q)
    found = RegressionPosterior.from_moments(family(q), prior, moments(family(q), np.zeros((0, q + 1))))
    assert found.log_marginal_likelihood == 0
    np.testing.assert_allclose(as_prior(found).precision, prior.precision, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(as_prior(found).mean, prior.mean, rtol=1e-9, atol=1e-12)
    assert (found.shape[0], found.scale[0]) == (prior.shape, prior.scale)


@given(seed=SEEDS, q=st.integers(0, 2), n=st.integers(0, 6))
def test_a_posterior_is_the_prior_of_what_comes_next(seed: int, q: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    prior, of = some_prior(rng, q), family(q)
    first, second = moments(of, some_rows(rng, n, q)), moments(of, some_rows(rng, 5, q))
    half = RegressionPosterior.from_moments(of, prior, first)
    then = RegressionPosterior.from_moments(of, as_prior(half), second)
    whole = RegressionPosterior.from_moments(of, prior, first + second)
    for name in ("weight", "centre", "level", "slopes", "shape", "scale"):
        np.testing.assert_allclose(getattr(then, name), getattr(whole, name), rtol=1e-7, atol=1e-9)
    assert half.log_marginal_likelihood is not None
    assert then.log_marginal_likelihood is not None
    assert half.log_marginal_likelihood + then.log_marginal_likelihood == pytest.approx(whole.log_marginal_likelihood)


@given(seed=SEEDS, q=st.integers(0, 2))
def test_evidence_is_the_product_of_predictive_t_densities(seed: int, q: int) -> None:
    rng = np.random.default_rng(seed)
    prior, rows, of = some_prior(rng, q), some_rows(rng, 6, q), family(q)
    total = 0.0
    for i in range(len(rows)):
        before = RegressionPosterior.from_moments(of, prior, moments(of, rows[:i]))
        columns = dict(zip(of.scope, rows[i : i + 1].T, strict=True))
        found = before.log_predictive(columns)
        location, scale, dof = before.predictive({name: float(columns[name][0]) for name in of.scope[:-1]})
        assert found == pytest.approx(stats.t(dof, location, scale).logpdf(rows[i, -1]), rel=1e-9, abs=1e-11)
        total += float(found[0])
    whole = RegressionPosterior.from_moments(of, prior, moments(of, rows))
    assert whole.log_marginal_likelihood == pytest.approx(total, rel=1e-9, abs=1e-11)


@given(seed=SEEDS)
def test_weights_are_frequencies(seed: int) -> None:
    rng = np.random.default_rng(seed)
    prior, rows, times = some_prior(rng, 1), some_rows(rng, 5, 1), rng.integers(1, 4, 5)
    weighted = RegressionPosterior.from_moments(family(1), prior, moments(family(1), rows, times))
    repeated = RegressionPosterior.from_moments(family(1), prior, moments(family(1), np.repeat(rows, times, axis=0)))
    assert weighted.log_marginal_likelihood == pytest.approx(repeated.log_marginal_likelihood, rel=1e-10, abs=1e-11)
    np.testing.assert_allclose(weighted.slopes, repeated.slopes, rtol=1e-9, atol=1e-13)


def test_large_shapes_lose_no_digits() -> None:
    """With a shape of 10¹² the variance is as good as known, and the evidence that of a normal distribution."""
    prior = RegressionPseudo(1.0, np.zeros(0), np.zeros((0, 0)), 0.0, np.zeros(0), 1e12, 2e12)
    found = RegressionPosterior.from_moments(family(0), prior, moments(family(0), np.array([[1.0], [2.0]])))
    expected = stats.multivariate_normal(np.zeros(2), 2 * (np.eye(2) + 1)).logpdf([1.0, 2.0])
    assert found.log_marginal_likelihood == pytest.approx(float(expected), rel=1e-9)


# A free intercept ---------------------------------------------------------------------------------------------


@given(seed=SEEDS, q=st.integers(0, 2))
def test_a_free_intercept_is_the_limit_of_a_weak_prior(seed: int, q: int) -> None:
    rng = np.random.default_rng(seed)
    rows, of = some_rows(rng, 8, q), family(q)
    free = sf.NormalInverseGamma(2, 1.5, precision=0.5, intercept_precision=0).posterior(
        "linear_gaussian", of, moments(of, rows)
    )
    weak = sf.NormalInverseGamma(2, 1.5, precision=0.5, intercept_precision=1e-12).posterior(
        "linear_gaussian", of, moments(of, rows)
    )
    np.testing.assert_allclose(free.mode().intercept, weak.mode().intercept, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(free.slopes, weak.slopes, rtol=1e-6, atol=1e-8)
    assert free.shape[0] == weak.shape[0] - 0.5  # p(intercept | σ) is flat, not proportional to 1/σ
    assert free.log_marginal_likelihood is None


def test_the_shape_under_a_free_intercept_is_the_integral() -> None:
    y = np.array([0.3, 1.7, 0.9])
    log_v, z = np.linspace(-7, 12, 1901), np.linspace(-40, 40, 4001)
    v = np.exp(log_v)[:, None]
    mean = y.mean() + np.sqrt(v) * z
    log_density = stats.invgamma(3.0, scale=2.0).logpdf(v) + 1.5 * np.log(v)
    log_density = log_density + sum(stats.norm(mean, np.sqrt(v)).logpdf(value) for value in y)
    density = np.exp(log_density)
    expected = float((density * v).sum() / density.sum())
    prior = sf.NormalInverseGamma(3, 2.0, intercept_precision=0)
    found = prior.posterior("linear_gaussian", family(0), moments(family(0), y[:, None]))
    assert found.mean().variance[0] == pytest.approx(expected, rel=1e-6)


def test_rows_without_data_under_a_free_intercept_are_unknown() -> None:
    data = {"d": ["no", "no", "yes", "yes", "yes"], "y": [1.0, 2.0, 5.0, 7.0, 6.0]}
    prior = sf.Priors(sf.BDeu(1), sf.NormalInverseGamma(2, 1.0, intercept_precision=0))
    schema = {"d": ["no", "yes", "maybe"]}
    fit = sf.fit(sf.DAG("d -> y"), data, prior=prior, schema=schema, unseen_parents="nan")
    assert fit.model.cpd("y").unknown.tolist() == [False, False, True]
    assert fit.log_marginal_likelihood is None
    assert fit.certificate.ok, fit.certificate.verdict
    assert np.isnan(fit.posterior["y"].intervals()["sd | d='maybe'"].median)
    assert np.isnan(fit.posterior["y"].predictive({"d": ["maybe"]}).location).all()
    with pytest.raises(sf.EstimationError, match="'y'"):
        sf.fit(sf.DAG("d -> y"), data, prior=prior, schema=schema)


# Estimates ----------------------------------------------------------------------------------------------------


@given(seed=SEEDS, q=st.integers(0, 2))
@settings(max_examples=30)
def test_mode_is_where_the_log_posterior_is_highest(seed: int, q: int) -> None:
    rng = np.random.default_rng(seed)
    prior, rows = some_prior(rng, q), some_rows(rng, 7, q)
    mode = RegressionPosterior.from_moments(family(q), prior, moments(family(q), rows)).mode()
    z = np.column_stack([np.ones(len(rows)), rows[:, :-1]])

    def log_posterior(beta: np.ndarray, variance: float) -> float:
        gap = beta - prior.mean
        value = stats.norm(z @ beta, math.sqrt(variance)).logpdf(rows[:, -1]).sum()
        value += -0.5 * (q + 1) * math.log(variance) - gap @ prior.precision @ gap / (2 * variance)
        return float(value + stats.invgamma(prior.shape, scale=prior.scale).logpdf(variance))

    beta, variance = np.append(mode.intercept, mode.coefficients[0]), float(mode.variance[0])
    best = log_posterior(beta, variance)
    for _ in range(10):
        step, factor = rng.normal(size=q + 1), math.exp(rng.normal())
        for size in (1e-3, -1e-3):
            assert log_posterior(beta + size * step, variance * factor**size) < best


def test_draws_agree_with_means_intervals_and_covariances() -> None:
    rng = np.random.default_rng(5)
    rows, of = some_rows(rng, 10, 2), family(2)
    posterior = RegressionPosterior.from_moments(of, some_prior(rng, 2), moments(of, rows))
    draws = posterior.draws(40_000, seed=1)
    mean = posterior.mean()
    for drawn, wanted in (
        (draws.intercept[:, 0], mean.intercept[0]),
        (draws.coefficients[:, 0, 1], mean.coefficients[0, 1]),
        (draws.variance[:, 0], mean.variance[0]),
    ):
        assert abs(drawn.mean() - wanted) < 5 * drawn.std() / math.sqrt(len(drawn))
    intervals = posterior.intervals(0.8)
    columns = {
        "intercept": draws.intercept[:, 0],
        "slope of x0": draws.coefficients[:, 0, 0],
        "slope of x1": draws.coefficients[:, 0, 1],
        "sd": np.sqrt(draws.variance[:, 0]),
    }
    assert intervals.names == tuple(columns)
    for name, drawn in columns.items():
        for end, level in zip(intervals[name], (0.5, 0.1, 0.9), strict=True):
            assert (drawn < end).mean() == pytest.approx(level, abs=0.012), name
    assert posterior.draws(3, seed=2).intercept.tolist() == posterior.draws(3, seed=2).intercept.tolist()
    assert posterior.sample(1, seed=2)[0].intercept.tolist() == posterior.draws(1, seed=2).intercept[0].tolist()


@given(seed=SEEDS)
def test_configurations_are_regressions_of_their_own(seed: int) -> None:
    rng = np.random.default_rng(seed)
    of, alone = family(1, D), family(1)
    parts = [moments(alone, some_rows(rng, n, 1)) for n in (4, 0, 6)]
    arrays = [np.stack([getattr(part, name) for part in parts]) for name in ("weight", "mean", "rest", "scatter")]
    together = Moments(parts[0].variables, (D,), *arrays)
    prior = sf.NormalInverseGamma(2, 1.0, mean=0.5, precision={"y": [[2.0, 0.5], [0.5, 1.0]]})
    found = prior.posterior("linear_gaussian", of, together)
    single = [prior.posterior("linear_gaussian", alone, part) for part in parts]
    np.testing.assert_allclose(found.slopes, np.concatenate([part.slopes for part in single]), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.scale, np.concatenate([part.scale for part in single]), rtol=1e-12)
    assert found.log_marginal_likelihood == pytest.approx(sum(part.log_marginal_likelihood for part in single))
    assert posterior_residual(found.mean(), together, prior.pseudo(of, "mean")) < 1e-10


@given(seed=SEEDS, q=st.integers(0, 2), point=st.sampled_from(["mean", "map"]), what=st.integers(0, 2))
@example(seed=2258, q=2, point="map", what=0)  # an intercept near −1
def test_a_moved_estimate_has_a_residual(seed: int, q: int, point: str, what: int) -> None:
    rng = np.random.default_rng(seed)
    prior, rows, of = some_prior(rng, q), some_rows(rng, 8, q), family(q)
    posterior = RegressionPosterior.from_moments(of, prior, moments(of, rows))
    estimate = posterior.mode() if point == "map" else posterior.mean()
    pseudo = RegressionPseudo(**{**vars(prior), "point": point})
    assert posterior_residual(estimate, moments(of, rows), pseudo) < 1e-9
    moved = {"intercept": estimate.intercept, "coefficients": estimate.coefficients, "variance": estimate.variance}
    name = list(moved)[what if q else 2 * (what % 2)]
    moved[name] = moved[name] + 0.01 * (np.abs(moved[name]) + (name != "variance"))
    assert posterior_residual(LinearGaussianCPD(of, **moved), moments(of, rows), pseudo) > 1e-5
    other = RegressionPseudo(**{**vars(prior), "point": "mean" if point == "map" else "map"})
    assert posterior_residual(estimate, moments(of, rows), other) > 1e-3


@pytest.mark.parametrize("point", ["mean", "map"])
def test_the_proof_of_a_nearly_exact_line_is_as_exact_as_its_moments(point: str) -> None:
    x = np.arange(-4.0, 5.0)
    rows = np.column_stack([x, 2.0**14 * x + np.where(x % 3 == 0, 1.0, -0.5)])  # 1 − r² is 3e-10
    prior = RegressionPseudo(0.5, np.array([1.0]), np.array([[2.0]]), 2.0**14, np.array([2.0**14]), 3.0, 2.0)
    beta, scale = naive(prior, rows)
    shape = prior.shape + len(rows) / 2
    variance = float(scale / Fraction(shape + 2 if point == "map" else shape - 1))
    exact = LinearGaussianCPD(family(1), np.array([float(beta[0])]), np.array([[float(beta[1])]]), np.array([variance]))
    pseudo = RegressionPseudo(**{**vars(prior), "point": point})
    assert posterior_residual(exact, moments(family(1), rows), pseudo) < 1e-14


@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-9])
def test_an_exact_line_is_certified_although_rounded_moments_leave_less_than_nothing(noise: float) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x, z, off = rng.normal(size=(3, 200))
        data = {"x": x, "z": z, "y": 2 * x - 3 * z + 5 + noise * off}
        prior = sf.NormalInverseGamma(2, 1e-18, mean=0.0, precision=1e-6)
        fit = sf.fit(sf.DAG("x -> y; z -> y"), data, prior=prior)
        assert fit.certificate.ok, fit.certificate.verdict


@pytest.mark.parametrize("point", ["mean", "map"])
@pytest.mark.parametrize("slope", [1e3, 1e4, 1e5])
def test_the_variance_around_a_nearly_exact_line_keeps_its_digits(slope: float, point: str) -> None:
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 50))
    prior = sf.NormalInverseGamma(2, 1.0, precision=1e-12)
    fit = sf.fit(sf.DAG("x -> y"), {"x": x, "y": slope * x + noise}, prior=prior, point=point)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.gradient_norm < 2e-9


def test_collinear_parents_are_told_apart_by_the_prior_only() -> None:
    x = np.linspace(-1, 1, 9)
    data = {"a": x, "b": 2 * x, "y": 3 * x + np.cos(40 * x)}
    fit = sf.fit(sf.DAG("a -> y <- b"), data, prior=sf.NormalInverseGamma(2, 1.0))
    assert fit.certificate.ok, fit.certificate.verdict
    slopes = fit.model.cpd("y").coefficients[0]
    assert slopes[1] == pytest.approx(2 * slopes[0])  # the shortest of those that fit alike
    with pytest.raises(sf.EstimationError, match="larger 'precision'"):
        sf.fit(sf.DAG("a -> y <- b"), data, prior=sf.NormalInverseGamma(2, 1.0, precision=1e-30))


def test_nearly_collinear_parents_are_told_apart_by_the_data() -> None:
    x = np.linspace(-1, 1, 9)
    rest = 1e-5 * np.cos(7 * x)
    data = {"a": x, "b": 2 * x + rest, "y": 3 * x + 1e5 * rest}
    fit = sf.fit(sf.DAG("a -> y <- b"), data, prior=sf.NormalInverseGamma(2, 1.0, precision=1e-30))
    np.testing.assert_allclose(fit.model.cpd("y").coefficients[0], [3 - 2e5, 1e5], rtol=1e-4)


def test_a_mean_of_the_variance_needs_a_shape_above_one() -> None:
    prior = sf.NormalInverseGamma(0.5, 1.0)
    posterior = prior.posterior("linear_gaussian", family(0), moments(family(0), np.array([[1.0]])))
    with pytest.raises(sf.EstimationError, match="point='map'"):
        posterior.mean()
    assert posterior.mode().variance[0] == pytest.approx((1.0 + 0.25) / (1.0 + 1 + 0.5))


# The prior ----------------------------------------------------------------------------------------------------


def test_arguments_by_node_are_put_in_place() -> None:
    of = family(2)
    prior = sf.NormalInverseGamma({"y": 3}, 2.0, mean={"y": [1, 2, 3]}, precision={"y": [4.0, 5.0, 6.0]})
    found = prior.regression(of)
    assert np.diag(found.precision).tolist() == [4, 5, 6]
    assert found.mean.tolist() == [1, 2, 3]
    assert (found.shape, found.scale) == (3, 2)
    assert prior.nodes == ("y",)
    number = sf.NormalInverseGamma(3, 2.0, mean=7.0, precision=2.0, intercept_precision={"y": 0.5}).regression(of)
    assert number.mean.tolist() == [7, 0, 0]
    assert np.diag(number.precision).tolist() == [0.5, 2, 2]
    assert sf.NormalInverseGamma(3, 2).nodes == ()


def test_arrays_are_frozen_copies() -> None:
    mean = np.array([1.0, 2.0])
    prior = sf.NormalInverseGamma(2, 1.0, mean={"y": mean})
    mean[0] = 9
    assert prior.regression(family(1)).mean.tolist() == [1, 2]
    posterior = prior.posterior("linear_gaussian", family(1), moments(family(1), np.zeros((0, 2))))
    with pytest.raises(ValueError, match="read-only"):
        posterior.scale[0] = 2


def test_equal_priors_are_equal() -> None:
    one, same, other = (sf.NormalInverseGamma(2, 1.0, mean={"y": [1, value]}) for value in (2, 2, 3))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert repr(one) == "NormalInverseGamma(shape=2, scale=1, mean={y: …}, precision=1)"
