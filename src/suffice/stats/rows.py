"""Rows: the distinct rows of some columns, each with its weight; all that a function of single rows can ask of data.

Rows stand in lexicographic order, column by column, so that the same data gives the same bits however it was cut or
ordered. Neighbouring discrete columns are packed into one whole number, so that few words are sorted, not many columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.data.block import Block, code_dtype
from suffice.data.frame import to_native
from suffice.data.schema import Schema
from suffice.data.variable import Variable, unite
from suffice.errors import StatisticsError, UnknownNameError, is_number, listing, shown, suggestion
from suffice.settings import more_memory, settings
from suffice.stats.counts import Counts, require_factor
from suffice.stats.needs import Distinct
from suffice.stats.notebook import rows_cells
from suffice.stats.ordering import grouped, words_of
from suffice.text import html_table, in_bytes, plural
from suffice.types import Array, Codes, Floats, Frame, Ints
from suffice.values import Label


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """The distinct rows of some columns, discrete or continuous, with the weight of each.

    Build them with `of_rows`, which sorts and adds up; the constructor takes arrays that already are as described.

    Attributes
    ----------
    variables : tuple of Variable
        One a column, in the order of the need's scope.
    columns : tuple of arrays, shape (n_rows,) each
        Codes of discrete variables, float64 values of continuous ones. No two rows are equal, and they stand in
        lexicographic order. 0.0 and −0.0 are one value, held as 0.0.
    weights : array, shape (n_rows,)
        All above zero: a row without weight is left out.

    Examples
    --------
    >>> coin, x = Variable("coin", ("heads", "tails")), Variable("x")
    >>> rows = Rows.of_rows((coin, x), ([1, 0, 1], [0.5, 2.0, 0.5]))
    >>> rows
    Rows(2 distinct rows of ['coin', 'x'], weight 3)
    >>> rows.codes(["coin"]).tolist(), rows.values("x").tolist(), rows.weights.tolist()
    ([[0], [1]], [2.0, 0.5], [1.0, 2.0])
    >>> (rows + rows).counts(["coin"]).table()
    array([2, 4])
    """

    variables: tuple[Variable, ...]
    columns: tuple[Array, ...] = field(repr=False)
    weights: Floats = field(repr=False)

    def __post_init__(self) -> None:
        variables, columns = tuple(self.variables), tuple(map(np.asarray, self.columns))
        weights = np.asarray(self.weights)
        shapes = [array.shape for array in (*columns, weights)]
        if len(columns) != len(variables) or weights.ndim != 1 or len(set(shapes)) > 1:
            raise StatisticsError(
                f"Rows over {listing(v.name for v in variables)} are one array a variable and one of weights, all of "
                f"one length. Got arrays of shapes {listing(shapes)} instead."
            )
        object.__setattr__(self, "variables", variables)
        object.__setattr__(self, "columns", tuple(map(_frozen, columns, map(_dtype, variables))))
        object.__setattr__(self, "weights", _frozen(weights, np.float64))

    # Building -------------------------------------------------------------------------------------------------

    @classmethod
    def of_rows(
        cls, variables: Sequence[Variable], columns: Sequence[Array | Sequence[float]], weights: ArrayLike | None = None
    ) -> Rows:
        """Build from rows in any order; equal ones become one.

        Parameters
        ----------
        variables : sequence of Variable
        columns : sequence of arrays, shape (n,) each
            Codes of discrete variables, numbers of continuous ones.
        weights : array, shape (n,), optional
            Finite and not negative; one each unless given. Without columns they tell how many rows there are.
        """
        if weights is None:
            weights = np.ones(len(columns[0]) if columns else 0)
        given = [_proper(variable, np.asarray(column)) for variable, column in zip(variables, columns, strict=False)]
        rest = map(np.asarray, columns[len(given) :])
        whole = cls(tuple(variables), (*given, *rest), _proper_weights(np.asarray(weights)))
        return _distinct(whole.variables, whole.columns, whole.weights)

    @classmethod
    def of_block(cls, need: Distinct, block: Block) -> Rows:
        """Reduce one block of rows."""
        variables = tuple(block.schema[name] for name in need.scope)
        columns = [block.columns[name] for name in need.scope]
        weights = np.ones(block.n_rows) if block.weights is None and not columns else block.weights
        return _within_memory(_distinct(variables, columns, weights))

    @classmethod
    def zero(cls, need: Distinct, schema: Schema) -> Rows:
        """Return the rows of an empty table."""
        variables = tuple(schema[name] for name in need.scope)
        return cls(variables, tuple(np.zeros(0) for _ in variables), np.zeros(0))

    # The monoid -----------------------------------------------------------------------------------------------

    @property
    def need(self) -> Distinct:
        """The request that these rows answer."""
        return Distinct(tuple(variable.name for variable in self.variables))

    def __add__(self, other: Rows) -> Rows:
        if not isinstance(other, Rows):
            return NotImplemented
        if self.need != other.need:
            raise StatisticsError(f"Rows over {self.need.scope} and over {other.need.scope} cannot be added.")
        if self.variables != other.variables:
            schema = Schema(tuple(unite(a, b) for a, b in zip(self.variables, other.variables, strict=True)))
            return self.reindexed(schema) + other.reindexed(schema)
        columns = [np.concatenate(pair) for pair in zip(self.columns, other.columns, strict=True)]
        weights = np.concatenate([self.weights, other.weights])
        return _within_memory(_distinct(self.variables, columns, weights))

    def scaled(self, factor: float) -> Rows:
        """Return the rows with every weight multiplied by ``factor`` ≥ 0."""
        weights = self.weights * require_factor(factor)
        kept = weights > 0  # a tiny factor can round weights to nothing
        return Rows(self.variables, tuple(column[kept] for column in self.columns), weights[kept])

    def reindexed(self, schema: Schema) -> Rows:
        """Return the rows over a schema with at least these states."""
        variables = tuple(schema[variable.name] for variable in self.variables)
        if variables == self.variables:
            return self
        recoding = {
            old.name: np.array([new.code(state) for state in old.labels], np.int64)
            for old, new in zip(self.variables, variables, strict=True)
            if old.is_discrete or new.is_discrete
        }
        return self.recoded(schema, recoding)

    def recoded(self, schema: Schema, recoding: Mapping[str, Codes]) -> Rows:
        """Return the rows with code c of a discrete variable replaced by ``recoding[variable][c]``."""
        variables = tuple(schema[variable.name] for variable in self.variables)
        tables = [recoding.get(variable.name) for variable in self.variables]
        columns = tuple(
            column if table is None else np.asarray(table).take(column)
            for column, table in zip(self.columns, tables, strict=True)
        )
        if all(table is None or (np.diff(table) > 0).all() for table in tables):
            return Rows(variables, columns, self.weights)  # the rows of a growing stream keep their order
        return _distinct(variables, columns, self.weights)

    def renamed(self, variables: Mapping[str, Variable]) -> Rows:
        """Return the same rows of other variables with the same states; those that are not named keep their names."""
        return Rows(tuple(variables.get(v.name, v) for v in self.variables), self.columns, self.weights)

    def to_arrays(self) -> dict[str, Array]:
        """Return ``weights``, and ``column_0``, ``column_1``, … in the order of the variables."""
        return {"weights": self.weights, **{f"column_{i}": column for i, column in enumerate(self.columns)}}

    @classmethod
    def from_arrays(cls, need: Distinct, schema: Schema, arrays: Mapping[str, Array]) -> Rows:
        """Rebuild from `to_arrays`."""
        columns = [arrays[f"column_{position}"] for position in range(len(need.scope))]
        return cls.of_rows([schema[name] for name in need.scope], columns, arrays["weights"])

    # Looking --------------------------------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        """Number of distinct rows."""
        return len(self.weights)

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum())

    @property
    def n_bytes(self) -> int:
        """Memory of the columns and weights."""
        return self.weights.nbytes + sum(column.nbytes for column in self.columns)

    def codes(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the codes of some discrete variables, shape (n_rows, n_names)."""
        found = np.zeros((self.n_rows, len(names)), np.int64)
        for place, position in enumerate(self._positions(names)):
            _ = self.variables[position].labels  # an error for a continuous variable
            found[:, place] = self.columns[position]
        return found

    def values(self, name: str) -> Floats:
        """Return one column as numbers, shape (n_rows,): the values, never the codes, of a discrete variable."""
        (position,) = self._positions([name])
        variable, column = self.variables[position], self.columns[position]
        if variable.states is None:
            return column
        if not all(isinstance(state, bool) or is_number(state) for state in variable.states):
            raise StatisticsError(
                f"The states {listing(variable.states)} of variable {name!r} are not numbers. Use codes([{name!r}])."
            )
        return np.array(variable.states, np.float64).take(column)

    def marginal(self, scope: Sequence[str]) -> Rows:
        """Return the distinct rows of some of the columns, in the order asked for."""
        positions = self._positions(scope)
        if positions == list(range(len(self.variables))):
            return self
        variables = tuple(self.variables[position] for position in positions)
        return _distinct(variables, [self.columns[position] for position in positions], self.weights)

    def counts(self, scope: Sequence[str]) -> Counts:
        """Return the joint counts of some discrete variables, axes in the order asked for."""
        cells = self.codes(scope)
        return Counts.sparse([self.variables[position] for position in self._positions(scope)], cells, self.weights)

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a distinct row: states or values, and the weight.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        columns: dict[str, Array | list[Label]] = {
            v.name: column if v.states is None else [v.states[code] for code in column.tolist()]
            for v, column in zip(self.variables, self.columns, strict=True)
        }
        name = "weight"
        while name in columns:
            name += "_"
        return to_native({**columns, name: self.weights}, backend)

    def __repr__(self) -> str:
        return f"Rows({plural(self.n_rows, 'distinct row')} of {listing(self.need.scope, 6)}, weight {self.weight:g})"

    def _repr_html_(self) -> str:
        return html_table(*rows_cells(self))

    def _positions(self, names: Sequence[str]) -> list[int]:
        held = {variable.name: position for position, variable in enumerate(self.variables)}
        for name in names:
            if name not in held:
                raise UnknownNameError(
                    f"The rows have no column {name!r}. They are over {listing(held)}." + suggestion(name, held)
                )
        return [held[name] for name in names]


def collect_rows(needs: Sequence[Distinct], block: Block) -> dict[Distinct, Rows]:
    """Collect the distinct rows that answer ``needs`` from one block."""
    return {need: Rows.of_block(need, block) for need in needs}


# Arrays that are proper ---------------------------------------------------------------------------------------


def _dtype(variable: Variable) -> type[np.number]:
    return np.float64 if variable.states is None else code_dtype(variable.n_states)


def _frozen(array: Array, dtype: type[np.number]) -> Array:
    if array.dtype == dtype and not array.flags.writeable:
        return array
    frozen = np.array(array, dtype)  # what the caller does to its own array changes nothing here
    frozen.flags.writeable = False
    return frozen


def _proper(variable: Variable, column: Array) -> Array:
    """Return a column of codes or numbers, in which nothing is missing."""
    whole, real = column.dtype.kind in "iu", column.dtype.kind in "iuf"
    if variable.states is None:
        bad, wanted = np.isnan(column) if real else np.ones(column.shape, np.bool_), "numbers, none of them missing"
    else:
        bad = (column < 0) | (column >= variable.n_states) if whole else np.ones(column.shape, np.bool_)
        wanted = f"codes, whole numbers from 0 to {variable.n_states - 1}"
    if bad.any():
        raise StatisticsError(
            f"The rows' column {variable.name!r} must hold {wanted}. Got {shown(column[bad].tolist()[0])} instead."
        )
    return column


def _proper_weights(weights: Array) -> Array:
    real = weights.dtype.kind in "iufb"
    bad = ~np.isfinite(weights) | (weights < 0) if real else np.ones(weights.shape, np.bool_)
    if bad.any():
        raise StatisticsError(
            f"The rows' weights must be finite and not negative. Got {shown(weights[bad].tolist()[0])} instead."
        )
    return weights


def _within_memory(rows: Rows) -> Rows:
    allowed = settings().memory
    if rows.n_bytes > allowed:
        raise StatisticsError(
            f"The {plural(rows.n_rows, 'distinct row')} of {plural(len(rows.variables), 'column')} "
            f"{listing(rows.need.scope)} take {in_bytes(rows.n_bytes)}, more than the {in_bytes(allowed)} that are "
            "allowed. Allow more, with ",
            more_memory(rows.n_bytes),
            ", or use fewer columns.",
        )
    return rows


# Sorting and adding up ----------------------------------------------------------------------------------------


def _distinct(variables: tuple[Variable, ...], columns: Sequence[Array], weights: Array | None) -> Rows:
    """Sort rows and make one of those that are equal; weights of None are one each."""
    sizes = [None if variable.states is None else variable.n_states for variable in variables]
    words, span = words_of(columns, sizes, len(columns[0]) if weights is None else len(weights))
    if span is not None and span <= 2 * len(words[0]):
        where, summed = _by_histogram(words[0], weights, span)
    else:
        where, summed = _by_sorting(words, weights)
    kept = summed > 0
    if not kept.all():
        where, summed = where[kept], summed[kept]
    found = []
    for variable, column in zip(variables, columns, strict=True):
        taken = column[where].astype(_dtype(variable), copy=False)
        found.append(taken + 0.0 if variable.states is None else taken)  # −0.0 becomes 0.0
    for array in (*found, summed):
        array.flags.writeable = False
    return Rows(variables, tuple(found), summed)


def _by_histogram(word: NDArray[np.int64], weights: Array | None, span: int) -> tuple[Ints, Floats]:
    """Return where one row of each value below ``span`` stands, and the weight of all of them."""
    somewhere = np.zeros(span, np.intp)
    somewhere[word] = np.arange(len(word))
    return somewhere, np.bincount(word, weights, span).astype(np.float64)


def _by_sorting(words: list[Array], weights: Array | None) -> tuple[Ints, Floats]:
    """Return where one row of each combination of words stands, in order, and the weight of all of them."""
    order, starts = grouped(words, stable=weights is not None)
    where = starts if order is None else order[starts]
    if weights is None:
        return where, np.diff(starts, append=len(words[0])).astype(np.float64)
    return where, np.add.reduceat(weights if order is None else weights[order], starts, dtype=np.float64)
