"""PredictedTable: what predictions of states and of numbers do alike, from their columns to print."""

from __future__ import annotations

from typing import Any

from suffice.data.frame import to_native
from suffice.data.variable import Variable
from suffice.text import html_table, plain_table
from suffice.types import Frame

SHOWN_ROWS = 10
Cells = tuple[list[str], list[list[str]], str]


class PredictedTable:
    """Predictions of one variable, a row each."""

    target: Variable

    def __len__(self) -> int:
        """Return the number of rows."""
        raise NotImplementedError

    def columns(self, probabilities: bool = True) -> dict[str, Any]:
        """Return the columns of a table: ``predicted``, and how sure that is where it is wanted."""
        raise NotImplementedError

    def _cells(self) -> Cells:
        """Return the first rows for printing: a header, rows and how columns are aligned."""
        raise NotImplementedError

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a row: ``predicted``, and how sure that is.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        return to_native(self.columns(), backend)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.target.name!r}, {len(self):,} rows)"

    def _shown(self) -> Cells:
        header, rows, align = self._cells()
        if len(self) > SHOWN_ROWS:
            rows = [*rows, [f"… {len(self) - SHOWN_ROWS:,} more rows", *[""] * (len(header) - 1)]]
        return header, rows, align

    def __str__(self) -> str:
        return plain_table(*self._shown())

    def _repr_html_(self) -> str:
        return html_table(*self._shown(), caption=self.target.name)
