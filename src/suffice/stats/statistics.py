"""Statistics: everything one pass collected, keyed by need. This is what estimators see instead of data."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, overload

from suffice.data.block import Block, SettledTable
from suffice.data.schema import Schema
from suffice.errors import (
    FileFormatError,
    SchemaError,
    StatisticsError,
    SufficeError,
    listing,
    require_whole,
    shown,
)
from suffice.files import read_arrays, write_arrays
from suffice.settings import more_memory, settings
from suffice.stats.chain_counts import ChainCount, ChainCounts, count_chains
from suffice.stats.counting import count_block
from suffice.stats.counts import Counts, require_factor
from suffice.stats.gaps import Gaps, collect_gaps
from suffice.stats.moments import Moments, collect_moments
from suffice.stats.needs import Count, Distinct, Gap, Moment, Need, NeedFor, Sum
from suffice.stats.notebook import statistics_cells
from suffice.stats.rows import Rows, collect_rows
from suffice.stats.statistic import Statistic
from suffice.stats.sums import Sums, refuse_block
from suffice.text import html_table, in_bytes, plural
from suffice.types import Array, Entry, Json, JsonObject

Found = TypeVar("Found", bound=Statistic)


class StatisticKind(NamedTuple):
    """One kind of statistic: the need that asks for it, its type, and how a block of rows is reduced to it."""

    need: type[Need]
    statistic: type[Statistic]
    collect: Callable[[Sequence[Any], Block], Mapping[Any, Statistic]]


STATISTICS: dict[str, StatisticKind] = {
    "count": StatisticKind(Count, Counts, count_block),
    "moment": StatisticKind(Moment, Moments, collect_moments),
    "distinct": StatisticKind(Distinct, Rows, collect_rows),
    "gap": StatisticKind(Gap, Gaps, collect_gaps),
    "sum": StatisticKind(Sum, Sums, refuse_block),
    "chain": StatisticKind(ChainCount, ChainCounts, count_chains),
}

FILE_KIND, FILE_VERSION = "statistics", 1


@dataclass(frozen=True, eq=False)
class Statistics(Mapping[Need, Statistic]):
    """The sufficient statistics of a table for some structure: additive, scalable, and all that a fit needs.

    Attributes
    ----------
    schema : Schema
        The variables, with the states that were declared or found.
    items_ : dict from Need to Statistic
    weight : float
        Sum of the row weights; N in every formula.
    n_read, n_dropped : int
        Rows read, and rows left out because of missing values.
    remarks : tuple of str
        Choices that were made while reading.
    traits : frozenset of (str, str)
        What the floats of parts of a table are, until all parts are added; see `suffice.data.float_kinds`.

    Examples
    --------
    >>> import suffice as sf
    >>> dag = sf.DAG("A -> B")
    >>> first = sf.collect(dag, {"A": ["u", "v"], "B": ["x", "x"]})
    >>> second = sf.collect(dag, {"A": ["u", "w"], "B": ["y", "x"]})
    >>> print((first + second)[sf.Count(("A", "B"))].labelled())
       B
    A  x  y
    -  -  -
    u  1  1
    v  1  0
    w  1  0
    """

    schema: Schema
    items_: dict[Need, Statistic]
    weight: float
    n_read: int = 0
    n_dropped: int = 0
    remarks: tuple[str, ...] = ()
    traits: frozenset[tuple[str, str]] = frozenset()

    @overload
    def __getitem__(self, need: NeedFor[Found]) -> Found: ...

    @overload
    def __getitem__(self, need: Need) -> Statistic: ...

    def __getitem__(self, need: Need) -> Statistic:
        if need in self.items_:
            return self.items_[need]
        near = self._holding.get(need.columns[0], ()) if need.columns else self.items_
        wider = [held for held in near if _covers(held, need)]
        if wider:
            smallest = min(wider, key=lambda held: (len(held.columns), isinstance(held, Distinct)))
            return _margin(self.items_[smallest], need)
        raise StatisticsError(
            f"The statistics do not contain {need}, which this structure and method need. They contain "
            f"{listing(self.items_, 6)}. Collect again for this structure: sf.collect(structure, data, method=…)."
        )

    @cached_property
    def _holding(self) -> dict[str, list[Need]]:
        """The needs by the columns that they are of."""
        found: dict[str, list[Need]] = {}
        for need in self.items_:
            for name in need.columns:
                found.setdefault(name, []).append(need)
        return found

    def __iter__(self) -> Iterator[Need]:
        return iter(self.items_)

    def __len__(self) -> int:
        return len(self.items_)

    def __contains__(self, need: object) -> bool:
        return need in self.items_

    def __add__(self, other: Statistics) -> Statistics:
        if not isinstance(other, Statistics):
            return NotImplemented
        schema = self.require_like(other)
        items = {need: mine.reindexed(schema) + other[need].reindexed(schema) for need, mine in self.items_.items()}
        return Statistics(
            schema,
            items,
            self.weight + other.weight,
            self.n_read + other.n_read,
            self.n_dropped + other.n_dropped,
            tuple(dict.fromkeys(self.remarks + other.remarks)),
            self.traits | other.traits,
        )

    def require_like(self, other: Statistics) -> Schema:
        """Return the schema of the sum with other statistics, or say why they cannot be added."""
        if set(self.items_) != set(other.items_):
            only = [need for need in {**self.items_, **other.items_} if (need in self) != (need in other)]
            raise StatisticsError(
                f"These statistics were collected for different structures: {only[0]} is in one of them only. "
                "Collect both with the same structure and method."
            )
        try:
            return self.schema.unite(other.schema)
        except SchemaError as error:
            raise StatisticsError(f"These statistics cannot be added. {error}") from None

    def __radd__(self, other: object) -> Statistics:
        """Let ``sum`` begin with its zero."""
        return self if other == 0 else NotImplemented

    def settled(self, table: SettledTable) -> Statistics:
        """Return the statistics with states in the order that their table settled on after the pass."""
        if table.schema == self.schema:
            return replace(self, remarks=table.remarks, traits=table.traits)
        items = {need: statistic.recoded(table.schema, table.recoding) for need, statistic in self.items_.items()}
        return replace(self, schema=table.schema, items_=items, remarks=table.remarks, traits=table.traits)

    def __mul__(self, factor: float) -> Statistics:
        """Return the statistics with every row's weight multiplied by ``factor`` ≥ 0."""
        number = require_factor(factor)
        items = {need: statistic.scaled(number) for need, statistic in self.items_.items()}
        return replace(self, items_=items, weight=self.weight * number)

    __rmul__ = __mul__

    @property
    def n_bytes(self) -> int:
        """Memory of all numbers."""
        return sum(map(_bytes_of, self.items_.values()))

    def __repr__(self) -> str:
        return (
            f"Statistics({plural(self.n_read - self.n_dropped, 'row')}, weight {self.weight:g}, "
            f"{plural(len(self), 'statistic')} over {plural(len(self.schema), 'variable')})"
        )

    def _repr_html_(self) -> str:
        return html_table(*statistics_cells(self), caption=repr(self))

    # Files ----------------------------------------------------------------------------------------------------

    def to_parts(self) -> tuple[JsonObject, dict[str, Array]]:
        """Return JSON-able facts and named arrays, which together are the statistics."""
        meta: JsonObject = {
            "schema": self.schema.to_dict(),
            "needs": [{"kind": need.kind, **need.to_dict()} for need in self],
            "weight": self.weight.hex(),
            "n_read": self.n_read,
            "n_dropped": self.n_dropped,
            "remarks": list(self.remarks),
            **({"traits": sorted(map(list, self.traits))} if self.traits else {}),
        }
        arrays: dict[str, Array] = {}
        for position, statistic in enumerate(self.items_.values()):
            arrays.update({f"{position}.{name}": array for name, array in statistic.to_arrays().items()})
        return meta, arrays

    @classmethod
    def from_parts(cls, meta: Entry, arrays: Mapping[str, Array]) -> Statistics:
        """Rebuild the statistics from `to_parts`."""
        schema = Schema.from_dict(meta["schema"])
        items: dict[Need, Statistic] = {}
        by_position: dict[str, dict[str, Array]] = {}
        for name, array in arrays.items():
            position, _, part = name.partition(".")
            by_position.setdefault(position, {})[part] = array
        for index, entry in enumerate(meta["needs"]):
            kind = STATISTICS[entry["kind"]]
            need = kind.need.from_dict(entry)
            items[need] = kind.statistic.from_arrays(need, schema, by_position[str(index)])
        weight = float.fromhex(meta["weight"])
        if not 0 <= weight < math.inf:
            raise StatisticsError(f"The entry 'weight' must be finite and at least zero. Got {weight} instead")
        n_read, n_dropped = (require_whole(name, meta[name], place="entry") for name in ("n_read", "n_dropped"))
        if not n_dropped <= n_read < 1 << 63:
            raise StatisticsError(f"{shown(n_dropped)} rows cannot have been dropped of {shown(n_read)}")
        remarks = meta["remarks"]
        if not isinstance(remarks, list) or not all(isinstance(remark, str) for remark in remarks):
            raise StatisticsError(f"The entry 'remarks' must be a list of texts. Got {shown(remarks)} instead")
        return cls(schema, items, weight, n_read, n_dropped, tuple(remarks), _traits(meta.get("traits", [])))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to one checksummed file; `load` reads it back with equal bits."""
        write_arrays(path, FILE_KIND, FILE_VERSION, *self.to_parts())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Statistics:
        """Read what `save` wrote."""
        parts = read_arrays(path, FILE_KIND, FILE_VERSION)
        with parts_explained(path, "Write it again."):
            return cls.from_parts(*parts)


@contextmanager
def parts_explained(path: str | os.PathLike[str], remedy: str) -> Iterator[None]:
    """Turn whatever goes wrong with the parts of statistics into an error that names their file."""
    try:
        yield
    except (SufficeError, KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        detail = f"the entry {error} is missing" if type(error) is KeyError else str(error)
        raise FileFormatError(f"{str(path)!r} does not hold proper statistics: {detail}. {remedy}") from None


def _traits(entry: Json) -> frozenset[tuple[str, str]]:
    """Read what columns of floats have shown of themselves, as pairs of a column and a trait."""
    pairs = [tuple(pair) if isinstance(pair, list) else () for pair in entry] if isinstance(entry, list) else [()]
    if not all(len(pair) == 2 and all(isinstance(part, str) for part in pair) for pair in pairs):
        raise StatisticsError(f"The entry 'traits' must be a list of pairs of texts. Got {shown(entry)} instead")
    return frozenset((name, trait) for name, trait in pairs)


def _covers(held: Need, need: Need) -> bool:
    """Whether one statistic is a margin of another."""
    if isinstance(held, Distinct) or (isinstance(held, Count) and isinstance(need, Count)):
        return isinstance(need, Count | Distinct) and set(need.scope) <= set(held.scope)
    if isinstance(need, Moment) and isinstance(held, Moment):
        return set(need.xs) <= set(held.xs) and set(need.by) <= set(held.by)
    return False


def _margin(kept: Statistic, need: Need) -> Statistic:
    """Sum what a need does not ask for out of a statistic that covers it."""
    if isinstance(need, Moment) and isinstance(kept, Moments):
        return kept.marginal(need.xs, need.by)
    if isinstance(need, Count) and isinstance(kept, Rows):
        return kept.counts(need.scope)
    assert isinstance(kept, Counts | Rows)  # nothing else covers
    return kept.marginal(need.columns)


class RunningSum:
    """A sum of statistics to which parts are added one by one.

    Tables of one size are added as they come. A part much smaller than the sum before it waits for more of its kind,
    so that a growing list of distinct rows is not copied and sorted once for every part. What has outgrown the memory
    that `suffice.config` allows is refused.
    """

    def __init__(self, parts: Iterable[Statistics] = ()) -> None:
        self._sums = [(part.n_bytes, part) for part in parts]

    def add(self, part: Statistics) -> None:
        """Add one part."""
        self._sums.append((part.n_bytes, part))
        while len(self._sums) > 1 and 2 * self._sums[-1][0] >= self._sums[-2][0]:
            self._join_last()

    @property
    def parts(self) -> list[Statistics]:
        """Sums that wait for more; a sum of these goes on to the same bits."""
        return [part for _, part in self._sums]

    def total(self) -> Statistics | None:
        """Return the sum of all parts; None if there is none."""
        while len(self._sums) > 1:
            self._join_last()
        return self._sums[0][1] if self._sums else None

    def _join_last(self) -> None:
        _, last = self._sums.pop()
        total = self._sums.pop()[1] + last
        n_bytes = total.n_bytes
        if n_bytes > settings().memory:
            raise _too_large(total, n_bytes)
        self._sums.append((n_bytes, total))


def add_up(parts: Iterable[Statistics]) -> Statistics:
    """Add statistics of any number of parts, at least one."""
    sums = RunningSum()
    for part in parts:
        sums.add(part)
    total = sums.total()
    assert total is not None
    return total


def _bytes_of(statistic: Statistic) -> int:
    return sum(array.nbytes for array in statistic.to_arrays().values())


def _too_large(total: Statistics, n_bytes: int) -> StatisticsError:
    """Say which statistic has outgrown the memory: lists of what occurs grow with the rows."""
    need, largest = max(((need, _bytes_of(item)) for need, item in total.items()), key=lambda pair: pair[1])
    return StatisticsError(
        f"After {total.n_read:,} rows the statistics take {in_bytes(n_bytes)}, more than the "
        f"{in_bytes(settings().memory)} that are allowed; {in_bytes(largest)} of them are of "
        f"{listing(need.columns, 6)}. Allow more, with ",
        more_memory(n_bytes),
        ", collect the families one by one, or give that family fewer parents or states.",
    )


def collect_block(needs: Sequence[Need], block: Block) -> dict[Need, Statistic]:
    """Reduce one block of rows to the statistics that answer ``needs``, all needs of one kind together."""
    found: dict[Need, Statistic] = {}
    for name, kind in STATISTICS.items():
        mine = [need for need in needs if need.kind == name]
        if mine:
            found |= kind.collect(mine, block)
    return {need: found[need] for need in needs}
