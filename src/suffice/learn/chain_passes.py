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
from suffice.errors import EstimationError
from suffice.inference import label_chains
from suffice.models.chain_design import PIECE_POSITIONS, Ready, Table, ready_of
from suffice.models.chain_layout import ChainLayout
from suffice.models.chain_scores import fill_scores, values_of
from suffice.native import label_chains as kernels
from suffice.settings import settings
from suffice.stats.sums import Sums
from suffice.structures.label_chain import LabelChain
from suffice.text import in_bytes

Floats = NDArray[np.float64]
STEP_CELLS = 1 << 20
"""Cells that the matrices of a piece's positions may have, where each position has one of its own."""
MATRICES = 4
SPREAD = 300.0
"""Transitions further apart than this are left to log space, since their exponentials would be lost beside others."""

PARTS = ("states", "table", "transitions", "start", "end", "steps")


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
    def zero(cls, layout: ChainLayout, table: Table) -> Total:
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
        for name in PARTS:
            getattr(self, name).fill(0.0)

    def add(self, other: Total) -> None:
        """Add the sums of other sequences."""
        self.log_z += other.log_z
        for name in PARTS:
            mine = getattr(self, name)
            np.add(mine, getattr(other, name), out=mine)

    def vector(self, layout: ChainLayout, table: Table) -> Floats:
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
    table: Table
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
            ready.kept[number] = Total.zero(self.layout, self.table), Room(self.table.width)
        held: tuple[Total, Room] = ready.kept[number]
        total, room = held
        total.clear()
        for first, last in ready.pieces(low, high, self.piece_positions):
            self._add_piece(ready, first, last, room, total)
        return total

    def _add_piece(self, ready: Ready, first: int, last: int, room: Room, total: Total) -> None:
        """Add the sums of a few sequences."""
        k = self.layout.n_labels
        lo, hi = int(ready.offsets[first]), int(ready.offsets[last])
        if lo == hi:
            return
        offsets, weights = ready.offsets[first : last + 1] - lo, ready.weights[first:last]
        psi, alpha, p, tops, totals = room.of(hi - lo)
        self.fill(ready, lo, psi)
        begins, ends = ends_of(offsets)
        psi[begins, :k] += self.layout.start(self.weights)
        psi[ends, :k] += self.layout.end(self.weights)
        kernels.shift_scores(psi, k, tops)
        kernels.exponentiate(psi)
        kernels.forward(psi, self._steps[0], offsets, k, alpha, totals)
        with np.errstate(divide="ignore"):  # totals of zero: out of reach, and so is the value
            logs = np.log(totals) + tops
        logs += self._top
        logs[begins] -= self._top
        total.log_z += float(logs @ np.repeat(weights, np.diff(offsets)) if len(weights) else logs.sum())
        kernels.backward(psi, self._steps[1], offsets, alpha, totals, weights, p)
        total.transitions += ((alpha[:-1].T @ psi[1:]) * self._steps[0])[:k, :k]
        total.start += p[begins, :k].sum(axis=0)
        total.end += p[ends, :k].sum(axis=0)
        self.add_states(ready, lo, hi, p, total)

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

    def _add_piece(self, ready: Ready, first: int, last: int, room: Room, total: Total) -> None:
        k, n = self.layout.n_labels, int(ready.offsets[last] - ready.offsets[first])
        if not n:
            return
        self._require_room(n)
        lo, offsets = int(ready.offsets[first]), ready.offsets[first : last + 1] - ready.offsets[first]
        scores, _, p, _, _ = room.of(n)
        begins, ends = ends_of(offsets)
        self.fill(ready, lo, scores)
        scores[begins, :k] += self.layout.start(self.weights)
        scores[ends, :k] += self.layout.end(self.weights)
        steps = np.tile(self.layout.transition_matrix(self.weights).reshape(-1), (n, 1))
        few, own = ready.steps, self.layout.step_weights(self.weights)
        kernels.add_few_scores(few.starts, few.codes, ready.step_labels, values_of(few), own, lo, lo + n, steps)
        potentials = label_chains.Potentials(offsets, np.ascontiguousarray(scores[:, :k]), steps.reshape(n, k, k))
        weights = ready.weights[first:last] if len(ready.weights) else np.ones(last - first)
        by_position = np.repeat(weights, np.diff(offsets))
        log_z, labels, taken = label_chains.expectations(potentials)
        total.log_z += float(log_z @ weights)
        taken = taken.reshape(n, -1) * by_position[:, None]
        p[:, :k] = labels * by_position[:, None]
        p[:, k:] = 0.0
        total.transitions += taken.sum(axis=0).reshape(k, k)
        total.start += p[begins, :k].sum(axis=0)
        total.end += p[ends, :k].sum(axis=0)
        self.add_states(ready, lo, lo + n, p, total)
        kernels.add_few(few.starts, few.codes, ready.step_labels, values_of(few), lo, lo + n, taken, total.steps)

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
                f"the {in_bytes(room)} of sf.config(memory=…). Cut it, or leave the features of steps out."
            )


@dataclass(frozen=True, eq=False)
class LocalPass(ChainPass):
    """−Σ log p(y_t | y_t−1, x_t) but for what the labels themselves add, and its derivatives."""

    given: ClassVar[bool] = True

    def _add_piece(self, ready: Ready, first: int, last: int, room: Room, total: Total) -> None:
        k, n = self.layout.n_labels, int(ready.offsets[last] - ready.offsets[first])
        if not n:
            return
        lo, offsets = int(ready.offsets[first]), ready.offsets[first : last + 1] - ready.offsets[first]
        assert ready.sequences.labels is not None
        labels = ready.sequences.labels[lo : lo + n]
        psi, _, _, tops, totals = room.of(n)
        begins, _ = ends_of(offsets)
        self.fill(ready, lo, psi)
        psi[begins, :k] += self.layout.start(self.weights)
        kernels.add_before(psi, labels, offsets, self._matrix)
        few, own = ready.steps, self.layout.step_weights(self.weights)
        if len(few.codes):
            kernels.add_few_scores(few.starts, few.codes, ready.step_labels, values_of(few), own, lo, lo + n, psi)
        kernels.shift_scores(psi, k, tops)
        kernels.exponentiate(psi)
        weights = ready.weights[first:last]
        by_position = np.repeat(weights, np.diff(offsets)) if len(weights) else weights
        kernels.normalise(psi, k, totals, by_position)
        logs = np.log(totals) + tops  # eq memm
        total.log_z += float(logs @ by_position if len(weights) else logs.sum())
        kernels.add_to_before(psi, labels, offsets, total.transitions)
        total.start += psi[begins, :k].sum(axis=0)
        self.add_states(ready, lo, lo + n, psi, total)
        if len(few.codes):
            kernels.add_few(few.starts, few.codes, ready.step_labels, values_of(few), lo, lo + n, psi, total.steps)

    @cached_property
    def _matrix(self) -> Floats:
        return self.layout.transition_matrix(self.weights)


def pass_of(structure: LabelChain, layout: ChainLayout, weights: Floats) -> type[ChainPass]:
    """Return the pass that a structure's likelihood takes at some weights."""
    if structure.is_local:
        return LocalPass
    wide = np.ptp(layout.transition_matrix(weights)) > SPREAD
    return StepPass if wide or len(layout.step_pairs) else ChainPass


class Room:
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
