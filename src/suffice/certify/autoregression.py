"""Proof of an autoregression: its normal equations, the covariance of its errors, and the log-likelihood.

Everything starts from the coefficients that users see. The moments are taken as they are: they and the coefficients
are floats, so their products are fractions, which no rounding of the fitter can hide from. Where there are too many
numbers for fractions, the longest floats there are take their place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from suffice.certify.certificate import Certificate, Measured
from suffice.certify.claim import Claim
from suffice.certify.directed import CLAIMS
from suffice.certify.judgement import judged
from suffice.certify.normal_density import integral_gap, log_likelihood, log_likelihood_of
from suffice.certify.violation import Violation
from suffice.models.autoregression import AutoregressiveModel
from suffice.models.autoregression_node import node_cpd
from suffice.models.cpds import KINDS
from suffice.models.cpds.exact_regression import MAX_EXACT, in_fractions
from suffice.models.joint_normal import JointNormal
from suffice.optimise.distance import EPS, Distance, beyond, matrix_loss, mean_loss, quadratic_loss
from suffice.stats.moments import Moments
from suffice.structures.autoregression import Autoregression
from suffice.types import Array, Floats

SINGULAR = 1e-15
"""An eigenvalue of correlations below this is what rounding leaves of zero."""

Exact = Array
NONE = Violation(0.0, "no equation")


@dataclass(frozen=True)
class _Errors:
    """Sums over the windows of e = y − c − B z, z being the lagged columns."""

    mean: Floats
    rounding: Floats
    cross: Floats
    squares: Floats
    spread: Floats


def certify(claim: Claim[Autoregression, AutoregressiveModel]) -> Certificate:
    """Measure how far the normal equations miss, and the covariance matrix, and the log-likelihood."""
    structure: Autoregression = claim.structure
    model: AutoregressiveModel = claim.model
    windows, first = structure.moments(claim.statistics)
    fits = model.variables == structure.names_in(claim.statistics.schema) and model.order == structure.order
    gap, value = Violation(math.inf, "the variables or the order, which are not the structure's"), math.nan
    distance = Distance()
    if fits and (first is None) == (model.start is None):
        errors = _errors(model, windows, structure.intercept)
        if claim.prior is None:
            gap = _violation(structure, model, windows, errors)
            distance = _distance(structure, model, windows, errors)
        else:
            gap, distance = _under_prior(claim, windows)
        value = log_likelihood(model.covariance, float(windows.weight), errors.squares)
        if first is not None and model.start is not None:
            gap = _start_violation(gap, model.start, first)
            distance += _start_distance(model.start, first)
            value += log_likelihood_of(model.start, first)
    correlations = model.errors.correlations
    measured = Measured(
        claim=_claimed(claim.point, structure),
        residual=gap.size,
        worst=gap.where,
        log_likelihood=value,
        normalisation=integral_gap(np.linalg.inv(correlations), correlations),
        exists=_exists(windows, structure.intercept) if claim.prior is None else "yes",
        condition="the conjugate formula" if claim.point == "mean" else "the first-order condition",
        **distance.as_measured(),
    )
    return judged(claim, measured)


def _claimed(point: str, structure: Autoregression) -> str:
    """Say what the fit claims to be."""
    if point != "mle":
        return CLAIMS[point]
    given = " given the first values" if structure.order and structure.initial == "given" else ""
    departs = "" if structure.divisor == "n" else ", but for the errors' covariance, divided by n − p"
    return f"{CLAIMS[point]}{given}{departs}"


def _under_prior(claim: Claim[Autoregression, AutoregressiveModel], windows: Moments) -> tuple[Violation, Distance]:
    """Measure how far the conjugate formula misses, as for a node whose parents are its own past."""
    cpd, kind = node_cpd(claim.model), KINDS["linear_gaussian"]
    pseudo = claim.prior.pseudo(cpd.family, claim.point)
    found = NONE.or_larger(kind.residual(cpd, windows, pseudo), "the only equation")
    return found, kind.distance(cpd, windows, pseudo, None, claim.point).inside("the only equation")


def _errors(model: AutoregressiveModel, windows: Moments, intercept: bool) -> _Errors:
    d, q = len(model.variables), len(model.lag_names)
    exact = (q + d) ** 2 * d <= MAX_EXACT
    across = in_fractions(np.concatenate([-model.flat_coefficients, np.eye(d)], axis=1), exact)
    means = in_fractions(windows.mean, exact) + in_fractions(windows.rest, exact)
    scatter, weight = in_fractions(windows.scatter, exact), in_fractions(windows.weight, exact).item()
    mean = across.dot(means) - in_fractions(model.intercept, exact)
    cross = scatter.dot(across.T)
    squares = across.dot(cross) + weight * np.outer(mean, mean)
    spread = np.diag(scatter)
    if not intercept:  # the regressors are measured from zero
        cross, spread = cross + weight * np.outer(means, mean), spread + weight * means * means
    parts = np.abs(across).dot(np.abs(means)) + np.abs(in_fractions(model.intercept, exact))
    rounding = 2 * np.finfo(np.float64).eps * parts.astype(np.float64)  # parameters themselves are rounded
    numbers = (mean, rounding, cross[:q], squares, spread[:q])
    return _Errors(*(np.asarray(values).astype(np.float64) for values in numbers))


def _violation(structure: Autoregression, model: AutoregressiveModel, windows: Moments, errors: _Errors) -> Violation:
    weight = float(windows.weight)
    p = len(model.lag_names) + structure.intercept
    divisor = weight if structure.divisor == "n" else weight - p
    found = NONE
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = np.sqrt(np.diag(errors.squares))
        shifts = np.maximum(np.abs(errors.mean) - errors.rounding, 0) * math.sqrt(weight) / roots
        slopes = np.abs(errors.cross) / np.sqrt(errors.spread)[:, None] / roots
        wanted = np.sqrt(np.diag(errors.squares) / divisor)
        gaps = np.abs(model.covariance - errors.squares / divisor) / wanted[:, None] / wanted
    for place, name in enumerate(model.variables):
        if structure.intercept:
            found = found.or_larger(float(shifts[place]), f"the mean error of {name}")
        elif model.intercept[place] != 0:
            found = found.or_larger(math.inf, f"the intercept of {name}, which must be zero")
        for lag, size in zip(model.lag_names, slopes[:, place], strict=True):
            found = found.or_larger(float(size), f"the coefficient of {lag} for {name}")
        for other in range(place + 1):
            pair = f"{name} and {model.variables[other]}" if other < place else name
            found = found.or_larger(float(gaps[place, other]), f"the errors' covariance of {pair}")
    return found


def _distance(structure: Autoregression, model: AutoregressiveModel, windows: Moments, errors: _Errors) -> Distance:
    """Return the decrement of intercepts, coefficients and the errors' covariance.

    With Ω = Σ⁻¹, n windows, the mean error ē, C = Σ w z eᵀ and the scatter S of the lagged columns they are ½ n ēᵀΩē,
    ½ tr(Ω CᵀS⁻¹C) and (n/4) tr((Ω G)²), G being how far Σ misses.
    """
    weight, q = float(windows.weight), len(model.lag_names)
    divisor = weight if structure.divisor == "n" else weight - q - structure.intercept
    found = Distance()
    if structure.intercept:
        found += Distance.in_nats(
            mean_loss(weight, model.covariance, beyond(errors.mean, errors.rounding)), "the intercepts"
        )
    scatter = np.asarray(windows.scatter[:q, :q], np.float64)
    if not structure.intercept:
        centre = (windows.mean + windows.rest)[:q]
        scatter = scatter + weight * np.outer(centre, centre)
    if q:
        sizes = np.sqrt(np.diag(windows.scatter)[q:])
        roots, vectors = _whitened(model.covariance)
        losses = [
            quadratic_loss(errors.cross @ vector / root, scatter, 8 * EPS * float(sizes @ np.abs(vector)) / root)
            for root, vector in zip(roots, vectors, strict=True)
        ]
        found += Distance.in_nats(math.fsum(losses), "the coefficients")
    gap = beyond(model.covariance - errors.squares / divisor, 4 * EPS * np.abs(model.covariance))
    return found + Distance.in_nats(matrix_loss(divisor, model.covariance, gap), "the errors' covariance")


def _whitened(covariance: Floats) -> tuple[Floats, Floats]:
    """Return combinations of the errors, a row each, that are uncorrelated, and their standard deviations."""
    roots = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / roots[:, None] / roots)
    return np.sqrt(np.maximum(values, 1e-300)), vectors.T / roots


def _start_distance(start: JointNormal, first: Moments) -> Distance:
    """Return the decrement of the distribution of the first values."""
    weight = float(first.weight)
    shift = beyond(start.mean - first.mean - first.rest, 2 * EPS * np.abs(first.mean))
    gap = beyond(start.covariance - first.scatter / weight, 4 * EPS * np.abs(start.covariance))
    nats = mean_loss(weight, start.covariance, shift) + matrix_loss(weight, start.covariance, gap)
    return Distance.in_nats(nats, "the first values")


def _start_violation(found: Violation, start: JointNormal, first: Moments) -> Violation:
    """Compare the distribution of the first values with their moments."""
    weight = float(first.weight)
    roots = np.sqrt(np.diag(first.scatter) / weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = np.abs(start.covariance - first.scatter / weight) / roots[:, None] / roots
        shifts = np.abs(start.mean - first.mean - first.rest) / roots
    found = found.or_larger(float(gaps.max()), "the covariances of the first values")
    return found.or_larger(float(shifts.max()), "the means of the first values")


def _exists(windows: Moments, intercept: bool) -> str:
    """Say whether the likelihood has a maximum: no column of the windows is a combination of the others."""
    second, weight = np.array(windows.scatter), float(windows.weight)
    if not intercept:
        centre = windows.mean + windows.rest
        second = second + weight * np.outer(centre, centre)
    roots = np.sqrt(np.diag(second))
    if not (roots > 0).all():
        return "no"
    return "yes" if np.linalg.eigvalsh(second / roots[:, None] / roots)[0] > SINGULAR else "no"
