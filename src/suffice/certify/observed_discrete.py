"""What is measured of a discrete network that was learnt from rows with gaps: the observed likelihood and its gradient.

By Fisher's identity the gradient of the observed log-likelihood is that of the expected complete one: for a table
m̄(x_v, x_pa) − m̄(x_pa) θ(x_v | x_pa), where m̄ are the counts that the network expects of the data, by its log-odds. A
probability that is zero stays there under EM, whatever the data say; so its slope is looked at by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.certify.claim import Claim
from suffice.certify.constraints import constraint_violation
from suffice.certify.observed_rows import ObservedCodes, ObservedRows
from suffice.certify.violation import Violation
from suffice.data.block import Block
from suffice.data.variable import Variable
from suffice.errors import listing
from suffice.models.cpds import given_in, nodes_of
from suffice.models.cpds.rows import all_configurations, among
from suffice.models.cpds.tabular import describe_configuration, whole_values
from suffice.optimise.distance import Distance, table_losses
from suffice.priors.binding import bound, prior_of
from suffice.stats.counts import Counts
from suffice.stats.needs import Need, Sum
from suffice.stats.sums import Sums
from suffice.text import plural
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.bayes_net import BayesianNetwork
    from suffice.priors.prior import Prior
    from suffice.structures.dag import DAG

LIFT = 1e-9
"""What zeros are replaced by, to see whether the likelihood rises with them."""
NOTHING = 1e-6
"""A row of a table that is expected in less than so many rows of data is not determined by them."""
SAME = 1e-6
"""Latent states whose tables differ by less than this are the same."""
FEW = 10
"""So many remarks of one sort are made one by one."""


class Observed(NamedTuple):
    """What was measured: the observed log-likelihood, the largest violation a row, where it is, what to know, and nats.

    The distance in nats is a Newton decrement with the curvature of the complete-data likelihood at the expected
    statistics. That of the observed likelihood is flatter, by the share of the information that is missing, but is not
    a sum over tables and rows; so the number is what one step of EM would still gain, and Newton's would gain more.
    ``violated`` are all parameters at which the first-order condition is violated by more than the tolerance, the
    worst first.
    """

    log_likelihood: float
    residual: float
    worst: str
    remarks: tuple[str, ...] = ()
    distance: Distance = Distance()
    every: tuple[str, ...] = ()

    @property
    def violated(self) -> tuple[str, ...]:
        """The worst one at least."""
        return self.every or (self.worst,)


@dataclass(frozen=True, eq=False)
class ExpectedCounts:
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
        rows = ObservedCodes.of_block(self.variables, block)
        log_p, counts = self.network.run(self.values, rows)
        possible = log_p > -np.inf
        total = float((rows.weights[possible] * log_p[possible]).sum(dtype=np.longdouble))
        head = [total, float(rows.weights[~possible].sum()), float(rows.weights.sum())]
        seen = rows.weights @ (rows.codes >= 0)
        return {self.need: Sums("observed", np.concatenate([head, seen, counts]))}


class CountTally(NamedTuple):
    """The sums of all blocks."""

    log_likelihood: float
    impossible: float
    weight: float
    seen: Floats
    counts: Floats


def measured(claim: Claim[DAG, BayesianNetwork]) -> Observed:
    """Read the rows again, and measure the observed likelihood and its gradient."""
    return ExaminedNetwork(claim).observed


@dataclass(frozen=True, eq=False)
class ExaminedNetwork:
    """A network looked at anew."""

    claim: Claim[DAG, BayesianNetwork]

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

    def tally(self, values: Floats) -> CountTally:
        """Pass over the rows with some tables."""
        assert self.claim.source is not None
        task = ExpectedCounts(self.network, self.variables, values)
        found = self.claim.source.reduce(task)[task.need].values
        n = len(self.variables)
        return CountTally(float(found[0]), float(found[1]), float(found[2]), found[3 : 3 + n], found[3 + n :])

    @cached_property
    def found(self) -> CountTally:
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
        violation, distance = Violation(0.0, "no node"), Distance()
        for group in self.groups:
            violation = group.violation(violation)
            distance += group.distance
        violation, risen = self._risen(violation)
        every = sorted((one for group in self.groups for one in group.violations()), reverse=True)
        named = tuple(name for _, name in every)
        return Observed(
            found.log_likelihood, violation.size, violation.where, self.remarks, distance=distance + risen, every=named
        )

    @cached_property
    def groups(self) -> tuple[SharedNodes, ...]:
        """The nodes, grouped by shared parameters."""
        prior = bound(self.claim.prior, self.claim.structure, self.claim.statistics)
        return tuple(SharedNodes(self, names, prior) for names in self.claim.structure.groups)

    def _risen(self, violation: Violation) -> tuple[Violation, Distance]:
        """Look at the probabilities that are zero: the likelihood must not rise with them."""
        if self.found.seen.min(initial=math.inf) >= self.found.weight:
            return violation, Distance()  # nothing is missing, and what never occurs has no slope
        zeros = np.zeros(len(self.values), bool)
        for group in self.groups:
            for name in group.names:
                self.network.table(zeros, self.names.index(name))[...] = group.zeros
        if not zeros.any():
            return violation, Distance()
        lifted, distance = self.tally(np.where(zeros, LIFT, self.values)).counts, Distance()
        for group in self.groups:
            violation, gained = group.risen(violation, lifted)
            distance += gained
        return violation, distance

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
            collapsed = [labels[state] for state in np.flatnonzero(held <= NOTHING * max(weight, 1.0)).tolist()]
            if len(collapsed) > FEW:
                yield f"the states {listing(collapsed)} of {name!r} have collapsed: no row is in them"
            for label in collapsed if len(collapsed) <= FEW else ():
                yield f"the state {label!r} of {name!r} has collapsed: no row is in it"
            alike = self._alike(name, around[1:], np.flatnonzero(held > NOTHING * weight))
            for group in alike[:FEW]:
                few = " and ".join(repr(labels[state]) for state in group)
                shown = few if len(group) == 2 else listing([labels[state] for state in group])
                yield f"the states {shown} of {name!r} have the same distributions"
            if len(alike) > FEW:
                yield f"so have {plural(len(alike) - FEW, 'other group')} of states of {name!r}"

        shown_cells = math.prod(v.n_states for v in self.variables if v.name not in dict(dag.latent))
        n_free = sum(group.free.sum() * (group.theta.shape[1] - 1) for group in self.groups)
        if dag.latent and self.claim.prior is None and n_free >= shown_cells:
            yield (
                f"{plural(int(n_free), 'free parameter')} cannot all be told from {plural(shown_cells - 1, 'margin')} "
                "of what is observed"
            )

    def _alike(self, latent: str, children: list[str], states: NDArray[np.int64]) -> list[list[int]]:
        """Return groups of states of a latent variable that leave the same distributions to its children."""
        if not children or not len(states):
            return []
        tables = []
        for child in children:
            axis = self.claim.structure.parents[child].index(latent)
            table = np.moveaxis(self.table(self.values, child), axis, 0)
            tables.append(table.reshape(len(table), -1)[states])
        rows = np.concatenate(tables, axis=1)
        return [states[group].tolist() for group in _close_rows(rows)]

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


def _close_rows(rows: Floats) -> list[NDArray[np.int64]]:
    """Return the groups of two or more rows of which none differs from the first by more than `SAME` anywhere.

    >>> rows = np.array([0.1, 0.5, 0.1, 0.8, 0.5, 0.3, 0.8])
    >>> [group.tolist() for group in _close_rows(np.stack([rows, 1 - rows], axis=1))]
    [[0, 2], [1, 4], [3, 6]]
    """
    order = np.argsort(rows[:, 0], kind="stable")
    first = rows[order, 0]
    begin, end = np.searchsorted(first, first - SAME), np.searchsorted(first, first + SAME, side="right")
    begin[order], end[order] = begin.copy(), end.copy()  # only rows in this part of the order can be close
    waiting = np.ones(len(rows), bool)
    groups = []
    for row in range(len(rows)):
        if waiting[row]:
            near = order[begin[row] : end[row]]
            near = near[waiting[near]]
            close = np.sort(near[(np.abs(rows[near] - rows[row]) <= SAME).all(axis=1)])
            waiting[close] = False
            if len(close) > 1:
                groups.append(close)
    return groups


@dataclass(frozen=True, eq=False)
class SharedNodes:
    """Nodes that share one distribution, the first of which stands for all."""

    examined: ExaminedNetwork
    names: tuple[str, ...]
    prior: Prior | None

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
        broken = constraint_violation(self.examined.claim, self.names, self.examined.nodes)
        if broken is not None:
            largest = largest.or_larger(broken.size, broken.where)
        if self.kind.name != "tabular":
            return self._noisy_or(largest)
        gaps = self._gaps.copy()
        gaps[self._unknown] = math.inf
        row = int(np.argmax(gaps.max(axis=1))) if gaps.size else 0
        return largest.or_larger(float(gaps.max(initial=0.0)), self._where(row))

    @cached_property
    def _gaps(self) -> Floats:
        """The gradient by log-odds, a row of data; zero where a row was given or is expected in no data."""
        gaps: Floats = np.abs(self.counts - self.totals[:, None] * self.theta) / self._n
        gaps[~self.free | (self.totals <= 0)] = 0.0
        return gaps

    def violations(self) -> list[tuple[float, str]]:
        """Return the rows of a table that violate the condition by more than the tolerance, and by how much."""
        if self.kind.name != "tabular":
            return []
        sizes = self._gaps.max(axis=1, initial=0.0)
        return [
            (float(sizes[row]), self._where(row)) for row in np.flatnonzero(sizes > self.examined.claim.tol).tolist()
        ]

    @property
    def _unknown(self) -> NDArray[np.bool_]:
        """Which rows are unknown although data are expected in them."""
        unknown = np.isnan(whole_values(self.lead)).any(axis=-1).reshape(-1)
        return np.asarray(unknown & (self.totals > NOTHING))

    @property
    def distance(self) -> Distance:
        """What a step of EM would still gain, in nats, added up over the rows that were not given."""
        if not self.free.any():
            return Distance()
        if self.kind.name != "tabular":
            counts = self.counts.reshape([v.n_states for v in self.lead.family.variables])
            found: Distance = self.kind.distance(self.lead, Counts.dense(self.lead.family.variables, counts))
            return found.inside(self._where(0))
        losses = np.where(self.free & (self.totals > 0), table_losses(self.counts, self.theta), 0.0)
        return Distance.of_rows(np.where(self._unknown, math.inf, losses), self._where)

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

    def risen(self, largest: Violation, lifted: Floats) -> tuple[Violation, Distance]:
        """Compare the slopes of the probabilities that are zero, from counts with these lifted.

        A slope s of a row that n rows of data are expected in would gain about s²/2n, and no more than s: probabilities
        end at one, and the logarithm of the likelihood is concave in those of a row.
        """
        zero = self.zeros.reshape(self.theta.shape)
        if not zero.any():
            return largest, Distance()
        slopes = self._summed(lifted) / LIFT - self.totals[:, None]
        slopes = np.where(zero & (self.pseudo <= 0), slopes, 0.0)
        row, state = np.unravel_index(int(np.argmax(slopes)), slopes.shape)
        label = self.lead.family.child.labels[int(state)]
        where = f"{self._where(int(row))}, where {label!r} has probability zero and the likelihood rises with it"
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = np.minimum(slopes**2 / self.totals[:, None] / 2, slopes)
            gains = np.where(slopes > 0, newton, 0.0).max(axis=1)
        return largest.or_larger(float(slopes[row, state]) / self._n, where), Distance.of_rows(gains, self._where)

    def _where(self, row: int) -> str:
        """Name a row of the table."""
        parents = self.lead.family.parents if self.kind.name == "tabular" else ()
        said = f", {describe_configuration(parents, self._configurations[row])}" if parents else ""
        return f"node {self.names[0]!r}{said}"


def _rows(weight: float) -> str:
    return plural(int(weight), "row") if weight == int(weight) else f"rows of weight {weight:g}"
