"""Moments from what a database adds up: sums around a centre, one row a cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.block import EncodedTable
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.stats.moments import Moments
from suffice.stats.needs import Moment

OWN = "suffice_"
N, W = f"{OWN}rows", f"{OWN}weight"
"""The columns that queries add."""


def moments_of(
    answer: pa.Table, table: EncodedTable, variables: Sequence[Variable], pairs: Sequence[tuple[int, int]]
) -> Moments:
    """Turn sums around centres, one row a cell, into moments."""
    by = table.schema.variables
    p, shape = len(variables), tuple(variable.n_states for variable in by)

    def numbers(name: str) -> NDArray[np.float64]:
        column = answer.column(name).to_pylist()
        return np.array([0.0 if value is None else float(value) for value in column])

    n_found = answer.num_rows
    weight = numbers(W)
    safe = np.where(weight > 0, weight, 1.0)
    centre = np.array([numbers(f"suffice_centre_{i}") for i in range(p)]).reshape(p, n_found).T
    above = np.array([numbers(f"suffice_sum_{i}") for i in range(p)]).reshape(p, n_found).T / safe[:, None]
    scatter = np.zeros((n_found, p, p))
    with np.errstate(over="ignore", invalid="ignore"):  # numbers too large are told by those who use the moments
        for i, j in pairs:
            around = numbers(f"suffice_product_{i}_{j}") - weight * above[:, i] * above[:, j]
            scatter[:, i, j] = scatter[:, j, i] = np.maximum(around, 0.0) if i == j else around
        mean = centre + above
        rest = above - (mean - centre)
    cells = tuple(table.columns[variable.name] for variable in by)
    whole = Moments.zero(Moment(tuple(v.name for v in variables), tuple(v.name for v in by)), Schema((*by, *variables)))
    arrays = {name: np.array(array) for name, array in whole.to_arrays().items()}
    for name, found in (("weight", weight), ("mean", mean), ("rest", rest), ("scatter", scatter)):
        if shape:
            arrays[name][cells] = found
        else:
            arrays[name] = found[0]
    return Moments(tuple(variables), tuple(by), **arrays)
