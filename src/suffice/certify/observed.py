"""Proof of a fit to incomplete rows: the observed likelihood, and its gradient, by a path that the fitter did not use.

The likelihood of what was observed may have several maxima. What is proven is that the fit is a stationary point of it
(with the prior's term, where there is one), that a step of EM would gain next to nothing, in nats, that no step went
down on the way, and what became of the other starts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

from suffice.certify.certificate import DECREMENT, NAMED, Certificate, Measured, verdict
from suffice.certify.claim import Claim
from suffice.certify.observed_discrete import Observed
from suffice.errors import ModelError, StatisticsError
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import kind_named
from suffice.models.cpds.kind import CPD
from suffice.models.hidden_markov import HiddenMarkovModel
from suffice.models.model import Model
from suffice.text import number

FLAT_STEPS = 30
"""Steps in which a climb along a ridge raises the objective by no more than a certified optimum may lack."""
AGREE = 1e-3
"""Starts whose ends differ by no more than this are said to agree."""
LOCAL = "a stationary point: local, not proven global"
TABLES = ("tabular", "noisy_or")


def certify(claim: Claim, measure: Callable[[Claim], Observed]) -> Certificate:
    """Measure the observed likelihood and its gradient, the ascent, and the spread between starts."""
    try:
        found = measure(claim)
    except (ModelError, StatisticsError) as error:  # a second path may need more room than the fitter's
        found = Observed(math.nan, math.nan, f"no place, since nothing could be measured. {str(error).rstrip('.')}")
    return verdict(
        Measured(
            claim=_claim(claim),
            residual=found.residual,
            worst=found.worst,
            log_likelihood=found.log_likelihood,
            normalisation=_normalisation(claim.model),
            exists="yes" if is_discrete(claim) else "undecided",
            condition="the first-order condition",
            descent=_largest_fall(claim),
            boundary="; ".join([*(found.remarks or _unordered(claim)), *_along_a_ridge(claim, found)]),
            starts=_starts(claim),
            **found.distance.as_measured(),
            undetermined=_undetermined(claim, found),
        ),
        claim.log_likelihood,
        claim.tol,
        claim.interrupted,
    )


def _cpds(model: Model) -> tuple[CPD, ...]:
    """Return the conditional distributions of a network or a chain; none of other models."""
    if isinstance(model, BayesianNetwork):
        return model.cpds
    return model.tables if isinstance(model, HiddenMarkovModel) else ()


def is_discrete(claim: Claim) -> bool:
    """Whether the model is made of conditional tables alone."""
    cpds = _cpds(claim.model)
    return bool(cpds) and all(cpd.kind in TABLES for cpd in cpds)


def _unordered(claim: Claim) -> tuple[str, ...]:
    """Say of latent variables, where no more is known, that their states have no order."""
    said = "the states of {!r} have no order, and exchanging them gives the same likelihood"
    return tuple(said.format(name) for name, n in claim.structure.latent if n > 1)


def _claim(claim: Claim) -> str:
    """Say what the fit claims to be."""
    if claim.point == "mle":
        return f"maximum of the observed likelihood ({LOCAL})"
    term = "Σ α log θ" if claim.point == "mean" and is_discrete(claim) else "log prior"
    return f"maximum of the penalised observed likelihood, ℓ + {term} ({LOCAL})"


def _normalisation(model: Any) -> float:
    """Return the largest distance of a distribution's total from one."""
    return max((kind_named(cpd.kind).normalisation(cpd) for cpd in _cpds(model)), default=0.0)


def _largest_fall(claim: Claim) -> float:
    """Return the largest fall of the objective in one step, relative to its size; zero when every step went up."""
    values = [step.objective for step in claim.trace]
    falls = [before - after for before, after in itertools.pairwise(values)]
    size = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return max((fall for fall in falls if not fall <= 0), default=0.0) / max(1.0, size)


def _is_flat(claim: Claim, found: Observed) -> bool:
    """Whether the last steps hardly raised the objective, though the first-order condition does not hold.

    Where the objective rises ever faster, the search is leaving a saddle point instead.
    """
    values = [step.objective for step in claim.trace[-FLAT_STEPS:]]
    if found.residual <= claim.tol or len(values) < FLAT_STEPS or values[-1] - values[0] > DECREMENT:
        return False
    middle = values[FLAT_STEPS // 2]
    return bool(values[-1] - middle <= middle - values[0])


def _undetermined(claim: Claim, found: Observed) -> tuple[str, ...]:
    """Return the parameters along which the likelihood is flat: those that moved, or that violate the condition."""
    return (claim.undetermined or found.violated) if _is_flat(claim, found) else ()


def _along_a_ridge(claim: Claim, found: Observed) -> tuple[str, ...]:
    """Name these parameters."""
    named = _undetermined(claim, found)
    return (f"the likelihood is flat along {_listed(named)}, which the data do not determine",) if named else ()


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"{'; '.join(names[:NAMED])}{more}"


def _starts(claim: Claim) -> str:
    """Say where the searches ended, and how many of them agree with the best."""
    ends = [start.objective for start in claim.starts]
    if len(ends) < 2:
        return ""
    best, worst = max(ends), min(ends)
    agree = sum(best - end <= AGREE for end in ends)
    if agree == len(ends):
        return f"all {len(ends)} ended at {number(best, 10)}, to {AGREE:g}"
    return (
        f"{len(ends)} ended between {number(worst, 10)} and {number(best, 10)}; "
        f"{'only the best reached that' if agree == 1 else f'{agree} agree with the best to {AGREE:g}'}"
    )
