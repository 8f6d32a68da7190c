"""Proof of a softmax regression: the gradient of Σ log p(y | x) and of the prior, from the model's own probabilities.

Existence is proven by curvature. Along a direction v the third derivative of the objective is at most D(v) times the
second, D(v) the largest range of v · f over the classes of one row; a function without a minimum would have
|g · v| D(v) ≥ vᵀHv for some v. For probabilities p of the K classes, diag p − ppᵀ is at least min p times the matrix
that takes out the mean, so that H ≥ A ⊗ (I − 11ᵀ/K) with A = Σ w min(p) f fᵀ / N, from any of the rows. Hence
√(Σ_k g_kᵀA⁻¹g_k) · √2 · max √(fᵀA⁻¹f) < 1 rules that out.

References
----------
Bach (2010), Self-concordant analysis for logistic regression, EJS 4, 384–414.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured, verdict
from suffice.certify.claim import Claim
from suffice.certify.softmax_rows import Recomputed, cases_of, leverage, recomputed
from suffice.models.cpds.softmax_trouble import separated
from suffice.priors.penalty import Gaussian, Laplace
from suffice.stats.needs import Count

Floats = NDArray[np.float64]
PROVEN = 1e-2
"""Below one by so much that rounding error could not matter."""
FAR = 8.0
"""Weights that reach farther, in units of their terms, are taken for running away until the contrary is shown."""


def certify(claim: Claim) -> Certificate:
    """Measure the gradient of the conditional likelihood, and of the prior."""
    found = recomputed(claim)
    by_intercept, by_weights = found.by_intercept, found.by_weights
    if claim.prior is not None:
        by_weights = _under_prior(claim, by_weights, found)
    scaled = by_weights / found.units[:, None]
    residual, worst = _largest(claim, scaled, by_intercept)
    exists = "yes" if claim.prior is not None else _exists(claim, found, residual)
    approached = ", approached: it does not exist" if exists == "no" else ""
    kind = (
        "maximum conditional likelihood" if claim.point == "mle" else "posterior mode of the weights, given the inputs"
    )
    target = claim.structure.target
    counted = np.asarray(claim.statistics[Count((target,))].table(), np.float64)
    gap = np.abs(found.counts - counted)
    return verdict(
        Measured(
            claim=kind + approached,
            residual=residual,
            worst=worst,
            log_likelihood=found.log_likelihood,
            normalisation=found.normalisation,
            exists=exists,
            condition="the first-order condition" if claim.prior is not None else "the match of moments",
            data_gap=float(gap.max(initial=0.0)) / max(found.total, 1.0),
            data_worst=f"the class {claim.model.target.labels[int(np.argmax(gap))]!r}",
            moment_gap=None if claim.prior is not None else found.moment_gap,
            boundary="slopes run away" if exists == "no" else "",
            rounding=1e-13 * found.total,
        ),
        claim.log_likelihood,
        claim.tol,
        claim.interrupted,
    )


def _under_prior(claim: Claim, by_weights: Floats, found: Recomputed) -> Floats:
    """Return the derivatives with the prior's; where it has a kink, the smallest that one of its slopes leaves."""
    weights, prior = claim.model.weights, claim.prior
    if isinstance(prior, Gaussian):
        return np.asarray(by_weights + weights / prior.width**2 / found.total)
    assert isinstance(prior, Laplace)
    cost = 1 / prior.width / found.total
    at_kink = np.sign(by_weights) * np.maximum(np.abs(by_weights) - cost, 0.0)
    return np.where(weights == 0, at_kink, by_weights + cost * np.sign(weights))


def _largest(claim: Claim, scaled: Floats, by_intercept: Floats) -> tuple[float, str]:
    model = claim.model
    sizes = np.abs(np.concatenate([by_intercept[None], scaled]))
    sizes = np.where(np.isnan(sizes), np.inf, sizes)
    term, code = np.unravel_index(int(np.argmax(sizes)), sizes.shape)
    name = "the intercept" if term == 0 else f"the weight of {str(model.terms[term - 1])!r}"
    return float(sizes[term, code]), f"{name} for {model.target.labels[int(code)]!r}"


# Existence ----------------------------------------------------------------------------------------------------


def _exists(claim: Claim, found: Recomputed, residual: float) -> str:
    if found.curvature is not None and _is_proven(claim, found):
        return "yes"
    model = claim.model
    reach = np.abs((model.weights - model.weights.mean(axis=1, keepdims=True)) * found.units[:, None])
    if residual <= claim.tol and float(reach.max(initial=0.0)) <= FAR:
        return "undecided"
    cases = cases_of(claim) if claim.structure.intercept else None
    return "no" if cases is not None and separated(cases) is not None else "undecided"


def _is_proven(claim: Claim, found: Recomputed) -> bool:
    """Whether the gradient is too small for the curvature to leave room for a direction of escape."""
    assert found.curvature is not None
    size = np.sqrt(np.diag(found.curvature))
    if not (size > 0).all():
        return False
    try:
        root = np.linalg.inv(np.linalg.cholesky(found.curvature / size / size[:, None])) / size
    except np.linalg.LinAlgError:
        return False
    decrement = math.sqrt(2) * float(np.linalg.norm(root @ found.raw))
    if decrement * float(np.linalg.norm(root, axis=0).dot(found.extents)) < PROVEN:
        return True
    return decrement * leverage(claim, root) < PROVEN
