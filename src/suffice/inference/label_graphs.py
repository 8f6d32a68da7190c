"""Labels of graphs given their factors: log Z, marginals, the best labelling, draws and derivatives, all exact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.data.graph_codes import LabelledGraphs, SameGraphs
from suffice.inference.graph_plan import GraphPlan, plan_of
from suffice.inference.graph_sweeps import along, best, down, draw, margins, up
from suffice.types import Codes, Floats, Ints


@dataclass(frozen=True, eq=False)
class GraphPotentials:
    """The logarithms of the factors of p(y | x) of some graphs.

    Attributes
    ----------
    graphs : LabelledGraphs
        Which nodes and cliques there are.
    nodes : array, shape (n_nodes, K)
        By node and label.
    cliques : tuple of arrays, shape (n_cliques, K ** size) each
        By kind: by clique and labels of its members, those of the last changing fastest.
    """

    graphs: LabelledGraphs
    nodes: Floats
    cliques: tuple[Floats, ...]

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return int(self.nodes.shape[1])

    def zeros(self) -> GraphPotentials:
        """Return zeros of the same shapes."""
        return GraphPotentials(self.graphs, np.zeros_like(self.nodes), tuple(map(np.zeros_like, self.cliques)))

    def times(self, by_graph: Floats) -> GraphPotentials:
        """Return everything multiplied by a number a graph."""
        if (by_graph == 1).all():
            return self
        nodes = self.nodes * np.repeat(by_graph, self.graphs.lengths)[:, None]
        pairs = zip(self.graphs.cliques, self.cliques, strict=True)
        cliques = (table * np.repeat(by_graph, np.diff(rows.offsets))[:, None] for rows, table in pairs)
        return GraphPotentials(self.graphs, nodes, tuple(cliques))


def joint_codes(graphs: LabelledGraphs, labels: Codes, n_labels: int) -> list[Ints]:
    """Return by kind the column of every clique that some labels of the nodes choose."""
    codes, found = np.asarray(labels, np.int64), []
    for kind in range(len(graphs.cliques)):
        column = np.zeros(graphs.cliques[kind].n_cliques, np.int64)
        for member in graphs.members_of(kind).T:
            column = column * n_labels + codes[member]
        found.append(column)
    return found


def labelling_scores(p: GraphPotentials, labels: Codes) -> Floats:
    """Return the sum of the factors that some labels of the nodes choose, not normalised; shape (n_graphs,)."""
    total = _by_graph(p.nodes[np.arange(len(p.nodes)), labels], p.graphs.offsets)
    for kind, codes in enumerate(joint_codes(p.graphs, labels, p.n_labels)):
        total += _by_graph(p.cliques[kind][np.arange(len(codes)), codes], p.graphs.cliques[kind].offsets)
    return total


def _by_graph(values: Floats, offsets: Ints) -> Floats:
    graphs = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.bincount(graphs, values, minlength=len(offsets) - 1).astype(np.float64)


# Sums over all labellings -------------------------------------------------------------------------------------


def log_z(p: GraphPotentials) -> Floats:
    """Return the logarithm of the sum over all labellings; shape (n_graphs,), zero of a graph without nodes."""
    found = np.zeros(p.graphs.n_graphs)
    for piece in _pieces(p):
        found[piece.graphs] = up(piece.plan, piece.factors(p))[0]
    return found


def marginals(p: GraphPotentials) -> tuple[Floats, GraphPotentials]:
    """Return log Z, and the probabilities of every node's label and of every clique's labels."""
    found, at = p.zeros(), np.zeros(p.graphs.n_graphs)
    for piece in _pieces(p):
        factors = piece.factors(p)
        at[piece.graphs], shares = up(piece.plan, factors)
        tables = down(piece.plan, shares, len(piece.graphs))
        piece.store(margins(piece.plan, tables, factors), found)
    return at, found


def marginals_along(p: GraphPotentials, direction: GraphPotentials) -> GraphPotentials:
    """Return the derivatives of these probabilities as the factors move along a direction."""
    found = p.zeros()
    for piece in _pieces(p):
        shares = up(piece.plan, piece.factors(p))[1]
        tables = down(piece.plan, shares, len(piece.graphs))
        directions = piece.factors(direction)
        moved = along(piece.plan, shares, tables, directions)[1]
        piece.store(margins(piece.plan, moved, directions), found)
    return found


# Labellings ---------------------------------------------------------------------------------------------------


def best_labels(p: GraphPotentials) -> tuple[NDArray[np.int32], Floats]:
    """Return the labels of the largest score, shape (n_nodes,), and their scores, shape (n_graphs,)."""
    labels, scores = np.zeros(p.graphs.n_nodes, np.int32), np.zeros(p.graphs.n_graphs)
    for piece in _pieces(p):
        scores[piece.graphs], chosen = best(piece.plan, piece.factors(p))
        labels[piece.nodes] = chosen.T
    return labels, scores


def draw_labels(p: GraphPotentials, rng: np.random.Generator, n: int = 1) -> NDArray[np.int32]:
    """Return labels drawn from p(y | x), each draw independent of the others; shape (n, n_nodes)."""
    labels = np.zeros((n, p.graphs.n_nodes), np.int32)
    for piece in _pieces(p):
        shares = up(piece.plan, piece.factors(p))[1]
        for row in labels:
            row[piece.nodes] = draw(piece.plan, shares, rng, len(piece.graphs)).T
    return labels


# Pieces: some graphs that are alike ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Piece:
    """Graphs that go through one tree together, and where their numbers stand."""

    plan: GraphPlan
    group: SameGraphs
    part: slice[int, int, None]

    @property
    def graphs(self) -> Ints:
        return self.group.graphs[self.part]

    @property
    def nodes(self) -> Ints:
        return self.group.nodes[self.part]

    def factors(self, p: GraphPotentials) -> list[Floats]:
        """Return the factors of the nodes, then those of the cliques by kind; shape (n, K, …, K, B)."""
        found = [np.ascontiguousarray(p.nodes[self.nodes].transpose(1, 2, 0))]
        for at, table, members in zip(self.group.cliques, p.cliques, self.group.members, strict=True):
            some = np.ascontiguousarray(table[at[self.part]].transpose(1, 2, 0))
            found.append(some.reshape(len(members), *(p.n_labels,) * members.shape[1], len(self.graphs)))
        return found

    def store(self, found: list[Floats], into: GraphPotentials) -> None:
        """Write what has the form of the factors to where these stand."""
        into.nodes[self.nodes] = found[0].transpose(2, 0, 1)
        for at, table, part in zip(self.group.cliques, into.cliques, found[1:], strict=True):
            flat = part.reshape(part.shape[0], table.shape[1], len(self.graphs))
            table[at[self.part]] = flat.transpose(2, 0, 1)


def _pieces(p: GraphPotentials) -> Iterator[_Piece]:
    """Yield the graphs, but for those without nodes, in pieces that stay in the cache."""
    for group in p.graphs.alike:
        if not group.n_nodes:
            continue
        plan = plan_of(group, p.n_labels)
        for low in range(0, len(group.graphs), plan.n_together):
            yield _Piece(plan, group, slice(low, low + plan.n_together))


def require_room(graphs: LabelledGraphs, n_labels: int) -> None:
    """Raise when the tables of some graph do not fit the memory that may be used; nothing is allocated for it."""
    for group in graphs.alike:
        if group.n_nodes:
            plan_of(group, n_labels)
