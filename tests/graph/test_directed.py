"""Orders and cycles of directed graphs, against networkx."""

from __future__ import annotations

import itertools

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from suffice.graph.directed import find_cycle, topological_order

NODES = [f"n{i}" for i in range(7)]


@st.composite
def graphs(draw):
    """Draw ``{node: parents}`` with few or many edges, cycles allowed."""
    nodes = draw(st.permutations(NODES))[: draw(st.integers(1, len(NODES)))]
    pairs = [(a, b) for a in nodes for b in nodes]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=12))
    return {node: [parent for parent, child in edges if child == node] for node in nodes}


@st.composite
def acyclic_graphs(draw):
    """Draw ``{node: parents}`` without cycles, nodes listed in any order."""
    hidden = draw(st.permutations(NODES))
    pairs = [(a, b) for i, a in enumerate(hidden) for b in hidden[i + 1 :]]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True))
    return {node: [parent for parent, child in edges if child == node] for node in draw(st.permutations(NODES))}


def networkx_graph(parents):
    graph = nx.DiGraph()
    graph.add_nodes_from(parents)
    graph.add_edges_from((parent, child) for child, above in parents.items() for parent in above)
    return graph


@given(graphs() | acyclic_graphs())
def test_order_is_the_stable_one_of_networkx_or_none(parents):
    graph = networkx_graph(parents)
    order = topological_order(parents)
    if nx.is_directed_acyclic_graph(graph):
        listed = list(parents)
        assert order == list(nx.lexicographical_topological_sort(graph, key=listed.index))
    else:
        assert order is None


@given(graphs() | acyclic_graphs())
def test_cycle_is_found_exactly_when_there_is_one_and_runs_along_edges(parents):
    graph = networkx_graph(parents)
    cycle = find_cycle(parents)
    assert (cycle is None) == nx.is_directed_acyclic_graph(graph)
    if cycle is not None:
        assert cycle[0] == cycle[-1]
        assert len(set(cycle[:-1])) == len(cycle) - 1 >= 1
        assert all(graph.has_edge(*edge) for edge in itertools.pairwise(cycle))


@given(graphs())
def test_same_graph_shows_the_same_cycle_starting_from_its_first_node(parents):
    cycle = find_cycle(parents)
    assert find_cycle({node: list(above) for node, above in parents.items()}) == cycle
    if cycle is not None:
        assert cycle[0] == min(cycle, key=list(parents).index)


def test_the_callers_graph_is_left_alone():
    parents = {"B": ["A"], "A": [], "C": ["B", "A"]}
    before = {node: list(above) for node, above in parents.items()}
    topological_order(parents)
    find_cycle(parents)
    assert parents == before


def test_nodes_without_edges_keep_the_order_given():
    assert topological_order({"c": [], "a": [], "b": []}) == ["c", "a", "b"]
    assert topological_order({}) == []
    assert find_cycle({}) is None


def test_self_loop_is_a_cycle():
    assert find_cycle({"a": [], "b": ["a", "b"]}) == ["b", "b"]


class Counting(dict):
    """A graph that counts how often it is asked for parents."""

    asked = 0

    def __getitem__(self, node):
        self.asked += 1
        return super().__getitem__(node)


def test_search_for_cycles_grows_with_the_graph_and_not_with_its_square():
    chain = Counting({f"n{i}": [f"n{i - 1}"] if i else [] for i in range(500)})
    assert find_cycle(chain) is None
    assert chain.asked <= 10 * len(chain)
