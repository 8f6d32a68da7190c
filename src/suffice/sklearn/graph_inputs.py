"""Labels and weights of graphs as users have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from suffice.data.graph_codes import LabelledGraphs
from suffice.data.labelled_graphs import Graph
from suffice.data.stream import checked_weights
from suffice.errors import DataError
from suffice.sklearn.tables import has_columns
from suffice.text import plural
from suffice.types import Array, Floats, Json
from suffice.values import Label

GraphsLike: TypeAlias = Iterable[Graph | Mapping[str, Json]]
"""Graphs, or dicts {"nodes": …, "edges": …}."""
LabelsInRows: TypeAlias = Iterable[Iterable[Label | None] | Array]
"""Labels, one list for each graph or sequence."""
WORDS = {
    "sequences": "graphs",
    "sequence": "graph",
    "Sequence": "Graph",
    "positions": "nodes",
    "position": "node",
}
"""What the features and labels of sequences are called here."""


def labels_in_rows(
    y: LabelsInRows, shapes: Sequence[tuple[int, ...] | None]
) -> LabelsInRows | list[Array | Iterable[Label | None]]:
    """Return labels as one list a graph: those of a grid may be an array of its rows and columns.

    >>> labels_in_rows([np.array([["a", "b"], ["c", "d"]])], [(2, 2)])[0].tolist()
    ['a', 'b', 'c', 'd']
    """
    is_single = isinstance(y, str | bytes | Mapping) or (isinstance(y, np.ndarray) and not y.ndim)
    if is_single or not isinstance(y, Iterable) or has_columns(y):
        return y  # refused where labels are read
    rows = []
    for place, own in enumerate(y):
        shape = shapes[place] if place < len(shapes) else None
        if isinstance(own, np.ndarray) and own.ndim > 1 and shape is not None and own.shape != shape:
            raise DataError(
                f"Graph {place + 1:,} of 'y' has labels of the shape {own.shape}, but its grid has the shape {shape}. "
                "Pass an array of the grid's shape, or a list of labels, row by row."
            )
        rows.append(own.reshape(-1) if isinstance(own, np.ndarray) and own.ndim else own)
    return rows


def weights_of(sample_weight: ArrayLike | None, graphs: LabelledGraphs) -> Floats | None:
    """Return how often each graph counts; None where all count once."""
    if sample_weight is None:
        return None
    weights = checked_weights(np.asarray(sample_weight), "the 'sample_weight' argument")
    if weights.shape != (graphs.n_graphs,):
        raise DataError(
            f"The 'sample_weight' argument has {len(weights):,} weights, but there are "
            f"{plural(graphs.n_graphs, 'graph')}. Pass one a graph."
        )
    return weights
