"""A conditional table as bars, each with the credible interval of its probability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import ArgumentError, require_text
from suffice.priors.dirichlet_rows import DirichletRows
from suffice.priors.markov_posterior import MarkovChainPosterior
from suffice.report.canvas import (
    INK,
    LINE,
    QUIET,
    SMALL,
    axes_for,
    colour,
    entitle,
    every,
    ordinal,
    plain,
    short,
    short_list,
    size_of,
    write,
)
from suffice.report.table_heatmap import upper_limit
from suffice.result.absent_posterior import explain_absent_posterior
from suffice.result.fit import Fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from suffice.models.cpds.tabular import TabularCPD
    from suffice.types import Floats

BAR, GAP = 0.145, 0.55  # height of a bar in inches, and the gap between two configurations in bars
NAME = 0.8  # room for the name of a state, in inches
MOST, TALLEST = 60, 8.0  # bars, and inches of height


def cpt_bars(fit: Fit, node: str | None = None, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw p(node | parents) as bars with credible intervals, a group of bars for each configuration of the parents.

    Parameters
    ----------
    fit : Fit
        Of a Bayesian network, or of a Markov chain, under a conjugate prior such as ``sf.BDeu(10)``.
    node : str, optional
        Which node's table; left out for a Markov chain.
    level : float
        That of the intervals, which are equal-tailed.
    ax : Axes, optional
        Where to draw; a new figure of one column's width unless given.

    Returns
    -------
    Axes

    Notes
    -----
    Bars are the estimate of the fit, and lines are what the posterior leaves open of each probability by itself. Of
    tables with many cells the first configurations are drawn, and a line below says so. Needs the extra ``plot``:
    ``pip install 'suffice[plot]'``.

    Examples
    --------
    >>> import suffice as sf
    >>> from suffice.report import cpt_bars
    >>> data = {"rain": ["no", "no", "yes"], "wet": ["no", "yes", "yes"]}
    >>> ax = cpt_bars(sf.fit(sf.DAG("rain -> wet"), data, prior=sf.K2()), "wet")
    >>> [round(float(bar.get_width()), 4) for bar in ax.patches]
    [0.5, 0.5, 0.3333, 0.6667]
    """
    rows, cpd = posterior_rows(fit, node)
    lower, upper = rows.bounds(level)
    n_rows, n_states = cpd.values.shape
    kept = min(n_rows, max(1, MOST // n_states))
    states = min(n_states, MOST)
    remarks = [f"lines: {100 * level:.4g} % credible intervals"]
    if kept < n_rows:
        remarks.append(f"the first {kept:,} of {n_rows:,} configurations of the parents")
    if states < n_states:
        remarks.append(f"the first {states:,} of {n_states:,} states")
    has_parents = bool(cpd.family.parents)
    starts = np.arange(kept) * (states + GAP + has_parents) + has_parents
    places = (starts[:, None] + np.arange(states)).reshape(-1)
    span = places[-1] + 1.0
    ax, is_new = axes_for(ax, min(BAR * (span + 0.5), TALLEST) + 0.55 + 0.13 * len(remarks))
    values, low, high = (array[:kept, :states].reshape(-1) for array in (cpd.values, lower, upper))
    tints = [colour(k) for k in range(states)] * kept
    ax.barh(places, values, height=0.82, color=tints)
    ax.hlines(places, low, high, color=INK, linewidth=1.1, zorder=3)
    ax.plot(np.concatenate([low, high]), np.tile(places, 2), "|", color=INK, markersize=4, zorder=3)
    ax.set(xlim=(0.0, upper_limit(high)), ylim=(span - 0.35, -0.65))
    names = [short(label, NAME) for label in cpd.family.child.labels[:states]] * kept
    room = BAR * span if is_new else size_of(ax)[1]
    step = every(len(places) + (kept if has_parents else 0), room)
    ax.set_yticks(places[::step], names[::step], fontsize=SMALL, parse_math=False)
    if step > 1:
        remarks.append(f"every {ordinal(step)} bar is named")
    plain(ax, "x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    entitle(ax, is_new, x="probability", y=cpd.family.child.name, remarks=remarks)
    if has_parents and kept * 2 * LINE < room:
        _headings(ax, cpd, starts, kept)
    return ax


def _headings(ax: Axes, cpd: TabularCPD, starts: Floats, kept: int) -> None:
    """Write the states of the parents above their bars."""
    parents = [parent.name for parent in cpd.family.parents]
    for start, labels in zip(starts.tolist(), list(cpd.rows())[:kept], strict=True):
        said = [f"{name}={label}" for name, label in zip(parents, labels[0], strict=True)]
        write(ax, 0.0, start - 0.95, short_list(said, size_of(ax)[0]), va="center", ha="left", color=QUIET)


def posterior_rows(fit: Fit, node: str | None) -> tuple[DirichletRows, TabularCPD]:
    """Return the posterior of a table, and the table of the fit."""
    posterior = fit.posterior if isinstance(fit, Fit) else None
    if isinstance(posterior, MarkovChainPosterior):
        return posterior.transitions, fit.model.tables[-1]
    if not isinstance(posterior, Mapping):
        raise ArgumentError(
            "Credible intervals of a table come from the posterior of a fit under a conjugate prior, which this one "
            f"does not have. {explain_absent_posterior(fit) or 'Fit with a prior, such as prior=sf.BDeu(10).'} "
            "cpt_heatmap needs none."
        )
    rows = posterior[require_text("node", node)]
    if not isinstance(rows, DirichletRows):
        raise ArgumentError(
            f"Node {node!r} is no table with a Dirichlet posterior, of which bars could be drawn. posterior_plot draws "
            "the parameters of other kinds."
        )
    return rows, fit.model.cpd(node)
