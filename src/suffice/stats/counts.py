"""Counts: m(x_C), dense while the joint state space is small and sparse when it is large, the same to a caller."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import EXACT, Block
from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.data.variable import Variable, unite
from suffice.errors import StatisticsError
from suffice.stats.needs import Count
from suffice.stats.notebook import counts_cells
from suffice.text import html_table

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
        Configurations with a count, as codes, in lexicographic order; None when the table is dense.
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
    cells: NDArray[np.int64] | None
    values: NDArray[Any] = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("cells", "values"):
            array = getattr(self, name)
            if array is not None and array.flags.writeable:
                frozen = np.array(array)  # what the caller does to its own array changes nothing here
                frozen.flags.writeable = False
                object.__setattr__(self, name, frozen)

    # Building -------------------------------------------------------------------------------------------------

    @classmethod
    def dense(cls, variables: Sequence[Variable], table: NDArray[Any]) -> Counts:
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
    def of_table(cls, variables: tuple[Variable, ...], table: NDArray[Any]) -> Counts:
        """Build from a full table that fits the variables, is small enough to be held so, and changes no more."""
        return cls(variables, None, _exact(table))

    @classmethod
    def sparse(cls, variables: Sequence[Variable], cells: NDArray[Any], values: NDArray[Any]) -> Counts:
        """Build from configurations and their counts; repeated configurations are added up."""
        values = _exact(np.asarray(values))
        cells = np.asarray(cells, np.int64).reshape(len(values), len(variables))
        if n_cells(variables) <= DENSE_CELLS:
            table = np.zeros([variable.n_states for variable in variables], values.dtype)
            where: Any = tuple(cells.T) if variables else ...
            np.add.at(table, where, values if variables else values.sum())
            return cls(tuple(variables), None, _exact(table))
        distinct, position = unique_rows(cells)
        summed = np.zeros(len(distinct), values.dtype)
        np.add.at(summed, position, values)
        present = summed != 0
        return cls(tuple(variables), distinct[present], _exact(summed[present]))

    @classmethod
    def of_block(cls, need: Count, block: Block) -> Counts:
        """Count one block of rows."""
        variables = tuple(block.schema[name] for name in need.scope)
        codes = [block.columns[name] for name in need.scope]
        if n_cells(variables) > DENSE_CELLS:
            weights = np.ones(block.n_rows, np.int64) if block.weights is None else block.weights
            return cls.sparse(variables, np.stack(codes, axis=1) if codes else np.zeros((block.n_rows, 0)), weights)
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
        if self.need != other.need:
            raise StatisticsError(f"Counts over {self.need.scope} and over {other.need.scope} cannot be added.")
        if self.variables != other.variables:
            schema = Schema(tuple(unite(a, b) for a, b in zip(self.variables, other.variables, strict=True)))
            return self.reindexed(schema) + other.reindexed(schema)
        if self.cells is None or other.cells is None:
            return Counts(self.variables, None, _exact(self.values + other.values))
        return Counts.sparse(
            self.variables, np.concatenate([self.cells, other.cells]), np.concatenate([self.values, other.values])
        )

    def scaled(self, factor: float) -> Counts:
        """Return the counts multiplied by ``factor`` ≥ 0."""
        cells, values = self.nonzero()
        return Counts.sparse(self.variables, cells, values * require_factor(factor))

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

    def recoded(self, schema: Schema, recoding: Mapping[str, NDArray[Any]]) -> Counts:
        """Return the counts with code c of a variable replaced by ``recoding[variable][c]``."""
        cells, values = self.nonzero()
        moved = np.array(cells)
        for axis, variable in enumerate(self.variables):
            if variable.name in recoding:
                moved[:, axis] = recoding[variable.name][cells[:, axis]]
        return Counts.sparse([schema[variable.name] for variable in self.variables], moved, values)

    def renamed(self, variables: Mapping[str, Variable]) -> Counts:
        """Return the same counts for other variables with the same states."""
        return Counts(tuple(variables[variable.name] for variable in self.variables), self.cells, self.values)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return ``values``, and ``cells`` when sparse."""
        return {"values": self.values} if self.cells is None else {"cells": self.cells, "values": self.values}

    @classmethod
    def from_arrays(cls, need: Count, schema: Schema, arrays: Mapping[str, NDArray[Any]]) -> Counts:
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

    def nonzero(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return the configurations with a count, shape (k, d), and their counts, shape (k,)."""
        if self.cells is not None:
            return self.cells, self.values
        flat = self.values.reshape(-1)
        occupied = np.flatnonzero(flat)
        axes = np.unravel_index(occupied, self.values.shape) if self.variables else ()
        cells = np.stack(axes, axis=1) if axes else np.zeros((len(occupied), 0), np.int64)
        return cells, flat[occupied]

    def columns(self) -> tuple[list[NDArray[Any]], NDArray[Any]]:
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

    def table(self) -> NDArray[Any]:
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
        cells, values = self.nonzero()
        return Counts.sparse([self.variables[axis] for axis in axes], cells[:, axes], values)

    def rows(self) -> tuple[NDArray[np.int64] | None, NDArray[Any]]:
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
        configurations, position = unique_rows(self.cells[:, :-1])
        values = np.zeros((len(configurations), r), self.values.dtype)
        values[position, self.cells[:, -1]] = self.values
        return configurations, values

    def labelled(self) -> LabelledTable:
        """Return the full table with its labels."""
        return LabelledTable(self.variables, self.table(), "count")


def n_cells(variables: Sequence[Variable]) -> int:
    """Size of a joint state space, as an exact whole number."""
    return math.prod(variable.n_states for variable in variables)


def _histogram(flat: NDArray[np.integer[Any]], weights: NDArray[Any] | None, size: int) -> NDArray[Any]:
    if weights is None:
        return np.bincount(flat, minlength=size)
    if weights.dtype.kind == "f":
        return np.bincount(flat, weights, minlength=size)
    if float(weights.sum(dtype=np.float64)) < EXACT:  # then floats hold every partial sum exactly
        return np.bincount(flat, weights, minlength=size).astype(np.int64)
    table = np.zeros(size, np.int64)
    np.add.at(table, flat, weights)
    return table


def _exact(values: NDArray[Any]) -> NDArray[Any]:
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


def unique_rows(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct rows in lexicographic order, and the position of each row among them.

    Like ``np.unique(axis=0, return_inverse=True)``, but sorts one whole-number key a row wherever such keys fit.
    """
    if rows.shape[0] == 0:
        return rows, np.zeros(0, np.int64)
    sizes = [int(size) for size in rows.max(axis=0) + 1] if rows.shape[1] else []
    if math.prod(sizes) < 2**62:
        keys = np.zeros(len(rows), np.int64)
        for axis, size in enumerate(sizes):
            keys = keys * size + rows[:, axis]
        _, first, position = np.unique(keys, return_index=True, return_inverse=True)
        return rows[first], position.reshape(-1)
    distinct, position = np.unique(rows, axis=0, return_inverse=True)
    return distinct, position.reshape(-1)
