"""What a softmax regression minimises: the mean of −log p(y | x), plus a ridge under a normal prior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from suffice.learn.softmax_design import HeldTable, SoftmaxDesign
from suffice.learn.softmax_passes import Hessian, HessianTimes, Kept, SoftmaxGradient, SoftmaxPoint, run
from suffice.learn.softmax_summary import Summary
from suffice.settings import settings
from suffice.stats.source import BlockSource, Source
from suffice.types import Floats


@dataclass(frozen=True, eq=False)
class SoftmaxObjective:
    """The function of the slopes and intercepts, with its derivatives.

    Attributes
    ----------
    source : Source
    design : SoftmaxDesign
    summary : Summary
    total : float
        N, the weight of all rows.
    intercept : bool
        Whether intercepts are free; otherwise they are zero.
    ridge : float
        1/σ², which multiplies half the squares of all slopes; zero for none.
    """

    source: Source
    design: SoftmaxDesign
    summary: Summary
    total: float
    intercept: bool = True
    ridge: float = 0.0

    @property
    def _table(self) -> HeldTable | None:
        """The rows in memory; None where they are not."""
        table = self.source.table if isinstance(self.source, BlockSource) else None
        return table if isinstance(table, HeldTable) else None

    @property
    def held(self) -> HeldTable | None:
        """The rows in memory, written out; None where they are not."""
        table = self._table
        return table if table is not None and table.is_dense else None

    @cached_property
    def _keeps(self) -> bool:
        """Whether probabilities of all rows are kept: rows are in memory, and these fit beside them."""
        table = self._table
        return table is not None and table.n_expected * self.design.n_classes * 8 <= settings().memory / 4

    def at(
        self, point: SoftmaxPoint, *, curved: bool = True
    ) -> tuple[float, SoftmaxPoint, Callable[[SoftmaxPoint], SoftmaxPoint]]:
        """Return value, gradient, and the function that multiplies a direction by the Hessian."""
        kept: Kept | None = {} if curved and self._keeps else None
        task = SoftmaxGradient(self.design, point, kept)
        losses, *slopes = run(self.source, task)
        gradient, value = self._point(*slopes), float(losses[0]) / self.total
        if self.ridge:
            flat = point.slopes.ravel(order="K")
            value += self.ridge / (2 * self.total) * float(flat.dot(flat))
            gradient = self._with_ridge(gradient, point)

        def product(direction: SoftmaxPoint) -> SoftmaxPoint:
            times = HessianTimes(self.design, point, direction, kept)
            found = self._point(*run(self.source, times))
            return self._with_ridge(found, direction) if self.ridge else found

        return value, gradient, product

    def hessian(self, point: SoftmaxPoint) -> Floats:
        """Return all second derivatives, each class' intercept before its slopes; shape (K (T + 1),) * 2."""
        task = Hessian(self.design, point, int(np.argmax(self.summary.counts)))
        whole = task.completed(*run(self.source, task)) / self.total
        if self.ridge:
            sloped = np.tile(np.arange(1 + self.design.n_terms) > 0, self.design.n_classes)
            whole[sloped, sloped] += self.ridge / self.total
        return whole

    def _point(self, by_intercept: Floats, by_slopes: Floats) -> SoftmaxPoint:
        """Return derivatives of the mean, from those of the sum."""
        by_slopes /= self.total
        return SoftmaxPoint(by_slopes, by_intercept / self.total if self.intercept else np.zeros_like(by_intercept))

    def _with_ridge(self, gradient: SoftmaxPoint, point: SoftmaxPoint) -> SoftmaxPoint:
        slopes = gradient.slopes
        slopes += self.ridge / self.total * point.slopes
        return SoftmaxPoint(slopes, gradient.intercept)

    def residual(self, gradient: SoftmaxPoint) -> float:
        """Return the largest derivative, those by slopes in units of their term, the score at the centre being held."""
        slopes = np.empty_like(gradient.slopes)  # in their order of rows and columns, whichever it is
        np.multiply(gradient.intercept[:, None], self.summary.centre, out=slopes)
        np.subtract(gradient.slopes, slopes, out=slopes)
        slopes /= self.summary.units
        largest = max(slopes.max(initial=0.0), -slopes.min(initial=0.0))
        return float(max(largest, np.abs(gradient.intercept).max(initial=0.0)))

    def every(self, stride: int) -> SoftmaxObjective:
        """Return the same function of every so many rows."""
        table = self.held
        assert table is not None
        thin = table.every(stride)
        weight = sum(block.weight for block in thin.held)
        return replace(self, source=BlockSource(thin), total=weight, ridge=self.ridge * weight / self.total)
