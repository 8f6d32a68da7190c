"""Noisy-OR distributions: what they say, what they compute, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.data.variable import Variable
from suffice.models.cpds.kind import NodeFamily
from suffice.models.cpds.noisy_or import NoisyOrCPD, causes

Y = Variable("fever", ("no", "yes"))
FLU, COLD = Variable("flu", ("no", "yes")), Variable("cold", ("no", "mild", "severe"))
FAMILY = NodeFamily(Y, (FLU, COLD))
STRENGTHS = st.floats(0, 1) | st.sampled_from([0.0, 1.0])


@given(st.lists(STRENGTHS, min_size=4, max_size=4))
def test_the_table_is_one_minus_the_product_of_failures(numbers: list[float]) -> None:
    cpd = NoisyOrCPD(FAMILY, numbers[0], numbers[1:])
    table = cpd.whole_values()
    assert table.shape == (2, 3, 2)
    for flu in range(2):
        for cold in range(3):
            failure = 1 - numbers[0]
            failure *= 1 - numbers[1] if flu else 1
            failure *= 1 - numbers[1 + cold] if cold else 1
            np.testing.assert_allclose(table[flu, cold], [failure, 1 - failure], rtol=1e-12, atol=1e-15)


@given(st.lists(STRENGTHS, min_size=4, max_size=4))
def test_answers_as_its_table_does(numbers: list[float]) -> None:
    cpd = NoisyOrCPD(FAMILY, numbers[0], numbers[1:])
    table = cpd.to_tabular()
    columns = {
        name: column.reshape(-1) for name, column in zip(FAMILY.scope, np.indices((2, 3, 2)), strict=True)
    }  # every cell once
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(np.exp(cpd.log_prob(columns)), np.exp(table.log_prob(columns)), atol=1e-15)
    uniform = np.linspace(0, 0.99, 12)
    np.testing.assert_array_equal(cpd.sample(columns, uniform), table.sample(columns, uniform))
    counts = sf.Counts.dense(FAMILY.variables, np.where(cpd.whole_values() > 0, 3, 0))
    assert cpd.log_likelihood(counts) == pytest.approx(table.log_likelihood(counts), rel=1e-9)


def test_tiny_strengths_keep_their_digits() -> None:
    cpd = NoisyOrCPD(NodeFamily(Y, (FLU,)), 0.0, [1e-20])
    columns = {"flu": np.array([1]), "fever": np.array([1])}
    assert cpd.log_prob(columns)[0] == pytest.approx(math.log(1e-20))


def test_a_certain_cause_hides_what_is_unknown() -> None:
    cpd = NoisyOrCPD(FAMILY, 0.1, [1.0, np.nan, 0.5])
    p = cpd.probabilities(np.array([[1, 1], [0, 1], [0, 2]]))
    assert p[0].tolist() == [0, 1]
    assert np.isnan(p[1]).all()
    assert p[2, 0] == pytest.approx(0.45)
    with pytest.raises(sf.ModelError, match=r"\['cold=mild'\]"):
        cpd.sample({"flu": np.array([0]), "cold": np.array([1])}, np.array([0.5]))


def test_prints_one_cause_a_line() -> None:
    cpd = NoisyOrCPD(FAMILY, 0.0, [0.9, 0.2, 1.0])
    assert [line.split() for line in str(cpd).splitlines()[3:]] == [
        ["(leak)", "0"],
        ["flu=yes", "0.9000"],
        ["cold=mild", "0.2000"],
        ["cold=severe", "1"],
    ]
    assert "flu=yes" in cpd._repr_html_()
    frame = cpd.to_frame("pandas")
    assert frame["strength"].tolist() == [0.0, 0.9, 0.2, 1.0]
    assert frame["state"].tolist() == ["", "yes", "mild", "severe"]


def test_strengths_are_found_by_name() -> None:
    cpd = NoisyOrCPD(FAMILY, 0.0, [0.9, 0.2, 1.0])
    assert list(causes(FAMILY)) == [("flu", "yes"), ("cold", "mild"), ("cold", "severe")]
    assert [cpd.strength("cold", state) for state in COLD.labels] == [0.0, 0.2, 1.0]
    assert cpd.strength("flu", "yes") == 0.9


def test_survives_plain_data_and_names() -> None:
    cpd = NoisyOrCPD(FAMILY, 0.25, [0.9, np.nan, 1.0])
    again = NoisyOrCPD.from_dict(FAMILY, cpd.to_dict())
    assert again.leak == 0.25
    np.testing.assert_array_equal(again.strengths, cpd.strengths)
    assert math.isnan(NoisyOrCPD.from_dict(FAMILY, {"leak": None, "strengths": [0, 0, 0]}).leak)
    other = NodeFamily(Variable("e", Y.states), (Variable("f", FLU.states), Variable("g", COLD.states)))
    assert cpd.renamed(other).family == other
    assert cpd.renamed(FAMILY) is cpd


def test_a_person_gives_strengths_by_parent() -> None:
    given_ = {"leak": 0.01, "strengths": {"cold": {"severe": 0.5, "mild": 0.2}, "flu": 0.9}}
    cpd = NoisyOrCPD.from_given(FAMILY, given_)
    assert cpd.leak == 0.01
    assert cpd.strengths.tolist() == [0.9, 0.2, 0.5]
    assert NoisyOrCPD.from_given(FAMILY, cpd) is cpd
    assert NoisyOrCPD.from_given(NodeFamily(Y, ()), {"strengths": {}}).whole_values().tolist() == [1, 0]
