"""Expectation-maximisation: the observed likelihood, by estimating again and again from expected statistics.

Each step takes the expected statistics S of the incomplete rows, estimates a model M(S) from them as if they had been
counted, and asks what that model expects: F(S) = E[· | observed, M(S)]. The objective

    ℓ(θ) = Σ_rows log Σ_(what is missing) p(x; θ)  (+ log p(θ) under a prior)

never falls from M(S) to M(F(S)). Steps are lengthened by Anderson's mixing of the last of them; one that would lower
the objective is not taken. Where S and F(S) agree, the gradient of ℓ is zero.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Schema
from suffice.errors import ArgumentError, EstimationError, SchemaError, StatisticsError, require_whole, shown
from suffice.learn.em_checkpoint import Checkpoint, Resumed
from suffice.learn.expectation import Expectation
from suffice.learn.method import Method, Problem, Solution, Start, Step
from suffice.learn.observed_lbfgs import Slopes, ascend
from suffice.optimise.mixing import Mixing
from suffice.optimise.outcome import OUT_OF_STEPS
from suffice.stats.needs import Count, Gap, Need
from suffice.text import number, plural

Floats = NDArray[np.float64]
MEMORY = 8
"""Steps that the next one is mixed from, unless told."""
SLACK = 1e-12
"""By how much of itself rounding may lower the objective."""
EQUAL = 1e-9
"""Ends that differ by no more than this, relative to their size, are the same one."""
IDLE = 30
"""After so many steps that neither raise the objective nor bring S and F(S) closer, rounding error is all there is."""
PATIENCE = 30
"""After so many steps EM is slow, and L-BFGS goes on, where gradients are known."""
LATENT_STARTS = 5
"""How often a fit with latent variables, or columns without a value, begins, unless told."""
OPTIONS = ("memory", "start")
STARTS = ("available", "random")


@dataclass(frozen=True)
class EM:
    """EM for one kind of structure: a row of the registry is made from it.

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
    patience : int
        After so many steps L-BFGS takes over, where gradients are known.
    options : tuple of str
        The settings that it knows.
    """

    expectation: Callable[[Problem], Expectation]
    inner: Callable[[Problem], Method]
    refuses: Callable[[Any, Schema], str | None]
    needs: Callable[[Any, Schema], tuple[Need, ...]]
    check: Callable[[Any, Any, Mapping[str, Any]], None]
    refuses_prior: Callable[[Any, Any], str | None] = lambda structure, prior: None
    patience: int = PATIENCE
    options: tuple[str, ...] = OPTIONS

    def method(self, points: tuple[str, ...] = ("mle", "map")) -> Method:
        """Return the row of the registry."""
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

    def solve(self, problem: Problem) -> Solution:
        """Climb from every start, and keep the best end."""
        require_states(problem.schema)
        climb = Climb(problem, self.expectation(problem), self.inner(problem), self.patience)
        ends: list[End] = []
        given = problem.checkpoint is not None and problem.init is not None
        checkpoint = Checkpoint.of(problem, climb.expectation.at(problem.init)[1] if given else None)
        resumed = checkpoint.resumed()
        ends += resumed.ends(climb.ended)
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
            raise EstimationError(f"None of {plural(len(ends), 'start')} led anywhere. The first: {ends[0].reason}")
        return climb.solution(best, ends)


@dataclass(eq=False)
class End:
    """Where a climb ended: the statistics S, the objective at M(S), and the way there."""

    name: str
    vector: Floats
    objective: float
    trace: list[float]
    converged: bool = False
    reason: str = ""

    @property
    def start(self) -> Start:
        """What is told of it."""
        return Start(self.name, self.objective, len(self.trace), self.converged)


@dataclass(eq=False)
class Climb:
    """The steps of EM on one problem."""

    problem: Problem
    expectation: Expectation
    inner: Method
    patience: int = PATIENCE

    def estimated(self, vector: Floats, unseen: str = "uniform") -> Solution:
        """Return M(S), estimated from statistics as if they had been counted."""
        told = replace(
            self.problem,
            statistics=self.expectation.statistics(vector),
            unseen_parents=unseen,
            source=None,
            init=None,
            options={},
            tol=min(self.problem.tol / 10, 1e-9),
        )
        return self.inner.solve(replace(told, watch=type(self.problem.watch)()))

    def step(self, vector: Floats) -> tuple[float, Floats, float]:
        """Return the objective at M(S), then F(S), then how far these are apart in units, a row."""
        model = self.estimated(vector).model
        log_likelihood, expected = self.expectation.at(model)  # eq em-expected
        objective = log_likelihood + self.expectation.log_prior(model)
        if math.isnan(objective) or objective == math.inf:
            raise EstimationError(
                "The likelihood of what was observed grows without bound: some variance runs to zero, or a table to "
                "nothing. Pass a prior, give fewer latent states, or tie variances by kinds={…: {'tied': 'variance'}}."
            )
        apart = np.abs(expected - vector) / self.expectation.units
        return objective, expected, float(apart.max(initial=0.0)) / max(self.expectation.n, 1e-300)

    def from_(self, name: str, vector: Floats, label: str, checkpoint: Checkpoint, resumed: Resumed) -> End:
        """Climb from some statistics: by steps of EM, and by gradients where these are many."""
        watch, limit = self.problem.watch, self.problem.max_iter
        end = End(name, vector, -math.inf, list(resumed.trace[:-1]))  # its last step is looked at again
        steps, memory = watch.steps(label, limit), self.problem.options.get("memory", MEMORY)
        mixing = Mixing(require_whole("memory", memory, 0))
        slopes = isinstance(self.expectation, Slopes) and self.expectation.has_slopes and mixing.memory > 0
        patience = min(self.patience, limit) if slopes else limit
        if patience:
            self._by_steps(end, itertools.islice(steps, patience), mixing, checkpoint)
        if patience < limit and not (end.converged or end.reason or watch.interrupted):
            self._by_slopes(end, steps, checkpoint)
        if end.objective == -math.inf:  # no step was allowed, or an interrupt came first
            end.objective = self.step(end.vector)[0]
            end.trace.append(end.objective)
        if not (end.converged or end.reason or watch.interrupted):
            end.reason = f"'max_iter' of {limit:,} steps was reached"
        return end

    def _by_steps(self, end: End, steps: Iterator[int], mixing: Mixing, checkpoint: Checkpoint) -> None:
        """Take steps of EM, mixed from those before; one that would lower the objective is not taken."""
        watch, limit = self.problem.watch, self.problem.tol / 20
        n_idle, least = 0, math.inf
        plain = end.vector
        candidate: Floats | None = end.vector
        for _ in steps:
            found = None if candidate is None else self._tried(candidate)
            if found is None or found[0] < end.objective - SLACK * max(1.0, abs(end.objective)):
                mixing.forget()
                candidate = plain
                found = self.step(plain)
            assert candidate is not None
            rise = found[0] - end.objective
            end.vector, (end.objective, plain, apart) = candidate, found
            if not end.trace:
                self.estimated(plain, self.problem.unseen_parents)  # what no row can tell of is refused here, not later
            end.trace.append(end.objective)
            watch.info = f"objective {end.objective:,.6f}, step {apart:.1e}"
            checkpoint.at(end.vector, end.trace)
            if apart <= limit:
                end.converged = True
                return
            n_idle = 0 if rise > SLACK * abs(end.objective) or apart < 0.9 * least else n_idle + 1
            least = min(least, apart)
            if n_idle >= IDLE:
                end.reason = "further steps are lost in rounding error"
                return
            mixed = mixing.next(end.vector / self.expectation.units, plain / self.expectation.units)
            candidate = self.expectation.tamed(mixed * self.expectation.units, plain)

    def _by_slopes(self, end: End, steps: Iterator[int], checkpoint: Checkpoint) -> None:
        """Go on by L-BFGS."""
        assert isinstance(self.expectation, Slopes)

        def told(objective: float, largest: float, expected: Floats) -> None:
            if not end.trace:
                self.estimated(expected, self.problem.unseen_parents)
            end.trace.append(objective)
            self.problem.watch.info = f"objective {objective:,.6f}, gradient {largest:.1e}"
            checkpoint.at(expected, end.trace)

        start = self.expectation.coordinates(self.estimated(end.vector).model)
        found = ascend(self.expectation, start, self.problem.tol / 20, steps, told)
        end.converged = found.converged
        if not self.problem.watch.interrupted and found.reason and found.reason not in OUT_OF_STEPS:
            end.reason = found.reason
        if found.objective >= end.objective:
            end.vector, end.objective = found.vector, found.objective

    def _tried(self, candidate: Floats) -> tuple[float, Floats, float] | None:
        """Return a step from extrapolated statistics, or None where no model comes of them."""
        try:
            return self.step(candidate)
        except (EstimationError, StatisticsError, ArithmeticError, np.linalg.LinAlgError):
            return None

    def _told(self, vector: Floats) -> Solution:
        """Return M(S) under the policy for parents without data; what has faded to nothing on the way is unknown."""
        try:
            return self.estimated(vector, self.problem.unseen_parents)
        except EstimationError:
            return self.estimated(vector, "nan")

    def ended(self, name: str, vector: Floats, trace: list[float], converged: bool, reason: str) -> End:
        """Return an end that was reached before."""
        return End(name, vector, trace[-1], trace, converged, reason)

    def solution(self, best: End, ends: list[End]) -> Solution:
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
            statistics=replace(self.expectation.statistics(expected), remarks=self.problem.statistics.remarks),
        )


def require_states(schema: Schema) -> None:
    """Refuse variables of which no row has a value and nobody says the states."""
    for variable in schema.variables:
        if variable.is_discrete and not variable.n_states:
            raise SchemaError(
                f"No row has a value of {variable.name!r}, so its states are not known. Declare them: "
                f"schema={{{variable.name!r}: ['no', 'yes']}}."
            )


def _tolerant(climb: Callable[..., End], several: bool) -> Callable[..., End]:
    """Return a climb that, where there are several, ends at once where it fails; the others may lead on."""

    def tried(name: str, vector: Floats, *more: Any) -> End:
        try:
            return climb(name, vector, *more)
        except EstimationError as error:
            if not several:
                raise
            return End(name, vector, -math.inf, [-math.inf], reason=str(error))

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
        yield f"Not converged after {plural(len(best.trace), 'step')}: {best.reason}."


def _n_starts(problem: Problem) -> int:
    if problem.restarts is not None:
        return problem.restarts
    hides = bool(getattr(problem.structure, "latent", ())) or bool(_never_seen(problem))
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
    first = problem.options.get("start", "random" if getattr(problem.structure, "latent", ()) else "available")
    if first not in STARTS:
        raise ArgumentError(f"The 'start' option must be one of {list(STARTS)}. Got {shown(first)} instead.")
    for place, seed in enumerate(seeds):
        if place == 0 and problem.init is not None:
            yield "given", lambda: expectation.at(problem.init)[1]
        elif place == 0 and first == "available":
            yield "available", lambda: expectation.started(None)
        else:
            yield "random", lambda seed=seed: expectation.started(np.random.Generator(np.random.Philox(seed)))  # type: ignore[misc]
