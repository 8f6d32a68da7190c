"""Proof of a pseudo-likelihood fit: the gradient of Σ log p(x_v | all others), each feature evaluated anew."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured
from suffice.certify.claim import Claim
from suffice.certify.feature_values import sparse_values
from suffice.certify.judgement import judged, unfit
from suffice.certify.near_interior import is_near_interior
from suffice.certify.weight_decrement import WeightCurvature, decrement_at
from suffice.certify.weight_residual import residual_of
from suffice.stats.needs import Distinct
from suffice.structures.feature_rules import main_effects
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.log_linear import LogLinear
    from suffice.structures.features import Features

BLOCK = 1 << 14
"""Rows that are looked at together."""


def certify(claim: Claim[Features, LogLinear]) -> Certificate:
    """Measure the gradient of the pseudo-likelihood."""
    features = claim.structure.resolved(claim.statistics.schema)
    names = tuple(feature.name for feature in features)
    limits = ~np.isfinite(claim.model.weights.to_numpy())
    words = "posterior mode under the pseudo-likelihood" if claim.point == "map" else "maximum pseudo-likelihood"
    if names != tuple(claim.model.weights):
        return unfit(claim, words, "the weights, which are not those of the features")
    weights = np.where(limits, 0.0, claim.model.weights.to_numpy())
    seen, spread, main = _Conditionals(claim, features, weights), _spread(claim, features), main_effects(features)
    residual, worst = residual_of(claim, names, weights, seen.gaps, spread, seen.variance, main)
    curvature = WeightCurvature(seen.size, None, seen.curvature, seen.variance)
    decrement, decrement_worst = decrement_at(claim, names, weights, limits, seen.gaps, main, curvature)
    exists = "no" if limits.any() else "yes" if claim.prior is not None else "undecided"
    if exists == "undecided" and residual <= claim.tol and _exists(claim, weights, limits, seen.gaps, spread):
        exists = "yes"
    return judged(
        claim,
        Measured(
            claim=words,
            residual=residual,
            worst=worst,
            log_likelihood=seen.log_likelihood,
            normalisation=seen.off,
            exists=exists,
            condition="the first-order condition of the pseudo-likelihood",
            rounding=1e-13 * claim.statistics.weight * len(claim.structure.variables),
            decrement=decrement,
            decrement_worst=decrement_worst,
        ),
    )


def _exists(
    claim: Claim[Features, LogLinear], weights: Floats, limits: NDArray[np.bool_], gaps: Floats, spread: Floats
) -> bool:
    """Whether a small change of the conditional probabilities has a gradient of zero: then the estimate exists."""
    from suffice.inference.pseudo_family import PseudoFamily
    from suffice.models.feature_design import design_of

    design = design_of(claim.structure, claim.statistics.schema)
    rows = claim.statistics[Distinct(claim.structure.columns)]
    point = PseudoFamily(design.layout, design.matrix, rows.codes(list(design.names)), rows.weights).at(weights)
    variance = np.maximum(np.array([1e-6]), spread**2 / 4)
    return not limits.any() and is_near_interior(-gaps, point.curvature, lambda gap: gap / variance, spread)


class _Conditionals:
    """The conditional distributions of all variables, each feature evaluated anew on the distinct rows."""

    def __init__(self, claim: Claim[Features, LogLinear], features: Any, weights: Floats) -> None:
        self.claim, self.features, self.weights = claim, features, weights
        self.total = claim.statistics.weight or 1.0
        self.gaps, self.variance, self.size = (np.zeros(len(features)) for _ in range(3))
        self.log_likelihood, self.off = 0.0, 0.0
        for shares, log_p, own, values in self._blocks():
            rows, p = (np.arange(len(shares)), own), np.exp(log_p)
            self.off = max(self.off, float(np.abs(p.sum(axis=1) - 1).max(initial=0.0)))
            self.log_likelihood += self.total * float(shares.dot(log_p[rows]))
            for number, f in values:
                mean = (p * f).sum(axis=1)
                self.gaps[number] += float(shares.dot(mean - f[rows]))
                self.variance[number] += max(float(shares.dot((p * f**2).sum(axis=1) - mean**2)), 0.0)
                self.size[number] += float(shares.dot((p * np.abs(f)).sum(axis=1)))

    def _blocks(self) -> Iterator[tuple[Floats, Floats, NDArray[np.int64], list[tuple[int, Floats]]]]:
        """Yield by variable and some rows: shares, log p of its states, its own, and terms of features by state."""
        claim, weights = self.claim, self.weights
        schema, names = claim.statistics.schema, claim.structure.variables
        rows = claim.statistics[Distinct(names)]
        held = {v.name: column.astype(np.int64) for v, column in zip(rows.variables, rows.columns, strict=True)}
        touching: dict[str, list[tuple[int, Any]]] = {name: [] for name in names}
        for number, feature in enumerate(self.features):
            for term in feature.terms:
                for name in term.scope:
                    touching[name].append((number, term))
        for start in range(0, rows.n_rows, BLOCK):
            part = {name: column[start : start + BLOCK] for name, column in held.items()}
            shares = rows.weights[start : start + BLOCK] / self.total
            for name in names:
                n, m = len(shares), schema[name].n_states
                needed = {other for _, term in touching[name] for other in term.scope}
                needed |= {other for table in claim.model.support if name in table.names for other in table.names}
                columns = {other: np.repeat(part[other], m) for other in needed}
                columns[name] = np.tile(np.arange(m), n)
                scores = _log_left(claim, name, columns).reshape(n, m)
                values = []
                for number, term in touching[name]:
                    values.append((number, term.at(columns).reshape(n, m)))
                    scores = scores + weights[number] * values[-1][1]
                scores = scores - scores.max(axis=1, keepdims=True)
                yield shares, scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)), part[name], values

    def curvature(self, direction: Floats) -> Floats:
        """Return the sum of the mean covariances of all variables times a direction."""
        found = np.zeros(len(direction))
        for shares, log_p, _, values in self._blocks():
            p = np.exp(log_p)
            along = sum((direction[number] * f for number, f in values), start=np.zeros_like(p))
            change = p * (along - (p * along).sum(axis=1, keepdims=True)) * shares[:, None]
            for number, f in values:
                found[number] += float((change * f).sum())
        return found


def _spread(claim: Claim[Features, LogLinear], features: Any) -> Floats:
    """Return the largest minus the least value of every feature, term by term."""
    sizes = {name: claim.statistics.schema[name].n_states for name in claim.structure.variables}
    found, known = np.zeros(len(features)), dict[Any, float]()
    for number, feature in enumerate(features):
        for term in feature.terms:
            shape = tuple(sizes[name] for name in term.scope)
            if (term.rule, shape) not in known:
                values = sparse_values(term, sizes)[1]
                zero = [0.0] if len(values) < math.prod(shape) else []
                known[term.rule, shape] = float(np.ptp([*values, *zero]))
            found[number] += known[term.rule, shape]
    return found


def _log_left(claim: Claim[Features, LogLinear], name: str, columns: dict[str, Any]) -> Floats:
    """Return zero where the model's support leaves a configuration, else −inf."""
    left = np.ones(len(columns[name]))
    for table in claim.model.support:
        if name in table.names:
            left = left * table.values[tuple(columns[other] for other in table.names)]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(left), np.float64)
