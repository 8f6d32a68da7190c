"""Expectations of labelled graphs by another path than the fitter's.

Scores are added up attribute by attribute. Small graphs are enumerated, labelling by labelling; larger ones go one by
one through the calibration that answers questions to networks, whose tree, tables and kernels are its own.

Derivatives along a direction are p (D − E[D]), D being what a labelling gains along it. What the most probable labels
gain is taken away first: it changes nothing, but where these are all but certain, the derivatives are sums of small
terms, and not differences of large ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from suffice.data.attributes import Attributes
from suffice.data.graph_codes import LabelledGraphs, SameGraphs
from suffice.inference.calibration import Calibrator
from suffice.inference.plan import Plan
from suffice.inference.product import Factor, Product
from suffice.models.graph_crf import GraphModel
from suffice.types import Floats, Ints

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
    model: GraphModel,
    graphs: LabelledGraphs,
    shares: Sequence[Floats],
    by_graph: Floats,
    power: int = 1,
    *,
    in_size: bool = False,
) -> Floats:
    """Return Σ value^power · share of every weight, over nodes and cliques, each as often as its graph counts.

    ``in_size`` takes the absolute values.
    """
    found = np.zeros(model.layout.size + 1)
    offsets = [graphs.offsets, *(kind.offsets for kind in graphs.cliques)]
    for table, attributes in enumerate(attributes_of(graphs)):
        rows, codes, values = entries(attributes)
        values = np.abs(values) if in_size else values
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
        (_enumerated if _is_small(group, k) else _calibrated)(group, scores, log_z, found)
    return log_z, found


def _is_small(group: SameGraphs, k: int) -> bool:
    return group.n_nodes < 64 and k**group.n_nodes <= MOST_LABELLINGS


def _rows(group: SameGraphs) -> list[Ints]:
    return [group.nodes, *group.cliques]


def _scopes(group: SameGraphs) -> list[list[tuple[int, ...]]]:
    by_kind = [[tuple(map(int, scope)) for scope in members] for members in group.members]
    return [[(node,) for node in range(group.n_nodes)], *by_kind]


def _labellings(group: SameGraphs, k: int) -> tuple[int, list[list[Ints]]]:
    """Return how many labellings a graph has, and by table and place the column that each of them chooses."""
    labellings = np.array(list(itertools.product(range(k), repeat=group.n_nodes)), np.int64)
    return len(labellings), [
        [np.ravel_multi_index(tuple(labellings[:, scope].T), (k,) * len(scope)) for scope in scopes]
        for scopes in _scopes(group)
    ]


def _members(column: Ints, n: int) -> Floats:
    """Return which labellings choose each of n columns, as ones and zeros; shape (labellings, n)."""
    return np.asarray(column[:, None] == np.arange(n), np.float64)


def _enumerated(group: SameGraphs, scores: Sequence[Floats], log_z: Floats, found: list[Floats]) -> None:
    n_labellings, columns = _labellings(group, scores[0].shape[1])
    n = max(1, PIECE_CELLS // n_labellings)
    for low in range(0, len(group.graphs), n):
        total = np.zeros((len(group.graphs[low : low + n]), n_labellings))
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
                part[at[low : low + n, place]] = shares @ _members(column, part.shape[1])


def _calibrated(group: SameGraphs, scores: Sequence[Floats], log_z: Floats, found: list[Floats]) -> None:
    plan, listed = _plan_of(group, scores[0].shape[1])
    calibrator, n = Calibrator(plan), max(1, PIECE_CELLS // plan.cells)
    for low in range(0, len(group.graphs), n):
        part = slice(low, low + n)
        tables, log_z[group.graphs[part]] = _tables(group, part, scores, calibrator, listed)
        for (table, place, scope), home in zip(listed, plan.homes, strict=True):
            found[table][_rows(group)[table][part, place]] = _over(plan, tables, home, scope)


Listed = list[tuple[int, int, tuple[int, ...]]]
"""The factors of a graph: table, place in it, and nodes."""


def _plan_of(group: SameGraphs, k: int) -> tuple[Plan, Listed]:
    """Return how graphs are calibrated, and their factors in the order of the plan."""
    listed = [(table, place, scope) for table, part in enumerate(_scopes(group)) for place, scope in enumerate(part)]
    blank = [Factor(scope, np.ones((k,) * len(scope))) for _, _, scope in listed]
    product = Product(tuple(map(str, range(group.n_nodes))), (k,) * group.n_nodes, tuple(blank))
    return Plan.of(product, rule="min_fill"), listed


def _tables(
    group: SameGraphs, part: slice, scores: Sequence[Floats], calibrator: Calibrator, listed: Listed
) -> tuple[Floats, Floats]:
    """Return the probabilities of all cliques of some graphs, one row per graph, and log Z."""
    k, plan, rows = scores[0].shape[1], calibrator.plan, [at[part] for at in _rows(group)]
    tables, log_z = np.empty((len(rows[0]), plan.cells)), np.empty(len(rows[0]))
    for number, row in enumerate(tables):
        logs = [scores[table][rows[table][number, place]] for table, place, _ in listed]
        tops = [float(log.max()) for log in logs]
        factors = [
            Factor(scope, np.exp(log - top).reshape((k,) * len(scope)))
            for (_, _, scope), log, top in zip(listed, logs, tops, strict=True)
        ]
        done = calibrator.run(plan.packed(factors))
        row[:], log_z[number] = done.tables, done.log_z + sum(tops)
    return tables, log_z


def _over(plan: Plan, tables: Floats, clique: int, scope: tuple[int, ...]) -> Floats:
    """Return what the tables of a clique, one row per graph, sum to over all nodes but some; in the order asked for."""
    members = plan.tree.cliques[clique]
    start = sum(plan.clique_cells[:clique])
    table = tables[:, start : start + plan.clique_cells[clique]]
    whole = table.reshape(len(tables), *(plan.sizes[node] for node in members))
    kept = [node for node in members if node in scope]
    summed = whole.sum(axis=tuple(axis for axis, node in enumerate(members, 1) if node not in scope))
    return np.asarray(summed.transpose(0, *(kept.index(node) + 1 for node in scope)).reshape(len(tables), -1))


# Its derivatives ----------------------------------------------------------------------------------------------


def expected_along(graphs: LabelledGraphs, scores: Sequence[Floats], gains: Sequence[Floats]) -> list[Floats]:
    """Return the derivatives of these probabilities as the scores move along D directions.

    ``gains`` are the directions, and have the shapes of the scores with a last axis of D, as has what is returned.
    """
    k, found = scores[0].shape[1], [np.zeros_like(part) for part in gains]
    for group in graphs.alike:
        if group.n_nodes:
            (_enumerated_along if _is_small(group, k) else _calibrated_along)(group, scores, gains, found)
    return found


def _enumerated_along(
    group: SameGraphs, scores: Sequence[Floats], gains: Sequence[Floats], found: list[Floats]
) -> None:
    n_labellings, columns = _labellings(group, scores[0].shape[1])
    n_directions = gains[0].shape[2]
    n = max(1, PIECE_CELLS // (n_labellings * n_directions))
    for low in range(0, len(group.graphs), n):
        rows = [at[low : low + n] for at in _rows(group)]
        total = np.zeros((len(rows[0]), n_labellings))
        gained = np.zeros((len(rows[0]), n_labellings, n_directions))
        for table, chosen in enumerate(columns):
            for place, column in enumerate(chosen):
                total += scores[table][rows[table][:, place]][:, column]
                gained += gains[table][rows[table][:, place]][:, column]
        shares = np.exp(total - total.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        _spread_around_mean(shares, gained)
        for table, chosen in enumerate(columns):
            for place, column in enumerate(chosen):
                member = _members(column, scores[table].shape[1])
                found[table][rows[table][:, place]] = np.einsum("nld,lc->ncd", gained, member)


def _spread_around_mean(shares: Floats, gained: Floats) -> None:
    """Turn what outcomes gain, shape (n, outcomes, D), into p (D − E[D]), p being the shares, shape (n, outcomes)."""
    gained -= gained[np.arange(len(shares)), shares.argmax(axis=1)][:, None]
    gained -= np.einsum("nl,nld->nd", shares, gained)[:, None]
    gained *= shares[:, :, None]


def _calibrated_along(
    group: SameGraphs, scores: Sequence[Floats], gains: Sequence[Floats], found: list[Floats]
) -> None:
    k, n_directions = scores[0].shape[1], gains[0].shape[2]
    plan, listed = _plan_of(group, k)
    calibrator, n = Calibrator(plan), max(1, PIECE_CELLS // (plan.cells * n_directions))
    for low in range(0, len(group.graphs), n):
        rows = [at[low : low + n] for at in _rows(group)]
        tables, _ = _tables(group, slice(low, low + n), scores, calibrator, listed)
        singles = [_over(plan, tables, home, scope) for (_, _, scope), home in zip(listed, plan.homes, strict=True)]
        best = np.stack([single.argmax(axis=1) for single in singles[: group.n_nodes]], axis=1)
        by_clique = [np.zeros((n_directions, len(tables), *(k,) * len(members))) for members in plan.tree.cliques]
        for (table, place, scope), home in zip(listed, plan.homes, strict=True):
            own = gains[table][rows[table][:, place]]
            chosen = np.ravel_multi_index(tuple(best[:, scope].T), (k,) * len(scope))
            own = own - own[np.arange(len(own)), chosen][:, None]
            by_clique[home] += _on_axes(own.transpose(2, 0, 1), scope, plan.tree.cliques[home], k)
        moved = _moved_tables(plan, tables, by_clique).reshape(n_directions * len(tables), -1)
        for (table, place, scope), home in zip(listed, plan.homes, strict=True):
            part = _over(plan, moved, home, scope).reshape(n_directions, len(tables), -1)
            found[table][rows[table][:, place]] = part.transpose(1, 2, 0)


def _on_axes(values: Floats, scope: Sequence[int], members: Sequence[int], k: int) -> Floats:
    """Return numbers by the labels of a scope, shape (D, n, K ** size), with one axis per node of a clique."""
    whole = values.reshape(*values.shape[:2], *(k,) * len(scope))
    ordered = sorted(range(len(scope)), key=lambda place: members.index(scope[place]))
    shape = [k if node in scope else 1 for node in members]
    whole = whole.transpose(0, 1, *(place + 2 for place in ordered))
    return np.asarray(whole.reshape(*values.shape[:2], *shape))


def _moved_tables(plan: Plan, tables: Floats, gains: list[Floats]) -> Floats:
    """Return p (E[D | labels of the clique] − E[D]) of all cliques; shape (D, n, cells).

    Each clique first has what is expected of its part of the tree, given its labels; then what the rest of the tree is
    expected to gain, given the labels that it shares with its parent.
    """
    tree, bounds = plan.tree, np.cumsum([0, *plan.clique_cells])
    shares = [
        tables[:, low:high].reshape(len(tables), *(plan.sizes[node] for node in members))
        for low, high, members in zip(bounds, bounds[1:], tree.cliques, strict=False)
    ]

    def given(clique: int, values: Floats, separator: Sequence[int], to: int) -> Floats:
        """Return the means of values given the labels of a separator, with the axes of another clique."""
        axes = tuple(axis for axis, node in enumerate(tree.cliques[clique], 1) if node not in separator)
        sums = shares[clique].sum(axis=axes)
        totals = (shares[clique] * values).sum(axis=tuple(axis + 1 for axis in axes))
        means = np.divide(totals, sums, out=np.zeros_like(totals), where=sums > 0)
        shape = [plan.sizes[node] if node in separator else 1 for node in tree.cliques[to]]
        return np.asarray(means.reshape(*totals.shape[:2], *shape))

    gained = list(gains)
    for clique, parent in enumerate(tree.parents[:-1]):  # parents come after their children
        gained[parent] = gained[parent] + given(clique, gained[clique], tree.separators[clique], parent)
    root = len(gained) - 1
    gained[root] = gained[root] - given(root, gained[root], (), root)
    for clique, parent in reversed(list(enumerate(tree.parents[:-1]))):
        separator = tree.separators[clique]
        own = given(clique, gained[clique], separator, clique)
        gained[clique] = gained[clique] - own + given(parent, gained[parent], separator, clique)
    moved = [(share * part).reshape(*part.shape[:2], -1) for share, part in zip(shares, gained, strict=True)]
    return np.concatenate(moved, axis=2)


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


def conditional_along(graphs: LabelledGraphs, scores: Sequence[Floats], gains: Sequence[Floats]) -> list[Floats]:
    """Return the derivatives of the probabilities, added up over the nodes, as the scores move along D directions.

    ``gains`` are the directions, and have the shapes of the scores with a last axis of D, as has what is returned.
    """
    k, labels, found = scores[0].shape[1], np.asarray(graphs.labels, np.int64), [np.zeros_like(part) for part in gains]
    for group in graphs.alike:
        rows, own = _rows(group), labels[group.nodes]
        for node, touching in enumerate(_touching(group)):
            columns = [_with_each_label(own, scope, node, k) for _, _, scope in touching]
            at = [rows[table][:, place][:, None] for table, place, _ in touching]
            total, gained = np.zeros((len(own), k)), np.zeros((len(own), k, gains[0].shape[2]))
            for (table, _, _), row, column in zip(touching, at, columns, strict=True):
                total += scores[table][row, column]
                gained += gains[table][row, column]
            shares = np.exp(total - total.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            _spread_around_mean(shares, gained)
            for (table, _, _), row, column in zip(touching, at, columns, strict=True):
                found[table][row, column] += gained
    return found


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
