"""Elimination orders: in which order to remove the nodes of a graph so that the tables that arise stay small.

Removing a node joins its neighbours with each other; together with them it was a clique, the scope of a table. Finding
the best order is hard: nodes are taken greedily by one of several rules, and the order with the smallest tables wins.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from suffice.errors import require_choice

ENOUGH = 2**12  # tables with fewer cells than this in all are not worth a second order
MAX_SHUFFLED = 12
MAX_WORK = 800  # nodes to remove in all shuffled orders of a rule


@dataclass(frozen=True)
class Elimination:
    """An order, and what it does to the graph. Nodes are positions in the graph that was given.

    Attributes
    ----------
    order : tuple of int
    later : tuple of int
        By place in the order: the node's neighbours when it is removed, as a set of bits.
    cells : int
        Number of cells of the tables over all maximal cliques.
    """

    order: tuple[int, ...]
    later: tuple[int, ...]
    cells: int


@dataclass(frozen=True)
class BitGraph:
    """A graph whose sets of neighbours are the bits of whole numbers; nodes are positions."""

    near: tuple[int, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(
        cls, graph: Mapping[Hashable, Collection[Hashable]], sizes: Mapping[Hashable, int] | None = None
    ) -> BitGraph:
        """Build from ``{node: neighbours}`` and the number of states of every node, two unless given."""
        position = {node: index for index, node in enumerate(graph)}
        near = [sum(1 << position[other] for other in set(others)) for others in graph.values()]
        return cls(tuple(near), tuple(2 if sizes is None else sizes[node] for node in graph))

    @classmethod
    def of_scopes(cls, scopes: Sequence[Sequence[int]], sizes: Sequence[int]) -> BitGraph:
        """Join all members of each scope."""
        near = [0] * len(sizes)
        for scope in scopes:
            members = 0
            for node in scope:
                members |= 1 << node
            for node in scope:
                near[node] |= members
        return cls(tuple(mask & ~(1 << node) for node, mask in enumerate(near)), tuple(sizes))


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of the bits that are set.

    >>> list(bits(0b1011))
    [0, 1, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


# Rules: what it costs to remove a node now --------------------------------------------------------------------

Rule = Callable[[list[int], Sequence[int], int], float]
"""From neighbours, sizes and a node to the cost of removing it next."""


def _fill(near: list[int], sizes: Sequence[int], node: int) -> float:
    """Return the number of edges that would be added."""
    around = near[node]
    return sum((around & ~near[other]).bit_count() - 1 for other in bits(around)) / 2


def _weighted_fill(near: list[int], sizes: Sequence[int], node: int) -> float:
    """Return the same, each edge weighted with the number of states of its ends."""
    around, total = near[node], 0
    for other in bits(around):
        missing = around & ~near[other] & ~(1 << other)
        if missing:
            total += sizes[other] * sum(sizes[third] for third in bits(missing))
    return total / 2


def _degree(near: list[int], sizes: Sequence[int], node: int) -> float:
    return near[node].bit_count()


def _cells(near: list[int], sizes: Sequence[int], node: int) -> float:
    """Return the logarithm of the size of the table that would arise."""
    return math.log(sizes[node]) + sum(math.log(sizes[other]) for other in bits(near[node]))


RULES: dict[str, Rule] = {
    "weighted_min_fill": _weighted_fill,
    "min_fill": _fill,
    "min_degree": _degree,
    "min_table": _cells,
}


def eliminate(graph: BitGraph, rule: str = "best", keep: int = 0) -> Elimination:
    """Return an elimination order.

    Parameters
    ----------
    graph : BitGraph
    rule : {"thorough", "best", "weighted_min_fill", "min_fill", "min_degree", "min_table"}
        Which node to take next: the one that adds the fewest edges (weighted with the numbers of states), has the
        fewest neighbours, or makes the smallest table; among equals the first. ``"best"`` tries them all, unless the
        first already leaves small tables, and keeps the order with the fewest cells in all; ``"thorough"`` also takes
        other nodes among equals, in up to a dozen shuffled orders, always the same ones.
    keep : int
        Nodes that come last, as a set of bits; they should be joined with each other.

    Examples
    --------
    >>> ring = BitGraph.of({1: [2, 4], 2: [1, 3], 3: [2, 4], 4: [1, 3]})
    >>> eliminate(ring).order, eliminate(ring).cells
    ((0, 1, 2, 3), 16)
    """
    require_choice("rule", rule, ["thorough", "best", *RULES])
    if rule in RULES:
        return _greedy(graph, RULES[rule], keep)
    n = len(graph.near)
    best = _greedy(graph, _weighted_fill, keep)
    for other in (_fill, _degree, _cells):
        if best.cells > ENOUGH:
            best = min(best, _greedy(graph, other, keep), key=lambda found: found.cells)
    if rule == "thorough" and best.cells > ENOUGH:
        for seed in range(min(MAX_SHUFFLED, MAX_WORK // n)):
            ties = list(range(n))
            random.Random(seed).shuffle(ties)
            for other in (_fill, _degree):
                best = min(best, _greedy(graph, other, keep, ties), key=lambda found: found.cells)
    return best


def _greedy(graph: BitGraph, rule: Rule, keep: int, ties: Sequence[int] | None = None) -> Elimination:
    near, sizes = list(graph.near), graph.sizes
    rank = range(len(near)) if ties is None else ties
    cost: list[float | None] = [math.inf if keep >> node & 1 else rule(near, sizes, node) for node in range(len(near))]
    heap = [(value, rank[node], node) for node, value in enumerate(cost) if value is not None]
    heapq.heapify(heap)
    order, later = [], []
    while heap:
        value, _, node = heapq.heappop(heap)
        if cost[node] != value:
            continue  # removed, or queued again with another cost
        cost[node] = None
        order.append(node)
        later.append(near[node])
        for changed in bits(_remove(near, node) & ~keep):
            fresh = rule(near, sizes, changed)
            if fresh != cost[changed]:
                cost[changed] = fresh
                heapq.heappush(heap, (fresh, rank[changed], changed))
    return Elimination(tuple(order), tuple(later), _total_cells(order, later, sizes))


def _remove(near: list[int], node: int) -> int:
    """Remove a node, join its neighbours; return the nodes whose cost may have changed."""
    around, here = near[node], 1 << node
    changed = around
    for other in bits(around):
        near[other] &= ~here
        missing = around & ~near[other] & ~(1 << other)
        if missing:
            for third in bits(missing & ~((2 << other) - 1)):  # each new edge once: they see it from both ends
                changed |= near[other] & near[third]
            near[other] |= missing
    return changed & ~here


def _total_cells(order: Sequence[int], later: Sequence[int], sizes: Sequence[int]) -> int:
    position = {node: place for place, node in enumerate(order)}
    tables = [math.prod(sizes[other] for other in bits(mask)) for mask in later]
    covered = [0] * len(order)  # a clique is not maximal when a node before it had all of it as neighbours
    for mask in later:
        if mask:
            first = min(position[other] for other in bits(mask))
            covered[first] = max(covered[first], mask.bit_count())
    return sum(
        sizes[node] * table
        for node, table, mask, before in zip(order, tables, later, covered, strict=True)
        if before <= mask.bit_count()
    )
