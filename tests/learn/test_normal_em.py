"""EM of joint normal distributions: what is expected of rows with gaps, and where the steps lead."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

import suffice as sf
from suffice.data.variable import Variable
from suffice.errors import EstimationError
from suffice.learn.normal_gaps import NormalGaps
from suffice.stats.gap_moments import GapMoments

Rows = NDArray[np.float64]


def drawn(seed: int, n: int, p: int, share: float) -> tuple[np.random.Generator, Rows]:
    """Rows of a normal distribution, each value missing with some probability."""
    chance = np.random.default_rng(seed)
    rows = chance.normal(size=(n, p)) @ chance.normal(size=(p, p)) + 3 * chance.normal(size=p)
    rows[chance.random((n, p)) < share] = np.nan
    return chance, rows


def table(rows: Rows) -> dict[str, Rows]:
    return {f"x{j}": rows[:, j] for j in range(rows.shape[1])}


def observed_log_likelihood(mean: Rows, covariance: Rows, rows: Rows) -> float:
    """The slow twin: row by row."""
    total = 0.0
    for row in rows:
        seen = np.flatnonzero(~np.isnan(row))
        if len(seen):
            total += multivariate_normal(mean[seen], covariance[np.ix_(seen, seen)]).logpdf(row[seen])
    return float(total)


def filled_in(mean: Rows, covariance: Rows, rows: Rows) -> tuple[Rows, Rows]:
    """The slow twin: Σ E[x] and Σ E[x xᵀ], row by row."""
    sums, products = np.zeros(len(mean)), np.zeros((len(mean), len(mean)))
    for row in rows:
        gone, seen = np.flatnonzero(np.isnan(row)), np.flatnonzero(~np.isnan(row))
        slopes = covariance[np.ix_(gone, seen)] @ np.linalg.inv(covariance[np.ix_(seen, seen)])
        x, left = np.array(row), np.zeros_like(covariance)
        x[gone] = mean[gone] + slopes @ (row[seen] - mean[seen])
        left[np.ix_(gone, gone)] = covariance[np.ix_(gone, gone)] - slopes @ covariance[np.ix_(seen, gone)]
        sums, products = sums + x, products + np.outer(x, x) + left
    return sums, products


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 4), st.sampled_from([0.0, 0.3, 0.8]))
def test_expected_moments_and_likelihood_are_those_of_single_rows(seed: int, n: int, p: int, share: float) -> None:
    chance, rows = drawn(seed, n, p, share)
    root = chance.normal(size=(p, p + 2))
    mean, covariance = chance.normal(size=p), root @ root.T
    variables = tuple(Variable(f"x{j}") for j in range(p))
    cut = int(chance.integers(0, n + 1))
    parts = [GapMoments.of_rows(variables, part) for part in (rows[:cut], rows[cut:])]
    log_likelihood, sums, products = NormalGaps(parts[0] + parts[1], np.zeros(p), np.ones(p)).at(mean, covariance)
    assert log_likelihood == pytest.approx(observed_log_likelihood(mean, covariance, rows), rel=1e-9, abs=1e-9)
    wanted = filled_in(mean, covariance, rows)
    np.testing.assert_allclose(sums, wanted[0], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(products, wanted[1], rtol=1e-8, atol=1e-8)


STRUCTURES = [
    sf.MultivariateNormal(["x0", "x1", "x2", "x3"]),
    sf.GaussianMarkov("x0:x1 + x1:x2 + x2:x3"),
    sf.GaussianMarkov("x0:x1 + x1:x2 + x2:x3 + x3:x0"),
    sf.DAG("x0 -> x1; x1 -> x2; x0 -> x3"),
]


@pytest.mark.parametrize("structure", STRUCTURES, ids=str)
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_every_step_rises_to_a_certified_end(structure: Any, share: float) -> None:
    _, rows = drawn(4, 80, 4, share)
    fit = sf.fit(structure, table(rows), missing="em")
    objectives = [step.objective for step in fit.trace]
    assert all(after >= before - 1e-9 * abs(before) for before, after in itertools.pairwise(objectives))
    assert fit.certificate.ok, fit.certificate
    if share == 0:
        direct = sf.fit(structure, table(rows))
        assert len(fit.trace) == 1
        assert fit.log_likelihood == pytest.approx(direct.log_likelihood, rel=1e-10)


def test_the_end_is_that_of_a_numerical_optimiser() -> None:
    _, rows = drawn(1, 40, 2, 0.3)
    fit = sf.fit(sf.MultivariateNormal(["x0", "x1"]), table(rows), missing="em")

    def cost(theta: Rows) -> float:
        root = np.array([[np.exp(theta[2]), 0], [theta[3], np.exp(theta[4])]])
        return -observed_log_likelihood(theta[:2], root @ root.T, rows)

    found = minimize(cost, np.zeros(5), method="BFGS", options={"gtol": 1e-6})
    assert fit.log_likelihood == pytest.approx(-found.fun, abs=1e-6)
    np.testing.assert_allclose(fit.model.mean, found.x[:2], rtol=1e-4)


def test_a_network_of_regressions_is_the_joint_normal_that_it_describes() -> None:
    _, rows = drawn(2, 60, 3, 0.25)
    network = sf.fit(sf.DAG("x0 -> x1; x0 -> x2; x1 -> x2"), table(rows), missing="em")
    joint = sf.fit(sf.MultivariateNormal(["x0", "x1", "x2"]), table(rows), missing="em")
    assert network.log_likelihood == pytest.approx(joint.log_likelihood, abs=1e-7)
    np.testing.assert_allclose(network.model.query(["x0", "x1", "x2"]).covariance, joint.model.covariance, rtol=1e-5)


@pytest.mark.parametrize("structure", STRUCTURES, ids=str)
def test_columns_far_from_zero_keep_their_digits(structure: Any) -> None:
    _, rows = drawn(3, 80, 4, 0.2)
    near, far = (sf.fit(structure, table(rows + shift), missing="em") for shift in (0.0, 1e9))
    assert far.certificate.ok, far.certificate
    assert far.log_likelihood == pytest.approx(near.log_likelihood, abs=1e-4)  # the data itself is rounded


def test_rows_without_any_value_tell_nothing() -> None:
    _, rows = drawn(5, 50, 2, 0.2)
    structure = sf.MultivariateNormal(["x0", "x1"])
    more = np.vstack([rows, np.full((7, 2), np.nan)])
    first, second = (sf.fit(structure, table(each), missing="em") for each in (rows, more))
    assert second.log_likelihood == pytest.approx(first.log_likelihood, abs=1e-7)
    np.testing.assert_allclose(second.model.covariance, first.model.covariance, rtol=1e-5)
    assert any("tell nothing" in note.text for note in second.notes)


def test_weights_count_like_rows() -> None:
    chance, rows = drawn(6, 40, 3, 0.3)
    weights = chance.integers(0, 4, len(rows))
    structure = sf.MultivariateNormal(["x0", "x1", "x2"])
    weighted = sf.fit(structure, table(rows), weights=weights, missing="em")
    repeated = sf.fit(structure, table(np.repeat(rows, weights, axis=0)), missing="em")
    assert weighted.log_likelihood == pytest.approx(repeated.log_likelihood, rel=1e-9)


@pytest.mark.parametrize(
    "prior",
    [
        sf.NormalInverseWishart(1.0, 2.0, 5, 0.5),
        sf.HyperInverseWishart(3, 1.0),
        sf.HyperInverseWishart(3, 1.0, mean=1.0, mean_weight=2.0),
    ],
    ids=repr,
)
def test_a_prior_is_part_of_the_objective(prior: Any) -> None:
    _, rows = drawn(7, 30, 3, 0.3)
    fit = sf.fit(sf.MultivariateNormal(["x0", "x1", "x2"]), table(rows), prior=prior, missing="em")
    objectives = [step.objective for step in fit.trace]
    assert fit.point == "map"
    assert all(after >= before - 1e-9 * abs(before) for before, after in itertools.pairwise(objectives))
    assert fit.certificate.ok, fit.certificate


def test_restarts_lead_to_the_same_end_and_are_reproducible() -> None:
    _, rows = drawn(8, 100, 3, 0.2)
    structure = sf.MultivariateNormal(["x0", "x1", "x2"])
    first, second = (sf.fit(structure, table(rows), missing="em", restarts=3, seed=5) for _ in range(2))
    assert [start.objective for start in first.starts] == [start.objective for start in second.starts]
    ends = [start.objective for start in first.starts]
    assert max(ends) - min(ends) < 1e-5


def test_an_empty_and_a_constant_column_are_named() -> None:
    _, rows = drawn(9, 20, 2, 0.1)
    structure = sf.MultivariateNormal(["x0", "x1"])
    with pytest.raises(EstimationError, match="Column 'x1' has no values at all"):
        sf.fit(structure, {"x0": rows[:, 0], "x1": np.full(20, np.nan)}, missing="em")
    with pytest.raises(EstimationError, match="Column 'x1' is constant"):
        sf.fit(structure, {"x0": rows[:, 0], "x1": [2.0] * 19 + [np.nan]}, missing="em")


def test_the_unbiased_divisor_is_refused() -> None:
    _, rows = drawn(9, 20, 1, 0.1)
    with pytest.raises(EstimationError, match="leave out divisor='n-1'"):
        sf.fit(sf.Normal("x0", divisor="n-1"), table(rows), missing="em")


def test_gap_moments_do_not_depend_on_how_rows_were_cut() -> None:
    rows = drawn(10, 60, 3, 0.4)[1] + 1e6
    variables = tuple(Variable(f"x{j}") for j in range(3))
    whole = GapMoments.of_rows(variables, rows)
    cut = sum((GapMoments.of_rows(variables, part) for part in np.array_split(rows, 7)[1:]),
              start=GapMoments.of_rows(variables, np.array_split(rows, 7)[0]))  # fmt: skip
    for name, array in whole.to_arrays().items():
        if name == "rest":
            continue
        np.testing.assert_allclose(cut.to_arrays()[name], array, rtol=1e-9, atol=1e-9)
    back = GapMoments.from_arrays(whole.need, sf.fit(sf.MultivariateNormal(["x0", "x1", "x2"]), table(rows),
                                  missing="em").statistics.schema, whole.to_arrays())  # fmt: skip
    assert back.scaled(2.0).weight.sum() == 2 * whole.weight.sum()
    assert whole.scaled(0.0).weight.size == 0


def test_columns_that_no_row_has_together_are_named() -> None:
    data = {
        "x": [1.0, 2.5, 4.0, None, None, None],
        "y": [None, None, None, 0.5, 2.0, 1.0],
        "z": [1.0, 2.0, 4.5, 3.0, 2.0, 0.5],
    }
    fit = sf.fit(sf.MultivariateNormal(["x", "y", "z"]), data, missing="em")
    assert any("No row has x and y together" in note.text for note in fit.notes)
    apart = sf.fit(sf.GaussianMarkov("x:z + z:y"), data, missing="em")
    assert not any("No row has" in note.text for note in apart.notes)
