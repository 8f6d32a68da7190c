"""log p(x | y) of many rows and all classes under normal and Student's t densities: arrays in, arrays out.

======  =========================================================
c       a point in the midst of the means, so that digits are kept
R       whitening factors, Σ_k⁻¹ = R_kᵀ R_k
q       squared distances (x − μ_k)ᵀ Σ_k⁻¹ (x − μ_k)
======  =========================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from suffice.models.class_scoring import ClassScores, DiagonalScores, LinearScores, WhitenedScores
from suffice.types import Bools, Floats

Scorer = Callable[[Floats], Floats]
PIECE = 4096
FAR = 1e5
"""Squared distances of means from the centre, up to which squares may be multiplied out without losing digits."""
LOG_2PI = math.log(2 * math.pi)


@dataclass(frozen=True)
class Densities:
    """The classes' densities.

    Attributes
    ----------
    form : {"matrix", "diagonal", "spherical"}
        What ``spread`` holds of every class: a matrix, variances, or one variance.
    means : array, shape (K, d)
    spread : array, shape (G, d, d), (G, d) or (G, 1)
        Covariances, or scales of Student's t; G is K, or 1 when all classes share them.
    dof : array, shape (K,), or None
        Degrees of freedom of Student's t; None for normal densities. With variances (``"diagonal"``) every column has
        a t of its own, otherwise all columns share one.
    """

    form: str
    means: Floats
    spread: Floats
    dof: Floats | None = None

    def of(self, columns: Bools) -> Densities:
        """Return the marginal densities of some of the columns."""
        spread = self.spread
        if self.form == "matrix":
            spread = spread[:, columns][:, :, columns]
        elif self.form == "diagonal":
            spread = spread[:, columns]
        return Densities(self.form, self.means[:, columns], spread, self.dof)

    def scorer(self) -> Scorer:
        """Return the function from rows, shape (n, d), to log-densities, shape (n, K)."""
        if self.dof is not None:
            return self._t_scorer(self.dof)
        if self.form != "matrix":
            return self._scaled(normed=True).scores
        roots, factors, log_dets = whitening(self.spread)
        heights = -0.5 * (self.means.shape[1] * LOG_2PI + log_dets)
        centre = self.means.mean(axis=0)
        if len(self.spread) == 1:
            white = (self.means - centre) @ (factors[0] / roots[0]).T
            if float((white * white).sum(axis=1).max()) <= FAR:
                return _tied(centre, factors[0] / roots[0], white, float(heights[0]))
        return self._whitened(np.broadcast_to(heights, (len(self.means),))).scores

    def linear(self) -> LinearScores:
        """Return log p(x | y) less what all classes share, where they are normal and share their covariance."""
        centre = self.means.mean(axis=0)
        return LinearScores(centre, *linear_weights(self.means - centre, self.spread[0], self.form))

    def _scaled(self, normed: bool) -> DiagonalScores:
        """Return −q/2 for variances, with the normal density's height where wanted."""
        variances = np.broadcast_to(self.spread, self.means.shape)
        heights = -0.5 * (LOG_2PI + np.log(variances)) if normed else np.zeros_like(variances)
        return DiagonalScores(self.means, 1 / variances, heights, np.zeros(len(self.means)))

    def _whitened(self, heights: Floats) -> WhitenedScores:
        """Return heights − q/2 for matrices."""
        roots, factors, _ = whitening(self.spread)
        k, d = self.means.shape
        centre = self.means.mean(axis=0)
        white = np.ascontiguousarray(np.broadcast_to(factors / roots[:, None, :], (k, d, d)))
        shift = np.einsum("kij,kj->ki", white, self.means - centre)
        return WhitenedScores(centre, white, shift, np.ascontiguousarray(heights))

    def _t_scorer(self, dof: Floats) -> Scorer:
        k, d = self.means.shape
        if self.form == "diagonal":
            return _column_t(self.means, np.broadcast_to(self.spread, (k, d)), dof)
        half: ClassScores
        if self.form == "matrix":
            half, log_dets = self._whitened(np.zeros(k)), whitening(self.spread)[2]
        else:
            half, log_dets = self._scaled(normed=False), d * np.log(self.spread[:, 0])
        heights = _t_heights(dof, d) - 0.5 * log_dets

        def scores(x: Floats) -> Floats:
            distances = -2 * half.scores(x) + 0 * x.sum(axis=1, keepdims=True)  # NaN stays: it changes d as well
            return np.asarray(heights - 0.5 * (dof + d) * np.log1p(distances / dof), np.float64)

        return scores


def linear_weights(means: Floats, spread: Floats, form: str) -> tuple[Floats, Floats]:
    """Return Σ⁻¹ μ_k, shape (d, K), and −½ μ_kᵀ Σ⁻¹ μ_k, shape (K,), for one covariance in its form."""
    if form == "matrix":
        roots, factors, _ = whitening(spread[None])
        factor = factors[0] / roots[0]
        white = means @ factor.T
        return factor.T @ white.T, -0.5 * np.einsum("kj,kj->k", white, white)  # eq lda
    weights = np.ascontiguousarray((means / spread).T)
    return weights, -0.5 * np.einsum("kj,jk->k", means, weights)


def whitening(matrices: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the roots s of the diagonals, shape (G, d), factors R of the correlations' inverses, and log-determinants.

    s Σ⁻¹ s = Rᵀ R, shape (G, d, d), and log |Σ|, shape (G,). Factors are of correlations, so that the scale of a column
    means nothing.
    """
    roots = np.sqrt(np.diagonal(matrices, axis1=1, axis2=2))
    lower = np.linalg.cholesky(matrices / roots[:, :, None] / roots[:, None, :])
    diagonal = np.diagonal(lower, axis1=1, axis2=2)
    return roots, np.tril(np.linalg.inv(lower)), 2 * (np.log(roots) + np.log(diagonal)).sum(axis=1)


def _tied(centre: Floats, factor: Floats, white_means: Floats, height: float) -> Scorer:
    """Rows are whitened once; the distances to all means follow from one product of matrices."""
    constants = height - 0.5 * np.einsum("kj,kj->k", white_means, white_means)

    def scores(x: Floats) -> Floats:
        found = np.empty((len(x), len(white_means)))
        for low in range(0, len(x), PIECE):
            white = (x[low : low + PIECE] - centre) @ factor.T
            shared = 0.5 * np.einsum("ij,ij->i", white, white)
            found[low : low + PIECE] = white @ white_means.T + constants - shared[:, None]
        return found

    return scores


# Student's t --------------------------------------------------------------------------------------------------


def _t_heights(dof: Floats, d: int) -> Floats:
    """Return the log-density at the centre for a scale of one; shape (K,)."""
    from scipy.special import gammaln

    return np.asarray(gammaln((dof + d) / 2) - gammaln(dof / 2) - 0.5 * d * np.log(dof * math.pi), np.float64)


def _column_t(means: Floats, scales: Floats, dof: Floats) -> Scorer:
    """Every column has a t of its own."""
    k, d = means.shape
    heights = d * _t_heights(dof, 1) - 0.5 * np.log(scales).sum(axis=1)

    def scores(x: Floats) -> Floats:
        found = np.empty((len(x), k))
        for each in range(k):
            for low in range(0, len(x), PIECE):
                near = x[low : low + PIECE] - means[each]
                terms = np.log1p(near * near / (scales[each] * dof[each]))
                found[low : low + PIECE, each] = heights[each] - 0.5 * (dof[each] + 1) * terms.sum(axis=1)
        return found

    return scores


# Gaps ---------------------------------------------------------------------------------------------------------


def scores_with_gaps(densities: Densities, x: Floats) -> Floats:
    """Return log-densities of rows with NaN where nothing is known, which is integrated out; shape (n, K).

    Rows that lack the same columns go together, under the marginal density of those they have.
    """
    patterns, of_row = np.unique(~np.isnan(x), axis=0, return_inverse=True)
    found = np.zeros((len(x), len(densities.means)))
    for index, pattern in enumerate(patterns):
        rows = np.flatnonzero(of_row.reshape(-1) == index)
        if pattern.any():
            found[rows] = densities.of(pattern).scorer()(np.ascontiguousarray(x[rows][:, pattern]))
    return found
