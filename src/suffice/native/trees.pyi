"""
Junction trees: message passing, and what learning asks of calibrated tables.
"""

from collections.abc import Sequence
import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray


class Semiring(enum.IntEnum):
    """How tables are combined and summed."""

    SUM = 0
    """Sum–product, scaled."""

    LOG = 1
    """Sum–product in logarithms."""

    MAX = 2
    """Max–sum: the greatest instead of the sum, in logarithms."""

class Outcome(enum.IntEnum):
    """How message passing ended."""

    FINE = 0

    IMPOSSIBLE = 1
    """The product is zero everywhere."""

    LOST = 2
    """Values may have underflowed: use logarithms."""

class Tree:
    """
    A junction tree, immutable. All scopes list their variables in one common order.

    Parameters
    ----------
    sizes : sequence of int
        Number of states of every variable.
    cliques : sequence of sequences of int
        The variables of every clique; cliques come before their parents, the root is last.
    separators : sequence of sequences of int
        The variables that every clique shares with its parent; none for the root.
    parents : sequence of int
        −1 for the root.
    factor_scopes : sequence of sequences of int
        The variables of every factor that are not observed.
    homes : sequence of int
        The clique that each factor is multiplied into.

    Notes
    -----
    ``x_at`` arrays have one entry more than there are x: those of number i are ``x[x_at[i] : x_at[i + 1]]``.
    """

    def __init__(self, sizes: Sequence[int], cliques: Sequence[Sequence[int]], separators: Sequence[Sequence[int]], parents: Sequence[int], factor_scopes: Sequence[Sequence[int]], homes: Sequence[int]) -> None: ...

    def __getstate__(self) -> tuple[list[int], list[list[int]], list[list[int]], list[int], list[list[int]], list[int]]: ...

    def __setstate__(self, arg: tuple[Sequence[int], Sequence[Sequence[int]], Sequence[Sequence[int]], Sequence[int], Sequence[Sequence[int]], Sequence[int]], /) -> None: ...

    @property
    def n_variables(self) -> int: ...

    @property
    def n_cliques(self) -> int: ...

    @property
    def n_factors(self) -> int: ...

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""

    @property
    def sizes(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]: ...

    @property
    def scope_at(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]: ...

    @property
    def scope(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """The variables of every clique."""

    @property
    def part_at(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]: ...

    @property
    def part(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """The variables of the separator above every clique."""

    @property
    def table_at(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """Where each clique's table begins."""

    @property
    def message_at(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """Where each separator's table begins."""

    @property
    def parent(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]: ...

    @property
    def child_at(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]: ...

    @property
    def child(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """The children of every clique."""

    @property
    def factor_at(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]: ...

    @property
    def factor(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """The factors of every clique."""

    @property
    def factor_cells(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """Number of cells of every factor without its observed variables."""

    @property
    def loop_at(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]: ...

    @property
    def loops(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None, 3), order='C', writable=False)]:
        """
        Rows (n, stride in the table, stride in the part): separators in their cliques, in the parents of these, factors in their cliques.
        """

class Forest:
    """Several junction trees, immutable."""

    def __init__(self, trees: Sequence[Tree]) -> None: ...

    def __getstate__(self) -> tuple[list[Tree]]: ...

    def __setstate__(self, arg: tuple[Sequence[Tree]], /) -> None: ...

    def __len__(self) -> int: ...

def propagate(tree: Tree, semiring: Semiring, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], floors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], messages: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], table_floors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[float, Outcome]:
    """
    Send messages to the root and back; return log Σ Π φ, or the maximum, and how it ended.

    Parameters
    ----------
    tree : Tree
    semiring : Semiring
    values : array
        All factors (their logarithms unless SUM); none exceeds one (zero).
    starts : array, shape (n_factors,)
        Where each factor begins in ``values``.
    floors : array, shape (n_factors,)
        A bound from below of the positive values of every factor.
    tables, messages : arrays
        Receive the marginals of cliques and separators, (logarithms unless SUM); undefined unless it ended well.
    table_floors : array, shape (n_cliques,)
        Receives a bound from below of the positive values of every table, zero where some may have underflowed.
    """

def follow(tree: Tree, path: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], messages: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Send messages along a path of neighbouring cliques after the first of them was changed.
    """

def marginalise_clique(tree: Tree, semiring: Semiring, clique: int, wanted: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], part: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write the sum, or the maximum, of a clique's table over all variables but those wanted (in the common order).
    """

def marginalise_factor(tree: Tree, factor: int, tables: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], part: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Write the marginal of a factor's scope from its clique's table."""

def multiply_factor(tree: Tree, factor: int, tables: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], part: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
    """Multiply the table of a factor's clique by a table over its scope."""

def marginalise_factors(tree: Tree, tables: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write the marginals of all factors' scopes from calibrated tables, each at ``starts``, shape (n_factors + 1,).
    """

def multiply_covariance(tree: Tree, tables: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], messages: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], direction: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], work: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], up: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], down: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write the covariance of every factor's cells with Σ direction, from calibrated tables.

    Parameters
    ----------
    tree : Tree
    tables, messages : arrays
        The marginals of cliques and separators.
    starts : array, shape (n_factors + 1,)
        Where each factor begins in ``direction`` and in ``out``.
    direction, out : arrays
    work, up, down : arrays
        Room like ``tables``, ``messages`` and ``messages``.
    """

def fit_in_turn(tree: Tree, visits: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], path_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], path: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], potentials: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], tables: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], messages: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], gains: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], gaps: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Proportional fitting of factors one after another, the marginals following along the tree.

    Parameters
    ----------
    tree : Tree
    visits : array, shape (n_visits,)
        The factors in the order in which they are fitted.
    path_at, path : arrays
        The cliques on the way to each visit's clique, from that of the visit before.
    starts : array, shape (n_factors + 1,)
        Where factors begin in the next two.
    targets, potentials : arrays
        The marginals wanted, and the potentials, which are multiplied by target over marginal.
    tables, messages : arrays
        Marginals that are right at the first path's beginning; changed.
    gains, totals, gaps : arrays, shape (n_visits,)
        Receive Σ target log(target / marginal), Σ marginal and max |target − marginal| of every visit, before its step.
    """
