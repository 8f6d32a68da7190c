"""Proof of a Gaussian Markov random field's fit: its moments against the data's, and its zeros.

Everything starts from the precision matrix that users see; nothing of the fitter is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured
from suffice.certify.claim import Claim
from suffice.certify.judgement import judged
from suffice.certify.normal_density import integral_gap, log_likelihood_of
from suffice.certify.violation import Violation
from suffice.graph.undirected import maximal_cliques
from suffice.models.joint_normal import JointNormal
from suffice.optimise.distance import EPS, Distance, beyond, matrix_deviation, mean_loss, sparse_matrix_loss
from suffice.priors.normal_inverse_wishart import NormalInverseWishart
from suffice.stats.moments import Moments
from suffice.stats.needs import Moment
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.structures.single import MultivariateNormal
from suffice.types import Array, Floats

CLAIMS = {
    "mle": "maximum likelihood",
    "mean": "posterior mean of the precision matrix, which is no optimum",
    "map": "posterior mode",
}
UNBIASED = "mean and unbiased covariance matrix, divisor n - 1, which are no optimum"
MEAN_OF_COVARIANCE = "posterior mean of the covariance matrix, which is no optimum"
ZERO = 1e-12
SINGULAR = 1e-14
"""Eigenvalues of correlations up to this are zero but for rounding errors."""


def certify(claim: Claim[GaussianMarkov, JointNormal]) -> Certificate:
    """Measure the gap between the moments of data and model, the zeros, and the log-likelihood."""
    structure: GaussianMarkov = claim.structure
    model: JointNormal = claim.model
    moments: Moments = claim.statistics[Moment(structure.variables)]
    gap = _violation(claim, structure, model, moments)
    is_unbiased = claim.point == "mle" and _is_unbiased(structure)
    condition = "the formula" if is_unbiased else "the first-order condition"
    measured = Measured(
        claim=_said(claim, is_unbiased),
        residual=gap.size,
        worst=gap.where,
        log_likelihood=log_likelihood_of(model, moments),
        normalisation=integral_gap(model.precision, model.covariance),
        exists=_exists(structure, moments, gap.size, model.correlations) if claim.point == "mle" else "yes",
        condition="the conjugate formula" if claim.point == "mean" else condition,
        moment_gap=gap.size if claim.point == "mle" and not is_unbiased else None,
        **(_distance(claim, structure, model, moments) if math.isfinite(gap.size) else Distance()).as_measured(),
    )
    return judged(claim, measured)


def _is_unbiased(structure: GaussianMarkov) -> bool:
    return isinstance(structure, MultivariateNormal) and structure.divisor == "n-1"


def _said(claim: Claim[GaussianMarkov, JointNormal], is_unbiased: bool) -> str:
    if is_unbiased:
        return UNBIASED
    return MEAN_OF_COVARIANCE if claim.point == "mean" and not _is_of_precision(claim) else CLAIMS[claim.point]


def _is_of_precision(claim: Claim[GaussianMarkov, JointNormal]) -> bool:
    """Whether the estimate is the mean of the precision matrix, and not of the covariance matrix."""
    return claim.point == "mean" and not isinstance(claim.prior, NormalInverseWishart)


def _violation(
    claim: Claim[GaussianMarkov, JointNormal], structure: GaussianMarkov, model: JointNormal, moments: Moments
) -> Violation:
    if model.names != structure.variables:
        return Violation(math.inf, "the variables, which are not those of the structure")
    stray = _stray(structure, model.precision)
    if stray is not None:
        return Violation(math.inf, f"{stray}, which has no edge but a number in the precision matrix")
    wanted_mean, wanted = _wanted(claim, structure, moments)
    of_precision = _is_of_precision(claim)
    found = model.precision if of_precision else np.linalg.solve(model.precision, np.eye(len(wanted)))
    roots = np.sqrt(np.diag(wanted))
    spread = 1 / roots if of_precision else roots
    with np.errstate(divide="ignore", invalid="ignore"):  # a column that does not vary has no scale
        gaps = np.abs(found - wanted) / roots[:, None] / roots
        shifts = np.abs(beyond(model.mean - wanted_mean, _last_digits(claim, wanted_mean))) / spread
    worst, place = Violation(), {name: position for position, name in enumerate(structure.variables)}
    for first, second in [*((name, name) for name in structure.variables), *structure.edges]:
        size = float(gaps[place[first], place[second]])
        worst = worst.or_larger(size, first if first == second else f"{first} - {second}")
    for name, shift in zip(structure.variables, shifts, strict=True):
        worst = worst.or_larger(float(shift), f"the mean of {name}")
    return worst


def _distance(
    claim: Claim[GaussianMarkov, JointNormal], structure: GaussianMarkov, model: JointNormal, moments: Moments
) -> Distance:
    """Return the decrement of means and covariances, or how far posterior means are off in standard deviations."""
    wanted_mean, wanted = _wanted(claim, structure, moments)
    of_mean, dof = _weights(claim, structure, moments)
    precision = model.precision
    covariance = np.linalg.solve(precision, np.eye(len(wanted)))
    shift = beyond(model.mean - wanted_mean, _last_digits(claim, wanted_mean))
    nats = mean_loss(of_mean, covariance, shift)
    if claim.point == "mean":
        found = precision if _is_of_precision(claim) else covariance
        rounding = 4 * EPS * (np.abs(found) if _is_of_precision(claim) else _rounding(covariance, precision))
        deviation = matrix_deviation(dof, found, wanted, rounding)
        return Distance.in_sds(math.sqrt(2 * nats), "the means") + Distance.in_sds(deviation, "the matrix")
    gap = beyond(covariance - wanted, 4 * EPS * _rounding(covariance, precision))
    size = sparse_matrix_loss(dof, covariance, gap, free_entries(structure))
    return Distance.in_nats(nats, "the means") + Distance.in_nats(size, "the covariances")


def _last_digits(claim: Claim[GaussianMarkov, JointNormal], mean: Floats) -> Floats:
    """Return how far rounding may move means: those of the data are nearest floats, those with a prior's are sums."""
    return np.abs(mean) * (0.0 if claim.point == "mle" else 4 * EPS)


def _rounding(covariance: Array, precision: Array) -> Floats:
    """Return |Σ| |K| |Σ|: how far relative changes of K, as by rounding, move the entries of Σ."""
    found: Floats = np.abs(covariance) @ np.abs(precision) @ np.abs(covariance)
    return found


def free_entries(structure: GaussianMarkov) -> NDArray[np.bool_]:
    """Return which entries of the precision matrix are free: the diagonal and the edges."""
    place = {name: position for position, name in enumerate(structure.variables)}
    free = np.eye(len(place), dtype=bool)
    for first, second in structure.edges:
        free[place[first], place[second]] = free[place[second], place[first]] = True
    return free


def _weights(
    claim: Claim[GaussianMarkov, JointNormal], structure: GaussianMarkov, moments: Moments
) -> tuple[float, float]:
    """Return for how many rows the means count, and the covariances: rows, or degrees of freedom after the data."""
    n, p = float(moments.weight), len(structure.variables)
    if claim.point == "mle":
        return n, n - 1 if _is_unbiased(structure) else n
    prior = claim.prior
    known = prior.mean_of(structure) is not None
    dof, of_mean = prior.dof + n - (0 if known else 1), n + (prior.mean_weight if known else 0.0)
    if isinstance(prior, NormalInverseWishart):
        return of_mean, dof - p if claim.point == "mean" else dof + p + 2
    most = max(map(len, maximal_cliques(structure.graph)), default=1)
    return of_mean, dof + most - 1 if claim.point == "mean" else dof - 1


def _stray(structure: GaussianMarkov, precision: Floats) -> str | None:
    """Return a pair without an edge whose entry of the precision matrix is not zero."""
    place = {name: position for position, name in enumerate(structure.variables)}
    roots = np.sqrt(np.diag(precision))
    odd = np.triu(np.abs(precision), 1) > ZERO * np.outer(roots, roots)
    for first, second in structure.edges:
        odd[place[first], place[second]] = odd[place[second], place[first]] = False
    found = np.argwhere(odd)
    return " - ".join(structure.variables[position] for position in found[0]) if len(found) else None


def _wanted(
    claim: Claim[GaussianMarkov, JointNormal], structure: GaussianMarkov, moments: Moments
) -> tuple[Floats, Floats]:
    """Return what the means, and the covariances (or the precisions, for their posterior mean), have to be."""
    n = float(moments.weight)
    seen = moments.mean + moments.rest
    if claim.point == "mle":
        return seen, moments.scatter / (n - 1 if _is_unbiased(structure) else n)
    prior = claim.prior
    scale, before = prior.scale_of(structure), prior.mean_of(structure)
    if before is None:
        dof, total, centre = prior.dof + n - 1, scale + moments.scatter, seen
    else:
        # Second moments around zero of prior and data together, less those of their common mean.
        kappa = prior.mean_weight
        dof, centre = prior.dof + n, (kappa * before + n * seen) / (kappa + n)
        shifts = [(kappa, before - centre), (n, seen - centre)]
        total = scale + moments.scatter + sum(weight * np.outer(shift, shift) for weight, shift in shifts)
    if isinstance(prior, NormalInverseWishart):
        p = len(centre)
        return centre, total / (dof - p - 1 if claim.point == "mean" else dof + p + 2)
    if claim.point == "map":
        return centre, total / (dof - 1)
    return centre, _expected_precision(structure, dof, total)


def _expected_precision(structure: GaussianMarkov, dof: float, scale: Floats) -> Floats:
    """Return Σ_C (δ + |C| − 1) [Φ_C⁻¹]⁰ − Σ_S (δ + |S| − 1) [Φ_S⁻¹]⁰, over cliques and separators."""
    cliques = [[structure.variables.index(name) for name in clique] for clique in maximal_cliques(structure.graph)]
    expected = np.zeros_like(scale)
    for sign, blocks in ((1, cliques), (-1, _separators(cliques))):
        for block in blocks:
            where = np.ix_(block, block)
            expected[where] += sign * (dof + len(block) - 1) * np.linalg.inv(scale[where])
    return expected


def _separators(cliques: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return what neighbours share in a heaviest spanning tree of the cliques, which is a junction tree."""
    outside = dict.fromkeys(range(1, len(cliques)), (0, 0))  # how much each shares with the tree, and with which clique
    newest, found = 0, []
    while outside:
        for other, best in outside.items():
            outside[other] = max(best, (len(set(cliques[other]) & set(cliques[newest])), newest))
        chosen = max(outside, key=lambda other: outside[other][0])
        found.append(sorted(set(cliques[chosen]) & set(cliques[outside.pop(chosen)[1]])))
        newest = chosen
    return [separator for separator in found if separator]


def _exists(structure: GaussianMarkov, moments: Moments, gap: float, correlations_of_model: NDArray[np.float64]) -> str:
    """Say whether the likelihood has a maximum: a positive definite matrix with the data's entries is the proof.

    The model's correlations, changed by at most ``gap`` on edges and diagonal, are such a matrix if their least
    eigenvalue is larger than any such change can lower it.
    """
    most = max(map(len, structure.graph.values()), default=0) + 1
    if np.linalg.eigvalsh(correlations_of_model)[0] > 2 * most * (gap + 1e-13):
        return "yes"
    covariance = moments.covariance
    roots = np.sqrt(np.diag(covariance))
    if not (roots > 0).all():
        return "no"
    correlations = covariance / roots[:, None] / roots
    if np.linalg.eigvalsh(correlations)[0] > SINGULAR:
        return "yes"
    for clique in maximal_cliques(structure.graph):
        block = [structure.variables.index(name) for name in clique]
        if not np.linalg.eigvalsh(correlations[np.ix_(block, block)])[0] > SINGULAR:
            return "no"
    return "undecided"
