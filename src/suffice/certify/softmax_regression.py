"""Proof of a softmax regression: the gradient of Σ log p(y | x) and the prior, from the model's own probabilities."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.certify.certificate import Certificate, Measured, verdict
from suffice.certify.claim import Claim
from suffice.certify.softmax_decrement import decrement
from suffice.certify.softmax_existence import Existence, existence
from suffice.certify.softmax_rows import Recomputed, information_gap, recomputed
from suffice.priors.penalty import Gaussian, Laplace
from suffice.stats.needs import Count
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.softmax_model import SoftmaxModel
    from suffice.structures.softmax_regression import SoftmaxClasses

WORDS = {"yes": "", "no": ", which does not exist", "undecided": ", if there is one, which is undecided"}


def certify(claim: Claim[SoftmaxClasses, SoftmaxModel]) -> Certificate:
    """Measure the gradient of the conditional likelihood, and of the prior."""
    found = recomputed(claim)
    by_intercept, by_weights = found.by_intercept, found.by_weights
    if claim.prior is not None:
        by_weights = _under_prior(claim, by_weights, found)
    scaled = by_weights / found.units[:, None]
    residual, worst = _largest(claim, scaled, by_intercept)
    left, term, code = decrement(claim, found, by_weights, found.by_weights)
    exists, boundary = Existence("yes") if claim.prior is not None else existence(claim, found)
    kind = (
        "maximum conditional likelihood" if claim.point == "mle" else "posterior mode of the weights, given the inputs"
    )
    target = claim.structure.target
    counted = np.asarray(claim.statistics[Count((target,))].table(), np.float64)
    gap = np.abs(found.counts - counted)
    data_gap, data_worst = float(gap.max(initial=0.0)) / max(found.total, 1.0), _class(claim, int(np.argmax(gap)))
    if claim.model.information is not None and exists != "no":
        data_gap, data_worst = max(
            (data_gap, data_worst), (information_gap(claim), "the information, which standard errors are made of")
        )
    certificate = verdict(
        Measured(
            claim=kind + WORDS[exists],
            residual=residual,
            worst=worst,
            log_likelihood=found.log_likelihood,
            normalisation=found.normalisation,
            exists=exists,
            condition="the first-order condition" if claim.prior is not None else "the match of moments",
            data_gap=data_gap,
            data_worst=data_worst,
            moment_gap=None if claim.prior is not None else found.moment_gap,
            boundary=boundary,
            rounding=1e-13 * found.total,
            decrement=left,
            decrement_worst=_parameter(claim, term, code),
        ),
        claim.log_likelihood,
        claim.tol,
        claim.interrupted,
    )
    return certificate if exists != "no" or not certificate.ok else replace(certificate, verdict=_without(certificate))


def _class(claim: Claim[SoftmaxClasses, SoftmaxModel], code: int) -> str:
    return f"the class {claim.model.target.labels[code]!r}"


def _without(certificate: Certificate) -> str:
    """Say first that there is no maximum, then what holds where the search ended."""
    return (
        f"The maximum conditional likelihood does not exist: {certificate.boundary}, and weights run away. Where the "
        f"search ended, the match of moments holds within {certificate.gradient_norm:.2g} (tolerance "
        f"{certificate.tol:g}), so that little is left to gain."
    )


def _under_prior(claim: Claim[SoftmaxClasses, SoftmaxModel], by_weights: Floats, found: Recomputed) -> Floats:
    """Return the derivatives with the prior's; where it has a kink, the smallest that one of its slopes leaves."""
    weights, prior = claim.model.weights, claim.prior
    if isinstance(prior, Gaussian):
        return np.asarray(by_weights + weights / prior.width**2 / found.total)
    assert isinstance(prior, Laplace)
    cost = 1 / prior.width / found.total
    at_kink = np.sign(by_weights) * np.maximum(np.abs(by_weights) - cost, 0.0)
    return np.where(weights == 0, at_kink, by_weights + cost * np.sign(weights))


def _largest(claim: Claim[SoftmaxClasses, SoftmaxModel], scaled: Floats, by_intercept: Floats) -> tuple[float, str]:
    sizes = np.abs(np.concatenate([by_intercept[None], scaled]))
    sizes = np.where(np.isnan(sizes), np.inf, sizes)
    term, code = np.unravel_index(int(np.argmax(sizes)), sizes.shape)
    return float(sizes[term, code]), _parameter(claim, int(term), int(code))


def _parameter(claim: Claim[SoftmaxClasses, SoftmaxModel], term: int, code: int) -> str:
    name = "the intercept" if term == 0 else f"the weight of {str(claim.model.terms[term - 1])!r}"
    return f"{name} for {claim.model.target.labels[code]!r}"
