"""The source over a table of a database: counts and moments are pushed into it, and only aggregates come back.

A query returns every configuration of some columns with its weight: a contingency table, which is then read and counted
as any other. Continuous columns come back as sums around a centre, cell by cell: the first query finds the means, the
second adds up what is above them, so that large offsets cost no digits. Tables are spoken to through narwhals, so that
DuckDB, and whatever ibis knows, understand the same questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.block import EncodedTable
from suffice.data.schema import Declaration, Schema
from suffice.data.stream import Policies
from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.engines.spread import Opening
from suffice.errors import DataError, SufficeError, listing, suggestion
from suffice.progress import Watch
from suffice.stats.moments import Moments
from suffice.stats.needs import Count, Distinct, Moment, Need
from suffice.stats.source import BlockSource, Source, Task
from suffice.stats.statistics import Statistics
from suffice.text import plural

N, W = "suffice_rows", "suffice_weight"
"""The columns that queries add."""
PUSHED = (Count, Distinct, Moment)
"""The needs that a database answers by aggregates; others have its rows streamed."""
WITHOUT_NAN = ("sqlite", "mysql", "mssql")
"""Databases whose numbers are numbers, and whose ibis knows no test for others."""
MARK_OF_ROW = re.compile(r", row \d+")


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

    frame: Any
    native: Any
    opening: Opening
    watch: Watch = field(default_factory=Watch)
    known: Schema | None = None

    @property
    def policies(self) -> Policies:
        """How the columns are to be read; once states are known, by these."""
        return self.opening.policies

    @cached_property
    def schema(self) -> Schema:
        """The variables; which of them are discrete is known beforehand, their states only after a pass."""
        if self.known is not None:
            return self.known
        return Schema(tuple(Variable(name, None if self._continuous(name) else ()) for name in self.policies.columns))

    def settled(self, schema: Schema) -> DatabaseSource:
        """Return the source for further passes, its states known."""
        return replace(self, known=schema)

    def gather(self, needs: Iterable[Need]) -> Statistics:
        """Collect the statistics that answer ``needs``: by queries that aggregate, or from streamed rows."""
        wanted = tuple(dict.fromkeys(needs))
        if self.opening.by_rows or not all(isinstance(need, PUSHED) for need in wanted):
            return self._streamed().gather(wanted)
        with self.watch.work("asking the database", len(wanted), "queries"):
            return self._pushed(wanted)

    def reduce(self, task: Task) -> Statistics:
        """Add up what ``task`` returns for every block of streamed rows."""
        return self._streamed().reduce(task)

    def _streamed(self) -> Source:
        source = self.opening(self.native)
        return source if self.known is None else source.settled(self.known)

    # What the columns are -------------------------------------------------------------------------------------

    @cached_property
    def _kinds(self) -> dict[str, Any]:
        """The types of all columns, with an error that names one that is not there."""
        kinds = dict(self.frame.collect_schema())
        wanted = [*self.policies.columns, *([self.policies.weights] if self.policies.weights else [])]
        for name in wanted:
            if name not in kinds:
                raise DataError(
                    f"The structure names the variable {name!r}, but there is no such column in the table of the "
                    f"database. Its columns are {listing(list(kinds), 12)}.{suggestion(name, kinds)}"
                )
        return kinds

    def _gap(self, name: str) -> Any:
        """Return the expression that tells where a column lacks a value."""
        missing = nw.col(name).is_null()
        return missing | nw.col(name).is_nan() if self._kinds[name].is_float() and self._knows_nan else missing

    @cached_property
    def _knows_nan(self) -> bool:
        backend = getattr(self.native, "get_backend", None)
        return backend is None or backend().name not in WITHOUT_NAN

    def _continuous(self, name: str) -> bool:
        declared: Declaration | None = self.policies.declared.get(name)
        if declared is not None:
            return declared.kind == "continuous"
        if name in self.policies.continuous:
            return True
        kind = self._kinds[name]
        if not (kind.is_float() or kind.is_decimal()):
            return False
        # A column of whole numbers and gaps is taken for whole numbers, as everywhere.
        facts = self._facts
        return not facts[f"gaps:{name}"] or bool(facts[f"fractions:{name}"]) or facts[f"gaps:{name}"] == facts[N]

    @cached_property
    def _facts(self) -> dict[str, Any]:
        """How many rows there are, how many lack each column, and what the weights are like."""
        asked = [nw.len().alias(N)]
        for name in self.policies.columns:
            kind = self._kinds[name]
            asked.append(_how_many(self._gap(name)).alias(f"gaps:{name}"))
            if kind.is_float() or kind.is_decimal():
                whole = nw.col(name) == nw.col(name).round(0)
                asked.append(_how_many(~whole & ~self._gap(name)).alias(f"fractions:{name}"))
        return {name: values[0] for name, values in _answer(self.frame.select(*asked)).to_pydict().items()}

    # Rows that count ------------------------------------------------------------------------------------------

    @cached_property
    def _rows(self) -> Any:
        """The rows that count, as a lazy frame: with a weight, and without those that are dropped."""
        policies, frame = self.policies, self.frame
        if policies.unknown_states == "missing":
            frame = frame.with_columns(*self._known_states())
        names = list(policies.columns)
        if policies.weights:
            weight = nw.col(policies.weights)
            self._check_weights(policies.weights)
            frame = frame.with_columns(weight.alias(W))
        gaps = [self._gap(name) for name in names]
        if policies.missing == "error":
            self._refuse_gaps(frame)
            return frame
        return frame.filter(*(~gap for gap in gaps))

    def _known_states(self) -> list[Any]:
        """Make values outside the declared states missing."""
        declared = {name: entry.states for name, entry in self.policies.declared.items() if entry.states is not None}
        if self.known is not None:
            declared |= {v.name: v.states for v in self.known.variables if v.states is not None}
        return [
            nw.when(nw.col(name).is_in(list(states))).then(nw.col(name)).alias(name)
            for name, states in declared.items()
            if name in self.policies.columns
        ]

    def _refuse_gaps(self, frame: Any) -> None:
        asked = [_how_many(self._gap(name)).alias(name) for name in self.policies.columns]
        lacking = {name: values[0] or 0 for name, values in _answer(frame.select(*asked)).to_pydict().items()}
        for name, count in lacking.items():
            if count:
                raise DataError(
                    f"Column {name!r}: {plural(int(count), 'value')} of the database's table are missing. Fill them "
                    "in, leave out incomplete rows with missing='drop', or learn from what they have with missing='em'."
                )

    def _check_weights(self, name: str) -> None:
        if not self._kinds[name].is_numeric():
            raise DataError(f"Column {name!r} is to hold weights, but it holds {self._kinds[name]}. Name another.")
        weight = nw.col(name)
        bad = (weight < 0) | self._gap(name)
        found = _answer(self.frame.select(_how_many(bad).alias(N))).to_pydict()[N][0]
        if found:
            raise DataError(
                f"Column {name!r} is to hold weights, but {plural(int(found), 'row')} of it are negative or missing. "
                "Weights must be finite and not negative."
            )

    # Queries --------------------------------------------------------------------------------------------------

    def _pushed(self, needs: Sequence[Need]) -> Statistics:
        variables: dict[str, Variable] = {}
        remarks: dict[str, None] = {}
        items: dict[Need, Any] = {}
        weights: list[float] = []
        for need in needs:
            found = self._moments(need) if isinstance(need, Moment) else self._counts(need)
            statistic, schema, noted, weight = found
            items[need] = statistic
            variables |= {variable.name: variable for variable in schema.variables}
            remarks |= dict.fromkeys(noted)
            weights.append(weight)
            self.watch.advance(1)
        facts = _answer(self._rows.select(nw.len().alias(N))).to_pydict()
        n_read, n_kept = int(self._facts[N]), int(facts[N][0])
        ordered = [variables.get(name) or self.schema[name] for name in self.policies.columns]
        return Statistics(
            self.known or Schema(tuple(ordered)),
            items,
            weights[0] if weights else float(n_kept),
            n_read,
            n_read - n_kept,
            tuple(remarks),
        )

    def _aggregates(self) -> list[Any]:
        if not self.policies.weights:
            return [nw.len().alias(W)]
        kind = nw.Int64 if self._kinds[self.policies.weights].is_integer() else nw.Float64
        return [nw.col(W).sum().cast(kind).alias(W)]

    def _counts(self, need: Any) -> tuple[Any, Schema, tuple[str, ...], float]:
        """Return what a need asks for, from a contingency table that the database makes."""
        frame = self._rows
        grouped = (
            frame.group_by(*need.scope).agg(*self._aggregates()) if need.scope else frame.select(*self._aggregates())
        )
        table = self._read(_answer(grouped), need.scope)
        statistics = BlockSource(table).gather([need])
        return statistics[need], table.schema, table.remarks, statistics.weight

    def _moments(self, need: Moment) -> tuple[Any, Schema, tuple[str, ...], float]:
        """Return moments: the first query finds where the values are, the second adds up what is around there."""
        rows = self._rows.with_columns(*(nw.col(name).cast(nw.Float64) for name in need.xs))
        centres = [f"suffice_centre_{place}" for place in range(len(need.xs))]
        means = [nw.col(name).mean().alias(centre) for name, centre in zip(need.xs, centres, strict=True)]
        if need.by:
            rows = rows.join(rows.group_by(*need.by).agg(*means), on=list(need.by))
        else:
            rows = rows.join(rows.select(*means), how="cross")
        above = [nw.col(name) - nw.col(centre) for name, centre in zip(need.xs, centres, strict=True)]
        weighted = [nw.col(W) * one for one in above] if self.policies.weights else above
        pairs = [(i, j) for i in range(len(above)) for j in range(i, len(above))]
        asked = [*self._aggregates(), *(nw.col(name).min().alias(name) for name in centres)]
        asked += [one.sum().alias(f"suffice_sum_{i}") for i, one in enumerate(weighted)]
        asked += [(weighted[i] * above[j]).sum().alias(f"suffice_product_{i}_{j}") for i, j in pairs]
        grouped = rows.group_by(*need.by).agg(*asked) if need.by else rows.select(*asked)
        answer = _answer(grouped)
        table = self._read(answer, need.by)
        variables = tuple(self.known[name] if self.known else Variable(name) for name in need.xs)
        moments = _moments_of(answer, table, variables, pairs)
        for place, name in enumerate(need.xs):
            if not np.isfinite(moments.mean[..., place]).all():
                raise DataError(f"Column {name!r} holds infinite values. Correct or drop these rows.")
        schema = Schema((*table.schema.variables, *variables))
        return moments, schema, table.remarks, float(moments.weight.sum())

    def _read(self, answer: pa.Table, names: Sequence[str]) -> EncodedTable:
        """Read the table that a query returned as any other, each row with its weight."""
        declared: dict[str, Any] = {name: entry for name, entry in self.policies.declared.items() if name in names}
        if self.known is not None:
            declared = {name: self.known[name] for name in names}
        try:
            table = open_table(answer.select([*names, W]), tuple(names), schema=declared, weights=W)
        except SufficeError as error:
            raise type(error)(MARK_OF_ROW.sub("", str(error))) from None  # no row of the table itself
        assert isinstance(table, EncodedTable)
        return table


def _how_many(condition: Any) -> Any:
    """Return the expression for in how many rows a condition holds."""
    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0)).sum()


def _answer(query: Any) -> pa.Table:
    """Run a query; whatever the engine has against it is told in an error of ours."""
    try:
        found: pa.Table = query.collect("pyarrow").to_native()
    except SufficeError:
        raise
    except Exception as error:
        reason = str(error).splitlines()[0][:300] if str(error) else type(error).__name__
        raise DataError(f"The database cannot answer: {reason}. Mend the table or the query.") from error
    return found


def _moments_of(
    answer: pa.Table, table: EncodedTable, variables: Sequence[Variable], pairs: Sequence[tuple[int, int]]
) -> Moments:
    """Turn sums around centres, one row a cell, into moments."""
    by = table.schema.variables
    p, shape = len(variables), tuple(variable.n_states for variable in by)

    def numbers(name: str) -> NDArray[np.float64]:
        column = answer.column(name).to_pylist()
        return np.array([0.0 if value is None else float(value) for value in column])

    n_found = answer.num_rows
    weight = numbers(W)
    safe = np.where(weight > 0, weight, 1.0)
    centre = np.array([numbers(f"suffice_centre_{i}") for i in range(p)]).reshape(p, n_found).T
    above = np.array([numbers(f"suffice_sum_{i}") for i in range(p)]).reshape(p, n_found).T / safe[:, None]
    scatter = np.zeros((n_found, p, p))
    for i, j in pairs:
        around = numbers(f"suffice_product_{i}_{j}") - weight * above[:, i] * above[:, j]
        scatter[:, i, j] = scatter[:, j, i] = np.maximum(around, 0.0) if i == j else around
    mean = centre + above
    rest = above - (mean - centre)
    cells = tuple(table.columns[variable.name] for variable in by)
    whole = Moments.zero(Moment(tuple(v.name for v in variables), tuple(v.name for v in by)), Schema((*by, *variables)))
    arrays = {name: np.array(getattr(whole, name)) for name in ("weight", "mean", "rest", "scatter")}
    for name, found in (("weight", weight), ("mean", mean), ("rest", rest), ("scatter", scatter)):
        if shape:
            arrays[name][cells] = found
        else:
            arrays[name] = found[0]
    return Moments(tuple(variables), tuple(by), **arrays)
