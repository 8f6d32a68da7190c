"""ParameterIntervals: the parameters of a model with their posterior medians and credible intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.data.frame import to_native
from suffice.errors import UnknownNameError, listing, suggestion
from suffice.text import html_table, number, plain_table


class Interval(NamedTuple):
    """What is known of one parameter."""

    median: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class ParameterIntervals(Mapping[str, Interval]):
    """Parameters by name, each with its posterior median and its credible interval, equal-tailed.

    Attributes
    ----------
    names : tuple of str
    numbers : array, shape (len(names), 3)
        Median, lower and upper end.
    level : float

    Examples
    --------
    >>> table = ParameterIntervals(("mean of x",), np.array([[1.5, 0.25, 2.75]]), 0.95)
    >>> print(table)
    parameter  median  lower  upper
    ---------  ------  -----  -----
    mean of x     1.5   0.25   2.75
    0.95 credible intervals, equal-tailed
    >>> table["mean of x"].upper
    2.75
    """

    names: tuple[str, ...]
    numbers: NDArray[np.float64] = field(repr=False)
    level: float

    def __getitem__(self, name: str) -> Interval:
        if name not in self.names:
            raise UnknownNameError(
                f"There is no parameter {name!r}. The parameters are {listing(self.names, 12)}."
                + suggestion(name, self.names)
            )
        return Interval(*map(float, self.numbers[self.names.index(name)]))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a frame with one row a parameter: its name, median, lower and upper end."""
        columns = dict(zip(("median", "lower", "upper"), np.ascontiguousarray(self.numbers.T), strict=True))
        return to_native({"parameter": list(self.names), **columns}, backend)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[name, *map(number, row)] for name, row in zip(self.names, self.numbers.tolist(), strict=True)]
        return ["parameter", "median", "lower", "upper"], rows, "<>>>"

    @property
    def _caption(self) -> str:
        return f"{self.level:.4g} credible intervals, equal-tailed"

    def __str__(self) -> str:
        return f"{plain_table(*self._cells())}\n{self._caption}"

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption=self._caption)
