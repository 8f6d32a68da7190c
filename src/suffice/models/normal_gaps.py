"""Rows with gaps of a normal distribution: their log-density, and the gaps filled.

Rows that have the same gaps are answered together. Lengths are in standard deviations throughout, so that variables of
different units keep their digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.inference.conditional_gaussian_draws import TINY
from suffice.inference.gap_rows import patterns

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Filled = tuple[Ints, Floats, Floats]


@dataclass(frozen=True, eq=False)
class NormalGaps:
    """How the gaps of rows are integrated out and filled, for one normal distribution.

    Attributes
    ----------
    mean : array, shape (p,)
    covariance, precision : array, shape (p, p)
    """

    mean: Floats
    covariance: Floats
    precision: Floats

    def log_sum(self, codes: Ints, values: Floats) -> Floats:
        """Return the log-density of what was seen in each row; one for rows of which nothing was."""
        from scipy.linalg import solve_triangular

        total = np.empty(len(values))
        sd = np.sqrt(np.diag(self.covariance))
        for rows, seen, _ in self._situations(values):
            lower = np.linalg.cholesky(self.covariance[np.ix_(seen, seen)] / sd[seen][:, None] / sd[seen])
            gap = (values[np.ix_(rows, seen)] - self.mean[seen]) / sd[seen]
            whitened = solve_triangular(lower, gap.T, lower=True, check_finite=False) if len(seen) else gap.T
            log_det = float(np.log(np.diag(lower)).sum() + np.log(sd[seen]).sum())
            total[rows] = -0.5 * ((whitened**2).sum(axis=0) + len(seen) * math.log(2 * math.pi)) - log_det
        return total

    def most_likely(self, codes: Ints, values: Floats) -> Filled:
        """Fill gaps by their means given the row, which are also their most likely values."""
        return codes, self._filled(values, None), np.zeros(len(values))

    each_alone = most_likely

    def draw(self, codes: Ints, values: Floats, uniform: Floats) -> Filled:
        """Fill gaps by draws from p(gaps | row); ``uniform`` has a number for every value of every row."""
        return codes, self._filled(values, uniform), np.zeros(len(values))

    def _filled(self, values: Floats, uniform: Floats | None) -> Floats:
        """Return conditional means, and draws around them where there are uniform numbers."""
        from scipy.linalg import cho_solve, solve_triangular
        from scipy.special import ndtri

        filled = values.copy()
        for rows, seen, free in self._situations(values):
            roots = np.sqrt(np.diag(self.precision)[free])
            lower = np.linalg.cholesky(self.precision[np.ix_(free, free)] / roots[:, None] / roots)
            gap = (values[np.ix_(rows, seen)] - self.mean[seen]).T
            pull = self.precision[np.ix_(free, seen)] @ gap / roots[:, None]
            moved = -cho_solve((lower, True), pull)
            if uniform is not None:
                normal = ndtri(uniform[np.ix_(rows, free)].T + TINY)
                moved += solve_triangular(lower, normal, lower=True, trans="T")
            filled[np.ix_(rows, free)] = self.mean[free] + (moved / roots[:, None]).T
        return filled

    @staticmethod
    def _situations(values: Floats) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Yield rows with the variables that they have and those that they lack."""
        for pattern, rows in patterns(np.isnan(values)):
            yield rows, np.flatnonzero(~pattern), np.flatnonzero(pattern)
