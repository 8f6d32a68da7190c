"""The certificate of an autoregression: what it measures, and that it catches what is wrong."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import suffice as sf
from suffice.certify import autoregression
from suffice.certify.claim import Claim
from suffice.families.proof import certify
from suffice.stats.moments import Moments

RNG = np.random.default_rng(0)
SEQUENCES = [np.cumsum(RNG.normal(size=(n, 2)), axis=0) * [1.0, 1000.0] + [5.0, 1e6] for n in (9, 40, 3, *[8] * 9)]
PRIOR = sf.NormalInverseGamma(2, 1.0, intercept_precision=1e-6)
FITS = {
    "mle": lambda: sf.fit(sf.Autoregression(2), SEQUENCES),
    "order 0": lambda: sf.fit(sf.Autoregression(0), SEQUENCES),
    "through zero": lambda: sf.fit(sf.Autoregression(1, intercept=False), SEQUENCES),
    "n-p": lambda: sf.fit(sf.Autoregression(2, divisor="n-p"), SEQUENCES),
    "first values": lambda: sf.fit(sf.Autoregression(2, initial="normal"), SEQUENCES),
    "mean": lambda: sf.fit(sf.Autoregression(2), [rows[:, 0] for rows in SEQUENCES], prior=PRIOR),
    "map": lambda: sf.fit(sf.Autoregression(2), [rows[:, 0] for rows in SEQUENCES], prior=PRIOR, point="map"),
}
VECTORS = [name for name in FITS if name not in ("mean", "map")]


def claim_of(fit: sf.Fit, **changes) -> Claim:
    claim = Claim(
        fit.structure, fit.model, fit.statistics, fit.log_likelihood, point=fit.point, prior=fit.prior,
        posterior=fit.posterior,
    )  # fmt: skip
    return dataclasses.replace(claim, **changes)


def changed(model: sf.AutoregressiveModel, name: str, where: tuple[int, ...], by: float) -> sf.AutoregressiveModel:
    """A model with one number multiplied by 1 + by; a covariance stays symmetric."""
    arrays = {key: np.array(getattr(model, key)) for key in ("intercept", "coefficients", "covariance")}
    arrays[name][where] *= 1 + by
    if name == "covariance":
        arrays[name][where[::-1]] = arrays[name][where]
    return sf.AutoregressiveModel(model.variables, **arrays, start=model.start)


@pytest.mark.parametrize("name", FITS)
def test_true_claims_are_certified(name: str) -> None:
    certificate = FITS[name]().certificate
    assert certificate.ok, certificate.verdict
    assert certificate.exists == "yes"
    assert certificate.gradient_norm < 1e-11


def test_the_claim_says_what_was_estimated() -> None:
    claims = {name: fit().certificate.claim for name, fit in FITS.items()}
    assert claims == {
        "mle": "maximum likelihood given the first values",
        "order 0": "maximum likelihood",
        "through zero": "maximum likelihood given the first values",
        "n-p": "maximum likelihood given the first values, but for the errors' covariance, divided by n − p",
        "first values": "maximum likelihood",
        "mean": "posterior mean, which is no optimum",
        "map": "posterior mode",
    }


@pytest.mark.parametrize("name", [name for name in FITS if name != "order 0"])
def test_a_changed_coefficient_is_found(name: str) -> None:
    fit = FITS[name]()
    assert fit.model.coefficients.size
    for where in np.ndindex(fit.model.coefficients.shape):
        found = certify(claim_of(fit, model=changed(fit.model, "coefficients", where, 1e-5)))
        assert not found.ok
        assert found.gradient_norm > 1e-8


@pytest.mark.parametrize("name", [name for name in FITS if name != "through zero"])
def test_a_changed_intercept_is_found(name: str) -> None:
    fit = FITS[name]()
    found = certify(claim_of(fit, model=changed(fit.model, "intercept", (0,), 1e-5)))
    assert not found.ok
    assert "mean error of x" in found.worst or name in ("mean", "map")


def test_an_intercept_that_should_be_zero_is_found() -> None:
    fit = FITS["through zero"]()
    model = fit.model
    moved = sf.AutoregressiveModel(model.variables, [0.0, 1e-9], model.coefficients, model.covariance)
    found = certify(claim_of(fit, model=moved))
    assert not found.ok
    assert found.gradient_norm == math.inf
    assert "intercept of x2, which must be zero" in found.worst


@pytest.mark.parametrize("name", FITS)
def test_a_changed_covariance_is_found(name: str) -> None:
    fit = FITS[name]()
    under_a_prior = name in ("mean", "map")
    for where in [(0, 0), *([] if under_a_prior else [(1, 0), (1, 1)])]:
        found = certify(claim_of(fit, model=changed(fit.model, "covariance", where, 1e-5)))
        assert not found.ok
        assert "errors' covariance" in found.worst or under_a_prior


@pytest.mark.parametrize("name", FITS)
def test_a_changed_likelihood_is_found(name: str) -> None:
    fit = FITS[name]()
    found = certify(claim_of(fit, log_likelihood=fit.log_likelihood * (1 + 1e-6)))
    assert not found.ok
    assert "log-likelihood" in found.verdict


def test_changed_first_values_are_found() -> None:
    fit = FITS["first values"]()
    start = fit.model.start
    for mean, covariance, word in (
        (start.mean + 1e-3, start.covariance, "means of the first values"),
        (start.mean, start.covariance * (1 + 1e-5), "covariances of the first values"),
    ):
        other = sf.JointNormal(start.names, mean, covariance=covariance)
        model = fit.model
        moved = sf.AutoregressiveModel(
            model.variables, model.intercept, model.coefficients, model.covariance, start=other
        )
        found = certify(claim_of(fit, model=moved))
        assert not found.ok
        assert word in found.worst


def test_another_structure_is_found() -> None:
    fit, other = FITS["mle"](), FITS["order 0"]()
    for claim in (
        claim_of(fit, model=other.model),
        claim_of(fit, model=FITS["first values"]().model),
        claim_of(FITS["first values"](), model=fit.model),
    ):
        found = certify(claim)
        assert not found.ok
        assert found.gradient_norm == math.inf


def test_divisors_points_and_interceptions_are_not_mistaken_for_each_other() -> None:
    fit = FITS["mle"]()
    assert not certify(claim_of(fit, structure=sf.Autoregression(2, divisor="n-p"))).ok
    assert not certify(claim_of(FITS["n-p"](), structure=sf.Autoregression(2))).ok
    assert not certify(claim_of(FITS["mean"](), point="map")).ok
    assert not certify(claim_of(FITS["map"](), point="mean")).ok
    assert not certify(claim_of(FITS["map"](), point="mle", prior=None)).ok
    assert not certify(claim_of(fit, interrupted=True)).ok


@pytest.mark.parametrize("name", VECTORS)
def test_long_floats_take_the_place_of_fractions_where_there_are_many_numbers(name: str, monkeypatch) -> None:
    fit = FITS[name]()
    monkeypatch.setattr(autoregression, "MAX_EXACT", 0)
    found = certify(claim_of(fit))
    assert found.ok, found.verdict
    assert not certify(claim_of(fit, model=changed(fit.model, "covariance", (0, 0), 1e-5))).ok


def test_existence_is_judged_without_the_model() -> None:
    fit = FITS["mle"]()

    def exists(sequences: list[np.ndarray]) -> str:
        return certify(claim_of(fit, statistics=sf.collect(sf.Autoregression(2), sequences))).exists

    assert exists(SEQUENCES) == "yes"
    assert exists([rows[:, [0, 0]] for rows in SEQUENCES]) == "no"
    assert exists([rows * [1, 0] for rows in SEQUENCES]) == "no"
    assert exists([SEQUENCES[0][:6]]) == "no"  # four windows of six columns


def test_a_second_count_agrees_and_finds_what_is_wrong() -> None:
    structure = sf.Autoregression(1, ["x", "y"])
    statistics = sf.collect(structure, SEQUENCES)
    fit = sf.estimate(structure, statistics, data=SEQUENCES, certify="data")
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.data_gap < 1e-10
    need = structure.need(statistics.schema)
    arrays = {key: np.array(array) for key, array in statistics[need].to_arrays().items()}
    arrays["scatter"][3, 3] *= 1 + 1e-6
    wrong = Moments(statistics[need].variables, (), **arrays)
    fit = sf.estimate(structure, dataclasses.replace(statistics, items_={need: wrong}), data=SEQUENCES, certify="data")
    assert not fit.certificate.ok
    assert "'y'" in fit.certificate.verdict
