"""EM of networks with continuous nodes: mixtures of normals, classes known of some rows only, gaps anywhere.

A row that has all columns of a family counts for it as ever, once and for all. What is missing of other families is
filled in by its expectation (`suffice.learn.mixed_gaps`); rows with gaps are kept in memory, where they fit, and are
read again for every step, where they do not. Networks of regressions alone are joint normal distributions
(`suffice.learn.normal_expectation`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.block import Block
from suffice.data.encode import missing_in
from suffice.data.schema import Schema
from suffice.errors import EstimationError, Mention, listing
from suffice.inference.gaussian_parts import Regression
from suffice.learn.expectation import Expectation, largest_change
from suffice.learn.expected_vector import ExpectedVector
from suffice.learn.method import Problem
from suffice.learn.mixed_chunks import Chunk, Planner
from suffice.learn.mixed_gaps import MixedSums, Numbers, expected
from suffice.learn.mixed_plan import Shape, need_of
from suffice.learn.mixed_priors import NetworkLogPrior, refuses_prior
from suffice.learn.mixed_start import Available, chance_numbers
from suffice.learn.network_gain import network_gain
from suffice.learn.normal_expectation import (
    NormalExpectation,
    free_regressions,
    joint_of_network,
    single_needs,
    units_of,
)
from suffice.learn.regression_gaps import largest_slope, standardised
from suffice.learn.taming import tamed
from suffice.models.cpds import nodes_of
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.tabular import whole_values
from suffice.settings import settings
from suffice.stats.gap_rows import GapRow, GapRows
from suffice.stats.needs import Count, Moment, Need, Sum
from suffice.stats.statistics import Statistics
from suffice.stats.sums import Sums as Added
from suffice.structures.dag import DAG
from suffice.text import plural
from suffice.types import Array, Floats

LOST = 1e-12
"""Variances below so much of a column's own are rounding error: a component sits on one row."""
HELD = 2**24
"""Most rows with gaps that are kept in memory; of more, as many are a sample, and steps read all of them again."""
FEW = 1.0
"""A latent state that holds fewer rows has collapsed."""


def needs(dag: DAG, schema: Schema) -> tuple[Need, ...]:
    """Ask for every family from the rows that have it, and for every column by itself."""
    continuous = [name for name in schema if name in dag.parents and not schema[name].is_discrete]
    alone = [Count((name,)) for name in schema if name in dag.parents and schema[name].is_discrete]
    return tuple(dict.fromkeys([*need_of(dag, schema).values(), *single_needs(continuous), *alone]))


def expectation(problem: Problem[DAG]) -> Expectation:
    """Return the E-step of a network with continuous nodes, the problem's data bound."""
    dag, schema = problem.structure, problem.schema
    log_prior = None
    if (reason := refuses_prior(dag, problem.prior)) is not None:
        raise EstimationError("The method 'em' cannot use this prior: ", reason)
    if problem.prior is not None:
        log_prior = NetworkLogPrior(dag, schema, problem.statistics, problem.prior, problem.point, problem.fixed)
    if all(kind.name == "linear_gaussian" for kind, _ in nodes_of(dag, schema).values()):
        names = tuple(dag.nodes)
        found = list(need_of(dag, schema).values())
        return NormalExpectation(problem, names, found, joint_of_network(names), log_prior)
    return MixedExpectation(problem, log_prior)


class MixedExpectation:
    """The E-step of a network of discrete and normal variables."""

    def __init__(self, problem: Problem[DAG], log_prior: NetworkLogPrior | None = None) -> None:
        assert problem.source is not None
        self.problem, self.shape = problem, Shape.of(problem.structure, problem.schema)
        self._log_prior = log_prior
        self.n = problem.statistics.weight
        names, shape = self.shape.names, self.shape
        self.continuous = sorted(shape.regressions)
        centres, spreads = units_of(problem.statistics, [names[v] for v in self.continuous])
        self.centres = dict(zip(self.continuous, centres.tolist(), strict=True))
        self.spreads = dict(zip(self.continuous, spreads.tolist(), strict=True))
        wanted = need_of(problem.structure, problem.schema)
        self.needs = {at: wanted[name] for at, name in enumerate(names)}
        held = [need for at, need in self.needs.items() if at not in shape.softmax]
        named = [{names[v]: unit[v] for v in self.continuous} for unit in (self.centres, self.spreads)]
        self.layout = ExpectedVector(held, problem.schema, *named)
        self.units = self.layout.units
        self.complete = self.layout.vector(problem.statistics)
        self._free = free_regressions(problem.structure, problem.schema, problem.fixed)
        self._nodes = nodes_of(problem.structure, problem.schema)
        self._planner = Planner(shape)
        limit = min(HELD, max(1, settings().memory // (8 * 8 * (len(names) + 2))))
        need = GapRow(names, limit)
        rows: GapRows = problem.source.reduce(need)[need]
        self.sample = self._standard(rows.columns)
        self._chunks: list[Chunk] | None = None
        if rows.is_whole:
            self._chunks = list(self._planner.chunks(self.sample, rows.weights))
        self._lacking = [names[at] for at, column in enumerate(rows.columns) if missing_in(column).any()]
        self._n_lacking = float(rows.weights.sum()) * rows.n_all / max(1, len(rows.weights))

    # The step -------------------------------------------------------------------------------------------------

    def at(self, model: Any) -> tuple[float, Floats]:
        """Return the observed log-likelihood at a model, and the statistics that it expects, shape (size,)."""
        statistics = self.problem.statistics
        named = [(self.shape.names[at], statistics[need]) for at, need in self.needs.items()]
        local = [self._nodes[name][0].log_likelihood(model.cpd(name), statistic) for name, statistic in named]
        if -math.inf in local:
            node = self.shape.names[list(self.needs)[local.index(-math.inf)]]
            raise EstimationError(
                f"Some rows are impossible under the table of {node!r} that was given or begun with. Correct 'fixed' "
                "or 'init', or these rows."
            )
        found = self._expected(self._numbers(model))
        return math.fsum(local) + found.log_likelihood, self.complete + self._vector(found)

    def _expected(self, numbers: Numbers) -> MixedSums:
        """Return the sums of the families that rows lack something of, the log-likelihood in the columns' units."""
        if self._chunks is not None:
            found = expected(self.shape, self._chunks, numbers)
        else:
            task = _Task(self, numbers)
            assert self.problem.source is not None
            flat = self.problem.source.reduce(task)[task.need].values
            found = MixedSums(float(flat[0]), *_unpacked(self.shape, flat[1:]))
        found.log_likelihood -= self._log_units
        return found

    @property
    def _log_units(self) -> float:
        """What densities in spreads lack: log s for each value that was observed of a family with a gap elsewhere."""
        total = 0.0
        for node in self.continuous:
            seen = float(self.problem.statistics[Moment((self.shape.names[node],))].weight)
            whole = float(self.problem.statistics[self.needs[node]].weight.sum())
            total += (seen - whole) * math.log(self.spreads[node])
        return total

    def _numbers(self, model: Any) -> Numbers:
        tables, regressions = {}, {}
        for node in self.shape.scopes:
            if node not in self.shape.softmax:
                with np.errstate(divide="ignore"):
                    tables[node] = np.log(whole_values(model.cpd(self.shape.names[node]))).reshape(-1)
        for node, held in self.shape.regressions.items():
            cpd: LinearGaussianCPD = model.cpd(self.shape.names[node])
            centres, spreads = (np.array([unit[v] for v in held.continuous]) for unit in (self.centres, self.spreads))
            numbers = standardised(cpd, centres, spreads, self.centres[node], self.spreads[node])
            self._require_spread(node, cpd, numbers[2])
            regressions[node] = Regression(held.discrete, held.continuous, *numbers)
        return Numbers(tables, regressions)

    def _require_spread(self, node: int, cpd: LinearGaussianCPD, variance: Floats) -> None:
        if not (variance < LOST).any() or not self._lacking:
            return
        where = f", {cpd.describe_row(int(np.argmin(variance)))}" if cpd.family.discrete else ""
        raise EstimationError(
            f"Node {self.shape.names[node]!r}{where}: its variance runs to zero, where the likelihood grows without "
            "bound: a component that sits on one row, or a child that is a function of its parents. Give fewer latent "
            "states, tie the variances by ",
            Mention("kinds", "kinds={…: {'tied': 'variance'}}"),
            ", pass a prior such as ",
            Mention("NormalInverseGamma", "sf.NormalInverseGamma(…)"),
            ", or begin elsewhere: ",
            Mention("seed", "seed=…"),
            ".",
        )

    def _vector(self, sums: MixedSums) -> Floats:
        vector = np.zeros(self.layout.size)
        for node, counts in sums.counts.items():
            vector[self.layout.place(self.needs[node])] = counts
        for node, products in sums.products.items():
            spread = np.array([1.0, *(self.spreads[v] for v in self.shape.xs(node))])
            whole = products * spread[:, None] * spread
            flat = [whole[:, 0, :], whole[:, 1:, 1:].reshape(len(whole), -1)]
            vector[self.layout.place(self.needs[node])] = np.concatenate(flat, axis=1).reshape(-1)
        return vector

    def _standard(self, columns: Any) -> list[Array]:
        """Return columns in order, continuous ones in centres and spreads."""
        return [
            (np.asarray(column, np.float64) - self.centres[at]) / self.spreads[at] if at in self.centres else column
            for at, column in enumerate(columns)
        ]

    def chunks_of(self, rows: GapRows) -> list[Chunk]:
        """Return the rows of a block in chunks."""
        return list(self._planner.chunks(self._standard(rows.columns), rows.weights))

    # Around the step ------------------------------------------------------------------------------------------

    def statistics(self, vector: Floats) -> Statistics:
        """Return a vector as statistics, which the M-step is made from."""
        told = self.problem.statistics
        found = self.layout.statistics(vector, told.weight, told.n_read, told.n_dropped)
        for node in self.shape.softmax:
            found.items_[self.needs[node]] = told[self.needs[node]]
        return found

    def tamed(self, candidate: Floats, plain: Floats) -> Floats | None:
        """Return an extrapolated vector as one that statistics can have, or None."""
        return tamed(self.layout, candidate, plain)

    def started(self, chance: np.random.Generator | None) -> Floats:
        """Return where to begin: from the rows that have each family, or by chance; what no row has always so."""
        available = self._available()
        if chance is None and not available.latent:
            return self._vector(MixedSums(0.0, *available.filled()))
        drawn = np.random.Generator(np.random.Philox(0)) if chance is None else chance
        return self.complete + self._vector(self._expected(chance_numbers(available, self.sample, drawn)))

    def _available(self) -> Available:
        told = self.problem.statistics
        counts, products, alone = {}, {}, {}
        for node in self.shape.scopes:
            alone[node] = np.asarray(told[Count((self.shape.names[node],))].table(), np.float64)
            if node not in self.shape.softmax:
                counts[node] = np.array(self.complete[self.layout.place(self.needs[node])])
        for node in self.continuous:
            spread = np.array([self.spreads[v] for v in self.shape.xs(node)])
            weight, sums, squares = self.layout.parts(self.needs[node], self.complete)
            whole = np.empty((len(weight), 1 + len(spread), 1 + len(spread)))
            whole[:, 0, 0], whole[:, 1:, 0] = weight, sums / spread
            whole[:, 0, 1:], whole[:, 1:, 1:] = sums / spread, squares / spread[:, None] / spread
            products[node] = whole
        latent = frozenset(node for node, seen in alone.items() if not seen.any())
        return Available(self.shape, counts, products, alone, self.n, latent)

    def distance(self, model: Any, vector: Floats, expected: Floats) -> tuple[float, float]:
        """Return the largest derivative by a regression's parameters, or change of expected counts, and the gain."""
        gap = largest_change(vector, expected, self.units, self.n)
        if self.problem.prior is None:
            models = {need: (kind, model.cpd(family.child.name)) for need, (kind, family) in self._free.items()}
            gap = max(gap, largest_slope(models, self.layout, expected) / self.n)
        if gap > self.problem.tol:
            return gap, math.inf
        return gap, network_gain(self.problem, self._nodes, model, self.statistics(expected))

    def parameters(self, model: Any, vector: Floats) -> dict[str, Floats]:
        """Return the expected statistics, a row, of each family."""
        return self.layout.shares(vector, self.n)

    def log_prior(self, model: Any) -> float:
        """Return what the prior adds to the objective, up to a constant: zero without one."""
        return 0.0 if self._log_prior is None else self._log_prior(model)

    def remarks(self, model: Any) -> tuple[str, ...]:
        """Say how much is missing, and which latent states hold no rows."""
        if not self._lacking:
            return ("No value is missing: the estimate is that of complete rows.",)
        lacking = listing(self._lacking, 8)
        said = [f"EM: {plural(round(self._n_lacking), 'row')} of {self.n:,g} lack values, of {lacking}."]
        vector = self.at(model)[1] if self.problem.structure.latent else self.complete
        for name, size in self.problem.structure.latent:
            at = self.shape.names.index(name)
            scope = self.shape.scopes[at]
            counts = vector[self.layout.place(self.needs[at])].reshape([self.shape.sizes[v] for v in scope])
            held = counts.reshape(-1, size).sum(axis=0)
            for state in np.flatnonzero(held < FEW):
                said.append(
                    f"State {int(state)} of the latent {name!r} has collapsed: it holds {held[state]:.2g} rows. Give "
                    "it fewer states, or more restarts."
                )
        return tuple(said)


@dataclass(frozen=True, eq=False)
class _Task:
    """One E-step as a task for `Source.reduce`."""

    owner: MixedExpectation
    numbers: Numbers

    @property
    def need(self) -> Sum:
        """The request that its sums answer."""
        return Sum("expected statistics", 1 + sum(array.size for array in _arrays(MixedSums.zero(self.owner.shape))))

    def __call__(self, block: Block) -> Mapping[Need, Any]:
        """Return the sums of one block."""
        need = GapRow(self.owner.shape.names, block.n_rows)
        rows = GapRows.of_block(need, block)
        found = expected(self.owner.shape, self.owner.chunks_of(rows), self.numbers)
        flat = np.concatenate([[found.log_likelihood], *(array.reshape(-1) for array in _arrays(found))])
        return {self.need: Added(self.need.name, flat)}


def _arrays(sums: MixedSums) -> Iterator[Floats]:
    yield from sums.counts.values()
    yield from sums.products.values()


def _unpacked(shape: Shape, flat: Floats) -> tuple[dict[int, Floats], dict[int, Floats]]:
    sums, at = MixedSums.zero(shape), 0
    for array in _arrays(sums):
        array[...] = flat[at : at + array.size].reshape(array.shape)
        at += array.size
    return sums.counts, sums.products


__all__ = ["MixedExpectation", "expectation", "needs", "refuses_prior"]
