"""Node kinds: one kind of conditional distribution is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suffice.data.schema import Schema
from suffice.errors import ArgumentError, StructureError, UnknownNameError, listing, suggestion
from suffice.models.cpds import linear_gaussian_kind, noisy_or_kind, softmax_kind, tabular_kind
from suffice.models.cpds.kind import CPD, Family, NodeKind
from suffice.structures.dag import DAG

KINDS: dict[str, NodeKind] = {
    "tabular": tabular_kind.KIND,
    "linear_gaussian": linear_gaussian_kind.KIND,
    "softmax": softmax_kind.KIND,
    "noisy_or": noisy_or_kind.KIND,
}


def kind_named(name: str) -> NodeKind:
    """Return a node kind by its name."""
    if name not in KINDS:
        raise UnknownNameError(
            f"There is no node kind {name!r}. The kinds are {listing(KINDS)}." + suggestion(name, KINDS)
        )
    return KINDS[name]


def kind_for(family: Family, named: str | None = None) -> NodeKind:
    """Return the kind that was named for a node, or the first that accepts its family."""
    if named is not None:
        reason = kind_named(named).refuses(family)
        if reason:
            raise StructureError(f"Node {family.child.name!r} cannot be of kind {named!r}: {reason}")
        return KINDS[named]
    reasons = {name: kind.refuses(family) for name, kind in KINDS.items() if not getattr(kind, "only_named", False)}
    for name, reason in reasons.items():
        if reason is None:
            return KINDS[name]
    listed = " ".join(f"{name!r}: {reason}" for name, reason in reasons.items())
    raise StructureError(f"No node kind fits {family.child.name!r} and its parents. {listed}")


def family_of(dag: DAG, schema: Schema, node: str) -> Family:
    """Return a node with its parents, as variables."""
    return Family(schema[node], tuple(schema[parent] for parent in dag.parents[node]))


def nodes_of(dag: DAG, schema: Schema) -> dict[str, tuple[NodeKind, Family]]:
    """Return the kind and the family of every node, the kind with the node's own settings."""
    named, settings = dict(dag.kinds), dag.settings_of
    found: dict[str, tuple[NodeKind, Family]] = {}
    for node in dag.nodes:
        family = family_of(dag, schema, node)
        kind = kind_for(family, named.get(node))
        mine: dict[str, Any] = dict(settings.get(node, {}))
        if dag.divisor != "n" and hasattr(kind, "divisor"):
            mine.setdefault("divisor", dag.divisor)
        found[node] = (kind.configured(node, mine), family)
    return found


def given_in(group: tuple[str, ...], fixed: Mapping[str, Any], nodes: Mapping[str, tuple[NodeKind, Family]]) -> Any:
    """Return what an expert gave for one of some tied nodes, in terms that suit all of them; None for nothing."""
    for node in group:
        if node in fixed:
            kind, family = nodes[node]
            if fixed[node] is None:
                raise ArgumentError(f"fixed[{node!r}] gives nothing. Give the node's parameters, or leave it out.")
            whole = kind.whole(family, fixed[node])
            return fixed[node] if whole is None else whole
    return None


__all__ = ["CPD", "KINDS", "Family", "NodeKind", "family_of", "given_in", "kind_for", "kind_named", "nodes_of"]
