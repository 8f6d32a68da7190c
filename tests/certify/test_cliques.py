"""Certificates of Markov random fields: every correct fit is accepted, and every model that is a little off is not."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learn.clique_cases import Case, cases, grid, grid_data
from tests.learn.test_cliques import HABERMAN, RING, ring_data

import suffice as sf
from suffice.certify.claim import Claim
from suffice.certify.subgradient import residual_under_penalty
from suffice.data.labelled import LabelledTable
from suffice.families.proof import certify
from suffice.learn.method import Step
from suffice.models.clique_layout import layout_of

WAYS: list[dict[str, Any]] = [
    {},
    {"method": "ipf", "max_iter": 20_000},
    {"method": "newton"},
    {"method": "lbfgs"},
    {"prior": sf.BDeu(3)},
    {"prior": sf.BDeu(3), "point": "map"},
    {"prior": sf.Gaussian(0.7)},
    {"prior": sf.Laplace(0.7)},
]


def claim_of(fit: sf.Fit, **changes: Any) -> Claim:
    """Return what a fit claims, with changes."""
    claim = Claim(
        structure=fit.structure,
        model=fit.model,
        statistics=fit.statistics,
        log_likelihood=fit.log_likelihood,
        point=fit.point,
        prior=fit.prior,
        posterior=fit.posterior,
        method=fit.method,
        trace=fit.trace,
    )
    return dataclasses.replace(claim, **changes)


def with_factors(fit: sf.Fit, factors: list[tuple[tuple[str, ...], Any]], schema: Any = None) -> sf.MarkovNetwork:
    return sf.MarkovNetwork(factors, schema=schema or fit.model.schema)


def factors_of(fit: sf.Fit) -> list[tuple[tuple[str, ...], Any]]:
    return [(factor.names, np.array(factor.values)) for factor in fit.model.factors]


def own_log_likelihood(case: Case, model: sf.MarkovNetwork) -> float:
    """Return the changed model's own log-likelihood, so that the claim is false in nothing but its point."""
    return case.log_likelihood(case.joint(model))


def perturbations(case: Case, fit: sf.Fit) -> Iterator[Claim]:
    """Yield the model with one potential changed, wherever that changes the distribution."""
    for number in range(len(fit.structure.cliques)):
        for place in range(fit.model.factors[number].values.size):
            factors = factors_of(fit)
            factors[number][1].flat[place] *= 1.01
            model = with_factors(fit, factors)
            if np.abs(case.joint(model) - case.joint(fit.model)).max() > 1e-4:
                yield claim_of(fit, model=model, log_likelihood=own_log_likelihood(case, model))


@given(cases(max_variables=3), st.sampled_from(WAYS))
@settings(max_examples=50)
def test_correct_fits_are_certified_and_perturbed_ones_are_not(case: Case, keywords: dict[str, Any]) -> None:
    fit = case.fit(**keywords)
    assert fit.certificate.ok, fit.certificate.verdict
    assert certify(claim_of(fit)).ok
    for claim in perturbations(case, fit):
        found = certify(claim)
        assert not found.ok
        assert found.gradient_norm > 1e-8
        assert found.log_likelihood_gap < 1e-10
        assert "is violated by" in found.verdict
        assert found.worst.startswith("the margin of V")


RING_CASE = Case(
    sf.Cliques(RING).cliques,
    {name: tuple(sorted(set(values))) for name, values in ring_data().items()},
    np.ones((2, 3, 3, 2)),
)


def test_property_above_has_something_to_perturb() -> None:
    table = np.zeros((2, 3, 3, 2))
    np.add.at(table, tuple(values.astype(int) for values in ring_data().values()), 1.0)
    case = dataclasses.replace(RING_CASE, table=table)
    fit = case.fit()
    assert 20 <= len(list(perturbations(case, fit))) <= 6 + 9 + 6 + 4


@pytest.fixture(scope="module")
def fit() -> sf.Fit:
    return sf.fit(sf.Cliques(RING), ring_data(), method="ipf")


def test_size_and_place_of_the_violation_are_measured() -> None:
    fit = sf.fit(sf.Cliques("A:B"), sf.Contingency([[4, 1], [2, 3]], {"A": ["x", "y"], "B": ["u", "v"]}))
    found = certify(claim_of(fit, model=with_factors(fit, [(("A", "B"), np.array([[0.4, 0.1], [0.21, 0.29]]))])))
    assert found.gradient_norm == pytest.approx(0.01)
    assert found.moment_gap == pytest.approx(0.01)
    assert found.worst in ("the margin of A:B, A='y', B='u'", "the margin of A:B, A='y', B='v'")
    assert "the match of margins is violated by 0.01 at the margin of A:B" in found.verdict


def test_a_wrong_log_likelihood_is_found(fit: sf.Fit) -> None:
    found = certify(claim_of(fit, log_likelihood=fit.log_likelihood + 1e-3))
    assert not found.ok
    assert "the log-likelihood, recomputed, differs" in found.verdict
    assert found.log_likelihood == pytest.approx(fit.log_likelihood, rel=1e-12)
    assert found.gradient_norm <= 1e-8


def test_another_prior_is_found(fit: sf.Fit) -> None:
    for prior in (sf.BDeu(0.1), sf.Gaussian(10.0), sf.Laplace(10.0)):
        assert not certify(claim_of(fit, prior=prior, point="map")).ok
    smoothed = sf.fit(sf.Cliques(RING), ring_data(), prior=sf.BDeu(0.1))
    assert certify(claim_of(smoothed)).ok
    assert not certify(claim_of(smoothed, prior=None, point="mle")).ok
    assert not certify(claim_of(smoothed, prior=sf.BDeu(0.2))).ok


@pytest.mark.parametrize(
    "change",
    [
        lambda factors: factors[1:] + factors[:1],
        lambda factors: [(factors[0][0][::-1], factors[0][1].T), *factors[1:]],
        lambda factors: [(("A", "C"), np.ones((2, 3))), *factors[1:], (("A", "B"), factors[0][1])],
        lambda factors: factors[:3],
    ],
)
def test_wrong_potentials_are_found(fit: sf.Fit, change: Any) -> None:
    found = certify(claim_of(fit, model=with_factors(fit, change(factors_of(fit)))))
    assert not found.ok
    assert "the potentials, which are not those of the cliques" in found.verdict


def test_other_states_are_found(fit: sf.Fit) -> None:
    schema = sf.Schema(tuple(sf.Variable(v.name, v.states[::-1]) for v in fit.model.schema.variables))
    found = certify(claim_of(fit, model=with_factors(fit, factors_of(fit), schema)))
    assert not found.ok
    assert "'A', whose states are not those of the statistics" in found.verdict


def test_another_number_of_states_is_found(fit: sf.Fit) -> None:
    states = {v.name: (*v.states, "9") if v.name == "A" else v.states for v in fit.model.schema.variables}
    factors = [(names, np.ones([len(states[name]) for name in names])) for names, _ in factors_of(fit)]
    model = with_factors(fit, factors, sf.Schema(tuple(sf.Variable(name, s) for name, s in states.items())))
    found = certify(claim_of(fit, model=model))
    assert not found.ok
    assert "'A', whose states are not those of the statistics" in found.verdict


def test_a_base_that_was_not_given_is_found(fit: sf.Fit) -> None:
    extra = np.ones((2, 2))
    found = certify(claim_of(fit, model=with_factors(fit, [*factors_of(fit), (("A", "C"), np.ones((2, 3)))])))
    assert not found.ok
    assert "the support, which the margins do not ask for" in found.verdict
    two = [(("A", "D"), extra), (("A", "D"), extra)]
    found = certify(claim_of(fit, model=with_factors(fit, [*factors_of(fit), *two])))
    assert not found.ok
    assert "the base measure, which is not the one that was given" in found.verdict
    schema = fit.model.schema
    base = (LabelledTable((schema["A"], schema["D"]), extra, "h"),)
    found = certify(claim_of(fit, base=base))
    assert not found.ok
    assert "the base measure, which is not the one that was given" in found.verdict


def test_a_falling_trace_is_found(fit: sf.Fit) -> None:
    values = [step.objective for step in fit.trace]
    assert len(values) > 3
    falling = tuple(Step(i, v) for i, v in enumerate([values[0], values[2], values[1], *values[3:]], 1))
    found = certify(claim_of(fit, trace=falling))
    assert not found.ok
    assert "a step lowered the objective by" in found.verdict
    assert found.descent == pytest.approx((values[2] - values[1]) / max(map(abs, values)))
    assert certify(claim_of(fit, trace=falling, method="lbfgs")).ok  # which does not promise to rise


def test_a_drift_of_z_is_found(fit: sf.Fit) -> None:
    assert fit.certificate.z_drift is not None
    assert fit.certificate.z_drift < 1e-10
    assert certify(claim_of(fit, diagnostics={"log_z": math.log(36)})).ok
    found = certify(claim_of(fit, diagnostics={"log_z": math.log(36) + 1e-6}))
    assert not found.ok
    assert "log Z changed by 1e-06" in found.verdict
    scaled = [(names, values * 1.001) for names, values in factors_of(fit)]
    assert certify(claim_of(fit, model=with_factors(fit, scaled))).ok  # the same distribution
    assert not certify(claim_of(fit, model=with_factors(fit, scaled), diagnostics={"log_z": math.log(36)})).ok


# The support --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def on_the_boundary() -> sf.Fit:
    data = sf.Contingency(HABERMAN, {name: ["0", "1"] for name in "ABC"})
    return sf.fit(sf.Cliques("A:B + B:C + A:C"), data, method="newton")


def test_the_support_of_an_extended_estimate_is_certified(on_the_boundary: sf.Fit) -> None:
    found = certify(claim_of(on_the_boundary))
    assert found.ok, found.verdict
    assert found.exists == "no"
    assert found.claim == "maximum likelihood, in the limit on the boundary"
    assert "2 fitted cells are zero (A='0', B='0', C='0'; A='1', B='1', C='1')" in found.boundary


@pytest.mark.parametrize("cell", [(0, 0, 1), (0, 0, 0)])
def test_a_support_with_a_cell_too_few_or_too_many_is_found(on_the_boundary: sf.Fit, cell: tuple[int, ...]) -> None:
    factors = factors_of(on_the_boundary)
    factors[-1][1][cell] = 1 - factors[-1][1][cell]
    found = certify(claim_of(on_the_boundary, model=with_factors(on_the_boundary, factors)))
    assert not found.ok
    assert "the support, which is not the facial set" in found.verdict


def test_a_support_where_the_estimate_exists_is_found(fit: sf.Fit) -> None:
    mask = np.ones((2, 3, 3, 2))
    mask[0, 0, 0, 0] = 0
    for values in (mask, np.ones((2, 3, 3, 2))):
        model = with_factors(fit, [*factors_of(fit), (tuple("ABCD"), values)])
        found = certify(claim_of(fit, model=model))
        assert not found.ok
        assert "the support" in found.verdict


def test_a_mask_that_is_no_zeros_and_ones_is_found(on_the_boundary: sf.Fit) -> None:
    factors = factors_of(on_the_boundary)
    factors[-1][1][0, 0, 1] = 2.0
    case = Case(on_the_boundary.structure.cliques, dict.fromkeys("ABC", ("0", "1")), HABERMAN * 1.0)
    model = with_factors(on_the_boundary, factors)
    found = certify(claim_of(on_the_boundary, model=model, log_likelihood=own_log_likelihood(case, model)))
    assert not found.ok


# Existence ----------------------------------------------------------------------------------------------------


@given(cases(zeros=0.4, max_variables=3))
@settings(max_examples=40)
def test_existence_is_that_of_the_facial_set(case: Case) -> None:
    fit = case.fit()
    wanted = "yes" if case.facial_set.all() else "no"
    assert fit.certificate.exists == wanted
    assert bool(fit.certificate.boundary) == (wanted == "no")
    assert ("boundary" in fit.certificate.claim) == (wanted == "no")


def test_existence_of_a_large_model_with_a_zero_margin_is_denied() -> None:
    data = grid_data(6, 6, 2_000)
    data["v0_1"] = np.where(data["v0_0"] == 1, 1, data["v0_1"])
    fit = sf.fit(grid(6, 6), data)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "no"
    assert "v0_0='1', v0_1='0'" in fit.certificate.boundary.replace("=1", "='1'").replace("=0", "='0'")


def test_existence_of_a_large_decomposable_model_is_decided() -> None:
    rng = np.random.default_rng(0)
    chain = sf.Cliques([(f"v{i}", f"v{i + 1}") for i in range(59)])
    data = {f"v{i}": rng.integers(0, 2, 500) for i in range(60)}
    assert sf.fit(chain, data).certificate.exists == "yes"
    data["v1"] = data["v0"]
    fit = sf.fit(chain, data)
    assert fit.certificate.exists == "no"
    assert fit.n_free_adjusted == fit.n_free - 2


# Divergences --------------------------------------------------------------------------------------------------


@given(cases(zeros=0.2, max_variables=3), st.sampled_from([{}, {"prior": sf.BDeu(2)}, {"prior": sf.Gaussian(1.0)}]))
@settings(max_examples=30)
def test_divergence_and_pythagoras_are_those_of_the_tables(case: Case, keywords: dict[str, Any]) -> None:
    fit = case.fit(**keywords)
    m, p = case.table / case.table.sum(), case.joint(fit.model)
    seen = m > 0
    kl = math.fsum(m[seen] * np.log(m[seen] / p[seen]))
    assert fit.certificate.kl == pytest.approx(kl, abs=1e-10)
    if keywords:
        assert fit.certificate.pythagoras is None
        return
    cells = case.table.size
    to_uniform = math.fsum(m[seen] * np.log(m[seen] * cells))
    of_model = math.fsum(p[p > 0] * np.log(p[p > 0] * cells))
    assert fit.certificate.pythagoras is not None
    assert fit.certificate.pythagoras == pytest.approx(abs(to_uniform - kl - of_model), abs=1e-9)
    assert fit.certificate.pythagoras < 1e-6


def test_pythagoras_fails_off_the_optimum(fit: sf.Fit) -> None:
    factors = factors_of(fit)
    factors[0][1][0, 0] *= 1.1
    found = certify(claim_of(fit, model=with_factors(fit, factors)))
    assert found.pythagoras is not None
    assert found.pythagoras > 1e-4


# Kinks --------------------------------------------------------------------------------------------------------


def test_first_order_condition_at_a_kink_allows_slopes_within_the_bounds_only() -> None:
    structure = sf.Cliques("A")
    schema = sf.Schema((sf.Variable("A", ("x", "y")),))
    layout = layout_of(structure, schema)
    at_kink = np.zeros(2)
    for gap, inside in ((0.01, True), (0.099, True), (0.101, False), (0.3, False)):
        left = residual_under_penalty(sf.Laplace(1.0), layout, at_kink, np.array([gap, -gap]), 10.0)
        assert (np.abs(left).max() < 1e-10) == inside
        if not inside:
            assert np.abs(left).max() == pytest.approx(gap - 0.1)
    off = residual_under_penalty(sf.Laplace(1.0), layout, np.array([1.0, -1.0]), np.array([-0.1, 0.1]), 10.0)
    np.testing.assert_allclose(off, 0.0, atol=1e-12)
    other = residual_under_penalty(sf.Laplace(1.0), layout, np.array([1.0, -1.0]), np.array([0.1, -0.1]), 10.0)
    assert np.abs(other).max() == pytest.approx(0.2)
