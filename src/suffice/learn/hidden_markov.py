"""Hidden Markov models by expectation-maximisation: a chain with a latent column, and the columns that hang on it.

Statistics    first states m(z), transitions m(z, z'), and of every column m(z, x), or Σw, Σwx, Σwx² in every state
Expected      by a forward and a backward pass over every sequence
Estimated     each table from its own counts, each normal distribution from its own moments

ℓ(θ) = Σ_sequences log Σ_z p(z_1) Π p(z_t | z_t−1) Π p(x_t | z_t), x_t that are missing left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from suffice.data.block import Block
from suffice.data.hidden_sequences import HiddenColumns
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.data.windows import lagged
from suffice.errors import ArgumentError, EstimationError, Mention, NotFor, shown
from suffice.inference.hidden_chains import HiddenChain
from suffice.learn.em import EM
from suffice.learn.expectation import largest_change
from suffice.learn.expected_vector import ExpectedVector
from suffice.learn.markov_chain import check
from suffice.learn.method import Method, Problem, Solution
from suffice.learn.observed_lbfgs import Slope
from suffice.learn.root_tables import ZERO, RootTables
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.rows import all_configurations
from suffice.models.cpds.tabular import TabularCPD
from suffice.models.cpds.tabular_kind import KIND
from suffice.models.hidden_markov import Emission, HiddenMarkovModel, hidden_families
from suffice.optimise.distance import EPS, beyond, shortfall, table_losses
from suffice.stats.counts import Counts
from suffice.stats.moments import Moments
from suffice.stats.needs import Count, Moment, Need, Sum
from suffice.stats.statistics import Statistics
from suffice.stats.sums import Sums
from suffice.structures.markov_chain import MarkovChain
from suffice.text import number
from suffice.types import Floats

LEAST = 0.02
"""A mixed step leaves every expected count, and every variance, at least so much of what the plain step gives it."""
COLLAPSED = 1e-10
"""A state whose variance is so small beside that of all values has run onto one of them."""


# What is asked for ---------------------------------------------------------------------------------------------


def refuses(chain: MarkovChain, schema: Schema) -> str | None:
    """Refuse chains whose states are observed."""
    return (
        None if chain.latent else NotFor("it is for chains with a latent column, sf.MarkovChain(latent={'state': 3}).")
    )


def observed(chain: MarkovChain, schema: Schema) -> tuple[Variable, ...]:
    """Return the variables that are observed."""
    state, _ = chain.state
    return tuple(variable for variable in schema.variables if variable.name not in (state, lagged(state, 1)))


def needs(chain: MarkovChain, schema: Schema) -> tuple[Count | Moment, ...]:
    """Ask for every column by itself, which tells where to begin."""
    return tuple(
        Count((variable.name,)) if variable.is_discrete else Moment((variable.name,))
        for variable in observed(chain, schema)
    )


def family_need(family: NodeFamily) -> Count | Moment:
    """Return what a family is estimated from."""
    return Count(family.scope) if family.child.is_discrete else Moment((family.child.name,), (family.parents[0].name,))


# The M-step ----------------------------------------------------------------------------------------------------


def solve(problem: Problem[MarkovChain]) -> Solution[HiddenMarkovModel]:
    """Estimate every distribution from its own statistic."""
    chain: MarkovChain = problem.structure
    families = hidden_families(chain, observed(chain, problem.schema))
    tables: list[Emission] = []
    n_free_adjusted = 0
    for family in families:
        statistic = problem.statistics[family_need(family)]
        if isinstance(statistic, Moments):
            tables.append(_normal(family, statistic))
            n_free_adjusted += 2 * int(np.count_nonzero(statistic.weight))
            continue
        assert isinstance(statistic, Counts)
        tables.append(_table(problem, family, statistic))
        n_free_adjusted += KIND.n_free_adjusted(family, statistic)
    start, step, *shows = tables
    assert isinstance(start, TabularCPD)
    assert isinstance(step, TabularCPD)
    remarks = _unknown_rows(step, problem.unseen_parents)
    if problem.unseen_parents == "uniform":
        start, step = KIND.complete(start, "uniform")[0], KIND.complete(step, "uniform")[0]
        shows = [KIND.complete(cpd, "uniform")[0] if isinstance(cpd, TabularCPD) else cpd for cpd in shows]
    model = HiddenMarkovModel(chain, start, step, tuple(shows))
    return Solution(model, math.nan, model.n_free, n_free_adjusted, remarks=remarks)  # the E-step tells its worth


def _table(problem: Problem[MarkovChain], family: NodeFamily, counts: Any) -> TabularCPD:
    if problem.prior is None:
        return KIND.mle(family, counts)
    rows = problem.prior.posterior(KIND.name, family, counts)
    found: TabularCPD = rows.mode() if problem.point == "map" else rows.mean()
    return found


def _normal(family: NodeFamily, moments: Moments) -> LinearGaussianCPD:
    """Return a normal distribution a state, unknown (NaN) where no position is expected in it."""
    weight, scatter = moments.weight.reshape(-1), moments.scatter.reshape(-1)
    mean = (moments.mean + moments.rest).reshape(-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = scatter / weight
    middle = float(weight @ mean / weight.sum())
    overall = float((scatter.sum() + weight @ (mean - middle) ** 2) / weight.sum())
    collapsed = (weight > 0) & ~(variance > COLLAPSED * overall)
    if collapsed.any():
        row = int(np.argmax(collapsed))
        state, name = family.parents[0].name, family.child.name
        raise EstimationError(
            f"State {row} of {state!r} runs onto the one value {mean[row]:g} of {name!r}: its variance goes to zero, "
            f"and the likelihood grows without bound. Give {state!r} fewer states, begin elsewhere by ",
            Mention("seed", "seed=…"),
            f", init=…, or make {name!r} discrete.",
        )
    seen = weight > 0
    return LinearGaussianCPD(
        family, np.where(seen, mean, np.nan), np.zeros((len(weight), 0)), np.where(seen, variance, np.nan)
    )


def _unknown_rows(step: TabularCPD, policy: str) -> tuple[str, ...]:
    unknown = np.flatnonzero(np.isnan(step.values).any(axis=1))
    if not len(unknown):
        return ()
    name = step.family.child.name
    done = "it was set uniform" if policy == "uniform" else "what follows it is unknown (NaN)"
    return (f"{name}: state {unknown[0]} is never left, and {done}.",)


# The E-step ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class HiddenPass:
    """The task of expected statistics under a model: the log-likelihood, then the vector."""

    chain: HiddenChain
    layout: ExpectedVector
    needs: tuple[Need, ...]
    name: ClassVar[str] = "hidden chain"

    @property
    def need(self) -> Sum:
        """What the sums are known by."""
        return Sum(self.name, 1 + self.layout.size)

    def __call__(self, block: Block) -> dict[Need, Any]:
        """Return the sums of a block of whole sequences."""
        columns = block.columns
        assert isinstance(columns, HiddenColumns)
        found = self.chain.expected(columns, columns.offsets, columns.weights)
        if found.impossible >= 0:
            raise EstimationError(
                f"Sequence {columns.first + found.impossible + 1} is impossible under the model that was begun with. "
                "Correct 'init', or the sequence."
            )
        vector = np.zeros(1 + self.layout.size)
        vector[0] = found.log_likelihood
        first, pairs, *shown = self.needs
        parts = [(first, found.first), (pairs, found.pairs)]
        parts += [
            (need, sums.T if isinstance(need, Count) else sums) for need, sums in zip(shown, found.sums, strict=True)
        ]
        for need, values in parts:
            vector[1:][self.layout.place(need)] = values.reshape(-1)
        return {self.need: Sums(self.name, vector)}


class HiddenExpectation:
    """The E-step of a hidden chain: see `suffice.learn.expectation.Expectation`."""

    def __init__(self, problem: Problem[MarkovChain]) -> None:
        self.problem = problem
        self.chain: MarkovChain = problem.structure
        self.observed = observed(self.chain, problem.schema)
        self.families = hidden_families(self.chain, self.observed)
        centres, spreads = self._scales()
        state, before = self.families[1].child, self.families[1].parents[0]
        schema = Schema((*self.observed, state, before))
        self.needs = tuple(family_need(family) for family in self.families)
        self.layout = ExpectedVector(self.needs, schema, centres, spreads)
        self.units, self.n = self.layout.units, problem.statistics.weight
        if problem.init is not None:
            self._require_init(problem.init)

    def _scales(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return the mean and the standard deviation of every continuous column."""
        centres, spreads = {}, {}
        for variable in self.observed:
            if variable.is_discrete:
                continue
            moments = self.problem.statistics[Moment((variable.name,))]
            weight = float(moments.weight.sum())
            spread = float(moments.scatter.sum() / weight) ** 0.5 if weight > 0 else 0.0
            if not spread > 0:
                said = "is the same everywhere" if weight > 0 else "has no value"
                raise EstimationError(
                    f"Column {variable.name!r} {said}, so that it tells no states apart. Leave it out."
                )
            centres[variable.name], spreads[variable.name] = float(moments.mean.reshape(-1)[0]), spread
        return centres, spreads

    def _require_init(self, init: Any) -> None:
        if not isinstance(init, HiddenMarkovModel):
            raise ArgumentError(
                f"The 'init' argument must be a model to begin at, such as that of another fit. Got {shown(init)}."
            )
        mine = [(family.scope, family.child) for family in self.families]
        theirs = [(cpd.family.scope, cpd.family.child) for cpd in init.tables]
        if [scope for scope, _ in mine] != [scope for scope, _ in theirs]:
            raise ArgumentError(f"The model to begin at is of other columns: {init!r}. Give one of the same structure.")
        for (_, own), (_, other) in zip(mine, theirs, strict=True):
            if not own.has_states_of(other):
                raise ArgumentError(
                    f"The states of {own.name!r} are others in the model to begin at than in the data. Declare the "
                    "states of both alike, ",
                    Mention("in the schema", "in the schema"),
                    ".",
                )

    def at(self, model: HiddenMarkovModel) -> tuple[float, Floats]:
        """Return the observed log-likelihood at a model, and the statistics that it expects."""
        assert self.problem.source is not None
        task = HiddenPass(model.chain_about(self.layout.centres), self.layout, self.needs)
        values = self.problem.source.reduce(task)[task.need].values
        return float(values[0]), values[1:].copy()

    def statistics(self, vector: Floats) -> Statistics:
        """Return a vector as counts and moments."""
        held = self.problem.statistics
        return self.layout.statistics(vector, held.weight, held.n_read, held.n_dropped)

    def tamed(self, candidate: Floats, plain: Floats) -> Floats | None:
        """Return mixed statistics whose counts and variances are nowhere far below the plain step's."""
        found = candidate.copy()
        for need in self.needs:
            place = self.layout.place(need)
            if isinstance(need, Count):
                found[place] = np.maximum(candidate[place], LEAST * plain[place])
                continue
            mine, usual = found[place].reshape(-1, 3), plain[place].reshape(-1, 3)
            with np.errstate(invalid="ignore", divide="ignore"):
                spread = mine[:, 2] / mine[:, 0] - (mine[:, 1] / mine[:, 0]) ** 2
                wanted = usual[:, 2] / usual[:, 0] - (usual[:, 1] / usual[:, 0]) ** 2
                bad = ~((mine[:, 0] > LEAST * usual[:, 0]) & (spread > LEAST * wanted))
            found[place] = np.where(bad[:, None], usual, mine).reshape(-1)
        return found

    def started(self, chance: np.random.Generator | None) -> Floats:
        """Return what a random model expects: rows of tables, and means, scattered about those of all positions."""
        if chance is None:
            raise ArgumentError(
                f"Nothing is observed of {self.chain.state[0]!r} that a start could be made from. Leave the 'start' "
                "option out, which begins at random, or pass init=…, a model."
            )
        k = self.chain.state[1]
        first, step, *rest = self.families
        shows: list[Emission] = []
        for family in rest:
            name = family.child.name
            if family.child.is_discrete:
                share = np.asarray(self.problem.statistics[Count((name,))].table(), np.float64) + 1e-3
                rows = share * chance.gamma(2.0, size=(k, len(share)))
                shows.append(TabularCPD(family, rows / rows.sum(axis=1, keepdims=True)))
                continue
            centre, spread = self.layout.centres[name], self.layout.spreads[name]
            mean = centre + spread * chance.standard_normal(k)
            shows.append(LinearGaussianCPD(family, mean, np.zeros((k, 0)), np.full(k, spread**2)))
        start = TabularCPD(first, chance.dirichlet(np.full(k, 4.0)))
        moves = TabularCPD(step, chance.dirichlet(np.full(k, 2.0), size=k))
        return self.at(HiddenMarkovModel(self.chain, start, moves, tuple(shows)))[1]

    def distance(self, model: Any, vector: Floats, expected: Floats) -> tuple[float, float]:
        """Return the largest derivative by log-odds, by a mean in standard deviations, or by log sd; and the gain."""
        if self.has_slopes:
            tables, counts = self._cells(model), expected + self._pseudo
            gaps = self._roots.gaps(tables, counts)
            return float(np.abs(gaps).max(initial=0.0)) / self.n, self._roots.gain(tables, counts, gaps)
        largest, gain = largest_change(vector, expected, self.units, self.n), 0.0
        counts = expected + self._pseudo
        for family, cpd in zip(self.families, model.tables, strict=True):
            if isinstance(cpd, TabularCPD):
                mine = counts[self.layout.place(family_need(family))].reshape(cpd.values.shape)
                gain += float(table_losses(mine, cpd.values).sum())
                continue
            slope, more = self._of_normal(cpd, expected)
            largest, gain = max(largest, slope / self.n), gain + more
        return largest, gain

    def _of_normal(self, cpd: LinearGaussianCPD, expected: Floats) -> tuple[float, float]:
        """Return the largest derivative by the means and log standard deviations of all states, and the gain."""
        name = cpd.family.child.name
        weight, sums, squares = expected[self.layout.place(family_need(cpd.family))].reshape(-1, 3).T
        mean = cpd.intercept - self.layout.centres[name]
        with np.errstate(divide="ignore", invalid="ignore"):
            of_mean = (sums - weight * mean) / np.sqrt(cpd.variance)
            of_sd = (squares - 2 * mean * sums + weight * mean**2) / cpd.variance - weight
            rounding = 2 * EPS * np.abs(cpd.intercept) / np.sqrt(cpd.variance)
            gains = weight / 2 * (beyond(of_mean / weight, rounding) ** 2 + shortfall(of_sd / weight))
        parts = np.where(weight > 0, np.maximum(np.abs(of_mean), np.abs(of_sd)), 0.0)
        return float(parts.max(initial=0.0)), float(np.where(weight > 0, gains, 0.0).sum())

    # Gradients ------------------------------------------------------------------------------------------------

    @cached_property
    def has_slopes(self) -> bool:
        """Whether all columns have states, so that the model is made of tables."""
        return all(variable.is_discrete for variable in self.observed)

    @cached_property
    def _roots(self) -> RootTables:
        """The rows of all tables."""
        rows, n_rows = [], 0
        for family in self.families:
            n = math.prod(parent.n_states for parent in family.parents)
            rows.append(n_rows + np.repeat(np.arange(n), family.child.n_states))
            n_rows += n
        row = np.concatenate(rows).astype(np.int64)
        return RootTables(row, np.arange(len(row)))

    @cached_property
    def _pseudo(self) -> Floats:
        """What the prior adds to the counts of tables: α, or α − 1 for the mode."""
        added = np.zeros(self.layout.size)
        for family in self.families if self.problem.prior is not None else ():
            if family.child.is_discrete:
                rows = all_configurations([parent.n_states for parent in family.parents])
                pseudo = self.problem.prior.pseudo(family, self.problem.point)(rows)
                added[self.layout.place(family_need(family))] = np.asarray(pseudo, np.float64).reshape(-1)
        return added

    def _cells(self, model: HiddenMarkovModel) -> Floats:
        """Return the cells of all tables, in the order of the vector."""
        return np.concatenate([cpd.values.reshape(-1) for cpd in model.tables if isinstance(cpd, TabularCPD)])

    def _model(self, cells: Floats) -> HiddenMarkovModel:
        tables = []
        for family, need in zip(self.families, self.needs, strict=True):
            shape = [variable.n_states for variable in family.variables]
            tables.append(TabularCPD(family, cells[self.layout.place(need)].reshape(shape)))
        start, step, *shows = tables
        return HiddenMarkovModel(self.chain, start, step, tuple(shows))

    def coordinates(self, model: HiddenMarkovModel) -> Floats:
        """Return the roots of all probabilities."""
        return self._roots.roots(self._cells(model))

    def slope(self, coordinates: Floats) -> Slope:
        """Return the objective and its gradient by the roots of probabilities."""
        tables = self._roots.tables(coordinates)
        model = self._model(tables)
        try:
            log_likelihood, expected = self.at(model)
        except EstimationError:  # so small a probability that a sequence has none
            return Slope(-math.inf, np.zeros(self.layout.size), np.zeros(self.layout.size), math.inf)
        gaps = self._roots.gaps(tables, expected + self._pseudo)
        gradient = self._roots.gradient(coordinates, gaps)
        largest = float(np.abs(gaps).max(initial=0.0)) / self.n
        return Slope(log_likelihood + self.log_prior(model), gradient, expected, largest)

    def scale(self, expected: Floats) -> Floats:
        """Return about the diagonal of the inverse Hessian, a position."""
        return self._roots.scale(expected, self.n)

    def risen(self, coordinates: Floats) -> Floats | None:
        """Return coordinates in which zeros are lifted with which the likelihood rises; None without any."""
        tables = self._roots.tables(coordinates)
        if not (tables < ZERO).any():
            return None
        expected = self.at(self._model(self._roots.tables(np.sqrt(np.maximum(tables, ZERO)))))[1]
        return self._roots.lifted(coordinates, expected, self.problem.tol / 2 * self.n)

    def parameters(self, model: Any, vector: Floats) -> dict[str, Floats]:
        """Return the expected statistics, a row, of each family."""
        return self.layout.shares(vector, self.n)

    def log_prior(self, model: HiddenMarkovModel) -> float:
        """Return Σ α log θ under point="mean", Σ (α − 1) log θ under "map"; zero without a prior."""
        if self.problem.prior is None:
            return 0.0
        total = 0.0
        for cpd in model.tables:
            if isinstance(cpd, TabularCPD):
                alpha = self.problem.prior.alpha(cpd.family) - (1.0 if self.problem.point == "map" else 0.0)
                with np.errstate(divide="ignore", invalid="ignore"):
                    total += float(np.where(alpha == 0, 0.0, alpha * np.log(cpd.values)).sum())
        return total

    def remarks(self, model: HiddenMarkovModel) -> tuple[str, ...]:
        """Say what is missing, and what the numbers of states mean."""
        said = []
        for variable, need in zip(self.observed, needs(self.chain, self.problem.schema), strict=True):
            held = self.problem.statistics[need]
            assert isinstance(held, Counts | Moments)
            weight = float(held.table().sum() if isinstance(held, Counts) else held.weight.sum())
            if weight < self.n * (1 - 1e-12):
                said.append(
                    f"{variable.name}: {number(self.n - weight)} of {number(self.n)} values are missing; positions "
                    "without them show the other columns, or nothing."
                )
            if self.problem.prior is not None and not variable.is_discrete:
                said.append(f"{variable.name}: the prior is one on tables, so its normal distributions have none.")
        if self.chain.state[1] > 1:
            said.append(f"{self.chain.state[0]}: states are numbered as they were found; any order is as likely.")
        return tuple(said)


INNER: Method[MarkovChain, HiddenMarkovModel] = Method(refuses=refuses, needs=needs, solve=solve)
METHOD = EM(
    expectation=HiddenExpectation, inner=lambda problem: INNER, refuses=refuses, needs=needs, check=check
).method(("mle", "mean", "map"))
