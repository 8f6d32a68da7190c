"""The certificate of a softmax regression notices wrong answers of every kind, and proves existence where it holds."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import suffice as sf
from suffice.certify import softmax_rows as rows_module
from suffice.certify.certificate import Certificate
from suffice.certify.claim import Claim
from suffice.data.table import open_table
from suffice.families.proof import certify
from suffice.models.cpds.softmax_search import WeightedCases
from suffice.models.cpds.softmax_trouble import separated
from suffice.stats.source import BlockSource
from suffice.structures.softmax_regression import SoftmaxClasses

ONE = SoftmaxClasses("y", ["x", "z"])


def data(seed: int = 0, n: int = 120, k: int = 3) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    y = np.argmax(x @ rng.normal(size=(2, k)) + rng.gumbel(size=(n, k)), axis=1)
    return {"x": x[:, 0], "z": x[:, 1], "y": [f"c{code}" for code in y]}


def claim(fit: sf.Fit, rows: Any, weights: Any = None, **changes: Any) -> Certificate:
    source = BlockSource(open_table(rows, fit.structure.columns, schema=fit.model.schema, weights=weights))
    made: dict[str, Any] = {"model": fit.model, "log_likelihood": fit.log_likelihood, **changes}
    return certify(
        Claim(fit.structure, statistics=fit.statistics, point=fit.point, prior=fit.prior, source=source, **made)
    )


@pytest.mark.parametrize("prior", [None, sf.Gaussian(1.0), sf.Laplace(0.2)])
def test_moved_parameters_are_noticed_and_named(prior: Any) -> None:
    rows = data()
    fit = sf.fit(ONE, rows, prior=prior)
    assert claim(fit, rows).ok
    for place in np.ndindex(fit.model.weights.shape):
        weights = fit.model.weights.copy()
        weights[place] += 1e-5
        found = claim(fit, rows, model=replace(fit.model, weights=weights))
        assert not found.ok
        assert found.gradient_norm > 1e-7
    intercept = fit.model.intercept + np.array([1e-4, 0.0, 0.0])
    assert not claim(fit, rows, model=replace(fit.model, intercept=intercept)).ok


def test_a_weight_that_should_not_be_zero_and_one_that_should_are_noticed() -> None:
    rows = data(3)
    fit = sf.fit(ONE, rows, prior=sf.Laplace(0.05))
    zero, other = np.argwhere(fit.model.weights == 0)[0], np.argwhere(fit.model.weights != 0)[0]
    for place, value in ((zero, 1e-3), (other, 0.0)):
        weights = fit.model.weights.copy()
        weights[tuple(place)] = value
        assert not claim(fit, rows, model=replace(fit.model, weights=weights)).ok


def test_a_wrong_log_likelihood_and_other_data_are_noticed() -> None:
    rows = data()
    fit = sf.fit(ONE, rows)
    assert "log-likelihood" in claim(fit, rows, log_likelihood=fit.log_likelihood + 0.1).verdict
    other = {name: column[1:] for name, column in rows.items()}
    found = claim(fit, other)
    assert not found.ok
    assert "second count of the data" in found.verdict


def test_the_gradient_is_that_of_the_formula_written_out() -> None:
    rows, w = data(5), np.random.default_rng(0).integers(1, 5, 120)
    fit = sf.fit(ONE, rows, weights=w)
    weights = fit.model.weights + np.array([[0.1, 0, -0.1], [0, 0.2, 0]])
    found = claim(fit, rows, w, model=replace(fit.model, weights=weights))
    x = np.column_stack([rows["x"], rows["z"]])
    scores = x @ weights + fit.model.intercept
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    own = np.eye(3)[[int(label[1]) for label in rows["y"]]]
    gaps = (p - own) * w[:, None] / w.sum()
    mean = w @ x / w.sum()
    spread = np.sqrt(w @ (x - mean) ** 2 / w.sum())
    slopes = (x - mean).T @ gaps / spread[:, None]
    assert found.gradient_norm == pytest.approx(max(np.abs(slopes).max(), np.abs(gaps.sum(axis=0)).max()), rel=1e-12)
    assert found.moment_gap == pytest.approx(max(np.abs(x.T @ gaps).max(), np.abs(gaps.sum(axis=0)).max()), rel=1e-12)
    assert found.log_likelihood == pytest.approx(float((w * np.log((p * own).sum(axis=1))).sum()), rel=1e-13)


def test_extents_bound_the_intercept_and_every_input() -> None:
    rows = data(6)
    fit = sf.fit(ONE, rows)
    source = BlockSource(open_table(rows, fit.structure.columns, schema=fit.model.schema))
    found = rows_module.recomputed(
        Claim(fit.structure, model=fit.model, statistics=fit.statistics, log_likelihood=fit.log_likelihood,
              point="mle", prior=None, source=source)
    )  # fmt: skip
    np.testing.assert_allclose(found.extents, [1.0, np.abs(rows["x"]).max(), np.abs(rows["z"]).max()], rtol=1e-12)


@given(st.integers(0, 10_000), st.integers(6, 40), st.integers(2, 3), st.floats(0, 8))
@settings(max_examples=40)
def test_existence_is_claimed_as_the_linear_program_says(seed: int, n: int, k: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    y = np.argmax(size * x @ rng.normal(size=(2, k)) + rng.gumbel(size=(n, k)), axis=1)
    y[:k] = np.arange(k)
    rows = {"x": x[:, 0], "z": x[:, 1], "y": [f"c{code}" for code in y]}
    exists = sf.fit(ONE, rows).certificate.exists
    apart = separated(WeightedCases(np.zeros(n, np.int64), x, np.eye(k)[y], np.ones((1, k), bool))) is not None
    assert exists != ("yes" if apart else "no")


def test_the_bound_of_the_curvature_from_some_rows_proves_existence_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "MANY_ROWS", 10)
    assert sf.fit(ONE, data(1, 400)).certificate.exists == "yes"
    apart = {"x": np.linspace(-1, 1, 40), "z": np.random.default_rng(0).normal(size=40), "y": ["a"] * 20 + ["b"] * 20}
    assert sf.fit(ONE, apart).certificate.exists == "no"


# Separation ---------------------------------------------------------------------------------------------------


def one_sided(seed: int, n: int, k: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return rows of which those with a mark all have one class; all other classes overlap."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([(rng.random(n) < 0.1) * 1.0, rng.normal(size=n)])
    x[0, 0] = 1.0
    return x, np.where(x[:, 0] == 1, 1, rng.integers(0, k, n))


@pytest.mark.parametrize("by_program", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize(("n", "k"), [(50, 2), (200, 2), (200, 3), (3000, 2), (3000, 4)])
def test_a_mark_that_only_one_class_has_leaves_no_maximum(
    n: int, k: int, sparse: bool, by_program: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not by_program:
        monkeypatch.setattr(rows_module, "FEW_CASES", 0)
        monkeypatch.setattr(rows_module, "MOST_CASES", 0)
    x, y = one_sided(0, n, k)
    clf = sf.SoftmaxRegression().fit(csr_array(x) if sparse else x, y)
    proof = clf.fit_.certificate
    assert proof.exists == "no"
    assert re.fullmatch(r"'x0' separates (1 from \d|\d from 1) without fail", proof.boundary)
    assert proof.verdict.startswith("The maximum conditional likelihood does not exist")
    (note,) = clf.fit_.notes
    assert "does not exist: 'x0' separates" in note.text
    assert "penalty='l2'" in note.text
    assert not hasattr(clf, "coefficients_")


@given(st.integers(0, 10_000), st.integers(8, 60), st.integers(2, 3), st.integers(2, 4))
@settings(max_examples=60)
def test_whole_numbers_that_separate_are_found_as_the_linear_program_finds_them(
    seed: int, n: int, k: int, n_values: int
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, n_values, (n, 2)).astype(float)
    y = rng.integers(0, k, n)
    y[x.sum(axis=1) >= n_values] = 0
    y[:k], x[:3] = np.arange(k), np.array([[0, 0], [1, 0], [0, 1]])
    rows = {"x": x[:, 0], "z": x[:, 1], "y": [f"c{code}" for code in y]}
    exists = sf.fit(ONE, rows).certificate.exists
    apart = separated(WeightedCases(np.zeros(n, np.int64), x, np.eye(k)[y], np.ones((1, k), bool))) is not None
    assert exists == ("no" if apart else "yes")


def test_separation_without_intercepts_and_of_many_rows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "FEW_CASES", 0)
    monkeypatch.setattr(rows_module, "MOST_CASES", 0)
    through_zero = sf.SoftmaxRegression(intercept=False).fit([[-1.0], [-2.0], [1.0], [2.0]], [0, 0, 1, 1])
    assert through_zero.fit_.certificate.exists == "no"
    x = np.random.default_rng(0).normal(size=(4000, 5))
    proof = sf.SoftmaxRegression().fit(x, x[:, 0] + 0.5 * x[:, 3] > 0).fit_.certificate
    assert proof.exists == "no"
    assert re.match(r"x0 \+ 0\.(5|499)\d*·x3", proof.boundary)


def test_strong_slopes_that_separate_nothing_are_proven_without_a_linear_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*arguments: Any) -> None:
        raise AssertionError("a linear program was asked")

    monkeypatch.setattr("suffice.certify.softmax_existence.separated", refused)
    rng = np.random.default_rng(0)
    for x, size in ((rng.normal(size=(3000, 3)), 8.0), (rng.normal(size=(1000, 20)) @ rng.normal(size=(20, 20)), 0.3)):
        scores = x @ rng.normal(0, size, (x.shape[1], 3))
        proof = sf.SoftmaxRegression().fit(x, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)).fit_.certificate
        assert proof.exists == "yes", proof.verdict


def test_what_is_undecided_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.certify.softmax_existence.PROVEN", 0.0)
    proof = sf.fit(ONE, data()).certificate
    assert proof.exists == "undecided"
    assert "if there is one, which is undecided" in proof.verdict


def test_an_information_that_is_not_that_of_the_data_is_noticed() -> None:
    rows = data()
    fit = sf.fit(ONE, rows)
    for other in (4 * fit.model.information, fit.model.information[:3, :3]):
        found = claim(fit, rows, model=replace(fit.model, information=other))
        assert not found.ok
        assert "standard errors" in found.verdict
