"""Weights are certified by the nats that a Newton step would gain, so that rare classes, labels and features count."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from tests.audit.families import FAMILIES
from tests.audit.family import audit_family, certify_as_claimed, fits_kept
from tests.models.chain_twin import Toy

import suffice as sf
from suffice.certify.claim import Claim
from suffice.families.proof import certify
from suffice.models.cpds.softmax import SoftmaxCPD
from suffice.priors.elastic import Elastic
from suffice.structures.label_chain import LabelChain, LocalChain

WEIGHTS = np.array([5e8, 4e8, 6e8, 5e8, 2, 3.0])


def claim_of(call: Any, *args: Any, **keywords: Any) -> tuple[Claim, Any]:
    """Return what a fit claims, and what the call returned."""
    with fits_kept() as held:
        found = call(*args, **keywords)
    return held[-1][0], found


def assert_refused(claim: Claim, model: Any, where: str) -> None:
    """Assert that a changed model is refused by its decrement, although its gap is within the tolerance."""
    found = certify_as_claimed(claim, model)
    assert not found.ok
    assert found.gradient_norm <= claim.tol
    assert found.decrement is not None
    assert found.decrement > 1
    assert "a Newton step would still raise the objective by" in found.verdict
    assert where in found.verdict


def rare_class(**options: Any) -> tuple[Claim, Any]:
    shell = sf.SoftmaxRegression(**options)
    return claim_of(shell.fit, np.array([[0.0], [1.0]] * 3), list("aabbcc"), sample_weight=WEIGHTS)


@pytest.mark.parametrize("options", [{}, {"penalty": "l2", "strength": 1e-3}, {"penalty": "l1", "strength": 1e-3}])
def test_the_intercept_of_a_rare_class_counts(options: dict[str, Any]) -> None:
    claim, _ = rare_class(**options)
    assert certify(claim).ok
    intercept = np.array(claim.model.intercept)
    intercept[2] += 0.7
    assert_refused(claim, dataclasses.replace(claim.model, intercept=intercept, information=None), "intercept for 'c'")


@pytest.mark.parametrize("method", ["newton", "lbfgs"])
def test_searches_go_on_until_little_is_left_to_gain(method: str) -> None:
    claim, shell = rare_class(method=method, tol=1e-3)
    assert shell.fit_.certificate.ok, shell.fit_.certificate.verdict
    assert certify(claim).decrement < 1e-4


def test_many_terms_are_judged_by_products() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(600, 120)), rng.integers(0, 4, 600)  # more parameters than are written out
    claim, _ = claim_of(sf.SoftmaxRegression("l2").fit, x, y)
    assert certify(claim).ok
    weights = np.array(claim.model.weights)
    weights[7, 2] += 0.05
    found = certify_as_claimed(claim, dataclasses.replace(claim.model, weights=weights))
    p = np.exp(claim.model.log_posteriors_of({v.name: x[:, i] for i, v in enumerate(claim.model.inputs)}, len(x)))
    curvature = float((x[:, 7] ** 2 * p[:, 2] * (1 - p[:, 2])).sum()) + 1.0
    assert found.decrement == pytest.approx(0.05**2 * curvature / 2, rel=0.2)
    assert not found.ok


def test_the_intercept_of_a_rare_state_of_a_node_counts() -> None:
    data = {"x": [0.0, 1.0] * 3, "y": list("aabbcc")}
    claim, _ = claim_of(sf.fit, sf.DAG("x -> y"), data, weights=WEIGHTS)
    assert certify(claim).ok
    cpd = claim.model.cpd("y")
    moved = SoftmaxCPD(cpd.family, cpd.intercept + np.array([0.0, 0.0, 0.7]), cpd.coefficients)
    model = sf.BayesianNetwork(claim.model.dag, {"x": claim.model.cpd("x"), "y": moved})
    assert_refused(claim, model, "node 'y', the intercept for 'c'")


@pytest.mark.parametrize("kind", [LabelChain, LocalChain])
def test_a_rare_label_of_a_chain_counts(kind: type[LabelChain]) -> None:
    states = [[[(0, 1.0)], [(1, 1.0)]] for _ in range(6)]
    labels = [[0, 1], [1, 0], [0, 0], [1, 1], [2, 2], [2, 0]]
    toy = Toy(3, states, labels, None, [*(WEIGHTS[:4]), 2.0, 3.0], n_attributes=2)
    claim, _ = claim_of(sf.fit, toy.structure(kind), toy.table, prior=Elastic(c2=1e-3), tol=1e-6)
    assert certify(claim).ok, certify(claim).verdict
    place = next(
        i
        for i in range(claim.model.layout.size)
        if claim.model.layout.names(i, claim.structure, "abc") == "'x0' with 'c'"
    )
    weights = np.array(claim.model.weights)
    weights[place] += 1.5
    assert_refused(claim, dataclasses.replace(claim.model, weights=weights), "'c'")


def graph_claim() -> Claim:
    rng = np.random.default_rng(0)
    grids = [sf.Graph.grid(rng.normal(size=(2, 2)).tolist(), directed=False) for _ in range(6)]
    labels = [[["i", "p"][int(b)] for b in rng.random(4) < 0.5] for _ in grids]
    return claim_of(sf.GraphCRF(c2=0.5, tol=1e-8).fit, grids, labels)[0]


def test_units_of_a_graph_crf_are_those_of_the_data() -> None:
    claim = graph_claim()
    assert certify(claim).ok
    weights, units = np.array(claim.model.weights), np.array(claim.model.units) * 1e9
    weights[0] += 0.5
    found = certify_as_claimed(claim, dataclasses.replace(claim.model, weights=weights, units=units))
    assert not found.ok
    assert found.gradient_norm > 1e-3
    assert found.decrement > 0.1
    stretched = certify(dataclasses.replace(claim, model=dataclasses.replace(claim.model, units=units)))
    assert not stretched.ok
    assert "the units of the attributes" in stretched.verdict


QUASI = np.array(
    [[0, 1, 0], [1, 0, -2], [-1, 0, 1], [1, 1, 0], [1, -1, 0], [0, -1, -1], [0, 1, -1], [-1, -1, 1], [-1, -2, -1],
     [0, 1, 0], [1, 1, 2], [-2, -1, -1], [1, 0, 0], [0, -1, -1], [2, 0, -1], [-1, 0, 0], [-1, 1, 1], [1, -2, -2],
     [-1, 1, -1], [-2, 1, -2]], float,
)  # fmt: skip
SEEN = [1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0]


def test_quasi_separation_is_told_by_certificate_and_note_alike() -> None:
    features = [sf.indicator(C="b"), *(sf.product(f"x{i}", sf.indicator(C="b")) for i in range(3))]
    data = {**{f"x{i}": QUASI[:, i] for i in range(3)}, "C": ["ab"[c] for c in SEEN]}
    schema = {**{f"x{i}": sf.continuous() for i in range(3)}, "C": ["a", "b"]}
    fit = sf.fit(sf.Features(features, given=["x0", "x1", "x2"]), data, schema=schema, max_iter=5000)
    assert fit.certificate.exists == "no"
    assert any("does not exist" in note.text for note in fit.notes)
    assert sf.SoftmaxRegression().fit(QUASI, SEEN).fit_.certificate.exists == "no"


def test_nearly_collinear_columns_of_a_gaussian_field_have_an_estimate() -> None:
    rng = np.random.default_rng([1, 4242])
    z = rng.normal(size=300)
    data = {"x": z, "z": z + 1e-6 * rng.normal(size=300), "y": z + rng.normal(size=300), "w": rng.normal(size=300)}
    fit = sf.fit(sf.GaussianMarkov("x:z + z:y + y:w + w:x"), data)  # 1 − r² of x and z is 1e-12
    assert fit.certificate.exists == "yes"
    assert not any("does not exist" in note.text for note in fit.notes)


def test_weights_along_a_relation_are_where_the_prior_wants_them() -> None:
    """A weight at zero whose own slope is within its price moves with the others, where all may move together."""
    counts = np.array([2e11, 3e11, 1e11, 5e11, 4e11])
    data = {"C": list("abcde")}
    claim, fit = claim_of(
        sf.fit, sf.Features([sf.indicators("C")]), data, weights=counts, prior=sf.Laplace(0.1), tol=1e-8
    )
    assert fit.certificate.ok
    weights, model = fit.model.weights.to_numpy(), fit.model
    for place in range(5):
        moved = weights - weights[place]
        moved[place] = 0.0
        other = type(model)(model.features, moved, schema=model.schema, base=model.base, support=model.support)
        cost = 10 * (np.abs(moved).sum() - np.abs(weights).sum())
        found = certify_as_claimed(claim, other)
        assert found.ok == (cost < 1e-3)
        assert found.decrement is not None
        assert found.ok or found.decrement > cost


def test_weights_of_all_classes_are_where_the_prior_wants_them() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(60, 1)), np.tile(np.arange(5), 12)
    x[:, 0] += 0.6 * y
    shell = sf.SoftmaxRegression("l1", strength=0.5, tol=1e-8)
    claim, _ = claim_of(shell.fit, x, y, sample_weight=np.full(60, 1e8))
    weights = claim.model.weights
    verdicts = []
    for value in np.sort(weights[0]):
        other = dataclasses.replace(claim.model, weights=np.where(weights == value, 0.0, weights - value))
        verdicts.append(certify_as_claimed(claim, dataclasses.replace(other, information=None)).ok)
    assert verdicts == [False, False, True, False, False]


@pytest.mark.parametrize("name", ["chain CRF, L1", "graph CRF, L1", "features given inputs, Laplace prior"])
@pytest.mark.filterwarnings("ignore")
def test_relations_of_other_models_are_seen(name: str) -> None:
    family = next(family for family in FAMILIES if family.name == name)
    tally = audit_family(family, 6, 20, seed=17)
    assert (tally.refused, tally.unfinished, tally.certified) == (0, 0, 0)
    assert tally.costly > 30
