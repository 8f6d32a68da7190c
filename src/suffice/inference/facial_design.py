"""The design of a hierarchical log-linear model: which parameters the log-probability of each cell is the sum of.

Every set of variables that lies in some scope has one parameter for each combination of its states other than the
first ones. These are as many as the model has dimensions, plus one for the total, so that nothing is said twice:
margins in these coordinates cannot contradict each other, and a linear program over them has no redundant rows.

    t = A p         margins of a table p, in these coordinates
    z = Aᵀζ         what a direction ζ of the parameters adds to the logarithm of every cell
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import ArgumentError, is_whole, shown
from suffice.graph.undirected import interaction_graph, is_chordal, maximal_cliques
from suffice.inference.budget import MAX_AXES
from suffice.types import Bools, Floats

if TYPE_CHECKING:
    from scipy.sparse import csc_array

Scope = tuple[int, ...]
Scalar = TypeVar("Scalar", np.float64, np.bool_)

MAX_TABLE = 2**20
"""Joint tables of more cells are never written out."""


@dataclass(frozen=True, eq=False)
class Design:
    """The parameters of a hierarchical model over positions.

    Attributes
    ----------
    sizes : tuple of int
        The number of states of every variable.
    scopes : tuple of tuple of int
        The variables of every margin, in the order of its axes.
    """

    sizes: tuple[int, ...]
    scopes: tuple[Scope, ...]

    @cached_property
    def homes(self) -> dict[Scope, int]:
        """Every set of variables that lies in some scope, the small ones first, with the first scope that holds it."""
        found: dict[Scope, int] = {}
        for number, scope in enumerate(self.scopes):
            for size in range(len(scope) + 1):
                for subset in combinations(sorted(scope), size):
                    found.setdefault(subset, number)
        return {subset: found[subset] for subset in sorted(found, key=lambda subset: (len(subset), subset))}

    @property
    def n_parameters(self) -> int:
        """The number of parameters, the one of the total included."""
        return sum(math.prod(self.sizes[v] - 1 for v in subset) for subset in self.homes)

    @property
    def density(self) -> float:
        """The number of parameters that a cell is the sum of, on average over the joint table."""
        return sum(math.prod(1 - 1 / self.sizes[v] for v in subset) for subset in self.homes)

    @cached_property
    def is_decomposable(self) -> bool:
        """Whether the scopes are the cliques of a chordal graph, or lie in them."""
        graph = interaction_graph(self.scopes)
        return is_chordal(graph) and set(map(frozenset, maximal_cliques(graph))) <= set(map(frozenset, self.scopes))

    @property
    def fits_table(self) -> bool:
        """Whether the joint table can be written out."""
        return math.prod(self.sizes) <= MAX_TABLE and len(self.sizes) <= MAX_AXES

    def lifted(self, scope: Scope, table: NDArray[Scalar]) -> NDArray[Scalar]:
        """Return a table over a scope as a view that broadcasts against the joint table."""
        shape = [size if v in scope else 1 for v, size in enumerate(self.sizes)]
        return np.asarray(table).transpose(np.argsort(scope)).reshape(shape)

    def summed(self, tables: Sequence[NDArray[Scalar]]) -> Floats:
        """Return the joint table whose cells are the sums of the entries of one table a scope."""
        joint = np.zeros(self.sizes)
        for scope, table in zip(self.scopes, tables, strict=True):
            joint = joint + self.lifted(scope, table)
        return joint

    def seen(self, joint: Bools) -> tuple[Bools, ...]:
        """Return for every scope which of its cells some true cell of the joint table belongs to."""
        return tuple(
            marginal(np.asarray(joint), tuple(range(len(self.sizes))), scope, np.logical_or) for scope in self.scopes
        )

    def matrix(self, cells: NDArray[np.intp]) -> csc_array:
        """Return A for these cells (their positions in the flat joint table), a sparse matrix with a column a cell."""
        from scipy.sparse import csc_array

        codes = np.unravel_index(cells, self.sizes)
        rows, columns, start = [], [], 0
        for subset in self.homes:
            held = np.arange(len(cells))
            for v in subset:
                held = held[codes[v][held] > 0]
            number = np.zeros(len(held), dtype=np.intp)
            for v in subset:
                number = number * (self.sizes[v] - 1) + codes[v][held] - 1
            rows.append(start + number)
            columns.append(held)
            start += math.prod(self.sizes[v] - 1 for v in subset)
        row, column = np.concatenate(rows), np.concatenate(columns)
        return csc_array((np.ones(len(row)), (row, column)), shape=(start, len(cells)))

    def coordinates(self, margins: Sequence[Floats]) -> Floats:
        """Return margins as the vector t, each parameter's from the first scope that holds it."""
        parts = [
            marginal(margins[home], self.scopes[home], subset)[(slice(1, None),) * len(subset)].ravel()
            for subset, home in self.homes.items()
        ]
        return np.concatenate(parts)

    def tables(self, vector: Floats) -> tuple[Floats, ...]:
        """Return a direction ζ as one table a scope; the sum of their entries at a cell is (Aᵀζ) there."""
        found = tuple(np.zeros([self.sizes[v] for v in scope]) for scope in self.scopes)
        start = 0
        for subset, home in self.homes.items():
            shape = [self.sizes[v] - 1 for v in subset]
            block = vector[start : start + math.prod(shape)].reshape(shape)
            start += math.prod(shape)
            scope = self.scopes[home]
            order = [subset.index(v) for v in scope if v in subset]
            inside = tuple(slice(1, None) if v in subset else slice(None) for v in scope)
            spread = [self.sizes[v] - 1 if v in subset else 1 for v in scope]
            found[home][inside] += block.transpose(order).reshape(spread)
        return found


def marginal(table: NDArray[Scalar], scope: Scope, onto: Scope, adding: np.ufunc = np.add) -> NDArray[Scalar]:
    """Return the margin of a table over ``scope``, with the variables ``onto`` as its axes."""
    kept = adding.reduce(table, axis=tuple(axis for axis, v in enumerate(scope) if v not in onto))
    left = [v for v in scope if v in onto]
    return np.asarray(kept).transpose([left.index(v) for v in onto])


# What callers pass --------------------------------------------------------------------------------------------


def design_of(sizes: Sequence[int], scopes: Sequence[Sequence[int]]) -> Design:
    """Return the design of scopes over variables with so many states."""
    for scope in scopes:
        if not all(is_whole(v) and 0 <= v < len(sizes) for v in scope) or len(set(scope)) < len(scope):
            raise ArgumentError(
                f"The 'scopes' argument must hold tuples of different variables from 0 to {len(sizes) - 1}, such as "
                f"[(0, 1), (1, 2)]. Got {shown(tuple(scope))} instead."
            )
    if not len(scopes):
        raise ArgumentError("The 'scopes' argument must hold at least one scope, such as [(0, 1)]. Got none instead.")
    return Design(tuple(map(int, sizes)), tuple(tuple(map(int, scope)) for scope in scopes))


def margins_of(design: Design, margins: Sequence[ArrayLike]) -> tuple[Floats, ...]:
    """Return the margins as arrays, one a scope, after a look at their shapes and values."""
    if len(margins) != len(design.scopes):
        raise ArgumentError(
            f"The 'margins' argument must hold one table for each of the {len(design.scopes)} scopes. "
            f"Got {len(margins)} instead."
        )
    tables = tuple(np.asarray(table, dtype=np.float64) for table in margins)
    for scope, table in zip(design.scopes, tables, strict=True):
        shape = tuple(design.sizes[v] for v in scope)
        if table.shape != shape:
            raise ArgumentError(
                f"The 'margins' argument must hold a table of shape {shape} for the scope {scope}. "
                f"Got shape {table.shape} instead."
            )
        if not np.isfinite(table).all() or (table < 0).any():
            raise ArgumentError(
                f"The 'margins' argument must hold counts or probabilities, finite and not negative. The table of the "
                f"scope {scope} has {float(table[~(np.isfinite(table) & (table >= 0))][0])!r} instead."
            )
    return tables


def mask_of(design: Design, name: str, mask: ArrayLike | None) -> Bools | None:
    """Return a boolean joint table, or None where it says nothing."""
    if mask is None:
        return None
    table = np.array(mask)
    if table.dtype != np.bool_ or table.shape != design.sizes or not table.any():
        raise ArgumentError(
            f"The {name!r} argument must be a boolean table of shape {design.sizes} that is true somewhere, or None. "
            f"Got a table of {table.dtype}, of shape {table.shape}, true in {np.count_nonzero(table)} cells instead."
        )
    return table
