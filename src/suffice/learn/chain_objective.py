"""The objective of chains of labels: −Σ log p(y | x) and a penalty, with derivatives, by passes over the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from suffice.data.block import Block
from suffice.data.sequence_positions import PositionTable
from suffice.learn.chain_passes import ChainPass, along_of, pass_of
from suffice.models.chain_design import DenseTable, ReadyColumns, ReadyTable, ready_of, table_of
from suffice.models.chain_layout import ChainLayout
from suffice.progress import Watch
from suffice.stats.chain_counts import ChainCount
from suffice.stats.needs import Sum
from suffice.stats.source import BlockSource, Source
from suffice.structures.label_chain import LabelChain
from suffice.types import Floats


def chain_need(structure: LabelChain) -> ChainCount:
    """Return the request for the counts of a structure's features."""
    steps = structure.step_vocabulary
    return ChainCount(
        structure.label,
        len(structure.vocabulary),
        len(steps or ()),
        structure.vocabulary.fingerprint + ("" if steps is None else steps.fingerprint),
    )


@dataclass(frozen=True, eq=False)
class ChainObjective:
    """−Σ log p(y | x) + c2 ‖w‖², to be minimised over the weights w.

    Attributes
    ----------
    source : Source
    structure : LabelChain
    layout : ChainLayout
    counts : array, shape (layout.size,)
        The features of the data, added up: Σ log p(y | x) is counts · w − Σ log Z.
    c2 : float
    """

    source: Source
    structure: LabelChain
    layout: ChainLayout
    counts: Floats
    c2: float
    table: DenseTable = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", table_of(self.layout))

    def likelihood(self, weights: Floats) -> tuple[float, Floats]:
        """Return −Σ log p(y | x) and its derivatives; infinity where weights are out of floating point's reach."""
        one = pass_of(self.structure, self.layout, weights)
        found = self.source.reduce(one(self.layout, self.table, weights))
        sums = np.array(found[Sum(ChainPass.name, self.layout.size + 1)].values)
        gradient = sums[1:]
        gradient -= self.counts  # eq crf-gradient
        value = float(sums[0]) - float(self.counts @ weights)  # eq crf-loss
        return (value, gradient) if np.isfinite(value) else (np.inf, gradient)

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        """Return the value and its derivatives."""
        value, gradient = self.likelihood(weights)
        if self.c2:
            value += self.c2 * float(weights @ weights)
            gradient += (2 * self.c2) * weights
        return value, gradient

    def twice(self, weights: Floats) -> tuple[float, Floats, Callable[[Floats], Floats]]:
        """Return value, derivatives and products with the Hessian, each a pass over the data."""
        return *self(weights), lambda direction: self.product(weights, direction)

    def product(self, weights: Floats, direction: Floats) -> Floats:
        """Return the Hessian at some weights times a direction."""
        along = along_of(self.structure, self.layout, weights)
        task = along(self.layout, self.table, weights, np.ascontiguousarray(direction))
        found = self.source.reduce(task)[Sum(task.name, self.layout.size + 1)].values
        return np.asarray(found[1:] + 2 * self.c2 * direction)

    def of_others(self, table: PositionTable) -> ChainObjective:
        """Return the objective of other sequences, in codes of the same vocabulary and labels, without a penalty."""
        source, structure = BlockSource(table), self.structure
        need = chain_need(structure)
        counts = self.layout.gathered(source.gather([need])[need])
        return ChainObjective(source, structure, self.layout, counts, 0.0).held()

    def held(self) -> ChainObjective:
        """Return the same with the sequences made ready for many passes, in memory."""
        source = held(self.source, self.structure, self.layout, self.table)
        return ChainObjective(source, self.structure, self.layout, self.counts, self.c2)


def held(source: Source, structure: LabelChain, layout: ChainLayout, table: DenseTable) -> Source:
    """Return a source whose sequences are ready; one that is not in memory stays as it is."""
    if not isinstance(source, BlockSource):
        return source
    given = structure.is_local

    def ready(block: Block) -> Block:
        columns = ReadyColumns(structure.label, ready_of(block, layout, table, given=given))
        return replace(block, columns=columns)

    blocks = tuple(ready(block) for block in source.each(lambda block: block))
    return BlockSource(ReadyTable(source.schema, blocks), Watch())
