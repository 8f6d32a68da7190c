"""Fuzzed calls of `suffice.native.gibbs`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from tests.native.fuzzing import Case

from suffice.native import gibbs


def draw_counters(chance: Generator) -> tuple[Any, ...]:
    """Draw the number of counters, and all that words depend on; often the largest that fit."""
    n = int(chance.integers(0, 40))

    def below(bits: int) -> int:
        return 2**bits - 1 if chance.random() < 0.1 else int(chance.random() * 2**bits)

    chain = 4 * (2**32 - n if chance.random() < 0.1 else int(chance.integers(0, 2**32 - 40)))
    return np.zeros(4 * n, np.uint32), chain, below(63), below(32), below(63), bool(chance.integers(0, 2))


def run_counters(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the words."""
    gibbs.draw_words(*arguments)
    return (arguments[0],)


def draw_net(chance: Generator) -> tuple[Any, ...]:
    """Draw up to six variables, some fixed, up to seven tables over them, with zeros and extreme values."""
    n, kind = int(chance.integers(0, 7)), int(chance.integers(0, 3))
    sizes = chance.integers(1, 5, n) if kind else np.full(n, 2)
    scopes = [chance.permutation(n)[: int(chance.integers(0, min(n, 2 + (kind > 0)) + 1))] for _ in range(n + 1)]
    fixed = np.where(chance.random(n) < 0.15, (chance.random(n) * sizes).astype(np.int64), -1)
    order = np.array([v for v in chance.permutation(n) if fixed[v] < 0 and sizes[v] > 1], np.int64)
    member_at = np.cumsum([0, *map(len, scopes)])
    member = np.concatenate([*scopes, np.zeros(0, np.int64)])
    theta = chance.normal(0, float(chance.integers(0, 4)), int(sum(np.prod(sizes[scope]) for scope in scopes)))
    if chance.random() < 0.3:
        theta = np.where(chance.random(len(theta)) < 0.2, -np.inf, theta)
    if chance.random() < 0.1:
        theta *= 1e3
    most = int(256 if chance.random() < 0.4 else chance.integers(0, 5))
    return (sizes, member_at, member, fixed, order, most, 4096), theta


def run_cuts(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return all cuts of the variables that are drawn."""
    net, theta = gibbs.Net(*arguments[0]), arguments[1]
    cuts, order = gibbs.Cuts(net, theta), arguments[0][4]
    pairs = [v for v in order if cuts.way[v] == gibbs.PAIR]
    return cuts.way[order], cuts.upper, cuts.whole, cuts.field[pairs]


def draw_sweeps(chance: Generator) -> tuple[Any, ...]:
    """Draw a net, states of some chains, and whether cells are counted."""
    net, theta = draw_net(chance)
    n_chains = int(chance.integers(0, 10) if chance.random() < 0.9 else chance.integers(0, 80))
    kind = (np.uint8, np.uint16, np.uint32)[int(chance.integers(0, 6)) // 2 if chance.random() < 0.5 else 0]
    states = (chance.random((n_chains, len(net[0]))) * net[0]).astype(kind)
    for v in np.flatnonzero(net[3] >= 0):
        states[:, v] = net[3][v]
    visits = np.zeros((n_chains, len(theta))) if chance.random() < 0.5 else None
    chain, first = 4 * int(chance.integers(0, 1000)), int(chance.integers(0, 2**62))
    return net, theta, states, chain, first, int(chance.integers(0, 4)), int(chance.integers(0, 2**63)), visits


def run_sweeps(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the states, and the counts of visited cells."""
    net, theta, states, *numbers, visits = arguments
    gibbs.run_sweeps(gibbs.Cuts(gibbs.Net(*net), theta), theta, states, *numbers, visits)
    return (states,) if visits is None else (states, visits)


CASES = {
    "draw_words": Case(draw_counters, run_counters, 20),
    "cuts": Case(draw_net, run_cuts, 30),
    "run_sweeps": Case(draw_sweeps, run_sweeps, 100),
}
