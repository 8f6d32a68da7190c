"""Partial correlations and regressions within strata, against least squares on the rows themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from suffice.checking.regressions import partial_correlation, regressed
from suffice.data.variable import Variable
from suffice.stats.moments import Moments

SEED = st.integers(0, 2**32 - 1)


def residuals(y: np.ndarray, *given: np.ndarray) -> np.ndarray:
    design = np.column_stack([np.ones(len(y)), *given])
    return y - design @ np.linalg.lstsq(design, y, rcond=None)[0]


def moments(columns: list[np.ndarray]) -> Moments:
    return Moments.of_rows(tuple(Variable(f"x{i}") for i in range(len(columns))), np.column_stack(columns))


def by_group(columns: list[np.ndarray], *groups: np.ndarray) -> Moments:
    sizes = [int(group.max()) + 1 for group in groups]
    p = len(columns)
    weight, mean = np.zeros(sizes), np.zeros((*sizes, p))
    scatter = np.zeros((*sizes, p, p))
    rows = np.column_stack(columns)
    for cell in np.ndindex(*sizes):
        held = rows[np.all([group == code for group, code in zip(groups, cell, strict=True)], axis=0)]
        if len(held):
            weight[cell], mean[cell] = len(held), held.mean(axis=0)
            scatter[cell] = (held - mean[cell]).T @ (held - mean[cell])
    by = tuple(Variable(f"g{i}", tuple(range(size))) for i, size in enumerate(sizes))
    xs = tuple(Variable(f"x{i}") for i in range(p))
    return Moments(xs, by, weight, mean, np.zeros_like(mean), scatter)


@given(SEED, st.integers(0, 3), st.integers(8, 40))
@settings(max_examples=40)
def test_partial_correlation_is_that_of_residuals(seed: int, n_given: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    known = [rng.normal(size=n) for _ in range(n_given)]
    x = rng.normal(size=n) + 0.5 * sum(known, np.zeros(n))
    y = rng.normal(size=n) + 0.3 * x
    found = partial_correlation(moments([x, y, *known]), "x0", "x1", tuple(f"x{i + 2}" for i in range(n_given)))
    assert found is not None
    r = np.corrcoef(residuals(x, *known), residuals(y, *known))[0, 1]
    freedom = n - 2 - n_given
    t = r * math.sqrt(freedom / (1 - r**2))
    assert found.statistic == pytest.approx(t, rel=1e-6, abs=1e-9)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), freedom), rel=1e-6)
    assert found.deviance == pytest.approx(-n * math.log(1 - r**2), rel=1e-6, abs=1e-9)


def test_without_anything_given_it_is_pearsons_test() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=30), rng.normal(size=30)
    found = partial_correlation(moments([x, y]), "x0", "x1", ())
    assert found is not None
    assert found.p_value == pytest.approx(stats.pearsonr(x, y).pvalue, rel=1e-9)


def test_what_is_constant_or_a_function_of_others_is_not_tested() -> None:
    x = np.array([1.0, 2.0, 4.0, 3.0, 7.0])
    y = np.array([2.0, 1.0, 5.0, 3.5, 6.0])
    assert partial_correlation(moments([x, np.ones(5)]), "x0", "x1", ()) is None
    assert partial_correlation(moments([x, y, 2 * x + 1]), "x0", "x1", ("x2",)) is None
    assert partial_correlation(moments([x[:2], y[:2]]), "x0", "x1", ()) is None


def test_variables_that_are_functions_of_each_other_are_surely_dependent() -> None:
    x = np.array([1.0, 2.0, 4.0, 3.0, 7.0])
    found = partial_correlation(moments([x, -3 * x]), "x0", "x1", ())
    assert found is not None
    assert (found.statistic, found.p_value) == (-math.inf, 0.0)


@given(SEED)
@settings(max_examples=20)
def test_shifts_of_the_mean_are_tested_by_analysis_of_variance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = np.arange(30) % 3
    y = rng.normal(size=30) + 0.2 * group
    found = regressed(by_group([y], group), 0)
    assert found is not None
    wanted = stats.f_oneway(*(y[group == code] for code in range(3)))
    assert found.statistic == pytest.approx(wanted.statistic, rel=1e-9)
    assert found.p_value == pytest.approx(wanted.pvalue, rel=1e-9)
    assert (found.df, found.df_residual) == (2, 27)


@given(SEED)
@settings(max_examples=20)
def test_strata_are_combined_by_fishers_method(seed: int) -> None:
    rng = np.random.default_rng(seed)
    stratum = rng.integers(0, 2, 60)
    known, other = rng.normal(size=60), rng.normal(size=60)
    y = rng.normal(size=60) * (1 + stratum) + known
    found = regressed(by_group([y, known, other], stratum), 1)
    assert found is not None
    p_values, deviance = [], 0.0
    for code in range(2):
        held = stratum == code
        x, c, u = y[held], known[held], other[held]
        before, after = (residuals(x, c) ** 2).sum(), (residuals(x, c, u) ** 2).sum()
        freedom = held.sum() - 3
        p_values.append(stats.f.sf((before - after) / (after / freedom), 1, freedom))
        deviance += held.sum() * math.log(before / after)
    assert found.p_value == pytest.approx(stats.combine_pvalues(p_values).pvalue, rel=1e-6)
    assert found.deviance == pytest.approx(deviance, rel=1e-6, abs=1e-9)
    assert (found.df, found.deviance_df) == (4, 2)


def test_groups_and_covariates_together_are_analysis_of_covariance() -> None:
    rng = np.random.default_rng(3)
    group, known = np.arange(40) % 2, rng.normal(size=40)
    y = known + 0.4 * group + rng.normal(size=40)
    found = regressed(by_group([y, known], group), 0)
    assert found is not None
    before, after = (residuals(y, known) ** 2).sum(), (residuals(y, known, group.astype(float)) ** 2).sum()
    assert found.statistic == pytest.approx((before - after) / (after / 37), rel=1e-9)
    assert (found.df, found.df_residual) == (1, 37)


def test_strata_without_rows_to_spare_are_left_out() -> None:
    assert regressed(by_group([np.array([1.0, 2.0])], np.array([0, 1])), 0) is None


@pytest.mark.parametrize("n", [3, 4, 60])
def test_groups_with_one_number_each_are_as_far_as_dealing_at_random_says(n):
    group = np.arange(n) % 2
    found = regressed(by_group([np.where(group == 1, 3.0, 1.5)], group), 0)
    assert found.statistic == math.inf
    assert found.p_value == pytest.approx(1 / math.comb(n, n // 2), rel=1e-9)
    assert found.deviance == pytest.approx(stats.chi2.isf(found.p_value, 1), rel=1e-6)
