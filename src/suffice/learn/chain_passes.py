"""Passes over labelled sequences: log Z of every sequence and the expected features, added up.

Each is a task for `Source.reduce`. A range of sequences has sums of its own, which are added in order, so that results
do not depend on the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.attributes import ends_of
from suffice.data.block import Block
from suffice.errors import EstimationError, Mention
from suffice.inference import label_chains
from suffice.models.chain_design import PIECE_POSITIONS, DenseTable, Ready, ready_of
from suffice.models.chain_layout import ChainLayout
from suffice.models.chain_scores import fill_scores, values_of
from suffice.native import label_chains as kernels
from suffice.settings import settings
from suffice.stats.sums import Sums
from suffice.structures.label_chain import LabelChain
from suffice.text import in_bytes
from suffice.types import Floats, Ints

STEP_CELLS = 1 << 20
"""Cells that the matrices of a piece's positions may have, where each position has one of its own."""
MATRICES = 4
SPREAD = 300.0
"""Transitions further apart than this are left to log space, since their exponentials would be lost beside others."""


@dataclass(eq=False)
class Total:
    """What a range of sequences adds up to: log Z, and expected features by where their weights are."""

    log_z: float
    states: Floats
    table: Floats
    transitions: Floats
    start: Floats
    end: Floats
    steps: Floats

    @classmethod
    def zero(cls, layout: ChainLayout, table: DenseTable) -> Total:
        """Return the sums of no sequences."""
        k = layout.n_labels
        return cls(
            0.0,
            np.zeros(len(layout.labels)),
            np.zeros((table.n_rows, table.width)),
            np.zeros((k, k)),
            np.zeros(k),
            np.zeros(k),
            np.zeros(len(layout.step_pairs)),
        )

    def clear(self) -> None:
        """Become the sums of no sequences again."""
        self.log_z = 0.0
        for part in self._parts:
            part.fill(0.0)

    def add(self, other: Total) -> None:
        """Add the sums of other sequences."""
        self.log_z += other.log_z
        for mine, others in zip(self._parts, other._parts, strict=True):
            np.add(mine, others, out=mine)

    @property
    def _parts(self) -> tuple[Floats, ...]:
        """The sums that are arrays."""
        return self.states, self.table, self.transitions, self.start, self.end, self.steps

    def vector(self, layout: ChainLayout, table: DenseTable) -> Floats:
        """Return log Z, and then the expected features in the order of the weights."""
        table.add_to(self.states, self.table)
        parts = [np.array([self.log_z]), self.states, self.transitions.reshape(-1)[layout.pairs]]
        parts += [self.start] if layout.has_start else []
        parts += [self.end] if layout.has_end else []
        return np.concatenate([*parts, self.steps])


@dataclass(frozen=True, eq=False)
class ChainPass:
    """−Σ log p(y | x) but for what the labels themselves add, and its derivatives, at some weights."""

    layout: ChainLayout
    table: DenseTable
    weights: Floats
    name: ClassVar[str] = "chain"
    given: ClassVar[bool] = False

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block as one array."""
        ready = ready_of(block, self.layout, self.table, given=self.given)
        found = Sums(self.name, self.total(ready).vector(self.layout, self.table))
        return {found.need: found}

    def total(self, ready: Ready) -> Total:
        """Return the sums of all sequences, until the next pass over them."""
        ranges = ready.ranges() or [(0, 0)]
        threads = min(settings().threads, len(ranges))
        numbered = [(number, *bounds) for number, bounds in enumerate(ranges)]
        if threads <= 1:
            parts = [self.of_range(ready, *one) for one in numbered]
        else:
            with ThreadPoolExecutor(threads) as pool:
                parts = list(pool.map(lambda one: self.of_range(ready, *one), numbered))
        for part in parts[1:]:
            parts[0].add(part)
        return parts[0]

    @property
    def piece_positions(self) -> int:
        """Positions whose numbers are worked on at a time."""
        return PIECE_POSITIONS

    def of_range(self, ready: Ready, number: int, low: int, high: int) -> Total:
        """Return the sums of some sequences, in the memory that has this number."""
        if number not in ready.kept:
            ready.kept[number] = Total.zero(self.layout, self.table), PassBuffers(self.table.width)
        held: tuple[Total, PassBuffers] = ready.kept[number]
        total, room = held
        total.clear()
        for first, last in ready.pieces(low, high, self.piece_positions):
            self._add_piece(ready, first, last, room, total)
        return total

    def _add_piece(self, ready: Ready, first: int, last: int, room: PassBuffers, total: Total) -> None:
        """Add the sums of a few sequences."""
        offsets = ready.offsets[first : last + 1] - ready.offsets[first]
        if not offsets[-1]:
            return
        k = self.layout.n_labels
        psi, alpha, p = self._forward_backward(ready, first, last, room, total)
        total.transitions += ((alpha[:-1].T @ psi[1:]) * self._steps[0])[:k, :k]
        self._add_labels(ready, first, last, p, total)

    def _forward_backward(
        self, ready: Ready, first: int, last: int, room: PassBuffers, total: Total
    ) -> tuple[Floats, Floats, Floats]:
        """Return what is left of potentials, p(label | input so far) and the probabilities of labels; add log Z."""
        k, weights = self.layout.n_labels, ready.weights[first:last]
        lo, hi = int(ready.offsets[first]), int(ready.offsets[last])
        offsets = ready.offsets[first : last + 1] - lo
        psi, alpha, p, tops, totals = room.of(hi - lo)
        begins, _ = ends_of(offsets)
        self.fill_with_ends(ready, lo, offsets, psi)
        kernels.shift_scores(psi, k, tops)
        kernels.exponentiate(psi)
        kernels.forward(psi, self._steps[0], offsets, k, alpha, totals)
        with np.errstate(divide="ignore"):  # totals of zero: out of reach, and so is the value
            logs = np.log(totals) + tops
        logs += self._top
        logs[begins] -= self._top
        total.log_z += float(logs @ np.repeat(weights, np.diff(offsets)) if len(weights) else logs.sum())
        kernels.backward(psi, self._steps[1], offsets, alpha, totals, weights, p)
        return psi, alpha, p

    def _add_labels(self, ready: Ready, first: int, last: int, p: Floats, total: Total) -> None:
        """Add what the labels of a few sequences expect of their features."""
        lo, hi, k = int(ready.offsets[first]), int(ready.offsets[last]), self.layout.n_labels
        begins, ends = ends_of(ready.offsets[first : last + 1] - lo)
        total.start += p[begins, :k].sum(axis=0)
        total.end += p[ends, :k].sum(axis=0)
        self.add_states(ready, lo, hi, p, total)

    def fill_with_ends(self, ready: Ready, lo: int, offsets: Ints, out: Floats) -> None:
        """Write the scores of some sequences, with those of their first and last labels."""
        k, (begins, ends) = self.layout.n_labels, ends_of(offsets)
        self.fill(ready, lo, out)
        out[begins, :k] += self.layout.start(self.weights)
        out[ends, :k] += self.layout.end(self.weights)

    def fill(self, ready: Ready, lo: int, out: Floats) -> None:
        """Write the scores of as many positions as there is room for, from their attributes."""
        fill_scores(ready, self._rows, self.layout.state_weights(self.weights), lo, lo + len(out), out)

    def add_states(self, ready: Ready, lo: int, hi: int, p: Floats, total: Total) -> None:
        """Add what positions expect of their attributes, given the probabilities of labels."""
        many, few = ready.many, ready.few
        kernels.add_rows(many.starts, many.codes, values_of(many), lo, hi, p, total.table)
        kernels.add_few(few.starts, few.codes, ready.few_labels, values_of(few), lo, hi, p, total.states)

    @cached_property
    def _rows(self) -> Floats:
        return self.table.filled(self.layout.state_weights(self.weights))

    @cached_property
    def _top(self) -> float:
        return float(self.layout.transition_matrix(self.weights).max())

    @cached_property
    def _steps(self) -> tuple[Floats, Floats]:
        """Exponentials of transitions, the largest of them one, padded by zeros; and the same transposed."""
        k, width = self.layout.n_labels, self.table.width
        step = np.zeros((width, width))
        step[:k, :k] = np.exp(self.layout.transition_matrix(self.weights) - self._top)
        return step, np.ascontiguousarray(step.T)


@dataclass(frozen=True, eq=False)
class StepPass(ChainPass):
    """The same where steps have attributes, so that every position has transitions of its own; in log space."""

    def _add_piece(self, ready: Ready, first: int, last: int, room: PassBuffers, total: Total) -> None:
        if ready.offsets[first] < ready.offsets[last]:
            self._add_pairs(ready, first, last, *self._expected(ready, first, last, room, total), total)

    def _expected(self, ready: Ready, first: int, last: int, room: PassBuffers, total: Total) -> tuple[Floats, Floats]:
        """Return the probabilities of labels, (n, width), and of steps, (n, K, K), times weights; add log Z."""
        k, n = self.layout.n_labels, int(ready.offsets[last] - ready.offsets[first])
        self._require_room(n)
        lo, offsets = int(ready.offsets[first]), ready.offsets[first : last + 1] - ready.offsets[first]
        scores, _, p, _, _ = room.of(n)
        self.fill_with_ends(ready, lo, offsets, scores)
        steps = self.step_scores(ready, lo, n)
        steps = steps[0] if len(steps) == 1 else steps
        potentials = label_chains.Potentials(offsets, np.ascontiguousarray(scores[:, :k]), steps)
        weights = ready.weights[first:last] if len(ready.weights) else np.ones(last - first)
        by_position = np.repeat(weights, np.diff(offsets))
        log_z, labels, pairs = label_chains.expectations(potentials)
        total.log_z += float(log_z @ weights)
        p[:, :k] = labels * by_position[:, None]
        p[:, k:] = 0.0
        pairs *= by_position[:, None, None]
        return p, pairs

    def step_scores(self, ready: Ready, lo: int, n: int) -> Floats:
        """Return the scores of the steps to some positions; shape (n, K, K), or (1, K, K) where all are alike."""
        k, few = self.layout.n_labels, ready.steps
        matrix = self.layout.transition_matrix(self.weights)
        if not len(few.codes):
            return matrix[None]
        steps, own = np.tile(matrix.reshape(-1), (n, 1)), self.layout.step_weights(self.weights)
        kernels.add_few_scores(few.starts, few.codes, ready.step_labels, values_of(few), own, lo, lo + n, steps)
        return steps.reshape(n, k, k)

    def _add_pairs(self, ready: Ready, first: int, last: int, p: Floats, pairs: Floats, total: Total) -> None:
        """Add what the labels and the steps of a few sequences expect of their features."""
        lo, hi, few = int(ready.offsets[first]), int(ready.offsets[last]), ready.steps
        total.transitions += pairs.sum(axis=0)
        self._add_labels(ready, first, last, p, total)
        taken = pairs.reshape(hi - lo, -1)
        kernels.add_few(few.starts, few.codes, ready.step_labels, values_of(few), lo, hi, taken, total.steps)

    @property
    def piece_positions(self) -> int:
        """Fewer positions where labels are many, since each has a matrix of them."""
        return max(min(PIECE_POSITIONS, STEP_CELLS // self.layout.n_labels**2), 1)

    def _require_room(self, n: int) -> None:
        """Refuse a sequence whose matrices would not fit the memory."""
        needed, room = 8.0 * MATRICES * n * self.layout.n_labels**2, settings().memory
        if needed > room:
            raise EstimationError(
                f"A sequence of {n:,} positions, whose steps have features, needs {MATRICES} matrices of "
                f"{self.layout.n_labels:,} × {self.layout.n_labels:,} labels at each: {in_bytes(needed)}, more than "
                f"the {in_bytes(room)} of ",
                Mention("memory", "sf.config(memory=…)"),
                ". Cut it, or leave the features of steps out.",
            )


@dataclass(frozen=True, eq=False)
class LocalPass(ChainPass):
    """−Σ log p(y_t | y_t−1, x_t) but for what the labels themselves add, and its derivatives."""

    given: ClassVar[bool] = True

    def _add_piece(self, ready: Ready, first: int, last: int, room: PassBuffers, total: Total) -> None:
        if ready.offsets[first] < ready.offsets[last]:
            self._add_given(ready, first, last, self._expected_given(ready, first, last, room, total), total)

    def _expected_given(self, ready: Ready, first: int, last: int, room: PassBuffers, total: Total) -> Floats:
        """Return the probabilities of labels given those before, (n, width), times weights; add log Z."""
        n, offsets = int(ready.offsets[last] - ready.offsets[first]), ready.offsets[first : last + 1]
        psi, _, _, tops, totals = room.of(n)
        self.fill_given(ready, first, last, psi)
        kernels.shift_scores(psi, self.layout.n_labels, tops)
        kernels.exponentiate(psi)
        weights = ready.weights[first:last]
        by_position = np.repeat(weights, np.diff(offsets)) if len(weights) else weights
        kernels.normalise(psi, self.layout.n_labels, totals, by_position)
        logs = np.log(totals) + tops  # eq memm
        total.log_z += float(logs @ by_position if len(weights) else logs.sum())
        return psi

    def fill_given(self, ready: Ready, first: int, last: int, out: Floats) -> None:
        """Write the scores of labels given those before."""
        lo, hi = int(ready.offsets[first]), int(ready.offsets[last])
        offsets = ready.offsets[first : last + 1] - lo
        self.fill_with_ends(ready, lo, offsets, out)
        kernels.add_before(out, _labels(ready)[lo:hi], offsets, self._matrix)
        few, own = ready.steps, self.layout.step_weights(self.weights)
        if len(few.codes):
            kernels.add_few_scores(few.starts, few.codes, ready.step_labels, values_of(few), own, lo, hi, out)

    def _add_given(self, ready: Ready, first: int, last: int, p: Floats, total: Total) -> None:
        """Add what labels given those before expect of their features."""
        lo, hi = int(ready.offsets[first]), int(ready.offsets[last])
        offsets, few = ready.offsets[first : last + 1] - lo, ready.steps
        kernels.add_to_before(p, _labels(ready)[lo:hi], offsets, total.transitions)
        self._add_labels(ready, first, last, p, total)
        if len(few.codes):
            kernels.add_few(few.starts, few.codes, ready.step_labels, values_of(few), lo, hi, p, total.steps)

    @cached_property
    def _matrix(self) -> Floats:
        return self.layout.transition_matrix(self.weights)


def _labels(ready: Ready) -> NDArray[np.int32]:
    assert ready.sequences.labels is not None
    return ready.sequences.labels


@dataclass(frozen=True, eq=False)
class ChainPassAlong(ChainPass):
    """The derivatives of what `ChainPass` expects of features, along a direction of the weights."""

    direction: Floats
    name: ClassVar[str] = "chain along"

    def _add_piece(self, ready: Ready, first: int, last: int, room: PassBuffers, total: Total) -> None:
        lo, offsets = int(ready.offsets[first]), ready.offsets[first : last + 1] - ready.offsets[first]
        if not offsets[-1]:
            return
        psi, alpha, p = self._forward_backward(ready, first, last, room, total)
        gains, step_gain = np.zeros(p.shape), self.layout.transition_matrix(self.direction)
        self._moved.fill_with_ends(ready, lo, offsets, gains)
        kernels.along_scaled(offsets, alpha, self._steps[0], psi, p, gains, step_gain, total.transitions)
        self._add_labels(ready, first, last, p, total)

    @cached_property
    def _moved(self) -> ChainPass:
        return ChainPass(self.layout, self.table, self.direction)


@dataclass(frozen=True, eq=False)
class StepPassAlong(StepPass):
    """The same of `StepPass`."""

    direction: Floats
    name: ClassVar[str] = "chain along"

    def _add_piece(self, ready: Ready, first: int, last: int, room: PassBuffers, total: Total) -> None:
        lo, hi = int(ready.offsets[first]), int(ready.offsets[last])
        if lo == hi:
            return
        offsets = ready.offsets[first : last + 1] - lo
        p, pairs = self._expected(ready, first, last, room, total)
        gains = np.zeros(p.shape)
        self._moved.fill_with_ends(ready, lo, offsets, gains)
        kernels.along(offsets, p, pairs, gains, self._moved.step_scores(ready, lo, hi - lo))
        self._add_pairs(ready, first, last, p, pairs, total)

    @cached_property
    def _moved(self) -> StepPass:
        return StepPass(self.layout, self.table, self.direction)


@dataclass(frozen=True, eq=False)
class LocalPassAlong(LocalPass):
    """The same of `LocalPass`."""

    direction: Floats
    name: ClassVar[str] = "chain along"

    def _add_piece(self, ready: Ready, first: int, last: int, room: PassBuffers, total: Total) -> None:
        if ready.offsets[first] == ready.offsets[last]:
            return
        p, rows = self._expected_given(ready, first, last, room, total), np.arange(self.layout.n_labels)
        gains = np.zeros(p.shape)
        self._moved.fill_given(ready, first, last, gains)
        gains -= np.take_along_axis(
            gains, p[:, rows].argmax(axis=1)[:, None], axis=1
        )  # where labels are certain: small
        totals = p.sum(axis=1)
        gains -= ((p * gains).sum(axis=1) / np.where(totals > 0, totals, 1.0))[:, None]
        p *= gains
        self._add_given(ready, first, last, p, total)

    @cached_property
    def _moved(self) -> LocalPass:
        return LocalPass(self.layout, self.table, self.direction)


def pass_of(structure: LabelChain, layout: ChainLayout, weights: Floats) -> type[ChainPass]:
    """Return the pass that a structure's likelihood takes at some weights."""
    if structure.is_local:
        return LocalPass
    wide = np.ptp(layout.transition_matrix(weights)) > SPREAD
    return StepPass if wide or len(layout.step_pairs) else ChainPass


def along_of(
    structure: LabelChain, layout: ChainLayout, weights: Floats
) -> type[ChainPassAlong] | type[StepPassAlong] | type[LocalPassAlong]:
    """Return the pass that multiplies the Hessian of −Σ log p(y | x) at some weights by a direction."""
    one = pass_of(structure, layout, weights)
    return LocalPassAlong if one is LocalPass else StepPassAlong if one is StepPass else ChainPassAlong


class PassBuffers:
    """Memory for the numbers of a piece, used again for the next."""

    def __init__(self, width: int) -> None:
        self.width, self._held = width, -1

    def of(self, n: int) -> tuple[Floats, ...]:
        """Return three arrays of n rows, and two of n numbers."""
        if n > self._held:
            self._held = max(n, 2048)
            self._wide = [np.empty((self._held, self.width)) for _ in range(3)]
            self._long = [np.empty(self._held) for _ in range(2)]
        return *(array[:n] for array in self._wide), *(array[:n] for array in self._long)
