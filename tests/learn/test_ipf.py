"""Proportional fitting step by step; starts, options, interruption and refusals of the methods for cliques."""

from __future__ import annotations

import itertools
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive
from tests.learn.clique_cases import Case, cases, grid
from tests.learn.test_cliques import RING, WAYS, joint, ring_data

import suffice as sf

CLIQUES = sf.Cliques(RING)
ITERATIVE = [way for way in WAYS if way["method"] != "auto"]
iterative = pytest.mark.parametrize(
    "way", ITERATIVE, ids=lambda way: "-".join([way["method"], *map(str, way.get("options", ()))])
)


# Steps --------------------------------------------------------------------------------------------------------


@given(cases(), st.integers(1, 4))
@settings(max_examples=30)
def test_every_cycle_gains_n_times_the_divergence_of_its_margins(case: Case, n_cycles: int) -> None:
    """F8: a step raises log L by N · KL(t_C‖p_C), keeps Z, and makes the last margin right."""
    fit = case.fit(method="ipf", max_iter=n_cycles, tol=1e-14)
    cells = {x: float(case.table[x]) for x in itertools.product(*map(range, case.sizes))}
    p, gains = naive.proportionally_fitted(case.sizes, case.scopes, cells, n_cycles)
    n, start = case.table.sum(), -case.table.sum() * math.log(math.prod(case.sizes))
    objectives = [start, *(step.objective for step in fit.trace)]
    np.testing.assert_allclose(np.diff(objectives), n * np.array(gains[: len(fit.trace)]), atol=1e-9 * n)
    np.testing.assert_allclose(case.joint(fit.model), np.array(list(p.values())).reshape(case.sizes), rtol=1e-9)
    assert objectives[-1] == pytest.approx(fit.log_likelihood, abs=1e-9 * n)
    assert all(after >= before - 1e-12 * n for before, after in pairwise(objectives))
    assert case.product(fit.model).sum() == pytest.approx(math.prod(case.sizes), rel=1e-10)
    assert fit.certificate.z_drift is not None
    assert fit.certificate.z_drift < 1e-10
    last = case.cliques[-1]
    wanted = case.margin(case.table / n, last)
    np.testing.assert_allclose(case.margin(case.joint(fit.model), last), wanted, atol=1e-12)


@given(cases(zeros=0.3), st.booleans())
@settings(max_examples=30)
def test_likelihood_never_falls_and_z_is_kept(case: Case, through_tree: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if through_tree:
            patch.setattr("suffice.inference.clique_family.TABLE_CELLS", 0)
        fits = [
            case.fit(method="ipf", max_iter=40),
            case.fit(method="ipf", options={"simultaneous": True}, max_iter=40),
        ]
    for fit in fits:
        values = [step.objective for step in fit.trace]
        assert all(after >= before - 1e-11 * case.table.sum() for before, after in pairwise(values))
    z_drift, descent = fits[0].certificate.z_drift, fits[0].certificate.descent
    assert z_drift is not None
    assert descent is not None
    assert z_drift < 1e-10
    assert descent <= 1e-12


@given(cases())
@settings(max_examples=20)
def test_trees_and_tables_take_the_same_fit(case: Case) -> None:
    fit = case.fit(tol=1e-11, method="adaptive")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.inference.clique_family.TABLE_CELLS", 0)
        for method in ("adaptive", "newton", "lbfgs"):
            other = case.fit(tol=1e-11, method=method)
            assert other.certificate.ok, other.certificate.verdict
            np.testing.assert_allclose(case.joint(other.model), case.joint(fit.model), rtol=1e-6, atol=1e-9)


def test_adaptive_changes_to_newton_where_fitting_is_slow() -> None:
    table = np.array([[[90, 2], [5, 40]], [[3, 60], [70, 1]]]) * 1.0
    table[0, 0, 0] = table[1, 1, 1] = 0.01
    case = Case((("A", "B"), ("B", "C"), ("A", "C")), dict.fromkeys("ABC", ("0", "1")), table)
    slow = case.fit(method="ipf")
    assert len(slow.trace) > 60
    fit = case.fit()
    assert fit.method == "adaptive"
    assert fit.certificate.ok
    assert any("Newton" in note.text for note in fit.notes)
    assert 30 < len(fit.trace) < 60
    values = [step.objective for step in fit.trace]
    assert all(after >= before - 1e-9 for before, after in pairwise(values))


# Starts -------------------------------------------------------------------------------------------------------


@iterative
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_random_starts_reach_the_same_optimum(way: dict[str, Any], seed: int) -> None:
    if way.get("options") == {"space": "psi"}:
        pytest.skip("small potentials make steps in ψ very slow")
    fit = sf.fit(CLIQUES, ring_data(), init="random", seed=seed, tol=1e-9, **way)
    assert fit.certificate.ok, fit.certificate.verdict
    np.testing.assert_allclose(joint(fit), joint(sf.fit(CLIQUES, ring_data(), tol=1e-11)), atol=1e-6)


def test_a_seed_gives_the_same_start_again() -> None:
    a, b, c = (
        sf.fit(CLIQUES, ring_data(), method="ipf", init="random", seed=seed, max_iter=1).trace for seed in (7, 7, 8)
    )
    assert a == b != c


@iterative
def test_models_and_tables_as_starts_reach_the_same_optimum(way: dict[str, Any]) -> None:
    data = ring_data()
    best = sf.fit(CLIQUES, data, tol=1e-11)
    rng = np.random.default_rng(3)
    shapes = {factor.names: factor.values.shape for factor in best.model.factors}
    by_clique = {names: rng.random(shape) + 0.1 for names, shape in shapes.items()}
    by_text = {":".join(names): values.tolist() for names, values in by_clique.items()}
    other = sf.fit(CLIQUES, ring_data(seed=9), prior=sf.BDeu(1)).model
    for init in (by_clique, by_text, other, best.model):
        fit = sf.fit(CLIQUES, data, init=init, tol=1e-9, **way)
        assert fit.certificate.ok, fit.certificate.verdict
        np.testing.assert_allclose(joint(fit), joint(best), atol=1e-6)


def test_starting_at_the_optimum_stays_there() -> None:
    best = sf.fit(CLIQUES, ring_data(), tol=1e-12)
    again = sf.fit(CLIQUES, ring_data(), init=best.model, method="newton")
    assert len(again.trace) <= 1
    np.testing.assert_allclose(joint(again), joint(best), atol=1e-10)


@pytest.mark.parametrize(
    ("init", "says"),
    [
        ("uniform", "must be 'random', a MarkovNetwork or tables"),
        (3, "Got 3 instead"),
        ({"A:B": np.ones((2, 3))}, "no table for the clique B:C"),
        ({"A:B": [[1, 2], [3, 4]], "B:C": 1, "C:D": 1, "D:A": 1}, r"in the shape \(2, 3\)"),
        ({"A:B": np.zeros((2, 3)), "B:C": 1, "C:D": 1, "D:A": 1}, "positive finite"),
        ({"A:B": np.full((2, 3), np.inf), "B:C": 1, "C:D": 1, "D:A": 1}, "positive finite"),
        ({"A:B": "x", "B:C": 1, "C:D": 1, "D:A": 1}, "positive finite"),
    ],
)
def test_starts_that_are_none_are_refused(init: Any, says: str) -> None:
    with pytest.raises(sf.ArgumentError, match=says):
        sf.fit(CLIQUES, ring_data(), init=init)


def test_a_start_for_other_cliques_is_refused() -> None:
    model = sf.fit(sf.Cliques(RING + " + A:C"), ring_data(), prior=sf.BDeu(1)).model
    with pytest.raises(sf.ArgumentError, match="A:C, which is none of the cliques"):
        sf.fit(CLIQUES, ring_data(), init=model)


# Settings -----------------------------------------------------------------------------------------------------


@iterative
def test_too_few_steps_are_not_certified_and_noted(way: dict[str, Any]) -> None:
    data = {k: ring_data()[k] for k in "ABC"}
    fit = sf.fit(sf.Cliques("A:B + B:C + A:C"), data, **{**way, "max_iter": 1, "tol": 1e-12})
    assert not fit.certificate.ok
    assert "the match of margins is violated" in fit.certificate.verdict
    notes = " ".join(note.text for note in fit.notes)
    assert "Not converged after 1 step:" in notes or "Not converged after 2 steps:" in notes
    assert "allow more" in notes


@pytest.mark.parametrize(
    ("keywords", "error", "says"),
    [
        ({"method": "gradient", "options": {"step": 100.0}}, sf.EstimationError, "step size 100 .*such as 10"),
        ({"method": "gradient", "options": {"step": 0}}, sf.ArgumentError, "'step' must be a positive number"),
        ({"method": "gradient", "options": {"step": math.inf}}, sf.ArgumentError, "'step' must be a positive number"),
        ({"method": "gradient", "options": {"step": "a"}}, sf.ArgumentError, "step"),
        ({"method": "gradient", "options": {"space": "cells"}}, sf.ArgumentError, r"'space'.*\['log', 'psi'\]"),
        ({"method": "gradient", "options": {"rate": 1}}, sf.ArgumentError, "no option 'rate'"),
        ({"method": "ipf", "options": {"simultaneous": "yes"}}, sf.ArgumentError, "'simultaneous' must be True or"),
        ({"method": "newton", "options": {"step": 1}}, sf.ArgumentError, "no option 'step'. It has none"),
        ({"method": "closed_form"}, sf.EstimationError, "not decomposable.*A - B - C - D - A"),
        ({"method": "gis"}, sf.UnknownNameError, "no method 'gis' for sf.Cliques"),
        ({"max_iter": -1}, sf.ArgumentError, "max_iter"),
        ({"tol": 2}, sf.ArgumentError, "tol"),
        ({"fixed": {"A": [1, 2]}}, sf.ArgumentError, "cliques have none"),
        ({"prior": sf.K2()}, sf.ArgumentError, "one joint distribution"),
        ({"prior": sf.Jeffreys()}, sf.ArgumentError, "one joint distribution"),
        ({"prior": sf.Dirichlet(2)}, sf.ArgumentError, "one joint distribution"),
        ({"prior": sf.BDeu}, sf.ArgumentError, "one joint distribution"),
        ({"prior": 3}, sf.ArgumentError, "Got 3 instead"),
        ({"point": "map"}, sf.ArgumentError, "asks for an estimate under a prior"),
        ({"point": "mean", "prior": sf.BDeu(1)}, sf.SufficeError, "mean"),
        ({"prior": sf.Gaussian(1), "method": "ipf"}, sf.EstimationError, "is a penalty. Use 'newton' or 'lbfgs'"),
        ({"prior": sf.Laplace(1), "method": "newton"}, sf.EstimationError, "Use 'proximal'"),
    ],
)
def test_settings_that_do_not_fit_are_refused(keywords: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        sf.fit(CLIQUES, ring_data(), **keywords)


def test_a_fixed_step_in_a_good_size_converges() -> None:
    fit = sf.fit(CLIQUES, ring_data(), method="gradient", options={"step": 1.0}, max_iter=20_000)
    assert fit.certificate.ok, fit.certificate.verdict


# Data that is none --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [{}, {"method": "newton"}, {"method": "ipf"}], ids=str)
def test_bad_data_is_refused(way: dict[str, Any]) -> None:
    data = ring_data()
    empty = {k: v[:0] for k, v in data.items()}
    with pytest.raises(sf.DataError, match="nothing to learn from"):
        sf.fit(CLIQUES, empty, schema={k: ["0", "1", "2"] for k in "ABCD"}, **way)
    with pytest.raises(sf.DataError, match="nothing to learn from"):
        sf.fit(CLIQUES, data, weights=np.zeros(300), **way)
    with pytest.raises(sf.SufficeError, match="'D'"):
        sf.fit(CLIQUES, {k: data[k] for k in "ABC"}, **way)
    for bad in (-1.0, math.nan, math.inf):
        with pytest.raises(sf.DataError, match=r"[Ww]eight"):
            sf.fit(CLIQUES, data, weights=np.where(np.arange(300) == 3, bad, 1.0), **way)


def test_statistics_of_another_structure_are_refused() -> None:
    stats = sf.collect(sf.Cliques("A:B + C:D"), ring_data())
    with pytest.raises(sf.SufficeError):
        sf.estimate(sf.Cliques("A:C + B:D"), sf.collect(sf.DAG("A -> B; C -> D"), ring_data()))
    with pytest.raises(sf.ArgumentError, match="know nothing of 'E'"):
        sf.estimate(sf.Cliques("A:E"), stats)


def test_too_wide_a_graph_is_refused_with_its_numbers() -> None:
    rng = np.random.default_rng(0)
    structure = grid(40, 40)
    data = {name: rng.integers(0, 2, 20) for name in structure.variables}
    with pytest.raises(sf.EstimationError, match=r"too wide for a fit through its junction tree.*\d{2}.*narrower"):
        sf.fit(structure, data)


@pytest.mark.parametrize("cells", [1 << 12, 0])
def test_a_start_that_gives_a_margin_no_mass_is_refused(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.inference.clique_family.TABLE_CELLS", cells)
    init = {"A:B": np.ones((2, 3)), "B:C": np.ones((3, 3)), "C:D": np.ones((3, 2)), "D:A": np.ones((2, 2))}
    init["A:B"][0], init["D:A"][:, 0] = 1e-300, 1e-300
    with pytest.raises(sf.EstimationError, match="the start gives some cells of a margin no mass"):
        sf.fit(CLIQUES, ring_data(), init=init, method="ipf")


@iterative
def test_no_steps_at_all_give_the_start(way: dict[str, Any]) -> None:
    fit = sf.fit(CLIQUES, ring_data(), **{**way, "max_iter": 0})
    assert not fit.certificate.ok
    assert fit.trace == ()
    np.testing.assert_allclose(joint(fit), -math.log(36))
