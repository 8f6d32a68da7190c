"""Passes over labelled graphs: each is a task for `Source.reduce`, and returns sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block
from suffice.data.graph_codes import GraphColumns, GraphTable, LabelledGraphs
from suffice.inference.graph_pseudo import pseudo_gradient, pseudo_gradient_along
from suffice.inference.label_graphs import GraphPotentials, labelling_scores, marginals, marginals_along
from suffice.models.graph_layout import GraphLayout, cell_sums, chosen
from suffice.stats.needs import Sum
from suffice.stats.source import BlockSource, Source
from suffice.stats.sums import Sums
from suffice.types import Floats


class GraphPass(ABC):
    """A task whose sums are one vector."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def size(self) -> int:
        """The length of the vector."""

    @abstractmethod
    def of_graphs(self, graphs: LabelledGraphs, labels: NDArray[np.int32], weights: Floats) -> Floats:
        """Return the sums of some graphs with their labels, each of which counts as often as its weight says."""

    def sums(self, block: Block) -> Floats:
        """Return the sums of one block."""
        columns = block.columns
        assert isinstance(columns, GraphColumns)
        graphs, labels = columns.graphs, columns.graphs.labels
        assert labels is not None
        weights = np.ones(graphs.n_graphs) if columns.weights is None else np.asarray(columns.weights, np.float64)
        return self.of_graphs(graphs, labels, weights)

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block as a statistic."""
        found = Sums(self.name, self.sums(block))
        return {found.need: found}


def run(source: Source, task: GraphPass) -> Floats:
    """Return the sums of a task over all graphs."""
    if isinstance(source, BlockSource) and isinstance(source.table, GraphTable):
        # graphs in memory are neither read nor reported, and a search makes many passes
        return reduce(np.add, map(task.sums, source.table.blocks()))
    return np.array(source.reduce(task)[Sum(task.name, task.size)].values)


@dataclass(frozen=True, eq=False)
class Counted(GraphPass):
    """By cell, the sums of attributes where the labels are so, and of their sizes; by attribute, squares and number."""

    shapes: tuple[tuple[int, int], ...]
    name = "graph features"

    @property
    def size(self) -> int:
        """Two numbers a cell, and two an attribute."""
        return sum(2 * rows * columns + 2 * rows for rows, columns in self.shapes)

    def of_graphs(self, graphs: LabelledGraphs, labels: NDArray[np.int32], weights: Floats) -> Floats:
        """Return the sums of some graphs."""
        nodes, *cliques = chosen(graphs, labels, self.shapes[0][1], weights)
        matrices = [graphs.matrix, *(rows.matrix for rows in graphs.cliques)]
        sizes = [abs(matrix).T @ part for matrix, part in zip(matrices, (nodes, *cliques), strict=True)]
        squares = [np.asarray(matrix.multiply(matrix).sum(axis=0)).reshape(-1) for matrix in matrices]
        n = [np.bincount(matrix.indices[matrix.data != 0], minlength=matrix.shape[1]) for matrix in matrices]
        parts = [*cell_sums(graphs, nodes, cliques), *sizes, *squares, *n]
        return np.concatenate([np.asarray(part, np.float64).reshape(-1) for part in parts])

    def apart(self, sums: Floats) -> tuple[Floats, Floats, Floats]:
        """Return sums and sizes by cell, and the root mean square of values by attribute, one where there are none."""
        cells = sum(rows * columns for rows, columns in self.shapes)
        rest = sums[2 * cells :].reshape(2, -1)
        units = np.sqrt(np.divide(rest[0], rest[1], out=np.ones(rest.shape[1]), where=rest[1] > 0))
        return sums[:cells], sums[cells : 2 * cells], units


@dataclass(frozen=True, eq=False)
class GraphGradient(GraphPass):
    """−Σ log p(y | x), and then its derivatives by the weights."""

    layout: GraphLayout
    weights: Floats
    name = "graph gradient"

    @property
    def size(self) -> int:
        """One more than there are weights."""
        return self.layout.size + 1

    def of_graphs(self, graphs: LabelledGraphs, labels: NDArray[np.int32], weights: Floats) -> Floats:
        """Return the sums of some graphs."""
        value, slopes = self.by_factors(self.layout.potentials(graphs, self.weights), labels, weights)
        return np.concatenate([[value], self.layout.pulled(slopes)])

    def by_factors(
        self, p: GraphPotentials, labels: NDArray[np.int32], weights: Floats
    ) -> tuple[float, GraphPotentials]:
        """Return the value, and its derivatives by the factors."""
        log_z, found = marginals(p)
        value = float(weights @ (log_z - labelling_scores(p, labels)))
        nodes, *cliques = chosen(p.graphs, labels, p.n_labels, np.ones(len(weights)))
        apart = tuple(share - own for share, own in zip(found.cliques, cliques, strict=True))  # eq graph-crf-gradient
        return value, GraphPotentials(p.graphs, found.nodes - nodes, apart).times(weights)


@dataclass(frozen=True, eq=False)
class GradientAlong(GraphPass):
    """The derivatives of that gradient along a direction."""

    layout: GraphLayout
    weights: Floats
    direction: Floats
    name = "graph curvature"

    @property
    def size(self) -> int:
        """The number of weights."""
        return self.layout.size

    def of_graphs(self, graphs: LabelledGraphs, labels: NDArray[np.int32], weights: Floats) -> Floats:
        """Return the sums of some graphs."""
        at, direction = (self.layout.potentials(graphs, vector) for vector in (self.weights, self.direction))
        return self.layout.pulled(self.by_factors(at, direction, labels, weights))

    def by_factors(
        self, p: GraphPotentials, direction: GraphPotentials, labels: NDArray[np.int32], weights: Floats
    ) -> GraphPotentials:
        """Return the derivatives by the factors."""
        return marginals_along(p, direction).times(weights)


class PseudoGradient(GraphGradient):
    """−Σ log p(y_v | all other labels, x), and then its derivatives by the weights."""

    name = "graph pseudo-gradient"

    def by_factors(
        self, p: GraphPotentials, labels: NDArray[np.int32], weights: Floats
    ) -> tuple[float, GraphPotentials]:
        """Return the value, and its derivatives by the factors."""
        return pseudo_gradient(p, labels, np.repeat(weights, p.graphs.lengths))


class PseudoGradientAlong(GradientAlong):
    """The derivatives of that gradient along a direction."""

    name = "graph pseudo-curvature"

    def by_factors(
        self, p: GraphPotentials, direction: GraphPotentials, labels: NDArray[np.int32], weights: Floats
    ) -> GraphPotentials:
        """Return the derivatives by the factors."""
        return pseudo_gradient_along(p, direction, labels, np.repeat(weights, p.graphs.lengths))
