"""Learning chains of labels from small batches of sequences, for large data: fast at first, and never quite exact.

A step goes down the slopes of one batch's likelihood, and then to the proximal point of the batch's share in the
penalty. Its length is one number for all weights, chosen as Bottou does and falling as η / (1 + λ η t), or AdaGrad's: η
divided by the root of the sum of all squared slopes so far (Duchi, Hazan and Singer, 2011). Without kinks the estimate
of an epoch is the average of its weights (Polyak and Juditsky, 1992).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from suffice.errors import ArgumentError, Mention, Remedy, Text, require_number, require_whole, shown
from suffice.learn.chain import check, follower_of, needs, objective_of, refuses, solution_of, start_of
from suffice.learn.chain_batches import Batches, TrainingBatch, batches_of
from suffice.learn.method import Method, Problem, Solution
from suffice.models.sampling import stream_key
from suffice.optimise.outcome import Outcome, Stop, outcome_of
from suffice.optimise.owlqn import pseudo_gradient
from suffice.priors.elastic import penalty_of
from suffice.progress import Watch
from suffice.types import Floats, Ints

if TYPE_CHECKING:
    from suffice.models.chain_model import ChainModel
    from suffice.structures.label_chain import LabelChain

POSITIONS = 500
"""Positions of a batch, unless told."""
RATE = 0.3
"""AdaGrad's η, unless told: about how far the first steps move a weight."""
FALL = 1e-3
"""When the loss has fallen by less than this share in each of two epochs, unless told, steps are shortened."""
SHORTER = 3
"""The epochs end when that is so after they were shortened so many times."""
SAMPLE, MOST_TRIALS = 20, 24
"""Batches that the rate of plain steps is tried on, and rates that are tried."""
TINY, ROUNDING = 1e-12, 1e-9
WORDS = Text(
    "The method is approximate: it steps by small batches, and its weights lie near the optimum, not at it. For the "
    "optimum use ",
    Remedy("method", "lbfgs"),
    ", or 'owlqn' if c1 > 0",
    Mention("from these weights", ", from these weights as 'init'"),
    ".",
)
ADVICE = {
    Stop.LEVEL: Text(
        "The loss hardly falls from epoch to epoch; ",
        Mention("exact from here", "a smaller 'fall' goes on, and an exact method is faster from here"),
        ".",
    ),
    Stop.OUT_OF_STEPS: Text(
        "The loss was still falling; allow more epochs by ", Mention("max_iter epochs", "'max_iter'"), "."
    ),
}
"""What to try where these searches end early."""


class Rates(Protocol):
    """Chooses the lengths of steps."""

    rate: float

    def of(self, where: Ints, slopes: Floats) -> Any:
        """Return the length of a step by these slopes of these weights: one number, or one a weight."""


class PlainRates:
    """One length for all weights, η / (1 + λ η t), t being the number of steps before."""

    def __init__(self, rate: float, decay: float) -> None:
        self.rate, self.decay, self.n_steps = rate, decay, 0

    def of(self, where: Ints, slopes: Floats) -> float:
        """Return the length, the same for all."""
        self.n_steps += 1
        return self.rate / (1 + self.decay * self.rate * (self.n_steps - 1))


class AdaptiveRates:
    """AdaGrad: weights whose slopes were large so far take small steps."""

    def __init__(self, rate: float, n_weights: int) -> None:
        self.rate, self._squares = rate, np.zeros(n_weights)

    def of(self, where: Ints, slopes: Floats) -> Floats:
        """Return a length for each of these weights."""
        squares = self._squares[where]
        squares += slopes * slopes
        self._squares[where] = squares
        np.sqrt(squares, out=squares)
        return np.asarray(self.rate / (squares + TINY))


class Dues:
    """The price of absolute values that weights owe, and what they have paid of it.

    One batch's share is less than the noise of its slopes, so that a step which takes that share alone leaves hardly a
    zero. A weight pays up to all that it owes so far, and never beyond zero (Tsuruoka, Tsujii and Ananiadou, 2009).
    Dues are those of one epoch: the first, with its long steps, would leave debts that short ones cannot pay off.
    """

    def __init__(self, n_weights: int) -> None:
        self._owed, self._paid = np.zeros(n_weights), np.zeros(n_weights)

    def paid(self, where: Ints, weights: Floats, price: Floats) -> Floats:
        """Return these weights after they have paid, the price being added to what they owe."""
        owed, before = self._owed[where] + price, self._paid[where]
        above, below = np.maximum(weights - (owed + before), 0.0), np.minimum(weights + (owed - before), 0.0)
        after = np.where(weights > 0, above, np.where(weights < 0, below, 0.0))
        self._owed[where] = owed
        self._paid[where] = before + after - weights
        return after


class Average:
    """The average of weights over steps, each of which changes few: a weight is added when it is about to change."""

    def __init__(self, n_weights: int) -> None:
        self._sums, self._since, self._now = np.zeros(n_weights), np.zeros(n_weights), 0

    def add(self, weights: Floats, where: Ints) -> None:
        """Take note of weights, of which these change next."""
        self._now += 1
        self._sums[where] += weights[where] * (self._now - self._since[where])
        self._since[where] = self._now

    def value(self, weights: Floats) -> Floats:
        """Return the average of the weights noted, the last of which are these."""
        return np.asarray((self._sums + weights * (self._now + 1 - self._since)) / (self._now + 1))


def by_sgd(problem: Problem[LabelChain]) -> Solution[ChainModel]:
    """Learn by plain stochastic steps."""
    return _learned(problem, "SGD", _plain)


def by_adagrad(problem: Problem[LabelChain]) -> Solution[ChainModel]:
    """Learn by AdaGrad."""
    return _learned(problem, "AdaGrad", lambda batches, start, rate: AdaptiveRates(rate or RATE, start.size))


def _plain(batches: Batches, start: Floats, rate: float | None) -> PlainRates:
    decay = 2 * batches.penalty.c2 / len(batches.each)
    return PlainRates(rate or calibrated(batches, start), decay)


def _learned(
    problem: Problem[LabelChain], label: str, choose: Callable[[Batches, Floats, float | None], Rates]
) -> Solution[ChainModel]:
    objective, options = objective_of(problem), ChainStochasticSettings.of(problem.options)
    stream = np.random.Generator(np.random.Philox(key=np.array([stream_key(problem.seed), 0], np.uint64)))
    batches = batches_of(objective, penalty_of(problem.prior), options.batch, stream)
    follower = follower_of(problem, objective)
    start = start_of(problem, objective)
    rates = choose(batches, start, options.rate)
    limit = problem.tol * max(problem.statistics.weight, 1.0)
    outcome = descend(
        batches, start, rates, stream, fall=options.fall, limit=limit, watch=problem.watch, at=follower.at,
        epochs=follower.until_worse(problem.watch.steps(label, problem.max_iter)),
    )  # fmt: skip
    solution = solution_of(problem, objective, outcome, follower)
    return replace(solution, remarks=(WORDS, *solution.remarks))


@dataclass(frozen=True)
class ChainStochasticSettings:
    """Options of stochastic steps: positions of a batch, the first rate, and the least fall of the loss an epoch."""

    batch: int = POSITIONS
    rate: float | None = None
    fall: float = FALL

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> ChainStochasticSettings:
        """Check a user's options."""
        found = cls(**{name: options[name] for name in ("batch", "rate", "fall") if name in options})
        require_whole("batch", found.batch, 1, place="option")
        if found.rate is not None and not 0 < require_number("rate", found.rate, place="option") < math.inf:
            raise ArgumentError(
                "The 'rate' option must be a positive number, or None to have it chosen. Got "
                f"{shown(found.rate)} instead."
            )
        if not 0 <= require_number("fall", found.fall, place="option") < 1:
            raise ArgumentError(
                "The 'fall' option must be at least 0 and less than 1: the share by which the loss must fall in an "
                f"epoch. Got {shown(found.fall)} instead."
            )
        return found


def take_step(batches: Batches, batch: TrainingBatch, weights: Floats, rates: Rates, dues: Dues | None) -> None:
    """Move the weights of one batch; there are dues where there are kinks."""
    own, c1, c2 = weights[batch.where], batches.c1[batch.where], batches.c2[batch.where]
    with np.errstate(over="ignore", invalid="ignore"):  # a rate that is far too large is found out by the loss
        _, slopes = batches.likelihood(batch, own)
        rate = rates.of(batch.where, slopes + 2 * c2 * own + c1 * np.sign(own))
        own -= rate * slopes
        if dues is not None:
            own = dues.paid(batch.where, own, rate * c1)
        own /= 1 + 2 * rate * c2
    weights[batch.where] = own


def descend(
    batches: Batches,
    start: Floats,
    rates: Rates,
    stream: np.random.Generator,
    *,
    fall: float,
    limit: float,
    watch: Watch,
    at: Callable[[Floats, float], None],
    epochs: Iterable[int],
) -> Outcome:
    """Go through the batches in a new order every epoch, and return the best weights at the end of one."""
    weights, c1 = start.copy(), batches.penalty.c1
    if c1 or batches.penalty.c2:
        weights[~batches.heard] = 0.0
    value, gradient = batches.whole(weights)
    best, values, lows = (weights.copy(), value, gradient), list[float](), [value]
    worst, stop, n_shorter = value + ROUNDING * abs(value), Stop.OUT_OF_STEPS, 0
    at(weights, value)
    for _ in epochs:
        found = _epoch(batches, weights, rates, stream, watch)
        value, gradient = batches.whole(found)
        if not value <= worst:  # the steps are too long
            rates.rate /= 4
            weights = best[0].copy()
            continue
        values.append(value)
        at(found, value)
        best = best if value >= best[1] else (found, value, gradient)
        lows.append(best[1])
        if np.abs(pseudo_gradient(found, gradient, c1)).max(initial=0.0) <= limit:
            best, stop = (found, value, gradient), Stop.CONVERGED
            break
        if len(lows) > 2 and lows[-3] - lows[-1] < 2 * fall * abs(lows[-1]):
            if n_shorter == SHORTER:
                stop = Stop.LEVEL
                break
            # It may be level for the noise of the steps only.
            rates.rate, n_shorter = rates.rate / 4, n_shorter + 1
            weights, lows = best[0].copy(), lows[-1:]
    return outcome_of(*best, values, len(values) + 1, stop, ADVICE.get(stop, ""))


def _dues(batches: Batches) -> Dues | None:
    return Dues(batches.c1.size) if batches.penalty.c1 else None


def _epoch(batches: Batches, weights: Floats, rates: Rates, stream: np.random.Generator, watch: Watch) -> Floats:
    """Take a step for every batch, until Ctrl-C, and return the weights: their average where there are no kinks."""
    dues = _dues(batches)
    average = Average(weights.size) if dues is None else None
    for number in stream.permutation(len(batches.each)):
        if watch.interrupted:
            break
        batch = batches.each[number]
        if average is not None:
            average.add(weights, batch.where)
        take_step(batches, batch, weights, rates, dues)
    return weights.copy() if average is None else average.value(weights)


def calibrated(batches: Batches, start: Floats) -> float:
    """Return about the rate that lowers the loss of some batches most in one go through them."""
    some = batches.each[:SAMPLE]

    def after(rate: float) -> float:
        weights, rates, dues = start.copy(), PlainRates(rate, 0.0), _dues(batches)
        for batch in some:
            take_step(batches, batch, weights, rates, dues)
        with np.errstate(over="ignore", invalid="ignore"):
            value = sum(batches.likelihood(batch, weights[batch.where])[0] for batch in some)
        value += sum(float(batches.c2[batch.where] @ weights[batch.where] ** 2) for batch in some)
        return value if math.isfinite(value) else math.inf

    rate = 1.0 / max(POSITIONS, *(batch.ready.sequences.n_positions for batch in some))
    losses = {rate: after(rate)}
    for factor in (2.0, 0.5):
        trial = rate * factor
        while len(losses) < MOST_TRIALS:
            losses[trial] = after(trial)
            if not losses[trial] < min(loss for other, loss in losses.items() if other != trial):
                break
            trial *= factor
    best = min(losses, key=losses.__getitem__)
    # An average takes the noise of longer steps away, and they come further in an epoch than in a short trial.
    return best if batches.penalty.c1 else 2 * best


OPTIONS = ("batch", "rate", "fall", "held_out", "patience")
SGD: Method[LabelChain, ChainModel] = Method(
    refuses, needs, by_sgd, passes="many", exact=False, check=check, points=("mle", "map"), options=OPTIONS,
    takes_init=True,
)  # fmt: skip
ADAGRAD: Method[LabelChain, ChainModel] = Method(
    refuses, needs, by_adagrad, passes="many", exact=False, check=check, points=("mle", "map"), options=OPTIONS,
    takes_init=True,
)  # fmt: skip
