"""Goodness of fit: how far the data are from the model, against what chance alone would do."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError, StatisticsError, shown
from suffice.families import family_of, names_with
from suffice.inference.facial_dimension import dimension
from suffice.learn.matching import JOINT_VARIABLES
from suffice.models.clique_layout import layout_of
from suffice.models.markov_net import MarkovNetwork
from suffice.result.feature_cells import features_of, rank_on
from suffice.stats.counts import DENSE_CELLS, Counts
from suffice.stats.needs import Count, Distinct
from suffice.stats.statistics import Statistics
from suffice.structures.features import Features
from suffice.structures.structure import public_name
from suffice.text import fixed, html_table, plain_table, probability

if TYPE_CHECKING:
    from suffice.result.fit import Fit


SATURATED = 1e-6
"""A model without degrees of freedom fits to rounding error; statistics below this are that error."""

INEXACT = ("pseudo_likelihood", "stochastic")
"""Methods whose estimate is not that of maximum likelihood, or is so only but for a Monte-Carlo error."""


@dataclass(frozen=True)
class Goodness:
    """Tests of a model against the saturated one, which fits every cell.

    Attributes
    ----------
    G2 : float
        The likelihood-ratio statistic, 2 Σ m log(m / m̂).
    X2 : float or None
        Pearson's statistic, Σ (m − m̂)² / m̂; None for models without cells.
    df : int
        Cells less one less free parameters: what other programs print.
    df_adjusted : int or None
        Degrees of freedom on the cells that the fitted model leaves possible, which differ when zeros of the data put
        the estimate on the boundary; None where they could not be counted.
    p_value, p_value_X2 : float or None
        The probability of larger values under the model, by the χ² distribution on ``df_adjusted`` that holds for
        large samples; one for models without degrees of freedom.
    n_cells, n_possible : int or None
        Cells of the joint table, and those with a positive fitted probability.
    remarks : tuple of str
        What to know before using the numbers.

    Examples
    --------
    >>> import suffice as sf
    >>> table = sf.Contingency([[20, 10], [12, 18]], {"A": ["x", "y"], "B": ["u", "v"]})
    >>> print(sf.fit(sf.Cliques("A + B"), table).goodness)
         value  df       p
    --  ------  --  ------
    G²  4.3392   1  0.0372
    X²  4.2857   1  0.0384
    """

    G2: float
    X2: float | None
    df: int
    df_adjusted: int | None
    p_value: float
    p_value_X2: float | None  # noqa: N815, the statistic is called X²
    n_cells: int | None = None
    n_possible: int | None = None
    remarks: tuple[str, ...] = ()

    @property
    def is_adjusted(self) -> bool:
        """Whether the degrees of freedom differ on the possible cells."""
        return self.df_adjusted != self.df

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        adjusted = [] if not self.is_adjusted else ["-" if self.df_adjusted is None else f"{self.df_adjusted:,}"]
        rows = [["G²", fixed(self.G2), f"{self.df:,}", *adjusted, p_text(self.p_value)]]
        if self.X2 is not None and self.p_value_X2 is not None:
            rows.append(["X²", fixed(self.X2), f"{self.df:,}", *adjusted, p_text(self.p_value_X2)])
        header = ["", "value", "df", *(["df of possible cells"] if adjusted else []), "p"]
        return header, rows, "<" + ">" * (len(header) - 1)

    def __str__(self) -> str:
        lines = [plain_table(*self._cells())]
        for remark in self.remarks:
            lines += textwrap.wrap(f"- {remark}", 100, subsequent_indent="  ")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html_table(*self._cells()) + "".join(f"<p>{remark}</p>" for remark in self.remarks)


def goodness(fit: Fit, statistics: Statistics | None = None) -> Goodness:
    """Compare a fit with the saturated model.

    Parameters
    ----------
    fit : Fit
    statistics : Statistics, optional
        Where the counts of the whole table are, if not among the fit's own statistics: for many variables, those of
        ``sf.collect(sf.Cliques([fit.structure.variables]), data)``.
    """
    measure = measure_for(fit.structure)
    if measure is None:
        known = names_with(lambda family: family.goodness is not None)
        raise ArgumentError(
            f"Goodness of fit is known for fits of {known}, without inputs or densities. This one is of "
            f"{public_name(type(fit.structure))}{inputs_text(fit.structure)}."
        )
    return measure(fit, fit.statistics if statistics is None else statistics)


def measure_for(structure: Any) -> Callable[[Any, Statistics], Goodness] | None:
    """Return how goodness of fit is measured; None for structures without a saturated model to compare with."""
    if isinstance(structure, Features) and (structure.given or structure.continuous):
        return None
    return family_of(structure).goodness


def inputs_text(structure: Any) -> str:
    """Say that a structure has inputs or densities, where it has.

    >>> import suffice as sf
    >>> inputs_text(sf.Cliques("A:B"))
    ''
    """
    if structure.given:
        return " with inputs"
    is_density = isinstance(structure, Features) and structure.continuous
    return " with continuous variables" if is_density else ""


def tail(value: float, df: int | None) -> float:
    """Return the probability that χ² on ``df`` degrees of freedom is larger than ``value``.

    >>> round(tail(3.841459, 1), 6), tail(0.0, 0), tail(2.0, 0)
    (0.05, 1.0, nan)
    """
    from scipy.special import chdtrc

    if df is None or df < 0 or math.isnan(value):
        return math.nan
    if df == 0:
        return 1.0 if value < SATURATED else math.nan
    return float(chdtrc(float(df) if df < 1 << 1000 else math.inf, value))


def p_text(p: float) -> str:
    """Format a p-value, which underflows but is never zero.

    >>> p_text(0.0), p_text(0.031), p_text(1.0)
    ('<0.0001', '0.0310', '1')
    """
    return "<0.0001" if p == 0 else probability(p)


# Tables -------------------------------------------------------------------------------------------------------


def joint_counts(fit: Fit, statistics: Statistics) -> Counts:
    """Return the counts of the whole table, in the order of the structure's variables and the states of the fit."""
    if not isinstance(statistics, Statistics):
        raise ArgumentError(
            "The 'statistics' argument must come from sf.collect(sf.Cliques([fit.structure.variables]), data). "
            f"Got {shown(statistics)} instead."
        )
    variables = fit.structure.variables
    if not statistics.n_read:
        raise StatisticsError(
            "This fit is of target margins given by hand: there are no counts to compare it with. Its certificate "
            "tells how well the margins match."
        )
    for need in statistics:
        if isinstance(need, Count | Distinct) and set(need.scope) == set(variables):
            whole: Counts = statistics[Count(variables)]
            return whole.reindexed(fit.model.schema)
    raise StatisticsError(
        f"The counts of the whole table over {len(variables):,} variables were not collected, which is done by itself "
        f"for up to {JOINT_VARIABLES}. Collect them, whole = sf.collect(sf.Cliques([fit.structure.variables]), data), "
        "and pass them: fit.expected(statistics=whole)."
    )


def goodness_of_table(fit: Fit, statistics: Statistics) -> Goodness:
    """Compare the fit with the counts of all cells."""
    counts = joint_counts(fit, statistics)
    cells, m = counts.nonzero()
    n, m = counts.total, m.astype(np.float64)
    columns = {name: cells[:, axis] for axis, name in enumerate(fit.structure.variables)}
    log_expected = fit.model.log_prob_of(columns, len(m)) + (math.log(n) if n > 0 else 0.0)
    g2 = max(0.0, 2 * math.fsum(m * (np.log(m) - log_expected)))  # eq g2
    x2 = _pearson(m, np.exp(log_expected), n, len(m) == counts.n_cells)
    df = counts.n_cells - 1 - fit.n_free
    possible = n_possible(fit.model)
    df_adjusted = adjusted_df(fit, possible)
    remarks = _remarks(fit, possible)
    return Goodness(
        g2, x2, df, df_adjusted, tail(g2, df_adjusted), tail(x2, df_adjusted), counts.n_cells, possible, remarks
    )  # fmt: skip


def _pearson(m: NDArray[np.float64], expected: NDArray[np.float64], n: float, is_full: bool) -> float:
    """Return X² from the cells that occur; each of the others adds its expected count."""
    with np.errstate(divide="ignore", invalid="ignore"):
        seen = math.fsum(np.where(expected > 0, (m - expected) ** 2 / expected, np.inf))
    return seen + (0.0 if is_full else max(0.0, n - math.fsum(expected)))


def n_possible(model: MarkovNetwork) -> int | None:
    """Count the cells of positive probability, without listing them; None beyond what a float counts exactly."""
    total = math.prod(variable.n_states for variable in model.schema.variables)
    if all((factor.values > 0).all() for factor in model.factors):
        return total
    marks = [(factor.names, (factor.values > 0).astype(np.float64)) for factor in model.factors]
    log_count = MarkovNetwork(marks, schema=model.schema).log_z
    return round(math.exp(log_count)) if log_count < math.log(1 << 40) else None


def adjusted_df(fit: Fit, possible: int | None) -> int | None:
    """Return the possible cells less one less the free parameters that they leave; None where those are not known."""
    sizes = [variable.n_states for variable in fit.model.schema.variables]
    n_cells, left = math.prod(sizes), int(fit.n_free_adjusted)
    is_counted = isinstance(fit.structure, Features) and possible is not None and possible < n_cells
    if possible is None or (fit.certificate.exists == "no" and left == fit.n_free and not is_counted):
        return None
    # Cells that were ruled out beforehand may leave fewer parameters; features are always counted on what is left.
    if is_counted or (possible < n_cells and left == fit.n_free):
        if n_cells > DENSE_CELLS:
            return None
        grid = {name: codes.reshape(-1) for name, codes in zip(fit.model.variables, np.indices(sizes), strict=True)}
        support = fit.model.log_score_of(grid, n_cells).reshape(sizes) > -np.inf
        found = _dimension_on(fit, support)
        if found is None:
            return None
        left = found
    return possible - 1 - left


def _dimension_on(fit: Fit, support: NDArray[np.bool_]) -> int | None:
    """Return the free parameters on some cells of the table."""
    if isinstance(fit.structure, Features):
        return rank_on(features_of(fit.structure, fit.model.schema), fit.structure.variables, fit.model.schema, support)
    layout = layout_of(fit.structure, fit.statistics.schema)
    return dimension(layout.sizes, layout.scopes, support)


def _remarks(fit: Fit, possible: int | None = 0) -> tuple[str, ...]:
    remarks = []
    if fit.prior is not None or fit.method in INEXACT:
        remarks.append(
            "The estimate is not by maximum likelihood, so that G² is not the likelihood-ratio statistic, and the "
            "p-values do not hold."
        )
    if fit.certificate.exists == "no":
        remarks.append(
            "The estimate lies on the boundary: fitted zeros were not free to be anything else, so that the tests are "
            "on the degrees of freedom of the possible cells."
        )
    elif fit.certificate.exists == "undecided":
        remarks.append("Whether the estimate exists is undecided; on the boundary there are fewer degrees of freedom.")
    if possible is None or fit.n < possible:
        remarks.append("There are fewer rows than cells, so that G² and X² are far from having χ² distributions.")
    return tuple(remarks)


# Normal distributions -----------------------------------------------------------------------------------------


def goodness_of_normal(fit: Fit, statistics: Statistics) -> Goodness:
    """Compare the fit with the normal distribution of all covariances."""
    from suffice.models.gaussian_deviance import deviance  # loads scipy.stats, which takes a second

    found = deviance(fit.model, statistics)
    return Goodness(found.G2, None, found.df, found.df, found.p_value, None, remarks=_remarks(fit))
