"""AutoregressiveModel: stationary moments, forecasts and paths against slow twins."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.models.autoregression import AutoregressiveModel
from suffice.models.joint_normal import JointNormal


def some_model(seed: int, k: int, d: int, radius: float = 0.8) -> AutoregressiveModel:
    """A model of a given spectral radius, with variables of different scales."""
    rng = np.random.default_rng(seed)
    raw = rng.normal(size=(k, d, d)) / max(k * d, 1)
    model = AutoregressiveModel([f"v{i}" for i in range(d)], np.zeros(d), raw, np.eye(d))
    shrink = radius / model.spectral_radius if k else 1.0
    coefficients = np.stack([raw[i] * shrink ** (i + 1) for i in range(k)]) if k else raw  # scales every eigenvalue
    scale = 10.0 ** rng.integers(-2, 3, d)
    root = rng.normal(size=(d, d)) + 2 * np.eye(d)
    return AutoregressiveModel(
        model.variables,
        rng.normal(size=d) * scale,
        coefficients * scale[:, None] / scale,
        (root @ root.T) * np.outer(scale, scale),
    )


sizes = {"seed": st.integers(0, 10**6), "k": st.integers(0, 4), "d": st.integers(1, 3)}


def close(found: np.ndarray, wanted: np.ndarray, model: AutoregressiveModel, tol: float = 1e-9) -> None:
    """Compare covariances relative to the variables' scales."""
    roots = np.sqrt(np.diag(model.covariance))
    np.testing.assert_allclose(found / np.outer(roots, roots), wanted / np.outer(roots, roots), rtol=tol, atol=tol)


# Stationary moments -------------------------------------------------------------------------------------------


@given(**sizes, radius=st.sampled_from([0.1, 0.9, 0.99]))
def test_spectral_radius_is_that_of_the_characteristic_polynomial(seed: int, k: int, d: int, radius: float) -> None:
    model = some_model(seed, k, d, radius)
    assert model.spectral_radius == pytest.approx(radius if k else 0.0, rel=1e-6)
    assert model.is_stationary
    z = model.spectral_radius
    if k and d == 1:  # the largest root of z^k = Σ a_i z^(k−i)
        roots = np.roots([1.0, *-model.coefficients[:, 0, 0]])
        assert np.abs(roots).max() == pytest.approx(z, rel=1e-6)


@given(**sizes)
def test_stationary_moments_are_the_limit_of_the_recursion(seed: int, k: int, d: int) -> None:
    model = some_model(seed, k, d)
    mean, state = np.zeros(max(k, 1) * d), np.zeros((max(k, 1) * d,) * 2)
    move = model.companion if k else np.zeros((d, d))
    for _ in range(400):
        mean, state = move @ mean, move @ state @ move.T
        mean[:d] += model.intercept
        state[:d, :d] += model.covariance
    roots = np.sqrt(np.diag(model.covariance))
    np.testing.assert_allclose(model.stationary.mean / roots, mean[:d] / roots, rtol=1e-9, atol=1e-9)
    close(model.stationary.covariance, state[:d, :d], model)
    autocovariance = model.autocovariance(k)
    for h in range(k):
        close(autocovariance[h], state[:d, h * d : (h + 1) * d], model)


@given(**sizes)
def test_autocovariances_solve_the_equations_of_yule_and_walker(seed: int, k: int, d: int) -> None:
    model = some_model(seed, k, d)
    gamma = model.autocovariance(k + 4)

    def at(h: int) -> np.ndarray:
        return gamma[h] if h >= 0 else gamma[-h].T

    for h in range(k + 5):
        wanted = sum((model.coefficients[i] @ at(h - 1 - i) for i in range(k)), np.zeros((d, d)))
        close(gamma[h], wanted + (model.covariance if h == 0 else 0), model)
    np.testing.assert_allclose(np.diag(model.autocorrelation(k)[0]), 1)


def test_the_first_order_has_textbook_moments() -> None:
    model = AutoregressiveModel(["x"], [3.0], [[[-0.6]]], [[2.0]])
    assert model.stationary.mean[0] == pytest.approx(3 / 1.6)
    assert model.stationary.covariance[0, 0] == pytest.approx(2 / (1 - 0.36))
    np.testing.assert_allclose(model.autocorrelation(3).ravel(), [1, -0.6, 0.36, -0.216])


@pytest.mark.parametrize("slope", [1.0, -1.0, 1.5])
def test_without_a_stationary_distribution_there_is_none(slope: float) -> None:
    model = AutoregressiveModel(["x"], [0.0], [[[slope]]], [[1.0]])
    assert not model.is_stationary
    assert "not stationary" in str(model)
    for ask in (lambda: model.stationary, lambda: model.autocovariance(2), lambda: model.sample(2, 3)):
        with pytest.raises(sf.ModelError, match="spectral radius is 1"):
            ask()
    assert model.sample_paths(2, 3, start=[1.0], seed=0).shape == (2, 3, 1)


# Forecasts ----------------------------------------------------------------------------------------------------


@given(**sizes, steps=st.integers(1, 6), radius=st.sampled_from([0.5, 1.2]))
def test_forecasts_are_those_of_the_joint_normal(seed: int, k: int, d: int, steps: int, radius: float) -> None:
    """Condition the normal distribution of k known and some unknown values, built by solving the equations at once."""
    model = some_model(seed, k, d, radius)
    history = np.random.default_rng(seed).normal(size=(k + 2, d))
    # (L − shifts) y = c + past + e, L unit lower triangular in time.
    system = np.eye(steps * d)
    constant = np.tile(model.intercept, steps)
    for t in range(steps):
        for i in range(1, k + 1):
            rows = slice(t * d, (t + 1) * d)
            if t - i >= 0:
                system[rows, (t - i) * d : (t - i + 1) * d] -= model.coefficients[i - 1]
            else:
                constant[rows] += model.coefficients[i - 1] @ history[len(history) + t - i]
    inverse = np.linalg.inv(system)
    found = model.forecast(history, steps)
    scale = np.tile(np.sqrt(np.diag(model.covariance)), steps)
    np.testing.assert_allclose(found.mean.ravel() / scale, inverse @ constant / scale, rtol=1e-9, atol=1e-9)
    wanted = inverse @ np.kron(np.eye(steps), model.covariance) @ inverse.T
    np.testing.assert_allclose(
        found.joint_covariance / np.outer(scale, scale), wanted / np.outer(scale, scale), rtol=1e-9, atol=1e-9
    )
    for step in range(steps):
        where = slice(step * d, (step + 1) * d)
        np.testing.assert_array_equal(found.covariance[step], found.joint_covariance[where, where])
    assert model.predict(history) == pytest.approx(dict(zip(model.variables, found.mean[0], strict=True)))


def test_forecasts_are_the_moments_of_simulated_futures() -> None:
    model = some_model(5, 2, 2)
    history = [[1.0, 2.0], [0.5, -1.0]]
    found = model.forecast(history, 4)
    futures = model.sample_paths(40_000, 4, start=history, seed=1)
    error = 5 / math.sqrt(len(futures))
    assert (np.abs(futures.mean(axis=0) - found.mean) < error * found.sd).all()
    flat = futures.reshape(len(futures), -1)
    seen = np.cov(flat.T) / np.outer(found.sd.ravel(), found.sd.ravel())
    wanted = found.joint_covariance / np.outer(found.sd.ravel(), found.sd.ravel())
    assert (np.abs(seen - wanted) < 2 * error).all()


def test_a_forecast_far_ahead_is_the_stationary_distribution() -> None:
    model = some_model(3, 3, 2)
    far = model.forecast(np.full((3, 2), 100.0), 300)
    np.testing.assert_allclose(far.mean[-1], model.stationary.mean, rtol=1e-6, atol=1e-6)
    close(far.covariance[-1], model.stationary.covariance, model)


def test_a_forecast_shows_its_numbers() -> None:
    forecast = AutoregressiveModel(["x", "y"], [1, 2], [], [[4, 0], [0, 9]]).forecast([], 30)
    assert forecast.steps == 30
    low, high = forecast.interval(0.5)
    np.testing.assert_allclose(high - low, np.tile([4 * 0.67449, 6 * 0.67449], (30, 1)), rtol=1e-5)
    assert forecast.joint().names[:3] == ("x[+1]", "y[+1]", "x[+2]")
    assert forecast.joint().query("y[+2]").mean.tolist() == [2.0]
    frame = forecast.to_frame(0.5, backend="pandas")
    assert list(frame.columns) == ["step", "variable", "mean", "sd", "low", "high"]
    assert frame["sd"].tolist()[:2] == [2.0, 3.0]
    assert len(frame) == 60
    assert "10 more steps" in str(forecast)
    assert forecast._repr_html_().count("<tr>") == 42
    with pytest.raises(sf.ArgumentError, match="'level' argument must lie between"):
        forecast.interval(1.5)
    with pytest.raises(ValueError, match="read-only"):
        forecast.mean[0] = 0


@pytest.mark.parametrize(
    "history", [[[1.0, 2.0], [3.0, 4.0]], np.array([[1.0, 2.0], [3.0, 4.0]]), {"y": [2.0, 4.0], "x": [1.0, 3.0]},
                pd.DataFrame({"x": [1.0, 3.0], "y": [2.0, 4.0]})]
)  # fmt: skip
def test_a_history_comes_in_any_form(history) -> None:
    model = AutoregressiveModel(["x", "y"], [0, 0], [[[0.5, 0], [0, 1]]], np.eye(2))
    assert model.predict(history) == {"x": 1.5, "y": 4.0}


@pytest.mark.parametrize("history", [[], [[1.0]], [[1.0, 2.0, 3.0]], [[1.0, math.nan]], "ab", [["a", "b"]], [[[1.0]]]])
def test_a_history_that_is_none_is_refused(history) -> None:
    model = AutoregressiveModel(["x", "y"], [0, 0], [np.eye(2)], np.eye(2))
    with pytest.raises(sf.SufficeError):
        model.forecast(history)


# Paths --------------------------------------------------------------------------------------------------------


@given(**sizes)
def test_paths_follow_their_errors(seed: int, k: int, d: int) -> None:
    """Errors taken back from a path are those of a path without coefficients under the same seed."""
    model = some_model(seed, k, d)
    start = np.random.default_rng(seed).normal(size=(k, d))
    path = model.sample_paths(1, 12, seed=seed, start=start)[0]
    alone = AutoregressiveModel(model.variables, np.zeros(d), [], model.covariance)
    wanted = alone.sample_paths(1, 12, seed=seed)[0]
    roots = np.sqrt(np.diag(model.covariance))
    found = model.errors_of(np.concatenate([start, path]))
    np.testing.assert_allclose(found / roots, wanted / roots, rtol=1e-9, atol=1e-9)


def test_paths_do_not_depend_on_how_many_are_drawn(monkeypatch) -> None:
    def same(found: np.ndarray, wanted: np.ndarray) -> None:
        np.testing.assert_allclose(found, wanted, rtol=1e-10)  # products of matrices of other shapes round otherwise

    model = some_model(1, 2, 2)
    many = model.sample_paths(7, 20, seed=3)
    same(model.sample_paths(2, 20, seed=3), many[:2])
    same(model.sample_paths(7, 5, seed=3), many[:, :5])
    same(model.sample_paths(7, 15, seed=3, burn_in=5), many[:, 5:])
    monkeypatch.setattr("suffice.models.autoregression_paths.NUMBERS", 60)
    same(model.sample_paths(7, 20, seed=3), many)
    assert (model.sample_paths(1, 20, seed=4) != many[:1]).all()
    assert model.sample_paths(0, 5, seed=0).shape == (0, 5, 2)
    assert model.sample_paths(3, 1, seed=0).shape == (3, 1, 2)


def test_paths_begin_in_the_stationary_distribution() -> None:
    model = some_model(8, 2, 2, 0.95)
    drawn = model.sample_paths(20_000, 3, seed=0)
    roots = np.sqrt(np.diag(model.stationary.covariance))
    for t in range(3):
        shift = (drawn[:, t].mean(axis=0) - model.stationary.mean) / roots
        assert (np.abs(shift) < 5 / math.sqrt(20_000)).all()
    gamma = model.autocovariance(2)
    for h in range(3):
        centred = drawn - model.stationary.mean
        seen = (centred[:, 2][:, :, None] * centred[:, 2 - h][:, None, :]).mean(axis=0)
        assert (np.abs(seen - gamma[h]) / np.outer(roots, roots) < 0.05).all()


def test_paths_begin_in_the_models_own_start() -> None:
    start = JointNormal(["x[-1]", "x[-2]"], [100.0, -50.0], covariance=[[1.0, 0.9], [0.9, 1.0]])
    model = AutoregressiveModel(["x"], [0.0], [[[1.0]], [[0.5]]], [[1e-6]], start=start)
    drawn = model.sample_paths(4000, 3, seed=2)[:, :, 0]
    assert drawn[:, 0].mean() == pytest.approx(-50, abs=0.1)  # the earliest is the second lag
    assert drawn[:, 1].mean() == pytest.approx(100, abs=0.1)
    assert np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1] == pytest.approx(0.9, abs=0.02)
    np.testing.assert_allclose(drawn[:, 2], drawn[:, 1] + 0.5 * drawn[:, 0], atol=0.01)


def test_samples_are_long_tables() -> None:
    model = AutoregressiveModel(["time", "y"], [0, 0], [], np.eye(2), id="who")
    frame = model.sample(2, 3, seed=0, backend="pandas")
    assert list(frame.columns) == ["who", "time_", "time", "y"]
    assert frame["who"].tolist() == [1, 1, 1, 2, 2, 2]
    assert frame["time_"].tolist() == [1, 2, 3, 1, 2, 3]
    np.testing.assert_array_equal(frame[["time", "y"]].to_numpy(), model.sample_paths(2, 3, seed=0).reshape(6, 2))
    assert model.sample(1, 2, seed=0, backend="polars").shape == (2, 4)


# Likelihood ---------------------------------------------------------------------------------------------------


@given(**sizes, length=st.integers(0, 9))
def test_errors_are_what_the_past_does_not_explain(seed: int, k: int, d: int, length: int) -> None:
    model = some_model(seed, k, d)
    rows = np.random.default_rng(seed).normal(size=(length, d))
    found = model.errors_of(rows)
    assert found.shape == (max(length - k, 0), d)
    for t in range(k, length):
        past = sum((model.coefficients[i] @ rows[t - 1 - i] for i in range(k)), np.zeros(d))
        np.testing.assert_allclose(found[t - k], rows[t] - model.intercept - past, rtol=1e-9, atol=1e-9)


# What it is, and files ----------------------------------------------------------------------------------------


def test_it_prints_its_equations() -> None:
    model = AutoregressiveModel(["x", "y"], [1, 0], [[[0.5, 0.25], [0, 0.5]]], [[1, 0.5], [0.5, 1]])
    assert str(model).splitlines() == [
        "term                x    y",
        "---------------  ----  ---",
        "intercept           1    0",
        "x[-1]             0.5    0",
        "y[-1]            0.25  0.5",
        "sd of the error     1    1",
        "order 1, spectral radius 0.5: stationary",
        "",
        "correlations of the errors    x  y",
        "--------------------------  ---  -",
        "x",
        "y                           0.5",
    ]
    assert repr(model) == "AutoregressiveModel(order=1, 2 variables)"
    many = AutoregressiveModel([f"<v{i}>" for i in range(12)], np.zeros(12), np.zeros((6, 12, 12)), np.eye(12))
    assert "… 4 more" in str(many)
    assert "32 more terms" in str(many)
    assert "<v1>" not in many._repr_html_()


@given(**sizes)
def test_it_survives_json(seed: int, k: int, d: int) -> None:
    model = some_model(seed, k, d)
    entry = model.to_dict()
    plain = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in entry.items()}
    again = AutoregressiveModel.from_dict(json.loads(json.dumps(plain)))
    for name in ("intercept", "coefficients", "covariance"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.variables == model.variables
    assert again.order == k


@pytest.mark.parametrize(
    "bad",
    [
        {"variables": []},
        {"variables": "x"},
        {"variables": ["x", "x"]},
        {"intercept": [1.0, 2.0]},
        {"intercept": [math.nan]},
        {"coefficients": [[[0.5, 1.0]]]},
        {"coefficients": [0.5]},
        {"coefficients": 3},
        {"covariance": [[0.0]]},
        {"covariance": [[-1.0]]},
        {"start": 3},
        {"start": JointNormal(["x"], [0], covariance=[[1]])},
        {"id": ""},
        {"id": "x"},
        {"time": 3},
    ],
)
def test_what_is_no_model_is_refused(bad) -> None:
    proper = {"variables": ["x"], "intercept": [0.0], "coefficients": [[[0.5]]], "covariance": [[1.0]]}
    AutoregressiveModel(**proper)
    with pytest.raises(sf.SufficeError):
        AutoregressiveModel(**{**proper, **bad})
