"""Autoregressions by maximum likelihood, against least squares on explicit design matrices."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

import suffice as sf

NOISE = np.random.default_rng(5).normal(size=(40, 2))


@st.composite
def problems(draw) -> tuple[list[np.ndarray], int]:
    """Ragged sequences of d variables of different scales, far from zero, with enough windows for the order."""
    d, k = draw(st.integers(1, 3)), draw(st.integers(0, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    lengths = [*rng.integers(0, 12, draw(st.integers(0, 4))), k + d * (k + 1) + 8]
    scale, shift = 10.0 ** rng.integers(-2, 3, d), 100 * rng.normal(size=d)
    mix = rng.normal(size=(d, d)) + 2 * np.eye(d)
    sequences = [(np.cumsum(rng.normal(size=(n, d)), axis=0) * 0.3 + rng.normal(size=(n, d))) @ mix for n in lengths]
    return [(sequence + shift) * scale for sequence in sequences], k


def design(sequences: list[np.ndarray], k: int, intercept: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return regressors (the intercept last), responses and the number of each window's sequence; one row a window."""
    rows, responses, owner = [], [], []
    for number, sequence in enumerate(sequences):
        for t in range(k, len(sequence)):
            lags = [sequence[t - i] for i in range(1, k + 1)]
            rows.append(np.concatenate([*lags, [1.0] * intercept]))
            responses.append(sequence[t])
            owner.append(number)
    return np.array(rows), np.array(responses), np.array(owner)


def by_least_squares(z: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients, shape (p, d), and the squares of the errors; columns are scaled before."""
    w = np.ones(len(z)) if weights is None else weights
    scale = np.sqrt((z**2).mean(axis=0))
    b = np.linalg.lstsq(z / scale * np.sqrt(w)[:, None], y * np.sqrt(w)[:, None], rcond=None)[0] / scale[:, None]
    errors = (y - z @ b) * np.sqrt(w)[:, None]
    return b, errors.T @ errors


def log_density(errors: np.ndarray, covariance: np.ndarray) -> float:
    """Return the log-density of errors, after dividing each by its scale, which SciPy does not do."""
    roots = np.sqrt(np.diag(covariance))
    scaled = multivariate_normal(np.zeros(len(roots)), covariance / np.outer(roots, roots))
    return float(np.sum(scaled.logpdf(errors / roots))) - len(errors) * float(np.log(roots).sum())


def agree(model: sf.AutoregressiveModel, b: np.ndarray, covariance: np.ndarray, z: np.ndarray) -> None:
    """Compare what is predicted, in standard deviations of the errors, and the covariance of these."""
    d = len(model.variables)
    found = np.concatenate([model.flat_coefficients.T, model.intercept[None]])[: len(b)]
    roots = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(z @ found / roots, z @ b / roots, rtol=0, atol=1e-6)
    np.testing.assert_allclose(
        model.covariance / np.outer(roots, roots), covariance / np.outer(roots, roots), atol=1e-7
    )
    assert model.coefficients.shape == (model.order, d, d)


@given(problem=problems(), intercept=st.booleans(), divisor=st.sampled_from(["n", "n-p"]))
def test_it_is_least_squares_on_the_design_matrix(problem, intercept: bool, divisor: str) -> None:
    sequences, k = problem
    z, y, _ = design(sequences, k, intercept)
    b, squares = by_least_squares(z, y) if z.shape[1] else (np.zeros((0, y.shape[1])), y.T @ y)
    fit = sf.fit(sf.Autoregression(k, intercept=intercept, divisor=divisor), sequences, certify="data")
    covariance = squares / (len(z) if divisor == "n" else len(z) - z.shape[1])
    agree(fit.model, b, covariance, z)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.n == len(z)
    if not intercept:
        assert not fit.model.intercept.any()
    wanted = log_density(y - z @ b, covariance)
    assert fit.log_likelihood == pytest.approx(wanted, rel=1e-7, abs=1e-7)
    assert math.fsum(fit.local.values()) == pytest.approx(fit.log_likelihood, rel=1e-12)
    assert fit.model.log_prob(sequences).sum() == pytest.approx(fit.log_likelihood, rel=1e-7, abs=1e-7)
    assert fit.n_free == y.shape[1] * z.shape[1] + y.shape[1] * (y.shape[1] + 1) // 2


@given(problem=problems(), seed=st.integers(0, 10**6))
def test_sequences_have_weights(problem, seed: int) -> None:
    sequences, k = problem
    weights = np.random.default_rng(seed).integers(0, 4, len(sequences)) + 0.5
    z, y, owner = design(sequences, k)
    b, squares = by_least_squares(z, y, weights[owner])
    fit = sf.fit(sf.Autoregression(k), sequences, weights=weights, certify="data")
    agree(fit.model, b, squares / weights[owner].sum(), z)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.log_likelihood == pytest.approx(float(weights @ fit.model.log_prob(sequences)), rel=1e-7, abs=1e-7)


@settings(max_examples=20)
@given(problem=problems())
def test_parts_collected_anywhere_can_be_added(problem) -> None:
    sequences, k = problem
    structure = sf.Autoregression(k)
    whole = sf.fit(structure, sequences)
    parts = sf.collect(structure, sequences[-1:]) + sf.collect(structure, [*sequences[:-1], sequences[-1][:0]])
    again = sf.estimate(structure, parts)
    np.testing.assert_allclose(again.model.covariance, whole.model.covariance, rtol=1e-6)
    assert again.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-8, abs=1e-8)


@settings(max_examples=15)
@given(problem=problems())
def test_no_other_parameters_are_likelier(problem) -> None:
    """A general optimiser that starts elsewhere finds nothing better, and ends at the same likelihood."""
    sequences, k = problem
    first = [sequence[:, :1] for sequence in sequences]
    fit = sf.fit(sf.Autoregression(k), first)
    z, y, _ = design(first, k)
    centre, scale = z[:, :-1].mean(axis=0), z[:, :-1].std(axis=0)
    design_ = np.column_stack([(z[:, :-1] - centre) / scale, np.ones(len(z))])
    level, unit = y.mean(), y.std()

    def cost(theta: np.ndarray) -> float:
        errors = (y[:, 0] - level) / unit - design_ @ theta[:-1]
        return 0.5 * float((errors**2).sum()) * math.exp(-2 * theta[-1]) + len(y) * theta[-1]

    found = minimize(cost, np.zeros(z.shape[1] + 1), method="BFGS", options={"gtol": 1e-9})
    best = -found.fun - len(y) * (0.5 * math.log(2 * math.pi) + math.log(unit))
    assert best <= fit.log_likelihood + 1e-6 * (1 + abs(fit.log_likelihood))
    assert best == pytest.approx(fit.log_likelihood, rel=1e-5, abs=1e-5)


def test_a_known_model_is_recovered_within_sampling_error() -> None:
    truth = sf.AutoregressiveModel(
        ["x", "y"],
        [1.0, -2.0],
        [[[0.5, 0.2], [-0.3, 0.4]], [[0.1, 0.0], [0.2, -0.3]]],
        [[1.0, 0.4], [0.4, 2.0]],
        id="path",
        time="step",
    )
    data = truth.sample(40, 500, seed=4)
    fit = sf.fit(sf.Autoregression(2, ["x", "y"], id="path", time="step"), data)
    assert fit.certificate.ok, fit.certificate.verdict
    # Asymptotically the covariance matrix of the coefficients is Σ ⊗ Γ⁻¹ / n, Γ that of two values in a row.
    gamma = truth.autocovariance(1)
    block = np.block([[gamma[0], gamma[1]], [gamma[1].T, gamma[0]]])
    errors = np.sqrt(np.outer(np.diag(truth.covariance), np.diag(np.linalg.inv(block))) / fit.n)
    z = (fit.model.flat_coefficients - truth.flat_coefficients) / errors
    assert np.abs(z).max() < 4
    assert (z**2).sum() < 8 + 4 * math.sqrt(16)
    np.testing.assert_allclose(fit.model.covariance, truth.covariance, atol=5 * 2 * math.sqrt(2 / fit.n))


def test_large_means_keep_their_digits() -> None:
    """With steps of whole numbers over 10⁹ the sums of the design matrix itself are exact only around the mean."""
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.integers(-5, 6, 400)).astype(float)
    near, far = sf.fit(sf.Autoregression(2), walk), sf.fit(sf.Autoregression(2), walk + 1e9)
    assert far.certificate.ok, far.certificate.verdict
    np.testing.assert_allclose(far.model.coefficients, near.model.coefficients, rtol=1e-9)
    np.testing.assert_allclose(far.model.covariance, near.model.covariance, rtol=1e-9)
    assert far.log_likelihood == pytest.approx(near.log_likelihood, rel=1e-9)


def test_units_mean_nothing() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 2)) + np.cumsum(rng.normal(size=(60, 1)), axis=0)
    plain, scaled = (sf.fit(sf.Autoregression(2), [rows * unit]) for unit in ([1, 1], [1e-120, 1e120]))
    assert scaled.certificate.ok, scaled.certificate.verdict
    ratio = np.array([[1, 1e-240], [1e240, 1]])
    np.testing.assert_allclose(scaled.model.coefficients, plain.model.coefficients * ratio, rtol=1e-9)
    assert scaled.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-9)


def test_order_zero_is_a_normal_distribution() -> None:
    rows = np.random.default_rng(3).normal(size=(30, 2))
    fit = sf.fit(sf.Autoregression(0, ["x", "y"]), {"x": rows[:, 0], "y": rows[:, 1]})
    other = sf.fit(sf.GaussianMarkov("x:y"), {"x": rows[:, 0], "y": rows[:, 1]})
    np.testing.assert_allclose(fit.model.intercept, other.model.mean)
    np.testing.assert_allclose(fit.model.covariance, other.model.covariance)
    assert fit.log_likelihood == pytest.approx(other.log_likelihood)
    assert fit.n_free == other.n_free


# First values -------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), d=st.integers(1, 2), k=st.integers(1, 2))
def test_first_values_have_their_own_normal_distribution(seed: int, d: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(k + 1, k + 7, k * d + 9)
    sequences = [rng.normal(size=(n, d)) * [1.0, 100.0][:d] + rng.normal() for n in lengths]
    fit = sf.fit(sf.Autoregression(k, initial="normal"), sequences, certify="data")
    given_ = sf.fit(sf.Autoregression(k), sequences)
    assert fit.certificate.ok, fit.certificate.verdict
    np.testing.assert_allclose(fit.model.coefficients, given_.model.coefficients, rtol=1e-7, atol=1e-10)
    blocks = np.array([sequence[:k][::-1].ravel() for sequence in sequences])  # the latest first
    covariance = np.cov(blocks.T, bias=True).reshape(k * d, k * d)
    np.testing.assert_allclose(fit.model.start.mean, blocks.mean(axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fit.model.start.covariance, covariance, rtol=1e-6, atol=1e-8)
    wanted = given_.log_likelihood + log_density(blocks - blocks.mean(axis=0), covariance)
    assert fit.log_likelihood == pytest.approx(wanted, rel=1e-7, abs=1e-7)
    assert fit.model.log_prob(sequences).sum() == pytest.approx(wanted, rel=1e-7, abs=1e-7)
    assert math.fsum(fit.local.values()) == pytest.approx(wanted, rel=1e-7, abs=1e-7)
    assert fit.n_free == given_.n_free + k * d + k * d * (k * d + 1) // 2
    assert "distribution of the" in str(fit)


def test_short_sequences_have_the_marginal_of_the_first_values() -> None:
    start = sf.JointNormal(["x[-1]", "x[-2]"], [1.0, 2.0], covariance=[[1.0, 0.5], [0.5, 4.0]])
    model = sf.AutoregressiveModel(["x"], [0.0], [[[0.5]], [[0.2]]], [[1.0]], start=start)
    found = model.log_prob([[2.0], [2.0, 1.0], [], [2.0, 1.0, 0.9]])
    one = multivariate_normal([2.0], [[4.0]]).logpdf([2.0])  # the first value is two before the third
    two = multivariate_normal([1.0, 2.0], start.covariance).logpdf([1.0, 2.0])
    np.testing.assert_allclose(found, [one, two, 0.0, two + multivariate_normal([0.9], [[1.0]]).logpdf([0.9])])


def test_too_few_first_values_are_refused_with_numbers() -> None:
    rows = np.random.default_rng(0).normal(size=(4, 30, 2))
    with pytest.raises(sf.EstimationError, match=r"4 first values .* more than 4 sequences .* There are 4 sequences"):
        sf.fit(sf.Autoregression(2, initial="normal"), list(rows))
    same = [np.concatenate([[1.0], row[1:, 0]]) for row in rows]
    with pytest.raises(sf.EstimationError, match="differ in each of them"):
        sf.fit(sf.Autoregression(1, initial="normal"), same)


# Priors -------------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(problem=problems(), point=st.sampled_from(["mean", "map"]))
def test_a_conjugate_prior_gives_what_a_node_with_its_past_as_parents_gets(problem, point: str) -> None:
    sequences, k = problem
    first = [sequence[:, 0] for sequence in sequences]
    prior = sf.NormalInverseGamma(2, 1.5, mean=0.5, precision=0.25)
    fit = sf.fit(sf.Autoregression(k, "y"), first, prior=prior, point=point, certify="data")
    assert fit.certificate.ok, fit.certificate.verdict
    z, y, _ = design([rows[:, None] for rows in first], k)
    lags = [f"lag{i}" for i in range(1, k + 1)]
    table = {**dict(zip(lags, z.T, strict=False)), "y": y[:, 0]}
    node = sf.fit(sf.DAG({"y": lags} | {lag: [] for lag in lags}), table, prior=prior, point=point)
    cpd = node.model.cpd("y")
    np.testing.assert_allclose(fit.model.coefficients.ravel(), cpd.coefficients.ravel(), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(fit.model.covariance.ravel(), cpd.variance, rtol=1e-6)
    assert fit.log_likelihood == pytest.approx(node.local["y"], rel=1e-6, abs=1e-6)
    alone = node.posterior.nodes[list(node.structure.nodes).index("y")]
    assert fit.log_marginal_likelihood == pytest.approx(alone.log_marginal_likelihood, rel=1e-6, abs=1e-6)
    assert fit.log_marginal_likelihood == fit.posterior.log_marginal_likelihood


def test_a_weak_prior_is_nearly_maximum_likelihood_and_a_prior_alone_fits_nothing() -> None:
    weak = sf.fit(sf.Autoregression(2), [NOISE[:, 0]], prior=sf.NormalInverseGamma(1e-9, 1e-9, precision=1e-9))
    plain = sf.fit(sf.Autoregression(2), [NOISE[:, 0]])
    np.testing.assert_allclose(weak.model.coefficients, plain.model.coefficients, rtol=1e-6)
    nothing = sf.fit(sf.Autoregression(2), [[1.0, 2.0]], prior=sf.NormalInverseGamma(3, 4.0, mean=7.0))
    assert nothing.certificate.ok, nothing.certificate.verdict
    assert nothing.model.intercept.tolist() == [7.0]
    assert nothing.model.covariance.tolist() == [[2.0]]
    assert nothing.log_likelihood == 0


@pytest.mark.parametrize(
    ("structure", "prior", "words"),
    [
        (sf.Autoregression(1), sf.K2(), r"sf.NormalInverseGamma\(2, 1.0\).*Got K2\(\)"),
        (sf.Autoregression(1), 3, "Got 3 instead"),
        (sf.Autoregression(1, ["x", "y"]), sf.NormalInverseGamma(2, 1.0), r"one variable.*\['x', 'y'\]"),
        (sf.Autoregression(1, intercept=False), sf.NormalInverseGamma(2, 1.0), "intercept=False"),
        (sf.Autoregression(1, initial="normal"), sf.NormalInverseGamma(2, 1.0), "initial='normal'"),
    ],
)
def test_other_priors_are_refused(structure: sf.Autoregression, prior, words: str) -> None:
    with pytest.raises(sf.EstimationError, match=words):
        sf.fit(structure, [NOISE], prior=prior)


# What cannot be fitted ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("structure", "data", "words"),
    [
        (sf.Autoregression(1), [[3.0] * 10], ["'x[-1]'", "constant"]),
        (sf.Autoregression(1), [[0.1] * 10], ["'x[-1]'", "constant"]),
        (sf.Autoregression(1, intercept=False), [[0.0] * 10], ["'x[-1]'", "zero throughout"]),
        (sf.Autoregression(0), [[3.0] * 10], ["'x'", "constant"]),
        (sf.Autoregression(1), [np.stack([NOISE[:, 0], NOISE[:, 0]], axis=1)], ["'x2[-1]'", "['x1[-1]']"]),
        (sf.Autoregression(0), [np.stack([NOISE[:, 0], 2 * NOISE[:, 0]], axis=1)], ["error of 'x2'", "['x1']"]),
        (sf.Autoregression(2), [np.sin(np.arange(40.0))], ["'x'", "exact function of the values before"]),
        (sf.Autoregression(3), [np.sin(np.arange(40.0))], ["'x[-3]'", "combination of ['x[-1]', 'x[-2]']"]),
        (sf.Autoregression(3), [NOISE[:5, 0]], ["only 2 windows for 4 coefficients"]),
        (sf.Autoregression(3), [NOISE[:7, 0]], ["'x'", "exact function", "only 4 windows for 4 coefficients"]),
        (sf.Autoregression(1), [NOISE[:5]], ["error of 'x2'", "only 4 windows for 3 coefficients"]),
    ],
)  # fmt: skip
def test_what_is_not_determined_is_named(structure: sf.Autoregression, data, words: list[str]) -> None:
    with pytest.raises(sf.EstimationError) as caught:
        sf.fit(structure, data)
    for word in words:
        assert word in str(caught.value)


def test_weights_too_small_for_the_divisor_are_refused() -> None:
    with pytest.raises(sf.EstimationError, match=r"more windows than the 2 coefficients .* there are 1\.9 windows"):
        sf.fit(sf.Autoregression(1, divisor="n-p"), [NOISE[:20, 0]], weights=[0.1])


def test_data_without_windows_is_refused() -> None:
    with pytest.raises(sf.DataError, match="nothing to learn from"):
        sf.fit(sf.Autoregression(3), [[1.0, 2.0], [3.0]])


def test_gaps_and_text_are_refused() -> None:
    with pytest.raises(sf.DataError, match="missing"):
        sf.fit(sf.Autoregression(1), [[1.0, math.nan, 2.0, 3.0, 1.0]])
    with pytest.raises(sf.DataError, match="'a' is not a number"):
        sf.fit(sf.Autoregression(1, "x"), pd.DataFrame({"x": ["a", "b", "a"]}))
    with pytest.raises(sf.ArgumentError, match="missing='drop'"):
        sf.fit(sf.Autoregression(1), [[1.0, 2.0, 3.0]], missing="drop")


def test_columns_declared_discrete_are_refused() -> None:
    data = {"x": [1.0, 2.0, 1.0, 2.0, 2.0]}
    with pytest.raises(sf.EstimationError, match="'x' is discrete"):
        sf.fit(sf.Autoregression(1, "x"), data, schema={"x": sf.categorical()})


def test_given_parameters_are_refused() -> None:
    with pytest.raises(sf.ArgumentError, match="'fixed' argument must be left out"):
        sf.fit(sf.Autoregression(1), [NOISE[:, 0]], fixed={"x": [0.5]})
