"""MixedEngine: what a network of discrete and continuous variables answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suffice.data.block import code_dtype
from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.errors import ModelError, Remedy, listing
from suffice.inference.conditional_gaussian import Conditioned, MixedNetwork, Seen, each_marginal
from suffice.inference.conditional_gaussian_draws import drawing
from suffice.inference.gaussian_parts import or_else
from suffice.models.assignment import Assignment, assignment_of
from suffice.models.evidence import describe, seen_of
from suffice.models.incomplete_rows import MissingValues
from suffice.models.joint_normal import JointNormal
from suffice.models.marginals import Marginals
from suffice.models.mixed_gaps import MixedGaps
from suffice.models.mixed_network import answer_of
from suffice.models.mixed_rows import evidence_rows, mixed_rows
from suffice.models.sampling import Draw
from suffice.types import Array, Floats, Ints

if TYPE_CHECKING:
    from suffice.models.cpds import CPD
    from suffice.models.discrete_engine import DiscreteEngine
    from suffice.models.engine import AnswersOfRows, LogProbOf
    from suffice.models.evidence import Evidence
    from suffice.models.normal_mixture import NormalMixture
    from suffice.types import TableLike
    from suffice.values import UnknownStates

BY_SAMPLING = ("estimate the answer by ", Remedy("method", "sampling", call="query(targets, given, …)"))
"""What to do about many answers of which one has no closed form."""


@dataclass(frozen=True, eq=False)
class MixedEngine:
    """The answers of a conditional-Gaussian network.

    Attributes
    ----------
    schema : Schema
    network : MixedNetwork
    cpds : sequence of CPD
        From which variables are drawn that nothing says anything of.
    order : sequence of str
        The names of the variables, parents first.
    """

    schema: Schema
    network: MixedNetwork
    cpds: Sequence[CPD]
    order: Sequence[str]

    # One answer -----------------------------------------------------------------------------------------------

    def query(self, wanted: tuple[int, ...], given: Evidence | None) -> LabelledTable | JointNormal | NormalMixture:
        """Return p(wanted | given)."""
        seen = seen_of(self.schema, given, wanted)
        variables = self.schema.variables
        discrete = [place for place in wanted if variables[place].is_discrete]
        continuous = [place for place in wanted if not variables[place].is_discrete]
        held = Conditioned(self.network, seen, wanted, separated=False)
        if not continuous:
            values, log_p = held.posterior(discrete)
            self._require_seen(log_p[0], seen)
            return LabelledTable(tuple(variables[place] for place in discrete), values[0])
        mixture, log_p = held.mixture(discrete, continuous)
        self._require_seen(log_p[0], seen)
        return answer_of(self.schema, mixture, len(discrete), continuous)

    def rows(self, wanted: tuple[int, ...], data: TableLike, unknown_states: UnknownStates) -> AnswersOfRows:
        """Return p(wanted | row) for every row of a table of evidence."""
        codes, values = evidence_rows(self.schema, wanted, data, unknown_states)
        with or_else(*BY_SAMPLING):
            return mixed_rows(self.network, self.schema, wanted, codes, values)

    # The whole ------------------------------------------------------------------------------------------------

    def marginals(self, given: Evidence | None) -> Marginals:
        """Return p(v | given) of every variable that is not given: tables, normal distributions and mixtures."""
        seen = seen_of(self.schema, given)
        with or_else(*BY_SAMPLING):
            found = each_marginal(self.network, seen)
        if found is None:
            raise self._not_seen(seen)
        tables, mixtures = found
        answers = Marginals()
        for place, variable in enumerate(self.schema.variables):
            if place in tables:
                answers[variable.name] = LabelledTable((variable,), tables[place])
            elif place in mixtures:
                answers[variable.name] = answer_of(self.schema, mixtures[place], 0, [place])
        return answers

    def most_likely(self, wanted: tuple[int, ...] | None, given: Evidence | None, log_prob_of: LogProbOf) -> Assignment:
        """Return what is most likely of all variables that are not given, or of some, the others integrated out."""
        seen = seen_of(self.schema, given, wanted or ())
        found = Conditioned(self.network, seen, range(len(self.schema)) if wanted is None else wanted).most_likely()
        if found is None:
            raise self._not_seen(seen)
        codes, values, log_prob, ties = found
        log_evidence = float(Conditioned(self.network, seen, ()).log_evidence()[0])
        return assignment_of(self.schema, wanted, codes | values, log_prob, log_prob - log_evidence, ties)

    @property
    def log_z(self) -> float:
        """Zero: the densities of a network integrate to one."""
        return 0.0

    def log_evidence(self, given: Evidence | None) -> float:
        """Return log p(given), a density where values of continuous variables are given."""
        return float(Conditioned(self.network, seen_of(self.schema, given), ()).log_evidence()[0])

    def entropy(self, given: Evidence | None) -> float:
        """Return the differential entropy of all variables that are not given, in nats."""
        require_gaussian(self.schema, "The entropy", "estimate it: -model.log_prob(model.sample(100_000)).mean()")
        return self.to_joint_normal().entropy(given)

    def to_joint_normal(self) -> JointNormal:
        """Return the joint normal distribution of a network of continuous variables alone."""
        places = range(len(self.schema))
        mixture, _ = Conditioned(self.network, Seen(), places).mixture((), places)
        return JointNormal(tuple(self.schema), mixture.mean[0, 0], covariance=mixture.covariance[0])

    # Draws ----------------------------------------------------------------------------------------------------

    def drawing(self, given: Evidence | None) -> Draw:
        """Draw what leads to the evidence from what it leaves possible, and all else parents first."""
        seen = seen_of(self.schema, given)
        inside = drawing(self.network, seen)
        if inside is None:
            raise self._not_seen(seen)
        place, variables = self.schema.positions, self.schema.variables
        by_name = {cpd.family.child.name: cpd for cpd in self.cpds}

        def draw(uniform: Callable[[], Floats]) -> dict[str, Array]:
            size = len(uniform())
            codes, values = inside(uniform)
            drawn: dict[int, Array] = {v: np.full(size, value[0]) for v, value in seen.values.items()}
            drawn |= {v: np.full(size, code) for v, code in seen.hard.items()} | codes | values
            columns: dict[str, Array] = {}
            for node in self.order:
                if place[node] not in drawn:
                    columns[node] = by_name[node].sample(columns, uniform())
                    continue
                held = drawn[place[node]]
                variable = variables[place[node]]
                columns[node] = held.astype(code_dtype(variable.n_states)) if variable.is_discrete else held
            return columns

        return draw

    # Missing values -------------------------------------------------------------------------------------------

    @cached_property
    def missing(self) -> MissingValues:
        """How missing values of rows are integrated out and filled."""
        return MixedGaps(self.network, tuple(self.schema), self.cpds)

    def refusal(self, codes: Ints, values: Floats) -> ModelError:
        """Return the error for a row that is impossible."""
        hard = {variable: int(code) for variable, code in enumerate(codes) if code >= 0}
        known = {variable: values[[variable]] for variable in np.flatnonzero(~np.isnan(values)).tolist()}
        return self._not_seen(Seen(hard, {}, known))

    # Refusals -------------------------------------------------------------------------------------------------

    def require_discrete(self, what: str, remedy: str) -> DiscreteEngine:
        """Raise: continuous variables stand against something that is for discrete ones."""
        continuous = [name for name in self.schema if not self.schema[name].is_discrete]
        raise ModelError(
            f"{what} is for discrete variables, and the network has continuous ones, "
            f"{listing(continuous, 12)}. Instead, {remedy}."
        )

    def _require_seen(self, log_p: float, seen: Seen) -> None:
        if log_p == -math.inf:
            raise self._not_seen(seen)

    def _not_seen(self, seen: Seen) -> ModelError:
        """Return the error for impossible evidence, which names the piece that goes too far."""
        held = Conditioned(self.network, seen, ())
        pieces = describe(self.schema, seen)
        told = ", ".join(pieces[:12]) or "everything"
        if any(np.isneginf(solved.log_density).all() for solved in held.solved if solved.part.seen):
            return ModelError(
                f"The evidence is so far from what the model expects that the density of {told} is zero as a float. "
                "Check the values and their units."
            )
        hard = list(seen.hard.items())
        for n in range(1, len(hard) + 1):
            part = Conditioned(self.network, Seen(dict(hard[:n]), {}, seen.values), ())
            if part.log_evidence()[0] == -math.inf:
                before = f" together with {', '.join(pieces[: n - 1])}" if n > 1 else " by itself"
                return ModelError(
                    f"The evidence is impossible: the model gives {pieces[n - 1]}{before} the probability zero. "
                    "Correct it, or fit with a prior, so that what was not seen stays possible."
                )
        return ModelError(f"The evidence is impossible: the model gives {told} the probability zero. Correct it.")


def require_gaussian(schema: Schema, what: str, remedy: str) -> None:
    """Raise unless all variables are continuous."""
    discrete = [name for name in schema if schema[name].is_discrete]
    if discrete:
        raise ModelError(
            f"{what} of a network of discrete and continuous variables has no closed form; "
            f"{listing(discrete, 12)} are discrete. Instead, {remedy}."
        )
