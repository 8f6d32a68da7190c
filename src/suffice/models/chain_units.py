"""The units of a chain's weights: how large the values of their attributes are, where they occur.

A gradient has the units of its attribute. Measured in them, it is as small for values of 1e-6 as it is for ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.attributes import Attributes, LabelledSequences
from suffice.data.block import Block
from suffice.models.chain_layout import ChainLayout
from suffice.stats.needs import Sum
from suffice.stats.source import Source
from suffice.stats.sums import Sums
from suffice.types import Floats, Ints

NAME = "chain units"


@dataclass(frozen=True)
class Squares:
    """The task: how often attributes occur, and the squares of their values, of positions and then of steps."""

    n_attributes: int
    n_step_attributes: int

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block as one array."""
        sequences: LabelledSequences = block.columns.sequences  # type: ignore[attr-defined]
        parts = [*_squares(sequences.states, self.n_attributes), *_squares(sequences.steps, self.n_step_attributes)]
        found = Sums(NAME, np.concatenate(parts))
        return {found.need: found}


def _squares(rows: Attributes | None, n: int) -> tuple[Floats, Floats]:
    if rows is None:
        return np.zeros(n), np.zeros(n)
    counts = np.bincount(rows.codes, minlength=n).astype(np.float64)
    squares = counts if rows.values is None else np.bincount(rows.codes, rows.values**2, minlength=n)
    return counts, squares.astype(np.float64)


def units_of(source: Source, layout: ChainLayout) -> Floats:
    """Return the root mean square of each weight's attribute where it occurs; one for other weights.

    Shape (layout.size,).
    """
    n, m = len(layout.starts) - 1, len(layout.step_starts) - 1
    sums = source.reduce(Squares(n, m))[Sum(NAME, 2 * (n + m))].values
    units = [_root(sums[: 2 * n], layout.starts), _root(sums[2 * n :], layout.step_starts)]
    between = layout.size - len(units[0]) - len(units[1])
    return np.concatenate([units[0], np.ones(between), units[1]])


def _root(sums: Floats, starts: Ints) -> Floats:
    counts, squares = np.split(sums, 2)
    root = np.sqrt(squares / np.maximum(counts, 1.0))
    return np.repeat(np.where(root > 0, root, 1.0), np.diff(starts))
