"""Mixtures of normal distributions as answers: moments, densities, quantiles, parts, draws and printing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import suffice as sf
from suffice.models.normal_mixture import NormalMixture

A, B = sf.Variable("A", ("u", "v"), True), sf.Variable("B", (1, 2, 3), True)


def mixture(seed: int = 0, targets: tuple[sf.Variable, ...] = (A,), hidden: tuple[sf.Variable, ...] = (B,)) -> Any:
    """Return a mixture of two continuous variables with a component for every configuration but the first."""
    random = np.random.default_rng(seed)
    sizes = [variable.n_states for variable in (*targets, *hidden)]
    k = math.prod(sizes) - 1
    codes = np.stack(np.unravel_index(np.arange(1, k + 1), sizes), axis=1)
    roots = random.normal(size=(k, 2, 2)) + 2 * np.eye(2)
    return NormalMixture(("x", "y"), targets, hidden, codes, random.dirichlet(np.ones(k)), random.normal(size=(k, 2)),
                         roots @ roots.transpose(0, 2, 1))  # fmt: skip


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_moments_are_those_of_the_density(seed: int) -> None:
    found = mixture(seed).marginal("y")
    grid = np.linspace(-40, 40, 80_001)
    density = np.exp(found.log_prob({"y": grid}))
    step = grid[1] - grid[0]
    assert density.sum() * step == pytest.approx(1, abs=1e-9)
    assert (density * grid).sum() * step == pytest.approx(found.mean[0], abs=1e-8)
    assert (density * (grid - found.mean[0]) ** 2).sum() * step == pytest.approx(found.covariance[0, 0], rel=1e-8)


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_the_parts_make_up_the_whole(seed: int) -> None:
    whole = mixture(seed)
    p = whole.table.values
    parts = {label: whole[{"A": label}] for label in ("u", "v")}
    assert np.allclose(sum(w * parts[label].mean for w, label in zip(p, parts, strict=True)), whole.mean)
    rows = {"x": [0.3, -1.0], "y": [0.5, 2.0]}
    densities = [parts[label].log_prob(rows) + math.log(w) for w, label in zip(p, parts, strict=True)]
    joint = [whole.log_prob({"A": [label] * 2, **rows}) for label in parts]
    assert np.allclose(joint, densities)
    assert np.allclose(np.logaddexp(*joint), whole.marginal(["x", "y"]).log_prob(rows))


@given(st.integers(0, 10_000), st.lists(st.floats(0.001, 0.999), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_quantiles_invert_the_distribution_function(seed: int, p: list[float]) -> None:
    found = mixture(seed).marginal("x")
    assert np.allclose(found.cdf(found.quantile(p)), p, atol=1e-10)
    expected = sum(
        weight * stats.norm.cdf(0.7, normal.mean[0], normal.sd[0]) for _, weight, normal in found.components()
    )
    assert found.cdf(0.7) == pytest.approx(expected)


def test_quantiles_at_the_ends_are_infinite() -> None:
    assert mixture().marginal("x").quantile([0.0, 1.0]).tolist() == [-math.inf, math.inf]
    low, high = mixture().interval(0.9)[0]
    assert mixture().marginal("x").cdf([low, high]).tolist() == pytest.approx([0.05, 0.95])


def test_marginals_keep_the_order_asked_for() -> None:
    whole = mixture()
    assert whole.marginal(["y", "x"]).names == ("y", "x")
    assert np.allclose(whole.marginal(["y", "x"]).covariance, whole.covariance[::-1, ::-1], rtol=1e-14)
    assert isinstance(whole.marginal("A"), sf.LabelledTable)
    assert np.allclose(whole.marginal("A").values, whole.table.values)
    assert [v.name for v in whole.marginal("x").by] == ["A", "B"]


def test_all_states_given_leave_one_normal_distribution() -> None:
    whole = mixture()
    single = whole[{"A": "v", "B": 2}]
    assert isinstance(single, sf.JointNormal)
    labels, weight, normal = list(whole.components())[3]
    assert labels == {"A": "v", "B": 2}
    assert np.array_equal(single.mean, normal.mean)
    assert weight == whole.weights[3]


def test_draws_have_the_moments_and_the_states() -> None:
    whole = mixture(3)
    rows = whole.sample(100_000, seed=1)
    assert list(rows.columns) == ["A", "x", "y"]
    assert np.allclose(rows[["x", "y"]].mean(), whole.mean, atol=6 * whole.sd.max() / math.sqrt(100_000))
    assert np.allclose(rows[["x", "y"]].cov(), whole.covariance, rtol=0.1, atol=0.1)
    assert (rows["A"] == "u").mean() == pytest.approx(whole.table[{"A": "u"}], abs=0.01)
    part = rows[rows["A"] == "v"]
    assert np.allclose(part[["x", "y"]].mean(), whole[{"A": "v"}].mean, atol=0.1)
    assert whole.sample(5, seed=1).equals(rows.head(5))


def test_printouts_and_frames_have_a_row_for_each_configuration() -> None:
    whole = mixture()
    frame = whole.to_frame("pandas")
    assert list(frame.columns) == ["A", "p", "mean x", "sd x", "mean y", "sd y"]
    assert frame["A"].tolist() == ["u", "v"]
    assert np.allclose(frame["sd y"][1], whole[{"A": "v"}].sd[1])
    assert [line.split()[0] for line in str(whole).splitlines()] == ["A", "---", "u", "v", "all"]
    assert "<table>" in whole._repr_html_()
    assert len(str(mixture(targets=(), hidden=(A, B)).marginal("x")).splitlines()) == 2 + 5 + 1
    many = mixture(targets=(), hidden=(sf.Variable("C", tuple(range(40)), True),))
    assert "… 19 more rows" in str(many)


def test_arrays_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        mixture().weights[0] = 1.0
