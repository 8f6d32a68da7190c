"""RowAnswers: the same question answered for every row of a table of evidence."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

from suffice.data.frame import to_native
from suffice.data.variable import Variable
from suffice.text import html_table, plain_table, probability
from suffice.types import Floats, Frame

SHOWN_ROWS = 20


@dataclass(frozen=True, eq=False)
class RowAnswers:
    """p(targets | row) of many rows.

    Attributes
    ----------
    targets : tuple of Variable
    values : array, shape (n_rows, …states of the targets)
        NaN in rows that are impossible.
    log_evidence : array, shape (n_rows,)
        log p(row), −inf where a row is impossible.
    """

    targets: tuple[Variable, ...]
    values: Floats = field(repr=False)
    log_evidence: Floats = field(repr=False)

    def __post_init__(self) -> None:
        self.values.flags.writeable = False
        self.log_evidence.flags.writeable = False

    def __len__(self) -> int:
        return len(self.values)

    @property
    def columns(self) -> list[str]:
        """A name for each configuration of the targets: the state, or ``A=x, B=u`` where there are several targets."""
        if len(self.targets) == 1:
            return [str(label) for label in self.targets[0].labels]
        configurations = itertools.product(*(target.labels for target in self.targets))
        names = [target.name for target in self.targets]
        return [", ".join(f"{name}={label}" for name, label in zip(names, c, strict=True)) for c in configurations]

    def to_numpy(self) -> Floats:
        """Return the answers as a new array; shape (n_rows, …states of the targets)."""
        return self.values.copy()

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a row of evidence and one column a configuration of the targets."""
        flat = self.values.reshape(len(self), math.prod(target.n_states for target in self.targets))
        return to_native({name: flat[:, column] for column, name in enumerate(self.columns)}, backend)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        flat = self.values.reshape(len(self), math.prod(target.n_states for target in self.targets))
        rows = [[str(row + 1), *map(probability, values)] for row, values in enumerate(flat[:SHOWN_ROWS])]
        if len(self) > SHOWN_ROWS:
            rows.append([f"… {len(self) - SHOWN_ROWS} more rows", *[""] * flat.shape[1]])
        return ["row", *self.columns], rows, "<" + ">" * flat.shape[1]

    def __str__(self) -> str:
        return plain_table(*self._cells())

    def _repr_html_(self) -> str:
        return html_table(*self._cells())
