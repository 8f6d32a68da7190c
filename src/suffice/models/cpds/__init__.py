"""Node kinds: one kind of conditional distribution is one file and one line here."""

from __future__ import annotations

from suffice.errors import StructureError, UnknownNameError, listing, suggestion
from suffice.models.cpds import tabular_kind
from suffice.models.cpds.kind import CPD, Family, NodeKind

KINDS: dict[str, NodeKind] = {
    "tabular": tabular_kind.KIND,
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
    reasons = {name: kind.refuses(family) for name, kind in KINDS.items()}
    for name, reason in reasons.items():
        if reason is None:
            return KINDS[name]
    listed = " ".join(f"{name!r}: {reason}" for name, reason in reasons.items())
    raise StructureError(f"No node kind fits {family.child.name!r} and its parents. {listed}")


__all__ = ["CPD", "KINDS", "Family", "NodeKind", "kind_for", "kind_named"]
