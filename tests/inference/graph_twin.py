"""Graphs whose labellings are all written down: the slow twin of inference on labelled graphs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import strategies as st

from suffice.data.attributes import Attributes, offsets_of
from suffice.data.graph_codes import CliqueRows, LabelledGraphs
from suffice.inference.label_graphs import GraphPotentials

SIZES = (2, 3, 1)
"""The kinds of cliques of generated graphs: pairs, triples, and single nodes."""


def attributes(rng: np.random.Generator, n_rows: int, n_attributes: int) -> Attributes:
    """Return some values of some attributes, with empty rows and repeated attributes among them."""
    lengths = rng.integers(0, 4, n_rows)
    codes = rng.integers(0, n_attributes, int(lengths.sum())).astype(np.int32)
    return Attributes(offsets_of(lengths), codes, rng.normal(size=len(codes)).round(2), n_attributes)


def coded(graphs: list[tuple[int, list[list[tuple[int, ...]]]]], rng: np.random.Generator) -> LabelledGraphs:
    """Return graphs, given as their number of nodes and their cliques by kind, with attributes of all sorts."""
    kinds = []
    for kind, size in enumerate(SIZES):
        members = [clique for _, cliques in graphs for clique in cliques[kind]]
        rows = np.array(members, np.int64).reshape(-1, size)
        starts = offsets_of(len(cliques[kind]) for _, cliques in graphs)
        kinds.append(CliqueRows(starts, rows, attributes(rng, len(rows), 2)))
    offsets = offsets_of(n for n, _ in graphs)
    return LabelledGraphs(offsets, attributes(rng, int(offsets[-1]), 3), tuple(kinds))


def potentials(graphs: LabelledGraphs, k: int, rng: np.random.Generator, scale: float) -> GraphPotentials:
    """Return factors at random."""
    return GraphPotentials(
        graphs,
        scale * rng.normal(size=(graphs.n_nodes, k)),
        tuple(scale * rng.normal(size=(kind.n_cliques, k**kind.size)) for kind in graphs.cliques),
    )


@st.composite
def graph_lists(draw: Any) -> list[tuple[int, list[list[tuple[int, ...]]]]]:
    """Draw a few graphs, some without nodes, some of them alike."""
    graphs = []
    for _ in range(draw(st.integers(1, 3))):
        n = draw(st.integers(0, 5))
        cliques = []
        for size in SIZES:
            subsets = list(itertools.permutations(range(n), size))
            cliques.append(draw(st.lists(st.sampled_from(subsets), max_size=4)) if subsets else [])
        graphs += [(n, cliques)] * draw(st.integers(1, 2))
    return draw(st.permutations(graphs))


@st.composite
def cases(draw: Any, largest: float = 30.0) -> GraphPotentials:
    """Draw factors of a few graphs, some of them very large."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scale = draw(st.sampled_from([0.0, 0.5, 3.0, largest]))
    return potentials(coded(draw(graph_lists()), rng), draw(st.integers(2, 3)), rng, scale)


def labellings(p: GraphPotentials, graph: int) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """Return all labellings of one graph, and their scores."""
    first, last = p.graphs.offsets[graph : graph + 2]
    every = list(itertools.product(range(p.n_labels), repeat=int(last - first)))
    scores = []
    for labels in every:
        score = sum(p.nodes[first + node, label] for node, label in enumerate(labels))
        for kind, table in zip(p.graphs.cliques, p.cliques, strict=True):
            for row in range(kind.offsets[graph], kind.offsets[graph + 1]):
                shape = (p.n_labels,) * kind.size
                score += table[row].reshape(shape)[tuple(labels[node] for node in kind.members[row])]
        scores.append(score)
    return every, np.array(scores, np.float64)


def enumerated(p: GraphPotentials) -> tuple[np.ndarray, GraphPotentials]:
    """Return log Z of every graph, and the probabilities of the labels of every node and clique."""
    log_z, found = np.zeros(p.graphs.n_graphs), p.zeros()
    for graph in range(p.graphs.n_graphs):
        every, scores = labellings(p, graph)
        log_z[graph] = np.logaddexp.reduce(scores)
        for labels, share in zip(every, np.exp(scores - log_z[graph]), strict=True):
            for node, label in enumerate(labels):
                found.nodes[p.graphs.offsets[graph] + node, label] += share
            for kind, table in zip(p.graphs.cliques, found.cliques, strict=True):
                for row in range(kind.offsets[graph], kind.offsets[graph + 1]):
                    view = table[row].reshape((p.n_labels,) * kind.size)
                    view[tuple(labels[node] for node in kind.members[row])] += share
    return log_z, found
