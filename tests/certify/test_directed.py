"""Certificates of Bayesian networks: every correct fit is accepted, and every model that is a little off is not."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learn.test_directed import CHAIN, CHAIN_DAG, Case, cases
from tests.learn.test_sparse import sparse

import suffice as sf
from suffice.certify.claim import Claim
from suffice.families.proof import certify
from suffice.models.cpds.tabular import TabularCPD
from suffice.models.cpds.tabular_kind import TabularKind

WAYS: list[dict[str, Any]] = [
    {"unseen_parents": "nan"},
    {"unseen_parents": "uniform"},
    {"prior": sf.BDeu(3)},
    {"prior": sf.K2(), "point": "map", "unseen_parents": "uniform"},
    {"prior": sf.Dirichlet(2.5), "point": "map"},
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
    )
    return dataclasses.replace(claim, **changes)


def with_cpd(fit: sf.Fit, node: str, cpd: TabularCPD) -> sf.BayesianNetwork:
    tables = {name: fit.model.cpd(name) for name in fit.model.variables}
    return sf.BayesianNetwork(fit.model.dag, {**tables, node: cpd})


def perturbed(fit: sf.Fit, node: str, row: int, state: int, by: float = 0.001) -> sf.BayesianNetwork | None:
    """Return the model with one row moved towards one state and renormalised, or None where that changes nothing."""
    cpd = fit.model.cpd(node)
    values = np.array(cpd.values)
    values[row, state] += by
    values[row] /= values[row].sum()
    if not np.abs(values - cpd.values)[row].max() > 1e-6:
        return None
    return with_cpd(fit, node, TabularCPD(cpd.family, values, cpd.configurations, cpd.default_row))


def own_log_likelihood(model: sf.BayesianNetwork, statistics: sf.Statistics) -> float:
    """Return the changed model's own log-likelihood, so that the claim is false in nothing but its point."""
    return sum(cpd.log_likelihood(statistics[sf.Count(cpd.family.scope)]) for cpd in model.cpds)


def rows_with_data(fit: sf.Fit, node: str) -> Iterator[int]:
    _, m = fit.statistics[sf.Count(fit.model.cpd(node).family.scope)].rows()
    yield from np.flatnonzero(m.sum(axis=1) > 0).tolist()


def perturbations(fit: sf.Fit, fixed: Any = None) -> Iterator[tuple[str, int, Claim]]:
    for node in fit.model.variables:
        for row in rows_with_data(fit, node):
            for state in range(fit.model.cpd(node).values.shape[1]):
                model = perturbed(fit, node, row, state)
                if model is not None:
                    value = own_log_likelihood(model, fit.statistics)
                    yield node, row, claim_of(fit, model=model, log_likelihood=value, fixed=fixed or {})


@given(cases(), st.sampled_from(WAYS), st.booleans())
@settings(max_examples=60)
def test_correct_fits_are_certified_and_perturbed_ones_are_not(
    case: Case, keywords: dict[str, Any], thin: bool
) -> None:
    with sparse() if thin else nullcontext():
        fit = case.fit(**keywords)
        assert fit.certificate.ok, fit.certificate.verdict
        assert fit.certificate.gradient_norm <= 1e-12
        assert fit.certificate.normalisation <= 1e-12
        assert certify(claim_of(fit)).ok
        for node, row, claim in perturbations(fit):
            found = certify(claim)
            assert not found.ok, (node, row)
            assert found.gradient_norm > 1e-8
            assert repr(node) in found.worst
            assert found.log_likelihood_gap <= 1e-12


def test_property_above_has_something_to_perturb() -> None:
    fit = sf.fit(sf.DAG("A -> B"), {"A": list("xxyy"), "B": list("uvuu")})
    assert len(list(perturbations(fit))) == 2 + 2 + 1


def test_certificate_measures_the_size_of_the_violation() -> None:
    fit = sf.fit(sf.DAG("A"), {"A": ["x"] * 5 + ["y"] * 5})
    cpd = TabularCPD(fit.model.cpd("A").family, np.array([[0.51, 0.49]]))
    found = certify(claim_of(fit, model=with_cpd(fit, "A", cpd)))
    assert found.gradient_norm == pytest.approx(0.01, rel=1e-9)
    assert "0.01" in found.verdict
    assert "'A'" in found.verdict
    assert certify(claim_of(fit, model=with_cpd(fit, "A", cpd), tol=0.1)).gradient_norm == found.gradient_norm


@pytest.mark.parametrize("prior", [sf.BDeu(4), sf.Dirichlet(2)])
def test_rows_that_only_the_prior_determines_are_certified_too(prior: Any) -> None:
    schema = {"A": ["x", "y"], "B": ["u", "v"]}
    fit = sf.fit(sf.DAG("A -> B"), {"A": ["x"], "B": ["u"]}, schema=schema, prior=prior)
    model = perturbed(fit, "B", 1, 0)
    assert model is not None
    assert not certify(claim_of(fit, model=model)).ok


def test_a_default_row_that_only_the_prior_determines_is_certified_too() -> None:
    schema = {"A": ["x", "y"], "B": ["u", "v"]}
    with sparse():
        fit = sf.fit(sf.DAG("A -> B"), {"A": ["x"], "B": ["u"]}, schema=schema, prior=sf.BDeu(4))
        cpd = fit.model.cpd("B")
        wrong = TabularCPD(cpd.family, cpd.values, cpd.configurations, np.array([0.9, 0.1]))
        assert not certify(claim_of(fit, model=with_cpd(fit, "B", wrong))).ok


def test_claiming_another_point_is_rejected() -> None:
    fit = sf.fit(sf.DAG("A -> B"), {"A": list("xxyyy"), "B": list("uvuuv")}, prior=sf.Dirichlet(2))
    assert certify(claim_of(fit)).ok
    assert not certify(claim_of(fit, point="map")).ok
    assert not certify(claim_of(fit, point="mle", prior=None)).ok
    assert not certify(claim_of(fit, prior=sf.Dirichlet(2.001))).ok


def test_an_unknown_row_with_data_is_rejected() -> None:
    fit = sf.fit(sf.DAG("A -> B"), {"A": list("xxyy"), "B": list("uvuv")})
    cpd = TabularCPD(fit.model.cpd("B").family, np.array([[0.5, 0.5], [np.nan, np.nan]]))
    for claimed in (fit.log_likelihood, math.nan):
        found = certify(claim_of(fit, model=with_cpd(fit, "B", cpd), log_likelihood=claimed))
        assert not found.ok
        assert found.gradient_norm == math.inf


@pytest.mark.parametrize("unknown", ["A", "B", "C"])
def test_a_residual_that_is_not_a_number_is_rejected(unknown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = sf.fit(sf.DAG("A -> B -> C"), {"A": list("xxyy"), "B": list("uvuv"), "C": list("stts")})
    measure = TabularKind.residual

    def residual(kind: TabularKind, cpd: TabularCPD, *more: Any) -> float:
        return math.nan if cpd.family.child.name == unknown else measure(kind, cpd, *more)

    monkeypatch.setattr(TabularKind, "residual", residual)
    found = certify(claim_of(fit))
    assert not found.ok
    assert found.gradient_norm == math.inf
    assert found.worst == f"node {unknown!r}"


def test_a_row_without_data_that_misses_its_total_is_rejected() -> None:
    schema = {"A": ["x", "y"]}
    fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x"], "B": ["u", "v"]}, schema=schema, unseen_parents="uniform")
    cpd = TabularCPD(fit.model.cpd("B").family, fit.model.cpd("B").values)
    object.__setattr__(cpd, "values", np.array([[0.5, 0.5], [0.5, 0.5 + 1e-6]]))  # which no one could build
    found = certify(claim_of(fit, model=with_cpd(fit, "B", cpd)))
    assert found.gradient_norm == 0
    assert found.normalisation == pytest.approx(1e-6, rel=1e-6)
    assert not found.ok
    assert "misses its total of one" in found.verdict


@pytest.mark.parametrize("factor", [1 + 1e-6, 1 - 1e-6, 2, 0, math.nan, math.inf])
def test_changed_log_likelihood_is_rejected(factor: float) -> None:
    fit = sf.fit(sf.DAG("A -> B"), {"A": list("xxyy") * 9, "B": list("uvuu") * 9})
    found = certify(claim_of(fit, log_likelihood=fit.log_likelihood * factor))
    assert not found.ok
    assert "log-likelihood" in found.verdict
    assert found.log_likelihood == pytest.approx(fit.log_likelihood, rel=1e-13)


# Ties and fixed rows ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keywords", [{}, {"prior": sf.K2()}, {"prior": sf.Dirichlet(2), "point": "map"}])
def test_tied_fits_are_certified_and_perturbed_ones_are_not(keywords: dict[str, Any]) -> None:
    fit = sf.fit(CHAIN_DAG, CHAIN, **keywords)
    assert fit.certificate.ok
    tried = list(perturbations(fit))
    assert len(tried) == 2 + 3 * 4
    assert not any(certify(claim).ok for _, _, claim in tried)


def test_a_tied_network_with_each_nodes_own_estimate_is_rejected() -> None:
    free = sf.fit(sf.DAG("X0 -> X1 -> X2 -> X3"), CHAIN)
    assert not certify(claim_of(free, structure=CHAIN_DAG)).ok


FIXED: list[dict[str, Any]] = [
    {"B": {"y": [0.25, 0.75]}},
    {"B": [[0.5, 0.5], [0.25, 0.75]]},
    {"A": [0.5, 0.5]},
]


@pytest.mark.parametrize("fixed", FIXED)
@pytest.mark.parametrize("keywords", [{}, {"prior": sf.K2()}, {"prior": sf.Dirichlet(2), "point": "map"}])
def test_fits_with_fixed_rows_are_certified_and_perturbed_ones_are_not(fixed: Any, keywords: dict[str, Any]) -> None:
    fit = sf.fit(sf.DAG("A -> B"), {"A": list("xxyyy"), "B": list("uvuuv")}, fixed=fixed, **keywords)
    assert fit.certificate.ok
    tried = list(perturbations(fit, fixed))
    assert len(tried) == 2 + 4
    assert not any(certify(claim).ok for _, _, claim in tried)


def test_a_perturbed_fixed_row_without_data_is_rejected() -> None:
    fixed = {"B": {"y": [0.25, 0.75]}}
    schema = {"A": ["x", "y"], "B": ["u", "v"]}
    fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x"], "B": ["u", "v"]}, schema=schema, fixed=fixed)
    model = perturbed(fit, "B", 1, 0)
    assert model is not None
    assert not certify(claim_of(fit, model=model, fixed=fixed)).ok
    assert "given" in certify(claim_of(fit, model=model, fixed=fixed)).verdict


def test_a_perturbed_fixed_row_of_a_tie_is_rejected() -> None:
    fixed = {"X2": {"a": [0.25, 0.75]}}
    fit = sf.fit(CHAIN_DAG, CHAIN, fixed=fixed)
    for node in ("X1", "X2", "X3"):
        model = perturbed(fit, node, 0, 1)
        assert model is not None
        value = own_log_likelihood(model, fit.statistics)
        assert not certify(claim_of(fit, model=model, fixed=fixed, log_likelihood=value)).ok


# Many rows ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("total", [10**3, 10**6, 10**9])
def test_large_weights_are_certified_and_their_perturbations_are_not(total: int) -> None:
    weights = [total, total // 3, total // 7 + 1, 1]
    fit = sf.fit(sf.DAG("A -> B"), {"A": list("xxyy"), "B": list("uvuv")}, weights=weights)
    assert fit.n == sum(weights)
    assert fit.certificate.ok
    tried = list(perturbations(fit))
    assert len(tried) >= 4
    assert not any(certify(claim).ok for _, _, claim in tried)


def test_a_million_rows_are_certified_also_against_the_data() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 1_000_000)
    b = (a + rng.integers(0, 2, len(a))) % 3
    labels = np.array(["x", "y", "z"])
    fit = sf.fit(sf.DAG("A -> B"), {"A": labels[a], "B": labels[b]}, certify="data")
    assert fit.n == 1e6
    assert fit.certificate.ok
    assert fit.certificate.data_gap == 0
    assert fit.n_free_adjusted == 2 + 3


# The second pass over the data --------------------------------------------------------------------------------

ROWS = {"A": list("xxyyyx"), "B": list("uvuuvu")}
AB = sf.DAG("A -> B")


def corrupted(statistics: sf.Statistics, scope: tuple[str, ...], change: Any) -> sf.Statistics:
    """Return the statistics with one table of counts changed."""
    counts = statistics[sf.Count(scope)]
    table = np.array(counts.table())
    change(table)
    return dataclasses.replace(
        statistics, items_={**statistics.items_, sf.Count(scope): sf.Counts.dense(counts.variables, table)}
    )


def move_one(table: Any) -> None:
    table[0, 0] -= 1
    table[0, 1] += 1


def move_root(table: Any) -> None:
    table[0] -= 1
    table[1] += 1


def test_true_statistics_pass_the_second_count() -> None:
    stats = sf.collect(AB, ROWS)
    fit = sf.estimate(AB, stats, certify="data", data=ROWS)
    assert fit.certificate.ok
    assert fit.certificate.data_gap == 0
    assert sf.estimate(AB, stats).certificate.data_gap is None


@pytest.mark.parametrize(("scope", "change"), [(("A", "B"), move_one), (("A",), move_root)])
def test_corrupted_counts_fail_the_second_count_and_only_that(scope: tuple[str, ...], change: Any) -> None:
    wrong = corrupted(sf.collect(AB, ROWS), scope, change)
    assert sf.estimate(AB, wrong).certificate.ok
    found = sf.estimate(AB, wrong, certify="data", data=ROWS).certificate
    assert not found.ok
    assert found.data_gap is not None
    assert found.data_gap > 0.3
    assert "second count" in found.verdict
    assert " × ".join(scope) in found.verdict


def test_one_moved_row_of_a_million_fails_the_second_count() -> None:
    weights = [400_000, 100_000, 250_000, 249_997, 2, 1]
    stats = sf.collect(AB, ROWS, weights=weights)
    assert sf.estimate(AB, stats, certify="data", data=ROWS, weights=weights).certificate.ok
    wrong = corrupted(stats, ("A", "B"), move_one)
    assert not sf.estimate(AB, wrong, certify="data", data=ROWS, weights=weights).certificate.ok


def test_one_moved_row_of_ten_thousand_million_fails_the_second_count() -> None:
    """Whole counts are exact, so that the second count must be equal to the last row."""
    weights = [4_000_000_000, 1_000_000_000, 2_500_000_000, 2_499_999_997, 2, 1]
    wrong = corrupted(sf.collect(AB, ROWS, weights=weights), ("A", "B"), move_one)
    assert not sf.estimate(AB, wrong, certify="data", data=ROWS, weights=weights).certificate.ok


def test_real_weights_pass_the_second_count() -> None:
    weights = [0.1, 0.2, 0.3, 0.7, 1.1, 1e-3]
    found = sf.fit(AB, ROWS, weights=weights, certify="data").certificate
    assert found.ok
    assert found.data_gap is not None
    assert found.data_gap < 1e-14


def test_other_weights_and_other_rows_fail_the_second_count() -> None:
    stats = sf.collect(AB, ROWS)
    assert not sf.estimate(AB, stats, certify="data", data=ROWS, weights=[2] * 6).certificate.ok
    fewer = {name: values[:5] for name, values in ROWS.items()}
    assert not sf.estimate(AB, stats, certify="data", data=fewer).certificate.ok
    backwards = {name: values[::-1] for name, values in ROWS.items()}
    assert sf.estimate(AB, stats, certify="data", data=backwards).certificate.ok


def test_second_count_needs_the_data() -> None:
    with pytest.raises(sf.ArgumentError, match="data"):
        sf.estimate(AB, sf.collect(AB, ROWS), certify="data")


def test_second_count_with_dropped_rows() -> None:
    data = {"A": ["x", None, "y", "x"], "B": ["u", "v", None, "v"]}
    stats = sf.collect(AB, data, missing="drop")
    fit = sf.estimate(AB, stats, certify="data", data=data, missing="drop", unseen_parents="nan")
    assert fit.certificate.data_gap == 0
    assert fit.certificate.ok


# What it says -------------------------------------------------------------------------------------------------


def test_certificates_say_what_they_prove() -> None:
    mle = sf.fit(AB, ROWS).certificate
    assert (mle.claim, mle.exists) == ("maximum likelihood", "yes")
    assert mle.verdict.startswith("Certified: maximum likelihood")
    assert "\n" not in mle.verdict
    mean = sf.fit(AB, ROWS, prior=sf.K2()).certificate
    assert "no optimum" in mean.verdict
    assert "posterior mode" in sf.fit(AB, ROWS, prior=sf.K2(), point="map").certificate.verdict
    printed = str(sf.fit(AB, ROWS, certify="data").certificate)
    for text in ("normalisation", "log-likelihood", "second count"):
        assert text in printed


def test_certificate_html_escapes_names() -> None:
    name = "<script>alert(1)</script>"
    fit = sf.fit(sf.DAG([name]), {name: list("xxy")})
    model = perturbed(fit, name, 0, 0)
    page = certify(claim_of(fit, model=model))._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_a_model_whose_states_are_in_another_order_is_refused():
    """The same numbers under exchanged labels are another model."""
    data = {"A": ["x", "x", "y"], "B": ["u", "v", "v"]}
    fit = sf.fit(sf.DAG("A -> B"), data)
    tables = {node: fit.model.cpd(node).table.to_numpy() for node in "AB"}
    turned = sf.BayesianNetwork(fit.model.dag, tables, schema={"A": ["y", "x"], "B": ["v", "u"]})
    found = certify(claim_of(fit, model=turned))
    assert not found.ok
    assert "states" in found.worst
