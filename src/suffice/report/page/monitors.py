"""Where the boxes and edges of a page's graph are; boxes have room for one bar per state, or for a density."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from suffice.report.layout import DrawingLayout, breadth_first_edges, layered_layout
from suffice.report.page.entries import ReportGraph, Spec
from suffice.text import visible
from suffice.types import Floats

FONT = 13.0  # pixels of a name; states have SMALLER
SMALLER = 11.5
PLAIN, TITLE, ROW, CURVE, FOOT = 28.0, 28.0, 20.0, 64.0, 6.0  # pixels of heights, as in web/monitors.js
MOST_ROWS = 12  # of states in a box; a node with more has them all in its panel
BESIDE = 156.0  # pixels of a row beside the state's name: margins, bar and percentage
NARROWEST, WIDEST = 156.0, 240.0
LONGEST = 190.0  # pixels of a name in a plain box
GAP, ROOMY, TIGHT = (22.0, 44.0), (26.0, 52.0), (18.0, 36.0)  # between plain boxes, between monitors, of many
MANY = 12  # monitors
FEW = 6  # nodes of a graph without directions, up to which cycles are drawn as a circle
DENSE = 2.5  # edges per node, from which on a larger one is drawn so too
WIDER = 1.4  # how much wider than high the circle is
NARROW, BROAD = frozenset("iljtfrI.,:;'|!()[] -"), frozenset("mwMW@%—…")


def layout_of(
    graph: ReportGraph,
    names: Sequence[str],
    states: Sequence[Sequence[str]] | None,
    nodes: Sequence[int] | None = None,
) -> Spec:
    """Lay out a graph, or the part of it that some nodes make up.

    Parameters
    ----------
    graph : ReportGraph
    names : sequence of str
        One per node.
    states : sequence of sequence of str, or None
        The states of every node, none for a continuous one; None for a graph of names alone, without bars.
    nodes : sequence of int, optional
        The nodes to show; all unless given.

    Returns
    -------
    dict
        The ``DrawingLayout`` of ``web/types.js``.

    Examples
    --------
    >>> layout = layout_of(ReportGraph(["discrete"] * 2, [(0, 1)], True), ["A", "B"], [["no", "yes"], ["low", "high"]])
    >>> layout["boxes"]
    [[2.4, 0, 178.1, 74], [0, 126, 182.9, 74]]
    >>> layout["edges"][0]["d"]
    'M91.5 74C91.5 100 91.5 100 91.5 126'
    """
    shown = list(range(len(names))) if nodes is None else list(nodes)
    place = {node: index for index, node in enumerate(shown)}
    which = [number for number, (a, b) in enumerate(graph.edges) if a in place and b in place]
    edges = [(place[graph.edges[number][0]], place[graph.edges[number][1]]) for number in which]
    sizes = [_size(names[node], None if states is None else states[node], graph.colours[node]) for node in shown]
    widths, heights = [width for width, _ in sizes], [height for _, height in sizes]
    gap = GAP if states is None else ROOMY if len(shown) <= MANY else TIGHT
    layout, ring = _lay_out(graph, edges, widths, heights, gap)
    boxes = [
        [_short(x - width / 2), _short(y - height / 2), _short(width), _short(height)]
        for x, y, width, height in zip(layout.x, layout.y, widths, heights, strict=True)
    ]
    lines = [
        {
            "from": graph.edges[number][0],
            "to": graph.edges[number][1],
            "d": _bend(route) if ring else _curve(route),
            **_strength(graph, number),
        }
        for number, route in zip(which, layout.routes, strict=True)
    ]
    size = {"width": _short(layout.width), "height": _short(layout.height)}
    return {"nodes": shown, "boxes": boxes, "edges": lines, **size}


# Sizes --------------------------------------------------------------------------------------------------------


def _size(name: str, states: Sequence[str] | None, kind: str) -> tuple[float, float]:
    """Return the width and the height of a box."""
    if states is None:
        return max(PLAIN, min(text_width(visible(name)), LONGEST) + 18.0), PLAIN
    title = text_width(visible(name)) + 84.0  # beside the name: how far the distribution moved
    if kind == "continuous":
        return min(max(title, NARROWEST), WIDEST), TITLE + CURVE + FOOT
    longest = max((text_width(visible(state), SMALLER) for state in states[:MOST_ROWS]), default=0.0)
    width = min(max(title, longest + BESIDE, NARROWEST), WIDEST)
    return width, TITLE + ROW * min(len(states), MOST_ROWS) + FOOT


def text_width(text: str, font: float = FONT) -> float:
    """Estimate the width of text in pixels, rather too large than too small."""
    return font * sum(map(_em, text))


def _em(char: str) -> float:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.4  # symbols in colour are wider than letters
    if char in NARROW:
        return 0.42
    if char in BROAD:
        return 0.98
    return 0.74 if char.isupper() or not char.isascii() else 0.64


# Places -------------------------------------------------------------------------------------------------------


def _lay_out(
    graph: ReportGraph,
    edges: list[tuple[int, int]],
    widths: list[float],
    heights: list[float],
    gap: tuple[float, float],
) -> tuple[DrawingLayout, bool]:
    """Return the layout, and whether it is a circle, whose edges are arcs; those between layers are curves."""
    n_nodes, n_edges = len(widths), len(edges)
    few = 3 <= n_nodes <= FEW and n_edges >= n_nodes
    if graph.ring or (not graph.directed and (few or (n_nodes > FEW and n_edges > DENSE * n_nodes))):
        return _circle(graph.directed, edges, widths, heights), True
    down = edges if graph.directed else breadth_first_edges(n_nodes, edges)
    return layered_layout(n_nodes, down, widths, heights, gap=gap), False


def _circle(directed: bool, edges: list[tuple[int, int]], widths: list[float], heights: list[float]) -> DrawingLayout:
    """Place the nodes around an ellipse that has room for all; edges go from box to box."""
    angles = np.linspace(0, 2 * math.pi, len(widths), endpoint=False) - math.pi / 2
    wide, high = max(widths), max(heights)
    radius = 70.0
    while not _is_apart(radius, angles, wide, high):
        radius *= 1.1
    x, y = WIDER * radius * np.cos(angles), radius * np.sin(angles)
    x, y = x - x.min() + wide / 2, y - y.min() + high / 2
    middle = np.array([(x.min() + x.max()) / 2, (y.min() + y.max()) / 2])
    centres, sizes = np.column_stack([x, y]), np.column_stack([widths, heights])
    routes = tuple(_arc(centres, sizes, a, b, middle if directed else None) for a, b in edges)
    return DrawingLayout(x, y, routes, float(x.max() + wide / 2), float(y.max() + high / 2))


def _is_apart(radius: float, angles: Floats, width: float, height: float) -> bool:
    x, y = WIDER * radius * np.cos(angles), radius * np.sin(angles)
    beside = np.abs(x[:, None] - x) >= width + 12
    above = np.abs(y[:, None] - y) >= height + 12
    return bool((beside | above | np.eye(len(x), dtype=bool)).all())


def _arc(centres: Floats, sizes: Floats, start: int, end: int, middle: Floats | None) -> Floats:
    """Return where an edge begins, the point that bends it, and where it ends, both at the border of their box.

    Arrows there and back would hide each other, so each bends to its own right, and all a little to the middle.
    """
    a, b = centres[start], centres[end]
    bend = (a + b) / 2
    if middle is not None:
        along = b - a
        bend = 0.8 * bend + 0.2 * middle + 0.12 * np.array([-along[1], along[0]])
    return np.array([_border(a, bend, sizes[start]), bend, _border(b, bend, sizes[end])])


def _border(centre: Floats, towards: Floats, size: Floats) -> Floats:
    """Return where the line from the centre of a box leaves it."""
    way = towards - centre
    reach = max(abs(way[0]) / (size[0] / 2 + 1), abs(way[1]) / (size[1] / 2 + 1), 1e-9)
    return np.asarray(centre + way / max(reach, 1.0))


# Edges --------------------------------------------------------------------------------------------------------


def _strength(graph: ReportGraph, number: int) -> Spec:
    """Return the width of an edge, from 1 to 4, and whether its strength is negative; nothing where it has none."""
    if graph.strengths is None:
        return {}
    strength = graph.strengths[number]
    return {"w": min(4, 1 + int(4 * abs(strength))), **({"negative": True} if strength < 0 else {})}


def _curve(route: Floats) -> str:
    """Return the path along a route: curves from layer to layer, straight lines through layers."""
    points = [(_short(x), _short(y), float(y)) for x, y in route]
    said = [f"M{points[0][0]:g} {points[0][1]:g}"]
    for number, (start, end) in enumerate(pairwise(points)):
        if number % 2 == 0:
            middle = _short((start[2] + end[2]) / 2)
            said.append(f"C{start[0]:g} {middle:g} {end[0]:g} {middle:g} {end[0]:g} {end[1]:g}")
        else:
            said.append(f"V{end[1]:g}")
    return "".join(said)


def _bend(route: Floats) -> str:
    """Return the path of an edge across a circle."""
    (a, b), (c, d), (e, f) = [(_short(x), _short(y)) for x, y in route]
    return f"M{a:g} {b:g}Q{c:g} {d:g} {e:g} {f:g}"


def _short(value: float) -> float:
    """Round to a tenth of a pixel, whole numbers without a point."""
    rounded = round(float(value), 1)
    return int(rounded) if rounded == int(rounded) else rounded
