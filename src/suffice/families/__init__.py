"""The families of models: one record each, found by the type of a structure.

`FAMILIES` is the one place that loads modules by name: a family is imported when it is used.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

from suffice.errors import ArgumentError
from suffice.learn.family import Family, ModelEntry, StructureForm
from suffice.models.model import Model
from suffice.structures.structure import SHELLS, S, public_name

FAMILIES = (
    "suffice.families.networks",
    "suffice.families.cliques",
    "suffice.families.gaussian_markov",
    "suffice.families.features",
    "suffice.families.categorical",
    "suffice.families.normal",
    "suffice.families.markov_chain",
    "suffice.families.autoregression",
    "suffice.families.hypotheses",
    "suffice.families.naive",
    "suffice.families.class_gaussian",
    "suffice.families.joint_classes",
    "suffice.families.softmax",
    "suffice.families.label_chain",
    "suffice.families.label_graph",
)
"""The modules of all families; each has one record, ``FAMILY``."""


def each_family() -> Iterator[Family[Any, Any]]:
    """Yield the records one after another, importing each module when its turn comes."""
    for name in FAMILIES:
        family: Family[Any, Any] = importlib.import_module(name).FAMILY
        yield family


def family_of(structure: S) -> Family[S, Model]:
    """Return the family of a structure: that of its type, or of the nearest base class."""
    for kind in type(structure).__mro__[:-1]:
        for family in each_family():
            if kind in family.structures:
                return family
    kinds = [kind for family in each_family() for kind in family.structures]
    known = ", ".join(public_name(kind) for kind in kinds if kind.__name__ not in SHELLS)
    raise ArgumentError(f"A structure is one of {known}. Got {type(structure).__name__} {structure!r} instead.")


def names_with(has: Callable[[Family[Any, Any]], bool]) -> str:
    """List the structures of some families; those that are kinds of others of them go without saying."""
    kinds = [kind for family in each_family() if has(family) for kind in family.structures]
    return ", ".join(public_name(kind) for kind in kinds if not any(base in kinds for base in kind.__mro__[1:]))


def each_model() -> Iterator[ModelEntry]:
    """Yield what is known of each type of model."""
    for family in each_family():
        yield from family.models


def entry_of(model: object) -> ModelEntry | None:
    """Return what is known of a model; None where its type is not known."""
    kind = type(model)
    return next((entry for entry in each_model() if entry.name == kind.__name__ and entry.load() is kind), None)


def structure_forms() -> dict[str, StructureForm[Any]]:
    """Return how structures are read from files, by the names of their types."""
    return {name: form for family in each_family() for name, form in family.files().items()}
