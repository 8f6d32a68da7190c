"""Separation: which nodes a graph holds apart once others are known.

In a directed graph that is d-separation (Pearl, 1988), in an undirected one the lack of a path past the known nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from suffice.graph.undirected import moral_graph

Node = TypeVar("Node", bound=Hashable)


def ancestors(parents: Mapping[Node, Sequence[Node]], nodes: Iterable[Node]) -> set[Node]:
    """Return some nodes and all that lie above them.

    >>> sorted(ancestors({"A": [], "B": ["A"], "C": ["B"], "D": []}, ["B"]))
    ['A', 'B']
    """
    found = set(nodes)
    waiting = list(found)
    while waiting:
        for parent in parents[waiting.pop()]:
            if parent not in found:
                found.add(parent)
                waiting.append(parent)
    return found


def d_separated(parents: Mapping[Node, Sequence[Node]], first: Node, second: Node, given: Collection[Node]) -> bool:
    """Whether every path between two nodes of a directed graph is blocked once ``given`` are known.

    That is separation in the moral graph of the ancestors of all of them (Lauritzen, Dawid, Larsen and Leimer, 1990).

    >>> collider = {"A": [], "B": [], "C": ["A", "B"]}
    >>> d_separated(collider, "A", "B", []), d_separated(collider, "A", "B", ["C"])
    (True, False)
    """
    return separated(moral_above(parents, [first, second, *given]), first, second, given)


def moral_above(parents: Mapping[Node, Sequence[Node]], nodes: Iterable[Node]) -> dict[Node, set[Node]]:
    """Return the moral graph of some nodes and all that lie above them.

    >>> {node: sorted(near) for node, near in sorted(moral_above({"A": [], "B": [], "C": ["A", "B"]}, "AB").items())}
    {'A': [], 'B': []}
    """
    relevant = ancestors(parents, nodes)
    return moral_graph({node: parents[node] for node in parents if node in relevant})


def separated(graph: Mapping[Node, Collection[Node]], first: Node, second: Node, given: Collection[Node]) -> bool:
    """Whether every path between two nodes of an undirected graph passes one of ``given``.

    >>> ring = {1: [2, 4], 2: [1, 3], 3: [2, 4], 4: [1, 3]}
    >>> separated(ring, 1, 3, [2]), separated(ring, 1, 3, [2, 4])
    (False, True)
    """
    seen = {first, *given}
    waiting = [first]
    while waiting:
        for node in graph[waiting.pop()]:
            if node == second:
                return False
            if node not in seen:
                seen.add(node)
                waiting.append(node)
    return True


def thinned(candidates: Sequence[Node], separates: Callable[[list[Node]], bool]) -> tuple[Node, ...] | None:
    """Leave out of a separating set what it can spare, the first of the candidates first; None if it separates nothing.

    >>> ring = {1: [2, 4], 2: [1, 3], 3: [2, 4], 4: [1, 3, 5], 5: [4]}
    >>> thinned([1, 4, 2], lambda kept: separated(ring, 3, 5, kept))
    (4,)
    """
    kept = list(candidates)
    if not separates(kept):
        return None
    for node in candidates:
        fewer = [other for other in kept if other != node]
        if separates(fewer):
            kept = fewer
    return tuple(kept)


def distances(graph: Mapping[Node, Collection[Node]], start: Node) -> dict[Node, int]:
    """Return how many edges away each node is that can be reached.

    >>> distances({"A": ["B"], "B": ["A", "C"], "C": ["B"], "D": []}, "A")
    {'A': 0, 'B': 1, 'C': 2}
    """
    found = {start: 0}
    waiting = [start]
    for node in waiting:  # grows while it is walked
        for near in graph[node]:
            if near not in found:
                found[near] = found[node] + 1
                waiting.append(near)
    return found
