"""Rules: what a feature does with the values of its variables, by code for discrete ones.

A rule tells its value on rows, one array a variable: codes of discrete variables, numbers of continuous ones; and, over
discrete variables, the cells of its table that are not zero.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.errors import StructureError, shown
from suffice.types import Array, Floats, Function, Ints, Values
from suffice.values import Label

Cells = tuple[Ints, Floats]
Labels = tuple[Label, ...] | None
"""The states of a discrete variable; None for a continuous one."""


class Rule(Protocol):
    """A function of a few variables."""

    def at(self, columns: Sequence[Array]) -> Floats:
        """Return the value on every row."""

    def cells(self, sizes: tuple[int, ...]) -> Cells:
        """Return the places in the flat table of discrete variables, and the values there; others are zero."""

    def is_indicator(self, position: int) -> bool:
        """Whether the value is zero at any state of the variable at a position that the rule does not name."""


@dataclass(frozen=True)
class Match:
    """One where every variable has the given code, else zero."""

    codes: tuple[int, ...]

    def at(self, columns: Sequence[Array]) -> Floats:
        """Return one on matching rows."""
        found = columns[0] == self.codes[0]
        for column, code in zip(columns[1:], self.codes[1:], strict=True):
            found = found & (column == code)
        return np.asarray(found, np.float64)

    def cells(self, sizes: tuple[int, ...]) -> Cells:
        """Return the one cell."""
        return np.array([np.ravel_multi_index(self.codes, sizes)], np.int64), np.ones(1)

    def is_indicator(self, position: int) -> bool:
        """Return True: other states do not match."""
        return True


@dataclass(frozen=True)
class Outer:
    """The product of one number a variable: by code, or the value itself where None stands."""

    numbers: tuple[tuple[float, ...] | None, ...]

    def at(self, columns: Sequence[Array]) -> Floats:
        """Return the product on every row."""
        total = np.ones(len(columns[0]))
        for column, numbers in zip(columns, self.numbers, strict=True):
            with np.errstate(over="ignore"):  # what overflows is refused where it is used
                total = total * (column if numbers is None else np.array(numbers)[column])
        return total

    def cells(self, sizes: tuple[int, ...]) -> Cells:
        """Return the table's cells."""
        table = np.ones(())
        for numbers in self.numbers:
            assert numbers is not None, "continuous variables have no table"
            table = np.multiply.outer(table, np.array(numbers))
        return _not_zero(table)

    def is_indicator(self, position: int) -> bool:
        """Return False: another state would have a number of its own."""
        return False


@dataclass(frozen=True)
class Equal:
    """One where all variables have the same code."""

    def at(self, columns: Sequence[Array]) -> Floats:
        """Return one on rows whose codes are equal."""
        same = np.ones(len(columns[0]), bool)
        for column in columns[1:]:
            same &= column == columns[0]
        return same.astype(np.float64)

    def cells(self, sizes: tuple[int, ...]) -> Cells:
        """Return the diagonal."""
        codes = np.arange(min(sizes))
        return np.ravel_multi_index((codes,) * len(sizes), sizes).astype(np.int64), np.ones(len(codes))

    def is_indicator(self, position: int) -> bool:
        """Return True: no other variable, of states that are known, is equal to it."""
        return True


@dataclass(frozen=True)
class Listed:
    """A table written down: values at some cells, zero elsewhere."""

    sizes: tuple[int, ...]
    places: tuple[int, ...]
    values: tuple[float, ...]

    def at(self, columns: Sequence[Array]) -> Floats:
        """Look every row up."""
        table = np.zeros(math.prod(self.sizes))
        table[list(self.places)] = self.values
        index = np.ravel_multi_index(tuple(np.asarray(column, np.int64) for column in columns), self.sizes)
        return np.asarray(table[index], np.float64)

    def cells(self, sizes: tuple[int, ...]) -> Cells:
        """Return what is listed."""
        return np.array(self.places, np.int64), np.array(self.values, np.float64)

    def is_indicator(self, position: int) -> bool:
        """Return False: the table may have been a function's."""
        return False


@dataclass(frozen=True)
class Called:
    """A user's function of labels and numbers, called once for every configuration that is asked for.

    ``name`` is what errors call it; ``labels`` are the states of each variable, None for continuous ones.
    """

    function: Function | Values
    name: str
    scope: tuple[str, ...]
    labels: tuple[Labels, ...]
    vectorised: bool = False

    __hash__ = object.__hash__

    def at(self, columns: Sequence[Array]) -> Floats:
        """Look rows up in the table, or call the function for every distinct row where a variable is continuous."""
        if all(labels is not None for labels in self.labels):
            index = np.ravel_multi_index(tuple(np.asarray(c, np.int64) for c in columns), self._table.shape)
            return np.asarray(self._table.reshape(-1)[index], np.float64)
        values = [
            column if labels is None else _array(labels)[np.asarray(column, np.int64)]
            for column, labels in zip(columns, self.labels, strict=True)
        ]
        if self.vectorised:
            try:
                found = np.asarray(self.function(*values), np.float64)  # type: ignore[operator]
            except Exception as error:
                raise StructureError(
                    f"The function of the feature {self.name!r} is declared vectorised, and raised "
                    f"{type(error).__name__}: {error}. Let it take whole columns and return one number a row."
                ) from error
            if found.shape != (len(columns[0]),):
                raise StructureError(
                    f"The feature {self.name!r} is declared vectorised, and returned an array of the shape "
                    f"{found.shape} for {len(columns[0])} rows. Let it return one number a row."
                )
            bad = ~np.isfinite(found)
            if bad.any():
                row = int(np.argmax(bad))
                self._refuse(found[row], [column[row] for column in values])
            return found
        rows = zip(*(column.tolist() for column in values), strict=True)
        known: dict[tuple[Label, ...], float] = {}
        return np.array([known[row] if row in known else known.setdefault(row, self._value(row)) for row in rows])

    def cells(self, sizes: tuple[int, ...]) -> Cells:
        """Return the table's cells."""
        return _not_zero(self._table)

    def is_indicator(self, position: int) -> bool:
        """Return False: what the function says of another state is not known."""
        return False

    @cached_property
    def _table(self) -> Floats:
        labels = [held for held in self.labels if held is not None]
        sizes = tuple(map(len, labels))
        values = np.fromiter((self._value(row) for row in itertools.product(*labels)), np.float64, math.prod(sizes))
        return values.reshape(sizes)

    def _value(self, row: tuple[Label, ...]) -> float:
        if isinstance(self.function, Mapping):
            value = self.function.get(row, self.function.get(row[0], 0.0) if len(row) == 1 else 0.0)
        else:
            try:
                value = self.function(*row)
            except Exception as error:
                raise StructureError(
                    f"The function of the feature {self.name!r} raised {type(error).__name__} at {self._said(row)}: "
                    f"{error}. Let it return a number for every configuration of its variables."
                ) from error
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            self._refuse(value, row)
        return number

    def _said(self, row: Sequence[object]) -> str:
        return ", ".join(f"{name}={shown(value)}" for name, value in zip(self.scope, row, strict=True))

    def _refuse(self, value: object, row: Sequence[object]) -> None:
        raise StructureError(
            f"The feature {self.name!r} must be a finite number everywhere. It is {shown(value)} at {self._said(row)}; "
            "let its function return a number there, 0 where it says nothing."
        )


@dataclass(frozen=True)
class Times:
    """The product of rules, each over some of the variables."""

    parts: tuple[tuple[tuple[int, ...], Rule], ...]

    def at(self, columns: Sequence[Array]) -> Floats:
        """Return the product on every row."""
        total = np.ones(len(columns[0]))
        for positions, rule in self.parts:
            with np.errstate(over="ignore", invalid="ignore"):
                total = total * rule.at([columns[position] for position in positions])
        return total

    def cells(self, sizes: tuple[int, ...]) -> Cells:
        """Return the cells where no part is zero."""
        table = np.ones(sizes)
        for positions, rule in self.parts:
            part = np.zeros(tuple(sizes[position] for position in positions))
            places, values = rule.cells(part.shape)
            part.reshape(-1)[places] = values
            ranked = sorted(range(len(positions)), key=positions.__getitem__)
            shape = [size if axis in positions else 1 for axis, size in enumerate(sizes)]
            table = table * part.transpose(ranked).reshape(shape)
        return _not_zero(table)

    def is_indicator(self, position: int) -> bool:
        """Return whether one of the factors is an indicator of the variable."""
        return any(rule.is_indicator(at.index(position)) for at, rule in self.parts if position in at)


@dataclass(frozen=True)
class Term:
    """One summand of a feature: a rule over a scope."""

    scope: tuple[str, ...]
    rule: Rule

    def at(self, columns: Mapping[str, Array]) -> Floats:
        """Return the value on every row, from columns by name."""
        return self.rule.at([columns[name] for name in self.scope])


@dataclass(frozen=True)
class Feature:
    """A feature with its states known: one weight. It is the sum of its terms.

    >>> feature = Feature("A=1", (Term(("A",), Match((1,))),))
    >>> feature.at({"A": np.array([0, 1, 1])})
    array([0., 1., 1.])
    """

    name: str
    terms: tuple[Term, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """Its variables, in order of appearance."""
        return tuple(dict.fromkeys(name for term in self.terms for name in term.scope))

    def at(self, columns: Mapping[str, Array]) -> Floats:
        """Return the value on every row, from columns by name."""
        total = self.terms[0].at(columns)
        for term in self.terms[1:]:
            total = total + term.at(columns)
        return total


def _not_zero(table: Floats) -> Cells:
    flat = table.reshape(-1)
    places = np.flatnonzero(flat)
    return places, flat[places]


def _array(labels: Sequence[Label]) -> Array:
    found = np.empty(len(labels), object)
    found[:] = labels
    return found


def main_effects(features: Sequence[Feature], given: Sequence[str] = ()) -> NDArray[np.bool_]:
    """Return which features are of one variable that is no input: the main effects of a penalty."""
    return np.array([len(f.variables) == 1 and f.variables[0] not in given for f in features], bool)
