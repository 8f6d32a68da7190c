"""A picture of a graph in layers, its edges as wide and as dark as they are strong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import ArgumentError
from suffice.report.canvas import (
    COLOURS,
    COLUMN,
    INK,
    NEGATIVE,
    POINT,
    POSITIVE,
    QUIET,
    SMALL,
    Look,
    axes_for,
    legend,
    short,
    size_of,
    width_of,
    wrapped,
    write,
)
from suffice.report.graph_strengths import Strengths, strengths_of
from suffice.report.layout import DrawingLayout, breadth_first_edges, layered_layout
from suffice.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from suffice.models.model import Model
    from suffice.result.fit import Fit
    from suffice.structures.structure import Structure

MOST, FEW = 200, 30  # nodes; those that may find room in one column
NAME = 1.0  # room for the name of a node, in inches
PAD, HIGH, NARROW = 9.0, 16.0, 36.0  # what a box is wider than its name, its height and least width, in points
GAPS = (36.0, 24.0, 16.0, 9.0)  # between boxes of a layer, the first that leaves one column enough, in points
BETWEEN = 27.0  # layers, in points
THIN, WIDE = 0.6, 3.2  # lines of no strength and of the largest, in points
PALE = 0.35  # how dark a line of no strength is
EDGE, KEY = 5.0, 34.0  # around the graph, and below it for the key, in points


def graph_plot(source: Fit | Model | Structure, *, ax: Axes | None = None) -> Axes:
    """Draw a graph in layers; the wider and the darker an edge, the stronger it is.

    Parameters
    ----------
    source : Fit, model or structure
        Of a Bayesian network, a Markov random field, or a normal distribution with a graph. A structure has no numbers,
        so that all its edges are alike.
    ax : Axes, optional
        Where to draw; unless given, a new figure as large as the graph needs, one column wide at least.

    Returns
    -------
    Axes

    Notes
    -----
    The key below says what a strength is; see `suffice.report.graph_strengths.strengths_of`. Red edges are positive and
    blue ones, dashed, negative, where there are signs. Dotted edges have no strength that is known: those of nodes that
    mix discrete and continuous variables. Needs the extra ``plot``: ``pip install 'suffice[plot]'``.

    Examples
    --------
    >>> import suffice as sf
    >>> from suffice.report import graph_plot
    >>> data = {"A": ["x", "x", "y", "y"], "B": ["u", "u", "v", "v"]}
    >>> ax = graph_plot(sf.fit(sf.DAG("A -> B"), data))
    >>> [text.get_text() for text in ax.texts]
    ['A', 'B']
    """
    graph = strengths_of(source)
    if len(graph.nodes) > MOST:
        raise ArgumentError(
            f"The graph has {len(graph.nodes):,} nodes, and a picture has room for {MOST}. fit.report('page.html') "
            "draws larger graphs, in which one can search."
        )
    names = [short(node, NAME) for node in graph.nodes]
    boxes = np.array([max(width_of(name) / POINT + PAD, NARROW) for name in names])
    layout = _layout(graph, boxes)
    known = graph.values is not None and bool(np.isfinite(graph.values).any())
    wide = max(layout.width + 2 * EDGE, COLUMN / POINT)
    high = layout.height + 2 * EDGE + (KEY if known else 0)
    ax, is_new = axes_for(ax, high * POINT, wide * POINT)
    if is_new:
        figure: Any = ax.figure
        figure.set_layout_engine("none")
        ax.set_position((0.0, 0.0, 1.0, 1.0))
    left = (wide - layout.width) / 2
    ax.set(xlim=(-left, wide - left), ylim=(high - EDGE, -EDGE), aspect="equal", anchor="C")
    ax.axis("off")
    width, height = size_of(ax)
    unit = 1.0 if is_new else min(width / POINT / wide, height / POINT / high)  # points a unit
    for number, route in enumerate(layout.routes):
        _edge(ax, graph, number, route, unit)
    for name, x, y, box in zip(names, layout.x.tolist(), layout.y.tolist(), boxes.tolist(), strict=True):
        _node(ax, name, (x, y), box, unit)
    if known:
        _key(ax, graph, (layout.width / 2, layout.height + EDGE), wide, unit)
    return ax


def _layout(graph: Strengths, boxes: Floats) -> DrawingLayout:
    place = {name: number for number, name in enumerate(graph.nodes)}
    edges = [(place[a], place[b]) for a, b in graph.edges]
    if not graph.directed:
        edges = breadth_first_edges(len(boxes), edges)
    found = None
    for gap in GAPS if len(boxes) <= FEW else GAPS[-1:]:
        found = layered_layout(len(boxes), edges, boxes.tolist(), HIGH, gap=(gap, BETWEEN))
        if found.width + 2 * EDGE <= COLUMN / POINT:
            break
    assert found is not None
    return found


def _node(ax: Axes, name: str, centre: tuple[float, float], box: float, unit: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = (centre[0] - box / 2, centre[1] - HIGH / 2)
    style = "round,pad=0,rounding_size=4"
    patch = FancyBboxPatch(corner, box, HIGH, boxstyle=style, facecolor="white", edgecolor=INK, linewidth=0.8 * unit)
    patch.set_zorder(3)
    ax.add_patch(patch)
    write(ax, *centre, name, ha="center", va="center_baseline", zorder=4, fontsize=SMALL * unit)


def _edge(ax: Axes, graph: Strengths, number: int, route: Floats, unit: float) -> None:
    """Draw one edge: a curve between layers, straight beside the boxes of a layer."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    points, codes = [tuple(route[0])], [Path.MOVETO]
    for i in range(0, len(route) - 1, 2):
        (x0, y0), (x1, y1) = route[i], route[i + 1]
        middle = (y0 + y1) / 2
        points += [(x0, middle), (x1, middle), (x1, y1)]
        codes += [Path.CURVE4] * 3
        if i + 2 < len(route):
            points.append(tuple(route[i + 2]))
            codes.append(Path.LINETO)
    look = edge_look(graph, number)
    arrow = (
        f"-|>,head_length={(3.4 + 0.6 * look['linewidth']) * unit},head_width={(1.5 + 0.4 * look['linewidth']) * unit}"
    )
    look["linewidth"] *= unit
    patch = FancyArrowPatch(
        path=Path(points, codes), arrowstyle=arrow if graph.directed else "-", mutation_scale=1.0, capstyle="butt",
        joinstyle="miter", zorder=2, **look,
    )  # fmt: skip
    ax.add_patch(patch)


# Strengths ----------------------------------------------------------------------------------------------------


def edge_look(graph: Strengths, number: int) -> Look:
    """Return the colour, the width and the dashes of an edge."""
    if graph.values is None:
        return {"color": QUIET, "linewidth": 1.0}
    value = float(graph.values[number])
    if not np.isfinite(value):
        return {"color": QUIET, "linewidth": 0.9, "linestyle": ":"}
    return _look(value, _largest(graph), graph.signed)


def _largest(graph: Strengths) -> float:
    assert graph.values is not None
    return float(np.nanmax(np.abs(graph.values), initial=0.0)) or 1.0


def _look(value: float, largest: float, signed: bool) -> Look:
    from matplotlib.colors import to_rgb

    part = min(abs(value) / largest, 1.0)
    full = COLOURS[0] if not signed else POSITIVE if value >= 0 else NEGATIVE
    dark = PALE + (1 - PALE) * part
    tint = tuple(1 - dark * (1 - channel) for channel in to_rgb(full))
    width = THIN + (WIDE - THIN) * part
    dashes = {"linestyle": (0, (5.0 / width, 1.6 / width))} if signed and value < 0 else {}  # in widths of the line
    return {"color": tint, "linewidth": width, **dashes}


def _key(ax: Axes, graph: Strengths, place: tuple[float, float], wide: float, unit: float) -> None:
    """Show the widths of some strengths, and say what they are."""
    from matplotlib.lines import Line2D

    largest = _largest(graph)
    assert graph.values is not None
    steps = [largest / 4, largest] if not graph.signed else []
    if graph.signed:
        steps = [s * largest for s, some in ((-1.0, (graph.values < 0).any()), (1.0, True)) if some]
        steps = [*steps[:-1], largest / 4, largest] if len(steps) > 1 else [largest / 4, largest]
    handles: list[Line2D] = [Line2D([], [], **_look(step, largest, graph.signed)) for step in steps]
    names = [f"{step:.2g}".replace("-", "−") for step in steps]
    if np.isnan(graph.values).any():
        handles.append(Line2D([], [], color=QUIET, linewidth=0.9, linestyle=":"))
        names.append("not known")
    look: Look = {"loc": "upper center", "bbox_to_anchor": place, "bbox_transform": ax.transData}
    legend(
        ax, handles, names, title=wrapped(graph.measure, wide * POINT), ncols=4, frameon=False, borderaxespad=0.2,
        borderpad=0.1, handlelength=2.6, columnspacing=1.2, fontsize=SMALL * unit, title_fontsize=SMALL * unit, **look,
    )  # fmt: skip
