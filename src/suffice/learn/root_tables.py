"""Conditional tables by the roots of their probabilities, for climbs by gradients.

A row of a table is in proportion to the squares of its coordinates, θ ∝ u². By u the complete rows' likelihood has the
curvature 4 m(pa) in all cells of a row, rare ones included; and a probability that goes to zero does so like any
other that goes to its optimum, where its logarithm would run away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from suffice.types import Floats, Ints

FAINT = 1e-4
"""Added to expected counts that others are divided by."""
LEAST = 1e-7
"""The least root that a climb begins at: a zero would stay one."""
ZERO, LIFTED = 1e-9, 1e-6
"""Probabilities below the first are taken for zero; those with which the likelihood rises begin again at the second."""


@dataclass(frozen=True, eq=False)
class RootTables:
    """The rows of some tables, one table after another.

    Attributes
    ----------
    row : array of int
        The row that each cell is in.
    lead : array of int
        The cell that stands for each: another one where tables are tied.
    """

    row: Ints
    lead: Ints

    def roots(self, tables: Floats) -> Floats:
        """Return the coordinates of tables."""
        return np.sqrt(np.maximum(tables, LEAST**2))

    def tables(self, roots: Floats) -> Floats:
        """Return the tables of coordinates."""
        squares = roots[self.lead] ** 2
        found: Floats = squares / np.bincount(self.row, squares)[self.row]
        return found

    def gaps(self, tables: Floats, counts: Floats) -> Floats:
        """Return m̄(x, pa) − m̄(pa) θ(x | pa), the derivatives by log-odds; of tied tables the sum."""
        gaps = counts - np.bincount(self.row, counts)[self.row] * tables
        found: Floats = np.bincount(self.lead, gaps, len(gaps))[self.lead].astype(np.float64)
        return found

    def gradient(self, roots: Floats, gaps: Floats) -> Floats:
        """Return the derivatives by the coordinates."""
        moves = (roots != 0) & (self.lead == np.arange(len(self.lead)))
        return np.where(moves, 2 * gaps / np.where(roots == 0, 1.0, roots), 0.0)

    def totals(self, counts: Floats) -> Floats:
        """Return what is counted of each cell's row, of tied ones together."""
        found: Floats = np.bincount(self.row[self.lead], counts)[self.row[self.lead]].astype(np.float64)
        return found

    def scale(self, counts: Floats, n: float) -> Floats:
        """Return about the diagonal of the inverse Hessian, a row of data."""
        return n / (4 * (self.totals(counts) + FAINT))

    def gain(self, tables: Floats, counts: Floats, gaps: Floats) -> float:
        """Return what the tables of these counts would add to the likelihood of complete rows, in nats."""
        sizes = self.totals(counts) * tables
        held = (sizes > 0) & (self.lead == np.arange(len(self.lead)))
        return float((gaps[held] ** 2 / sizes[held]).sum()) / 2

    def lifted(self, roots: Floats, counts: Floats, limit: float) -> Floats | None:
        """Return coordinates in which zeros are lifted with which the likelihood rises; None without any.

        ``counts`` are those that are expected where zeros are replaced by `ZERO`, and ``limit`` the slope that counts.
        """
        slopes = np.bincount(self.lead, counts, len(counts))[self.lead] / ZERO - self.totals(counts)
        wanted = (self.tables(roots) < ZERO) & (slopes > limit)
        if not wanted.any():
            return None
        sizes = np.sqrt(np.bincount(self.row, roots[self.lead] ** 2)[self.row])
        return np.where(wanted, sizes * math.sqrt(LIFTED), roots)
