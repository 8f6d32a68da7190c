"""Markov random fields from complete data: every method finds the optimum of slow twins, zeros included."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learn.clique_cases import Case, cases

import suffice as sf
from suffice.families.cliques import FAMILY

SLOW = 50_000
"""Steps that plain gradients and simultaneous fitting may take."""
WAYS: list[dict[str, Any]] = [
    {"method": "auto"},
    {"method": "adaptive"},
    {"method": "newton"},
    {"method": "lbfgs"},
    {"method": "cg"},
    {"method": "ipf", "max_iter": SLOW},
    {"method": "ipf", "options": {"simultaneous": True}, "max_iter": SLOW},
    {"method": "gradient", "max_iter": SLOW},
    {"method": "gradient", "options": {"space": "psi"}, "max_iter": SLOW},
]
ways = pytest.mark.parametrize(
    "way", WAYS, ids=lambda way: "-".join([way["method"], *map(str, way.get("options", ()))])
)
RING = "A:B + B:C + C:D + D:A"
HABERMAN = np.array([[[0, 3], [4, 5]], [[2, 6], [1, 0]]])


def ring_data(n: int = 300, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.7, a, rng.integers(0, 3, n))
    c = np.where(rng.random(n) < 0.6, b, rng.integers(0, 3, n))
    d = np.where(rng.random(n) < 0.5, a, (c + rng.integers(0, 2, n)) % 2)
    return {"A": a.astype(str), "B": b.astype(str), "C": c.astype(str), "D": d.astype(str)}


def tables(fit: sf.Fit) -> dict[tuple[str, ...], Any]:
    return {factor.names: factor.values for factor in fit.model.factors}


def joint(fit: sf.Fit, data: Any = None) -> Any:
    """Return log p of the rows of some data."""
    return fit.model.log_prob(ring_data() if data is None else data)


# The optimum --------------------------------------------------------------------------------------------------


def test_every_method_is_among_those_tested() -> None:
    elsewhere = {"closed_form", "proximal", "em"}
    assert {way["method"] for way in WAYS} | elsewhere == {*FAMILY.methods(), "auto"}


@ways
@given(case=cases())
@settings(max_examples=12)
def test_every_method_reaches_the_optimum_of_the_slow_twin(way: dict[str, Any], case: Case) -> None:
    fit = case.fit(tol=1e-9, **way)
    p = case.joint(fit.model)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "yes"
    assert fit.point == "mle"
    np.testing.assert_allclose(p, case.optimum, rtol=1e-6, atol=1e-8)
    assert fit.log_likelihood == pytest.approx(case.log_likelihood(case.optimum), rel=1e-9, abs=1e-7)
    assert fit.n_free == fit.n_free_adjusted == np.linalg.matrix_rank(case.design) - 1


@pytest.mark.parametrize("options", [{}, {"space": "psi"}])
def test_plain_gradients_reach_a_saturated_optimum(options: dict[str, Any]) -> None:
    table = np.array([[[5.0, 9], [17, 2]], [[1, 13], [10, 3]]])
    case = Case((("A", "B", "C"),), dict.fromkeys("ABC", ("0", "1")), table)
    fit = case.fit(method="gradient", options=options, max_iter=SLOW, tol=1e-9)
    assert fit.certificate.ok, fit.certificate.verdict


@given(cases(max_variables=3))
@settings(max_examples=8)
def test_optimum_is_that_of_a_general_optimiser_on_the_explicit_likelihood(case: Case) -> None:
    from scipy.optimize import minimize

    n, t = case.table.sum(), case.design @ case.table.ravel() / case.table.sum()

    def loss(theta: Any) -> tuple[float, Any]:
        scores = case.design.T @ theta
        log_z = float(np.logaddexp.reduce(scores))
        return log_z - float(t @ theta), case.design @ np.exp(scores - log_z) - t

    best = minimize(loss, np.zeros(len(t)), jac=True, method="BFGS", options={"gtol": 1e-9})
    fit = case.fit()
    assert fit.log_likelihood == pytest.approx(-n * best.fun, rel=1e-9)
    scores = case.design.T @ best.x
    p = np.exp(scores - np.logaddexp.reduce(scores)).reshape(case.sizes)
    np.testing.assert_allclose(case.joint(fit.model), p, rtol=1e-5, atol=1e-7)


@given(cases(decomposable=True))
@settings(max_examples=40)
def test_closed_form_one_sweep_and_lbfgs_agree_where_there_is_a_closed_form(case: Case) -> None:
    closed = case.fit(method="closed_form")
    assert case.fit().method == "closed_form"
    sequence = [clique for clique, _ in case.structure.perfect_sequence or ()]
    inner = [clique for clique in case.cliques if clique not in sequence]
    ordered = Case((*sequence, *inner), case.states, case.table)
    p = case.joint(closed.model)
    assert case.product(closed.model).sum() == pytest.approx(1, abs=1e-12)
    assert case.gap(p) < 1e-14
    np.testing.assert_allclose(p, case.joint(ordered.fit(method="ipf", max_iter=1).model), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(p, case.joint(case.fit(method="lbfgs", tol=1e-12).model), rtol=0, atol=1e-9)
    np.testing.assert_allclose(p, case.optimum, rtol=1e-9, atol=1e-12)


@given(cases(decomposable=True))
@settings(max_examples=25)
def test_one_sweep_through_the_tree_suffices_in_any_order_of_cliques(case: Case) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.inference.clique_family.TABLE_CELLS", 0)
        fit = case.fit(method="ipf", max_iter=1)
    assert fit.certificate.ok, fit.certificate.verdict
    np.testing.assert_allclose(case.joint(fit.model), case.optimum, rtol=1e-9, atol=1e-12)


@given(cases(decomposable=True, zeros=0.4))
@settings(max_examples=40)
def test_closed_form_equals_the_same_dag(case: Case) -> None:
    fit = case.fit(method="closed_form")
    dag = sf.fit(case.structure.to_dag(), case.data, unseen_parents="uniform")
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.log_likelihood == pytest.approx(dag.log_likelihood, rel=1e-10, abs=1e-10)
    assert fit.n_free == dag.n_free
    assert case.gap(case.joint(fit.model)) < 1e-14


@ways
@given(case=cases(zeros=0.35, max_variables=3))
@settings(max_examples=10)
def test_zeros_put_the_estimate_on_the_facial_set(way: dict[str, Any], case: Case) -> None:
    fit = case.fit(**way)
    p = case.joint(fit.model)
    assert fit.certificate.exists == ("yes" if case.facial_set.all() else "no")
    assert ((p > 0) == case.facial_set).all()
    rank = np.linalg.matrix_rank(case.design[:, case.facial_set.ravel()])
    assert fit.n_free_adjusted == rank - 1
    if fit.certificate.ok:
        assert case.gap(p) < 1e-8
    else:  # plain gradients may need more steps than they were allowed, and then say so
        assert way["method"] == "gradient" or way.get("options")
        assert any("Not converged" in note.text for note in fit.notes)


@ways
def test_hidden_boundary_without_a_zero_margin(way: dict[str, Any]) -> None:
    """Haberman (1974), The Analysis of Frequency Data: two zeros in opposite corners, all two-way margins positive."""
    case = Case((("A", "B"), ("B", "C"), ("A", "C")), dict.fromkeys("ABC", ("0", "1")), HABERMAN * 1.0)
    fit = case.fit(**{**way, "max_iter": 500})
    p = case.joint(fit.model)
    assert fit.certificate.ok, fit.certificate.verdict
    # L-BFGS leaps to cells of 1e-17, below the rounding error of margins.
    assert fit.certificate.exists == "no"
    assert p[0, 0, 0] == p[1, 1, 1] == 0.0
    assert (np.delete(p.ravel(), [0, 7]) > 0).all()
    assert (fit.n_free, fit.n_free_adjusted) == (6, 5)
    np.testing.assert_allclose(p, HABERMAN / HABERMAN.sum(), atol=1e-8)
    assert any("does not exist" in note.text for note in fit.notes)
    assert "2 fitted cells are zero" in fit.certificate.boundary


def test_a_zero_margin_is_matched_and_named() -> None:
    table = np.array([[0, 0, 3], [4, 5, 6]])
    fit = sf.fit(sf.Cliques("A:B"), sf.Contingency(table, {"A": ["x", "y"], "B": ["u", "v", "w"]}), method="ipf")
    assert fit.certificate.ok
    assert fit.certificate.exists == "no"
    np.testing.assert_allclose(np.exp(fit.model.log_prob({"A": ["x", "y"], "B": ["w", "u"]})), [3 / 18, 4 / 18])
    assert "2 margins are zero" in fit.certificate.boundary
    assert "A='x', B='u'" in fit.certificate.boundary
    assert fit.n_free_adjusted == fit.n_free - 2


# Data ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [{}, {"method": "newton"}, {"method": "ipf"}], ids=str)
class TestData:
    def test_parts_add_up_to_the_whole(self, way: dict[str, Any]) -> None:
        structure, data = sf.Cliques(RING), ring_data()
        schema = {"A": ["0", "1"], "B": ["0", "1", "2"], "C": ["0", "1", "2"], "D": ["0", "1"]}
        parts = [
            sf.collect(structure, {k: v[i] for k, v in data.items()}, schema=schema)
            for i in (slice(0, 97), slice(97, None))
        ]
        ours = sf.estimate(structure, parts[1] + parts[0], **way)
        whole = sf.fit(structure, data, schema=schema, **way)
        assert ours.log_likelihood == whole.log_likelihood
        for ours_table, whole_table in zip(ours.model.factors, whole.model.factors, strict=True):
            np.testing.assert_array_equal(ours_table.values, whole_table.values)

    def test_order_of_rows_columns_and_cliques_does_not_matter(self, way: dict[str, Any]) -> None:
        data, order = ring_data(), np.random.default_rng(1).permutation(300)
        fit = sf.fit(sf.Cliques(RING), data, tol=1e-11, **way)
        mixed = {k: data[k][order] for k in "DBAC"}
        other = sf.fit(sf.Cliques("D:C + A:D + B:A + C:B"), mixed, tol=1e-11, **way)
        np.testing.assert_allclose(joint(other), joint(fit), atol=1e-8)

    def test_real_weights_are_counts(self, way: dict[str, Any]) -> None:
        data, weights = ring_data(), np.random.default_rng(2).random(300) * 3
        fit = sf.fit(sf.Cliques(RING), data, weights=weights, tol=1e-10, **way)
        case = case_of(data, weights)
        assert fit.n == pytest.approx(weights.sum())
        np.testing.assert_allclose(case.joint(fit.model), case.optimum, atol=1e-8)

    def test_the_estimate_does_not_depend_on_the_size_of_the_weights(self, way: dict[str, Any]) -> None:
        data = ring_data()
        fit = sf.fit(sf.Cliques(RING), data, **way)
        many = sf.fit(sf.Cliques(RING), data, weights=np.full(300, 1e12), **way)
        few = sf.fit(sf.Cliques(RING), data, weights=np.full(300, 1e-9), **way)
        for other in (many, few):
            assert other.certificate.ok, other.certificate.verdict
            np.testing.assert_allclose(joint(other), joint(fit), atol=1e-6)
        assert many.log_likelihood == pytest.approx(fit.log_likelihood * 1e12, rel=1e-9)

    def test_streams_and_a_second_count(self, way: dict[str, Any], tmp_path: Path) -> None:
        pd.DataFrame(ring_data()).to_csv(tmp_path / "ring.csv", index=False)
        schema = {name: sf.categorical(sorted(set(values))) for name, values in ring_data().items()}
        fit = sf.fit(sf.Cliques(RING), tmp_path / "ring.csv", schema=schema, certify="data", **way)
        assert fit.certificate.ok, fit.certificate.verdict
        assert fit.certificate.data_gap == 0
        np.testing.assert_array_equal(joint(fit), joint(sf.fit(sf.Cliques(RING), ring_data(), **way)))


def case_of(data: dict[str, Any], weights: Any) -> Case:
    states = {name: tuple(sorted(set(values))) for name, values in data.items()}
    table = np.zeros([len(s) for s in states.values()])
    codes = [np.searchsorted(states[name], values) for name, values in data.items()]
    np.add.at(table, tuple(codes), weights)
    return Case(sf.Cliques(RING).cliques, states, table)


# Edges --------------------------------------------------------------------------------------------------------


@ways
@pytest.mark.parametrize(
    ("cliques", "data"),
    [
        ("A", {"A": list("xxyz")}),
        ("A", {"A": list("xx")}),
        ("A:B", {"A": list("kkkk"), "B": list("uvuu")}),
        ("A:B + B:C + A:C", {"A": list("kkkkkk"), "B": list("uvuuvv"), "C": list("stssst")}),
        ("A + A:B + B", {"A": list("xyxyxx"), "B": list("uvuuvu")}),
        ("A:B:C + B:A + C", {"A": list("xyxyxxyy"), "B": list("uvuuvuvv"), "C": list("ssttssts")}),
        ("A + B", {"A": ["x"], "B": ["u"]}),
    ],
)
def test_small_and_nested_models(way: dict[str, Any], cliques: str, data: dict[str, list[str]]) -> None:
    fit = sf.fit(sf.Cliques(cliques), data, **way)
    assert fit.certificate.ok, fit.certificate.verdict
    maximal = sf.fit(sf.Cliques(list(sf.Cliques(cliques).maximal)), data)
    np.testing.assert_allclose(fit.model.log_prob(data), maximal.model.log_prob(data), atol=1e-6)
    assert fit.n_free == maximal.n_free
    assert [factor.names for factor in fit.model.factors][: len(fit.structure.cliques)] == list(fit.structure.cliques)


def test_states_that_never_occur_have_no_mass() -> None:
    fit = sf.fit(sf.Cliques("A:B + B:C + A:C"), {k: ring_data()[k] for k in "ABC"}, schema={"A": ["0", "1", "9"]})
    assert fit.certificate.ok
    assert fit.certificate.exists == "no"
    assert fit.model.log_prob({"A": ["9"], "B": ["0"], "C": ["0"]})[0] == -math.inf


def test_more_rows_of_the_same_kind_change_nothing_but_n() -> None:
    data = ring_data()
    twice = {k: np.concatenate([v, v]) for k, v in data.items()}
    one, two = sf.fit(sf.Cliques(RING), data, tol=1e-11), sf.fit(sf.Cliques(RING), twice, tol=1e-11)
    assert two.log_likelihood == pytest.approx(2 * one.log_likelihood, rel=1e-10)
    np.testing.assert_allclose(joint(two), joint(one), atol=1e-9)


@given(st.sampled_from([1e-12, 1e-11]), st.sampled_from(["ipf", "newton", "lbfgs"]), st.integers(0, 20))
@settings(max_examples=12)
def test_tight_tolerances_are_reached(tol: float, method: str, seed: int) -> None:
    fit = sf.fit(sf.Cliques(RING), ring_data(500, seed), tol=tol, method=method)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.moment_gap is not None
    assert fit.certificate.moment_gap <= tol
