"""The base measure of a max-ent problem as factors: tables, functions, and the weights of quadrature."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.errors import ArgumentError, StructureError, listing
from suffice.inference.product import Factor
from suffice.inference.quadrature import QuadratureRule, rule_for
from suffice.structures.feature_rules import Called
from suffice.structures.features import Features

SIZES = {1: 400, 2: 200}
"""How fine the quadrature of one or two continuous variables is; see ``size`` of `rule_for`."""
FEWER = 40
"""How fine that of more is."""
MOST_NODES = 1 << 20
"""So many configurations of nodes and states are looked at."""


@dataclass(frozen=True)
class BaseTerm:
    """A function h of some variables, continuous ones among them."""

    scope: tuple[str, ...]
    rule: Called


def quadrature_of(
    structure: Features, placement: Mapping[str, tuple[float, float]], schema: Schema, variant: int = 0
) -> dict[str, QuadratureRule]:
    """Return the quadrature of every continuous variable; ``placement`` tells centre and scale of each."""
    size = SIZES.get(len(structure.support), FEWER)
    found = {}
    for name, (low, high) in structure.support:
        centre, scale = placement.get(name, (0.0, 1.0))
        found[name] = rule_for(low, high, size=size, centre=centre, scale=scale, variant=variant)
    n_cells = math.prod(len(found[n].nodes) if n in found else schema[n].n_states for n in structure.variables)
    if n_cells > MOST_NODES and variant == 0:  # what checks them has more nodes
        raise StructureError(
            f"The continuous variables {listing(found, 6)}, with {len(structure.variables) - len(found)} discrete ones "
            f"beside them, make {n_cells:,} configurations of quadrature nodes and states; at most {MOST_NODES:,} are "
            f"allowed. Model fewer variables together, make some of them inputs, given={list(found)[:1]!r}, or cut "
            "some into classes."
        )
    return found


def base_factors(
    entries: Sequence[LabelledTable | BaseTerm],
    names: Sequence[str],
    schema: Schema,
    nodes: Mapping[str, QuadratureRule],
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


def _function(entry: BaseTerm, place: Mapping[str, int], schema: Schema, nodes: Mapping[str, QuadratureRule]) -> Factor:
    sizes = tuple(len(nodes[n].nodes) if n in nodes else schema[n].n_states for n in entry.scope)
    index = np.indices(sizes).reshape(len(sizes), -1)
    columns: list[Any] = [nodes[n].nodes[at] if n in nodes else at for n, at in zip(entry.scope, index, strict=True)]
    values = entry.rule.at(columns)
    if (values < 0).any() or not values.any():
        raise ArgumentError(
            f"The base measure, a function of {listing(entry.scope)}, must be positive somewhere and negative nowhere. "
            f"Got values from {values.min():g} to {values.max():g} instead."
        )
    return Factor(tuple(place[name] for name in entry.scope), values.reshape(sizes))
