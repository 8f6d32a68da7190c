"""The smallest face of a cone that holds a point: which of the cone's generators lie in it.

The generators are the columns of a sparse matrix A, one a cell; the point is t = A p of some table p ≥ 0. A column lies
in the face when some table with the same t is positive there. It lies off it when a direction ζ has Aᵀζ ≥ 0, is zero
on the face and positive at that column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from suffice.inference.facial_design import Design, marginal
from suffice.inference.facial_dimension import rank_of
from suffice.types import Bools, Floats

if TYPE_CHECKING:
    from scipy.sparse import csc_array

SOLVER = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "time_limit": 10.0}

POSITIVE = 1e-9
"""A cell above this part of the total is positive: solvers hold constraints to 1e-10; one count in 10⁶ is 1e-6."""

RESIDUAL = 1e-12
"""Margins that are met this closely, as a part of the total, are met."""

SHARP = 1e-6
"""How far from zero or one a number may be that is one of them."""

MAX_DENOMINATOR = 60
MAX_DENSE = 1_000_000
N_SWEEPS = 20
N_STEPS = 15


# Cells that are in --------------------------------------------------------------------------------------------


def positive_cells(matrix: csc_array, start: Floats, target: Floats) -> Bools | None:
    """Return the cells of a table with these margins that are surely positive, as many as are easily found.

    Newton's steps for the maximum of the likelihood change p to p exp(h). Off the face h tends to −1 at every step, on
    it to zero, so that h tells them apart long before p does. p (1 + h) on the cells that seem to be in has the right
    margins at once, and where it is positive no more is needed: such a table proves that its cells are in the face.
    None when none was found.
    """
    table = start
    for _ in range(N_STEPS):
        change = _newton(matrix, table, target)
        if change is None:
            return None
        seems_in = (change > -0.5) & (table > POSITIVE)
        columns, kept = matrix[:, np.flatnonzero(seems_in)], table[seems_in]
        correction = _newton(columns, kept, target)
        if correction is not None:
            moved = kept * (1 + correction)
            if (moved > POSITIVE / 10).all() and np.abs(columns @ moved - target).max() <= RESIDUAL:
                return np.asarray(seems_in)
        table = table * np.exp(change / max(1.0, float(np.abs(change).max())))
    return None


def _newton(matrix: csc_array, table: Floats, target: Floats) -> Floats | None:
    """Return h = Aᵀλ with A diag(p) Aᵀ λ = t − A p; None where p has no mass left to change."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve
    from scipy.sparse import diags_array

    gap = target - matrix @ table
    curvature = (matrix @ diags_array(table) @ matrix.T).toarray()
    size = float(curvature.diagonal().max())
    # Some parameters may not be determined; a small ridge, which the repetitions undo, passes over them.
    for ridge in (1e-13, 1e-11, 1e-9):
        try:
            factor = cho_factor(curvature + ridge * size * np.eye(len(curvature)), check_finite=False)
        except LinAlgError:
            continue
        multipliers = np.zeros(len(target))
        for _ in range(4):
            multipliers += cho_solve(factor, gap - curvature @ multipliers, check_finite=False)
        return np.asarray(matrix.T @ multipliers)
    return None


def proportionally_fitted(design: Design, possible: Bools, margins: Sequence[Floats]) -> Floats:
    """Return a joint table on the possible cells that is close to the margins, by some sweeps of scaling."""
    joint = possible / np.count_nonzero(possible)
    everything = tuple(range(len(design.sizes)))
    for _ in range(N_SWEEPS):
        for scope, wanted in zip(design.scopes, margins, strict=True):
            present = marginal(joint, everything, scope)
            joint = joint * design.lifted(
                scope, np.divide(wanted, present, out=np.zeros_like(wanted), where=present > 0)
            )
    return np.asarray(joint)


def table_with(matrix: csc_array, target: Floats) -> tuple[Floats | None, bool]:
    """Return a table with these margins, a corner of all of them, if one is found; and whether none exists."""
    from scipy.optimize import linprog

    answer = linprog(np.zeros(matrix.shape[1]), A_eq=matrix, b_eq=target, options=SOLVER)
    return (np.asarray(answer.x) if answer.status == 0 else None), answer.status == 2


# Cells that are out -------------------------------------------------------------------------------------------


def split(matrix: csc_array, known: Bools) -> tuple[Bools, Floats, bool] | None:
    """Return the columns in the smallest face that holds the known ones, and a direction that is positive off it.

    Also whether the direction is one of whole numbers. None when no answer passes the checks.
    """
    others, sure = np.flatnonzero(~known), matrix[:, np.flatnonzero(known)]
    in_face = known.copy()
    basis = _flat_directions(sure)
    if basis.shape[1] == 0:
        in_face[:] = True
    if in_face.all():
        return in_face, np.zeros(matrix.shape[0]), True
    for method in ("highs", "highs-ipm"):
        if basis.shape[1] * len(others) <= MAX_DENSE:
            heights = basis.T @ matrix[:, others]
            heights[np.abs(heights) < SHARP / 1000] = 0.0
            found = _shares(heights, None, method)
        else:
            found, basis = _shares(matrix[:, others], sure, method), np.eye(matrix.shape[0])
        if found is None:
            continue
        in_face[others] = found[0]
        direction = _whole(basis @ found[1], matrix, in_face)
        if direction is not None:
            return in_face, *direction
    return None


def _flat_directions(columns: csc_array) -> Floats:
    """Return a basis of all ζ with Aᵀζ = 0 for these columns, in whole numbers where they are simple; one a column."""
    n = columns.shape[0]
    rank = rank_of(columns)
    if rank == n:
        return np.zeros((n, 0))
    from scipy.linalg import eigh, lu

    _, vectors = eigh((columns @ columns.T).toarray(), subset_by_index=[0, n - rank - 1])
    # Unit entries at the pivots leave small whole numbers in most other places.
    order = np.argmax(lu(vectors)[0], axis=0)[: n - rank]
    basis = np.linalg.solve(vectors[order].T, vectors.T).T
    whole = np.rint(basis)
    return np.where(np.abs(basis - whole) < SHARP / 1000, whole, basis)


def _shares(columns: csc_array, free: Floats | csc_array | None, method: str) -> tuple[Bools, Floats] | None:
    """Solve max Σ v such that A (v + w) + F y = 0, 0 ≤ v ≤ 1, 0 ≤ w; return where v is one, and the multipliers."""
    from scipy.optimize import linprog
    from scipy.sparse import csc_array, hstack

    n, n_free = columns.shape[1], 0 if free is None else free.shape[1]
    lower = np.r_[np.zeros(2 * n), np.full(n_free, -np.inf)]
    upper = np.r_[np.ones(n), np.full(n + n_free, np.inf)]
    sparse = csc_array(columns)
    answer = linprog(
        np.r_[-np.ones(n), np.zeros(n + n_free)],
        A_eq=hstack([sparse, sparse, *([] if free is None else [free])]).tocsc(),
        b_eq=np.zeros(columns.shape[0]),
        bounds=np.column_stack([lower, upper]),
        method=method,
        options=SOLVER,
    )
    if answer.status != 0:
        return None
    share = answer.x[:n]
    # A table that moves by v + w and y keeps its margins: where v is one, the cell is in.
    if np.minimum(share, 1 - share).max() > SHARP or np.abs(answer.con).max() > SHARP:
        return None
    return share > 0.5, -np.asarray(answer.eqlin.marginals)


def _whole(direction: Floats, matrix: csc_array, in_face: Bools) -> tuple[Floats, bool] | None:
    """Return a direction in whole numbers where its denominators are small, else as it is; None where it fails."""
    for factor in range(1, MAX_DENOMINATOR + 1):
        whole = np.rint(factor * direction)
        # Sums of whole numbers below 2⁵³ are exact in floats.
        if np.abs(whole - factor * direction).max() < SHARP and _separates(matrix.T @ whole, in_face, 0.0):
            return whole, True
    return (direction, False) if _separates(matrix.T @ direction, in_face, SHARP) else None


def _separates(heights: Floats, in_face: Bools, tolerance: float) -> bool:
    """Whether Aᵀζ is zero in the face and at least one off it."""
    return bool((np.abs(heights[in_face]) <= tolerance).all() and (heights[~in_face] >= 1 - tolerance).all())
