"""Labelled tables: numbers over the states of variables, which print well and know what they mean."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suffice.data.frame import to_native
from suffice.data.variable import Variable
from suffice.errors import ModelError, Remedy, UnknownNameError, listing, require_mapping, suggestion
from suffice.text import html_table, number, plain_table, probability
from suffice.types import Array, Frame
from suffice.values import Label

SHOWN_ROWS, MOST_ACROSS = 60, 8


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """Numbers over the joint states of discrete variables.

    Attributes
    ----------
    variables : tuple of Variable
        One an axis.
    values : array, shape (n_states_1, …, n_states_d)
    name : str
        What the numbers are, such as ``p`` or ``count``.

    Examples
    --------
    >>> table = LabelledTable((Variable("A", ("no", "yes")), Variable("B", ("u", "v"))), np.array([[.1, .9], [.5, .5]]))
    >>> print(table)
         B
    A         u       v
    ---  ------  ------
    no   0.1000  0.9000
    yes  0.5000  0.5000
    >>> table[{"A": "no", "B": "v"}]
    0.9
    """

    variables: tuple[Variable, ...]
    values: Array = field(repr=False)
    name: str = "p"

    def __post_init__(self) -> None:
        values = np.array(self.values)
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the axes."""
        return tuple(variable.name for variable in self.variables)

    def __getitem__(self, where: Mapping[str, Label]) -> Any:
        """Return the number at one configuration, or the slice at a partial one."""
        require_mapping("where", where, "{'A': 'yes'}")
        for name in where:
            if name not in self.names:
                raise UnknownNameError(
                    f"The table has no variable {name!r}. It is over {listing(self.names)}."
                    + suggestion(name, self.names)
                )
        index = tuple(v.code(where[v.name]) if v.name in where else slice(None) for v in self.variables)
        picked = self.values[index]
        rest = tuple(variable for variable in self.variables if variable.name not in where)
        return LabelledTable(rest, picked, self.name) if rest else picked.item()

    def argmax(self) -> dict[str, Label]:
        """Return the states with the largest number, of equal ones the first.

        Of ``query(targets, given)`` that is marginal MAP, as in ``map(given, targets=targets)``: the most likely states
        of the targets, all other variables summed out. Those of all variables together, which ``map()`` returns, may
        differ.

        >>> import suffice as sf
        >>> tables = {"A": [0.4, 0.6], "B": [[1, 0], [0.5, 0.5]]}
        >>> model = sf.BayesianNetwork(sf.DAG("A -> B"), tables, schema={"A": [0, 1], "B": [0, 1]})
        >>> model.query("A").argmax(), model.map()["A"]
        ({'A': 1}, 0)
        """
        if np.isnan(self.values).any() or not self.values.size:
            raise ModelError(
                f"The table over {listing(self.names)} has entries that are not known, so that none is the largest. "
                "Fit with a prior, or with ",
                Remedy("unseen_parents", "uniform"),
                ".",
            )
        place = np.unravel_index(int(np.argmax(self.values)), self.values.shape)
        return {variable.name: variable.labels[code] for variable, code in zip(self.variables, place, strict=True)}

    def to_numpy(self) -> Array:
        """Return the numbers as a new array, one axis a variable."""
        return self.values.copy()

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a configuration: a column a variable, and the numbers.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        grid = np.indices(self.values.shape).reshape(len(self.variables), -1)
        columns: dict[str, Array | list[Label]] = {
            variable.name: [variable.labels[code] for code in codes]
            for variable, codes in zip(self.variables, grid, strict=True)
        }
        name = self.name
        while name in columns:
            name += "_"
        columns[name] = self.values.reshape(-1)
        return to_native(columns, backend)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        if not self.variables:
            return [self.name], [[number(self.values.item())]], ">"
        *rows, last = self.variables
        count = self.values.reshape(-1, last.n_states)
        configurations = itertools.product(*(variable.labels for variable in rows))
        return row_cells(tuple(rows), last, configurations, count, self.name)

    @property
    def _above(self) -> tuple[int, str] | None:
        """Where the name of the last variable stands, if its states go across."""
        n_before = len(self.variables) - 1
        return (n_before, self.variables[-1].name) if n_before > 0 and goes_across(self.variables[-1]) else None

    def _shares(self, rows: list[list[str]]) -> list[list[float | None]] | None:
        """Return how much of every cell a bar fills: the probabilities themselves; None for other numbers."""
        if self.name != "p" or not self.variables:
            return None
        across = self._above is not None
        n_across = self.variables[-1].n_states if across else 1
        values = self.values.reshape(-1, n_across)[:SHOWN_ROWS].tolist()
        before: list[float | None] = [None] * (len(self.variables) - across)
        return [[*before, *row] for row in values[: len(rows)]]

    def __str__(self) -> str:
        return plain_table(*self._cells(), above=self._above) if self.variables else number(self.values.item())

    def _repr_html_(self) -> str:
        header, rows, align = self._cells()
        return html_table(header, rows, align, above=self._above, shares=self._shares(rows))


def goes_across(variable: Variable) -> bool:
    """Whether the states of the last variable of a table are columns; many of them are rows."""
    return variable.n_states <= MOST_ACROSS


def row_cells(
    parents: tuple[Variable, ...],
    child: Variable,
    configurations: Iterator[tuple[Label, ...]],
    values: Array,
    name: str,
) -> tuple[list[str], list[list[str]], str]:
    """Lay out rows of numbers for printing: parents' states on the left, the child's states across.

    Returns header, rows and alignment for `suffice.text.plain_table`. A child with many states goes down instead.
    """
    form: Callable[[float], str] = probability if name == "p" else number
    if not parents:
        cells = [[str(label), form(value)] for label, value in zip(child.labels, values[0], strict=True)]
        return [child.name, name], _cut(cells, len(cells)), "<>"
    head = [variable.name for variable in parents]
    if not goes_across(child):
        cells = [
            [*map(str, labels), str(label), form(value)]
            for labels, row in zip(itertools.islice(configurations, SHOWN_ROWS), values, strict=False)
            for label, value in zip(child.labels, row, strict=True)
        ]
        return [*head, child.name, name], _cut(cells, values.size), "<" * len(head) + "<>"
    cells = [
        [*map(str, labels), *map(form, row)]
        for labels, row in zip(itertools.islice(configurations, SHOWN_ROWS + 1), values, strict=False)
    ]
    align = "<" * len(head) + ">" * child.n_states
    return head + [str(label) for label in child.labels], _cut(cells, len(values)), align


def _cut(cells: list[list[str]], total: int) -> list[list[str]]:
    if total <= SHOWN_ROWS:
        return cells
    filler = [f"… {total - SHOWN_ROWS} more rows"] + [""] * (len(cells[0]) - 1)
    return [*cells[:SHOWN_ROWS], filler]
