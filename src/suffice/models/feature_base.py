"""The base measure of a max-ent problem as factors: tables, functions, and the weights of quadrature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.errors import ArgumentError, listing
from suffice.inference.product import Factor
from suffice.inference.quadrature import Rule
from suffice.structures.feature_rules import Called


@dataclass(frozen=True)
class BaseTerm:
    """A function h of some variables, continuous ones among them."""

    scope: tuple[str, ...]
    rule: Called


def base_factors(
    entries: Sequence[LabelledTable | BaseTerm], names: Sequence[str], schema: Schema, nodes: Mapping[str, Rule]
) -> tuple[Factor, ...]:
    """Return the base measure over variables that are positions among ``names``, the weights of nodes included."""
    place = {name: position for position, name in enumerate(names)}
    found = [Factor((place[name],), np.exp(rule.log_weights)) for name, rule in nodes.items()]
    for entry in entries:
        if isinstance(entry, LabelledTable):
            found.append(Factor(tuple(place[name] for name in entry.names), entry.values))
        else:
            found.append(_function(entry, place, schema, nodes))
    return tuple(found)


def _function(entry: BaseTerm, place: Mapping[str, int], schema: Schema, nodes: Mapping[str, Rule]) -> Factor:
    sizes = tuple(len(nodes[n].nodes) if n in nodes else schema[n].n_states for n in entry.scope)
    index = np.indices(sizes).reshape(len(sizes), -1)
    columns: list[Any] = [nodes[n].nodes[at] if n in nodes else at for n, at in zip(entry.scope, index, strict=True)]
    values = entry.rule.at(columns)
    if (values < 0).any() or not values.any():
        raise ArgumentError(
            f"The base measure, a function of {listing(entry.scope)}, must be positive somewhere and negative nowhere."
        )
    return Factor(tuple(place[name] for name in entry.scope), values.reshape(sizes))
