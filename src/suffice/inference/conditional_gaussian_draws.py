"""Exact draws from a conditional-Gaussian network given evidence: codes first, then values from their normals."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from suffice.inference.conditional_gaussian import Conditioned, MixedNetwork, Seen, configuration
from suffice.inference.gaussian_parts import Solved
from suffice.inference.log_tables import Codes
from suffice.types import Floats, Ints

TINY = 2.0**-54
"""Half of what may separate uniform numbers: they may be zero, whose normal quantile is −∞."""

Draw = Callable[[Callable[[], Floats]], tuple[Codes, dict[int, Floats]]]


def drawing(network: MixedNetwork, seen: Seen) -> Draw | None:
    """Return how to draw what was observed's ancestors, or None if the evidence is impossible.

    What is drawn from a supply of uniform numbers, one array a call, are the codes of discrete variables and the values
    of continuous ones: of all ancestors of the evidence that were not observed themselves.
    """
    wanted = network.above([*seen.hard, *seen.soft, *seen.values])
    held = Conditioned(network, seen, wanted)
    summed, log_p = held.summed()
    if log_p == -math.inf:
        return None

    def draw(uniform: Callable[[], Floats]) -> tuple[Codes, dict[int, Floats]]:
        codes = summed.draw(network.sizes, uniform)
        values: dict[int, Floats] = {}
        for solved in held.solved:
            if solved.wanted:
                normal = _normal(uniform, len(solved.part.free))
                at = np.broadcast_to(configuration(solved.part, codes, network.sizes), normal.shape[1])
                values.update(zip(solved.wanted, _moved(solved, at, normal), strict=True))
        return codes, values

    return draw


def _normal(uniform: Callable[[], Floats], n: int) -> Floats:
    from scipy.special import ndtri

    return np.stack([ndtri(uniform() + TINY) for _ in range(n)])


def _moved(solved: Solved, at: Ints, normal: Floats) -> Floats:
    """Return mean + root · normal of each column, by its configuration; shape (t, n_rows)."""
    drawn = np.empty((len(solved.wanted), len(at)))
    order = np.argsort(at, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(at[order])) + 1):
        if len(rows):
            here = at[rows[0]]
            drawn[:, rows] = solved.mean[here, 0][:, None] + solved.root[here] @ normal[:, rows]
    return drawn
