"""What distributions with one regression for each configuration of the discrete parents share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from suffice.data.frame import to_native
from suffice.models.cpds.kind import NodeFamily
from suffice.models.cpds.rows import all_configurations
from suffice.models.cpds.tabular import describe_configuration
from suffice.text import html_table, number, plain_table, shorten
from suffice.types import Columns, Floats, Frame, Ints
from suffice.values import Label

SHOWN_ROWS = 60


class ByConfiguration(ABC):
    """Rows of parameters by the states of the discrete parents: finding, naming and printing them."""

    if TYPE_CHECKING:
        family: NodeFamily

    @abstractmethod
    def _parameters(self) -> tuple[dict[str, list[Label]], dict[str, Floats], int]:
        """Return columns of labels beside the parents', columns of numbers, and how many rows a configuration has."""

    @property
    def _sizes(self) -> list[int]:
        return [parent.n_states for parent in self.family.discrete]

    def rows_of(self, columns: Columns, n_rows: int) -> Ints:
        """Return the row of parameters that each case uses, by its discrete parents; shape (n_rows,)."""
        row = np.zeros(n_rows, np.int64)
        for parent in self.family.discrete:
            row = row * parent.n_states + np.asarray(columns[parent.name], np.int64)
        return row

    # Naming and printing --------------------------------------------------------------------------------------

    def describe_row(self, row: int) -> str:
        """Name one row by the states of the discrete parents."""
        if not self.family.discrete:
            return "the node (it has no discrete parents)"
        return describe_configuration(self.family.discrete, np.unravel_index(row, self._sizes))

    @property
    def title(self) -> str:
        """The name of the distribution, ``p(y | x, A)``."""
        child, parents = shorten(self.family.child.name), [shorten(parent.name) for parent in self.family.parents]
        return f"p({child} | {', '.join(parents)})" if parents else f"p({child})"

    def _columns(self) -> tuple[dict[str, list[Label]], dict[str, list[float]]]:
        """Lay labels and parameters out, a column each; names that would meet get a mark."""
        labels, numbers, repeats = self._parameters()
        rows = np.repeat(all_configurations(self._sizes), repeats, axis=0)
        columns: dict[str, list[Label]] = {
            parent.name: [parent.labels[code] for code in rows[:, place]]
            for place, parent in enumerate(self.family.discrete)
        }
        columns |= labels
        parameters: dict[str, list[float]] = {}
        for name, values in numbers.items():
            label = name
            while label in columns or label in parameters:
                label += "_"
            parameters[label] = values.reshape(-1).tolist()
        return columns, parameters

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        labels, parameters = self._columns()
        columns, d = [*labels, *parameters], len(labels)
        texts = [list(map(str, values[:SHOWN_ROWS])) for values in labels.values()]
        texts += [list(map(number, values[:SHOWN_ROWS])) for values in parameters.values()]
        rows = [list(row) for row in zip(*texts, strict=True)]
        more = len(next(iter(parameters.values()))) - SHOWN_ROWS
        if more > 0:
            rows.append([f"… {more:,} more rows", *[""] * (len(columns) - 1)])
        return columns, rows, "<" * d + ">" * (len(columns) - d)

    def __str__(self) -> str:
        return f"{self.title}\n{plain_table(*self._cells())}"

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption=self.title)

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return the parameters as a frame: states first, then a column for every parameter.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        labels, parameters = self._columns()
        found: Frame = to_native({**labels, **parameters}, backend)
        return found
