"""Terms of a log-linear score: the inputs themselves, their products, and whether they are in a state.

Continuous inputs enter as x − c with a centre c of their own, so that squares of a column far from zero keep their
digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.matrix import MatrixColumns, matrix_of
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import DataError, Mention
from suffice.types import Array, Columns, Floats
from suffice.values import Label

Centre = Mapping[str, float]


@dataclass(frozen=True)
class Linear:
    """A continuous input.

    >>> print(Linear("age"))
    age
    """

    name: str

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs that the term reads."""
        return (self.name,)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class InputProduct:
    """The product of two continuous inputs; of one with itself, its square.

    >>> print(InputProduct("age", "dose"), InputProduct("age", "age"))
    age·dose age²
    """

    first: str
    second: str

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs that the term reads."""
        return (self.first,) if self.first == self.second else (self.first, self.second)

    def __str__(self) -> str:
        return f"{self.first}²" if self.first == self.second else f"{self.first}·{self.second}"


@dataclass(frozen=True)
class Indicator:
    """Whether a discrete input is in a state: one or zero.

    >>> print(Indicator("race", 2))
    race=2
    """

    name: str
    state: Label

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs that the term reads."""
        return (self.name,)

    def __str__(self) -> str:
        return f"{self.name}={self.state}"


Term = Linear | InputProduct | Indicator


def evaluate(
    terms: Sequence[Term], columns: Columns, n_rows: int, schema: Mapping[str, Variable], centre: Centre | None = None
) -> Floats:
    """Return the value of every term in every row.

    Parameters
    ----------
    terms : sequence of Term
    columns : mapping of str to array
        Codes of discrete inputs, values of continuous ones; shape (n_rows,) each.
    n_rows : int
    schema : mapping of str to Variable
        Knows the states of the discrete inputs.
    centre : mapping of str to float, optional
        What continuous inputs are taken less; zero for those that it does not name.

    Returns
    -------
    array, shape (n_rows, n_terms)

    Examples
    --------
    >>> columns = {"x": np.array([1.0, 2.0]), "a": np.array([1, 0])}
    >>> schema = Schema((Variable("x"), Variable("a", ("no", "yes"))))
    >>> evaluate([Linear("x"), InputProduct("x", "x"), Indicator("a", "yes")], columns, 2, schema, {"x": 1.0})
    array([[0., 0., 1.],
           [1., 1., 0.]])
    """
    held: Centre = centre or {}
    if terms and all(isinstance(term, Linear) for term in terms):
        return _linear([term.names[0] for term in terms], columns, n_rows, held)
    values = {name: _values(name, columns, schema, held) for term in terms for name in term.names}
    found = np.empty((n_rows, len(terms)))
    for place, term in enumerate(terms):
        if isinstance(term, Indicator):
            found[:, place] = values[term.name] == schema[term.name].code(term.state)
        elif isinstance(term, InputProduct):
            np.multiply(values[term.first], values[term.second], out=found[:, place])
        else:
            found[:, place] = values[term.name]
    return found


def _linear(names: list[str], columns: Columns, n_rows: int, centre: Centre) -> Floats:
    """Return columns less their centres; without a copy where nothing is to be done."""
    x = matrix_of(columns, names, n_rows)
    shift = np.array([centre.get(name, 0.0) for name in names])
    return x - shift if shift.any() else x


def sparse_terms(terms: Sequence[Term], columns: Columns) -> Any:
    """Return the terms as a sparse matrix where all are columns of one; else None."""
    if not isinstance(columns, MatrixColumns) or not hasattr(columns.matrix, "tocsr"):
        return None
    names = tuple(term.name for term in terms if isinstance(term, Linear))
    if len(names) < len(terms):
        return None
    if columns.names == names:
        return columns.matrix
    if not set(names).issubset(columns.names):
        return None
    place = {name: number for number, name in enumerate(columns.names)}
    return columns.matrix[:, [place[name] for name in names]]


def _values(name: str, columns: Columns, schema: Mapping[str, Variable], centre: Centre) -> Array:
    """Return a column: codes, of which none may be missing, or centred numbers."""
    column = columns[name]
    if not schema[name].is_discrete:
        shift = centre.get(name, 0.0)
        return np.asarray(column - shift if shift else column, np.float64)
    if len(column) and int(column.min()) < 0:
        require_no_gaps({name: column})
    return column


def in_pieces(columns: Columns, names: Iterable[str], n_rows: int, step: int) -> Iterator[tuple[int, int, Columns]]:
    """Yield some rows at a time, so that what is made of them stays in the cache: begin, end and columns.

    >>> [(low, high) for low, high, _ in in_pieces({"x": np.arange(5.0)}, ["x"], 5, 2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    wanted = tuple(names)
    for low in range(0, n_rows, step):
        high = min(low + step, n_rows)
        if isinstance(columns, MatrixColumns):
            yield low, high, columns.rows(low, high)
        else:
            yield low, high, {name: columns[name][low:high] for name in wanted}


def require_no_gaps(columns: Columns) -> None:
    """Refuse inputs that are missing."""
    for name, column in columns.items():
        gaps = np.isnan(column) if column.dtype.kind == "f" else column < 0
        if gaps.any():
            raise DataError(
                f"Column {name!r}, row {int(np.argmax(gaps))}: the input is missing. A model of the class given its "
                "inputs does not say how inputs are distributed, so it cannot average over a missing one. Leave such "
                "rows out, fill them in, or use a generative classifier, which can: ",
                Mention("GaussianBayes", "sf.GaussianBayes"),
                ", ",
                Mention("NaiveBayes", "sf.NaiveBayes"),
                ".",
            )


def to_entries(terms: Iterable[Term], schema: Mapping[str, Variable]) -> list[list[Any]]:
    """Return terms as JSON-able data; states as codes."""
    entries: list[list[Any]] = []
    for term in terms:
        if isinstance(term, Indicator):
            entries.append(["indicator", term.name, schema[term.name].code(term.state)])
        elif isinstance(term, InputProduct):
            entries.append(["product", term.first, term.second])
        else:
            entries.append(["linear", term.name])
    return entries


def from_entries(entries: Iterable[Sequence[Any]], schema: Schema) -> tuple[Term, ...]:
    """Rebuild terms from `to_entries`."""
    readers: dict[str, Any] = {
        "linear": Linear,
        "product": InputProduct,
        "indicator": lambda name, code: Indicator(name, schema[name].labels[code]),
    }
    return tuple(readers[kind](*rest) for kind, *rest in entries)


Product = InputProduct
"""The name in pickles of 0.1.0."""
