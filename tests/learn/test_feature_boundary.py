"""Means at the end of what is possible: weights run away, the model is the limit, and the fit says so."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from tests.learn.feature_cases import Case, cases, matches, said

import suffice as sf

SLOW = 3000
"""Steps that iterative scaling may take before it is looked for a face."""
METHODS = ["lbfgs", "newton", "cg", "gis"]
FIVE = {"A": list("xxyyx"), "B": list("uvuvv"), "C": list("pqppq")}
TRIANGLE = sf.Features([sf.indicators("A", "B"), sf.indicators("B", "C"), sf.indicators("A", "C")])
HABERMAN = np.array([[[0.0, 3], [4, 5]], [[2, 6], [1, 0]]])


def pairs_of(table: Any) -> Case:
    """Return the model of all pairs of three variables, as indicators."""
    functions = {}
    for scope in itertools.combinations("ABC", 2):
        for labels in itertools.product("01", repeat=2):
            wanted = dict(zip(scope, labels, strict=True))
            functions[said(wanted)] = matches(wanted)
    specs = tuple(sf.indicators(*scope) for scope in itertools.combinations("ABC", 2))
    return Case(specs, functions, dict.fromkeys("ABC", ("0", "1")), table)


# Against a linear programme -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["lbfgs", "newton", "gis"])
@given(case=cases(zeros=0.5))
@settings(max_examples=20)
def test_estimates_exist_where_a_linear_programme_says_so_and_else_are_limits(method: str, case: Case) -> None:
    fit = case.fit(method=method, max_iter=SLOW)
    # Iterative scaling may stop a little early; see test_gis.py. Its rate has no bound: where features nearly determine
    # each other or a state is rare, no number of steps is enough, and it says so.
    unfinished = any(note.text.startswith("Not converged after 3,000 steps") for note in fit.notes)
    assume(method != "gis" or fit.certificate.ok or not unfinished)
    assert fit.certificate.ok or (method == "gis" and fit.certificate.gradient_norm < 1e-6), fit.certificate.verdict
    assert fit.certificate.exists == ("yes" if case.support.all() else "no")
    p = case.joint(fit.model)
    np.testing.assert_allclose(p, case.optimum, atol=1e-6)
    np.testing.assert_array_equal(p > 0, case.support)
    assert fit.log_likelihood == pytest.approx(case.log_likelihood(case.optimum), rel=1e-7, abs=1e-6)
    said_so = [note.text for note in fit.notes if "does not exist" in note.text]
    assert bool(said_so) == (not case.support.all())
    assert (fit.certificate.boundary != "") == (not case.support.all())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(6))
def test_few_rows_of_all_pairs_are_fitted_in_the_limit(method: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = np.zeros(8)
    np.add.at(table, rng.integers(0, 8, 5), 1.0)
    case = pairs_of(table.reshape(2, 2, 2))
    fit = case.fit(method=method, max_iter=SLOW)
    assert fit.certificate.ok, fit.certificate.verdict
    np.testing.assert_allclose(case.joint(fit.model), case.optimum, atol=1e-7)
    np.testing.assert_array_equal(case.joint(fit.model) > 0, case.support)


@pytest.mark.parametrize("method", [*METHODS, "ipf"])
def test_five_rows_whose_weights_run_away_slowly(method: str) -> None:
    fit = sf.fit(TRIANGLE, FIVE, method=method, max_iter=SLOW)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "no"
    assert fit.log_likelihood == pytest.approx(sf.fit(sf.Cliques("A:B + B:C + A:C"), FIVE).log_likelihood, rel=1e-8)
    assert fit.n_free == 6
    assert fit.n_free_adjusted == 3  # four configurations are left


@given(case=cases(zeros=0.5))
@settings(max_examples=40)
def test_what_is_left_to_be_estimated_on_a_face_is_its_dimension(case: Case) -> None:
    fit = case.fit()
    left = case.values[case.support]
    centred = left - left.mean(axis=0)
    assert fit.n_free == case.rank
    assert fit.n_free_adjusted == np.linalg.matrix_rank(centred, tol=1e-9)


# One feature at its end ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("n", "side"), [([0, 0, 0], -math.inf), ([2, 2, 2], math.inf)])
def test_a_mean_at_its_least_or_largest_value_takes_the_weight_along(method: str, n: list[int], side: float) -> None:
    structure = sf.Features([sf.product("n"), sf.indicator(A="x")])
    fit = sf.fit(structure, {"n": n, "A": list("xxy")}, schema={"n": [0, 1, 2]}, method=method, max_iter=SLOW)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "no"
    assert "boundary" in fit.certificate.claim
    assert fit.model.weights["n"] == side
    assert fit.model.weights["A=x"] == pytest.approx(math.log(2), rel=1e-6)
    assert fit.model.query("n").values.tolist() == [float(k == n[0]) for k in range(3)]
    assert any(f"n to {'−' if side < 0 else '+'}∞" in note.text for note in fit.notes)
    assert (fit.n_free, fit.n_free_adjusted) == (2, 1)


@pytest.mark.parametrize("method", METHODS)
def test_a_feature_that_never_occurs_is_ruled_out(method: str) -> None:
    structure = sf.Features([sf.indicator(A="x", B="u"), sf.indicator(A="x"), sf.indicator(B="u")])
    fit = sf.fit(structure, {"A": list("xxyyy"), "B": list("vvuvu")}, method=method, max_iter=SLOW)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.model.weights["A=x & B=u"] == -math.inf
    np.testing.assert_allclose(fit.model.query(["A", "B"]).values, [[0, 0.4], [0.4, 0.2]], atol=1e-8)


def test_a_prior_keeps_weights_finite() -> None:
    structure = sf.Features([sf.product("n"), sf.indicator(A="x")])
    for prior in (sf.Gaussian(2.0), sf.Laplace(2.0)):
        fit = sf.fit(structure, {"n": [0, 0, 0], "A": list("xxy")}, schema={"n": [0, 1, 2]}, prior=prior)
        assert fit.certificate.ok, fit.certificate.verdict
        assert fit.certificate.exists == "yes"
        assert np.isfinite(fit.model.weights.to_numpy()).all()


def test_one_row_is_its_own_limit() -> None:
    fit = sf.fit(sf.Boltzmann(["a", "b"]), {"a": [1], "b": [0]}, schema={"a": [0, 1], "b": [0, 1]})
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.log_likelihood == 0
    assert fit.model.log_prob({"a": [1, 0], "b": [0, 0]}).tolist() == [0, -math.inf]


# A combination at its end -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_haberman_zeros_are_found_though_no_margin_is_zero(method: str) -> None:
    case = pairs_of(HABERMAN)
    fit = case.fit(method=method, max_iter=SLOW)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "no"
    assert np.isfinite(fit.model.weights.to_numpy()).all()
    np.testing.assert_allclose(case.joint(fit.model), HABERMAN.ravel() / HABERMAN.sum(), atol=1e-7)
    (note,) = [note.text for note in fit.notes if "does not exist" in note.text]
    assert "2 configurations get the probability zero" in note


def test_a_combination_is_named() -> None:
    structure = sf.Features([sf.product("n"), sf.product("m")])
    fit = sf.fit(structure, {"n": [0, 1, 2], "m": [2, 1, 0]}, schema={"n": [0, 1, 2], "m": [0, 1, 2]})
    assert fit.certificate.exists == "yes"  # the mean (1, 1) is well inside the square
    structure = sf.Features(
        [sf.product("n"), sf.product("m"), sf.feature(lambda n, m: (n + m - 2) ** 2, ("n", "m"), name="q")]
    )
    fit = sf.fit(structure, {"n": [0, 1, 2], "m": [2, 1, 0]}, schema={"n": [0, 1, 2], "m": [0, 1, 2]})
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.model.weights["q"] == -math.inf
    np.testing.assert_allclose(fit.model.query(["n", "m"]).values, np.eye(3)[::-1] / 3, atol=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_sliding_patterns_that_never_occur_are_ruled_out_everywhere(method: str) -> None:
    words = ["abab", "abba", "baba", "abab", "aaba"]
    rows = {f"c{i}": [word[i] for word in words] for i in range(4)}
    structure = sf.Features([sf.windows(["bb", "aa", "bbb", "aaa"], over=list(rows))])
    fit = sf.fit(structure, rows, method=method, max_iter=SLOW)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.model.weights["bbb"] == fit.model.weights["aaa"] == -math.inf
    assert fit.model.log_prob({f"c{i}": ["b", "a"] for i in range(4)}).tolist() == [-math.inf] * 2


def test_large_models_rule_cells_out_without_a_joint_table() -> None:
    names = [f"v{i}" for i in range(40)]
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(0, 2, 300) for name in names}
    rows["v1"] = rows["v1"] * (1 - rows["v0"])  # never both
    fit = sf.fit(sf.Boltzmann([(a, b) for a, b in itertools.pairwise(names)]), rows)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "no"
    assert fit.model.weights["v0:v1"] == -math.inf
    assert fit.model.query(["v0", "v1"]).values[1, 1] == 0
