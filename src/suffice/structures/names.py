"""Names of nodes: text; whole numbers, by which other libraries call nodes, become text as well."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeGuard, TypeVar

from suffice.errors import StructureError, is_whole, shown

if TYPE_CHECKING:
    from suffice.types import NetworkxGraph

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def as_name(name: T) -> T | str:
    """Return a whole number as text, and everything else as it is.

    >>> as_name(3), as_name("A")
    ('3', 'A')
    """
    return str(int(name)) if is_whole(name) else name


def node_name(name: object, what: str = "a node") -> str:
    """Return the name of a node, or of ``what`` it is; refuse what is neither text nor a whole number."""
    found = as_name(name)
    if not isinstance(found, str) or not found:
        raise StructureError(f"The name of {what} must be text, and not empty. Got {shown(name)} instead.")
    return found


def by_name(given: Mapping[K, T]) -> dict[K | str, T]:
    """Return what is said of nodes, by their names."""
    return {as_name(name): value for name, value in given.items()}


def different_names(nodes: Iterable[object], where: str, read: Callable[[object], str] = str) -> list[str]:
    """Return the names of different nodes as text; refuse two that would have the same, such as 1 and '1'."""
    found: dict[str, object] = {}
    for node in nodes:
        name = read(node)
        if name in found:
            raise StructureError(
                f"The nodes {shown(found[name])} and {shown(node)} of the {where} have the same name as text. Rename "
                "one of them."
            )
        found[name] = node
    return list(found)


def is_networkx(graph: object) -> TypeGuard[NetworkxGraph]:
    """Whether a description is a graph of networkx, which tells whether it is directed."""
    return hasattr(graph, "is_directed")
