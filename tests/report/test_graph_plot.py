"""Graphs with strengths: what a strength is, and that it is what is drawn."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.patches import ArrowStyle, FancyArrowPatch, FancyBboxPatch

import suffice as sf
from suffice.report import graph_plot
from suffice.report.canvas import NEGATIVE, POSITIVE
from suffice.report.graph import THIN, WIDE
from suffice.report.graph_strengths import conditional_information, strengths_of

RNG = np.random.default_rng(3)
N = 300
X = RNG.normal(size=N)
Y = 0.8 * X + RNG.normal(size=N)
NORMAL = {"x": X, "y": Y, "z": X - 2 * Y + RNG.normal(size=N)}


@pytest.fixture(autouse=True)
def _without_a_screen() -> Iterator[None]:
    mpl.use("Agg")
    yield
    plt.close("all")


def edges(ax: Any) -> list[Any]:
    return [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]


@given(st.integers(0, 10_000), st.lists(st.integers(1, 3), min_size=2, max_size=4))
def test_conditional_information_is_the_sum_by_hand(seed: int, sizes: list[int]) -> None:
    joint = np.random.default_rng(seed).dirichlet(np.full(math.prod(sizes), 0.5)).reshape(sizes)
    joint[joint < 0.02] = 0.0
    joint = joint / joint.sum()
    total = 0.0
    for cell in itertools.product(*map(range, sizes)):
        p, rest = joint[cell], (slice(None), *cell[1:-1], slice(None))
        if p > 0:
            a, b = joint[(cell[0], *rest[1:])].sum(), joint[(*rest[:-1], cell[-1])].sum()
            total += p * math.log(p * joint[rest].sum() / (a * b))
    assert conditional_information(joint, 0, len(sizes) - 1) == pytest.approx(total, abs=1e-12)


def test_strengths_of_a_network_are_informations_under_the_model() -> None:
    data = {"a": RNG.choice(list("xy"), N), "b": RNG.choice(list("uvw"), N)}
    data["c"] = np.where(RNG.random(N) < 0.8, data["a"], "y")
    fit = sf.fit(sf.DAG("a -> c <- b"), data)
    found = strengths_of(fit)
    joint = fit.model.query(["a", "b", "c"]).to_numpy()
    wanted = {("a", "c"): conditional_information(joint, 0, 2), ("b", "c"): conditional_information(joint, 1, 2)}
    assert dict(zip(found.edges, found.values.tolist(), strict=True)) == pytest.approx(wanted)
    assert wanted["a", "c"] > 10 * wanted["b", "c"]


def test_strengths_of_a_regression_are_coefficients_of_standardised_columns() -> None:
    found = strengths_of(sf.fit(sf.DAG("x -> y; x -> z; y -> z"), NORMAL))
    unit = {name: (column - column.mean()) / column.std() for name, column in NORMAL.items()}
    slopes = np.linalg.lstsq(np.column_stack([unit["x"], unit["y"]]), unit["z"], rcond=None)[0]
    wanted = {("x", "y"): np.corrcoef(X, Y)[0, 1], ("x", "z"): slopes[0], ("y", "z"): slopes[1]}
    assert dict(zip(found.edges, found.values.tolist(), strict=True)) == pytest.approx(wanted)
    assert found.signed


def test_strengths_of_graphs_without_directions() -> None:
    normal = strengths_of(sf.fit(sf.GaussianMarkov("x:y:z"), NORMAL))
    inverse = np.linalg.inv(np.cov(np.array(list(NORMAL.values()))))
    place = {name: k for k, name in enumerate(NORMAL)}
    for (a, b), value in zip(normal.edges, normal.values, strict=True):
        i, j = place[a], place[b]
        assert value == pytest.approx(-inverse[i, j] / math.sqrt(inverse[i, i] * inverse[j, j]))
    alone = strengths_of(sf.fit(sf.GaussianMarkov("x:y:z"), NORMAL).model)
    assert sorted(alone.values) == pytest.approx(sorted(normal.values))
    table = sf.Contingency([[20, 10], [12, 18]], {"A": ["x", "y"], "B": ["u", "v"]})
    for structure in (sf.Cliques("A:B"), sf.Features([sf.indicators("A", "B")])):
        (value,) = strengths_of(sf.fit(structure, table, method="newton")).values
        assert value == pytest.approx(conditional_information(np.array([[20, 10], [12, 18]]) / 60, 0, 1), abs=1e-9)
    spins = {"a": RNG.choice([-1, 1], N), "b": RNG.choice([-1, 1], N)}
    fit = sf.fit(sf.Ising("a:b"), spins)
    assert strengths_of(fit).values.tolist() == [fit.model.couplings.to_numpy()[0, 1]]


def test_edges_of_mixed_nodes_have_no_strength_and_are_dotted() -> None:
    data = {"g": RNG.choice(list("ab"), N), "h": RNG.choice(list("cd"), N), "x": X}
    fit = sf.fit(sf.DAG("g -> h; g -> x"), data)
    found = strengths_of(fit)
    assert np.isnan(found.values[found.edges.index(("g", "x"))])
    ax = graph_plot(fit)
    assert [edge.get_linestyle() in (":", "dotted") for edge in edges(ax)] == [False, True]
    assert "not known" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_rows_that_are_not_known_leave_the_strength_open() -> None:
    data = {"a": ["x", "x", "y"], "b": ["u", "v", "u"], "c": ["p", "q", "q"]}
    found = strengths_of(sf.fit(sf.DAG("a -> c <- b"), data, unseen_parents="nan"))
    assert np.isnan(found.values).all()


def test_widths_and_colours_are_the_strengths() -> None:
    fit = sf.fit(sf.DAG("x -> y; x -> z; y -> z"), NORMAL)
    found, ax = strengths_of(fit), graph_plot(fit)
    parts = np.abs(found.values) / np.abs(found.values).max()
    widths = [edge.get_linewidth() for edge in edges(ax)]
    assert widths == pytest.approx(THIN + (WIDE - THIN) * parts)
    strongest = edges(ax)[int(np.argmax(parts))].get_edgecolor()[:3]
    assert strongest == pytest.approx(to_rgb(NEGATIVE if found.values[np.argmax(parts)] < 0 else POSITIVE))
    dashed = [edge.get_linestyle() not in ("-", "solid") for edge in edges(ax)]
    assert dashed == (found.values < 0).tolist()
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"{np.abs(found.values).max():.2g}" in shown
    assert ax.get_legend().get_title().get_text() == "standardised coefficient"


def test_boxes_of_nodes_do_not_overlap_and_hold_their_names() -> None:
    dag = sf.DAG("[A][S][T|A][L|S][B|S][E|T:L][X|E][D|B:E]")
    ax = graph_plot(dag)
    ax.figure.canvas.draw()
    boxes = [patch.get_window_extent() for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    assert not any(one.overlaps(two) for one, two in itertools.combinations(boxes, 2))
    assert [text.get_text() for text in ax.texts] == list(dag.nodes)
    for text, box in zip(ax.texts, boxes, strict=True):
        extent = text.get_window_extent()
        assert box.x0 <= extent.x0
        assert extent.x1 <= box.x1
    assert ax.get_legend() is None  # a structure has no strengths
    assert len(edges(ax)) == len(dag.edges)


def test_edges_run_from_parents_to_children() -> None:
    dag = sf.DAG("B -> A; C -> A")
    ax = graph_plot(dag)
    ax.figure.canvas.draw()
    place = {text.get_text(): text.get_position() for text in ax.texts}
    for (parent, child), edge in zip(dag.edges, edges(ax), strict=True):
        path = edge._path_original.vertices
        assert abs(path[0][0] - place[parent][0]) < 20
        assert path[0][1] > place[parent][1]  # y grows down
        assert path[-1][1] < place[child][1]
        assert isinstance(edge.get_arrowstyle(), ArrowStyle.CurveFilledB)
    (line,) = edges(graph_plot(sf.Cliques("A:B")))
    assert type(line.get_arrowstyle()) is ArrowStyle.Curve
