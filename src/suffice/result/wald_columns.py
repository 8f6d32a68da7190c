"""What follows from an estimate and its standard error, as statisticians print it: z or t, p, and an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.types import Floats

COLUMNS = ("estimate", "se", "z", "p", "lower", "upper")


class WaldColumns:
    """The columns that follow from ``estimate``, ``se`` and ``level``; ``df`` are Student's, infinite for a normal."""

    if TYPE_CHECKING:
        estimate: Floats
        level: float

        @property
        def se(self) -> Floats:
            """The standard errors."""

    @property
    def _numbers(self) -> dict[str, Floats]:
        """The columns by name, in the order of `COLUMNS`."""
        return dict(zip(COLUMNS, (self.estimate, self.se, self.z, self.p, self.lower, self.upper), strict=True))

    @property
    def df(self) -> Floats:
        """The degrees of freedom of every ratio; infinite where it is normal."""
        return np.full(len(self.estimate), np.inf)

    @property
    def z(self) -> Floats:
        """The estimates over their standard errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio: Floats = self.estimate / self.se
        return ratio

    @property
    def p(self) -> Floats:
        """The probability of a larger |z| if the number were zero."""
        from scipy.special import ndtr, stdtr

        size, df = -np.abs(self.z), self.df
        tails: Floats = 2 * np.where(np.isinf(df), ndtr(size), stdtr(np.where(np.isinf(df), 1.0, df), size))
        return tails

    @property
    def _margin(self) -> Floats:
        from scipy.special import ndtri, stdtrit

        share, df = (1 + self.level) / 2, self.df
        student = stdtrit(np.where(np.isinf(df), 1.0, df), share)
        margin: Floats = np.where(np.isinf(df), float(ndtri(share)), student) * self.se
        return margin

    @property
    def lower(self) -> Floats:
        """The lower ends of the intervals."""
        return self.estimate - self._margin

    @property
    def upper(self) -> Floats:
        """The upper ends of the intervals."""
        return self.estimate + self._margin
