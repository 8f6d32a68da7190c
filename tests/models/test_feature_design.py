"""Designs: the sparse map from weights to tables says what the features say, and knows how far they reach."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.learn.feature_cases import Case, cases

import suffice as sf
from suffice.data.schema import Schema
from suffice.inference.clique_family import TableFamily
from suffice.inference.feature_family import joint_features
from suffice.models.conditional_design import conditional_design
from suffice.models.feature_design import FeatureDesign, design_of


def schema_of(case: Case) -> Schema:
    return Schema(tuple(sf.Variable(name, states) for name, states in case.states.items()))


def joint_of(design: FeatureDesign) -> Any:
    """Return f of every configuration, through the design's matrix."""
    family = TableFamily(list(design.names), design.layout.sizes, design.layout.scopes)
    return joint_features(family, design.matrix).toarray()


@given(cases())
def test_the_matrix_holds_the_features(case: Case) -> None:
    design = design_of(case.structure, schema_of(case))
    np.testing.assert_allclose(joint_of(design), case.values, rtol=1e-12, atol=1e-12)


@given(cases(), st.integers(0, 2**32 - 1))
def test_log_potentials_and_moments_are_sums_over_configurations(case: Case, seed: int) -> None:
    design = design_of(case.structure, schema_of(case))
    rng = np.random.default_rng(seed)
    weights, p = rng.normal(size=design.n_weights), rng.dirichlet(np.ones(len(case.values)))
    family = TableFamily(list(design.names), design.layout.sizes, design.layout.scopes)
    scores = np.broadcast_to(family.spread(design.theta(weights)), design.layout.sizes).reshape(-1)
    np.testing.assert_allclose(scores, case.values @ weights, rtol=1e-10, atol=1e-10)
    joint = p.reshape(design.layout.sizes)
    tables = []
    for scope in design.layout.scopes:
        others = tuple(v for v in range(joint.ndim) if v not in scope)
        tables.append(joint.sum(axis=others).transpose(np.argsort(np.argsort(scope))))
    np.testing.assert_allclose(design.moments(design.layout.flat(tables)), p @ case.values, rtol=1e-10, atol=1e-10)


@given(cases())
def test_bounds_hold_every_value_and_are_reached_by_features_of_one_scope(case: Case) -> None:
    structure = case.structure
    low, high = design_of(structure, schema_of(case)).bounds()
    assert (low <= case.values.min(axis=0) + 1e-12).all()
    assert (high >= case.values.max(axis=0) - 1e-12).all()
    for place, feature in enumerate(structure.resolved(schema_of(case))):
        if len({frozenset(term.scope) for term in feature.terms}) == 1:
            assert low[place] == pytest.approx(case.values[:, place].min(), abs=1e-12)
            assert high[place] == pytest.approx(case.values[:, place].max(), abs=1e-12)


@given(cases(max_variables=3, ties=False), st.integers(0, 2**32 - 1))
def test_bounds_know_cells_that_are_ruled_out(case: Case, seed: int) -> None:
    design = design_of(case.structure, schema_of(case))
    allowed = np.random.default_rng(seed).random(design.layout.n) > 0.3
    allowed[design.layout.starts[:-1]] = True
    low, high = design.bounds(allowed)
    assert len(low) == len(high) == design.n_weights == len(case.names)
    for place in range(design.n_weights):
        column = design.matrix[:, [place]].toarray()[:, 0]
        parts = [
            column[start:end][allowed[start:end]]
            for start, end in zip(design.layout.starts[:-1], design.layout.starts[1:], strict=True)
        ]
        assert low[place] == pytest.approx(sum(part.min() for part in parts), abs=1e-12)
        assert high[place] == pytest.approx(sum(part.max() for part in parts), abs=1e-12)


def test_scopes_are_one_table_whatever_the_order_of_their_variables() -> None:
    schema = Schema((sf.Variable("A", ("x", "y")), sf.Variable("B", ("u", "v", "w"))))
    specs = [sf.indicator(A="y", B="u"), sf.indicator(B="w", A="x"), sf.feature(lambda b, a: 2.0, over=("B", "A"))]
    design = design_of(sf.Features(specs), schema)
    assert design.layout.scopes == ((0, 1),)
    table = design.layout.tables(design.theta(np.array([1.0, 10.0, 100.0])))[0]
    np.testing.assert_array_equal(table, [[200, 200, 210], [201, 200, 200]])


def test_sparse_features_stay_sparse() -> None:
    letters = [f"c{i}" for i in range(6)]
    schema = Schema(tuple(sf.Variable(name, tuple("abcdefghijklmnopqrstuvwxyz")) for name in letters))
    design = design_of(sf.Features([sf.windows(["ing", "ion", "the"], over=letters)]), schema)
    assert design.layout.n == 4 * 26**3
    assert design.matrix.nnz == 3 * 4


def test_a_function_that_slides_is_tabulated_once() -> None:
    calls = []
    letters = [f"c{i}" for i in range(9)]
    schema = Schema(tuple(sf.Variable(name, ("a", "b")) for name in letters))
    design_of(sf.Features([sf.windows(lambda *x: calls.append(x) or 1.0, over=letters, width=3)]), schema)
    assert len(calls) == 8


def test_a_scope_beyond_the_memory_allowed_is_refused() -> None:
    names = [f"v{i}" for i in range(16)]
    schema = Schema(tuple(sf.Variable(name, (0, 1)) for name in names))
    before = sf.config().memory
    try:
        sf.config(memory="1MB")
        with pytest.raises(sf.StructureError, match=r"over 16 variables.*65,536 cells.*sf\.config"):
            design_of(sf.Features([sf.indicator(dict.fromkeys(names, 1))]), schema)
        pairs = [sf.indicators(a, b) for a in names for b in names if a < b]
        sf.config(memory="10kB")
        with pytest.raises(sf.StructureError, match="all 120 scopes"):
            design_of(sf.Features(pairs), schema)
    finally:
        sf.config(memory=before)


# Given inputs -------------------------------------------------------------------------------------------------


@given(cases(max_variables=4), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_features_given_inputs_are_the_same_features(case: Case, seed: int) -> None:
    seen = dict.fromkeys(name for spec in case.specs for name in spec.variables)
    assume(len(seen) > 1)
    rng = np.random.default_rng(seed)
    given_ = [name for name in seen if rng.random() < 0.5][: len(seen) - 1]
    assume(not any(set(spec.variables) <= set(given_) for spec in case.specs))  # features of inputs alone are refused
    structure = sf.Features(list(case.specs), given=given_, tie=case.ties)
    schema = schema_of(case)
    design = conditional_design(structure, schema)
    n = 5
    inputs = {name: rng.integers(0, schema[name].n_states, n) for name in given_}
    matrix = design.at(inputs, n).toarray().reshape(n, design.n_outputs, -1)
    codes = design.output_codes()
    assert design.n_outputs == math.prod(schema[name].n_states for name in design.outputs)
    for row in range(n):
        for y in range(design.n_outputs):
            at = {name: schema[name].labels[int(inputs[name][row])] for name in given_}
            at |= {name: schema[name].labels[int(codes[name][y])] for name in design.outputs}
            wanted = [f(at) for f in case.functions.values()]
            np.testing.assert_allclose(matrix[row, y], wanted, rtol=1e-12, atol=1e-12)


def test_features_of_continuous_inputs_are_numbers_of_their_rows() -> None:
    schema = Schema((sf.Variable("y", ("a", "b")), sf.Variable("x"), sf.Variable("g", (0, 1))))
    specs = [
        sf.product("x", sf.indicator(y="b")),
        sf.product("g", sf.indicator(y="b")),
        sf.product("x", "x", "g", sf.indicators("y")),
    ]
    design = conditional_design(sf.Features(specs, given=["x", "g"]), schema)
    matrix = design.at({"x": np.array([2.0, -3.0]), "g": np.array([1, 0])}, 2).toarray()
    np.testing.assert_array_equal(matrix, [[0, 0, 4, 0], [2, 1, 0, 4], [0, 0, 0, 0], [-3, 0, 0, 0]])


def test_too_many_inputs_for_the_memory_allowed_are_refused() -> None:
    rows = {"x": np.arange(3000.0), "y": np.arange(3000) % 2}
    before = sf.config().memory
    try:
        sf.config(memory="200kB")
        with pytest.raises(sf.StructureError, match=r"3,000 inputs with 2 outputs each.*sf\.config"):
            sf.fit(sf.Features([sf.product("x", sf.indicator(y=1))], given="x"), rows)
    finally:
        sf.config(memory=before)
