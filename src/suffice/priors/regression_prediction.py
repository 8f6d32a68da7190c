"""New cases under the posterior of a regression: Student's t, several of them together where they share parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from suffice.types import Bools, Columns, Floats, Ints

if TYPE_CHECKING:
    from suffice.priors.regression_posterior import RegressionPosterior


class StudentT(NamedTuple):
    """Student's t distributions, one a row: location, scale and degrees of freedom; each of shape (n_rows,)."""

    location: Floats
    scale: Floats
    dof: Floats

    def log_prob(self, values: Floats) -> Floats:
        """Return the log-density of a value under each distribution; shape (n_rows,)."""
        from scipy.special import gammaln

        squares = ((np.asarray(values, np.float64) - self.location) / self.scale) ** 2
        height = gammaln((self.dof + 1) / 2) - gammaln(self.dof / 2) - 0.5 * np.log(math.pi * self.dof)
        found: Floats = height - np.log(self.scale) - (self.dof + 1) / 2 * np.log1p(squares / self.dof)
        return found


class Use(NamedTuple):
    """One use of a regression in every row of columns: which, the child's location, and Fᵀ(x − u)."""

    row: Ints
    location: Floats
    reach: Floats


def use_of(posterior: RegressionPosterior, columns: Columns, n_rows: int) -> Use:
    """Return which of a posterior's regressions each row of columns uses, and where."""
    row = np.zeros(n_rows, np.int64)
    for parent in posterior.family.discrete:
        row = row * parent.n_states + np.asarray(columns[parent.name], np.int64)
    values = [np.asarray(columns[parent.name], np.float64) for parent in posterior.family.continuous]
    x = np.stack(values, axis=1) if values else np.zeros((n_rows, 0))
    away = x - posterior.centre[row]
    location = posterior.level[row] + (posterior.slopes[row] * away).sum(axis=1)
    reach = np.einsum("nij,ni->nj", posterior.spread[row], away)
    return Use(row, np.where(posterior.unknown[row], np.nan, location), reach)


def student(posterior: RegressionPosterior, columns: Columns, n_rows: int) -> StudentT:
    """Return the distribution of the child of every row of columns by itself."""
    use = use_of(posterior, columns, n_rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.sqrt(posterior.scale[use.row] / posterior.shape[use.row] * (1 + _product(posterior, use, use)))
    return StudentT(use.location, scale, 2 * posterior.shape[use.row])


def log_predictive_together(posteriors: Sequence[RegressionPosterior], columns: Columns) -> Floats:
    """Return the log-density of several children of each row that share their parameters; shape (n_rows,).

    Each use of a regression also learns from the uses before it in the same row: together they are multivariate t.
    """
    from scipy.special import gammaln

    y = [np.asarray(columns[posterior.family.child.name], np.float64) for posterior in posteriors]
    lead, n_rows, k = posteriors[0], len(y[0]), len(posteriors)
    uses = [use_of(posterior, columns, n_rows) for posterior in posteriors]
    known = ~np.isnan(np.sum([use.location for use in uses], axis=0))
    same, spread = _covariance(lead, uses)
    lower = np.linalg.cholesky(np.where(known[:, None, None], spread, np.eye(k)))
    gaps = np.stack([child - use.location for child, use in zip(y, uses, strict=True)], axis=1)
    z = np.linalg.solve(lower, gaps[:, :, None])[:, :, 0]
    total = np.zeros(n_rows)
    for i, use in enumerate(uses):
        earlier = same[:, i, :i]
        a = np.where(known, lead.shape[use.row] + earlier.sum(axis=1) / 2, 1.0)
        b = lead.scale[use.row] + np.where(earlier, z[:, :i] ** 2, 0.0).sum(axis=1) / 2
        total += gammaln(a + 0.5) - gammaln(a) - 0.5 * np.log(2 * math.pi * b) - np.log(lower[:, i, i])
        total -= (a + 0.5) * np.log1p(z[:, i] ** 2 / (2 * b))
    return total


def _covariance(lead: RegressionPosterior, uses: Sequence[Use]) -> tuple[Bools, Floats]:
    """Return which uses are of the same regression, and the children's covariance over σ²; shapes (n_rows, k, k)."""
    shape = (len(uses[0].row), len(uses), len(uses))
    same, spread = np.zeros(shape, bool), np.zeros(shape)
    for i, use in enumerate(uses):
        for j, other in enumerate(uses):
            same[:, i, j] = use.row == other.row
            spread[:, i, j] = np.where(same[:, i, j], _product(lead, use, other), 0.0) + (i == j)
    return same, spread


def _product(posterior: RegressionPosterior, one: Use, other: Use) -> Floats:
    """Return the covariance, over σ², of two locations on the same line: 1/κ + (x − u)ᵀ P⁻¹ (x' − u)."""
    with np.errstate(divide="ignore"):
        found: Floats = 1 / posterior.weight[one.row] + (one.reach * other.reach).sum(axis=1)
    return found
