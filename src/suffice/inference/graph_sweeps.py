"""Sweeps over a junction tree of graphs that are alike: up to the root and down again.

A table has one axis a node of its clique, in the order of the tree, and a last one of B graphs. Its first axes are the
nodes that the clique's parent lacks, so that sums over these are sums of rows. Scores are logarithms until they have
been divided by their sum, so that none is too large.

Symbols
-------
x, s        the nodes of a clique that its parent lacks; those that both have
m(s)        log Σ_x exp score(x, s): the message to the parent
c(x | s)    exp (score(x, s) − m(s))
b(x, s)     the marginal of a clique, c(x | s) b(s)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.inference.graph_plan import GraphPlan
from suffice.types import Floats, Ints

Factors = Sequence[Floats]
"""By kind, those of nodes first: shape (n, K, …, K, B)."""


def _gathered(plan: GraphPlan, clique: int, factors: Factors, messages: list[list[Floats]]) -> Floats:
    """Return the sum of a clique's factors and of the messages of its children, in rows of x."""
    n_graphs = factors[0].shape[-1]
    shape = (plan.n_labels,) * len(plan.tree.cliques[clique])
    table = np.zeros((*shape, n_graphs))
    for place in plan.places[clique]:
        table += factors[place.kind][place.number].transpose(place.order)[place.spread]
    for message in messages[clique]:
        table += message
    messages[clique] = []
    return table.reshape(plan.n_labels ** plan.n_own(clique), -1)


def _sent(plan: GraphPlan, clique: int, message: Floats, messages: list[list[Floats]]) -> None:
    """Hand a message to the parent, with the axes of the parent's table."""
    link = plan.links[clique]
    shape = (plan.n_labels,) * len(plan.tree.separators[clique])
    messages[link.parent].append(message.reshape(*shape, -1)[link.spread])


def up(plan: GraphPlan, factors: Factors) -> tuple[Floats, list[Floats]]:
    """Return log Z, shape (B,), and c of every clique, in rows of x."""
    n = len(plan.tree.cliques)
    messages: list[list[Floats]] = [[] for _ in range(n)]
    shares, log_z = [], np.zeros(factors[0].shape[-1])
    for clique in range(n):
        table = _gathered(plan, clique, factors, messages)
        top = table.max(axis=0)
        table -= top
        np.exp(table, out=table)
        total = table.sum(axis=0)
        table /= total
        shares.append(table)
        message = np.log(total) + top
        if clique == n - 1:
            log_z = message
        else:
            _sent(plan, clique, message, messages)
    return log_z, shares


def _own_axes(plan: GraphPlan, clique: int, rows: Floats, n_graphs: int) -> Floats:
    return rows.reshape(*(plan.n_labels,) * len(plan.tree.cliques[clique]), n_graphs)


def down(plan: GraphPlan, shares: list[Floats], n_graphs: int) -> list[Floats]:
    """Return b of every clique, one axis a node."""
    found: list[Floats] = [np.zeros(0)] * len(shares)
    for clique in reversed(range(len(shares))):
        rows = shares[clique]
        if clique < len(shares) - 1:
            link = plan.links[clique]
            rows = rows * found[link.parent].sum(axis=link.others).reshape(1, -1)
        found[clique] = _own_axes(plan, clique, rows, n_graphs)
    return found


def margins(plan: GraphPlan, tables: list[Floats], factors: Factors) -> list[Floats]:
    """Return what tables of cliques sum to over the nodes of each factor, in the form of the factors."""
    found = [np.zeros_like(part) for part in factors]
    for clique, table in enumerate(tables):
        for place in plan.places[clique]:
            found[place.kind][place.number] = table.sum(axis=place.others).transpose(place.back)
    return found


def along(
    plan: GraphPlan, shares: list[Floats], beliefs: list[Floats], directions: Factors
) -> tuple[Floats, list[Floats]]:
    """Return the derivatives of log Z, shape (B,), and of b of every clique as the factors move along directions."""
    n, n_graphs = len(shares), directions[0].shape[-1]
    messages: list[list[Floats]] = [[] for _ in range(n)]
    moved, slope = [], np.zeros(n_graphs)
    for clique in range(n):
        table = _gathered(plan, clique, directions, messages)
        message = (shares[clique] * table).sum(axis=0)
        table -= message
        table *= shares[clique]
        moved.append(table)
        if clique == n - 1:
            slope = message
        else:
            _sent(plan, clique, message, messages)
    found: list[Floats] = [np.zeros(0)] * n
    for clique in reversed(range(n)):
        rows = moved[clique]
        if clique < n - 1:
            link = plan.links[clique]
            rows = rows * beliefs[link.parent].sum(axis=link.others).reshape(1, -1)
            rows += shares[clique] * found[link.parent].sum(axis=link.others).reshape(1, -1)
        found[clique] = _own_axes(plan, clique, rows, n_graphs)
    return slope, found


def best(plan: GraphPlan, factors: Factors) -> tuple[Floats, Ints]:
    """Return the largest sum of factors, shape (B,), and the labels that have it, shape (n_nodes, B).

    Of equal ones the first in the order of a clique's labels is taken.
    """
    n, n_graphs = len(plan.tree.cliques), factors[0].shape[-1]
    messages: list[list[Floats]] = [[] for _ in range(n)]
    choices, value = [], np.zeros(n_graphs)
    for clique in range(n):
        table = _gathered(plan, clique, factors, messages)
        choices.append(table.argmax(axis=0))
        message = table.max(axis=0)
        if clique == n - 1:
            value = message
        else:
            _sent(plan, clique, message, messages)
    labels = np.zeros((plan.n_nodes, n_graphs), np.int64)
    for clique in reversed(range(n)):
        _assign(plan, clique, choices[clique][_at(plan, clique, labels)], labels)
    return value, labels


def draw(plan: GraphPlan, shares: list[Floats], rng: np.random.Generator, n_graphs: int) -> Ints:
    """Return labels drawn from p(y | x), shape (n_nodes, B)."""
    labels = np.zeros((plan.n_nodes, n_graphs), np.int64)
    for clique in reversed(range(len(shares))):
        reached = np.cumsum(shares[clique][:, _at(plan, clique, labels)], axis=0)
        level = rng.random(n_graphs) * reached[-1]
        _assign(plan, clique, (level >= reached[:-1]).sum(axis=0), labels)
    return labels


def _at(plan: GraphPlan, clique: int, labels: Ints) -> Ints:
    """Return the column of every graph in the rows of x, given the labels of s."""
    n_graphs = labels.shape[1]
    column = np.zeros(n_graphs, np.int64)
    for node in plan.tree.separators[clique]:
        column = column * plan.n_labels + labels[node]
    return np.asarray(column * n_graphs + np.arange(n_graphs), np.int64)


def _assign(plan: GraphPlan, clique: int, rows: Ints, labels: Ints) -> None:
    """Write down the labels of x that a row stands for."""
    for node in reversed(plan.tree.cliques[clique][: plan.n_own(clique)]):
        rows, labels[node] = np.divmod(rows, plan.n_labels)
