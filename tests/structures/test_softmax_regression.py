"""Softmax structures: what they tell, how they print, and their file form."""

from __future__ import annotations

import json
from typing import Any

import pytest

import suffice as sf
from suffice.structures.softmax_regression import SoftmaxClasses


def test_a_structure_tells_its_columns_and_declares_its_class() -> None:
    structure = SoftmaxClasses("y", ["x", "z"])
    assert structure.columns == ("x", "z", "y")
    assert structure.given == structure.inputs == ("x", "z")
    assert structure.declared["y"].kind == "discrete"
    assert hash(structure) == hash(SoftmaxClasses("y", ("x", "z")))
    assert SoftmaxClasses("y", "x").inputs == ("x",)


@pytest.mark.parametrize(
    "settings", [{}, {"intercept": False}, {"reference": "b"}, {"reference": 2, "intercept": False}]
)
def test_a_structure_survives_its_file(settings: dict[str, Any]) -> None:
    structure = SoftmaxClasses("y", ["x", "z"], **settings)
    assert SoftmaxClasses.from_dict(json.loads(json.dumps(structure.to_dict()))) == structure
    assert eval(repr(structure)) == structure


def test_many_inputs_are_counted_and_not_listed() -> None:
    structure = SoftmaxClasses("y", [f"w{j}" for j in range(500)])
    assert repr(structure) == "SoftmaxClasses('y', 500 inputs)"
    assert str(structure).endswith("w7 and 492 more: softmax regression")


def test_whole_numbers_and_floats_are_classes() -> None:
    x = [0.1, 1.4, 0.3, 2.2, 1.7, 0.2, 1.1, 0.8]
    for y in ([1, 2, 1, 2, 1, 2, 2, 1], [0.5, 1.5, 0.5, 1.5, 0.5, 1.5, 1.5, 0.5]):
        fit = sf.fit(SoftmaxClasses("y", ["x"]), {"x": x, "y": y})
        assert fit.model.target.states == tuple(sorted(set(y)))
        assert "conditional log-likelihood" in str(fit)
