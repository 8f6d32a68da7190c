"""Posterior densities of parameters: probabilities of a table, coefficients of a regression, means of a normal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import (
    ArgumentError,
    Remedy,
    Text,
    UnknownNameError,
    listing,
    made,
    require_fraction,
    require_mapping,
    require_text,
    suggestion,
)
from suffice.models.cpds.rows import all_configurations, find_rows
from suffice.models.cpds.tabular import describe_configuration
from suffice.priors.autoregression_posterior import AutoregressionPosterior
from suffice.priors.dirichlet_rows import DirichletRows
from suffice.priors.markov_posterior import MarkovChainPosterior
from suffice.priors.niw_posterior import NormalInverseWishartPosterior
from suffice.priors.regression_posterior import RegressionPosterior
from suffice.report.canvas import Look, axes_for, colour, entitle, legend, plain, short, short_list
from suffice.result.absent_posterior import explain_absent_posterior
from suffice.result.fit import Fit
from suffice.types import Floats
from suffice.values import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from suffice.data.variable import Variable
    from suffice.priors.prior import NodePosterior

Density = Callable[[Floats], Floats]
MOST, NAME = 8, 2.4  # curves, and room for the name of one in inches
TAIL, POINTS = 1e-4, 240
STYLES = ("-", "--", "-.", ":")


@dataclass(frozen=True, eq=False)
class Curve:
    """The density of one parameter.

    Attributes
    ----------
    name : str
    density : function of an array
    quantile : function of a probability
    bounded : bool
        Whether the density has a largest value.
    """

    name: str
    density: Density
    quantile: Callable[[float], float]
    bounded: bool = True


@dataclass(frozen=True, eq=False)
class PosteriorCurves:
    """What is drawn together, and what the parameter is called."""

    curves: list[Curve]
    parameter: str
    n_more: int = 0


def posterior_plot(
    fit: Fit | NodePosterior,
    node: str = "",
    *,
    given: Mapping[str, Label] | None = None,
    state: Label | None = None,
    parameter: str | None = None,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw what prior and data say about a parameter: its density, filled over its credible interval.

    Parameters
    ----------
    fit : Fit
        Of a Bayesian network, a Markov chain or a normal distribution under a conjugate prior.
    node : str
        The node of a network; left out for others.
    given : mapping, optional
        States of the parents of a table: a curve for each state of the node. Unless given, the curves are those of one
        state, a curve for each configuration of the parents.
    state : label, optional
        Which state of a table; the last one unless given.
    parameter : str, optional
        Of a regression ``"intercept"``, ``"sd"`` or such as ``"slope of dose"``; of a normal distribution such as
        ``"mean of x"`` or ``"sd of x"``. The first slope, or the first mean, unless given.
    level : float
        That of the intervals, which are equal-tailed.
    ax : Axes, optional
        Where to draw; a new figure of one column's width unless given.

    Returns
    -------
    Axes

    Notes
    -----
    A probability of a table is Beta distributed; a coefficient has Student's t distribution, and a variance is inverse
    gamma distributed. Of more than 8 curves the first ones are drawn, and a line below says so. Needs the extra
    ``plot``: ``pip install 'suffice[plot]'``.

    Examples
    --------
    >>> import suffice as sf
    >>> from suffice.report import posterior_plot
    >>> data = {"coin": ["heads", "heads", "heads", "tails"]}
    >>> ax = posterior_plot(sf.fit(sf.DAG("coin"), data, prior=sf.Dirichlet(1.0)), "coin")
    >>> x, y = ax.lines[0].get_data()  # Beta(4, 2), whose mode is 3/4
    >>> round(float(x[y.argmax()]), 2)
    0.75
    """
    require_fraction("level", level)
    found = curves_of(fit, node, given, state, parameter)
    named = len(found.curves) > 1
    ax, is_new = axes_for(ax, 2.1 + (0.135 * len(found.curves) + 0.05 if named else 0))
    handles = []
    for k, curve in enumerate(found.curves):
        x = np.linspace(curve.quantile(TAIL), curve.quantile(1 - TAIL), POINTS)
        low, high = curve.quantile((1 - level) / 2), curve.quantile((1 + level) / 2)
        y = curve.density(x)
        look: Look = {"color": colour(k), "linewidth": 1.4, "linestyle": STYLES[k % len(STYLES)]}
        handles += ax.plot(x, y, **look)
        inside = np.linspace(low, high, POINTS)
        ax.fill_between(inside, curve.density(inside), color=colour(k), alpha=0.18, linewidth=0)
    ax.set_ylim(0.0, 1.1 * _top(found.curves))
    plain(ax)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(nbins=6))
    remarks = [f"filled: {100 * level:.4g} % credible intervals"]
    if found.n_more:
        remarks.append(f"the first {len(found.curves)} of {len(found.curves) + found.n_more:,} curves")
    if named:
        names = [short(curve.name, NAME) for curve in found.curves]
        place: Look = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "frameon": False}
        legend(ax, handles, names, labelspacing=0.2, handlelength=2.2, borderpad=0.1, borderaxespad=0.2, **place)
    entitle(ax, is_new, x=found.parameter, y="density", remarks=remarks)
    return ax


def _top(curves: list[Curve]) -> float:
    """Return how high the densities are that have a largest value; of the others, in their middle."""
    bounded = [curve for curve in curves if curve.bounded]
    tail = 0.05 if bounded else 0.25
    heights = []
    for curve in bounded or curves:
        middle = np.linspace(curve.quantile(tail), curve.quantile(1 - tail), POINTS)
        heights.append(float(curve.density(middle).max()))
    return max(heights)


# The densities ------------------------------------------------------------------------------------------------


def curves_of(
    fit: Fit | NodePosterior,
    node: str,
    given: Mapping[str, Label] | None,
    state: Label | None,
    parameter: str | None,
) -> PosteriorCurves:
    """Return the densities of a fit's parameters."""
    posterior = fit.posterior if isinstance(fit, Fit) else fit
    if isinstance(posterior, MarkovChainPosterior):
        return _of_table(posterior.transitions, given, state)
    if isinstance(posterior, NormalInverseWishartPosterior):
        return _of_normal(posterior, parameter)
    held = posterior[require_text("node", node)] if isinstance(posterior, Mapping) else posterior
    if isinstance(held, AutoregressionPosterior):
        held = held.regression
    if isinstance(held, DirichletRows):
        return _of_table(held, given, state)
    if isinstance(held, RegressionPosterior):
        return _of_regression(held, parameter)
    raise ArgumentError(
        "Posterior densities are those of fits under a conjugate prior: of tables and regressions of a Bayesian "
        "network, of Markov chains, and of sf.MultivariateNormal. This one has no such posterior. "
        + (
            (explain_absent_posterior(fit) if isinstance(fit, Fit) else None)
            or Text("Fit with a prior, such as ", Remedy("prior", made("BDeu", 10)), ".")
        )
    )


def _beta(a: float, b: float) -> tuple[Density, Callable[[float], float]]:
    from scipy.special import betaincinv, betaln

    def density(x: Floats) -> Floats:
        inside = np.clip(x, 1e-300, 1 - 1e-16)
        return np.asarray(np.exp((a - 1) * np.log(inside) + (b - 1) * np.log1p(-inside) - betaln(a, b)), np.float64)

    return density, lambda p: float(betaincinv(a, b, p))


def _student(location: float, scale: float, dof: float) -> tuple[Density, Callable[[float], float]]:
    from scipy.special import gammaln, stdtrit

    constant = gammaln((dof + 1) / 2) - gammaln(dof / 2) - np.log(scale) - np.log(dof * np.pi) / 2

    def density(x: Floats) -> Floats:
        return np.asarray(np.exp(constant - (dof + 1) / 2 * np.log1p(((x - location) / scale) ** 2 / dof)), np.float64)

    return density, lambda p: float(location + scale * stdtrit(dof, p))


def _root_inverse_gamma(shape: float, scale: float) -> tuple[Density, Callable[[float], float]]:
    """Return the density of σ where σ² is inverse gamma distributed."""
    from scipy.special import gammainccinv, gammaln

    def density(x: Floats) -> Floats:
        constant = np.log(2.0) + shape * np.log(scale) - gammaln(shape)
        return np.asarray(np.exp(constant - (2 * shape + 1) * np.log(x) - scale / x**2), np.float64)

    return density, lambda p: float(np.sqrt(scale / gammainccinv(shape, p)))


# Tables -------------------------------------------------------------------------------------------------------


def _of_table(rows: DirichletRows, given: Mapping[str, Label] | None, state: Label | None) -> PosteriorCurves:
    child, parents = rows.family.child, rows.family.parents
    if child.n_states == 1:
        raise ArgumentError(f"Node {child.name!r} has one state only, whose probability is 1 and has no density.")
    sizes = [parent.n_states for parent in parents]
    stored = all_configurations(sizes) if rows.configurations is None else rows.configurations
    if given is not None or (not parents and state is None):
        row = _row(rows, given, sizes)
        cells = [(row, code, str(label)) for code, label in enumerate(child.labels)]
        said = f" | {_said(parents, stored[row])}" if parents else ""
        parameter = f"p({child.name}{said})"
    else:
        code = child.n_states - 1 if state is None else child.code(state)
        cells = [(row, code, _said(parents, codes)) for row, codes in enumerate(stored)]
        given_names = f" | {', '.join(parent.name for parent in parents)}" if parents else ""
        parameter = f"p({child.name}={child.labels[code]}{given_names})"
    free = [cell for cell in cells if rows.given is None or not rows.given[cell[0]]]
    if not free:
        raise ArgumentError(f"The rows of {child.name!r} were given and not learnt, so that they have no density.")
    found = []
    for row, code, name in free[:MOST]:
        a = float(rows.concentration[row, code])
        b = float(rows.concentration[row].sum()) - a
        found.append(Curve(name, *_beta(a, b), bounded=min(a, b) >= 1))
    return PosteriorCurves(found, parameter, len(free) - len(found))


def _said(parents: Sequence[Variable], codes: Iterable[int]) -> str:
    """Name a configuration of the parents."""
    return short_list([f"{p.name}={p.labels[code]}" for p, code in zip(parents, codes, strict=True)], NAME)


def _row(rows: DirichletRows, given: Mapping[str, Label] | None, sizes: list[int]) -> int:
    """Return the row of a configuration of the parents."""
    states = require_mapping("given", given or {}, "{'A': 'yes'}")
    names = [parent.name for parent in rows.family.parents]
    if set(states) != set(names):
        raise ArgumentError(
            f"The 'given' argument must name a state of each parent of {rows.family.child.name!r}, which are "
            f"{listing(names)}. Got {listing(states)} instead."
        )
    codes = np.array([[parent.code(states[parent.name]) for parent in rows.family.parents]], np.int64)
    found = int(find_rows(codes.reshape(1, len(names)), sizes, rows.configurations)[0])
    if found < 0:
        raise ArgumentError(
            f"No row of {rows.family.child.name!r} belongs to {describe_configuration(rows.family.parents, codes[0])}, "
            "of which there are no data: its posterior is the prior. Name another of 'given'."
        )
    return found


# Regressions and normal distributions -------------------------------------------------------------------------


def _of_regression(held: RegressionPosterior, parameter: str | None) -> PosteriorCurves:
    slopes = [f"slope of {parent.name}" for parent in held.family.continuous]
    names = ["intercept", *slopes, "sd"]
    chosen = _chosen(parameter, names, slopes[0] if slopes else "intercept")
    place = names.index(chosen)
    rows = np.flatnonzero(~held.unknown).tolist()
    curves = []
    for row in rows[:MOST]:
        law = _of_row(held, row, place, len(names) - 1)
        sizes = [v.n_states for v in held.family.discrete]
        codes = [int(code) for code in np.unravel_index(row, sizes)] if sizes else []
        curves.append(Curve(_said(held.family.discrete, codes), *law))
    return PosteriorCurves(curves, f"{chosen}, {held.family.child.name}", len(rows) - len(curves))


def _of_row(held: RegressionPosterior, row: int, place: int, last: int) -> tuple[Density, Callable[[float], float]]:
    shape, scale = float(held.shape[row]), float(held.scale[row])
    if place == last:
        return _root_inverse_gamma(shape, scale)
    if place == 0:
        reach = held.spread[row].T @ held.centre[row]
        location, spread = float(held.intercept[row]), float(1 / held.weight[row] + reach @ reach)
    else:
        location, spread = float(held.slopes[row, place - 1]), float((held.spread[row, place - 1] ** 2).sum())
    return _student(location, float(np.sqrt(spread * scale / shape)), 2 * shape)


def _of_normal(held: NormalInverseWishartPosterior, parameter: str | None) -> PosteriorCurves:
    names = [f"{what} of {name}" for what in ("mean", "sd") for name in held.variables]
    chosen = _chosen(parameter, names, names[0])
    place, p = names.index(chosen), len(held.variables)
    dof, scale = held.hyper.dof, float(held.scale[place % p, place % p])
    if place < p:
        law = _student(float(held.centre[place]), float(np.sqrt(scale / (held.mean_weight * dof))), dof)
    else:
        law = _root_inverse_gamma(dof / 2, scale / 2)
    return PosteriorCurves([Curve("", *law)], chosen)


def _chosen(parameter: str | None, names: list[str], default: str) -> str:
    if parameter is None:
        return default
    if parameter not in names:
        raise UnknownNameError(
            f"There is no parameter {parameter!r}. The parameters are {listing(names, 12)}."
            + suggestion(parameter, names)
        )
    return str(parameter)
