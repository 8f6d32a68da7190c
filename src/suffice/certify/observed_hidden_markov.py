"""Proof of a hidden Markov model: the observed likelihood and its gradient, in log space.

Every sequence is cut into pieces, which are gone through side by side. What a piece does to a state before it is a
matrix, log p(what it shows, last state | state before); products of these matrices join the pieces. The fitter goes
through each sequence by itself, with numbers that are scaled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.certify.claim import Claim
from suffice.certify.observed_discrete import Observed
from suffice.certify.violation import Violation
from suffice.data.block import Block
from suffice.data.encode import missing_in
from suffice.data.hidden_sequences import HiddenColumns
from suffice.errors import ModelError
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.rows import all_configurations
from suffice.models.cpds.tabular import TabularCPD
from suffice.models.hidden_markov import Emission, HiddenMarkovModel
from suffice.optimise.distance import EPS, Distance, beyond, shortfall, table_losses
from suffice.settings import more_memory, settings
from suffice.stats.needs import Sum
from suffice.stats.sums import Sums
from suffice.text import in_bytes
from suffice.types import Array, Floats

if TYPE_CHECKING:
    from suffice.structures.markov_chain import MarkovChain

Whole = NDArray[np.int64]
SHORT = 256
"""Sequences up to this length are one piece."""
TOGETHER = 1 << 16
"""Positions whose pairs of states are held at a time."""
ARRAYS = 6


def measured(claim: Claim[MarkovChain, HiddenMarkovModel]) -> Observed:
    """Return the observed log-likelihood, the largest derivative of the objective a position, and the decrement.

    Of a table: (m̄(x, pa) + α − (m̄(pa) + Σα) θ) / N. Of a normal distribution: by its mean in units of its standard
    deviation, and by the logarithm of that, over N. The decrement has the curvature of complete sequences.
    """
    model: HiddenMarkovModel = claim.model
    assert claim.source is not None
    task = LogPass(model)
    statistics = claim.source.reduce(task)
    values = statistics[task.need].values
    n = max(statistics.weight, 1e-300)
    found, distance, at = Violation(0.0, "no table"), Distance(), 1
    for cpd in model.tables:
        size = task.size(cpd)
        own, at = values[at : at + size], at + size
        if isinstance(cpd, LinearGaussianCPD):
            where = f"p({cpd.family.child.name} | {cpd.family.parents[0].name})"
            weights, slopes = own[: len(cpd.intercept)], own[len(cpd.intercept) :]
            slopes = np.abs(np.where(np.isnan(slopes), math.inf, slopes)) / n
            found = found.or_larger(float(slopes.max(initial=0.0)), where)
            distance += _normal_distance(cpd, weights, own[len(weights) :].reshape(2, -1)).inside(where)
            continue
        counts = _with_prior(claim, cpd, own.reshape(cpd.values.shape))
        found = found.or_larger(_slope(cpd, counts) / n, cpd.title)
        losses = table_losses(counts, np.where(np.isnan(cpd.values), 0.0, cpd.values))
        distance += Distance.of_rows(losses, cpd.describe_row).inside(cpd.title)
    return Observed(float(values[0]), found.size, found.where, distance=distance)


def _with_prior(claim: Claim[MarkovChain, HiddenMarkovModel], cpd: TabularCPD, counts: Floats) -> Floats:
    """Return expected counts with what the prior adds."""
    if claim.prior is None:
        return counts
    sizes = [parent.n_states for parent in cpd.family.parents]
    more: Floats = counts + claim.prior.pseudo(cpd.family, claim.point)(all_configurations(sizes))
    return more


def _slope(cpd: TabularCPD, counts: Floats) -> float:
    """Return the largest derivative by the logarithms of a table's cells, rows kept at one."""
    known = ~np.isnan(cpd.values).any(axis=1)
    if (counts[~known] != 0).any():
        return math.inf
    slopes = counts[known] - counts[known].sum(axis=1, keepdims=True) * cpd.values[known]
    return float(np.abs(slopes).max(initial=0.0))


def _normal_distance(cpd: LinearGaussianCPD, weights: Floats, slopes: Floats) -> Distance:
    """Return the decrement of the normal distributions of all states, without what the rounding of means explains."""
    used = weights > 0
    n, sd = np.where(used, weights, 1.0), np.where(used, cpd.sd, 1.0)
    level = beyond(slopes[0] / n, 2 * EPS * np.where(used, np.abs(cpd.intercept), 0.0) / sd)
    losses = np.where(used, n / 2 * (level**2 + shortfall(slopes[1] / n)), 0.0)
    return Distance.of_rows(losses, cpd.describe_row)


@dataclass(frozen=True, eq=False)
class LogPass:
    """The task of the log-likelihood, expected counts of tables, and derivatives of normal distributions."""

    model: HiddenMarkovModel
    name: ClassVar[str] = "hidden chain in logs"

    @staticmethod
    def size(cpd: Emission) -> int:
        """Return how many numbers a distribution has."""
        return cpd.values.size if isinstance(cpd, TabularCPD) else 3 * len(cpd.intercept)

    @property
    def need(self) -> Sum:
        """What the sums are known by."""
        return Sum(self.name, 1 + sum(map(self.size, self.model.tables)))

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of a block of whole sequences."""
        columns = block.columns
        assert isinstance(columns, HiddenColumns)
        model, k = self.model, self.model.state.n_states
        if 8 * ARRAYS * block.n_rows * k > settings().memory:
            raise ModelError(
                f"The proof holds {ARRAYS} numbers for each of {k} states at {block.n_rows:,} positions, "
                f"{in_bytes(8 * ARRAYS * block.n_rows * k)}, more than is allowed. Allow more by ",
                more_memory(8 * ARRAYS * block.n_rows * k),
                ".",
            )
        weights = np.repeat(columns.weights, np.diff(columns.offsets))
        log_b = self._shown(columns, block.n_rows)
        with np.errstate(divide="ignore"):
            start, step = np.log(_filled(model.start))[0], np.log(_filled(model.step))
        passes = _Passes(start, step, log_b, columns.offsets)
        gamma = passes.posteriors() * weights[:, None]
        begins = columns.offsets[:-1][np.diff(columns.offsets) > 0]
        parts = [
            np.array([math.fsum(weights * passes.scales)]),
            gamma[begins].sum(axis=0),
            passes.pairs(weights, begins).reshape(-1),
        ]
        parts += [_emitted(cpd, columns[cpd.family.child.name], gamma) for cpd in model.shows]
        return {self.need: Sums(self.name, np.concatenate(parts))}

    def _shown(self, columns: HiddenColumns, n: int) -> Floats:
        """Return log p(all that a position shows | state), as the distributions themselves say; shape (n, K)."""
        state = self.model.state
        found = np.zeros((n, state.n_states))
        for cpd in self.model.shows:
            values = columns[cpd.family.child.name]
            seen = ~missing_in(values)
            for code in range(state.n_states):
                own = {cpd.family.child.name: values[seen], state.name: np.full(int(seen.sum()), code)}
                found[seen, code] += np.nan_to_num(cpd.log_prob(own), nan=-math.inf, neginf=-math.inf, posinf=math.inf)
        return found


def _filled(cpd: TabularCPD) -> Floats:
    """Return a table in which unknown rows, which no position may need, are zero."""
    return np.nan_to_num(cpd.values, nan=0.0)


def _emitted(cpd: Emission, values: Array, gamma: Floats) -> Floats:
    """Return a table's expected counts, or the weights of states and a normal distribution's derivatives."""
    seen = ~missing_in(values)
    g, x = gamma[seen], values[seen]
    if isinstance(cpd, TabularCPD):
        counts = [np.bincount(x, column, minlength=cpd.family.child.n_states) for column in g.T]
        return np.concatenate(counts)
    used = g.sum(axis=0) > 0
    gaps = (x[:, None] - np.where(used, cpd.intercept, 0.0)) / np.where(used, cpd.sd, 1.0)
    return np.concatenate([g.sum(axis=0), (g * gaps).sum(axis=0), (g * (gaps * gaps - 1)).sum(axis=0)])


class _Passes:
    """Forward and backward in log space, pieces of sequences side by side."""

    def __init__(self, start: Floats, step: Floats, log_b: Floats, offsets: Whole) -> None:
        self.start, self.step, self.log_b = start, step, log_b
        n, k = log_b.shape
        lengths = np.diff(offsets)
        longest = int(lengths.max(initial=0))
        self.size = max(SHORT, math.isqrt(longest) + 1)
        cuts = [np.arange(low, high, self.size) for low, high in pairwise(offsets.tolist())]
        firsts = np.concatenate([np.zeros(0, np.int64), *(cut[:1] for cut in cuts)])
        self.begin = np.concatenate([np.zeros(0, np.int64), *cuts]).astype(np.int64)
        ends = np.append(self.begin[1:], n) if len(self.begin) else self.begin
        self.length = ends - self.begin
        self.opens = np.isin(self.begin, firsts)
        self.alpha, self.beta, self.scales = np.empty((n, k)), np.empty((n, k)), np.empty(n)
        self._run()

    def _run(self) -> None:
        """Fill α and β, normalised logarithms, and the logarithms of scales."""
        inner = np.flatnonzero(~self.opens)
        k = len(self.start)
        matrices = np.full((len(self.begin), k, k), np.nan)
        if len(inner):
            entering = np.broadcast_to(self.step, (len(inner), k, k)).reshape(-1, k)
            done, worth = self._forward(np.repeat(inner, k), entering, keep=False)
            matrices[inner] = (done + worth[:, None]).reshape(len(inner), k, k)
        enter = np.empty((len(self.begin), k))
        enter[self.opens] = self.start
        opening = np.flatnonzero(self.opens)
        followed = np.append(~self.opens[1:], False)
        last = np.empty((len(self.begin), k))
        last[opening] = self._forward(opening, enter[opening], keep=True)[0]
        for piece in inner:
            enter[piece] = _joined(last[piece - 1][:, None] + self.step, 0)
            last[piece] = _joined(last[piece - 1][:, None] + matrices[piece], 0)
            last[piece] -= _joined(last[piece], 0)
        self._forward(inner, enter[inner], keep=True)
        leave = np.zeros((len(self.begin), k))
        for piece in np.flatnonzero(followed)[::-1]:
            leave[piece] = _joined(matrices[piece + 1] + leave[piece + 1], 1)
            leave[piece] -= _highest(leave[piece])
        self._backward(leave)

    def _forward(self, pieces: Whole, entering: Floats, keep: bool) -> tuple[Floats, Floats]:
        """Go through pieces, entered with the log-probabilities of their first states; return the last ones."""
        order = np.argsort(-self.length[pieces], kind="stable")
        mine, lengths = self.begin[pieces][order], self.length[pieces][order]
        now, worth = entering[order].copy(), np.zeros(len(pieces))
        for s in range(int(lengths.max(initial=0))):
            active = int(np.searchsorted(-lengths, -s, "left"))
            t = mine[:active] + s
            before = now[:active] if s == 0 else _joined(now[:active, :, None] + self.step, 1)
            reached = before + self.log_b[t]
            scale = _joined(reached, 1)
            now[:active] = reached - np.where(np.isneginf(scale), 0.0, scale)[:, None]
            worth[:active] += scale
            if keep:
                self.alpha[t], self.scales[t] = now[:active], scale
        back = np.argsort(order, kind="stable")
        return now[back], worth[back]

    def _backward(self, leave: Floats) -> None:
        """Fill β, each position's up to a constant."""
        order = np.argsort(-self.length, kind="stable")
        ends, lengths = (self.begin + self.length - 1)[order], self.length[order]
        now = leave[order].copy()
        for s in range(int(lengths.max(initial=0))):
            active = int(np.searchsorted(-lengths, -s, "left"))
            t = ends[:active] - s
            if s:
                shown = now[:active] + self.log_b[t + 1]
                now[:active] = _joined(self.step + shown[:, None, :], 2)
                now[:active] -= _highest(now[:active])
            self.beta[t] = now[:active]

    def posteriors(self) -> Floats:
        """Return the probabilities of states at every position."""
        both = self.alpha + self.beta
        total = _joined(both, 1)
        return np.exp(both - np.where(np.isneginf(total), 0.0, total)[:, None])

    def pairs(self, weights: Floats, begins: Whole) -> Floats:
        """Return Σ weight · p(state before, state) over positions that have one before."""
        k = len(self.start)
        later = np.ones(len(weights), bool)
        later[begins] = False
        total = np.zeros((k, k))
        places = np.flatnonzero(later)
        for low in range(0, len(places), max(TOGETHER // k, 1)):
            t = places[low : low + max(TOGETHER // k, 1)]
            joint = self.alpha[t - 1][:, :, None] + self.step + (self.log_b[t] + self.beta[t])[:, None, :]
            whole = _joined(joint.reshape(len(t), -1), 1)
            share = np.exp(joint - np.where(np.isneginf(whole), 0.0, whole)[:, None, None])
            total += np.einsum("t,tij->ij", weights[t], share)
        return total


def _highest(logs: Floats) -> Floats:
    """Return the largest along the last axis, kept; zero where nothing is possible."""
    top = logs.max(axis=-1, keepdims=True)
    found: Floats = np.where(np.isneginf(top), 0.0, top)
    return found


def _joined(logs: Floats, axis: int) -> Floats:
    """Return log Σ exp along an axis."""
    top = logs.max(axis=axis, keepdims=True)
    top = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        found: Floats = np.squeeze(top, axis) + np.log(np.exp(logs - top).sum(axis=axis))
    return found
