"""Costs of exponential families by brute force: every outcome is written out, and sums are in extended precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from suffice.certify import Claim

Long = np.longdouble
FLAT = 1e-11
"""Directions of less curvature than this, relatively, are taken for none."""


def newton_decrement(cases: Iterable[tuple[Any, Any]], theta: Any, *, ridge: Any = 0.0, price: Any = 0.0) -> float:
    """Return ½ gᵀH⁻¹g of −Σ log p and a penalty, in nats.

    Each case is the features of all its outcomes, shape (outcomes, parameters), and how often each was seen. ``ridge``
    and ``price`` multiply half the squares, and the absolute values, of the parameters; those at a kink that nothing
    pulls off stay there.
    """
    theta = np.asarray(theta, Long)
    gradient, hessian = np.zeros(len(theta), Long), np.zeros((len(theta), len(theta)))
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
    beyond = np.sign(gradient) * np.maximum(np.abs(gradient) - price, 0)
    left = np.where(theta == 0, beyond, gradient + price * np.sign(theta)).astype(np.float64)
    at_kink = (np.broadcast_to(price, len(theta)) > 0) & (theta == 0)
    free = ~at_kink | (left != 0)
    while True:
        cost, step = _solved(left[free], hessian[np.ix_(free, free)])
        wrong = at_kink[free] & (step * left[free] < 0)  # a kink can be left against its slope only
        if not wrong.any():
            return cost
        free[np.flatnonzero(free)[wrong]] = False


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


def perturb_by(
    weights_of: Callable[[Any], Any], with_weights: Callable[[Any, Any], Any]
) -> Callable[[np.random.Generator, Claim], tuple[Any, str] | None]:
    """Return the function that changes one finite weight of a model."""
    return partial(_perturb, weights_of, with_weights)


def _perturb(weights_of: Any, with_weights: Any, rng: np.random.Generator, claim: Claim) -> tuple[Any, str] | None:
    before = np.asarray(weights_of(claim.model), np.float64)
    moved, said = moved_weight(rng, before)
    return (with_weights(claim.model, moved), said) if np.isfinite(before).all() else None
