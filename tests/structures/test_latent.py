"""Latent variables of undirected structures."""

from __future__ import annotations

from typing import Any

import pytest

import suffice as sf
from suffice.structures.feature_structures import features_from_dict

STRUCTURES = [
    sf.Cliques("h:a + h:b", latent={"h": 3}),
    sf.Features([sf.indicators("h", "a"), sf.indicators("b")], latent={"h": 2}),
    sf.Ising("h:a + h:b", latent={"h": 2}),
    sf.Boltzmann(["a", "b", "h"], latent={"h": 2}),
    sf.Potts("h:a + h:b", latent={"h": 3}),
]


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda structure: type(structure).__name__)
def test_latent_variables_are_no_columns_and_survive_files(structure: Any) -> None:
    assert structure.columns == ("a", "b")
    assert set(structure.variables) == {"a", "b", "h"}
    read = sf.Cliques.from_dict if isinstance(structure, sf.Cliques) else features_from_dict
    again = read(structure.to_dict())
    assert again == structure
    assert again.latent == structure.latent


def test_cliques_keep_their_latent_variables_in_other_forms() -> None:
    cliques = STRUCTURES[0]
    assert sf.Cliques(cliques) == cliques
    assert cliques.to_dag().latent == (("h", 3),)
    assert "latent={'h': 3}" in repr(cliques)
    assert '"h" [style=dashed]' in cliques.to_dot()


@pytest.mark.parametrize(
    ("latent", "error", "says"),
    [
        ({"z": 2}, sf.UnknownNameError, "none of the structure's"),
        ({"a": 0}, sf.StructureError, "at least 1"),
        ({"a": 2, "b": 2}, sf.StructureError, "All variables are latent"),
        (3, sf.ArgumentError, "must be a mapping"),
    ],
)
def test_improper_latent_variables_are_refused(latent: Any, error: type[Exception], says: str) -> None:
    for make in (sf.Cliques, sf.Ising):
        with pytest.raises(error, match=says):
            make("a:b", latent=latent)


def test_latent_variables_beside_inputs_are_refused() -> None:
    with pytest.raises(sf.StructureError, match="cannot stand beside inputs"):
        sf.Features([sf.indicators("h", "a", "b")], given=["b"], latent={"h": 2})
