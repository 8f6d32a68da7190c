"""DiscreteEngine: what a model of discrete variables answers, from the product of its tables.

A model says what its tables are; how they are summed is the business of `suffice.inference`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.data.stream import KEEP
from suffice.data.table import open_table
from suffice.errors import ArgumentError, ModelError, Remedy, listing
from suffice.inference.inquiry import Given, Inquiry
from suffice.inference.product import Factor, Product
from suffice.models.assignment import Assignment, assignment_of
from suffice.models.complexity import Complexity
from suffice.models.evidence import describe, given_of, targets_of
from suffice.models.incomplete_rows import DiscreteGaps, MissingValues
from suffice.models.marginals import Marginals
from suffice.models.row_answers import RowAnswers
from suffice.models.sampling import Draw, from_calibrated
from suffice.stats.source import BlockSource
from suffice.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from suffice.errors import Part
    from suffice.models.engine import AnyEngine, LogProbOf
    from suffice.models.evidence import Evidence, Targets
    from suffice.types import TableLike
    from suffice.values import UnknownStates


@dataclass(frozen=True, eq=False)
class DiscreteEngine:
    """The answers of a product of tables.

    Attributes
    ----------
    schema : Schema
    product : Product
        The tables, over the positions of variables in the schema.
    """

    schema: Schema
    product: Product

    @cached_property
    def inquiry(self) -> Inquiry:
        """What asks the product."""
        return Inquiry(self.product)

    def require_discrete(self, what: str, remedy: Part) -> DiscreteEngine:
        """Return the engine itself: nothing stands against what is for discrete variables."""
        return self

    # One table ------------------------------------------------------------------------------------------------

    def table(self, targets: Targets, given: Evidence | None = None) -> LabelledTable:
        """Return p(targets | given) of variables by name."""
        return self.query(targets_of(self.schema, targets), given)

    def query(self, wanted: tuple[int, ...], given: Evidence | None) -> LabelledTable:
        """Return p(wanted | given)."""
        evidence = given_of(self.schema, given, wanted)
        self.check_known(wanted, evidence)
        values = self.inquiry.posterior(wanted, evidence)
        if not values.any():
            raise self.impossible(evidence)
        return LabelledTable(tuple(self.schema.variables[target] for target in wanted), values)

    def rows(self, wanted: tuple[int, ...], data: TableLike, unknown_states: UnknownStates) -> RowAnswers:
        """Return p(wanted | row) for every row of a table of evidence."""
        codes = self._codes(wanted, data, unknown_states)
        self.require_possible()
        seen = codes.max(axis=0, initial=-1)
        same = {int(v): int(seen[v]) for v in np.flatnonzero((codes == seen).all(axis=0) & (seen >= 0))}
        others = tuple(int(v) for v in np.flatnonzero(seen >= 0) if int(v) not in same)
        self.check_known((*wanted, *others), Given(same))
        values, log_p = self.inquiry.rows(wanted, codes)
        values[log_p == -math.inf] = np.nan
        return RowAnswers(tuple(self.schema.variables[target] for target in wanted), values, log_p - self.inquiry.log_z)

    def _codes(self, wanted: tuple[int, ...], data: TableLike, unknown_states: UnknownStates) -> Ints:
        """Return the codes of every row and variable, −1 where nothing was seen; shape (n_rows, n_variables)."""
        from suffice.data.readers import open_raw

        asked = {self.schema.variables[target].name for target in wanted}
        columns = open_raw(data).names
        unknown = [name for name in columns if name not in self.schema]
        if unknown:
            raise ArgumentError(
                f"The columns {listing(unknown)} are no variables of the model, which has {listing(self.schema, 12)}. "
                "Remove or rename them."
            )
        names = [name for name in columns if name not in asked]
        if not names:
            raise ArgumentError("The table has no column of evidence. Ask query for the answer without evidence.")
        table = open_table(data, names, schema=self.schema.select(names), missing=KEEP, unknown_states=unknown_states)
        place = self.schema.positions
        parts = []
        for block in BlockSource(table).each(lambda block: block):
            codes = np.full((block.n_rows, len(self.schema)), -1, np.int64)
            for name in names:
                codes[:, place[name]] = block.columns[name]
            parts.append(codes)
        return np.concatenate(parts)

    # Missing values -------------------------------------------------------------------------------------------

    @cached_property
    def missing(self) -> MissingValues:
        """How missing values of rows are summed out and filled."""
        self.require_possible()
        return DiscreteGaps.of(self.inquiry)

    def refusal(self, codes: Ints, values: Floats) -> ModelError:
        """Return the error for a row that is impossible, or whose probability is not known."""
        evidence = Given({variable: int(code) for variable, code in enumerate(codes) if code >= 0})
        try:
            self.check_known(None, evidence)
        except ModelError as error:
            return error
        return self.impossible(evidence)

    def require_possible(self) -> None:
        """Raise when the tables leave nothing possible, so that there is no distribution."""
        if self.inquiry.log_z == -math.inf:
            raise self.impossible(Given())

    def impossible(self, evidence: Given) -> ModelError:
        """Return the error, which names the piece of evidence that goes too far."""
        seen = describe(self.schema, evidence)
        if not seen:
            return ModelError("The model gives probability zero to everything: its tables leave no configuration.")
        pieces = list(evidence.hard.items())
        if self.inquiry.log_evidence(Given(dict(pieces))) > -math.inf:
            return ModelError(
                f"The evidence is impossible: the model gives {_together(seen)} the probability zero. Correct it."
            )
        possible, impossible = 0, len(pieces)  # how many of the first pieces are
        while impossible - possible > 1:
            middle = (possible + impossible) // 2
            if self.inquiry.log_evidence(Given(dict(pieces[:middle]))) == -math.inf:
                impossible = middle
            else:
                possible = middle
        before = f" together with {_together(seen[:possible])}" if possible else " by itself"
        return ModelError(
            f"The evidence is impossible: the model gives {seen[possible]}{before} the probability zero. Correct it, "
            "or fit with a prior, so that what was not seen stays possible."
        )

    # Unknown numbers ------------------------------------------------------------------------------------------

    @cached_property
    def _unknown(self) -> dict[int, Bools]:
        """The nodes whose tables have unknown rows, and which: one axis a parent."""
        if self.product.parents is None:  # tables of a Markov network are known
            return {}
        factors = self.product.factors
        found = {node: np.asarray(np.isnan(factor.values).any(axis=-1)) for node, factor in enumerate(factors)}
        return {node: unknown for node, unknown in found.items() if unknown.any()}

    def check_known(self, wanted: tuple[int, ...] | None, given: Given) -> None:
        """Raise where an unknown number would enter the answer about ``wanted``, None meaning all variables."""
        if not self._unknown:
            return
        product = self.product
        mask = 0
        for node in range(len(product.sizes)) if wanted is None else (*wanted, *given.hard, *given.soft):
            mask |= product.above[node]
        for node in self._entering(given):
            if mask >> node & 1:
                raise ModelError(
                    f"The answer depends on {product.names[node]!r}, whose table has unknown rows (NaN), because the "
                    "data had no such case. Fit with ",
                    Remedy("unseen_parents", "uniform"),
                    " or with a prior.",
                )

    def unknown(self, given: Given) -> list[int]:
        """Return the variables whose distribution an unknown number would enter, the evidence itself being known."""
        entering = sum(1 << node for node in self._entering(given))
        return [v for v, above in enumerate(self.product.above) if above & entering] if entering else []

    def _entering(self, given: Given) -> Iterator[int]:
        """Iterate over the nodes that have unknown rows which agree with the evidence."""
        for node, unknown in self._unknown.items():
            parents = self.product.factors[node].scope[:-1]
            if unknown[tuple(given.hard.get(parent, slice(None)) for parent in parents)].any():
                yield node

    @cached_property
    def completed(self) -> Inquiry:
        """What asks the product, unknown rows made uniform; they enter no answer that `check_known` lets pass."""
        if not self._unknown:
            return self.inquiry
        factors = list(self.product.factors)
        for node, unknown in self._unknown.items():
            values = factors[node].values.copy()
            values[unknown] = 1 / values.shape[-1]
            factors[node] = Factor(factors[node].scope, values)
        return Inquiry(replace(self.product, factors=tuple(factors)))

    # The whole ------------------------------------------------------------------------------------------------

    def marginals(self, given: Evidence | None) -> Marginals:
        """Return p(v | given) of every variable that is not given, from one calibration."""
        evidence = given_of(self.schema, given)
        self.check_known(None, evidence)
        found = self.inquiry.marginals(evidence)
        impossible = not found and self.inquiry.log_evidence(evidence) == -math.inf
        if impossible or any(not values.any() for values in found.values()):
            raise self.impossible(evidence)
        variables = self.schema.variables
        return Marginals({variables[v].name: LabelledTable((variables[v],), found[v]) for v in sorted(found)})

    def most_likely(self, wanted: tuple[int, ...] | None, given: Evidence | None, log_prob_of: LogProbOf) -> Assignment:
        """Return the most likely states of all variables that are not given, or of some, the others summed out.

        The probability of a whole configuration is that of ``log_prob_of``.
        """
        evidence = given_of(self.schema, given, wanted or ())
        self.check_known(wanted, evidence)
        found = self.inquiry.most_likely(evidence, wanted)
        if found is None:
            raise self.impossible(evidence)
        chosen, log_product, ties = found
        log_evidence, log_z = self.inquiry.log_evidence(evidence), self.inquiry.log_z
        log_prob, codes = log_product - log_z, {**evidence.hard, **chosen}
        variables = self.schema.variables
        if len(codes) == len(variables):
            row = {variables[v].name: np.array([code]) for v, code in codes.items()}
            log_prob = float(log_prob_of(row, 1)[0])
            log_prob += sum(math.log(weights[codes[v]]) for v, weights in evidence.soft.items())
        return assignment_of(self.schema, wanted, chosen, log_prob, log_prob - log_evidence + log_z, ties)

    @property
    def log_z(self) -> float:
        """The logarithm of the sum of all products of tables; zero for a Bayesian network."""
        return self.inquiry.log_z

    def log_evidence(self, given: Evidence | None) -> float:
        """Return log p(given), −inf when it is impossible."""
        evidence = given_of(self.schema, given)
        self.check_known((), evidence)
        self.require_possible()
        return self.inquiry.log_evidence(evidence) - self.inquiry.log_z

    def entropy(self, given: Evidence | None) -> float:
        """Return the entropy of all variables that are not given, −Σ p log p, in nats."""
        evidence = given_of(self.schema, given)
        self.check_known(None, evidence)
        found = self.inquiry.calibrated(evidence)
        if found.log_z == -math.inf:
            raise self.impossible(evidence)
        return found.entropy

    def kl(self, other: AnyEngine) -> float:
        """Return Σ p log p/q in nats, p being this distribution and q the other."""
        if set(self.schema) != set(other.schema):
            raise ModelError(
                f"The models have different variables: {listing(sorted(set(self.schema) ^ set(other.schema)))} are in "
                "one of them only."
            )
        for name in self.schema:
            if not self.schema[name].has_states_of(other.schema[name]):
                raise ModelError(
                    f"The models have different states of {name!r}: {listing(self.schema[name].labels)} and "
                    f"{listing(other.schema[name].labels)}. They must be equal, order included."
                )
        q = other.require_discrete("A product of tables", "ask the network itself: query, marginals, map, sample")
        for engine in (self, q):
            engine.check_known(None, Given())
            engine.require_possible()
        place = self.schema.positions
        position = [place[name] for name in q.schema]
        product = q.product
        scopes = [tuple(position[v] for v in factor.scope) for factor in product.factors]
        found = self.inquiry.calibrated(Given(), scopes)
        expected = 0.0
        for scope, factor in zip(scopes, product.factors, strict=True):
            p = found.marginal(scope)
            assert p is not None
            with np.errstate(divide="ignore", invalid="ignore"):
                expected += float(np.where(p > 0, p * np.log(factor.values), 0.0).sum())
        return max(0.0, -found.entropy - expected + q.log_z)

    def complexity(self, given: Evidence | None) -> Complexity:
        """Return how large exact inference is; nothing is allocated."""
        evidence = given_of(self.schema, given)
        return Complexity.of(self.inquiry.plan(frozenset(evidence.hard)))

    # Draws ----------------------------------------------------------------------------------------------------

    def drawing(self, given: Evidence | None) -> Draw:
        """Return how rows are drawn given evidence."""
        evidence = given_of(self.schema, given)
        self.check_known(None, evidence)
        found = self.inquiry.calibrated(evidence)
        if found.log_z == -math.inf:
            raise self.impossible(evidence)
        return from_calibrated(self.schema, found, evidence)

    def chained(self, given: Evidence | None) -> tuple[Product, Given]:
        """Return what Gibbs sampling redraws, given evidence."""
        evidence = given_of(self.schema, given)
        self.check_known(None, evidence)
        return self.product, evidence


def _together(pieces: list[str]) -> str:
    more = f" and {len(pieces) - 12} more" if len(pieces) > 12 else ""
    return ", ".join(pieces[:12]) + more
