"""RowMoments: what every row of a table of evidence says about continuous variables."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from suffice.data.frame import to_native
from suffice.text import html_table, number, plain_table
from suffice.types import Floats, Frame

SHOWN_ROWS = 20


@dataclass(frozen=True, eq=False)
class RowMoments:
    """The mean and the covariance of p(targets | row), of many rows.

    Attributes
    ----------
    names : tuple of str
        The continuous variables asked for; there are t.
    mean : array, shape (n_rows, t)
    covariance : array, shape (n_rows, t, t)
        Over all configurations of discrete variables that the row leaves possible. NaN in rows that are impossible.
    log_evidence : array, shape (n_rows,)
        The logarithm of the row's probability or density, −inf where it is impossible.
    """

    names: tuple[str, ...]
    mean: Floats = field(repr=False)
    covariance: Floats = field(repr=False)
    log_evidence: Floats = field(repr=False)

    def __post_init__(self) -> None:
        for array in (self.mean, self.covariance, self.log_evidence):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.mean)

    @property
    def sd(self) -> Floats:
        """The standard deviations; shape (n_rows, t)."""
        return np.sqrt(np.diagonal(self.covariance, axis1=1, axis2=2))

    def _columns(self) -> dict[str, Floats]:
        sd = self.sd
        columns: dict[str, Floats] = {}
        for place, name in enumerate(self.names):
            columns |= {f"mean {name}": self.mean[:, place], f"sd {name}": sd[:, place]}
        return columns

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a row of evidence: mean and standard deviation of every target."""
        return to_native(self._columns(), backend)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        columns = self._columns()
        numbers = np.stack(list(columns.values()), axis=1)[:SHOWN_ROWS]
        rows = [[str(row + 1), *map(number, values.tolist())] for row, values in enumerate(numbers)]
        if len(self) > SHOWN_ROWS:
            rows.append([f"… {len(self) - SHOWN_ROWS} more rows", *[""] * len(columns)])
        return ["row", *columns], rows, "<" + ">" * len(columns)

    def __str__(self) -> str:
        return plain_table(*self._cells())

    def _repr_html_(self) -> str:
        return html_table(*self._cells())
