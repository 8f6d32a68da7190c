"""What hangs together of a row's missing values, in networks of discrete and normal variables.

Two missing variables hang together when they are of one family: a node with its parents. Given what was observed, such
components are independent, and every family with a gap belongs to one of them. The continuous variables of a component
fall into parts (`suffice.inference.gaussian_parts`), each of which depends on some of its discrete ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.schema import Schema
from suffice.errors import EstimationError
from suffice.inference.gaussian_parts import Part, Regression, split
from suffice.models.cpds import NodeFamily, nodes_of
from suffice.models.cpds.softmax_kind import needs_family
from suffice.structures.dag import DAG


@dataclass(frozen=True)
class Shape:
    """A network without its numbers: variables are positions, in the order of the schema.

    Attributes
    ----------
    names : tuple of str
    sizes : tuple of int
        The number of states of a discrete variable; 1 for a continuous one.
    labels : mapping from int to tuple
        The states of the discrete variables.
    scopes : mapping from int to tuple of int
        Of each discrete node: its parents in order, then itself.
    regressions : mapping from int to Regression
        Of each continuous node: its parents of both sorts, without numbers.
    softmax : frozenset of int
        Discrete nodes with continuous parents.
    order : tuple of int
        All nodes, parents first.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    labels: Mapping[int, tuple[Any, ...]]
    scopes: Mapping[int, tuple[int, ...]]
    regressions: Mapping[int, Regression]
    softmax: frozenset[int]
    order: tuple[int, ...]

    @classmethod
    def of(cls, dag: DAG, schema: Schema) -> Shape:
        """Return the shape of a network."""
        names = tuple(name for name in schema if name in dag.parents)
        place = {name: at for at, name in enumerate(names)}
        scopes, regressions, softmax = {}, {}, set()
        none = np.zeros(0)
        for node, (kind, family) in nodes_of(dag, schema).items():
            if kind.name == "linear_gaussian":
                above = _places(place, family.discrete), _places(place, family.continuous)
                regressions[place[node]] = Regression(*above, none, none, none)
                continue
            scopes[place[node]] = _places(place, family.variables)
            if kind.name == "softmax":
                softmax.add(place[node])
        variables = [schema[name] for name in names]
        return cls(
            names,
            tuple(variable.n_states if variable.is_discrete else 1 for variable in variables),
            {at: variable.labels for at, variable in enumerate(variables) if variable.is_discrete},
            scopes,
            regressions,
            frozenset(softmax),
            tuple(place[name] for name in dag.order),
        )

    def family(self, node: int) -> tuple[int, ...]:
        """Return a node with its parents."""
        if node in self.scopes:
            return self.scopes[node]
        held = self.regressions[node]
        return (*held.discrete, *held.continuous, node)

    def xs(self, node: int) -> tuple[int, ...]:
        """Return the continuous parents of a continuous node, then itself: the columns of its moments."""
        return (*self.regressions[node].continuous, node)

    def n_rows(self, node: int) -> int:
        """Return the number of configurations of a continuous node's discrete parents."""
        return math.prod(self.sizes[parent] for parent in self.regressions[node].discrete)


def _places(place: Mapping[str, int], variables: Iterable[Any]) -> tuple[int, ...]:
    return tuple(place[variable.name] for variable in variables)


@dataclass(frozen=True)
class Component:
    """Missing variables that hang together, with the families that they are of.

    Attributes
    ----------
    hidden : tuple of int
        The discrete ones, in order.
    tables : tuple of int
        Discrete nodes of whose families something is missing.
    parts : tuple of Part
        Continuous nodes of whose families something is missing, as they hang together.
    codes, values : tuple of int
        The discrete and the continuous variables of these families that were observed.
    """

    hidden: tuple[int, ...]
    tables: tuple[int, ...]
    parts: tuple[Part, ...]
    codes: tuple[int, ...]
    values: tuple[int, ...]


def components_of(shape: Shape, missing: frozenset[int]) -> list[Component]:
    """Return what hangs together of the missing variables of a row."""
    home = {variable: variable for variable in missing}

    def root(variable: int) -> int:
        while home[variable] != variable:
            home[variable] = home[home[variable]]
            variable = home[variable]
        return variable

    touched: dict[int, list[int]] = {}
    silent = _silent(shape, missing)
    for node in shape.order:
        if node in silent:
            continue
        gone = [variable for variable in shape.family(node) if variable in missing]
        if gone and node in shape.softmax:
            raise EstimationError(needs_family(shape.names[node], [shape.names[v] for v in gone]))
        for variable in gone[1:]:
            home[root(variable)] = root(gone[0])
        if gone:
            touched[node] = gone
    groups: dict[int, list[int]] = {}
    for node, gone in touched.items():
        groups.setdefault(root(gone[0]), []).append(node)
    return [_component(shape, missing, nodes) for nodes in groups.values()]


def _silent(shape: Shape, missing: frozenset[int]) -> frozenset[int]:
    """Return the softmax nodes below which a row has nothing, with all that depends on them: these sum to one.

    The row's likelihood does not depend on their parameters, so that it need not count for them.
    """
    heard = set(range(len(shape.names))) - missing
    for node in reversed(shape.order):
        if node in heard:
            heard.update(shape.family(node))
    found: set[int] = set()
    for node in shape.order:
        if node not in heard and (node in shape.softmax or found.intersection(shape.family(node))):
            found.add(node)
    return frozenset(found)


def _component(shape: Shape, missing: frozenset[int], nodes: list[int]) -> Component:
    around = {variable for node in nodes for variable in shape.family(node)}
    seen = dict.fromkeys(around - missing, np.zeros(0))
    hard = dict.fromkeys(around - missing, 0)
    members = [node for node in nodes if node in shape.regressions]
    return Component(
        tuple(sorted(v for v in around & missing if v not in shape.regressions)),
        tuple(node for node in nodes if node in shape.scopes),
        tuple(split(members, shape.regressions, seen, hard)),
        tuple(sorted(v for v in around - missing if v not in shape.regressions)),
        tuple(sorted(v for v in around - missing if v in shape.regressions)),
    )


def need_of(dag: DAG, schema: Schema) -> dict[str, Any]:
    """Return what every node is fitted from."""
    return {node: kind.need(family) for node, (kind, family) in nodes_of(dag, schema).items()}


def families_of(dag: DAG, schema: Schema) -> dict[str, NodeFamily]:
    """Return the family of every node."""
    return {node: family for node, (_, family) in nodes_of(dag, schema).items()}
