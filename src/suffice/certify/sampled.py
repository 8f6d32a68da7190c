"""Proof of a fit by sampling: expectations from fresh chains, with their Monte-Carlo errors.

What is certified is that the gaps between the model's expectations and those wanted are within the errors of the
estimate; the errors stand beside them. Fresh chains have a start and random numbers of their own, and features are
evaluated at their states by their rules. Chains that have not mixed prove nothing, and the verdict says so.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.certify.certificate import Certificate, Measured
from suffice.certify.claim import Claim
from suffice.certify.cliques import other_tree
from suffice.certify.feature_values import data_moments, matrix_at, term_table
from suffice.certify.judgement import judged, unfit
from suffice.errors import ModelError
from suffice.inference.gibbs import Gibbs
from suffice.models.clique_layout import factors_over
from suffice.priors.penalty import Gaussian
from suffice.structures.feature_rules import Feature, main_effects
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.log_linear import LogLinear
    from suffice.structures.features import Features

CHAINS, BURN_IN, THIN = 512, 500, 10
"""Chains, sweeps before anything counts, and sweeps from one state that counts to the next."""
FIRST_STATES = 20
ERROR = 1.8e-3
"""Chains go on until the largest Monte-Carlo error, in units of a feature's range, is below this."""
MOST_SWEEPS, LEAST_SWEEPS, MOST_DRAWS = 16_000, 2_000, 4_000_000_000
"""Chains end after so many sweeps, fewer where that is more than so many draws of single variables."""
MIXED = 0.2
"""Chains have mixed when their own means vary by no more than this share of the whole variance: R̂ is below 1.1."""
NUMBERS = 1 << 22
"""Values of features that are made at once."""
FRESH = 0x5EED << 32
"""What the key of fresh chains begins with; seeds that people choose are smaller."""
CHANCE = 1e-3
"""The probability that any gap of a perfect fit is called too large."""


def certify(claim: Claim[Features, LogLinear]) -> Certificate:
    """Estimate the expectations anew."""
    features = claim.structure.resolved(claim.statistics.schema)
    names = tuple(feature.name for feature in features)
    words = "posterior mode, by sampling" if claim.point == "map" else "maximum likelihood, by sampling"
    if names != tuple(claim.model.weights):
        return unfit(claim, words, "the weights, which are not those of the features")
    limits = ~np.isfinite(claim.model.weights.to_numpy())
    weights = np.where(limits, 0.0, claim.model.weights.to_numpy())
    wanted, squares = data_moments(claim, features)
    spread = _spread(claim, features)
    try:
        found = _fresh(claim, features, spread)
    except ModelError:
        return unfit(claim, words, "the model's potentials, among which fresh chains find no state to start from")
    n_terms = np.array([max(len(feature.terms), 1) for feature in features])
    # States that chains hardly ever reach seem to have no error: no fewer than that of independent draws is believed.
    least = np.sqrt(np.maximum(squares - wanted**2 / n_terms, 0.0) / found.n_states)
    errors = np.maximum(np.maximum(found.errors, least), 1e-12 * spread)
    slopes = found.means - wanted
    if isinstance(claim.prior, Gaussian):
        width = claim.prior.widths_of(main_effects(features))
        slopes = slopes + weights / width**2 / (claim.statistics.weight or 1.0)
    moving = spread > 0
    z = np.abs(slopes[moving]) / errors[moving]
    worst = names[int(np.flatnonzero(moving)[np.argmax(z)])] if z.size else ""
    log_likelihood, normalisation = _exact(claim, weights, wanted)
    certificate = judged(
        claim,
        Measured(
            claim=words,
            residual=float((np.abs(slopes[moving]) / spread[moving]).max(initial=0.0)),
            worst=f"the feature {worst!r}",
            log_likelihood=log_likelihood,
            normalisation=normalisation,
            exists="no" if limits.any() else "yes" if claim.prior is not None else "undecided",
            condition="the first-order condition" if claim.prior is not None else "the match of expectations",
            moment_gap=None if claim.prior is not None else float(np.abs(slopes).max(initial=0.0)),
            monte_carlo_error=float((errors[moving] / spread[moving]).max(initial=0.0)),
            z=float(z.max(initial=0.0)),
            z_limit=critical(int(moving.sum())),
            rounding=1e-13 * claim.statistics.weight * len(claim.structure.variables),
        ),
    )
    if not found.stuck or not certificate.ok:
        return certificate
    reason = f"fresh chains have not mixed after {found.n_sweeps:,} sweeps, at the feature {found.stuck!r}"
    return replace(certificate, ok=False, verdict=f"Not certified as {words}: {reason}.")


def critical(n: int) -> float:
    """Return what the largest of n standard normals exceeds with the probability `CHANCE` at most.

    >>> round(critical(136), 2)
    4.48
    """
    from scipy.special import ndtri

    return float(-ndtri(CHANCE / (2 * max(n, 1))))


@dataclass(frozen=True, eq=False)
class Sampled:
    """What fresh chains found.

    Attributes
    ----------
    means, errors : array, shape (n_weights,)
        Of the features, with the standard errors that the chains' differences tell.
    n_states, n_sweeps : int
        How many states counted, and how often chains were swept.
    stuck : str
        A feature at which chains still differ from each other; empty where they have mixed.
    """

    means: Floats
    errors: Floats
    n_states: int
    n_sweeps: int
    stuck: str


def _fresh(claim: Claim[Features, LogLinear], features: Sequence[Feature], spread: Floats) -> Sampled:
    """Sample until errors are small and chains have mixed, or the sweeps are used up."""
    walk = _ChainWalk(claim, features, spread)
    walk.sweep(BURN_IN)
    n = FIRST_STATES
    while True:
        walk.add(n)
        between, whole = walk.variances
        apart = between / np.where(whole > 0, whole, 1.0)
        error = float((np.sqrt(between / CHAINS) / walk.unit).max(initial=0.0))
        stuck = features[int(np.argmax(apart))].name if apart.max(initial=0.0) > MIXED else ""
        left = (walk.limit - walk.n_sweeps) // THIN
        if left < 1 or (not stuck and error <= ERROR):
            return Sampled(walk.means, np.sqrt(between / CHAINS), CHAINS * walk.n_states, walk.n_sweeps, stuck)
        if stuck:  # whatever depends on the start is left behind
            n = 2 * walk.n_states
            if n <= left:
                walk.forget()
        else:
            n = max(int(1.1 * walk.n_states * (error / ERROR) ** 2) - walk.n_states, FIRST_STATES)
        n = min(n, left)


class _ChainWalk:
    """Chains over a claimed model, and sums of the features at their states."""

    def __init__(self, claim: Claim[Features, LogLinear], features: Sequence[Feature], spread: Floats) -> None:
        self.features, self.variables = features, claim.structure.variables
        sizes = [claim.statistics.schema[name].n_states for name in self.variables]
        factors = factors_over(claim.model.factors, self.variables)
        with np.errstate(divide="ignore"):
            theta = np.concatenate([np.log(factor.values).reshape(-1) for factor in factors])
        self.chains = Gibbs(sizes, [factor.scope for factor in factors], theta)
        self.key = FRESH | zlib.crc32(claim.model.weights.to_numpy().tobytes())
        self.states = self.chains.start(CHAINS, self.key)
        self.unit = np.where(spread > 0, spread, 1.0)
        self.limit = min(MOST_SWEEPS, max(LEAST_SWEEPS, MOST_DRAWS // (CHAINS * len(sizes))))
        self.n_sweeps = 0
        self.forget()

    def forget(self) -> None:
        """Begin the sums anew."""
        self.n_states, self.total = 0, np.zeros((CHAINS, len(self.features)))
        self.squares = np.zeros(len(self.features))

    def sweep(self, sweeps: int) -> None:
        """Sweep all chains."""
        self.chains.run(self.states, sweeps, self.key, self.n_sweeps)
        self.n_sweeps += sweeps

    def add(self, n: int) -> None:
        """Add n states of every chain."""
        at_once = max(1, NUMBERS // self.total.size)
        for start in range(0, n, at_once):
            drawn = []
            for _ in range(min(at_once, n - start)):
                self.sweep(THIN)
                drawn.append(self.states.copy())
            codes = np.concatenate(drawn).astype(np.int64)
            values = matrix_at(self.features, {name: codes[:, v] for v, name in enumerate(self.variables)})
            self.total += values.reshape(len(drawn), *self.total.shape).sum(axis=0)
            self.squares += (values**2).sum(axis=0)
        self.n_states += n

    @property
    def means(self) -> Floats:
        """The means of the features over all chains."""
        return np.asarray(self.total.mean(axis=0) / self.n_states, np.float64)

    @property
    def variances(self) -> tuple[Floats, Floats]:
        """The variance of the chains' means, and that of the features over all states."""
        whole = self.squares / (CHAINS * self.n_states) - self.means**2
        between = (self.total / self.n_states).var(axis=0, ddof=1)
        return between, np.where(whole > 1e-12 * self.unit**2, whole, 0.0)


def _spread(claim: Claim[Features, LogLinear], features: Sequence[Feature]) -> Floats:
    """Return the unit of every feature's gap: its range; of n terms, their summed ranges divided by √n."""
    schema, known = claim.statistics.schema, dict[Any, float]()
    sizes = {name: schema[name].n_states for name in claim.structure.variables}
    found = np.zeros(len(features))
    for number, feature in enumerate(features):
        for term in feature.terms:
            key = term.rule, tuple(sizes[name] for name in term.scope)
            if key not in known:
                known[key] = float(np.ptp(term_table(term, sizes)))
            found[number] += known[key] / math.sqrt(len(feature.terms))
    return found


def _exact(claim: Claim[Features, LogLinear], weights: Floats, wanted: Floats) -> tuple[float, float]:
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


def _shift(claim: Claim[Features, LogLinear], weights: Floats, factors: Any) -> float:
    """Return what the model's tables were lowered by to keep within the range of floats: at the first states of all."""
    schema, variables = claim.statistics.schema, claim.structure.variables
    zeros = {name: np.zeros(1, np.int64) for name in variables}
    features = claim.structure.resolved(schema)
    own = sum(float(w * f.at(zeros)[0]) for w, f in zip(weights, features, strict=True))
    tables = factors[: len(factors) - len(claim.model.base) - len(claim.model.support)]
    return own - sum(float(np.log(factor.values[(0,) * len(factor.scope)])) for factor in tables)
