"""GraphLayout: which weights a conditional random field on graphs has, and where they lie in one vector.

Every combination of an attribute and a label, or of an attribute of a kind of cliques and the labels of its members, is
a cell of one table a kind, that of nodes first. A cell may have a weight of its own, share one, or have none.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.data.graph_codes import LabelledGraphs
from suffice.errors import EstimationError, Mention
from suffice.inference.label_graphs import GraphPotentials, joint_codes
from suffice.settings import settings
from suffice.structures.label_graph import LabelGraph
from suffice.text import in_bytes
from suffice.types import Array, Bools, Columns, Floats, Ints

VECTORS = 40
"""So many vectors of all cells are held while learning."""


@dataclass(frozen=True, eq=False)
class GraphLayout:
    """Where the weights are.

    Attributes
    ----------
    shapes : tuple of (int, int)
        By table: its attributes and its columns, K labels of nodes or K ** size of cliques.
    index : array, shape (n_cells,)
        The weight of every cell of all tables, row by row; −1 where there is none, which is zero.
    size : int
        The number of weights.
    """

    shapes: tuple[tuple[int, int], ...]
    index: Ints
    size: int

    @property
    def n_labels(self) -> int:
        """The number of labels, K."""
        return self.shapes[0][1]

    @property
    def starts(self) -> list[int]:
        """Where each table begins, and where the last one ends."""
        return [0, *itertools.accumulate(rows * columns for rows, columns in self.shapes)]

    def tables(self, weights: Floats) -> list[Floats]:
        """Return the weights as tables, zero where there is none."""
        cells = np.append(weights, 0.0)[self.index]
        bounds = self.starts
        return [cells[bounds[i] : bounds[i + 1]].reshape(shape) for i, shape in enumerate(self.shapes)]

    def gathered(self, tables: Sequence[Floats]) -> Floats:
        """Return the sum of each weight's cells."""
        cells = np.concatenate([table.reshape(-1) for table in tables])
        if self.size == len(cells):  # every cell has a weight of its own, in order
            return cells
        held = self.index >= 0
        return np.bincount(self.index[held], cells[held], minlength=self.size).astype(np.float64)

    def by_weight(self, by_attribute: Floats) -> Floats:
        """Return for every weight what is known of its attribute, attributes of all tables one after the other."""
        columns = np.repeat([columns for _, columns in self.shapes], [rows for rows, _ in self.shapes])
        cells, held = np.repeat(by_attribute, columns), self.index >= 0
        found = np.zeros(self.size)
        found[self.index[held]] = cells[held]
        return found

    # Between weights and the factors of graphs ----------------------------------------------------------------

    def potentials(self, graphs: LabelledGraphs, weights: Floats) -> GraphPotentials:
        """Return the logarithms of the factors of graphs."""
        nodes, *kinds = self.tables(weights)
        found = tuple(np.asarray(rows.matrix @ table) for rows, table in zip(graphs.cliques, kinds, strict=True))
        return GraphPotentials(graphs, np.asarray(graphs.matrix @ nodes), found)

    def pulled(self, values: GraphPotentials) -> Floats:
        """Return Σ value · attribute of each weight, over numbers that have the form of the factors."""
        return self.gathered(cell_sums(values.graphs, values.nodes, values.cliques))

    # Files ----------------------------------------------------------------------------------------------------

    def to_arrays(self) -> dict[str, Array]:
        """Return the layout as named arrays."""
        return {"shapes": np.array(self.shapes, np.int64), "index": self.index}

    @classmethod
    def from_arrays(cls, arrays: Columns) -> GraphLayout:
        """Rebuild the layout from `to_arrays`."""
        index = np.asarray(arrays["index"], np.int64)
        shapes = tuple((int(rows), int(columns)) for rows, columns in arrays["shapes"])
        return cls(shapes, index, int(index.max(initial=-1)) + 1)


def cell_sums(graphs: LabelledGraphs, nodes: Floats, cliques: Sequence[Floats]) -> list[Floats]:
    """Return the sums, over nodes and cliques, of attributes times numbers that have the form of the factors."""
    by_kind = [np.asarray(rows.matrix.T @ values) for rows, values in zip(graphs.cliques, cliques, strict=True)]
    return [np.asarray(graphs.matrix.T @ nodes), *by_kind]


def chosen(graphs: LabelledGraphs, labels: Array, n_labels: int, by_graph: Floats) -> list[Floats]:
    """Return one number a graph at the labels of its nodes and cliques, zero elsewhere, in the form of the factors."""
    nodes = np.zeros((graphs.n_nodes, n_labels))
    nodes[np.arange(graphs.n_nodes), labels] = np.repeat(by_graph, graphs.lengths)
    found = [nodes]
    for rows, codes in zip(graphs.cliques, joint_codes(graphs, labels, n_labels), strict=True):
        table = np.zeros((rows.n_cliques, n_labels**rows.size))
        table[np.arange(rows.n_cliques), codes] = np.repeat(by_graph, np.diff(rows.offsets))
        found.append(table)
    return found


# Making one ---------------------------------------------------------------------------------------------------


def shapes_of(structure: LabelGraph, n_labels: int) -> tuple[tuple[int, int], ...]:
    """Return the shapes of the tables, which must fit the memory that may be used."""
    kinds = ((len(kind.vocabulary), n_labels**kind.size) for kind in structure.kinds)
    shapes = ((len(structure.vocabulary), n_labels), *kinds)
    cells = sum(rows * columns for rows, columns in shapes)
    need, allowed = 8 * VECTORS * cells, settings().memory
    if need > allowed:
        worst = max(range(len(shapes)), key=lambda place: math.prod(shapes[place]))
        rows, columns = shapes[worst]
        what = f"cliques of the kind {structure.kinds[worst - 1].name!r}" if worst else "nodes"
        raise EstimationError(
            f"The weights would need {in_bytes(need)} while learning, and may use {in_bytes(allowed)}: the {rows:,} "
            f"attributes of {what}, times {columns:,} combinations of labels, are most of {cells:,} weights. Leave out "
            "attributes, make the cliques smaller, or allow more: ",
            Mention("memory", "sf.config(memory=…)"),
            ".",
        )
    return shapes


def layout_of(structure: LabelGraph, n_labels: int, sizes: Floats) -> GraphLayout:
    """Return which cells have a weight.

    Parameters
    ----------
    structure : LabelGraph
    n_labels : int
    sizes : array, shape (n_cells,)
        The sum of the attribute's values in size, over the nodes or cliques that have the cell's labels.
    """
    shapes = shapes_of(structure, n_labels)
    tables, start = [], 0
    for place, ((rows, columns), tied) in enumerate(zip(shapes, tied_columns(structure, n_labels), strict=True)):
        n_columns = int(tied.max(initial=-1)) + 1
        weights = (np.arange(rows)[:, None] * n_columns + tied).reshape(-1)
        sums = np.bincount(weights, sizes[start : start + rows * columns], minlength=rows * n_columns)
        seen = sums.reshape(rows, n_columns)
        which = structure.states if place == 0 else structure.cliques
        tables.append((seen > 0 if which == "observed" else np.ones(seen.shape, bool)) & (seen >= structure.min_freq))
        start += rows * columns
    return layout_with(structure, n_labels, tables)


def layout_with(structure: LabelGraph, n_labels: int, kept: Sequence[Bools]) -> GraphLayout:
    """Return the layout in which some combinations have a weight.

    Parameters
    ----------
    structure : LabelGraph
    n_labels : int
    kept : sequence of arrays of bool, shape (n_attributes, n_different) each
        By table: which attributes have a weight with which of the columns that `tied_columns` tells apart.
    """
    parts, shapes, n = [], [], 0
    for own, tied in zip(kept, tied_columns(structure, n_labels), strict=True):
        number = np.where(own, n + np.cumsum(own).reshape(own.shape) - 1, -1)
        parts.append(number[:, tied].reshape(-1))
        shapes.append((len(own), len(tied)))
        n += int(own.sum())
    return GraphLayout(tuple(shapes), np.concatenate(parts).astype(np.int64), n)


def tied_columns(structure: LabelGraph, n_labels: int) -> list[Ints]:
    """Return by table which of the different columns each is: of a symmetric model, several are the same.

    >>> from suffice.data.attributes import Vocabulary
    >>> from suffice.structures.label_graph import CliqueKind
    >>> edge = CliqueKind("edge", 2, Vocabulary(("constant",)))
    >>> [columns.tolist() for columns in tied_columns(LabelGraph(Vocabulary(), (edge,), symmetric=True), 2)]
    [[0, 1], [0, 1, 1, 2]]
    """
    sizes = (1, *(kind.size for kind in structure.kinds))
    return [_tied(n_labels, size) if structure.symmetric else np.arange(n_labels**size) for size in sizes]


def _tied(n_labels: int, size: int) -> Ints:
    """Return the number of each combination of labels, the same of those that differ by order only.

    >>> _tied(2, 2).tolist()
    [0, 1, 1, 2]
    """
    numbers: dict[tuple[int, ...], int] = {}
    combinations = itertools.product(range(n_labels), repeat=size)
    return np.array([numbers.setdefault(tuple(sorted(labels)), len(numbers)) for labels in combinations], np.int64)
