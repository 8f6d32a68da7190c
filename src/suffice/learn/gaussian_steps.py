"""Steps towards the precision matrix with known zeros whose inverse agrees with given correlations.

Both ways minimise f(K) = tr(K R) − log det K, which is convex, over matrices K that are zero where there is no edge.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.optimise.distance import sparse_matrix_loss
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.types import Floats

DENSE = 3000
"""Newton's equations with at most so many unknowns are solved by factorising, larger ones by conjugate gradients."""


@dataclass(frozen=True)
class GaussianPoint:
    """One point on the way.

    Attributes
    ----------
    precision, covariance : array, shape (p, p)
    objective : float
        f(K).
    gap : float
        Largest difference between data and model on the diagonal and on edges.
    """

    precision: Floats
    covariance: Floats
    objective: float
    gap: float


@dataclass(frozen=True)
class _Pattern:
    """The free entries of K: the diagonal, then the edges."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    counts: Floats

    @classmethod
    def of(cls, structure: GaussianMarkov) -> _Pattern:
        place = {name: position for position, name in enumerate(structure.variables)}
        p = len(place)
        rows = [*range(p), *(place[a] for a, _ in structure.edges)]
        columns = [*range(p), *(place[b] for _, b in structure.edges)]
        counts = np.where(np.arange(len(rows)) < p, 1.0, 2.0)  # an edge is two entries of the matrix
        return cls(np.array(rows, np.int64), np.array(columns, np.int64), counts)

    def entries(self, matrix: Floats) -> Floats:
        return matrix[self.rows, self.columns]

    def matrix(self, entries: Floats, p: int) -> Floats:
        full = np.zeros((p, p))
        full[self.rows, self.columns] = entries
        full[self.columns, self.rows] = entries
        return full


def _point(precision: Floats, correlations: Floats, pattern: _Pattern) -> GaussianPoint | None:
    """Return the point at K, or None when K is not positive definite."""
    try:
        lower = np.linalg.cholesky(precision)
    except np.linalg.LinAlgError:
        return None
    half = np.linalg.inv(lower)
    covariance = half.T @ half
    objective = float((precision * correlations).sum()) - 2 * float(np.log(np.diag(lower)).sum())
    gap = float(np.abs(pattern.entries(correlations) - pattern.entries(covariance)).max())
    return GaussianPoint(precision, covariance, objective, gap) if math.isfinite(objective) else None


def nats_left(point: GaussianPoint, correlations: Floats, structure: GaussianMarkov, weight: float) -> float:
    """Return the Newton decrement of so many rows: how much more the log-likelihood would rise."""
    pattern, p = _Pattern.of(structure), len(correlations)
    free = pattern.matrix(np.ones(len(pattern.rows)), p) > 0
    return sparse_matrix_loss(weight, point.covariance, point.covariance - correlations, free)


# Newton -------------------------------------------------------------------------------------------------------


def newton_steps(correlations: Floats, structure: GaussianMarkov) -> Iterator[GaussianPoint]:
    """Yield the start and the points after each Newton step, without end.

    f is self-concordant: with Newton's decrement λ a step of length 1/(1 + λ) stays inside and descends, and full steps
    converge quadratically once λ < 1/4 (Nesterov and Nemirovskii, 1994). Longer steps are tried first.
    """
    pattern, p = _Pattern.of(structure), len(correlations)
    here = _point(np.eye(p), correlations, pattern)
    assert here is not None
    yield here
    while True:
        # eq gaussian-markov-gradient
        slope = pattern.counts * (pattern.entries(correlations) - pattern.entries(here.covariance))
        direction = _newton_direction(here.covariance, slope, pattern)
        decrement = math.sqrt(max(0.0, -float(slope @ direction)))
        here = _advance(here, direction, decrement, correlations, pattern)
        yield here


def _advance(
    here: GaussianPoint, direction: Floats, decrement: float, correlations: Floats, pattern: _Pattern
) -> GaussianPoint:
    move = pattern.matrix(direction, len(correlations))
    shortest = 1.0 if decrement < 0.25 else 1 / (1 + decrement)
    length = 1.0
    while True:
        length = max(length, shortest)
        there = _point(here.precision + length * move, correlations, pattern)
        if there is not None and (
            length == shortest or there.objective <= here.objective - 0.1 * length * decrement**2
        ):
            return there
        if length == shortest:
            return here  # only rounding can bring us here: K is singular to working precision
        length /= 2


def _newton_direction(covariance: Floats, slope: Floats, pattern: _Pattern) -> Floats:
    """Solve H d = −slope, where d ↦ H d is the pattern's part of Σ D Σ."""
    from scipy.linalg import cho_factor, cho_solve

    a, b = pattern.rows, pattern.columns
    p = len(covariance)

    def apply(entries: Floats) -> Floats:
        return pattern.counts * pattern.entries(covariance @ pattern.matrix(entries, p) @ covariance)

    if len(a) <= DENSE:
        # H[(ij), (kl)] = Σ_ik Σ_jl + Σ_il Σ_jk, halved for each index on the diagonal
        hessian = covariance[np.ix_(a, a)] * covariance[np.ix_(b, b)]
        hessian += covariance[np.ix_(a, b)] * covariance[np.ix_(b, a)]
        hessian *= np.outer(pattern.counts, pattern.counts) / 2
        try:
            return -np.asarray(cho_solve(cho_factor(hessian, overwrite_a=True), slope))
        except np.linalg.LinAlgError:
            pass  # too close to singular to factorise; conjugate gradients still find a descent direction
    diagonal = np.diag(covariance)
    weights = pattern.counts * (diagonal[a] * diagonal[b] + covariance[a, b] ** 2) / np.where(a == b, 2.0, 1.0)
    # As exact as the point is close, which keeps the convergence quadratic.
    return _conjugate_gradients(apply, -slope, weights, min(1e-2, float(np.abs(slope).max())))


def _conjugate_gradients(apply: Callable[[Floats], Floats], right: Floats, weights: Floats, accuracy: float) -> Floats:
    """Solve H d = right for a positive definite H known by its products, with its diagonal as preconditioner."""
    found, residual = np.zeros_like(right), np.array(right)
    enough = accuracy * float(np.linalg.norm(right))
    direction = residual / weights
    energy = float(residual @ direction)
    for _ in range(10 * len(right)):
        if float(np.linalg.norm(residual)) <= enough:
            break
        product = apply(direction)
        curvature = float(direction @ product)
        if not curvature > 0:
            break  # rounding
        found += (energy / curvature) * direction
        residual -= (energy / curvature) * product
        before, energy = energy, float(residual @ (residual / weights))
        direction = residual / weights + (energy / before) * direction
    return found


# Iterative proportional scaling -------------------------------------------------------------------------------


def scaling_steps(correlations: Floats, structure: GaussianMarkov) -> Iterator[GaussianPoint]:
    """Yield the start and the points after each sweep over the cliques, without end (Speed and Kiiveri, 1986).

    K_CC ← K_CC + R_CC⁻¹ − Σ_CC⁻¹ makes the model agree with the data on the clique C, and Σ follows by the same change
    of rank |C|. It is inverted afresh after each sweep, so that rounding does not add up.
    """
    pattern, p = _Pattern.of(structure), len(correlations)
    place = {name: position for position, name in enumerate(structure.variables)}
    cliques = [np.array([place[name] for name in clique]) for clique in structure.cliques]
    inverses = [np.linalg.inv(correlations[np.ix_(clique, clique)]) for clique in cliques]
    here = _point(np.eye(p), correlations, pattern)
    assert here is not None
    yield here
    while True:
        precision, covariance = np.array(here.precision), np.array(here.covariance)
        for clique, wanted in zip(cliques, inverses, strict=True):
            block = np.ix_(clique, clique)
            inverse = np.linalg.inv(covariance[block])
            precision[block] += wanted - (inverse + inverse.T) / 2  # eq gaussian-scaling
            change = inverse @ (correlations[block] - covariance[block]) @ inverse
            covariance += covariance[:, clique] @ ((change + change.T) / 2) @ covariance[clique, :]
        here = _point((precision + precision.T) / 2, correlations, pattern) or here
        yield here
