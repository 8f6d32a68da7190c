"""Proof for finite hypothesis spaces: Bayes' rule again, in exact fractions while they stay small."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured
from suffice.certify.claim import Claim
from suffice.certify.judgement import judged
from suffice.optimise.distance import EPS, Distance
from suffice.priors.hypothesis_weights import prior_weights
from suffice.stats.needs import Count
from suffice.structures.hypotheses import Hypotheses

if TYPE_CHECKING:
    from suffice.models.hypothesis_mixture import HypothesisMixture

CLAIMS = {
    "mle": "likeliest hypothesis",
    "mean": "average of the hypotheses under their posterior, which is no optimum",
    "map": "most probable hypothesis",
}
EXACT_ROWS = 2000


def certify(claim: Claim[Hypotheses, HypothesisMixture]) -> Certificate:
    """Recompute the weights of the hypotheses."""
    hypotheses: Hypotheses = claim.structure
    counts = claim.statistics[Count((hypotheses.over,))]
    seen = [(counts.variables[0].labels[cell[0]], weight) for cell, weight in zip(*counts.nonzero(), strict=True)]
    prior = None if claim.prior is None else prior_weights(hypotheses, claim.prior)
    expected = _weights(hypotheses, seen, prior)
    if claim.point != "mean":
        # Of equally good hypotheses the first is taken, as the fit's notes say.
        expected = np.where(
            np.arange(len(expected)) == int(np.argmax(expected >= expected.max() * (1 - 1e-12))), 1.0, 0.0
        )
    gaps = np.abs(expected - claim.model.weights)
    p = {label: math.exp(v) for label, v in zip([s for s, _ in seen], _log_p(claim, seen), strict=True)}
    log_likelihood = math.fsum(float(weight) * math.log(p[label]) if p[label] else -math.inf for label, weight in seen)
    measured = Measured(
        claim=CLAIMS[claim.point],
        residual=float(gaps.max()),
        worst=f"hypothesis {hypotheses.names[int(np.argmax(gaps))]!r}",
        log_likelihood=log_likelihood,
        normalisation=abs(math.fsum(claim.model.table.values) - 1),
        condition="Bayes' rule, recomputed,",
        **_distance(claim, expected).as_measured(),
    )
    return judged(claim, measured)


def _distance(claim: Claim[Hypotheses, HypothesisMixture], expected: NDArray[np.float64]) -> Distance:
    """Return how far weights are off: as means of what is true or false, in standard deviations √(w (1 − w)).

    A chosen hypothesis has all the weight, or none of it.
    """
    found, names = np.asarray(claim.model.weights, np.float64), claim.structure.names
    if claim.point != "mean":
        return Distance.in_nats(0.0 if np.array_equal(found, expected) else math.inf, "the choice of a hypothesis")
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.maximum(np.abs(found - expected) - 4 * EPS, 0.0)
        sds = np.where(off > 0, off / np.sqrt(expected * (1 - expected)), 0.0)
    return Distance.of_rows(sds, lambda row: f"hypothesis {names[row]!r}", of_mean=True)


def _log_p(claim: Claim[Hypotheses, HypothesisMixture], seen: list[tuple[object, float]]) -> list[float]:
    return (
        []
        if not seen
        else [float(v) for v in claim.model.log_prob({claim.structure.over: [label for label, _ in seen]})]
    )


def _weights(
    hypotheses: Hypotheses, seen: list[tuple[object, float]], prior: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    exact = sum(weight for _, weight in seen) <= EXACT_ROWS and all(float(weight).is_integer() for _, weight in seen)
    weights = []
    for position, name in enumerate(hypotheses.names):
        p = _fractions(hypotheses, name)
        consistent = all(p.get(label) for label, _ in seen)
        start = Fraction(1) if prior is None else Fraction(float(prior[position]))
        weights.append((start if consistent else Fraction(0), [(p[label], w) for label, w in seen if p.get(label)]))
    if exact:
        joint = [start * math.prod((p ** int(w) for p, w in factors), start=Fraction(1)) for start, factors in weights]
        return np.array([float(value / sum(joint)) for value in joint])
    logs = [
        math.fsum(w * math.log(p) for p, w in factors) + math.log(start) if start else -math.inf
        for start, factors in weights
    ]
    scaled = [math.exp(value - max(logs)) for value in logs]
    return np.array(scaled) / math.fsum(scaled)


def _fractions(hypotheses: Hypotheses, name: str) -> dict[object, Fraction]:
    """Return the probability of each outcome under a hypothesis, without rounding."""
    outcomes = hypotheses.outcomes(name)
    if hypotheses.probabilities[hypotheses.names.index(name)] is None:
        return dict.fromkeys(outcomes, Fraction(1, len(outcomes)))
    return {label: Fraction(p) for label, p in hypotheses.distribution(name).items()}
