"""The coefficients of a linear-Gaussian node, each with its standard error, as a regression is printed.

Given the parents, least squares is normal around the truth: its covariance is σ² (X'X)⁻¹, and with the unbiased s² in
place of σ² the ratio of a coefficient to its standard error is Student's, on as many degrees of freedom as rows are
left after the coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from suffice.data.frame import to_native
from suffice.errors import ArgumentError, EstimationError, require_fraction, require_text
from suffice.models.capabilities import HasNodes
from suffice.models.cpds import nodes_of
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD, rows_of_moments
from suffice.models.cpds.linear_gaussian_kind import LinearGaussianKind
from suffice.models.cpds.tabular import describe_configuration
from suffice.priors.binding import prior_of
from suffice.result.goodness import p_text
from suffice.result.wald_columns import WaldColumns
from suffice.stats.moments import Moments
from suffice.text import fixed, html_table, number, plain_table
from suffice.types import Array, Floats, Frame
from suffice.values import Label

if TYPE_CHECKING:
    from suffice.result.fit import Fit


@dataclass(frozen=True, eq=False)
class CoefficientTable(WaldColumns):
    """The coefficients of a node, each with its standard error and what follows from it.

    Attributes
    ----------
    node : str
    configurations : tuple of str
        The states of the discrete parents that a row belongs to; empty text without discrete parents.
    terms : tuple of str
        ``"(intercept)"``, or the parent that a row's coefficient belongs to.
    estimate, se, z, p, lower, upper, df : arrays, shape (n_rows,)
        The coefficient, its standard error, their ratio (Student's t), the probability of a larger one if the
        coefficient were zero, the ends of the interval, and the degrees of freedom.
    level : float
        That of the intervals.
    """

    node: str
    configurations: tuple[str, ...] = field(repr=False)
    terms: tuple[str, ...] = field(repr=False)
    estimate: Floats = field(repr=False)
    se: Floats = field(repr=False)
    freedom: Floats = field(repr=False)
    level: float

    @property
    def df(self) -> Floats:
        """The degrees of freedom of every ratio."""
        return self.freedom

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a coefficient.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        columns: dict[str, Array | Sequence[Label]] = {
            "configuration": list(self.configurations),
            "term": list(self.terms),
        }
        return to_native({**columns, **self._numbers, "df": self.df}, backend)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for row, (configuration, term) in enumerate(zip(self.configurations, self.terms, strict=True)):
            estimate, se, z, p, lower, upper = (float(column[row]) for column in self._numbers.values())
            numbers = [number(estimate), number(se, 4), fixed(z, 2), p_text(p), number(lower, 5), number(upper, 5)]
            rows.append([configuration, term, *numbers])
        level = f"{100 * self.level:g} % from"
        header, align = ["configuration", "term", "estimate", "std. error", "t", "p", level, "to"], "<<>>>>>>"
        if any(self.configurations):
            return header, rows, align
        return header[1:], [row[1:] for row in rows], align[1:]

    def __str__(self) -> str:
        return plain_table(*self._cells())

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption=f"coefficients of {self.node}")


def coefficient_table(fit: Fit, node: str, level: float) -> CoefficientTable:
    """Return the coefficients of one node; see `suffice.NetworkFit.coefficients`."""
    require_fraction("level", level)
    cpd = fit.model.cpd(require_text("node", node)) if isinstance(fit.model, HasNodes) else None
    if not isinstance(cpd, LinearGaussianCPD):
        raise ArgumentError(
            f"Coefficients are those of a linear-Gaussian node of a Bayesian network, which {node!r} is not. "
            "Name a continuous node of a fit of sf.DAG."
        )
    kind = nodes_of(fit.structure, fit.statistics.schema)[node][0]
    assert isinstance(kind, LinearGaussianKind)
    tied = any(node in group for group in fit.structure.tie)
    prior = prior_of(fit.prior, kind, cpd.family)
    if prior is not None or kind.ridge or kind.singular != "error" or kind.tied == "slopes" or tied:
        intervals = f" After a fit with a prior, its posterior has intervals: fit.posterior[{node!r}]."
        raise EstimationError(
            f"Standard errors of {node!r} are known for least squares: without a prior, ridge or minimum norm, slopes "
            "tied without their variance, or nodes tied to others."
            + (intervals if fit.prior is None or fit.posterior is not None else " Fit without a prior on it for them.")
        )
    _require_least_squares(cpd, kind, fit.statistics[kind.need(cpd.family)])
    weight, means, scatter = rows_of_moments(fit.statistics[kind.need(cpd.family)])
    q = scatter.shape[1] - 1
    inner, mean = scatter[:, :-1, :-1], means[:, :-1].astype(np.float64)
    seen = np.flatnonzero(weight > 0)
    squares = cpd.squares(fit.statistics[kind.need(cpd.family)])
    if kind.tied == "both":
        inner = np.broadcast_to(inner[seen].sum(axis=0), inner.shape)
    freedom = _unbiased(kind).divisors(weight, q)
    pooled = kind.tied in ("variance", "both")
    s2 = np.where(freedom > 0, (squares[seen].sum() if pooled else squares) / np.maximum(freedom, 1e-300), np.nan)
    configurations, terms, estimates, errors, dfs = [], [], list[float](), list[float](), list[float]()
    for row in seen:
        inverse = np.linalg.inv(inner[row]) if q else np.zeros((0, 0))
        variances = np.append(1 / weight[row] + mean[row] @ inverse @ mean[row], np.diag(inverse))
        said = describe_configuration(cpd.family.discrete, np.unravel_index(row, cpd._sizes)) if cpd._sizes else ""
        configurations += [said] * (q + 1)
        terms += ["(intercept)", *(parent.name for parent in cpd.family.continuous)]
        estimates += [float(cpd.intercept[row]), *cpd.coefficients[row].tolist()]
        errors += np.sqrt(s2[row] * variances).tolist()
        dfs += [float(freedom[row])] * (q + 1)
    estimate, se, df = (np.array(values, np.float64) for values in (estimates, errors, dfs))
    return CoefficientTable(node, tuple(configurations), tuple(terms), estimate, se, df, level)


def _require_least_squares(cpd: LinearGaussianCPD, kind: LinearGaussianKind, moments: Moments) -> None:
    """Refuse coefficients that were given, and not estimated."""
    if not kind.residual(cpd, moments) <= 1e-6:
        raise EstimationError(
            f"The coefficients of {cpd.family.child.name!r} were given, and not estimated, so they have no standard "
            "errors. Fit without 'fixed' for them."
        )


def _unbiased(kind: LinearGaussianKind) -> LinearGaussianKind:
    """Return the kind whose divisors are the degrees of freedom."""
    return kind.configured("", {"divisor": "n-p"})
