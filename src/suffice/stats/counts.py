"""Counts: m(x_C), dense while the joint state space is small and sparse when it is large, the same to a caller."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import EXACT, Block, code_dtype
from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.data.variable import Variable, unite
from suffice.errors import StatisticsError, listing, shown
from suffice.settings import more_memory, settings
from suffice.stats.needs import Count
from suffice.stats.notebook import counts_cells
from suffice.stats.ordering import grouped, unique_rows, words_of
from suffice.text import html_table, in_bytes
from suffice.types import Array, Codes

ROW_COPIES = 3
"""Rows of a table are held about so many times: as counts, as probabilities, and by the certificate."""
DENSE_CELLS = 1 << 20
"""Joint state spaces up to this size are held as full tables."""


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of the joint configurations of some discrete variables.

    Attributes
    ----------
    variables : tuple of Variable
        One an axis, in the order of the need's scope.
    cells : array, shape (n_cells, n_variables), or None
        Configurations with a count, in lexicographic order, as codes of the shortest type that holds all of them; None
        when the table is dense. `nonzero` gives them as numbers to calculate with.
    values : array
        Dense: shape (n_states_1, …, n_states_d). Sparse: shape (n_cells,).
        Integers for whole weights, so that counts are exact; float64 for real ones.

    Examples
    --------
    >>> coin = Variable("coin", ("heads", "tails"))
    >>> m = Counts.dense((coin,), np.array([3, 1]))
    >>> (m + m).table()
    array([6, 2])
    >>> m.total
    4.0
    """

    variables: tuple[Variable, ...]
    cells: Codes | None
    values: Array = field(repr=False)

    def __post_init__(self) -> None:
        if self.cells is not None:
            is_short = self.cells.dtype == _code_dtype(self.variables)
            object.__setattr__(self, "cells", _frozen(self.cells) if is_short else _proper(self.variables, self.cells))
        object.__setattr__(self, "values", _frozen(self.values))

    # Building -------------------------------------------------------------------------------------------------

    @classmethod
    def dense(cls, variables: Sequence[Variable], table: Array) -> Counts:
        """Build from a full table; it is kept dense or made sparse by the size of its state space."""
        values = _exact(np.array(table))
        shape = tuple(variable.n_states for variable in variables)
        if values.shape != shape:
            raise StatisticsError(f"The table has shape {values.shape}, but the variables' states give {shape}.")
        if n_cells(variables) <= DENSE_CELLS:
            return cls(tuple(variables), None, values)
        where = np.argwhere(values != 0)
        return cls(tuple(variables), where, values[tuple(where.T)])

    @classmethod
    def of_table(cls, variables: tuple[Variable, ...], table: Array) -> Counts:
        """Build from a full table that fits the variables, is small enough to be held so, and changes no more."""
        return cls(variables, None, _exact(table))

    @classmethod
    def sparse(cls, variables: Sequence[Variable], cells: Array, values: Array) -> Counts:
        """Build from configurations, as codes, and their counts; repeated configurations are added up."""
        values = np.array(values)  # what the caller does to its own arrays changes nothing here
        if values.ndim != 1:
            raise StatisticsError(
                f"Counts of configurations are one number each. Got an array of shape {values.shape}."
            )
        cells = _proper(variables, np.asarray(cells).reshape(len(values), len(variables)))
        return cls._of_codes(tuple(variables), cells, _settled(values))

    @classmethod
    def _of_codes(cls, variables: tuple[Variable, ...], cells: Codes, values: Array) -> Counts:
        """Build the same from configurations that are known to be codes of these variables."""
        values = _exact(values)
        sizes = [variable.n_states for variable in variables]
        if n_cells(variables) <= DENSE_CELLS:
            table = np.zeros(sizes, values.dtype)
            if variables:
                np.add.at(table, tuple(cells.T.astype(np.intp)), values)
            else:
                table[...] = values.sum()
            return cls(variables, None, _exact(table))
        order, starts = grouped(words_of(list(cells.T), sizes, len(cells))[0], stable=values.dtype.kind == "f")
        if order is not None or len(starts) < len(cells):
            cells = _settled(cells[starts if order is None else order[starts]])
            values = _settled(_summed(values if order is None else values[order], starts))
        present = values != 0
        if not present.all():
            cells, values = _settled(cells[present]), _settled(_exact(values[present]))
        return cls(variables, cells, values)

    @classmethod
    def of_block(cls, need: Count, block: Block) -> Counts:
        """Count one block of rows."""
        variables = tuple(block.schema[name] for name in need.scope)
        codes = [block.columns[name] for name in need.scope]
        if n_cells(variables) > DENSE_CELLS:
            weights = np.ones(block.n_rows, np.int64) if block.weights is None else block.weights
            cells = np.empty((block.n_rows, len(codes)), _code_dtype(variables))
            for axis, column in enumerate(codes):
                cells[:, axis] = column
            return cls._of_codes(variables, cells, weights)
        shape = [variable.n_states for variable in variables]
        flat = np.zeros(block.n_rows, np.int32)  # dense tables are small, and short numbers are quicker
        for n_states, column in zip(shape, codes, strict=True):
            flat *= n_states
            np.add(flat, column, out=flat, casting="unsafe")
        return cls(variables, None, _exact(_histogram(flat, block.weights, math.prod(shape))).reshape(shape))

    @classmethod
    def zero(cls, need: Count, schema: Schema) -> Counts:
        """Return the counts of no rows."""
        variables = tuple(schema[name] for name in need.scope)
        return cls.sparse(variables, np.zeros((0, len(variables))), np.zeros(0, np.int64))

    # The monoid -----------------------------------------------------------------------------------------------

    def _repr_html_(self) -> str:
        return html_table(*counts_cells(self))

    @property
    def need(self) -> Count:
        """The request that these counts answer."""
        return Count(tuple(variable.name for variable in self.variables))

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.variables != other.variables:
            if self.need != other.need:
                raise StatisticsError(f"Counts over {self.need.scope} and over {other.need.scope} cannot be added.")
            schema = Schema(tuple(unite(a, b) for a, b in zip(self.variables, other.variables, strict=True)))
            return self.reindexed(schema) + other.reindexed(schema)
        if self.cells is None or other.cells is None:
            return Counts(self.variables, None, _exact(self.values + other.values))
        return Counts._of_codes(
            self.variables, np.concatenate([self.cells, other.cells]), np.concatenate([self.values, other.values])
        )

    def scaled(self, factor: float) -> Counts:
        """Return the counts multiplied by ``factor`` ≥ 0."""
        cells, values = self._occurring()
        return Counts._of_codes(self.variables, cells, values * require_factor(factor))

    def reindexed(self, schema: Schema) -> Counts:
        """Return the counts over a schema with at least these states."""
        variables = tuple(schema[variable.name] for variable in self.variables)
        if variables == self.variables:
            return self
        recoding = {
            old.name: np.array([new.code(state) for state in old.labels], np.int64)
            for old, new in zip(self.variables, variables, strict=True)
        }
        return self.recoded(schema, recoding)

    def recoded(self, schema: Schema, recoding: Mapping[str, Codes]) -> Counts:
        """Return the counts with code c of a variable replaced by ``recoding[variable][c]``."""
        variables = tuple(schema[variable.name] for variable in self.variables)
        cells, values = self._occurring()
        moved = np.empty(cells.shape, _code_dtype(variables))
        for axis, variable in enumerate(self.variables):
            codes = cells[:, axis]
            moved[:, axis] = recoding[variable.name][codes] if variable.name in recoding else codes
        return Counts._of_codes(variables, moved, values)

    def renamed(self, variables: Mapping[str, Variable]) -> Counts:
        """Return the same counts for other variables with the same states."""
        return Counts(tuple(variables[variable.name] for variable in self.variables), self.cells, self.values)

    def to_arrays(self) -> dict[str, Array]:
        """Return ``values``, and ``cells`` when sparse."""
        return {"values": self.values} if self.cells is None else {"cells": self.cells, "values": self.values}

    @classmethod
    def from_arrays(cls, need: Count, schema: Schema, arrays: Mapping[str, Array]) -> Counts:
        """Rebuild from `to_arrays`."""
        variables = tuple(schema[name] for name in need.scope)
        values = np.asarray(arrays["values"])
        if not (np.isfinite(values).all() and (values >= 0).all()):
            raise StatisticsError(f"The counts over {need.scope} are not all finite and at least zero.")
        if "cells" in arrays:
            return cls.sparse(variables, arrays["cells"], values)
        return cls.dense(variables, values)

    # Looking --------------------------------------------------------------------------------------------------

    @property
    def total(self) -> float:
        """Sum of all counts."""
        return float(self.values.sum())

    @property
    def n_cells(self) -> int:
        """Size of the joint state space."""
        return n_cells(self.variables)

    def nonzero(self) -> tuple[NDArray[np.int64], Array]:
        """Return the configurations with a count, shape (k, d), and their counts, shape (k,)."""
        cells, values = self._occurring()
        found = cells.astype(np.int64, copy=False)
        return (found if self.cells is None else _settled(found)), values

    def _occurring(self) -> tuple[Codes, Array]:
        """Return the same, the configurations as codes of whichever type."""
        if self.cells is not None:
            return self.cells, self.values
        flat = self.values.reshape(-1)
        occupied = np.flatnonzero(flat)
        axes = np.unravel_index(occupied, self.values.shape) if self.variables else ()
        cells = np.stack(axes, axis=1) if axes else np.zeros((len(occupied), 0), np.int64)
        return cells, flat[occupied]

    def columns(self) -> tuple[list[Codes], Array]:
        """Return the configurations with a count, a column of codes a variable, and their counts; shape (k,) each."""
        if self.cells is not None:
            return list(np.ascontiguousarray(self.cells.T)), self.values
        flat = self.values.reshape(-1)
        occupied = np.flatnonzero(flat)
        rest, found = occupied.astype(np.int32 if flat.size < 2**31 else np.int64), []
        for variable in reversed(self.variables[1:]):
            rest, code = np.divmod(rest, variable.n_states)
            found.append(code)
        return [*([rest] if self.variables else []), *reversed(found)], flat[occupied]

    def table(self) -> Array:
        """Return the full table, shape (n_states_1, …, n_states_d); an error when it is too large to hold."""
        if self.cells is None:
            return self.values
        if self.n_cells > 1 << 27:
            raise StatisticsError(
                f"A full table over {self.need.scope} has {self.n_cells:,} cells ({self.n_cells / 2**27:,.0f} GiB). "
                f"Use nonzero(), which lists the {len(self.values):,} configurations that occur."
            )
        full = np.zeros([variable.n_states for variable in self.variables], self.values.dtype)
        full[tuple(self.cells.T)] = self.values
        return full

    def marginal(self, scope: Sequence[str]) -> Counts:
        """Return the counts of some of the variables, axes in the order asked for."""
        names = self.need.scope
        absent = [name for name in scope if name not in names]
        if absent:
            raise StatisticsError(f"The counts are over {names}, so they have no marginal over {absent[0]!r}.")
        axes = [names.index(name) for name in scope]
        cells, values = self._occurring()
        return Counts._of_codes(tuple(self.variables[axis] for axis in axes), cells[:, axes], values)

    def rows(self) -> tuple[NDArray[np.int64] | None, Array]:
        """Split into rows of the last variable, one a configuration of the others.

        Returns
        -------
        configurations : array, shape (k, d − 1), or None
            None when every configuration has a row, in lexicographic order.
        values : array, shape (k, n_states_d)
        """
        r = self.variables[-1].n_states
        if self.cells is None:
            return None, self.values.reshape(-1, r) if r else self.values.reshape(math.prod(self.values.shape[:-1]), 0)
        sizes = [variable.n_states for variable in self.variables[:-1]]
        configurations, position = unique_rows(self.cells[:, :-1], sizes)
        _require_rows(self.variables, len(configurations))
        values = np.zeros((len(configurations), r), self.values.dtype)
        values[position, self.cells[:, -1]] = self.values
        return configurations.astype(np.int64), values

    def labelled(self) -> LabelledTable:
        """Return the full table with its labels."""
        return LabelledTable(self.variables, self.table(), "count")


def _require_rows(variables: Sequence[Variable], n_rows: int) -> None:
    """Refuse rows that would not fit the memory: a row has a cell for every state of the last variable."""
    *parents, child = variables
    need, allowed = 8 * ROW_COPIES * n_rows * child.n_states, settings().memory
    if need > allowed:
        raise StatisticsError(
            f"The table of {child.name!r} given {listing([parent.name for parent in parents], 6)} has {n_rows:,} rows "
            f"with data, of {child.n_states:,} states each, and would take {in_bytes(need)}, more than the "
            f"{in_bytes(allowed)} that are allowed. Use variables with fewer states, or allow more: ",
            more_memory(need),
            ".",
        )


def n_cells(variables: Sequence[Variable]) -> int:
    """Size of a joint state space, as an exact whole number."""
    return math.prod(variable.n_states for variable in variables)


def _code_dtype(variables: Sequence[Variable]) -> type[np.int8] | type[np.int16] | type[np.int32]:
    """Return the shortest type that holds the codes of all variables."""
    return code_dtype(max((variable.n_states for variable in variables), default=0))


def _settled(array: Array) -> Array:
    """Return an array that nobody else has, so that it need not be copied."""
    array.flags.writeable = False
    return array


def _frozen(array: Array) -> Array:
    return _settled(np.array(array)) if array.flags.writeable else array


def _proper(variables: Sequence[Variable], cells: Array) -> Codes:
    """Return a copy of configurations in the shortest type, if they are codes of these variables."""
    sizes = np.array([variable.n_states for variable in variables], np.int64)
    whole = cells if cells.dtype.kind in "iu" else _whole(cells)
    if cells.size and ((whole.min(axis=0) < 0).any() or (whole.max(axis=0) >= sizes).any()):
        row, axis = np.argwhere((whole < 0) | (whole >= sizes))[0]
        raise StatisticsError(
            f"The configurations of {variables[axis].name!r} must be codes, whole numbers from 0 to {sizes[axis] - 1}. "
            f"Got {shown(cells[row].tolist()[axis])} instead."
        )
    return _settled(whole.astype(_code_dtype(variables)))


def _whole(array: Array) -> NDArray[np.int64]:
    """Return values of any type as whole numbers, −1 where they are none."""
    found = np.full(array.shape, -1, np.int64)
    for place, value in enumerate(array.reshape(-1).tolist()):
        if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
            found.flat[place] = max(-1, min(int(value), 2**62))
    return found


def _summed(values: Array, starts: NDArray[np.intp]) -> Array:
    """Return the sums of the runs that begin at ``starts``; reals are added one after another, as in full tables."""
    if values.dtype.kind == "i":
        return _exact(np.add.reduceat(values, starts)) if len(starts) else values
    lengths = np.diff(starts, append=len(values))
    return _exact(np.bincount(np.repeat(np.arange(len(starts)), lengths), values, len(starts)))


def _histogram(flat: Codes, weights: Array | None, size: int) -> Array:
    if weights is None:
        return np.bincount(flat, minlength=size)
    if weights.dtype.kind == "f":
        return np.bincount(flat, weights, minlength=size)
    if float(weights.sum(dtype=np.float64)) < EXACT:  # then floats hold every partial sum exactly
        return np.bincount(flat, weights, minlength=size).astype(np.int64)
    table = np.zeros(size, np.int64)
    np.add.at(table, flat, weights)
    return table


def _exact(values: Array) -> Array:
    """Keep integers as int64 and turn everything else into float64; whole floats become integers again.

    So the same counts have the same bits, whichever way they were added up.
    """
    if values.dtype.kind in "iub" and (not values.size or int(values.max()) < EXACT):
        return values.astype(np.int64, copy=False)
    values = values.astype(np.float64, copy=False)
    if (values == np.trunc(values)).all() and (np.abs(values) < EXACT).all():
        return values.astype(np.int64)
    return values


def require_factor(factor: object) -> float:
    """Return a number by which statistics can be scaled: finite and not negative."""
    try:
        number = float(factor)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 <= number < math.inf:
        raise StatisticsError(f"Statistics are scaled by a finite number, not negative. Got {factor!r} instead.")
    return number
