"""What a report shows of hypotheses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.report.page.entries import Entry, ReportParts, states_of, table_from, table_of

if TYPE_CHECKING:
    from suffice.models.hypothesis_mixture import HypothesisMixture
    from suffice.result.fit import Fit


def mixture_parts(model: HypothesisMixture, fit: Fit | None = None) -> ReportParts:
    """Lay out hypotheses with their weights, and the distribution that they make together."""
    variable = model.schema.variables[0]
    weights = zip(model.hypotheses.names, model.weights.tolist(), strict=True)
    tables = [table_from(["hypothesis", "p"], weights, "after the data")]
    mixture = Entry(variable.name, "mixture", states_of(variable), tables=[table_of(model.table)])
    return ReportParts([Entry("hypotheses", "table", tables=tables), mixture])
