"""The source over a table of a database: counts and moments are pushed into it, and only aggregates come back.

A query returns every configuration of some columns with its weight: a contingency table, which is then read and counted
as any other. Continuous columns come back as sums around a centre, cell by cell: the first query finds the means, the
second adds up what is above them, so that large offsets cost no digits. Tables are spoken to through narwhals, so that
DuckDB, and whatever ibis knows, understand the same questions.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from suffice.data.block import EXACT, EncodedTable
from suffice.data.schema import Declaration, Schema
from suffice.data.stream import Policies
from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.engines.database_moments import OWN, N, W, moments_of
from suffice.engines.spread import Opening
from suffice.errors import DataError, SchemaError, SufficeError, listing, shown, suggestion
from suffice.progress import Watch
from suffice.stats.counts import Counts
from suffice.stats.needs import Count, Distinct, Moment, Need
from suffice.stats.source import BlockSource, Source, Task
from suffice.stats.statistics import Statistics
from suffice.text import plural

PUSHED = (Count, Distinct, Moment)
"""The needs that a database answers by aggregates; others have its rows streamed."""
WITHOUT_NAN = ("sqlite", "mysql", "mssql")
"""Databases whose numbers are numbers, and whose ibis knows no test for others."""
SHOWN_COLUMNS = 3
"""Of a row that is at fault, so many values are shown."""
OURS = ("builtins", "numpy")
"""Modules whose errors in the middle of a query would be faults of this library, not of a database."""
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
        with explained():
            return self._schema()

    def _schema(self) -> Schema:
        names = self.policies.columns
        continuous = [name for name in names if self._continuous(name)]
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
        with self.watch.work("asking the database", len(wanted), "queries"), explained():
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
        weights = self.policies.weights
        for name in (*self.policies.columns, *([weights] if weights else [])):
            if name not in kinds:
                others = f"{listing(list(kinds), 12)}.{suggestion(name, kinds)}"
                if name == weights:
                    raise DataError(
                        f"The 'weights' argument names the column {name!r}, but the table of the database has only "
                        f"{others}"
                    )
                raise DataError(
                    f"The structure names the variable {name!r}, but there is no such column in the table of the "
                    f"database. Its columns are {others}"
                )
        for name in self.policies.declared:
            if name not in kinds and name not in self.policies.columns:
                raise SchemaError(
                    f"The schema declares {name!r}, but the table has no such column. It has "
                    f"{listing(list(kinds), 12)}.{suggestion(name, kinds)}"
                )
        for name in self.policies.columns:
            if name.startswith(OWN):
                raise DataError(
                    f"Column {name!r}: queries add columns whose names begin with {OWN!r}. Rename it in the query."
                )
        return kinds

    def _ignored(self) -> list[str]:
        """Say which columns are left aside, as of every table."""
        used = {*self.policies.columns, self.policies.weights}
        others = [name for name in self._kinds if name not in used]
        return [f"Columns outside the structure were ignored: {listing(others, 6)}."] if others else []

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
                whole = (nw.col(name) == nw.col(name).round(0)) & (nw.col(name).abs() < EXACT)
                asked.append(_how_many(~whole & ~self._gap(name)).alias(f"fractions:{name}"))
        return {name: values[0] for name, values in _answer(self.frame.select(*asked)).to_pydict().items()}

    # Rows that count ------------------------------------------------------------------------------------------

    @cached_property
    def _rows(self) -> Any:
        """The rows that count, as a lazy frame: with a weight, and without those that are dropped."""
        if self.policies.missing == "error":
            self._refuse_gaps()
            return self._columns
        return self._columns.filter(*(~self._gap(name) for name in self.policies.columns))

    @cached_property
    def _columns(self) -> Any:
        """The columns that are read, of all rows, and their weight."""
        policies = self.policies
        names = [nw.col(name) for name in self._kinds if name in policies.columns]
        if policies.weights:
            self._check_weights(policies.weights)
            names.append(self._weight(policies.weights).alias(W))
        frame = self.frame.select(*names)
        if policies.unknown_states == "missing" and (known := self._known_states):
            return frame.with_columns(*(nw.when(is_known).then(nw.col(n)).alias(n) for n, is_known in known.items()))
        return frame

    @cached_property
    def _known_states(self) -> dict[str, Any]:
        """Return, by column, the expression that tells which values are among the declared states."""
        declared = {name: entry.states for name, entry in self.policies.declared.items() if entry.states is not None}
        if self.known is not None:
            declared |= {v.name: v.states for v in self.known.variables if v.states is not None}
        return {name: self._is_one_of(name, of) for name, of in declared.items() if name in self.policies.columns}

    def _is_one_of(self, name: str, states: Sequence[Any]) -> Any:
        """Return the expression for a value that is one of some states, spelled in any way that is read as one."""
        variable = Variable(name, tuple(states), True)
        found = _answer(self.frame.group_by(name).agg(nw.len().alias(N))).column(name).to_pylist()
        known = [value for value in found if value is not None and variable.find(value) is not None]
        return nw.col(name).is_in(known) if known else nw.lit(False)

    @cached_property
    def _states(self) -> dict[str, Variable]:
        """The discrete variables with all of their states, those of rows that lack something else among them."""
        return {name: table.schema[name] for name, table in self._single.items()}

    @cached_property
    def _single(self) -> dict[str, EncodedTable]:
        """The table of each discrete variable alone."""
        found = {}
        for name in self.policies.columns:
            if not self._continuous(name):
                rows = self._columns.filter(~self._gap(name)).group_by(name).agg(*self._aggregates())
                found[name] = self._read(_answer(rows), (name,), {})
        return found

    def _taken_as_missing(self) -> list[str]:
        """Say how many values were outside the declared states."""
        remarks = []
        for name, is_known in self._known_states.items() if self.policies.unknown_states == "missing" else ():
            if count := self._lacking[name] - int(self._facts[f"gaps:{name}"] or 0):
                outside = self.frame.filter(~is_known & ~self._gap(name)).select(name).head(1)
                told = f"{plural(count, 'value')} outside the declared states taken as missing"
                remarks.append(f"{name}: {told} (such as {shown(_answer(outside).column(0)[0].as_py())}).")
        return remarks

    def _refuse_gaps(self) -> None:
        for name, count in self._lacking.items():
            if count:
                example = self._example(self._columns.filter(self._gap(name)), name)
                raise DataError(
                    f"Column {name!r} lacks {plural(count, 'value')} in the table of the database{example}. "
                    "Fill them in, leave out incomplete rows with missing='drop', or learn from what they have with "
                    "missing='em'."
                )

    def _example(self, rows: Any, name: str) -> str:
        """Show a row that is at fault: rows of a database have no numbers to name them by."""
        others = [other for other in self.policies.columns if other != name][:SHOWN_COLUMNS]
        row = _answer(rows.select(*others).head(1)).to_pylist() if others else []
        return "".join(f", such as in a row of {', '.join(f'{n}={shown(v)}' for n, v in one.items())}" for one in row)

    @cached_property
    def _lacking(self) -> dict[str, int]:
        """How many rows lack each column, values outside the declared states among them if these are taken so."""
        if self.policies.unknown_states != "missing":
            return {name: int(self._facts[f"gaps:{name}"] or 0) for name in self.policies.columns}
        asked = [_how_many(self._gap(name)).alias(name) for name in self.policies.columns]
        return {name: int(values[0] or 0) for name, values in _answer(self._columns.select(*asked)).to_pydict().items()}

    def _weight(self, name: str) -> Any:
        """Return the expression for the weight of a row; yes and no are one and zero, as in every table."""
        return nw.col(name).cast(nw.Int64) if self._kinds[name] == nw.Boolean else nw.col(name)

    def _check_weights(self, name: str) -> None:
        if not (self._kinds[name].is_numeric() or self._kinds[name] == nw.Boolean):
            raise DataError(f"Column {name!r} is to hold weights, but it holds {self._kinds[name]}. Name another.")
        weight = self._weight(name)
        bad = (weight < 0) | self._gap(name)
        if self._kinds[name].is_float():
            bad = bad | (weight > sys.float_info.max)
        found = _answer(self.frame.select(_how_many(bad).alias(N))).to_pydict()[N][0]
        if found:
            raise DataError(
                f"Column {name!r} is to hold weights, but in {plural(int(found), 'row')} it is negative, infinite or "
                f"missing{self._example(self.frame.filter(bad), name)}. Weights must be finite and not negative."
            )

    # Queries --------------------------------------------------------------------------------------------------

    def _pushed(self, needs: Sequence[Need]) -> Statistics:
        variables: dict[str, Variable] = {}
        remarks: dict[str, None] = dict.fromkeys(self._taken_as_missing())
        for name in self._more_states if self.known is None else ():
            remarks |= dict.fromkeys(self._single[name].remarks)
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
        _require_one_table(items)
        n_read = n_kept = int(self._facts[N])
        if self.policies.missing != "error":
            n_kept = int(_answer(self._rows.select(nw.len().alias(N))).to_pydict()[N][0])
        ordered = [variables.get(name) or self.schema[name] for name in self.policies.columns]
        return Statistics(
            self.known or Schema(tuple(ordered)),
            items,
            weights[0] if weights else float(n_kept),
            n_read,
            n_read - n_kept,
            (*remarks, *self._ignored()),
        )

    def _aggregates(self) -> list[Any]:
        if not self.policies.weights:
            return [nw.len().alias(W)]
        kind = self._kinds[self.policies.weights]
        kind = nw.Int64 if kind.is_integer() or kind == nw.Boolean else nw.Float64
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
        asked = [*self._aggregates(), *(nw.col(name).min().alias(name) for name in centres)]
        asked += [one.sum().alias(f"suffice_sum_{i}") for i, one in enumerate(weighted)]
        asked += [(weighted[i] * above[j]).sum().alias(f"suffice_product_{i}_{j}") for i, j in pairs]
        grouped = rows.group_by(*need.by).agg(*asked) if need.by else rows.select(*asked)
        answer = _answer(grouped)
        table = self._read(answer, need.by)
        variables = tuple(self.known[name] if self.known else Variable(name) for name in need.xs)
        moments = moments_of(answer, table, variables, pairs)
        for place, name in enumerate(need.xs):
            if not np.isfinite(moments.mean[..., place]).all():
                raise DataError(f"Column {name!r} holds infinite values. Correct or drop these rows.")
        schema = Schema((*table.schema.variables, *variables))
        return moments, schema, table.remarks, float(moments.weight.sum())

    def _mean(self, name: str) -> Any:
        """Return the expression for the mean of a column, near which deviations are added up."""
        if not self.policies.weights:
            return nw.col(name).mean()
        return (nw.col(W).cast(nw.Float64) * nw.col(name)).sum() / nw.col(W).cast(nw.Float64).sum()

    @cached_property
    def _more_states(self) -> dict[str, Variable]:
        """The states that rows to be dropped, or without weight, may have alone; they are states all the same."""
        lacking = any(self._facts[f"gaps:{name}"] for name in self.policies.columns)
        is_dropped = self.policies.missing != "error" and (lacking or self.policies.unknown_states == "missing")
        return self._states if is_dropped or self.policies.weights else {}

    def _read(
        self, answer: pa.Table, names: Sequence[str], states: Mapping[str, Variable] | None = None
    ) -> EncodedTable:
        """Read the table that a query returned as any other, each row with its weight."""
        more = self._more_states if states is None else states
        settled = {variable.name: variable for variable in self.known.variables} if self.known is not None else more
        declared: dict[str, Any] = {name: settled[name] for name in names if name in settled}
        if self.known is None:
            declared |= {name: entry for name, entry in self.policies.declared.items() if name in names}
        for place, name in enumerate(names):
            kind = self._kinds[name]
            is_number = kind.is_float() or kind.is_decimal()
            if is_number and name not in declared and not self._continuous(name):  # whole numbers that had gaps
                answer = answer.set_column(place, name, answer.column(name).cast(pa.int64()))
        try:
            table = open_table(answer.select([*names, W]), tuple(names), schema=declared, weights=W)
        except SufficeError as error:  # no row of the table itself, nor its column
            told = MARK_OF_ROW.sub("", str(error)).replace(repr(W), repr(self.policies.weights))
            raise type(error)(told) from None
        assert isinstance(table, EncodedTable)
        # States that were found are not declared ones, though the table was read by them.
        variables = tuple(settled.get(variable.name, variable) for variable in table.schema.variables)
        return replace(table, schema=Schema(variables))


def _require_one_table(items: Mapping[Need, Any]) -> None:
    """Refuse answers that contradict each other: what one query counts of a variable, every other one counts."""
    seen: dict[str, Any] = {}
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
                    "the table is being written to, or its text is compared without regard to case. Store what is to "
                    "be read first: CREATE TABLE … AS SELECT …."
                )


def _how_many(condition: Any) -> Any:
    """Return the expression for in how many rows a condition holds."""
    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0)).sum()


def _answer(query: Any) -> pa.Table:
    """Run a query; whatever the engine has against it is told in an error of ours."""
    with explained():
        found: pa.Table = query.collect("pyarrow").to_native()
        return found


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Turn what a database has against a question into an error of ours."""
    try:
        yield
    except SufficeError:
        raise
    except Exception as error:
        if type(error).__module__.partition(".")[0] in OURS:
            raise
        reason = str(error).splitlines()[0][:300].rstrip(".") if str(error) else type(error).__name__
        raise DataError(f"The database cannot answer: {reason}. Mend the table or the query.") from error
