"""Expectation-maximisation: the observed likelihood, by estimating again and again from expected statistics.

Each step takes the expected statistics S of the incomplete rows, estimates a model M(S) from them as if they had been
counted, and asks what that model expects: F(S) = E[· | observed, M(S)]. The objective

    ℓ(θ) = Σ_rows log Σ_(what is missing) p(x; θ)  (+ log p(θ) under a prior)

never falls from M(S) to M(F(S)). Steps are lengthened by Anderson's mixing of the last of them; one that would lower
the objective is not taken. Where S and F(S) agree, the gradient of ℓ is zero. Where gradients are known, L-BFGS takes
over after some steps. A climb has converged when the certificate's own measure is small enough; it also ends where the
objective is flat, since the data do not determine the parameters along such a ridge.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic

import numpy as np

from suffice.data.schema import Schema
from suffice.errors import ArgumentError, EstimationError, Mention, StatisticsError, Text, require_whole, shown
from suffice.learn.em_checkpoint import Checkpoint, Done, Resumed
from suffice.learn.em_progress import REASONS, Progress
from suffice.learn.em_walk import Taken, Walk, WarmStart
from suffice.learn.expectation import Expectation, RuledOutError, moved
from suffice.learn.method import Method, Problem, Solution, Start, Step
from suffice.learn.observed_lbfgs import Ascent, Slopes
from suffice.models.model import M
from suffice.optimise.outcome import Stop, not_converged
from suffice.stats.available import require_states
from suffice.stats.needs import Count, Gap, Need
from suffice.structures.structure import S
from suffice.text import number, plural
from suffice.types import Floats
from suffice.values import Estimate, UnseenParents

MEMORY = 8
"""Steps that the next one is mixed from, unless told."""
EQUAL = 1e-9
"""Ends that differ by no more than this, relative to their size, are the same one."""
PATIENCE = 10
"""After so many steps EM is slow, and L-BFGS goes on, where gradients are known."""
LIFTS = 3
"""How often zeros with which the likelihood would rise are lifted."""
LATENT_STARTS = 5
"""How often a fit with latent variables, or columns without a value, begins, unless told."""
OPTIONS = ("memory", "start")
STARTS = ("available", "random")


@dataclass(frozen=True)
class EM(Generic[S, M]):
    """EM for one kind of structure: a method is made from it.

    Attributes
    ----------
    expectation : callable
        From a problem to its `Expectation`.
    inner : callable
        From a problem to the method that estimates from complete statistics.
    refuses : callable
        ``refuses(structure, schema)`` says why it cannot be done, or None.
    check : callable
        As in `Method`.
    warm : callable
        From a problem to where its M-steps begin.
    patience : int
        After so many steps L-BFGS takes over, where gradients are known.
    options : tuple of str
        The settings that it knows.
    """

    expectation: Callable[[Problem[S]], Expectation]
    inner: Callable[[Problem[S]], Method[S, M]]
    refuses: Callable[[S, Schema], str | None]
    needs: Callable[[S, Schema], tuple[Need, ...]]
    check: Callable[[S, Any, Mapping[str, Any]], None]
    refuses_prior: Callable[[S, Any], str | None] = lambda structure, prior: None
    warm: Callable[[Problem[S]], WarmStart] = lambda problem: WarmStart()
    patience: int = PATIENCE
    options: tuple[str, ...] = OPTIONS

    def method(self, points: tuple[Estimate, ...] = ("mle", "map")) -> Method[S, M]:
        """Return the method for the record of a family."""
        return Method(
            self.refuses,
            self.needs,
            self.solve,
            passes="many",
            check=self.check,
            refuses_prior=self.refuses_prior,
            points=points,
            options=self.options,
            takes_init=True,
            incomplete=True,
            expectation=self.expectation,
        )

    def solve(self, problem: Problem[S]) -> Solution[M]:
        """Climb from every start, and keep the best end."""
        try:
            return self._climb(problem)
        except RuledOutError as error:  # users meet the errors of `suffice.errors` only
            raise EstimationError(str(error)) from None

    def _climb(self, problem: Problem[S]) -> Solution[M]:
        require_states(problem.schema)
        climb = Climb(problem, self.expectation(problem), self.inner(problem), self.patience, self.warm(problem))
        ends: list[End] = []
        given = problem.checkpoint is not None and problem.init is not None
        checkpoint = Checkpoint.of(problem, climb.expectation.at(problem.init)[1] if given else None)
        resumed = checkpoint.resumed(len(climb.expectation.units))
        ends += [climb.ended(done) for done in resumed.done]
        for number_, (name, begin) in enumerate(_starts(problem, climb.expectation)):
            if number_ < len(ends):
                continue
            if problem.watch.interrupted:
                break
            label = "EM" if _n_starts(problem) == 1 else f"EM, start {number_ + 1} of {_n_starts(problem)}"
            vector = resumed.vector if number_ == len(ends) and resumed.is_under_way else begin()
            ends.append(_tolerant(climb.from_, _n_starts(problem) > 1)(name, vector, label, checkpoint, resumed))
            resumed = Resumed()
            checkpoint.ended(ends[-1])
        best = _best(ends)
        if best.objective == -math.inf:
            raise EstimationError(f"None of {plural(len(ends), 'start')} led anywhere. The first: ", ends[0].reason)
        return climb.solution(best, ends)


@dataclass(eq=False)
class End:
    """Where a climb ended: the statistics S, the objective at M(S), the way there, and the state of the search.

    ``stop`` says how it ended, and is None of one that is under way or was broken off; ``reason`` says it to people.
    """

    name: str
    vector: Floats
    objective: float
    trace: list[float]
    stop: Stop | None = None
    reason: str = ""
    undetermined: tuple[str, ...] = ()
    state: Callable[[], dict[str, Floats]] = dict

    @property
    def converged(self) -> bool:
        """Whether the certificate's measure is small enough."""
        return self.stop is Stop.CONVERGED

    @property
    def start(self) -> Start:
        """What is told of it."""
        return Start(self.name, self.objective, len(self.trace), self.converged)


@dataclass(eq=False)
class Climb(Generic[S, M]):
    """The steps of EM on one problem."""

    problem: Problem[S]
    expectation: Expectation
    inner: Method[S, M]
    patience: int = PATIENCE
    warm: WarmStart = field(default_factory=WarmStart)

    def estimated(self, vector: Floats, unseen: UnseenParents = "uniform") -> Solution[M]:
        """Return M(S), estimated from statistics as if they had been counted."""
        told = replace(
            self.problem,
            statistics=self.expectation.statistics(vector),
            unseen_parents=unseen,
            source=None,
            init=self.warm.init if self.inner.takes_init else None,
            options={},
            tol=min(self.problem.tol / 10, 1e-9),
            max_iter=self.warm.steps,
            watch=type(self.problem.watch)(),
        )
        found = self.inner.solve(told)
        if self.inner.takes_init:
            self.warm.learn(found.model)
        return found

    def step(self, vector: Floats) -> Taken:
        """Return the objective at M(S), then F(S), and how far M(S) is from the optimum."""
        model = self.estimated(vector).model
        log_likelihood, expected = self.expectation.at(model)  # eq em-expected
        objective = log_likelihood + self.expectation.log_prior(model)
        if math.isnan(objective) or objective == math.inf:
            raise EstimationError(
                "The likelihood of what was observed grows without bound: some variance runs to zero, or a table to "
                "nothing. Pass a prior, give fewer latent states, or tie variances by ",
                Mention("kinds", "kinds={…: {'tied': 'variance'}}"),
                ".",
            )
        return Taken(objective, expected, *self.expectation.distance(model, vector, expected))

    def from_(self, name: str, vector: Floats, label: str, checkpoint: Checkpoint, resumed: Resumed) -> End:
        """Climb from some statistics: by steps of EM, and by gradients where these are many."""
        watch, limit, state = self.problem.watch, self.problem.max_iter, resumed.state
        # Files of earlier versions have no state: the last step is taken again.
        end = End(name, vector, -math.inf, list(resumed.trace if state else resumed.trace[:-1]))
        if state:
            end.objective, end.state = end.trace[-1], lambda: state
        self.warm.restore(state)
        progress = Progress(self.problem.tol, self._moved, end.trace, state)
        memory = require_whole("memory", self.problem.options.get("memory", MEMORY), 0)
        by_slopes = isinstance(self.expectation, Slopes) and self.expectation.has_slopes and memory > 0
        patience = self.patience if by_slopes else limit
        steps = watch.steps(label, max(0, limit - len(end.trace)))
        if "coordinates" not in state and len(end.trace) < patience:
            walk = Walk(self, vector, memory, end.objective, state)
            self._follow(end, walk, itertools.islice(steps, patience - len(end.trace)), progress, checkpoint)
        if by_slopes and len(end.trace) < limit and end.stop is None and not watch.interrupted:
            assert isinstance(self.expectation, Slopes)
            self._ascend(end, steps, progress, checkpoint, state if "coordinates" in state else None)
        if end.objective == -math.inf:  # no step was allowed, or an interrupt came first
            end.objective = self.step(end.vector).objective
            end.trace.append(end.objective)
        if end.stop is None and not watch.interrupted:
            end.stop = Stop.OUT_OF_STEPS
            end.reason = _out_of_steps(limit)
        return end

    def _ascend(
        self,
        end: End,
        steps: Iterator[int],
        progress: Progress,
        checkpoint: Checkpoint,
        state: Mapping[str, Floats] | None,
    ) -> None:
        """Go on by L-BFGS; zeros with which the likelihood would rise are lifted at the end."""
        assert isinstance(self.expectation, Slopes)
        start = (
            self.expectation.coordinates(self.estimated(end.vector).model) if state is None else state["coordinates"]
        )
        for _ in range(1 + LIFTS):
            ascent = Ascent(self.expectation, np.array(start), state)
            self._follow(end, ascent, steps, progress, checkpoint)
            if not end.converged:
                return
            lifted = self.expectation.risen(self.expectation.coordinates(self.estimated(end.vector).model))
            if lifted is None or self.expectation.slope(lifted).objective < end.objective:
                return
            start, state, end.stop = lifted, None, None
            progress.restart()

    def _follow(
        self, end: End, search: Walk | Ascent, steps: Iterator[int], progress: Progress, checkpoint: Checkpoint
    ) -> None:
        """Take the steps of a search until it has converged, or should end."""

        def state() -> dict[str, Floats]:
            return {**search.to_arrays(), **self.warm.to_arrays(), **progress.to_arrays()}

        for _ in steps:
            if not search.advance():
                end.stop, end.reason = Stop.NO_BETTER, REASONS[Stop.NO_BETTER]
                return
            if not end.trace:
                self.estimated(search.expected, self.problem.unseen_parents)  # what no row can tell of is refused here
            end.vector, end.objective, end.state = search.vector, search.objective, state
            end.trace.append(end.objective)
            self.problem.watch.info = f"objective {end.objective:,.6f}, violation {search.gap:.1e}"
            end.stop = progress.add(end.objective, search.gap, search.gain, end.vector)
            if end.stop is not None:
                end.reason, end.undetermined = REASONS[end.stop], progress.undetermined
                return
            checkpoint.at(end.vector, end.trace, end.state)

    def tried(self, candidate: Floats) -> Taken | None:
        """Return a step from extrapolated statistics, or None where no model comes of them."""
        try:
            return self.step(candidate)
        except (EstimationError, StatisticsError, ArithmeticError, np.linalg.LinAlgError):
            return None

    def _told(self, vector: Floats) -> Solution[M]:
        """Return M(S) under the policy for parents without data; what has faded to nothing on the way is unknown."""
        try:
            return self.estimated(vector, self.problem.unseen_parents)
        except EstimationError:
            return self.estimated(vector, "nan")

    def _moved(self, before: Floats, after: Floats) -> tuple[str, ...]:
        """Return the names of the parameters that differ between the models of two vectors."""
        named = [self.expectation.parameters(self.estimated(vector).model, vector) for vector in (before, after)]
        return moved(*named)

    def ended(self, done: Done) -> End:
        """Return an end that was reached before."""
        told = REASONS.get(done.stop, done.reason)
        reason = _out_of_steps(len(done.trace)) if done.stop is Stop.OUT_OF_STEPS else told
        end = End(done.name, done.vector, done.trace[-1], done.trace, done.stop, reason)
        end.undetermined = done.undetermined
        return end

    def solution(self, best: End, ends: list[End]) -> Solution[M]:
        """Put together what is known of the best end."""
        found = self._told(best.vector)
        log_likelihood, expected = self.expectation.at(found.model)
        return replace(
            found,
            log_likelihood=log_likelihood,
            local={},
            posterior=None,
            log_marginal_likelihood=None,
            trace=tuple(Step(n, value) for n, value in enumerate(best.trace, 1)),
            remarks=(*found.remarks, *self.expectation.remarks(found.model), *_remarks(self.problem, best, ends)),
            interrupted=self.problem.watch.interrupted,
            starts=tuple(end.start for end in ends),
            undetermined=best.undetermined,
            stop=best.stop,
            statistics=replace(self.expectation.statistics(expected), remarks=self.problem.statistics.remarks),
        )


def _out_of_steps(limit: int) -> Text:
    return Text(Mention("max_iter", "'max_iter'"), f" of {limit:,} steps was reached")


def _tolerant(climb: Callable[..., End], several: bool) -> Callable[..., End]:
    """Return a climb that, where there are several, ends at once where it fails; the others may lead on."""

    def tried(name: str, vector: Floats, *more: Any) -> End:
        try:
            return climb(name, vector, *more)
        except EstimationError as error:
            if not several:
                raise
            return End(name, vector, -math.inf, [-math.inf], Stop.FAILED, error.message)

    return tried


def _best(ends: list[End]) -> End:
    """Return the highest end; of several that rounding alone tells apart the first, so that no last bit decides."""
    top = max(end.objective for end in ends)
    near = [end for end in ends if end.objective >= top - EQUAL * max(1.0, abs(top))]
    return next((end for end in near if end.converged), near[0])


def _remarks(problem: Problem, best: End, ends: list[End]) -> Iterator[str]:
    """Say how the search ended."""
    if len(ends) > 1:
        at = ends.index(best) + 1
        listed = ", ".join(number(end.objective, 10) for end in ends[:12])
        yield f"EM began {plural(len(ends), 'time')}; start {at} was best. Objectives: {listed}."
    if not best.converged and not problem.watch.interrupted:
        yield not_converged(len(best.trace), best.reason, ".")


def _n_starts(problem: Problem) -> int:
    if problem.restarts is not None:
        return problem.restarts
    hides = bool(problem.structure.latent) or bool(_never_seen(problem))
    return LATENT_STARTS if hides and problem.init is None else 1


def _never_seen(problem: Problem) -> set[str]:
    """Return the discrete columns without a single value; from what is known of the others, EM may stay at a saddle."""
    statistics, asked, seen = problem.statistics, set[str](), set[str]()
    for need in statistics if statistics.weight > 0 else ():
        asked |= set(need.columns) if isinstance(need, Count | Gap) else set()
        if isinstance(need, Gap):
            gaps = statistics[need]
            seen |= {gaps.variables[place].name for place in np.unique(gaps.surroundings.edge).tolist()}
        elif isinstance(need, Count) and statistics[need].total > 0:
            seen |= set(need.scope)
    return asked - seen


def _starts(problem: Problem, expectation: Expectation) -> Iterator[tuple[str, Callable[[], Floats]]]:
    """Yield the name of every start, and what makes it; all but the first are at random."""
    seeds = np.random.SeedSequence(0 if problem.seed is None else problem.seed).spawn(_n_starts(problem))
    first = problem.options.get("start", "random" if problem.structure.latent else "available")
    if first not in STARTS:
        raise ArgumentError(f"The 'start' option must be one of {list(STARTS)}. Got {shown(first)} instead.")
    for place, seed in enumerate(seeds):
        if place == 0 and problem.init is not None:
            yield "given", lambda: expectation.at(problem.init)[1]
        elif place == 0 and first == "available":
            yield "available", lambda: expectation.started(None)
        else:
            yield "random", lambda seed=seed: expectation.started(np.random.Generator(np.random.Philox(seed)))  # type: ignore[misc]
