"""Normal classes, the structure: what it reads, what it refuses, and that it survives JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

import suffice as sf
from suffice.structures.class_gaussian import COVARIANCES, ClassGaussian
from suffice.structures.structure import Structure

NAMES = ["x", "y", "z"]
SETTINGS: list[dict[str, Any]] = [
    *({"covariance": covariance} for covariance in COVARIANCES if covariance != "sparse"),
    {"covariance": "sparse", "graph": "x:y + z"},
    {"covariance": "sparse", "alpha": 0.1, "shrinkage": 0.25},
    {"shrinkage": "oas", "divisor": "n-1"},
    {"covariance": "tied", "shrinkage": 0.5, "towards": "diagonal", "class_prior": {"a": 0.25, "b": 0.75}},
    {"covariance": "tied_spherical", "bayes": True, "class_prior": 1.0},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_json_gives_it_back(settings: dict[str, Any]) -> None:
    structure = ClassGaussian("class", NAMES, **settings)
    again = ClassGaussian.from_dict(json.loads(json.dumps(structure.to_dict())))
    assert again == structure
    assert hash(again) == hash(structure)
    assert repr(again) == repr(structure)


def test_what_it_tells() -> None:
    structure = ClassGaussian("class", iter(NAMES))
    assert isinstance(structure, Structure)
    assert structure.columns == ("x", "y", "z", "class")
    assert structure.continuous == {"x", "y", "z"}
    assert structure.declared["class"].kind == "discrete"
    assert not structure.is_tied
    assert structure.form == "matrix"


def test_settings_make_a_difference() -> None:
    structures = {ClassGaussian("class", NAMES, **settings) for settings in SETTINGS}
    assert len(structures) == len(SETTINGS)
    assert len({str(structure) for structure in structures}) == len(SETTINGS)


def test_graph_is_put_in_the_order_of_the_inputs() -> None:
    structure = ClassGaussian("class", NAMES, covariance="sparse", graph="z:x + y")
    assert structure.graph is not None
    assert structure.graph.variables == ("x", "y", "z")
    assert structure.graph.edges == (("x", "z"),)


@pytest.mark.parametrize(
    ("covariance", "expected"),
    [("full", 3 * 6), ("tied", 6), ("diagonal", 9), ("tied_diagonal", 3), ("spherical", 3), ("tied_spherical", 1)],
)
def test_free_covariances(covariance: str, expected: int) -> None:
    assert ClassGaussian("class", NAMES, covariance=covariance).n_spread(3) == expected


def test_free_covariances_of_a_graph() -> None:
    assert ClassGaussian("class", NAMES, covariance="sparse", graph="x:y + z").n_spread(2) == 2 * (3 + 1)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"covariance": "round"}, sf.ArgumentError),
        ({"covariance": "sparse"}, sf.ArgumentError),
        ({"covariance": "sparse", "graph": "x:y + z", "alpha": 1.0}, sf.ArgumentError),
        ({"covariance": "sparse", "graph": "x:y"}, sf.StructureError),
        ({"covariance": "sparse", "graph": "x:y + z:w"}, sf.StructureError),
        ({"covariance": "sparse", "alpha": 0.0}, sf.ArgumentError),
        ({"covariance": "sparse", "alpha": True}, sf.ArgumentError),
        ({"graph": "x:y + z"}, sf.ArgumentError),
        ({"alpha": 1.0}, sf.ArgumentError),
        ({"shrinkage": 1.5}, sf.ArgumentError),
        ({"shrinkage": "auto"}, sf.ArgumentError),
        ({"shrinkage": True}, sf.ArgumentError),
        ({"shrinkage": 0.5, "covariance": "spherical"}, sf.ArgumentError),
        ({"shrinkage": 0.5, "covariance": "diagonal", "towards": "diagonal"}, sf.ArgumentError),
        ({"shrinkage": "oas", "covariance": "diagonal"}, sf.ArgumentError),
        ({"shrinkage": "ledoit_wolf", "towards": "diagonal"}, sf.ArgumentError),
        ({"towards": "zero"}, sf.ArgumentError),
        ({"divisor": "n-p"}, sf.ArgumentError),
        ({"bayes": 1}, sf.ArgumentError),
        ({"bayes": True, "shrinkage": 0.1}, sf.ArgumentError),
        ({"bayes": True, "divisor": "n-1"}, sf.ArgumentError),
        ({"bayes": True, "covariance": "sparse", "alpha": 1.0}, sf.ArgumentError),
        ({"class_prior": "most"}, sf.ArgumentError),
    ],
)
def test_refusals(settings: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        ClassGaussian("class", NAMES, **settings)


@pytest.mark.parametrize("inputs", ["xy", [], ["x", "x"], ["x", ""], [1], None, ["x", "class"]])
def test_refuses_inputs_that_are_no_names(inputs: Any) -> None:
    with pytest.raises(sf.StructureError):
        ClassGaussian("class", inputs)
