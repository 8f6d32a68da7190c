"""Proof of a chain of labels: expected features against those of the data, by recursions in log space.

The fitter scales probabilities as it goes, over lists of weights made ready for that, one sequence after the other.
Here scores are products of sparse matrices, all sequences of about one length go forward together, and what goes along
is the logarithm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured, verdict
from suffice.certify.chain_existence import runs_away
from suffice.certify.claim import Claim
from suffice.data.attributes import Attributes, LabelledSequences
from suffice.data.block import Block
from suffice.models.chain_model import ChainModel
from suffice.models.chain_units import units_of
from suffice.optimise.decrement import BLURRED, Decrement, decrement_at_kinks, decrement_by_products
from suffice.priors.elastic import Elastic, penalty_of
from suffice.stats.chain_counts import ChainCounts
from suffice.stats.needs import Count, Sum
from suffice.stats.sums import Sums

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
CELLS = 1 << 19
"""Numbers that a batch may hold at once."""
SPREAD = 300.0
NAME = "chain proof"
DIFFERENCE, ROUNDING = 1e-3, 1e-16
"""The step of differences of gradients, and the relative error of a gradient."""
MANY_WEIGHTS, FEW_NATS, FEWER_NATS = 2000, 1e-7, 1e-9
"""Nats that are not looked into, weight by weight: of so many weights the first, which saves passes, else the other."""
WORDS = {"yes": "", "no": ", which does not exist", "undecided": ", if there is one, which is undecided"}


@dataclass(frozen=True, eq=False)
class Recount:
    """The task: Σ log p(y | x), features of the data minus those expected, their variances, and the labels' counts.

    Variances are added up as if positions were independent.
    """

    model: ChainModel

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block as one array."""
        sequences: LabelledSequences = block.columns.sequences  # type: ignore[attr-defined]
        weights = np.ones(block.n_rows) if block.weights is None else np.asarray(block.weights, np.float64)
        layout, k = self.model.layout, self.model.label.n_states
        apart, varied = np.zeros((block.n_rows, k)), np.zeros((block.n_rows, k))
        taken, steps, ends = np.zeros((2, k * k)), np.zeros((2, len(layout.step_pairs))), np.zeros((4, k))
        log_likelihood = off = 0.0
        for batch in _batches(sequences, self.model):
            own = _Batch(self.model, sequences, batch, weights)
            found = own.measured()
            apart[own.place], varied[own.place] = found.apart, found.varied
            taken += found.taken
            ends += [part[rows].sum(axis=0) for part in (found.apart, found.varied) for rows in (own.at[0], own.last)]
            if own.steps is not None:
                rows = sequences.steps.chosen(own.place)  # type: ignore[union-attr]
                steps += [
                    _sums_at(rows, part, layout.step_starts, layout.step_pairs, power)
                    for power, part in enumerate(found.each, 1)
                ]
            log_likelihood, off = log_likelihood + found.log_likelihood, max(off, found.off)
        parts: list[Any] = []
        for number, values in enumerate((apart, varied)):
            first, last = ends[2 * number], ends[2 * number + 1]
            parts += [
                _sums_at(sequences.states, values, layout.starts, layout.labels, number + 1),
                taken[number][layout.pairs],
                first if layout.has_start else [],
                last if layout.has_end else [],
                steps[number],
            ]
        counts = np.bincount(np.asarray(sequences.labels), weights, minlength=k)
        # the largest of all blocks is at most the sum of all, which is small where each is
        sums = Sums(NAME, np.concatenate([[log_likelihood, off], *parts, counts]))
        return {sums.need: sums}

    def over(self, claim: Claim) -> Recounted:
        """Return the sums over the data of a claim."""
        assert claim.source is not None
        size, k = self.model.layout.size, self.model.label.n_states
        sums = claim.source.reduce(self)[Sum(NAME, 2 + 2 * size + k)].values
        gap, variance, counts = np.split(sums[2:], [size, 2 * size])
        return Recounted(float(sums[0]), float(sums[1]), gap, variance, counts)


class Recounted(NamedTuple):
    """What `Recount` adds up; ``gap`` and ``variance`` are by weight, ``counts`` by label."""

    log_likelihood: float
    off: float
    gap: Floats
    variance: Floats
    counts: Floats


def _batches(sequences: LabelledSequences, model: ChainModel) -> Iterator[Longs]:
    """Yield sequences of about the same length, the longest first, as many as the memory is meant to hold."""
    lengths, k = sequences.lengths, model.label.n_states
    cells = k if _is_shared(model, sequences) else k * k
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    low = 0
    while low < len(order):
        high = low + max(1, CELLS // (int(lengths[order[low]]) * cells))
        yield order[low:high]
        low = high


def _is_shared(model: ChainModel, sequences: LabelledSequences) -> bool:
    """Whether all positions have the same transitions, near enough to each other for exponentials to keep digits."""
    matrix = model.layout.transition_matrix(model.weights)
    alike = sequences.steps is None or not len(model.layout.step_pairs)
    return alike and float(np.ptp(matrix)) <= SPREAD


class _Found(NamedTuple):
    """What a batch says: labels, and steps, of the data minus their probabilities; times weights.

    ``varied`` are the variances of the labels. ``taken`` are the sums over all steps, and of their variances, shape
    (2, K²); ``each`` has a row a position where steps have attributes, shape (2, n, K²).
    """

    log_likelihood: float
    apart: Floats
    varied: Floats
    taken: Floats
    each: Floats
    off: float


class _Shared:
    """One matrix of transitions for all positions: sums are products with its exponentials, the largest of them one."""

    def __init__(self, matrix: Floats) -> None:
        self.top = float(matrix.max())
        self.table = np.exp(matrix - self.top)

    def come(self, before: Floats, now: slice) -> Floats:
        """Return log Σ_i exp(before_i + move_ij), of log-probabilities ``before``."""
        return np.asarray(np.log(np.exp(before) @ self.table) + self.top)

    def go(self, after: Floats, now: slice) -> Floats:
        """Return log Σ_j exp(move_ij + after_j)."""
        high = after.max(axis=1, keepdims=True)
        return np.asarray(np.log(np.exp(after - high) @ self.table.T) + (high + self.top))

    def taken(self, before: Floats, after: Floats, weights: Floats) -> Floats:
        """Return Σ weight · P over positions, P = exp(before_i + move_ij + after_j), and Σ weight · P²; (2, K, K)."""
        high = after.max(axis=1, initial=-np.inf, keepdims=True)
        come, go = np.exp(before), np.exp(after - high) * np.exp(high + self.top)
        return np.stack([self.table**power * ((come**power).T @ (weights[:, None] * go**power)) for power in (1, 2)])


class _Each:
    """A matrix of transitions for every position, in log space throughout."""

    def __init__(self, moves: Floats) -> None:
        self.moves = moves

    def come(self, before: Floats, now: slice) -> Floats:
        """Return log Σ_i exp(before_i + move_ij)."""
        return _log_sum(before[:, :, None] + self.moves[now], axis=1)

    def go(self, after: Floats, now: slice) -> Floats:
        """Return log Σ_j exp(move_ij + after_j)."""
        return _log_sum(self.moves[now] + after[:, None, :], axis=2)

    def joint(self, before: Floats, after: Floats, now: slice) -> Floats:
        """Return exp(before_i + move_ij + after_j); shape (n, K, K)."""
        return np.asarray(np.exp(before[:, :, None] + self.moves[now] + after[:, None, :]))


class _Batch:
    """Some sequences, the longest first, side by side: position t of all that reach so far is one array."""

    def __init__(self, model: ChainModel, sequences: LabelledSequences, batch: Longs, weights: Floats) -> None:
        self.model, self.layout, self.k = model, model.layout, model.layout.n_labels
        lengths = sequences.lengths[batch]
        self.n_at = [int((lengths > t).sum()) for t in range(int(lengths[0]))]
        first = sequences.offsets[batch]
        self.rows = [first[:n] + t for t, n in enumerate(self.n_at)]
        self.place = place = np.concatenate(self.rows)
        bounds = np.cumsum([0, *self.n_at])
        self.at = [slice(low, high) for low, high in pairwise(bounds.tolist())]
        self.x = sequences.states.chosen(place).matrix()
        self.shared = _is_shared(model, sequences)
        self.steps = None
        if sequences.steps is not None and len(self.layout.step_pairs):
            self.steps = sequences.steps.chosen(place).matrix()
        assert sequences.labels is not None
        self.labels = np.asarray(sequences.labels, np.int64)[place]
        self.weights = weights[place]
        self.last = np.concatenate([lengths[:n] - 1 == t for t, n in enumerate(self.n_at)])

    def measured(self) -> _Found:
        """Return Σ log p, what labels and steps are off, and how far probabilities miss their total of one."""
        k, n = self.k, len(self.labels)
        scores = np.asarray((self.x @ self.layout.state_matrix(self.model.weights)).todense())
        scores[self.at[0]] += self.layout.start(self.model.weights)
        scores[self.last] += self.layout.end(self.model.weights)
        moves = np.broadcast_to(self.layout.transition_matrix(self.model.weights), (n, k, k))
        if self.steps is not None:
            more = np.asarray((self.steps @ self.layout.step_matrix(self.model.weights)).todense())
            moves = moves + more.reshape(n, k, k)
        local = self.model.structure.is_local
        observed = np.bincount(self.pairs, self.weights[self.inner], minlength=k * k)
        self.taken = np.zeros((2, k, k))
        self.each = np.zeros((2, 0 if self.steps is None else n, k * k))
        singles, log_p = self._local(scores, moves) if local else self._whole(scores, moves)
        self.taken[0] -= observed.astype(np.float64).reshape(k, k)
        if self.steps is not None:
            self.each[0, self.inner, self.pairs] -= self.weights[self.inner]
        off = float(np.abs(singles.sum(axis=1) - 1).max(initial=0.0))
        apart, sign = -singles, np.array([-1.0, 1.0])[:, None]
        apart[np.arange(n), self.labels] += 1
        apart *= self.weights[:, None]
        varied = singles * (1 - singles) * self.weights[:, None]
        taken = sign * self.taken.reshape(2, -1)
        return _Found(float(log_p @ self.weights), apart, varied, taken, sign[:, None] * self.each, off)

    @cached_property
    def inner(self) -> Longs:
        """The positions that are not the first of their sequence."""
        return np.arange(self.n_at[0], len(self.labels))

    @cached_property
    def before(self) -> Longs:
        """The places of the positions before those."""
        starts = [place.start for place in self.at[:-1]]
        return np.concatenate(
            [np.zeros(0, np.int64), *(np.arange(low, low + n) for low, n in zip(starts, self.n_at[1:], strict=True))]
        )

    @cached_property
    def pairs(self) -> Longs:
        """The steps that the labels make, as previous · K + current."""
        return np.asarray(self.labels[self.before] * self.k + self.labels[self.inner])

    def _whole(self, scores: Floats, moves: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities of labels, and what positions add to log p(y | x), of a CRF; add those of steps.

        Logarithms of sums are taken away at every position: over long sequences they would grow, and lose digits.
        """
        alpha, beta, sums = np.empty_like(scores), np.zeros_like(scores), np.empty(len(scores))
        steps = _Shared(moves[0]) if self.shared else _Each(moves)
        for t, now in enumerate(self.at):
            alpha[now] = scores[now]
            if t:
                alpha[now] += steps.come(alpha[self.at[t - 1]][: self.n_at[t]], now)
            sums[now] = _log_sum(alpha[now], axis=1)
            alpha[now] -= sums[now, None]
        tail = scores - sums[:, None]
        for t in range(len(self.at) - 2, -1, -1):
            after, start = self.at[t + 1], self.at[t].start
            beta[start : start + self.n_at[t + 1]] = steps.go(tail[after] + beta[after], after)
        self._add_steps(steps, alpha, tail + beta)
        log_p = tail[np.arange(len(scores)), self.labels]
        log_p[self.inner] += moves[self.inner, self.labels[self.before], self.labels[self.inner]]
        return np.exp(alpha + beta), log_p

    def _add_steps(self, steps: _Shared | _Each, alpha: Floats, after: Floats) -> None:
        """Add the probabilities of steps, times weights."""
        if isinstance(steps, _Shared):
            once, twice = steps.taken(alpha[self.before], after[self.inner], self.weights[self.inner])
            self.taken += [once, once - twice]
            return
        for t in range(1, len(self.at)):
            now = self.at[t]
            joint = steps.joint(alpha[self.at[t - 1]][: self.n_at[t]], after[now], now)
            both = np.stack([joint, joint * (1 - joint)]) * self.weights[now, None, None]
            self.taken += both.sum(axis=1)
            if self.steps is not None:
                self.each[:, now] = both.reshape(2, self.n_at[t], -1)

    def _local(self, scores: Floats, moves: Floats) -> tuple[Floats, Floats]:
        """Return the same of a MEMM: probabilities of labels given the one before, in the row of that one."""
        own, given = scores.copy(), self.labels[self.before]
        own[self.inner] += moves[self.inner, given]
        own -= _log_sum(own, axis=1)[:, None]
        singles = np.exp(own)
        own_steps = singles[self.inner]
        both = np.stack([own_steps, own_steps * (1 - own_steps)]) * self.weights[self.inner, None]
        for taken, each, part in zip(self.taken, self.each, both, strict=True):
            np.add.at(taken, given, part)
            if self.steps is not None:
                each.reshape(-1, self.k, self.k)[self.inner, given] = part
        return singles, own[np.arange(len(own)), self.labels]


def _sums_at(rows: Attributes, values: Floats, starts: Longs, codes: NDArray[np.int32], power: int) -> Floats:
    """Return the cells of (x^power)ᵀ values that have a weight, x having the rows; all at once would be many."""
    found, n_weights = np.zeros(len(codes)), np.diff(starts)
    if not len(rows.codes):
        return found
    n = max(CELLS * rows.n_rows // max(int(n_weights[rows.codes].sum()), 1), 1)
    for low in range(0, rows.n_rows, n):
        part = rows.rows(low, min(low + n, rows.n_rows))
        own = n_weights[part.codes]
        ends = np.cumsum(own)
        weight = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts[part.codes] - ends + own, own)
        position = np.repeat(np.repeat(np.arange(low, low + part.n_rows), np.diff(part.starts)), own)
        added = values[position, codes[weight]]
        if part.values is not None:
            added *= np.repeat(part.values**power, own)
        found += np.bincount(weight, added, minlength=len(codes))
    return found


def _log_sum(values: Floats, axis: int) -> Floats:
    top = values.max(axis=axis, keepdims=True)
    return np.asarray(np.log(np.exp(values - top).sum(axis=axis)) + top.squeeze(axis))


def certify(claim: Claim) -> Certificate:
    """Measure the gradient of the conditional likelihood, and of the penalty."""
    model: ChainModel = claim.model
    k, size = model.label.n_states, model.layout.size
    assert claim.source is not None
    found = Recount(model).over(claim)
    total, units, penalty = (
        claim.statistics.weight or 1.0,
        units_of(claim.source, model.layout),
        penalty_of(claim.prior),
    )
    left = _left(found.gap, model.weights, penalty)
    sizes = np.where(np.isnan(left), np.inf, np.abs(left)) / (total * units)
    worst = int(np.argmax(sizes)) if size else -1
    counted = np.asarray(claim.statistics[Count((model.label.name,))].table(), np.float64)
    apart = np.abs(found.counts - counted)
    decrement = _decrement(claim, found, left, units)
    penalised = penalty.c1 > 0 or penalty.c2 > 0
    boundary = "" if penalised else runs_away(claim, _counts_of(claim))
    exists = "yes" if penalised else "no" if boundary else "undecided"
    kind = "posterior mode of the weights, given the inputs" if claim.prior else "maximum conditional likelihood"
    certificate = verdict(
        Measured(
            claim=kind + WORDS[exists],
            residual=float(sizes[worst]) if size else 0.0,
            worst=_weight(model, worst),
            log_likelihood=found.log_likelihood,
            normalisation=found.off,
            exists=exists,
            condition="the match of expected and observed features"
            + ("" if claim.prior is None else ", less the penalty's pull,"),
            data_gap=float(apart.max(initial=0.0)) / total,
            data_worst=f"the label {model.label.labels[int(np.argmax(apart))]!r}" if k else "",
            moment_gap=float(np.abs(found.gap).max(initial=0.0)) / total if claim.prior is None else None,
            boundary=boundary,
            rounding=1e-13 * total,
            decrement=decrement.size,
            decrement_worst=_weight(model, decrement.place if size else -1),
        ),
        claim.log_likelihood,
        claim.tol,
        claim.interrupted,
    )
    return certificate if exists != "no" or not certificate.ok else replace(certificate, verdict=_without(certificate))


def _weight(model: ChainModel, place: int) -> str:
    return "no weight" if place < 0 else model.layout.names(place, model.structure, model.label.labels)


def _decrement(claim: Claim, found: Recounted, left: Floats, units: Floats) -> Decrement:
    """Return how much a Newton step would gain, weights at a kink that nothing pulls off being held there.

    Products with the second derivatives are differences of gradients, each a pass over the data.
    """
    model, penalty = claim.model, penalty_of(claim.prior)
    at_kink = (model.weights == 0) & (penalty.c1 > 0)
    seen = np.abs(model.layout.gathered(_counts_of(claim))) + np.abs(found.gap) + found.variance / units
    noise = ROUNDING * seen * max(1.0, float(np.abs(model.weights * units).max(initial=0.0)))

    added = 2 * penalty.c2 + noise * units / DIFFERENCE
    diagonal = found.variance + added

    def product(direction: Floats) -> Floats:
        largest = float(np.abs(direction * units).max(initial=0.0))
        if not largest:
            return np.zeros(len(direction))
        step = DIFFERENCE / largest
        ends = [model.weights + sign * step * direction for sign in (-1, 1)]
        sides = [Recount(replace(model, weights=weights)).over(claim).gap for weights in ends]
        return np.asarray((sides[0] - sides[1]) / (2 * step) + added * direction)

    def solve(gradient: Floats, kept: NDArray[np.intp]) -> Decrement:
        def along(part: Floats) -> Floats:
            direction = np.zeros(len(left))
            direction[kept] = part
            return product(direction)[kept]

        return decrement_by_products(
            gradient,
            along,
            diagonal[kept],
            noise=noise[kept],
            least=2 * penalty.c2,
            little=BLURRED,
            negligible=FEW_NATS if len(kept) > MANY_WEIGHTS else FEWER_NATS,
        )

    slopes = -np.where(at_kink, found.gap, left)
    return decrement_at_kinks(slopes, np.full(len(left), penalty.c1), at_kink, solve, product, diagonal)


def _counts_of(claim: Claim) -> ChainCounts:
    """Return the counts of the features, of which the statistics hold one."""
    return next(held for held in claim.statistics.values() if isinstance(held, ChainCounts))


def _without(certificate: Certificate) -> str:
    """Say first that there is no maximum, then what holds where the search ended."""
    return (
        f"The maximum conditional likelihood does not exist: {certificate.boundary}, and weights run away; a penalty, "
        f"c2 > 0, holds them. Where the search ended, expected and observed features match within "
        f"{certificate.gradient_norm:.2g} (tolerance {certificate.tol:g}), so that little is left to gain."
    )


def _left(gap: Floats, weights: Floats, penalty: Elastic) -> Floats:
    """Return what the penalty leaves of the gap: at a kink, what is beyond its reach."""
    left = gap - 2 * penalty.c2 * weights
    if not penalty.c1:
        return left
    at_zero = np.sign(left) * np.maximum(np.abs(left) - penalty.c1, 0.0)
    return np.where(weights == 0, at_zero, left - penalty.c1 * np.sign(weights))
