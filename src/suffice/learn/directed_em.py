"""EM for Bayesian networks: expected counts of every family, and the estimators of complete data as M-steps.

Given what was seen of a row, its missing variables fall into components that are independent of each other, and each
depends on the families that it touches only. Families in which nothing is missing were counted once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.schema import Schema
from suffice.errors import ArgumentError, EstimationError, Remedy
from suffice.inference.gap_sums import GapSums, MissingSums
from suffice.learn import directed
from suffice.learn.em import EM
from suffice.learn.em_init import require_network
from suffice.learn.expectation import Expectation, largest_change
from suffice.learn.expected_vector import ExpectedVector
from suffice.learn.method import Method, Problem
from suffice.learn.network_gain import network_gain
from suffice.learn.observed_lbfgs import Slope
from suffice.learn.root_tables import ZERO, RootTables
from suffice.models.cpds import nodes_of
from suffice.models.cpds.rows import all_configurations
from suffice.models.cpds.tabular import describe_configuration, whole_values
from suffice.priors.binding import bound, prior_of
from suffice.priors.dirichlet import DirichletPrior
from suffice.stats.gaps import Gaps
from suffice.stats.needs import Gap, Need
from suffice.stats.statistics import Statistics
from suffice.structures.dag import DAG
from suffice.text import plural
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.bayes_net import BayesianNetwork
    from suffice.priors.prior import Prior

SPREAD = 1.0
"""What the start from available cases adds to every row of a table, so that no state is ruled out from the outset."""
LEAST_SPREAD = 1e-6
"""As much of all rows it adds at least: what begins far fainter would seem to stand still."""
LEAST = 0.02
"""A mixed step leaves every expected count at least so much of what the plain step gives it: zeros would stay."""


def is_discrete(dag: DAG, schema: Schema) -> bool:
    """Whether every node of a network has states."""
    return all(schema[node].is_discrete for node in dag.nodes)


def refuses(dag: DAG, schema: Schema) -> str | None:
    """Refuse nodes whose expected statistics are not known in closed form."""
    latent = dict(dag.latent)
    reasons = (kind.refuses_em(family, latent) for kind, family in nodes_of(dag, schema).values())
    return next((reason for reason in reasons if reason is not None), None)


def gap_of(dag: DAG) -> Gap:
    """Return the request for what is missing of a network's families."""
    return Gap(tuple((*dag.parents[node], node) for node in dag.nodes))


def needs(dag: DAG, schema: Schema) -> tuple[Need, ...]:
    """Ask for every family's counts, from the rows that have it, and for the gaps."""
    if is_discrete(dag, schema):
        return (*directed.needs(dag, schema), gap_of(dag))
    from suffice.learn import mixed_expectation

    return mixed_expectation.needs(dag, schema)


def expectation(problem: Problem[DAG]) -> Expectation:
    """Return the E-step that a network needs."""
    require_network(problem)
    if is_discrete(problem.structure, problem.schema):
        return TableExpectation(problem)
    from suffice.learn import mixed_expectation

    return mixed_expectation.expectation(problem)


def inner(problem: Problem[DAG]) -> Method[DAG, BayesianNetwork]:
    """Return the estimator of complete data."""
    closed = all(kind.is_closed_form() for kind, _ in nodes_of(problem.structure, problem.schema).values())
    return directed.METHOD if closed else directed.NEWTON


class TableExpectation:
    """The E-step of a network of discrete variables: see `Expectation`."""

    def __init__(self, problem: Problem[DAG]) -> None:
        self.problem, dag = problem, problem.structure
        self.nodes = nodes_of(dag, problem.schema)
        self.layout = ExpectedVector([kind.need(family) for kind, family in self.nodes.values()], problem.schema)
        self.gaps: Gaps = problem.statistics[gap_of(dag)]
        place = {variable.name: position for position, variable in enumerate(self.gaps.variables)}
        self.scopes = [[place[name] for name in scope] for scope in self.gaps.scopes]
        self.sums = GapSums([variable.n_states for variable in self.gaps.variables], self.scopes, self.gaps)
        self.complete = self.layout.vector(problem.statistics)
        self.units, self.n = self.layout.units, problem.statistics.weight
        self.prior = bound(problem.prior, dag, problem.statistics)
        self._pseudo = self._pseudo_counts()

    def _pseudo_counts(self) -> Floats | None:
        """Return what the prior adds to the counts of tables, tied ones once."""
        if self.prior is None:
            return None
        parts = {node: np.zeros(math.prod(v.n_states for v in family.variables))
                 for node, (_, family) in self.nodes.items()}  # fmt: skip
        for group in self.problem.structure.groups:
            kind, family = self.nodes[group[0]]
            mine = prior_of(self.prior, kind, family)
            if isinstance(mine, DirichletPrior):
                sizes = [parent.n_states for parent in family.parents]
                cells = np.stack(np.unravel_index(np.arange(math.prod(sizes)), sizes), axis=1) if sizes else None
                rows = mine.pseudo(family, self.problem.point)(np.zeros((1, 0), np.int64) if cells is None else cells)
                parts[group[0]] = np.asarray(rows, np.float64).reshape(-1)
        return np.concatenate(list(parts.values()))

    # The steps ------------------------------------------------------------------------------------------------

    def tables(self, model: Any) -> Floats:
        """Return the cells of all tables, in the order of the vector."""
        return np.concatenate([whole_values(model.cpd(node)).reshape(-1) for node in self.nodes])

    def at(self, model: Any) -> tuple[float, Floats]:
        """Return the observed log-likelihood at a model, and the counts that it expects."""
        tables = self.tables(model)
        summed = self.sums.run(tables)
        self._require_possible(summed, tables)
        # eq observed-likelihood
        return _weighed(self.complete, tables) + self.sums.total(summed), self.complete + summed.expected

    def _require_possible(self, summed: MissingSums, tables: Floats) -> None:
        if np.isnan(tables).any():
            node = self._node_of(int(np.argmax(np.isnan(tables))))
            raise EstimationError(
                f"The table of {node!r} that was given or begun with has unknown probabilities, NaN. Give them, or "
                "leave out 'init'."
            )
        if not np.isfinite(summed.log_sums).all():
            worst = int(np.argmin(np.isfinite(summed.log_sums)))
            raise EstimationError(
                f"Rows with {self.gaps.described(worst)} are impossible under the tables that were given or begun "
                "with, whatever is missing. Correct 'fixed' or 'init', or these rows."
            )
        if (self.complete[tables == 0] > 0).any():
            node = self._node_of(int(np.argmax((tables == 0) & (self.complete > 0))))
            raise EstimationError(
                f"Some rows are impossible under the table of {node!r} that was given or begun with. Correct 'fixed' "
                "or 'init', or these rows."
            )

    def _node_of(self, cell: int) -> str:
        return next(node for node, (kind, family) in self.nodes.items()
                    if cell < self.layout.place(kind.need(family)).stop)  # fmt: skip

    def statistics(self, vector: Floats) -> Statistics:
        """Return a vector as counts."""
        held = self.problem.statistics
        return self.layout.statistics(vector, held.weight, held.n_read, held.n_dropped)

    def tamed(self, candidate: Floats, plain: Floats) -> Floats | None:
        """Return mixed counts that are nowhere far below the plain step's."""
        return np.maximum(candidate, LEAST * plain)

    # Gradients ------------------------------------------------------------------------------------------------

    @cached_property
    def _roots(self) -> RootTables:
        """The rows of all tables, and for every cell the one that stands for it, which differs where nodes are tied."""
        lead, row = np.arange(self.layout.size), np.empty(self.layout.size, np.int64)
        n_rows = 0
        place = {node: self.layout.place(kind.need(family)) for node, (kind, family) in self.nodes.items()}
        for node, (_, family) in self.nodes.items():
            cells = np.arange(place[node].start, place[node].stop)
            row[cells] = n_rows + (cells - place[node].start) // family.child.n_states
            n_rows = int(row[cells[-1]]) + 1
        for group in self.problem.structure.groups:
            for node in group[1:]:
                lead[place[node]] = lead[place[group[0]]]
        return RootTables(row, lead)

    @cached_property
    def has_slopes(self) -> bool:
        """Whether every row of every table is free."""
        return not self.problem.fixed and all(kind.name == "tabular" for kind, _ in self.nodes.values())

    def scale(self, expected: Floats) -> Floats:
        """Return about the diagonal of the inverse Hessian, a row."""
        return self._roots.scale(expected, self.n)

    def coordinates(self, model: Any) -> Floats:
        """Return the roots of all probabilities."""
        return self._roots.roots(self.tables(model))

    def slope(self, coordinates: Floats) -> Slope:
        """Return the objective and its gradient by the roots of probabilities."""
        tables = self._roots.tables(coordinates)
        objective, expected = self._at(tables)
        if not math.isfinite(objective):
            return Slope(objective, np.zeros(self.layout.size), expected, math.inf)
        if self._pseudo is not None:
            objective += _weighed(self._pseudo, tables)
        gaps = self._roots.gaps(tables, self._with_prior(expected))
        gradient = self._roots.gradient(coordinates, gaps)
        return Slope(objective, gradient, expected, float(np.abs(gaps).max(initial=0.0)) / self.n)

    def _at(self, tables: Floats) -> tuple[float, Floats]:
        summed = self.sums.run(tables)
        return _weighed(self.complete, tables) + self.sums.total(summed), self.complete + summed.expected

    def _with_prior(self, expected: Floats) -> Floats:
        return expected if self._pseudo is None else expected + self._pseudo

    def risen(self, coordinates: Floats) -> Floats | None:
        """Return coordinates in which zeros are lifted with which the likelihood rises; None without any."""
        tables = self._roots.tables(coordinates)
        if not self.gaps.n or not (tables < ZERO).any():
            return None
        expected = self._at(np.maximum(tables, ZERO))[1]
        return self._roots.lifted(coordinates, expected, self.problem.tol / 2 * self.n)

    # Where to begin -------------------------------------------------------------------------------------------

    def started(self, chance: np.random.Generator | None) -> Floats:
        """Return the counts of available cases, a little spread out, or tables at random."""
        if not self.gaps.n:
            return self.complete
        widths = np.concatenate([
            np.full(math.prod(v.n_states for v in family.variables), family.child.n_states)
            for _, family in self.nodes.values()
        ]).astype(float)  # fmt: skip
        if chance is not None:
            drawn: Floats = chance.gamma(1.0, size=self.layout.size) * self.n / widths
            return drawn
        return self.complete + max(SPREAD, LEAST_SPREAD * self.n) / widths

    def distance(self, model: Any, vector: Floats, expected: Floats) -> tuple[float, float]:
        """Return the largest derivative by log-odds, a row, and what the next step of EM would add, in nats."""
        if not self.has_slopes:
            gap = largest_change(vector, expected, self.units, self.n)
            if gap > self.problem.tol:
                return gap, math.inf
            return gap, network_gain(self.problem, self.nodes, model, self.statistics(expected))
        tables, counts = self.tables(model), self._with_prior(expected)
        gaps = self._roots.gaps(tables, counts)
        return float(np.abs(gaps).max(initial=0.0)) / self.n, self._roots.gain(tables, counts, gaps)

    def parameters(self, model: Any, vector: Floats) -> dict[str, Floats]:
        """Return the rows of all tables that some data are expected in, tied ones once."""
        found = {}
        for group in self.problem.structure.groups:
            kind, family = self.nodes[group[0]]
            table = whole_values(model.cpd(group[0])).reshape(-1, family.child.n_states)
            counts = vector[self.layout.place(kind.need(family))].reshape(table.shape).sum(axis=1)
            cells = all_configurations([parent.n_states for parent in family.parents])
            for row in np.flatnonzero(counts > LEAST_SPREAD).tolist():
                given = f" | {describe_configuration(family.parents, cells[row])}" if family.parents else ""
                found[f"p({group[0]}{given})"] = table[row]
        return found

    def log_prior(self, model: Any) -> float:
        """Return Σ a log θ over the cells of the tables, a being α or α − 1."""
        return 0.0 if self._pseudo is None else _weighed(self._pseudo, self.tables(model))

    def remarks(self, model: Any) -> tuple[str, ...]:
        """Say how much is missing, and which columns hold nothing."""
        hidden = dict(self.problem.structure.latent)
        said = []
        if self.gaps.n:
            said.append(
                f"Rows that lack values make up {plural(self.gaps.n, 'different situation')}; the likelihood is that "
                "of what was observed."
            )
        for node, (kind, family) in self.nodes.items():
            seen = not hidden.keys() & set(family.scope)
            if seen and not self.complete[self.layout.place(kind.need(family))].any():
                said.append(f"{node}: no row has it together with all its parents; its table rests on the others.")
        return (*said, *self._untold())

    def _untold(self) -> Iterator[str]:
        """Say which rows of tables no row of the data can tell of: a childless node, never seen beside its parents."""
        dag, tied = self.problem.structure, {node for group in self.problem.structure.tie for node in group}
        parents = {name for above in dag.families for name in above}
        for node, (kind, family) in self.nodes.items():
            if self.prior is not None or node in parents or node in tied or not family.parents or self.problem.fixed:
                continue
            counts = self.complete[self.layout.place(kind.need(family))].reshape(-1, family.child.n_states).sum(axis=1)
            unseen = np.flatnonzero(counts == 0)
            if len(unseen) and counts.any():
                first = all_configurations([parent.n_states for parent in family.parents])[unseen[0]]
                yield (
                    f"{node}: no row shows it for {plural(len(unseen), 'configuration')} of its parents (first: "
                    f"{describe_configuration(family.parents, first)}); unless rows that lack a parent tell of them, "
                    "their probabilities are where EM began."
                )


def _weighed(weights: Floats, tables: Floats) -> float:
    """Return Σ w log t over the cells that have a weight."""
    held = weights != 0
    with np.errstate(divide="ignore"):
        return float(weights[held] @ np.log(tables[held]))


def refuses_slopes(dag: DAG, schema: Schema) -> str | None:
    """Refuse nodes that are no tables, whose gradients EM does not need either."""
    for node, (kind, _) in nodes_of(dag, schema).items():
        if kind.name != "tabular":
            return f"node {node!r} is of kind {kind.name!r}, and it searches tables only; 'em' can fit it."
    return None


def check_slopes(dag: DAG, prior: Prior | None, fixed: Mapping[str, Any]) -> None:
    """Refuse given rows, beside what EM refuses."""
    directed.check(dag, prior, fixed)
    if fixed:
        raise ArgumentError(
            "The method 'observed_lbfgs' moves every row; leave 'fixed' out, or pass ", Remedy("method", "em"), "."
        )


LBFGS = EM(expectation, inner, refuses_slopes, needs, check_slopes, patience=0).method(("mle", "mean", "map"))
METHOD = EM(expectation, inner, refuses, needs, directed.check).method(points=("mle", "mean", "map"))
