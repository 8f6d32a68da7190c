"""The rows of a softmax regression as a matrix of terms, held in memory where they fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block, SettledTable
from suffice.data.matrix import MatrixColumns
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.models.basis import (
    Indicator,
    Linear,
    Term,
    evaluate,
    in_pieces,
    sparse_terms,
)
from suffice.settings import settings
from suffice.stats.source import BlockSource, Source
from suffice.structures.softmax_regression import SoftmaxClasses
from suffice.types import Floats

PIECE_NUMBERS = 1 << 17
MOST_ROWS, FEWEST_ROWS = 4096, 256
"""Rows of a piece, of which terms and scores stay in the cache together."""


def terms_of(structure: SoftmaxClasses, schema: Mapping[str, Variable]) -> tuple[Term, ...]:
    """Return the terms: continuous inputs themselves, and indicators of all states but the first of discrete ones."""
    terms: list[Term] = []
    for name in structure.inputs:
        variable = schema[name]
        terms += [Indicator(name, label) for label in variable.labels[1:]] if variable.is_discrete else [Linear(name)]
    return tuple(terms)


@dataclass(frozen=True, eq=False)
class SoftmaxDesign:
    """How a block of rows becomes a matrix of terms.

    Attributes
    ----------
    terms : tuple of Term
    target : Variable
    variables : mapping of str to Variable
    centre : mapping of str to float
        What continuous inputs far from zero are taken less.
    """

    terms: tuple[Term, ...]
    target: Variable
    variables: Mapping[str, Variable]
    centre: Mapping[str, float]

    @property
    def n_terms(self) -> int:
        """The number of terms."""
        return len(self.terms)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.target.n_states

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What the terms are called."""
        return tuple(str(term) for term in self.terms)

    @cached_property
    def step(self) -> int:
        """Rows of a piece."""
        return min(MOST_ROWS, max(FEWEST_ROWS, PIECE_NUMBERS // (self.n_terms + 2 * self.n_classes)))

    def pieces(self, block: Block) -> Iterator[tuple[int, Any, NDArray[np.int64], Floats | None]]:
        """Yield where a piece begins, its terms, shape (n, n_terms), its classes and its weights, or None for ones."""
        columns = block.columns
        codes = np.asarray(columns[self.target.name], np.int64)
        weights = None if block.weights is None else np.asarray(block.weights, np.float64)
        if isinstance(columns, HeldTerms):
            step = max(block.n_rows, 1) if is_sparse(columns) else self.step
            for low in range(0, block.n_rows, step):
                part = slice(low, min(low + step, block.n_rows))
                x = columns.matrix if step >= block.n_rows else columns.matrix[part]
                yield low, x, codes[part], None if weights is None else weights[part]
            return
        for low, high, inputs in in_pieces(columns, self.variables, block.n_rows, self.step):
            x = evaluate(self.terms, inputs, high - low, self.variables, self.centre)
            yield low, x, codes[low:high], None if weights is None else weights[low:high]

    def matrix(self, block: Block) -> Any:
        """Return the terms of a whole block, sparse where its columns are; shape (n_rows, n_terms)."""
        sparse = sparse_terms(self.terms, block.columns)
        if sparse is not None:  # by columns where there are more of them: what is jumped about in stays in the cache
            return sparse.tocsc() if block.n_rows < self.n_terms else sparse
        return evaluate(self.terms, block.columns, block.n_rows, self.variables, self.centre)


class HeldTerms(MatrixColumns):
    """Terms of some rows, and their classes."""

    @property
    def n_bytes(self) -> int:
        """Memory of the values; a sparse matrix has them in an array of their own."""
        return int(self.matrix.data.nbytes) + sum(column.nbytes for column in self.beside.values())


def is_sparse(columns: object) -> bool:
    """Whether columns lie in a sparse matrix."""
    return isinstance(columns, MatrixColumns) and hasattr(columns.matrix, "tocsr")


@dataclass(frozen=True, eq=False)
class HeldTable:
    """Terms, classes and weights in memory, as a table of their own."""

    schema: Schema
    held: tuple[Block, ...]
    description: str = "terms in memory"

    @property
    def n_expected(self) -> int:
        """The number of rows."""
        return sum(block.n_rows for block in self.held)

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks."""
        yield from self.held

    def settled(self) -> SettledTable:
        """Return the schema, which was known from the start."""
        return SettledTable(self.schema, ())

    def with_schema(self, schema: Schema) -> HeldTable:
        """Return the table itself: its states are final."""
        return self

    @property
    def is_dense(self) -> bool:
        """Whether the terms are written out."""
        return not any(is_sparse(block.columns) for block in self.held)

    def every(self, stride: int) -> HeldTable:
        """Return every so many rows."""
        blocks = []
        for block in self.held:
            columns: Any = block.columns
            beside = {name: column[::stride] for name, column in columns.beside.items()}
            part = HeldTerms(np.ascontiguousarray(columns.matrix[::stride]), columns.names, beside)
            weights = None if block.weights is None else block.weights[::stride]
            blocks.append(Block(block.schema, part, weights, len(part.matrix), block.start))
        return HeldTable(self.schema, tuple(blocks))


def held(source: Source, design: SoftmaxDesign, n_rows: int) -> Source:
    """Return the source with its terms in memory where they fit, or lie there already; else as it is."""
    if not isinstance(source, BlockSource):
        return source
    fits = n_rows * design.n_terms * 8 <= settings().memory / 4
    blocks: list[Block] = []
    for block in source.each(lambda block: _held_block(block, design, fits)):
        if block is None:
            return source
        blocks.append(block)
    return BlockSource(HeldTable(source.schema, tuple(blocks)))


def _held_block(block: Block, design: SoftmaxDesign, fits: bool) -> Block | None:
    if not fits and not _lies_there(block, design):
        return None
    beside = {design.target.name: np.asarray(block.columns[design.target.name], np.int64)}
    columns = HeldTerms(design.matrix(block), design.labels, beside)
    return Block(block.schema, columns, block.weights, block.n_rows, block.start)


def _lies_there(block: Block, design: SoftmaxDesign) -> bool:
    """Whether the matrix of the terms is in memory as it is."""
    if is_sparse(block.columns):
        return True
    held = block.columns
    if not isinstance(held, MatrixColumns) or design.centre:
        return False
    return held.matrix.dtype == np.float64 and held.names == design.labels
