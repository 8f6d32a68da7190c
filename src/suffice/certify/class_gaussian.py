"""Proof of normal classes: moments of model and data against each other, the formula's parts taken anew.

Where the fitter works by Cholesky factors, this works by eigenvalues; probabilities are fractions. Everything starts
from what users see: ``means``, ``spread`` and ``precisions`` of the model. Gaps between matrices are in units of
standard deviations, so the scale of a column means nothing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured
from suffice.certify.claim import Claim
from suffice.certify.class_gaussian_wanted import wanted_spread, wanted_t
from suffice.certify.joint_classes import class_distance, class_prior_gap, wanted_classes
from suffice.certify.judgement import judged, unfit
from suffice.certify.normal_density import integral_gap
from suffice.certify.violation import Violation
from suffice.models.class_gaussian import ClassGaussianModel
from suffice.optimise.distance import (
    EPS,
    Distance,
    beyond,
    matrix_deviation,
    matrix_loss,
    mean_loss,
    sparse_matrix_loss,
)
from suffice.stats.moments import Moments
from suffice.stats.needs import Moment
from suffice.structures.class_gaussian import ClassGaussian
from suffice.types import Floats


def certify(claim: Claim[ClassGaussian, ClassGaussianModel]) -> Certificate:
    """Measure the gaps of class probabilities, means and covariances, and the log-likelihood."""
    structure: ClassGaussian = claim.structure
    model: ClassGaussianModel = claim.model
    moments: Moments = claim.statistics[Moment(structure.inputs, by=(structure.target,))]
    words, condition = _said(structure)
    if model.structure != structure or not model.target.has_states_of(moments.by[0]):
        return unfit(claim, words, "the variables, which are not those of the statistics")
    gap = class_prior_gap(structure.class_prior, model.target, moments.weight, model.class_prior)
    found = Violation().or_larger(gap, "the class probabilities")
    total = math.fsum(moments.weight)
    found = found.or_larger(abs(model.n / total - 1) if total else math.inf, "the number of rows")
    found = _of_means(found, model, moments)
    found = _of_t(found, model, moments) if structure.bayes else _of_spread(found, claim, model, moments)
    distance = _distance(claim, model, moments) if math.isfinite(found.size) else Distance()
    log_likelihood, rounding = (math.nan, 0.0) if structure.bayes else _log_likelihood(model, moments)
    return judged(
        claim,
        Measured(
            claim=words,
            residual=found.size,
            worst=found.where,
            log_likelihood=log_likelihood,
            normalisation=_normalisation(model),
            condition=condition,
            rounding=rounding,
            **distance.as_measured(),
        ),
    )


def _said(structure: ClassGaussian) -> tuple[str, str]:
    """Return what is claimed, and the name of the condition that proves it."""
    kind = structure.class_prior.kind
    classes = "" if kind == "counted" else f", with {kind} class probabilities"
    if structure.bayes:
        return f"Student's t predictive under the reference prior, no optimum{classes}", "the conjugate formula"
    if structure.divisor == "n-1":
        shrunk = "" if structure.shrinkage is None else f", shrunk towards the {structure.towards}"
        lasso = ", under the graphical lasso's penalty" if structure.alpha is not None else ""
        return f"means and unbiased covariances{shrunk}{lasso}, no maximum of the likelihood{classes}", "the formula"
    if structure.alpha is not None:
        shrunk = "" if structure.shrinkage is None else " of shrunk covariances"
        return f"the graphical lasso{shrunk}{classes}", "the first-order condition"
    if structure.shrinkage is not None:
        return f"posterior mode under a Wishart prior, which shrinks{classes}", "the first-order condition"
    return f"maximum likelihood{classes}", "the first-order condition"


def matrix_of_class(model: ClassGaussianModel, code: int) -> Floats:
    """Return the covariance or scale matrix of a class."""
    mine = np.asarray(model.spread[min(code, len(model.spread) - 1)], np.float64)
    return mine if mine.ndim == 2 else np.asarray(np.eye(len(model.inputs)) * mine, np.float64)


def _seen(model: ClassGaussianModel, moments: Moments) -> list[tuple[int, Any]]:
    """Return codes and labels of the classes that have rows."""
    return [(code, label) for code, label in enumerate(model.target.labels) if moments.weight[code] > 0]


def _of_means(found: Violation, model: ClassGaussianModel, moments: Moments) -> Violation:
    """Measure means in standard deviations, beyond the rounding of their last digit; those of no rows are unknown."""
    if not np.array_equal(np.isnan(model.means).all(axis=1), moments.weight == 0):
        return Violation(math.inf, "the classes that are unknown, which are not those without rows")
    for code, label in _seen(model, moments):
        roots = np.sqrt(np.diag(matrix_of_class(model, code)))
        off = np.abs(moments.mean[code] - model.means[code] + moments.rest[code])
        rounding = np.finfo(np.float64).eps * (np.abs(moments.mean[code]) + np.abs(model.means[code]))
        gaps = np.maximum(off - rounding, 0.0) / roots
        worst = int(np.argmax(gaps))
        found = found.or_larger(float(gaps[worst]), f"the mean of {model.inputs[worst].name} in class {label!r}")
    return found


def _of_spread(
    found: Violation, claim: Claim[ClassGaussian, ClassGaussianModel], model: ClassGaussianModel, moments: Moments
) -> Violation:
    wanted, intensities = wanted_spread(claim, moments)
    places = [(0, None)] if model.structure.is_tied else _seen(model, moments)
    for group, ((code, label), matrix) in enumerate(zip(places, wanted, strict=True)):
        who = "all classes" if model.structure.is_tied else f"class {label!r}"
        if intensities is not None and model.shrinkage is not None:
            gap = abs(intensities[group] - float(model.shrinkage[code]))
            found = found.or_larger(gap, f"the shrinkage of {who}")
        if model.structure.covariance == "sparse":
            found = _of_sparse(found, model, code, matrix, who)
        else:
            found = _of_matrix(found, model, matrix_of_class(model, code), matrix, who)
    return found


def _of_matrix(found: Violation, model: ClassGaussianModel, mine: Floats, wanted: Floats, who: str) -> Violation:
    roots = np.sqrt(np.diag(wanted))
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = np.nan_to_num(np.abs(mine - wanted) / roots[:, None] / roots, nan=math.inf)
    return _largest(found, model, gaps, who)


def _largest(found: Violation, model: ClassGaussianModel, gaps: Floats, who: str) -> Violation:
    first, second = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
    names = [model.inputs[place].name for place in sorted({int(first), int(second)})]
    return found.or_larger(float(gaps[first, second]), f"{' - '.join(names)} in {who}")


def _of_sparse(found: Violation, model: ClassGaussianModel, code: int, wanted: Floats, who: str) -> Violation:
    """Measure the conditions of known zeros, or of the graphical lasso, at the precision matrix that users see."""
    if model.precisions is None:
        return Violation(math.inf, "the precision matrices, which are not there")
    k = model.precisions[code]
    roots = np.sqrt(np.diag(wanted))
    covariance = np.linalg.solve(k * np.outer(roots, roots), np.eye(len(k)))  # in units of the data's variances
    found = _of_matrix(found, model, model.spread[code], covariance * np.outer(roots, roots), f"{who}, two inverses")
    slope = wanted / np.outer(roots, roots) - covariance
    if model.structure.graph is None:
        penalty = (model.structure.alpha or 0.0) / np.outer(roots, roots)
        np.fill_diagonal(penalty, 0.0)
        gaps = np.where(k != 0, np.abs(slope + penalty * np.sign(k)), np.maximum(np.abs(slope) - penalty, 0.0))
        return _largest(found, model, gaps, who)
    edge = _edges(model)
    stray = np.where(~edge & (k != 0), math.inf, 0.0)
    return _largest(found, model, np.where(edge, np.abs(slope), stray), who)


def _of_t(found: Violation, model: ClassGaussianModel, moments: Moments) -> Violation:
    for code, label in _seen(model, moments):
        dof, scale = wanted_t(model.structure, moments, code)
        who = f"class {label!r}"
        mine = math.nan if model.dof is None else float(model.dof[code])
        found = found.or_larger(abs(dof - mine) / max(1.0, abs(dof)), f"the degrees of freedom of {who}")
        found = _of_matrix(found, model, matrix_of_class(model, code), scale, who)
    return found


# Nats ---------------------------------------------------------------------------------------------------------


def _distance(claim: Claim[ClassGaussian, ClassGaussianModel], model: ClassGaussianModel, moments: Moments) -> Distance:
    """Return the decrement of class probabilities, means and covariances; of Student's t, standard deviations."""
    spec = model.structure.class_prior
    found = class_distance(spec, wanted_classes(spec, model.target, moments.weight), moments.weight, model.class_prior)
    for code, label in _seen(model, moments):
        rounding = EPS * (np.abs(moments.mean[code]) + np.abs(model.means[code]))
        shift = beyond(moments.mean[code] - model.means[code] + moments.rest[code], rounding)
        n, matrix = float(moments.weight[code]), matrix_of_class(model, code)
        if not model.structure.bayes:
            found += Distance.in_nats(mean_loss(n, matrix, shift), f"the means of class {label!r}")
            continue
        dof, scale = wanted_t(model.structure, moments, code)
        found += Distance.in_sds(math.sqrt(2 * mean_loss(n + 1, matrix, shift)), f"the means of class {label!r}")
        found += Distance.in_sds(
            matrix_deviation(dof, matrix, scale, 4 * EPS * np.abs(scale))
            if model.structure.form == "matrix"
            else matrix_deviation(dof, np.diag(np.diag(matrix))[:1, :1], scale[:1, :1], 0.0),
            f"the scale matrix of class {label!r}",
        )
    return found if model.structure.bayes else found + _spread_distance(claim, model, moments)


def _spread_distance(
    claim: Claim[ClassGaussian, ClassGaussianModel], model: ClassGaussianModel, moments: Moments
) -> Distance:
    """Return the decrement of the covariances of every class, or of the one matrix of all of them."""
    structure, found = model.structure, Distance()
    wanted, intensities = wanted_spread(claim, moments)
    places = [(0, None)] if structure.is_tied else _seen(model, moments)
    for group, ((code, label), matrix) in enumerate(zip(places, wanted, strict=True)):
        n = math.fsum(moments.weight) if structure.is_tied else float(moments.weight[code])
        rho = 0.0 if intensities is None else intensities[group]
        weight = n / (1 - rho) if rho < 1 else n  # the rows and those that the prior counts for
        who = "all classes" if structure.is_tied else f"class {label!r}"
        if structure.covariance == "sparse" and model.precisions is not None:
            covariance, gap, free = _sparse_gap(model, model.precisions[code], matrix)
            nats = sparse_matrix_loss(weight, covariance, gap, free)
        else:
            mine = matrix_of_class(model, code)
            nats = matrix_loss(weight, mine, beyond(mine - matrix, 4 * EPS * np.abs(mine)))
        found += Distance.in_nats(nats, f"the covariances of {who}")
    return found


def _sparse_gap(model: ClassGaussianModel, k: Floats, wanted: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return the covariance matrix in units of the data's, how far it misses, and which entries of K are free."""
    roots = np.sqrt(np.diag(wanted))
    precision = k * np.outer(roots, roots)
    covariance = np.linalg.solve(precision, np.eye(len(k)))
    rounding = 4 * EPS * np.abs(covariance) @ np.abs(precision) @ np.abs(covariance)
    slope = beyond(wanted / np.outer(roots, roots) - covariance, rounding)
    if model.structure.graph is not None:
        return covariance, slope, _edges(model)
    penalty = (model.structure.alpha or 0.0) / np.outer(roots, roots)
    np.fill_diagonal(penalty, 0.0)
    beside = np.sign(slope) * np.maximum(np.abs(slope) - penalty, 0.0)
    gap = np.where(k != 0, slope + penalty * np.sign(k), beside)
    return covariance, beyond(gap, rounding), (k != 0) | (gap != 0)


def _edges(model: ClassGaussianModel) -> NDArray[np.bool_]:
    """Return which entries of the precision matrices are free: the diagonal and the edges."""
    assert model.structure.graph is not None
    names = model.structure.inputs
    edge = np.eye(len(names), dtype=bool)
    for first, second in model.structure.graph.edges:
        a, b = names.index(first), names.index(second)
        edge[a, b] = edge[b, a] = True
    return edge


def _log_likelihood(model: ClassGaussianModel, moments: Moments) -> tuple[float, float]:
    """Return the log-likelihood by eigenvalues, and what rounding may do to it where they are far apart."""
    terms, rounding = [], 0.0
    for code, _ in _seen(model, moments):
        n = float(moments.weight[code])
        matrix = matrix_of_class(model, code)
        roots = np.sqrt(np.diag(matrix))
        values, vectors = np.linalg.eigh(matrix / np.outer(roots, roots))
        if not values[0] > 0:
            return math.nan, 0.0
        gap = moments.mean[code] - model.means[code] + moments.rest[code]
        seen = (moments.scatter[code] + n * np.outer(gap, gap)) / np.outer(roots, roots)
        squares = np.einsum("ji,jk,ki->i", vectors, seen, vectors) / values
        log_det = math.fsum(np.log(values)) + 2 * math.fsum(np.log(roots))
        p = float(model.class_prior[code])
        terms.append(-math.inf if p == 0 else n * math.log(p))
        terms.append(-0.5 * (n * (len(roots) * math.log(2 * math.pi) + log_det) + math.fsum(squares)))
        rounding += 1e-15 * n * len(roots) ** 2 * float(values[-1] / values[0])
    return sum(terms), rounding


def _normalisation(model: ClassGaussianModel) -> float:
    """Return how far the class probabilities are from a sum of one, and a sparse density's integral from one."""
    off = abs(math.fsum(model.class_prior) - 1)
    if model.precisions is None:
        return off
    for code in np.flatnonzero(~np.isnan(model.means).all(axis=1)):
        k, covariance = model.precisions[code], model.spread[code]
        roots = np.sqrt(np.diag(covariance))
        unit = np.outer(roots, roots)
        off = max(off, integral_gap(k * unit, covariance / unit))
    return off
