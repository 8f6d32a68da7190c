"""Junction trees: the properties that make messages on them right, for every tree, root and slimming."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.graph.test_elimination import ALL_RULES, bit_graphs, grid, maximal, neighbours, removed

from suffice.graph import junction_tree as module
from suffice.graph.elimination import BitGraph, eliminate
from suffice.graph.junction_tree import JunctionTree, junction_tree, tree_of


def check(graph: BitGraph, tree: JunctionTree, every_clique_maximal: bool = True) -> None:
    """Everything that a junction tree of a graph must be."""
    n = len(tree.cliques)
    assert n == len(tree.parents) == len(tree.separators)
    if not n:
        return
    # parents come after their children, the last is the root, and it is the only one
    assert tree.parents[-1] == -1
    assert all(clique < parent < n for clique, parent in enumerate(tree.parents[:-1]))
    # separators are the intersections with the parents
    assert tree.separators[-1] == ()
    for clique, parent in enumerate(tree.parents[:-1]):
        assert set(tree.separators[clique]) == set(tree.cliques[clique]) & set(tree.cliques[parent])
    # everything is listed in one common order
    position = {node: place for place, node in enumerate(tree.order)}
    assert sorted(position) == list(range(len(graph.near)))
    for scope in (*tree.cliques, *tree.separators):
        assert list(scope) == sorted(set(scope), key=position.__getitem__)
    # every node and every edge is in some clique
    near = neighbours(graph)
    inside: dict[int, list[int]] = {node: [] for node in near}
    for clique, members in enumerate(tree.cliques):
        for node in members:
            inside[node].append(clique)
    assert all(inside.values())
    for a, others in near.items():
        assert all(set(inside[a]) & set(inside[b]) for b in others)
    # running intersection: of the cliques that hold a node, only one has a parent without it
    for cliques in inside.values():
        assert sum(tree.parents[clique] not in cliques for clique in cliques) == 1
    # the cliques are the maximal ones of the filled graph
    later, _ = removed(graph, tree.order)
    expected = maximal(later, tree.order)
    found = [frozenset(members) for members in tree.cliques]
    assert expected <= set(found)
    if every_clique_maximal:
        assert sorted(map(sorted, found)) == sorted(map(sorted, expected))
    else:
        assert all(any(members <= clique for clique in expected) for members in found)
    assert tree.width == max(map(len, expected)) - 1


def cells(tree: JunctionTree, sizes: tuple[int, ...]) -> list[int]:
    return [math.prod(sizes[node] for node in members) for members in tree.cliques]


@pytest.mark.parametrize("rule", ALL_RULES)
@given(graph=bit_graphs())
@settings(max_examples=60)
def test_tree_is_a_junction_tree_of_the_graph(rule: str, graph: BitGraph) -> None:
    elimination = eliminate(graph, rule)
    tree = junction_tree(graph, rule)
    check(graph, tree)
    assert tree == tree_of(elimination)
    assert sum(cells(tree, graph.sizes)) == elimination.cells


@given(graph=bit_graphs())
@settings(max_examples=60)
def test_the_cliques_are_those_of_networkx(graph: BitGraph) -> None:
    tree = junction_tree(graph)
    _, filled = removed(graph, tree.order)
    whole: Any = nx.Graph(filled)
    if len(whole):
        assert nx.is_chordal(whole)
    assert {frozenset(c) for c in tree.cliques} == {frozenset(c) for c in nx.find_cliques(whole)}


@given(graph=bit_graphs(), data=st.data())
@settings(max_examples=100)
def test_another_root_keeps_all_this(graph: BitGraph, data: st.DataObject) -> None:
    tree = junction_tree(graph)
    if not tree.cliques:
        return
    root = data.draw(st.integers(0, len(tree.cliques) - 1))
    turned = tree.rooted_at(root)
    check(graph, turned)
    assert turned.cliques[-1] == tree.cliques[root]
    assert links(turned) == links(tree)
    assert tree == junction_tree(graph)


def links(tree: JunctionTree) -> set[frozenset[tuple[int, ...]]]:
    return {frozenset((tree.cliques[c], tree.cliques[p])) for c, p in enumerate(tree.parents[:-1])}


@given(graph=bit_graphs(12), data=st.data())
@settings(max_examples=150)
def test_slimming_keeps_all_this(graph: BitGraph, data: st.DataObject) -> None:
    tree = junction_tree(graph)
    slim = tree.slimmed(graph.sizes)
    check(graph, slim, every_clique_maximal=False)
    assert slim.order == tree.order
    if slim.cliques:
        check(graph, slim.rooted_at(data.draw(st.integers(0, len(slim.cliques) - 1))), every_clique_maximal=False)


def test_slimming_puts_go_betweens_under_large_cliques() -> None:
    """A hub of 12 nodes with many pairs hanging on it: messages meet in smaller cliques."""
    hub = list(range(12))
    scopes = [hub, *([a, b, 12 + index] for index, (a, b) in enumerate(itertools.combinations(range(5), 2)))]
    graph = BitGraph.of_scopes(scopes, [2] * (12 + 10))
    tree = junction_tree(graph)
    slim = tree.slimmed(graph.sizes)
    check(graph, slim, every_clique_maximal=False)
    assert len(slim.cliques) > len(tree.cliques)
    largest = max(range(len(slim.cliques)), key=lambda clique: len(slim.cliques[clique]))
    assert slim.parents.count(largest) < tree.parents.count(tree.cliques.index(slim.cliques[largest]))
    extra = set(slim.cliques) - set(tree.cliques)
    assert all(2 ** len(clique) * module.MIN_SAVING <= 2**12 for clique in extra)


def test_a_clique_hangs_on_the_smallest_that_holds_its_separator() -> None:
    graph = BitGraph.of_scopes([(0, 1, 2, 3, 4, 5), (0, 6), (0, 7)], [2] * 8)
    slim = junction_tree(graph).slimmed(graph.sizes)
    check(graph, slim)
    touched = sum(2 ** len(slim.cliques[parent]) for parent in slim.parents[:-1])
    assert touched <= 4 + 64  # one of the pairs hangs on the other, not both on the large clique


@given(graph=bit_graphs(), data=st.data())
@settings(max_examples=60)
def test_covering_is_the_smallest_clique_that_holds_a_scope(graph: BitGraph, data: st.DataObject) -> None:
    tree = junction_tree(graph)
    n = len(graph.near)
    scope = data.draw(st.lists(st.integers(0, n - 1), unique=True, max_size=4)) if n else []
    holding = [c for c, members in enumerate(tree.cliques) if set(scope) <= set(members)]
    found = tree.covering(scope, graph.sizes)
    if not holding:
        assert found is None
    else:
        sizes = cells(tree, graph.sizes)
        assert found in holding
        assert sizes[found] == min(sizes[c] for c in holding)


# Corners ------------------------------------------------------------------------------------------------------


def test_empty_graph() -> None:
    tree = junction_tree(BitGraph((), ()))
    assert (tree.cliques, tree.parents, tree.separators, tree.order) == ((), (), (), ())
    assert tree.width == -1
    assert tree.covering((), ()) is None


def test_single_node() -> None:
    tree = junction_tree(BitGraph((0,), (5,)))
    assert (tree.cliques, tree.parents, tree.separators, tree.width) == (((0,),), (-1,), ((),), 0)
    assert tree.rooted_at(0) == tree == tree.slimmed((5,))


def test_parts_are_joined_by_empty_separators() -> None:
    graph = BitGraph.of_scopes([(0, 1), (2, 3), ()], [2, 2, 2, 2, 2])
    for tree in (junction_tree(graph), junction_tree(graph).slimmed(graph.sizes), junction_tree(graph).rooted_at(0)):
        check(graph, tree)
        assert tree.separators == ((), (), ())


def test_thousand_nodes() -> None:
    n = 1000
    path = BitGraph.of_scopes([(i, i + 1) for i in range(n - 1)], [2] * n)
    tree = junction_tree(path)
    assert tree.width == 1
    assert len(tree.cliques) == n - 1
    for again in (tree, tree.rooted_at(0), tree.rooted_at(500), tree.slimmed(path.sizes)):
        check(path, again)
    star = BitGraph.of_scopes([(0, i) for i in range(1, 1000)], [2] * 1000)
    check(star, junction_tree(star).slimmed(star.sizes))
    chance = random.Random(1)
    loose = BitGraph.of_scopes([chance.sample(range(n), 2) for _ in range(300)], [2] * n)
    check(loose, junction_tree(loose).slimmed(loose.sizes), every_clique_maximal=False)
    board = grid(4, 50)
    check(board, junction_tree(board).slimmed(board.sizes), every_clique_maximal=False)
