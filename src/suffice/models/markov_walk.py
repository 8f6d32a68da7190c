"""Drawing sequences from a Markov chain."""

from __future__ import annotations

import numpy as np

from suffice.data.block import code_dtype
from suffice.errors import ModelError, Remedy
from suffice.models.cpds.tabular import TabularCPD, describe_configuration
from suffice.native.markov_walks import walk
from suffice.types import Array, Floats

TOGETHER = 64
"""Sequences that share a random stream."""
STEPS = 1 << 12
"""Steps that are drawn at once."""


def draw(
    beginnings: tuple[TabularCPD, ...], transitions: TabularCPD, begun: Array, n: int, length: int, key: int
) -> Array:
    """Draw ``n`` sequences as codes; shape (n, length).

    Every 64 sequences have a random stream of their own, keyed by seed and number, and take one number of it a step
    each: the first sequences do not depend on ``n``, nor their first symbols on ``length``.

    Parameters
    ----------
    beginnings : tuple of TabularCPD
        p(y_1), p(y_2 | y_1), …, one for each symbol before the chain proper.
    transitions : TabularCPD
    begun : array of codes
        The first symbols of all sequences, where they are given.
    """
    order, r = len(beginnings), transitions.family.child.n_states
    codes = np.zeros((n, length), code_dtype(r))
    given = min(len(begun), length)
    codes[:, :given] = begun[:given]
    streams = [
        np.random.Generator(np.random.Philox(key=np.array([key, number], np.uint64)))
        for number in range(-(-n // TOGETHER))
    ]
    position = given
    while position < length and n:
        n_steps = min(length - position, STEPS if position >= order else 1)
        uniform = np.concatenate([stream.random((n_steps, TOGETHER)) for stream in streams], axis=1)[:, :n]
        if position < order:
            codes[:, position] = _begin(beginnings[position], codes[:, :position], uniform[0])
        else:
            _go_on(transitions, codes, position, uniform)
        position += n_steps
    return codes


def _begin(cpd: TabularCPD, before: Array, uniform: Floats) -> Array:
    columns = {parent.name: before[:, place] for place, parent in enumerate(cpd.family.parents)}
    return cpd.sample(columns, uniform)


def _go_on(cpd: TabularCPD, codes: Array, position: int, uniform: Floats) -> None:
    """Fill in the next symbols of all sequences."""
    order, r = len(cpd.family.parents), cpd.family.child.n_states
    out = codes[:, position : position + len(uniform)]
    if not order:
        out[:] = cpd.sample({}, uniform.reshape(-1)).reshape(uniform.shape).T
        return
    if r**order >= 2**62:
        raise ModelError(
            f"Sequences of order {order} over {r:,} states have too many contexts to be drawn. Fit a lower order."
        )
    keys = np.zeros(len(codes), np.int64)
    for place in range(position - order, position):
        keys = keys * r + codes[:, place]
    stored = np.zeros(0, np.int64)
    if cpd.configurations is not None:
        stored = cpd.configurations @ (r ** np.arange(order - 1, -1, -1, dtype=np.int64))
    stuck = walk(cpd._steps, stored, r ** (order - 1), keys, uniform, out)
    if stuck >= 0:
        context = np.array(np.unravel_index(int(keys[stuck]), [r] * order))
        raise ModelError(
            f"Cannot go on after {describe_configuration(cpd.family.parents, context)}: what follows is unknown, "
            "because the data had no such case. Fit with ",
            Remedy("unseen_parents", "uniform"),
            " or with a prior.",
        )
