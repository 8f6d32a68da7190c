"""Pictures of what was learnt; needs the extra ``plot``. Modules load when a name is first used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

PLOTS = {
    "graph_plot": "suffice.report.graph",
    "cpt_heatmap": "suffice.report.table_heatmap",
    "cpt_bars": "suffice.report.table_bars",
    "convergence_plot": "suffice.report.convergence",
    "moments_plot": "suffice.report.moments",
    "mosaic_plot": "suffice.report.mosaic",
    "posterior_plot": "suffice.report.posterior",
    "weights_plot": "suffice.report.weights",
    "learning_curves_plot": "suffice.report.learning_curves",
    "confusion_plot": "suffice.report.confusion",
    "decision_surface": "suffice.report.surface",
    "transitions_plot": "suffice.report.transitions",
}
"""Every plot and where it lives."""

__all__ = [*PLOTS]  # noqa: PLE0604

if TYPE_CHECKING:
    from suffice.report.confusion import confusion_plot as confusion_plot
    from suffice.report.convergence import convergence_plot as convergence_plot
    from suffice.report.graph import graph_plot as graph_plot
    from suffice.report.learning_curves import learning_curves_plot as learning_curves_plot
    from suffice.report.moments import moments_plot as moments_plot
    from suffice.report.mosaic import mosaic_plot as mosaic_plot
    from suffice.report.posterior import posterior_plot as posterior_plot
    from suffice.report.surface import decision_surface as decision_surface
    from suffice.report.table_bars import cpt_bars as cpt_bars
    from suffice.report.table_heatmap import cpt_heatmap as cpt_heatmap
    from suffice.report.transitions import transitions_plot as transitions_plot
    from suffice.report.weights import weights_plot as weights_plot


def __getattr__(name: str) -> Any:
    if name not in PLOTS:
        raise AttributeError(f"module 'suffice.report' has no attribute {name!r}")
    return getattr(importlib.import_module(PLOTS[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *PLOTS})
