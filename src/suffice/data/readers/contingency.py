"""Contingency tables as an n-dimensional array of counts with names and states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from suffice.data.raw import CodedColumn, RawTable
from suffice.data.variable import Variable, as_states
from suffice.errors import DataError, SchemaError, require_mapping, shown
from suffice.types import Array
from suffice.values import Label


class Contingency:
    """An n-dimensional table of counts: one axis a variable, one position a state.

    Parameters
    ----------
    array : array_like, shape (n_states_1, …, n_states_d)
        Cell counts or frequencies, not negative.
    states : mapping from str to sequence of labels
        The axes' names, in the order of the axes, with the states along each; they are declarations.

    Examples
    --------
    >>> import suffice as sf
    >>> table = sf.Contingency([[10, 30], [40, 20]], {"drug": ["no", "yes"], "cured": ["no", "yes"]})
    >>> sf.fit(sf.DAG("drug -> cured"), table).model.cpd("cured").table.to_numpy()
    array([[0.25      , 0.75      ],
           [0.66666667, 0.33333333]])
    """

    def __init__(self, array: ArrayLike, states: Mapping[str, Sequence[Label]]) -> None:
        try:
            self.array: Array = np.array(array)
        except ValueError:
            raise DataError(f"A contingency table must be a full array. Got {shown(array)} instead.") from None
        require_mapping("states", states, "{'drug': ['no', 'yes'], …}")
        self.variables = tuple(Variable(name, as_states(name, labels), True) for name, labels in states.items())
        shape = tuple(variable.n_states for variable in self.variables)
        if self.array.dtype.kind not in "iufb":
            raise DataError(f"A contingency table must hold numbers. Got dtype {self.array.dtype} instead.")
        if self.array.shape != shape:
            raise SchemaError(
                f"The array has shape {self.array.shape}, but the states {tuple(states)} describe shape {shape}. "
                "Give one name an axis, in the order of the axes, with one label a position."
            )

    def __repr__(self) -> str:
        axes = ", ".join(f"{variable.name}: {variable.n_states}" for variable in self.variables)
        return f"Contingency({axes}; total {self.array.sum():g})"


def accepts(data: object) -> bool:
    """Whether ``data`` is a `Contingency`."""
    return isinstance(data, Contingency)


def open_table(data: Contingency) -> RawTable:
    """Open the table as one weighted row a cell that is not zero."""
    cells = np.nonzero(data.array)
    codes = {variable.name: axis for variable, axis in zip(data.variables, cells, strict=True)}
    by_name = {variable.name: variable for variable in data.variables}

    def column(name: str) -> CodedColumn:
        return CodedColumn(name, codes[name], by_name[name].labels)

    weights = data.array[cells]
    return RawTable(tuple(by_name), column, len(weights), "contingency table", weights)
