"""What the data have on average against what the model expects: margins of tables, features, means and covariances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import ArgumentError, StatisticsError
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.feature_design import design_of
from suffice.models.joint_normal import JointNormal
from suffice.report.canvas import COLOURS, QUIET, Look, axes_for, entitle, plain
from suffice.result.fit import Fit
from suffice.stats.needs import Count, Moment
from suffice.structures.cliques import Cliques
from suffice.structures.dag import DAG
from suffice.structures.features import Features
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.structures.structure import public_name
from suffice.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MANY = 2000  # points above which each is drawn smaller and paler


@dataclass(frozen=True, eq=False)
class MomentPairs:
    """Numbers of the data and of the model that belong together.

    Attributes
    ----------
    data, model : array, shape (n,)
    what : str
        What they are.
    """

    data: Floats
    model: Floats
    what: str


def moments_plot(fit: Fit, *, ax: Axes | None = None) -> Axes:
    """Draw what the data have on average against what the fitted model expects; a perfect match lies on the line.

    Of `Cliques` and of networks of tables these are the probabilities of all cells that were counted, of `Features` the
    averages of the features, and of normal distributions means and covariances, the data having mean zero and variance
    one.

    Parameters
    ----------
    fit : Fit
    ax : Axes, optional
        Where to draw; a new figure of one column's width unless given.

    Returns
    -------
    Axes

    Notes
    -----
    Maximum likelihood in a Markov random field puts every point of its cliques on the line. In a Bayesian network the
    conditional tables match, and margins of parents that are not joined need not. Needs the extra ``plot``:
    ``pip install 'suffice[plot]'``.

    Examples
    --------
    >>> import suffice as sf
    >>> from suffice.report import moments_plot
    >>> table = sf.Contingency([[20, 10], [12, 18]], {"A": ["x", "y"], "B": ["u", "v"]})
    >>> points = moments_plot(sf.fit(sf.Cliques("A:B"), table)).collections[0].get_offsets()
    >>> points.round(4).tolist()
    [[0.3333, 0.3333], [0.1667, 0.1667], [0.2, 0.2], [0.3, 0.3]]
    """
    pairs = moment_pairs(fit)
    ax, is_new = axes_for(ax, 3.2)
    both = np.concatenate([pairs.data, pairs.model])
    low, high = float(both.min()), float(both.max())
    edge = 0.05 * (high - low) or 0.5
    limits = (low - edge, high + edge)
    many = len(pairs.data) > MANY
    ax.plot(limits, limits, color=QUIET, linewidth=0.9, linestyle="--", zorder=1)
    look: Look = {"s": 6, "alpha": 0.35, "linewidths": 0} if many else {"s": 18, "alpha": 0.75}
    ax.scatter(pairs.data, pairs.model, color=COLOURS[0], edgecolors="white" if not many else "none", zorder=2, **look)
    ax.set(xlim=limits, ylim=limits, aspect="equal")
    _same_ticks(ax)
    plain(ax)
    worst = float(np.abs(pairs.data - pairs.model).max())
    title = f"largest gap {worst:.2g} in {len(pairs.data):,} {pairs.what}"
    entitle(ax, is_new, x="data", y="model", title=title)
    return ax


def _same_ticks(ax: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=5))


# The numbers --------------------------------------------------------------------------------------------------


def moment_pairs(fit: Fit) -> MomentPairs:
    """Return what the data and the model have on average."""
    structure, model = (fit.structure, fit.model) if isinstance(fit, Fit) else (None, None)
    if isinstance(structure, Features) and not structure.given and not structure.continuous:
        return _of_features(fit)
    if isinstance(structure, Cliques):
        return _of_cells(fit, structure.cliques)
    if isinstance(structure, DAG) and isinstance(model, BayesianNetwork):
        if model.schema.variables and not any(variable.is_discrete for variable in model.schema.variables):
            return _of_normal(fit, model.to_joint_normal(), [(*structure.parents[v], v) for v in structure.nodes])
        if all(variable.is_discrete for variable in model.schema.variables):
            return _of_cells(fit, [(*structure.parents[v], v) for v in structure.nodes])
    if isinstance(structure, GaussianMarkov) and isinstance(model, JointNormal):
        return _of_normal(fit, model, [structure.variables])
    raise ArgumentError(
        "Averages of data and model are compared for fits of sf.Cliques, sf.Features without inputs, "
        "sf.GaussianMarkov, sf.MultivariateNormal, and of sf.DAG with nodes that are all discrete or all continuous. "
        f"This one is of {public_name(type(structure))}."
    )


def _require_total(fit: Fit) -> float:
    if not fit.n > 0:
        raise StatisticsError("This fit is of no rows, so that there are no averages to compare with the model's.")
    return float(fit.n)


def _of_cells(fit: Fit, scopes: Iterable[Sequence[str]]) -> MomentPairs:
    """Compare every cell of every table that was counted."""
    total = _require_total(fit)
    data, model = [], []
    for scope in scopes:
        data.append(np.asarray(fit.statistics[Count(tuple(scope))].table(), np.float64).reshape(-1) / total)
        model.append(fit.model.query(list(scope)).to_numpy().reshape(-1))
    return MomentPairs(np.concatenate(data), np.concatenate(model), "cells")


def _of_features(fit: Fit) -> MomentPairs:
    """Compare the averages of the features, from the margins of their scopes."""
    total = _require_total(fit)
    design = design_of(fit.structure, fit.model.schema)
    scopes = [tuple(design.names[v] for v in scope) for scope in design.layout.scopes]
    expected = design.layout.flat([fit.model.query(list(scope)).to_numpy() for scope in scopes])
    counted = design.layout.flat([fit.statistics[Count(scope)].table() for scope in scopes])
    return MomentPairs(design.moments(counted / total), design.moments(expected), "features")


def _of_normal(fit: Fit, model: JointNormal, scopes: Iterable[Sequence[str]]) -> MomentPairs:
    """Compare means and covariances, in units of the data's standard deviations."""
    total = _require_total(fit)
    place = {name: position for position, name in enumerate(model.variables)}
    seen: dict[tuple[str, ...], tuple[float, float]] = {}
    for scope in scopes:
        moments = fit.statistics[Moment(tuple(scope), ())]
        mean = np.asarray(moments.mean, np.float64).reshape(-1) + np.asarray(moments.rest, np.float64).reshape(-1)
        covariance = np.asarray(moments.scatter, np.float64).reshape(len(scope), len(scope)) / total
        sd = np.sqrt(np.diag(covariance))
        at = [place[name] for name in scope]
        for i, name in enumerate(scope):
            seen[name,] = (0.0, float((model.mean[at[i]] - mean[i]) / sd[i]))
            for j in range(i + 1):
                unit = sd[i] * sd[j]
                key = (scope[j], name) if at[j] <= at[i] else (name, scope[j])
                seen[key] = (float(covariance[i, j] / unit), float(model.covariance[at[i], at[j]] / unit))
    data, expected = np.array(list(seen.values())).T
    return MomentPairs(data, expected, "moments")
