"""GraphPlan: the junction tree of a graph whose nodes all have the same labels, and where its factors go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from suffice.data.graph_codes import SameGraphs
from suffice.errors import Mention, ModelError
from suffice.graph.elimination import BitGraph
from suffice.graph.junction_tree import JunctionTree, junction_tree
from suffice.settings import settings
from suffice.text import in_bytes

COPIES = 6
"""Tables of every clique that are held at a time, at most: two for sums, as many for their derivatives, and work."""
BYTES = 8
LARGEST = 10**300
"""Sizes beyond this are not told apart."""
PIECE_CELLS = 1 << 18
"""Cells, of the largest clique and of all graphs that go together, up to which tables stay in the cache."""
Axes: TypeAlias = "tuple[slice[None, None, None] | None, ...]"


@dataclass(frozen=True)
class Place:
    """Where a factor goes: a clique's table, along some of its axes.

    Attributes
    ----------
    kind, number : int
        Which factor: kind 0 are those of nodes.
    order : tuple of int
        The factor's axes in the order of the clique's, and the last axis, that of graphs.
    spread : tuple
        The index that gives such a factor an axis of length one for every other node of the clique.
    others : tuple of int
        The clique's axes that are summed out to come back to the factor's nodes.
    back : tuple of int
        The order in which what is left has the factor's own axes.
    """

    kind: int
    number: int
    order: tuple[int, ...]
    spread: Axes
    others: tuple[int, ...]
    back: tuple[int, ...]


@dataclass(frozen=True)
class Link:
    """How a clique hangs on its parent: the index and the axes, as in `Place`, of what they share."""

    parent: int
    spread: Axes
    others: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class GraphPlan:
    """A junction tree for the factors of some graphs that are alike.

    Attributes
    ----------
    n_labels, n_nodes : int
    tree : JunctionTree
        Cliques list the nodes that their parent lacks first.
    factors : list of (int, int, tuple of int)
        The kind, the number and the nodes of each.
    """

    n_labels: int
    n_nodes: int
    tree: JunctionTree
    factors: list[tuple[int, int, tuple[int, ...]]]

    @cached_property
    def places(self) -> list[list[Place]]:
        """Where the factors go, by clique; found when they are asked for, since hopeless graphs are refused before."""
        position, sizes = {node: place for place, node in enumerate(self.tree.order)}, [self.n_labels] * self.n_nodes
        places: list[list[Place]] = [[] for _ in self.tree.cliques]
        for kind, number, scope in self.factors:
            home = self.tree.covering(scope, sizes)
            assert home is not None
            places[home].append(_place(kind, number, scope, self.tree.cliques[home], position))
        return places

    @cached_property
    def links(self) -> list[Link]:
        """How each clique hangs on its parent; that of the root is not used."""
        links = []
        for parent, separator in zip(self.tree.parents, self.tree.separators, strict=True):
            above = self.tree.cliques[parent]
            links.append(Link(parent, _spread(separator, above), _others(separator, above)))
        return links

    @property
    def cells(self) -> int:
        """The number of cells of all cliques' tables."""
        return sum(self.n_labels ** len(clique) for clique in self.tree.cliques)

    @property
    def n_together(self) -> int:
        """How many graphs go through the tree together."""
        largest = self.n_labels ** (self.tree.width + 1)
        room = settings().memory // (COPIES * BYTES * max(self.cells, 1))
        return int(max(1, min(PIECE_CELLS // largest, room)))

    def n_own(self, clique: int) -> int:
        """Return how many nodes of a clique its parent lacks."""
        return len(self.tree.cliques[clique]) - len(self.tree.separators[clique])

    def require_room(self, graph: int) -> None:
        """Raise when the tables of one graph do not fit the memory that may be used."""
        need, allowed = min(COPIES * BYTES * self.cells, LARGEST), settings().memory
        if need <= allowed:
            return
        widest = max(self.tree.cliques, key=len)
        raise ModelError(
            f"Graph {graph + 1}: exact inference would need {in_bytes(need)}, and may use {in_bytes(allowed)}. The "
            f"elimination order that was found has width {self.tree.width}: its largest table, over {len(widest):,} "
            f"nodes together, has {_power(self.n_labels, len(widest))} cells. Make the graph narrower, or allow more: ",
            Mention("memory", "sf.config(memory=…)"),
            ".",
        )


def _power(base: int, exponent: int) -> str:
    cells = base**exponent
    return f"{cells:,}" if cells < 10**15 else f"{base}^{exponent}"


def plan_of(group: SameGraphs, n_labels: int) -> GraphPlan:
    """Return the plan for graphs that are alike; it is made once, and refused if one graph's tables do not fit."""
    if n_labels not in group.plans:
        group.plans[n_labels] = _made(group, n_labels)
    plan: GraphPlan = group.plans[n_labels]
    plan.require_room(int(group.graphs[0]))
    return plan


def _made(group: SameGraphs, n_labels: int) -> GraphPlan:
    by_kind = [[(node,) for node in range(group.n_nodes)], *(map(tuple, members.tolist()) for members in group.members)]
    scopes = [(kind, number, scope) for kind, listed in enumerate(by_kind) for number, scope in enumerate(listed)]
    graph = BitGraph.of_scopes([scope for _, _, scope in scopes], [n_labels] * group.n_nodes)
    return GraphPlan(n_labels, group.n_nodes, junction_tree(graph), scopes)


def _place(kind: int, number: int, scope: Sequence[int], clique: Sequence[int], position: dict[int, int]) -> Place:
    ordered = sorted(scope, key=position.__getitem__)
    order = tuple(scope.index(node) for node in ordered)
    back = tuple(ordered.index(node) for node in scope)
    n = len(scope)
    return Place(kind, number, (*order, n), _spread(scope, clique), _others(scope, clique), (*back, n))


def _spread(scope: Sequence[int], clique: Sequence[int]) -> Axes:
    return tuple(slice(None) if node in scope else None for node in clique)


def _others(scope: Sequence[int], clique: Sequence[int]) -> tuple[int, ...]:
    return tuple(axis for axis, node in enumerate(clique) if node not in scope)
