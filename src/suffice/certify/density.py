"""Proof of a log-linear density: its expectations by another quadrature than the fitter's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.certify.certificate import Certificate, Measured
from suffice.certify.claim import Claim
from suffice.certify.feature_values import data_moments, matrix_at, on_grid
from suffice.certify.judgement import judged, unfit
from suffice.certify.weight_decrement import WeightCurvature, decrement_at
from suffice.certify.weight_residual import residual_of
from suffice.errors import ModelError
from suffice.models.feature_base import BaseTerm
from suffice.structures.feature_rules import main_effects
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.log_linear_density import LogLinearDensity
    from suffice.structures.features import Features


def certify(claim: Claim[Features, LogLinearDensity]) -> Certificate:
    """Measure the expectations of the features on other nodes."""
    features = claim.structure.resolved(claim.statistics.schema)
    names = tuple(feature.name for feature in features)
    words = _claim(claim)
    if names != tuple(claim.model.weights):
        return unfit(claim, words, "the weights, which are not those of the features")
    weights = claim.model.weights.to_numpy()
    if not np.isfinite(weights).all():
        return unfit(claim, words, "the weights, which are not finite")
    columns, volume = _checking_nodes(claim)
    log_h = _log_base(claim, columns) + volume
    values = matrix_at(features, columns)
    log_z, p = _normalised(values, weights, log_h)
    expected = p @ values
    means = data_moments(claim, features)[0]
    variance = p @ (values - expected) ** 2
    unit = np.sqrt(variance)
    main = main_effects(features)
    residual, worst = residual_of(claim, names, weights, expected - means, unit, variance, main)
    deviations = (values - expected) * np.sqrt(p)[:, None]
    curvature = WeightCurvature(p @ np.abs(values), deviations.T @ deviations)
    none = np.zeros(len(names), bool)
    decrement, decrement_worst = decrement_at(claim, names, weights, none, expected - means, main, curvature)
    total = claim.statistics.weight
    off = _off(claim, columns, volume, p)
    value = float(weights.dot(means)) - log_z
    dual = value + _log_total(claim, columns, log_h)
    return judged(
        claim,
        Measured(
            claim=words,
            residual=residual,
            worst=worst,
            log_likelihood=total * value,
            normalisation=off,
            exists="yes" if claim.prior is not None or residual <= claim.tol else "undecided",
            condition="the first-order condition" if claim.prior is not None else "the match of expectations",
            moment_gap=None if claim.prior is not None else float(np.abs(expected - means).max(initial=0.0)),
            dual=None if claim.prior is not None else dual,
            duality_gap=None if claim.prior is not None else abs(float(weights.dot(expected - means))),
            rounding=1e-12 * total * max(1.0, abs(log_z)),
            decrement=decrement,
            decrement_worst=decrement_worst,
        ),
    )


def _checking_nodes(claim: Claim[Features, LogLinearDensity]) -> tuple[dict[str, Any], Floats]:
    """Return all configurations of states and of other nodes than the fitter's, and the logarithms of their weights."""
    rules, schema, names = claim.model.nodes(variant=1), claim.statistics.schema, claim.structure.variables
    sizes = tuple(len(rules[name].nodes) if name in rules else schema[name].n_states for name in names)
    columns = on_grid(names, sizes, {name: rule.nodes for name, rule in rules.items()})
    volume = np.zeros(math.prod(sizes))
    for name, axis in zip(names, np.unravel_index(np.arange(math.prod(sizes)), sizes), strict=True):
        if name in rules:
            volume += rules[name].log_weights[axis]
    return columns, volume


def _log_base(claim: Claim[Features, LogLinearDensity], columns: Mapping[str, Any]) -> Floats:
    """Return log h as the problem has it, whatever the model says."""
    total = np.zeros(len(next(iter(columns.values()))))
    with np.errstate(divide="ignore"):
        for entry in claim.base:
            if isinstance(entry, BaseTerm):
                total += np.log(entry.rule.at([columns[name] for name in entry.scope]))
            else:
                total += np.log(entry.values[tuple(columns[name] for name in entry.names)])
    return total


def _normalised(values: Floats, weights: Floats, log_h: Floats) -> tuple[float, Floats]:
    """Return log Z and the probabilities; not-a-number where there is nothing to normalise."""
    with np.errstate(over="ignore", invalid="ignore"):
        log_p = values @ weights + log_h
        top = float(log_p.max())
        p = np.exp(log_p - top)
        return top + math.log(float(p.sum())) if math.isfinite(top) else math.nan, p / p.sum()


def _off(claim: Claim[Features, LogLinearDensity], columns: Mapping[str, Any], volume: Floats, p: Floats) -> float:
    """Return how far the model's own density is from these probabilities, and hence its total from one."""
    try:
        own = claim.model.log_prob_of(columns, len(p)) + volume
    except ModelError:
        return math.inf
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.abs(np.exp(own) - p).sum())


def _log_total(claim: Claim[Features, LogLinearDensity], columns: Mapping[str, Any], log_h: Floats) -> float:
    """Return the logarithm of h's total, for the divergence from h as a distribution; zero where it has no total."""
    for name, (low, high) in claim.structure.support:
        for end, last in ((low, columns[name].min()), (high, columns[name].max())):
            there = columns[name] == last
            if math.isinf(end) and log_h[there].max() > log_h.max() + math.log(1e-12):
                return 0.0
    return float(np.logaddexp.reduce(log_h))


def _claim(claim: Claim[Features, LogLinearDensity]) -> str:
    if claim.point != "mle":
        return "posterior mode of the weights"
    if claim.statistics.n_read:
        return "maximum likelihood"
    return "least divergence from the base measure" if claim.base else "maximum entropy"
