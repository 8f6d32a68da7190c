"""Learning chains of labels, as conditional random fields and as MEMMs, by L-BFGS, or OWL-QN for penalties with c1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.schema import Schema
from suffice.data.sequence_positions import PositionTable
from suffice.errors import ArgumentError, DataError, NotFor, require_whole, shown
from suffice.learn.chain_objective import ChainObjective, chain_need
from suffice.learn.method import Method, Problem, Solution, Step
from suffice.models.chain_carry import carried
from suffice.models.chain_layout import layout_of
from suffice.models.chain_model import ChainModel
from suffice.models.chain_units import units_of
from suffice.optimise.decrement import LEFT
from suffice.optimise.kinks import MOST_WRITTEN, Kinks, up_to_zero
from suffice.optimise.lbfgs import lbfgs
from suffice.optimise.outcome import Outcome, Stop, not_converged, rounding_error
from suffice.optimise.owlqn import owlqn
from suffice.priors.elastic import Elastic, penalty_of
from suffice.priors.penalty import Laplace
from suffice.stats.chain_counts import ChainCount
from suffice.stats.needs import Count
from suffice.structures.label_chain import LabelChain
from suffice.text import plural
from suffice.types import Bools, Floats

if TYPE_CHECKING:
    from suffice.priors.prior import Prior

MEMORY = 30
"""Pairs of changes that L-BFGS remembers, unless told."""
FEW = 64
"""Weights of which the second derivatives are worked out one by one before Newton steps."""
MOST_TURNS = 20
"""How often Newton's method, which stops where weights become zero, and orthant-wise steps take turns at the end."""
RISE = 1e-6
"""For so small a part of the loss of what was held out no optimum is given up."""


def needs(structure: LabelChain, schema: Schema) -> tuple[Count, ChainCount]:
    """Return the labels' counts, and those of the features."""
    return Count((structure.label,)), chain_need(structure)


def refuses(structure: LabelChain, schema: Schema) -> str | None:
    """Refuse nothing: every structure has its likelihood."""
    return None


def check(structure: LabelChain, prior: Prior | None, fixed: Mapping[str, Any]) -> None:
    """Refuse priors that are not penalties, and given parameters."""
    if fixed:
        raise ArgumentError(f"The weights of a {structure.words} cannot be given. Leave 'fixed' out.")
    if prior is not None:
        penalty_of(prior)


def refuses_l1(structure: LabelChain, prior: Prior | None) -> str | None:
    """Say that a penalty with c1 > 0 needs another method."""
    has_l1 = isinstance(prior, Elastic | Laplace) and penalty_of(prior).c1 > 0
    return NotFor("it is for smooth penalties; name 'owlqn' for c1 > 0.") if has_l1 else None


def refuses_smooth(structure: LabelChain, prior: Prior | None) -> str | None:
    """Say what the orthant-wise method is for."""
    has_l1 = isinstance(prior, Elastic | Laplace) and penalty_of(prior).c1 > 0
    return None if has_l1 else NotFor("it is for penalties with c1 > 0.")


def objective_of(problem: Problem[LabelChain]) -> ChainObjective:
    """Return the objective that a problem states."""
    structure: LabelChain = problem.structure
    counts = problem.statistics[needs(structure, problem.schema)[1]]
    layout = layout_of(structure, counts)
    assert problem.source is not None
    penalty = penalty_of(problem.prior)
    return ChainObjective(problem.source, structure, layout, layout.gathered(counts), penalty.c2)


def start_of(problem: Problem[LabelChain], objective: ChainObjective) -> Floats:
    """Return where the search begins: at zero, or at the weights of a model, as far as it has the same features."""
    if problem.init is None:
        return np.zeros(objective.layout.size)
    if not isinstance(problem.init, ChainModel):
        raise ArgumentError(f"The 'init' argument must be a model of this kind. Got {shown(problem.init)} instead.")
    return carried(problem.init, objective.structure, problem.schema[objective.structure.label], objective.layout)


@dataclass(eq=False)
class Follower:
    """Follows a search: tells its progress, and keeps the best point on sequences that were held out.

    ``patience`` says after how many steps without a smaller loss of those the search ends.
    """

    problem: Problem[LabelChain]
    objective: ChainObjective
    held_out: ChainObjective | None = None
    patience: int = 10

    def __post_init__(self) -> None:
        self.losses: list[float] = []
        self.best = np.zeros(0)

    @property
    def n_worse(self) -> int:
        """Steps since the loss of what was held out was least."""
        return len(self.losses) - 1 - int(np.argmin(self.losses)) if self.losses else 0

    @property
    def is_early(self) -> bool:
        """Whether a point before the last one is better, by more than what the end of a search brings about."""
        rise = self.losses[-1] - min(self.losses) if self.losses else 0.0
        return self.n_worse >= self.patience or rise > RISE * min(self.losses, default=0.0)

    def at(self, weights: Floats, value: float) -> None:
        """Take note of a point that the search has come to."""
        n = max(self.problem.statistics.weight, 1.0)
        info = f"loss {value:,.4f} ({value / n:.5f} a position)"
        if self.held_out is not None:
            loss = self.held_out.likelihood(weights)[0]
            info += f", held out {loss:,.4f}"
            if not self.losses or loss < min(self.losses):
                self.best = weights.copy()
            self.losses.append(loss)
        self.problem.watch.info = info

    def until_worse(self, steps: Iterator[int]) -> Iterator[int]:
        """Yield the numbers of steps until the loss of what was held out rises for long."""
        for step in steps:
            if self.n_worse >= self.patience:
                return
            yield step


def follower_of(problem: Problem[LabelChain], objective: ChainObjective) -> Follower:
    """Return what follows a search, from the options of its method."""
    sequences = problem.options.get("held_out")
    patience = require_whole("patience", problem.options.get("patience", 10), 1)
    if sequences is None:
        return Follower(problem, objective, None, patience)
    if not isinstance(sequences, PositionTable) or sequences.schema != problem.schema:
        raise ArgumentError(
            "The 'held_out' option must be a table of sequences in codes, over the labels of the data. Got "
            f"{shown(sequences)} instead."
        )
    if not sequences.sequences.n_positions:
        raise DataError("The sequences that are held out have no positions. Pass some that have, or none at all.")
    return Follower(problem, objective, objective.of_others(sequences), patience)


def by_lbfgs(problem: Problem[LabelChain]) -> Solution[ChainModel]:
    """Minimise a smooth objective by L-BFGS."""
    return _searched(problem, "L-BFGS")


def by_owlqn(problem: Problem[LabelChain]) -> Solution[ChainModel]:
    """Minimise an objective under L1, which is not differentiable at zero, by orthant-wise L-BFGS."""
    return _searched(problem, "OWL-QN")


def _searched(problem: Problem[LabelChain], label: str) -> Solution[ChainModel]:
    whole = objective_of(problem)
    objective, c1 = whole.held(), penalty_of(problem.prior).c1
    follower = follower_of(problem, objective)
    memory = require_whole("memory", problem.options.get("memory", MEMORY), 1)
    limit, units = problem.tol * problem.statistics.weight, units_of(whole.source, whole.layout)

    def done(weights: Floats, value: float, slope: Floats) -> bool:
        follower.at(weights, value)
        return bool(np.abs(slope / units).max(initial=0.0) <= limit)

    start, steps = start_of(problem, objective), follower.until_worse(problem.watch.steps(label, problem.max_iter))
    if c1:
        outcome = owlqn(objective, start, c1, done=done, steps=steps, memory=memory, gain=LEFT)
    else:
        scale = None if (units == 1).all() else units**-2 / max(problem.statistics.weight, 1.0)
        outcome = lbfgs(objective, start, done=done, steps=steps, memory=memory, scale=scale, gain=LEFT)
    is_near, asked = outcome.converged, limit
    for _ in range(MOST_TURNS if is_near else 0):
        outcome, is_end = _ended(outcome, objective, units, c1, limit, steps)
        if is_end and not (c1 and _is_pulled_off_zero(outcome, objective, units, c1)):
            break
        limit = limit / 10 if is_end else limit
        more = owlqn(objective, outcome.x, c1, done=done, steps=steps, memory=memory, gain=LEFT)
        if is_end and not more.converged:
            break
        outcome = replace(more, values=(*outcome.values, *more.values))
    if (c1 or objective.c2) and is_near and not follower.is_early and not problem.watch.interrupted:
        outcome = _finished(outcome, objective, units, c1, asked)
    return solution_of(problem, objective, outcome, follower)


def _ended(
    outcome: Outcome, objective: ChainObjective, units: Floats, c1: float, limit: float, steps: Iterator[int]
) -> tuple[Outcome, bool]:
    """Go on by Newton's method where that gains more than quasi-Newton steps promise, zeros and signs being held.

    Also return whether that was the end, and not a point on the way where a weight becomes zero. Where c2 makes the
    objective so round that nothing can be left to gain, its gain is not looked for.
    """
    l1 = Kinks(np.full(objective.layout.size, c1))
    free = l1.free(outcome.x)
    left = l1.left(outcome.x, outcome.gradient)[free]
    if not len(left) or (objective.c2 and float(left @ left) / (4 * objective.c2) <= 10 * LEFT):
        return outcome, True
    seen = _diagonal(objective, units, outcome.x, free)

    def done(part: Floats, value: float, slopes: Floats) -> bool:
        return bool(np.abs(slopes / units[free]).max() <= limit)

    x, _ = l1.on_support(objective.twice, outcome.x, done=done, steps=steps, gain=LEFT, scale=1 / seen)
    reached = up_to_zero(outcome.x, x, (outcome.x != 0) & (c1 > 0))
    value, gradient = objective(reached)
    value += l1.value(reached)
    if not value <= outcome.value + rounding_error(value):
        return outcome, True
    is_end = np.array_equal(reached, x)
    return replace(outcome, x=reached, value=value, gradient=gradient, values=(*outcome.values, value)), is_end


def _finished(outcome: Outcome, objective: ChainObjective, units: Floats, c1: float, limit: float) -> Outcome:
    """Go to the optimum by a Hessian that is written out, where weights are few and something is left to gain.

    Zeros that hold each other are left only together: orthant-wise steps and steps on a support do not see that. And
    conjugate gradients do not see the end of directions in which the penalty is nearly all that determines the weights.
    """
    l1 = Kinks(np.full(objective.layout.size, c1))
    left = l1.left(outcome.x, outcome.gradient)
    is_round = objective.c2 > 0 and float(left @ left) / (4 * objective.c2) <= 10 * LEFT
    if not 0 < objective.layout.size <= MOST_WRITTEN or is_round:
        return outcome
    x, is_end = l1.finished(
        objective.twice,
        outcome.x,
        total=1.0,
        gain=LEFT,
        done=lambda left: bool(np.abs(left / units).max() <= limit),
        rounding=1e-15 * float(np.abs(objective.counts) @ np.abs(outcome.x)),
    )
    value, gradient = objective(x)
    value += l1.value(x)
    stop = Stop.CONVERGED if is_end else Stop.NO_BETTER
    return replace(outcome, x=x, value=value, gradient=gradient, values=(*outcome.values, value), stop=stop)


def _diagonal(objective: ChainObjective, units: Floats, x: Floats, wanted: Bools) -> Floats:
    """Return about the Hessian's diagonal: how often features are seen, or for few weights the diagonal itself.

    Of features that are nearly certain, the first may be many orders of magnitude larger than the second.
    """
    found: Floats = np.maximum(np.abs(objective.counts) * units, 1e-3 * units**2) + 2 * objective.c2
    if np.count_nonzero(wanted) <= FEW:
        for place in np.flatnonzero(wanted):
            unit = np.zeros(len(x))
            unit[place] = 1.0
            own = float(objective.product(x, unit)[place])
            found[place] = min(found[place], max(own, 1e-12 * found[place]))
    return found


def _is_pulled_off_zero(outcome: Outcome, objective: ChainObjective, units: Floats, c1: float) -> bool:
    """Whether weights at zero have a slope beyond their price that promises more than may be left to gain."""
    l1 = Kinks(np.full(objective.layout.size, c1))
    if not l1.left(outcome.x, outcome.gradient)[~l1.free(outcome.x)].any():
        return False
    _, slopes, product = objective.twice(outcome.x)
    seen = _diagonal(objective, units, outcome.x, l1.left(outcome.x, outcome.gradient) != 0)
    return l1.decrement(outcome.x, slopes, product, seen, 1.0) > 10 * LEFT


def solution_of(
    problem: Problem[LabelChain], objective: ChainObjective, outcome: Outcome, follower: Follower
) -> Solution[ChainModel]:
    """Put the model together."""
    early = follower.is_early
    is_meant = early and (follower.n_worse >= follower.patience or outcome.converged)
    weights = np.array(follower.best if early else outcome.x)
    penalty = penalty_of(problem.prior)
    log_likelihood = -objective.likelihood(weights)[0] if early else penalty.value(weights) - outcome.value
    n_free = int(np.count_nonzero(weights)) if penalty.c1 else objective.layout.size
    label = problem.schema[objective.structure.label]
    return Solution(
        model=ChainModel(objective.structure, label, objective.layout, weights),
        log_likelihood=log_likelihood,
        n_free=n_free,
        n_free_adjusted=n_free,
        trace=tuple(Step(number, -value) for number, value in enumerate(outcome.values, 1)),
        stop=Stop.HELD_OUT if is_meant else outcome.stop,
        remarks=tuple(_remarks(problem, outcome, follower, early, weights)),
        interrupted=problem.watch.interrupted,
    )


def _remarks(
    problem: Problem[LabelChain], outcome: Outcome, follower: Follower, early: bool, weights: Floats
) -> Iterator[str]:
    if penalty_of(problem.prior).c1:
        yield f"{int(np.count_nonzero(weights == 0)):,} of {weights.size:,} weights are zero."
    if early and follower.n_worse >= follower.patience:
        best = len(follower.losses) - 1 - follower.n_worse
        yield (
            f"Stopped early: the loss of what was held out was least, {min(follower.losses):,.4f}, after "
            f"{plural(best, 'step')}, and did not fall for {plural(follower.n_worse, 'step')} more."
        )
        return
    if early:
        yield (
            f"The weights are those with which the loss of what was held out was least, {min(follower.losses):,.4f}, "
            f"{plural(follower.n_worse, 'step')} before the last."
        )
    if not outcome.converged and not problem.watch.interrupted:
        yield not_converged(outcome.n_steps, outcome.reason)


OPTIONS = ("held_out", "patience", "memory")
LBFGS: Method[LabelChain, ChainModel] = Method(
    refuses,
    needs,
    by_lbfgs,
    passes="many",
    check=check,
    refuses_prior=refuses_l1,
    points=("mle", "map"),
    options=OPTIONS,
    takes_init=True,
)
OWLQN: Method[LabelChain, ChainModel] = Method(
    refuses,
    needs,
    by_owlqn,
    passes="many",
    check=check,
    refuses_prior=refuses_smooth,
    points=("map",),
    options=OPTIONS,
    takes_init=True,
)
