"""Graphs in notebooks: inline SVG without a script, with marginals as bars or curves in the nodes."""

from __future__ import annotations

import html
import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.families import entry_of
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.chain_model import ChainModel
from suffice.models.engine import ExactOrSampled
from suffice.models.joint_normal import JointNormal
from suffice.models.markov_net import MarkovNetwork
from suffice.models.model import Model
from suffice.models.normal_mixture import NormalMixture
from suffice.models.row_model import RowModel
from suffice.report.page.entries import ReportGraph, Spec, colour_of, is_quick, states_of, tried
from suffice.report.page.monitors import layout_of, text_width
from suffice.report.page.sequences import MOST_LABELS, strongest_arrows
from suffice.result.chain_weights import transition_matrix
from suffice.structures.dag import DAG
from suffice.text import number, plural, visible

MOST_NODES, MOST_EDGES = 60, 300  # that are drawn
ROOM, SMALLEST = (960.0, 620.0), 0.6  # pixels of a notebook's cell, and the smallest scale that can be read
TITLE, ROW, CURVE, MOST_ROWS = 28, 20, 64, 12  # as in page/monitors.py
PAD, BAR, PERCENT = 10, 78, 48
INK, QUIET, LINE, TRACK, FULL = "#1b1f24", "#5a6572", "#8b96a3", "#eef1f5", "#3f7fbf"
FILLS = {
    "discrete": ("#f6f9fd", "#6d9fcf"),
    "continuous": ("#fffaf0", "#c9963e"),
    "class": ("#f6f3fc", "#8f79c9"),
    "latent": ("#f5f5f5", "#888888"),
}
FONT = "system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif"

Bars = list[float] | tuple[list[float], list[float], list[float]]
"""What a node shows: the probabilities of its states, or weights, means and standard deviations of normal ones."""


@dataclass(frozen=True)
class Drawing:
    """A graph to draw.

    Attributes
    ----------
    graph : ReportGraph
    names : list of str
        One per node.
    states : list of list of str, or None
        The states of every node, none for a continuous one; None for a graph of names alone.
    marginals : list or None
        By node: the probabilities of its states, (weights, means, standard deviations) of a mixture of normal
        distributions, or None where it is not known.
    """

    graph: ReportGraph
    names: list[str]
    states: list[list[str]] | None = None
    marginals: list[Bars | None] | None = None


def graph_html(source: DAG | Model) -> str:
    """Return the graph of a structure or model as HTML with inline SVG; nothing for those without a graph.

    Parameters
    ----------
    source : DAG or model

    Examples
    --------
    >>> import suffice as sf
    >>> graph_html(sf.DAG("A -> B")).count("<rect")
    2
    """
    entry = entry_of(source)
    make: Callable[[Any], Drawing] | None = draw_dag if type(source) is DAG else None if entry is None else entry.draw
    if make is None:
        return ""
    n_nodes = len(source.nodes) if isinstance(source, DAG) else len(source.schema.variables)
    if isinstance(source, ChainModel):
        n_nodes = source.label.n_states
    if n_nodes > MOST_NODES:
        return _too_large(source, n_nodes, None)
    drawing = make(source)
    if not drawing.names:
        return ""
    if len(drawing.graph.edges) > MOST_EDGES:
        return _too_large(source, n_nodes, len(drawing.graph.edges))
    return _draw(drawing)


def _too_large(source: DAG | Model, n_nodes: int, n_edges: int | None) -> str:
    """Say how large a graph is that is not drawn, and what shows it."""
    if n_edges is None and isinstance(source, DAG | BayesianNetwork):
        n_edges = len(source.edges if isinstance(source, DAG) else source.dag.edges)
    size = plural(n_nodes, "node") + ("" if n_edges is None else f" and {plural(n_edges, 'edge')}")
    if isinstance(source, RowModel):
        more = " model.explore() shows it in a browser, a part at a time."
    else:
        more = " A model on it shows it in a browser, a part at a time: model.explore()." if n_edges else ""
    return f"<p>A graph of {size}, too large to draw here.{more}</p>"


# What there is to draw ----------------------------------------------------------------------------------------


def draw_dag(dag: DAG) -> Drawing:
    """Return the graph of a structure."""
    latent = dict(dag.latent)
    colours = ["latent" if node in latent else "discrete" for node in dag.nodes]
    return Drawing(_directed(dag, colours), list(dag.nodes))


def _directed(dag: DAG, colours: list[str]) -> ReportGraph:
    place = {node: index for index, node in enumerate(dag.nodes)}
    return ReportGraph(colours, [(place[parent], place[child]) for parent, child in dag.edges], True)


def draw_network(model: BayesianNetwork) -> Drawing:
    """Return the graph of a Bayesian network, with marginals."""
    latent = dict(model.dag.latent)
    colours = ["latent" if node in latent else colour_of(model.schema[node]) for node in model.dag.nodes]
    return _with_marginals(model, _directed(model.dag, colours))


def draw_field(model: MarkovNetwork) -> Drawing:
    """Return the graph of a Markov random field, with marginals."""
    place = {variable.name: index for index, variable in enumerate(model.schema.variables)}
    pairs = (
        (place[a], place[b]) if place[a] < place[b] else (place[b], place[a])
        for scope in model.scopes
        for a, b in itertools.combinations(scope, 2)
    )
    colours = [colour_of(variable) for variable in model.schema.variables]
    return _with_marginals(model, ReportGraph(colours, list(dict.fromkeys(pairs)), False))


def draw_normal(model: JointNormal) -> Drawing:
    """Return the graph of a normal distribution: its partial correlations."""
    partial, names = model.partial_correlations, list(model.names)
    joined = [(i, j) for i, j in itertools.combinations(range(len(names)), 2) if abs(partial[i, j]) > 1e-12]
    graph = ReportGraph(["continuous"] * len(names), joined, False, [float(partial[pair]) for pair in joined])
    marginals: list[Bars | None] = [
        ([1.0], [float(mean)], [float(sd)]) for mean, sd in zip(model.mean, model.sd, strict=True)
    ]
    return Drawing(graph, names, [[] for _ in names], marginals)


def draw_chain(model: ChainModel) -> Drawing:
    """Return the graph of a chain: its strongest transitions."""
    labels = [str(label) for label in model.label.labels]
    if len(labels) > MOST_LABELS:
        return Drawing(ReportGraph([], [], True), [])
    weights = transition_matrix(model).to_numpy()
    return Drawing(strongest_arrows(weights, "labels", "transitions"), labels)


def _with_marginals(model: BayesianNetwork | MarkovNetwork, graph: ReportGraph) -> Drawing:
    """Add the distributions of all nodes, where inference is quick."""
    variables = model.schema.variables
    names = [variable.name for variable in variables]
    with np.errstate(all="ignore"):
        found = tried(model.marginals) if is_quick(model) else None
    if not found:
        return Drawing(graph, names)
    return Drawing(graph, names, list(map(states_of, variables)), [_marginal(found.get(name)) for name in names])


def _marginal(answer: ExactOrSampled | None) -> Bars | None:
    if answer is None:
        return None
    if isinstance(answer, LabelledTable):
        return [float(p) for p in answer.values.reshape(-1)]
    if isinstance(answer, NormalMixture):
        return (
            answer.weights.tolist(),
            answer.means.reshape(-1).tolist(),
            np.sqrt(answer.covariances).reshape(-1).tolist(),
        )
    return [1.0], answer.mean.tolist(), answer.sd.tolist()


# Drawing ------------------------------------------------------------------------------------------------------


def _draw(drawing: Drawing) -> str:
    """Return a white card that scrolls where the graph is wider or higher than the notebook."""
    layout = layout_of(drawing.graph, drawing.names, drawing.states)
    width, height = layout["width"] + 16, layout["height"] + 16
    scale = min(1.0, max(SMALLEST, min(ROOM[0] / width, ROOM[1] / height)))
    edges = "".join(_edge(edge, drawing.graph.directed) for edge in layout["edges"])
    nodes = "".join(_node(drawing, place, box) for place, box in zip(layout["nodes"], layout["boxes"], strict=True))
    what = f"{plural(len(drawing.names), 'node')}, {plural(len(layout['edges']), 'edge')}"
    return (
        '<div style="background:#fff;border:1px solid #d5dae0;border-radius:8px;max-width:100%;max-height:640px;'
        f'overflow:auto;width:fit-content;margin:4px 0"><svg xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-label="Graph: {what}" width="{width * scale:.0f}" height="{height * scale:.0f}" '
        f'viewBox="-8 -8 {width:g} {height:g}" font-family="{FONT}" font-size="11.5" fill="{INK}" '
        f'style="display:block;background:#fff">{edges}{nodes}</svg></div>'
    )


def _edge(edge: Spec, directed: bool) -> str:
    wide = (1.2, 1.0, 1.8, 2.8, 4.0)[int(edge.get("w", 0))]
    dashes = ' stroke-dasharray="5 4"' if edge.get("negative") else ""
    line = f'<path d="{edge["d"]}" fill="none" stroke="{LINE}" stroke-width="{wide:g}"{dashes}/>'
    return line + (_tip(edge["d"], wide) if directed else "")


def _tip(path: str, wide: float) -> str:
    """Return the head of an arrow, at the end of a path and in its direction."""
    numbers = [float(text) for text in re.findall(r"-?[\d.]+(?:e-?\d+)?", path)]
    if re.search(r"V[^A-Z]*$", path):
        x, y, towards = numbers[-3], numbers[-1], (0.0, numbers[-1] - numbers[-2])
    else:
        x, y = numbers[-2:]
        towards = (x - numbers[-4], y - numbers[-3])
    length = math.hypot(*towards) or 1.0
    u, v = towards[0] / length, towards[1] / length
    long, half = 7 + wide, 3 + 0.6 * wide
    points = [
        (x, y),
        (x - long * u - half * v, y - long * v + half * u),
        (x - long * u + half * v, y - long * v - half * u),
    ]
    return f'<polygon points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}" fill="{LINE}"/>'


def _node(drawing: Drawing, place: int, box: Sequence[float]) -> str:
    """Draw the box of a node: its name, and what is known of its distribution."""
    left, top, width, height = box
    name, kind = drawing.names[place], drawing.graph.colours[place]
    fill, border = FILLS[kind]
    dashes = ' stroke-dasharray="4 3"' if kind == "latent" else ""
    parts = [
        f'<g transform="translate({left:g} {top:g})"><title>{_text(name)}</title>'
        f'<rect width="{width:g}" height="{height:g}" rx="8" fill="{fill}" stroke="{border}"{dashes}/>'
    ]
    if drawing.states is None:
        middle = f'x="{width / 2:g}" y="18.5" text-anchor="middle" font-size="13"'
        return f"{parts[0]}<text {middle}>{_text(_cut(name, width - 12, 13))}</text></g>"
    parts.append(
        f'<text x="{PAD}" y="19" font-size="13" font-weight="600">{_text(_cut(name, width - 20, 13.5))}</text>'
    )
    marginal = None if drawing.marginals is None else drawing.marginals[place]
    if kind == "continuous" or isinstance(marginal, tuple):
        parts.append(_curve(marginal, width - 2 * PAD) if isinstance(marginal, tuple) else "")
    else:
        parts.append(_bars(drawing.states[place], marginal, width))
    return "".join([*parts, "</g>"])


def _bars(states: Sequence[str], marginal: Sequence[float] | None, width: float) -> str:
    shown = len(states) if len(states) <= MOST_ROWS else MOST_ROWS - 1
    start = width - PAD - PERCENT - BAR
    rows = []
    for code in range(shown):
        y = TITLE + ROW * code
        p = math.nan if marginal is None else marginal[code]
        filled = (
            f'<rect x="{start:g}" y="{y + 4}" width="{BAR * p:.1f}" height="12" rx="2" fill="{FULL}"/>' if p > 0 else ""
        )
        rows.append(
            f'<text x="{PAD}" y="{y + 14}">{_text(_cut(states[code], start - PAD - 6, 11.5))}</text>'
            f'<rect x="{start:g}" y="{y + 4}" width="{BAR}" height="12" rx="2" fill="{TRACK}"/>{filled}'
            f'<text x="{width - PAD:g}" y="{y + 14}" text-anchor="end">{_percent(p)}</text>'
        )
    if shown < len(states):
        y = TITLE + ROW * shown + 14
        rows.append(f'<text x="{PAD}" y="{y}" fill="{QUIET}">… {len(states) - shown:,} more states</text>')
    return "".join(rows)


def _curve(marginal: tuple[list[float], list[float], list[float]], width: float) -> str:
    """Draw a density, and write its mean and standard deviation."""
    weights, means, deviations = (np.asarray(part, np.float64) for part in marginal)
    if not (np.isfinite(means).all() and np.isfinite(deviations).all()):
        return ""
    mean = float(weights @ means)
    sd = math.sqrt(max(float(weights @ (deviations**2 + (means - mean) ** 2)), 0.0))
    high = CURVE - 18
    said = (
        f'<text x="{PAD + width / 2:g}" y="{TITLE + CURVE - 4}" text-anchor="middle" fill="{QUIET}">'
        f"{number(mean, 4)} ± {number(sd, 3)}</text>"
    )
    field = f'<rect x="{PAD}" y="{TITLE}" width="{width:g}" height="{high}" rx="2" fill="{TRACK}"/>'
    if not (deviations > 0).all():
        return field + said
    low, end = float((means - 3.5 * deviations).min()), float((means + 3.5 * deviations).max())
    x = np.linspace(low, end, 60)
    scaled = (x[:, None] - means) / deviations
    density = (weights / deviations * np.exp(-0.5 * scaled**2)).sum(axis=1)
    across = PAD + width * (x - low) / (end - low)
    down = TITLE + high * (1 - 0.92 * density / density.max())
    points = " ".join(f"{a:.1f} {b:.1f}" for a, b in zip(across, down, strict=True))
    base = TITLE + high
    shape = (
        f'<path d="M{PAD} {base}L{points}L{PAD + width:.1f} {base}Z" fill="{FULL}" fill-opacity=".35" stroke="{FULL}"/>'
    )
    return field + shape + said


def _percent(p: float) -> str:
    """Write a probability as the page does.

    >>> [_percent(p) for p in (0.0, 0.00004, 0.1234, 0.99999, 1.0, math.nan)]
    ['0 %', '&lt;0.1 %', '12.3 %', '&gt;99.9 %', '100 %', '']
    """
    if math.isnan(p):
        return ""
    if p in (0.0, 1.0):
        return f"{100 * p:g} %"
    return "&lt;0.1 %" if p < 0.0005 else "&gt;99.9 %" if p >= 0.9995 else f"{100 * p:.1f} %"


def _cut(text: str, room: float, font: float) -> str:
    """Cut text that is wider than its room."""
    whole = visible(text)
    if text_width(whole, font) <= room + 0.5:  # boxes are as wide as their texts, rounded
        return whole
    kept = len(whole)
    while kept > 1 and text_width(whole[:kept] + "…", font) > room:
        kept -= 1
    return whole[:kept] + "…"


def _text(text: str) -> str:
    return html.escape(visible(text))
