"""Labelled graphs in codes, and as a table: one row a node, and blocks that never cut a graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.data.attributes import Attributes, Values, offsets_of
from suffice.data.block import Block, BlockColumns, SettledTable
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import DataError
from suffice.types import Array, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from suffice.inference.graph_plan import GraphPlan

BLOCK_NODES = 1 << 18
"""A block has about so many nodes, and at least one graph."""


class Bare:
    """Pickles its fields only: what was worked out from them is worked out again."""

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: vars(self)[f.name] for f in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class CliqueRows(Bare):
    """The cliques of one kind, graph after graph.

    Attributes
    ----------
    offsets : array of int64, shape (n_graphs + 1,)
        Where the cliques of each graph begin.
    members : array of int64, shape (n_cliques, size)
        Nodes, counted within their graph.
    attributes : Attributes
        One row a clique.
    """

    offsets: Ints
    members: Ints
    attributes: Attributes

    @property
    def size(self) -> int:
        """The number of members of a clique."""
        return int(self.members.shape[1])

    @property
    def n_cliques(self) -> int:
        """The number of cliques of all graphs."""
        return len(self.members)

    @cached_property
    def matrix(self) -> csr_array:
        """The attributes as a sparse matrix, an attribute once a row."""
        return _summed(self.attributes)

    def part(self, low: int, high: int) -> CliqueRows:
        """Return the cliques of some consecutive graphs."""
        first, last = int(self.offsets[low]), int(self.offsets[high])
        return CliqueRows(
            self.offsets[low : high + 1] - first, self.members[first:last], self.attributes.rows(first, last)
        )

    def chosen(self, which: Ints) -> CliqueRows:
        """Return the cliques of some graphs."""
        offsets, place = _rows_of(self.offsets, which)
        return CliqueRows(offsets, self.members[place], self.attributes.chosen(place))


def _summed(attributes: Attributes) -> csr_array:
    """Return a matrix of its own, since scipy adds up what stands twice in a row in the arrays that it was given."""
    matrix = attributes.matrix().copy()
    matrix.sum_duplicates()
    return matrix


def _rows_of(offsets: Ints, which: Ints) -> tuple[Ints, Ints]:
    """Return where the rows of some graphs begin, one after the other, and which rows these are."""
    lengths = np.diff(offsets)[which]
    starts = offsets_of(lengths)
    return starts, np.arange(starts[-1]) + np.repeat(offsets[which] - starts[:-1], lengths)


@dataclass(frozen=True, eq=False)
class SameGraphs:
    """Graphs with the same number of nodes and the same cliques, so that one plan serves all of them.

    Attributes
    ----------
    members : tuple of arrays, shape (n_cliques, size) each
        By kind, the nodes of every clique.
    graphs : array, shape (n_graphs,)
        Their numbers.
    nodes : array, shape (n_graphs, n_nodes)
        The rows of their nodes.
    cliques : tuple of arrays, shape (n_graphs, n_cliques) each
        By kind, the rows of their cliques.
    plans : dict
        Plans that were made for them, by the number of labels: making one takes longer than using it.
    """

    members: tuple[Ints, ...]
    graphs: Ints
    nodes: Ints
    cliques: tuple[Ints, ...]
    plans: dict[int, GraphPlan] = field(default_factory=dict, repr=False)

    @property
    def n_nodes(self) -> int:
        """The number of nodes of each graph."""
        return int(self.nodes.shape[1])


@dataclass(frozen=True, eq=False)
class LabelledGraphs(Bare):
    """Graphs, one after the other: attributes of their nodes and cliques and, where they are known, labels of nodes.

    Attributes
    ----------
    offsets : array of int64, shape (n_graphs + 1,)
        Where the nodes of each graph begin; graphs may be empty.
    states : Attributes
        One row a node.
    cliques : tuple of CliqueRows
        One a kind.
    labels : array of int32, shape (n_nodes,), or None
        Codes of labels.

    Examples
    --------
    >>> from suffice.data.attributes import no_attributes
    >>> edges = CliqueRows(np.array([0, 1, 1]), np.array([[0, 1]]), no_attributes(1))
    >>> two = LabelledGraphs(np.array([0, 2, 3]), no_attributes(3), (edges,), np.array([0, 1, 1], np.int32))
    >>> two.n_graphs, two.part(1, 2).labels.tolist(), len(two.alike)
    (2, [1], 2)
    """

    offsets: Ints
    states: Attributes
    cliques: tuple[CliqueRows, ...] = ()
    labels: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        n = int(self.offsets[-1])
        if self.states.n_rows != n:
            raise DataError(f"The graphs have {n:,} nodes, but attributes are given for {self.states.n_rows:,}.")
        if self.labels is not None and len(self.labels) != n:
            raise DataError(f"The graphs have {n:,} nodes, but {len(self.labels):,} labels are given.")

    @property
    def n_graphs(self) -> int:
        """The number of graphs."""
        return len(self.offsets) - 1

    @property
    def n_nodes(self) -> int:
        """The number of nodes of all graphs."""
        return int(self.offsets[-1])

    @property
    def lengths(self) -> Ints:
        """The number of nodes of each graph."""
        return np.diff(self.offsets)

    @property
    def n_bytes(self) -> int:
        """Memory of the codes and values."""
        kinds = sum(kind.attributes.n_bytes + kind.members.nbytes + kind.offsets.nbytes for kind in self.cliques)
        return self.states.n_bytes + kinds + (0 if self.labels is None else self.labels.nbytes) + self.offsets.nbytes

    @cached_property
    def matrix(self) -> csr_array:
        """The attributes of the nodes as a sparse matrix, an attribute once a row."""
        return _summed(self.states)

    def members_of(self, kind: int) -> Ints:
        """Return the rows of the nodes that are members of the cliques of a kind; shape (n_cliques, size)."""
        cliques = self.cliques[kind]
        return cliques.members + np.repeat(self.offsets[:-1], np.diff(cliques.offsets))[:, None]

    def part(self, low: int, high: int) -> LabelledGraphs:
        """Return some consecutive graphs."""
        first, last = int(self.offsets[low]), int(self.offsets[high])
        return LabelledGraphs(
            self.offsets[low : high + 1] - first,
            self.states.rows(first, last),
            tuple(kind.part(low, high) for kind in self.cliques),
            None if self.labels is None else self.labels[first:last],
        )

    def chosen(self, which: Ints) -> LabelledGraphs:
        """Return some graphs, in the order of their numbers ``which``."""
        offsets, place = _rows_of(self.offsets, which)
        labels = None if self.labels is None else self.labels[place]
        return LabelledGraphs(
            offsets, self.states.chosen(place), tuple(kind.chosen(which) for kind in self.cliques), labels
        )

    def labelled(self, labels: ArrayLike) -> LabelledGraphs:
        """Return the same graphs with other labels."""
        return LabelledGraphs(self.offsets, self.states, self.cliques, np.asarray(labels, np.int32))

    def apart(self, values: Values) -> list[Values]:
        """Cut what belongs to nodes into one piece a graph."""
        bounds = self.offsets.tolist()
        return [values[low:high] for low, high in pairwise(bounds)]

    @cached_property
    def alike(self) -> tuple[SameGraphs, ...]:
        """The graphs in groups of the same nodes and cliques, in the order in which these first occur."""
        groups: dict[tuple[int | bytes, ...], list[int]] = {}
        lengths = self.lengths.tolist()
        bounds = [kind.offsets.tolist() for kind in self.cliques]
        for graph, length in enumerate(lengths):
            held = [
                kind.members[at[graph] : at[graph + 1]].tobytes() for kind, at in zip(self.cliques, bounds, strict=True)
            ]
            groups.setdefault((length, *held), []).append(graph)
        return tuple(self._same(np.array(graphs, np.int64)) for graphs in groups.values())

    def _same(self, graphs: Ints) -> SameGraphs:
        first = int(graphs[0])
        spans = [slice(int(kind.offsets[first]), int(kind.offsets[first + 1])) for kind in self.cliques]
        return SameGraphs(
            tuple(kind.members[span] for kind, span in zip(self.cliques, spans, strict=True)),
            graphs,
            self.offsets[graphs][:, None] + np.arange(int(self.lengths[first])),
            tuple(
                kind.offsets[graphs][:, None] + np.arange(span.stop - span.start)
                for kind, span in zip(self.cliques, spans, strict=True)
            ),
        )


# The table ----------------------------------------------------------------------------------------------------


class GraphColumns(BlockColumns):
    """The columns of a block of graphs: the labels by name, and the graphs as a whole."""

    indivisible = True

    def __init__(self, name: str, graphs: LabelledGraphs, weights: Array | None) -> None:
        assert graphs.labels is not None
        self.name, self.graphs, self.weights, self._labels = name, graphs, weights, graphs.labels

    @property
    def n_bytes(self) -> int:
        """Memory of the codes and values."""
        return self.graphs.n_bytes

    def __getitem__(self, name: str) -> Array:
        return {self.name: self._labels}[name]

    def __iter__(self) -> Iterator[str]:
        return iter((self.name,))

    def __len__(self) -> int:
        return 1


@dataclass(frozen=True, eq=False)
class GraphTable(Bare):
    """Labelled graphs as a table whose rows are nodes.

    Attributes
    ----------
    graphs : LabelledGraphs
        With labels.
    label : Variable
        What the labels' codes stand for.
    weights : array, shape (n_graphs,), or None
        How often each graph counts.
    remarks : tuple of str
        What was decided while reading.
    n_dropped : int
        Nodes of graphs that were left out.
    description : str
    """

    graphs: LabelledGraphs
    label: Variable
    weights: Array | None = None
    remarks: tuple[str, ...] = ()
    n_dropped: int = 0
    description: str = "the graphs"

    @property
    def schema(self) -> Schema:
        """The labels."""
        return Schema((self.label,))

    @property
    def n_expected(self) -> int:
        """Nodes that there are."""
        return self.graphs.n_nodes + self.n_dropped

    @cached_property
    def parts(self) -> tuple[tuple[int, LabelledGraphs], ...]:
        """The graphs of each block, and the number of its first; kept, since they know which graphs are alike."""
        offsets, low = self.graphs.offsets, 0
        found: list[tuple[int, LabelledGraphs]] = []
        while low < self.graphs.n_graphs or not found:
            reach = int(np.searchsorted(offsets, offsets[low] + BLOCK_NODES, "right")) - 1
            high = min(max(reach, low + 1), self.graphs.n_graphs)
            whole = high - low == self.graphs.n_graphs
            found.append((low, self.graphs if whole else self.graphs.part(low, high)))
            low = high
        return tuple(found)

    def blocks(self) -> Iterator[Block]:
        """Yield the graphs in order, none of them cut."""
        for low, part in self.parts:
            weights = None if self.weights is None else self.weights[low : low + part.n_graphs]
            columns = GraphColumns(self.label.name, part, weights)
            by_node = None if weights is None else np.repeat(weights, part.lengths)
            start = int(self.graphs.offsets[low])
            n_dropped = 0 if low else self.n_dropped
            yield Block(self.schema, columns, by_node, part.n_nodes, start, n_dropped, self.n_expected)

    def settled(self) -> SettledTable:
        """Return the labels and the remarks, which were known from the start."""
        return SettledTable(self.schema, self.remarks)

    def with_schema(self, schema: Schema) -> GraphTable:
        """Return the table itself: its states are final."""
        return self
