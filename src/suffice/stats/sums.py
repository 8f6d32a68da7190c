"""Sums: a vector that a task adds up over rows, such as a log-likelihood or a gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import StatisticsError
from suffice.stats.counts import require_factor
from suffice.stats.needs import Sum
from suffice.stats.notebook import sums_cells
from suffice.text import html_table
from suffice.types import Array, Codes


@dataclass(frozen=True, eq=False)
class Sums:
    """A named vector of sums over rows.

    >>> (Sums("score", np.array([1.0, 2.0])) + Sums("score", np.array([0.5, 0.0]))).values
    array([1.5, 2. ])
    """

    name: str
    values: NDArray[np.float64] = field(repr=False)

    def __post_init__(self) -> None:
        frozen = np.array(self.values, np.float64)  # what the caller does to its own array changes nothing here
        frozen.flags.writeable = False
        object.__setattr__(self, "values", frozen)

    def _repr_html_(self) -> str:
        return html_table(*sums_cells(self))

    @property
    def need(self) -> Sum:
        """The request that this sum answers."""
        return Sum(self.name, len(self.values))

    def __add__(self, other: Sums) -> Sums:
        if not isinstance(other, Sums):
            return NotImplemented
        if self.need != other.need:
            raise StatisticsError(f"The sums {self.need} and {other.need} cannot be added.")
        return Sums(self.name, self.values + other.values)

    def scaled(self, factor: float) -> Sums:
        """Return the sums multiplied by ``factor`` ≥ 0."""
        return Sums(self.name, self.values * require_factor(factor))

    def reindexed(self, schema: Schema) -> Sums:
        """Return the same sums: they do not depend on states."""
        return self

    def recoded(self, schema: Schema, recoding: Mapping[str, Codes]) -> Sums:
        """Return the same sums: they do not depend on states."""
        return self

    def renamed(self, variables: Mapping[str, Variable]) -> Sums:
        """Return the same sums: they do not depend on variables."""
        return self

    def to_arrays(self) -> dict[str, Array]:
        """Return ``values``."""
        return {"values": self.values}

    @classmethod
    def from_arrays(cls, need: Sum, schema: Schema, arrays: Mapping[str, Array]) -> Sums:
        """Rebuild from `to_arrays`."""
        return cls(need.name, np.asarray(arrays["values"], np.float64))

    @classmethod
    def zero(cls, need: Sum, schema: Schema) -> Sums:
        """Return the sums of no rows."""
        return cls(need.name, np.zeros(need.size))


def refuse_block(needs: Sequence[Sum], block: Block) -> Mapping[Sum, Sums]:
    """Refuse to gather sums: only the task that binds the parameters knows what to add up."""
    raise StatisticsError(f"The sum {needs[0].name!r} is not a function of the rows alone; pass its task to reduce().")
