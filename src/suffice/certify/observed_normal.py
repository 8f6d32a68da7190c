"""Proof of normal distributions that were fitted to rows with gaps: the observed likelihood and its derivatives.

From the rows themselves, with A = Σ_oo⁻¹ (x_o − μ_o) of a row that has the columns o,

    ∂ℓ/∂μ_o = Σ w A,    ∂ℓ/∂Σ_oo = ½ (Σ w A Aᵀ − W Σ_oo⁻¹) = G,    ∂ℓ/∂K = −Σ G Σ on the edges and the diagonal.

Systems are solved by elimination with pivots, row by row of the data; the fitter factorises the moments of patterns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify.claim import Claim
from suffice.certify.gaussian_markov import free_entries
from suffice.certify.observed_discrete import Observed
from suffice.certify.violation import Violation
from suffice.data.block import Block
from suffice.models.joint_normal import JointNormal
from suffice.optimise.distance import Distance, beyond, mean_loss, sparse_matrix_loss
from suffice.priors.normal_inverse_wishart import NormalInverseWishart
from suffice.stats.needs import Need, Sum
from suffice.stats.sums import Sums
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.types import Floats

EPS, ZERO = 2.0**-52, 1e-12
STEP = 2**15
"""Rows that are looked at together."""


def measured(claim: Claim[GaussianMarkov, JointNormal]) -> Observed:
    """Return the observed log-likelihood, the largest derivative a row in standardised units, and the decrement.

    The decrement has the curvature of complete rows, N Σ⁻¹ for the means and (N/2) Σ ⊗ Σ for the precisions.
    """
    structure, model = claim.structure, claim.model
    assert claim.source is not None
    roots = np.sqrt(np.diag(model.covariance))
    task = _Scores(structure.variables, model.mean, roots, model.covariance / roots[:, None] / roots)
    p = len(roots)
    flat = claim.source.reduce(task)[task.need].values
    log_likelihood, weight = float(flat[0]), float(flat[1])
    of_mean, of_covariance = flat[2 : 2 + p], flat[2 + p :].reshape(p, p)
    correlations = task.correlations
    # Σ ∂ℓ/∂μ is how far expected means are from the model's; −2 Σ G Σ how far covariances are. Both in sds.
    shifts = correlations @ of_mean
    gaps = 2 * correlations @ of_covariance @ correlations
    if claim.point == "map":
        more = _of_prior(claim.prior, structure, model, roots)
        shifts, gaps = shifts + more[0], gaps + more[1]
    if (stray := _stray(structure, model.precision)) is not None:
        where = f"{stray}, which has no edge but a number in the precision matrix"
        return Observed(log_likelihood, math.inf, where)
    rounding = EPS * np.abs(model.mean) / roots
    size, where = _worst(structure, shifts / weight, gaps / weight, rounding)
    off = beyond(shifts / weight, 2 * rounding)
    distance = Distance.in_nats(mean_loss(weight, correlations, off), "the means")
    nats = sparse_matrix_loss(weight, correlations, gaps / weight, free_entries(structure))
    return Observed(log_likelihood, size, where, distance=distance + Distance.in_nats(nats, "the covariances"))


def _stray(structure: GaussianMarkov, precision: Floats) -> str | None:
    """Return a pair without an edge whose entry of the precision matrix is not zero."""
    roots, names = np.sqrt(np.diag(precision)), structure.variables
    for first, second in np.argwhere(np.triu(np.abs(precision) / roots[:, None] / roots, 1) > ZERO):
        if names[second] not in structure.graph[names[first]]:
            return f"{names[first]} - {names[second]}"
    return None


def _worst(structure: GaussianMarkov, shifts: Floats, gaps: Floats, rounding: Floats) -> tuple[float, str]:
    worst, place = Violation(), {name: at for at, name in enumerate(structure.variables)}
    for first, second in [*((name, name) for name in structure.variables), *structure.edges]:
        size = abs(float(gaps[place[first], place[second]]))
        worst = worst.or_larger(size, first if first == second else f"{first} - {second}")
    for name, shift, least in zip(structure.variables, np.abs(shifts), rounding, strict=True):
        worst = worst.or_larger(max(0.0, float(shift - least)), f"the mean of {name}")
    return worst.size, worst.where


def _of_prior(prior: Any, structure: GaussianMarkov, model: JointNormal, roots: Floats) -> tuple[Floats, Floats]:
    """Return what the prior's derivatives add, in the same units."""
    p, covariance = len(roots), model.covariance
    scale, centre = prior.scale_of(structure), prior.mean_of(structure)
    power = prior.dof + p + 1 if isinstance(prior, NormalInverseWishart) else prior.dof - 2
    shifts, of_precision = np.zeros(p), power * covariance - scale
    if centre is not None:
        apart = model.mean - centre
        shifts = -prior.mean_weight * apart / roots
        of_precision = of_precision + covariance - prior.mean_weight * np.outer(apart, apart)
    return shifts, -of_precision / roots[:, None] / roots


@dataclass(frozen=True, eq=False)
class _Scores:
    """The derivatives by means and covariances, in standard deviations, as a task for `Source.reduce`."""

    names: tuple[str, ...]
    mean: Floats = field(repr=False)
    roots: Floats = field(repr=False)
    correlations: Floats = field(repr=False)

    @property
    def need(self) -> Sum:
        """The request that its sums answer."""
        p = len(self.names)
        return Sum("observed scores", 2 + p + p * p)

    def __call__(self, block: Block) -> Mapping[Need, Any]:
        """Return log-likelihood, weight and derivatives of one block."""
        p, log_likelihood = len(self.names), 0.0
        of_mean, of_covariance = np.zeros(p), np.zeros((p, p))
        rows = np.stack([np.asarray(block.columns[name], np.float64) for name in self.names], axis=1)
        weights = np.ones(len(rows)) if block.weights is None else np.asarray(block.weights, np.float64)
        for held, seen in _patterns(np.isnan(rows)):
            if not len(seen):
                continue
            inner, log_units = self.correlations[np.ix_(seen, seen)], float(np.log(self.roots[seen]).sum())
            sign, log_det = np.linalg.slogdet(inner)
            constant = len(seen) * math.log(2 * math.pi) + float(log_det) + 2 * log_units
            total = float(weights[held].sum())
            for low in range(0, len(held), STEP):
                some = held[low : low + STEP]
                apart = (rows[np.ix_(some, seen)] - self.mean[seen]) / self.roots[seen]
                solved = np.linalg.solve(inner, apart.T).T
                w = weights[some][:, None]
                log_likelihood -= 0.5 * float((w * apart * solved).sum())
                of_mean[seen] += (w * solved).sum(axis=0)
                of_covariance[np.ix_(seen, seen)] += 0.5 * (w * solved).T @ solved
            log_likelihood -= 0.5 * total * (constant if sign > 0 else math.nan)
            of_covariance[np.ix_(seen, seen)] -= 0.5 * total * np.linalg.inv(inner)
        flat = np.concatenate([[log_likelihood, weights.sum()], of_mean, of_covariance.reshape(-1)])
        return {self.need: Sums(self.need.name, flat)}


def _patterns(missing: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield rows that lack the same columns, and the columns that they have."""
    if not len(missing):
        return
    distinct, back = np.unique(np.packbits(missing, axis=1), axis=0, return_inverse=True)
    order = np.argsort(back.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(back.reshape(-1), minlength=len(distinct)))[:-1]
    for rows in np.split(order, ends):
        yield rows, np.flatnonzero(~missing[rows[0]])
