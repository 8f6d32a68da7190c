"""How a search came to its end: the objective after every step, and where searches from other points ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import ArgumentError
from suffice.report.canvas import COLOURS, INK, SMALL, Look, axes_for, entitle, legend, plain
from suffice.result.fit import Fit
from suffice.types import Floats

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

ROUNDING = 1e-15
"""Steps that are nearer to the end than this part of the objective differ from it by rounding only."""


def convergence_plot(fit: Fit, *, gap: bool = False, ax: Axes | None = None) -> Axes:
    """Draw the objective after every step of the search that was kept, and the ends of the other searches.

    Parameters
    ----------
    fit : Fit
        By a method with steps.
    gap : bool
        Draw the distance from the best objective instead, on a scale of powers of ten: a straight line is linear
        convergence.
    ax : Axes, optional
        Where to draw; a new figure of one column's width unless given.

    Returns
    -------
    Axes

    Notes
    -----
    Needs the extra ``plot``: ``pip install 'suffice[plot]'``.

    Examples
    --------
    >>> import suffice as sf
    >>> from suffice.report import convergence_plot
    >>> table = sf.Contingency([[20, 10], [12, 18]], {"A": ["x", "y"], "B": ["u", "v"]})
    >>> fit = sf.fit(sf.Features([sf.indicators("A"), sf.indicators("B")]), table, method="gis")
    >>> line = convergence_plot(fit).lines[0]
    >>> len(line.get_ydata()) == len(fit.trace)
    True
    """
    trace = fit.trace if isinstance(fit, Fit) else ()
    if not trace:
        raise ArgumentError(
            "Convergence is that of a search step by step, and this fit has no steps: its estimate has a closed form, "
            "or the first point was the best. fit.certificate says how good it is."
        )
    steps = np.array([step.number for step in trace])
    values = np.array([step.objective for step in trace])
    starts = [start for start in fit.starts if np.isfinite(start.objective)]
    others = np.array([start.objective for start in starts])
    ax, is_new = axes_for(ax, 2.3)
    kept, marks, best = values, others, float(np.concatenate([values, others]).max())
    if gap:
        least = max(abs(best), 1.0) * ROUNDING
        kept, marks = (np.where(best - found > least, best - found, np.nan) for found in (values, others))
        ax.set_yscale("log")
    size = 2.5 if len(steps) < 60 else 0.0
    handles: list[Artist] = list(ax.plot(steps, kept, color=COLOURS[0], linewidth=1.4, marker="o", markersize=size))
    names = ["the search that was kept"]
    for ended, shape, said in ((True, "D", "end of a search"), (False, "X", "end without convergence")):
        chosen = [i for i, start in enumerate(starts) if start.converged is ended]
        if len(starts) > 1 and chosen:
            at = [starts[i].n_steps for i in chosen]
            look: Look = {"s": 22, "marker": shape, "facecolors": COLOURS[1], "edgecolors": INK}
            handles.append(ax.scatter(at, marks[chosen], linewidths=0.6, zorder=3, **look))
            names.append(said)
    _ticks(ax, gap, kept)
    plain(ax, "y")
    if len(handles) > 1:
        legend(ax, handles, names, loc="best", framealpha=0.9)
    label = "objective" if fit.prior is not None else "log-likelihood"
    entitle(ax, is_new, x="step", y=f"{label} below the best" if gap else label)
    return ax


def _ticks(ax: Axes, gap: bool, values: Floats) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    if gap:
        held = values[np.isfinite(values)]
        narrow = len(held) > 0 and held.max() < 30 * held.min()
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if narrow else (1.0,), numticks=7))
        ax.yaxis.set_minor_formatter(NullFormatter())
    else:
        ax.yaxis.set_major_locator(MaxNLocator(nbins=6))
    ax.tick_params(labelsize=SMALL)
