"""Certificates of finite hypothesis spaces."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.certify.claim import Claim
from suffice.families.proof import certify
from suffice.models.hypothesis_mixture import HypothesisMixture

SPACE = sf.Hypotheses({"low": [1, 2], "mid": [1, 2, 3], "all": [1, 2, 3, 4]}, over="x")
DATA = {"x": [1, 2, 2, 1]}


def claim_of(fit: sf.Fit, **changes: Any) -> Claim:
    claim = Claim(fit.structure, fit.model, fit.statistics, fit.log_likelihood, fit.point, fit.prior, fit.posterior)
    return dataclasses.replace(claim, **changes)


@pytest.mark.parametrize(
    "keywords",
    [{}, {"prior": "uniform"}, {"prior": {"low": 1, "mid": 5, "all": 0}}, {"prior": "uniform", "point": "map"}],
)
@pytest.mark.parametrize("position", [0, 1, 2])
def test_correct_weights_are_certified_and_perturbed_ones_are_not(keywords: dict[str, Any], position: int) -> None:
    fit = sf.fit(SPACE, DATA, **keywords)
    assert fit.certificate.ok
    weights = np.array(fit.model.weights)
    weights[position] += 0.001
    weights /= weights.sum()
    if np.abs(weights - fit.model.weights).max() < 1e-6:
        assert fit.model.weights[position] == 1
        return
    model = HypothesisMixture(SPACE, weights)
    value = float(np.sum(model.log_prob(DATA)))
    found = certify(claim_of(fit, model=model, log_likelihood=value))
    assert not found.ok
    assert found.gradient_norm > 1e-4


def test_changed_log_likelihood_is_rejected() -> None:
    fit = sf.fit(SPACE, DATA, prior="uniform")
    assert not certify(claim_of(fit, log_likelihood=fit.log_likelihood * (1 + 1e-6))).ok


def test_another_prior_or_point_is_rejected() -> None:
    fit = sf.fit(SPACE, DATA, prior="uniform")
    assert not certify(claim_of(fit, prior={"low": 1, "mid": 1, "all": 2})).ok
    assert not certify(claim_of(fit, point="map")).ok


def test_weights_that_do_not_sum_to_one_are_rejected() -> None:
    fit = sf.fit(SPACE, DATA, prior="uniform")
    with contextlib.suppress(sf.ModelError):  # no distribution at all, so a refusal is as good as a verdict
        assert not certify(claim_of(fit, model=HypothesisMixture(SPACE, fit.model.weights * 1.001))).ok


@pytest.mark.parametrize("total", [1, 100, 1999, 2001, 100_000, 1_000_000])
@pytest.mark.parametrize("point", ["mle", "mean", "map"])
def test_any_amount_of_data_is_certified(total: int, point: str) -> None:
    keywords = {} if point == "mle" else {"prior": {"low": 1e-9, "mid": 0.5, "all": 0.5}, "point": point}
    fit = sf.fit(SPACE, {"x": [1]}, weights=[total], **keywords)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.n == total


def test_fractional_weights_are_certified() -> None:
    fit = sf.fit(SPACE, {"x": [1, 2]}, weights=[0.5, 1.25], prior="uniform")
    assert fit.certificate.ok
    expected = np.array([2, 3, 4.0]) ** -1.75
    assert np.allclose(fit.model.weights, expected / expected.sum(), rtol=1e-12)


@pytest.mark.parametrize(
    ("p", "q", "small", "large", "n"), [(1, 2, 2, 4, 1), (1, 6, 1, 6, 1), (1, 8, 1, 2, 3), (1, 3, 1, 3, 1)]
)
def test_equal_posteriors_are_certified_and_noted(p: int, q: int, small: int, large: int, n: int) -> None:
    """p · small⁻ⁿ = q · large⁻ⁿ exactly; rounding of logarithms must neither hide the tie nor turn it round."""
    space = sf.Hypotheses({"first": range(small), "second": range(large)}, over="x")
    fit = sf.fit(space, {"x": [0] * n}, prior={"first": p, "second": q}, point="map")
    assert fit.model.weights.tolist() == [1, 0]
    assert fit.certificate.ok, fit.certificate.verdict
    assert any("equal" in str(note) for note in fit.notes)


def test_second_count_of_the_data() -> None:
    stats = sf.collect(SPACE, DATA)
    assert sf.estimate(SPACE, stats, prior="uniform", certify="data", data=DATA).certificate.ok
    other = sf.estimate(SPACE, stats, prior="uniform", certify="data", data={"x": [1, 2, 2, 2]}).certificate
    assert not other.ok
    assert other.data_gap is not None
    assert other.data_gap > 0.1
