"""maxent: the margins are met, by the one distribution that goes no further from the base than it must."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.linalg import null_space
from scipy.optimize import minimize
from tests.learn.clique_cases import Case, cases, grid

import suffice as sf

Floats = NDArray[np.float64]
METHODS = ["auto", "adaptive", "newton", "lbfgs", "ipf"]
YES_NO = {name: ["no", "yes"] for name in "ABC"}
AB = np.array([[0.1, 0.2], [0.3, 0.4]])
SURVEY = np.array([[[3.0, 1.0], [2.0, 5.0]], [[4.0, 2.0], [1.0, 6.0]]])
"""A table of A, B and C."""


def targets_of(case: Case, joint: Floats) -> dict[tuple[str, ...], Floats]:
    """Return the margins of a joint table, whose axes are in the case's order, by clique."""
    return {clique: case.margin(joint, clique) for clique in case.cliques}


def in_order(case: Case, table: Floats) -> Floats:
    """Return a table with its axes in the order of the structure."""
    return table.transpose([case.names.index(name) for name in case.structure.variables])


def labelled(names: str, values: Any, states: dict[str, list[str]] = YES_NO) -> sf.LabelledTable:
    variables = tuple(sf.Variable(name, tuple(states[name]), True) for name in names)
    return sf.LabelledTable(variables, np.array(values, np.float64))


def table_of(model: Any, names: str = "ABC") -> Floats:
    """Return p of every configuration."""
    rows = list(itertools.product(*(model.schema[name].states for name in names)))
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return np.asarray(np.exp(model.log_prob(columns)), np.float64).reshape(
        [model.schema[name].n_states for name in names]
    )


def raked(case: Case, base: Floats, wanted: Floats) -> Floats:
    """Return the base scaled to the margins of a table, one margin after the other, until nothing moves any more."""
    p = base / base.sum()
    for _ in range(20_000):
        before = p
        for clique in case.cliques:
            outside = tuple(v for v, name in enumerate(case.names) if name not in clique)
            goal, now = (x.sum(axis=outside, keepdims=True) for x in (wanted / wanted.sum(), p))
            p = p * np.divide(goal, now, out=np.zeros_like(goal), where=now > 0)
        if np.abs(p - before).max() < 1e-14:
            break
    return np.asarray(p, np.float64)


def base_with_zeros(case: Case, seed: int, zeros: float) -> tuple[Floats, Floats]:
    """Return a base measure, and a distribution that is positive exactly where the base is."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.2, 5.0, case.sizes) * (rng.random(case.sizes) > zeros)
    base.flat[0] = 1.0
    inside = (base > 0) * rng.uniform(0.2, 1.0, case.sizes)
    return base, inside / inside.sum()


# The optimum --------------------------------------------------------------------------------------------------


@given(cases(), st.sampled_from(METHODS))
@settings(max_examples=40)
def test_margins_are_met_by_the_distribution_of_greatest_entropy(case: Case, method: str) -> None:
    fit = sf.maxent(case.structure, targets_of(case, case.table), over=case.states, method=method, tol=1e-10)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.moment_gap is not None
    assert fit.certificate.moment_gap < 1e-10
    p = case.joint(fit.model)
    assert case.gap(p) < 1e-9
    np.testing.assert_allclose(p, case.optimum, rtol=1e-6, atol=1e-9)
    free = null_space(case.design)
    # Lagrange: log p is a sum of functions of the cliques, so it is orthogonal to whatever changes no margin.
    assert np.abs(free.T @ np.log(p).ravel()).max(initial=0.0) < 1e-6
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1) if free.shape[1] else ():
        other = p + size * p.min() * (free @ rng.normal(size=free.shape[1])).reshape(p.shape)
        assert case.gap(other) < 1e-9
        assert -(other * np.log(other)).sum() <= -(p * np.log(p)).sum() + 1e-12


@given(cases(), st.integers(0, 999), st.sampled_from([0.0, 0.3]), st.sampled_from(METHODS[:4]))
@settings(max_examples=40)
def test_a_base_table_is_raked_to_the_margins(case: Case, seed: int, zeros: float, method: str) -> None:
    base, inside = base_with_zeros(case, seed, zeros)
    given_base = in_order(case, base)
    fit = sf.maxent(case.structure, targets_of(case, inside), over=case.states, base=given_base, method=method)
    assert fit.certificate.ok, fit.certificate.verdict
    p, possible = case.joint(fit.model), base > 0
    assert (p[~possible] == 0).all()
    assert case.gap(p, inside) < 1e-7
    np.testing.assert_allclose(p, raked(case, base, inside), rtol=1e-4, atol=1e-7)
    free = null_space(case.design[:, possible.ravel()])
    ratio = np.log(p[possible] / base[possible])
    assert np.abs(free.T @ ratio).max(initial=0.0) < 1e-4
    # T · E[log p/h] under the targets; here T is one, and the targets are those of p.
    assert fit.log_likelihood == pytest.approx(float((p[possible] * ratio).sum()), abs=1e-5)


def test_divergence_from_the_base_is_that_of_a_general_optimiser() -> None:
    inside = np.array([[[0.20, 0.05], [0.10, 0.15]], [[0.05, 0.15], [0.20, 0.10]]])
    case = Case((("A", "B"), ("B", "C"), ("A", "C")), dict.fromkeys("ABC", ("no", "yes")), inside)
    fit = sf.maxent(case.structure, targets_of(case, inside), base=SURVEY, over=YES_NO, tol=1e-10)
    h, free = (SURVEY / SURVEY.sum()).ravel(), null_space(case.design)

    def divergence(c: Floats) -> float:
        p = inside.ravel() + free @ c
        return float((p * np.log(p / h)).sum()) if (p > 0).all() else math.inf

    found = minimize(divergence, np.zeros(free.shape[1]), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-15})
    assert divergence(found.x) < divergence(np.zeros(free.shape[1])) - 0.01
    np.testing.assert_allclose(case.joint(fit.model).ravel(), inside.ravel() + free @ found.x, atol=1e-6)


def test_margins_of_a_large_grid_give_its_model_back() -> None:
    structure, rng = grid(10, 10), np.random.default_rng(3)
    schema = {name: ["no", "yes"] for name in structure.variables}
    truth = sf.MarkovNetwork([(pair, rng.uniform(0.5, 2.0, (2, 2))) for pair in structure.cliques], schema=schema)
    fit = sf.maxent(structure, truth)
    assert fit.certificate.ok, fit.certificate.verdict
    rows = truth.sample(20, seed=1)
    np.testing.assert_allclose(fit.model.log_prob(rows), truth.log_prob(rows), atol=1e-4)


def test_a_base_equal_to_a_model_with_these_margins_is_left_alone() -> None:
    table = SURVEY / SURVEY.sum()
    fit = sf.maxent("A:B + B:C", [table.sum(axis=2), table.sum(axis=0)], base=table, over=YES_NO)
    np.testing.assert_allclose(table_of(fit.model), table, atol=1e-9)
    assert fit.log_likelihood == pytest.approx(0, abs=1e-9)


# Targets ------------------------------------------------------------------------------------------------------

WIDE = {"A": ["no", "yes"], "B": ["u", "v", "w"]}
BY_A = np.array([[0.10, 0.20, 0.05], [0.30, 0.15, 0.20]])


@pytest.mark.parametrize(
    "targets",
    [
        {"A:B": BY_A},
        {" A : B ": BY_A.tolist()},
        {("A", "B"): BY_A},
        [BY_A],
        (BY_A,),
        {"A:B": labelled("AB", BY_A, WIDE)},
        {"A:B": labelled("BA", BY_A.T, WIDE)},
        {("B", "A"): labelled("BA", BY_A.T, WIDE)},
        [labelled("BA", BY_A.T, WIDE)],
        sf.MarkovNetwork([(("B", "A"), BY_A.T)], schema={"B": WIDE["B"], "A": WIDE["A"]}),
        {"A:B": BY_A * 1000},
        {"A:B": (BY_A * 100).astype(int)},
    ],
    ids=["text", "spaces", "tuple", "list", "sequence", "labelled", "other-axes", "other-key", "alone", "model",
         "counts", "whole-counts"],
)  # fmt: skip
def test_targets_may_be_given_in_many_ways(targets: Any) -> None:
    fit = sf.maxent("A:B", targets, over=WIDE)
    assert fit.certificate.ok
    np.testing.assert_allclose(table_of(fit.model, "AB"), BY_A, rtol=1e-12)


@pytest.mark.parametrize("key", ["B:A", ("B", "A")], ids=str)
def test_axes_of_a_table_are_in_the_order_of_its_key(key: Any) -> None:
    fit = sf.maxent("A:B", {key: AB.T}, over=YES_NO)
    np.testing.assert_allclose(table_of(fit.model, "AB"), AB, rtol=1e-12)


def test_counts_and_probabilities_differ_in_the_log_likelihood_only() -> None:
    one = sf.maxent("A:B + C", [AB, [0.3, 0.7]], over=YES_NO)
    many = sf.maxent("A:B + C", [AB * 500, [150, 350]], over=YES_NO)
    np.testing.assert_allclose(table_of(many.model), table_of(one.model), rtol=1e-10)
    assert [one.n, many.n] == pytest.approx([1, 500])
    assert many.log_likelihood == pytest.approx(500 * one.log_likelihood)


def test_targets_with_zeros_are_met_and_their_cells_are_impossible() -> None:
    fit = sf.maxent("A:B + B:C + A:C", sf.maxent("A:B + C", [[[0.5, 0], [0.2, 0.3]], [0.4, 0.6]], over=YES_NO).model)
    assert fit.certificate.ok, fit.certificate.verdict
    assert (table_of(fit.model)[0, 1] == 0).all()
    assert fit.model.query(["A", "B"]).values[0, 0] == pytest.approx(0.5)


def test_states_are_taken_from_labelled_tables_models_and_the_base() -> None:
    other = {"A": ["yes", "no"], "B": ["v", "u"], "C": ["p", "q"]}
    by_table = sf.maxent("A:B", [labelled("AB", AB, other)])
    assert by_table.model.schema["A"].states == ("yes", "no")
    by_model = sf.maxent("B", by_table.model)
    assert by_model.model.schema["B"].states == ("v", "u")
    by_base = sf.maxent("A + C", {"A": [0.2, 0.8], "C": [0.5, 0.5]}, base=labelled("CA", [[1, 2], [3, 4]], other))
    assert by_base.model.schema["C"].states == ("p", "q")
    assert list(by_base.model.variables) == ["A", "C"]


# Base measures ------------------------------------------------------------------------------------------------

MARGINS = {"A": [0.3, 0.7], "B": [0.6, 0.4], "C": [0.5, 0.5]}
TWO_TABLES = np.einsum("ab,bc->abc", [[1.0, 0.0], [2.0, 3.0]], [[1.0, 4.0], [2.0, 1.0]])
NETWORK = sf.BayesianNetwork(
    sf.DAG("B -> A; B -> C"), {"B": [0.5, 0.5], "A": [[0.3, 0.7], [0, 1]], "C": [[0.2, 0.8], [0.9, 0.1]]}, schema=YES_NO
)


@pytest.mark.parametrize(
    ("base", "same"),
    [
        (TWO_TABLES.tolist(), TWO_TABLES),
        (labelled("CAB", TWO_TABLES.transpose(2, 0, 1)), TWO_TABLES),
        ([labelled("AB", [[1, 0], [2, 3]]), labelled("CB", [[1, 2], [4, 1]])], TWO_TABLES),
        ((labelled("AB", [[1, 0], [2, 3]]),), np.einsum("ab,c->abc", [[1.0, 0.0], [2.0, 3.0]], [1.0, 1.0])),
        (sf.MarkovNetwork([(("B", "A"), [[1, 2], [0, 3]]), (("B", "C"), [[1, 4], [2, 1]])], schema=YES_NO), TWO_TABLES),
        (NETWORK, table_of(NETWORK)),
        (np.ones((2, 2, 2)), np.ones((2, 2, 2))),
        (None, np.ones((2, 2, 2))),
    ],
    ids=["array", "table", "tables", "fewer", "markov", "bayesian", "ones", "none"],
)
def test_base_measures_of_every_kind(base: Any, same: Floats) -> None:
    fit = sf.maxent("A + B + C", MARGINS, base=base, over=YES_NO)
    assert fit.certificate.ok, fit.certificate.verdict
    case = Case((("A",), ("B",), ("C",)), dict.fromkeys("ABC", ("no", "yes")), same)
    wanted = np.einsum("a,b,c->abc", *MARGINS.values())
    np.testing.assert_allclose(table_of(fit.model), raked(case, same, wanted), atol=1e-7)


def test_the_scale_of_the_base_changes_nothing_but_the_log_likelihood() -> None:
    one = sf.maxent("A + B + C", MARGINS, base=SURVEY, over=YES_NO)
    for scale in (1e-200, 1e200):
        other = sf.maxent("A + B + C", MARGINS, base=SURVEY * scale, over=YES_NO)
        assert other.certificate.ok, other.certificate.verdict
        np.testing.assert_allclose(table_of(other.model), table_of(one.model), atol=1e-8)
        assert other.log_likelihood == pytest.approx(one.log_likelihood - math.log(scale), rel=1e-6)


# What a fit says ----------------------------------------------------------------------------------------------


def test_a_fit_says_that_its_margins_are_targets() -> None:
    fit = sf.maxent("A:B + C", [AB * 20, [8, 12]], over=YES_NO)
    assert any("targets given by hand, with the total 20" in note.text for note in fit.notes)
    assert "maximum entropy" in str(fit)
    assert "target margins, total 20" in str(fit)


def test_a_fit_is_written_and_read(tmp_path: Path) -> None:
    fit = sf.maxent("A + B + C", MARGINS, base=SURVEY, over=YES_NO)
    sf.write(fit, tmp_path / "x.json")
    found = sf.read(tmp_path / "x.json")
    assert str(found) == str(fit)
    np.testing.assert_array_equal(table_of(found.model), table_of(fit.model))


def test_too_few_steps_are_not_certified() -> None:
    pairs = [SURVEY.sum(axis=axis) for axis in (2, 0, 1)]
    fit = sf.maxent("A:B + B:C + A:C", pairs, over=YES_NO, max_iter=1, method="ipf")
    assert not fit.certificate.ok
    assert any("Not converged after 1 step" in note.text for note in fit.notes)
    started = sf.maxent("A:B + B:C + A:C", pairs, over=YES_NO, init="random", seed=4, options={}, tol=1e-10)
    assert started.certificate.ok


@pytest.mark.parametrize("method", ["auto", "ipf"])
def test_targets_on_the_boundary_are_explained_once_and_not_as_a_likelihood(method: str) -> None:
    fit = sf.maxent("A:B + B:C", [[[0.5, 0.5], [0, 0]], [[0.25, 0.25], [0.25, 0.25]]], over=YES_NO, method=method)
    assert fit.certificate.exists == "no"
    assert sum("no distribution with finite parameters" in note.text for note in fit.notes) == 1
    assert not any("maximum-likelihood estimate" in note.text for note in fit.notes)
