"""Bayesian networks in a report: the graph, and every node with its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import CPD
from suffice.models.cpds.tabular import TabularCPD
from suffice.priors.dirichlet_rows import DirichletRows
from suffice.priors.network_posterior import NetworkPosterior
from suffice.priors.regression_posterior import RegressionPosterior
from suffice.report.page.entries import (
    LEVEL,
    MOST_ROWS,
    Entry,
    Framed,
    HtmlTable,
    ReportGraph,
    ReportParts,
    Sheet,
    colour_of,
    is_quick,
    sheet_of,
    states_of,
    strengths_in,
    table_of,
    tried,
)
from suffice.result.family_fits import NetworkFit

if TYPE_CHECKING:
    from suffice.priors.prior import NodePosterior
    from suffice.result.fit import Fit

MOST_CELLS = 600_000  # of all tables together; each node of a network with more shows fewer rows
FEW = 100  # nodes up to which the strengths of edges are computed
KINDS = {
    "tabular": "table",
    "linear_gaussian": "linear Gaussian",
    "noisy_or": "noisy-OR",
    "softmax": "softmax",
}


def network_parts(model: BayesianNetwork, fit: Fit | None = None) -> ReportParts:
    """Lay out a network: one entry a node, in the order of the graph."""
    dag = model.dag
    place = {node: index for index, node in enumerate(dag.nodes)}
    below: dict[str, list[int]] = {node: [] for node in dag.nodes}
    for node in dag.nodes:
        for parent in dag.parents[node]:
            below[parent].append(place[node])
    cells = sum(cpd.values.size for cpd in map(model.cpd, dag.nodes) if isinstance(cpd, TabularCPD))
    most = MOST_ROWS if cells <= MOST_CELLS else max(20, MOST_ROWS * MOST_CELLS // cells)
    posterior = fit.posterior if fit is not None and isinstance(fit.posterior, NetworkPosterior) else None
    entries = []
    for node in dag.nodes:
        cpd = model.cpd(node)
        child = cpd.family.child
        above = [place[parent] for parent in dag.parents[node]]
        tables = _tables(cpd, place, None if posterior is None else posterior.get(node), fit, most)
        kind = KINDS.get(cpd.kind, cpd.kind.replace("_", " "))
        entries.append(Entry(node, kind, states_of(child), [], above, below[node], tables=tables))
    latent = dict(dag.latent)
    colours = ["latent" if node in latent else colour_of(model.schema[node]) for node in dag.nodes]
    edges = [(place[parent], place[node]) for node in dag.nodes for parent in dag.parents[node]]
    strengths, said = strengths_in(model, dag.edges) if len(dag.nodes) <= FEW and is_quick(model) else (None, "")
    what = "Nodes are variables; edges lead from parents to children." + said
    return ReportParts(entries, ReportGraph(colours, edges, True, strengths, what))


@runtime_checkable
class ShownCPD(CPD, Framed, Protocol):
    """A conditional distribution that can be shown as a table."""

    @property
    def title(self) -> str:
        """What the table is of."""


def _tables(
    cpd: CPD, place: dict[str, int], posterior: NodePosterior | None, fit: Fit | None, most: int
) -> list[HtmlTable | Sheet]:
    """Return what is known of a node: its table with intervals, or its coefficients with standard errors."""
    if isinstance(cpd, TabularCPD):
        ends = posterior.bounds(LEVEL) if isinstance(posterior, DirichletRows) else None
        fits = ends is not None and ends[0].shape == cpd.values.shape
        return [sheet_of(cpd, place, ends if fits else None, most)]
    found: list[HtmlTable | Sheet] = []
    if isinstance(posterior, RegressionPosterior):
        found.append(table_of(posterior.intervals(LEVEL), f"{100 * LEVEL:g} % credible intervals, equal-tailed"))
    elif isinstance(fit, NetworkFit) and cpd.kind == "linear_gaussian":
        coefficients = tried(fit.coefficients, cpd.family.child.name, LEVEL)
        if coefficients is not None:
            found.append(table_of(coefficients, f"least squares, {100 * LEVEL:g} % confidence intervals"))
    return [table_of(cpd, cpd.title), *found] if isinstance(cpd, ShownCPD) else found
