"""Finite hypothesis spaces: weigh every hypothesis by its likelihood.

log p(D | h) = −N log(size of h) when h is a set and all of the data lies in it, −inf otherwise; of a distribution
log p(D | h) = Σ_x m(x) log p(x | h).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Schema
from suffice.errors import ArgumentError, EstimationError, Mention, listing
from suffice.learn.method import Method, Problem, Solution
from suffice.models.hypothesis_mixture import HypothesisMixture
from suffice.priors.hypothesis_weights import HypothesisPosterior, prior_weights
from suffice.stats.counts import Counts
from suffice.stats.needs import Count, Need
from suffice.structures.hypotheses import Hypotheses

if TYPE_CHECKING:
    from suffice.priors.prior import Prior

TIE = 1e-12
"""Scores that differ by less, relative to their size, are what rounding makes of equal ones."""


def refuses(hypotheses: Hypotheses, schema: Schema) -> str | None:
    """Refuse a schema that was changed from the outcomes of the hypotheses."""
    if schema[hypotheses.over].states != hypotheses.variable.states:
        return f"the states of {hypotheses.over!r} must be the outcomes of the hypotheses; leave it out of the schema."
    return None


def needs(hypotheses: Hypotheses, schema: Schema) -> tuple[Need, ...]:
    """Ask how often each outcome was seen."""
    return (Count((hypotheses.over,)),)


def check(hypotheses: Hypotheses, prior: Prior | None, fixed: Mapping[str, Any]) -> None:
    """Refuse what is no prior on the hypotheses, and given parameters: there are none."""
    if fixed:
        raise ArgumentError(
            "A hypothesis space has no tables, so the 'fixed' argument has nothing to give. Leave it out, or put the "
            "weight of a hypothesis in ",
            Mention("prior", "prior={…}"),
            ".",
        )
    if prior is not None:
        prior_weights(hypotheses, prior)


def log_likelihoods(hypotheses: Hypotheses, counts: Counts) -> NDArray[np.float64]:
    """Return log p(data | h) for every hypothesis; shape (n_hypotheses,)."""
    m = counts.table()
    seen, found = m > 0, np.full(len(hypotheses.names), -np.inf)
    for row, (outcomes, given) in enumerate(zip(hypotheses.sets, hypotheses.probabilities, strict=True)):
        p = np.zeros(len(m))
        p[[hypotheses.variable.code(label) for label in outcomes]] = given or 1.0
        if not (p[seen] > 0).all():
            continue
        if given is None:
            found[row] = -m.sum() * np.log(len(outcomes))  # eq strong-sampling
        else:
            found[row] = np.sum(m[seen] * np.log(p[seen]))  # eq hypothesis-likelihood
    return found


def solve(problem: Problem[Hypotheses]) -> Solution[HypothesisMixture]:
    """Weigh the hypotheses and return the best one, or their average."""
    hypotheses: Hypotheses = problem.structure
    counts: Counts = problem.statistics[Count((hypotheses.over,))]
    likelihoods = log_likelihoods(hypotheses, counts)
    if np.isneginf(likelihoods).all():
        seen = [label for label, m in zip(hypotheses.variable.labels, counts.table(), strict=True) if m > 0]
        reasons = [
            f"{name!r} lacks {next(label for label in seen if not hypotheses.distribution(name).get(label))!r}"
            for name in hypotheses.names
        ]
        raise EstimationError(
            f"No hypothesis contains all of the data: {'; '.join(reasons[:6])}. Add a hypothesis that does."
        )
    posterior: HypothesisPosterior | None = None
    remarks: tuple[str, ...] = ()
    if problem.prior is None:
        weights, remarks = _winner(hypotheses, likelihoods, "likelihood")
    else:
        posterior = _posterior(hypotheses, likelihoods, prior_weights(hypotheses, problem.prior))
        if problem.point == "map":
            weights, remarks = _winner(hypotheses, posterior.log_weights, "posterior probability")
        else:
            weights = np.exp(posterior.log_weights)
            weights /= weights.sum()
    model = HypothesisMixture(hypotheses, weights)
    m = counts.table()
    with np.errstate(divide="ignore"):
        log_likelihood = float(np.sum(m[m > 0] * np.log(model.table.values[m > 0])))
    return Solution(
        model=model,
        log_likelihood=log_likelihood,
        n_free=0,
        n_free_adjusted=0,
        local={hypotheses.over: log_likelihood},
        posterior=posterior,
        log_marginal_likelihood=None if posterior is None else posterior.log_marginal_likelihood,
        remarks=remarks,
    )


def _winner(
    hypotheses: Hypotheses, scores: NDArray[np.float64], what: str
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    best = scores >= scores.max() - TIE * max(1.0, abs(float(scores.max())))
    tied = [name for name, top in zip(hypotheses.names, best, strict=True) if top]
    remarks = (f"The hypotheses {listing(tied)} have equal {what}; the first was taken.",) if len(tied) > 1 else ()
    weights = np.zeros(len(scores))
    weights[int(np.argmax(best))] = 1.0
    return weights, remarks


def _posterior(
    hypotheses: Hypotheses, likelihoods: NDArray[np.float64], prior: NDArray[np.float64]
) -> HypothesisPosterior:
    with np.errstate(divide="ignore"):
        joint = np.log(prior) + likelihoods  # eq hypothesis-posterior
    if np.isneginf(joint).all():
        raise EstimationError(
            "The prior gives weight zero to every hypothesis that is consistent with the data. "
            "Give some weight to one that is."
        )
    evidence = float(np.logaddexp.reduce(joint))
    return HypothesisPosterior(hypotheses, joint - evidence, evidence)


METHOD: Method[Hypotheses, HypothesisMixture] = Method(
    refuses=refuses, needs=needs, solve=solve, passes="one", exact=True, check=check
)
