"""Statistics of tables with gaps: each need from the rows that have all of its columns.

A row that lacks a value still counts for the needs that do not ask for it. Parts add up as ever, since each need is a
sum over rows of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block
from suffice.data.encode import missing_in
from suffice.data.matrix import MatrixColumns
from suffice.data.schema import Schema
from suffice.errors import Remedy, SchemaError
from suffice.stats.counts import Counts
from suffice.stats.moments import Moments
from suffice.stats.needs import Need
from suffice.stats.rows import Rows
from suffice.stats.source import BlockSource
from suffice.stats.statistic import Statistic
from suffice.stats.statistics import Statistics, collect_block
from suffice.types import Array

ROUNDING = 1e-9
"""By how much of itself a sum of weights may depart from another of the same rows."""
AVAILABLE = "available"
"""The policy that learns each parameter from the rows that have its columns."""


@dataclass(frozen=True)
class GatherAvailable:
    """The task of collecting needs from blocks that may have gaps.

    Attributes
    ----------
    needs : tuple of Need
    check : callable or None
        ``check(block)`` raises where rows are not such as the structure can learn from.
    """

    needs: tuple[Need, ...]
    check: Callable[[Block], None] | None = None

    def __call__(self, block: Block) -> dict[Need, Statistic]:
        """Return one statistic a need."""
        if self.check is not None:
            self.check(block)
        gaps = columns_with_gaps(block, dict.fromkeys(name for need in self.needs for name in need.columns))
        groups: dict[frozenset[str], list[Need]] = {}
        lacking: frozenset[str]
        for need in self.needs:
            lacking = frozenset() if need.takes_gaps else gaps.intersection(need.columns)
            groups.setdefault(lacking, []).append(need)
        found: dict[Need, Statistic] = {}
        for lacking, needs in groups.items():
            found |= collect_block(needs, _for(needs, block) if lacking else block)
        return {need: found[need] for need in self.needs}


@dataclass(frozen=True)
class CheckedSource(BlockSource):
    """The source over a table whose rows are checked, and may have gaps, while needs are gathered.

    Attributes
    ----------
    check : callable or None
        As in `GatherAvailable`.
    """

    check: Callable[[Block], None] | None = None

    def gather(self, needs: Iterable[Need]) -> Statistics:
        """Collect the statistics that answer ``needs``, in one pass."""
        return self.reduce(GatherAvailable(tuple(dict.fromkeys(needs)), self.check))

    def settled(self, schema: Schema) -> CheckedSource:
        """Return the source for further passes, its states known."""
        return replace(self, table=self.table.with_schema(schema))


def weight_of(held: Statistic) -> float | None:
    """Return the weight of the rows that a statistic is of; None where it does not tell."""
    if isinstance(held, Counts):
        return float(held.total)
    if isinstance(held, Moments):
        return float(held.weight.sum())
    return float(held.weight) if isinstance(held, Rows) else None


def is_of_fewer_rows(held: Statistic, total: float) -> bool:
    """Return whether a statistic is of fewer rows than there are, since the others lack some of its columns."""
    weight = weight_of(held)
    return weight is not None and weight < total * (1 - ROUNDING)


def lack_rows(statistics: Statistics) -> bool:
    """Return whether some statistic is of fewer rows than there are, since the others lack some column."""
    return any(is_of_fewer_rows(statistics[need], statistics.weight) for need in statistics)


def require_states(schema: Schema) -> None:
    """Refuse variables of which no row has a value and nobody says the states."""
    for variable in schema.variables:
        if variable.is_discrete and not variable.n_states:
            raise SchemaError(
                f"No row has a value of {variable.name!r}, so its states are not known. Declare them: ",
                Remedy("schema", {variable.name: ["no", "yes"]}),
                ".",
            )


def columns_with_gaps(block: Block, names: Iterable[str]) -> frozenset[str]:
    """Return which of some columns lack a value in some row.

    >>> block = Block(Schema(()), {"A": np.array([0, -1]), "x": np.array([0.5, 1.5])}, None, 2)
    >>> columns_with_gaps(block, ["A", "x"])
    frozenset({'A'})
    """
    columns = block.columns
    passed: frozenset[str] = frozenset()
    if isinstance(columns, MatrixColumns) and (columns.whole or not _has_gaps(columns.matrix)):
        passed = frozenset(columns.names)
    return frozenset(name for name in names if name not in passed and _has_gaps(columns[name]))


def _has_gaps(values: Array) -> bool:
    if not values.size:
        return False
    if values.dtype.kind != "f":
        return bool(values.min() < 0)
    with np.errstate(invalid="ignore", over="ignore"):
        total = values.sum()  # one NaN makes it NaN, as do infinities of both signs
    return bool(np.isnan(total) and np.isnan(values).any())


def _for(needs: Iterable[Need], block: Block) -> Block:
    """Return the rows that have all columns of some needs, which lack the same of them."""
    return complete_in(block, tuple(dict.fromkeys(name for need in needs for name in need.columns)))


def complete_in(block: Block, names: tuple[str, ...]) -> Block:
    """Return the rows of a block that have a value in each of some columns, and these columns alone.

    The block itself where no value is missing.
    """
    lacking: NDArray[np.bool_] | None = None
    for name in names:
        if _has_gaps(block.columns[name]):
            gaps = missing_in(block.columns[name])
            lacking = gaps if lacking is None else lacking | gaps
    if lacking is None:
        return block
    kept = np.flatnonzero(~lacking)
    columns = {name: block.columns[name][kept] for name in names}
    weights = None if block.weights is None else block.weights[kept]
    n_dropped = block.n_dropped + block.n_rows - len(kept)
    return Block(block.schema, columns, weights, len(kept), block.start, n_dropped, block.n_table)
