"""Layered layout of a graph: where boxes and edges go, so that edges point down and are easy to follow.

Layers, order, coordinates: the three steps of Sugiyama, Tagawa and Toda (1981), one file each (`layering`,
`crossings`, `placement`). Connected parts are laid out one by one and packed side by side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from suffice.report.crossings import Layers, order_layers
from suffice.report.layering import Edge, breadth_first_edges, layers_of, neighbours, without_cycles
from suffice.report.placement import place_layers
from suffice.types import Floats

__all__ = ["DrawingLayout", "breadth_first_edges", "layered_layout"]

WIDER = 1.6  # how much wider than high the picture of many parts should be
STEEP = 0.16  # the free height between layers, as a part of the longest way to the side, if that is more than the gap
TALLEST = 3.0  # gaps that it may take at most
WIDEST = 24  # boxes that any layer may hold …
ROOTS = 1.5  # … and as a multiple of √n; layers with more are folded into rows
PORTS = 0.6  # the part of a box's side over which its edges begin and end


@dataclass(frozen=True, eq=False)
class DrawingLayout:
    """Where everything is; x grows to the right and y grows down, both from zero.

    Attributes
    ----------
    x, y : array, shape (n_nodes,)
        The centres of the boxes.
    routes : tuple of array, each of shape (2 k, 2)
        The points of each edge, in the order of the edges: from the box where it begins to the box where it ends.
        Points 2i and 2i + 1 bound the way from layer to layer, where a curve looks best; between points 2i + 1 and
        2i + 2 the edge passes a layer, straight down.
    width, height : float
    """

    x: Floats
    y: Floats
    routes: tuple[Floats, ...]
    width: float
    height: float


@dataclass(frozen=True, eq=False)
class _Part:
    """The layout of a connected part: its nodes and edges by number, and where they are."""

    nodes: list[int]
    edges: list[int]
    centres: Floats
    routes: list[Floats]
    width: float
    height: float


def layered_layout(
    n_nodes: int,
    edges: Sequence[Edge],
    widths: Sequence[float] | float,
    heights: Sequence[float] | float,
    *,
    gap: tuple[float, float] = (24.0, 48.0),
) -> DrawingLayout:
    """Lay out a directed graph in layers.

    Parameters
    ----------
    n_nodes : int
        Nodes are 0, 1, …, n_nodes − 1.
    edges : sequence of pair of int
        (from, to). Edges of a graph without directions are oriented by `breadth_first_edges` first. An edge that closes
        a cycle runs up instead of down.
    widths, heights : float, or sequence of float, shape (n_nodes,)
        Of the boxes.
    gap : pair of float
        What is left free between two boxes of a layer, and between layers at least.

    Returns
    -------
    DrawingLayout

    Examples
    --------
    >>> layout = layered_layout(3, [(0, 2), (1, 2)], 40, 20, gap=(10, 30))
    >>> layout.x.tolist(), layout.y.tolist(), layout.width, layout.height
    ([20.0, 70.0, 45.0], [10.0, 10.0, 60.0], 90.0, 70.0)
    >>> layout.routes[0].tolist()
    [[20.0, 20.0], [41.0, 50.0]]
    """
    if any(upper == lower or not 0 <= min(upper, lower) <= max(upper, lower) < n_nodes for upper, lower in edges):
        raise ValueError(f"an edge must join two different nodes of 0 … {n_nodes - 1}")
    wide = np.broadcast_to(np.asarray(widths, np.float64), (n_nodes,)).tolist()
    high = np.broadcast_to(np.asarray(heights, np.float64), (n_nodes,)).tolist()
    down, turned = without_cycles(n_nodes, edges)
    layer = layers_of(n_nodes, down)
    parts = [_lay_out(nodes, which, down, layer, wide, high, gap) for nodes, which in _parts(n_nodes, down)]
    corners, width, height = _pack(parts, gap)
    centres = np.zeros((n_nodes, 2))
    routes: list[Floats] = [np.zeros((0, 2))] * len(edges)
    for part, corner in zip(parts, corners, strict=True):
        centres[part.nodes] = part.centres + corner
        for number, route in zip(part.edges, part.routes, strict=True):
            routes[number] = (route[::-1] if turned[number] else route) + corner
    return DrawingLayout(centres[:, 0], centres[:, 1], tuple(routes), width, height)


def _parts(n_nodes: int, edges: Sequence[Edge]) -> list[tuple[list[int], list[int]]]:
    """Return the nodes and the edges, by number, of every connected part."""
    home = list(range(n_nodes))

    def find(node: int) -> int:
        while home[node] != node:
            home[node] = home[home[node]]
            node = home[node]
        return node

    for upper, lower in edges:
        first, second = sorted((find(upper), find(lower)))
        home[second] = first
    parts: dict[int, tuple[list[int], list[int]]] = {}
    for node in range(n_nodes):
        parts.setdefault(find(node), ([], []))[0].append(node)
    for number, (upper, _) in enumerate(edges):
        parts[find(upper)][1].append(number)
    return list(parts.values())


def _lay_out(
    nodes: list[int],
    which: list[int],
    edges: Sequence[Edge],
    layer: list[int],
    widths: list[float],
    heights: list[float],
    gap: tuple[float, float],
) -> _Part:
    """Lay out one connected part."""
    local = {node: index for index, node in enumerate(nodes)}
    pairs = [(local[edges[number][0]], local[edges[number][1]]) for number in which]
    top = min(layer[node] for node in nodes)
    rows = [layer[node] - top for node in nodes]
    cut = _cut(rows, pairs)
    order = order_layers(cut.layers, cut.above, cut.below)
    folded = _folded(rows, order)
    if folded != rows:
        cut = _cut(folded, pairs)
        order = order_layers(cut.layers, cut.above, cut.below)
    count = len(cut.above)
    wide = [widths[node] for node in nodes] + [0.0] * (count - len(nodes))
    high = [heights[node] for node in nodes]
    x = place_layers(order, cut.above, cut.below, wide, len(nodes), gap[0])
    x -= min(float(x[node]) - wide[node] / 2 for node in range(count))
    width = max(float(x[node]) + wide[node] / 2 for node in range(count))
    tops, bottoms = _heights(order, cut.below, x, high, gap)
    centre = {node: (tops[number] + bottoms[number]) / 2 for number, row in enumerate(order) for node in row}
    centres = np.array([[x[node], centre[node]] for node in range(len(nodes))])
    routes = _routes(cut, order, x, centre, tops, bottoms, wide, high)
    return _Part(nodes, which, centres, routes, width, bottoms[-1])


@dataclass(frozen=True, eq=False)
class _Cut:
    """A graph whose long edges are cut into pieces, each from one layer to the next.

    Attributes
    ----------
    layers : list of list of int
        Nodes beyond those of the graph are bends.
    above, below : list of list of int
    chains : list of list of int
        The nodes that each edge passes, both ends included.
    """

    layers: Layers
    above: list[list[int]]
    below: list[list[int]]
    chains: list[list[int]]


def _cut(rows: list[int], edges: list[Edge]) -> _Cut:
    """Cut long edges, given the layer of every node."""
    layers: Layers = [[] for _ in range(max(rows) + 1)]
    for node, row in enumerate(rows):
        layers[row].append(node)
    pieces: list[Edge] = []
    chains = []
    count = len(rows)
    for upper, lower in edges:
        between = range(rows[upper] + 1, rows[lower])
        chain = [upper, *range(count, count + len(between)), lower]
        count += len(between)
        for bend, row in zip(chain[1:-1], between, strict=True):
            layers[row].append(bend)
        chains.append(chain)
        pieces.extend(pairwise(chain))
    return _Cut(layers, *neighbours(count, pieces), chains)


def _folded(rows: list[int], order: Layers) -> list[int]:
    """Return layers in which very wide ones are folded into rows; nodes side by side go to different rows."""
    limit = max(WIDEST, math.ceil(ROOTS * math.sqrt(len(rows))))
    folded = list(rows)
    first = 0
    for layer in order:
        real = [node for node in layer if node < len(rows)]
        times = max(1, -(-len(real) // limit))
        for place, node in enumerate(real):
            folded[node] = first + place % times
        first += times
    return folded


def _heights(
    order: Layers, below: list[list[int]], x: Floats, heights: list[float], gap: tuple[float, float]
) -> tuple[list[float], list[float]]:
    """Return where each layer begins and ends; layers between which edges go far to the side are further apart."""
    tops: list[float] = []
    bottoms: list[float] = []
    start = 0.0
    for layer in order:
        tops.append(start)
        bottoms.append(start + max((heights[node] for node in layer if node < len(heights)), default=0.0))
        far = max((abs(float(x[node] - x[lower])) for node in layer for lower in below[node]), default=0.0)
        start = bottoms[-1] + min(max(gap[1], STEEP * far), TALLEST * gap[1])
    return tops, bottoms


def _routes(
    cut: _Cut,
    order: Layers,
    x: Floats,
    centre: dict[int, float],
    tops: list[float],
    bottoms: list[float],
    widths: list[float],
    heights: list[float],
) -> list[Floats]:
    """Return the points of every edge, which begin and end side by side where several share a box."""
    number = {node: index for index, layer in enumerate(order) for node in layer}
    above, below = (
        [sorted(ends, key=lambda end: (x[end], end)) for ends in near[: len(heights)]]
        for near in (cut.above, cut.below)
    )

    def port(node: int, ends: list[int], end: int) -> float:
        """Where an edge leaves a box: in the order in which the other ends lie."""
        return float(x[node]) + PORTS * widths[node] * ((ends.index(end) + 1) / (len(ends) + 1) - 0.5)

    routes = []
    for chain in cut.chains:
        first, last = chain[0], chain[-1]
        points = [(port(first, below[first], chain[1]), centre[first] + heights[first] / 2)]
        for bend in chain[1:-1]:
            points += [(float(x[bend]), tops[number[bend]]), (float(x[bend]), bottoms[number[bend]])]
        points.append((port(last, above[last], chain[-2]), centre[last] - heights[last] / 2))
        routes.append(np.array(points))
    return routes


def _pack(parts: list[_Part], gap: tuple[float, float]) -> tuple[list[tuple[float, float]], float, float]:
    """Put the parts on shelves, the highest first; return their corners and the size of the whole."""
    area = sum((part.width + gap[0]) * (part.height + gap[1]) for part in parts)
    limit = max([math.sqrt(WIDER * area), *(part.width for part in parts)])
    corners = [(0.0, 0.0)] * len(parts)
    left = top = tallest = width = 0.0
    for index in sorted(range(len(parts)), key=lambda index: -parts[index].height):
        part = parts[index]
        if left > 0 and left + part.width > limit:
            left, top, tallest = 0.0, top + tallest + gap[1], 0.0
        corners[index] = (left, top)
        width, tallest = max(width, left + part.width), max(tallest, part.height)
        left += part.width + gap[0]
    return corners, width, top + tallest
