"""Exact draws given evidence: the root's clique first, then every clique given what it shares with its parent."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from suffice.inference.calibration import Calibrated

Codes = dict[int, NDArray[np.int64]]


def draw(calibrated: Calibrated, uniform: Callable[[], NDArray[np.float64]]) -> Codes:
    """Draw the codes of all variables that are not observed; ``uniform`` gives one number a row, once a clique."""
    plan = calibrated.plan
    drawn: Codes = {}
    for clique in range(len(plan.tree.cliques) - 1, -1, -1):
        members = plan.tree.cliques[clique]
        known = [variable for variable in members if variable in drawn]
        fresh = [variable for variable in members if variable not in drawn]
        if not fresh:
            continue
        order = [members.index(variable) for variable in (*known, *fresh)]
        sizes = [plan.sizes[variable] for variable in fresh]
        rows = calibrated.clique(clique).transpose(order).reshape(-1, math.prod(sizes))
        numbers = uniform()
        at = np.zeros(len(numbers), np.int64)
        for variable in known:
            at = at * plan.sizes[variable] + drawn[variable]
        codes = np.unravel_index(_inverted(rows, at, numbers), sizes)
        drawn.update(zip(fresh, (code.astype(np.int64) for code in codes), strict=True))
    return drawn


def _inverted(rows: NDArray[np.float64], at: NDArray[np.int64], uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the column drawn in row ``at[i]`` by inverting its distribution function at ``uniform[i]``."""
    reached = np.cumsum(rows, axis=1)
    last = rows.shape[1] - 1 - np.argmax(rows[:, ::-1] > 0, axis=1)  # rounding carries no draw past what is possible
    level = uniform * reached[at, -1]
    if rows.shape[1] <= 16:
        drawn = np.zeros(len(at), np.int64)
        for column in range(rows.shape[1] - 1):
            drawn += level >= reached[at, column]
    else:
        # All rows in one rising sequence: row r runs from r to r + 1.
        total = np.where(reached[:, -1:] > 0, reached[:, -1:], 1.0)
        rising = (reached / total + np.arange(len(rows))[:, None]).reshape(-1)
        drawn = np.searchsorted(rising, uniform + at, side="right") - at * rows.shape[1]
        drawn = np.clip(drawn, 0, rows.shape[1] - 1)
    return np.asarray(np.minimum(drawn, last[at]), np.int64)
