"""Folds: every row of a table belongs to one of K parts, drawn by a seed.

A table of up to `LONG` rows is dealt out, so that the sizes of its folds differ by one at most. In a longer one, whose
end is not known while it is read, the fold of every row is drawn by itself. Either way folds depend on the seed and on
the order of the rows, and on nothing else: not on the kind of table, the size of its pieces, or threads.

Weights are frequencies: a row of weight 10 is ten rows, which are dealt out one by one. Rows with a weight that is no
whole number stay together.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import BLOCK_ROWS, Block, SettledTable, Table, code_dtype
from suffice.data.schema import Schema
from suffice.types import Array, Ints

LONG = BLOCK_ROWS
"""Longer tables are not held while their folds are dealt out."""
MOST_DEALT = 10**9
"""As many rows at most, each with its weight, are dealt out exactly."""


@dataclass(frozen=True)
class FoldBlock(Block):
    """The rows of a block that are in one fold."""

    fold: int = 0


@dataclass(frozen=True)
class AssignedBlock(Block):
    """A block, and the fold of each of its rows.

    Attributes
    ----------
    n_folds : int
    folds : array, shape (n_rows,), or None
        The fold of each row, where rows have no weights.
    shares : array, shape (n_folds, n_rows), or None
        How many of a row's units are in each fold, where they have weights.
    """

    n_folds: int = 1
    folds: Array | None = None
    shares: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, block: Block, n_folds: int, folds: Array | None = None, shares: Ints | None = None) -> AssignedBlock:
        """Write down who is where."""
        return cls(
            block.schema,
            block.columns,
            block.weights,
            block.n_rows,
            block.start,
            block.n_dropped,
            block.n_table,
            n_folds,
            folds,
            shares,
        )

    @property
    def fractional(self) -> bool:
        """Whether some weights are no whole numbers."""
        return self.weights is not None and bool((self.weights != units_of(self)).any())

    def cut(self) -> Iterator[FoldBlock]:
        """Yield the rows of one fold after the other; rows that were left out count with the first."""
        pieces = self._by_share() if self.shares is not None else self._by_fold()
        for fold, (columns, weights, n_rows) in enumerate(pieces):
            n_dropped = 0 if fold else self.n_dropped
            yield FoldBlock(self.schema, columns, weights, n_rows, self.start, n_dropped, self.n_table, fold)

    def _by_fold(self) -> Iterator[tuple[Mapping[str, Array], None, int]]:
        assert self.folds is not None
        order = np.argsort(self.folds, kind="stable")
        ends = np.searchsorted(self.folds[order], np.arange(self.n_folds + 1)).tolist()
        columns = {name: values[order] for name, values in self.columns.items()}
        for low, high in itertools.pairwise(ends):
            yield {name: values[low:high] for name, values in columns.items()}, None, high - low

    def _by_share(self) -> Iterator[tuple[Mapping[str, Array], Array, int]]:
        assert self.shares is not None
        weights = np.ones(self.n_rows, np.int64) if self.weights is None else self.weights
        is_split = weights == units_of(self)
        for share in self.shares:
            rows = np.flatnonzero(share)
            mine = np.where(is_split[rows], share[rows], weights[rows]).astype(weights.dtype)
            yield {name: values[rows] for name, values in self.columns.items()}, mine, len(rows)


@dataclass(frozen=True)
class FoldedTable:
    """A table whose blocks are cut into folds.

    Attributes
    ----------
    table : Table
    n_folds, seed : int
    without : int or None
        A fold that is left out: the rest is what a model is trained on.
    cut : bool
        Whether pieces are cut into folds; else they stay whole, and know who of them is where.

    Examples
    --------
    >>> from suffice.data.table import open_table
    >>> table = open_table({"A": list("xxyyxy")}, ["A"])
    >>> [(block.fold, block.columns["A"].tolist()) for block in FoldedTable(table, 3, seed=0).blocks()]
    [(0, [0, 1]), (1, [1, 0]), (2, [0, 1])]
    """

    table: Table
    n_folds: int
    seed: int
    without: int | None = None
    cut: bool = True

    @property
    def schema(self) -> Schema:
        """The variables of the table."""
        return self.table.schema

    @property
    def description(self) -> str:
        """A few words on the table."""
        return self.table.description

    @property
    def n_expected(self) -> int | None:
        """The number of rows, where it is known beforehand."""
        return self.table.n_expected

    def settled(self) -> SettledTable:
        """Return what the table has settled on after a pass."""
        return self.table.settled()

    def with_schema(self, schema: Schema) -> FoldedTable:
        """Return the same folds of the table read against a known schema."""
        return replace(self, table=self.table.with_schema(schema))

    def blocks(self) -> Iterator[FoldBlock | AssignedBlock]:
        """Yield one block a fold of each piece of the table, or the pieces; they are small enough to stay whole."""
        for block in self.assigned():
            yield from (part for part in block.cut() if part.fold != self.without) if self.cut else (block,)

    def assigned(self) -> Iterator[AssignedBlock]:
        """Yield the pieces of the table, and who of them is where."""
        pieces = (part for piece in self.table.blocks() for part in piece.split(BLOCK_ROWS))
        held: list[Block] = []
        for piece in pieces:
            held.append(piece)
            if sum(block.n_rows for block in held) > LONG:
                rng = generator(self.seed)
                yield from (self._drawn(block, rng) for block in itertools.chain(held, pieces))
                return
        yield from self._dealt(held)

    def _dealt(self, blocks: Sequence[Block]) -> Iterator[AssignedBlock]:
        """Deal the rows of all blocks out, as many to one fold as to another."""
        ends = list(itertools.accumulate((block.n_rows for block in blocks), initial=0))
        folds = shares = None
        if all(block.weights is None for block in blocks):
            folds = np.resize(np.arange(self.n_folds, dtype=code_dtype(self.n_folds)), ends[-1])
            generator(self.seed).shuffle(folds)
        else:
            units = np.concatenate([units_of(block) for block in blocks])
            shares = dealt_shares(units, self.n_folds, generator(self.seed))
        for block, (low, high) in zip(blocks, itertools.pairwise(ends), strict=True):
            mine = (None if folds is None else folds[low:high]), (None if shares is None else shares[:, low:high])
            yield AssignedBlock.of(block, self.n_folds, *mine)

    def _drawn(self, block: Block, rng: np.random.Generator) -> AssignedBlock:
        """Draw the fold of every row by itself, one number after another, however the rows are cut into blocks."""
        if block.weights is None:
            folds = (rng.random(block.n_rows) * self.n_folds).astype(code_dtype(self.n_folds))
            return AssignedBlock.of(block, self.n_folds, folds)
        equal = np.full(self.n_folds, 1 / self.n_folds)
        return AssignedBlock.of(block, self.n_folds, shares=rng.multinomial(units_of(block), equal).T)


def generator(seed: int) -> np.random.Generator:
    """Return the source of random numbers that divides rows."""
    return np.random.Generator(np.random.Philox(key=seed))


def units_of(block: Block) -> NDArray[np.int64]:
    """Return of how many rows that can be dealt out apart each row consists."""
    if block.weights is None:
        return np.ones(block.n_rows, np.int64)
    if block.weights.dtype.kind != "f":
        return block.weights.astype(np.int64)
    whole = np.trunc(block.weights)
    return np.where(whole == block.weights, whole, 1).astype(np.int64)


def dealt_shares(units: NDArray[np.int64], n_folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return how much of every row goes to each fold, shape (n_folds, n_rows): a random division into equal parts."""
    total = int(units.sum())
    if total >= MOST_DEALT:
        return rng.multinomial(units, np.full(n_folds, 1 / n_folds)).T
    left, shares = units.copy(), np.zeros((n_folds, len(units)), np.int64)
    for fold in range(n_folds - 1):
        size = total // n_folds + (fold < total % n_folds)
        shares[fold] = rng.multivariate_hypergeometric(left, size, method="marginals")
        left -= shares[fold]
    shares[-1] = left
    return shares
