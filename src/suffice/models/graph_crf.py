"""GraphModel: labels of a graph's nodes given attributes of its nodes and cliques, a conditional random field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.data.graph_codes import GraphTable, LabelledGraphs
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import ModelError, listing, require_seed, require_whole
from suffice.inference import label_graphs
from suffice.inference.graph_pseudo import locally_best
from suffice.inference.label_graphs import GraphPotentials
from suffice.models.graph_layout import GraphLayout
from suffice.structures.label_graph import LabelGraph
from suffice.text import html_table
from suffice.types import Array, Columns, Floats, Ints
from suffice.values import Label

Codes = NDArray[np.int32]


class WeightName(NamedTuple):
    """What a weight belongs to: ``"node"`` or a kind of cliques, an attribute, and the labels of the members."""

    kind: str
    attribute: str
    labels: tuple[Label, ...]

    def __str__(self) -> str:
        return f"{self.attribute!r} of a {self.kind} with {', '.join(map(repr, self.labels))}"


@dataclass(frozen=True, eq=False)
class GraphModel:
    """p(y | x) of the labels y of a graph's nodes, given attributes x of its nodes and cliques.

    Attributes
    ----------
    structure : LabelGraph
    label : Variable
        The labels.
    layout : GraphLayout
        Which weights there are.
    weights : array, shape (layout.size,)
    units : array, shape (layout.size,)
        How large the values of each weight's attribute are, where it is not zero: the root of their mean square.
    information : array, shape (layout.size,) * 2, or None
        Second derivatives of −Σ log p(y | x) at a maximum-likelihood estimate, where they were written out.
    """

    structure: LabelGraph
    label: Variable
    layout: GraphLayout
    weights: Floats = field(repr=False)
    units: Floats = field(repr=False)
    information: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name, given in (("weights", self.weights), ("units", self.units)):
            frozen = np.array(given, np.float64)
            if frozen.shape != (self.layout.size,) or not np.isfinite(frozen).all():
                raise ModelError(
                    f"The {name!r} of a conditional random field must be {self.layout.size:,} finite numbers. Got "
                    f"the shape {frozen.shape} instead."
                )
            frozen.flags.writeable = False
            object.__setattr__(self, name, frozen)
        if self.label.n_states != self.layout.n_labels:
            raise ModelError(
                f"The weights are for {self.layout.n_labels:,} labels, but there are {self.label.n_states:,}."
            )

    @property
    def schema(self) -> Schema:
        """The labels."""
        return Schema((self.label,))

    @property
    def variables(self) -> tuple[str, ...]:
        """The name of the labels."""
        return (self.label.name,)

    def __repr__(self) -> str:
        return f"GraphCRF({self.label.n_states:,} labels, {self.layout.size:,} weights)"

    def _repr_html_(self) -> str:
        facts = [
            ["labels", listing(self.label.labels, 12)],
            ["weights", f"{self.layout.size:,}"],
            ["weights that are not zero", f"{np.count_nonzero(self.weights):,}"],
        ]
        return html_table([self.label.name, ""], facts, "<<", caption=repr(self))

    # Answers --------------------------------------------------------------------------------------------------

    def potentials(self, graphs: LabelledGraphs) -> GraphPotentials:
        """Return the logarithms of the factors of graphs."""
        return self.layout.potentials(graphs, self.weights)

    def log_prob(self, graphs: LabelledGraphs | GraphTable) -> Floats:
        """Return log p(y | x) of labelled graphs; shape (n_graphs,)."""
        held = graphs.graphs if isinstance(graphs, GraphTable) else graphs
        assert held.labels is not None
        potentials = self.potentials(held)
        return np.asarray(label_graphs.labelling_scores(potentials, held.labels) - label_graphs.log_z(potentials))

    def best(self, graphs: LabelledGraphs) -> Codes:
        """Return the most probable labels of every graph together, as codes; shape (n_nodes,)."""
        return label_graphs.best_labels(self.potentials(graphs))[0]

    def locally_best(self, graphs: LabelledGraphs) -> Codes:
        """Return labels that no change of a single node makes more probable, as codes; for graphs of any width."""
        return locally_best(self.potentials(graphs))

    def marginals(self, graphs: LabelledGraphs) -> Floats:
        """Return the probability of every label of every node; shape (n_nodes, K)."""
        return label_graphs.marginals(self.potentials(graphs))[1].nodes

    def sample(self, graphs: LabelledGraphs, n: int = 1, *, seed: int | None = None) -> Codes:
        """Draw labels from p(y | x), as codes; shape (n, n_nodes)."""
        rng = np.random.Generator(np.random.Philox(require_seed(seed)))
        return label_graphs.draw_labels(self.potentials(graphs), rng, require_whole("n", n))

    # Weights --------------------------------------------------------------------------------------------------

    def names(self) -> list[WeightName]:
        """Return what the weights belong to, in their order; of weights that are shared, the first."""
        return [self.name(weight) for weight in range(self.layout.size)]

    def name(self, weight: int) -> WeightName:
        """Return what a weight belongs to."""
        starts = self.layout.starts
        cell = int(self._first_cells[weight])
        table = int(np.searchsorted(starts, cell, "right")) - 1
        attribute, column = divmod(cell - starts[table], self.layout.shapes[table][1])
        kind = None if table == 0 else self.structure.kinds[table - 1]
        vocabulary = self.structure.vocabulary if kind is None else kind.vocabulary
        size = 1 if kind is None else kind.size
        codes = np.unravel_index(column, (self.label.n_states,) * size)
        labels = tuple(self.label.labels[int(code)] for code in codes)
        return WeightName("node" if kind is None else kind.name, vocabulary.name(attribute), labels)

    @cached_property
    def _first_cells(self) -> Ints:
        """The first cell of every weight."""
        found, cells = np.unique(self.layout.index, return_index=True)
        return np.asarray(cells[found >= 0], np.int64)

    # Files ----------------------------------------------------------------------------------------------------

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return JSON-able facts and named arrays, which together are the model."""
        meta = {"structure": self.structure.to_dict(), "schema": self.schema.to_dict()}
        more = {} if self.information is None else {"information": self.information}
        return meta, {**self.layout.to_arrays(), "weights": self.weights, "units": self.units, **more}

    @classmethod
    def from_parts(cls, meta: Mapping[str, Any], arrays: Columns) -> GraphModel:
        """Rebuild the model from `to_parts`."""
        structure = LabelGraph.from_dict(meta["structure"])
        label = Schema.from_dict(meta["schema"])[structure.label]
        layout = GraphLayout.from_arrays(arrays)
        return cls(structure, label, layout, arrays["weights"], arrays["units"], arrays.get("information"))
