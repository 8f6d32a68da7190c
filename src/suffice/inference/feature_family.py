"""Exponential families in their weights: p(x) = h(x) exp(w·f(x)) / Z(w), and its conditional form.

Both have the same interface: a point tells log Z, the expectations of the features, and how these change in a
direction. That is all that the learning of weights needs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.inference.clique_family import CliqueFamily, FamilyPoint, Layout, TableFamily
from suffice.types import Codes, Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class WeightPoint(Protocol):
    """A member of a family of weights."""

    @property
    def log_z(self) -> float:
        """Log Z; for conditional families its mean over the data."""

    @property
    def expected(self) -> Floats:
        """The expectations of the features; shape (n_weights,)."""

    def curvature(self, direction: Floats) -> Floats:
        """Return the derivative of ``expected`` in a direction of the weights: Cov(f) · direction."""


class WeightFamily(Protocol):
    """Distributions known by their weights."""

    @property
    def n_weights(self) -> int:
        """The number of features."""

    def at(self, weights: Floats) -> WeightPoint:
        """Return the member with these weights."""

    def covariance(self, weights: Floats) -> Floats:
        """Return the covariance matrix of the features; shape (n_weights, n_weights)."""


class FeatureFamily:
    """Features over the tables of a `CliqueFamily`.

    Parameters
    ----------
    family : CliqueFamily
    matrix : csr_array of shape (cells, n_weights)
        From weights to the log-potentials of all cliques.
    offset : array of shape (cells,)
        Added to the log-potentials: −inf where cells are ruled out.
    """

    def __init__(self, family: CliqueFamily, matrix: csr_array, offset: Floats | None = None) -> None:
        self.family, self.matrix = family, narrow(matrix.copy())
        self.transposed = narrow(matrix.T.tocsr())
        self.offset = offset if offset is not None and offset.any() else None

    @property
    def n_weights(self) -> int:
        """The number of features."""
        return int(self.matrix.shape[1])

    def theta(self, weights: Floats) -> Floats:
        """Return the log-potentials of all cliques, flat."""
        theta: Floats = self.matrix @ weights  # eq log-linear
        return theta if self.offset is None else theta + self.offset

    def at(self, weights: Floats) -> FeaturePoint:
        """Return the member with these weights."""
        return FeaturePoint(self, self.family.at(self.theta(weights)))

    def covariance(self, weights: Floats) -> Floats:
        """Return Cov(f): through the joint table while that is small, else column by column."""
        point = self.at(weights)
        if isinstance(self.family, TableFamily):
            values, p = joint_features(self.family, self.matrix), point.inner.p.reshape(-1)  # type: ignore[attr-defined]
            mean = values.T @ p
            weighted = values.multiply(p[:, None]).tocsr()
            return np.asarray((values.T @ weighted).toarray() - np.outer(mean, mean), np.float64)
        found = np.empty((self.n_weights, self.n_weights))
        for row in range(self.n_weights):
            unit = np.zeros(self.n_weights)
            unit[row] = 1.0
            found[row] = point.curvature(unit)
        return (found + found.T) / 2


def joint_features(family: TableFamily, matrix: csr_array) -> csr_array:
    """Return f(x) of every configuration; shape (configurations, n_weights)."""
    from scipy.sparse import csr_array

    layout = family.layout
    n = math.prod(layout.sizes)
    cells = cells_of(layout, np.unravel_index(np.arange(n), layout.sizes))
    each = np.arange(0, n * cells.shape[1] + 1, cells.shape[1])
    return csr_array((np.ones(cells.size), cells.reshape(-1), each), shape=(n, layout.n)) @ matrix


def cells_of(layout: Layout, codes: Sequence[Codes]) -> NDArray[np.int64]:
    """Return where every row's cells lie in the flat tables; shape (n_rows, n_scopes)."""
    found = np.empty((len(codes[0]), len(layout.scopes)), np.int64)
    for number, (scope, shape) in enumerate(zip(layout.scopes, layout.shapes, strict=True)):
        found[:, number] = layout.starts[number] + np.ravel_multi_index(tuple(codes[v] for v in scope), shape)
    return found


class FeaturePoint:
    """A member of a `FeatureFamily`."""

    def __init__(self, family: FeatureFamily, inner: FamilyPoint) -> None:
        self.family, self.inner = family, inner

    @property
    def log_z(self) -> float:
        """The logarithm of Z."""
        return self.inner.log_z

    @cached_property
    def expected(self) -> Floats:
        """The expectations of the features."""
        found: Floats = self.family.transposed @ self.inner.expected
        return found

    def curvature(self, direction: Floats) -> Floats:
        """Return Cov(f) · direction."""
        found: Floats = self.family.transposed @ self.inner.curvature(self.family.matrix @ direction)
        return found


class ConditionalFamily:
    """p(y | x) ∝ h(x, y) exp(w·f(x, y)) for a table of inputs, each with its own share of the data.

    Parameters
    ----------
    matrix : csr_array of shape (n_inputs · n_outputs, n_weights)
        f(x, y), the outputs of one input one after another.
    shares : array of shape (n_inputs,)
        Positive, of sum one.
    n_outputs : int
    offset : array of shape (n_inputs, n_outputs), optional
        log h; −inf where an output is impossible.
    """

    def __init__(self, matrix: csr_array, shares: Floats, n_outputs: int, offset: Floats | None = None) -> None:
        self.n_outputs, self.shares = n_outputs, shares
        # Inside, the inputs of one output stand together: sums over outputs then run along whole columns.
        self.matrix = narrow(matrix[np.arange(matrix.shape[0]).reshape(len(shares), n_outputs).T.reshape(-1)])
        self.transposed = narrow(self.matrix.T.tocsr())
        self.offset = offset
        self._offset = None if offset is None else np.ascontiguousarray(offset.T)

    @property
    def n_weights(self) -> int:
        """The number of features."""
        return int(self.matrix.shape[1])

    def at(self, weights: Floats) -> ConditionalPoint:
        """Return the member with these weights."""
        return ConditionalPoint(self, weights)

    def covariance(self, weights: Floats) -> Floats:
        """Return the mean over the inputs of Cov(f | x)."""
        from scipy.sparse import csr_array

        p, n = self.at(weights).p.T.reshape(-1), len(self.shares)
        each = np.tile(np.arange(n), self.n_outputs)
        adding = csr_array((p, (each, np.arange(len(p)))), shape=(n, len(p)))
        by_input = adding @ self.matrix
        weighted = self.matrix.multiply((p * np.tile(self.shares, self.n_outputs))[:, None]).tocsr()
        second = (self.transposed @ weighted).toarray()
        first = (by_input.T @ by_input.multiply(self.shares[:, None]).tocsr()).toarray()
        return np.asarray(second - first, np.float64)


class ConditionalPoint:
    """A member of a `ConditionalFamily`."""

    def __init__(self, family: ConditionalFamily, weights: Floats) -> None:
        self.family = family
        scores = (family.matrix @ weights).reshape(family.n_outputs, len(family.shares))
        if family._offset is not None:
            scores = scores + family._offset
        top = scores.max(axis=0, initial=-np.inf)
        scores -= top
        np.exp(scores, out=scores)
        totals = scores.sum(axis=0)
        scores /= totals
        self._p: Floats = scores
        self.log_z = float(family.shares.dot(top + np.log(totals)))

    @property
    def p(self) -> Floats:
        """p(y | x); shape (n_inputs, n_outputs)."""
        return self._p.T

    @cached_property
    def expected(self) -> Floats:
        """The expectations of the features, averaged over the inputs."""
        found: Floats = self.family.transposed @ (self._p * self.family.shares).reshape(-1)
        return found

    def curvature(self, direction: Floats) -> Floats:
        """Return the mean of Cov(f | x), times a direction."""
        along = (self.family.matrix @ direction).reshape(self._p.shape)
        along = along - (self._p * along).sum(axis=0)
        found: Floats = self.family.transposed @ (self._p * along * self.family.shares).reshape(-1)
        return found


def narrow(matrix: csr_array) -> csr_array:
    """Return a sparse matrix with short indices, where they suffice: it is read many times."""
    if max(matrix.nnz, *matrix.shape) < 1 << 31:
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix
