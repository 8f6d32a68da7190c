"""The normal-inverse-Wishart prior against the textbook's formulas, predictive t densities, integrals and draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import suffice as sf
from suffice.data.variable import Variable
from suffice.priors.correlation_law import correlation_quantiles
from suffice.priors.niw_posterior import NormalInverseWishartPosterior
from suffice.priors.normal_inverse_wishart import NormalInverseWishart
from suffice.stats.moments import Moments

SEEDS = st.integers(0, 10**4)
NAMES = ("a", "b", "c", "d")


def rows(seed: int, n: int, p: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) + rng.normal(size=(n, 1)) + 2.0


def some_scale(seed: int, p: int) -> np.ndarray:
    root = np.random.default_rng(seed).normal(size=(p, p + 1))
    return root @ root.T + np.eye(p)


def structure_of(p: int) -> sf.MultivariateNormal:
    return sf.MultivariateNormal(NAMES[:p])


def posterior_of(prior: NormalInverseWishart, x: np.ndarray) -> NormalInverseWishartPosterior:
    structure = structure_of(x.shape[1])
    return prior.posterior(structure, Moments.of_rows([Variable(name) for name in structure.variables], x))


def table(x: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(NAMES, x.T, strict=False))


def updated(m: np.ndarray, kappa: float, nu: float, psi: np.ndarray, x: np.ndarray) -> tuple:
    """Gelman et al. (2013), section 3.6, written out."""
    n, mean = len(x), x.mean(axis=0)
    scatter = sum(np.outer(row - mean, row - mean) for row in x)
    after = psi + scatter + kappa * n / (kappa + n) * np.outer(mean - m, mean - m)
    return (kappa * m + n * mean) / (kappa + n), kappa + n, nu + n, after


# The posterior ------------------------------------------------------------------------------------------------


@given(seed=SEEDS, p=st.integers(1, 4), n=st.integers(1, 9), kappa=st.floats(0.1, 5), extra=st.floats(0.1, 9))
def test_posterior_and_its_estimates_are_the_textbooks(seed: int, p: int, n: int, kappa: float, extra: float) -> None:
    x, psi, m = rows(seed, n, p), some_scale(seed, p), np.arange(p) / 2
    prior = sf.NormalInverseWishart(m, kappa, p - 1 + extra, psi)
    centre, kappa_n, nu_n, psi_n = updated(m, kappa, p - 1 + extra, psi, x)
    posterior = posterior_of(prior, x)
    np.testing.assert_allclose(posterior.centre, centre, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(posterior.scale, psi_n, rtol=1e-10, atol=1e-12)
    assert (posterior.mean_weight, posterior.dof) == pytest.approx((kappa_n, nu_n))
    for point in ("mean", "map"):
        divisor = nu_n - p - 1 if point == "mean" else nu_n + p + 2
        if divisor > 0:
            fit = sf.fit(structure_of(p), table(x), prior=prior, point=point)
            np.testing.assert_allclose(fit.model.covariance, psi_n / divisor, rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(fit.model.mean, centre, rtol=1e-11, atol=1e-13)
            assert fit.certificate.ok, fit.certificate.verdict
            assert fit.log_marginal_likelihood == posterior.log_marginal_likelihood


@given(seed=SEEDS, p=st.integers(1, 3))
def test_marginal_likelihood_is_the_product_of_predictive_densities(seed: int, p: int) -> None:
    x, prior = rows(seed, 5, p), sf.NormalInverseWishart(0.5, 0.7, p + 0.5, some_scale(seed, p))
    total = 0.0
    for place in range(len(x)):
        before = posterior_of(prior, x[:place])
        total += float(before.predictive().log_prob(table(x[place : place + 1]))[0])
    assert posterior_of(prior, x).log_marginal_likelihood == pytest.approx(total, rel=1e-9, abs=1e-11)


@given(seed=SEEDS, p=st.integers(1, 3))
def test_it_is_the_hyper_inverse_wishart_of_a_complete_graph(seed: int, p: int) -> None:
    x, psi = rows(seed, 6, p), some_scale(seed, p)
    ours = posterior_of(sf.NormalInverseWishart(1.0, 2.0, p + 1.5, psi), x)
    graph = sf.GaussianMarkov([NAMES[:p]])
    moments = Moments.of_rows([Variable(name) for name in graph.variables], x)
    hyper = sf.HyperInverseWishart(2.5, psi, mean=1.0, mean_weight=2.0).posterior(graph, moments)
    assert ours.log_marginal_likelihood == pytest.approx(hyper.log_marginal_likelihood, rel=1e-12)
    # K is Wishart with ν degrees of freedom and mean ν Ψ⁻¹, in either form
    np.testing.assert_allclose(hyper.mean().precision, ours.dof * np.linalg.inv(ours.scale), rtol=1e-9, atol=1e-13)


@given(seed=SEEDS, cut=st.integers(0, 6))
def test_learning_in_parts_is_learning_at_once(seed: int, cut: int) -> None:
    x, prior = rows(seed, 6, 2), sf.NormalInverseWishart([1.0, -1.0], 0.5, 2.5, some_scale(seed, 2))
    first, whole = posterior_of(prior, x[:cut]), posterior_of(prior, x)
    second = posterior_of(sf.NormalInverseWishart(first.centre, first.mean_weight, first.dof, first.scale), x[cut:])
    np.testing.assert_allclose(second.centre, whole.centre, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(second.scale, whole.scale, rtol=1e-9, atol=1e-12)
    assert second.dof == pytest.approx(whole.dof)
    both = first.log_marginal_likelihood + second.log_marginal_likelihood
    assert both == pytest.approx(whole.log_marginal_likelihood, rel=1e-9, abs=1e-9)
    parts = sf.collect(structure_of(2), table(x[:cut])) + sf.collect(structure_of(2), table(x[cut:]))
    fit = sf.estimate(structure_of(2), parts, prior=prior)
    np.testing.assert_allclose(fit.posterior.scale, whole.scale, rtol=1e-9, atol=1e-12)


def test_without_rows_the_posterior_is_the_prior() -> None:
    prior = sf.NormalInverseWishart([1.0, 2.0], 3.0, 5.5, [[2.0, 0.5], [0.5, 1.0]])
    fit = sf.fit(structure_of(2), table(np.zeros((0, 2))), prior=prior)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.log_marginal_likelihood == pytest.approx(0, abs=1e-12)
    assert fit.posterior.dof == 5.5
    assert fit.posterior.centre.tolist() == [1.0, 2.0]
    np.testing.assert_allclose(fit.model.covariance, np.array([[2.0, 0.5], [0.5, 1.0]]) / 2.5, rtol=1e-14)


def test_one_variable_is_normal_inverse_gamma() -> None:
    """Murphy (2007), section 6: IG(a, b) on the variance, with a = ν/2 and b = Ψ/2."""
    x = np.array([0.3, 1.7, 2.2, 0.4])
    m, kappa, a, b = 0.5, 1.5, 2.0, 0.75
    posterior = posterior_of(sf.NormalInverseWishart(m, kappa, 2 * a, 2 * b), x[:, None])
    n, kappa_n, a_n = len(x), kappa + len(x), a + len(x) / 2
    b_n = b + 0.5 * ((x - x.mean()) ** 2).sum() + kappa * n * (x.mean() - m) ** 2 / (2 * kappa_n)
    assert posterior.dof / 2 == pytest.approx(a_n)
    assert posterior.scale[0, 0] / 2 == pytest.approx(b_n)
    evidence = (
        math.lgamma(a_n) - math.lgamma(a) + a * math.log(b) - a_n * math.log(b_n) + 0.5 * math.log(kappa / kappa_n)
    ) - n / 2 * math.log(2 * math.pi)
    assert posterior.log_marginal_likelihood == pytest.approx(evidence, rel=1e-12)
    assert posterior.mean().covariance[0, 0] == pytest.approx(b_n / (a_n - 1))


def test_one_variable_has_the_evidence_of_a_lone_linear_gaussian_node() -> None:
    data = {"a": rows(8, 12, 1)[:, 0]}
    ours = sf.fit(sf.Normal("a"), data, prior=sf.NormalInverseWishart(0.5, 2.0, 3.0, 1.5))
    node = sf.NormalInverseGamma(1.5, 0.75, mean={"a": [0.5]}, intercept_precision=2.0)
    assert ours.log_marginal_likelihood == pytest.approx(
        sf.fit(sf.DAG("a"), data, prior=node).log_marginal_likelihood, rel=1e-12
    )


@given(seed=SEEDS)
def test_mode_is_where_the_joint_density_is_highest(seed: int) -> None:
    prior, x = sf.NormalInverseWishart(1.0, 2.0, 4.5, some_scale(seed, 3)), rows(seed, 8, 3)
    posterior = posterior_of(prior, x)
    mode = posterior.mode()

    def log_density(mean: np.ndarray, covariance: np.ndarray) -> float:
        spread = stats.multivariate_normal(np.ones(3), covariance / 2.0).logpdf(mean)
        law = stats.invwishart(4.5, prior.scale_of(structure_of(3))).logpdf(covariance)
        return float(spread + law + stats.multivariate_normal(mean, covariance).logpdf(x).sum())

    best = log_density(mode.mean, mode.covariance)
    rng = np.random.default_rng(seed)
    for _ in range(10):
        change = rng.normal(size=(3, 3)) * 1e-3
        for sign in (1, -1):
            moved = log_density(mode.mean + sign * change[0], mode.covariance + sign * (change + change.T))
            assert moved < best


def test_large_means_lose_no_digits() -> None:
    x = rows(5, 200, 2)
    near = posterior_of(sf.NormalInverseWishart(0.0, 1.0, 4.0, 1.0), x)
    far = posterior_of(sf.NormalInverseWishart(1e9, 1.0, 4.0, 1.0), x + 1e9)
    np.testing.assert_allclose(far.scale, near.scale, rtol=1e-6)
    np.testing.assert_allclose(far.centre - 1e9, near.centre, atol=1e-6)
    assert far.log_marginal_likelihood == pytest.approx(near.log_marginal_likelihood, rel=1e-7)
    fit = sf.fit(structure_of(2), table(x + 1e9), prior=sf.NormalInverseWishart(1e9, 1.0, 4.0, 1.0))
    assert fit.certificate.ok, fit.certificate.verdict
    np.testing.assert_allclose(far.intervals().numbers[2:], near.intervals().numbers[2:], rtol=1e-5, atol=1e-6)


def test_a_wrong_posterior_point_is_not_certified() -> None:
    from suffice.certify.claim import Claim
    from suffice.families.proof import certify

    prior, x = sf.NormalInverseWishart(0.0, 1.0, 5.0, 1.0), rows(2, 9, 2)
    for point, other in (("mean", "map"), ("map", "mean")):
        fit = sf.fit(structure_of(2), table(x), prior=prior, point=other)
        claim = Claim(fit.structure, fit.model, fit.statistics, fit.log_likelihood, point, prior=prior)
        assert not certify(claim).ok
        assert fit.certificate.ok
    assert sf.fit(structure_of(2), table(x), prior=prior).certificate.claim.startswith("posterior mean of the cov")


def test_a_mean_of_the_covariance_needs_enough_degrees_of_freedom() -> None:
    prior = sf.NormalInverseWishart(0.0, 1.0, 1.5, 1.0)
    nothing = table(np.zeros((0, 2)))
    with pytest.raises(sf.EstimationError, match=r"must exceed 3.*point='map'"):
        sf.fit(structure_of(2), nothing, prior=prior)
    assert sf.fit(structure_of(2), nothing, prior=prior, point="map").certificate.ok


# What is known of the parameters ------------------------------------------------------------------------------


@settings(max_examples=4)
@given(seed=SEEDS)
def test_intervals_are_quantiles_of_draws(seed: int) -> None:
    posterior = posterior_of(sf.NormalInverseWishart(0.0, 2.0, 4.0, some_scale(seed, 3)), rows(seed, 6, 3))
    means, covariances = posterior.draws(20_000, seed=seed)
    sds = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    found = posterior.intervals(0.8)
    draws = {f"mean of {name}": means[:, place] for place, name in enumerate("abc")}
    draws |= {f"sd of {name}": sds[:, place] for place, name in enumerate("abc")}
    draws |= {f"variance of {name}": sds[:, place] ** 2 for place, name in enumerate("abc")}
    for first, second in ((0, 1), (0, 2), (1, 2)):
        correlation = covariances[:, first, second] / sds[:, first] / sds[:, second]
        draws[f"correlation of {'abc'[first]}, {'abc'[second]}"] = correlation
    assert set(found) == set(draws)
    for name, interval in found.items():
        for p, value in zip((0.5, 0.1, 0.9), interval, strict=True):
            error = math.sqrt(p * (1 - p) / 20_000)
            assert abs((draws[name] <= value).mean() - p) < 5 * error, name


@given(rho=st.floats(-0.95, 0.95), n=st.floats(1.5, 60))
def test_quantiles_of_correlations_mirror_and_rise(rho: float, n: float) -> None:
    p = np.array([0.01, 0.2, 0.5, 0.8, 0.99])
    found = correlation_quantiles(rho, n, p)
    assert (np.diff(found) > 0).all()
    assert (np.abs(found) <= 1).all()
    np.testing.assert_allclose(found, -correlation_quantiles(-rho, n, p)[::-1], atol=1e-8)


@pytest.mark.parametrize("n", [2.0, 5.0, 30.0])
def test_quantiles_of_a_correlation_around_zero_are_students(n: float) -> None:
    """r √(n − 1) / √(1 − r²) is Student's t with n − 1 degrees of freedom when ρ = 0 (Fisher, 1915)."""
    p = np.array([0.001, 0.1, 0.5, 0.7, 0.975])
    t = stats.t(n - 1).ppf(p)
    np.testing.assert_allclose(correlation_quantiles(0.0, n, p), t / np.sqrt(n - 1 + t**2), atol=1e-8)


@pytest.mark.parametrize(("rho", "n"), [(0.6, 4.0), (-0.9, 12.0), (0.3, 3.2)])
def test_quantiles_of_correlations_invert_hotellings_density(rho: float, n: float) -> None:
    from scipy.integrate import quad
    from scipy.special import gammaln, hyp2f1

    def density(r: float) -> float:
        constant = math.log(n - 1) + gammaln(n) - 0.5 * math.log(2 * math.pi) - gammaln(n + 0.5)
        log_power = n / 2 * math.log1p(-rho * rho) + (n - 3) / 2 * math.log1p(-r * r) - (n - 0.5) * math.log1p(-rho * r)
        return math.exp(constant + log_power) * float(hyp2f1(0.5, 0.5, n + 0.5, (1 + rho * r) / 2))

    p = [0.02, 0.5, 0.9]
    for wanted, value in zip(p, correlation_quantiles(rho, n, np.array(p)), strict=True):
        assert quad(density, -1, value, epsabs=1e-11)[0] == pytest.approx(wanted, abs=1e-8)


def test_correlations_that_round_to_one_have_intervals() -> None:
    assert (correlation_quantiles(1.0, 9.0, np.array([0.1, 0.9])) > 0.999).all()
    assert (correlation_quantiles(-1.0, 9.0, np.array([0.1, 0.9])) < -0.999).all()


def test_the_table_of_intervals_prints_and_is_looked_up() -> None:
    posterior = posterior_of(sf.NormalInverseWishart(0.0, 2.0, 4.0, 1.0), rows(1, 6, 2))
    found = posterior.intervals(0.9)
    assert str(posterior) == str(posterior.intervals(0.95))
    assert str(found).splitlines()[0].split() == ["parameter", "median", "lower", "upper"]
    assert "0.9 credible intervals" in found._repr_html_()
    frame = found.to_frame("pandas")
    assert frame["parameter"].tolist() == list(found)
    assert frame["upper"].tolist() == [interval.upper for interval in found.values()]
    assert found["mean of a"].median == posterior.centre[0]
    with pytest.raises(sf.UnknownNameError, match="Did you mean 'mean of a'"):
        found["mean_of a"]
    for level in (0, 1, "x"):
        with pytest.raises(sf.ArgumentError, match="'level'"):
            posterior.intervals(level)


# Draws --------------------------------------------------------------------------------------------------------


def test_draws_are_inverse_wishart_and_normal_given_it() -> None:
    psi = some_scale(3, 3)
    posterior = posterior_of(sf.NormalInverseWishart([1.0, 0.0, -1.0], 2.5, 6.0, psi), np.zeros((0, 3)))
    means, covariances = posterior.draws(20_000, seed=11)
    reference = stats.invwishart(6.0, psi).rvs(20_000, random_state=2)
    for function in (np.linalg.det, lambda s: s[..., 0, 2], lambda s: s[..., 1, 1]):
        assert stats.kstest(function(covariances), function(reference)).pvalue > 1e-3
    lower = np.linalg.cholesky(covariances / 2.5)
    white = np.linalg.solve(lower, (means - posterior.centre)[:, :, None])[:, :, 0]
    assert stats.kstest(white.ravel(), "norm").pvalue > 1e-3
    np.testing.assert_array_equal(posterior.draws(2, seed=4)[0], posterior.draws(2, seed=4)[0])
    models = posterior.sample(2, seed=4)
    np.testing.assert_array_equal(models[1].mean, posterior.draws(2, seed=4)[0][1])
    np.testing.assert_array_equal(models[1].covariance, posterior.draws(2, seed=4)[1][1])


def test_draws_of_columns_of_very_different_scales_are_positive_definite() -> None:
    x = rows(1, 30, 3) * [1.0, 1e-9, 1e9]
    posterior = posterior_of(sf.NormalInverseWishart(0.0, 1.0, 4.0, {"a": 1.0, "b": 1e-18, "c": 1e18}), x)
    least = [np.linalg.eigvalsh(model.correlations)[0] for model in posterior.sample(50, seed=1)]
    assert len(least) == 50
    assert min(least) > 0


# Files and refusals -------------------------------------------------------------------------------------------


def test_it_is_a_prior_for_a_field_whose_graph_is_complete() -> None:
    prior, data = sf.NormalInverseWishart(0.0, 1.0, 4.0, 1.0), table(rows(2, 9, 3))
    field = sf.fit(sf.GaussianMarkov("a:b + b:c + c:a"), data, prior=prior)
    ours = sf.fit(structure_of(3), data, prior=prior)
    np.testing.assert_allclose(field.model.covariance, ours.model.covariance, rtol=1e-12)
    assert field.certificate.ok
    with pytest.raises(sf.ArgumentError, match=r"'a' and 'c' have no edge.*HyperInverseWishart"):
        sf.fit(sf.GaussianMarkov("a:b + b:c"), data, prior=prior)
    with pytest.raises(sf.EstimationError, match="closed_form"):
        sf.fit(sf.GaussianMarkov("a:b:c"), data, prior=prior, method="newton")


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((None, 1, 3, 1.0), "'mean'.*flat prior"),
        ((0.0, 0, 3, 1.0), "'mean_weight'"),
        ((0.0, 1, -1, 1.0), "'dof'"),
        ((0.0, 1, math.inf, 1.0), "'dof'"),
        ((0.0, 1, 3, "x"), "'scale'"),
        (("x", 1, 3, 1.0), "'mean'"),
    ],
)
def test_improper_priors_are_refused(arguments: tuple, match: str) -> None:
    with pytest.raises(sf.ArgumentError, match=match):
        sf.NormalInverseWishart(*arguments)


@pytest.mark.parametrize(
    ("prior", "match"),
    [
        (sf.NormalInverseWishart(0.0, 1, 1.0, 1.0), "'dof' argument must exceed 1"),
        (sf.NormalInverseWishart(0.0, 1, 3, -1.0), "positive definite"),
        (sf.NormalInverseWishart(0.0, 1, 3, np.eye(3)), r"shape \(2, 2\)"),
        (sf.NormalInverseWishart([1.0], 1, 3, 1.0), r"shape \(2,\)"),
        (sf.NormalInverseWishart({"a": 1.0}, 1, 3, 1.0), "and to no other"),
    ],
)
def test_priors_for_another_structure_are_refused(prior, match: str) -> None:
    with pytest.raises(sf.ArgumentError, match=match):
        sf.fit(structure_of(2), table(rows(1, 5, 2)), prior=prior)
