"""The weights of a model with their intervals, the largest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from suffice.errors import ArgumentError, EstimationError, Mention, require_fraction, require_whole, shown
from suffice.models.capabilities import FittedEstimator, HasWeights, HoldsFit, model_of
from suffice.models.chain_model import ChainModel
from suffice.models.log_linear import Weights
from suffice.models.softmax_model import SoftmaxModel
from suffice.report.canvas import INK, NEGATIVE, POSITIVE, SMALL, Look, axes_for, entitle, plain, short
from suffice.result.chain_weights import state_table
from suffice.types import Floats, Ints

if TYPE_CHECKING:
    from suffice.models.model import Model
    from suffice.result.fit import Fit

    Weighable: TypeAlias = Fit | FittedEstimator | Model
    from matplotlib.axes import Axes

ROW, MOST = 0.155, 60  # height of a row in inches, and rows
NAME = 1.35  # room for the name of a weight, in inches


@dataclass(frozen=True, eq=False)
class Weighed:
    """Weights to draw.

    Attributes
    ----------
    names : list of str
    estimate, lower, upper : array, shape (n,)
        Ends are NaN where there is no interval.
    what : str
        What the numbers are.
    remarks : list of str
    """

    names: list[str]
    estimate: Floats
    lower: Floats
    upper: Floats
    what: str
    remarks: list[str]


def weights_plot(
    fit: Weighable, node: str = "", *, n: int = 20, level: float = 0.95, ax: Axes | None = None, **how: Any
) -> Axes:
    """Draw the weights that are largest in size as points, with their intervals where these are known.

    Parameters
    ----------
    fit : Fit, or an estimator such as ChainCRF
        Of `Features`, `Ising`, `Boltzmann` or `Potts`; of a softmax regression; of a Bayesian network with a
        linear-Gaussian ``node``; of a chain of labels.
    node : str
        The node of a Bayesian network; left out for others.
    n : int
        So many weights, at most 60.
    level : float
        That of the intervals.
    ax : Axes, optional
        Where to draw; a new figure of one column's width unless given.
    **how
        What else `SoftmaxFit.coefficients` takes for a softmax regression, such as ``reference``.

    Returns
    -------
    Axes

    Notes
    -----
    Weights above zero are red discs, those below it blue squares, and hollow ones have intervals that contain zero.
    Where there are no intervals, as under a penalty with a kink, a line below says so. Needs the extra ``plot``:
    ``pip install 'suffice[plot]'``.

    Examples
    --------
    >>> import suffice as sf
    >>> from suffice.report import weights_plot
    >>> table = sf.Contingency([[20, 10], [12, 18]], {"A": ["x", "y"], "B": ["u", "v"]})
    >>> features = [sf.indicator(A="y"), sf.indicator(B="v"), sf.indicator(A="y", B="v")]
    >>> ax = weights_plot(sf.fit(sf.Features(features), table))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['A=y & B=v', 'B=v', 'A=y']
    """
    n, level = require_whole("n", n, 1), require_fraction("level", level)
    if n > MOST:
        raise ArgumentError(
            f"The 'n' argument must be at most {MOST}, which a picture has room for. Got {n:,} instead."
        )
    held = weighed(fit, node, level, how)
    finite = np.flatnonzero(np.isfinite(held.estimate))
    order = finite[np.argsort(-np.abs(held.estimate[finite]), kind="stable")[:n]]
    remarks = list(held.remarks)
    if len(order) < len(held.names):
        remarks.append(f"the largest {len(order):,} of {len(held.names):,}")
    ax, is_new = axes_for(ax, ROW * max(len(order), 5) + 0.55 + 0.26 * len(remarks))
    _points(ax, held, order)
    ax.set_yticks(range(len(order)), [short(held.names[k], NAME) for k in order], fontsize=SMALL, parse_math=False)
    ax.set_ylim(max(len(order), 5) - 0.4, -0.6)
    ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
    plain(ax, "x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(nbins=5))
    entitle(ax, is_new, x=held.what, remarks=remarks)
    return ax


def _points(ax: Axes, held: Weighed, order: Ints) -> None:
    for positive, tint, shape in ((True, POSITIVE, "o"), (False, NEGATIVE, "s")):
        rows = np.flatnonzero((held.estimate[order] > 0) == positive)
        at = order[rows]
        known = ~np.isnan(held.lower[at])
        ax.hlines(rows[known], held.lower[at][known], held.upper[at][known], color=tint, linewidth=1.2, zorder=2)
        through = known & (held.lower[at] <= 0) & (held.upper[at] >= 0)
        fill = np.where(through, "white", tint).tolist()
        look: Look = {"s": 17, "marker": shape, "facecolors": fill, "edgecolors": tint, "linewidths": 1.1}
        ax.scatter(held.estimate[at], rows, zorder=3, **look)


# The numbers --------------------------------------------------------------------------------------------------


def weighed(fit: Weighable, node: str = "", level: float = 0.95, how: Mapping[str, Any] | None = None) -> Weighed:
    """Return the weights of a fit, with intervals where they are known."""
    options = dict(how or {})
    model = fit.model_ if isinstance(fit, FittedEstimator) else model_of(fit)
    if isinstance(model, ChainModel):
        top = state_table(model, MOST, largest="size")
        names = [f"{attribute} → {label}" for attribute, label in top.keys]
        nothing = np.full(len(names), np.nan)
        said = [f"{top.n_weights:,} weights of attributes in all"] if top.n_weights > len(names) else []
        return Weighed(names, np.array(top.weights), nothing, nothing, "weight", said)
    fitted: Any = fit.fit_ if isinstance(fit, HoldsFit) else fit
    if isinstance(model, SoftmaxModel):
        return _of_softmax(fitted, model, level, options)
    if node:
        table = fitted.coefficients(node, level)
        names = [f"{t} | {c}" if c else t for t, c in zip(table.terms, table.configurations, strict=True)]
        return Weighed(names, table.estimate, table.lower, table.upper, f"coefficient, {_said(level)}", [])
    if not isinstance(model, HasWeights) or not isinstance(model.weights, Weights):
        raise ArgumentError(
            "Weights are those of fits of sf.Features, sf.Ising, sf.Boltzmann and ",
            Mention("Potts", "sf.Potts"),
            ", of softmax regressions, of "
            "chains of labels, and of a linear-Gaussian node of a network, which is named: weights_plot(fit, 'node'). "
            f"Got {shown(fitted)} instead.",
        )
    try:
        found = None if model is fitted else fitted.weights(level)
    except EstimationError:  # under a penalty with a kink, or of too many weights
        found = None
    if found is None:
        return _alone(list(model.weights.names), model.weights.to_numpy(), "weight")
    return Weighed(list(found.names), found.estimate, found.lower, found.upper, f"weight, {_said(level)}", [])


def _said(level: float) -> str:
    return f"with {100 * level:.4g} % interval"


def _alone(names: list[str], estimate: Floats, what: str) -> Weighed:
    nothing = np.full(len(names), np.nan)
    return Weighed(names, np.asarray(estimate, np.float64), nothing, nothing, what, ["without intervals"])


def _of_softmax(fit: Any, model: SoftmaxModel, level: float, how: Mapping[str, Any]) -> Weighed:
    try:
        table = fit.coefficients(level=level, **how)
    except (EstimationError, ArgumentError, AttributeError):
        if how:
            raise
        labels = model.target.labels
        names = [f"{term} → {label}" for term in model.terms for label in labels]
        return _alone(names, np.asarray(model.weights, np.float64).reshape(-1), "weight")
    several = len(set(table.classes)) > 1
    names = [f"{t} → {c}" if several else t for t, c in zip(table.terms, table.classes, strict=True)]
    what = f"log-odds against {table.target}={table.reference}"
    remarks = [f"lines: {100 * level:.4g} % intervals"]
    return Weighed(names, table.estimate, table.lower, table.upper, what, remarks)
