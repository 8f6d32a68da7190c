"""Coordinates in which a softmax regression is round, so that few steps lead to its optimum.

With equal probabilities π in all rows the Hessian is (diag π − ππᵀ) ⊗ S, S the scatter of the terms, plus a ridge.
Classes are therefore combined by the eigenvectors c_j of the first factor but the constant one, and the terms of every
combination by a root of S + ridge / m_j. A Hessian written out at a point gives coordinates that are rounder still.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from suffice.learn.softmax_objective import Objective, Summary
from suffice.learn.softmax_passes import Point

Floats = NDArray[np.float64]
LITTLE = 1e-7
"""Added to a correlation matrix that is singular but for rounding error."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """A linear map from vectors to slopes and intercepts, and back.

    Attributes
    ----------
    contrasts : array, shape (K, J)
        Orthonormal; slopes of all classes sum to zero.
    scales : array, shape (J,)
        √m_j, which multiply everything.
    roots : array, shape (J or 1, T, T), or (J, T) for a diagonal
        From slopes to coordinates.
    inverse : array
        From coordinates to slopes, of the same shape.
    centre : array, shape (T,)
        Intercepts are those at this point.
    intercept : bool
    whole : tuple of two arrays, shape (P, P), or None
        A further root and its inverse.
    """

    contrasts: Floats
    scales: Floats
    roots: Floats
    inverse: Floats
    centre: Floats
    intercept: bool
    whole: tuple[Floats, Floats] | None = None

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return len(self.scales) * (len(self.centre) + int(self.intercept))

    def point(self, vector: Floats) -> Point:
        """Return slopes and intercepts."""
        values = vector if self.whole is None else self.whole[1] @ vector
        rows = values.reshape(len(self.scales), len(self.centre) + int(self.intercept)) / self.scales[:, None]
        slopes = self.contrasts @ _times(self.inverse, rows[:, int(self.intercept) :])
        if not self.intercept:
            return Point(slopes, np.zeros(len(slopes)))
        return Point(slopes, self.contrasts @ rows[:, 0] - slopes @ self.centre)

    def pulled(self, gradient: Point) -> Floats:
        """Return the gradient by the coordinates."""
        slopes = gradient.slopes - np.outer(gradient.intercept, self.centre)
        by_slopes = _times(_transposed(self.inverse), self.contrasts.T @ slopes)
        parts = [by_slopes]
        if self.intercept:
            parts.insert(0, (self.contrasts.T @ gradient.intercept)[:, None])
        flat = (np.concatenate(parts, axis=1) / self.scales[:, None]).reshape(-1)
        return flat if self.whole is None else np.asarray(self.whole[1].T @ flat)

    def of(self, point: Point) -> Floats:
        """Return the coordinates of a point, what all classes share left out."""
        parts = [_times(self.roots, self.contrasts.T @ point.slopes)]
        if self.intercept:
            at_centre = self.contrasts.T @ (point.intercept + point.slopes @ self.centre)
            parts.insert(0, at_centre[:, None])
        flat = (np.concatenate(parts, axis=1) * self.scales[:, None]).reshape(-1)
        return flat if self.whole is None else np.asarray(self.whole[0] @ flat)

    def rounded(self, hessian: Floats) -> Coordinates:
        """Return coordinates in which a Hessian, shape (K (T + 1),) * 2, is nearly the identity."""
        jacobian = np.empty((self.size, len(hessian)))
        for row, unit in enumerate(np.eye(self.size)):
            point = self.point(unit)
            jacobian[row] = np.concatenate([point.intercept[:, None], point.slopes], axis=1).reshape(-1)
        inner = jacobian @ hessian @ jacobian.T
        inner[np.diag_indices_from(inner)] += 1e-9 * np.trace(inner) / len(inner)
        try:
            root = np.asarray(np.linalg.cholesky(inner).T, np.float64)
        except np.linalg.LinAlgError:
            return self
        return replace(self, whole=(root, np.asarray(np.linalg.inv(root), np.float64)))


def _times(matrices: Floats, rows: Floats) -> Floats:
    """Multiply each row by its matrix, by the one of all, or by its diagonal."""
    if matrices.ndim == 2:
        return np.asarray(matrices * rows, np.float64)
    if len(matrices) == 1:
        return np.asarray(rows @ matrices[0].T, np.float64)
    return np.asarray((matrices @ rows[:, :, None])[:, :, 0], np.float64)


def _transposed(matrices: Floats) -> Floats:
    return matrices if matrices.ndim == 2 else matrices.transpose(0, 2, 1)


def coordinates_of(objective: Objective, root: Floats | None = None) -> Coordinates:
    """Return the coordinates in which the objective is round where all rows have the shares of the classes.

    ``root`` is one of the correlations of the terms, RᵀR, where it is known better than from the summary.
    """
    summary, ridge = objective.summary, objective.ridge / objective.total
    sizes, vectors = np.linalg.eigh(np.diag(summary.shares) - np.outer(summary.shares, summary.shares))
    sizes, contrasts = np.maximum(sizes[1:], 1e-12), vectors[:, 1:]
    scales = np.sqrt(sizes)
    if summary.scatter.ndim == 1:
        roots = np.sqrt(np.maximum(summary.squares + ridge / sizes[:, None], 1e-300))
        return Coordinates(contrasts, scales, roots, 1 / roots, summary.centre, objective.intercept)
    roots = _roots(summary, ridge / sizes) if root is None or ridge else root[None]
    return Coordinates(
        contrasts,
        scales,
        roots * summary.units,
        np.linalg.inv(roots) / summary.units[:, None],
        summary.centre,
        objective.intercept,
    )


def _roots(summary: Summary, ridges: Floats) -> Floats:
    """Return upper triangles U with UᵀU the correlations of the terms plus a ridge; shape (J, T, T), or (1, T, T)."""
    correlations = summary.scatter / summary.units / summary.units[:, None]
    found = []
    for ridge in ridges if ridges.any() else ridges[:1]:
        inner = correlations.copy()
        inner[np.diag_indices_from(inner)] += ridge / summary.units**2
        found.append(_root(inner))
    return np.stack(found)


def _root(matrix: Floats) -> Floats:
    """Return the upper triangle U with UᵀU the matrix, to whose diagonal a little is added where it is singular."""
    try:
        return np.asarray(np.linalg.cholesky(matrix).T)
    except np.linalg.LinAlgError:
        size = max(float(np.trace(matrix)) / len(matrix), 1e-300)
        return np.asarray(np.linalg.cholesky(matrix + LITTLE * size * np.eye(len(matrix))).T)
