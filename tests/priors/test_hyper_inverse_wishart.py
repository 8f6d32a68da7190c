"""The hyper inverse Wishart prior against Student's t, numerical integrals, draws and the saturated inverse Wishart."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import invgamma, kstest, multivariate_t, norm, wishart

import suffice as sf
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.io.own_json import plain
from suffice.priors.hyper_inverse_wishart import HyperInverseWishart
from suffice.stats.moments import Moments
from suffice.stats.needs import Moment

BUTTERFLY = sf.GaussianMarkov("A:B:C + C:D:E")
SATURATED = sf.GaussianMarkov("A:B:C")
NAMES = ("A", "B", "C", "D", "E")


def rows(seed: int, n: int = 12, p: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) + rng.normal(size=(n, 1)) + 2.0


def table(seed: int, n: int = 12) -> dict[str, np.ndarray]:
    return dict(zip(NAMES, rows(seed, n).T, strict=True))


def some_scale(seed: int, p: int) -> np.ndarray:
    root = np.random.default_rng(seed).normal(size=(p, p + 1))
    return root @ root.T + np.eye(p)


def moments(structure: sf.GaussianMarkov, x: np.ndarray) -> Moments:
    return Moments.of_rows([Variable(name) for name in structure.variables], x)


def nothing(structure: sf.GaussianMarkov) -> Moments:
    schema = Schema(tuple(Variable(name) for name in structure.variables))
    return Moments.zero(Moment(structure.variables), schema)


@given(seed=st.integers(0, 10**4))
def test_marginal_likelihood_is_the_product_of_predictive_t_densities(seed: int) -> None:
    """For a complete graph the next row is multivariate t, given those before (Gelman et al., 2013, section 3.6)."""
    p, dof, kappa = 3, 2.5, 0.7
    scale, centre, x = some_scale(seed, p), np.array([1.0, 0.0, -1.0]), rows(seed, 6, p)
    prior = sf.HyperInverseWishart(dof, scale, mean=centre, mean_weight=kappa)
    total = 0.0
    for row in x:
        spread = scale * (kappa + 1) / (kappa * dof)
        total += multivariate_t(centre, spread, df=dof).logpdf(row)
        gap = row - centre
        scale = scale + kappa / (kappa + 1) * np.outer(gap, gap)
        centre = (kappa * centre + row) / (kappa + 1)
        dof, kappa = dof + 1, kappa + 1
    found = prior.posterior(SATURATED, moments(SATURATED, x))
    assert found.log_marginal_likelihood == pytest.approx(total, rel=1e-9, abs=1e-11)
    np.testing.assert_allclose(found.scale, scale, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.centre, centre, rtol=1e-9, atol=1e-13)
    assert (found.dof, found.mean_weight) == pytest.approx((dof, kappa))


@given(seed=st.integers(0, 10**4))
def test_marginal_likelihood_factorises_over_cliques_and_separators(seed: int) -> None:
    scale, x = some_scale(seed, 5), rows(seed)

    def evidence(graph: str, places: list[int]) -> float:
        structure = sf.GaussianMarkov(graph)
        prior = sf.HyperInverseWishart(3, scale[np.ix_(places, places)], mean=0.5, mean_weight=2)
        value = prior.posterior(structure, moments(structure, x[:, places])).log_marginal_likelihood
        assert value is not None
        return value

    whole = evidence("A:B:C + C:D:E", [0, 1, 2, 3, 4])
    parts = evidence("A:B:C", [0, 1, 2]) + evidence("C:D:E", [2, 3, 4]) - evidence("C", [2])
    assert whole == pytest.approx(parts, rel=1e-10, abs=1e-11)
    alone = [evidence(name, [place]) for place, name in enumerate("AB")]
    assert evidence("A + B", [0, 1]) == pytest.approx(sum(alone), rel=1e-10)


def test_marginal_likelihood_is_the_integral() -> None:
    """One variable, two rows: the likelihood is summed over a fine grid of means and log-variances."""
    prior = sf.HyperInverseWishart(3.0, 2.0, mean=0.5, mean_weight=1.5)
    x = np.array([0.3, 1.7])
    log_variances, sds = np.linspace(-8, 14, 2201), np.linspace(-12, 12, 2401)
    variance = np.exp(log_variances)[:, None]
    mean = 1.0 + np.sqrt(variance) * sds  # a grid as wide as the density is at each variance
    log_density = (
        invgamma(1.5, scale=1.0).logpdf(variance)
        + norm(0.5, np.sqrt(variance / 1.5)).logpdf(mean)
        + norm(mean, np.sqrt(variance)).logpdf(x[0])
        + norm(mean, np.sqrt(variance)).logpdf(x[1])
        + 1.5 * np.log(variance)  # of the substitutions
    )
    total = np.exp(log_density).sum() * (log_variances[1] - log_variances[0]) * (sds[1] - sds[0])
    structure = sf.GaussianMarkov("A")
    found = prior.posterior(structure, moments(structure, x[:, None])).log_marginal_likelihood
    assert found == pytest.approx(math.log(total), abs=1e-6)


def test_marginal_likelihood_of_no_data_is_one_and_of_a_flat_mean_unknown() -> None:
    prior = sf.HyperInverseWishart(3, 2.0, mean=0.0)
    assert prior.posterior(BUTTERFLY, nothing(BUTTERFLY)).log_marginal_likelihood == pytest.approx(0, abs=1e-12)
    flat = sf.fit(BUTTERFLY, table(1), prior=sf.HyperInverseWishart(3, 2.0))
    assert flat.log_marginal_likelihood is None
    with pytest.raises(sf.EstimationError, match="flat prior on the mean leaves it undetermined"):
        sf.HyperInverseWishart(3, 2.0).posterior(BUTTERFLY, nothing(BUTTERFLY))


def test_a_prior_is_enough_without_rows() -> None:
    empty = {name: np.zeros(0) for name in NAMES}
    fit = sf.fit(BUTTERFLY, empty, prior=sf.HyperInverseWishart(4, 2.0, mean=1.5))
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.model.mean.tolist() == [1.5] * 5
    # Σ (δ + |C| − 1)/2 over the cliques less (δ + |S| − 1)/2 for the separator, C
    np.testing.assert_allclose(fit.model.precision, np.diag([3.0, 3, 4, 3, 3]), rtol=1e-12)


@settings(max_examples=5)
@given(seed=st.integers(0, 10**4))
def test_draws_average_to_the_posterior_mean(seed: int) -> None:
    posterior = sf.HyperInverseWishart(4, some_scale(seed, 5)).posterior(BUTTERFLY, moments(BUTTERFLY, rows(seed)))
    draws = posterior.draws(40_000, seed=seed)
    wanted = posterior.mean().precision
    error = draws.std(axis=0) / math.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - wanted) <= 5 * error + 1e-12).all()
    assert (draws[:, 0, 3:] == 0).all()
    assert (np.linalg.eigvalsh(draws[:1000])[:, 0] > 0).all()


def test_draws_of_a_complete_graph_are_wishart() -> None:
    scale, dof = some_scale(3, 3), 2.5
    prior = sf.HyperInverseWishart(dof, scale, mean=0.0)
    draws = prior.posterior(SATURATED, nothing(SATURATED)).draws(20_000, seed=1)
    # Quadratic forms of a Wishart matrix are chi-square, and its determinant is a product of chi-squares.
    reference = wishart(dof + 2, np.linalg.inv(scale)).rvs(20_000, random_state=2)
    vector = np.array([1.0, -2.0, 0.5])
    for function in (lambda k: vector @ k @ vector, np.linalg.det, lambda k: k[0, 2]):
        mine, theirs = [function(k) for k in draws], [function(k) for k in reference]
        assert kstest(mine, theirs).pvalue > 1e-3


def test_draws_of_a_separator_are_inverse_wishart() -> None:
    """The variance of a separator has the same law whichever clique it is seen in."""
    scale = some_scale(4, 5)
    posterior = sf.HyperInverseWishart(3.5, scale, mean=0.0).posterior(BUTTERFLY, nothing(BUTTERFLY))
    covariances = np.linalg.inv(posterior.draws(20_000, seed=7))
    assert kstest(covariances[:, 2, 2], invgamma(3.5 / 2, scale=scale[2, 2] / 2).cdf).pvalue > 1e-3
    block = np.linalg.inv(covariances[:, :3, :3])
    expected = (3.5 + 2) * np.linalg.inv(scale[:3, :3])
    error = block.std(axis=0) / math.sqrt(len(block))
    assert (np.abs(block.mean(axis=0) - expected) <= 5 * error).all()


def test_arrays_of_prior_and_posterior_are_frozen_copies() -> None:
    scale = np.eye(5)
    prior = sf.HyperInverseWishart(4, scale)
    scale[0, 0] = 9
    assert prior.scale_of(BUTTERFLY)[0, 0] == 1
    posterior = prior.posterior(BUTTERFLY, moments(BUTTERFLY, rows(5)))
    for array in (posterior.scale, posterior.centre, prior.scale):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_drawn_models_have_drawn_means() -> None:
    posterior = sf.HyperInverseWishart(4, 2.0).posterior(BUTTERFLY, moments(BUTTERFLY, rows(5)))
    models = posterior.sample(4000, seed=3)
    whitened = np.array([
        math.sqrt(posterior.mean_weight) * np.linalg.cholesky(model.precision).T @ (model.mean - posterior.centre)
        for model in models
    ])  # fmt: skip
    assert kstest(whitened.ravel(), "norm").pvalue > 1e-3
    assert posterior.draws(3, seed=1).tolist() == posterior.draws(3, seed=1).tolist()
    assert posterior.draws(3, seed=1).tolist() != posterior.draws(3, seed=2).tolist()


@given(seed=st.integers(0, 10**4))
def test_mode_is_where_the_log_posterior_is_flat_and_highest(seed: int) -> None:
    prior, x = sf.HyperInverseWishart(4, some_scale(seed, 5), mean=1.0, mean_weight=2), rows(seed)
    mode = prior.posterior(BUTTERFLY, moments(BUTTERFLY, x)).mode()
    scale, centre = prior.scale_of(BUTTERFLY), np.ones(5)

    def log_posterior(mean: np.ndarray, k: np.ndarray) -> float:
        log_det = np.linalg.slogdet(k)[1]
        rest = sum(row @ k @ row for row in x - mean) + 2 * (mean - centre) @ k @ (mean - centre)
        return 0.5 * ((4 - 2 + len(x) + 1) * log_det - np.sum(k * scale) - rest)

    best = log_posterior(mode.mean, mode.precision)
    rng = np.random.default_rng(seed)
    pattern = (mode.precision != 0).astype(float)
    for _ in range(20):
        shift = rng.normal(size=5)
        change = rng.normal(size=(5, 5)) * pattern
        change = change + change.T
        for size in (1e-3, -1e-3):
            other = log_posterior(mode.mean + size * shift, mode.precision + size * change)
            assert other < best


def test_weak_priors_approach_maximum_likelihood() -> None:
    data = table(6, n=40)
    mle = sf.fit(BUTTERFLY, data)
    weak = sf.fit(BUTTERFLY, data, prior=sf.HyperInverseWishart(2, 1e-9), point="map")
    np.testing.assert_allclose(weak.model.precision, mle.model.precision, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(weak.model.mean, mle.model.mean, rtol=1e-12)


def test_a_prior_saves_what_likelihood_cannot() -> None:
    data = {name: column[:2] for name, column in table(7).items()}
    with pytest.raises(sf.EstimationError, match="singular"):
        sf.fit(BUTTERFLY, data)
    for point in ("mean", "map"):
        fit = sf.fit(BUTTERFLY, data, prior=sf.HyperInverseWishart(3, 1.0), point=point)
        assert fit.certificate.ok, fit.certificate.verdict


def test_scales_and_means_can_be_given_by_name() -> None:
    structure = sf.GaussianMarkov("A:B")
    named = sf.HyperInverseWishart(3, {"B": 4.0, "A": 1.0}, mean={"B": 2.0, "A": 1.0})
    assert named.scale_of(structure).tolist() == [[1, 0], [0, 4]]
    assert named.mean_of(structure).tolist() == [1, 2]
    listed = sf.HyperInverseWishart(3, [[1, 0.5], [0.5, 4]], mean=[1, 2])
    assert listed.scale_of(structure).tolist() == [[1, 0.5], [0.5, 4]]
    assert listed.mean_of(structure).tolist() == [1, 2]


@pytest.mark.parametrize(
    "prior",
    [
        sf.HyperInverseWishart(3, 2.0),
        sf.HyperInverseWishart(3.5, {"A": 1.0, "B": 2.0}, mean=0.0, mean_weight=0.1),
        sf.HyperInverseWishart(3, [[1, 0.1], [0.1, 3]], mean=[1, 2]),
    ],
)
def test_priors_survive_json_and_describe_themselves(prior: HyperInverseWishart) -> None:
    again = HyperInverseWishart.from_dict(json.loads(json.dumps(plain(prior.to_dict()))))
    structure = sf.GaussianMarkov("A:B")
    assert again.scale_of(structure).tolist() == prior.scale_of(structure).tolist()
    assert again.describe() == prior.describe()
    assert again.describe().startswith("hyper inverse Wishart, dof 3")
    assert repr(prior).startswith("HyperInverseWishart(dof 3")


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((0, 1.0), "'dof'"),
        ((math.inf, 1.0), "'dof'"),
        ((3, "x"), "'scale'"),
        ((3, math.nan), "'scale'"),
        ((3, {"A": "x"}), "'scale'"),
        ((3, [[1, math.inf], [math.inf, 1]]), "'scale'"),
        ((3, 1.0, "x"), "'mean'"),
        ((3, 1.0, 0.0, -1), "'mean_weight'"),
    ],
)
def test_improper_priors_are_refused(arguments: tuple, match: str) -> None:
    with pytest.raises(sf.ArgumentError, match=match):
        sf.HyperInverseWishart(*arguments)


@pytest.mark.parametrize(
    ("prior", "match"),
    [
        (sf.HyperInverseWishart(3, -1.0), "positive definite"),
        (sf.HyperInverseWishart(3, [[1, 2], [2, 1]]), "positive definite"),
        (sf.HyperInverseWishart(3, np.eye(3)), r"shape \(2, 2\)"),
        (sf.HyperInverseWishart(3, [[1, 0.5], [0, 1]]), "symmetric"),
        (sf.HyperInverseWishart(3, {"A": 1.0}), r"\['A', 'B'\]"),
        (sf.HyperInverseWishart(3, 1.0, mean=[1, 2, 3]), r"shape \(2,\)"),
        (sf.HyperInverseWishart(3, 1.0, mean={"A": 1.0, "C": 2.0}), "and to no other"),
    ],
)
def test_priors_for_another_structure_are_refused_before_the_data_is_read(prior, match: str) -> None:
    with pytest.raises(sf.ArgumentError, match=match):
        sf.fit(sf.GaussianMarkov("A:B"), {"A": [1.0, 2.0], "B": [2.0, 1.0]}, prior=prior)


def test_a_mode_needs_more_than_one_degree_of_freedom() -> None:
    posterior = sf.HyperInverseWishart(0.5, 1.0, mean=0.0).posterior(BUTTERFLY, nothing(BUTTERFLY))
    with pytest.raises(sf.EstimationError, match="no mode"):
        posterior.mode()
    assert "dof 0.5" in repr(posterior)
