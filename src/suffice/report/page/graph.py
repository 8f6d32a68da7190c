"""The graph of a report as SVG: boxes with names, and curves between them."""

from __future__ import annotations

import html
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from suffice.report.layout import Floats, Layout, breadth_first_edges, layered_layout
from suffice.report.page.entries import Graph
from suffice.text import visible

FONT = 13.0  # pixels, as in report.css
HEIGHT = 28.0
GAP = (22.0, 44.0)
LONGEST = 190.0  # pixels of a name
SMALL = 6  # nodes of a graph without directions, up to which cycles are drawn as a circle
DENSE = 2.5  # edges a node, from which on a larger one is drawn so too
WIDER = 1.4  # how much wider than high the circle is
NARROW, BROAD = frozenset("iljtfrI.,:;'|!()[] -"), frozenset("mwMW@%—…")


@dataclass(frozen=True)
class Picture:
    """The SVG, and what the page's script needs to move it.

    Attributes
    ----------
    svg : str
    centres : list of (float, float)
    width, height : float
    """

    svg: str
    centres: list[tuple[float, float]]
    width: float
    height: float


def draw_graph(graph: Graph, names: Sequence[str]) -> Picture:
    """Draw a graph whose nodes have these names.

    Examples
    --------
    >>> picture = draw_graph(Graph(["discrete"] * 2, [(0, 1)], True), ["A", "<B>"])
    >>> picture.svg.count("<rect"), "&lt;B&gt;" in picture.svg
    (2, True)
    """
    labels = [fitting(name) for name in names]
    widths = [max(HEIGHT, text_width(label) + 18.0) for label in labels]
    layout, ring = _laid_out(graph, widths)
    shapes = ["".join(_edges(graph, layout, ring)), "".join(_nodes(graph, names, labels, widths, layout))]
    tips = "" if not graph.directed else "".join(map(_tip, ("tip", "tip-in", "tip-out")))
    said = f"Graph of {len(names):,} nodes and {len(graph.edges):,} edges"
    svg = (
        f'<svg id="graph" role="group" aria-label="{said}" xmlns="http://www.w3.org/2000/svg"><defs>{tips}</defs>'
        f'<g id="view"><g>{shapes[0]}</g><g>{shapes[1]}</g></g></svg>'
    )
    centres = [(round(float(x), 1), round(float(y), 1)) for x, y in zip(layout.x, layout.y, strict=True)]
    return Picture(svg, centres, round(layout.width, 1), round(layout.height, 1))


def text_width(text: str) -> float:
    """Estimate the width of text in pixels, rather too large than too small."""
    return FONT * sum(map(_em, text))


def _em(char: str) -> float:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.4  # symbols in colour are wider than letters
    if char in NARROW:
        return 0.42
    if char in BROAD:
        return 0.98
    return 0.74 if char.isupper() or not char.isascii() else 0.62


def fitting(name: str) -> str:
    """Cut a name where it runs long, control characters made visible."""
    whole = visible(name)
    if text_width(whole) <= LONGEST:
        return whole
    size, kept = text_width("…"), ""
    for char in whole:
        size += _em(char) * FONT
        if size > LONGEST:
            break
        kept += char
    return kept + "…"


def _laid_out(graph: Graph, widths: list[float]) -> tuple[Layout, bool]:
    """Return the layout, and whether it is a circle, whose edges are arcs; those between layers are curves."""
    n_nodes, n_edges = len(widths), len(graph.edges)
    small = 3 <= n_nodes <= SMALL and n_edges >= n_nodes
    if graph.ring or (not graph.directed and (small or (n_nodes > SMALL and n_edges > DENSE * n_nodes))):
        return _circle(graph, widths), True
    edges = graph.edges if graph.directed else breadth_first_edges(n_nodes, graph.edges)
    return layered_layout(n_nodes, edges, widths, HEIGHT, gap=GAP), False


def _circle(graph: Graph, widths: list[float]) -> Layout:
    """Place the nodes around an ellipse that has room for all; edges go from box to box."""
    angles = np.linspace(0, 2 * math.pi, len(widths), endpoint=False) - math.pi / 2
    wide = max(widths)
    radius = 70.0
    while not _is_apart(radius, angles, wide):
        radius *= 1.1
    x, y = WIDER * radius * np.cos(angles), radius * np.sin(angles)
    x, y = x - x.min() + wide / 2, y - y.min() + HEIGHT / 2
    middle = np.array([(x.min() + x.max()) / 2, (y.min() + y.max()) / 2])
    centres = np.column_stack([x, y])
    routes = tuple(_arc(centres, widths, a, b, middle if graph.directed else None) for a, b in graph.edges)
    return Layout(x, y, routes, float(x.max() + wide / 2), float(y.max() + HEIGHT / 2))


def _is_apart(radius: float, angles: Floats, width: float) -> bool:
    x, y = WIDER * radius * np.cos(angles), radius * np.sin(angles)
    beside = np.abs(x[:, None] - x) >= width + 12
    above = np.abs(y[:, None] - y) >= HEIGHT + 12
    return bool((beside | above | np.eye(len(x), dtype=bool)).all())


def _arc(centres: Floats, widths: list[float], start: int, end: int, middle: Floats | None) -> Floats:
    """Return where an edge begins, the point that bends it, and where it ends, both at the border of their box.

    Arrows there and back would hide each other, so each bends to its own right, and all a little to the middle.
    """
    a, b = centres[start], centres[end]
    bend = (a + b) / 2
    if middle is not None:
        along = b - a
        bend = 0.8 * bend + 0.2 * middle + 0.12 * np.array([-along[1], along[0]])
    return np.array([_border(a, bend, widths[start]), bend, _border(b, bend, widths[end])])


def _border(centre: Floats, towards: Floats, width: float) -> Floats:
    """Return where the line from the centre of a box leaves it."""
    way = towards - centre
    reach = max(abs(way[0]) / (width / 2 + 1), abs(way[1]) / (HEIGHT / 2 + 1), 1e-9)
    return np.asarray(centre + way / max(reach, 1.0))


def _edges(graph: Graph, layout: Layout, ring: bool) -> list[str]:
    parts = []
    for number, route in enumerate(layout.routes):
        words = ["edge"] if graph.directed else ["edge", "plain"]
        if graph.strengths is not None:
            strength = graph.strengths[number]
            words.append(f"w{min(4, 1 + int(4 * abs(strength)))}")
            words += ["negative"] if strength < 0 else []
        parts.append(f'<path class="{" ".join(words)}" d="{_bend(route) if ring else _curve(route)}"/>')
    return parts


def _curve(route: Floats) -> str:
    """Return the path along a route: curves from layer to layer, straight lines through layers."""
    points = [(f"{x:.1f}", f"{y:.1f}", float(y)) for x, y in route]
    said = [f"M{points[0][0]} {points[0][1]}"]
    for number, (start, end) in enumerate(pairwise(points)):
        if number % 2 == 0:
            middle = f"{(start[2] + end[2]) / 2:.1f}"
            said.append(f"C{start[0]} {middle} {end[0]} {middle} {end[0]} {end[1]}")
        else:
            said.append(f"V{end[1]}")
    return "".join(said)


def _bend(route: Floats) -> str:
    """Return the path of an edge across a circle."""
    (a, b), (c, d), (e, f) = route
    return f"M{a:.1f} {b:.1f}Q{c:.1f} {d:.1f} {e:.1f} {f:.1f}"


def _nodes(graph: Graph, names: Sequence[str], labels: list[str], widths: list[float], layout: Layout) -> list[str]:
    parts = []
    for place, (name, label, width) in enumerate(zip(names, labels, widths, strict=True)):
        x, y = float(layout.x[place]), float(layout.y[place])
        full = html.escape(visible(name))
        parts.append(
            f'<g class="node {graph.colours[place]}" data-i="{place}" role="button" tabindex="-1" aria-label="{full}" '
            f'transform="translate({x:.1f} {y:.1f})"><title>{full}</title>'
            f'<rect x="{-width / 2:.1f}" y="{-HEIGHT / 2:g}" width="{width:.1f}" height="{HEIGHT:g}" rx="7"/>'
            f'<text y="4.5">{html.escape(label)}</text></g>'
        )
    return parts


def _tip(name: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7.4" refY="4" markerWidth="8" markerHeight="8" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path class="{name}" d="M0 0.8L8 4L0 7.2Z"/></marker>'
    )
