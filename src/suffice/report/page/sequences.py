"""Models of sequences in a report: conditional random fields, Markov chains, hidden chains and autoregressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.models.cpds.tabular import TabularCPD
from suffice.priors.markov_posterior import MarkovChainPosterior
from suffice.report.page.entries import (
    LEVEL,
    Entry,
    HtmlTable,
    ReportGraph,
    ReportParts,
    sheet_of,
    states_of,
    table_from,
    table_of,
)
from suffice.result.chain_weights import TopWeights, state_table, step_table, transition_matrix, transition_table
from suffice.result.graph_weights import graph_weights
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.autoregression import AutoregressiveModel
    from suffice.models.chain_model import ChainModel
    from suffice.models.graph_crf import GraphModel
    from suffice.models.hidden_markov import HiddenMarkovModel
    from suffice.models.markov_chain import MarkovChainModel
    from suffice.result.fit import Fit

MOST_LABELS = 60  # that a graph shows
TOP = 40  # weights of a label, of either sign
MOST = 300  # weights of all labels, of either sign
ARROWS = 3  # of each label, the strongest
TRANSITIONS = "Nodes are {}; arrows are the strongest {} from one to the next, the stronger the wider."


def chain_parts(model: ChainModel, fit: Fit | None = None) -> ReportParts:
    """Lay out a chain of labels: transitions as a graph, and the largest weights of every label."""
    labels = [str(label) for label in model.label.labels]
    matrix = transition_matrix(model).to_numpy()
    entries = []
    for place, label in enumerate(model.label.labels):
        top = state_table(model, TOP, label)
        rows = ([attribute, weight] for attribute, _, weight in top)
        tables = [table_from(["attribute", "weight"], rows, f"the largest of {top.n_weights:,} weights of {label}")]
        ways = ([other, matrix[place, at], matrix[at, place]] for at, other in enumerate(labels))
        tables.append(table_from(["label", "weight as next", "weight as previous"], ways, "transitions"))
        entries.append(Entry(labels[place], "label", tables=tables))
    graph = (
        strongest_arrows(matrix, f"the labels of {model.label.name}", "transitions")
        if len(labels) <= MOST_LABELS
        else None
    )
    entries.append(Entry("largest weights of attributes", "table", tables=[_top(state_table(model, MOST))]))
    entries.append(Entry("largest weights of transitions", "table", tables=[_top(transition_table(model, MOST))]))
    if len(model.layout.step_pairs):
        entries.append(Entry("largest weights of steps", "table", tables=[_top(step_table(model, MOST))]))
    return ReportParts(entries, graph)


def _top(found: TopWeights) -> HtmlTable:
    return table_of(found, found._foot)


def labelled_graph_parts(model: GraphModel, fit: Fit | None = None) -> ReportParts:
    """Lay out a conditional random field on graphs: its weights, by label too."""
    weights = graph_weights(model)
    whole = table_of(weights)
    order = sorted(range(len(weights)), key=lambda row: -abs(float(weights.estimate[row])))[:MOST]
    entries = []
    for label in map(str, model.label.labels):
        rows = [
            whole.rows[row] for row in order if row < len(whole.rows) and label in map(str, weights.names[row].labels)
        ]
        tables = [table_from(whole.head, rows, "the largest weights in size")]
        entries.append(Entry(label, "label", tables=tables))
    entries.append(Entry("weights", "table", tables=[whole]))
    return ReportParts(entries)


def markov_parts(model: MarkovChainModel, fit: Fit | None = None) -> ReportParts:
    """Lay out a Markov chain: its symbols, and where it goes from each context."""
    labels = states_of(model.variable)
    last = model.tables[-1]
    posterior = None if fit is None else fit.posterior
    rows = posterior.transitions if isinstance(posterior, MarkovChainPosterior) else None
    ends = rows.bounds(LEVEL) if rows is not None and rows.concentration.shape == last.values.shape else None
    entries = []
    graph = None
    if model.order == 1 and last.configurations is None:
        for place, label in enumerate(labels):
            head, numbers = [model.variable.name, "p"], [labels, last.values[place]]
            if ends is not None:
                head, numbers = [*head, f"{100 * LEVEL:g} % from", "to"], [*numbers, ends[0][place], ends[1][place]]
            table = table_from(head, zip(*numbers, strict=True), f"after {label}")
            entries.append(Entry(label, "symbol", tables=[table]))
        if len(labels) <= MOST_LABELS:
            graph = strongest_arrows(np.nan_to_num(last.values), "symbols", "transitions")
    table = _with_context(last, model.order)
    return ReportParts([*entries, Entry("transition probabilities", "table", tables=[table])], graph)


def _with_context(cpd: TabularCPD, order: int) -> HtmlTable:
    """Return the rows of the last table, contexts before the probabilities."""
    heads = [f"{order - place} before" for place in range(order)] + [str(label) for label in cpd.family.child.labels]
    return table_from(heads, ([*map(str, labels), *row] for labels, row in cpd.rows()))


def hidden_parts(model: HiddenMarkovModel, fit: Fit | None = None) -> ReportParts:
    """Lay out a hidden Markov chain: its states with what they show, and the steps between them."""
    labels = states_of(model.state)
    place = {model.state.name: len(labels)}
    entries = []
    for code, label in enumerate(labels):
        ways = zip(labels, model.step.values[code], strict=True)
        tables = [table_from([f"next {model.state.name}", "p"], ways, f"after {label}")]
        entries.append(Entry(label, "hidden state", tables=tables))
    start = sheet_of(model.start, place)
    entries.append(Entry(model.state.name, "hidden states", labels, tables=[start]))
    for cpd in model.shows:
        table = sheet_of(cpd, place) if isinstance(cpd, TabularCPD) else table_of(cpd, cpd.title)
        entries.append(Entry(cpd.family.child.name, "shown", states_of(cpd.family.child), tables=[table]))
    graph = (
        strongest_arrows(np.nan_to_num(model.step.values), "hidden states", "steps")
        if len(labels) <= MOST_LABELS
        else None
    )
    return ReportParts(entries, graph)


def regression_parts(model: AutoregressiveModel, fit: Fit | None = None) -> ReportParts:
    """Lay out an autoregression: every equation, and the lags that lead to it."""
    lags, names = list(model.lag_names), list(model.variables)
    entries = [Entry(name, "lag", below=[*range(len(lags), len(lags) + len(names))]) for name in lags]
    for place, name in enumerate(names):
        rows = [["intercept", model.intercept[place]], *zip(lags, model.flat_coefficients[place], strict=True)]
        tables = [table_from(["term", "coefficient"], rows)]
        facts = [("sd of the error", f"{model.errors.sd[place]:.6g}")]
        entries.append(Entry(name, "equation", [], facts, [*range(len(lags))], tables=tables))
    edges = [(lag, len(lags) + place) for place in range(len(names)) for lag in range(len(lags))]
    graph = ReportGraph(["continuous"] * len(entries), edges, True, what="Lagged values are above what they predict.")
    return ReportParts(entries, graph)


def strongest_arrows(weights: Floats, nodes: str, what: str) -> ReportGraph:
    """Return the strongest steps between labels as a graph; those that stay are in the tables."""
    edges = []
    for place, row in enumerate(weights):
        order = np.argsort(-row, kind="stable")
        edges += [(place, int(other)) for other in order[: ARROWS + 1] if other != place and row[other] > 0][:ARROWS]
    most = float(np.abs(weights).max(initial=0.0)) or 1.0
    strengths = [float(weights[edge]) / most for edge in edges]
    return ReportGraph(["class"] * len(weights), edges, True, strengths, TRANSITIONS.format(nodes, what), ring=True)
