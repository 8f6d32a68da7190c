"""Distances in nats and in standard deviations, against sixty digits and against formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.audit.exact import row_cost, row_deviation

from suffice.optimise.distance import (
    Distance,
    excess,
    matrix_deviation,
    matrix_loss,
    mean_loss,
    quadratic_loss,
    shortfall,
    sparse_matrix_loss,
    table_deviations,
    table_losses,
)

WEIGHTS = st.lists(st.just(0.0) | st.floats(1e-100, 1e12), min_size=2, max_size=4).filter(lambda m: sum(m) > 1e-3)


@given(WEIGHTS, st.integers(0, 2**32), st.floats(1e-9, 1))
def test_the_loss_of_a_row_has_its_digits_whatever_the_weight(m: list[float], seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    theta = (np.array(m) + 1e-9) * np.exp(size * rng.normal(size=len(m)))
    theta /= theta.sum()
    wanted = row_cost(m, theta)
    assert table_losses(np.array([m]), theta[None])[0] == pytest.approx(wanted, rel=1e-5, abs=1e-12 * sum(m) * 1e-6)


@given(WEIGHTS)
def test_a_rounded_estimate_loses_nothing(m: list[float]) -> None:
    counts = np.array([m])
    assert table_losses(counts, counts / counts.sum())[0] < 1e-9
    assert table_deviations(counts + 0.5, (counts + 0.5) / (counts + 0.5).sum())[0] < 1e-6


def test_a_state_that_occurs_and_has_no_probability_is_infinitely_far() -> None:
    assert table_losses(np.array([[1.0, 1e-9]]), np.array([[1.0, 0.0]]))[0] == math.inf
    assert table_deviations(np.array([[1.0, 1e-9]]), np.array([[1.0, 0.0]]))[0] == math.inf
    assert table_losses(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0]]))[0] == 0


def test_states_that_stand_for_many_count_as_often() -> None:
    counts, theta = np.array([[5.0, 1.0, 1.0, 1.0]]), np.array([[0.4, 0.2, 0.2, 0.2]])
    repeats = np.array([1.0, 3.0])
    whole, short = table_losses(counts, theta), table_losses(counts[:, :2], theta[:, :2], repeats)
    assert short[0] == pytest.approx(whole[0])
    whole, short = table_deviations(counts, theta), table_deviations(counts[:, :2], theta[:, :2], repeats)
    assert short[0] == pytest.approx(whole[0])
    assert whole[0] == pytest.approx(row_deviation(counts[0].tolist(), theta[0].tolist()))


@pytest.mark.parametrize("d", [-1.0, -0.5, -1.1e-4, -0.9e-4, 0.0, 1e-9, 0.99e-4, 1.01e-4, 0.5, 20.0])
def test_series_and_formula_agree(d: float) -> None:
    formula = 1.0 if d == -1 else (1 + d) * math.log1p(d) - d
    assert float(excess(d)) == pytest.approx(formula, rel=1e-7, abs=1e-24)
    formula = math.inf if d == -1 else d - math.log1p(d)
    assert float(shortfall(d)) == pytest.approx(formula, rel=1e-7, abs=1e-24)


@pytest.mark.parametrize("d", [9.9e-5, -9.9e-5, 3e-5])
def test_small_differences_have_eleven_digits(d: float) -> None:
    terms = [(-d) ** k / (k * (k - 1)) for k in range(2, 12)]
    assert float(excess(d)) == pytest.approx(math.fsum(terms), rel=1e-11, abs=0.0)


def test_the_decrement_does_not_depend_on_units() -> None:
    g, h = np.array([0.3, -0.2]), np.array([[2.0, 0.5], [0.5, 1.0]])
    units = np.array([1e-8, 1e7])
    wanted = float(g @ np.linalg.solve(h, g)) / 2
    assert quadratic_loss(g, h) == pytest.approx(wanted)
    assert quadratic_loss(g * units, h * np.outer(units, units)) == pytest.approx(wanted)


def test_a_slope_without_curvature_is_an_infinite_distance() -> None:
    h = np.ones((2, 2))
    assert quadratic_loss(np.array([1.0, 1.0]), h) == pytest.approx(0.5)
    assert quadratic_loss(np.array([1.0, -1.0]), h) == math.inf
    assert quadratic_loss(np.array([1.0, -1.0]) * 1e-16, h, rounding=1e-15) == 0
    assert quadratic_loss(np.array([math.nan, 0.0]), h) == math.inf


def test_the_loss_of_a_covariance_matrix_is_that_of_the_likelihood() -> None:
    rng = np.random.default_rng(0)
    s = np.cov(rng.normal(size=(3, 50)) * np.array([[1e-3], [1.0], [1e3]]))
    wrong = s * (1 + 1e-4 * np.eye(3))
    n, k = 50.0, np.linalg.inv(wrong)
    lost = n / 2 * (np.trace(k @ s) - 3 - np.linalg.slogdet(k @ s)[1])
    assert matrix_loss(n, wrong, wrong - s) == pytest.approx(lost, rel=1e-3)
    everywhere = np.ones((3, 3), bool)
    assert sparse_matrix_loss(n, wrong, wrong - s, everywhere) == pytest.approx(lost, rel=1e-3)
    shift = np.array([1e-5, 0.01, 20.0])
    assert mean_loss(n, s, shift) == pytest.approx(n / 2 * shift @ np.linalg.solve(s, shift))
    assert matrix_loss(n, np.ones((3, 3)), np.eye(3)) == math.inf
    assert mean_loss(n, np.ones((3, 3)), shift) == math.inf


def test_known_zeros_make_the_decrement_smaller_than_its_bound() -> None:
    sigma = np.linalg.inv(np.array([[2.0, -1.5, 0.0], [-1.5, 3.0, -1.5], [0.0, -1.5, 2.0]]))
    free = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], bool)
    gap = np.where(free, 0.05, 0.0)
    places = [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]
    units = [np.zeros((3, 3)) for _ in places]
    for unit, (i, j) in zip(units, places, strict=True):
        unit[i, j] = unit[j, i] = 1.0
    g = np.array([10 / 2 * (unit * gap).sum() for unit in units])
    h = np.array([[10 / 2 * np.trace(sigma @ a @ sigma @ b) for b in units] for a in units])
    exact = sparse_matrix_loss(10.0, sigma, gap, free)
    assert exact == pytest.approx(float(g @ np.linalg.solve(h, g)) / 2)
    assert exact < matrix_loss(10.0, sigma, gap)


def test_entries_of_a_matrix_are_compared_with_their_posterior_spread() -> None:
    wanted = np.array([[2.0, 0.5], [0.5, 1.0]])
    off = wanted + np.array([[0.0, 0.1], [0.1, 0.0]])
    assert matrix_deviation(50, off, wanted, 0.0) == pytest.approx(0.1 / math.sqrt((0.25 + 2) / 50))
    assert matrix_deviation(50, off, wanted, 0.1) == 0
    assert matrix_deviation(50, off * math.nan, wanted, 0.0) == math.inf


def test_distances_add_up_and_keep_the_worst_place() -> None:
    rows = Distance.of_rows(np.array([0.1, 0.3, 0.2]), lambda row: f"row {row}").inside("node 'A'")
    total = Distance.total([rows, Distance(), Distance.in_sds(0.5, "B"), Distance.in_sds(0.2, "C")])
    assert total.nats == pytest.approx(0.6)
    assert (total.where, total.sds, total.sds_where) == ("node 'A', row 1", 0.5, "B")
    assert Distance().as_measured() == {
        "decrement": None, "decrement_worst": "", "deviation": None, "deviation_worst": "",
    }  # fmt: skip
    assert Distance.in_nats(math.nan, "").nats == math.inf
    assert Distance.of_rows(np.array([math.nan, 1.0]), str).nats == math.inf
    assert Distance.of_rows(np.zeros(0), str, of_mean=True).sds == 0
