"""Markov networks as distributions: built by hand, evaluated, answered, pickled and printed."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.data.labelled import LabelledTable

SCHEMA = {"A": ["x", "y"], "B": ["u", "v", "w"], "C": [False, True]}
AB = [[1.0, 2.0, 0.0], [3.0, 1.0, 5.0]]
CA = [[2.0, 1.0], [1.0, 4.0]]


@pytest.fixture
def network() -> sf.MarkovNetwork:
    return sf.MarkovNetwork([(("A", "B"), AB), (["C", "A"], CA), ((), 2.0)], schema=SCHEMA)


def weights() -> dict[tuple[str, str, bool], float]:
    """Π ψ of every configuration."""
    result = {}
    for (i, a), (j, b), (k, c) in itertools.product(*(enumerate(states) for states in SCHEMA.values())):
        result[a, b, c] = 2.0 * AB[i][j] * CA[k][i]
    return result


def test_network_says_what_it_is(network: sf.MarkovNetwork) -> None:
    assert network.variables == ("A", "B", "C")
    assert network.scopes == (("A", "B"), ("C", "A"), ())
    assert repr(network) == "MarkovNetwork(3 variables, 3 factors)"
    assert str(network).startswith("ψ(A, B)\n")
    assert network._repr_html_().count("<table") == 3
    assert network.factors[0][{"A": "y", "B": "w"}] == 5
    assert network.factors[0].name == "ψ"


def test_network_keeps_its_own_numbers() -> None:
    table = np.array(AB)
    network = sf.MarkovNetwork([(("A", "B"), table)], schema=SCHEMA)
    table[:] = 7
    assert network.factors[0].values.tolist() == AB
    with pytest.raises(ValueError, match="read-only"):
        network.factors[0].values[0, 0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        network.factors = ()  # type: ignore[misc]


def test_log_prob_is_the_normalised_product(network: sf.MarkovNetwork) -> None:
    expected = weights()
    total = math.fsum(expected.values())
    columns = {name: [cell[i] for cell in expected] for i, name in enumerate(SCHEMA)}
    found = network.log_prob(columns)
    assert np.exp(found).tolist() == pytest.approx([w / total for w in expected.values()], rel=1e-12)
    assert found[list(expected).index(("x", "w", True))] == -math.inf
    assert network.log_z == pytest.approx(math.log(total), rel=1e-12)


def test_scores_lack_only_the_normaliser(network: sf.MarkovNetwork) -> None:
    codes = {"A": np.array([0, 1]), "B": np.array([1, 2]), "C": np.array([0, 1])}
    np.testing.assert_allclose(
        network.log_score_of(codes, 2) - network.log_z, network.log_prob_of(codes, 2), rtol=1e-12
    )
    assert network.log_score_of(codes, 2)[1] == pytest.approx(math.log(2 * 5 * 4), rel=1e-12)


def test_variables_outside_all_factors_are_uniform() -> None:
    network = sf.MarkovNetwork([(("A",), [1.0, 3.0])], schema=SCHEMA)
    np.testing.assert_allclose(network.query("B").values, [1 / 3] * 3)
    assert network.log_z == pytest.approx(math.log(4 * 3 * 2), rel=1e-12)
    np.testing.assert_allclose(network.log_prob({"A": ["y"], "B": ["u"], "C": [True]}), [math.log(3 / 24)])


def test_no_factors_and_constants() -> None:
    plain = sf.MarkovNetwork([], schema=SCHEMA)
    assert plain.log_z == pytest.approx(math.log(12), rel=1e-12)
    assert str(plain) == ""
    scaled = sf.MarkovNetwork([((), 5.0)], schema=SCHEMA)
    assert scaled.log_z == pytest.approx(math.log(60), rel=1e-12)
    assert scaled.kl(plain) == pytest.approx(0, abs=1e-12)


def test_labelled_tables_are_factors(network: sf.MarkovNetwork) -> None:
    again = sf.MarkovNetwork(network.factors, schema=network.schema)
    assert again.scopes == network.scopes
    posterior = network.query(["B", "C"])
    fused = sf.MarkovNetwork([posterior], schema=SCHEMA)
    np.testing.assert_allclose(fused.query(["B", "C"]).values, posterior.values, rtol=1e-12)


@given(st.floats(1e-200, 1e200), st.integers(0, 2))
@settings(max_examples=30)
def test_scaling_a_factor_changes_nothing_but_log_z(factor: float, which: int) -> None:
    tables: list[tuple[Any, Any]] = [(("A", "B"), np.array(AB)), (("C", "A"), np.array(CA)), ((), np.array(2.0))]
    plain = sf.MarkovNetwork(tables, schema=SCHEMA)
    tables[which] = (tables[which][0], tables[which][1] * factor)
    scaled = sf.MarkovNetwork(tables, schema=SCHEMA)
    assert scaled.log_z == pytest.approx(plain.log_z + math.log(factor), rel=1e-11, abs=1e-11)
    np.testing.assert_allclose(scaled.query(["B", "C"]).values, plain.query(["B", "C"]).values, rtol=1e-11)
    assert dict(scaled.map()) == dict(plain.map())


@pytest.mark.parametrize(
    ("factors", "schema", "complaint"),
    [
        ("AB", SCHEMA, "'factors' argument must be a list"),
        ({"A": [1, 2]}, SCHEMA, "'factors' argument must be a list"),
        (7, SCHEMA, "'factors' argument must be a list"),
        ([[1.0, 2.0, 3.0]], SCHEMA, "Factor 0 must be a table or a pair"),
        ([(("A",), [1, 1]), "A"], SCHEMA, "Factor 1 must be a table or a pair"),
        ([(("A", "D"), AB)], SCHEMA, "Factor 0 is over 'D', which is not a variable"),
        ([(("A", "A"), [[1, 1], [1, 1]])], SCHEMA, "names a variable twice"),
        ([(("A", "B"), np.ones((3, 2)))], SCHEMA, r"must have the shape \(2, 3\).*Got \(3, 2\)"),
        ([(("A",), [1, -1])], SCHEMA, r"Factor 0, over \['A'\].*-1.*not negative"),
        ([(("A",), [1, math.nan])], SCHEMA, "nan"),
        ([(("A",), [1, math.inf])], SCHEMA, "inf"),
        ([(("A",), ["many", 1])], SCHEMA, "not an array of numbers"),
        ([(("A",), [[1, 2], [3]])], SCHEMA, "not an array of numbers"),
        ([], {"A": sf.categorical()}, "states of 'A' are not known"),
    ],
)
def test_malformed_networks_are_explained(factors: Any, schema: Any, complaint: str) -> None:
    with pytest.raises(sf.SufficeError, match=complaint):
        sf.MarkovNetwork(factors, schema=schema)


def test_factors_with_other_states_are_refused(network: sf.MarkovNetwork) -> None:
    other = LabelledTable((sf.Variable("A", ("y", "x")),), np.ones(2))
    with pytest.raises(sf.ModelError, match=r"Factor 0.*'A'.*order included"):
        sf.MarkovNetwork([other], schema=SCHEMA)
