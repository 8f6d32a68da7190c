"""Rows with gaps of a normal distribution: their log-density, and the gaps filled.

Rows that have the same gaps are answered together. Lengths are in standard deviations throughout, so that variables of
different units keep their digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.errors import ModelError
from suffice.inference.blanket import Blanket, distinct
from suffice.inference.conditional_gaussian_draws import TINY
from suffice.inference.gap_rows import patterns
from suffice.types import Bools, Floats, Ints

Filled = tuple[Ints, Floats, Floats]
CHUNK = 2**16
"""Rows, or numbers of stacked matrices over a few, that are worked on at a time."""


@dataclass(frozen=True, eq=False)
class NormalEngine:
    """What a normal distribution answers for rows that lack values."""

    missing: MissingNormalValues

    def refusal(self, codes: Ints, values: Floats) -> ModelError:
        """Return the error for a row whose density is zero as a float."""
        return ModelError("The density of the row is zero as a float. Check the values and their units.")


@dataclass(frozen=True, eq=False)
class MissingNormalValues:
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

    def marginal(self, target: int, codes: Ints, values: Floats, level: float) -> Floats:
        """Return mean, standard deviation and central interval of one variable given each row; shape (n_rows, 4)."""
        from scipy.special import ndtri

        known = ~np.isnan(values)
        known[:, target] = False
        free = self._blanket.reached(target, known) & ~known
        first, back = distinct(np.packbits(free, axis=1))
        pull, variance = self._pull(target, free[first])
        mean, sd = np.empty(len(values)), np.sqrt(variance)[back]
        for start in range(0, len(values), CHUNK):
            rows = slice(start, start + CHUNK)
            gap = np.where(known[rows], values[rows] - self.mean, 0.0)
            mean[rows] = self.mean[target] - np.einsum("ij,ij->i", gap, pull[back[rows]])
        reach = float(ndtri(0.5 + level / 2)) * sd
        return np.stack([mean, sd, mean - reach, mean + reach], axis=1)

    def _pull(self, target: int, free: Bools) -> tuple[Floats, Floats]:
        """Return by how much a target falls with each variable that was seen, and its variance, for sets of gaps.

        With F the gaps and K the precision: K_FF⁻¹ K_FS, the target's row of it, and the target's place in K_FF⁻¹.
        Gaps that do not reach the target are not among them.
        """
        roots = np.sqrt(np.diag(self.precision))
        scaled = self.precision / roots[:, None] / roots
        pull, variance = np.empty(free.shape), np.empty(len(free))
        sizes = free.sum(axis=1)
        for size in np.unique(sizes).tolist():
            sets = np.flatnonzero(sizes == size)
            for here in np.array_split(sets, 1 + len(sets) * size * len(roots) // CHUNK):
                members = np.nonzero(free[here])[1].reshape(len(here), size)
                unit = (members == target).astype(np.float64)
                inner = scaled[members[:, :, None], members[:, None, :]]
                row = np.linalg.solve(inner, unit[:, :, None])[:, :, 0]
                pull[here] = np.einsum("nf,nfs->ns", row, scaled[members]) * roots / roots[target]
                variance[here] = np.einsum("nf,nf->n", row, unit) / roots[target] ** 2
        return pull, variance

    @cached_property
    def _blanket(self) -> Blanket:
        p = len(self.mean)
        pairs = np.argwhere(np.triu(self.precision != 0, 1))
        return Blanket(p, [(int(a), int(b)) for a, b in pairs])

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


NormalGaps = MissingNormalValues
"""The name in pickles of 0.1.0."""
