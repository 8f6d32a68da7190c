"""Learning curves: a score against the number of rows that were learnt from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import ArgumentError, require_choice, require_mapping, shown
from suffice.report.canvas import MARKERS, SMALL, Look, axes_for, colour, entitle, legend, plain, short
from suffice.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCALES = ("linear", "log")
NAME, MOST = 1.8, 10  # room for the name of a curve, in inches; curves


def learning_curves_plot(
    sizes: ArrayLike,
    scores: Mapping[str, ArrayLike],
    *,
    errors: Mapping[str, ArrayLike] | None = None,
    score: str = "score",
    scale: str = "linear",
    ax: Axes | None = None,
) -> Axes:
    """Draw scores against the number of rows, with bands of two standard errors.

    Parameters
    ----------
    sizes : array, shape (n_sizes,)
        Numbers of rows that were learnt from.
    scores : mapping from names to arrays
        Of shape (n_sizes,), or (n_sizes, n_splits): then averages are drawn, and their standard errors are known.
    errors : mapping from names to arrays, shape (n_sizes,), optional
        Standard errors of scores of one dimension.
    score : str
        What the scores are, such as ``"error on other rows"``.
    scale : {"linear", "log"}
        That of the scores; the rows are always on a scale of powers.
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
    >>> from suffice.report import learning_curves_plot
    >>> ax = learning_curves_plot([10, 100], {"naive": [[0.3, 0.5], [0.2, 0.2]]}, score="error")
    >>> ax.lines[0].get_ydata().tolist()
    [0.4, 0.2]
    """
    rows = _sizes(sizes)
    require_choice("scale", scale, SCALES)
    curves = {name: _curve(name, values, errors, len(rows)) for name, values in _named(scores).items()}
    ax, is_new = axes_for(ax, 2.5 + 0.14 * len(curves))
    handles = []
    for k, (mean, error) in enumerate(curves.values()):
        look: Look = {"color": colour(k), "linewidth": 1.4, "markersize": 4}
        handles += ax.plot(rows, mean, marker=MARKERS[k % len(MARKERS)], **look)
        if error is not None:
            low = mean - 2 * error
            low = np.maximum(low, mean / 4) if scale == "log" else low
            ax.fill_between(rows, low, mean + 2 * error, color=colour(k), alpha=0.18, linewidth=0)
    ax.set(xscale="log", yscale=scale)
    _ticks(ax, rows, scale)
    plain(ax, "both")
    names = [short(name, NAME) for name in curves]
    look = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "frameon": False, "borderaxespad": 0.2}
    legend(ax, handles, names, labelspacing=0.25, handlelength=1.6, borderpad=0.1, **look)
    has_bands = any(error is not None for _, error in curves.values())
    entitle(ax, is_new, x="rows learnt from", y=score, remarks=["bands: two standard errors"] if has_bands else [])
    return ax


def _sizes(sizes: ArrayLike) -> Floats:
    try:
        rows = np.asarray(sizes, np.float64)
    except (TypeError, ValueError):
        rows = np.zeros(0)
    if rows.ndim != 1 or not len(rows) or not (rows > 0).all() or not np.isfinite(rows).all():
        raise ArgumentError(f"The 'sizes' argument must be numbers of rows, [10, 100]. Got {shown(sizes)} instead.")
    return rows


def _named(scores: Mapping[str, ArrayLike]) -> Mapping[str, ArrayLike]:
    found: Mapping[str, ArrayLike] = require_mapping("scores", scores, "{'naive Bayes': [0.3, 0.2]}")
    if not 0 < len(found) <= MOST:
        raise ArgumentError(f"The 'scores' argument must have 1 to {MOST} curves. Got {len(found)} instead.")
    return found


def _curve(
    name: str, values: ArrayLike, errors: Mapping[str, ArrayLike] | None, n: int
) -> tuple[Floats, Floats | None]:
    """Return averages and their standard errors, where there are any."""
    try:
        held = np.asarray(values, np.float64)
        given = None if errors is None or name not in errors else np.asarray(errors[name], np.float64)
    except (TypeError, ValueError):
        held, given = np.zeros(0), None
    if held.ndim not in (1, 2) or len(held) != n or (given is not None and given.shape != (n,)):
        raise ArgumentError(
            f"The scores of {name!r} and their errors must be one number, or one row of numbers, for each of the {n} "
            f"sizes. Got {shown(values)} instead."
        )
    if held.ndim == 1:
        return held, given
    n_splits = held.shape[1]
    spread = held.std(axis=1, ddof=1) / np.sqrt(n_splits) if n_splits > 1 else None
    return held.mean(axis=1), spread


def _ticks(ax: Axes, rows: Floats, scale: str) -> None:
    """Name the sizes where they have room, in plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

    span = np.log10(rows.max() / rows.min()) if len(rows) > 1 else 1.0
    kept: list[float] = []
    for row in np.sort(rows).tolist():
        if not kept or np.log10(row / kept[-1]) > 0.17 * span:
            kept.append(row)
    ax.set_xticks(kept, [f"{row:,.0f}" if row == int(row) else f"{row:g}" for row in kept], fontsize=SMALL)
    ax.xaxis.set_minor_locator(NullLocator())
    if scale == "log":
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())
    else:
        ax.yaxis.set_major_locator(MaxNLocator(nbins=6))
