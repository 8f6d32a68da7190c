"""Classifiers in a report: the class and its inputs as a graph, and what is known of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.models.class_model import ClassModel, Posteriors
from suffice.models.cpds.tabular import TabularCPD
from suffice.report.page.entries import (
    LEVEL,
    Cell,
    Entry,
    HtmlTable,
    ReportGraph,
    ReportParts,
    cell,
    colour_of,
    sheet_of,
    states_of,
    table_from,
    table_of,
    tried,
)
from suffice.result.family_fits import SoftmaxFit
from suffice.result.summary import class_cells

if TYPE_CHECKING:
    from suffice.models.class_gaussian import ClassGaussianModel
    from suffice.models.joint_classes import JointClassModel
    from suffice.models.naive import NaiveModel
    from suffice.models.softmax_model import SoftmaxModel
    from suffice.result.fit import Fit

FEW = 12  # inputs up to which covariances are laid out
MOST_INPUTS = 1_500  # that a graph shows; of more, the first
GENERATIVE = "The class is above; the model says how each input depends on it."
CONDITIONAL = "The inputs are above; the model says how the class depends on them."


def naive_parts(model: NaiveModel, fit: Fit | None = None) -> ReportParts:
    """Lay out naive Bayes: one table an input."""
    entries = [_class_entry(model, fit)]
    place = {model.target.name: 0}
    shown = [cpd for cpd in (*model.cpds, model.counts) if cpd is not None][:MOST_INPUTS]
    for cpd in shown:
        child = cpd.family.child
        table = sheet_of(cpd, place) if isinstance(cpd, TabularCPD) else table_of(cpd, cpd.title)
        kind = "table" if isinstance(cpd, TabularCPD) else "normal"
        entries.append(Entry(child.name, kind, states_of(child), above=[0], tables=[table]))
    colours = ["class", *(colour_of(cpd.family.child) for cpd in shown)]
    return _star(entries, colours, GENERATIVE)


def gaussian_parts(model: ClassGaussianModel, fit: Fit | None = None) -> ReportParts:
    """Lay out normal inputs by class: means and deviations of each input, and correlations where they are few."""
    labels = [str(label) for label in model.target.labels]
    what = "sd" if model.dof is None else "scale"
    spreads = np.array([np.sqrt(np.diag(model._matrix(code))) for code in range(len(labels))])
    entries = [_class_entry(model, fit)]
    inputs = model.inputs[:MOST_INPUTS]
    for place, variable in enumerate(inputs):
        rows = zip(labels, model.means[:, place], spreads[:, place], strict=True)
        tables = [table_from([model.target.name, "mean", what], rows)]
        entries.append(Entry(variable.name, "normal", above=[0], tables=tables))
    graph = _star(entries, ["class", *map(colour_of, inputs)], GENERATIVE)
    return ReportParts([*graph.entries, *_correlations(model, labels)], graph.graph)


def softmax_parts(model: SoftmaxModel, fit: Fit | None = None) -> ReportParts:
    """Lay out a softmax regression: coefficients with standard errors where they are known, by input too."""
    found = None
    if (
        isinstance(fit, SoftmaxFit)
        and fit.prior is None
        and model.information is not None
        and fit.certificate.exists != "no"
    ):
        found = tried(fit.coefficients, level=LEVEL)
    if found is not None:
        table = table_of(found, "; ".join(found._foot))
        at = table.head.index("term")
    else:
        first = "(at the centre)" if model.centre and model._has_products else "(intercept)"
        names = [first, *map(str, model.terms)]
        numbers = np.vstack([model.uncentred_intercept, model.weights])
        heads = ["term", *(str(label) for label in model.target.labels)]
        table = table_from(heads, ([name, *row] for name, row in zip(names, numbers.tolist(), strict=True)))
        at = 0
    of_term = {str(term): term.names for term in model.terms}
    entries = [_class_entry(model, fit)]
    inputs = model.inputs[:MOST_INPUTS]
    for variable in inputs:
        rows = [row for row in table.rows if variable.name in of_term.get(str(row[at]), ())]
        entries.append(
            Entry(
                variable.name, colour_of(variable), states_of(variable), below=[0], tables=[HtmlTable(table.head, rows)]
            )
        )
    entries[0] = Entry(
        entries[0].name, "class", entries[0].states, above=[*range(1, len(entries))], tables=entries[0].tables
    )
    edges = [(place, 0) for place in range(1, len(entries))]
    graph = ReportGraph(["class", *map(colour_of, inputs)], edges, True, what=CONDITIONAL)
    return ReportParts([*entries, Entry("coefficients", "table", tables=[table])], graph)


def joint_parts(model: JointClassModel, fit: Fit | None = None) -> ReportParts:
    """Lay out the table of all inputs by class."""
    entries = [_class_entry(model, fit)]
    entries += [Entry(variable.name, "discrete", states_of(variable), above=[0]) for variable in model.inputs]
    rows = [[*map(str, labels), *values] for labels, values in model.rows()]
    heads = [*(variable.name for variable in model.inputs), *(str(label) for label in model.target.labels)]
    star = _star(entries, ["class", *map(colour_of, model.inputs)], GENERATIVE)
    whole = Entry("inputs given the class", "table", tables=[table_from(heads, rows, model.title)])
    return ReportParts([*star.entries, whole], star.graph)


def _class_entry(model: Posteriors, fit: Fit | None) -> Entry:
    """Return the entry of the class, with its rows and probabilities."""
    cells = class_cells(fit) if fit is not None else None
    if cells is not None:
        table = HtmlTable(cells[0], [[row[0], *map(_number, row[1:])] for row in cells[1]])
    elif isinstance(model, ClassModel):
        pairs = zip(model.target.labels, model.class_prior.tolist(), strict=True)
        table = table_from([model.target.name, "p"], ([str(label), p] for label, p in pairs))
    else:
        table = table_from([model.target.name], ([str(label)] for label in model.target.labels))
    return Entry(model.target.name, "class", states_of(model.target), tables=[table])


def _number(text: str) -> Cell:
    """Return the number that a cell of a printout shows, or its text."""
    try:
        return cell(float(text))
    except ValueError:
        return text


def _star(entries: list[Entry], colours: list[str], what: str) -> ReportParts:
    """Return the graph in which the first entry is the parent of all others."""
    head, *rest = entries
    below = [*range(1, len(entries))]
    head = Entry(head.name, head.kind, head.states, head.facts, below=below, tables=head.tables)
    return ReportParts([head, *rest], ReportGraph(colours, [(0, place) for place in below], True, what=what))


def _correlations(model: ClassGaussianModel, labels: list[str]) -> list[Entry]:
    """Return the correlations of few inputs, once where classes share them."""
    if not 2 <= len(model.inputs) <= FEW:
        return []
    names = [variable.name for variable in model.inputs]
    matrices = [model._matrix(code) for code in range(len(labels))]
    shared = all(np.array_equal(matrix, matrices[0]) for matrix in matrices)
    tables = []
    for label, matrix in zip(labels, matrices[:1] if shared else matrices, strict=False):
        sd = np.sqrt(np.diag(matrix))
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = matrix / np.outer(sd, sd)
        rows = ([name, *row] for name, row in zip(names, correlation.tolist(), strict=True))
        tables.append(table_from(["", *names], rows, "all classes" if shared else f"{model.target.name} = {label}"))
    return [Entry("correlations of the inputs", "table", tables=tables)]
