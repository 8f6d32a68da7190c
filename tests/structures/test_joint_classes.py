"""A class with the joint table of its inputs, as a structure."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

import suffice as sf
from suffice.structures.class_prior import ClassPrior
from suffice.structures.joint_classes import JointClasses
from suffice.structures.structure import Structure

STRUCTURES = [
    JointClasses("y", ("a", "b")),
    JointClasses("y", ("a",), "uniform"),
    JointClasses("y", (), 1.0),
    JointClasses("y", ("a",), {"no": 0.25, "yes": 0.75}),
]


@pytest.mark.parametrize("structure", STRUCTURES)
def test_is_a_value(structure: JointClasses) -> None:
    assert isinstance(structure, Structure)
    for again in (JointClasses.from_dict(structure.to_dict()), pickle.loads(pickle.dumps(structure))):
        assert again == structure
        assert hash(again) == hash(structure)
    with pytest.raises(dataclasses.FrozenInstanceError):
        structure.target = "z"  # type: ignore[misc]


def test_no_two_are_equal() -> None:
    assert len(set(STRUCTURES)) == len(STRUCTURES)
    assert JointClasses("y", ("a", "b")) != JointClasses("y", ("b", "a"))


def test_reads_its_inputs_and_then_the_class() -> None:
    structure = JointClasses("y", ["b", "a"], "counted")  # type: ignore[arg-type]
    assert structure.columns == ("b", "a", "y")
    assert structure.continuous == frozenset()
    assert structure.class_prior == ClassPrior()


def test_classes_are_discrete_whatever_they_look_like() -> None:
    fit = sf.fit(JointClasses("y", ("a",)), {"a": list("uvuv"), "y": [0.5, 1.5, 0.5, 0.5]})
    assert fit.model.target.labels == (0.5, 1.5)
    many = sf.fit(JointClasses("y", ("a",)), {"a": ["u"] * 30, "y": list(range(30))})
    assert many.model.target.n_states == 30


def test_says_what_it_is() -> None:
    assert str(JointClasses("y", tuple("abcdefgh"))) == "p(y) p(a, b, c, d, e, … 3 more | y)"
    assert str(JointClasses("y", ())) == "p(y)"
    assert repr(STRUCTURES[0]) == "JointClasses('y', ('a', 'b'))"
    assert "uniform" in repr(STRUCTURES[1])
    assert "&lt;" in JointClasses("<y>", ())._repr_html_()
