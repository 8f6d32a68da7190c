"""The pseudo-likelihood of labelled graphs: each node's label given those of all others, which takes no junction tree.

Symbols
-------
s (n, K)    scores of a node's labels, the labels of all other nodes being as they are
q (n, K)    p(y_v | y of all others, x), a softmax of s
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from suffice.data.graph_codes import LabelledGraphs
from suffice.inference.label_graphs import GraphPotentials, joint_codes
from suffice.types import Codes, Floats, Ints


def _columns(graphs: LabelledGraphs, labels: Codes, n_labels: int) -> Iterator[tuple[int, Ints, Ints]]:
    """Yield for every kind and place in its cliques: the kind, the node there, and the columns of all its labels.

    Columns have the shape (n_cliques, K), all other members keeping their labels.
    """
    codes = np.asarray(labels, np.int64)
    for kind, joint in enumerate(joint_codes(graphs, codes, n_labels)):
        members = graphs.members_of(kind)
        for place in range(members.shape[1]):
            stride = n_labels ** (members.shape[1] - 1 - place)
            nodes = members[:, place]
            yield kind, nodes, (joint - codes[nodes] * stride)[:, None] + stride * np.arange(n_labels)


def _scores(p: GraphPotentials, labels: Codes) -> Floats:
    """Return s."""
    found = p.nodes.copy()
    for kind, nodes, columns in _columns(p.graphs, labels, p.n_labels):
        held = np.take_along_axis(p.cliques[kind], columns, axis=1)
        for label in range(p.n_labels):
            found[:, label] += np.bincount(nodes, held[:, label], minlength=len(found))
    return found


def _spread(values: Floats, p: GraphPotentials, labels: Codes) -> GraphPotentials:
    """Return numbers by node and label in the form of the factors: the transpose of `_scores`."""
    found = GraphPotentials(p.graphs, values, tuple(map(np.zeros_like, p.cliques)))
    for kind, nodes, columns in _columns(p.graphs, labels, p.n_labels):
        table = found.cliques[kind]
        # every column of a clique comes once a place, so that no sum is lost
        np.put_along_axis(table, columns, np.take_along_axis(table, columns, axis=1) + values[nodes], axis=1)
    return found


def conditionals(p: GraphPotentials, labels: Codes) -> tuple[Floats, Floats]:
    """Return log q of the labels themselves, shape (n_nodes,), and q, shape (n_nodes, K)."""
    scores, rows = _scores(p, labels), np.arange(p.graphs.n_nodes)
    scores -= scores.max(axis=1, keepdims=True)
    own = scores[rows, labels]
    np.exp(scores, out=scores)
    totals = scores.sum(axis=1)
    scores /= totals[:, None]
    return own - np.log(totals), scores


def pseudo_gradient(p: GraphPotentials, labels: Codes, weights: Floats) -> tuple[float, GraphPotentials]:
    """Return −Σ w log q of the labels, and its derivatives by the factors; weights are by node."""
    own, q = conditionals(p, labels)
    q[np.arange(len(q)), labels] -= 1
    q *= weights[:, None]
    return -float(own @ weights), _spread(q, p, labels)


def pseudo_gradient_along(
    p: GraphPotentials, direction: GraphPotentials, labels: Codes, weights: Floats
) -> GraphPotentials:
    """Return the derivatives of that gradient as the factors move along a direction."""
    q, moved = conditionals(p, labels)[1], _scores(direction, labels)
    moved -= (q * moved).sum(axis=1, keepdims=True)
    moved *= q * weights[:, None]
    return _spread(moved, p, labels)


# The best label of one node at a time -------------------------------------------------------------------------


def locally_best(p: GraphPotentials, max_sweeps: int = 100) -> NDArray[np.int32]:
    """Return labels that no change of a single node betters, found from the best of each node alone.

    Besag's iterated conditional modes (1986). Nodes that share no clique change together.
    """
    labels: NDArray[np.int32] = p.nodes.argmax(axis=1).astype(np.int32)
    turns = _turns(p.graphs)
    for _ in range(max_sweeps):
        before = labels.copy()
        for nodes in turns:
            scores = _scores(p, labels)[nodes]
            best, own = scores.max(axis=1), scores[np.arange(len(nodes)), labels[nodes]]
            labels[nodes] = np.where(best > own, scores.argmax(axis=1), labels[nodes])
        if (labels == before).all():
            break
    return labels


def _turns(graphs: LabelledGraphs) -> list[Ints]:
    """Return nodes in sets of which no two share a clique: each takes the first set without a neighbour of its own."""
    near: list[set[int]] = [set() for _ in range(graphs.n_nodes)]
    for kind in range(len(graphs.cliques)):
        for members in graphs.members_of(kind).tolist():
            for node in members:
                near[node].update(members)
    colours = [-1] * graphs.n_nodes
    for node, others in enumerate(near):
        taken = {colours[other] for other in others}
        colours[node] = next(colour for colour in range(len(others) + 1) if colour not in taken)
    held = np.array(colours, np.int64)
    return [np.flatnonzero(held == colour) for colour in range(int(held.max(initial=-1)) + 1)]
