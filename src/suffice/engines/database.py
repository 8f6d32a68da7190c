"""The source over a table of a database: counts and moments are pushed into it, and only aggregates come back.

A query returns every configuration of some columns with its weight: a contingency table, which is then read and counted
as any other. Continuous columns come back as sums around a centre, cell by cell: the first query finds the means, the
second adds up what is above them, so that large offsets cost no digits. Tables are spoken to through narwhals, so that
DuckDB, and whatever ibis knows, understand the same questions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from suffice.data.block import EncodedTable
from suffice.data.schema import Declaration, Schema
from suffice.data.stream import Policies
from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.engines.database_moments import N, W, moments_of
from suffice.engines.database_rows import DatabaseRows, Lazy, answer_of, explained
from suffice.engines.database_snapshot import snapshot
from suffice.engines.spread import Opening
from suffice.errors import DataError, Made, Mention, Part, Passed, Remedy, SufficeError, Text, listing
from suffice.progress import Watch
from suffice.stats.counts import Counts
from suffice.stats.needs import Count, Distinct, Moment, Need
from suffice.stats.source import BlockSource, Source, Task
from suffice.stats.statistic import Statistic
from suffice.stats.statistics import Statistics
from suffice.text import number

PUSHED = (Count, Distinct, Moment)
"""The needs that a database answers by aggregates; others have its rows streamed."""
SAME = 1e-9
"""Sums of weights that differ by less, relatively, are equal but for rounding."""
STORE = "Store what is to be read first: CREATE TABLE … AS SELECT …."


@dataclass(frozen=True)
class DatabaseSource:
    """The source over a table of a database.

    Attributes
    ----------
    frame : lazy frame of narwhals
    native : object
        The same as its engine holds it.
    opening : Opening
        How tables are read for the structure.
    watch : Watch
    known : Schema or None
        The variables, once a pass has settled their states.
    """

    frame: Lazy
    native: Any
    opening: Opening
    watch: Watch = field(default_factory=Watch)
    known: Schema | None = None

    @property
    def policies(self) -> Policies:
        """How the columns are to be read; once states are known, by these."""
        return self.opening.policies

    @cached_property
    def table(self) -> DatabaseRows:
        """The rows that count, and what is known of their columns."""
        return DatabaseRows(self.frame, self.native, self.policies, self.known)

    @cached_property
    def schema(self) -> Schema:
        """The variables; which of them are discrete is known beforehand, their states only after a pass."""
        if self.known is not None:
            return self.known
        with explained():
            return self._schema()

    def _schema(self) -> Schema:
        names = self.policies.columns
        if self.policies.missing != "error":
            self.table.refuse_unclear()
        continuous = [name for name in names if self.table.is_continuous(name)]
        # Whether a softmax fits next to numbers depends on states; tables alone need not know them beforehand.
        states = self._states if continuous else {}
        return Schema(tuple(states.get(name, Variable(name, None if name in continuous else ())) for name in names))

    def settled(self, schema: Schema) -> DatabaseSource:
        """Return the source for further passes, its states known."""
        return replace(self, known=schema)

    def gather(self, needs: Iterable[Need]) -> Statistics:
        """Collect the statistics that answer ``needs``: by queries that aggregate, or from streamed rows."""
        wanted = tuple(dict.fromkeys(needs))
        if self.opening.by_rows or not all(isinstance(need, PUSHED) for need in wanted):
            return self._streamed().gather(wanted)
        with self.watch.work("asking the database", len(wanted), "queries"), explained(), snapshot(self.native):
            return self._pushed(wanted)

    def reduce(self, task: Task) -> Statistics:
        """Add up what ``task`` returns for every block of streamed rows."""
        return self._streamed().reduce(task)

    def _streamed(self) -> Source:
        source = self.opening(self.native)
        return source if self.known is None else source.settled(self.known)

    @cached_property
    def _states(self) -> dict[str, Variable]:
        """The discrete variables with all of their states, those of rows that lack something else among them."""
        return {name: table.schema[name] for name, table in self._single.items()}

    @cached_property
    def _single(self) -> dict[str, EncodedTable]:
        """The table of each discrete variable alone."""
        found = {}
        for name in self.policies.columns:
            if not self.table.is_continuous(name):
                rows = self.table.columns.filter(~self.table.gap(name)).group_by(name).agg(*self.table.aggregates())
                found[name] = self._read(answer_of(rows), (name,), {})
        return found

    # Queries --------------------------------------------------------------------------------------------------

    def _pushed(self, needs: Sequence[Need]) -> Statistics:
        variables: dict[str, Variable] = {}
        remarks: dict[str, None] = dict.fromkeys(self.table.taken_as_missing())
        for name in self._more_states if self.known is None else ():
            remarks |= dict.fromkeys(self._single[name].remarks)
        items: dict[Need, Statistic] = {}
        weights: list[float] = []
        for need in needs:
            assert isinstance(need, PUSHED)
            found = self._moments(need) if isinstance(need, Moment) else self._counts(need)
            statistic, schema, noted, weight = found
            items[need] = statistic
            variables |= {variable.name: variable for variable in schema.variables}
            remarks |= dict.fromkeys(noted)
            weights.append(weight)
            self.watch.advance(1)
        _require_one_table(items)
        n_read = n_kept = int(self.table.facts[N])
        if self.policies.missing != "error":
            n_kept = int(answer_of(self.table.complete.select(nw.len().alias(N))).to_pydict()[N][0])
        self._require_one_total(needs, weights, n_kept)
        ordered = [variables.get(name) or self.schema[name] for name in self.policies.columns]
        return Statistics(
            self.known or Schema(tuple(ordered)),
            items,
            weights[0] if weights else float(n_kept),
            n_read,
            n_read - n_kept,
            (*remarks, *self.table.ignored()),
        )

    def _require_one_total(self, needs: Sequence[Need], weights: Sequence[float], n_rows: int) -> None:
        """Refuse answers of which some count more rows than others."""
        column = self.policies.weights
        exact = column is None or not (self.table.kinds[column].is_float() or self.table.kinds[column].is_decimal())
        first, what = (float(n_rows), "rows") if column is None else (weights[0] if weights else 0.0, f"as {column!r}")
        for need, weight in zip(needs, weights, strict=True):
            if not math.isclose(weight, first, rel_tol=0.0 if exact else SAME):
                raise DataError(
                    f"A query to the database added up to {number(first, 16)} {what}, and another one, of "
                    f"{listing(need.columns, 6)}, to {number(weight, 16)}. The query draws at random, or the table is "
                    f"being written to. {STORE}"
                )

    def _counts(self, need: Count | Distinct) -> tuple[Statistic, Schema, tuple[str, ...], float]:
        """Return what a need asks for, from a contingency table that the database makes."""
        frame, weight = self.table.complete, self.table.aggregates()
        grouped = frame.group_by(*need.scope).agg(*weight) if need.scope else frame.select(*weight)
        table = self._read(answer_of(grouped), need.scope)
        statistics = BlockSource(table).gather([need])
        return statistics[need], table.schema, table.remarks, statistics.weight

    def _moments(self, need: Moment) -> tuple[Statistic, Schema, tuple[str, ...], float]:
        """Return moments: the first query finds where the values are, the second adds up what is around there."""
        rows = self.table.complete.with_columns(*(nw.col(name).cast(nw.Float64) for name in need.xs))
        centres = [f"suffice_centre_{place}" for place in range(len(need.xs))]
        if self.policies.weights:  # rows without weight may be far away, and would draw the centre there
            rows = rows.filter(nw.col(W) > 0)
        means = [self._mean(name).alias(centre) for name, centre in zip(need.xs, centres, strict=True)]
        if need.by:
            rows = rows.join(rows.group_by(*need.by).agg(*means), on=list(need.by))
        else:
            rows = rows.join(rows.select(*means), how="cross")
        above = [nw.col(name) - nw.col(centre) for name, centre in zip(need.xs, centres, strict=True)]
        weighted = [nw.col(W) * one for one in above] if self.policies.weights else above
        pairs = [(i, j) for i in range(len(above)) for j in range(i, len(above))]
        asked = [*self.table.aggregates(), *(nw.col(name).min().alias(name) for name in centres)]
        asked += [one.sum().alias(f"suffice_sum_{i}") for i, one in enumerate(weighted)]
        asked += [(weighted[i] * above[j]).sum().alias(f"suffice_product_{i}_{j}") for i, j in pairs]
        grouped = rows.group_by(*need.by).agg(*asked) if need.by else rows.select(*asked)
        answer = answer_of(grouped)
        table = self._read(answer, need.by)
        variables = tuple(self.known[name] if self.known else Variable(name) for name in need.xs)
        moments = moments_of(answer, table, variables, pairs)
        for place, name in enumerate(need.xs):
            if not np.isfinite(moments.mean[..., place]).all():
                raise DataError(f"Column {name!r} holds infinite values. Correct or drop these rows.")
        schema = Schema((*table.schema.variables, *variables))
        return moments, schema, table.remarks, float(moments.weight.sum())

    def _mean(self, name: str) -> nw.Expr:
        """Return the expression for the mean of a column, near which deviations are added up."""
        if not self.policies.weights:
            return nw.col(name).mean()
        return (nw.col(W).cast(nw.Float64) * nw.col(name)).sum() / nw.col(W).cast(nw.Float64).sum()

    @cached_property
    def _more_states(self) -> dict[str, Variable]:
        """The states that rows to be dropped, or without weight, may have alone; they are states all the same."""
        lacking = any(self.table.facts[f"gaps:{name}"] for name in self.policies.columns)
        is_dropped = self.policies.missing != "error" and (lacking or self.policies.unknown_states == "missing")
        return self._states if is_dropped or self.policies.weights else {}

    def _read(
        self, answer: pa.Table, names: Sequence[str], states: Mapping[str, Variable] | None = None
    ) -> EncodedTable:
        """Read the table that a query returned as any other, each row with its weight."""
        more = self._more_states if states is None else states
        settled = {variable.name: variable for variable in self.known.variables} if self.known is not None else more
        declared: dict[str, Variable | Declaration] = {name: settled[name] for name in names if name in settled}
        if self.known is None:
            declared |= {name: entry for name, entry in self.policies.declared.items() if name in names}
        for place, name in enumerate(names):
            kind = self.table.kinds[name]
            is_number = kind.is_float() or kind.is_decimal()
            if is_number and name not in declared and not self.table.is_continuous(name):  # decimals without digits
                answer = answer.set_column(place, name, answer.column(name).cast(pa.int64()))
        own = self.policies.weights
        weights = W if own is None or own in names else own  # errors name the column of the table itself
        counted = answer.select([*names, W]).rename_columns([*names, weights])
        try:
            table = open_table(counted, tuple(names), schema=declared, weights=weights, unknown_states="error")
        except SufficeError as error:
            raise type(error)(_without_row(error.message)) from None
        assert isinstance(table, EncodedTable)
        # States that were found are not declared ones, though the table was read by them.
        variables = tuple(settled.get(variable.name, variable) for variable in table.schema.variables)
        return replace(table, schema=Schema(variables))


def _without_row(message: str) -> str:
    """Return a message on the answer of a query, whose rows are none of the table."""

    def kept(part: Remedy | Passed | Mention | Made) -> Part | None:
        return None if isinstance(part, Mention) and part.what == "row" else part

    return message.change(kept) if isinstance(message, Text) else message


def _require_one_table(items: Mapping[Need, Statistic]) -> None:
    """Refuse answers that contradict each other: what one query counts of a variable, every other one counts."""
    seen: dict[str, Counts] = {}
    for counts in items.values():
        if not isinstance(counts, Counts):
            continue
        for variable in counts.variables:
            own = counts.marginal((variable.name,))
            other = seen.setdefault(variable.name, own)
            same = own.variables == other.variables and np.allclose(own.table(), other.table(), rtol=1e-9, atol=0.0)
            if not same:
                raise DataError(
                    f"Two queries to the database counted {variable.name!r} differently. The query draws at random, "
                    f"the table is being written to, or its text is compared without regard to case. {STORE}"
                )
