"""Violation: the largest miss of the conditions that a fit claims, and where it is."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Violation:
    """The largest violation so far, and where it is.

    >>> Violation().or_larger(0.5, "x").or_larger(0.25, "y")
    Violation(size=0.5, where='x')
    """

    size: float = 0.0
    where: str = "no entry"

    def or_larger(self, size: float, where: str) -> Violation:
        """Return the larger one; what is not a number is infinite."""
        size = math.inf if math.isnan(size) else size
        return self if size <= self.size else Violation(size, where)
