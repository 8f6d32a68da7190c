"""Normal classes: every kind of covariance against NumPy, scikit-learn and each other."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.covariance import ledoit_wolf, oas
from tests.learn.class_gaussian_cases import NAMES, gap, naive, rows_of, table

import suffice as sf
from suffice.structures.class_gaussian import COVARIANCES, ClassGaussian

PLAIN = [covariance for covariance in COVARIANCES if covariance != "sparse"]
SEEDS = st.integers(0, 10**6)


def fitted(data: Any, covariance: str = "full", **options: Any) -> sf.Fit:
    return sf.fit(ClassGaussian("class", NAMES, covariance=covariance, **options), data)


# Estimates ----------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@pytest.mark.parametrize("covariance", PLAIN)
@given(seed=SEEDS, divisor=st.sampled_from(["n", "n-1"]))
def test_estimates_are_those_of_numpy(covariance: str, seed: int, divisor: str) -> None:
    data = table(seed)
    fit = fitted(data, covariance, divisor=divisor)
    means, matrices = naive(data, covariance, divisor)
    x, y = rows_of(data)
    assert fit.certificate.ok, fit.certificate.verdict
    size = np.abs(x).max(axis=0)  # a mean may be nearly zero by cancellation
    np.testing.assert_allclose(fit.model.means / size, means / size, rtol=1e-12, atol=1e-14)
    total = 0.0
    for code, label in enumerate("abc"):
        assert gap(fit.model.covariance(label), matrices[code]) < 1e-9
        roots = np.sqrt(np.diag(matrices[code]))
        scaled = (x[y == label] - means[code]) / roots
        density = multivariate_normal(np.zeros(3), matrices[code] / np.outer(roots, roots)).logpdf(scaled)
        n = (y == label).sum()
        total += density.sum() - n * np.log(roots).sum() + n * np.log(n / len(y))
    assert fit.log_likelihood == pytest.approx(total, rel=1e-8, abs=1e-8)
    assert fit.log_likelihood == pytest.approx(fit.model.log_prob(data).sum(), rel=1e-9, abs=1e-9)


FREE = {"full": 18, "tied": 6, "diagonal": 9, "tied_diagonal": 3, "spherical": 3, "tied_spherical": 1}


@pytest.mark.parametrize("covariance", PLAIN)
def test_free_parameters(covariance: str) -> None:
    assert fitted(table(0), covariance).n_free == 2 + 9 + FREE[covariance]
    assert fitted(table(0), covariance, class_prior="uniform").n_free == 9 + FREE[covariance]


@given(seed=SEEDS)
def test_likelihoods_nest_as_the_models_do(seed: int) -> None:
    data = table(seed)
    value = {covariance: fitted(data, covariance).log_likelihood for covariance in PLAIN}
    value["sparse"] = fitted(data, "sparse", graph="x:y + z").log_likelihood
    ladders = [
        ("tied_spherical", "spherical", "diagonal", "sparse", "full"),
        ("tied_spherical", "tied_diagonal", "tied", "full"),
        ("tied_diagonal", "diagonal"),
    ]
    for ladder in ladders:
        values = np.array([value[covariance] for covariance in ladder])
        assert (np.diff(values) >= -1e-9 * np.abs(values[1:])).all()


@given(seed=SEEDS, cuts=st.lists(st.integers(0, 40), max_size=4), covariance=st.sampled_from(PLAIN))
def test_statistics_of_parts_add_up(seed: int, cuts: list[int], covariance: str) -> None:
    data = table(seed)
    structure = ClassGaussian("class", NAMES, covariance=covariance)
    schema = {"class": sf.categorical(["a", "b", "c"])}
    bounds = [0, *sorted(cuts), 40]
    parts = [{name: column[low:high] for name, column in data.items()} for low, high in itertools.pairwise(bounds)]
    statistics = sum(sf.collect(structure, part, schema=schema) for part in parts if len(part["class"]))
    ours, whole = sf.estimate(structure, statistics), sf.fit(structure, data, schema=schema)
    size = np.abs(rows_of(data)[0]).max(axis=0)
    np.testing.assert_allclose(ours.model.means / size, whole.model.means / size, rtol=1e-12, atol=1e-14)
    for label in "abc":
        assert gap(ours.model.covariance(label), whole.model.covariance(label)) < 1e-10
    assert ours.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-10, abs=1e-10)


@given(seed=SEEDS, covariance=st.sampled_from(PLAIN), divisor=st.sampled_from(["n", "n-1"]))
def test_weights_are_repeated_rows(seed: int, covariance: str, divisor: str) -> None:
    data = table(seed)
    weights = np.random.default_rng(seed).integers(1, 4, 40)
    repeated = {name: np.repeat(column, weights) for name, column in data.items()}
    structure = ClassGaussian("class", NAMES, covariance=covariance, divisor=divisor)
    weighted, long = sf.fit(structure, data, weights=weights), sf.fit(structure, repeated)
    for label in "abc":
        assert gap(weighted.model.covariance(label), long.model.covariance(label)) < 1e-10
    assert weighted.log_likelihood == pytest.approx(long.log_likelihood, rel=1e-10, abs=1e-10)


def test_whole_and_real_numbers_can_be_classes() -> None:
    data = {"x": [1.0, 2.0, 4.0, 5.0, 7.0, 6.0], "class": [1, 1, 1, 2, 2, 2]}
    for classes in ([1, 1, 1, 2, 2, 2], [0.5, 0.5, 0.5, 1.5, 1.5, 1.5], [True] * 3 + [False] * 3):
        fit = sf.fit(ClassGaussian("class", ["x"]), {**data, "class": classes})
        assert fit.model.target.n_states == 2


def test_class_probabilities_as_told() -> None:
    data = table(1)
    told = {"a": 0.5, "b": 0.25, "c": 0.25}
    fit = fitted(data, class_prior=told)
    assert fit.model.class_prior.tolist() == [0.5, 0.25, 0.25]
    assert fit.certificate.ok
    assert "given class probabilities" in fit.certificate.verdict
    other = fitted(data).model.with_class_priors(told)
    np.testing.assert_allclose(other.log_prob(data), fit.model.log_prob(data), rtol=1e-12)


def test_no_probability_for_a_class_with_rows_makes_them_impossible() -> None:
    fit = fitted(table(1), class_prior={"a": 0.0, "b": 0.5, "c": 0.5})
    assert fit.log_likelihood == -np.inf
    assert fit.certificate.ok
    assert fit.model.query("class", {"x": 0.0})[{"class": "a"}] == 0


def test_one_class_only_is_fitted_and_noted() -> None:
    data = table(3, classes=1)
    fit = fitted(data)
    assert fit.certificate.ok
    assert any("one class only, 'a'" in str(note) for note in fit.notes)
    np.testing.assert_array_equal(fit.model.query_rows("class", data).values, np.ones((40, 1)))


# Shrinkage ----------------------------------------------------------------------------------------------------


def same_scale(seed: int, n: int = 40) -> dict[str, Any]:
    return table(seed, n, spread=0)


@given(seed=SEEDS)
def test_oas_is_that_of_scikit_learn(seed: int) -> None:
    data = same_scale(seed)
    x, y = rows_of(data)
    fit = fitted(data, shrinkage="oas")
    for code, label in enumerate("abc"):
        wanted, rho = oas(x[y == label])
        assert gap(fit.model.covariance(label), wanted) < 1e-12
        assert fit.model.shrinkage[code] == pytest.approx(rho, rel=1e-10)
    tied = fitted(data, "tied", shrinkage="oas")
    within = x - fitted(data).model.means[np.searchsorted(list("abc"), y)]
    wanted, rho = oas(within, assume_centered=True)
    assert gap(tied.model.covariance("a"), wanted) < 1e-12
    assert tied.certificate.ok


@given(seed=SEEDS)
def test_ledoit_wolf_is_that_of_scikit_learn(seed: int) -> None:
    data = same_scale(seed)
    x, y = rows_of(data)
    fit = sf.fit(ClassGaussian("class", NAMES, shrinkage="ledoit_wolf"), data, certify="data")
    assert fit.method == "ledoit_wolf"
    assert fit.certificate.ok, fit.certificate.verdict
    for code, label in enumerate("abc"):
        wanted, rho = ledoit_wolf(x[y == label])
        assert gap(fit.model.covariance(label), wanted) < 1e-10
        assert fit.model.shrinkage[code] == pytest.approx(rho, rel=1e-7, abs=1e-12)
    tied = fitted(data, "tied", shrinkage="ledoit_wolf")
    within = x - fit.model.means[np.searchsorted(list("abc"), y)]
    assert gap(tied.model.covariance("a"), ledoit_wolf(within, assume_centered=True)[0]) < 1e-10
    assert tied.certificate.ok


def test_ledoit_wolf_under_weights_is_that_of_repeated_rows() -> None:
    data = same_scale(5)
    weights = np.random.default_rng(5).integers(1, 4, 40)
    repeated = {name: np.repeat(column, weights) for name, column in data.items()}
    structure = ClassGaussian("class", NAMES, shrinkage="ledoit_wolf")
    weighted, long = sf.fit(structure, data, weights=weights), sf.fit(structure, repeated)
    np.testing.assert_allclose(weighted.model.spread, long.model.spread, rtol=1e-10)
    again = sf.estimate(structure, sf.collect(structure, data, weights=weights), data=data, weights=weights)
    np.testing.assert_array_equal(again.model.spread, weighted.model.spread)


def test_ledoit_wolf_needs_the_data_and_says_what_does_not() -> None:
    structure = ClassGaussian("class", NAMES, shrinkage="ledoit_wolf")
    statistics = sf.collect(structure, table(2))
    with pytest.raises(sf.ArgumentError, match=r"pass data=….*shrinkage='oas'"):
        sf.estimate(structure, statistics)
    with pytest.raises(sf.EstimationError, match="second pass"):
        sf.estimate(structure, statistics, method="closed_form")
    with pytest.raises(sf.EstimationError, match="closed_form"):
        sf.fit(ClassGaussian("class", NAMES), table(2), method="ledoit_wolf")


@given(
    seed=SEEDS,
    rho=st.floats(0, 1),
    covariance=st.sampled_from(["full", "tied", "diagonal", "tied_diagonal"]),
    towards=st.sampled_from(["identity", "diagonal"]),
    divisor=st.sampled_from(["n", "n-1"]),
)
def test_given_shrinkage_is_the_formula(seed: int, rho: float, covariance: str, towards: str, divisor: str) -> None:
    if covariance.endswith("diagonal"):
        towards = "identity"
    data = table(seed)
    fit = fitted(data, covariance, shrinkage=rho, towards=towards, divisor=divisor)
    for code, label in enumerate("abc"):
        plain = naive(data, covariance, divisor)[1][code]
        target = np.eye(3) * np.trace(plain) / 3 if towards == "identity" else np.diag(np.diag(plain))
        assert gap(fit.model.covariance(label), (1 - rho) * plain + rho * target) < 1e-9
    assert fit.certificate.ok, fit.certificate.verdict


def test_shrinkage_is_the_mode_under_its_wishart_prior() -> None:
    data, rho = table(4), 0.25
    x, y = rows_of(data)
    fit = fitted(data, "full", shrinkage=rho)
    mine = x[y == "a"]
    n, own = len(mine), np.cov(mine.T, bias=True)
    nu, target = n * rho / (1 - rho), np.eye(3) * np.trace(own) / 3

    def objective(matrix: np.ndarray) -> float:
        k = np.linalg.inv(matrix)
        return (n + nu) * np.linalg.slogdet(k)[1] - n * np.trace(k @ own) - nu * np.trace(k @ target)

    best = objective(fit.model.covariance("a"))
    rng = np.random.default_rng(0)
    for _ in range(50):
        step = rng.normal(size=(3, 3)) * 1e-3
        nearby = fit.model.covariance("a")
        roots = np.sqrt(np.diag(nearby))
        assert objective(nearby + (step + step.T) * np.outer(roots, roots)) < best
    assert any(f"{nu:.4g}" in str(note) for note in fit.notes)


# Degenerate data ----------------------------------------------------------------------------------------------

FEW = {"x": [1.0, 2.0, 4.0, 3.0, 9.0], "y": [0.0, 1.0, 1.5, 7.0, 1.0], "class": list("aaaab")}


def few(covariance: str = "full", data: Any = FEW, **options: Any) -> sf.Fit:
    return sf.fit(ClassGaussian("class", ["x", "y"], covariance=covariance, **options), data)


@pytest.mark.parametrize("covariance", ["full", "diagonal", "spherical"])
def test_a_class_of_one_row_is_named(covariance: str) -> None:
    with pytest.raises(sf.EstimationError, match=r"Class 'b' has only one row.*covariance='tied"):
        few(covariance)
    with pytest.raises(sf.EstimationError, match="'b'"):
        few(covariance, divisor="n-1")


@pytest.mark.parametrize("covariance", ["tied", "tied_diagonal", "tied_spherical"])
def test_a_class_of_one_row_is_enough_where_variances_are_shared(covariance: str) -> None:
    assert few(covariance).certificate.ok


def test_too_few_rows_are_named_with_the_remedy() -> None:
    data = {"x": [1.0, 2, 4, 3, 9], "y": [0.0, 1, 1.5, 7, 1], "class": list("aaabb")}
    with pytest.raises(sf.EstimationError, match=r"2 columns needs at least 3 rows, and class 'b' has 2.*shrinkage"):
        few(data=data)
    assert few(data=data, shrinkage="oas").certificate.ok
    assert few(data=data, shrinkage=0.1).certificate.ok
    assert few(data=data, shrinkage=0.1, towards="diagonal").certificate.ok
    assert few("tied", data=data).certificate.ok


def test_more_columns_than_rows() -> None:
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(12)]
    data = {**{name: rng.normal(size=8) for name in names}, "class": list("aaaabbbb")}
    for covariance in ("full", "tied"):
        with pytest.raises(sf.EstimationError, match=r"12 columns.*rows.*shrinkage"):
            sf.fit(ClassGaussian("class", names, covariance=covariance), data)
        assert sf.fit(ClassGaussian("class", names, covariance=covariance, shrinkage="oas"), data).certificate.ok
    assert sf.fit(ClassGaussian("class", names, covariance="diagonal"), data).certificate.ok
    assert sf.fit(ClassGaussian("class", names, covariance="sparse", alpha=0.5), data).certificate.ok


@pytest.mark.parametrize("constant", [0.0, 0.1, -1e8 / 3, 1e-300])
@pytest.mark.parametrize("covariance", ["full", "diagonal", "sparse"])
def test_columns_constant_in_a_class_are_named(covariance: str, constant: float) -> None:
    data = table(6)
    data["y"] = np.where(data["class"] == "b", constant, data["y"])
    options = {"graph": "x:y + z"} if covariance == "sparse" else {}
    with pytest.raises(sf.EstimationError, match=r"Column 'y' is constant in class 'b'.*shrinkage=0.1"):
        fitted(data, covariance, **options)
    assert fitted(data, covariance, shrinkage=0.1, **options).certificate.ok
    assert fitted(data, "tied").certificate.ok
    assert fitted(data, "spherical").certificate.ok
    with pytest.raises(sf.EstimationError, match="'y' is constant in class 'b'"):
        fitted(data, "full", shrinkage=0.1, towards="diagonal")


def test_a_column_constant_everywhere_is_named() -> None:
    data = {**table(6), "y": np.full(40, 0.3)}
    for covariance in ("tied", "tied_diagonal"):
        with pytest.raises(sf.EstimationError, match="Column 'y' is constant within each class"):
            fitted(data, covariance)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_a_column_that_follows_from_others_is_named_whatever_its_scale(covariance: str, scale: float) -> None:
    data = table(7)
    data["z"] = (data["x"] / np.std(data["x"]) - 2 * data["y"] / np.std(data["y"])) * scale
    with pytest.raises(sf.EstimationError, match=r"singular.*'z' is a combination"):
        fitted(data, covariance)
    assert fitted(data, covariance, shrinkage=0.1, towards="diagonal").certificate.ok


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_the_first_column_that_follows_from_others_is_named(covariance: str) -> None:
    data = table(7)
    data["y"] = data["x"]
    with pytest.raises(sf.EstimationError, match=r"singular.*'y' is a combination of the columns before it"):
        fitted(data, covariance)


@given(seed=SEEDS, scales=st.lists(st.sampled_from([1e-30, 1e-9, 1.0, 1e9, 1e30]), min_size=3, max_size=3))
def test_the_scale_of_columns_means_nothing(seed: int, scales: list[float]) -> None:
    data = table(seed, spread=0)
    plain = fitted(data)
    other = {**data, **{name: data[name] * scale for name, scale in zip(NAMES, scales, strict=True)}}
    scaled = fitted(other)
    assert scaled.certificate.ok, scaled.certificate.verdict
    np.testing.assert_allclose(
        scaled.model.query_rows("class", other).values, plain.model.query_rows("class", data).values, atol=1e-9
    )


def test_priors_and_given_tables_are_refused() -> None:
    with pytest.raises(sf.ArgumentError, match="shrinkage"):
        sf.fit(ClassGaussian("class", NAMES), table(1), prior=sf.K2())
    with pytest.raises(sf.ArgumentError, match="'fixed'"):
        sf.fit(ClassGaussian("class", NAMES), table(1), fixed={"x": 1})


def test_discrete_inputs_are_refused() -> None:
    data = {**table(1), "y": ["u", "v"] * 20}
    with pytest.raises(sf.SufficeError):
        fitted(data)
    with pytest.raises(sf.EstimationError, match=r"'y' is discrete.*NaiveBayes"):
        sf.fit(ClassGaussian("class", NAMES), {**table(1), "y": [1, 2] * 20}, schema={"y": sf.categorical()})


def test_missing_values_in_training_are_refused() -> None:
    data = table(1)
    data["x"][3] = np.nan
    with pytest.raises(sf.DataError):
        fitted(data)
    assert sf.fit(ClassGaussian("class", NAMES), data, missing="drop").n == 39


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "maximum likelihood, method 'closed_form'"),
        ({"divisor": "n-1"}, "unbiased divisors"),
        ({"shrinkage": 0.5}, "posterior mode, covariances shrunk towards the identity (ρ = 0.5)"),
        ({"shrinkage": "ledoit_wolf"}, "Ledoit–Wolf"),
        ({"bayes": True}, "Student's t under the reference prior"),
        ({"covariance": "sparse", "alpha": 0.1}, "graphical lasso, α = 0.1"),
    ],
)
def test_the_summary_says_what_the_estimate_is(options: dict[str, Any], words: str) -> None:
    said = str(fitted(same_scale(8), **options))
    assert words in said
    assert "✓ Certified" in said
    assert "class  rows" in said
