"""Families of weights: log Z, expectations and covariances are those of sums over all configurations."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tests.learn.feature_cases import Case, cases, softmax

import suffice as sf
from suffice.data.schema import Schema
from suffice.inference.clique_family import TableFamily, family_of
from suffice.inference.feature_family import ConditionalFamily, FeatureFamily
from suffice.inference.product import Factor
from suffice.inference.tree_family import TreeFamily
from suffice.models.feature_design import design_of


def families(case: Case) -> list[FeatureFamily]:
    """Return the family on its table, and along a tree."""
    schema = Schema(tuple(sf.Variable(name, states) for name, states in case.states.items()))
    design = design_of(case.structure, schema)
    layout = design.layout
    table = TableFamily(list(design.names), layout.sizes, layout.scopes)
    tree = TreeFamily(list(design.names), layout.sizes, layout.scopes)
    return [FeatureFamily(inner, design.matrix) for inner in (table, tree)]


@given(cases(), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_points_are_sums_over_all_configurations(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, direction = rng.normal(size=len(case.names)), rng.normal(size=len(case.names))
    scores = case.values @ weights
    p = softmax(scores)
    mean = p @ case.values
    covariance = (case.values - mean).T @ (p[:, None] * (case.values - mean))
    for family in families(case):
        assert family.n_weights == len(case.names)
        point = family.at(weights)
        assert point.log_z == pytest.approx(float(np.logaddexp.reduce(scores)), rel=1e-10, abs=1e-10)
        np.testing.assert_allclose(point.expected, mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(point.curvature(direction), covariance @ direction, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(family.covariance(weights), covariance, rtol=1e-7, atol=1e-8)


@given(cases(max_variables=3), st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_expectations_are_the_gradient_of_log_z(case: Case, seed: int) -> None:
    weights = np.random.default_rng(seed).normal(size=len(case.names)) / 2
    for family in families(case):
        steps = 1e-5 * np.eye(len(weights))
        slopes = [(family.at(weights + h).log_z - family.at(weights - h).log_z) / 2e-5 for h in steps]
        assert slopes == pytest.approx(family.at(weights).expected, rel=1e-5, abs=1e-6)


def test_offsets_rule_cells_out() -> None:
    names, sizes, scopes = ["A", "B"], (2, 2), ((0, 1),)
    inner = family_of(names, sizes, scopes, ())
    matrix = csr_array(np.eye(4))
    family = FeatureFamily(inner, matrix, np.array([0.0, 0.0, 0.0, -np.inf]))
    np.testing.assert_allclose(family.at(np.array([0.0, 1.0, 2.0, 99.0])).expected, [*softmax(np.arange(3.0)), 0.0])


def test_base_measures_multiply() -> None:
    inner = family_of(["A"], (3,), ((0,),), (Factor((0,), np.array([1.0, 2.0, 0.0])),))
    family = FeatureFamily(inner, csr_array(np.array([[0.0], [1.0], [5.0]])))
    np.testing.assert_allclose(family.at(np.zeros(1)).expected, [2 / 3])


# Conditional --------------------------------------------------------------------------------------------------


@st.composite
def conditional(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    n, m, k = draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = rng.normal(size=(n, m, k)) * (rng.random((n, m, k)) < 0.7)
    return values, rng.dirichlet(np.ones(n)), rng.normal(size=k)


@given(conditional(), st.booleans())
def test_conditional_points_are_means_over_the_inputs(drawn: tuple[Any, Any, Any], ruled_out: bool) -> None:
    values, shares, weights = drawn
    n, m, k = values.shape
    offset = np.zeros((n, m))
    if ruled_out and m > 1:
        offset[0, 1] = -np.inf
    family = ConditionalFamily(csr_array(values.reshape(n * m, k)), shares, m, offset if ruled_out else None)
    log_z, mean, covariance = 0.0, np.zeros(k), np.zeros((k, k))
    for f, share, h in zip(values, shares, offset, strict=True):
        scores = f @ weights + h
        p = softmax(scores)
        log_z += share * float(np.logaddexp.reduce(scores))
        mean += share * (p @ f)
        covariance += share * ((f - p @ f).T @ (p[:, None] * (f - p @ f)))
    point = family.at(weights)
    assert point.log_z == pytest.approx(log_z, rel=1e-10, abs=1e-12)
    np.testing.assert_allclose(point.expected, mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(family.covariance(weights), covariance, rtol=1e-8, atol=1e-10)
    for unit in np.eye(k):
        np.testing.assert_allclose(point.curvature(unit), covariance @ unit, rtol=1e-8, atol=1e-10)


def test_large_scores_do_not_overflow() -> None:
    family = ConditionalFamily(csr_array(np.array([[0.0], [1.0]])), np.ones(1), 2)
    for weight in (5000.0, -5000.0):
        point = family.at(np.array([weight]))
        assert point.log_z == max(weight, 0.0)
        assert point.expected[0] == float(weight > 0)


def test_a_tree_of_many_variables_has_the_expectations_of_a_recursion() -> None:
    names = [f"v{i}" for i in range(60)]
    structure = sf.Ising(list(itertools.pairwise(names)))
    design = design_of(structure, Schema(tuple(sf.Variable(name, (0, 1)) for name in names)))
    family = FeatureFamily(family_of(list(design.names), design.layout.sizes, design.layout.scopes, ()), design.matrix)
    weights = np.array([0.0 if feature.name in names else 0.3 for feature in design.features])
    point = family.at(weights)
    assert point.log_z == pytest.approx(60 * np.log(2) + 59 * np.log(np.cosh(0.3)), rel=1e-12)
    wanted = [0.0 if feature.name in names else np.tanh(0.3) for feature in design.features]
    np.testing.assert_allclose(point.expected, wanted, atol=1e-12)
