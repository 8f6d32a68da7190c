"""Proof of a log-linear density: its expectations by another quadrature than the fitter's."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured, verdict
from suffice.certify.claim import Claim
from suffice.certify.feature_values import data_moments, matrix_at, on_grid
from suffice.certify.recount import recount_gap
from suffice.certify.weight_residual import residual_of

Floats = NDArray[np.float64]


def certify(claim: Claim) -> Certificate:
    """Measure the expectations of the features on other nodes."""
    features = claim.structure.resolved(claim.statistics.schema)
    names = tuple(feature.name for feature in features)
    words = _claim(claim)
    if names != tuple(claim.model.weights):
        fault = "the weights, which are not those of the features"
        return verdict(Measured(words, math.inf, fault, math.nan, math.nan), claim.log_likelihood, claim.tol)
    weights = claim.model.weights.to_numpy()
    other = claim.model.nodes(variant=1)
    schema, variables = claim.statistics.schema, claim.structure.variables
    sizes = tuple(len(other[name].nodes) if name in other else schema[name].n_states for name in variables)
    columns = on_grid(variables, sizes, {name: rule.nodes for name, rule in other.items()})
    values = matrix_at(features, columns)
    volume = sum(np.repeat(rule.log_weights, 1)[np.unravel_index(np.arange(math.prod(sizes)), sizes)
                 [variables.index(name)]] for name, rule in other.items())  # fmt: skip
    log_p = values @ weights + volume + claim.model.log_base(columns)
    top = float(log_p.max())
    p = np.exp(log_p - top)
    log_z = top + math.log(float(p.sum()))
    p /= p.sum()
    expected = p @ values
    means = data_moments(claim, features)[0]
    variance = np.maximum(p @ values**2 - expected**2, 0.0)
    unit = np.sqrt(variance)
    main = np.array([len(feature.variables) == 1 for feature in features], bool)
    residual, worst = residual_of(claim, names, weights, expected - means, unit, variance, main)
    data_gap, data_worst = (None, "") if claim.source is None else recount_gap(claim.source, claim.statistics)
    total = claim.statistics.weight
    own = claim.model.log_prob_of(columns, len(p))
    off = abs(float(np.exp(own + volume).sum()) - 1)
    dual = float(weights.dot(means)) - log_z
    return verdict(
        Measured(
            claim=words,
            residual=residual,
            worst=worst,
            log_likelihood=total * dual,
            normalisation=off,
            exists="yes" if claim.prior is not None or residual <= claim.tol else "undecided",
            condition="the first-order condition" if claim.prior is not None else "the match of expectations",
            data_gap=data_gap,
            data_worst=data_worst,
            moment_gap=None if claim.prior is not None else float(np.abs(expected - means).max(initial=0.0)),
            dual=None if claim.prior is not None else dual,
            duality_gap=None if claim.prior is not None else abs(float(weights.dot(expected - means))),
            rounding=1e-12 * total * max(1.0, abs(log_z)),
        ),
        claim.log_likelihood,
        claim.tol,
        claim.interrupted,
    )


def _claim(claim: Claim) -> str:
    if claim.point != "mle":
        return "posterior mode of the weights"
    if claim.statistics.n_read:
        return "maximum likelihood"
    return "least divergence from the base measure" if claim.base else "maximum entropy"
