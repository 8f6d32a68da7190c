"""EM for Markov random fields and log-linear models, against all completions of all rows, one by one."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import suffice as sf
from suffice.learn.method import Problem
from suffice.learn.undirected_em import _clique_expectation, _feature_expectation

NAMES = "abcd"
SCHEMA = {name: sf.categorical([0, 1]) for name in NAMES}
CHAIN, CYCLE = sf.Cliques("a:b + b:c + c:d"), sf.Cliques("a:b + b:c + c:d + a:d")
TRIANGLE = sf.Ising("a:b + b:c + a:c")
MIXED = sf.Features([sf.indicator(a=1, b=1), sf.product("b", "c"), sf.indicators("d")])
STRUCTURES = (CHAIN, CYCLE, sf.Cliques("a:b + b:c + a:c"), TRIANGLE, MIXED, sf.Potts("a:b + b:c", tie="couplings"))


def columns(structure: Any, rows: list[tuple[int | None, ...]]) -> dict[str, list[int | None]]:
    return {name: [row[NAMES.index(name)] for row in rows] for name in structure.columns}


def schema_of(structure: Any) -> dict[str, Any]:
    return {name: SCHEMA[name] for name in structure.columns}


def fitted(structure: Any, rows: list[tuple[int | None, ...]], **settings_: Any) -> sf.Fit:
    return sf.fit(structure, columns(structure, rows), missing="em", schema=schema_of(structure), **settings_)


def some_rows(n: int, share: float, seed: int, coupled: float = 0.6) -> list[tuple[int | None, ...]]:
    """Return rows of a chain in which values are missing at random."""
    chance, found = np.random.default_rng(seed), []
    for _ in range(n):
        row = [int(chance.random() < 0.5)]
        for _ in NAMES[1:]:
            row.append(row[-1] if chance.random() < coupled else int(chance.random() < 0.4))
        found.append(tuple(None if chance.random() < share else value for value in row))
    return found


def completions(row: tuple[int | None, ...], variables: tuple[str, ...]) -> list[tuple[int, ...]]:
    seen = [row[NAMES.index(name)] if name in NAMES else None for name in variables]
    return list(itertools.product(*([value] if value is not None else [0, 1] for value in seen)))


def naive_log_likelihood(model: Any, rows: list[tuple[int | None, ...]]) -> float:
    """Return Σ log Σ p over all completions of every row."""
    variables = tuple(model.variables)
    table = dict(zip(itertools.product((0, 1), repeat=len(variables)), joint(model).reshape(-1), strict=True))
    return math.fsum(math.log(math.fsum(table[cell] for cell in completions(row, variables))) for row in rows)


def joint(model: Any) -> np.ndarray:
    grid = np.indices([2] * len(model.variables)).reshape(len(model.variables), -1)
    found = model.log_prob_of(dict(zip(model.variables, grid, strict=True)), grid.shape[1])
    return np.exp(found).reshape([2] * len(model.variables))


@st.composite
def cases(draw: Any) -> tuple[Any, list[tuple[int | None, ...]]]:
    structure = draw(st.sampled_from(STRUCTURES))
    value = st.sampled_from([0, 1, 0, 1, None])
    return structure, draw(st.lists(st.tuples(value, value, value, value), min_size=4, max_size=30))


# The E-step ---------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(cases(), st.integers(0, 1000))
def test_expected_counts_are_those_of_all_completions(case: Any, seed: int) -> None:
    structure, rows = case
    held = sf.collect(structure, columns(structure, rows), missing="em", schema=schema_of(structure))
    problem = Problem(structure, held, init="random", seed=seed)
    make = _clique_expectation if isinstance(structure, sf.Cliques) else _feature_expectation
    expectation = make(problem)
    log_likelihood, vector = expectation.at("random" if problem.init is None else problem.init)
    model = expectation._given()
    assert log_likelihood == pytest.approx(naive_log_likelihood(model, rows), abs=1e-9)
    p, variables = joint(model), tuple(model.variables)
    found = expectation.statistics(vector)
    for scope in expectation.scopes:
        wanted: dict[tuple[int, ...], float] = dict.fromkeys(itertools.product((0, 1), repeat=len(scope)), 0.0)
        for row in rows:
            cells = completions(row, variables)
            total = math.fsum(p[cell] for cell in cells)
            for cell in cells:
                wanted[tuple(cell[variables.index(name)] for name in scope)] += p[cell] / total
        table = found[sf.Count(scope)].table()
        assert table.reshape(-1) == pytest.approx(list(wanted.values()), abs=1e-9)


# The climb ----------------------------------------------------------------------------------------------------

FADING = [(1, 1, 1, 1), (1, None, 0, 0), (0, 0, 1, 1), (1, 1, 0, 0), (None, 1, 0, 0), (0, 0, 0, None), (None, 1, 0, 0),
          (1, 0, 0, None)]  # fmt: skip
"""Rows of which some completions fade to nothing, until the estimate lies on a face that leaves them out."""


@settings(max_examples=25)
@given(cases(), st.sampled_from([None, sf.Gaussian(1.0)]))
@example((CYCLE, FADING), None)
def test_the_objective_never_falls_and_the_end_is_stationary(case: Any, prior: Any) -> None:
    structure, rows = case
    fit = fitted(structure, rows, prior=prior)
    trace = [step.objective for step in fit.trace]
    assert all(b >= a - 1e-9 * max(1.0, abs(a)) for a, b in itertools.pairwise(trace))
    assert fit.log_likelihood == pytest.approx(naive_log_likelihood(fit.model, rows), abs=1e-7)
    assert fit.certificate.log_likelihood_gap < 1e-9
    if prior is not None:  # without one, maxima may lie at infinity, which is reached slowly
        assert fit.certificate.ok, fit.certificate.verdict


def test_completions_that_fade_away_leave_the_support() -> None:
    fit = fitted(CYCLE, FADING)
    assert fit.certificate.ok, fit.certificate.verdict
    assert any("10 cells of the joint table have the fitted probability zero" in note.text for note in fit.notes)


@pytest.mark.parametrize("structure", STRUCTURES, ids=str)
@pytest.mark.parametrize("prior", [None, sf.Gaussian(0.5), sf.Laplace(0.2)], ids=str)
def test_with_nothing_missing_em_is_the_direct_fit_in_one_step(structure: Any, prior: Any) -> None:
    rows = some_rows(60, 0.0, seed=3)
    data = columns(structure, rows)
    direct = sf.fit(structure, data, prior=prior, schema=schema_of(structure), tol=1e-9)
    by_em = fitted(structure, rows, prior=prior)
    assert len(by_em.trace) == 1
    assert by_em.log_likelihood == pytest.approx(direct.log_likelihood, abs=1e-8)
    assert np.abs(joint(by_em.model) - joint(direct.model)).max() < 1e-7
    assert by_em.certificate.ok


@pytest.mark.parametrize("ess", [1.0, 20.0])
def test_pseudo_counts_without_gaps_give_the_direct_estimate(ess: float) -> None:
    rows = some_rows(40, 0.0, seed=4)
    for structure in (CHAIN, CYCLE):
        direct = sf.fit(structure, columns(structure, rows), prior=sf.BDeu(ess), schema=schema_of(structure), tol=1e-9)
        by_em = fitted(structure, rows, prior=sf.BDeu(ess))
        assert np.abs(joint(by_em.model) - joint(direct.model)).max() < 1e-7


# Against a numerical optimiser --------------------------------------------------------------------------------


def design(structure: Any) -> np.ndarray:
    """Return sufficient statistics of every configuration that span the model, one column each."""
    grid = np.indices([2] * len(structure.variables)).reshape(len(structure.variables), -1).T
    spins = {name: 2.0 * grid[:, place] - 1 for place, name in enumerate(structure.variables)}
    if isinstance(structure, sf.Cliques):
        return np.stack([np.prod([spins[name] for name in term], axis=0) for term in structure.terms], axis=1)
    fields = [spins[name] for name in structure.variables]
    return np.stack([*fields, *(spins[a] * spins[b] for a, b in structure.edges)], axis=1)


def best_by_scipy(structure: Any, rows: Any, price: float) -> tuple[float, np.ndarray]:
    """Return the largest ℓ − price |w|² / 2, and the joint table there."""
    f, variables = design(structure), tuple(structure.variables)
    place = {cell: number for number, cell in enumerate(itertools.product((0, 1), repeat=len(variables)))}
    members = np.zeros((len(rows), len(f)))
    for number, row in enumerate(rows):
        members[number, [place[cell] for cell in completions(row, variables)]] = 1

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        score = f @ w
        p = np.exp(score - score.max())
        p /= p.sum()
        seen = members @ p
        slope = (members * p / seen[:, None]).sum(axis=0) @ f - len(rows) * (p @ f)
        return -np.log(seen).sum() + price * w @ w / 2, -slope + price * w

    found = minimize(loss, np.zeros(f.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 10_000})
    score = f @ found.x
    return -float(found.fun), np.exp(score - score.max()) / np.exp(score - score.max()).sum()


@pytest.mark.parametrize("structure", [CYCLE, CHAIN, sf.Cliques("a:b + b:c + a:c"), TRIANGLE, sf.Ising(CYCLE)], ids=str)
@pytest.mark.parametrize("share", [0.1, 0.35])
def test_em_finds_what_a_numerical_optimiser_finds(structure: Any, share: float) -> None:
    rows = some_rows(150, share, seed=11, coupled=0.4)
    fit = fitted(structure, rows)
    best, table = best_by_scipy(structure, rows, 0.0)
    assert fit.certificate.ok
    assert fit.log_likelihood == pytest.approx(best, abs=1e-6)
    assert np.abs(joint(fit.model).reshape(-1) - table).max() < 1e-5


def test_a_penalised_ising_triangle_is_that_of_a_numerical_optimiser() -> None:
    rows = some_rows(40, 0.3, seed=5)
    fit = fitted(TRIANGLE, rows, prior=sf.Gaussian(0.5))
    best, table = best_by_scipy(TRIANGLE, rows, 1 / 0.5**2)
    assert fit.trace[-1].objective == pytest.approx(best, abs=1e-7)
    assert np.abs(joint(fit.model).reshape(-1) - table).max() < 1e-6


# Latent variables ---------------------------------------------------------------------------------------------


def test_latent_cliques_are_the_latent_class_model_of_a_network() -> None:
    rows = some_rows(120, 0.15, seed=7)
    structure = sf.Cliques("h:a + h:b + h:c", latent={"h": 2})
    fit = fitted(structure, rows, seed=1)
    assert structure.columns == ("a", "b", "c")
    assert fit.certificate.ok
    assert len(fit.starts) == 5
    assert fit.log_likelihood == pytest.approx(naive_log_likelihood(fit.model, rows), abs=1e-8)
    again = fitted(structure, rows, seed=1)
    assert again.log_likelihood == fit.log_likelihood
    directed = fitted(sf.DAG("h -> a; h -> b; h -> c", latent={"h": 2}), rows, seed=1)
    assert fit.log_likelihood == pytest.approx(directed.log_likelihood, abs=1e-5)


def test_a_restricted_boltzmann_machine_is_learnt() -> None:
    rows = some_rows(120, 0.1, seed=8)
    machine = sf.Boltzmann([("h", name) for name in NAMES], latent={"h": 2})
    fit = fitted(machine, rows, prior=sf.Gaussian(2.0), seed=2)
    assert fit.certificate.ok
    assert fit.log_likelihood == pytest.approx(naive_log_likelihood(fit.model, rows), abs=1e-8)
    assert fit.model.couplings.values.shape == (5, 5)


def test_a_latent_state_without_rows_is_told() -> None:
    structure = sf.Cliques("h:a", latent={"h": 2})
    data = {"a": ["x", "x", "x"]}
    fit = sf.fit(structure, data, schema={"a": ["x", "y"]}, init={("h", "a"): [[1.0, 1.0], [1e-13, 1.0]]})
    assert any("lost all rows" in note.text for note in fit.notes)


# Starts -------------------------------------------------------------------------------------------------------


def test_a_given_start_is_used() -> None:
    rows = some_rows(80, 0.2, seed=9)
    for structure in (CYCLE, TRIANGLE):
        first = fitted(structure, rows)
        again = fitted(structure, rows, init=first.model)
        assert again.starts[0].name == "given"
        assert len(again.trace) <= 2
        assert again.log_likelihood == pytest.approx(first.log_likelihood, abs=1e-7)


def test_restarts_are_listed_and_reproducible() -> None:
    rows = some_rows(80, 0.3, seed=10)
    fits = [fitted(CYCLE, rows, restarts=3, seed=5) for _ in range(2)]
    assert fits[0].starts == fits[1].starts
    assert [start.name for start in fits[0].starts] == ["available", "random", "random"]
    best = max(start.objective for start in fits[0].starts)
    assert fits[0].trace[-1].objective == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("inner", ["newton", "adaptive", "lbfgs"])
def test_every_inner_method_leads_to_the_same_end(inner: str) -> None:
    rows = some_rows(100, 0.2, seed=12)
    wanted = fitted(CYCLE, rows)
    fit = fitted(CYCLE, rows, options={"inner": inner})
    assert fit.log_likelihood == pytest.approx(wanted.log_likelihood, abs=1e-7)
    assert fit.certificate.ok


# The boundary -------------------------------------------------------------------------------------------------


def test_rows_on_a_face_keep_their_extended_estimate() -> None:
    """Haberman's (1974) pattern: no pair is missing, and still there is no estimate without three-way interaction."""
    cells = [cell for cell in itertools.product((0, 1), repeat=3) if len(set(cell)) > 1]
    rows = [(*cell, d) for cell in cells for d in (0, 1, None) for _ in range(2)]
    fit = fitted(sf.Cliques("a:b + b:c + a:c + c:d"), rows)
    assert fit.certificate.ok
    assert any("does not exist" in note.text for note in fit.notes)
    assert fit.log_likelihood == pytest.approx(len(rows) * math.log(1 / 6) + 24 * math.log(1 / 2), abs=1e-6)


def test_a_row_without_any_value_changes_nothing() -> None:
    rows = some_rows(60, 0.2, seed=13)
    without = fitted(CYCLE, [row for row in rows if any(value is not None for value in row)])
    more = fitted(CYCLE, [*rows, (None,) * 4, (None,) * 4])
    assert more.log_likelihood == pytest.approx(without.log_likelihood, abs=1e-6)
    assert np.abs(joint(more.model) - joint(without.model)).max() < 1e-5


# Refusals -----------------------------------------------------------------------------------------------------


def test_what_has_no_expected_counts_is_refused() -> None:
    data = {"a": [0, 1, None], "x": [0.5, 0.25, 0.75]}
    conditional = sf.Features([sf.product("x", sf.indicators("a"))], given=["x"])
    with pytest.raises(sf.EstimationError, match="no distribution"):
        sf.fit(conditional, data, missing="em")
    density = sf.Features([sf.product("x", sf.indicators("a"))], support={"x": (0, 1)})
    with pytest.raises(sf.EstimationError, match="continuous variables"):
        sf.fit(density, data, missing="em")
    for method in ("pseudo_likelihood", "stochastic", "newton"):
        with pytest.raises(sf.EstimationError, match="complete rows"):
            sf.fit(TRIANGLE, columns(TRIANGLE, some_rows(5, 0.3, seed=1)), missing="em", method=method)
    with pytest.raises(sf.EstimationError, match="'h' is latent"):
        sf.fit(sf.Cliques("h:a", latent={"h": 2}), {"a": [0, 1]}, method="newton")


def test_a_column_without_values_needs_its_states() -> None:
    data = {"a": ["x", "y", None], "b": [None, None, None]}
    with pytest.raises(sf.SchemaError, match="'b'"):
        sf.fit(sf.Cliques("a:b"), data, missing="em")
    fit = sf.fit(sf.Cliques("a:b"), data, missing="em", schema={"b": ["u", "v"]})
    assert fit.log_likelihood == pytest.approx(2 * math.log(0.5), abs=1e-9)
    assert any("No row has a value of ['b']" in note.text for note in fit.notes)


def test_unknown_inner_methods_are_named() -> None:
    rows = some_rows(10, 0.2, seed=1)
    with pytest.raises(sf.ArgumentError, match="'inner' option"):
        fitted(CYCLE, rows, options={"inner": "ipf2"})
    with pytest.raises(sf.EstimationError, match="cannot estimate from expected counts"):
        fitted(CYCLE, rows, options={"inner": "closed_form"})


def test_variables_that_no_row_has_together_are_named() -> None:
    data = {"A": [0, 1, 1, 0, None, None, None], "B": [None] * 4 + [0, 1, 1]}
    fit = sf.fit(sf.Cliques("A:B"), data, missing="em")
    assert any("No row has all of" in note.text and "A:B" in note.text for note in fit.notes)
    assert not any("No row has all of" in note.text for note in sf.fit(sf.Cliques("A + B"), data, missing="em").notes)
