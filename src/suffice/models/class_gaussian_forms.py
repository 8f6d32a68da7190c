"""Other forms of normal classes: a softmax of terms, and Fisher's directions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.table import open_table
from suffice.errors import ModelError, Passed, Remedy, Text
from suffice.models.basis import InputProduct, Linear, Term
from suffice.models.class_gaussian_scores import linear_weights, whitening
from suffice.stats.source import BlockSource
from suffice.text import html_table, number, plain_table
from suffice.types import Bools, Columns, Floats

if TYPE_CHECKING:
    from suffice.models.class_gaussian import ClassGaussianModel
    from suffice.models.softmax_model import SoftmaxModel

NO_RANK = 1e-4
"""Singular values below this, relative to the largest, are no direction of their own (as in MASS)."""


def to_softmax(model: ClassGaussianModel) -> SoftmaxModel:
    """Return the same p(y | x) as a softmax of linear, or linear and quadratic, terms.

    log p(y, x) = log π_k − ½ log |Σ_k| − ½ (x − μ_k)ᵀ Σ_k⁻¹ (x − μ_k); what all classes share is left out.
    """
    from suffice.models.softmax_model import SoftmaxModel

    if model.dof is not None:
        raise ModelError(
            "Under ",
            Passed("bayes", True),
            " the densities are Student's t, whose logarithms are no polynomials, so that there is no "
            "softmax form. Fit with ",
            Remedy("bayes", False),
            ", or ask query and query_rows.",
        )
    names, known = model.variables[:-1], ~model.unknown
    centre = model.class_prior[known] @ model.means[known]
    gaps = np.where(known[:, None], model.means - centre, 0.0)  # the constant −inf is all that matters of the unknown
    held = dict(zip(names, centre.tolist(), strict=True))
    linear: tuple[Term, ...] = tuple(Linear(name) for name in names)
    if model.structure.is_tied:
        weights, constants = linear_weights(gaps, model.spread[0], model.structure.form)
        return SoftmaxModel(model.target, model.inputs, linear, weights, constants + model.log_prior, held)
    precisions, log_dets = np.zeros((len(known), len(names), len(names))), np.zeros(len(known))
    precisions[known], log_dets[known] = _precisions(model, known)
    along = np.einsum("kij,kj->ki", precisions, gaps)
    constants = -0.5 * (np.einsum("kj,kj->k", gaps, along) + log_dets)  # eq qda
    first, second = np.nonzero(np.triu((precisions != 0).any(axis=0)))
    doubled = np.where(first == second, 0.5, 1.0)  # x_i x_j stands for two entries of the matrix
    quadratic = -doubled[:, None] * precisions[:, first, second].T
    terms = (*linear, *(InputProduct(names[i], names[j]) for i, j in zip(first.tolist(), second.tolist(), strict=True)))
    weights = np.concatenate([along.T, quadratic])
    return SoftmaxModel(model.target, model.inputs, terms, weights, constants + model.log_prior, held)


def _precisions(model: ClassGaussianModel, known: Bools) -> tuple[Floats, Floats]:
    """Return the precision matrices of known classes, shape (K, d, d), and log |Σ_k|, shape (K,)."""
    if model.structure.form != "matrix":
        variances = np.broadcast_to(model.spread, model.means.shape)[known]
        return np.apply_along_axis(np.diag, 1, 1 / variances), np.log(variances).sum(axis=1)
    roots, factors, log_dets = whitening(model.spread[known])
    if model.precisions is not None:
        return model.precisions[known], log_dets
    white = factors / roots[:, None, :]
    return np.swapaxes(white, 1, 2) @ white, log_dets


# Fisher's directions ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Discriminants:
    """Directions in which the classes' means lie apart the most, in units of the spread within classes.

    Attributes
    ----------
    names : tuple of str
        The inputs.
    directions : array, shape (d, r)
        One a column, r ≤ K − 1. Along each the variance within classes is one; signs are such that the largest entry is
        positive.
    singular_values : array, shape (r,)
        Their squares are the ratios of the variance between classes to that within, in falling order.
    centre : array, shape (d,)
        The mean of all, Σ π_k μ_k, which is projected to zero.
    """

    names: tuple[str, ...]
    directions: Floats = field(repr=False)
    singular_values: Floats
    centre: Floats = field(repr=False)

    @property
    def proportions(self) -> Floats:
        """The share of each direction in the variance between classes; shape (r,)."""
        squares = self.singular_values**2
        return np.asarray(squares / squares.sum(), np.float64)

    def project(self, data: Any) -> Floats:
        """Return the coordinates of every row of a table; shape (n_rows, r)."""
        table = open_table(data, self.names, continuous=frozenset(self.names))
        parts = BlockSource(table).each(lambda block: self.project_columns(block.columns))
        return np.concatenate(list(parts))

    def project_columns(self, columns: Columns) -> Floats:
        """Return the coordinates of rows given as columns."""
        x = np.stack([np.asarray(columns[name], np.float64) for name in self.names], axis=1)
        return np.asarray((x - self.centre) @ self.directions, np.float64)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        r = len(self.singular_values)
        rows = [[name, *map(number, row)] for name, row in zip(self.names, self.directions, strict=True)]
        rows.append(["(singular value)", *map(number, self.singular_values)])
        rows.append(["(proportion)", *(f"{share:.4f}" for share in self.proportions)])
        return ["input", *(f"LD{place + 1}" for place in range(r))], rows, "<" + ">" * r

    def __str__(self) -> str:
        return plain_table(*self._cells())

    def _repr_html_(self) -> str:
        return html_table(*self._cells())


def discriminants(model: ClassGaussianModel) -> Discriminants:
    """Return Fisher's directions of a classifier with one covariance matrix for all classes.

    The scaling is that of R's ``MASS::lda``: the singular values are of √(n π_k / (K − 1)) (μ_k − μ) whitened by the
    covariance; with divisor n the K − 1 is K, as there under ``method="mle"``.
    """
    normal = model.dof is None
    tied = Remedy("covariance", "tied", beside=() if normal else (("bayes", False),))
    needed = tied if model.structure.covariance != "tied" else None if normal else Remedy("bayes", False)
    if needed or not (~model.unknown).sum() > 1:
        raise ModelError(
            "Fisher's directions are those of two or more classes that share one covariance matrix",
            Text(". Fit with ", needed, ".") if needed else ", and this model knows of fewer.",
        )
    known = ~model.unknown
    prior, means, k = model.class_prior[known], model.means[known], int(known.sum())
    roots, factors, _ = whitening(model.spread)
    factor = (factors[0] / roots[0]).T
    centre = prior @ means
    divisor = k if model.structure.divisor == "n" else k - 1
    between = np.sqrt(model.n * prior / divisor)[:, None] * ((means - centre) @ factor)
    _, values, right = np.linalg.svd(between, full_matrices=False)
    rank = int((values > NO_RANK * values[0]).sum()) if values[0] > 0 else 0
    directions = factor @ right[:rank].T
    largest = np.abs(directions).argmax(axis=0)
    directions = directions * np.sign(directions[largest, np.arange(rank)])
    return Discriminants(model.variables[:-1], directions, values[:rank], centre)
