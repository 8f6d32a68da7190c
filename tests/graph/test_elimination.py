"""Elimination orders: what they say about themselves is what removing the nodes one by one gives."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.graph.elimination import ENOUGH, RULES, BitGraph, Elimination, bits, eliminate

ALL_RULES = ["best", *RULES]


@st.composite
def bit_graphs(draw: st.DrawFn, max_nodes: int = 9) -> BitGraph:
    """Graphs from random scopes, with one to five states a node."""
    n = draw(st.integers(0, max_nodes))
    sizes = draw(st.lists(st.integers(1, 5), min_size=n, max_size=n))
    scopes = draw(st.lists(st.lists(st.integers(0, n - 1), max_size=4), max_size=10)) if n else []
    return BitGraph.of_scopes(scopes, sizes)


def neighbours(graph: BitGraph) -> dict[int, set[int]]:
    return {node: set(bits(mask)) for node, mask in enumerate(graph.near)}


def removed(graph: BitGraph, order: tuple[int, ...]) -> tuple[list[set[int]], dict[int, set[int]]]:
    """Remove the nodes one by one; return each one's neighbours at its removal, and the filled graph."""
    near, filled = neighbours(graph), neighbours(graph)
    later = []
    for node in order:
        around = near.pop(node)
        later.append(set(around))
        for a in around:
            near[a] = (near[a] | around) - {a, node}
            filled[a] |= around - {a}
    return later, filled


def maximal(later: list[set[int]], order: tuple[int, ...]) -> set[frozenset[int]]:
    cliques = {frozenset({node, *around}) for node, around in zip(order, later, strict=True)}
    return {clique for clique in cliques if not any(clique < other for other in cliques)}


def check(graph: BitGraph, found: Elimination) -> None:
    assert sorted(found.order) == list(range(len(graph.near)))
    later, _ = removed(graph, found.order)
    assert [set(bits(mask)) for mask in found.later] == later
    cells = sum(math.prod(graph.sizes[node] for node in clique) for clique in maximal(later, found.order))
    assert found.cells == cells


@pytest.mark.parametrize("rule", ALL_RULES)
@given(graph=bit_graphs())
@settings(max_examples=60)
def test_order_and_cells_are_what_removing_gives(rule: str, graph: BitGraph) -> None:
    check(graph, eliminate(graph, rule))


@pytest.mark.parametrize("rule", RULES)
@given(graph=bit_graphs(), data=st.data())
@settings(max_examples=60)
def test_every_step_takes_the_cheapest_node(rule: str, graph: BitGraph, data: st.DataObject) -> None:
    """Costs are kept up to date while the graph changes: the node taken is the first of least cost."""
    keep = data.draw(st.integers(0, 2 ** len(graph.near) - 1))
    near, waiting = list(graph.near), list(range(len(graph.near)))
    for node in eliminate(graph, rule, keep).order:
        free = [other for other in waiting if not keep >> other & 1]
        if free:
            fresh = RULES[rule](BitGraph(tuple(near), graph.sizes)).cost  # counted anew
            costs = {other: fresh[other] for other in free}
            least = min(costs.values())
            assert node in costs
            assert costs[node] == pytest.approx(least, rel=1e-12)
        around = near[node]
        for other in bits(around):
            near[other] = (near[other] | around) & ~(1 << other) & ~(1 << node)
        near[node] = 0
        waiting.remove(node)
    assert not waiting


@given(graph=bit_graphs())
@settings(max_examples=100)
def test_best_has_no_more_cells_than_any_rule_unless_small_already(graph: BitGraph) -> None:
    best = eliminate(graph).cells
    assert best <= max(ENOUGH, min(eliminate(graph, rule).cells for rule in RULES))


def test_best_tries_every_rule_when_tables_are_large() -> None:
    chance = random.Random(5)
    for _ in range(5):
        scopes = [chance.sample(range(24), 2) for _ in range(60)]
        graph = BitGraph.of_scopes(scopes, [chance.choice([2, 3, 7]) for _ in range(24)])
        every = [eliminate(graph, rule).cells for rule in RULES]
        assert eliminate(graph).cells == min(every) > ENOUGH


@pytest.mark.parametrize("rule", ALL_RULES)
@given(graph=bit_graphs(), data=st.data())
@settings(max_examples=60)
def test_kept_nodes_come_last(rule: str, graph: BitGraph, data: st.DataObject) -> None:
    kept = data.draw(st.sets(st.sampled_from(range(len(graph.near))))) if graph.near else set()
    found = eliminate(graph, rule, keep=sum(1 << node for node in kept))
    check(graph, found)
    assert set(found.order[len(found.order) - len(kept) :]) == kept


@given(graph=bit_graphs())
@settings(max_examples=60)
def test_chordal_graphs_get_no_new_edge_by_min_fill(graph: BitGraph) -> None:
    _, filled = removed(graph, eliminate(graph, "min_fill").order)
    chordal = BitGraph.of_scopes([[a, b] for a, near in filled.items() for b in near], graph.sizes)
    for rule in ("min_fill", "weighted_min_fill"):
        later, again = removed(chordal, eliminate(chordal, rule).order)
        assert again == neighbours(chordal), (rule, later)


@given(graph=bit_graphs())
@settings(max_examples=30)
def test_the_same_graph_gives_the_same_order(graph: BitGraph) -> None:
    assert eliminate(graph) == eliminate(BitGraph(tuple(graph.near), tuple(graph.sizes)))


@given(st.lists(st.lists(st.integers(0, 6), max_size=4), max_size=6), st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_permuted_and_repeated_scopes_give_the_same_graph(scopes: list[list[int]], chance: random.Random) -> None:
    sizes = [2] * 7
    again = [chance.sample(scope, len(scope)) for scope in scopes] + scopes
    assert BitGraph.of_scopes(again, sizes) == BitGraph.of_scopes(scopes, sizes)
    graph = neighbours(BitGraph.of_scopes(scopes, sizes))
    for a, b in itertools.permutations(range(7), 2):
        assert (b in graph[a]) == any(a in scope and b in scope for scope in scopes)
        assert a not in graph[a]


def test_bit_graph_of_names() -> None:
    graph = BitGraph.of({"A": ["B", "B"], "B": ["A"], "C": []}, {"A": 2, "B": 3, "C": 4})
    assert graph.near == (0b010, 0b001, 0)
    assert graph.sizes == (2, 3, 4)
    assert BitGraph.of({"A": []}).sizes == (2,)


def test_corners() -> None:
    empty = eliminate(BitGraph((), ()))
    assert (empty.order, empty.later, empty.cells) == ((), (), 0)
    alone = eliminate(BitGraph((0,), (7,)))
    assert (alone.order, alone.later, alone.cells) == ((0,), (0,), 7)
    assert eliminate(BitGraph((0, 0), (2, 3))).cells == 5
    with pytest.raises(sf.ArgumentError, match="rule"):
        eliminate(BitGraph((), ()), "min_luck")


def test_known_widths() -> None:
    """Trees have width 1, rings 2, and an r by c grid, r ≤ c, has treewidth r (here found by the rules)."""
    path = BitGraph.of_scopes([(i, i + 1) for i in range(9)], [2] * 10)
    ring = BitGraph.of_scopes([(i, (i + 1) % 10) for i in range(10)], [2] * 10)
    for graph, width in ((path, 1), (ring, 2), (grid(3, 3), 3), (grid(3, 8), 3)):
        assert max(mask.bit_count() for mask in eliminate(graph).later) == width


def grid(rows: int, columns: int) -> BitGraph:
    place = {cell: index for index, cell in enumerate(itertools.product(range(rows), range(columns)))}
    scopes = [
        (place[r, c], place[r + down, c + right])
        for (r, c), (down, right) in itertools.product(place, [(0, 1), (1, 0)])
        if (r + down, c + right) in place
    ]
    return BitGraph.of_scopes(scopes, [2] * len(place))


def test_thousand_nodes() -> None:
    n = 1000
    path = BitGraph.of_scopes([(i, i + 1) for i in range(n - 1)], [3] * n)
    assert eliminate(path).cells == 9 * (n - 1)
    chance = random.Random(3)
    tree = BitGraph.of_scopes([(i, chance.randrange(i)) for i in range(1, n)], [2] * n)
    check(tree, found := eliminate(tree, "min_fill"))
    assert max(mask.bit_count() for mask in found.later) == 1
