"""One way to solve a question per kind of model: discrete, of discrete and continuous variables, and normal.

Variables are nodes of the page throughout; a solver knows the places that they have in the model.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from suffice.errors import ModelError, SufficeError, listing
from suffice.explore.question import Question
from suffice.inference.conditional_gaussian import Conditioned, Mixture, Seen, each_marginal
from suffice.inference.inquiry import Given
from suffice.models.assignment import Assignment
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.evidence import Observation
from suffice.models.joint_normal import JointNormal
from suffice.models.markov_net import MarkovNetwork
from suffice.models.model import Model
from suffice.models.queries import AnyQueries
from suffice.text import number
from suffice.types import Floats
from suffice.values import Label

MOST_COMPONENTS = 2_000
"""Normal distributions in a mixture that is sent to the page."""


@dataclass(frozen=True, eq=False)
class Density:
    """A mixture of normal distributions of one variable.

    Attributes
    ----------
    weights, means, sds : array, shape (k,)
    """

    weights: Floats
    means: Floats
    sds: Floats

    @classmethod
    def at(cls, value: float) -> Density:
        """Return the distribution of a value that is known."""
        return cls(np.ones(1), np.array([value]), np.zeros(1))

    @classmethod
    def of(cls, mixture: Mixture, place: int = 0) -> Density:
        """Return one variable of a mixture for one row of evidence, components of the same moments taken together."""
        weights = mixture.weights[0]
        held = np.flatnonzero(weights > 0)
        moments = np.stack([mixture.mean[0, held, place], np.sqrt(mixture.covariance[held, place, place])])
        distinct, back = np.unique(moments, axis=1, return_inverse=True)
        total = np.bincount(back.reshape(-1), weights[held], distinct.shape[1])
        return cls(total / total.sum(), distinct[0], distinct[1])

    @property
    def mean(self) -> float:
        """The mean of the whole mixture."""
        return float(self.weights @ self.means)

    @property
    def sd(self) -> float:
        """The standard deviation of the whole mixture."""
        return math.sqrt(float(self.weights @ (self.sds**2 + (self.means - self.mean) ** 2)))

    def log_at(self, value: float) -> float:
        """Return the logarithm of the density at a value."""
        if not (self.sds > 0).all():
            return math.nan
        z = (value - self.means) / self.sds
        logs = np.log(self.weights) - np.log(self.sds) - 0.5 * (math.log(2 * math.pi) + z * z)
        return float(np.logaddexp.reduce(logs))


Marginal = Floats | Density | None


@dataclass(frozen=True, eq=False)
class SolvedQuestion:
    """The answer to one question.

    Attributes
    ----------
    log_evidence : float
        −inf where the evidence is impossible, NaN where it is not known.
    marginals : list
        By node, None where the distribution is not known.
    note : str
        Why some of it is not known.
    seconds : float
        How long it took.
    """

    log_evidence: float
    marginals: list[Marginal]
    note: str = ""
    seconds: float = 0.0

    @property
    def is_impossible(self) -> bool:
        """Whether nothing agrees with the evidence."""
        return self.log_evidence == -math.inf


@dataclass(frozen=True)
class Explanation:
    """The most probable configuration.

    Attributes
    ----------
    states : list of int, float or None
        By node: a code, or a value of a continuous variable.
    ties : dict of int to list of int
        The states of nodes that have several among equally probable configurations.
    log_given : float
        log p(configuration | evidence).
    """

    states: list[float | int | None]
    ties: dict[int, list[int]] = field(default_factory=dict)
    log_given: float = 0.0


class Solver(Protocol):
    """What answers questions to a model."""

    def solve(self, question: Question) -> SolvedQuestion:
        """Return log p(evidence) and the distribution of every node."""

    def is_possible(self, question: Question) -> bool:
        """Whether anything agrees with the evidence."""

    def explain(self, question: Question) -> Explanation:
        """Return the most probable configuration."""


def solver_of(
    model: BayesianNetwork | MarkovNetwork | JointNormal, names: Sequence[str]
) -> DiscreteSolver | MixedSolver | NormalSolver:
    """Return what answers questions to a model, whose variables are nodes in the order of ``names``."""
    if isinstance(model, JointNormal):
        return NormalSolver(model, names)
    if isinstance(model, BayesianNetwork) and model._is_mixed:
        return MixedSolver(model, names)
    return DiscreteSolver(model, names)


def _observed(marginals: list[Marginal], question: Question, sizes: Sequence[int]) -> None:
    """Write down what is certain about nodes that were observed."""
    for node, code in question.hard.items():
        marginals[node] = np.eye(sizes[node])[code]
    for node, value in question.values.items():
        marginals[node] = Density.at(value)


class _Places:
    """Nodes of the page and places in the model."""

    def __init__(self, model: Model | AnyQueries, names: Sequence[str]) -> None:
        self.names = list(names)
        self.variables = [model.schema[name] for name in names]
        self.place = [model.schema.positions[name] for name in names]
        self.node = {place: node for node, place in enumerate(self.place)}
        self.sizes = [variable.n_states if variable.is_discrete else 0 for variable in self.variables]

    def labelled(self, question: Question) -> dict[str, Observation]:
        """Return the evidence as users write it."""
        given: dict[str, Observation] = {}
        for node, code in question.hard.items():
            given[self.names[node]] = self.variables[node].labels[code]
        for node, weights in question.soft.items():
            labels: tuple[Label, ...] = self.variables[node].labels
            given[self.names[node]] = dict(zip(labels, weights, strict=True))
        return given | {self.names[node]: value for node, value in question.values.items()}

    def explanation(self, found: Assignment, question: Question) -> Explanation:
        """Return an assignment of the model's `map` by node."""
        states: list[float | int | None] = [None] * len(self.names)
        for node, name in enumerate(self.names):
            if name in found:
                label = found[name]
                variable = self.variables[node]
                states[node] = variable.code(label) if variable.is_discrete else float(label)
        for node, known in (*question.hard.items(), *question.values.items()):
            states[node] = known
        ties = {
            node: [self.variables[node].code(label) for label in found.ties[name]]
            for node, name in enumerate(self.names)
            if name in found.ties
        }
        return Explanation(states, ties, found.log_posterior)


class DiscreteSolver(_Places):
    """Solves questions to a discrete model from one calibration each."""

    def __init__(self, model: AnyQueries, names: Sequence[str]) -> None:
        super().__init__(model, names)
        self.model = model

    def given(self, question: Question) -> Given:
        """Return the evidence as the engine takes it."""
        return Given(
            {self.place[node]: code for node, code in question.hard.items()},
            {self.place[node]: np.array(weights) for node, weights in question.soft.items()},
        )

    def solve(self, question: Question) -> SolvedQuestion:
        """Return log p(evidence) and the distribution of every node."""
        began = time.perf_counter()
        marginals: list[Marginal] = [None] * len(self.names)
        if question.is_void:
            return SolvedQuestion(-math.inf, marginals)
        given, engine = self.given(question), self.model._tables
        engine.check_known((), given)
        engine.require_possible()
        inquiry = engine.completed
        found = inquiry.calibrated(given)
        log_z = found.log_z if len(question.hard) < len(self.names) else inquiry.log_evidence(given)
        if log_z == -math.inf:
            return SolvedQuestion(-math.inf, marginals, seconds=time.perf_counter() - began)
        for place, values in found.singles().items():
            marginals[self.node[place]] = values
        note = self._left_out(marginals, given)
        _observed(marginals, question, self.sizes)
        log_evidence = log_z - inquiry.log_z if question.nodes else 0.0
        return SolvedQuestion(log_evidence, marginals, note, time.perf_counter() - began)

    def _left_out(self, marginals: list[Marginal], given: Given) -> str:
        """Take out distributions that unknown rows of tables enter, and say which ones and why."""
        engine = self.model._tables
        nodes = sorted(self.node[place] for place in engine.unknown(given))
        for node in nodes:
            marginals[node] = None
        try:
            engine.check_known(None, given)
        except ModelError as error:
            return f"Not known: {listing([self.names[node] for node in nodes], 6)}. {error}"
        return ""

    def is_possible(self, question: Question) -> bool:
        """Whether anything agrees with the evidence."""
        return not question.is_void and self.model._tables.completed.log_evidence(self.given(question)) > -math.inf

    def explain(self, question: Question) -> Explanation:
        """Return the most probable configuration."""
        return self.explanation(self.model.map(self.labelled(question)), question)


class MixedSolver(_Places):
    """Solves questions to a network of discrete and continuous variables."""

    def __init__(self, model: BayesianNetwork, names: Sequence[str]) -> None:
        super().__init__(model, names)
        self.model, self.network = model, model._mixed.network

    def seen(self, question: Question) -> Seen:
        """Return the evidence as the engine takes it."""
        return Seen(
            {self.place[node]: code for node, code in question.hard.items()},
            {self.place[node]: np.array(weights) for node, weights in question.soft.items()},
            {self.place[node]: np.array([value]) for node, value in question.values.items()},
        )

    def solve(self, question: Question) -> SolvedQuestion:
        """Return log p(evidence) and the distribution of every node; None where it has no closed form."""
        began = time.perf_counter()
        marginals: list[Marginal] = [None] * len(self.names)
        if question.is_void:
            return SolvedQuestion(-math.inf, marginals)
        seen = self.seen(question)
        log_evidence = float(Conditioned(self.network, seen, ()).log_evidence()[0])
        if log_evidence == -math.inf:
            return SolvedQuestion(-math.inf, marginals, seconds=time.perf_counter() - began)
        notes: list[str] = []
        for place, found in self._each(seen, notes).items():
            marginals[self.node[place]] = found
        _observed(marginals, question, self.sizes)
        notes += _too_many(marginals, self.names)
        return SolvedQuestion(log_evidence, marginals, " ".join(dict.fromkeys(notes)), time.perf_counter() - began)

    def _each(self, seen: Seen, notes: list[str]) -> dict[int, Floats | Density]:
        """Return the marginals by place; where some have no closed form, those that have one."""
        try:
            found = each_marginal(self.network, seen)
        except ModelError as error:
            notes.append(str(error))
            return self._one_by_one(seen)
        assert found is not None  # since the evidence is possible
        tables, mixtures = found
        return {**tables, **{place: Density.of(mixture) for place, mixture in mixtures.items()}}

    def _one_by_one(self, seen: Seen) -> dict[int, Floats | Density]:
        found: dict[int, Floats | Density] = {}
        for place in self.place:
            if place in seen.hard or place in seen.values:
                continue
            try:
                held = Conditioned(self.network, seen, [place], separated=False)
                if self.network.is_discrete(place):
                    found[place] = held.posterior((place,))[0][0]
                else:
                    found[place] = Density.of(held.mixture((), [place])[0])
            except ModelError:
                continue
        return found

    def is_possible(self, question: Question) -> bool:
        """Whether anything agrees with the evidence."""
        if question.is_void:
            return False
        return float(Conditioned(self.network, self.seen(question), ()).log_evidence()[0]) > -math.inf

    def explain(self, question: Question) -> Explanation:
        """Return the most probable configuration."""
        return self.explanation(self.model.map(self.labelled(question)), question)

    @cached_property
    def joint(self) -> NormalSolver | None:
        """The joint normal distribution, where all variables are continuous and none is a combination of others."""
        try:
            return NormalSolver(self.model.to_joint_normal(), self.names)
        except SufficeError:
            return None

    def together(self, question: Question, discrete: Sequence[int], continuous: Sequence[int]) -> Mixture:
        """Return the joint distribution of some nodes as a mixture."""
        wanted = [self.place[node] for node in discrete], [self.place[node] for node in continuous]
        held = Conditioned(self.network, self.seen(question), [*wanted[0], *wanted[1]], separated=False)
        return held.mixture(*wanted)[0]


def _too_many(marginals: list[Marginal], names: Sequence[str]) -> list[str]:
    """Take out mixtures that are too long to send, and say what is known of them."""
    notes = []
    for node, found in enumerate(marginals):
        if isinstance(found, Density) and len(found.weights) > MOST_COMPONENTS:
            marginals[node] = None
            notes.append(
                f"The distribution of {names[node]!r} is a mixture of {len(found.weights):,} normal distributions, too "
                f"many to draw; its mean is {number(found.mean)} and its standard deviation {number(found.sd)}."
            )
    return notes


class NormalSolver(_Places):
    """Solves questions to a normal distribution."""

    def __init__(self, model: JointNormal, names: Sequence[str]) -> None:
        super().__init__(model, names)
        self.model = model

    def conditioned(self, question: Question) -> JointNormal | None:
        """Return the distribution of what was not observed; None where everything was."""
        if len(question.values) == len(self.names):
            return None
        return self.model.condition(self._values(question))

    def _values(self, question: Question) -> Mapping[str, float]:
        return {self.names[node]: value for node, value in question.values.items()}

    def solve(self, question: Question) -> SolvedQuestion:
        """Return the log-density of the evidence, and the distribution of every node."""
        began = time.perf_counter()
        marginals: list[Marginal] = [None] * len(self.names)
        log_evidence = self._log_evidence(question)
        if log_evidence == -math.inf:
            return SolvedQuestion(-math.inf, marginals)
        found = self.conditioned(question)
        if found is not None:
            moments = zip(found.names, found.mean, found.sd, strict=True)
            known = {name: Density(np.ones(1), np.array([mean]), np.array([sd])) for name, mean, sd in moments}
            marginals = [known.get(name) for name in self.names]
        _observed(marginals, question, self.sizes)
        return SolvedQuestion(log_evidence, marginals, seconds=time.perf_counter() - began)

    def _log_evidence(self, question: Question) -> float:
        if not question.values:
            return 0.0
        values = self._values(question)
        columns = {name: np.array([value]) for name, value in values.items()}
        with np.errstate(over="ignore"):
            return float(self.model.marginal(list(values)).log_prob_of(columns, 1)[0])

    def is_possible(self, question: Question) -> bool:
        """Whether the density of the evidence is positive as a float."""
        return self._log_evidence(question) > -math.inf

    def explain(self, question: Question) -> Explanation:
        """Return the conditional means."""
        found = self.conditioned(question)
        known: dict[str, float] = dict(self._values(question))
        log_given = 0.0
        if found is not None:
            known |= dict(zip(found.names, found.mean.tolist(), strict=True))
            columns = {name: np.array([value]) for name, value in zip(found.names, found.mean, strict=True)}
            log_given = float(found.log_prob_of(columns, 1)[0])
        return Explanation([known[name] for name in self.names], {}, log_given)
