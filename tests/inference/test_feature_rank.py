"""The covariance of features when all configurations are equally likely: summed, or by effects and interactions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import block_diag
from tests.learn.feature_cases import Case, cases

import suffice as sf
from suffice.data.schema import Schema
from suffice.inference import feature_rank
from suffice.inference.clique_family import Layout
from suffice.inference.feature_rank import uniform_covariance
from suffice.models.feature_design import design_of


def schema_of(case: Case) -> Schema:
    return Schema(tuple(sf.Variable(name, states) for name, states in case.states.items()))


@given(cases())
def test_both_ways_are_the_covariance_of_the_whole_table(case: Case) -> None:
    design = design_of(case.structure, schema_of(case))
    centred = case.values - case.values.mean(axis=0)
    wanted = centred.T @ centred / len(centred)
    scale = max(1.0, float(np.abs(wanted).max()))
    found = uniform_covariance(design.layout, design.matrix)
    np.testing.assert_allclose(found, wanted, atol=1e-10 * scale)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feature_rank, "_by_terms", lambda layout, matrix: None)
        found = uniform_covariance(design.layout, design.matrix)
    np.testing.assert_allclose(found, wanted, atol=1e-10 * scale)


def test_scopes_may_have_their_variables_in_any_order() -> None:
    rng, layout = np.random.default_rng(0), Layout((2, 3, 2, 4), ((0, 1, 2), (1, 0, 3), (3, 2, 1), (2, 0)))
    tables = [rng.normal(size=shape) for shape in layout.shapes]
    # One feature a scope, each of which shares variables with all others.
    matrix = block_diag([table.reshape(-1, 1) for table in tables], format="csr")
    cells = np.array([*np.ndindex(*layout.sizes)])
    pairs = zip(layout.scopes, tables, strict=True)
    values = np.column_stack([table[tuple(cells[:, list(scope)].T)] for scope, table in pairs])
    found = uniform_covariance(layout, matrix)
    np.testing.assert_allclose(found, np.cov(values.T, bias=True), atol=1e-12)


def test_too_many_weights_are_not_looked_into(monkeypatch: Any) -> None:
    schema = Schema((sf.Variable("A", tuple("abcdef")),))
    design = design_of(sf.Features([sf.indicators("A")]), schema)
    monkeypatch.setattr(feature_rank, "MOST_WEIGHTS", 5)
    assert uniform_covariance(design.layout, design.matrix) is None


def test_too_much_work_is_not_done(monkeypatch: Any) -> None:
    names = [f"v{i}" for i in range(30)]
    schema = Schema(tuple(sf.Variable(name, (0, 1)) for name in names))
    design = design_of(sf.Ising(list(itertools.pairwise(names))), schema)
    assert uniform_covariance(design.layout, design.matrix) is not None
    monkeypatch.setattr(feature_rank, "MOST_NUMBERS", 10)
    assert uniform_covariance(design.layout, design.matrix) is None


def test_a_fit_says_when_dependence_was_not_looked_into(monkeypatch: Any) -> None:
    monkeypatch.setattr(feature_rank, "MOST_WEIGHTS", 1)
    fit = sf.fit(sf.Features([sf.indicators("A")]), {"A": list("xxy")})
    assert any("not looked into" in note.text for note in fit.notes)
    assert fit.certificate.ok


def test_a_large_model_knows_its_relations() -> None:
    names = [f"v{i}" for i in range(25)]
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(0, 2, 200) for name in names}
    specs = [sf.indicators(a, b) for a, b in itertools.pairwise(names)]
    fit = sf.fit(sf.Features(specs), rows)
    assert len(fit.model.weights) == 96
    assert fit.n_free == 25 + 24
    assert any(note.text.startswith("47 relations") for note in fit.notes)
