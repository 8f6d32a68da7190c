"""Certificates of fits by sampling: honest fits are accepted, weights that are a little off are not."""

from __future__ import annotations

import dataclasses
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import suffice as sf
from suffice.certify import sampled
from suffice.certify.claim import Claim
from suffice.certify.feature_values import data_moments
from suffice.families.proof import certify
from suffice.inference.gibbs import Gibbs

NAMES = [f"x{v}" for v in range(6)]


def drawn(structure: Any, weights: Any, names: list[str], n: int) -> dict[str, Any]:
    """Return rows of a spin model, by long chains."""
    schema = sf.fit(structure, {name: [0, 1] for name in names}, prior=sf.Gaussian(1.0), method="pseudo_likelihood")
    model = sf.LogLinear(structure, weights, schema=schema.model.schema)
    chains = Gibbs.of_product(model._tables.inquiry.product)
    states = chains.start(n, 5)
    chains.run(states, 500, 5)
    return {name: states[:, model.variables.index(name)] for name in names}


@cache
def rows() -> dict[str, Any]:
    return drawn(sf.Boltzmann(NAMES), np.random.default_rng(2).normal(0, 0.8, 21), NAMES, 3000)


@cache
def fitted(seed: int = 1, **options: Any) -> sf.Fit:
    return sf.fit(sf.Boltzmann(NAMES), rows(), method="stochastic", seed=seed, **options)


def claim_of(fit: sf.Fit, **changes: Any) -> Claim:
    claim = Claim(
        structure=fit.structure,
        model=fit.model,
        statistics=fit.statistics,
        log_likelihood=fit.log_likelihood,
        point=fit.point,
        prior=fit.prior,
        method=fit.method,
    )
    return dataclasses.replace(claim, **changes)


def moved(fit: sf.Fit, name: str, by: float) -> sf.LogLinear:
    weights = {**fit.model.weights, name: fit.model.weights[name] + by}
    return sf.LogLinear(fit.structure, weights, schema=fit.model.schema)


# What is accepted ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_honest_fits_pass(seed: int) -> None:
    certificate: Any = fitted(seed).certificate
    assert certificate.ok, certificate.verdict
    assert 0 < certificate.z <= certificate.z_limit
    assert 0 < certificate.monte_carlo_error <= sampled.ERROR
    assert certificate.log_likelihood_gap <= 1e-12
    assert "by sampling" in certificate.verdict


def test_exact_estimates_pass_as_samples_with_the_level_promised() -> None:
    """Expectations of the exact estimate are those wanted, so that z-scores are about standard normal."""
    exact = sf.fit(sf.Boltzmann(NAMES), rows(), method="newton")
    claim = claim_of(exact, method="stochastic")
    features = exact.structure.resolved(exact.statistics.schema)
    found = sampled._fresh(claim, features, np.ones(len(features)))
    wanted, _ = data_moments(claim, features)
    z = (found.means - wanted) / found.errors
    assert np.abs(z).max() < 4.5
    assert 0.4 < float(np.sqrt((z**2).mean())) < 1.8  # correlated: errors of twice or half the size would fail
    assert found.stuck == ""
    assert certify(claim).ok


def test_certifying_again_gives_the_same_certificate() -> None:
    assert certify(claim_of(fitted())) == fitted().certificate


def test_a_certificate_does_not_depend_on_threads() -> None:
    before = sf.config()
    try:
        sf.config(threads=1)
        one = certify(claim_of(fitted()))
        sf.config(threads=3)
        assert certify(claim_of(fitted())) == one
    finally:
        sf.config(threads=before.threads)


def test_the_posterior_mode_is_examined_with_its_penalty() -> None:
    fit = sf.fit(sf.Boltzmann(NAMES), rows(), method="stochastic", seed=3, prior=sf.Gaussian(0.05, main=0.5))
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "yes"
    assert fit.certificate.moment_gap is None
    assert not certify(claim_of(fit, prior=None, point="mle")).ok
    assert not certify(claim_of(fit, prior=sf.Gaussian(0.03))).ok
    assert not certify(claim_of(fit, prior=sf.Gaussian(0.05, main=0.05))).ok


# What is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "by"), [("x0", 0.15), ("x1:x4", -0.2), ("x2:x3", 5.0)])
def test_weights_that_were_changed_are_refused(name: str, by: float) -> None:
    certificate: Any = certify(claim_of(fitted(), model=moved(fitted(), name, by), log_likelihood=math.nan))
    assert not certificate.ok
    assert certificate.z > certificate.z_limit
    assert "Monte-Carlo errors" in certificate.verdict
    assert certificate.gradient_norm > certificate.monte_carlo_error


def test_violations_are_named_by_their_feature() -> None:
    certificate: Any = certify(claim_of(fitted(), model=moved(fitted(), "x5", 1.0)))
    assert "'x5'" in certificate.worst


def test_a_wrong_log_likelihood_is_refused() -> None:
    fit = fitted()
    certificate: Any = certify(claim_of(fit, log_likelihood=fit.log_likelihood + 0.01))
    assert not certificate.ok
    assert "log-likelihood" in certificate.verdict
    assert certificate.z <= certificate.z_limit


def test_features_of_another_structure_are_refused() -> None:
    other = sf.Boltzmann("x0:x1 + x2 + x3 + x4 + x5")
    certificate: Any = certify(claim_of(fitted(), structure=other))
    assert not certificate.ok
    assert "not those of the features" in certificate.verdict


def test_data_that_were_changed_are_noticed() -> None:
    fit = sf.fit(sf.Boltzmann(NAMES), rows(), method="stochastic", seed=1, certify="data")
    assert fit.certificate.data_gap == 0
    assert fit.certificate.ok


def test_potentials_without_any_state_are_refused_rather_than_fatal() -> None:
    fit = fitted()
    zeros = [sf.LabelledTable((fit.model.schema["x0"],), np.array(v), "h") for v in ([0.0, 1.0], [1.0, 0.0])]
    model = sf.LogLinear(fit.structure, fit.model.weights, schema=fit.model.schema, support=zeros)
    certificate: Any = certify(claim_of(fit, model=model))
    assert not certificate.ok
    assert "no state to start from" in certificate.verdict


def test_chains_that_do_not_mix_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two states that no chain leaves, half of the chains in each: expectations look right whatever they are."""
    monkeypatch.setattr(sampled, "MOST_SWEEPS", 1500)
    names = [f"x{v}" for v in range(6)]
    ring = sf.Ising([(names[v], names[v - 1]) for v in range(6)])
    both = {name: [0] * 50 + [1] * 50 + [0, 1, 0, 1] for name in names[:3]} | {
        name: [0] * 50 + [1] * 50 + [0, 0, 1, 1] for name in names[3:]
    }
    exact = sf.fit(ring, both, prior=sf.Gaussian(1.0))
    weights = {name: (0.0 if ":" not in name else 5.0) for name in exact.model.weights}
    model = sf.LogLinear(ring, weights, schema=exact.model.schema)
    certificate: Any = certify(claim_of(exact, model=model, prior=None, point="mle", method="stochastic"))
    assert not certificate.ok
    found = sampled._fresh(claim_of(exact, model=model), ring.resolved(exact.statistics.schema), np.full(12, 2.0))
    assert found.stuck
    assert found.n_sweeps <= 1500
    assert found.errors.max() > 0.02  # and their errors are large


# How far a gap may be by chance -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 136, 10_000])
def test_the_limit_has_the_chance_it_states(n: int) -> None:
    limit = sampled.critical(n)
    assert 2 * n * norm.sf(limit) == pytest.approx(sampled.CHANCE, rel=1e-9)


def test_the_limit_rises_with_the_number_of_features() -> None:
    limits = [sampled.critical(n) for n in (0, 1, 10, 100)]
    assert limits == sorted(limits)


def test_rare_features_are_not_held_against_a_fit() -> None:
    """Chains hardly ever see them: without a visit the estimated error is zero, and no gap at all would be allowed."""
    table = np.array([[400_000.0, 100_000.0], [500_000.0, 3.0]])
    data = sf.Contingency(table, {"a": [0, 1], "b": [0, 1]})
    fit = sf.fit(sf.Boltzmann(["a", "b"]), data, method="newton")
    certificate: Any = certify(claim_of(fit, method="stochastic"))
    assert certificate.ok, certificate.verdict


def test_constant_features_do_not_divide_by_zero() -> None:
    """What a weight at infinity leaves has the same value in every state: no error, and no gap but rounding."""
    data = {"a": [0, 0, 1, 1, 0, 1, 0, 1], "b": [0.3] * 8, "c": [0, 1, 0, 1, 1, 0, 1, 1]}
    structure = sf.Features([sf.product("b"), sf.indicator(a=1), sf.indicator(a=1, c=1), sf.indicator(c=1)])
    fit = sf.fit(structure, data, schema={"b": [0.1, 0.3]}, method="stochastic", seed=1)
    assert fit.model.weights["b"] == math.inf
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "no"


# Wide graphs --------------------------------------------------------------------------------------------------


WIDE = [f"u{v}" for v in range(21)]


@cache
def wide() -> sf.Fit:
    weights = np.concatenate([np.zeros(21), np.random.default_rng(1).normal(0, 0.15, 210)])
    data = drawn(sf.Boltzmann(WIDE), weights, WIDE, 3000)
    return sf.fit(sf.Boltzmann(WIDE), data, method="stochastic", seed=1, options={"sweeps": 3, "error": 1.4e-3})


def test_without_a_normaliser_the_log_likelihood_is_unknown_and_said_to_be() -> None:
    fit = wide()
    assert math.isnan(fit.log_likelihood)
    assert math.isnan(fit.certificate.log_likelihood)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.log_likelihood_gap == 0
    assert any("log-likelihood is not known" in note.text for note in fit.notes)
    assert "nan" in str(fit.certificate)
    assert "not known" in str(fit)


def test_a_log_likelihood_that_cannot_be_recomputed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_wide(*arguments: Any) -> Any:
        raise sf.ModelError("too wide")

    monkeypatch.setattr(sampled, "other_tree", too_wide)
    assert math.isnan(certify(claim_of(fitted())).log_likelihood)
    assert not certify(claim_of(fitted())).ok
    assert certify(claim_of(fitted(), log_likelihood=math.nan)).ok


def test_wide_graphs_with_changed_weights_are_refused() -> None:
    assert not certify(claim_of(wide(), model=moved(wide(), "u3:u7", 0.5))).ok


def test_fits_by_sampling_survive_a_file(tmp_path: Path) -> None:
    for name, fit in (("narrow", fitted()), ("wide", wide())):
        path = tmp_path / f"{name}.json"
        sf.write(fit, path)
        again = sf.read(path)
        assert again.method == "stochastic"
        assert again.certificate.verdict == fit.certificate.verdict
        assert again.certificate.z == fit.certificate.z
        assert again.certificate.monte_carlo_error == fit.certificate.monte_carlo_error
        assert dict(again.model.weights) == dict(fit.model.weights)
        assert math.isnan(again.log_likelihood) == math.isnan(fit.log_likelihood)
