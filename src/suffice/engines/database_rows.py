"""Rows of a database's table that count: which columns there are, what they lack, and with which weight each counts.

All of it is asked for in queries whose answers are small: numbers of rows, distinct values, a row that is at fault.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import pyarrow as pa

from suffice.data.block import EXACT
from suffice.data.float_kinds import FRACTION, MISSING, WHOLE, Trait, refuse_unclear
from suffice.data.schema import Declaration, Schema
from suffice.data.stream import Policies, or_else
from suffice.data.variable import Variable
from suffice.engines.database_moments import OWN, N, W
from suffice.errors import DataError, SchemaError, SufficeError, listing, shown, suggestion
from suffice.text import plural

WITHOUT_NAN = ("sqlite", "mysql", "mssql")
"""Databases whose numbers are numbers, and whose ibis knows no test for others."""
SHOWN_COLUMNS = 3
"""Of a row that is at fault, so many values are shown."""
OURS = ("builtins", "numpy")
"""Modules whose errors in the middle of a query would be faults of this library, not of a database."""

Lazy: TypeAlias = "nw.LazyFrame[Any]"


@dataclass(frozen=True, eq=False)
class DatabaseRows:
    """The rows of a database's table, as they are to be read.

    Attributes
    ----------
    frame : lazy frame of narwhals
    native : object
        The same as its engine holds it.
    policies : Policies
        How the columns are to be read.
    known : Schema or None
        The variables, once a pass has settled their states.
    """

    frame: Lazy
    native: Any
    policies: Policies
    known: Schema | None = None

    # What the columns are -------------------------------------------------------------------------------------

    @cached_property
    def kinds(self) -> dict[str, nw.dtypes.DType]:
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

    def ignored(self) -> list[str]:
        """Say which columns are left aside, as of every table."""
        used = {*self.policies.columns, self.policies.weights}
        others = [name for name in self.kinds if name not in used]
        return [f"Columns outside the structure were ignored: {listing(others, 6)}."] if others else []

    def gap(self, name: str) -> nw.Expr:
        """Return the expression that tells where a column lacks a value."""
        missing = nw.col(name).is_null()
        return missing | nw.col(name).is_nan() if self.kinds[name].is_float() and self._knows_nan else missing

    @cached_property
    def _knows_nan(self) -> bool:
        backend = getattr(self.native, "get_backend", None)
        return backend is None or backend().name not in WITHOUT_NAN

    def is_continuous(self, name: str) -> bool:
        """Whether a column is to be read as numbers: by what is said of it, or else by what it holds."""
        declared: Declaration | None = self.policies.declared.get(name)
        if declared is not None:
            return declared.kind == "continuous"
        if name in self.policies.continuous:
            return True
        kind = self.kinds[name]
        return bool(kind.is_float() or (kind.is_decimal() and name not in self._whole_decimals))

    @cached_property
    def _whole_decimals(self) -> frozenset[str]:
        """The columns of decimals without digits behind the point, which are integers."""
        names = [name for name in self.policies.columns if self.kinds[name].is_decimal()]
        kinds = answer_of(self.frame.select(*names).head(0)).schema if names else []
        return frozenset(field.name for field in kinds if pa.types.is_decimal(field.type) and field.type.scale == 0)

    def refuse_unclear(self) -> None:
        """Refuse all columns of whole numbers as floats that lack values, as in every table."""
        traits: set[Trait] = set()
        for name in self.policies.columns:
            is_said = name in self.policies.declared or name in self.policies.continuous
            if not is_said and self.is_continuous(name) and 0 < self.facts[f"gaps:{name}"] < self.facts[N]:
                traits |= {(name, MISSING), (name, FRACTION if self.facts[f"fractions:{name}"] else WHOLE)}
        refuse_unclear(traits)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """How many rows there are, how many lack each column, and what the weights are like."""
        asked = [nw.len().alias(N)]
        for name in self.policies.columns:
            kind = self.kinds[name]
            asked.append(how_many(self.gap(name)).alias(f"gaps:{name}"))
            if kind.is_float() or kind.is_decimal():
                whole = (nw.col(name) == nw.col(name).round(0)) & (nw.col(name).abs() < EXACT)
                asked.append(how_many(~whole & ~self.gap(name)).alias(f"fractions:{name}"))
        return {name: values[0] for name, values in answer_of(self.frame.select(*asked)).to_pydict().items()}

    # Rows that count ------------------------------------------------------------------------------------------

    @cached_property
    def complete(self) -> Lazy:
        """The rows that count, as a lazy frame: with a weight, and without those that are dropped."""
        if self.policies.missing == "error":
            self._refuse_gaps()
            return self.columns
        return self.columns.filter(*(~self.gap(name) for name in self.policies.columns))

    @cached_property
    def columns(self) -> Lazy:
        """The columns that are read, of all rows, and their weight."""
        policies = self.policies
        names = [nw.col(name) for name in self.kinds if name in policies.columns]
        if policies.weights:
            self._check_weights(policies.weights)
            names.append(self._weight(policies.weights).alias(W))
        frame = self.frame.select(*names)
        if policies.unknown_states == "missing" and (known := self._known_states):
            return frame.with_columns(*(nw.when(is_known).then(nw.col(n)).alias(n) for n, is_known in known.items()))
        return frame

    @cached_property
    def _known_states(self) -> dict[str, nw.Expr]:
        """Return, by column, the expression that tells which values are among the declared states."""
        declared = {name: entry.variable(name) for name, entry in self.policies.declared.items()}
        if self.known is not None:
            declared |= {v.name: v for v in self.known.variables if v.states is not None}
        columns = self.policies.columns
        return {name: self._is_state(name, of) for name, of in declared.items() if of is not None and name in columns}

    def _is_state(self, name: str, variable: Variable) -> nw.Expr:
        """Return the expression for a value that is one of the states, spelled in any way that is read as one."""
        found = answer_of(self.frame.group_by(name).agg(nw.len().alias(N))).column(name).to_pylist()
        known = [value for value in found if value is not None and variable.find(value) is not None]
        return nw.col(name).is_in(known) if known else nw.lit(False)

    def taken_as_missing(self) -> list[str]:
        """Say how many values were outside the declared states."""
        remarks = []
        for name, is_known in self._known_states.items() if self.policies.unknown_states == "missing" else ():
            if count := self._lacking[name] - int(self.facts[f"gaps:{name}"] or 0):
                outside = self.frame.filter(~is_known & ~self.gap(name)).select(name).head(1)
                told = f"{plural(count, 'value')} outside the declared states taken as missing"
                remarks.append(f"{name}: {told} (such as {shown(answer_of(outside).column(0)[0].as_py())}).")
        return remarks

    def _refuse_gaps(self) -> None:
        for name, count in self._lacking.items():
            if count:
                example = self._example(self.columns.filter(self.gap(name)), name)
                raise DataError(
                    f"Column {name!r} lacks {plural(count, 'value')} in the table of the database{example}. "
                    "Fill them in",
                    or_else(self.policies.if_missing),
                    ".",
                )

    def _example(self, rows: Lazy, name: str) -> str:
        """Show a row that is at fault: rows of a database have no numbers to name them by."""
        others = [other for other in self.policies.columns if other != name][:SHOWN_COLUMNS]
        row = answer_of(rows.select(*others).head(1)).to_pylist() if others else []
        return "".join(f", such as in a row of {', '.join(f'{n}={shown(v)}' for n, v in one.items())}" for one in row)

    @cached_property
    def _lacking(self) -> dict[str, int]:
        """How many rows lack each column, values outside the declared states among them if these are taken so."""
        if self.policies.unknown_states != "missing":
            return {name: int(self.facts[f"gaps:{name}"] or 0) for name in self.policies.columns}
        asked = [how_many(self.gap(name)).alias(name) for name in self.policies.columns]
        answer = answer_of(self.columns.select(*asked)).to_pydict()
        return {name: int(values[0] or 0) for name, values in answer.items()}

    def _weight(self, name: str) -> nw.Expr:
        """Return the expression for the weight of a row; yes and no are one and zero, as in every table."""
        return nw.col(name).cast(nw.Int64) if self.kinds[name] == nw.Boolean else nw.col(name)

    def _check_weights(self, name: str) -> None:
        if not (self.kinds[name].is_numeric() or self.kinds[name] == nw.Boolean):
            raise DataError(f"Column {name!r} is to hold weights, but it holds {self.kinds[name]}. Name another.")
        weight = self._weight(name)
        bad = (weight < 0) | self.gap(name)
        if self.kinds[name].is_float():
            bad = bad | (weight > sys.float_info.max)
        found = answer_of(self.frame.select(how_many(bad).alias(N))).to_pydict()[N][0]
        if found:
            raise DataError(
                f"Column {name!r} is to hold weights, but in {plural(int(found), 'row')} it is negative, infinite or "
                f"missing{self._example(self.frame.filter(bad), name)}. Weights must be finite and not negative."
            )

    def aggregates(self) -> list[nw.Expr]:
        """Return the expressions for the weight of all rows of a group."""
        if not self.policies.weights:
            return [nw.len().alias(W)]
        kind = self.kinds[self.policies.weights]
        is_whole = kind.is_integer() or kind == nw.Boolean
        return [nw.col(W).sum().cast(nw.Int64 if is_whole else nw.Float64).alias(W)]


def how_many(condition: nw.Expr) -> nw.Expr:
    """Return the expression for in how many rows a condition holds."""
    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0)).sum()


def answer_of(query: Lazy) -> pa.Table:
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
