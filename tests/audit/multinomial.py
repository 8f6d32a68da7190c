"""Costs of exponential families by brute force: every outcome is written out, and sums are in extended precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linprog

from suffice.certify.claim import Claim

Long = np.longdouble
FLAT = 1e-11
"""Directions of less curvature than this, relatively, are taken for none."""
RELATED = 1e-13
"""Features are related where their squares vary by less than this, relatively."""
ROUNDED = 1e-9
"""Slopes equal a price within this part of it."""
MOST_RELEASES, MOST_TRIES = 20, 10


def newton_decrement(cases: Iterable[tuple[Any, Any]], theta: Any, *, ridge: Any = 0.0, price: Any = 0.0) -> float:
    """Return ½ gᵀH⁻¹g of −Σ log p and a penalty, in nats; or what a shift along relations gains, if that is more.

    Each case is the features of all its outcomes, shape (outcomes, parameters), and how often each was seen. ``ridge``
    and ``price`` multiply half the squares, and the absolute values, of the parameters; those at zero that nothing
    pulls off, neither before the step nor after it, stay there.
    """
    theta = np.asarray(theta, Long)
    gradient, hessian = np.zeros(len(theta), Long), np.zeros((len(theta), len(theta)))
    cases = list(cases)
    for features, counts in cases:
        n = counts.sum(dtype=Long)
        middle = features[int(np.argmax(counts))]
        moved = (features - middle).astype(Long)
        scores = moved @ theta
        p = np.exp(scores - scores.max())
        p = p / p.sum()
        gradient += moved.T @ (n * p - counts)
        around = ((moved - p @ moved) * np.sqrt(n * p)[:, None]).astype(np.float64)
        hessian += around.T @ around
    gradient = gradient + ridge * theta
    hessian = hessian + np.diag(np.broadcast_to(ridge, len(theta)))
    price = np.broadcast_to(price, len(theta))
    at_zero = (price > 0) & (theta == 0)
    side = np.where(at_zero & (np.abs(gradient) > price), np.sign(gradient), 0).astype(np.float64)
    cost = 0.0
    for _ in range(MOST_RELEASES):
        found, step = _to_one_side(gradient + price * np.sign(theta), hessian, price, at_zero, side)
        cost = max(cost, found)
        after = gradient + hessian @ step
        beyond = at_zero & (side == 0) & (np.abs(after) > price * (1 + ROUNDED))
        if not beyond.any():
            break
        side[beyond] = np.sign(after[beyond])
    return max(cost, 0.0 if np.any(ridge) or not price.any() else _gain_along(relations_of(cases), theta, price))


def second_derivatives(features: Any, theta: Any, n: float) -> Any:
    """Return n times the covariance of the features of all outcomes, in extended precision."""
    scores = features.astype(Long) @ np.asarray(theta, Long)
    p = np.exp(scores - scores.max())
    p /= p.sum()
    around = (features - features[int(np.argmax(p))]).astype(Long)
    around -= p @ around
    return np.asarray(around.T @ (around * (n * p)[:, None]), np.float64)


def _to_one_side(slopes: Any, hessian: Any, price: Any, at_zero: Any, side: Any) -> tuple[float, Any]:
    """Return the gain and the step; parameters leave zero against ``side``, which is made zero of those that stay."""
    while True:
        free = ~at_zero | (side != 0)
        step = np.zeros(len(slopes))
        cost, solved = _solved((slopes - side * price).astype(np.float64)[free], hessian[np.ix_(free, free)])
        step[free] = -solved
        wrong = step * side > 0
        if not wrong.any():
            return cost, step
        side[wrong] = 0.0


def relations_of(cases: Iterable[tuple[Any, Any]]) -> Any:
    """Return a basis of the directions in which no case notices a change of parameters; shape (parameters, n)."""
    gram: Any = sum((features - features[0]).T @ (features - features[0]) for features, _ in cases)
    units = np.sqrt(np.diag(gram))
    units = np.where(units > 0, units, 1.0)
    values, vectors = np.linalg.eigh(gram / units / units[:, None])
    return vectors[:, values <= RELATED * max(values[-1], 1e-300)] / units[:, None]


def _gain_along(relations: Any, theta: Any, price: Any) -> float:
    """Return by how much Σ price |θ| can fall along relations: a linear programme."""
    theta = theta.astype(np.float64)
    n, m = relations.shape
    if not m:
        return 0.0
    relations, scale = np.linalg.qr(relations)[0], max(float(np.abs(theta).max()), 1e-300)
    limits = np.block([[relations, -np.eye(n)], [-relations, -np.eye(n)]])
    costs = np.concatenate([np.zeros(m), price / price.max()])
    bounds = [(-100, 100)] * m + [(0, None)] * n  # no further: relations are known to rounding only
    for method in ("highs-ds", "highs-ipm"):
        found = linprog(costs, limits, np.concatenate([-theta, theta]) / scale, bounds=bounds, method=method)
        if found.x is not None:
            moved = theta + scale * (relations @ found.x[:m])
            return float(price @ np.abs(theta) - price @ np.abs(moved))
    raise AssertionError(found.message)


def _solved(gradient: Any, hessian: Any) -> tuple[float, Any]:
    """Return ½ gᵀH⁻¹g and H⁻¹g, but for directions without curvature."""
    units = np.sqrt(np.diag(hessian))
    if (gradient[units == 0] != 0).any():
        return math.inf, np.zeros(len(gradient))
    units = np.where(units > 0, units, 1.0)
    values, vectors = np.linalg.eigh(hessian / units / units[:, None])
    kept = values > FLAT * max(values[-1], 1e-300)
    parts = (vectors.T @ (gradient / units))[kept]
    return float((parts**2 / values[kept]).sum() / 2), vectors[:, kept] @ (parts / values[kept]) / units


def moved_weight(rng: np.random.Generator, weights: Any) -> tuple[Any, str]:
    """Change one weight by a random amount, sometimes to zero; return all of them and what was done."""
    moved = np.array(weights, np.float64)
    place = int(rng.integers(moved.size))
    before = moved.flat[place]
    by = rng.normal() * 10.0 ** rng.uniform(-8, 1)
    moved.flat[place] = 0.0 if before and rng.random() < 0.05 else before + by
    return moved, f"weight {place}: {before} to {moved.flat[place]}"


def shifted(rng: np.random.Generator, relations: Any, weights: Any) -> tuple[Any, str] | None:
    """Shift all weights of a relation so that another one of them is at zero; None where there is none."""
    before = np.array(weights, np.float64).reshape(-1)
    if not relations.shape[1]:
        return None
    basis = np.linalg.qr(relations)[0]
    for _ in range(MOST_TRIES):
        along = basis @ basis[int(rng.integers(len(basis)))]  # of one weight, and all that must move with it
        if rng.random() < 0.2:
            along = basis @ rng.normal(size=basis.shape[1])
        along[np.abs(along) < 1e-9 * np.abs(along).max()] = 0.0
        places = np.flatnonzero((along != 0) & (before != 0))
        if len(places):
            place = int(rng.choice(places))
            moved = before - before[place] / along[place] * along
            moved[place] = 0.0
            return moved.reshape(np.shape(weights)), f"along a relation, until weight {place} is zero"
    return None


def perturb_by(
    weights_of: Callable[[Any], Any],
    with_weights: Callable[[Any, Any], Any],
    cases_of: Callable[[Claim], Iterable[tuple[Any, Any]]] | None = None,
) -> Callable[[np.random.Generator, Claim], tuple[Any, str] | None]:
    """Return the function that changes one finite weight of a model; with cases, also all weights of a relation."""
    return partial(_perturb, weights_of, with_weights, cases_of)


def _perturb(
    weights_of: Any, with_weights: Any, cases_of: Any, rng: np.random.Generator, claim: Claim
) -> tuple[Any, str] | None:
    before = np.asarray(weights_of(claim.model), np.float64)
    if not np.isfinite(before).all():
        return None
    shift = cases_of is not None and rng.random() < 0.4
    changed = shifted(rng, relations_of(cases_of(claim)), before) if shift else None
    moved, said = moved_weight(rng, before) if changed is None else changed
    return with_weights(claim.model, moved), said
