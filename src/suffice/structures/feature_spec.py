"""FeatureSpec: what every way to write a feature provides, and the checks that they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import Mention, Remedy, StructureError, also, listing, made, shown
from suffice.structures.feature_rules import Feature
from suffice.types import Json

MOST_WEIGHTS = 1_000_000
"""A set of configurations with more weights than this is refused."""


class FeatureSpec(ABC):
    """A feature, or a group of them, as the user wrote it."""

    @property
    @abstractmethod
    def variables(self) -> tuple[str, ...]:
        """The variables, in order of appearance."""

    @property
    @abstractmethod
    def scopes(self) -> tuple[tuple[str, ...], ...]:
        """The sets of variables that its terms look at, whatever the states."""

    @abstractmethod
    def resolved(self, schema: Schema) -> tuple[Feature, ...]:
        """Return the features, their states known; each has one weight."""

    @abstractmethod
    def to_dict(self) -> dict[str, Json]:
        """Return the specification as JSON-able data."""


def discrete(schema: Schema, name: str, what: str) -> Variable:
    """Return a variable that must be discrete; ``what`` says for what."""
    variable = schema[name]
    if not variable.is_discrete:
        raise StructureError(
            f"{what}, and {name!r} is continuous. ",
            also(Mention("feature", f"Use a function, sf.feature(lambda x: x > 1, over={name!r}), or ")),
            "declare it discrete: ",
            Remedy("schema", {name: made("categorical")}),
            ".",
        )
    return variable


def require_few(n_weights: int, scope: Sequence[str]) -> None:
    """Refuse more weights than anyone can want."""
    if n_weights > MOST_WEIGHTS:
        raise StructureError(
            f"All configurations of {listing(scope)} are {n_weights:,} weights, more than the {MOST_WEIGHTS:,} that "
            "are allowed. List those that matter as indicators or patterns."
        )


def scope_of(names: object, example: str) -> tuple[str, ...]:
    """Return the names of a scope, checked; ``example`` shows how it is written."""
    if isinstance(names, Mapping | bytes) or not isinstance(names, Iterable):
        raise StructureError(f"A feature's variables are a list of names, as in {example}. Got {shown(names)} instead.")
    scope = tuple(names)
    if not scope:
        raise StructureError(f"A feature needs at least one variable, as in {example}.")
    for name in scope:
        require_name(name)
    if len(set(scope)) < len(scope):
        raise StructureError(f"The scope {listing(scope)} names a variable twice.")
    return scope


def require_name(name: object) -> None:
    """Refuse names that are no text."""
    if not isinstance(name, str) or not name:
        raise StructureError(f"A variable is named by text. Got {shown(name)} instead.")


def text_of(name: object) -> str:
    """Return the name of a feature, which is text."""
    if not isinstance(name, str):
        raise StructureError(f"The name of a feature must be text. Got {shown(name)} instead.")
    return name


def named(entry: dict[str, Json], name: str) -> dict[str, Json]:
    """Return the entry with its name, if it has one."""
    return {**entry, "name": name} if name else entry
