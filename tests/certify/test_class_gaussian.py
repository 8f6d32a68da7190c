"""The proof of normal classes holds for right estimates, and for no others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.learn.class_gaussian_cases import NAMES, table

import suffice as sf
from suffice.certify.certificate import Certificate
from suffice.certify.claim import Claim
from suffice.families.proof import certify
from suffice.structures.class_gaussian import COVARIANCES, ClassGaussian

KINDS: list[dict[str, Any]] = [
    {},
    {"covariance": "tied"},
    {"covariance": "diagonal"},
    {"covariance": "tied_spherical"},
    {"divisor": "n-1"},
    {"shrinkage": 0.3},
    {"shrinkage": "oas"},
    {"shrinkage": "ledoit_wolf"},
    {"covariance": "sparse", "graph": "x:y + z"},
    {"covariance": "sparse", "alpha": 0.1},
    {"bayes": True},
    {"bayes": True, "covariance": "tied_diagonal"},
]


def fitted(options: dict[str, Any], seed: int = 0) -> sf.Fit:
    return sf.fit(ClassGaussian("class", NAMES, **options), table(seed, spread=0), certify="data")


def judged(fit: sf.Fit, **changes: Any) -> Certificate:
    """Return the verdict on a model that was tampered with."""
    model = replace(fit.model, **changes)
    return certify(Claim(fit.structure, model, fit.statistics, fit.log_likelihood))


@pytest.mark.parametrize("options", KINDS)
def test_right_estimates_are_certified(options: dict[str, Any]) -> None:
    certificate = fitted(options).certificate
    assert certificate.ok, certificate.verdict
    assert certificate.gradient_norm < 1e-9
    assert certificate.exists == "yes"
    assert certificate.data_gap is not None


@pytest.mark.parametrize("options", [kind for kind in KINDS if kind.get("shrinkage") != "ledoit_wolf"])
@pytest.mark.parametrize("what", ["means", "spread", "class_prior"])
def test_wrong_estimates_are_not(options: dict[str, Any], what: str) -> None:
    fit = fitted(options)
    array = np.array(getattr(fit.model, what))
    if what == "spread":
        array *= 1 + 1e-6
    elif what == "means":
        array[1, 2] += 1e-6 * abs(array[1, 2])
    else:
        array += np.array([1e-6, -1e-6, 0.0])
    certificate = judged(fit, **{what: array})
    assert not certificate.ok
    assert 1e-8 < certificate.gradient_norm < 1e-4


def test_another_shrinkage_is_found_out() -> None:
    fit = fitted({"shrinkage": "oas"})
    other = fitted({"shrinkage": 0.3}).model
    model = replace(fit.model, spread=other.spread, shrinkage=other.shrinkage)
    certificate = certify(Claim(fit.structure, model, fit.statistics, fit.log_likelihood))
    assert not certificate.ok
    assert "shrinkage" in certificate.worst or "class" in certificate.worst


def test_a_stray_entry_of_a_sparse_matrix_is_found_out() -> None:
    fit = fitted({"covariance": "sparse", "graph": "x:y + z"})
    k = np.array(fit.model.precisions)
    k[0, 0, 2] = k[0, 2, 0] = 1e-9
    certificate = judged(fit, precisions=k)
    assert not certificate.ok
    assert "x - z in class 'a'" in certificate.worst


def test_a_precision_that_is_not_the_inverse_is_found_out() -> None:
    fit = fitted({"covariance": "sparse", "alpha": 0.1})
    certificate = judged(fit, precisions=np.array(fit.model.precisions) * 1.001)
    assert not certificate.ok


def test_a_wrong_log_likelihood_is_found_out() -> None:
    fit = fitted({})
    certificate = certify(Claim(fit.structure, fit.model, fit.statistics, fit.log_likelihood * 1.001))
    assert not certificate.ok
    assert "log-likelihood" in certificate.verdict


def test_wrong_degrees_of_freedom_are_found_out() -> None:
    fit = fitted({"bayes": True})
    certificate = judged(fit, dof=np.array(fit.model.dof) + 1)
    assert not certificate.ok
    assert "degrees of freedom" in certificate.worst


def test_a_model_of_another_structure_is_found_out() -> None:
    fit, other = fitted({}), fitted({"covariance": "tied"})
    assert not certify(Claim(fit.structure, other.model, fit.statistics, fit.log_likelihood)).ok


def test_nearly_dependent_columns_are_still_certified() -> None:
    data = table(3, spread=0)
    rng = np.random.default_rng(1)
    data["z"] = data["x"] + data["y"] + 3e-5 * rng.normal(size=40)
    fit = sf.fit(ClassGaussian("class", NAMES), data)
    assert fit.certificate.ok, fit.certificate.verdict


@pytest.mark.parametrize("options", KINDS)
def test_another_number_of_rows_is_found_out(options: dict[str, Any]) -> None:
    fit = fitted(options)
    certificate = judged(fit, n=fit.model.n * 10)
    assert not certificate.ok
    assert certificate.worst == "the number of rows"


@pytest.mark.parametrize("options", [{}, {"divisor": "n-1"}, {"bayes": True}])
@pytest.mark.parametrize("covariance", [kind for kind in COVARIANCES if kind != "sparse"])
@pytest.mark.parametrize("far", [1.7e9, 1e12])
def test_numbers_far_from_zero_are_certified(covariance: str, options: dict[str, Any], far: float) -> None:
    for seed in range(5):
        classes = np.array([0, 1] * 50)
        rows = np.random.default_rng(seed).normal(size=(3, 100)) + classes + far  # seconds since 1970, for instance
        data = {**dict(zip(NAMES, rows, strict=True)), "class": classes}
        fit = sf.fit(ClassGaussian("class", NAMES, covariance=covariance, **options), data)
        assert fit.certificate.ok, fit.certificate.verdict
        means = np.array(fit.model.means)
        means[1, 2] += 1e-6 + 1e-15 * far
        assert not judged(fit, means=means).ok


def test_classes_that_are_wrongly_unknown_are_found_out() -> None:
    fit = fitted({"covariance": "tied", "class_prior": {"a": 0.5, "b": 0.5, "c": 0.0}})
    means = np.array(fit.model.means)
    means[2] = np.nan
    certificate = judged(fit, means=means)
    assert not certificate.ok
    assert "unknown" in certificate.worst


def test_claims_say_what_they_are() -> None:
    said = [fitted(options).certificate.claim for options in KINDS]
    assert said[0] == "maximum likelihood"
    assert "unbiased" in said[4]
    assert "Wishart" in said[5]
    assert "graphical lasso" in said[9]
    assert "Student's t" in said[10]
    uniform = fitted({"class_prior": "uniform"}).certificate.claim
    assert uniform == "maximum likelihood, with uniform class probabilities"
