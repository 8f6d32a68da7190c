"""The proof of a density looks at other nodes, and at nothing that the fitter says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.certify.certificate import Certificate
from suffice.certify.claim import Claim
from suffice.certify.density import certify
from suffice.models.log_linear_density import LogLinearDensity

LINE, UNIT = (-math.inf, math.inf), (0, 1)
X, XX = sf.product("x"), sf.product("x", "x")
MEAN = sf.Features([X], support={"x": UNIT})
NORMAL = sf.Features([X, XX], support={"x": LINE})
FITS = {
    "interval": sf.maxent(MEAN, 0.3),
    "normal": sf.maxent(NORMAL, [1.0, 3.0]),
    "data": sf.fit(NORMAL, {"x": np.random.default_rng(0).normal(size=50)}),
    "groups": sf.maxent(
        sf.Features([X, sf.product("x", sf.indicator(c="a")), sf.indicator(c="a")], support={"x": UNIT}),
        [0.6, 0.2, 0.3],
        over={"c": ["a", "b"]},
    ),
}


def claim_of(fit: sf.Fit, **changes: Any) -> Claim:
    whole: dict[str, Any] = {
        "structure": fit.structure,
        "model": fit.model,
        "statistics": fit.statistics,
        "log_likelihood": fit.log_likelihood,
        "prior": fit.prior,
    }
    return Claim(**{**whole, **changes})


def changed(model: LogLinearDensity, **changes: Any) -> LogLinearDensity:
    whole: dict[str, Any] = {"weights": model.weights.to_numpy(), "base": model.base, "placement": model.placement}
    whole |= changes
    return LogLinearDensity(model.features, whole.pop("weights"), schema=model.schema, **whole)


def likelihood(model: LogLinearDensity, fit: sf.Fit) -> float:
    """The log-likelihood that a model would claim honestly."""
    need = next(need for need in fit.statistics if type(need).__name__ == "Sum")
    alpha = fit.statistics[need].values
    return float(model.weights.to_numpy() @ alpha - model.log_z)


def refused(certificate: Certificate, words: str) -> None:
    assert not certificate.ok
    assert words in certificate.verdict


@pytest.mark.parametrize("name", FITS)
def test_what_was_fitted_is_certified(name: str) -> None:
    certificate = certify(claim_of(FITS[name]))
    assert certificate.ok, certificate.verdict
    assert certificate.gradient_norm < 1e-11
    assert certificate.normalisation < 1e-11
    assert certificate == FITS[name].certificate


@given(st.sampled_from(["interval", "normal", "groups"]), st.integers(0, 2), st.floats(1e-6, 0.2), st.booleans())
@settings(max_examples=30)
def test_a_weight_that_was_tampered_with_is_refused(name: str, which: int, size: float, up: bool) -> None:
    fit = FITS[name]
    weights = fit.model.weights.to_numpy().copy()
    which %= len(weights)
    weights[which] *= 1 + (size if up else -size)
    model = changed(fit.model, weights=weights)
    # Even with the log-likelihood of its own.
    refused(certify(claim_of(fit, model=model, log_likelihood=likelihood(model, fit))), "match of expectations")


def test_a_log_likelihood_that_was_tampered_with_is_refused() -> None:
    fit = FITS["interval"]
    refused(certify(claim_of(fit, log_likelihood=fit.log_likelihood + 1e-6)), "log-likelihood, recomputed")


def test_weights_that_are_not_finite_are_refused() -> None:
    model = changed(FITS["interval"].model, weights=[math.inf])
    refused(certify(claim_of(FITS["interval"], model=model)), "not finite")


def test_a_base_that_is_only_the_models_own_is_refused() -> None:
    fit = sf.maxent(NORMAL, [1.0, 3.0])
    shifted = sf.maxent(sf.Features([X], support={"x": LINE}), 1.0, base=lambda x: math.exp(-(x**2) / 2)).model
    assert certify(claim_of(fit)).ok
    model = changed(fit.model, base=shifted.base)
    refused(certify(claim_of(fit, model=model)), "misses its total of one")


def test_weights_of_other_features_are_refused() -> None:
    other = sf.maxent(sf.Features([XX], support={"x": UNIT}), 0.2).model
    refused(certify(claim_of(FITS["interval"], model=other)), "not those of the features")


def test_nodes_that_cannot_see_the_density_are_refused() -> None:
    # The right weights of a density as narrow as 1e-4, with nodes that are placed for a wide one.
    square = sf.feature(lambda x: ((x - 0.3172) * 1e4) ** 2, over="x", name="square", vectorised=True)
    fit = sf.maxent(sf.Features([square], support={"x": UNIT}), 1.0)
    assert fit.certificate.ok
    assert fit.model.weights["square"] == pytest.approx(-0.5, abs=1e-8)
    rough = changed(fit.model, placement={"x": (0.9, 1.0)})
    refused(certify(claim_of(fit, model=rough, log_likelihood=likelihood(rough, fit))), "match of expectations")


def test_a_kink_between_nodes_shows_in_the_verdict() -> None:
    bent = sf.feature(lambda x: np.abs(x - 0.3172) * 200, over="x", name="bent", vectorised=True)
    fit = sf.maxent(sf.Features([bent], support={"x": UNIT}), 1.0, tol=1e-10)
    assert not fit.certificate.ok


def test_a_weight_far_from_any_density_ends_in_a_verdict_and_not_in_a_warning() -> None:
    model = changed(FITS["normal"].model, weights=[1.0, 0.25])
    assert not certify(claim_of(FITS["normal"], model=model)).ok
    model = changed(FITS["normal"].model, weights=[1e300, -1e300])
    assert not certify(claim_of(FITS["normal"], model=model)).ok


@pytest.mark.parametrize("width", [1.0, 2.0, 30.0])
def test_the_dual_value_is_the_divergence_from_the_uniform_density_of_any_interval(width: float) -> None:
    fit = sf.maxent(sf.Features([X], support={"x": (-1, width - 1)}), 0.3 * width - 1)
    assert fit.certificate.dual == pytest.approx(FITS["interval"].certificate.dual, abs=1e-9)


def test_a_base_without_a_total_leaves_the_dual_value_as_it_is() -> None:
    fit = FITS["normal"]
    assert fit.certificate.dual == pytest.approx(-0.5 * math.log(2 * math.pi * math.e * 2.0), abs=1e-9)
    assert fit.certificate.dual == pytest.approx(fit.log_likelihood, abs=1e-12)


def test_a_prior_is_part_of_the_claim() -> None:
    fit = sf.maxent(MEAN, 0.3, prior=sf.Gaussian(1.0))
    assert certify(claim_of(fit, point="map")).ok
    refused(certify(claim_of(fit, prior=None)), "match of expectations")
    refused(certify(claim_of(fit, point="map", prior=sf.Gaussian(1.1))), "first-order condition")
