"""Whether moves of one variable at a time reach every possible configuration: some zeros cannot be crossed by them.

A state of a variable is *dominated* by another when no table rules the other out where it allows the first. Every
configuration can then move from the first to the other, and a path stays a path when the other takes the first one's
place: without a dominated state, what is left is in one piece exactly when all was. Most zeros vanish in this way; what
remains is enumerated, unless it is too large.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ModelError, Remedy, Text
from suffice.inference.product import Factor, connected, possible_cells

LARGEST = 1 << 16
"""Configurations that are enumerated at most."""
MOST_ROWS = 1 << 12
"""States of a variable, no two alike, that are compared with one another at most."""
SHOWN = 4
REMEDY = Text(
    "Use ",
    Remedy("method", "exact"),
    " where the graph allows it, pass states of them as evidence, or fit with a prior, so that what "
    "was not seen stays possible.",
)


@dataclass(frozen=True)
class Barrier:
    """Variables that keep single moves from possible configurations.

    Attributes
    ----------
    variables : tuple of int
        When sure, variables that two possible configurations differ by, with no path from one to the other; otherwise
        all that would have to be enumerated together.
    sure : bool
        False when there were too many configurations to decide.
    """

    variables: tuple[int, ...]
    sure: bool


def require_reachable(limits: Sequence[Factor], names: Sequence[str]) -> None:
    """Raise unless Gibbs sampling reaches every configuration that these tables allow.

    Raises
    ------
    ModelError
        When it does not, or when there are too many configurations to decide.
    """
    barrier = find_barrier(limits)
    if barrier is None:
        return
    listed = ", ".join(repr(names[variable]) for variable in barrier.variables[:SHOWN])
    if len(barrier.variables) > SHOWN:
        listed += f" and {len(barrier.variables) - SHOWN:,} more"
    if barrier.sure:
        raise ModelError(
            "Gibbs sampling changes one variable at a time, and the tables' zeros keep it from some of the possible "
            f"states: {listed} would have to change together. ",
            REMEDY,
        )
    raise ModelError(
        "Gibbs sampling changes one variable at a time, and whether it reaches every possible state could not be "
        f"decided: the tables' zeros tie too many variables together, {listed}. ",
        REMEDY,
    )


def find_barrier(limits: Sequence[Factor]) -> Barrier | None:
    """Return what keeps single moves from some possible configurations, or None when nothing does.

    Parameters
    ----------
    limits : sequence of Factor
        Tables with zeros that allow some configuration together.

    Examples
    --------
    Two variables that must be equal cannot change one after the other; two that must not both be in state 1 can.

    >>> find_barrier([Factor((0, 1), np.eye(2))])
    Barrier(variables=(0, 1), sure=True)
    >>> find_barrier([Factor((0, 1), np.array([[1.0, 1.0], [1.0, 0.0]]))]) is None
    True
    """
    unsure: Barrier | None = None
    for factors in connected(_without_dominated(limits)):
        sizes = {v: n for factor in factors for v, n in zip(factor.scope, factor.values.shape, strict=True)}
        variables = tuple(sorted(sizes))
        if math.prod(sizes.values()) > LARGEST:
            unsure = unsure or Barrier(variables, sure=False)
            continue
        place = {variable: number for number, variable in enumerate(variables)}
        placed = [Factor(tuple(place[v] for v in factor.scope), factor.values) for factor in factors]
        apart = _apart(possible_cells(placed, [sizes[v] for v in variables]))
        if apart:
            return Barrier(tuple(variables[number] for number in apart), sure=True)
    return unsure


# Dominated states ---------------------------------------------------------------------------------------------


def _without_dominated(limits: Sequence[Factor]) -> list[Factor]:
    """Leave out states, until none is impossible or dominated, and then the tables that have no zeros any more."""
    tables = {number: factor for number, factor in enumerate(limits) if factor.scope}
    holding: dict[int, set[int]] = {}
    for number, factor in tables.items():
        for variable in factor.scope:
            holding.setdefault(variable, set()).add(number)
    waiting = dict.fromkeys(sorted(holding))
    while waiting:
        variable = next(iter(waiting))
        del waiting[variable]
        if not holding[variable]:
            continue
        kept = _kept_states([_by_state(tables[number], variable) for number in sorted(holding[variable])])
        if not len(kept):
            return []  # nothing is possible, hence nothing is out of reach
        for number in sorted(holding[variable]):
            before = tables[number]
            if len(kept) == before.values.shape[before.scope.index(variable)]:
                break
            waiting |= dict.fromkeys(before.scope)
            tables[number] = after = _restricted(before, variable, kept)
            gone = before.scope if after.values.all() else set(before.scope) - set(after.scope)
            for other in gone:
                holding[other].discard(number)
            if after.values.all():
                del tables[number]
    return list(tables.values())


def _by_state(factor: Factor, variable: int) -> NDArray[np.bool_]:
    """Return what is possible with every state of a variable, one row a state."""
    axis = factor.scope.index(variable)
    return np.moveaxis(factor.values > 0, axis, 0).reshape(factor.values.shape[axis], -1)


def _kept_states(parts: Sequence[NDArray[np.bool_]]) -> NDArray[np.intp]:
    """Return the states that are possible in every part and that no other kept one dominates.

    >>> _kept_states([np.array([[1, 0, 1], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 0]], bool)])
    array([0, 2])
    """
    rows = np.concatenate(parts, axis=1)
    seen = np.flatnonzero(np.all([part.any(axis=1) for part in parts], axis=0))
    _, first = np.unique(np.packbits(rows[seen], axis=1), axis=0, return_index=True)
    unlike = seen[np.sort(first)]
    if len(unlike) > MOST_ROWS:
        return unlike
    allowed = rows[unlike].astype(np.float32)  # products of whole matrices are fast for these
    dominated = allowed @ (1 - allowed).T == 0  # [a, b]: nothing is possible with a and impossible with b
    return np.compress(dominated.sum(axis=1) == 1, unlike)  # by itself alone; no two are alike


def _restricted(factor: Factor, variable: int, states: NDArray[np.intp]) -> Factor:
    """Return the table with some states of a variable; without its axis when there is only one."""
    if len(states) == 1:
        return factor.given({variable: int(states[0])})
    return Factor(factor.scope, factor.values.take(states, axis=factor.scope.index(variable)))


# Enumeration --------------------------------------------------------------------------------------------------


def _apart(possible: NDArray[np.bool_]) -> list[int]:
    """Return axes by which two possible cells differ that no path joins; none when all cells are in one piece.

    >>> _apart(np.array([[True, True, False], [False, False, True]]))
    [0, 1]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    number = np.arange(possible.size).reshape(possible.shape)
    cells, ends = np.argwhere(possible), []
    for axis in range(possible.ndim):  # all possible cells of a line are one move apart: join each to the first
        first = np.take_along_axis(number, possible.argmax(axis=axis, keepdims=True), axis)
        ends.append(np.broadcast_to(first, possible.shape)[possible])
    begins = np.tile(number[possible], possible.ndim)
    joins = coo_array((np.ones(len(begins)), (begins, np.concatenate(ends))), shape=(possible.size, possible.size))
    _, piece = connected_components(joins, directed=False)
    piece = piece[number[possible]]
    away = cells[piece != piece[:1]]
    if not len(away):
        return []
    differ = away != cells[0]
    return [int(axis) for axis in np.flatnonzero(differ[differ.sum(axis=1).argmin()])]
