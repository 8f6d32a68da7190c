"""Margins that no table can have: which of them contradict each other, and by how much."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from suffice.inference.facial_cone import SOLVER
from suffice.inference.facial_design import Design, design_of, marginal, margins_of, mask_of
from suffice.types import Bools, Floats

MAX_CELLS = 20_000
"""Joint tables of more cells are not searched; margins are then compared two by two only."""

AGREE = 1e-9
"""Two margins agree when they differ by less than this part of the total: far above round-off, far below one count."""

FEASIBLE = 1e-8
"""A discrepancy below this part of the total is the solver's round-off; it holds each constraint to about 1e-10."""


@dataclass(frozen=True)
class Conflict:
    """Margins that cannot hold together.

    Attributes
    ----------
    kind : {"totals", "overlap", "joint"}
        Two margins have different totals; two margins differ on the variables they share; or margins agree two by two
        and still no table has all of them.
    scopes : tuple of int
        The numbers of the scopes in conflict. None of a joint conflict can be left out: without any one of them, a
        table with the other margins exists.
    discrepancy : float
        The least sum of absolute differences between given margins and those of any table, over the two scopes; for a
        joint conflict, of any table with the given total, over all margins that were given.
    variables, cell : tuple of int
        Of two margins, the shared variables, and the states where they differ most.
    values : tuple of float
        What the first and the second margin hold there.
    """

    kind: str
    scopes: tuple[int, ...]
    discrepancy: float
    variables: tuple[int, ...] = ()
    cell: tuple[int, ...] = ()
    values: tuple[float, ...] = ()


def infeasibility(
    sizes: Sequence[int],
    scopes: Sequence[Sequence[int]],
    margins: Sequence[ArrayLike],
    allowed: ArrayLike | None = None,
) -> Conflict | None:
    """Find margins that no table can have together.

    Parameters
    ----------
    sizes : sequence of int
        The number of states of every variable.
    scopes : sequence of tuple of int
        The variables of each margin, in the order of its axes.
    margins : sequence of array, shape (n_states, …)
        One a scope: counts or probabilities.
    allowed : array of bool, shape sizes, optional
        Where a table may have mass; by default everywhere.

    Returns
    -------
    Conflict or None
        None when nothing was found: a table with these margins exists, unless scopes are not decomposable and the
        joint table has more than `MAX_CELLS` cells.

    Examples
    --------
    Of three yes-no questions, no two ever have the same answer: possible for each pair, and not for all three.

    >>> opposite = [[0.0, 0.5], [0.5, 0.0]]
    >>> pairs = [(0, 1), (1, 2), (0, 2)]
    >>> infeasibility((2, 2, 2), pairs, [opposite] * 3)
    Conflict(kind='joint', scopes=(0, 1, 2), discrepancy=2.0, variables=(), cell=(), values=())
    >>> infeasibility((2, 2, 2), pairs[:2], [opposite] * 2) is None
    True
    """
    design = design_of(sizes, scopes)
    tables = margins_of(design, margins)
    mask = mask_of(design, "allowed", allowed)
    found = disagreement(design, tables)
    # Margins over the cliques of a chordal graph that agree two by two are those of a product of conditionals.
    if found is not None or (design.is_decomposable and (mask is None or mask.all())):
        return found
    if not design.fits_table or np.prod(sizes) > MAX_CELLS:
        return None
    return _joint_conflict(design, tables, np.ones(design.sizes, dtype=np.bool_) if mask is None else mask)


def disagreement(design: Design, margins: Sequence[Floats]) -> Conflict | None:
    """Return the first two margins that differ on what they share, their totals included."""
    totals = [float(table.sum()) for table in margins]
    tolerance = AGREE * max(totals)
    for number, total in enumerate(totals):
        if abs(total - totals[0]) > tolerance:
            return Conflict("totals", (0, number), abs(total - totals[0]), values=(totals[0], total))
    holding: dict[int, list[int]] = {}
    for number, scope in enumerate(design.scopes):
        for other in sorted({earlier for v in scope for earlier in holding.get(v, [])}):
            shared = tuple(sorted(set(scope) & set(design.scopes[other])))
            first = marginal(margins[other], design.scopes[other], shared)
            second = marginal(margins[number], scope, shared)
            gap = np.abs(first - second)
            if gap.max() > tolerance:
                worst = tuple(map(int, np.unravel_index(gap.argmax(), gap.shape)))
                values = (float(first[worst]), float(second[worst]))
                return Conflict("overlap", (other, number), float(gap.sum()), shared, worst, values)
        for v in scope:
            holding.setdefault(v, []).append(number)
    return None


def _joint_conflict(design: Design, margins: Sequence[Floats], allowed: Bools) -> Conflict | None:
    """Return the conflict of margins that agree two by two, by linear programs."""
    total = float(margins[0].sum())
    if total == 0:
        return None
    scaled = [table / total for table in margins]
    everything = range(len(margins))
    discrepancy = _discrepancy(design, scaled, allowed, everything)
    if discrepancy <= FEASIBLE:
        return None

    def holds(chosen: Sequence[int]) -> bool:
        return _discrepancy(design, scaled, allowed, chosen) <= FEASIBLE

    order = sorted(everything, key=lambda number: sorted(design.scopes[number], reverse=True))
    return Conflict("joint", _irreducible(order, holds), total * discrepancy)


def _irreducible(order: Sequence[int], holds: Callable[[Sequence[int]], bool]) -> tuple[int, ...]:
    """Return margins that do not hold together, though they do without any one of them."""
    # Few scopes have few variables, and small tables: the first scopes that do not hold are found by halving, and only
    # they are tried one by one. The last of them is needed, since without it the others hold.
    n_first = bisect_left(range(1, len(order)), True, key=lambda n: not holds(order[:n])) + 1
    left = list(order[:n_first])
    for number in order[: n_first - 1]:
        fewer = [other for other in left if other != number]
        if not holds(fewer):
            left = fewer
    return tuple(sorted(left))


def _discrepancy(design: Design, margins: Sequence[Floats], allowed: Bools, chosen: Sequence[int]) -> float:
    """Return the least Σ |A p − t| over distributions p on the allowed cells, for some of the margins."""
    from scipy.optimize import linprog
    from scipy.sparse import csc_array, eye_array, hstack, vstack

    # Variables outside the chosen scopes do not matter: a cell is allowed when any of their states makes it so.
    covered = tuple(sorted({v for number in chosen for v in design.scopes[number]}))
    if not covered:
        return 0.0
    cells = np.nonzero(marginal(allowed, tuple(range(len(design.sizes))), covered, np.logical_or))
    n_cells = len(cells[0])
    rows, start = [], 0
    for number in chosen:
        codes = [cells[covered.index(v)] for v in design.scopes[number]]
        place = np.ravel_multi_index(codes, margins[number].shape) if codes else np.zeros(n_cells, dtype=np.intp)
        rows.append(start + place)
        start += margins[number].size
    columns = np.tile(np.arange(n_cells), len(chosen))
    indicators = csc_array((np.ones(len(columns)), (np.concatenate(rows), columns)), shape=(start, n_cells))
    whole = csc_array(np.r_[np.ones(n_cells), np.zeros(2 * start)][None])
    answer = linprog(
        np.r_[np.zeros(n_cells), np.ones(2 * start)],
        A_eq=vstack([hstack([indicators, eye_array(start), -eye_array(start)]), whole]).tocsc(),
        b_eq=np.r_[np.concatenate([margins[number].ravel() for number in chosen]), 1.0],
        options=SOLVER,
    )
    # Every distribution is feasible and every sum bounded, so that there is an answer; without one, claim no conflict.
    return float(answer.fun) if answer.status == 0 else 0.0
