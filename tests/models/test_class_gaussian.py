"""Normal classes as a model: posteriors, gaps, draws, other forms, and files."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from tests.conformance.copies import check_copies
from tests.learn.class_gaussian_cases import NAMES, table

import suffice as sf
from suffice.data.matrix import MatrixTable
from suffice.data.variable import Variable
from suffice.models.class_gaussian import ClassGaussianModel
from suffice.models.class_gaussian_scores import Densities, scores_with_gaps
from suffice.stats.source import BlockSource
from suffice.structures.class_gaussian import ClassGaussian

KINDS: dict[str, dict[str, Any]] = {
    "full": {},
    "tied": {"covariance": "tied"},
    "diagonal": {"covariance": "diagonal"},
    "tied_diagonal": {"covariance": "tied_diagonal"},
    "spherical": {"covariance": "spherical"},
    "tied_spherical": {"covariance": "tied_spherical"},
    "graph": {"covariance": "sparse", "graph": "x:y + z"},
    "lasso": {"covariance": "sparse", "alpha": 0.2},
    "shrunk": {"covariance": "tied", "shrinkage": "ledoit_wolf", "class_prior": 1.0},
}
BAYES = {f"bayes {kind}": {"covariance": kind, "bayes": True} for kind in list(KINDS)[:6]}


def fitted(kind: str, seed: int = 0, spread: int = 0) -> tuple[sf.Fit, dict[str, Any]]:
    data = table(seed, spread=spread)
    return sf.fit(ClassGaussian("class", NAMES, **{**KINDS, **BAYES}[kind]), data), data


def by_hand(model: ClassGaussianModel, row: list[float]) -> np.ndarray:
    """Return log p(x | y) of one row, its NaN left out, by SciPy."""
    known = [place for place, value in enumerate(row) if not np.isnan(value)]
    if not known:
        return np.zeros(model.target.n_states)
    values = [
        multivariate_normal(model.means[code, known], model.covariance(label)[np.ix_(known, known)]).logpdf(
            np.array(row)[known]
        )
        for code, label in enumerate(model.target.labels)
    ]
    return np.array(values)


VALUES = st.one_of(st.just(float("nan")), st.floats(-20, 20))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(seed=st.integers(0, 20), rows=st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=6))
def test_gaps_are_integrated_out_exactly(kind: str, seed: int, rows: list[tuple[float, ...]]) -> None:
    model = fitted(kind, seed)[0].model
    columns = dict(zip(NAMES, np.array(rows).T, strict=True))
    wanted = np.array([by_hand(model, list(row)) for row in rows])
    found = model.log_likelihoods_of(columns, len(rows))
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)
    scores = wanted + np.log(model.class_prior)
    wanted_p = np.exp(scores - scores.max(axis=1, keepdims=True))
    wanted_p /= wanted_p.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(model.log_posteriors_of(columns, len(rows))), wanted_p, atol=1e-8)


@pytest.mark.parametrize("kind", [*KINDS, *BAYES])
def test_the_two_rules_and_the_answers_agree(kind: str) -> None:
    fit, data = fitted(kind)
    model = fit.model
    posterior = model.query_rows("class", data).values
    columns = {name: data[name] for name in NAMES}
    np.testing.assert_array_equal(posterior.argmax(axis=1), model.scores_of(columns, 40).argmax(axis=1))
    uniform = model.with_class_priors("uniform").query_rows("class", data).values
    np.testing.assert_array_equal(uniform.argmax(axis=1), model.scores_of(columns, 40, "ml").argmax(axis=1))
    np.testing.assert_allclose(np.exp(model.log_posteriors_of(columns, 40)), posterior, atol=1e-10)
    one = model.query("class", {name: float(data[name][7]) for name in NAMES})
    np.testing.assert_allclose(one.values, posterior[7], atol=1e-12)
    with pytest.raises(sf.ArgumentError, match="'rule'"):
        model.scores_of(columns, 40, "max")


@pytest.mark.parametrize("kind", KINDS)
def test_softmax_form_has_the_same_posteriors(kind: str) -> None:
    for seed in range(5):
        fit, data = fitted(kind, seed, spread=2 if kind != "lasso" else 0)
        softmax = fit.model.to_softmax()
        ours, theirs = (model.query_rows("class", data).values for model in (fit.model, softmax))
        np.testing.assert_allclose(theirs, ours, atol=1e-10)
        assert (len(softmax.terms) == 3) == fit.structure.is_tied
        assert fit.model.log_odds("a", "b").is_linear == fit.structure.is_tied


def test_sparse_classes_have_terms_for_their_edges_only() -> None:
    fit, _ = fitted("graph")
    assert [str(term) for term in fit.model.to_softmax().terms] == ["x", "y", "z", "x²", "x·y", "y²", "z²"]


def test_far_from_zero_digits_are_kept() -> None:
    data = table(1, spread=0)
    far = {**data, **{name: data[name] + 1e7 for name in NAMES}}
    for kind in ("full", "tied", "diagonal"):
        structure = ClassGaussian("class", NAMES, **KINDS[kind])
        near, moved = sf.fit(structure, data).model, sf.fit(structure, far).model
        ours, theirs = near.query_rows("class", data).values, moved.query_rows("class", far).values
        np.testing.assert_allclose(theirs, ours, atol=1e-6)
        np.testing.assert_allclose(moved.to_softmax().query_rows("class", far).values, theirs, atol=1e-10)


def test_tight_classes_far_apart_keep_their_densities() -> None:
    means = np.array([[0.0, 0.0], [1e6, -1e6], [3.0, 1e6]])
    matrix = np.array([[1.0, 0.5], [0.5, 2.0]])
    x = means + np.array([0.25, -0.5])
    for spread in (matrix[None], np.array([matrix] * 3)):
        found = np.diag(Densities("matrix", means, spread).scorer()(x))
        wanted = multivariate_normal(np.zeros(2), matrix).logpdf([0.25, -0.5])
        np.testing.assert_allclose(found, wanted, atol=1e-6)


@pytest.mark.parametrize("kind", ["full", "tied", "diagonal", "tied_spherical", "bayes full", "bayes diagonal"])
def test_infinite_inputs_are_named(kind: str) -> None:
    model = fitted(kind)[0].model
    columns = {name: np.zeros(3) for name in NAMES}
    columns["y"] = np.array([0.0, 0.0, -np.inf])
    with pytest.raises(sf.DataError, match=r"Column 'y', row 3: -inf"):
        model.log_likelihoods_of(columns, 3)
    with pytest.raises(sf.DataError, match=r"Column 'y', row 3: -inf"):
        model.log_posteriors_of(columns, 3)


@pytest.mark.parametrize("kind", ["full", "tied", "bayes spherical"])
def test_infinite_inputs_are_named_by_their_row_in_the_table(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fit, data = fitted(kind)
    data["z"][37] = np.inf
    monkeypatch.setattr(BlockSource, "each", _in_blocks_of_ten)
    for ask in (lambda: fit.model.query_rows("class", data), lambda: fit.model.log_prob(data)):
        with pytest.raises(sf.DataError, match=r"Column 'z', row 38: inf"):
            ask()


def _in_blocks_of_ten(source: BlockSource, function: Any) -> Any:
    return (function(part) for block in source.table.blocks() for part in block.split(10))


def test_rows_come_from_matrices_without_another_answer() -> None:
    fit, data = fitted("full")
    matrix = np.stack([data[name] for name in NAMES], axis=1)
    matrix[5, 1] = np.nan
    beside = MatrixTable(matrix, tuple(Variable(name) for name in NAMES))
    gap = {**data, "y": np.where(np.arange(40) == 5, np.nan, data["y"])}
    ours, theirs = (fit.model.query_rows("class", rows).values for rows in (beside, gap))
    np.testing.assert_array_equal(ours, theirs)
    codes = np.searchsorted(list("abc"), data["class"])
    whole = MatrixTable(np.stack([data[name] for name in NAMES], axis=1), fit.model.inputs, {"class": codes},
                        (fit.model.target,))  # fmt: skip
    again = sf.fit(fit.structure, whole)
    np.testing.assert_allclose(again.model.spread, fit.model.spread, rtol=1e-12)


def test_many_rows_in_pieces_are_the_same_as_one_by_one() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(9000, 3))
    x[::17, 1] = np.nan
    for kind in [*KINDS, *BAYES]:
        model = fitted(kind)[0].model
        found = model.log_likelihoods_of(dict(zip(NAMES, x.T, strict=True)), 9000)
        picked = [0, 17, 4095, 4096, 8999]
        alone = scores_with_gaps(model._densities, x[picked])
        np.testing.assert_allclose(found[picked], alone, rtol=1e-10, atol=1e-10)


# Draws, forms, files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*KINDS, "bayes full", "bayes diagonal"])
def test_draws_have_the_moments(kind: str) -> None:
    fit, _ = fitted(kind)
    model = fit.model
    drawn = model.sample(60_000, seed=1, backend="pandas")
    for code, label in enumerate("abc"):
        mine = drawn[drawn["class"] == label][list(NAMES)].to_numpy()
        share = len(mine) / 60_000
        assert share == pytest.approx(model.class_prior[code], abs=0.02)
        wanted = model.covariance(label)
        roots = np.sqrt(np.diag(wanted))
        assert np.abs((mine.mean(axis=0) - model.means[code]) / roots).max() < 0.06
        assert np.abs((np.cov(mine.T) - wanted) / np.outer(roots, roots)).max() < (
            0.2 if model.dof is not None else 0.06
        )


def test_fishers_directions_solve_their_eigenproblem() -> None:
    x, y = load_iris(return_X_y=True)
    names = [f"x{j}" for j in range(4)]
    data = {**dict(zip(names, x.T, strict=True)), "class": y}
    model = sf.fit(ClassGaussian("class", names, covariance="tied", divisor="n-1"), data).model
    found = model.discriminants
    between = 50 / 2 * np.cov(model.means.T, ddof=0) * 3
    values, vectors = eigh(between, model.spread[0])
    np.testing.assert_allclose(found.singular_values**2, values[:-3:-1], rtol=1e-10)
    np.testing.assert_allclose(np.abs(found.directions), np.abs(vectors[:, :-3:-1]), rtol=1e-7)
    assert (found.directions[np.abs(found.directions).argmax(axis=0), [0, 1]] > 0).all()
    reference = LinearDiscriminantAnalysis(solver="svd").fit(x, y)
    ratio = found.project(data) / reference.transform(x)  # which is in other units
    np.testing.assert_allclose(np.abs(ratio), abs(ratio[0, 0]), rtol=1e-8)
    assert found.proportions.round(4).tolist() == [0.9912, 0.0088]
    assert "LD2" in str(found)
    means = np.array([found.project(data)[y == code].mean(axis=0) for code in range(3)])
    within = found.project(data) - means[y]
    np.testing.assert_allclose(within.T @ within / 147, np.eye(2), atol=1e-9)


def test_fishers_directions_are_of_linear_classifiers_only() -> None:
    for kind, remedy in (
        ("full", "covariance='tied'"),
        ("diagonal", "covariance='tied'"),
        ("bayes tied", "bayes=False"),
    ):
        with pytest.raises(sf.ModelError, match=remedy):
            _ = fitted(kind)[0].model.discriminants


def test_distributions_of_a_class() -> None:
    model = fitted("full")[0].model
    assert model.given("b").names == NAMES
    np.testing.assert_allclose(model.given("b").covariance, model.covariance("b"))
    np.testing.assert_allclose(model.precision("b") @ model.covariance("b"), np.eye(3), atol=1e-9)
    assert model.mean[{"class": "b", "input": "y"}] == model.means[1, 1]
    student = fitted("bayes tied")[0].model
    np.testing.assert_allclose(student.given("a").covariance, student.covariance("a"))
    with pytest.raises(sf.ModelError, match="of its own"):
        fitted("bayes diagonal")[0].model.given("a")
    with pytest.raises(sf.SufficeError):
        model.covariance("q")


def test_few_degrees_of_freedom_have_no_covariance() -> None:
    rng = np.random.default_rng(0)
    data = {**{name: rng.normal(size=8) for name in NAMES}, "class": list("aaaabbbb")}
    model = sf.fit(ClassGaussian("class", NAMES, bayes=True), data).model
    with pytest.raises(sf.ModelError, match="1 degrees of freedom"):
        model.covariance("a")


@pytest.mark.parametrize("kind", [*KINDS, *BAYES])
def test_fits_can_be_copied_and_saved(kind: str, tmp_path: Path) -> None:
    fit, data = fitted(kind)
    check_copies(fit, data, tmp_path)


@pytest.mark.parametrize("kind", [*KINDS, *BAYES])
def test_it_prints(kind: str) -> None:
    model = fitted(kind)[0].model
    assert "class" in str(model)
    assert "mean of x" in str(model)
    assert "<table>" in model._repr_html_()
    assert repr(model).startswith("ClassGaussianModel('class', 3 classes, 3 inputs")


@pytest.mark.parametrize(
    "changes",
    [
        {"class_prior": np.array([0.5, 0.6, 0.1])},
        {"means": np.zeros((2, 3))},
        {"spread": np.zeros((3, 3, 3))},
        {"spread": np.array([np.diag([1.0, 1.0, -1.0])] * 3)},
        {"dof": np.array([1.0, 2.0, 3.0])},
        {"n": 0.0},
        {"means": np.full((3, 3), np.nan)},
    ],
)
def test_improper_parameters_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(sf.ModelError):
        dataclasses.replace(fitted("full")[0].model, **changes)


def test_a_table_of_long_names_stays_within_a_line() -> None:
    rng = np.random.default_rng(0)
    names = [f"a rather long name {place}" for place in range(30)]
    data = {**dict(zip(names, rng.normal(size=(30, 80)), strict=True)), "class": ["a", "b"] * 40}
    said = str(sf.fit(ClassGaussian("class", names, covariance="diagonal"), data).model)
    assert max(map(len, said.split("\n"))) <= 100
    n_shown = said.partition("\n")[0].count("mean of")
    assert n_shown >= 2
    assert f"{30 - n_shown} further inputs not shown" in said
