"""Softmax regression: against a naive twin, SciPy and scikit-learn, under shifts, chunks and weights; its troubles."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array

import suffice as sf
from suffice.data.matrix import MatrixTable
from suffice.data.sparse_matrix import SparseTable
from suffice.data.variable import Variable
from suffice.learn import softmax_search
from suffice.learn.softmax_coordinates import Coordinates, Scaled, coordinates_of
from suffice.learn.softmax_design import SoftmaxDesign, held, terms_of
from suffice.learn.softmax_l1 import SoftmaxL1Objective
from suffice.learn.softmax_objective import SoftmaxObjective
from suffice.learn.softmax_passes import Hessian, SoftmaxGradient, SoftmaxPoint, TermMoments, run
from suffice.learn.softmax_summary import centre_of, inputs_of, needs, summary_of
from suffice.models.softmax_model import SoftmaxModel
from suffice.stats.source import BlockSource
from suffice.structures.softmax_regression import SoftmaxClasses

LETTERS = "abcdefgh"


def rows(seed: int, n: int, d: int, k: int, size: float = 1.0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return inputs and classes, each class at least twice."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    y = np.argmax(size * x @ rng.normal(size=(d, k)) + rng.gumbel(size=(n, k)), axis=1)
    y[: 2 * k] = np.tile(np.arange(k), 2)
    return x, y


def as_data(x: Any, y: Any) -> dict[str, Any]:
    return {**{f"x{j}": x[:, j] for j in range(x.shape[1])}, "y": [LETTERS[code] for code in y]}


def structure(d: int, **settings: Any) -> SoftmaxClasses:
    return SoftmaxClasses("y", [f"x{j}" for j in range(d)], **settings)


def objective(
    x: Any, y: Any, k: int, weights: Any = None, ridge: float = 0.0, intercept: bool = True
) -> SoftmaxObjective:
    """Return the function that a fit would minimise."""
    variables = tuple(Variable(f"x{j}") for j in range(x.shape[1]))
    table = MatrixTable(x, variables, {"y": y.astype(np.int64)}, (Variable("y", tuple(LETTERS[:k])),), weights)
    known, source = structure(x.shape[1], intercept=intercept), BlockSource(table)
    statistics = source.gather(needs(known, table.schema))
    moments = inputs_of(known, statistics)
    centre = centre_of(known, moments)
    design = SoftmaxDesign(terms_of(known, table.schema), table.schema["y"], {v.name: v for v in variables}, centre)
    rows_held = held(source, design, len(x))
    summary = summary_of(known, design, moments, rows_held)
    return SoftmaxObjective(rows_held, design, summary, statistics.weight, intercept, ridge)


def naive_value(theta: Any, x: Any, y: Any, k: int, weights: Any = None, ridge: float = 0.0) -> Any:
    """Return the mean of −log p plus the ridge, row by row; complex numbers pass through."""
    d = x.shape[1]
    b, slopes = theta[:k], theta[k:].reshape(k, d)
    w = np.ones(len(x)) if weights is None else weights
    total = 0.0
    for row, code, weight in zip(x, y, w, strict=True):
        scores = [b[c] + sum(slopes[c, j] * row[j] for j in range(d)) for c in range(k)]
        total = total + weight * (np.log(sum(np.exp(score) for score in scores)) - scores[code])
    return (total + ridge / 2 * (slopes**2).sum()) / w.sum()


def by_scipy(x: Any, y: Any, k: int, ridge: float = 0.0, width: float = 0.0) -> tuple[float, Any]:
    """Return the least objective and the probabilities there, by a method that shares nothing with ours."""
    n, d = x.shape
    signs = np.array([1.0, -1.0])

    def value(theta: Any) -> tuple[float, Any]:
        b, u = theta[:k], theta[k:].reshape((2, k, d) if width else (1, k, d))
        slopes = np.tensordot(signs[: len(u)], u, 1)
        scores = x @ slopes.T + b
        top = scores.max(axis=1, keepdims=True)
        p = np.exp(scores - top)
        total = p.sum(axis=1, keepdims=True)
        loss = float((top + np.log(total))[:, 0].sum() - scores[np.arange(n), y].sum())
        p /= total
        p[np.arange(n), y] -= 1
        by_slopes = p.T @ x + ridge * slopes
        extra = float(u.sum()) / width if width else ridge / 2 * float((slopes**2).sum())
        parts = [p.sum(axis=0), *(sign * by_slopes + (1 / width if width else 0) for sign in signs[: len(u)])]
        return (loss + extra) / n, np.concatenate([part.reshape(-1) for part in parts]) / n

    size = k + k * d * (2 if width else 1)
    bounds = [(None, None)] * k + [(0, None)] * (size - k) if width else None
    found = minimize(value, np.zeros(size), jac=True, method="L-BFGS-B", bounds=bounds,
                     options={"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-10})  # fmt: skip
    return float(found.fun), found.x


# Derivatives --------------------------------------------------------------------------------------------------


@given(st.integers(0, 1000), st.integers(1, 3), st.integers(2, 4), st.booleans(), st.sampled_from([0.0, 0.7]))
@settings(max_examples=15)
def test_gradient_is_that_of_the_naive_twin_by_complex_steps(
    seed: int, d: int, k: int, weighted: bool, ridge: float
) -> None:
    x, y = rows(seed, 2 * k + 5, d, k)
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, len(x)).astype(float) if weighted else None
    theta = rng.normal(size=k * (d + 1))
    value, gradient, _ = objective(x, y, k, weights, ridge).at(SoftmaxPoint(theta[k:].reshape(k, d), theta[:k]))
    assert value == pytest.approx(naive_value(theta, x, y, k, weights, ridge), rel=1e-12)
    flat = np.concatenate([gradient.intercept, gradient.slopes.reshape(-1)])
    for place in range(len(theta)):
        step = theta.astype(complex)
        step[place] += 1e-30j
        assert flat[place] == pytest.approx(naive_value(step, x, y, k, weights, ridge).imag / 1e-30, abs=1e-13)


@given(st.integers(0, 1000), st.integers(1, 4), st.integers(2, 4), st.booleans(), st.booleans())
@settings(max_examples=15)
def test_products_with_the_hessian_and_the_hessian_are_differences_of_gradients(
    seed: int, d: int, k: int, weighted: bool, sparse: bool
) -> None:
    x, y = rows(seed, 40, d, k)
    rng = np.random.default_rng(seed)
    found = objective(x, y, k, rng.random(40) + 0.1 if weighted else None, 0.3)
    if sparse:
        block = next(iter(found.source.table.blocks()))  # type: ignore[attr-defined]
        block.columns.matrix = csr_array(block.columns.matrix)
    point, v = (SoftmaxPoint(rng.normal(size=(k, d)), rng.normal(size=k)) for _ in range(2))
    _, _, product = found.at(point)
    h = 1e-5
    ahead, behind = (
        found.at(SoftmaxPoint(point.slopes + s * h * v.slopes, point.intercept + s * h * v.intercept))[1]
        for s in (1, -1)
    )
    moved = product(v)
    np.testing.assert_allclose(moved.slopes, (ahead.slopes - behind.slopes) / (2 * h), atol=1e-8)
    np.testing.assert_allclose(moved.intercept, (ahead.intercept - behind.intercept) / (2 * h), atol=1e-8)
    flat = np.concatenate([v.intercept[:, None], v.slopes], axis=1).reshape(-1)
    expected = np.concatenate([moved.intercept[:, None], moved.slopes], axis=1).reshape(-1)
    np.testing.assert_allclose(found.hessian(point) @ flat, expected, atol=1e-12)


def test_products_are_the_same_whether_probabilities_are_kept_or_not() -> None:
    x, y = rows(1, 60, 3, 3)
    point, v = (SoftmaxPoint(np.random.default_rng(s).normal(size=(3, 3)), np.zeros(3)) for s in (1, 2))
    found = objective(x, y, 3)
    kept = found.at(point)[2](v)
    anew = found.at(point, curved=False)[2](v)
    np.testing.assert_allclose(kept.slopes, anew.slopes, atol=1e-15)


@given(st.integers(0, 100), st.integers(1, 4), st.integers(2, 4), st.booleans(), st.sampled_from([0.0, 2.0]))
@settings(max_examples=20)
def test_scales_for_many_terms_lead_there_and_back_and_pull_gradients(
    seed: int, d: int, k: int, intercept: bool, ridge: float
) -> None:
    x, y = rows(seed, 50, d, k)
    found = objective(x + 3.0, y, k, ridge=ridge, intercept=intercept)
    diagonal = replace(found.summary, scatter=found.summary.squares)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.learn.softmax_coordinates.MOST_COMBINED", 0)
        scaled = coordinates_of(replace(found, summary=diagonal))
    assert isinstance(scaled, Scaled)
    rng = np.random.default_rng(seed)
    vector, other = (rng.normal(size=k * (d + int(intercept))) for _ in range(2))
    np.testing.assert_allclose(scaled.of(scaled.point(vector)), vector, atol=1e-9)
    gradient, step = found.at(scaled.point(vector))[1], scaled.point(other)
    along = float((gradient.slopes * step.slopes).sum() + gradient.intercept @ step.intercept)
    assert float(scaled.pulled(gradient) @ other) == pytest.approx(along, abs=1e-10)


@given(st.integers(0, 100), st.integers(1, 4), st.integers(2, 4), st.booleans())
@settings(max_examples=20)
def test_rounded_coordinates_make_the_hessian_the_identity(seed: int, d: int, k: int, intercept: bool) -> None:
    x, y = rows(seed, 60, d, k, 0.5)
    found = objective(x, y, k, intercept=intercept)
    plain = coordinates_of(found)
    assert isinstance(plain, Coordinates)
    at = plain.point(np.zeros(plain.size))
    one = plain.rounded(found.hessian(at))
    product = found.at(at)[2]
    columns = [one.pulled(product(one.point(unit))) for unit in np.eye(one.size)]
    np.testing.assert_allclose(columns, np.eye(one.size), atol=1e-7)


def test_passes_over_rows_in_memory_and_over_a_source_agree() -> None:
    x, y = rows(2, 70, 3, 3)
    found = objective(x, y, 3, np.random.default_rng(0).random(70))
    point = SoftmaxPoint(np.random.default_rng(1).normal(size=(3, 3)), np.ones(3))
    block = next(iter(found.source.table.blocks()))  # type: ignore[attr-defined]
    plain = MatrixTable(
        x, tuple(found.design.variables.values()), {"y": y}, (found.design.target,), np.array(block.weights)
    )
    for task in (
        SoftmaxGradient(found.design, point),
        Hessian(found.design, point, 1),
        TermMoments(found.design, True),
    ):
        here, there = run(found.source, task), run(BlockSource(plain, block_rows=16), task)
        assert len(here) == len(there) > 0
        for one, other in zip(here, there, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@given(st.integers(0, 100), st.integers(1, 4), st.integers(2, 4), st.booleans(), st.sampled_from([0.0, 2.0]))
@settings(max_examples=20)
def test_coordinates_lead_there_and_back_and_pull_gradients(
    seed: int, d: int, k: int, intercept: bool, ridge: float
) -> None:
    x, y = rows(seed, 50, d, k)
    found = objective(x + 3.0, y, k, ridge=ridge, intercept=intercept)
    rng = np.random.default_rng(seed)
    plain = coordinates_of(found)
    assert isinstance(plain, Coordinates)
    start = plain.point(rng.normal(size=plain.size))
    for one in (plain, plain.rounded(found.hessian(start))):
        vector, other = rng.normal(size=one.size), rng.normal(size=one.size)
        np.testing.assert_allclose(one.of(one.point(vector)), vector, atol=1e-9)
        gradient = found.at(one.point(vector))[1]
        step = one.point(other)
        along = float((gradient.slopes * step.slopes).sum() + gradient.intercept @ step.intercept)
        assert float(one.pulled(gradient) @ other) == pytest.approx(along, abs=1e-10)


# Optima -------------------------------------------------------------------------------------------------------


@given(st.integers(0, 500), st.integers(1, 4), st.integers(2, 5), st.sampled_from([None, 0.3, 2.0]))
@settings(max_examples=12)
def test_newton_and_lbfgs_reach_the_optimum_of_scipy(seed: int, d: int, k: int, width: float | None) -> None:
    x, y = rows(seed, 80, d, k, 0.5)
    prior = None if width is None else sf.Gaussian(width)
    ridge = 0.0 if width is None else 1 / width**2
    least, _ = by_scipy(x, y, k, ridge)
    for method in ("newton", "lbfgs"):
        fit = sf.fit(structure(d), as_data(x, y), prior=prior, method=method)
        assert fit.certificate.ok, fit.certificate.verdict
        penalty = ridge / 2 * float((fit.model.weights**2).sum())
        assert (penalty - fit.log_likelihood) / 80 == pytest.approx(least, abs=1e-9)
        np.testing.assert_allclose(fit.model.weights.sum(axis=1), 0, atol=1e-6)


@given(st.integers(0, 500), st.integers(1, 5), st.integers(2, 4), st.sampled_from([0.03, 0.2, 3.0]))
@settings(max_examples=12)
def test_l1_has_exact_zeros_and_the_optimum_of_scipy(seed: int, d: int, k: int, width: float) -> None:
    x, y = rows(seed, 80, d, k, 0.5)
    least, _ = by_scipy(x, y, k, width=width)
    fit = sf.fit(structure(d), as_data(x, y), prior=sf.Laplace(width))
    assert fit.method == "proximal"
    assert fit.certificate.ok, fit.certificate.verdict
    assert (float(np.abs(fit.model.weights).sum()) / width - fit.log_likelihood) / 80 == pytest.approx(least, abs=1e-8)
    if width == 0.03:
        assert (fit.model.weights == 0).any()


def test_l1_satisfies_its_condition_at_every_weight_with_correlated_columns() -> None:
    rng = np.random.default_rng(2)
    base, y = rows(2, 400, 3, 3)
    x = np.hstack([base, base + 0.05 * rng.normal(size=base.shape)])
    fit = sf.fit(structure(6), as_data(x, y), prior=sf.Laplace(0.1))
    assert fit.certificate.ok, fit.certificate.verdict
    scores = x @ fit.model.weights + fit.model.intercept
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(400), y] -= 1
    slopes, w = x.T @ p, fit.model.weights
    assert (np.abs(slopes[w == 0]) <= 10 + 1e-4).all()
    np.testing.assert_allclose(slopes[w != 0], -10 * np.sign(w[w != 0]), atol=1e-4)
    assert (w == 0).sum() >= 6


def test_large_jobs_look_at_some_rows_first_and_end_at_the_same_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = rows(5, 4000, 4, 3)
    plain = sf.fit(structure(4), as_data(x, y), tol=1e-10)
    seen = []
    rounded = Coordinates.rounded

    def noted(self: Coordinates, hessian: Any) -> Coordinates:
        seen.append(hessian)
        return rounded(self, hessian)

    monkeypatch.setattr(softmax_search, "LARGE", 1000)
    monkeypatch.setattr(Coordinates, "rounded", noted)
    some = sf.fit(structure(4), as_data(x, y), tol=1e-10)
    assert seen
    np.testing.assert_allclose(some.model.weights, plain.model.weights, atol=1e-8)


def test_sorted_rows_of_rare_classes_do_not_mislead_the_first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softmax_search, "LARGE", 1000)
    x, y = rows(6, 3000, 2, 3)
    y = np.where((y == 2) & (np.arange(3000) > 300), 0, y)
    order = np.argsort(y, kind="stable")
    fit = sf.fit(structure(2), as_data(x[order], y[order]))
    assert fit.certificate.ok, fit.certificate.verdict


# Invariances --------------------------------------------------------------------------------------------------


@given(st.integers(0, 100), st.sampled_from([None, sf.Gaussian(0.8), sf.Laplace(0.2)]))
@settings(max_examples=9)
def test_weights_are_repeated_rows(seed: int, prior: Any) -> None:
    x, y = rows(seed, 40, 2, 3)
    w = np.random.default_rng(seed).integers(1, 4, 40)
    weighted = sf.fit(structure(2), as_data(x, y), weights=w, prior=prior, tol=1e-10)
    repeated = sf.fit(structure(2), as_data(np.repeat(x, w, axis=0), np.repeat(y, w)), prior=prior, tol=1e-10)
    assert weighted.n == repeated.n
    assert weighted.log_likelihood == pytest.approx(repeated.log_likelihood, rel=1e-10)
    np.testing.assert_allclose(weighted.model.weights, repeated.model.weights, atol=1e-6)


@pytest.mark.parametrize("prior", [None, sf.Gaussian(0.5), sf.Laplace(0.1)])
def test_columns_shifted_by_a_million_have_the_same_slopes_and_a_certificate(prior: Any) -> None:
    x, y = rows(8, 300, 3, 3)
    here = sf.fit(structure(3), as_data(x, y), prior=prior, tol=1e-10)
    far = sf.fit(structure(3), as_data(x + 1e6, y), prior=prior, tol=1e-8)
    assert far.certificate.ok, far.certificate.verdict
    np.testing.assert_allclose(far.model.weights, here.model.weights, atol=1e-6)
    np.testing.assert_allclose(far.log_likelihood, here.log_likelihood, rtol=1e-7)
    p = [fit.model.query_rows("y", as_data(z, y)).values for fit, z in ((here, x), (far, x + 1e6))]
    np.testing.assert_allclose(p[0], p[1], atol=1e-6)


def test_columns_that_vary_little_far_from_zero_are_fitted() -> None:
    """A spread of 10⁻¹¹ of the mean is still a thousand times what rounding makes of a constant."""
    x, y = rows(8, 300, 2, 3)
    x = np.round(x * 2**13) / 2**13  # so that columns far from zero hold the same numbers
    far = 2.0**20 + x * 2.0**-17
    assert ((far - 2.0**20) * 2.0**17 == x).all()
    here, there = (sf.fit(structure(2), as_data(z, y), tol=1e-8) for z in (x, far))
    assert there.certificate.ok, there.certificate.verdict
    assert there.log_likelihood == pytest.approx(here.log_likelihood, rel=1e-9)
    np.testing.assert_allclose(there.model.weights * 2.0**-17, here.model.weights, rtol=1e-4, atol=1e-6)


def test_columns_of_any_scale_are_fitted() -> None:
    x, y = rows(9, 200, 3, 2)
    scales = np.array([1e-9, 1.0, 1e9])
    plain, scaled = (sf.fit(structure(3), as_data(z, y), tol=1e-10) for z in (x, x * scales))
    assert scaled.certificate.ok, scaled.certificate.verdict
    np.testing.assert_allclose(scaled.model.weights * scales[:, None], plain.model.weights, rtol=1e-6)


def test_chunks_and_memory_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = rows(10, 500, 3, 3)
    data = as_data(x, y)
    whole = sf.fit(structure(3), data, tol=1e-10)
    with Memory(3000):  # neither terms nor probabilities fit
        streamed = sf.fit(structure(3), data, tol=1e-10)
    np.testing.assert_allclose(streamed.model.weights, whole.model.weights, atol=1e-9)
    monkeypatch.setattr("suffice.data.matrix.BLOCK_ROWS", 77)
    table = MatrixTable(x, tuple(Variable(f"x{j}") for j in range(3)), {"y": y}, (Variable("y", ("a", "b", "c")),))
    pieces = sf.fit(structure(3), table, tol=1e-10)
    np.testing.assert_allclose(pieces.model.weights, whole.model.weights, atol=1e-9)
    path = tmp_path / "rows.csv"
    lines = [",".join([*map(repr, map(float, row)), LETTERS[code]]) for row, code in zip(x, y, strict=True)]
    path.write_text("\n".join(["x0,x1,x2,y", *lines]) + "\n")
    from_file = sf.fit(structure(3), str(path), tol=1e-10)
    np.testing.assert_allclose(from_file.model.weights, whole.model.weights, atol=1e-9)


class Memory:
    """The library's memory for a while."""

    def __init__(self, memory: int) -> None:
        self.memory = memory

    def __enter__(self) -> None:
        self.before = sf.config().memory
        sf.config(memory=self.memory * 4)

    def __exit__(self, *_: object) -> None:
        sf.config(memory=self.before)


def test_discrete_inputs_are_contrasts_with_their_first_state() -> None:
    rng = np.random.default_rng(3)
    race, x = rng.choice(["r1", "r2", "r3"], 400), rng.normal(size=400)
    y = np.where(x + (race == "r2") - 2.0 * (race == "r3") + rng.logistic(size=400) > 0, "yes", "no")
    fit = sf.fit(SoftmaxClasses("y", ["race", "x"]), {"race": race, "x": x, "y": y}, tol=1e-10)
    assert [str(term) for term in fit.model.terms] == ["race=r2", "race=r3", "x"]
    dummies = {"d2": (race == "r2").astype(float), "d3": (race == "r3").astype(float), "x": x, "y": y}
    schema = {name: sf.continuous() for name in ("d2", "d3")}
    same = sf.fit(SoftmaxClasses("y", ["d2", "d3", "x"]), dummies, schema=schema, tol=1e-10)
    np.testing.assert_allclose(fit.model.weights, same.model.weights, atol=1e-8)


def test_without_an_intercept_scores_vanish_at_zero() -> None:
    x, y = rows(4, 200, 2, 3)
    fit = sf.fit(structure(2, intercept=False), as_data(x + 0.5, y))
    assert fit.certificate.ok, fit.certificate.verdict
    assert not fit.model.intercept.any()
    assert fit.n_free == 4
    np.testing.assert_allclose(fit.model.query("y", {"x0": 0.0, "x1": 0.0}).values, 1 / 3)


def test_without_inputs_the_model_is_the_class_frequencies() -> None:
    fit = sf.fit(SoftmaxClasses("y", []), {"y": list("aab")})
    np.testing.assert_allclose(fit.model.query("y").values, [2 / 3, 1 / 3])
    assert fit.certificate.ok


def test_estimate_needs_the_data_and_adds_statistics() -> None:
    x, y = rows(11, 90, 2, 3)
    parts = [sf.collect(structure(2), as_data(x[s], y[s])) for s in (slice(0, 45), slice(45, 90))]
    with pytest.raises(sf.ArgumentError, match="needs the data itself"):
        sf.estimate(structure(2), parts[0] + parts[1])
    fit = sf.estimate(structure(2), parts[0] + parts[1], data=as_data(x, y), tol=1e-10)
    np.testing.assert_allclose(
        fit.model.weights, sf.fit(structure(2), as_data(x, y), tol=1e-10).model.weights, atol=1e-8
    )


# Sparse rows --------------------------------------------------------------------------------------------------


def test_sparse_and_dense_rows_have_the_same_fit() -> None:
    rng = np.random.default_rng(0)
    x, y = rows(12, 300, 6, 3)
    x *= rng.random(x.shape) < 0.3
    variables, target = tuple(Variable(f"x{j}") for j in range(6)), (Variable("y", ("a", "b", "c")),)
    for prior in (None, sf.Gaussian(1.0), sf.Laplace(0.2)):
        fits = [
            sf.fit(structure(6), table, prior=prior, tol=1e-10)
            for table in (
                MatrixTable(x, variables, {"y": y}, target),
                SparseTable(csr_array(x), variables, {"y": y}, target),
                SparseTable(csr_array(x[:, ::-1]), variables[::-1], {"y": y}, target),
            )
        ]
        for fit in fits:
            assert fit.certificate.ok, fit.certificate.verdict
            np.testing.assert_allclose(fit.model.weights, fits[0].model.weights, atol=1e-7)


def test_more_columns_than_products_can_be_held_for_are_fitted_under_a_prior() -> None:
    rng = np.random.default_rng(1)
    x = csr_array((rng.random((200, 900)) < 0.02).astype(float))
    y = rng.integers(0, 3, 200)
    variables = tuple(Variable(f"w{j}") for j in range(900))
    table = SparseTable(x, variables, {"y": y}, (Variable("y", ("a", "b", "c")),))
    fit = sf.fit(SoftmaxClasses("y", [v.name for v in variables]), table, prior=sf.Gaussian(1.0))
    assert fit.certificate.ok, fit.certificate.verdict
    least, _ = by_scipy(x.toarray(), y, 3, 1.0)
    assert (0.5 * float((fit.model.weights**2).sum()) - fit.log_likelihood) / 200 == pytest.approx(least, abs=1e-8)


@given(st.integers(0, 1000), st.integers(1, 3), st.integers(2, 5))
@settings(max_examples=30)
def test_levelled_slopes_cost_least_of_all_that_mean_the_same(seed: int, d: int, k: int) -> None:
    x, y = rows(seed, 40, d, k)
    problem = SoftmaxL1Objective(objective(x, y, k), 0.5)
    rng = np.random.default_rng(seed)
    vector = rng.normal(size=k * (d + 1)) * rng.integers(0, 2, k * (d + 1))
    level = problem.levelled(vector)
    assert problem.smooth(level)[0] == pytest.approx(problem.smooth(vector)[0], rel=1e-12)
    slopes = vector[k:].reshape(k, d) / problem.roots[:, None]
    for term in range(d):  # Σ |w − shift| has its minimum at one of the slopes
        least = min(np.abs(slopes[:, term] - shift).sum() for shift in [0.0, *slopes[:, term]])
        assert np.abs(level[k:].reshape(k, d)[:, term] / problem.roots).sum() == pytest.approx(least)


@pytest.mark.parametrize(("k", "strength"), [(3, 1e-4), (3, 0.01), (4, 1e-3), (5, 0.1)])
def test_a_weak_penalty_with_kinks_needs_few_steps(k: int, strength: float) -> None:
    x, y = rows(0, 500, 4, k)
    fit = sf.fit(structure(4), as_data(x, y), prior=sf.Laplace(1 / strength))
    assert fit.certificate.ok, fit.certificate.verdict
    assert len(fit.trace) <= 5
    n_zero = int((fit.model.weights == 0).sum())
    assert k % 2 == 0 or n_zero >= 4
    kept = np.minimum((fit.model.weights != 0).sum(axis=1), k - 1).sum()
    assert fit.n_free == kept + k - 1


def test_a_prior_too_weak_for_the_tolerance_is_named() -> None:
    data = {"x0": [0.0, 1, 2, 3, 4, 5], "y": list("aaabbb")}
    weak = sf.fit(structure(1), data, prior=sf.Gaussian(1e4))
    assert any("Pass a smaller tol" in note.text for note in weak.notes)
    strong = sf.fit(structure(1), data, prior=sf.Gaussian(1.0))
    assert not any("smaller tol" in note.text for note in strong.notes)


def test_where_few_rows_mislead_newton_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softmax_search, "LARGE", 1000)
    monkeypatch.setattr(softmax_search, "QUICK", 1)
    x, y = rows(3, 3000, 3, 3)
    fit = sf.fit(structure(3), as_data(x, y))
    assert fit.certificate.ok
    assert len(fit.trace) >= 2
    assert [step.number for step in fit.trace] == list(range(1, len(fit.trace) + 1))
    least, _ = by_scipy(x, y, 3)
    assert -fit.log_likelihood / 3000 == pytest.approx(least, abs=1e-10)


# Troubles -----------------------------------------------------------------------------------------------------


def test_perfect_and_quasi_complete_separation_are_named() -> None:
    for x in ([0.0, 1, 2, 3, 4, 5], [0.0, 1, 2, 2, 3, 4]):
        fit = sf.fit(structure(1), {"x0": x, "y": list("aaabbb")})
        assert fit.certificate.exists == "no"
        assert "does not exist" in fit.certificate.verdict
        assert any("'x0' separates 'b' from 'a'" in note.text and "sf.Gaussian(10)" in note.text for note in fit.notes)
        under = sf.fit(structure(1), {"x0": x, "y": list("aaabbb")}, prior=sf.Gaussian(10))
        assert under.certificate.ok
        assert under.certificate.exists == "yes"


def test_one_class_of_three_that_a_combination_separates_is_named() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    y = np.where(x[:, 0] + x[:, 1] > 1.5, "c", np.where(rng.random(60) < 0.5, "a", "b"))
    fit = sf.fit(structure(2), {"x0": x[:, 0], "x1": x[:, 1], "y": y})
    assert fit.certificate.exists == "no"
    (said,) = [note.text for note in fit.notes if "does not exist" in note.text]
    assert "'c'" in said
    assert "x0" in said
    assert "x1" in said


def test_classes_that_overlap_have_a_proven_estimate() -> None:
    for seed, k in itertools.product(range(5), (2, 4)):
        x, y = rows(seed, 60 * k, 2, k)
        fit = sf.fit(structure(2), as_data(x, y))
        assert fit.certificate.exists == "yes"


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"x": [1e6] * 6}, "'x' has the same value in all rows"),
        ({"x": [1.0, 2, 3, 1, 2, 4], "z": [3.0, 5, 7, 3, 5, 9]}, "−2·x + z has the same value"),
        ({f"x{j}": np.random.default_rng(j).normal(size=6) for j in range(7)}, "6 rows cannot tell 8 coefficients"),
    ],
)
def test_collinear_columns_are_named_and_a_prior_helps(columns: dict[str, Any], said: str) -> None:
    data = {**columns, "y": list("abbaba")}
    with pytest.raises(sf.EstimationError, match="slopes are not determined") as error:
        sf.fit(SoftmaxClasses("y", list(columns)), data)
    assert said in str(error.value)
    assert sf.fit(SoftmaxClasses("y", list(columns)), data, prior=sf.Gaussian(1.0)).certificate.ok


def test_nearly_collinear_columns_are_told_apart() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 2))
    y = (x[:, 0] + 2 * x[:, 1] + rng.logistic(size=200) > 0).astype(int)
    close = np.column_stack([x[:, 0], x[:, 0] + 1e-7 * x[:, 1]])
    fit = sf.fit(structure(2), as_data(close, y))
    plain = sf.fit(structure(2), as_data(x, y))
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-8)


def test_more_steps_are_asked_for_where_there_were_too_few() -> None:
    x, y = rows(0, 200, 3, 3)
    fit = sf.fit(structure(3), as_data(x, y), max_iter=1, method="lbfgs")
    assert not fit.certificate.ok
    assert any("Not converged after 1 step" in note.text for note in fit.notes)


# Files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [None, sf.Gaussian(2.0), sf.Laplace(0.5)])
def test_a_fit_survives_its_file(tmp_path: Path, prior: Any) -> None:
    x, y = rows(1, 80, 2, 3)
    fit = sf.fit(structure(2, reference="b"), as_data(x, y), prior=prior)
    sf.write(fit, str(tmp_path / "fit.json"))
    again = sf.read(str(tmp_path / "fit.json"))
    assert isinstance(again.model, SoftmaxModel)
    assert again.structure == fit.structure
    assert np.array_equal(again.model.weights, fit.model.weights)
    assert str(again) == str(fit)
    if prior is None:
        assert str(again.coefficients()) == str(fit.coefficients())


@pytest.mark.parametrize("unit", [1e-15, 1e15])
def test_the_units_of_inputs_change_nothing(unit: float) -> None:
    x, y = rows(2, 60, 2, 3)
    x += 1
    plain, other = sf.fit(structure(2), as_data(x, y)), sf.fit(structure(2), as_data(unit * x, y))
    assert other.certificate.ok, other.certificate.verdict
    assert other.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-9)
    np.testing.assert_allclose(other.model.weights * unit, plain.model.weights, atol=1e-6)
