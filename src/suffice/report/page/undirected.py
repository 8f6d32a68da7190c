"""Models without directions in a report: Markov random fields, log-linear models and normal distributions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from suffice.models.joint_normal import JointNormal
from suffice.priors.niw_posterior import NormalInverseWishartPosterior
from suffice.report.page.entries import (
    LEVEL,
    Cell,
    Entry,
    HtmlTable,
    ReportGraph,
    ReportParts,
    colour_of,
    is_quick,
    states_of,
    strengths_in,
    table_from,
    table_of,
    tried,
)
from suffice.result.family_fits import CliquesFit, FeaturesFit, LogLinearFit
from suffice.result.wald import WaldTable
from suffice.text import number

if TYPE_CHECKING:
    from suffice.models.conditional_log_linear import ConditionalLogLinear
    from suffice.models.log_linear import LogLinear
    from suffice.models.log_linear_density import LogLinearDensity
    from suffice.models.markov_net import MarkovNetwork
    from suffice.result.fit import Fit
    from suffice.result.weights import WeightTable

    FeatureModel = LogLinear | LogLinearDensity | ConditionalLogLinear

FEW = 60  # variables up to which the margins of all are computed
MOST_CELLS = 20_000  # of all factors, up to which their u-terms are laid out
JOINED = "Nodes are variables; an edge joins two that occur in one {}."


def field_parts(model: MarkovNetwork, fit: Fit | None = None) -> ReportParts:
    """Lay out a Markov random field: u-terms with standard errors, and margins by variable."""
    scopes = [tuple(factor.names) for factor in model.factors]
    table, of_rows = _u_terms(model, fit)
    tables = [] if table is None else [Entry("u-terms", "table", tables=[table])]
    expected = _expected(fit)
    tables += [] if expected is None else [expected]
    return _over_variables(model, scopes, "factor", tables, _by_variable(table, of_rows), fit)


def feature_parts(model: FeatureModel, fit: Fit | None = None) -> ReportParts:
    """Lay out a log-linear model: weights with standard errors, and by variable."""
    names, values = model.weights.names, model.weights.to_numpy()
    found = tried(fit.weights, LEVEL) if isinstance(fit, FeaturesFit) and len(names) <= 500 else None
    table = (
        table_of(found, _errors_said(found))
        if found is not None
        else table_from(["feature", "weight"], zip(names, values, strict=True))
    )
    features = model.features.resolved(model.schema)
    scopes = [tuple(dict.fromkeys(name for term in feature.terms for name in term.scope)) for feature in features]
    tables = [Entry("feature weights", "table", tables=[table])]
    expected = _expected(fit)
    tables += [] if expected is None else [expected]
    return _over_variables(model, scopes, "feature", tables, _by_variable(table, scopes), fit, model.features.given)


def normal_parts(model: JointNormal, fit: Fit | None = None) -> ReportParts:
    """Lay out a normal distribution: means, deviations and partial correlations."""
    names, partial = model.names, model.partial_correlations
    joined = [(i, j) for i, j in itertools.combinations(range(len(names)), 2) if abs(partial[i, j]) > 1e-12]
    near: list[list[int]] = [[] for _ in names]
    for i, j in joined:
        near[i].append(j)
        near[j].append(i)
    entries = []
    for i, name in enumerate(names):
        facts = [("mean", number(float(model.mean[i]))), ("standard deviation", number(float(model.sd[i])))]
        rows = sorted(
            ([names[j], partial[i, j], model.correlations[i, j]] for j in near[i]), key=lambda row: -abs(row[1])
        )
        tables = [table_from(["with", "partial correlation", "correlation"], rows)] if rows else []
        entries.append(Entry(name, "normal", [], facts, near=near[i], tables=tables))
    means = table_from(["variable", "mean", "sd"], zip(names, model.mean, model.sd, strict=True))
    entries.append(Entry("means and standard deviations", "table", tables=[means]))
    if joined:
        pairs = sorted(joined, key=lambda pair: -abs(partial[pair]))
        rows = [[names[i], names[j], partial[i, j]] for i, j in pairs]
        listed = table_from(["variable", "and", "partial correlation"], rows, "given all other variables")
        entries.append(Entry("partial correlations", "table", tables=[listed]))
    posterior = None if fit is None else fit.posterior
    intervals = tried(posterior.intervals, LEVEL) if isinstance(posterior, NormalInverseWishartPosterior) else None
    if intervals is not None:
        said = f"{100 * LEVEL:g} % credible intervals, equal-tailed"
        entries.append(Entry("posterior intervals", "table", tables=[table_of(intervals, said)]))
    what = (
        "Nodes are variables; an edge joins two that depend on each other given all others; its width is the partial "
    )
    graph = ReportGraph(
        ["continuous"] * len(names), joined, False, [float(partial[pair]) for pair in joined], what + "correlation."
    )
    return ReportParts(entries, graph)


def _over_variables(
    model: MarkovNetwork | FeatureModel,
    scopes: Iterable[tuple[str, ...]],
    of: str,
    tables: list[Entry],
    rows: dict[str, HtmlTable],
    fit: Fit | None,
    given: tuple[str, ...] = (),
) -> ReportParts:
    """Lay out variables as nodes, joined where they occur together."""
    variables = model.schema.variables
    place = {variable.name: index for index, variable in enumerate(variables)}
    joined = dict.fromkeys(
        (min(pair), max(pair))
        for scope in scopes
        for pair in itertools.combinations([place[name] for name in scope], 2)
    )
    near: list[list[int]] = [[] for _ in variables]
    for i, j in joined:
        near[i].append(j)
        near[j].append(i)
    few = len(variables) <= FEW and not given and is_quick(model)
    entries = []
    for variable, others in zip(variables, near, strict=True):
        found = []
        if few and variable.is_discrete:
            margin = tried(model.query, variable.name)
            found += [] if margin is None else [table_of(margin, "under the model")]
        found += [rows[variable.name]] if variable.name in rows else []
        kind = "input" if variable.name in given else colour_of(variable)
        entries.append(Entry(variable.name, kind, states_of(variable), near=sorted(others), tables=found))
    edges = list(joined)
    names = [variable.name for variable in variables]
    widths, said = strengths_in(fit or model, [(names[i], names[j]) for i, j in edges]) if few else (None, "")
    graph = ReportGraph([colour_of(variable) for variable in variables], edges, False, widths, JOINED.format(of) + said)
    return ReportParts([*entries, *tables], graph)


def _u_terms(model: MarkovNetwork, fit: Fit | None) -> tuple[HtmlTable | None, list[tuple[str, ...]]]:
    """Return the u-terms with standard errors where they are known, and the variables of each; none of very many."""
    if sum(factor.values.size for factor in model.factors) > MOST_CELLS:
        return None, []
    found = tried(fit.u_terms, level=LEVEL) if isinstance(fit, CliquesFit) else None
    if found is not None:
        return table_of(found, _errors_said(found)), list(found.terms)
    terms = tried(model.u_terms)
    if terms is None:
        return None, []
    return table_of(terms, terms._title), [
        (),
        *(table.names for table in terms.tables for _ in range(table.values.size)),
    ]


def _errors_said(found: WaldTable | WeightTable) -> str:
    """Say what the intervals are, and the remarks."""
    remarks = found._foot if isinstance(found, WaldTable) else found.remarks
    return "; ".join([*remarks, f"{100 * found.level:g} % intervals (Wald)"])


def _expected(fit: Fit | None) -> Entry | None:
    """Return the cells with their expected counts and residuals, the largest residuals first."""
    found = tried(fit.expected) if isinstance(fit, LogLinearFit) else None
    if found is None or found["observed"].values.size > MOST_CELLS:
        return None
    table = table_of(found, "observed and expected counts, the largest Pearson residuals first", MOST_CELLS)
    at = table.head.index("pearson")

    def size(row: Sequence[Cell]) -> float:
        value = row[at]
        return abs(value) if isinstance(value, int | float) else 0.0

    rows = sorted(table.rows, key=size, reverse=True)
    return Entry("observed and expected counts", "table", tables=[HtmlTable(table.head, rows, table.caption)])


def _by_variable(table: HtmlTable | None, scopes: Sequence[tuple[str, ...]]) -> dict[str, HtmlTable]:
    """Return the rows of a table that belong to each variable, given the variables of every row."""
    if table is None:
        return {}
    found: dict[str, list[list[Cell]]] = {}
    for row, scope in zip(table.rows, scopes, strict=False):
        for name in scope:
            found.setdefault(name, []).append(row)
    return {name: HtmlTable(table.head, rows) for name, rows in found.items()}
