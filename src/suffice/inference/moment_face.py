"""The smallest face of the hull of some vectors that holds a mixture of a few of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice.inference.dependence import dependence
from suffice.inference.facial_cone import SOLVER
from suffice.inference.moment_cloud import Cloud, Nearest
from suffice.types import Bools, Floats

CLEAR = 1e-3
"""A distance below this part of the tolerance is zero for certain."""

SHARP = 1e-6
"""How far from a whole number the solver may leave one."""

FLAT = 1e-9
"""A height below this is the round-off of one that is zero, in vectors scaled to run from zero to one."""

MAX_DENOMINATOR = 60


class Members(NamedTuple):
    """The vectors on a face, and a direction c: c·f is largest on all of them, and at least one smaller elsewhere."""

    members: Bools
    direction: Floats


def smallest_face(cloud: Cloud, found: Nearest, tol: float) -> Members | None:
    """Return the vectors on the smallest face that holds the targets; None when an answer fails its checks.

    Parameters
    ----------
    cloud : Cloud
        Without constant features.
    found : Nearest
        A distribution with the targets as its moments, as exactly as a solver gives it.
    tol : float
        Weights above this are positive.
    """
    known = _known(cloud, found.weights > tol, found.weights, tol)
    if known is None:
        return None
    free = _independent(cloud)
    lifted = np.column_stack([np.ones(len(cloud.units)), cloud.units[:, free]])
    _, sizes, rows = np.linalg.svd(lifted[known])
    flat = _simple(rows[np.count_nonzero(sizes > FLAT * sizes[0]) :])
    members, direction = np.ones(len(lifted), dtype=np.bool_), np.zeros(len(cloud.targets))
    if not len(flat) or known.all():
        return Members(members, direction)
    found_rest = _shares(lifted[~known] @ flat.T)
    if found_rest is None:
        return None
    members[~known] = found_rest[0]
    if members.all():
        return Members(members, direction)
    direction[free] = -(found_rest[1] @ flat)[1:] / cloud.spread[free]
    checked = _whole(cloud, direction, members)
    # The known vectors stood for the targets; the direction must have the same value there.
    return None if checked is None or abs(cloud.excess(checked)) > tol else Members(members, checked)


def _known(cloud: Cloud, known: Bools, weights: Floats, tol: float) -> Bools | None:
    """Return the vectors of positive weight, if they alone have a positive mixture that is the targets; else None."""
    columns = np.column_stack([np.ones(len(cloud.units)), cloud.units])[known].T
    wanted = np.r_[1.0, (cloud.targets - cloud.low) / cloud.spread]
    kept = weights[known]
    # The solver's answer is good to some 1e-10; a step of least squares makes it exact.
    kept = kept + np.linalg.lstsq(columns, wanted - columns @ kept, rcond=FLAT)[0]
    if not len(kept) or (kept < tol / 2).any() or np.abs(columns @ kept - wanted).max() > CLEAR * tol:
        return None
    return known


def _independent(cloud: Cloud) -> list[int]:
    gaps = cloud.units - cloud.units.mean(axis=0)
    return list(dependence(gaps.T @ gaps / len(gaps)).independent)


def _simple(rows: Floats) -> Floats:
    """Return rows that span the same, each of them one at a place where the others are zero."""
    if not len(rows):
        return rows
    from scipy.linalg import qr

    # Then whole vectors lead to simple fractions.
    places = np.sort(qr(rows, mode="r", pivoting=True)[1][: len(rows)])
    return np.asarray(np.linalg.solve(rows[:, places], rows))


def _shares(heights: Floats) -> tuple[Bools, Floats] | None:
    """Solve max Σ v such that (v + w) H = 0, 0 ≤ v ≤ 1, 0 ≤ w; return where v is one, and ζ with Hζ ≥ 1 elsewhere."""
    from scipy.optimize import linprog
    from scipy.sparse import csc_array, hstack

    n = len(heights)
    columns = csc_array(np.where(np.abs(heights) < FLAT, 0.0, heights).T)
    answer = linprog(
        np.r_[-np.ones(n), np.zeros(n)],
        A_eq=hstack([columns, columns]).tocsc(),
        b_eq=np.zeros(heights.shape[1]),
        bounds=np.column_stack([np.zeros(2 * n), np.r_[np.ones(n), np.full(n, np.inf)]]),
        options=SOLVER,
    )
    if answer.status != 0:
        return None
    share = answer.x[:n]
    if np.minimum(share, 1 - share).max() > SHARP or np.abs(answer.con).max() > SHARP:
        return None
    return share > 0.5, -np.asarray(answer.eqlin.marginals)


def _whole(cloud: Cloud, direction: Floats, members: Bools) -> Floats | None:
    """Return a direction in whole numbers where its denominators are small, else as it is; None where it fails."""
    for slack in (0.0, SHARP):
        for factor in range(1, MAX_DENOMINATOR + 1):
            whole = np.rint(factor * direction)
            if _singles_out(cloud, whole, members, slack):
                return np.asarray(whole + 0.0)
    return direction if _singles_out(cloud, direction, members, SHARP) else None


def _singles_out(cloud: Cloud, direction: Floats, members: Bools, slack: float) -> bool:
    """Whether max c·f − c·f(x) is zero for the members and at least one for the others."""
    values = cloud.vectors @ direction
    depths = values[members].max() - values
    return bool((depths[members] <= slack).all() and (depths[~members] >= 1 - SHARP).all())
