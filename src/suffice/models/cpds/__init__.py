"""Node kinds: one kind of conditional distribution is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias
from weakref import WeakKeyDictionary

from suffice.data.schema import Schema
from suffice.errors import ArgumentError, StructureError, Text, UnknownNameError, joined, listing, suggestion
from suffice.models.cpds import linear_gaussian_kind, noisy_or_kind, softmax_kind, tabular_kind
from suffice.models.cpds.kind import CPD, AnyKind, Given, NodeFamily, NodeKind
from suffice.structures.dag import DAG
from suffice.values import Setting

KINDS: dict[str, AnyKind] = {
    "tabular": tabular_kind.KIND,
    "linear_gaussian": linear_gaussian_kind.KIND,
    "softmax": softmax_kind.KIND,
    "noisy_or": noisy_or_kind.KIND,
}
Nodes: TypeAlias = Mapping[str, tuple[AnyKind, NodeFamily]]
"""The kind and the family of every node of a network."""
_BOUND: WeakKeyDictionary[DAG, tuple[Schema, Nodes]] = WeakKeyDictionary()
"""The nodes of every graph in use, for the schema that it was last asked with."""


def kind_named(name: str) -> AnyKind:
    """Return a node kind by its name."""
    if name not in KINDS:
        raise UnknownNameError(
            f"There is no node kind {name!r}. The kinds are {listing(KINDS)}." + suggestion(name, KINDS)
        )
    return KINDS[name]


def kind_for(family: NodeFamily, named: str | None = None) -> AnyKind:
    """Return the kind that was named for a node, or the first that accepts its family."""
    if named is not None:
        reason = kind_named(named).refuses(family)
        if reason:
            raise StructureError(f"Node {family.child.name!r} cannot be of kind {named!r}: ", reason)
        return KINDS[named]
    reasons: dict[str, str] = {}
    for name, kind in KINDS.items():
        if not kind.only_named:
            reason = kind.refuses(family)
            if reason is None:
                return kind
            reasons[name] = reason
    listed = joined(" ", [Text(f"{name!r}: ", reason) for name, reason in reasons.items()])
    raise StructureError(f"No node kind fits {family.child.name!r} and its parents. ", listed)


def family_of(dag: DAG, schema: Schema, node: str) -> NodeFamily:
    """Return a node with its parents, as variables."""
    return NodeFamily(schema[node], tuple(schema[parent] for parent in dag.parents[node]))


def nodes_of(dag: DAG, schema: Schema) -> Nodes:
    """Return the kind and the family of every node, the kind with the node's own settings.

    They are computed once for a graph and a schema, and kept while the graph is in use and the schema stays the same.
    """
    known = _BOUND.get(dag)
    if known is None or known[0] != schema:
        known = _BOUND[dag] = (schema, MappingProxyType(_bind(dag, schema)))
    return known[1]


def _bind(dag: DAG, schema: Schema) -> dict[str, tuple[AnyKind, NodeFamily]]:
    named, settings = dict(dag.kinds), dag.settings_of
    found: dict[str, tuple[AnyKind, NodeFamily]] = {}
    for node in dag.nodes:
        family = family_of(dag, schema, node)
        kind = kind_for(family, named.get(node))
        mine: dict[str, Setting] = dict(settings.get(node, {}))
        if dag.divisor != "n" and "divisor" in kind.settings:
            mine.setdefault("divisor", dag.divisor)
        found[node] = (kind.configured(node, mine), family)
    return found


def given_in(group: tuple[str, ...], fixed: Mapping[str, Given], nodes: Nodes) -> Given | None:
    """Return what an expert gave for one of some tied nodes, in terms that suit all of them; None for nothing."""
    for node in group:
        if node in fixed:
            kind, family = nodes[node]
            if fixed[node] is None:
                raise ArgumentError(f"fixed[{node!r}] gives nothing. Give the node's parameters, or leave it out.")
            whole = kind.whole(family, fixed[node])
            return fixed[node] if whole is None else whole
    return None


__all__ = [
    "CPD",
    "KINDS",
    "AnyKind",
    "Given",
    "NodeFamily",
    "NodeKind",
    "Nodes",
    "family_of",
    "given_in",
    "kind_for",
    "kind_named",
    "nodes_of",
]
