"""Proof of naive Bayes: the score residual of the class and of every input, each from its own statistic.

Normal columns without a prior are proven all at once, in the longest floats there are.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured
from suffice.certify.claim import Claim
from suffice.certify.directed import CLAIMS
from suffice.certify.joint_classes import class_distance
from suffice.certify.judgement import judged
from suffice.certify.violation import Violation
from suffice.models.cpds.linear_gaussian_kind import LinearGaussianKind
from suffice.models.naive_parts import NaivePart, parts_of, prior_for
from suffice.optimise.distance import Distance, beyond, shortfall
from suffice.stats.needs import Count
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.naive import NaiveModel
    from suffice.structures.naive import Naive

Wide = NDArray[np.longdouble]

CLASS_PRIORS = {
    "counted": "",
    "smoothed": ", class probabilities smoothed",
    "uniform": ", class probabilities uniform",
    "given": ", class probabilities given",
}


def certify(claim: Claim[Naive, NaiveModel]) -> Certificate:
    """Measure every residual, through the distributions that users see."""
    structure, schema, model = claim.structure, claim.statistics.schema, claim.model
    parts = parts_of(structure, schema)
    m = [Fraction(float(value)) for value in claim.statistics[Count((structure.target,))].table()]
    pi = [Fraction(float(p)) for p in model.class_prior]
    wanted = _wanted_classes(structure.class_prior, schema[structure.target], m)
    found = Violation(max(abs(float(p - w)) for p, w in zip(pi, wanted, strict=True)), "the class probabilities")
    distance = class_distance(structure.class_prior, wanted, m, model.class_prior)
    normalisation = abs(float(sum(pi) - 1))
    terms = [float(n) * _log(p) for n, p in zip(m, pi, strict=True) if n > 0]
    moved = [name for name, part in parts.items() if model.cpd(name).family != part.family]
    if moved:
        found = Violation(math.inf, f"column {moved[0]!r}, whose states are not those of the statistics")
        parts = {}
    normal = {name: part for name, part in parts.items() if _is_normal(part, claim.prior)}
    if normal:
        gaps, nats, more = _normal_gaps(claim, normal)
        terms += more
        distance += Distance.of_rows(nats, lambda place: f"column {list(normal)[place]!r}")
        found = found.or_larger(float(gaps.max()), f"column {list(normal)[int(np.argmax(gaps))]!r}")
    for name, part in parts.items():
        if name in normal:
            continue
        cpd, statistic = model.cpd(name), part.statistic(claim.statistics)
        prior = prior_for(claim.prior, part.kind)
        pseudo = None if prior is None else prior.pseudo(part.family, claim.point)
        found = found.or_larger(part.kind.residual(cpd, statistic, pseudo), f"column {name!r}")
        distance += part.kind.distance(cpd, statistic, pseudo, None, claim.point).inside(f"column {name!r}")
        normalisation = max(normalisation, part.kind.normalisation(cpd))
        terms += part.kind.log_likelihood_terms(cpd, statistic)
    return judged(
        claim,
        Measured(
            claim=_claimed(claim, parts),
            residual=found.size,
            worst=found.where,
            log_likelihood=-math.inf if -math.inf in terms else math.fsum(terms),
            normalisation=normalisation,
            condition="the conjugate formula" if claim.point == "mean" else "the first-order condition",
            **distance.as_measured(),
        ),
    )


def _is_normal(part: NaivePart, prior: Any) -> bool:
    return isinstance(part.kind, LinearGaussianKind) and prior_for(prior, part.kind) is None


def _normal_gaps(claim: Claim[Naive, NaiveModel], parts: dict[str, NaivePart]) -> tuple[Floats, Floats, list[float]]:
    """Return the largest miss of every normal column, its decrement, and terms that add up to their log-likelihood.

    Means miss in standard deviations, beyond the rounding of their last digit; variances relative to themselves.
    """
    moments = [part.statistic(claim.statistics) for part in parts.values()]
    cpds = [claim.model.cpd(name) for name in parts]
    n = np.stack([one.weight for one in moments], axis=1).astype(np.longdouble)
    mean = np.stack([one.mean[:, 0] for one in moments], axis=1)
    rest = np.stack([one.rest[:, 0] for one in moments], axis=1)
    scatter = np.stack([one.scatter[:, 0, 0] for one in moments], axis=1)
    claimed = np.stack([cpd.intercept for cpd in cpds], axis=1)
    v = np.stack([cpd.variance for cpd in cpds], axis=1).astype(np.longdouble)
    seen = n > 0
    gap = np.where(seen, mean.astype(np.longdouble) - claimed + rest, 0)
    squares = np.where(seen, scatter + n * gap * gap, 0)
    tied = np.array([part.kind.tied != "none" for part in parts.values()])  # type: ignore[attr-defined]
    spent = np.array([part.kind.divisor != "n" for part in parts.values()]).astype(np.longdouble)  # type: ignore[attr-defined]
    divisor = np.where(seen, n - spent, 0)
    together = _positive(divisor.sum(axis=0))
    wanted = np.where(tied, squares.sum(axis=0) / together, squares / _positive(divisor))
    rounding = 2 * np.finfo(np.float64).eps * (np.abs(mean) + np.abs(claimed))
    misses = np.maximum(0, np.abs(gap) - rounding) / np.sqrt(v)
    misses = np.where(seen, np.maximum(misses, np.abs(wanted / v - 1)), 0)
    with np.errstate(invalid="ignore"):
        lost = np.where(seen, n * beyond(gap, rounding) ** 2 / v + divisor * shortfall(wanted / v - 1), 0) / 2
        unequal = tied & (np.where(seen, v, v.max(axis=0)) != v.max(axis=0)).any(axis=0)
    nats = np.where(unequal, math.inf, lost.sum(axis=0)).astype(np.float64)
    terms = np.where(seen, -0.5 * (n * np.log(2 * np.longdouble(math.pi) * v) + squares / v), 0)
    worst = misses.max(axis=0).astype(np.float64)
    return np.where(np.isnan(worst), math.inf, worst), nats, terms.sum(axis=0).astype(np.float64).tolist()


def _positive(divisor: Wide) -> Wide:
    """Return a divisor; one where it is not above zero, of classes without rows."""
    return np.where(divisor > 0, divisor, np.longdouble(1))


def _log(p: Fraction) -> float:
    return math.log(p) if p > 0 else -math.inf


def _wanted_classes(prior: Any, target: Any, m: list[Fraction]) -> list[Fraction]:
    """Return what the class probabilities are said to be, in exact fractions."""
    if prior.kind == "given":
        told = dict(prior.given)
        return [Fraction(told[label]) if label in told else _loosely(prior, target, label) for label in target.labels]
    if prior.kind == "uniform":
        return [Fraction(1, len(m))] * len(m)
    seen = [n + Fraction(prior.pseudo) for n in m]
    return [n / sum(seen) for n in seen]


def _loosely(prior: Any, target: Any, label: Any) -> Fraction:
    """Return the given probability of a class whose label was written in another type, such as '1' for 1."""
    return next(Fraction(p) for told, p in prior.given if target.find(told) == target.code(label))


def _claimed(claim: Claim[Naive, NaiveModel], parts: dict[str, NaivePart]) -> str:
    """Say what the fit claims to be: a prior may leave some columns to maximum likelihood."""
    said = CLAIMS[claim.point]
    kinds = {part.kind for part in parts.values()}
    if claim.prior is not None and any(prior_for(claim.prior, kind) is None for kind in kinds):
        said += ", and maximum likelihood where there is no prior"
    ways = dict.fromkeys(kind.departs() for kind in kinds if prior_for(claim.prior, kind) is None)
    departures = [way for way in ways if way]
    said += f", but for {' and '.join(departures)}" if departures else ""
    return said + CLASS_PRIORS[claim.structure.class_prior.kind]


__all__ = ["certify"]
