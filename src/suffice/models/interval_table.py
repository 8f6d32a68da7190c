"""IntervalTable: an answer with the credible interval of each of its numbers."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

from suffice.data.frame import to_native
from suffice.data.labelled import LabelledTable
from suffice.text import html_table, plain_table, probability
from suffice.types import Frame


@dataclass(frozen=True, eq=False)
class IntervalTable:
    """p(targets | evidence) and how well the data determines it.

    Attributes
    ----------
    table : LabelledTable
        The answer of the fitted model.
    lower, upper : LabelledTable
        The ends of the credible interval of each number, equal-tailed.
    level : float
    method : str
        ``"draws"``: quantiles over tables drawn from the posterior; ``"delta"``: from the answer's exact gradient and
        the posterior's covariance, normal on the scale of log-odds.
    """

    table: LabelledTable
    lower: LabelledTable = field(repr=False)
    upper: LabelledTable = field(repr=False)
    level: float
    method: str

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a configuration: a column a variable, then p, lower and upper."""
        variables = self.table.variables
        configurations = list(itertools.product(*(variable.labels for variable in variables)))
        columns: dict[str, Any] = {
            variable.name: [labels[axis] for labels in configurations] for axis, variable in enumerate(variables)
        }
        for name, table in (("p", self.table), ("lower", self.lower), ("upper", self.upper)):
            while name in columns:
                name += "_"  # noqa: PLW2901
            columns[name] = table.values.reshape(-1)
        return to_native(columns, backend)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        variables = self.table.variables
        rows = [
            [*map(str, labels), probability(p), probability(low), probability(high)]
            for labels, p, low, high in zip(
                itertools.product(*(variable.labels for variable in variables)),
                self.table.values.reshape(-1),
                self.lower.values.reshape(-1),
                self.upper.values.reshape(-1),
                strict=True,
            )
        ]
        header = [*(variable.name for variable in variables), "p", "lower", "upper"]
        return header, rows, "<" * len(variables) + ">>>"

    def __str__(self) -> str:
        return f"{plain_table(*self._cells())}\n{self.level:.4g} credible intervals, by {self.method}"

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption=f"{self.level:.4g} credible intervals, by {self.method}")
