"""What has to be collected for features: counts of their scopes, or distinct rows."""

from __future__ import annotations

from suffice.data.schema import Schema
from suffice.errors import Mention, Remedy, SchemaError, made
from suffice.stats.needs import Count, Distinct, Need
from suffice.structures.features import Features

JOINT_VARIABLES = 16
"""Up to so many variables are also counted together: for divergences, and for the features' covariance."""


def needs(structure: Features, schema: Schema) -> tuple[Need, ...]:
    """Return the counts of every widest scope; distinct rows where inputs or continuous variables come in."""
    require_supports(structure, schema)
    if structure.given:
        return (Distinct(structure.columns),)
    found: list[Need] = []
    for scope in structure.scopes:
        discrete = all(name not in structure.continuous for name in scope)
        found.append(Count(scope) if discrete else Distinct(scope))
    if not found:
        found.append(Count(structure.variables[:1]))
    if len(structure.variables) <= JOINT_VARIABLES and not structure.continuous:
        found.append(Count(structure.variables))
    return tuple(dict.fromkeys(found))


def row_needs(structure: Features, schema: Schema) -> tuple[Need, ...]:
    """Return the distinct rows, for methods that look at conditional distributions or take minibatches."""
    require_supports(structure, schema)
    return (Distinct(structure.columns),)


def require_supports(structure: Features, schema: Schema) -> None:
    """Refuse continuous variables of which nobody says where they live."""
    for name in structure.variables:
        if not schema[name].is_discrete and name not in structure.continuous:
            raise SchemaError(
                f"The variable {name!r} is continuous. Say on which interval it lives, ",
                Mention("support", f"sf.Features(…, support={{{name!r}: (0, 1)}})"),
                f", make it an input, given=[{name!r}], or declare it discrete: ",
                Remedy("schema", {name: made("categorical")}),
                ".",
            )
