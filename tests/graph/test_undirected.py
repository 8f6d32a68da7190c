"""Undirected graphs: parts, cliques and chordality against networkx and the definitions."""

from __future__ import annotations

import copy
import itertools
import random
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.graph.undirected import (
    chordless_cycle,
    components,
    interaction_graph,
    is_chordal,
    maximal_cliques,
    moral_graph,
    perfect_order,
)

Graph = dict[Any, list[Any]]


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 9) -> Graph:
    """Graphs of any density, the neighbours in any order."""
    n = draw(st.integers(0, max_nodes))
    pairs = list(itertools.combinations(range(n), 2))
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    names = draw(st.permutations(range(n)))
    return graph_of(names, chosen)


def graph_of(nodes: Any, edges: Any) -> Graph:
    graph: Graph = {node: [] for node in nodes}
    for a, b in edges:
        graph[a].append(b)
        graph[b].append(a)
    return graph


def as_networkx(graph: Graph) -> Any:
    return nx.Graph(graph)


# Against networkx ---------------------------------------------------------------------------------------------


@given(graphs())
@settings(max_examples=200)
def test_chordality_is_that_of_networkx(graph: Graph) -> None:
    expected = len(graph) == 0 or nx.is_chordal(as_networkx(graph))
    assert is_chordal(graph) == expected


@given(graphs())
@settings(max_examples=200)
def test_maximal_cliques_are_those_of_networkx(graph: Graph) -> None:
    found = maximal_cliques(graph)
    assert {frozenset(clique) for clique in found} == {frozenset(c) for c in nx.find_cliques(as_networkx(graph))}
    assert len({frozenset(clique) for clique in found}) == len(found)


@given(graphs())
@settings(max_examples=200)
def test_components_are_those_of_networkx(graph: Graph) -> None:
    found = components(graph)
    assert {frozenset(part) for part in found} == {frozenset(p) for p in nx.connected_components(as_networkx(graph))}
    position = {node: index for index, node in enumerate(graph)}
    assert all(part == sorted(part, key=position.__getitem__) for part in found)
    assert [part[0] for part in found] == sorted((part[0] for part in found), key=position.__getitem__)


# Against the definitions --------------------------------------------------------------------------------------


@given(graphs())
@settings(max_examples=200)
def test_perfect_order_is_one(graph: Graph) -> None:
    order = perfect_order(graph)
    if order is None:
        return
    assert sorted(order) == sorted(graph)
    position = {node: index for index, node in enumerate(order)}
    for node in order:
        later = [other for other in graph[node] if position[other] > position[node]]
        assert all(second in graph[first] for first, second in itertools.combinations(later, 2))


@given(graphs())
@settings(max_examples=300)
def test_chordless_cycle_is_one_and_exists_unless_the_graph_is_chordal(graph: Graph) -> None:
    cycle = chordless_cycle(graph)
    assert (cycle is None) == is_chordal(graph)
    if cycle is None:
        return
    n = len(cycle)
    assert n >= 4
    assert len(set(cycle)) == n
    for i, j in itertools.combinations(range(n), 2):
        assert (cycle[j] in graph[cycle[i]]) == (j - i in (1, n - 1))


@given(graphs())
@settings(max_examples=100)
def test_cliques_list_their_nodes_in_the_order_of_the_graph(graph: Graph) -> None:
    position = {node: index for index, node in enumerate(graph)}
    places = [[position[node] for node in clique] for clique in maximal_cliques(graph)]
    assert places == sorted(map(sorted, places))


@given(graphs())
@settings(max_examples=50)
def test_arguments_are_left_alone(graph: Graph) -> None:
    before = copy.deepcopy(graph)
    for function in (components, perfect_order, is_chordal, chordless_cycle, maximal_cliques):
        function(graph)
    assert graph == before
    assert list(graph) == list(before)


@given(st.lists(st.lists(st.integers(0, 6), max_size=4), max_size=6), st.lists(st.integers(0, 8), unique=True))
@settings(max_examples=100)
def test_interaction_graph_joins_what_shares_a_scope(scopes: list[list[int]], nodes: list[int]) -> None:
    before = copy.deepcopy(scopes)
    graph = interaction_graph(scopes, nodes)
    assert scopes == before
    members = {node for scope in scopes for node in scope}
    assert set(graph) == members | set(nodes)
    assert list(graph)[: len(nodes)] == nodes
    for a, b in itertools.permutations(graph, 2):
        assert (b in graph[a]) == any(a in scope and b in scope for scope in scopes)
    assert not any(node in near for node, near in graph.items())


@given(st.lists(st.lists(st.integers(0, 6), max_size=4), max_size=5), st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_permuted_and_repeated_scopes_change_nothing(scopes: list[list[int]], chance: random.Random) -> None:
    again = [chance.sample(scope, len(scope)) for scope in scopes] + scopes
    assert interaction_graph(again) == interaction_graph(scopes)


def test_moral_graph_marries_parents() -> None:
    graph = moral_graph({"A": (), "B": ("A",), "C": ("A",), "D": ("B", "C"), "E": ()})
    assert graph == {"A": {"B", "C"}, "B": {"A", "C", "D"}, "C": {"A", "B", "D"}, "D": {"B", "C"}, "E": set()}


# Corners ------------------------------------------------------------------------------------------------------


def test_empty_graph() -> None:
    assert components({}) == []
    assert perfect_order({}) == []
    assert chordless_cycle({}) is None
    assert is_chordal({})
    assert interaction_graph([]) == {}
    assert interaction_graph([()]) == {}
    assert moral_graph({}) == {}


def test_single_node() -> None:
    alone: Graph = {"A": []}
    assert components(alone) == [["A"]]
    assert perfect_order(alone) == ["A"]
    assert maximal_cliques(alone) == [("A",)]


def test_nodes_without_edges_are_cliques_of_their_own() -> None:
    assert maximal_cliques({"B": [], "A": []}) == [("B",), ("A",)]
    assert components({"B": [], "A": []}) == [["B"], ["A"]]


@pytest.mark.parametrize("n", [4, 5, 9])
def test_rings_have_no_chords(n: int) -> None:
    ring = graph_of(range(n), [(i, (i + 1) % n) for i in range(n)])
    assert not is_chordal(ring)
    assert perfect_order(ring) is None
    assert chordless_cycle(ring) == list(range(n))
    assert len(maximal_cliques(ring)) == n


def test_thousand_nodes() -> None:
    """Deep graphs are walked, not recursed into."""
    n = 1000
    path = graph_of(range(n), [(i, i + 1) for i in range(n - 1)])
    assert is_chordal(path)
    assert len(maximal_cliques(path)) == n - 1
    assert components(path) == [list(range(n))]
    ring = graph_of(range(n), [(i, (i + 1) % n) for i in range(n)])
    assert not is_chordal(ring)
    assert chordless_cycle(ring) == list(range(n))
    assert len(maximal_cliques(ring)) == n
    whole = {node: [other for other in range(300) if other != node] for node in range(300)}
    assert maximal_cliques(whole) == [tuple(range(300))]
