"""The certificate of a softmax regression notices wrong answers of every kind, and proves existence where it holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.certify import Certificate, Claim, certify
from suffice.certify import softmax_rows as rows_module
from suffice.data.table import open_table
from suffice.models.cpds.softmax_search import Cases
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


@given(st.integers(0, 10_000), st.integers(6, 40), st.integers(2, 3), st.floats(0, 8))
@settings(max_examples=40)
def test_existence_is_claimed_as_the_linear_program_says(seed: int, n: int, k: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    y = np.argmax(size * x @ rng.normal(size=(2, k)) + rng.gumbel(size=(n, k)), axis=1)
    y[:k] = np.arange(k)
    rows = {"x": x[:, 0], "z": x[:, 1], "y": [f"c{code}" for code in y]}
    exists = sf.fit(ONE, rows).certificate.exists
    apart = separated(Cases(np.zeros(n, np.int64), x, np.eye(k)[y], np.ones((1, k), bool))) is not None
    assert exists != ("yes" if apart else "no")


def test_the_bound_of_the_curvature_from_some_rows_proves_existence_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "MANY_ROWS", 10)
    assert sf.fit(ONE, data(1, 400)).certificate.exists == "yes"
    apart = {"x": np.linspace(-1, 1, 40), "z": np.random.default_rng(0).normal(size=40), "y": ["a"] * 20 + ["b"] * 20}
    assert sf.fit(ONE, apart).certificate.exists == "no"


def test_an_interrupted_fit_is_not_certified() -> None:
    rows = data()
    fit = sf.fit(ONE, rows)
    assert not claim(fit, rows, interrupted=True).ok
