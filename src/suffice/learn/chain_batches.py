"""Batches of sequences, for learning in small steps: an objective as a sum over them.

    Σ_b f_b(w),    f_b(w) = −Σ_b log p(y | x) + Σ_i (c1 |w_i| + c2 w_i²) / n_i,

the second sum being over the weights that the batch has a say in, each of which n_i batches share. So the slopes of a
batch are few, and a step costs what the batch costs, however many weights there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from suffice.data.attributes import Attributes, LabelledSequences, offsets_of
from suffice.data.block import Block
from suffice.data.sequence_positions import SequenceColumns
from suffice.errors import EstimationError, Remedy
from suffice.learn.chain_objective import ChainObjective
from suffice.learn.chain_passes import pass_of
from suffice.models.chain_design import DenseTable, Ready, made_ready, table_of
from suffice.models.chain_layout import ChainLayout
from suffice.priors.elastic import Elastic
from suffice.stats.chain_counts import ChainCount, count_chains
from suffice.stats.source import BlockSource, Source
from suffice.structures.label_chain import LabelChain
from suffice.types import Array, Floats, Ints


@dataclass(frozen=True, eq=False)
class TrainingBatch:
    """Some sequences with the weights that they have a say in.

    Attributes
    ----------
    where : array
        These weights among all.
    layout, table, ready
        As of data that had these sequences only.
    counts : array
        The features of the sequences, added up.
    """

    where: Ints
    layout: ChainLayout
    table: DenseTable
    ready: Ready
    counts: Floats


@dataclass(frozen=True, eq=False)
class Batches:
    """A sum over batches: what the steps go down, and what their points are judged by.

    Attributes
    ----------
    structure : LabelChain
    each : tuple of TrainingBatch
    penalty : Elastic
    c1, c2 : array, shape (n_weights,)
        Each weight's share in the penalty of one of its batches.
    """

    structure: LabelChain
    each: tuple[TrainingBatch, ...]
    penalty: Elastic
    c1: Floats
    c2: Floats

    def likelihood(self, batch: TrainingBatch, weights: Floats) -> tuple[float, Floats]:
        """Return −Σ log p(y | x) of a batch and its slopes by the weights that it has."""
        task = pass_of(self.structure, batch.layout, weights)(batch.layout, batch.table, weights)
        found = task.total(batch.ready).vector(batch.layout, batch.table)
        gradient = found[1:]
        gradient -= batch.counts
        return float(found[0]) - float(batch.counts @ weights), gradient

    def whole(self, weights: Floats) -> tuple[float, Floats]:
        """Return the objective, infinite where weights are out of reach, and the slopes of all of it but the kinks."""
        value, gradient = self.penalty.value(weights), 2 * self.penalty.c2 * weights
        with np.errstate(over="ignore", invalid="ignore"):
            for batch in self.each:
                loss, slopes = self.likelihood(batch, weights[batch.where])
                value += loss
                gradient[batch.where] += slopes
        return (value if math.isfinite(value) else math.inf), gradient

    @property
    def heard(self) -> NDArray[np.bool_]:
        """Which weights any batch has a say in; of the others the penalty alone decides."""
        heard = np.zeros(self.c1.size, bool)
        for batch in self.each:
            heard[batch.where] = True
        return heard


def batches_of(objective: ChainObjective, penalty: Elastic, positions: int, stream: np.random.Generator) -> Batches:
    """Deal the sequences, in random order, into batches of about so many positions, and of one sequence at least."""
    sequences, weights = _in_memory(objective.source)
    order = stream.permutation(sequences.n_sequences)
    ends = offsets_of(sequences.lengths[order])
    cuts = np.flatnonzero(np.diff(ends[:-1] // positions)) + 1
    each = tuple(_batch(objective, sequences, weights, chosen) for chosen in np.split(order, cuts))
    shared = np.zeros(objective.layout.size)
    for batch in each:
        shared[batch.where] += 1
    np.maximum(shared, 1, out=shared)
    return Batches(objective.structure, each, penalty, penalty.c1 / shared, penalty.c2 / shared)


def _in_memory(source: Source) -> tuple[LabelledSequences, Array | None]:
    """Return all sequences of a source, and the weights of positions."""
    if not isinstance(source, BlockSource):
        raise EstimationError(
            "Batches are drawn from sequences in memory, and this data is elsewhere. Use ",
            Remedy("method", "lbfgs"),
            ", or 'owlqn' if c1 > 0, which read it in order.",
        )
    blocks = list(source.each(lambda block: block))
    parts: list[LabelledSequences] = [block.columns.sequences for block in blocks]  # type: ignore[attr-defined]
    weights = [block.weights for block in blocks]
    if len(parts) == 1:
        return parts[0], weights[0]
    together = LabelledSequences(
        offsets_of(np.concatenate([part.lengths for part in parts])),
        _joined([part.states for part in parts]),
        np.concatenate([_labels(part) for part in parts]),
        _joined([part.steps for part in parts if part.steps is not None]) if parts[0].steps is not None else None,
    )
    known = [np.ones(part.n_positions) if own is None else own for part, own in zip(parts, weights, strict=True)]
    return together, None if all(own is None for own in weights) else np.concatenate(known)


def _joined(parts: Sequence[Attributes]) -> Attributes:
    lengths = np.concatenate([np.diff(part.starts) for part in parts])
    values = [np.ones(len(part.codes)) if part.values is None else part.values for part in parts]
    plain = all(part.values is None for part in parts)
    codes = np.concatenate([part.codes for part in parts])
    return Attributes(offsets_of(lengths), codes, None if plain else np.concatenate(values), parts[0].n_attributes)


def _labels(sequences: LabelledSequences) -> NDArray[np.int32]:
    assert sequences.labels is not None
    return sequences.labels


def _batch(
    objective: ChainObjective, sequences: LabelledSequences, weights: Array | None, chosen: Ints
) -> TrainingBatch:
    """Return some sequences as a batch."""
    layout, structure = objective.layout, objective.structure
    offsets = offsets_of(sequences.lengths[chosen])
    positions = _inside(sequences.offsets[chosen], offsets)
    states, starts, which = _narrowed(sequences.states, positions, layout.starts)
    steps, step_starts, step_which = None, np.zeros(1, np.int64), np.zeros(0, np.int64)
    if sequences.steps is not None:
        steps, step_starts, step_which = _narrowed(sequences.steps, positions, layout.step_starts)
    own = replace(
        layout, starts=starts, labels=layout.labels[which],
        step_starts=step_starts, step_pairs=layout.step_pairs[step_which],
    )  # fmt: skip
    first_step = layout.size - len(layout.step_pairs)
    where = np.concatenate([which, np.arange(len(layout.labels), first_step), first_step + step_which])
    part = LabelledSequences(offsets, states, _labels(sequences)[positions], steps)
    by_position = None if weights is None else weights[positions]
    block = Block(objective.source.schema, SequenceColumns(structure.label, part), by_position, part.n_positions)
    need = ChainCount(structure.label, states.n_attributes, 0 if steps is None else steps.n_attributes)
    counts = own.gathered(count_chains([need], block)[need])
    table = table_of(own)
    return TrainingBatch(where, own, table, made_ready(part, own, table, by_position, given=structure.is_local), counts)


def _inside(begins: Ints, offsets: Ints) -> Ints:
    """Return the places of ranges that begin somewhere, and lie one after the other by these offsets."""
    return np.asarray(np.repeat(begins - offsets[:-1], np.diff(offsets)) + np.arange(offsets[-1]))


def _narrowed(rows: Attributes, positions: Ints, starts: Ints) -> tuple[Attributes, Ints, Ints]:
    """Return some rows in codes of their own attributes, where the weights of each begin, and which they are."""
    ends = offsets_of(np.diff(rows.starts)[positions])
    places = _inside(rows.starts[:-1][positions], ends)
    known, codes = np.unique(rows.codes[places], return_inverse=True)
    values = None if rows.values is None else rows.values[places]
    own = offsets_of(np.diff(starts)[known])
    return Attributes(ends, codes.astype(np.int32), values, len(known)), own, _inside(starts[:-1][known], own)
