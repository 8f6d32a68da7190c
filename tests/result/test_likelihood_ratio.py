"""Tests of nested fits: their statistic, their degrees of freedom, and what two fits must share."""

# ruff: noqa: SIM300 (G2 is the name of a statistic, not a constant)

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import suffice as sf

STATES = {"A": ["x", "y"], "B": ["u", "v", "w"], "C": ["no", "yes"]}
CHAIN = ("A + B + C", "A:B + C", "A:B + B:C", "A:B + B:C + A:C", "A:B:C")


def fitted(model: str, counts: Any, **options: Any) -> sf.Fit:
    table = sf.Contingency(np.array(counts).reshape(2, 3, 2), STATES)
    return sf.fit(sf.Cliques(model), table, **{"tol": 1e-10, "max_iter": 20_000, **options})


@given(counts=st.lists(st.integers(1, 40), min_size=12, max_size=12))
def test_statistics_split_along_a_chain_of_models(counts: list[int]) -> None:
    """G² of a model is the sum of the steps up to the saturated one, and so are its degrees of freedom."""
    fits = [fitted(model, counts) for model in CHAIN]
    steps = [sf.likelihood_ratio(small, large) for small, large in itertools.pairwise(fits)]
    assert sum(step.G2 for step in steps) == pytest.approx(fits[0].goodness.G2, abs=1e-6)
    assert sum(step.df or 0 for step in steps) == fits[0].goodness.df
    for step in steps:
        assert step.p_value == pytest.approx(stats.chi2.sf(step.G2, step.df))
        assert step.remarks == ()


@given(counts=st.lists(st.integers(0, 4), min_size=12, max_size=12).filter(any))
def test_degrees_of_freedom_split_on_the_boundary_too(counts: list[int]) -> None:
    fits = [fitted(model, counts) for model in CHAIN]
    assert len(fits) > 1
    for small, large in itertools.pairwise(fits):
        found = sf.likelihood_ratio(small, large)
        assert 0 <= found.df <= large.n_free - small.n_free
        on_boundary = "no" in (small.certificate.exists, large.certificate.exists)
        assert bool(found.remarks) == on_boundary
        assert on_boundary or found.df == large.n_free - small.n_free
        assert found.n_free == (small.n_free, large.n_free)


def test_a_model_against_itself() -> None:
    fit = fitted("A:B + C", range(1, 13))
    found = sf.likelihood_ratio(fit, fitted("C + B:A", range(1, 13), method="newton"))
    assert (found.df, found.p_value) == (0, 1)
    assert found.G2 == pytest.approx(0, abs=1e-8)


def test_states_and_axes_may_come_in_another_order() -> None:
    m = np.arange(1, 13).reshape(2, 3, 2)
    turned = sf.Contingency(m[:, ::-1].transpose(1, 0, 2), {"B": ["w", "v", "u"], "A": ["x", "y"], "C": ["no", "yes"]})
    large = sf.fit(sf.Cliques("C:B + B:A"), turned)
    expected = sf.likelihood_ratio(fitted("A:B + C", m), fitted("A:B + B:C", m))
    assert sf.likelihood_ratio(fitted("A:B + C", m), large).G2 == pytest.approx(expected.G2, abs=1e-9)


def test_normal_models_are_compared_by_their_edges() -> None:
    rng = np.random.default_rng(1)
    data = {name: rng.normal(size=50) for name in "xyz"}
    small, large = sf.fit(sf.GaussianMarkov("x:y + z"), data), sf.fit(sf.GaussianMarkov("x:y + y:z"), data)
    found = sf.likelihood_ratio(small, large)
    assert found.G2 == pytest.approx(-50 * np.log1p(-(np.corrcoef(data["y"], data["z"])[0, 1] ** 2)), rel=1e-9)
    assert found.df == 1
    with pytest.raises(sf.ArgumentError, match="exchange them"):
        sf.likelihood_ratio(large, small)


# What is refused ----------------------------------------------------------------------------------------------


def refuse(small: Any, large: Any, says: str, error: type[Exception] = sf.ArgumentError) -> None:
    with pytest.raises(error, match=says):
        sf.likelihood_ratio(small, large)


def test_models_that_are_not_nested_are_refused() -> None:
    m = range(1, 13)
    refuse(fitted("A:B + C", m), fitted("A + B:C", m), "A:B . C is not inside A . B:C.$")
    refuse(fitted("A:B + B:C", m), fitted("A:B + C", m), "The reverse is true")
    refuse(fitted("A:B", m), fitted("A:B + C", m), "same variables")


def test_fits_of_other_data_are_refused() -> None:
    m = np.arange(1, 13)
    refuse(fitted("A:B + C", m), fitted("A:B:C", m + 1), "N = 78 and N = 90")
    refuse(fitted("A:B + C", m), fitted("A:B:C", m[::-1]), "counts of .* differ")
    # the same margins of the small model's cliques, but not the same table
    moved = m.reshape(2, 3, 2) + np.array([[[1, -1], [-1, 1], [0, 0]], [[0, 0], [0, 0], [0, 0]]])
    refuse(fitted("A:B + C", m), fitted("A:B + B:C", moved), "counts of .* differ")
    renamed = sf.Contingency(m.reshape(2, 3, 2), {**STATES, "C": ["off", "on"]})
    refuse(fitted("A:B + C", m), sf.fit(sf.Cliques("A:B:C"), renamed), "states of 'C'")


def test_only_maximum_likelihood_is_compared() -> None:
    m = range(1, 13)
    refuse(fitted("A:B + C", m), fitted("A:B:C", m, prior=sf.BDeu(1)), "'large' fit is not by", sf.EstimationError)


def test_only_fits_of_known_kinds_are_compared() -> None:
    fit = fitted("A:B + C", range(1, 13))
    data = {"A": ["x", "y"], "B": ["u", "v"]}
    refuse(fit, 3, "'large' argument must be a fit")
    refuse(sf.fit(sf.DAG("A -> B"), data), fit, r"It is of sf\.DAG")
    normal = sf.fit(sf.GaussianMarkov("x + y"), {"x": [1.0, 2, 4], "y": [1.0, 3, 1]})
    refuse(fit, normal, "same kind")


# Rendering ----------------------------------------------------------------------------------------------------


def test_print_names_the_models() -> None:
    found = sf.likelihood_ratio(fitted("A:B + C", range(1, 13)), fitted("A:B:C", range(1, 13)))
    assert "small: A:B + C" in str(found)
    assert f"{found.G2:.4f}" in str(found)
    assert f"{found.G2:.4f}" in found._repr_html_()
