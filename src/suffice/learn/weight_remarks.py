"""What there is to say of a search for weights, in the same words whichever likelihood it climbed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.inference.dependence import Dependence, describe
from suffice.learn.method import Problem, Step
from suffice.learn.weights import FoundWeights
from suffice.optimise.outcome import not_converged
from suffice.text import plural

if TYPE_CHECKING:
    from suffice.structures.features import Features
    from suffice.types import Array

SHOWN, RELATIONS = 6, 3
"""So many features, and so many relations between them, are named in a remark."""


def related(names: Sequence[str], found: Dependence, *, given: bool = False) -> list[str]:
    """Say which features depend on each other, and how many weights can be chosen freely."""
    if not found.relations:
        return []
    bracketed = [f"[{name}]" for name in names]
    said = "; ".join(describe(relation, bracketed) for relation in found.relations[:RELATIONS])
    more = f"; and {len(found.relations) - RELATIONS:,} more" if len(found.relations) > RELATIONS else ""
    features = "the features, given the inputs" if given else "the features"
    unique = "Probabilities are unique all the same; of" if given else "The distribution is unique all the same; of its"
    return [
        f"{plural(len(found.relations), 'relation')} between {features}: {said}{more}. {unique} "
        f"{plural(len(names), 'weight')}, {found.rank:,} can be chosen freely."
    ]


def sent_away(names: Sequence[str], limits: Array, which: Array) -> str:
    """Name the weights that run away, and where to."""
    named = "; ".join(f"{names[w]} to {'−' if limits[w] < 0 else '+'}∞" for w in which[:SHOWN])
    return named + (f"; and {len(which) - SHOWN:,} more" if len(which) > SHOWN else "")


def no_estimate(names: Sequence[str], which: Array) -> list[str]:
    """Say that the estimate does not exist, where weights run away."""
    if not len(which):
        return []
    named = ", ".join(names[w] for w in which[:SHOWN])
    return [f"The estimate does not exist: means at the end of their range let weights run away: {named}."]


def unfinished(problem: Problem[Features], found: FoundWeights, hint: str = "") -> list[str]:
    """Say that a search ended before its goal, and why."""
    if found.converged or problem.watch.interrupted:
        return []
    return [not_converged(len(found.objectives), found.reason, hint)]


def steps_of(found: FoundWeights) -> tuple[Step, ...]:
    """Return the trace of a search."""
    return tuple(Step(number, value) for number, value in enumerate(found.objectives, 1))


def with_limits(limits: Array, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights, those that ran away at infinity."""
    return np.where(limits != 0, limits, weights)
