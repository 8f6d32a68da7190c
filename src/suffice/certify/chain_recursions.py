"""Forward–backward of a chain of labels in log space, and its derivatives along directions of the weights.

The fitter scales probabilities as it goes, over lists of weights made ready for that, one sequence after the other.
Here scores are products of sparse matrices, all sequences of about one length go forward together, and what goes along
is the logarithm.

Derivatives are conditional expectations. Let D(y) be what a labelling gains along a direction, the sum of
d_t(y_t−1, y_t) over the positions. Then the derivative of P(y_t−1 = i, y_t = j) is

    P_t(i, j) (E[D | i, j] − E[D]),    E[D | i, j] = A_t−1(i) + d_t(i, j) + B_t(j),

A_t(j) and B_t(j) being what is expected of the positions up to t, and after t, given the label j at t. Before that,
d_t of the most probable labels is taken away from all d_t: it changes nothing, but where these are all but certain,
the derivatives are sums of small terms, and not differences of large ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from suffice.data.attributes import LabelledSequences
from suffice.models.chain_model import ChainModel
from suffice.types import Floats, Ints

CELLS = 1 << 19
"""Numbers that a batch may hold at once."""
SPREAD = 300.0
"""Transitions further apart than this are left to log space, since their exponentials would be lost beside others."""


def batches(sequences: LabelledSequences, cells: int) -> Iterator[Ints]:
    """Yield sequences of about the same length, the longest first, as many as the memory is meant to hold.

    ``cells`` says how many numbers a position has.
    """
    lengths = sequences.lengths
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    low = 0
    while low < len(order):
        high = low + max(1, CELLS // (int(lengths[order[low]]) * cells))
        yield order[low:high]
        low = high


def has_one_matrix(model: ChainModel, sequences: LabelledSequences) -> bool:
    """Whether all positions have the same transitions, near enough to each other for exponentials to keep digits."""
    matrix = model.layout.transition_matrix(model.weights)
    alike = sequences.steps is None or not len(model.layout.step_pairs)
    return alike and float(np.ptp(matrix)) <= SPREAD


class ChainSums(NamedTuple):
    """What a batch says: labels, and steps, of the data minus their probabilities; times weights.

    ``varied`` are the variances of the labels. ``taken`` are the sums over all steps, and of their variances, shape
    (2, K²); ``each`` has one row per position where steps have attributes, shape (2, n, K²).
    """

    log_likelihood: float
    apart: Floats
    varied: Floats
    taken: Floats
    each: Floats
    off: float


class Along(NamedTuple):
    """Derivatives of the probabilities of labels, shape (n, K, D), and of steps along D directions, times weights.

    ``taken`` are the sums over all steps, shape (K², D); ``each`` has one row per position where steps have attributes,
    shape (n, K², D).
    """

    labels: Floats
    taken: Floats
    each: Floats


class _OneMatrix:
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


class _MatrixEach:
    """A matrix of transitions for every position, in log space throughout."""

    def __init__(self, moves: Floats) -> None:
        self.moves = moves

    def come(self, before: Floats, now: slice) -> Floats:
        """Return log Σ_i exp(before_i + move_ij)."""
        return _log_sum(before[:, :, None] + self.moves[now], axis=1)

    def go(self, after: Floats, now: slice) -> Floats:
        """Return log Σ_j exp(move_ij + after_j)."""
        return _log_sum(self.moves[now] + after[:, None, :], axis=2)


class SequenceBatch:
    """Some sequences, the longest first, side by side: position t of all that reach so far is one array."""

    def __init__(self, model: ChainModel, sequences: LabelledSequences, batch: Ints, weights: Floats) -> None:
        self.model, self.layout, self.k = model, model.layout, model.layout.n_labels
        lengths = sequences.lengths[batch]
        self.n_at = [int((lengths > t).sum()) for t in range(int(lengths[0]))]
        first = sequences.offsets[batch]
        self.place = place = np.concatenate([first[:n] + t for t, n in enumerate(self.n_at)])
        bounds = np.cumsum([0, *self.n_at])
        self.at = [slice(low, high) for low, high in pairwise(bounds.tolist())]
        self.x = sequences.states.chosen(place).matrix()
        self.has_one_matrix = has_one_matrix(model, sequences)
        self.steps = None
        if sequences.steps is not None and len(self.layout.step_pairs):
            self.steps = sequences.steps.chosen(place).matrix()
        assert sequences.labels is not None
        self.labels = np.asarray(sequences.labels, np.int64)[place]
        self.weights = weights[place]
        self.last = np.concatenate([lengths[:n] - 1 == t for t, n in enumerate(self.n_at)])

    def potentials(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the scores of labels, shape (n, K), and of the steps to each position, shape (n, K, K)."""
        k, n = self.k, len(self.labels)
        scores = np.asarray((self.x @ self.layout.state_matrix(weights)).todense())
        scores[self.at[0]] += self.layout.start(weights)
        scores[self.last] += self.layout.end(weights)
        moves = np.broadcast_to(self.layout.transition_matrix(weights), (n, k, k))
        if self.steps is not None:
            more = np.asarray((self.steps @ self.layout.step_matrix(weights)).todense())
            moves = moves + more.reshape(n, k, k)
        return scores, moves

    @cached_property
    def inner(self) -> Ints:
        """The positions that are not the first of their sequence."""
        return np.arange(self.n_at[0], len(self.labels))

    @cached_property
    def before(self) -> Ints:
        """The places of the positions before those."""
        starts = [place.start for place in self.at[:-1]]
        return np.concatenate(
            [np.zeros(0, np.int64), *(np.arange(low, low + n) for low, n in zip(starts, self.n_at[1:], strict=True))]
        )

    @cached_property
    def pairs(self) -> Ints:
        """The steps that the labels make, as previous · K + current."""
        return np.asarray(self.labels[self.before] * self.k + self.labels[self.inner])

    # Probabilities ------------------------------------------------------------------------------------------------

    def measured(self) -> ChainSums:
        """Return Σ log p, what labels and steps are off, and how far probabilities miss their total of one."""
        k, n = self.k, len(self.labels)
        scores, moves = self.potentials(self.model.weights)
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
        return ChainSums(float(log_p @ self.weights), apart, varied, taken, sign[:, None] * self.each, off)

    def _forward_backward(self, scores: Floats, moves: Floats) -> tuple[Floats, Floats, Floats]:
        """Return log α, log β, and scores less the logarithms of sums that were taken away at every position.

        Over long sequences these would grow, and lose digits.
        """
        alpha, beta, sums = np.empty_like(scores), np.zeros_like(scores), np.empty(len(scores))
        steps = _OneMatrix(moves[0]) if self.has_one_matrix else _MatrixEach(moves)
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
        return alpha, beta, tail

    def _whole(self, scores: Floats, moves: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities of labels, and what positions add to log p(y | x), of a CRF; add those of steps."""
        alpha, beta, tail = self._forward_backward(scores, moves)
        self._add_steps(moves, alpha, tail + beta)
        log_p = tail[np.arange(len(scores)), self.labels]
        log_p[self.inner] += moves[self.inner, self.labels[self.before], self.labels[self.inner]]
        return np.exp(alpha + beta), log_p

    def _joint(self, t: int, moves: Floats, alpha: Floats, after: Floats) -> Floats:
        """Return the probabilities of the labels at t − 1 and t; shape (n, K, K)."""
        now = self.at[t]
        come = alpha[self.at[t - 1]][: self.n_at[t]]
        return np.asarray(np.exp(come[:, :, None] + moves[now] + after[now][:, None, :]))

    def _add_steps(self, moves: Floats, alpha: Floats, after: Floats) -> None:
        """Add the probabilities of steps, times weights."""
        if self.has_one_matrix:
            once, twice = _OneMatrix(moves[0]).taken(alpha[self.before], after[self.inner], self.weights[self.inner])
            self.taken += [once, once - twice]
            return
        for t in range(1, len(self.at)):
            now = self.at[t]
            joint = self._joint(t, moves, alpha, after)
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

    # Their derivatives --------------------------------------------------------------------------------------------

    def along(self, directions: Floats) -> Along:
        """Return the derivatives of all probabilities along directions; shape (n_weights, D)."""
        scores, moves = self.potentials(self.model.weights)
        parts = [self.potentials(direction) for direction in directions.T]
        gains = np.stack([own for own, _ in parts], axis=-1), np.stack([steps for _, steps in parts], axis=-1)
        if self.model.structure.is_local:
            return self._local_along(scores, moves, *gains)
        return self._whole_along(scores, moves, *gains)

    def _whole_along(self, scores: Floats, moves: Floats, gains: Floats, step_gains: Floats) -> Along:
        """Return the derivatives of a CRF's probabilities; gains have the shapes (n, K, D) and (n, K, K, D)."""
        k, n, n_directions = gains.shape[1], len(gains), gains.shape[2]
        alpha, beta, tail = self._forward_backward(scores, moves)
        singles, after = np.exp(alpha + beta), tail + beta
        best = singles.argmax(axis=1)
        gains = gains - gains[np.arange(n), best][:, None]
        middle = np.zeros((n, n_directions))
        middle[self.inner] = step_gains[self.inner, best[self.before], best[self.inner]]
        past, future = np.empty_like(gains), np.zeros_like(gains)  # A and B
        past[self.at[0]] = gains[self.at[0]]
        joints, own = [np.zeros(0)], [np.zeros(0)]
        for t in range(1, len(self.at)):
            now = self.at[t]
            joints.append(self._joint(t, moves, alpha, after))
            own.append(step_gains[now] - middle[now][:, None, None] + gains[now][:, None])
            come = past[self.at[t - 1]][: self.n_at[t], :, None] + own[t]
            past[now] = np.einsum("nij,nijd->njd", _shares(joints[t], axis=1), come)
        for t in range(len(self.at) - 1, 0, -1):
            start, come = self.at[t - 1].start, own[t] + future[self.at[t]][:, None]
            future[start : start + self.n_at[t]] = np.einsum("nij,nijd->nid", _shares(joints[t], axis=2), come)
        first = self.at[0]
        mean = np.einsum("nj,njd->nd", singles[first], past[first] + future[first])
        means = np.concatenate([mean[:n_at] for n_at in self.n_at])
        labels = (singles * self.weights[:, None])[:, :, None] * (past + future - means[:, None])
        taken, each = np.zeros((k, k, n_directions)), np.zeros((0 if self.steps is None else n, k * k, n_directions))
        for t in range(1, len(self.at)):
            now, come = self.at[t], past[self.at[t - 1]][: self.n_at[t]]
            gained = come[:, :, None] + own[t] + (future[now] - means[now][:, None])[:, None]
            gained *= (joints[t] * self.weights[now, None, None])[:, :, :, None]
            taken += gained.sum(axis=0)
            if self.steps is not None:
                each[now] = gained.reshape(self.n_at[t], k * k, n_directions)
        return Along(labels, taken.reshape(k * k, n_directions), each)

    def _local_along(self, scores: Floats, moves: Floats, gains: Floats, step_gains: Floats) -> Along:
        """Return the same of a MEMM."""
        k, n, n_directions = gains.shape[1], len(gains), gains.shape[2]
        given, own = self.labels[self.before], scores.copy()
        own[self.inner] += moves[self.inner, given]
        gains[self.inner] += step_gains[self.inner, given]
        own -= _log_sum(own, axis=1)[:, None]
        singles = np.exp(own)
        gains = gains - gains[np.arange(n), singles.argmax(axis=1)][:, None]
        gains -= np.einsum("nj,njd->nd", singles, gains)[:, None]
        labels = gains * (singles * self.weights[:, None])[:, :, None]
        taken, each = np.zeros((k, k, n_directions)), np.zeros((0 if self.steps is None else n, k, k, n_directions))
        np.add.at(taken, given, labels[self.inner])
        if self.steps is not None:
            each[self.inner, given] = labels[self.inner]
        return Along(labels, taken.reshape(k * k, n_directions), each.reshape(-1, k * k, n_directions))


def _shares(joint: Floats, axis: int) -> Floats:
    """Return probabilities divided by their sums over an axis, zero where these are zero."""
    sums = joint.sum(axis=axis, keepdims=True)
    return np.asarray(np.divide(joint, sums, out=np.zeros_like(joint), where=sums > 0))


def _log_sum(values: Floats, axis: int) -> Floats:
    top = values.max(axis=axis, keepdims=True)
    return np.asarray(np.log(np.exp(values - top).sum(axis=axis)) + top.squeeze(axis))
