"""Proof of a fit by sampling: expectations from fresh chains, with their Monte-Carlo errors.

What is certified is that the gaps between the model's expectations and those wanted are within the errors of the
estimate; the errors stand beside them. Fresh chains have a start and random numbers of their own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured, verdict
from suffice.certify.claim import Claim
from suffice.certify.cliques import other_tree
from suffice.certify.feature_values import data_moments, term_table
from suffice.certify.recount import recount_gap
from suffice.errors import ModelError
from suffice.inference.clique_family import Layout
from suffice.inference.gibbs import Gibbs
from suffice.models.clique_layout import factors_over
from suffice.priors.penalty import Gaussian

Floats = NDArray[np.float64]
CHAINS, BURN_IN, SWEEPS = 1024, 500, 250
ERROR = 1e-3
"""Chains go on until the largest Monte-Carlo error, in units of a feature's range, is below this."""
MOST_SWEEPS = 16_000
FRESH = 0x5EED
"""What the key of fresh chains is mixed with."""
CHANCE = 1e-3
"""The probability that any gap of a perfect fit is called too large."""
FEW_CELLS = 1 << 20


def certify(claim: Claim) -> Certificate:
    """Estimate the expectations anew."""
    features = claim.structure.resolved(claim.statistics.schema)
    names = tuple(feature.name for feature in features)
    words = "posterior mode, by sampling" if claim.point == "map" else "maximum likelihood, by sampling"
    if names != tuple(claim.model.weights):
        fault = "the weights, which are not those of the features"
        return verdict(Measured(words, math.inf, fault, math.nan, math.nan), claim.log_likelihood, claim.tol)
    limits = ~np.isfinite(claim.model.weights.to_numpy())
    weights = np.where(limits, 0.0, claim.model.weights.to_numpy())
    means, spread, errors = _fresh(claim, features)
    wanted = data_moments(claim, features)[0]
    slopes = means - wanted
    if isinstance(claim.prior, Gaussian):
        main = np.array([len(feature.variables) == 1 for feature in features], bool)
        width = np.where(main & (claim.prior.main is not None), claim.prior.main or 1.0, claim.prior.width)
        slopes = slopes + weights / width**2 / (claim.statistics.weight or 1.0)
    moving = spread > 0
    z = np.abs(slopes[moving]) / np.maximum(errors[moving], 1e-300)
    z = np.where(slopes[moving] == 0, 0.0, z)
    worst = names[int(np.flatnonzero(moving)[np.argmax(z)])] if z.size else ""
    log_likelihood, normalisation = _exact(claim, weights, wanted)
    data_gap, data_worst = (None, "") if claim.source is None else recount_gap(claim.source, claim.statistics)
    return verdict(
        Measured(
            claim=words,
            residual=float((np.abs(slopes[moving]) / spread[moving]).max(initial=0.0)),
            worst=f"the feature {worst!r}",
            log_likelihood=log_likelihood,
            normalisation=normalisation,
            exists="no" if limits.any() else "yes" if claim.prior is not None else "undecided",
            condition="the first-order condition" if claim.prior is not None else "the match of expectations",
            data_gap=data_gap,
            data_worst=data_worst,
            moment_gap=None if claim.prior is not None else float(np.abs(slopes).max(initial=0.0)),
            monte_carlo_error=float((errors[moving] / spread[moving]).max(initial=0.0)),
            z=float(z.max(initial=0.0)),
            z_limit=critical(int(moving.sum())),
            rounding=1e-13 * claim.statistics.weight * len(claim.structure.variables),
        ),
        claim.log_likelihood,
        claim.tol,
        claim.interrupted,
    )


def critical(n: int) -> float:
    """Return what the largest of n standard normals exceeds with the probability `CHANCE` at most.

    >>> round(critical(136), 2)
    4.48
    """
    from scipy.special import ndtri

    return float(-ndtri(CHANCE / (2 * max(n, 1))))


def _fresh(claim: Claim, features: Any) -> tuple[Floats, Floats, Floats]:
    """Return means, ranges and Monte-Carlo errors of the features over fresh chains."""
    schema, variables = claim.statistics.schema, claim.structure.variables
    sizes = {name: schema[name].n_states for name in variables}
    factors = factors_over(claim.model.factors, variables)
    with np.errstate(divide="ignore"):
        theta = np.concatenate([np.log(factor.values).reshape(-1) for factor in factors])
    layout = Layout(tuple(sizes.values()), tuple(factor.scope for factor in factors))
    chains = Gibbs(layout.sizes, layout.scopes, theta)
    key = (int(np.abs(claim.model.weights.to_numpy()).sum() * 1e6) if np.isfinite(theta).any() else 0) % 2**32 ^ FRESH
    states = chains.start(CHAINS, key)
    chains.run(states, BURN_IN, key)
    tables, scope_number = _tables(features, sizes, layout, variables)
    total, swept, n_sweeps = np.zeros((CHAINS, len(features))), BURN_IN, 0
    spread = np.array([sum(float(np.ptp(table)) for _, table in terms) for terms in tables])
    assert scope_number >= 0
    step = SWEEPS
    while True:
        visits = chains.visits(states, step, key, swept)
        for number, terms in enumerate(tables):
            for (start, end, order), table in terms:
                cells = visits[:, start:end].reshape(CHAINS, *order)
                total[:, number] += cells.reshape(CHAINS, -1) @ table.reshape(-1)
        swept, n_sweeps = swept + step, n_sweeps + step
        by_chain = total / n_sweeps
        errors = by_chain.std(axis=0, ddof=1) / math.sqrt(CHAINS)
        if float((errors / np.where(spread > 0, spread, 1.0)).max(initial=0.0)) <= ERROR or n_sweeps >= MOST_SWEEPS:
            return by_chain.mean(axis=0), spread, errors
        step = n_sweeps


def _tables(features: Any, sizes: Any, layout: Layout, variables: Any) -> tuple[Any, int]:
    """Return, for every feature, where each of its terms' cells lie among the model's tables, and its values there."""
    place = {name: position for position, name in enumerate(variables)}
    held = {frozenset(scope): number for number, scope in reversed(list(enumerate(layout.scopes)))}
    found = []
    for feature in features:
        terms = []
        for term in feature.terms:
            number = held[frozenset(place[name] for name in term.scope)]
            scope = layout.scopes[number]
            order = [[place[name] for name in term.scope].index(v) for v in scope]
            table = np.transpose(term_table(term, sizes), order)
            terms.append(((int(layout.starts[number]), int(layout.starts[number + 1]), table.shape), table))
        found.append(terms)
    return found, 0


def _exact(claim: Claim, weights: Floats, wanted: Floats) -> tuple[float, float]:
    """Return the log-likelihood along another tree, and how far its total is from one, where trees are small."""
    if math.isnan(claim.log_likelihood):
        return math.nan, 0.0
    variables = claim.structure.variables
    factors = factors_over(claim.model.factors, variables)
    sizes = tuple(claim.statistics.schema[name].n_states for name in variables)
    scopes = tuple(factor.scope for factor in factors)
    try:
        family = other_tree(list(variables), sizes, scopes, ())
    except ModelError:
        return math.nan, 0.0
    with np.errstate(divide="ignore"):
        theta = np.concatenate([np.log(factor.values).reshape(-1) for factor in factors])
    point = family.at(theta)
    first = family.layout.tables(point.expected)[0]
    shift = _shift(claim, weights, factors)
    return claim.statistics.weight * (float(weights.dot(wanted)) - point.log_z - shift), abs(float(first.sum()) - 1)


def _shift(claim: Claim, weights: Floats, factors: Any) -> float:
    """Return what the model's tables were lowered by to keep within the range of floats: at the first states of all."""
    schema, variables = claim.statistics.schema, claim.structure.variables
    zeros = {name: np.zeros(1, np.int64) for name in variables}
    features = claim.structure.resolved(schema)
    own = sum(float(w * f.at(zeros)[0]) for w, f in zip(weights, features, strict=True))
    tables = factors[: len(factors) - len(claim.model.base) - len(claim.model.support)]
    return own - sum(float(np.log(factor.values[(0,) * len(factor.scope)])) for factor in tables)
