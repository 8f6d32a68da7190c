"""Plans: everything about a calibration that does not depend on the numbers, made once and used for any of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.graph.elimination import BitGraph
from suffice.graph.junction_tree import JunctionTree, junction_tree
from suffice.inference.budget import cells_of, require_room
from suffice.inference.product import Factor, Product
from suffice.native import trees
from suffice.types import Ints

TINY = 1e-280
"""Values this much smaller than the largest of their table are kept as logarithms."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A junction tree for products over given scopes, with some variables observed.

    Which variables are observed shapes the tree: they are sliced away and take no room. Which states they have, and
    what the tables say, is left open.

    Attributes
    ----------
    names : tuple of str
    sizes : tuple of int
    scopes : tuple of tuple of int
        The scopes of the factors, in the order in which their tables will come.
    observed : frozenset of int
    tree : JunctionTree
        Over the variables that are not observed.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    scopes: tuple[tuple[int, ...], ...]
    observed: frozenset[int]
    tree: JunctionTree

    @classmethod
    def of(
        cls,
        product: Product,
        observed: Collection[int] = (),
        extra: Sequence[Sequence[int]] = (),
        rule: str = "best",
    ) -> Plan:
        """Plan for a product; some clique will cover each of the ``extra`` scopes."""
        seen = frozenset(observed)
        free = [variable for variable in range(len(product.sizes)) if variable not in seen]
        place = {variable: index for index, variable in enumerate(free)}
        scopes = [[place[v] for v in scope if v in place] for scope in [*product.scopes, *extra]]
        graph = BitGraph.of_scopes(scopes, [product.sizes[variable] for variable in free])
        tree = junction_tree(graph, rule).slimmed(graph.sizes)
        tree = _renamed(tree.arranged(_loop_order(tree, graph.sizes)), free)
        return cls(product.names, product.sizes, tuple(product.scopes), seen, tree)

    def rooted_at(self, clique: int) -> Plan:
        """Return the same plan with another root."""
        return replace(self, tree=self.tree.rooted_at(clique))

    # Sizes ----------------------------------------------------------------------------------------------------

    @cached_property
    def clique_cells(self) -> list[int]:
        """Number of cells of every clique's table."""
        return cells_of(self.tree.cliques, self.sizes)

    @property
    def cells(self) -> int:
        """Number of cells of all cliques' tables."""
        return sum(self.clique_cells)

    @property
    def width(self) -> int:
        """The number of variables in the largest clique, less one."""
        return self.tree.width

    def require_room(self, copies: int = 1) -> None:
        """Raise when the tables, held so many times, do not fit the memory that may be used."""
        scopes = [*self.tree.cliques, *self.tree.separators]
        peak = None if copies == 1 else copies * sum(cells_of(scopes, self.sizes))
        require_room(Product(self.names, self.sizes, ()), scopes, peak)

    # The tree in arrays ---------------------------------------------------------------------------------------

    @cached_property
    def homes(self) -> list[int]:
        """The clique that each factor is multiplied into: the smallest that covers it."""
        homes = []
        for free in self.free_scopes:
            home = self.tree.covering(free, self.sizes) if free else len(self.tree.cliques) - 1
            assert home is not None
            homes.append(home)
        return homes

    @cached_property
    def position(self) -> dict[int, int]:
        """The place of every variable in the common order of all tables."""
        return {variable: place for place, variable in enumerate(self.tree.order)}

    @cached_property
    def free_scopes(self) -> list[tuple[int, ...]]:
        """The variables of each factor that are not observed, in the common order."""
        return [
            tuple(sorted((v for v in scope if v not in self.observed), key=self.position.__getitem__))
            for scope in self.scopes
        ]

    @cached_property
    def arrays(self) -> trees.Tree:
        """The tree as the kernels take it."""
        tree = self.tree
        return trees.Tree(self.sizes, tree.cliques, tree.separators, tree.parents, self.free_scopes, self.homes)

    @cached_property
    def nearest(self) -> Ints:
        """The clique nearest to the root that holds each variable; −1 for those observed."""
        homes = np.full(len(self.sizes), -1, np.int64)
        for clique, members in enumerate(self.tree.cliques):  # the root comes last
            homes[list(members)] = clique
        return homes

    @cached_property
    def smallest(self) -> dict[int, int]:
        """The clique with the fewest cells that holds each variable; those observed have none."""
        cells, found = self.clique_cells, dict[int, int]()
        for clique, members in enumerate(self.tree.cliques):
            for variable in members:
                if variable not in found or cells[clique] < cells[found[variable]]:
                    found[variable] = clique
        return found

    # Numbers --------------------------------------------------------------------------------------------------

    @cached_property
    def _axes(self) -> list[tuple[int, ...]]:
        """The axes of each factor in the order of the buffer: those observed first, then the common order."""
        orders = []
        for scope, free in zip(self.scopes, self.free_scopes, strict=True):
            seen = (variable for variable in scope if variable in self.observed)
            orders.append(tuple(scope.index(variable) for variable in (*seen, *free)))
        return orders

    @cached_property
    def starts(self) -> Ints:
        """Where each factor begins in the buffer."""
        return _starts(cells_of(self.scopes, self.sizes))

    @cached_property
    def slices(self) -> tuple[Ints, Ints, Ints]:
        """For every observed axis: its factor, its variable, and its stride in the buffer."""
        rows = []
        for number, (scope, free) in enumerate(zip(self.scopes, self.free_scopes, strict=True)):
            stride = math.prod(self.sizes[variable] for variable in free)
            for variable in reversed([v for v in scope if v in self.observed]):
                rows.append((number, variable, stride))
                stride *= self.sizes[variable]
        columns = np.array(rows, np.int64).reshape(-1, 3).T
        return columns[0], columns[1], columns[2]

    def packed(self, factors: Sequence[Factor]) -> Packed:
        """Put the tables of factors into one buffer."""
        tables = [factor.values.transpose(axes) for factor, axes in zip(factors, self._axes, strict=True)]
        values = np.concatenate([*(table.reshape(-1) for table in tables), np.zeros(0)])
        return Packed.of(self, values)


@dataclass(frozen=True, eq=False)
class Packed:
    """The numbers of a product in the layout of a plan: Π φ = exp(log_scale) · Π values, and none is above one.

    ``floors`` are the smallest positive values of the factors; zero where a factor has values too far apart for floats,
    which are then only in ``logs``.
    """

    plan: Plan
    values: NDArray[np.float64]
    floors: NDArray[np.float64]
    log_scale: float
    logs: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, plan: Plan, values: NDArray[np.float64]) -> Packed:
        """Scale the factors of a buffer, which is changed, so that no product of them can overflow."""
        starts = plan.starts
        if len(starts) == 1:
            return cls(plan, values, np.ones(0), 0.0)
        tops = np.maximum.reduceat(values, starts[:-1])
        lowest = np.minimum.reduceat(np.where(values > 0, values, np.inf), starts[:-1])
        log_scale, logs = 0.0, None
        scales = np.where(tops > 0, tops, 1.0)
        with np.errstate(under="ignore"):
            floors = np.minimum(lowest / scales, 1.0)
        if not ((tops <= 1) & (tops > 1e-3)).all():
            by, log_scale = np.repeat(scales, np.diff(starts)), float(np.log(scales).sum())
            if (floors < TINY).any():
                with np.errstate(divide="ignore"):
                    logs = np.log(values) - np.log(by)
            with np.errstate(under="ignore"):
                values /= by
        return cls(plan, values, np.where(floors < TINY, 0.0, floors), log_scale, logs)

    def logarithms(self) -> NDArray[np.float64]:
        """Return log φ of all factors, −inf where they are zero."""
        if self.logs is not None:
            return self.logs
        with np.errstate(divide="ignore"):
            return np.log(self.values)

    def at(self, codes: Ints | None) -> Ints:
        """Return where each factor's slice begins, from the codes of all variables; those not observed are ignored."""
        starts = self.plan.starts[:-1]
        factor, variable, stride = self.plan.slices
        if codes is None or not len(factor):
            return starts
        return starts + np.bincount(factor, codes[variable] * stride, len(starts)).astype(np.int64)


def _loop_order(tree: JunctionTree, sizes: Sequence[int]) -> list[int]:
    """Return the nodes of the most cells last: they are in both ends of most messages, and make long inner loops."""
    held = [0] * len(sizes)
    for clique, cells in zip(tree.cliques, cells_of(tree.cliques, sizes), strict=True):
        for node in clique:
            held[node] += cells
    return sorted(range(len(sizes)), key=held.__getitem__)


def _renamed(tree: JunctionTree, names: Sequence[int]) -> JunctionTree:
    def known(scopes: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(names[node] for node in scope) for scope in scopes)

    if not tree.cliques:  # nothing is left to be found out: one clique of one cell
        return JunctionTree(((),), (-1,), ((),), ())
    return JunctionTree(
        known(tree.cliques), tree.parents, known(tree.separators), tuple(names[node] for node in tree.order)
    )


def _starts(lengths: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
