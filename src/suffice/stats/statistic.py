"""What every statistic can do: be added, be scaled, be expressed in a larger schema, be saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self, runtime_checkable

from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.stats.needs import Need
from suffice.types import Array, Codes


@runtime_checkable
class Statistic(Protocol):
    """An element of a commutative monoid: frozen, additive, scalable, serialisable as named arrays.

    There is no subtraction: what was counted cannot be taken back.
    """

    @property
    def need(self) -> Need:
        """The request that this statistic answers."""

    def __add__(self, other: Self) -> Self:
        """Return the statistic of both parts together; inferred states unite."""

    def scaled(self, factor: float) -> Self:
        """Return the statistic with every row's weight multiplied by ``factor`` ≥ 0."""

    def reindexed(self, schema: Schema) -> Self:
        """Return the same statistic expressed in a schema with at least its states."""

    def recoded(self, schema: Schema, recoding: Mapping[str, Codes]) -> Self:
        """Return the same statistic with code c of a variable replaced by ``recoding[variable][c]``."""

    def renamed(self, variables: Mapping[str, Variable]) -> Self:
        """Return the same numbers for other variables with the same states; this is how tied nodes are added."""

    def to_arrays(self) -> dict[str, Array]:
        """Return the numbers as named arrays."""

    @classmethod
    def from_arrays(cls, need: Any, schema: Schema, arrays: Mapping[str, Array]) -> Self:
        """Rebuild the statistic from `to_arrays`."""

    @classmethod
    def zero(cls, need: Any, schema: Schema) -> Self:
        """Return the statistic of no rows."""
