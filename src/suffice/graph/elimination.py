"""Elimination orders: in which order to remove the nodes of a graph so that the tables that arise stay small.

Removing a node joins its neighbours with each other; together with them it was a clique, the scope of a table. Finding
the best order is hard: nodes are taken greedily by one of several rules, and the order with the smallest tables wins.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from suffice.errors import require_choice

FEW_SIZES = 8
"""Numbers of states up to which nodes are counted by them, not listed."""
ENOUGH = 2**12  # tables with fewer cells than this in all are not worth a second order


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


class _Degrees:
    """The number of neighbours."""

    def __init__(self, graph: BitGraph) -> None:
        self.near, self.sizes = list(graph.near), graph.sizes
        self.cost = [self._cost(node) for node in range(len(self.near))]

    def _cost(self, node: int) -> float:
        return self.near[node].bit_count()

    def remove(self, node: int) -> int:
        """Remove a node and join its neighbours; return the nodes whose cost may have changed."""
        around = self.near[node]
        for other in bits(around):
            self.near[other] = (self.near[other] | around) & ~(1 << other) & ~(1 << node)
        for other in bits(around):
            self.cost[other] = self._cost(other)
        return around


class _TableSizes(_Degrees):
    """The logarithm of the size of the table that would arise."""

    def __init__(self, graph: BitGraph) -> None:
        of_size: dict[int, int] = {}
        for node, size in enumerate(graph.sizes):
            of_size[size] = of_size.get(size, 0) | 1 << node
        self._logs = [math.log(size) for size in graph.sizes]
        self._of_size = [(math.log(size), nodes) for size, nodes in of_size.items()]
        super().__init__(graph)

    def _cost(self, node: int) -> float:
        together = self.near[node] | 1 << node
        if len(self._of_size) > FEW_SIZES:
            return sum(self._logs[other] for other in bits(together))
        return sum(log * (together & nodes).bit_count() for log, nodes in self._of_size)


class _Fill(_Degrees):
    """The number of edges that would be added, kept up to date with every edge."""

    def _pairs(self, node: int, others: int) -> int:
        """Return what the edges from a node to others count."""
        return others.bit_count()

    def _cost(self, node: int) -> float:
        around = self.near[node]
        return sum(self._pairs(o, around & ~self.near[o] & ~((2 << o) - 1)) for o in bits(around))

    def remove(self, node: int) -> int:
        """Remove a node and join its neighbours; return the nodes whose cost may have changed."""
        near, cost, around = self.near, self.cost, self.near[node]
        changed = around
        for a in bits(around):
            for b in bits(around & ~near[a] & ~((2 << a) - 1)):
                common = near[a] & near[b]
                counted = self._pairs(a, 1 << b)
                for other in bits(common):
                    cost[other] -= counted
                changed |= common
                cost[a] += self._pairs(b, near[a] & ~near[b])
                cost[b] += self._pairs(a, near[b] & ~near[a])
                near[a] |= 1 << b
                near[b] |= 1 << a
        for other in bits(around):
            near[other] &= ~(1 << node)
            cost[other] -= self._pairs(node, near[other] & ~around)
        return changed & ~(1 << node)


class _WeightedFill(_Fill):
    """The same, each edge weighted with the numbers of states of its ends."""

    def _pairs(self, node: int, others: int) -> int:
        return self.sizes[node] * sum(self.sizes[other] for other in bits(others))


RULES: dict[str, type[_Degrees]] = {
    "weighted_min_fill": _WeightedFill,
    "min_fill": _Fill,
    "min_degree": _Degrees,
    "min_table": _TableSizes,
}


def eliminate(graph: BitGraph, rule: str = "best", keep: int = 0) -> Elimination:
    """Return an elimination order.

    Parameters
    ----------
    graph : BitGraph
    rule : {"best", "weighted_min_fill", "min_fill", "min_degree", "min_table"}
        Which node to take next: the one that adds the fewest edges (weighted with the numbers of states), has the
        fewest neighbours, or makes the smallest table; among equals the first. ``"best"`` tries them all, unless the
        first already leaves small tables, and keeps the order with the fewest cells in all.
    keep : int
        Nodes that come last, as a set of bits; they should be joined with each other.

    Examples
    --------
    >>> ring = BitGraph.of({1: [2, 4], 2: [1, 3], 3: [2, 4], 4: [1, 3]})
    >>> eliminate(ring).order, eliminate(ring).cells
    ((0, 1, 2, 3), 16)
    """
    require_choice("rule", rule, ["best", *RULES])
    if rule in RULES:
        return _greedy(graph, RULES[rule], keep)
    best = _greedy(graph, _WeightedFill, keep)
    for other in (_Fill, _Degrees, _TableSizes):
        if best.cells > ENOUGH:
            best = min(best, _greedy(graph, other, keep), key=lambda found: found.cells)
    return best


def _greedy(graph: BitGraph, rule: type[_Degrees], keep: int) -> Elimination:
    state = rule(graph)
    queued: list[float | None] = [math.inf if keep >> v & 1 else cost for v, cost in enumerate(state.cost)]
    heap = [(value, node) for node, value in enumerate(queued) if value is not None]
    heapq.heapify(heap)
    order, later = [], []
    while heap:
        value, node = heapq.heappop(heap)
        if queued[node] != value:
            continue  # removed, or queued again with another cost
        queued[node] = None
        order.append(node)
        later.append(state.near[node])
        for changed in bits(state.remove(node) & ~keep):
            fresh = state.cost[changed]
            if fresh != queued[changed]:
                queued[changed] = fresh
                heapq.heappush(heap, (fresh, changed))
    return Elimination(tuple(order), tuple(later), _total_cells(order, later, graph.sizes))


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
