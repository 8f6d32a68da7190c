"""Proof of networks with continuous nodes that were fitted to rows with gaps.

Of every row, all configurations of its missing discrete variables are written out at once, where they are few. Given
one, all continuous variables together are normal with a mean and a covariance matrix; what was observed of them has a
density, and the rest its conditional moments. So the likelihood and the expected statistics of all families follow,
and with them, by Fisher's identity, the derivatives. The fitter takes rows apart into pieces, and solves least-squares
problems instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify.claim import Claim
from suffice.certify.observed_conditioned import add_conditioned
from suffice.certify.observed_discrete import Observed
from suffice.certify.observed_scores import standardised, worst_of
from suffice.data.block import Block
from suffice.data.encode import missing_in
from suffice.inference.conditional_gaussian import MixedNetwork
from suffice.models.cpds import nodes_of
from suffice.models.cpds.tabular import whole_values
from suffice.models.mixed_network import mixed_network
from suffice.stats.needs import Moment, Need, Sum
from suffice.stats.statistics import Statistics
from suffice.stats.sums import Sums
from suffice.types import Floats, Ints

if TYPE_CHECKING:
    from suffice.models.bayes_net import BayesianNetwork
    from suffice.structures.dag import DAG

MOST = 256
"""Most configurations of a row that are written out; of more, each family's are asked for."""
CELLS = 2**20
"""Numbers that some rows hold for all their configurations."""


def measured(claim: Claim[DAG, BayesianNetwork]) -> Observed:
    """Return the observed log-likelihood, the largest derivative a row in standardised units, and the decrement."""
    assert claim.source is not None
    task = MixedEnumeration.of(claim)
    flat = claim.source.reduce(task)[task.need].values
    log_likelihood, weight = float(flat[0]), float(flat[1])
    found, distance = worst_of(claim, task.layout.unpacked(flat[2:]), task.centres, task.spreads, weight)
    return Observed(log_likelihood, found.size, found.where, distance=distance)


@dataclass(frozen=True, eq=False)
class MixedLayout:
    """Where the expected statistics of all families stand: tables, or Σ z zᵀ of z = (1, columns) by configuration."""

    shapes: Mapping[str, tuple[int, ...]]

    @property
    def size(self) -> int:
        """All numbers."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    def unpacked(self, flat: Floats) -> dict[str, Floats]:
        """Return the arrays by node, as views."""
        found, at = {}, 0
        for node, shape in self.shapes.items():
            found[node] = flat[at : at + math.prod(shape)].reshape(shape)
            at += math.prod(shape)
        return found


@dataclass(frozen=True, eq=False)
class MixedEnumeration:
    """The task of writing out all configurations of what is missing.

    Attributes
    ----------
    model : BayesianNetwork
    kinds : mapping from str to str
        The kind of each node.
    centres, spreads : mapping from str to float
        What continuous columns are measured from, and in.
    layout : MixedLayout
    without : frozenset of str
        Nodes that sum to one, and are left out.
    """

    model: Any
    kinds: Mapping[str, str]
    centres: Mapping[str, float]
    spreads: Mapping[str, float]
    layout: MixedLayout = field(repr=False)
    without: frozenset[str] = frozenset()

    @classmethod
    def of(cls, claim: Claim[DAG, BayesianNetwork]) -> MixedEnumeration:
        """Bind the numbers of a claim's model."""
        nodes = nodes_of(claim.structure, claim.statistics.schema)
        shapes: dict[str, tuple[int, ...]] = {}
        for node, (kind, family) in nodes.items():
            if kind.name == "linear_gaussian":
                p = 2 + len(family.continuous)
                shapes[node] = (math.prod(v.n_states for v in family.discrete), p, p)
            elif kind.name != "softmax":
                shapes[node] = tuple(v.n_states for v in family.variables)
        kinds = {node: kind.name for node, (kind, _) in nodes.items()}
        units = _units(claim.statistics, [node for node, kind in kinds.items() if kind == "linear_gaussian"])
        return cls(claim.model, kinds, *units, MixedLayout(shapes))

    @property
    def need(self) -> Sum:
        """The request that its sums answer."""
        return Sum("observed statistics", 2 + self.layout.size)

    # The network ----------------------------------------------------------------------------------------------

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All nodes but those that are left out, parents first."""
        return tuple(node for node in self.model.dag.order if node not in self.without)

    @cached_property
    def normal(self) -> list[str]:
        """The continuous nodes, parents first."""
        return [node for node in self.names if self.kinds[node] == "linear_gaussian"]

    @cached_property
    def switches(self) -> list[str]:
        """The discrete parents of continuous nodes: the joint normal distribution depends on these."""
        above = {parent.name for node in self.normal for parent in self.model.cpd(node).family.discrete}
        return [node for node in self.names if node in above]

    @cached_property
    def tables(self) -> dict[str, Floats]:
        """The logarithms of the tables."""
        with np.errstate(divide="ignore"):
            return {
                node: np.log(whole_values(self.model.cpd(node)))
                for node in self.names
                if self.kinds[node] not in ("linear_gaussian", "softmax")
            }

    def joint(self, codes: Mapping[str, int]) -> tuple[Floats, Floats]:
        """Return mean and covariance matrix of all continuous variables given the switches, in centres and spreads."""
        place = {name: at for at, name in enumerate(self.normal)}
        mean, root = np.zeros(len(place)), np.zeros((len(place), len(place)))
        for node, at in place.items():
            intercept, slopes, variance = self.standardised(node)
            cpd, row = self.model.cpd(node), 0
            for parent in cpd.family.discrete:
                row = row * parent.n_states + codes[parent.name]
            above = [place[parent.name] for parent in cpd.family.continuous]
            mean[at] = intercept[row] + slopes[row] @ mean[above]
            root[at] = slopes[row] @ root[above]
            root[at, at] = math.sqrt(variance[row])
        return mean, root @ root.T

    def standardised(self, node: str) -> tuple[Floats, Floats, Floats]:
        """Return intercepts, slopes and variances of a node in centres and spreads."""
        return standardised(self.model.cpd(node), node, self.centres, self.spreads)

    # The rows -------------------------------------------------------------------------------------------------

    def __call__(self, block: Block) -> Mapping[Need, Any]:
        """Return the sums of one block."""
        flat = np.zeros(2 + self.layout.size)
        found = self.layout.unpacked(flat[2:])
        weights = np.ones(block.n_rows) if block.weights is None else np.asarray(block.weights, np.float64)
        flat[1] = weights.sum()
        columns = {}
        for node in self.names:
            column = np.asarray(block.columns[node])
            is_normal = self.kinds[node] == "linear_gaussian"
            columns[node] = (column - self.centres[node]) / self.spreads[node] if is_normal else column.astype(np.int64)
        for rows, gone in _patterns(np.stack([missing_in(columns[node]) for node in self.names], axis=1), weights):
            hidden = [node for node, is_gone in zip(self.names, gone, strict=True) if is_gone]
            if unheard := self._unheard(hidden):
                hidden = [node for node in hidden if node not in unheard]
            part_of = replace(self, without=unheard) if unheard else self
            k = math.prod(self.model.schema[node].n_states for node in hidden if self.kinds[node] != "linear_gaussian")
            for some in self._cut(rows, k):
                part = {node: columns[node][some] for node in part_of.names if node not in hidden}
                if k <= MOST:
                    flat[0] += part_of._add(part, weights[some], hidden, found)
                else:
                    units = self.centres, self.spreads
                    heard = {node: array for node, array in found.items() if node not in unheard}
                    flat[0] += add_conditioned(self.model, self.network, part, hidden, weights[some], units, heard)
        return {self.need: Sums(self.need.name, flat)}

    def _unheard(self, hidden: Sequence[str]) -> frozenset[str]:
        """Return hidden softmax nodes of which nothing below was seen, with what is below: they sum to one."""
        dag, barren = self.model.dag, set[str]()
        for node in reversed(self.names):
            if node in hidden and all(child in barren for child in self.names if node in dag.parents[child]):
                barren.add(node)
        found: set[str] = set()
        for node in self.names:
            if node in barren and (self.kinds[node] == "softmax" or found.intersection(dag.parents[node])):
                found.add(node)
        return frozenset(found)

    def _cut(self, rows: Ints, k: int) -> Iterator[Ints]:
        size = len(rows) if k > MOST else max(1, CELLS // k // (1 + len(self.normal)) ** 2)
        for low in range(0, len(rows), size):
            yield rows[low : low + size]

    @cached_property
    def network(self) -> MixedNetwork:
        """The network as exact inference sees it."""
        return mixed_network(self.model)

    def _add(self, seen: Mapping[str, Any], weights: Floats, hidden: Sequence[str], found: dict[str, Floats]) -> float:
        """Add what rows that lack the same columns are expected to count; return their log-likelihood."""
        discrete = [node for node in hidden if self.kinds[node] != "linear_gaussian"]
        sizes = [self.model.schema[node].n_states for node in discrete]
        n, k = len(weights), math.prod(sizes)
        grid = np.unravel_index(np.arange(k), sizes) if sizes else ()
        codes: dict[str, Ints] = {node: np.broadcast_to(at, (n, k)) for node, at in zip(discrete, grid, strict=True)}
        for node in self.names:
            if node in seen and self.kinds[node] != "linear_gaussian":
                codes[node] = np.broadcast_to(seen[node][:, None], (n, k))
        log_p = np.zeros((n, k))
        for node, table in self.tables.items():
            log_p = log_p + table[tuple(codes[name] for name in self.model.cpd(node).family.scope)]
        for node in self.names:
            if self.kinds[node] == "softmax":
                log_p = log_p + self._softmax(node, seen, codes)
        normal = self._normal(seen, codes, n, k)
        log_p += normal.log_density
        top = log_p.max(axis=1, keepdims=True)
        shares = np.exp(log_p - np.where(top > -math.inf, top, 0.0))
        total = shares.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            log_likelihood = float(weights @ (np.log(total) + top)[:, 0])
        shares *= weights[:, None] / np.where(total > 0, total, 1.0)
        for node in self.tables:
            scope = self.model.cpd(node).family.scope
            cells = np.ravel_multi_index([codes[name] for name in scope], found[node].shape)
            flat = found[node].reshape(-1)
            flat += np.bincount(cells.reshape(-1), shares.reshape(-1), len(flat))
        self._count_normal(normal, codes, shares, found)
        units = sum(math.log(self.spreads[node]) for node in self.normal if node in seen)
        return log_likelihood - units * float(weights.sum())

    def _softmax(self, node: str, seen: Mapping[str, Any], codes: Mapping[str, Ints]) -> Floats:
        """Return log p of an observed softmax node whose parents were observed; shape (n, 1)."""
        scope = self.model.cpd(node).family.scope
        assert all(name in seen for name in scope), "EM refuses rows that lack something of a softmax node's family"
        raw = {
            name: seen[name] * self.spreads[name] + self.centres[name] if name in self.spreads else seen[name]
            for name in scope
        }
        return np.asarray(self.model.cpd(node).log_prob(raw), np.float64)[:, None]

    def _normal(self, seen: Mapping[str, Any], codes: Mapping[str, Ints], n: int, k: int) -> _Normal:
        """Return density, means and covariances of the continuous variables, for each row and configuration."""
        p = len(self.normal)
        have = [at for at, node in enumerate(self.normal) if node in seen]
        lack = [at for at, node in enumerate(self.normal) if node not in seen]
        values = np.stack([seen[self.normal[at]] for at in have] or [np.zeros(n)], axis=1)[:, : len(have)]
        log_density, mean = np.zeros((n, k)), np.zeros((n, k, p))
        mean[:, :, have] = values[:, None, :]
        sizes = [self.model.schema[node].n_states for node in self.switches]
        which = np.zeros((n, k), np.int64)
        if sizes:
            which = np.ravel_multi_index([codes[node] for node in self.switches], sizes)
        cases, of_case = np.unique(which, return_inverse=True)
        of_case, covariances = of_case.reshape(n, k), np.zeros((len(cases), p, p))
        for number, case in enumerate(cases.tolist()):
            held = dict(zip(self.switches, map(int, np.unravel_index(case, sizes) if sizes else ()), strict=True))
            centre, covariance = self.joint(held)
            rows, columns = np.nonzero(of_case == number)
            inner, across = covariance[np.ix_(have, have)], covariance[np.ix_(have, lack)]
            apart = values[rows] - centre[have]
            solved = _solved(inner, np.column_stack([across, apart.T])) if have else np.zeros((0, len(lack)))
            if have:
                sign, log_det = np.linalg.slogdet(inner)
                squares = (apart * solved[:, len(lack) :].T).sum(axis=1)
                constant = len(have) * math.log(2 * math.pi) + (float(log_det) if sign > 0 else math.nan)
                log_density[rows, columns] = -0.5 * (constant + squares)
            slopes = solved[:, : len(lack)]
            if lack:
                mean[rows[:, None], columns[:, None], lack] = centre[lack] + apart @ slopes
                covariances[np.ix_([number], lack, lack)] = covariance[np.ix_(lack, lack)] - across.T @ slopes
        return _Normal(log_density, mean, covariances, of_case)

    def _count_normal(
        self, normal: _Normal, codes: Mapping[str, Ints], shares: Floats, found: dict[str, Floats]
    ) -> None:
        place = {name: at for at, name in enumerate(self.normal)}
        of_cases = np.bincount(normal.of_case.reshape(-1), shares.reshape(-1), len(normal.covariances))
        n, k = shares.shape
        for node in self.normal:
            family = self.model.cpd(node).family
            at = [place[name] for name in (*(parent.name for parent in family.continuous), node)]
            row = np.zeros((n, k), np.int64)
            for parent in family.discrete:
                row = row * parent.n_states + codes[parent.name]
            z = np.concatenate([np.ones((n, k, 1)), normal.mean[:, :, at]], axis=2)
            for each in np.unique(row).tolist():
                held = row == each
                mine = z[held]
                found[node][each] += (mine * shares[held][:, None]).T @ mine
                inside = np.bincount(normal.of_case[held], shares[held], len(of_cases))
                blocks = normal.covariances[:, at][:, :, at]
                found[node][each][1:, 1:] += np.einsum("c,cij->ij", inside, blocks)


@dataclass(frozen=True, eq=False)
class _Normal:
    """The continuous variables of some rows: densities (n, k), means (n, k, p), covariances of cases, and the cases."""

    log_density: Floats
    mean: Floats
    covariances: Floats
    of_case: Ints


def _units(statistics: Statistics, names: Sequence[str]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the means and standard deviations of columns, where they are known."""
    centres, spreads = dict.fromkeys(names, 0.0), dict.fromkeys(names, 1.0)
    for name in names:
        moments = statistics[Moment((name,))]
        if float(moments.weight) > 0:
            centres[name] = float(moments.mean[0])
            spreads[name] = math.sqrt(float(moments.covariance[0, 0])) or 1.0
    return centres, spreads


def _patterns(missing: NDArray[np.bool_], weights: Floats) -> Iterator[tuple[Ints, NDArray[np.bool_]]]:
    """Yield rows that lack the same columns, and which these are; rows without weight tell nothing."""
    held = np.flatnonzero(weights > 0)
    if not len(held):
        return
    distinct, back = np.unique(np.packbits(missing[held], axis=1), axis=0, return_inverse=True)
    order = held[np.argsort(back.reshape(-1), kind="stable")]
    for rows in np.split(order, np.cumsum(np.bincount(back.reshape(-1), minlength=len(distinct)))[:-1]):
        yield rows, missing[rows[0]]


def _solved(matrix: Floats, right: Floats) -> Floats:
    """Return the solution of matrix · x = right; NaN, which is never certified, where the matrix is singular."""
    try:
        return np.asarray(np.linalg.solve(matrix, right), np.float64)
    except np.linalg.LinAlgError:
        return np.full(right.shape, np.nan)
