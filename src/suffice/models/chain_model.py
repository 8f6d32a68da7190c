"""ChainModel: labels of sequences given their attributes, as a conditional random field or a MEMM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.attributes import LabelledSequences, ends_of
from suffice.data.schema import Schema
from suffice.data.sequence_positions import PositionTable
from suffice.data.variable import Variable
from suffice.errors import Mention, ModelError, listing, require_seed
from suffice.inference import label_chains
from suffice.inference.label_chains import Potentials
from suffice.models.chain_design import DenseTable, made_ready, table_of
from suffice.models.chain_layout import ChainLayout
from suffice.models.chain_scores import scores_of
from suffice.settings import settings
from suffice.structures.label_chain import LabelChain, LocalChain
from suffice.text import html_table, in_bytes
from suffice.types import Array, Columns, Floats

Codes = NDArray[np.int32]
PIECE_CELLS = 1 << 22
"""Numbers that the potentials of a piece may have."""
KINDS: dict[str, type[LabelChain]] = {"LabelChain": LabelChain, "LocalChain": LocalChain}


@dataclass(frozen=True, eq=False)
class ChainModel:
    """p(y | x) of labels y of a sequence, given attributes x.

    Attributes
    ----------
    structure : LabelChain
        A `LocalChain` is normalised at every position, which makes the model a MEMM.
    label : Variable
        The labels.
    layout : ChainLayout
        Which weights there are.
    weights : array, shape (layout.size,)
    """

    structure: LabelChain
    label: Variable
    layout: ChainLayout
    weights: Floats

    def __post_init__(self) -> None:
        held = np.array(self.weights, np.float64)
        if held.shape != (self.layout.size,):
            raise ModelError(
                f"The model needs {self.layout.size:,} finite weights. Got an array of shape {held.shape} instead."
            )
        if not np.isfinite(held).all():
            at = int(np.flatnonzero(~np.isfinite(held))[0])
            raise ModelError(
                f"The model needs {self.layout.size:,} finite weights. Got {held[at]} for "
                f"{self.layout.names(at, self.structure, self.label.labels)} instead."
            )
        held.flags.writeable = False
        object.__setattr__(self, "weights", held)

    @property
    def schema(self) -> Schema:
        """The labels."""
        return Schema((self.label,))

    @property
    def variables(self) -> tuple[str, ...]:
        """The name of the labels."""
        return (self.label.name,)

    def __repr__(self) -> str:
        kind = "MEMM" if self.structure.is_local else "ChainCRF"
        return f"{kind}({self.label.n_states:,} labels, {self.layout.size:,} weights)"

    def _repr_html_(self) -> str:
        from suffice.report.static_graph import graph_html

        facts = [
            ["labels", listing(self.label.labels, 12)],
            ["weights", f"{self.layout.size:,}"],
            ["weights that are not zero", f"{np.count_nonzero(self.weights):,}"],
        ]
        return graph_html(self) + html_table([self.label.name, ""], facts, "<<", caption=repr(self))

    # Answers --------------------------------------------------------------------------------------------------

    def log_prob(self, sequences: LabelledSequences | PositionTable) -> Floats:
        """Return log p(y | x) of labelled sequences; shape (n_sequences,)."""
        held = sequences.sequences if isinstance(sequences, PositionTable) else sequences
        assert held.labels is not None
        labels = held.labels

        def one(low: int, high: int, potentials: Potentials) -> Floats:
            own = labels[held.offsets[low] : held.offsets[high]]
            scores = label_chains.path_scores(potentials, own)
            return scores if self.structure.is_local else scores - label_chains.log_z(potentials)

        return np.concatenate([np.zeros(0), *self._by_piece(held, one)])

    def best(self, sequences: LabelledSequences) -> Codes:
        """Return the most probable labels of every sequence together, as codes; shape (n_positions,)."""
        found = self._by_piece(sequences, lambda low, high, potentials: label_chains.best_paths(potentials)[0])
        return np.concatenate([np.zeros(0, np.int32), *found])

    def marginals(self, sequences: LabelledSequences) -> Floats:
        """Return the probability of every label at every position; shape (n_positions, K)."""
        found = self._by_piece(sequences, lambda low, high, potentials: label_chains.marginals(potentials))
        return np.concatenate([np.zeros((0, self.label.n_states)), *found])

    def n_best(self, sequences: LabelledSequences, n: int) -> list[list[tuple[Codes, float]]]:
        """Return the n most probable labellings of every sequence with their log-probabilities, the best first."""

        def one(low: int, high: int, potentials: Potentials) -> list[list[tuple[Codes, float]]]:
            paths = label_chains.n_best(potentials, n)
            zs = np.zeros(high - low) if self.structure.is_local else label_chains.log_z(potentials)
            return [[(path, score - z) for path, score in own] for own, z in zip(paths, zs.tolist(), strict=True)]

        return [own for piece in self._by_piece(sequences, one) for own in piece]

    def sample(self, sequences: LabelledSequences, *, seed: int | None = None) -> Codes:
        """Draw labels from p(y | x), as codes; shape (n_positions,)."""
        rng = np.random.Generator(np.random.Philox(require_seed(seed)))
        drawn = [
            label_chains.draw_paths(self.potentials(sequences.part(low, high)), rng)
            for low, high in self._pieces(sequences)
        ]
        return np.concatenate([np.zeros(0, np.int32), *drawn])

    # Potentials -----------------------------------------------------------------------------------------------

    def _pieces(self, sequences: LabelledSequences) -> Iterator[tuple[int, int]]:
        k = self.label.n_states
        cells = k * k if self.structure.is_local or sequences.steps is not None else k
        return label_chains.pieces(sequences.offsets, max(PIECE_CELLS // max(cells, 1), 1))

    def _by_piece(self, sequences: LabelledSequences, one: Any) -> list[Any]:
        """Return ``one(low, high, potentials)`` of pieces of the sequences, in order."""
        return [one(low, high, self.potentials(sequences.part(low, high))) for low, high in self._pieces(sequences)]

    @cached_property
    def _table(self) -> DenseTable:
        return table_of(self.layout)

    @cached_property
    def _rows(self) -> Floats:
        return self._table.filled(self.layout.state_weights(self.weights))

    def potentials(self, sequences: LabelledSequences) -> Potentials:
        """Return log-potentials of labels and steps; of a MEMM they are log-probabilities."""
        layout, k = self.layout, self.layout.n_labels
        if self.structure.is_local or sequences.steps is not None:
            self._require_room(sequences.n_positions)
        ready = made_ready(sequences, layout, self._table)
        scores = scores_of(ready, self._rows, layout.state_weights(self.weights))[:, :k]
        begins, ends = ends_of(sequences.offsets)
        scores[begins] += layout.start(self.weights)
        scores[ends] += layout.end(self.weights)
        steps = layout.transition_matrix(self.weights)
        if sequences.steps is not None and len(layout.step_pairs):
            more = np.asarray((sequences.steps.matrix() @ layout.step_matrix(self.weights)).todense())
            steps = steps + more.reshape(-1, k, k)
        if not self.structure.is_local:
            return Potentials(sequences.offsets, np.ascontiguousarray(scores), steps)
        whole = scores[:, None, :] + steps
        whole -= _log_sum(whole)[..., None]
        whole[begins] = 0.0
        first = np.zeros_like(scores)
        first[begins] = scores[begins] - _log_sum(scores[begins])[:, None]
        return Potentials(sequences.offsets, first, whole)

    def _require_room(self, n: int) -> None:
        """Refuse a sequence whose matrices, one a position, would not fit the memory."""
        k, room = self.label.n_states, settings().memory
        needed = 24.0 * n * k * k
        if needed > room:
            raise ModelError(
                f"A sequence of {n:,} positions needs matrices of {k:,} × {k:,} labels, one a position: "
                f"{in_bytes(needed)}, more than the {in_bytes(room)} of ",
                Mention("memory", "sf.config(memory=…)"),
                ". Cut it into shorter ones.",
            )

    # Files ----------------------------------------------------------------------------------------------------

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return JSON-able facts and named arrays, which together are the model but for its vocabularies."""
        structure = {
            name: value
            for name, value in self.structure.to_dict().items()
            if name not in ("vocabulary", "step_vocabulary")
        }
        meta = {"structure": structure, "schema": self.schema.to_dict()}
        return meta, {**self.layout.to_arrays(), "weights": self.weights}

    @classmethod
    def from_parts(cls, meta: Mapping[str, Any], arrays: Columns, **vocabularies: Any) -> ChainModel:
        """Rebuild the model from `to_parts` and from its vocabularies."""
        entry = dict(meta["structure"])
        structure = KINDS[entry.pop("type")](**entry, **vocabularies)
        label = Schema.from_dict(meta["schema"])[structure.label]
        return cls(structure, label, ChainLayout.from_arrays(arrays), arrays["weights"])


def _log_sum(scores: Floats) -> Floats:
    """Return log Σ exp along the last axis."""
    top = scores.max(axis=-1)
    return np.asarray(top + np.log(np.exp(scores - top[..., None]).sum(axis=-1)))
