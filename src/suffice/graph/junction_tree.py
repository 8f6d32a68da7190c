"""Junction trees: the cliques of an elimination, joined so that every node's cliques hang together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from suffice.graph.elimination import BitGraph, Elimination, bits, eliminate

MIN_GROUPED = 64  # cells of a clique whose children may get a go-between
MIN_SAVING = 4  # by how much a go-between's table must be smaller


@dataclass(frozen=True)
class JunctionTree:
    """Cliques in an order in which parents come after their children; the last is the root.

    Nodes are positions in the graph. The tree has the running-intersection property: the cliques that contain a node
    are connected, so a clique shares with everything beyond its parent only what it shares with its parent. Parts of
    the graph that are not connected are joined by empty separators.

    Attributes
    ----------
    cliques : tuple of tuple of int
        The maximal cliques of the filled graph; `slimmed` adds smaller ones.
    parents : tuple of int
        The parent of each clique; −1 for the root.
    separators : tuple of tuple of int
        What each clique shares with its parent; empty for the root.
    order : tuple of int
        The order in which cliques list their nodes: that of elimination, unless they were `arranged` otherwise.
    """

    cliques: tuple[tuple[int, ...], ...]
    parents: tuple[int, ...]
    separators: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]

    @property
    def width(self) -> int:
        """The size of the largest clique less one: an upper bound of the graph's treewidth."""
        return max(map(len, self.cliques), default=0) - 1

    @cached_property
    def _holding(self) -> dict[int, list[int]]:
        """The cliques that hold each node."""
        holding: dict[int, list[int]] = {}
        for clique, members in enumerate(self.cliques):
            for node in members:
                holding.setdefault(node, []).append(clique)
        return holding

    def rooted_at(self, root: int) -> JunctionTree:
        """Return the same tree hung up at another clique."""
        if root == len(self.cliques) - 1:
            return self
        near: list[list[int]] = [[] for _ in self.cliques]
        shared = {}
        for clique, parent in enumerate(self.parents[:-1]):
            near[clique].append(parent)
            near[parent].append(clique)
            shared[clique, parent] = shared[parent, clique] = self.separators[clique]
        above, walk = {root: -1}, [root]
        for clique in walk:  # grows while it is walked
            for other in near[clique]:
                if other not in above:
                    above[other] = clique
                    walk.append(other)
        separators = [() if above[c] < 0 else shared[c, above[c]] for c in range(len(self.cliques))]
        return _in_order(self.cliques, [above[c] for c in range(len(self.cliques))], separators, self.order)

    def arranged(self, order: Sequence[int]) -> JunctionTree:
        """Return the same tree whose cliques and separators list their nodes in another order."""
        place = {node: position for position, node in enumerate(order)}

        def listed(scopes: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
            return tuple(tuple(sorted(scope, key=place.__getitem__)) for scope in scopes)

        return JunctionTree(listed(self.cliques), self.parents, listed(self.separators), tuple(order))

    def slimmed(self, sizes: Sequence[int]) -> JunctionTree:
        """Return a tree of the same cliques, and some smaller ones, in which messages touch smaller tables.

        A clique can hang on any other that holds its separator: the one with the smallest table is taken. Children of
        a large clique share a go-between, a clique over what their separators hold together, where that is small.
        """
        parents = list(self.parents)
        cells = [math.prod(sizes[node] for node in clique) for clique in self.cliques]
        inside = self._holding
        sets = [frozenset(members) for members in self.cliques]
        smallest = [min(range(len(cells)), key=cells.__getitem__)] if cells else []
        for clique, separator in enumerate(self.separators[:-1]):
            near = min((inside[node] for node in separator), key=len, default=smallest)
            wanted = set(separator)
            for other in sorted((c for c in near if cells[c] < cells[parents[clique]]), key=cells.__getitem__):
                if wanted <= sets[other] and not _is_below(other, clique, parents):
                    parents[clique] = other
                    break
        return _grouped(self, parents, cells, sizes)

    def covering(self, scope: Sequence[int], sizes: Sequence[int]) -> int | None:
        """Return the clique with the smallest table that contains a scope, or None when there is none."""
        wanted = set(scope)
        near = min((self._holding.get(node, []) for node in scope), key=len, default=range(len(self.cliques)))
        found = [clique for clique in near if wanted.issubset(self.cliques[clique])]
        return min(found, key=lambda clique: math.prod(sizes[node] for node in self.cliques[clique]), default=None)


def _is_below(clique: int, top: int, parents: Sequence[int]) -> bool:
    while clique >= 0:
        if clique == top:
            return True
        clique = parents[clique]
    return False


def _grouped(tree: JunctionTree, parents: list[int], cells: list[int], sizes: Sequence[int]) -> JunctionTree:
    """Put go-betweens between large cliques and their children."""
    cliques, separators = list(tree.cliques), list(tree.separators)
    position = {node: place for place, node in enumerate(tree.order)}
    children: list[list[int]] = [[] for _ in cliques]
    for clique, parent in enumerate(parents[:-1]):
        children[parent].append(clique)
    clique = -1
    while (clique := clique + 1) < len(cliques):  # go-betweens are added at the end and looked at in turn
        if cells[clique] < MIN_GROUPED or len(children[clique]) < 2:
            continue
        groups: list[tuple[set[int], list[int]]] = []
        for child in sorted(children[clique], key=lambda child: -len(separators[child])):
            for members, inside in groups:
                union = members.union(separators[child])
                if math.prod(sizes[node] for node in union) * MIN_SAVING <= cells[clique]:
                    members.update(union)
                    inside.append(child)
                    break
            else:
                groups.append((set(separators[child]), [child]))
        for members, inside in groups:
            if len(inside) > 1:
                between = tuple(sorted(members, key=position.__getitem__))
                for child in inside:
                    parents[child] = len(cliques)
                children[clique] = [child for child in children[clique] if child not in inside] + [len(cliques)]
                children.append(inside)
                cliques.append(between)
                separators.append(between)
                parents.append(clique)
                cells.append(math.prod(sizes[node] for node in between))
    return _in_order(cliques, parents, separators, tree.order)


def _in_order(
    cliques: Sequence[tuple[int, ...]],
    parents: Sequence[int],
    separators: Sequence[tuple[int, ...]],
    order: tuple[int, ...],
) -> JunctionTree:
    """Give the cliques new numbers, parents after their children."""
    children: list[list[int]] = [[] for _ in cliques]
    for clique, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(clique)
    walk = [clique for clique, parent in enumerate(parents) if parent < 0]
    for clique in walk:  # grows while it is walked
        walk += children[clique]
    walk.reverse()
    place = {clique: index for index, clique in enumerate(walk)}
    return JunctionTree(
        tuple(cliques[clique] for clique in walk),
        tuple(-1 if parents[clique] < 0 else place[parents[clique]] for clique in walk),
        tuple(separators[clique] for clique in walk),
        order,
    )


def junction_tree(graph: BitGraph, rule: str = "best") -> JunctionTree:
    """Triangulate a graph by elimination and join its cliques to a tree.

    Examples
    --------
    >>> ring = BitGraph.of({1: [2, 4], 2: [1, 3], 3: [2, 4], 4: [1, 3]})
    >>> tree = junction_tree(ring)
    >>> tree.cliques, tree.parents, tree.separators, tree.width
    (((0, 1, 3), (1, 2, 3)), (1, -1), ((1, 3), ()), 2)
    """
    return tree_of(eliminate(graph, rule))


def tree_of(elimination: Elimination) -> JunctionTree:
    """Join the cliques of an elimination: each node's clique hangs on that of its first neighbour to go."""
    order, later = elimination.order, elimination.later
    position = {node: place for place, node in enumerate(order)}
    first = [min((position[other] for other in bits(mask)), default=-1) for mask in later]
    home = [-1] * len(order)  # by place: the clique that the node's table went into
    masks: list[int] = []
    tops: list[int] = []  # the last node to be removed of those that are only in this clique
    waiting: dict[int, int] = {}  # place of a node: a clique whose separator is that node with its later neighbours
    for place, mask in enumerate(later):
        if place in waiting:
            home[place] = waiting[place]
            tops[home[place]] = place
        else:
            home[place] = len(masks)
            masks.append(mask | 1 << order[place])
            tops.append(place)
        above = first[place]
        if above >= 0 and mask == later[above] | 1 << order[above]:
            waiting.setdefault(above, home[place])
    return _joined(masks, tops, home, first, elimination)


def _joined(
    masks: list[int], tops: list[int], home: list[int], first: list[int], elimination: Elimination
) -> JunctionTree:
    position = {node: place for place, node in enumerate(elimination.order)}
    ranked = sorted(range(len(masks)), key=tops.__getitem__)
    place_of = {clique: index for index, clique in enumerate(ranked)}
    parents = [place_of[home[first[tops[clique]]]] if first[tops[clique]] >= 0 else -1 for clique in ranked]
    root = len(ranked) - 1
    parents = [root if parent < 0 and index < root else parent for index, parent in enumerate(parents)]

    def listed(mask: int) -> tuple[int, ...]:
        return tuple(sorted(bits(mask), key=position.__getitem__))

    separators = [listed(elimination.later[tops[clique]]) for clique in ranked]
    return JunctionTree(
        tuple(listed(masks[clique]) for clique in ranked), tuple(parents), tuple(separators), elimination.order
    )
