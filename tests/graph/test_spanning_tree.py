"""Spanning trees against all spanning trees, and against networkx."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.graph.spanning_tree import maximum_spanning_tree, rooted


def all_pairs(n):
    return np.array(list(itertools.combinations(range(n), 2)), np.int64).reshape(-1, 2)


def is_forest(n, edges):
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    return nx.is_forest(graph)


def first_of_the_best(n, edges, weights):
    """Of all spanning trees, the heaviest; of equally heavy ones that whose edges, heaviest first, are listed first."""
    ranked = sorted(range(len(edges)), key=lambda e: (-weights[e], e))
    trees = [tree for tree in itertools.combinations(ranked, n - 1) if is_forest(n, edges[list(tree)].tolist())]
    return sorted(max(trees, key=lambda tree: (sum(weights[e] for e in tree), [-ranked.index(e) for e in tree])))


@st.composite
def weighted(draw, most=5):
    n = draw(st.integers(1, most))
    m = n * (n - 1) // 2
    return n, np.array(draw(st.lists(st.integers(0, 4), min_size=m, max_size=m)), np.float64)


@given(weighted())
def test_the_tree_is_the_best_of_all_and_ties_go_by_the_order_of_the_edges(drawn):
    n, weights = drawn
    edges = all_pairs(n)
    assert maximum_spanning_tree(n, edges, weights) == first_of_the_best(n, edges, weights)


@given(weighted(most=12), st.integers(0, 5))
def test_total_weight_is_that_of_networkx_also_for_forests(drawn, above):
    n, weights = drawn
    edges = all_pairs(n)
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from((a, b, w) for (a, b), w in zip(edges.tolist(), weights, strict=True) if w > above)
    expected = nx.maximum_spanning_tree(graph)
    found = maximum_spanning_tree(n, edges, weights, above=above)
    assert is_forest(n, edges[found].tolist())
    assert len(found) == expected.number_of_edges()
    assert weights[found].sum() == expected.size(weight="weight")


def test_infinite_weights_come_first():
    assert maximum_spanning_tree(3, all_pairs(3), np.array([1.0, np.inf, np.inf])) == [1, 2]


@given(st.data())
def test_parents_lead_to_the_root_along_the_edges(data):
    n = data.draw(st.integers(1, 12))
    forest = [(data.draw(st.integers(0, child - 1)), child) for child in range(1, n) if data.draw(st.booleans())]
    root = data.draw(st.integers(0, n - 1))
    parents = rooted(n, forest, root)
    assert {frozenset(edge) for edge in forest} == {frozenset((c, p)) for c, p in enumerate(parents) if p is not None}
    graph = nx.Graph(forest)
    graph.add_nodes_from(range(n))
    tops = {root} | {min(part) for part in nx.connected_components(graph) if root not in part}
    assert {node for node, parent in enumerate(parents) if parent is None} == tops


def test_long_paths_do_not_exhaust_the_stack():
    n = 20_000
    path = np.array([(node, node + 1) for node in range(n - 1)])
    assert len(maximum_spanning_tree(n, path, np.ones(n - 1))) == n - 1
    assert rooted(n, map(tuple, path.tolist()), n - 1)[0] == 1


@pytest.mark.parametrize("n", [1, 2])
def test_the_smallest_trees(n):
    assert maximum_spanning_tree(n, all_pairs(n), np.zeros(n - 1)) == list(range(n - 1))
