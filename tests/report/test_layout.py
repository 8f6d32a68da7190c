"""The layered layout: boxes apart, edges down, routes at their boxes; its steps against slow twins."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from suffice.report.crossings import crossings, order_layers
from suffice.report.layering import breadth_first_edges, layers_of, without_cycles
from suffice.report.layout import layered_layout
from suffice.report.relaxation import in_order


@st.composite
def graphs(draw, most=14, cyclic=False):
    n_nodes = draw(st.integers(0, most))
    pairs = [(i, j) for i in range(n_nodes) for j in range(n_nodes) if i != j and (cyclic or i < j)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3 * n_nodes)) if pairs else []
    names = draw(st.permutations(range(n_nodes)))
    sizes = st.lists(st.floats(1, 200), min_size=n_nodes, max_size=n_nodes)
    return n_nodes, [(names[a], names[b]) for a, b in edges], draw(sizes), draw(sizes)


def overlap(layout, widths, heights, i, j):
    return (
        abs(layout.x[i] - layout.x[j]) < (widths[i] + widths[j]) / 2 - 1e-6
        and abs(layout.y[i] - layout.y[j]) < (heights[i] + heights[j]) / 2 - 1e-6
    )


@settings(max_examples=60)
@given(graphs())
def test_boxes_are_apart_and_within_the_picture(graph):
    n_nodes, edges, widths, heights = graph
    layout = layered_layout(n_nodes, edges, widths, heights)
    assert not any(overlap(layout, widths, heights, i, j) for i, j in itertools.combinations(range(n_nodes), 2))
    for i in range(n_nodes):
        assert layout.x[i] - widths[i] / 2 >= -1e-6
        assert layout.x[i] + widths[i] / 2 <= layout.width + 1e-6
        assert layout.y[i] - heights[i] / 2 >= -1e-6
        assert layout.y[i] + heights[i] / 2 <= layout.height + 1e-6


@settings(max_examples=60)
@given(graphs())
def test_edges_point_down_from_box_to_box(graph):
    n_nodes, edges, widths, heights = graph
    layout = layered_layout(n_nodes, edges, widths, heights)
    assert len(layout.routes) == len(edges)
    for (upper, lower), route in zip(edges, layout.routes, strict=True):
        assert len(route) % 2 == 0
        assert np.all(np.diff(route[:, 1]) >= -1e-6)
        assert route[0, 1] == pytest.approx(layout.y[upper] + heights[upper] / 2)
        assert route[-1, 1] == pytest.approx(layout.y[lower] - heights[lower] / 2)
        assert abs(route[0, 0] - layout.x[upper]) <= widths[upper] / 2
        assert abs(route[-1, 0] - layout.x[lower]) <= widths[lower] / 2
        assert route[-1, 1] > route[0, 1]


@settings(max_examples=40)
@given(graphs())
def test_long_edges_pass_beside_boxes(graph):
    n_nodes, edges, widths, heights = graph
    layout = layered_layout(n_nodes, edges, widths, heights)
    assert len(layout.routes) == len(edges)
    for route in layout.routes:
        for above, below in zip(route[1:-1:2], route[2:-1:2], strict=True):
            assert above[0] == below[0]
            for i in range(n_nodes):
                level = above[1] - 1e-6 <= layout.y[i] <= below[1] + 1e-6
                assert not (level and abs(layout.x[i] - above[0]) < widths[i] / 2 - 1e-6)


@settings(max_examples=30)
@given(graphs(cyclic=True))
def test_the_same_graph_gives_the_same_layout_cycles_or_not(graph):
    n_nodes, edges, widths, heights = graph
    first, second = (layered_layout(n_nodes, edges, widths, heights) for _ in range(2))
    assert np.array_equal(first.x, second.x)
    assert np.array_equal(first.y, second.y)
    assert all(map(np.array_equal, first.routes, second.routes))
    for (start, end), route in zip(edges, first.routes, strict=True):
        assert abs(route[0, 0] - first.x[start]) <= widths[start] / 2
        assert abs(route[-1, 0] - first.x[end]) <= widths[end] / 2


def test_empty_graphs_and_nodes_without_edges():
    empty = layered_layout(0, [], [], [])
    assert (empty.x.shape, empty.routes, empty.width, empty.height) == ((0,), (), 0.0, 0.0)
    alone = layered_layout(30, [], 50, 20, gap=(10, 10))
    assert len(set(alone.y)) > 2  # a grid, not one line
    assert 0.5 < alone.width / alone.height < 4


def test_nodes_that_do_not_exist_and_edges_to_oneself_are_refused():
    for edge in ((0, 2), (-1, 0), (1, 1)):
        with pytest.raises(ValueError, match="two different nodes"):
            layered_layout(2, [edge], 10, 10)


@settings(max_examples=40)
@given(graphs(most=6))
def test_layers_are_as_short_as_any(graph):
    n_nodes, edges, _, _ = graph
    layer = layers_of(n_nodes, edges)
    assert all(layer[lower] > layer[upper] for upper, lower in edges)
    assert min(layer, default=0) == 0 or not edges
    span = sum(layer[lower] - layer[upper] for upper, lower in edges)
    assert span == _shortest(n_nodes, edges)


def _shortest(n_nodes, edges):
    """The least total span, by raising whole sets of nodes from the layers of longest ways while that helps."""
    layer = [0] * n_nodes
    for _ in range(n_nodes):
        for upper, lower in edges:
            layer[lower] = max(layer[lower], layer[upper] + 1)
    better = True
    while better:
        better = False
        for chosen in itertools.product((0, 1), repeat=n_nodes):
            moved = [place + up for place, up in zip(layer, chosen, strict=True)]
            if all(moved[b] > moved[a] for a, b in edges) and sum(moved[b] - moved[a] for a, b in edges) < sum(
                layer[b] - layer[a] for a, b in edges
            ):
                layer, better = moved, True
                break
    return sum(layer[b] - layer[a] for a, b in edges)


@settings(max_examples=60)
@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_crossings_are_counted_as_pairs_of_edges(upper, lower, data):
    pairs = [(i, upper + j) for i in range(upper) for j in range(lower)]
    edges = data.draw(st.lists(st.sampled_from(pairs), unique=True))
    below = [[b for a, b in edges if a == node] for node in range(upper + lower)]
    place = [*range(upper), *range(lower)]
    slow = sum((a < c) != (b < d) and a != c and b != d for (a, b), (c, d) in itertools.combinations(edges, 2))
    assert crossings([list(range(upper)), list(range(upper, upper + lower))], below, place) == slow


def test_trees_have_no_crossings():
    generator = np.random.default_rng(1)
    parent = [-1] + [int(generator.integers(0, node)) for node in range(1, 120)]
    depth = [0] * 120
    for node in range(1, 120):
        depth[node] = depth[parent[node]] + 1
    layers = [[node for node in range(120) if depth[node] == level] for level in range(max(depth) + 1)]
    shuffled = [generator.permutation(layer).tolist() for layer in layers]
    above = [[] if node == 0 else [parent[node]] for node in range(120)]
    below = [[child for child in range(1, 120) if parent[child] == node] for node in range(120)]
    ordered = order_layers(shuffled, above, below)
    assert [sorted(layer) for layer in ordered] == layers
    place = [0] * 120
    for layer in ordered:
        for index, node in enumerate(layer):
            place[node] = index
    assert crossings(ordered, below, place) == 0


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(0.5, 4), st.floats(1, 20)), min_size=1, max_size=6))
@example([(35.0, 4.0, 5.5), (-45.0, 4.0, 1.0), (0.0, 1.0, 2.0)])
def test_places_in_order_are_the_nearest(rows):
    wanted, weights, apart = map(np.array, zip(*rows, strict=True))
    found = np.array(in_order(wanted, weights, apart[1:]))
    assert np.all(np.diff(found) >= apart[1:] - 1e-9)
    slow = minimize(
        lambda x: weights @ (x - wanted) ** 2,
        np.cumsum(apart),
        jac=lambda x: 2 * weights * (x - wanted),
        constraints={"type": "ineq", "fun": lambda x: np.diff(x) - apart[1:]} if len(rows) > 1 else (),
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    ).x
    # SLSQP keeps its constraints to about 1e-7 only, and gains by that: its places are moved apart first.
    distances = np.concatenate(([0.0], np.cumsum(apart[1:])))
    slow = np.maximum.accumulate(slow - distances) + distances
    assert weights @ (found - wanted) ** 2 <= weights @ (slow - wanted) ** 2 + 1e-5


@given(graphs(cyclic=True))
def test_undirected_edges_are_oriented_without_cycles(graph):
    n_nodes, edges, _, _ = graph
    oriented = breadth_first_edges(n_nodes, edges)
    assert [set(edge) for edge in oriented] == [set(edge) for edge in edges]
    assert not any(without_cycles(n_nodes, oriented)[1])


@given(graphs(cyclic=True))
def test_turning_edges_round_leaves_no_cycle(graph):
    n_nodes, edges, _, _ = graph
    down, turned = without_cycles(n_nodes, edges)
    assert [edge[::-1] if back else edge for edge, back in zip(down, turned, strict=True)] == list(edges)
    assert not any(without_cycles(n_nodes, down)[1])
