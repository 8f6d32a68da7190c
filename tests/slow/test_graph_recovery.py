"""Weights planted in a conditional random field on grids are recovered within their standard errors."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf
from suffice.data.graph_reading import read_graphs
from suffice.data.variable import Variable
from suffice.models.graph_crf import GraphModel
from suffice.models.graph_information import noticed, shortest
from suffice.models.graph_layout import layout_of, shapes_of
from suffice.structures.label_graph import CliqueKind, LabelGraph

pytestmark = pytest.mark.slow

N_GRIDS, N_HELD_OUT, SIDE = 200, 1000, 6
LABELS = ("ink", "paper")
NODES = {("constant", "ink"): 0.2, ("pixel", "ink"): -0.6, ("pixel", "paper"): 0.6}
EDGES = {"right": [[0.7, -0.5], [-0.3, 0.6]], "down": [[0.5, -0.4], [-0.6, 0.4]]}


def grids(seed: int, n: int = N_GRIDS) -> list[sf.Graph]:
    rng = np.random.default_rng(seed)
    return [sf.Graph.grid(rng.normal(size=(SIDE, SIDE))) for _ in range(n)]


def planted(x: list[sf.Graph], seed: int = 17) -> tuple[GraphModel, list[list[str]]]:
    """Return a model of given weights, and labels drawn from it."""
    read = read_graphs(x)
    kinds = tuple(CliqueKind(name, size, words) for name, (size, words) in read.words.kinds.items())
    structure = LabelGraph(read.words.nodes, kinds)
    n_cells = sum(rows * columns for rows, columns in shapes_of(structure, 2))
    layout = layout_of(structure, 2, np.ones(n_cells))
    blank = GraphModel(structure, Variable("label", LABELS), layout, np.zeros(n_cells), np.ones(n_cells))
    weights = [
        NODES.get((name.attribute, str(name.labels[0])), 0.0)
        if name.kind == "node"
        else EDGES[name.kind][LABELS.index(str(name.labels[0]))][LABELS.index(str(name.labels[1]))]
        for name in blank.names()
    ]
    model = GraphModel(structure, blank.label, layout, np.array(weights), np.ones(n_cells))
    codes = model.sample(read.graphs, seed=seed)[0]
    return model, read.graphs.apart([LABELS[code] for code in codes.tolist()])


@pytest.fixture(scope="module")
def recovered() -> tuple[GraphModel, sf.GraphCRF]:
    x = grids(1)
    model, y = planted(x)
    return model, sf.GraphCRF(c2=0.0, tol=1e-8).fit(x, y)


def test_planted_weights_lie_within_their_standard_errors(recovered: tuple[GraphModel, sf.GraphCRF]) -> None:
    truth, crf = recovered
    model = crf.model_
    assert crf.fit_.certificate.ok
    assert crf.fit_.certificate.exists == "yes"
    assert model.names() == truth.names()
    assert model.information is not None
    # labellings do not notice all weights; of those planted, too, the shortest are compared
    wanted = shortest(model.information, model.units, truth.weights)
    z = (model.weights - wanted) / crf.standard_errors()
    assert np.abs(z).max() < 4
    # along the directions that are noticed, errors are independent, so that their squares have a known law
    values, vectors = noticed(model.information, model.units)
    apart = np.sqrt(values) * (vectors.T @ ((model.weights - truth.weights) * model.units))
    assert crf.fit_.n_free == len(apart) == 8  # one number a table, of two attributes and two kinds, is not noticed
    assert 0.3 < np.sqrt((apart**2).mean()) < 1.8
    assert np.abs(truth.weights).max() > 10 * crf.standard_errors().min()


def test_standard_errors_are_those_of_repeated_draws(recovered: tuple[GraphModel, sf.GraphCRF]) -> None:
    truth, crf = recovered
    x = grids(1)
    graphs = read_graphs(x).graphs
    n, found = 12, []
    for seed in range(n):
        codes = truth.sample(graphs, seed=seed)[0]
        y = graphs.apart([LABELS[code] for code in codes.tolist()])
        found.append(sf.GraphCRF(c2=0.0).fit(x, y).model_.weights)
    spread = np.std(found, axis=0, ddof=1)
    ratio = spread / crf.standard_errors()
    assert ratio.min() > 0.5
    assert ratio.max() < 1.8


def pixels_of(x: list[sf.Graph]) -> np.ndarray:
    return np.array([[node["pixel"]] for graph in x for node in graph.nodes])


def test_grids_are_labelled_better_than_independent_pixels(recovered: tuple[GraphModel, sf.GraphCRF]) -> None:
    # whole grids are often of one label, so that gains differ much from grid to grid, and many are needed
    crf, seen, x = recovered[1], grids(1), grids(3, N_HELD_OUT)
    y = np.array(planted(x, seed=18)[1])
    softmax = sf.SoftmaxRegression().fit(pixels_of(seen), np.concatenate(planted(seen)[1]))
    alone = softmax.predict(pixels_of(x)).reshape(y.shape)
    gains = ((np.array(crf.predict(x)) == y).mean(axis=1)) - (alone == y).mean(axis=1)
    assert gains.mean() > 4 * gains.std(ddof=1) / np.sqrt(N_HELD_OUT)
    # marginals, which know of neighbours, are the better probabilities, too
    own = (y == LABELS[1]).astype(int).reshape(-1)
    rows = np.arange(len(own))
    near = np.log(np.concatenate(crf.predict_proba(x))[rows, own])
    gains = (near - softmax.predict_log_proba(pixels_of(x))[rows, own]).reshape(N_HELD_OUT, -1).mean(axis=1)
    assert gains.mean() > 4 * gains.std(ddof=1) / np.sqrt(N_HELD_OUT)
