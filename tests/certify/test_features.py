"""Certificates of log-linear models: right fits pass along another path, tampered ones fail and say where."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learn.feature_cases import Case, cases

import suffice as sf
from suffice.certify.claim import Claim
from suffice.certify.weight_residual import prior_slopes
from suffice.families.proof import certify

ROWS = {
    "A": list("xxyyxyxxyx"), "B": list("uvuvvuuvvu"), "C": list("pqpqqpppqq"),
    "x": [0.1, 0.9, 0.4, 0.7, 0.35, 0.2, 0.8, 0.55, 0.65, 0.3],
}  # fmt: skip
JOINT = sf.Features([sf.indicator(A="x"), sf.indicator(A="x", B="u"), sf.indicators("B", "C", reference=True)])
CONDITIONAL = sf.Features([sf.indicator(A="x"), sf.product("x", sf.indicator(A="x"))], given=["x"])
DENSITY = sf.Features(
    [sf.product("x"), sf.product("x", sf.indicator(A="x")), sf.indicator(A="x")], support={"x": (0, 1)}
)
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "joint": (JOINT, {}),
    "pseudo-likelihood": (JOINT, {"method": "pseudo_likelihood"}),
    "penalised": (JOINT, {"prior": sf.Gaussian(1.0)}),
    "lasso": (JOINT, {"prior": sf.Laplace(0.5)}),
    "conditional": (CONDITIONAL, {}),
    "conditional penalised": (CONDITIONAL, {"prior": sf.Gaussian(1.0)}),
    "density": (DENSITY, {}),
}
kinds = pytest.mark.parametrize("kind", KINDS)


def fitted(kind: str) -> sf.Fit:
    structure, options = KINDS[kind]
    return sf.fit(structure, {name: ROWS[name] for name in structure.columns}, **options)


def claim_of(fit: sf.Fit, **changes: Any) -> Claim:
    claim = Claim(
        structure=fit.structure,
        model=fit.model,
        statistics=fit.statistics,
        log_likelihood=fit.log_likelihood,
        point=fit.point,
        prior=fit.prior,
        posterior=None,
        fixed={},
        source=None,
        tol=1e-8,
        method=fit.method,
    )
    return dataclasses.replace(claim, **changes)


def with_weights(fit: sf.Fit, weights: Any) -> Any:
    """Return the model with other weights, all else alike."""
    model = fit.model
    keep = {
        name: getattr(model, name)
        for name in ("base", "support", "placement")
        if hasattr(model, name) and not isinstance(model, sf.ConditionalLogLinear)
    }
    return type(model)(model.features, weights, schema=model.schema, **keep)


# Right and wrong ----------------------------------------------------------------------------------------------


@kinds
def test_the_fit_is_certified_anew(kind: str) -> None:
    fit = fitted(kind)
    assert fit.certificate.ok, fit.certificate.verdict
    again = certify(claim_of(fit))
    assert again.ok, again.verdict
    assert again.log_likelihood == pytest.approx(fit.log_likelihood, rel=1e-9)


@kinds
@pytest.mark.parametrize("size", [1e-4, -0.5])
def test_every_weight_that_is_tampered_with_is_noticed(kind: str, size: float) -> None:
    fit = fitted(kind)
    assert len(fit.model.weights)
    for place, name in enumerate(fit.model.weights):
        weights = np.array(fit.model.weights.to_numpy())
        weights[place] += size
        found = certify(claim_of(fit, model=with_weights(fit, weights)))
        assert not found.ok
        assert found.gradient_norm > abs(size) * 1e-3
        assert "feature" in found.verdict, name


@pytest.mark.parametrize("kind", ["penalised", "conditional penalised"])
def test_the_curvature_of_a_prior_is_that_of_its_slope(kind: str) -> None:
    fit = fitted(kind)
    weights, main = fit.model.weights.to_numpy(), np.zeros(len(fit.model.weights), bool)
    slopes, rows = prior_slopes(claim_of(fit), weights, main)
    steps = [prior_slopes(claim_of(fit), weights + step, main)[0] - slopes for step in np.eye(len(weights))]
    np.testing.assert_allclose(rows.T @ rows, steps, atol=1e-14)


@kinds
def test_a_false_log_likelihood_is_noticed(kind: str) -> None:
    fit = fitted(kind)
    found = certify(claim_of(fit, log_likelihood=fit.log_likelihood * (1 + 1e-5)))
    assert not found.ok
    assert "log-likelihood, recomputed" in found.verdict


@kinds
def test_weights_of_other_features_are_noticed(kind: str) -> None:
    fit = fitted(kind)
    given = {"given": fit.structure.given, "support": dict(fit.structure.support)}
    other = sf.Features([*fit.structure.specs, sf.indicator(A="y")], **given)
    model = type(fit.model)(other, [*fit.model.weights.to_numpy(), 0.0], schema=fit.model.schema)
    found = certify(claim_of(fit, model=model))
    assert not found.ok
    assert "not those of the features" in found.verdict


@given(cases(), st.integers(0, 100), st.sampled_from([1e-3, -0.2, 3.0]))
@settings(max_examples=40)
def test_a_changed_weight_fails_wherever_it_changes_the_distribution(case: Case, place: int, size: float) -> None:
    fit = case.fit()
    weights = np.array(fit.model.weights.to_numpy())
    weights[place % len(weights)] += size
    found = certify(claim_of(fit, model=with_weights(fit, weights)))
    spread = np.ptp(case.values, axis=0)  # a multiple of ½; the gap of a constant feature is only rounding
    gap = np.abs(case.joint_at(weights) @ case.values - case.targets) / np.where(spread > 0, spread, 1.0)
    assert found.ok == bool(gap.max() < 1e-8)


# The joint model ----------------------------------------------------------------------------------------------


def test_a_base_measure_that_was_not_given_is_noticed() -> None:
    fit = fitted("joint")
    table = sf.LabelledTable((fit.model.schema["A"],), np.array([0.5, 2.0]), "h")
    model = sf.LogLinear(fit.structure, fit.model.weights, schema=fit.model.schema, base=(table,))
    found = certify(claim_of(fit, model=model))
    assert not found.ok
    assert "base measure" in found.verdict
    assert not certify(claim_of(fit, base=(table,))).ok


def test_other_states_are_noticed() -> None:
    fit = fitted("joint")
    schema = sf.Schema(
        tuple(sf.Variable(v.name, v.labels[::-1]) if v.name == "A" else v for v in fit.model.schema.variables)
    )
    found = certify(claim_of(fit, model=sf.LogLinear(fit.structure, fit.model.weights, schema=schema)))
    assert not found.ok
    assert "'A', whose states" in found.verdict


def limit() -> sf.Fit:
    """Return a fit whose support leaves a cell out."""
    rows = {"A": list("xxyyy"), "B": list("vvuvu")}
    return sf.fit(sf.Features([sf.indicators("A", "B")]), rows)


def test_a_support_that_is_too_wide_is_noticed() -> None:
    fit = limit()
    assert fit.certificate.ok
    weights = np.where(np.isinf(fit.model.weights.to_numpy()), -40.0, fit.model.weights.to_numpy())
    found = certify(claim_of(fit, model=sf.LogLinear(fit.structure, weights, schema=fit.model.schema)))
    assert found.exists != "yes"


def test_a_support_that_is_too_narrow_is_noticed() -> None:
    fit = limit()
    table = fit.model.support[0]
    narrow = np.array(table.values)
    narrow[np.unravel_index(np.argmax(narrow), narrow.shape)] = 0.0
    model = sf.LogLinear(
        fit.structure,
        fit.model.weights,
        schema=fit.model.schema,
        support=[sf.LabelledTable(table.variables, narrow, "h")],
    )
    found = certify(claim_of(fit, model=model))
    assert not found.ok


def test_a_support_under_a_prior_is_noticed() -> None:
    fit, other = limit(), sf.fit(limit().structure, {"A": list("xxyyy"), "B": list("vvuvu")}, prior=sf.Gaussian(1.0))
    weights = other.model.weights.to_numpy()
    model = sf.LogLinear(fit.structure, weights, schema=fit.model.schema, support=fit.model.support)
    assert not certify(claim_of(other, model=model)).ok


def test_zeros_under_a_support_are_noticed_where_no_weight_is_infinite() -> None:
    fit = fitted("joint")
    table = sf.LabelledTable((fit.model.schema["A"], fit.model.schema["C"]), np.array([[1.0, 1], [1, 0]]), "h")
    model = sf.LogLinear(fit.structure, fit.model.weights, schema=fit.model.schema, support=[table])
    assert not certify(claim_of(fit, model=model)).ok


def test_a_falling_step_of_a_method_that_never_falls_is_noticed() -> None:
    fit = sf.fit(JOINT, ROWS, method="gis", max_iter=20_000)
    assert fit.certificate.ok, fit.certificate.verdict
    first, second, *rest = fit.trace
    trace = (
        dataclasses.replace(first, objective=second.objective),
        dataclasses.replace(second, objective=first.objective),
        *rest,
    )
    found = certify(claim_of(fit, trace=trace))
    assert not found.ok
    assert "lowered the objective" in found.verdict


def test_statistics_of_other_data_are_noticed() -> None:
    fit = fitted("joint")
    other = {**ROWS, "A": list("xxyyxyxxyy")}
    found = certify(claim_of(fit, statistics=sf.collect(JOINT, other)))
    assert not found.ok


def test_a_second_count_of_other_data_is_noticed() -> None:
    statistics = sf.collect(JOINT, ROWS)
    other = {**{name: ROWS[name] for name in "ABC"}, "B": list("uvuvvuuvuu")}
    fit = sf.estimate(JOINT, statistics, data=other, certify="data")
    assert not fit.certificate.ok
    assert "second count" in fit.certificate.verdict


# Large models -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chain() -> sf.Fit:
    rng = np.random.default_rng(0)
    names = [f"v{i}" for i in range(40)]
    rows = {name: rng.integers(0, 2, 400) for name in names}
    return sf.fit(sf.Ising([*itertools.pairwise(names), ("v0", "v39")]), rows)


def test_a_model_beyond_any_table_is_certified(chain: sf.Fit) -> None:
    assert chain.certificate.ok, chain.certificate.verdict
    assert chain.certificate.exists == "yes"
    assert chain.certificate.dual is not None
    assert chain.certificate.kl is None


@pytest.mark.parametrize("name", ["v0", "v39", "v0:v39", "v17:v18"])
def test_one_changed_weight_among_many_is_noticed(chain: sf.Fit, name: str) -> None:
    weights = {**chain.model.weights, name: chain.model.weights[name] + 1e-4}
    found = certify(claim_of(chain, model=with_weights(chain, weights)))
    assert not found.ok


def test_a_support_of_a_large_model_that_costs_mass_is_noticed(chain: sf.Fit) -> None:
    schema = chain.model.schema
    table = sf.LabelledTable((schema["v0"], schema["v1"]), np.array([[1.0, 1], [1, 0]]), "h")
    model = sf.LogLinear(chain.structure, chain.model.weights, schema=schema, support=[table])
    assert not certify(claim_of(chain, model=model)).ok


def test_infinite_weights_need_a_support(chain: sf.Fit) -> None:
    weights = {**chain.model.weights, "v0:v1": math.inf}
    with pytest.raises(sf.ModelError, match="'v0:v1' is infinite"):
        with_weights(chain, weights)
