"""Gibbs sampling: chains that draw one variable after another, given all others; no junction tree is made.

A sweep draws every variable once, colour by colour: variables of one colour share no table, so that their order does
not matter. Chains depend on the key, their number and the number of the sweep alone, never on threads or on how sweeps
are shared out between calls.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError, Mention, ModelError, Remedy, the_argument
from suffice.graph.undirected import interaction_graph
from suffice.inference.clique_family import Layout
from suffice.inference.inquiry import Given
from suffice.inference.product import Factor, Product
from suffice.native.gibbs import Cuts, Net, run_sweeps
from suffice.settings import settings
from suffice.text import in_bytes
from suffice.types import Floats

States = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]
"""Codes, shape (n_chains, n_variables)."""

TILE = 128
"""Chains that are swept together at most: their states should stay in the cache, and fill vector registers."""
LEAST_TILE = 64
CONFIGURATIONS = 256
"""Configurations of neighbours up to which a variable's conditional distributions are written down; 256 at most."""
CUTS = 4096
"""Numbers up to which they are, one less than there are states for each configuration."""
START = np.uint64(2**64 - 1)
PENALTIES = (1.0, 2.0, 4.0, 8.0, 16.0) * 4
"""What a zero potential costs, as a logarithm, while states of positive probability are searched for."""
SWEEPS_A_PENALTY = 20


class Gibbs:
    """Chains over the distribution p(x) ∝ exp(Σ_C θ_C(x_C)), some variables held fixed.

    Parameters
    ----------
    sizes : sequence of int
        The number of states of every variable.
    scopes : sequence of sequence of int
        The variables of every table.
    theta : array, shape (layout.n,)
        The logarithms of all tables, flat, as in `Layout`; −inf is a zero potential.
    fixed : mapping, optional
        The states of variables that were observed. They are not drawn.

    Examples
    --------
    >>> agree = np.log([[3.0, 1.0], [1.0, 3.0]])
    >>> chains = Gibbs((2, 2), [(0, 1)], agree.reshape(-1))
    >>> states = chains.start(n_chains=256, key=7)
    >>> chains.run(states, sweeps=100, key=7)
    >>> shares = chains.visits(states, sweeps=100, key=7, first=100).sum(axis=0) / 25_600
    >>> bool(np.abs(shares - [0.375, 0.125, 0.125, 0.375]).max() < 0.01)
    True
    """

    def __init__(self, sizes: Sequence[int], scopes: Sequence[Sequence[int]], theta: Floats,
                 fixed: Mapping[int, int] | None = None) -> None:  # fmt: skip
        self.layout = Layout(tuple(sizes), tuple(map(tuple, scopes)))
        self.fixed = dict(fixed or {})
        self._filling: Sequence[int] = range(len(sizes))
        self._net = _net(self.layout, self.fixed)
        self._set(theta)

    @classmethod
    def of_product(cls, product: Product, given: Given | None = None) -> Gibbs:
        """Return chains over a product given evidence; tables of soft evidence come last."""
        given = Given() if given is None else given
        factors = product.with_factors(given.factors()).factors
        with np.errstate(divide="ignore"):
            logs = [np.log(factor.values).reshape(-1) for factor in factors]
        scopes = [factor.scope for factor in factors]
        chains = cls(product.sizes, scopes, np.concatenate([*logs, np.zeros(0)]), given.hard)
        if product.parents is not None:
            chains._filling = sorted(range(len(product.sizes)), key=lambda v: product.above[v].bit_count())
        return chains

    def with_theta(self, theta: Floats) -> Gibbs:
        """Return chains with other parameters."""
        twin = copy.copy(self)
        twin._set(theta)
        return twin

    def _set(self, theta: Floats) -> None:
        self.theta = np.array(theta, np.float64)
        if self.theta.shape != (self.layout.n,):
            raise ArgumentError(
                f"The 'theta' argument must hold one number for each of the {self.layout.n:,} cells of all tables. Got "
                f"an array of shape {self.theta.shape} instead."
            )
        self.theta.flags.writeable = False
        self._cuts = Cuts(self._net, self.theta)

    # Chains ---------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> type[np.uint8] | type[np.uint16] | type[np.uint32]:
        """The type of codes."""
        most = max(self.layout.sizes, default=1)
        return np.uint8 if most <= 1 << 8 else np.uint16 if most <= 1 << 16 else np.uint32

    def start(self, n_chains: int, key: int) -> States:
        """Return random states to start from, independent and uniform; where potentials are zero, possible ones.

        Raises
        ------
        ModelError
            When no state of positive probability was found.
        """
        sizes = np.array(self.layout.sizes, np.int64)
        _require_room(n_chains * len(sizes) * (8 + 2 * np.dtype(self.dtype).itemsize), "The states of", n_chains)
        rng = np.random.Generator(np.random.Philox(key=np.array([key, START], np.uint64)))
        states = np.ascontiguousarray((rng.random((len(sizes), n_chains)) * sizes[:, None]).astype(self.dtype).T)
        for variable, code in self.fixed.items():
            states[:, variable] = code
        limits = self.limits()
        if limits:
            _fill(states, limits, self._filling, sizes, rng)
            self._mend(states, limits, key)
        return states

    def run(self, states: States, sweeps: int, key: int, first: int = 0) -> None:
        """Sweep all chains, in place; ``first`` is the number of the first sweep.

        Sweeps 0 to 9, and then 10 to 19 with ``first=10``, are the same as sweeps 0 to 19 at once.
        """
        self._sweep(states, sweeps, key, first, None)

    def visits(self, states: States, sweeps: int, key: int, first: int = 0) -> Floats:
        """Sweep all chains, in place; return how often each was in each cell of each table after a sweep.

        Returns
        -------
        array, shape (n_chains, layout.n)
            The counts of every table sum to the number of sweeps.
        """
        _require_room(8 * len(states) * self.layout.n, "The counts of visited cells of", len(states))
        found = np.zeros((len(states), self.layout.n))
        self._sweep(states, sweeps, key, first, found)
        return found

    def _sweep(self, states: States, sweeps: int, key: int, first: int, visits: Floats | None) -> None:
        self._check(states)
        threads, n_chains = settings().threads, len(states)
        share = -(-n_chains // (4 * threads)) * 4
        lanes = min(TILE, max(LEAST_TILE, share))

        def part(start: int) -> None:
            rows = slice(start, start + lanes)
            counts = None if visits is None else visits[rows]
            run_sweeps(self._cuts, self.theta, states[rows], start, first, sweeps, key, counts)

        starts = range(0, n_chains, lanes)
        if len(starts) > 1 and threads > 1:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(part, starts))
        else:
            for start in starts:
                part(start)

    def _check(self, states: States) -> None:
        """Raise unless the kernels can take these states."""
        sizes = np.array(self.layout.sizes, np.int64)
        fixed, codes = list(self.fixed), list(self.fixed.values())
        if (
            not isinstance(states, np.ndarray)
            or states.dtype != self.dtype
            or states.shape[1:] != sizes.shape
            or not states.flags.c_contiguous
            or (states >= sizes).any()
            or (states[:, fixed] != codes).any()
        ):
            raise ArgumentError(
                the_argument("states"),
                f" must be an array of {np.dtype(self.dtype)}, one row a chain and one column for "
                f"each of the {len(sizes)} variables, with codes below their numbers of states, and fixed variables in "
                "their states. Begin with start(n_chains, key).",
            )

    # States of positive probability ---------------------------------------------------------------------------

    def limits(self) -> list[Factor]:
        """Return the tables with zeros, over variables that are not fixed: one where something is possible."""
        found = []
        for scope, table in zip(self.layout.scopes, self.layout.tables(self.theta), strict=True):
            possible = Factor(scope, (table > -math.inf).astype(np.float64)).given(self.fixed)
            if not np.all(possible.values):
                found.append(possible)
        return found

    def _mend(self, states: States, limits: Sequence[Factor], key: int) -> None:
        """Move chains that are in impossible states, by sweeps in which zero potentials cost more and more."""
        costs = np.where(self.theta > -math.inf, 0.0, -1.0)
        for number, penalty in enumerate(PENALTIES):
            bad = np.flatnonzero(~_possible(states, limits))
            if not len(bad):
                return
            moved = states[bad].copy()
            first = (1 << 62) + number * SWEEPS_A_PENALTY  # numbers that no sweep of the chains uses
            self.with_theta(penalty * costs).run(moved, SWEEPS_A_PENALTY, key, first)
            states[bad] = moved
        possible = _possible(states, limits)
        if not possible.any():
            raise ModelError(
                "No state of positive probability was found to start Gibbs sampling from: the tables' zeros, with the "
                "evidence, leave few states or none. Check the evidence, use ",
                Remedy("method", "exact"),
                " where the graph allows it, or fit with a prior, so that what was not seen stays possible.",
            )
        found = np.flatnonzero(possible)
        for number, chain in enumerate(np.flatnonzero(~possible)):
            states[chain] = states[found[number % len(found)]]


def _fill(states: States, limits: Sequence[Factor], order: Sequence[int], sizes: NDArray[np.int64],
          rng: np.random.Generator) -> None:  # fmt: skip
    """Choose states anew, variable by variable, so that no table is zero whatever its later variables will be."""
    holding: dict[int, list[Factor]] = {}
    for factor in limits:
        for variable in factor.scope:
            holding.setdefault(variable, []).append(factor)
    place = {variable: number for number, variable in enumerate(order)}
    for variable in sorted(holding, key=place.__getitem__):
        open_to = np.ones((len(states), sizes[variable]), bool)
        for factor in holding[variable]:
            later = tuple(axis for axis, other in enumerate(factor.scope) if place[other] > place[variable])
            known = [other for other in factor.scope if place[other] <= place[variable]]
            own = known.index(variable)
            table = np.moveaxis(np.asarray(factor.values.max(axis=later)), own, -1)
            open_to &= table[tuple(states[:, other] for other in known if other != variable)] > 0
        chosen = np.where(open_to, rng.random(open_to.shape), -1.0).argmax(axis=1)
        states[:, variable] = chosen


def _possible(states: States, limits: Sequence[Factor]) -> NDArray[np.bool_]:
    """Return the chains whose states no table rules out; shape (n_chains,)."""
    possible = np.ones(len(states), bool)
    for factor in limits:
        possible &= factor.values[tuple(states[:, variable] for variable in factor.scope)] > 0
    return possible


def _require_room(need: int, what: str, n_chains: int) -> None:
    allowed = settings().memory
    if need > allowed:
        raise ModelError(
            f"{what} {n_chains:,} chains would need {in_bytes(need)}, and may use {in_bytes(allowed)}. Use fewer "
            "chains, or allow more with ",
            Mention("memory", "sf.config(memory=…)"),
            ".",
        )


# The net ------------------------------------------------------------------------------------------------------


def coloured(graph: Mapping[int, set[int]]) -> list[int]:
    """Return the variables sorted by colours, neighbours having different ones; each has the first that is left.

    >>> coloured({0: {1}, 1: {0, 2}, 2: {1}, 3: set()})
    [0, 2, 3, 1]
    """
    colours: dict[int, int] = {}
    for variable, near in graph.items():
        taken = {colours[other] for other in near if other in colours}
        colours[variable] = next(colour for colour in range(len(taken) + 1) if colour not in taken)
    return sorted(graph, key=colours.__getitem__)


def _net(layout: Layout, fixed: Mapping[int, int]) -> Net:
    """Return variables and tables as the kernels take them."""
    free = [v for v in range(len(layout.sizes)) if v not in fixed]
    graph = interaction_graph([[v for v in scope if v not in fixed] for scope in layout.scopes], free)
    return Net(
        sizes=_ints(layout.sizes),
        member_at=_ints(accumulate(map(len, layout.scopes), initial=0)),
        member=_ints(v for scope in layout.scopes for v in scope),
        fixed=_ints(fixed.get(v, -1) for v in range(len(layout.sizes))),
        order=_ints(v for v in coloured(graph) if layout.sizes[v] > 1),
        most_configurations=CONFIGURATIONS,
        most_cuts=CUTS,
    )


def _ints(values: Iterable[int]) -> NDArray[np.int64]:
    return np.array(list(values), np.int64)
