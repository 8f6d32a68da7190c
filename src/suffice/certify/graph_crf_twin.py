"""Expectations of labelled graphs by another path than the fitter's.

Scores are added up attribute by attribute. Small graphs are enumerated, labelling by labelling; larger ones go one by
one through the calibration that answers questions to networks, whose tree, tables and kernels are its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.data.attributes import Attributes
from suffice.data.graph_codes import LabelledGraphs, SameGraphs
from suffice.inference.calibration import Calibrator
from suffice.inference.plan import Plan
from suffice.inference.product import Factor, Product
from suffice.models.graph_crf import GraphModel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_LABELLINGS = 1 << 10
"""Labellings of a graph up to which all are written down."""
PIECE_CELLS = 1 << 22


def attributes_of(graphs: LabelledGraphs) -> list[Attributes]:
    """Return the attributes of nodes, then those of the cliques by kind."""
    return [graphs.states, *(kind.attributes for kind in graphs.cliques)]


def weight_cells(model: GraphModel, table: int) -> Ints:
    """Return the weight of every cell of a table, −1 where there is none; shape (n_attributes, n_columns)."""
    starts = model.layout.starts
    return model.layout.index[starts[table] : starts[table + 1]].reshape(model.layout.shapes[table])


def entries(attributes: Attributes) -> tuple[Ints, Ints, Floats]:
    """Return the row, the attribute and the value of every entry."""
    rows = np.repeat(np.arange(attributes.n_rows), np.diff(attributes.starts))
    values = np.ones(len(rows)) if attributes.values is None else attributes.values
    return rows, attributes.codes.astype(np.int64), values


def _sums(places: Ints, values: Floats, n: int) -> Floats:
    """Return the sum of the values at each of n places."""
    return np.bincount(places, values, n).astype(np.float64)


def scores_of(model: GraphModel, graphs: LabelledGraphs, weights: Floats) -> list[Floats]:
    """Return the scores of nodes by label, then those of the cliques by labels."""
    held, found = np.append(weights, 0.0), []
    for table, attributes in enumerate(attributes_of(graphs)):
        cells = weight_cells(model, table)
        rows, codes, values = entries(attributes)
        columns = [_sums(rows, values * held[cell[codes]], attributes.n_rows) for cell in cells.T]
        found.append(np.stack(columns, axis=1))
    return found


def features_of(
    model: GraphModel, graphs: LabelledGraphs, shares: Sequence[Floats], by_graph: Floats, power: int = 1
) -> Floats:
    """Return Σ value^power · share of every weight, over nodes and cliques, each as often as its graph counts."""
    found = np.zeros(model.layout.size + 1)
    offsets = [graphs.offsets, *(kind.offsets for kind in graphs.cliques)]
    for table, attributes in enumerate(attributes_of(graphs)):
        rows, codes, values = entries(attributes)
        values = values**power * np.repeat(by_graph, np.diff(offsets[table]))[rows]
        for column, cell in enumerate(weight_cells(model, table).T):
            amounts = values * shares[table][rows, column]
            np.add.at(found, cell, np.bincount(codes, amounts, len(cell)))  # −1 is the last place
    return found[:-1]


def observed(graphs: LabelledGraphs, k: int) -> list[Floats]:
    """Return one at the labels of every node and clique, else zero."""
    labels, found = np.asarray(graphs.labels, np.int64), []
    members = [np.arange(graphs.n_nodes)[:, None], *(graphs.members_of(kind) for kind in range(len(graphs.cliques)))]
    for rows in members:
        ones = np.zeros((len(rows), k ** rows.shape[1]))
        if len(rows):
            ones[np.arange(len(rows)), np.ravel_multi_index(tuple(labels[rows].T), (k,) * rows.shape[1])] = 1.0
        found.append(ones)
    return found


def spreads(graphs: LabelledGraphs) -> list[Floats]:
    """Return by attribute the sums of its positive and negative values, and the most that one graph's sizes sum to.

    Then the sum of its squares, and how often it is not zero.
    """
    parts: list[list[Floats]] = [[], [], [], [], []]
    offsets = [graphs.offsets, *(kind.offsets for kind in graphs.cliques)]
    for attributes, at in zip(attributes_of(graphs), offsets, strict=True):
        rows, codes, values = entries(attributes)
        n, owners = attributes.n_attributes, np.searchsorted(at, rows, "right") - 1
        parts[0].append(_sums(codes, np.maximum(values, 0.0), n))
        parts[1].append(_sums(codes, np.maximum(-values, 0.0), n))
        pairs, places = np.unique(owners * n + codes, return_inverse=True)
        most = np.zeros(n)
        np.maximum.at(most, pairs % max(n, 1), np.bincount(places, np.abs(values), len(pairs)))
        parts[2].append(most)
        cells, places = np.unique(rows * n + codes, return_inverse=True)  # an attribute told twice of a node is summed
        whole = _sums(places, values, len(cells))
        parts[3].append(_sums(cells % max(n, 1), whole**2, n))
        parts[4].append(_sums(cells % max(n, 1), np.where(whole != 0, 1.0, 0.0), n))
    return [np.concatenate(part) for part in parts]


# p(y | x) -----------------------------------------------------------------------------------------------------


def expected(graphs: LabelledGraphs, scores: Sequence[Floats]) -> tuple[Floats, list[Floats]]:
    """Return log Z of every graph, and the probabilities of the labels of every node and clique."""
    k = scores[0].shape[1]
    log_z, found = np.zeros(graphs.n_graphs), [np.zeros_like(part) for part in scores]
    for group in graphs.alike:
        if not group.n_nodes:
            continue
        small = group.n_nodes < 64 and k**group.n_nodes <= MOST_LABELLINGS
        (_enumerated if small else _calibrated)(group, scores, log_z, found)
    return log_z, found


def _rows(group: SameGraphs) -> list[Ints]:
    return [group.nodes, *group.cliques]


def _scopes(group: SameGraphs) -> list[list[tuple[int, ...]]]:
    by_kind = [[tuple(map(int, scope)) for scope in members] for members in group.members]
    return [[(node,) for node in range(group.n_nodes)], *by_kind]


def _enumerated(group: SameGraphs, scores: Sequence[Floats], log_z: Floats, found: list[Floats]) -> None:
    k = scores[0].shape[1]
    labellings = np.array(list(itertools.product(range(k), repeat=group.n_nodes)), np.int64)
    columns = [
        [np.ravel_multi_index(tuple(labellings[:, scope].T), (k,) * len(scope)) for scope in scopes]
        for scopes in _scopes(group)
    ]
    n = max(1, PIECE_CELLS // len(labellings))
    for low in range(0, len(group.graphs), n):
        total = np.zeros((len(group.graphs[low : low + n]), len(labellings)))
        for part, at, chosen in zip(scores, _rows(group), columns, strict=True):
            for place, column in enumerate(chosen):
                total += part[at[low : low + n, place]][:, column]
        top = total.max(axis=1, keepdims=True)
        shares = np.exp(total - top)
        sums = shares.sum(axis=1, keepdims=True)
        log_z[group.graphs[low : low + n]] = (np.log(sums) + top)[:, 0]
        shares /= sums
        for part, at, chosen in zip(found, _rows(group), columns, strict=True):
            for place, column in enumerate(chosen):
                member = np.zeros((len(labellings), part.shape[1]))
                member[np.arange(len(labellings)), column] = 1.0
                part[at[low : low + n, place]] = shares @ member


def _calibrated(group: SameGraphs, scores: Sequence[Floats], log_z: Floats, found: list[Floats]) -> None:
    k, rows = scores[0].shape[1], _rows(group)
    listed = [(table, place, scope) for table, part in enumerate(_scopes(group)) for place, scope in enumerate(part)]
    blank = [Factor(scope, np.ones((k,) * len(scope))) for _, _, scope in listed]
    product = Product(tuple(map(str, range(group.n_nodes))), (k,) * group.n_nodes, tuple(blank))
    plan = Plan.of(product, rule="min_fill")
    calibrator, n = Calibrator(plan), max(1, PIECE_CELLS // plan.cells)
    for low in range(0, len(group.graphs), n):
        graphs = range(low, min(low + n, len(group.graphs)))
        tables = np.empty((len(graphs), plan.cells))
        for row, number in zip(tables, graphs, strict=True):
            logs = [scores[table][rows[table][number, place]] for table, place, _ in listed]
            tops = [float(log.max()) for log in logs]
            factors = [
                Factor(scope, np.exp(log - top).reshape((k,) * len(scope)))
                for (_, _, scope), log, top in zip(listed, logs, tops, strict=True)
            ]
            done = calibrator.run(plan.packed(factors))
            row[:], log_z[group.graphs[number]] = done.tables, done.log_z + sum(tops)
        for (table, place, scope), home in zip(listed, plan.homes, strict=True):
            found[table][rows[table][graphs, place]] = _over(plan, tables, home, scope)


def _over(plan: Plan, tables: Floats, clique: int, scope: tuple[int, ...]) -> Floats:
    """Return what the tables of a clique, a row a graph, sum to over all nodes but some; in the order asked for."""
    members = plan.tree.cliques[clique]
    start = sum(plan.clique_cells[:clique])
    table = tables[:, start : start + plan.clique_cells[clique]]
    whole = table.reshape(len(tables), *(plan.sizes[node] for node in members))
    kept = [node for node in members if node in scope]
    summed = whole.sum(axis=tuple(axis for axis, node in enumerate(members, 1) if node not in scope))
    return np.asarray(summed.transpose(0, *(kept.index(node) + 1 for node in scope)).reshape(len(tables), -1))


# p(y_v | all others, x) ---------------------------------------------------------------------------------------


def conditional(graphs: LabelledGraphs, scores: Sequence[Floats]) -> tuple[Floats, list[Floats], list[Floats]]:
    """Return Σ log p of the labels of every graph's nodes, each given all others, and expected minus observed labels.

    The differences are added up over the nodes, which are taken in turn, and so are the variances p (1 − p), which come
    last.
    """
    k, labels = scores[0].shape[1], np.asarray(graphs.labels, np.int64)
    log_p, gaps = np.zeros(graphs.n_graphs), [np.zeros_like(part) for part in scores]
    varied = [np.zeros_like(part) for part in scores]
    for group in graphs.alike:
        rows, own, everyone = _rows(group), labels[group.nodes], np.arange(len(group.graphs))
        for node, touching in enumerate(_touching(group)):
            columns = [_with_each_label(own, scope, node, k) for _, _, scope in touching]
            at = [rows[table][:, place][:, None] for table, place, _ in touching]
            total = np.zeros((len(everyone), k))
            for (table, _, _), row, column in zip(touching, at, columns, strict=True):
                total += scores[table][row, column]
            total -= total.max(axis=1, keepdims=True)
            shares = np.exp(total)
            sums = shares.sum(axis=1)
            log_p[group.graphs] += total[everyone, own[:, node]] - np.log(sums)
            shares /= sums[:, None]
            variances = shares * (1 - shares)
            shares[everyone, own[:, node]] -= 1
            for (table, _, _), row, column in zip(touching, at, columns, strict=True):
                gaps[table][row, column] += shares
                varied[table][row, column] += variances
    return log_p, gaps, varied


def _touching(group: SameGraphs) -> list[list[tuple[int, int, tuple[int, ...]]]]:
    """Return by node the factors that it is in: their table, their place in it, and their nodes."""
    found: list[list[tuple[int, int, tuple[int, ...]]]] = [[] for _ in range(group.n_nodes)]
    for table, listed in enumerate(_scopes(group)):
        for place, scope in enumerate(listed):
            for node in scope:
                found[node].append((table, place, scope))
    return found


def _with_each_label(own: Ints, scope: tuple[int, ...], node: int, k: int) -> Ints:
    """Return the columns of a clique as one member takes every label; shape (n_graphs, K)."""
    column = np.zeros((len(own), k), np.int64)
    for member in scope:
        column = column * k + (np.arange(k) if member == node else own[:, [member]])
    return column
