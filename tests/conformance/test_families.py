"""The records of families: each structure is in one of them, and a family is loaded when it is used."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.cases import IN_CODES, STRUCTURES
from tests.test_import import loaded_after

import suffice as sf
from suffice.families import FAMILIES, each_family, family_of
from suffice.learn.family import Family

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def test_the_linter_is_given_the_modules_that_are_loaded_by_name() -> None:
    contracts = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (listed,) = [contract["modules"] for contract in contracts if contract["type"] == "independence"]
    assert tuple(listed) == FAMILIES


def test_every_module_of_the_folder_with_a_record_is_listed() -> None:
    import suffice.families

    folder = Path(suffice.families.__file__).parent
    holders = [path.stem for path in folder.glob("*.py") if "\nFAMILY = " in path.read_text(encoding="utf-8")]
    assert {f"suffice.families.{stem}" for stem in holders} == set(FAMILIES)


def test_a_structure_is_of_one_family() -> None:
    counted = Counter(kind for family in each_family() for kind in family.structures)
    assert set(counted.values()) == {1}


@pytest.mark.parametrize("family", [*each_family()], ids=FAMILIES)
def test_methods_for_incomplete_rows_come_with_what_certifies_them(family: Family[Any]) -> None:
    learns = any(method.incomplete for method in family.methods().values())
    assert learns == (family.measure_observed is not None)


@pytest.mark.parametrize("case", [*STRUCTURES, *IN_CODES])
def test_a_structure_has_the_family_of_its_nearest_base_class(case: str) -> None:
    structure = {**STRUCTURES, **IN_CODES}[case][0]
    kinds = family_of(structure).structures
    others = {kind for family in each_family() for kind in family.structures} - set(kinds)
    assert isinstance(structure, kinds)
    assert not any(isinstance(structure, kind) and issubclass(kind, kinds) for kind in others)


@pytest.mark.parametrize("case", [*STRUCTURES, *IN_CODES])
def test_facts_of_a_structure_are_plain_values(case: str) -> None:
    structure = {**STRUCTURES, **IN_CODES}[case][0]
    facts = family_of(structure).describe(structure)
    assert json.loads(json.dumps(facts)) == facts
    assert "structure" not in facts  # its type, which the command adds


def test_a_structure_of_no_family_is_refused() -> None:
    with pytest.raises(sf.ArgumentError, match=r"one of sf\.DAG, sf\.Cliques, .* Got int 7 instead"):
        family_of(7)


def test_a_fit_loads_no_other_family() -> None:
    fit = "import suffice as sf\nstr(sf.fit(sf.DAG('A -> B'), {'A': ['x', 'y'], 'B': ['u', 'v']}))"
    assert loaded_after("import suffice", among=FAMILIES) == []
    assert loaded_after(fit, among=FAMILIES) == ["suffice.families.networks"]
