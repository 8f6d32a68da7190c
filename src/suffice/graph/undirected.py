"""Undirected graphs given as ``{node: its neighbours}``: how they are made, their parts, their cliques."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

from suffice.errors import StructureError

Node = TypeVar("Node", bound=Hashable)
Neighbours = Mapping[Node, Collection[Node]]
MOST_CLIQUES = 100_000
"""So many maximal cliques are listed, beside one for every node and edge."""


def moral_graph(parents: Mapping[Node, Iterable[Node]]) -> dict[Node, set[Node]]:
    """Join every node with its parents and the parents with each other.

    >>> {node: sorted(near) for node, near in moral_graph({"A": [], "B": [], "C": ["A", "B"]}).items()}
    {'A': ['B', 'C'], 'B': ['A', 'C'], 'C': ['A', 'B']}
    """
    return interaction_graph(((*above, node) for node, above in parents.items()), parents)


def interaction_graph(scopes: Iterable[Iterable[Node]], nodes: Iterable[Node] = ()) -> dict[Node, set[Node]]:
    """Join all nodes of each scope; ``nodes`` come first and may be in no scope.

    >>> {node: sorted(near) for node, near in interaction_graph([("A", "B"), ("B", "C")], "D").items()}
    {'D': [], 'A': ['B'], 'B': ['A', 'C'], 'C': ['B']}
    """
    graph: dict[Node, set[Node]] = {node: set() for node in nodes}
    for scope in scopes:
        members = tuple(scope)
        for node in members:
            graph.setdefault(node, set()).update(members)
    for node, near in graph.items():
        near.discard(node)
    return graph


def components(graph: Neighbours[Node]) -> list[list[Node]]:
    """Return the connected parts, each in the order of the graph.

    >>> components({"A": ["C"], "B": [], "C": ["A"]})
    [['A', 'C'], ['B']]
    """
    position = {node: index for index, node in enumerate(graph)}
    seen: set[Node] = set()
    parts = []
    for start in graph:
        if start in seen:
            continue
        seen.add(start)
        part, waiting = [start], [start]
        while waiting:
            for node in graph[waiting.pop()]:
                if node not in seen:
                    seen.add(node)
                    part.append(node)
                    waiting.append(node)
        parts.append(sorted(part, key=position.__getitem__))
    return parts


def perfect_order(graph: Neighbours[Node]) -> list[Node] | None:
    """Return an order in which every node's later neighbours are joined with each other; None if there is none.

    Maximum-cardinality search: such an order exists exactly when the graph is chordal (Tarjan and Yannakakis, 1984).

    >>> perfect_order({"A": ["B"], "B": ["A", "C"], "C": ["B"]})
    ['C', 'B', 'A']
    """
    waiting = dict.fromkeys(graph, 0)
    buckets: list[dict[Node, None]] = [dict.fromkeys(graph)]
    order: list[Node] = []
    while waiting:
        while not buckets[-1]:
            buckets.pop()
        node = next(iter(buckets[-1]))
        del buckets[-1][node], waiting[node]
        order.append(node)
        for near in graph[node]:
            if near in waiting:
                del buckets[waiting[near]][near]
                waiting[near] += 1
                if waiting[near] == len(buckets):
                    buckets.append({})
                buckets[waiting[near]][near] = None
    order.reverse()
    return order if _is_perfect(graph, order) else None


def _is_perfect(graph: Neighbours[Node], order: list[Node]) -> bool:
    position = {node: index for index, node in enumerate(order)}
    near = {node: set(graph[node]) for node in order}
    for node in order:
        later = [other for other in near[node] if position[other] > position[node]]
        if later:
            first = min(later, key=position.__getitem__)
            if not near[first].issuperset(other for other in later if other != first):
                return False
    return True


def is_chordal(graph: Neighbours[Node]) -> bool:
    """Whether every cycle of four or more nodes has a chord.

    >>> is_chordal({1: [2, 4], 2: [1, 3], 3: [2, 4], 4: [1, 3]})
    False
    """
    return perfect_order(graph) is not None


def chordless_cycle(graph: Neighbours[Node]) -> list[Node] | None:
    """Return a cycle of four or more nodes of which only neighbours in the cycle are joined; None if there is none.

    >>> chordless_cycle({1: [2, 4], 2: [1, 3, 5], 3: [2, 4], 4: [1, 3], 5: [2]})
    [1, 2, 3, 4]
    """
    if is_chordal(graph):
        return None
    near = {node: set(graph[node]) for node in graph}
    cycles = (_cycle_through(graph, near, node, start) for node in graph for start in graph[node])
    return next(cycle for cycle in cycles if cycle)


def _cycle_through(graph: Neighbours[Node], near: Mapping[Node, set[Node]], node: Node, start: Node) -> list[Node]:
    """Return a chordless cycle that goes from a node to its neighbour ``start``; an empty list if there is none.

    A shortest way from there to another neighbour, past none in between, has no chord.
    """
    before: dict[Node, Node] = {start: node, node: node}
    waiting = [start]
    for here in waiting:  # grows while it is walked
        for other in graph[here]:
            if other in before:
                continue
            if other not in near[node]:
                before[other] = here
                waiting.append(other)
            elif other not in near[start]:
                cycle = [other, here]
                while cycle[-1] != node:
                    cycle.append(before[cycle[-1]])
                return cycle[::-1]
    return []


def maximal_cliques(graph: Neighbours[Node], enough: int | None = None) -> list[tuple[Node, ...]]:
    """Return the sets of mutually joined nodes that cannot grow, each in the order of the graph.

    With ``enough``, the search ends when so many are found; without it, very many are refused.

    Linear for chordal graphs; otherwise by branching on a pivot (Bron and Kerbosch, 1973), whose time grows with
    the number of cliques.

    >>> maximal_cliques({1: [2, 4], 2: [1, 3], 3: [2, 4], 4: [1, 3]})
    [(1, 2), (1, 4), (2, 3), (3, 4)]
    """
    order = perfect_order(graph)
    found = _branched(graph, enough) if order is None else _later_cliques(graph, order)
    position = {node: index for index, node in enumerate(graph)}
    ranked = sorted(sorted(position[node] for node in clique) for clique in found)
    names = list(graph)
    return [tuple(names[index] for index in clique) for clique in ranked]


def _later_cliques(graph: Neighbours[Node], order: list[Node]) -> list[set[Node]]:
    """Return the cliques of a chordal graph: a node with its later neighbours, unless an earlier clique covers them."""
    position = {node: index for index, node in enumerate(order)}
    later = {node: {other for other in graph[node] if position[other] > position[node]} for node in order}
    covered: dict[Node, int] = dict.fromkeys(order, 0)  # the size of the largest clique above which a node is next
    found = []
    for node in order:
        if covered[node] <= len(later[node]):
            found.append({node, *later[node]})
        if later[node]:
            first = min(later[node], key=position.__getitem__)
            covered[first] = max(covered[first], len(later[node]))
    return found


def _branched(graph: Neighbours[Node], enough: int | None = None) -> list[set[Node]]:
    """Branch on pivots; sets of nodes are the bits of whole numbers."""
    nodes = list(graph)
    place = {node: index for index, node in enumerate(nodes)}
    near = [sum(1 << place[other] for other in set(graph[node])) for node in nodes]
    most = MOST_CLIQUES + len(nodes) + sum(map(int.bit_count, near)) // 2
    found: list[set[Node]] = []
    stack = [(0, (1 << len(nodes)) - 1, 0)]
    while stack:
        clique, candidates, excluded = stack.pop()
        if not candidates:
            if not excluded:
                found.append({nodes[index] for index in _bits(clique)})
                if len(found) == enough:
                    return found
                _require_few(len(found), most, len(nodes))
            continue
        pivot = max(_bits(candidates | excluded), key=lambda index: (near[index] & candidates).bit_count())
        for index in _bits(candidates & ~near[pivot]):
            stack.append((clique | 1 << index, candidates & near[index], excluded & near[index]))
            candidates &= ~(1 << index)
            excluded |= 1 << index
    return found


def _bits(number: int) -> Iterator[int]:
    """Yield the places of the bits that are set.

    >>> list(_bits(0b1010))
    [1, 3]
    """
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def _require_few(n_found: int, most: int, n_nodes: int) -> None:
    """Refuse a graph with more cliques than could be used: their number may grow as 3^(n/3)."""
    if n_found > most:
        raise StructureError(
            f"The graph of {n_nodes:,} nodes has more than {most:,} maximal cliques; there may be 3^(n/3) of them. "
            "Name the cliques yourself, or take its edges alone, take='pairwise'."
        )
