"""Proof for finite hypothesis spaces: Bayes' rule again, in exact fractions while they stay small."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured
from suffice.certify.claim import Claim
from suffice.certify.judgement import judged
from suffice.priors.hypothesis_weights import prior_weights
from suffice.stats.needs import Count
from suffice.structures.hypotheses import Hypotheses

CLAIMS = {
    "mle": "likeliest hypothesis",
    "mean": "average of the hypotheses under their posterior, which is no optimum",
    "map": "most probable hypothesis",
}
EXACT_ROWS = 2000


def certify(claim: Claim) -> Certificate:
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
    )
    return judged(claim, measured)


def _log_p(claim: Claim, seen: list[tuple[object, float]]) -> list[float]:
    return (
        []
        if not seen
        else [float(v) for v in claim.model.log_prob({claim.structure.over: [label for label, _ in seen]})]
    )


def _weights(
    hypotheses: Hypotheses, seen: list[tuple[object, float]], prior: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    n = sum(weight for _, weight in seen)
    exact = n <= EXACT_ROWS and float(n).is_integer()
    weights = []
    for position, outcomes in enumerate(hypotheses.sets):
        consistent = all(label in outcomes for label, _ in seen)
        start = Fraction(1) if prior is None else Fraction(float(prior[position]))
        weights.append((start, len(outcomes)) if consistent else (Fraction(0), len(outcomes)))
    if exact:
        joint = [start * Fraction(1, size) ** int(n) for start, size in weights]
        return np.array([float(value / sum(joint)) for value in joint])
    smallest = min(size for start, size in weights if start)
    scaled = [float(start) * (smallest / size) ** n for start, size in weights]
    return np.array(scaled) / math.fsum(scaled)
