"""Plots of a report, drawn by the functions that anyone may call; the page works without them."""

from __future__ import annotations

import importlib.util
import io
from typing import TYPE_CHECKING

from suffice.errors import SufficeError
from suffice.families import entry_of
from suffice.learn.family import Plot
from suffice.models.cpds.tabular import TabularCPD
from suffice.report.page.entries import is_quick
from suffice.report.page.small_svg import small_svg
from suffice.stats.counts import Counts
from suffice.text import fixed, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from suffice.result.fit import Fit

MOST_VARIABLES = 200  # of a model whose moments are compared
MOST_CELLS = 20_000  # of the statistics behind them
MOST_BARS = 24  # entries of a table that is drawn


def figures(fit: Fit) -> list[tuple[str, str]] | None:
    """Return captions and SVG files of the plots that suit a fit; None where matplotlib is absent."""
    if importlib.util.find_spec("matplotlib") is None:
        return None
    import matplotlib as mpl

    found = []
    entry = entry_of(fit.model)
    for plot in () if entry is None else entry.plots():
        with mpl.rc_context({"svg.hashsalt": "suffice", "svg.fonttype": "none"}):
            drawn = _drawn(plot, fit)
        if drawn is not None:
            found.append((drawn[0] or plot.caption, drawn[1]))
    return found


def _drawn(plot: Plot, fit: Fit) -> tuple[str, str] | None:
    """Return one plot as a caption of its own, if it has one, and an SVG file; None where it does not suit this fit."""
    from matplotlib import pyplot as plt
    from matplotlib.figure import Figure

    try:
        drawn = plot.draw(fit)
    except SufficeError:  # a plot may need a posterior, counts of all cells, or fewer variables
        return None
    if drawn is None:
        return None
    caption, ax = drawn if isinstance(drawn, tuple) else ("", drawn)
    file = io.StringIO()
    figure = ax.figure
    assert isinstance(figure, Figure)
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    return caption, small_svg(file.getvalue())


def _moments(fit: Fit) -> Axes | None:
    from suffice.report.moments import moments_plot

    cells = sum(statistic.n_cells for _, statistic in fit.statistics.items() if isinstance(statistic, Counts))
    if fit.starts:  # whose statistics are expected ones, and not of the data alone
        return None
    small = len(fit.model.variables) <= MOST_VARIABLES and cells <= MOST_CELLS
    return moments_plot(fit) if small and is_quick(fit.model) else None


def _bars(fit: Fit) -> tuple[str, Axes] | None:
    """Draw the table of the node with the lowest log-likelihood of those that a picture has room for."""
    from suffice.report.table_bars import cpt_bars

    if fit.posterior is None:
        return None
    lowest = min(fit.local, key=lambda node: fit.local[node], default="")
    for node in sorted(fit.local, key=lambda node: fit.local[node]):
        cpd = fit.model.cpd(node)
        if isinstance(cpd, TabularCPD) and len(cpd.values) > 1 and cpd.values.size <= MOST_BARS:
            return _bars_caption(fit, node, lowest), cpt_bars(fit, node)
    return None


def _bars_caption(fit: Fit, node: str, lowest: str) -> str:
    """Name the node that is drawn, and the one with the lowest log-likelihood where that is another."""
    shown = f"{shorten(node)} with 95 % credible intervals"
    if node == lowest:
        return f"The table of {shown}: the node with the lowest log-likelihood, {fixed(fit.local[node], 1)}"
    return (
        f"The table of {shown}: the node with the lowest log-likelihood, {fixed(fit.local[node], 1)}, of those with "
        f"parents and at most {MOST_BARS} entries. {shorten(lowest)} has the lowest of all, "
        f"{fixed(fit.local[lowest], 1)}"
    )


def _mosaic(fit: Fit) -> Axes | None:
    from suffice.report.mosaic import mosaic_plot

    return mosaic_plot(fit) if 2 <= len(fit.model.variables) <= 4 else None


def _weights(fit: Fit) -> Axes:
    from suffice.report.weights import weights_plot

    return weights_plot(fit)


def _coefficients(fit: Fit) -> Axes | None:
    """Draw the coefficients of the regression with most parents."""
    from suffice.report.weights import weights_plot

    nodes = [node for node in fit.model.dag.nodes if fit.model.cpd(node).kind == "linear_gaussian"]
    node = max(nodes, key=lambda node: len(fit.model.dag.parents[node]), default="")
    return weights_plot(fit, node) if node and fit.model.dag.parents[node] else None


def _transitions(fit: Fit) -> Axes:
    from suffice.report.transitions import transitions_plot

    return transitions_plot(fit)


MATCH = Plot("Moments of the data and of the model; a perfect match lies on the line", _moments)
BARS = Plot("The table of one node, with credible intervals", _bars)
COEFFICIENTS = Plot("Coefficients of the node with most parents", _coefficients)
MOSAIC = Plot("Residuals: blue tiles have more rows than the model expects, red ones fewer", _mosaic)
LARGEST = Plot("The largest weights, with intervals where they are known", _weights)
STEPS = Plot("From each label or symbol to the next", _transitions)
