"""Student's t predictives of normal classes, against numerical integration over the parameters and Monte Carlo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.learn.class_gaussian_cases import NAMES, rows_of, table

import suffice as sf
from suffice.structures.class_gaussian import ClassGaussian

SMALL = {"x": [1.0, 2.5, 2.0, 6.0, 7.0, 9.5, 7.0], "class": list("aaabbbb")}


def fitted(data: Any, covariance: str, names: Any = NAMES) -> sf.Fit:
    return sf.fit(ClassGaussian("class", names, covariance=covariance, bayes=True), data)


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "tied_diagonal", "spherical", "tied_spherical"])
@pytest.mark.parametrize("at", [2.2, 5.0])
def test_one_input_is_the_integral_over_mean_and_variance(covariance: str, at: float) -> None:
    fit = fitted(SMALL, covariance, ["x"])
    x, y = np.array(SMALL["x"]), np.array(SMALL["class"])
    own = x[y == "a"]
    others = [x[y == "b"]] if "tied" in covariance else []

    log_v, t = np.linspace(-6, 12, 1500)[:, None], np.linspace(-12, 12, 801)[None, :]
    v = np.exp(log_v)
    mu = own.mean() + np.sqrt(v) * t
    squares = sum((value - mu) ** 2 for value in own)
    log_weight = -0.5 * squares / v - 0.5 * len(own) * log_v - log_v  # times the prior 1/σ²
    for group in others:  # whose mean is integrated out by hand
        log_weight += -0.5 * ((group - group.mean()) ** 2).sum() / v - 0.5 * (len(group) - 1) * log_v
    weight = np.exp(log_weight - log_weight.max()) * v * np.sqrt(v)  # dv = v d log v, dμ = √v dt
    density = np.exp(-0.5 * (at - mu) ** 2 / v) / np.sqrt(2 * np.pi * v)
    found = np.exp(fit.model.log_likelihoods_of({"x": np.array([at])}, 1)[0, 0])
    assert found == pytest.approx(float((weight * density).sum() / weight.sum()), rel=1e-3)


def posterior_draws(data: Any, covariance: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw (μ_a, Σ) from the posterior under |Σ|^(−(d+1)/2)."""
    rng = np.random.default_rng(0)
    x, y = rows_of(data)
    own = x[y == "a"]
    groups = [own] if covariance == "full" else [x[y == label] for label in "abc"]
    scatter = sum(len(group) * np.cov(group.T, bias=True) for group in groups)
    freedom = sum(len(group) - 1 for group in groups)
    matrices = stats.invwishart(freedom, scatter).rvs(n, random_state=rng)
    lower = np.linalg.cholesky(matrices / len(own))
    return own.mean(axis=0) + np.einsum("nij,nj->ni", lower, rng.normal(size=(n, 3))), matrices


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_several_inputs_are_the_mean_over_draws_of_the_posterior(covariance: str) -> None:
    data = table(1, n=60, spread=0)
    model = fitted(data, covariance).model
    means, matrices = posterior_draws(data, covariance, 40_000)
    points = rows_of(data)[0][:5]
    assert len(points) == 5
    inverse = np.linalg.inv(matrices)
    log_heights = -0.5 * (3 * np.log(2 * np.pi) + np.linalg.slogdet(matrices)[1])
    for point in points:
        gaps = point - means
        values = np.exp(log_heights - 0.5 * np.einsum("ni,nij,nj->n", gaps, inverse, gaps))
        columns = {name: np.array([value]) for name, value in zip(NAMES, point, strict=True)}
        found = np.exp(model.log_likelihoods_of(columns, 1)[0, 0])
        assert abs(found - values.mean()) < 5 * values.std() / np.sqrt(len(values))


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "tied_diagonal", "spherical", "tied_spherical"])
def test_densities_are_those_of_scipy(covariance: str) -> None:
    data = table(2, spread=1)
    fit = fitted(data, covariance)
    assert fit.certificate.ok, fit.certificate.verdict
    x, y = rows_of(data)
    found = fit.model.log_likelihoods_of({name: data[name] for name in NAMES}, 40)
    groups = {label: x[y == label] for label in "abc"}
    squares = {label: len(group) * np.cov(group.T, bias=True) for label, group in groups.items()}
    for code, label in enumerate("abc"):
        n = len(groups[label])
        scatter, freedom = (squares[label], n - 1) if "tied" not in covariance else (sum(squares.values()), 40 - 3)
        widen = 1 + 1 / n
        mean = groups[label].mean(axis=0)
        if covariance.endswith("diagonal"):
            scales = np.sqrt(widen * np.diag(scatter) / freedom)
            wanted = stats.t(freedom, mean, scales).logpdf(x).sum(axis=1)
        elif covariance.endswith("spherical"):
            scale = widen * np.trace(scatter) / (3 * freedom) * np.eye(3)
            wanted = stats.multivariate_t(mean, scale, 3 * freedom).logpdf(x)
        else:
            dof = freedom - 3 + 1
            wanted = stats.multivariate_t(mean, widen * scatter / dof, dof).logpdf(x)
        np.testing.assert_allclose(found[:, code], wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "tied_diagonal", "spherical", "tied_spherical"])
def test_missing_inputs_leave_the_marginal_with_the_same_freedom(covariance: str) -> None:
    data = table(3, spread=0)
    model = fitted(data, covariance).model
    columns = {name: np.array(data[name]) for name in NAMES}
    columns["y"] = np.full(40, np.nan)
    found = model.log_likelihoods_of(columns, 40)
    for code in range(3):
        matrix = model.spread[code]
        kept = [0, 2]
        if covariance.endswith("diagonal"):
            scales = np.sqrt(matrix[kept])
            x = np.stack([columns["x"], columns["z"]], axis=1)
            wanted = stats.t(model.dof[code], model.means[code, kept], scales).logpdf(x).sum(axis=1)
        else:
            scale = matrix[np.ix_(kept, kept)] if matrix.ndim == 2 else matrix * np.eye(2)
            x = np.stack([columns["x"], columns["z"]], axis=1)
            wanted = stats.multivariate_t(model.means[code, kept], scale, model.dof[code]).logpdf(x)
        np.testing.assert_allclose(found[:, code], wanted, rtol=1e-9, atol=1e-9)


def test_many_rows_are_the_normal_classifier() -> None:
    data = table(4, n=30_000, spread=0)
    plain = sf.fit(ClassGaussian("class", NAMES), data).model
    few = {name: column[:50] for name, column in data.items()}
    predicted = fitted(data, "full").model.query_rows("class", few).values
    np.testing.assert_allclose(predicted, plain.query_rows("class", few).values, atol=2e-2)


@pytest.mark.parametrize(
    ("covariance", "sizes", "least"),
    [("full", "aaabbbb", "4 rows"), ("diagonal", "aaaaab", "2 rows"), ("spherical", "aaaaab", "2 rows"),
     ("tied", "abbc", "6 rows"), ("tied_diagonal", "abc", "4 rows")],
)  # fmt: skip
def test_an_improper_posterior_says_how_many_rows_it_needs(covariance: str, sizes: str, least: str) -> None:
    rng = np.random.default_rng(0)
    data = {**{name: rng.normal(size=len(sizes)) for name in NAMES}, "class": list(sizes)}
    with pytest.raises(sf.EstimationError, match=rf"at least {least}"):
        fitted(data, covariance)


def test_one_row_of_a_class_is_enough_with_shared_variances() -> None:
    rng = np.random.default_rng(0)
    data = {**{name: rng.normal(size=9) for name in NAMES}, "class": list("aaaabbbbc")}
    fit = fitted(data, "tied")
    assert fit.certificate.ok
    assert fit.model.dof.tolist() == [9 - 3 - 3 + 1] * 3


def test_there_is_no_log_likelihood_from_moments_and_no_softmax() -> None:
    fit = fitted(table(5), "full")
    assert np.isnan(fit.log_likelihood)
    assert "not known" in str(fit)
    assert any("log_prob" in str(note) for note in fit.notes)
    with pytest.raises(sf.ModelError, match="Student's t"):
        fit.model.to_softmax()
    with pytest.raises(sf.ModelError, match="Student's t"):
        fit.model.log_odds("a", "b")
