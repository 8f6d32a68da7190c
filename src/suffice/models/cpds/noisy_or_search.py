"""The search for the strengths of a noisy-OR: an active-set Newton method, exact on its boundaries.

With λ = −log(1 − strength) ≥ 0 the log-likelihood Σ m₁ log(1 − e^{−η}) − m₀ η, where η = Σ λ of the causes that are
present, is concave. Causes of which some are at λ = 0 are held there while that is best; those at λ = ∞ are found
beforehand, since a cause with which the effect never failed is certain, and no other can be.

Symbols
-------
z (n, c)           which causes, the leak first, are present in each configuration
m0, m1 (n,)        how often the effect was absent and present there
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.types import Bools, Floats

MOST_STEPS = 2000
SETTLED, HELD, ENOUGH = 1e-14, 1e-12, 1e-9
RANK = 1e-9


@dataclass(frozen=True, eq=False)
class Trials:
    """Configurations of causes that occur, with the weight of both outcomes."""

    z: Bools
    m0: Floats
    m1: Floats

    def part(self, rows: Bools, columns: Bools) -> Trials:
        """Return some configurations and some causes."""
        return Trials(self.z[np.ix_(rows, columns)], self.m0[rows], self.m1[rows])


@dataclass(frozen=True, eq=False)
class Certain:
    """Which causes never fail: those that must be certain, those of which nothing more is known, and a conflict.

    ``conflict`` are causes of which one at least must be certain, and the data does not tell which; none if empty.
    """

    forced: Bools
    open: Bools
    conflict: tuple[int, ...]


def certain_causes(trials: Trials) -> Certain:
    """Find the causes with which the effect never failed, by what the data says of them.

    Every configuration that holds such causes has likelihood one as soon as one of them is certain, and less otherwise.
    A cause that is the only such one in a configuration is forced. Where forced causes are in all of these
    configurations, the others may have any strength; where they are not, several choices are equally likely.
    """
    occurs = trials.z.any(axis=0)
    sure = occurs & ~trials.z[trials.m0 > 0].any(axis=0)
    held = trials.z & sure
    alone = held.sum(axis=1) == 1
    forced = held[alone].any(axis=0)
    left = held.any(axis=1) & ~(held & forced).any(axis=1)
    conflict = tuple(np.flatnonzero(held[np.argmax(left)]).tolist()) if left.any() else ()
    return Certain(forced, sure & ~forced, conflict)


def maximise(trials: Trials) -> tuple[Floats, bool]:
    """Return λ of every cause, and whether the search has settled.

    Every cause must occur, and fail at least once; the effect must have a cause wherever it occurs.
    """
    useful = np.asarray(trials.z[trials.m1 > 0].any(axis=0))  # others do best with strength zero, whatever the rest
    lam = np.where(useful, 1 / max(int(trials.z.sum(axis=1).max(initial=1)), 1), 0.0)
    free, size, stuck = useful.copy(), _sizes(trials), False
    for _ in range(MOST_STEPS):
        slope, curvature = _derivatives(trials, lam)
        if stuck or not (np.abs(slope[free]) > SETTLED * size[free]).any():
            wanted = np.where(useful & ~free, slope / size, 0.0)
            if not (wanted > HELD).any():
                return lam, bool((np.abs(slope[free]) <= ENOUGH * size[free]).all())
            free[int(np.argmax(wanted))] = True  # one at a time: its own step then leads inwards
            stuck = False
            continue
        moved, blocked = _step(trials, lam, slope, curvature, free)
        stuck = moved is None
        lam = lam if moved is None else moved
        free &= ~blocked
    return lam, False


def undetermined(trials: Trials, lam: Floats) -> tuple[int, ...]:
    """Return causes whose strengths can be exchanged without changing the likelihood; none if the maximum is unique.

    The likelihood is strictly concave in η where the effect occurred. It does not change along a direction that leaves
    these η alone and moves only causes whose derivative is zero, of which those at zero can only grow.
    """
    from scipy.optimize import linprog

    slope, _ = _derivatives(trials, lam)
    loose = (lam > 0) | (slope > -1e-9 * _sizes(trials))
    z = trials.z[trials.m1 > 0][:, loose].astype(np.float64)
    if not loose.any() or (len(z) and np.linalg.matrix_rank(z, tol=RANK) == z.shape[1]):
        return ()
    bounds = [(-min(1.0, 1e6 * value), 1.0) for value in lam[loose]]  # what is zero but for rounding cannot fall
    for column in range(z.shape[1]):
        aim = np.zeros(z.shape[1])
        aim[column] = -1.0
        found = linprog(aim, A_eq=z if len(z) else None, b_eq=np.zeros(len(z)) if len(z) else None, bounds=bounds)
        if found.x is not None and found.x[column] > 1e-6:
            return tuple(np.flatnonzero(loose)[np.abs(found.x) > 1e-6].tolist())
    return ()


def _sizes(trials: Trials) -> Floats:
    """Return the weight of the configurations that hold each cause."""
    return np.maximum((trials.m0 + trials.m1) @ trials.z, 1e-300)


def _value(trials: Trials, lam: Floats) -> float:
    eta = trials.z @ lam
    seen = trials.m1 > 0
    with np.errstate(divide="ignore"):
        return float(trials.m1[seen] @ np.log(-np.expm1(-eta[seen])) - trials.m0 @ eta)


def _derivatives(trials: Trials, lam: Floats) -> tuple[Floats, Floats]:
    """Return the slope of the log-likelihood by λ, and minus its second derivative."""
    eta = trials.z @ lam
    seen = trials.m1 > 0
    odds, bend = np.zeros(len(eta)), np.zeros(len(eta))
    odds[seen] = 1 / np.expm1(eta[seen])
    bend[seen] = odds[seen] * (1 + odds[seen])
    curvature = trials.z.T.astype(np.float64) @ ((trials.m1 * bend)[:, None] * trials.z)
    return np.asarray((trials.m1 * odds - trials.m0) @ trials.z), np.asarray(curvature)


def _step(trials: Trials, lam: Floats, slope: Floats, curvature: Floats, free: Bools) -> tuple[Floats | None, Bools]:
    """Return λ after one damped Newton step, and the causes that it brought to zero; None when it cannot grow."""
    inner = curvature[np.ix_(free, free)]
    # A little on the diagonal makes the step run along directions that are linear, up to where a cause is at zero.
    inner = inner + np.diag(1e-12 * np.maximum(inner.diagonal(), 1e-3 * inner.diagonal().max(initial=1e-300)))
    direction = np.zeros(len(lam))
    direction[free] = np.linalg.solve(inner, slope[free])
    falling = free & (direction < 0)
    limits = np.full(len(lam), np.inf)
    limits[falling] = -lam[falling] / direction[falling]
    furthest = float(limits.min(initial=np.inf))
    length, value, gain = min(1.0, furthest), _value(trials, lam), float(slope @ direction)
    rounded = gain <= 1e-11 * (1 + abs(value))
    for _ in range(60):
        trial = np.maximum(lam + length * direction, 0.0)
        blocked = falling & (limits <= length)
        trial[blocked] = 0.0
        after = _value(trials, trial)
        if np.isfinite(after) and (
            _halved(trials, slope, trial, free & ~blocked) or blocked.any()
            if rounded
            else after >= value + 1e-4 * length * gain
        ):
            return trial, blocked
        length /= 2
    return None, np.zeros(len(lam), bool)


def _halved(trials: Trials, slope: Floats, trial: Floats, free: Bools) -> bool:
    """Whether a step halves the slopes, which tell where values are rounded."""
    after, size = _derivatives(trials, trial)[0], _sizes(trials)
    return bool(np.abs((after / size)[free]).max(initial=0.0) <= 0.5 * np.abs((slope / size)[free]).max(initial=0.0))
