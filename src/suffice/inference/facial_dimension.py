"""The number of free parameters of a hierarchical model on a part of its table: an exact rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from suffice.inference.facial_design import design_of, mask_of
from suffice.types import Floats

if TYPE_CHECKING:
    from scipy.sparse import csc_array

PRIMES = (8_388_593, 8_388_587)
"""Below 2²³, so that sums of 64 products stay below 2⁵² and floats hold them exactly."""

BLOCK = 64


def dimension(sizes: Sequence[int], scopes: Sequence[Sequence[int]], support: ArrayLike | None = None) -> int:
    """Count the free parameters of the model whose log-probabilities are sums of one table a scope.

    Parameters
    ----------
    sizes : sequence of int
        The number of states of every variable.
    scopes : sequence of tuple of int
    support : array of bool, shape sizes, optional
        The cells of positive probability; by default all.

    Returns
    -------
    int

    Notes
    -----
    On the whole table, Σ Π (size − 1) over the sets of variables that lie in some scope, the empty one excepted; on a
    part of it, the rank of the design less one. The rank is found modulo two primes of 23 bits, from A D Aᵀ with a
    random diagonal D: it is never too large, and is too small only if an accident with odds of about 1 to 10⁷ happens
    twice.

    Examples
    --------
    >>> dimension((2, 2, 2), [(0, 1), (1, 2), (0, 2)])
    6
    >>> support = np.ones((2, 2, 2), dtype=bool)
    >>> support[0, 0, 0] = support[1, 1, 1] = False
    >>> dimension((2, 2, 2), [(0, 1), (1, 2), (0, 2)], support)
    5
    """
    design = design_of(sizes, scopes)
    mask = mask_of(design, "support", support)
    if mask is None or mask.all():
        return design.n_parameters - 1
    return rank_of(design.matrix(np.flatnonzero(mask))) - 1


def rank_of(matrix: csc_array) -> int:
    """Return the rank of a sparse matrix of whole numbers; what it finds to be full is full for certain."""
    if matrix.shape[0] > matrix.shape[1]:
        matrix = matrix.T
    full = min(matrix.shape)
    rank = 0
    for prime in PRIMES:
        rank = max(rank, rank_modulo(_folded(matrix, prime), prime))
        if rank == full:
            break
    return rank


def _folded(matrix: csc_array, prime: int) -> Floats:
    """Return A D Aᵀ modulo a prime, D random: square, small, and of the rank of A."""
    from scipy.sparse import diags_array

    weights = np.random.default_rng(prime).integers(1, prime, size=matrix.shape[1])
    folded = (matrix @ diags_array(weights.astype(np.float64)) @ matrix.T).toarray()
    return np.asarray(np.mod(folded, prime))


def rank_modulo(matrix: Floats, prime: int) -> int:
    """Return the rank of a matrix of whole numbers modulo a prime below 2²³.

    >>> rank_modulo(np.array([[1.0, 2.0], [3.0, 6.0]]), 8_388_593)
    1
    """
    left = np.mod(matrix, prime)
    rank = 0
    while len(left):
        pivots, columns = _echelon(left[:BLOCK], prime)
        left = left[BLOCK:]
        if len(columns):
            rank += len(columns)
            # Pivot columns are finished: nothing beneath needs them.
            kept = np.setdiff1d(np.arange(left.shape[1]), columns)
            left = _reduced(left[:, kept] - left[:, columns] @ pivots[:, kept], prime)
    return rank


def _echelon(block: Floats, prime: int) -> tuple[Floats, list[int]]:
    """Return rows that span those of a block and are one at a pivot each, where the others are zero; and the pivots."""
    rows = block.copy()
    columns: list[int] = []
    for at in range(len(rows)):
        places = np.flatnonzero(rows[at])
        if not len(places):
            continue
        column = int(places[0])
        rows[at] = _reduced(rows[at] * pow(int(rows[at, column]), -1, prime), prime)
        factors = rows[:, column].copy()
        factors[at] = 0
        touched = np.flatnonzero(factors)
        rows[touched] = _reduced(rows[touched] - np.outer(factors[touched], rows[at]), prime)
        columns.append(column)
    return rows[rows.any(axis=1)], columns


def _reduced(values: Floats, prime: int) -> Floats:
    """Return values modulo a prime; exact below 2⁵², and several times faster than a remainder."""
    values = values - prime * np.floor(values * (1 / prime))
    # The quotient can be off by one where its value is almost whole.
    values[values < 0] += prime
    values[values >= prime] -= prime
    return values
