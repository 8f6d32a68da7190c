"""Generalised iterative scaling: its constant, its slack, and that the likelihood never falls."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.learn.clique_cases import grid_data
from tests.learn.feature_cases import Case, cases

import suffice as sf
from suffice.learn import largest_sum as module
from suffice.learn.largest_sum import largest_sum
from suffice.models.feature_design import design_of

SLOW = 50_000


def constant_of(fit: sf.Fit) -> tuple[float, str]:
    """Return C as the fit's notes give it, and how it was found."""
    (note,) = [note.text for note in fit.notes if note.text.startswith("Scaled by C")]
    found = re.fullmatch(r"Scaled by C = (\S+), (.*)\.", note)
    assert found is not None
    return float(found[1]), found[2]


@given(cases())
@settings(max_examples=40)
def test_the_likelihood_never_falls(case: Case) -> None:
    fit = case.fit(method="gis", max_iter=300)
    objectives = [step.objective for step in fit.trace]
    start = case.total * -math.log(len(case.values))
    assert all(b >= a - 1e-12 * abs(a) for a, b in pairwise([start, *objectives]))
    assert fit.certificate.descent == pytest.approx(0, abs=1e-12)


@given(cases())
@settings(max_examples=40)
def test_its_constant_is_the_largest_sum_of_features_in_units_of_their_range(case: Case) -> None:
    free = np.ptp(case.values, axis=0) > 0
    if not free.any() or not free.all():
        return
    fit = case.fit(method="gis", max_iter=1)
    schema = fit.model.schema
    # Features are taken from a lower bound, which tied and sliding ones need not reach, in units of what they do reach.
    low, _ = design_of(case.structure, schema).bounds()
    wanted = ((case.values - low) / np.ptp(case.values, axis=0)).sum(axis=1).max()
    assert constant_of(fit)[0] == pytest.approx(float(wanted), rel=1e-5)


def test_two_steps_by_hand_with_slack() -> None:
    # f₁ = 1[a], f₂ = 1[a, b]: Σ f is 0, 1 or 2, so that C = 2 and the slack is 2 − Σ f.
    rows = {"a": [1, 1, 1, 0, 0], "b": [1, 0, 0, 1, 0]}
    structure = sf.Features([sf.indicator(a=1), sf.indicator(a=1, b=1)])
    f = np.array([[0, 0], [0, 0], [1, 0], [1, 1]], float)
    with_slack = np.column_stack([f, 2 - f.sum(axis=1)])
    wanted = np.array([3 / 5, 1 / 5, 2 - 4 / 5])
    w = np.zeros(3)
    for steps in (1, 2):
        p = np.exp(with_slack @ w) / np.exp(with_slack @ w).sum()
        w = w + np.log(wanted / (p @ with_slack)) / 2
        p = np.exp(with_slack @ w) / np.exp(with_slack @ w).sum()
        fit = sf.fit(structure, rows, method="gis", max_iter=steps)
        found = fit.model.query(["a", "b"]).values.ravel()
        np.testing.assert_allclose(found, p, rtol=1e-12)


def test_negative_features_are_shifted() -> None:
    rows = {"n": [-3, -1, 2, 2, -3, -1, -1], "s": [-1, 1, 1, -1, -1, 1, -1]}
    structure = sf.Features([sf.product("n"), sf.product("n", "s"), sf.product("s", name="spin")])
    fit = sf.fit(structure, rows, method="gis", max_iter=SLOW)
    assert fit.certificate.ok, fit.certificate.verdict
    np.testing.assert_allclose(fit.model.log_prob(rows), sf.fit(structure, rows).model.log_prob(rows), atol=1e-6)


def test_features_whose_sum_is_constant_need_no_slack() -> None:
    rows = {"A": list("xxyyz"), "B": list("uvuvv")}
    fit = sf.fit(sf.Features([sf.indicators("A"), sf.indicators("B")]), rows, method="gis")
    assert constant_of(fit)[0] == 2
    assert fit.certificate.ok
    independent = sf.fit(sf.Cliques("A + B"), rows)
    np.testing.assert_allclose(fit.model.log_prob(rows), independent.model.log_prob(rows), atol=1e-7)


def test_one_exponential_feature_of_one_scope_is_found_in_one_step() -> None:
    fit = sf.fit(sf.Features([sf.indicators("A")]), {"A": list("xxxyyz")}, method="gis")
    assert len(fit.trace) == 1
    np.testing.assert_allclose(fit.model.query("A").values, [1 / 2, 1 / 3, 1 / 6])


@pytest.mark.parametrize("n_states", [2, 3])
def test_the_largest_sum_by_max_product_is_that_of_the_table(n_states: int, monkeypatch: Any) -> None:
    rng = np.random.default_rng(n_states)
    names = [f"v{i}" for i in range(6)]
    scopes = [names[i : i + 3] for i in range(4)] + [[names[0], names[5]]]
    tables = {tuple(scope): rng.normal(size=(n_states,) * len(scope)) for scope in scopes}
    specs = [
        sf.feature(lambda *x, table=table: table[x], over=scope, name=str(k))
        for k, (scope, table) in enumerate(tables.items())
    ]
    schema = sf.Schema(tuple(sf.Variable(name, tuple(range(n_states))) for name in names))
    design = design_of(sf.Features(specs, variables=names), schema)
    allowed = np.ones(design.layout.n, bool)
    allowed[rng.integers(0, design.layout.n, 6)] = False
    weights = np.ones(design.n_weights)
    exact, how = largest_sum(design, weights, allowed, 0.0)
    assert how == "the largest sum of features"
    monkeypatch.setattr(module, "TABLE_CELLS", 1)
    other, how = largest_sum(design, weights, allowed, 0.0)
    assert "max-product" in how
    assert other == pytest.approx(exact, rel=1e-8)
    assert other >= exact


def test_a_grid_is_scaled_by_what_max_product_finds() -> None:
    edges = [(f"v{i}_{j}", f"v{i}_{j + 1}") for i in range(5) for j in range(4)]
    edges += [(f"v{i}_{j}", f"v{i + 1}_{j}") for i in range(4) for j in range(5)]
    fit = sf.fit(sf.Boltzmann(edges), grid_data(5, 5, 500), method="gis", max_iter=3)
    assert constant_of(fit) == (pytest.approx(65, rel=1e-6), "the largest sum of features, by max-product")
    assert fit.certificate.descent == 0


def test_conditional_models_are_scaled_by_what_their_inputs_reach() -> None:
    rows = {"x": [0.5, 2.0, 3.5, 1.0, 0.0], "y": list("abbab")}
    structure = sf.Features([sf.indicator(y="b"), sf.product("x", sf.indicator(y="b"))], given=["x"])
    fit = sf.fit(structure, rows, method="gis", max_iter=SLOW)
    assert constant_of(fit)[0] == pytest.approx(2)  # y=b at the largest x
    assert fit.certificate.ok, fit.certificate.verdict
    objectives = [step.objective for step in fit.trace]
    assert all(b >= a - 1e-12 * abs(a) for a, b in pairwise(objectives))


def test_tied_features_are_matched_as_closely_as_the_certificate_asks() -> None:
    structure = sf.Features([sf.product("n"), sf.indicator(A="a", n=0)], tie={"common": ["n", "A=a & n=0"]})
    table = sf.Contingency(np.array([[40, 13, 1]]), {"A": ["a"], "n": [0, 1, 2]})
    fit = sf.fit(structure, table, method="gis")
    assert fit.certificate.ok, fit.certificate.verdict
