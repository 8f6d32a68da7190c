"""Densities fitted to data: as formulas give them, from any source, by any method, and what cannot be fitted."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

import suffice as sf

LINE, UNIT = (-math.inf, math.inf), (0, 1)
X, XX, Y = sf.product("x"), sf.product("x", "x"), sf.product("y")
NORMAL = sf.Features([X, XX], support={"x": LINE})
MEAN = sf.Features([X], support={"x": UNIT})
NUMBERS = st.lists(st.floats(-50, 50).map(lambda x: round(x, 3)), min_size=3, max_size=30)


def normal_weights(x: Any, weights: Any = None) -> list[float]:
    mean = np.average(x, weights=weights)
    variance = np.average((np.asarray(x) - mean) ** 2, weights=weights)
    return [mean / variance, -1 / (2 * variance)]


def is_spread(x: list[float]) -> bool:
    return float(np.std(x)) > 0.01 * max(1.0, float(np.abs(x).max()))


@given(NUMBERS.filter(is_spread))
@settings(max_examples=30)
def test_the_normal_is_fitted_by_mean_and_variance(x: list[float]) -> None:
    fit = sf.fit(NORMAL, {"x": x})
    assert fit.certificate.ok, fit.certificate.verdict
    np.testing.assert_allclose(fit.model.weights.to_numpy(), normal_weights(x), rtol=1e-6, atol=1e-8)
    n, variance = len(x), float(np.var(x))
    assert fit.log_likelihood == pytest.approx(-n / 2 * (math.log(2 * math.pi * variance) + 1), rel=1e-8, abs=1e-6)
    assert fit.model.log_prob({"x": x}).sum() == pytest.approx(fit.log_likelihood, rel=1e-8, abs=1e-6)


@given(NUMBERS.filter(is_spread), st.integers(1, 29), st.integers(0, 999))
@settings(max_examples=20)
def test_parts_added_and_weights_count_as_rows_do(x: list[float], cut: int, seed: int) -> None:
    weights = np.random.default_rng(seed).integers(1, 4, len(x))
    whole = sf.fit(NORMAL, {"x": np.repeat(x, weights)})
    weighted = sf.fit(NORMAL, {"x": x, "w": weights.astype(float)}, weights="w")
    np.testing.assert_allclose(weighted.model.weights.to_numpy(), whole.model.weights.to_numpy(), rtol=1e-7, atol=1e-9)
    cut = min(cut, len(x) - 1)
    parts = sf.collect(NORMAL, {"x": x[:cut]}) + sf.collect(NORMAL, {"x": x[cut:]})
    np.testing.assert_allclose(
        sf.estimate(NORMAL, parts).model.weights.to_numpy(), normal_weights(x), rtol=1e-6, atol=1e-8
    )


def test_a_file_and_a_second_count_of_it(tmp_path: Any) -> None:
    x = np.random.default_rng(0).normal(3, 2, 400).round(6)
    path = tmp_path / "x.csv"
    path.write_text("x\n" + "\n".join(map(str, x)) + "\n", encoding="utf-8")
    fit = sf.fit(NORMAL, str(path), certify="data")
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.data_gap == 0
    np.testing.assert_allclose(fit.model.weights.to_numpy(), normal_weights(x), rtol=1e-7)


def test_groups_are_fitted_from_data() -> None:
    rng = np.random.default_rng(1)
    c = rng.choice(["a", "b"], 300)
    x = rng.normal(np.where(c == "a", 2.0, -1.0), 0.5)
    structure = sf.Features([XX, sf.product("x", sf.indicators("c")), sf.indicator(c="a")], support={"x": LINE})
    fit = sf.fit(structure, {"x": x, "c": c})
    assert fit.certificate.ok, fit.certificate.verdict
    variance = np.mean([(x[i] - x[c == c[i]].mean()) ** 2 for i in range(300)])
    assert fit.model.weights["x·x"] == pytest.approx(-1 / (2 * variance), rel=1e-7)
    for state in "ab":
        assert fit.model.weights[f"x·(c={state})"] == pytest.approx(x[c == state].mean() / variance, rel=1e-7)
    assert fit.model.query("c").values[0] == pytest.approx(np.mean(c == "a"), abs=1e-9)


# Methods ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["lbfgs", "newton", "cg", "gradient"])
def test_every_method_finds_the_same_density(method: str) -> None:
    bounded = sf.Features([X, XX], support={"x": UNIT})
    for structure, targets in ((bounded, [0.3, 0.12]), (NORMAL, [1.0, 3.0])):
        wanted = sf.maxent(structure, targets)
        fit = sf.maxent(structure, targets, method=method)
        assert fit.certificate.ok, fit.certificate.verdict
        np.testing.assert_allclose(fit.model.weights.to_numpy(), wanted.model.weights.to_numpy(), rtol=1e-7)


def test_scaling_on_a_bounded_support_climbs_to_the_same_density() -> None:
    fit = sf.maxent(MEAN, 0.3, method="gis", max_iter=2000)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.model.weights["x"] == pytest.approx(sf.maxent(MEAN, 0.3).model.weights["x"], abs=1e-6)
    climbed = [step.objective for step in fit.trace]
    assert len(climbed) > 5
    assert all(after >= before - 1e-12 for before, after in itertools.pairwise(climbed))


def test_scaling_that_stops_early_says_so_and_is_not_finished_by_another_method() -> None:
    fit = sf.maxent(sf.Features([X, XX], support={"x": UNIT}), [0.3, 0.12], method="gis", max_iter=20)
    assert not fit.certificate.ok
    assert any("Not converged after 20 steps" in note.text for note in fit.notes)
    assert len(fit.trace) == 20


def test_scaling_without_bounds_is_refused() -> None:
    with pytest.raises(sf.EstimationError, match="the support of a variable has no end"):
        sf.maxent(NORMAL, [0.0, 1.0], method="gis")


# Priors -------------------------------------------------------------------------------------------------------


@given(st.floats(-3, 4), st.floats(0.3, 10))
@settings(max_examples=20)
def test_a_gaussian_prior_balances_the_gap(target: float, width: float) -> None:
    fit = sf.maxent(MEAN, target, prior=sf.Gaussian(width))
    assert fit.certificate.ok, fit.certificate.verdict

    def slope(w: float) -> float:
        mean = 1 / -math.expm1(-w) - 1 / w if abs(w) > 1e-4 else 0.5 + w / 12
        return mean - target + w / width**2

    assert fit.model.weights["x"] == pytest.approx(brentq(slope, -500, 500, xtol=1e-12), abs=1e-6)


def test_a_laplace_prior_leaves_exact_zeros_and_a_matched_slope() -> None:
    fit = sf.maxent(sf.Features([X, XX], support={"x": UNIT}), [0.3, 0.12], prior=sf.Laplace(10.0))
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.model.weights["x"] == 0
    assert fit.model.weights["x·x"] < 0
    gaps = fit.model.expected(lambda x: x, over="x") - 0.3, fit.model.expected(lambda x: x * x, over="x") - 0.12
    assert abs(gaps[0]) <= 0.1 + 1e-9
    assert gaps[1] == pytest.approx(0.1, abs=1e-8)  # E − α + sign(w) / width = 0


# Features that depend on each other ---------------------------------------------------------------------------


def test_dependent_features_are_reported_and_leave_the_density_alone() -> None:
    twice = sf.feature(lambda x: 2 * x + 1, over="x", name="g")
    fit = sf.maxent(sf.Features([X, twice], support={"x": UNIT}), [0.3, 1.6])
    alone = sf.maxent(MEAN, 0.3)
    assert fit.certificate.ok, fit.certificate.verdict
    rows = {"x": [0.1, 0.9]}
    np.testing.assert_allclose(fit.model.log_prob(rows), alone.model.log_prob(rows), atol=1e-8)
    assert fit.n_free == 1
    assert any("[g] = 2·[x] + constant" in note.text for note in fit.notes)


def test_targets_against_a_dependence_are_refused() -> None:
    twice = sf.feature(lambda x: 2 * x + 1, over="x", name="g")
    with pytest.raises(sf.EstimationError, match="at most 1 for every configuration, but the targets give"):
        sf.maxent(sf.Features([X, twice], support={"x": UNIT}), [0.3, 1.7])


# What cannot be fitted ----------------------------------------------------------------------------------------


def test_data_outside_the_support_is_refused() -> None:
    with pytest.raises(sf.EstimationError, match="'x' has the value 2, outside its support from 0 to 1"):
        sf.fit(MEAN, {"x": [0.5, 2.0]})


@pytest.mark.parametrize("value", [0.0, 2.0, -1e4])
def test_data_of_one_value_shrink_to_a_point_and_are_not_certified(value: float) -> None:
    fit = sf.fit(NORMAL, {"x": [value] * 3})
    assert not fit.certificate.ok
    assert any("shrinks to a point" in note.text for note in fit.notes)


def test_data_of_one_value_are_no_trouble_where_only_the_mean_counts() -> None:
    fit = sf.fit(MEAN, {"x": [0.3] * 3})
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.model.weights["x"] == pytest.approx(sf.maxent(MEAN, 0.3).model.weights["x"], abs=1e-8)


def test_two_values_are_enough_for_a_normal() -> None:
    fit = sf.fit(NORMAL, {"x": [1.0, 2.0]})
    assert fit.certificate.ok
    np.testing.assert_allclose(fit.model.weights.to_numpy(), [6.0, -2.0], rtol=1e-9)


def test_a_continuous_column_without_a_support_is_refused() -> None:
    with pytest.raises(sf.SchemaError, match="Say on which interval it lives"):
        sf.fit(sf.Features([X, Y], support={"x": UNIT}), {"x": [0.1, 0.2], "y": [0.5, 0.7]})
