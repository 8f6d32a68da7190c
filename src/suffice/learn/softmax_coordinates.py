"""Coordinates in which a softmax regression is round, so that few steps lead to its optimum.

With equal probabilities π in all rows the Hessian is (diag π − ππᵀ) ⊗ S, S the scatter of the terms, plus a ridge.
Classes are therefore combined by the eigenvectors c_j of the first factor but the constant one, and the terms of every
combination by a root of S + ridge / m_j. A Hessian written out at a point gives coordinates that are rounder still.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from suffice.learn.softmax_objective import SoftmaxObjective
from suffice.learn.softmax_passes import SoftmaxPoint
from suffice.types import Floats

MOST_COMBINED = 3000
"""Slopes of which there are products of all pairs, or for which classes are combined at least."""
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

    def point(self, vector: Floats) -> SoftmaxPoint:
        """Return slopes and intercepts."""
        values = vector if self.whole is None else self.whole[1] @ vector
        rows = values.reshape(len(self.scales), len(self.centre) + int(self.intercept)) / self.scales[:, None]
        slopes = self.contrasts @ _times(self.inverse, rows[:, int(self.intercept) :])
        if not self.intercept:
            return SoftmaxPoint(slopes, np.zeros(len(slopes)))
        return SoftmaxPoint(slopes, self.contrasts @ rows[:, 0] - slopes @ self.centre)

    def pulled(self, gradient: SoftmaxPoint) -> Floats:
        """Return the gradient by the coordinates."""
        slopes = gradient.slopes - np.outer(gradient.intercept, self.centre)
        by_slopes = _times(_transposed(self.inverse), self.contrasts.T @ slopes)
        parts = [by_slopes]
        if self.intercept:
            parts.insert(0, (self.contrasts.T @ gradient.intercept)[:, None])
        flat = (np.concatenate(parts, axis=1) / self.scales[:, None]).reshape(-1)
        return flat if self.whole is None else np.asarray(self.whole[1].T @ flat)

    def of(self, point: SoftmaxPoint) -> Floats:
        """Return the coordinates of a point, what all classes share left out."""
        parts = [_times(self.roots, self.contrasts.T @ point.slopes)]
        if self.intercept:
            at_centre = self.contrasts.T @ (point.intercept + point.slopes @ self.centre)
            parts.insert(0, at_centre[:, None])
        flat = (np.concatenate(parts, axis=1) * self.scales[:, None]).reshape(-1)
        return flat if self.whole is None else np.asarray(self.whole[0] @ flat)

    def rounded(self, hessian: Floats) -> Coordinates:
        """Return coordinates in which a Hessian, shape (K (T + 1),) * 2, is nearly the identity."""
        inner = self._pulled_twice(hessian)
        inner[np.diag_indices_from(inner)] += 1e-9 * np.trace(inner) / len(inner)
        try:
            root = np.asarray(np.linalg.cholesky(inner).T, np.float64)
        except np.linalg.LinAlgError:
            return self
        return replace(self, whole=(root, np.asarray(np.linalg.inv(root), np.float64)))

    def _pulled_twice(self, hessian: Floats) -> Floats:
        """Return second derivatives by the coordinates, the further root left aside."""
        k, t = len(self.contrasts), len(self.centre) + 1
        by_classes = np.tensordot(hessian.reshape(k, t, k, t), self.contrasts, (2, 0))  # (k, t, t, j)
        blocks = np.tensordot(self.contrasts, by_classes, (0, 0)).transpose(0, 3, 1, 2)  # (j, j, t, t)
        inverse = self.inverse if self.inverse.ndim == 3 else np.stack([np.diag(row) for row in self.inverse])
        steps = np.zeros((len(inverse), t, t))  # what a coordinate does to an intercept and its slopes
        steps[:, 0, 0] = 1.0
        steps[:, 1:, 1:] = inverse.transpose(0, 2, 1)
        steps[:, 1:, 0] = -steps[:, 1:, 1:] @ self.centre
        steps = steps[:, 0 if self.intercept else 1 :] / self.scales[:, None, None]
        found = steps[:, None] @ blocks @ steps.transpose(0, 2, 1)[None]
        return np.asarray(found.transpose(0, 2, 1, 3).reshape(self.size, self.size))


@dataclass(frozen=True, eq=False)
class Scaled:
    """Coordinates for very many terms: slopes of all classes and intercepts at the centre, each by its own scale.

    Classes are not combined. A vector has the classes of a term side by side, as products with sparse rows do.

    Attributes
    ----------
    roots : array, shape (T, K)
        From slopes to coordinates.
    scales : array, shape (K,)
        From intercepts to coordinates.
    centre : array, shape (T,)
        Intercepts are those at this point.
    intercept : bool
    """

    roots: Floats
    scales: Floats
    centre: Floats
    intercept: bool

    @property
    def _n_first(self) -> int:
        return len(self.scales) if self.intercept else 0

    def point(self, vector: Floats) -> SoftmaxPoint:
        """Return slopes and intercepts."""
        slopes = (vector[self._n_first :].reshape(self.roots.shape) / self.roots).T
        if not self.intercept:
            return SoftmaxPoint(slopes, np.zeros(len(slopes)))
        return SoftmaxPoint(slopes, vector[: self._n_first] / self.scales - self.centre @ slopes.T)

    def pulled(self, gradient: SoftmaxPoint) -> Floats:
        """Return the gradient by the coordinates."""
        found = np.empty(self._n_first + self.roots.size)
        found[: self._n_first] = (gradient.intercept / self.scales)[: self._n_first]
        slopes = found[self._n_first :].reshape(self.roots.shape)
        np.multiply(self.centre[:, None], -gradient.intercept, out=slopes)
        slopes += gradient.slopes.T
        slopes /= self.roots
        return found

    def of(self, point: SoftmaxPoint) -> Floats:
        """Return the coordinates of a point."""
        at_centre = (point.intercept + point.slopes @ self.centre) * self.scales
        return np.concatenate([at_centre[: self._n_first], (point.slopes.T * self.roots).reshape(-1)])


def _times(matrices: Floats, rows: Floats) -> Floats:
    """Multiply each row by its matrix, by the one of all, or by its diagonal."""
    if matrices.ndim == 2:
        return np.asarray(matrices * rows, np.float64)
    if len(matrices) == 1:
        return np.asarray(rows @ matrices[0].T, np.float64)
    return np.asarray((matrices @ rows[:, :, None])[:, :, 0], np.float64)


def _transposed(matrices: Floats) -> Floats:
    return matrices if matrices.ndim == 2 else matrices.transpose(0, 2, 1)


def coordinates_of(objective: SoftmaxObjective, root: Floats | None = None) -> Coordinates | Scaled:
    """Return the coordinates in which the objective is round where all rows have the shares of the classes.

    ``root`` is one of the correlations of the terms, RᵀR, where it is known better than from the summary.
    """
    summary, ridge = objective.summary, objective.ridge / objective.total
    if summary.correlations is None and summary.means.size > MOST_COMBINED:
        return _scaled(objective)
    sizes, vectors = np.linalg.eigh(np.diag(summary.shares) - np.outer(summary.shares, summary.shares))
    sizes, contrasts = np.maximum(sizes[1:], 1e-12), vectors[:, 1:]
    scales = np.sqrt(sizes)
    if summary.correlations is None:
        roots = np.sqrt(np.maximum(summary.squares + ridge / sizes[:, None], 1e-300))
        return Coordinates(contrasts, scales, roots, 1 / roots, summary.centre, objective.intercept)
    roots = _roots(summary.correlations, summary.units, ridge / sizes) if root is None or ridge else root[None]
    return Coordinates(
        contrasts,
        scales,
        roots * summary.units,
        np.linalg.inv(roots) / summary.units[:, None],
        summary.centre,
        objective.intercept,
    )


def _scaled(objective: SoftmaxObjective) -> Scaled:
    summary = objective.summary
    sizes = np.maximum(summary.shares * (1 - summary.shares), 1e-12)
    squares = np.multiply.outer(summary.squares, sizes) + objective.ridge / objective.total
    roots = np.sqrt(np.where(squares > 0, squares, 1.0))
    return Scaled(roots, np.sqrt(sizes), summary.centre, objective.intercept)


def _roots(correlations: Floats, units: Floats, ridges: Floats) -> Floats:
    """Return upper triangles U with UᵀU the correlations of the terms plus a ridge; shape (J, T, T), or (1, T, T)."""
    found = []
    for ridge in ridges if ridges.any() else ridges[:1]:
        inner = correlations.copy()
        inner[np.diag_indices_from(inner)] += ridge / units**2
        found.append(_root(inner))
    return np.stack(found)


def _root(matrix: Floats) -> Floats:
    """Return the upper triangle U with UᵀU the matrix, to whose diagonal a little is added where it is singular."""
    try:
        return np.asarray(np.linalg.cholesky(matrix).T)
    except np.linalg.LinAlgError:
        size = max(float(np.trace(matrix)) / len(matrix), 1e-300)
        return np.asarray(np.linalg.cholesky(matrix + LITTLE * size * np.eye(len(matrix))).T)
