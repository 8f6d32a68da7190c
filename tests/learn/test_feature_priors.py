"""Penalties on the weights of features: the posterior mode that brute force finds, with exact zeros under Laplace."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learn.feature_cases import Case, cases
from tests.learn.test_features import six

import suffice as sf


def mains(case: Case) -> Any:
    """Return which features look at one variable only."""
    structure = case.structure
    schema = sf.collect(structure, case.data).schema
    return np.array([len(feature.variables) == 1 for feature in structure.resolved(schema)])


@given(cases(zeros=0.4), st.sampled_from([0.3, 1.0, 5.0]), st.sampled_from([None, 0.5, 20.0]))
@settings(max_examples=40)
def test_gaussian_modes_are_those_of_brute_force(case: Case, width: float, main: float | None) -> None:
    prior = sf.Gaussian(width, main=main)
    wanted = case.penalised(prior, mains(case))
    for method in ("lbfgs", "newton"):
        fit = case.fit(prior=prior, method=method, tol=1e-9)
        assert fit.certificate.ok, fit.certificate.verdict
        assert fit.point == "map"
        np.testing.assert_allclose(fit.model.weights.to_numpy(), wanted, rtol=1e-5, atol=1e-5 * width)


@given(cases(zeros=0.4), st.sampled_from([0.05, 0.3, 2.0]), st.sampled_from([None, 0.5, 20.0]))
@settings(max_examples=40)
def test_laplace_modes_are_those_of_brute_force_with_exact_zeros(case: Case, width: float, main: float | None) -> None:
    prior = sf.Laplace(width, main=main)
    fit = case.fit(prior=prior, tol=1e-9, max_iter=20_000)  # of 21 features with 3 relations, 1000 steps are too few
    assert fit.method == "proximal"
    assert fit.certificate.ok, fit.certificate.verdict
    wanted = case.penalised(prior, mains(case))

    def objective(w: Any) -> float:
        widths = np.where(mains(case) & (main is not None), main or 1.0, width)
        return float(case.total * (case.targets @ w - np.logaddexp.reduce(case.values @ w)) - np.abs(w / widths).sum())

    found = fit.model.weights.to_numpy()
    assert objective(found) >= objective(wanted) - 1e-8 * max(1.0, abs(objective(wanted)))
    # What brute force falls short by bounds its divergence from the mode, hence its distance (Pinsker's inequality).
    short = math.sqrt(2 * max(0.0, objective(found) - objective(wanted)) / case.total)
    np.testing.assert_allclose(case.joint(fit.model), case.joint_at(wanted), atol=2e-5 + short)
    # Weights whose slope is clearly below their price are zero exactly.
    slope = case.values.T @ case.joint_at(found) - case.targets
    price = 1 / np.where(mains(case) & (main is not None), main or 1.0, width) / case.total
    assert (found[np.abs(slope) < price * (1 - 1e-4)] == 0).all()
    # The tolerance of the fit is a part of the range of each feature.
    assert (np.abs(slope) <= price * (1 + 1e-6) + 1e-9 * np.maximum(1.0, np.ptp(case.values, axis=0))).all()


def test_a_tight_laplace_prior_leaves_every_weight_at_zero() -> None:
    fit = six().fit(prior=sf.Laplace(1e-4))
    assert not fit.model.weights.to_numpy().any()
    assert fit.certificate.ok


def test_a_flat_prior_is_no_prior() -> None:
    case = six()
    fit = case.fit(prior=sf.Gaussian(1e6), tol=1e-10)
    np.testing.assert_allclose(case.joint(fit.model), case.optimum, atol=1e-8)


@pytest.mark.parametrize("prior", [sf.Gaussian(1.0), sf.Laplace(1.0)])
def test_a_penalty_alone_leaves_the_uniform_distribution(prior: Any) -> None:
    structure = sf.Features([sf.indicator(A="x"), sf.product("n", "n")])
    fit = sf.fit(structure, {"A": [], "n": []}, prior=prior, schema={"A": ["x", "y"], "n": [0, 1, 2]})
    assert fit.certificate.ok
    assert not fit.model.weights.to_numpy().any()


@given(cases(), st.sampled_from([sf.Gaussian(0.7), sf.Laplace(0.7)]))
@settings(max_examples=10)
def test_certificate_refuses_the_mode_of_another_prior(case: Case, prior: Any) -> None:
    fit = case.fit(prior=prior)
    other = case.fit(prior=type(prior)(0.1))
    if np.abs(fit.model.weights.to_numpy() - other.model.weights.to_numpy()).max() < 1e-3:
        return
    again = case.fit(prior=prior, init=other.model, max_iter=0)
    assert not again.certificate.ok


def test_main_effects_can_have_a_width_of_their_own() -> None:
    case = six([("a", "b"), ("c",), ("d",)])
    free = case.fit(prior=sf.Gaussian(0.1, main=1e6), tol=1e-10)
    tight = case.fit(prior=sf.Gaussian(0.1), tol=1e-10)
    share = case.table.sum(axis=(0, 1, 3, 4, 5)) / case.total
    np.testing.assert_allclose(free.model.query("c").values, share, atol=1e-7)
    assert abs(tight.model.query("c").values[0] - 0.5) < abs(share[0] - 0.5)


def test_main_effects_without_a_prior_may_not_run_away() -> None:
    structure = sf.Features([sf.indicator(A="x"), sf.indicator(A="x", B="u")])
    schema = {"A": ["x", "y"], "B": ["u", "v"]}
    with pytest.raises(sf.EstimationError, match=r"'A=x' is at the end of its range.*main=10"):
        sf.fit(structure, {"A": ["x", "x"], "B": ["u", "v"]}, schema=schema, prior=sf.Gaussian(1.0, main=np.inf))
