"""What is measured of a discrete network that was learnt from rows with gaps: the observed likelihood and its gradient.

By Fisher's identity the gradient of the observed log-likelihood is that of the expected complete one: for a table
m̄(x_v, x_pa) − m̄(x_pa) θ(x_v | x_pa), where m̄ are the counts that the network expects of the data, by its log-odds. A
probability that is zero stays there under EM, whatever the data say; so its slope is looked at by itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.certify.claim import Claim
from suffice.certify.observed_rows import ObservedRows, Seen
from suffice.certify.violation import Violation
from suffice.data.block import Block
from suffice.data.variable import Variable
from suffice.models.cpds import given_in, nodes_of
from suffice.models.cpds.rows import all_configurations, among
from suffice.models.cpds.tabular import describe_configuration, whole_values
from suffice.priors.binding import bound, prior_of
from suffice.stats.needs import Need, Sum
from suffice.stats.sums import Sums
from suffice.text import plural

Floats = NDArray[np.float64]
LIFT = 1e-9
"""What zeros are replaced by, to see whether the likelihood rises with them."""
NOTHING = 1e-6
"""A row of a table that is expected in less than so many rows of data is not determined by them."""
SAME = 1e-6
"""Latent states whose tables differ by less than this are the same."""


class Observed(NamedTuple):
    """What was measured: the observed log-likelihood, the largest violation a row, where it is, and what to know."""

    log_likelihood: float
    residual: float
    worst: str
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Expected:
    """The task of summing up, over rows with gaps, their log-probabilities and the counts that tables expect of them.

    Attributes
    ----------
    network : ObservedRows
    variables : tuple of Variable
    values : array
        The tables, one after another.
    """

    network: ObservedRows
    variables: tuple[Variable, ...]
    values: Floats = field(repr=False)

    @property
    def need(self) -> Sum:
        """What it returns: ℓ, the weight of impossible rows, of all rows, of those that have each variable; counts."""
        return Sum("observed", 3 + len(self.variables) + len(self.values))

    def __call__(self, block: Block) -> dict[Need, Any]:
        """Return the sums of one block."""
        rows = Seen.of_block(self.variables, block)
        log_p, counts = self.network.run(self.values, rows)
        possible = log_p > -np.inf
        total = float((rows.weights[possible] * log_p[possible]).sum(dtype=np.longdouble))
        head = [total, float(rows.weights[~possible].sum()), float(rows.weights.sum())]
        seen = rows.weights @ (rows.codes >= 0)
        return {self.need: Sums("observed", np.concatenate([head, seen, counts]))}


class Tally(NamedTuple):
    """The sums of all blocks."""

    log_likelihood: float
    impossible: float
    weight: float
    seen: Floats
    counts: Floats


def measured(claim: Claim) -> Observed:
    """Read the rows again, and measure the observed likelihood and its gradient."""
    return Examined(claim).observed


@dataclass(frozen=True, eq=False)
class Examined:
    """A network looked at anew."""

    claim: Claim

    @cached_property
    def nodes(self) -> dict[str, Any]:
        """The kind and the family of every node."""
        return dict(nodes_of(self.claim.structure, self.claim.statistics.schema))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The nodes, in the order of the tables."""
        return tuple(self.nodes)

    @cached_property
    def network(self) -> ObservedRows:
        """The layout of the tables."""
        place = {name: number for number, name in enumerate(self.names)}
        families = [family for _, family in self.nodes.values()]
        return ObservedRows(
            self.names,
            tuple(family.child.n_states for family in families),
            tuple(tuple(place[name] for name in family.scope) for family in families),
        )

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the nodes."""
        return tuple(family.child for _, family in self.nodes.values())

    @cached_property
    def values(self) -> Floats:
        """The tables of the model; rows that are unknown are uniform, which the data must not notice."""
        tables = [whole_values(self.claim.model.cpd(name)).reshape(-1, v.n_states)
                  for name, v in zip(self.names, self.variables, strict=True)]  # fmt: skip
        known = [np.where(np.isnan(table), 1 / max(table.shape[1], 1), table).reshape(-1) for table in tables]
        return np.concatenate([np.zeros(0), *known])

    def tally(self, values: Floats) -> Tally:
        """Pass over the rows with some tables."""
        assert self.claim.source is not None
        task = Expected(self.network, self.variables, values)
        found = self.claim.source.reduce(task)[task.need].values
        n = len(self.variables)
        return Tally(float(found[0]), float(found[1]), float(found[2]), found[3 : 3 + n], found[3 + n :])

    @cached_property
    def found(self) -> Tally:
        """The sums at the model."""
        return self.tally(self.values)

    # What is measured -----------------------------------------------------------------------------------------

    @property
    def observed(self) -> Observed:
        """All that is measured."""
        for name, variable in zip(self.names, self.variables, strict=True):
            mine = self.claim.model.cpd(name).family
            if not all(v.has_states_of(self.claim.statistics.schema[v.name]) for v in mine.variables):
                return Observed(math.nan, math.inf, f"node {name!r}, whose states are not those of the statistics")
            assert variable.states is not None
        self.network.require_room()
        found = self.found
        if found.impossible:
            return Observed(-math.inf, math.inf, f"{_rows(found.impossible)} that the tables rule out", self.remarks)
        violation = Violation(0.0, "no node")
        for group in self.groups:
            violation = group.violation(violation)
        return Observed(found.log_likelihood, *self._risen(violation), self.remarks)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The nodes, grouped by shared parameters."""
        prior = bound(self.claim.prior, self.claim.structure, self.claim.statistics)
        return tuple(Group(self, names, prior) for names in self.claim.structure.groups)

    def _risen(self, violation: Violation) -> tuple[float, str]:
        """Look at the probabilities that are zero: the likelihood must not rise with them."""
        if self.found.seen.min(initial=math.inf) >= self.found.weight:
            return violation.size, violation.where  # nothing is missing, and what never occurs has no slope
        zeros = np.zeros(len(self.values), bool)
        for group in self.groups:
            for name in group.names:
                self.network.table(zeros, self.names.index(name))[...] = group.zeros
        if not zeros.any():
            return violation.size, violation.where
        lifted = self.tally(np.where(zeros, LIFT, self.values)).counts
        for group in self.groups:
            violation = group.risen(violation, lifted)
        return violation.size, violation.where

    # What the data leave open ---------------------------------------------------------------------------------

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What the data leave open, in a few words each."""
        return (*self._unseen(), *self._latent(), *self._undetermined())

    def _unseen(self) -> Iterator[str]:
        latent = dict(self.claim.structure.latent)
        for name, seen in zip(self.names, self.found.seen, strict=True):
            if seen == 0 and name not in latent and self.found.weight > 0:
                yield f"{name!r} is missing in every row"

    def _latent(self) -> Iterator[str]:
        dag, weight = self.claim.structure, self.found.weight
        for name, n in dag.latent:
            if n < 2:
                continue
            around = [name, *(child for child, above in dag.parents.items() if name in above)]
            if not set(around) & set(self.claim.fixed):
                yield f"the states of {name!r} have no order, and exchanging them gives the same likelihood"
            held = self.table(self.found.counts, name).reshape(-1, n).sum(axis=0)
            labels = self.variables[self.names.index(name)].labels
            for state in np.flatnonzero(held <= NOTHING * max(weight, 1.0)).tolist():
                yield f"the state {labels[state]!r} of {name!r} has collapsed: no row is in it"
            for one, other in itertools.combinations(range(n), 2):
                if min(held[one], held[other]) > NOTHING * weight and self._same(name, around[1:], one, other):
                    yield f"the states {labels[one]!r} and {labels[other]!r} of {name!r} have the same distributions"

        shown_cells = math.prod(v.n_states for v in self.variables if v.name not in dict(dag.latent))
        n_free = sum(group.free.sum() * (group.theta.shape[1] - 1) for group in self.groups)
        if dag.latent and self.claim.prior is None and n_free >= shown_cells:
            yield (
                f"{plural(int(n_free), 'free parameter')} cannot all be told from {plural(shown_cells - 1, 'margin')} "
                "of what is observed"
            )

    def _same(self, latent: str, children: list[str], one: int, other: int) -> bool:
        """Return whether two states of a latent variable leave the same distributions to its children."""
        for child in children:
            table = self.table(self.values, child)
            axis = self.claim.structure.parents[child].index(latent)
            if not np.allclose(table.take(one, axis), table.take(other, axis), rtol=0, atol=SAME):
                return False
        return bool(children)

    def _undetermined(self) -> Iterator[str]:
        """Name the tables with rows that no data are expected in."""
        if self.claim.prior is not None:
            return
        found = [(group, int(np.count_nonzero(group.totals[group.free] < NOTHING))) for group in self.groups]
        found = [(group, n) for group, n in found if n]
        for group, n in found[:3]:
            rows = plural(n, "row")
            yield f"{rows} of the table of {group.names[0]!r} {'has' if n == 1 else 'have'} no data"
        if len(found) > 3:
            yield f"so have rows of {plural(len(found) - 3, 'other table')}"

    def table(self, values: Floats, name: str) -> Floats:
        """Return a node's part of a vector of all tables; axes the parents and then the child."""
        return self.network.table(values, self.names.index(name))


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes that share one distribution, the first of which stands for all."""

    examined: Examined
    names: tuple[str, ...]
    prior: Any

    @cached_property
    def lead(self) -> Any:
        """The distribution."""
        return self.examined.claim.model.cpd(self.names[0])

    @cached_property
    def kind(self) -> Any:
        """The kind of the nodes."""
        return self.examined.nodes[self.names[0]][0]

    @cached_property
    def theta(self) -> Floats:
        """The table, one row a parent configuration."""
        return self._rows(self.examined.values, self.names[0])

    def _rows(self, values: Floats, name: str) -> Floats:
        return self.examined.table(values, name).reshape(-1, self.lead.family.child.n_states)

    @cached_property
    def counts(self) -> Floats:
        """The expected counts of all nodes together, with what the prior adds; shape (n_rows, n_states)."""
        return self._summed(self.examined.found.counts) + self.pseudo

    def _summed(self, counts: Floats) -> Floats:
        return np.sum([self._rows(counts, name) for name in self.names], axis=0)  # type: ignore[no-any-return]

    @cached_property
    def pseudo(self) -> Floats:
        """What the prior adds to the counts: α, or α − 1 for the mode."""
        lead = self.examined.nodes[self.names[0]][1]
        mine = prior_of(self.prior, self.kind, lead)
        if mine is None or self.kind.name != "tabular":
            return np.zeros(self.theta.shape)
        return np.array(mine.pseudo(lead, self.examined.claim.point)(self._configurations), np.float64)

    @cached_property
    def totals(self) -> Floats:
        """The expected counts of the parent configurations; shape (n_rows,)."""
        totals: Floats = self.counts.sum(axis=1)
        return totals

    @cached_property
    def _configurations(self) -> NDArray[np.int64]:
        return all_configurations([parent.n_states for parent in self.lead.family.parents])

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Which rows were not given."""
        free = np.ones(len(self.theta), bool)
        given = given_in(self.names, self.examined.claim.fixed, self.examined.nodes)
        if given is None:
            return free
        rows = self.kind.fix(self.lead, given)[1]
        return ~among(self._configurations, rows) if self.kind.name == "tabular" else ~free

    @property
    def _is_as_given(self) -> bool:
        """Whether the rows that were given were left alone."""
        given = given_in(self.names, self.examined.claim.fixed, self.examined.nodes)
        if given is None:
            return True
        with_given = whole_values(self.kind.fix(self.lead, given)[0])
        return np.array_equal(with_given, whole_values(self.lead), equal_nan=True)

    @cached_property
    def zeros(self) -> NDArray[np.bool_]:
        """Which probabilities of free rows are zero, or as good as that, in the shape of the table; no noisy-OR's."""
        zero = (self.theta < LIFT) & self.free[:, None] & (self.kind.name == "tabular")
        return np.asarray(zero).reshape([v.n_states for v in self.lead.family.variables])

    @property
    def _n(self) -> float:
        return self.examined.found.weight or 1.0

    def violation(self, largest: Violation) -> Violation:
        """Compare the gradient, a row of data, with the largest so far; and tied tables with each other."""
        if not self._is_as_given:
            largest = largest.or_larger(math.inf, f"{self.names[0]!r}, where a given row was changed")
        for name in self.names[1:]:
            if not np.array_equal(self._rows(self.examined.values, name), self.theta):
                largest = largest.or_larger(math.inf, f"node {name!r}, which is tied and differs")
        if self.kind.name != "tabular":
            return self._noisy_or(largest)
        gaps = np.abs(self.counts - self.totals[:, None] * self.theta) / self._n
        gaps[~self.free | (self.totals <= 0)] = 0.0
        unknown = np.isnan(whole_values(self.lead)).any(axis=-1).reshape(-1) & (self.totals > NOTHING)
        gaps[unknown] = math.inf
        row = int(np.argmax(gaps.max(axis=1))) if gaps.size else 0
        return largest.or_larger(float(gaps.max(initial=0.0)), self._where(row))

    def _noisy_or(self, largest: Violation) -> Violation:
        """Chain the table's gradient to −log(1 − strength): Σ m̄₁ p(absent)/p(present) − m̄₀ over what holds a cause."""
        if not self.free.any():
            return largest
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = self.theta[:, 0] / self.theta[:, 1]
            terms = np.where(self.counts[:, 1] > 0, self.counts[:, 1] * odds, 0.0) - self.counts[:, 0]
        causes = [("the leak", self.lead.leak, np.full(len(terms), bool(self.kind.leak)))]
        for place, parent in enumerate(self.lead.family.parents):
            for code, label in enumerate(parent.labels[1:], 1):
                held = self._configurations[:, place] == code
                causes.append((f"{parent.name}={label!r}", self.lead.strength(parent.name, label), held))
        for said, strength, held in causes:
            if not math.isnan(strength):
                slope = float(terms[held].sum()) / self._n
                where = f"node {self.names[0]!r}, the strength of {said}"
                largest = largest.or_larger(abs(slope) if strength > 0 else max(slope, 0.0), where)
        return largest

    def risen(self, largest: Violation, lifted: Floats) -> Violation:
        """Compare the slopes of the probabilities that are zero, from counts with these lifted."""
        zero = self.zeros.reshape(self.theta.shape)
        if not zero.any():
            return largest
        slopes = (self._summed(lifted) / LIFT - self.totals[:, None]) / self._n
        slopes = np.where(zero & (self.pseudo <= 0), slopes, 0.0)
        row, state = np.unravel_index(int(np.argmax(slopes)), slopes.shape)
        label = self.lead.family.child.labels[int(state)]
        where = f"{self._where(int(row))}, where {label!r} has probability zero and the likelihood rises with it"
        return largest.or_larger(float(slopes[row, state]), where)

    def _where(self, row: int) -> str:
        """Name a row of the table."""
        parents = self.lead.family.parents
        said = f", {describe_configuration(parents, self._configurations[row])}" if parents else ""
        return f"node {self.names[0]!r}{said}"


def _rows(weight: float) -> str:
    return plural(int(weight), "row") if weight == int(weight) else f"rows of weight {weight:g}"
