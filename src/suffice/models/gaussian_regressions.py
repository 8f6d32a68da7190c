"""A chordal Gaussian graph as a chain of regressions: each variable on its later neighbours in a perfect order.

K = Σ_v (e_v − b_v)(e_v − b_v)ᵀ / s_v with coefficients b_v on the later neighbours and residual variances s_v. This is
Lauritzen's (1996) formula Σ_C [M_C⁻¹]⁰ − Σ_S [M_S⁻¹]⁰ without its differences, so that nothing cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.errors import EstimationError, Remedy, listing, made
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.types import Floats

SINGULAR = 1e-12
"""A residual variance below this, relative to the variance itself, is what rounding leaves of zero."""


@dataclass(frozen=True)
class NeighbourRegression:
    """One variable on its later neighbours.

    Attributes
    ----------
    place : int
        Position of the variable.
    later : list of int
        Positions of the neighbours.
    coefficients : array, shape (len(later),)
    residual : float
        Residual variance.
    inner : array, shape (len(later), len(later))
        Lower Cholesky factor of the neighbours' own matrix.
    """

    place: int
    later: list[int]
    coefficients: Floats
    residual: float
    inner: Floats

    def direction(self, p: int) -> Floats:
        """Return e_v − b_v as a vector over all variables; shape (p,)."""
        vector = np.zeros(p)
        vector[self.place], vector[self.later] = 1.0, -self.coefficients
        return vector

    def inner_inverse(self) -> Floats:
        """Return the inverse of the neighbours' matrix."""
        from scipy.linalg import cho_solve

        inverse: Floats = cho_solve((self.inner, True), np.eye(len(self.later)))
        return inverse


def regressions_of(structure: GaussianMarkov, matrix: Floats) -> list[NeighbourRegression]:
    """Return the regressions of a chordal structure under a covariance matrix, shape (p, p).

    Raises
    ------
    EstimationError
        When the block of a clique is singular; the message names its variables.
    """
    from scipy.linalg import solve_triangular

    place = {name: position for position, name in enumerate(structure.variables)}
    order = {name: position for position, (name, _) in enumerate(structure.regressions or ())}
    roots = np.sqrt(np.diag(matrix))
    require_spread(structure.variables, roots)
    scaled = matrix / roots[:, None] / roots
    factors: dict[tuple[int, ...], Floats] = {}
    found = []
    for name, near in structure.regressions or ():
        # The last in the order comes first, so that the factor of the neighbours is the corner of the clique's.
        ordered = sorted(near, key=order.__getitem__, reverse=True)
        clique = tuple(place[member] for member in (*ordered, name))
        lower = factors.get(clique)
        if lower is None:
            lower = clique_factor(structure.variables, clique, scaled)
        inner, row = lower[:-1, :-1], lower[-1]
        factors[clique[:-1]] = inner
        later, here = list(clique[:-1]), clique[-1]
        slopes = solve_triangular(inner, row[:-1], lower=True, trans="T") if later else np.zeros(0)
        found.append(
            NeighbourRegression(
                place=here,
                later=later,
                coefficients=slopes * roots[here] / roots[later],
                residual=float((row[-1] * roots[here]) ** 2),
                inner=inner * roots[later][:, None],
            )
        )
    return found


def precision_of(p: int, regressions: Sequence[NeighbourRegression]) -> Floats:
    """Return the precision matrix of a chain of regressions; entries without an edge are exactly zero."""
    precision = np.zeros((p, p))
    for regression in regressions:
        members = [regression.place, *regression.later]
        vector = np.array([1.0, *-regression.coefficients])
        precision[np.ix_(members, members)] += np.outer(vector, vector) / regression.residual
    return precision


def clique_factor(names: Sequence[str], clique: Sequence[int], scaled: Floats) -> Floats:
    """Return the lower Cholesky factor of a clique's correlations, or name its variables when there is none."""
    block = scaled[np.ix_(clique, clique)]
    try:
        lower: Floats = np.linalg.cholesky(block).astype(np.float64)
    except np.linalg.LinAlgError:
        lower = np.zeros_like(block)
    if not (np.diag(lower) ** 2 > SINGULAR).all():
        members = sorted(clique)
        raise EstimationError(
            f"The covariance matrix of the clique {listing([names[member] for member in members], 12)} is singular, or "
            "so to rounding error: the estimate does not exist, or is out of reach. One of these columns is nearly a "
            "combination of the others, or there are too few rows. Leave a column out, collect more rows than the "
            "clique has variables, or pass a prior: ",
            Remedy("prior", made("HyperInverseWishart", 3, 1.0)),
            ".",
        )
    return lower


def require_spread(names: Sequence[str], roots: Floats) -> None:
    """Refuse columns that do not vary."""
    still = [name for name, root in zip(names, roots, strict=True) if not root > 0]
    if still:
        raise EstimationError(
            f"Column {still[0]!r} is constant, so its variance is zero and the estimate does not exist. Leave it out, "
            "collect more rows, or pass a prior: ",
            Remedy("prior", made("HyperInverseWishart", 3, 1.0)),
            ".",
        )


Regression = NeighbourRegression
"""The name in pickles of 0.1.0."""
