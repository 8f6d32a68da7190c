"""GapRows: the rows of a table that lack a value, as they are; or, where they are too many, some of them by chance.

Which rows are kept depends on their places in the table alone, not on how it was cut into blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block
from suffice.data.encode import missing_in
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import StatisticsError
from suffice.stats.counts import require_factor
from suffice.stats.needs import Need, NeedFor
from suffice.types import Array, Codes, Entry, Ints, JsonObject


@dataclass(frozen=True)
class GapRow(NeedFor["GapRows"]):
    """The rows that lack a value of the columns in ``scope``; at most ``limit`` of them, drawn by chance.

    >>> GapRow(("A", "x"), 1000)
    GapRow(scope=('A', 'x'), limit=1000)
    """

    kind: ClassVar[str] = "gap_row"
    takes_gaps = True
    scope: tuple[str, ...]
    limit: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the rows."""
        return self.scope

    def to_dict(self) -> JsonObject:
        """Return ``{"scope": […], "limit": …}``."""
        return {"scope": list(self.scope), "limit": self.limit}

    @classmethod
    def from_dict(cls, entry: Entry) -> GapRow:
        """Rebuild the need from `to_dict`'s data."""
        return cls(tuple(entry["scope"]), int(entry["limit"]))

    def __call__(self, block: Block) -> Mapping[Need, GapRows]:
        """Return the rows of one block: the need is a task for `Source.reduce`."""
        return {self: GapRows.of_block(self, block)}


@dataclass(frozen=True, eq=False)
class GapRows:
    """Rows that lack a value.

    Attributes
    ----------
    variables : tuple of Variable
    limit : int
        Most rows that are kept.
    columns : tuple of array, shape (n,)
        Codes, −1 where they are missing, and values, NaN where they are missing.
    weights : array, shape (n,)
    places : array, shape (n,)
        The positions of the rows in the table, increasing.
    n_all : int
        The number of all such rows; more than n where some were left out.
    """

    variables: tuple[Variable, ...]
    limit: int
    columns: tuple[Array, ...] = field(repr=False)
    weights: NDArray[np.float64] = field(repr=False)
    places: NDArray[np.int64] = field(repr=False)
    n_all: int

    @classmethod
    def of_block(cls, need: GapRow, block: Block) -> GapRows:
        """Return the rows of one block that lack a value."""
        lacking = np.zeros(block.n_rows, bool)
        for name in need.scope:
            lacking |= missing_in(block.columns[name])
        if block.weights is not None:
            lacking &= np.asarray(block.weights) > 0
        rows = np.flatnonzero(lacking)
        variables = tuple(block.schema[name] for name in need.scope)
        columns = [
            np.asarray(block.columns[v.name][rows], np.int32 if v.is_discrete else np.float64) for v in variables
        ]
        weights = np.ones(len(rows)) if block.weights is None else np.asarray(block.weights, np.float64)[rows]
        return _limited(variables, need.limit, columns, weights, rows + block.start, len(rows))

    @classmethod
    def zero(cls, need: GapRow, schema: Schema) -> GapRows:
        """Return no rows."""
        variables = tuple(schema[name] for name in need.scope)
        columns = [np.zeros(0, np.int32 if variable.is_discrete else np.float64) for variable in variables]
        return cls(variables, need.limit, tuple(columns), np.zeros(0), np.zeros(0, np.int64), 0)

    # The monoid -----------------------------------------------------------------------------------------------

    @property
    def need(self) -> GapRow:
        """The request that these rows answer."""
        return GapRow(tuple(variable.name for variable in self.variables), self.limit)

    @property
    def is_whole(self) -> bool:
        """Whether no row was left out."""
        return len(self.weights) == self.n_all

    def __add__(self, other: GapRows) -> GapRows:
        if not isinstance(other, GapRows):
            return NotImplemented
        if self.need != other.need:
            raise StatisticsError(f"The rows {self.need} and {other.need} cannot be added.")
        columns = [np.concatenate(pair) for pair in zip(self.columns, other.columns, strict=True)]
        weights, places = np.append(self.weights, other.weights), np.append(self.places, other.places)
        return _limited(self.variables, self.limit, columns, weights, places, self.n_all + other.n_all)

    def scaled(self, factor: float) -> GapRows:
        """Return the rows with every weight multiplied by ``factor`` ≥ 0."""
        weights = self.weights * require_factor(factor)
        return GapRows(self.variables, self.limit, self.columns, weights, self.places, self.n_all)

    def reindexed(self, schema: Schema) -> GapRows:
        """Return the rows over a schema with at least these states."""
        recoding = {
            variable.name: np.array([schema[variable.name].code(state) for state in variable.labels], np.int32)
            for variable in self.variables
            if variable.is_discrete and schema[variable.name] != variable
        }
        return self.recoded(schema, recoding) if recoding else self

    def recoded(self, schema: Schema, recoding: Mapping[str, Codes]) -> GapRows:
        """Return the rows with code c of a variable replaced by ``recoding[variable][c]``."""
        columns = []
        for variable, column in zip(self.variables, self.columns, strict=True):
            new = recoding.get(variable.name)
            columns.append(column if new is None else np.append(new, -1).astype(np.int32)[column])
        variables = tuple(schema[variable.name] for variable in self.variables)
        return GapRows(variables, self.limit, tuple(columns), self.weights, self.places, self.n_all)

    def renamed(self, variables: Mapping[str, Variable]) -> GapRows:
        """Return the same rows of other variables."""
        named = tuple(variables.get(v.name, v) for v in self.variables)
        return GapRows(named, self.limit, self.columns, self.weights, self.places, self.n_all)

    def to_arrays(self) -> dict[str, Array]:
        """Return the columns by their positions, ``weights``, ``places`` and ``n_all``."""
        columns = {f"column_{place}": column for place, column in enumerate(self.columns)}
        return {**columns, "weights": self.weights, "places": self.places, "n_all": np.array(self.n_all)}

    @classmethod
    def from_arrays(cls, need: GapRow, schema: Schema, arrays: Mapping[str, Array]) -> GapRows:
        """Rebuild from `to_arrays`."""
        columns = tuple(np.asarray(arrays[f"column_{place}"]) for place in range(len(need.scope)))
        variables = tuple(schema[name] for name in need.scope)
        return cls(variables, need.limit, columns, arrays["weights"], arrays["places"], int(arrays["n_all"]))


def _limited(
    variables: tuple[Variable, ...],
    limit: int,
    columns: Sequence[Array],
    weights: NDArray[np.float64],
    places: NDArray[np.int64],
    n_all: int,
) -> GapRows:
    """Return rows in the order of the table; of too many, those whose places are drawn first."""
    kept: Ints | slice = slice(None)
    if len(places) > limit:
        first = np.argsort(_drawn(places), kind="stable")[:limit]
        kept = first[np.argsort(places[first], kind="stable")]
    elif len(places) and (np.diff(places) < 0).any():
        kept = np.argsort(places, kind="stable")
    return GapRows(variables, limit, tuple(column[kept] for column in columns), weights[kept], places[kept], n_all)


def _drawn(places: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return numbers without order, one for each place and always the same (Steele, Lea and Flood, 2014)."""
    with np.errstate(over="ignore"):
        z = places.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
