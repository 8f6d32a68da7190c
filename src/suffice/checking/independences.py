"""Independences that a structure implies, few enough to be tested and enough to imply all others.

For a directed graph: each node is independent of every earlier one that is no parent, given those of its parents that
hold the two apart. Parents that are left out are themselves held apart from the earlier node, so that the independence
given all parents follows, and from these, one node after another, all that d-separation reads off the graph. That
supposes that what no pair of variables shows is not there (composition, which normal distributions have): a parity of
three variables, any two of which are independent, is not seen.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from suffice.graph.directed import topological_order
from suffice.graph.separation import distances, moral_above, separated, thinned
from suffice.graph.undirected import interaction_graph, perfect_order
from suffice.text import shorten


@dataclass(frozen=True)
class Independence:
    """The claim that ``first`` tells nothing of ``second`` once ``given`` are known.

    >>> print(Independence("wet", "season", ("rain",)))
    wet ⊥ season | rain
    >>> Independence("wet", "season", ("rain", "tap")).denial
    'wet is not independent of season given rain, tap'
    """

    first: str
    second: str
    given: tuple[str, ...] = ()

    @property
    def scope(self) -> tuple[str, ...]:
        """All variables that it speaks of."""
        return (self.first, self.second, *self.given)

    @property
    def denial(self) -> str:
        """What is true if the claim is not."""
        given = f" given {_listed(self.given)}" if self.given else ""
        return f"{shorten(self.first)} is not independent of {shorten(self.second)}{given}"

    def __str__(self) -> str:
        given = f" | {_listed(self.given)}" if self.given else ""
        return f"{shorten(self.first)} ⊥ {shorten(self.second)}{given}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(shorten, names))


# Directed graphs ----------------------------------------------------------------------------------------------


def of_directed(
    parents: Mapping[str, Sequence[str]],
    *,
    most: int,
    hidden: Collection[str] = (),
    whole: Collection[str] = (),
) -> tuple[list[Independence], int]:
    """Return the independences of a directed graph, and how many were left out beyond ``most``.

    Parameters
    ----------
    parents : mapping from str to sequence of str
    most : int
        So many at most; those of nodes that are near each other go first.
    hidden : collection of str
        Variables that no column carries. Pairs that only they hold apart have no independence that data could show.
    whole : collection of str
        Nodes that are to be conditioned on all of their parents.

    Examples
    --------
    >>> chain = {"A": [], "B": ["A"], "C": ["B"], "D": ["B", "C"]}
    >>> found, left_out = of_directed(chain, most=10)
    >>> [str(claim) for claim in found], left_out
    (['C ⊥ A | B', 'D ⊥ A | B'], 0)
    """
    order = topological_order(parents) or []
    place = {node: position for position, node in enumerate(order)}
    skeleton = interaction_graph(((parent, node) for node in order for parent in parents[node]), order)
    pairs = (
        (later, earlier)
        for later in order
        for earlier in order[: place[later]]
        if earlier not in parents[later] and later not in hidden and earlier not in hidden
    )
    chosen, left_out = _nearest(pairs, skeleton, most)
    found = []
    for later, earlier in chosen:
        given = _held_apart(parents, later, earlier, hidden, later in whole)
        if given is not None:
            found.append(Independence(later, earlier, given))
    return found, left_out


def _held_apart(
    parents: Mapping[str, Sequence[str]], later: str, earlier: str, hidden: Collection[str], whole: bool
) -> tuple[str, ...] | None:
    """Return what holds a node apart from an earlier one that is no parent; None where that is not observed."""
    above = parents[later]
    if whole and not set(above) & set(hidden):
        return tuple(above)
    near = moral_above(parents, [later, earlier])
    candidates: Sequence[str] = above
    if set(above) & set(hidden):  # if any observed variables hold them apart, those above both do
        candidates = [node for node in near if node not in hidden and node not in (later, earlier)]
    return thinned(candidates, lambda given: separated(near, later, earlier, given))


# Undirected graphs --------------------------------------------------------------------------------------------


def of_undirected(
    graph: Mapping[str, Collection[str]], *, most: int, hidden: Collection[str] = ()
) -> tuple[list[Independence], int]:
    """Return the independences of an undirected graph, and how many were left out beyond ``most``.

    A chordal graph says the same as a directed one, of which they are taken. Otherwise each pair that is not joined is
    held apart by neighbours of the one that has fewer.

    Examples
    --------
    >>> ring = {"A": ["B", "D"], "B": ["A", "C"], "C": ["B", "D"], "D": ["A", "C"]}
    >>> [str(claim) for claim in of_undirected(ring, most=10)[0]]
    ['C ⊥ A | B, D', 'D ⊥ B | A, C']
    """
    order = None if hidden else perfect_order(graph)
    if order is not None:
        place = {node: position for position, node in enumerate(order)}
        parents = {
            node: sorted((near for near in graph[node] if place[near] > place[node]), key=place.__getitem__)
            for node in reversed(order)
        }
        return of_directed(parents, most=most)
    names = [name for name in graph if name not in hidden]
    pairs = (
        (later, earlier)
        for position, later in enumerate(names)
        for earlier in names[:position]
        if earlier not in graph[later]
    )
    chosen, left_out = _nearest(pairs, graph, most)
    found = []
    for later, earlier in chosen:
        given = between(graph, later, earlier, hidden)
        if given is not None:
            found.append(Independence(later, earlier, given))
    return found, left_out


def between(
    graph: Mapping[str, Collection[str]], first: str, second: str, hidden: Collection[str] = ()
) -> tuple[str, ...] | None:
    """Return variables that hold two others apart, their own edge aside; None where these are not observed.

    >>> between({"A": ["B", "C"], "B": ["A", "C"], "C": ["A", "B"]}, "A", "B")
    ('C',)
    """
    place = {name: position for position, name in enumerate(graph)}
    without = {**graph, first: set(graph[first]) - {second}, second: set(graph[second]) - {first}}
    around = min((without[first], without[second]), key=len)
    candidates = around if not set(around) & set(hidden) else set(graph) - {first, second} - set(hidden)
    ordered = sorted(candidates, key=place.__getitem__)
    return thinned(ordered, lambda given: separated(without, first, second, given))


def _nearest(
    pairs: Iterator[tuple[str, str]], graph: Mapping[str, Collection[str]], most: int
) -> tuple[list[tuple[str, str]], int]:
    """Return the pairs that are fewest edges apart, in their order, and how many were left out."""
    listed = list(pairs)
    if len(listed) <= most:
        return listed, 0
    away: dict[str, dict[str, int]] = {}

    def apart(position: int) -> tuple[int, int]:
        later, earlier = listed[position]
        if later not in away:
            away.clear()  # pairs come node by node
            away[later] = distances(graph, later)
        return away[later].get(earlier, len(graph)), position

    chosen = sorted(heapq.nsmallest(most, range(len(listed)), key=apart))
    return [listed[position] for position in chosen], len(listed) - most
