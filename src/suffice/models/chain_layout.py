"""ChainLayout: which weights a chain of labels has, and where they lie in one vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import EstimationError, Mention, Remedy
from suffice.settings import settings
from suffice.stats.chain_counts import ChainCounts, Pairs
from suffice.structures.label_chain import LabelChain
from suffice.types import Array, Columns, Floats, Ints

Codes = NDArray[np.int32]
VECTORS = 30
"""So many vectors of all weights are held while learning."""


@dataclass(frozen=True, eq=False)
class ChainLayout:
    """Where the weights of a chain lie: those of attributes, of transitions, of ends, and of attributes of steps.

    Attributes
    ----------
    n_labels : int
        K.
    starts : array, shape (n_attributes + 1,)
        The weights of attribute a are ``starts[a]`` to ``starts[a + 1]``.
    labels : array, shape (n_state_weights,)
        The label of each.
    pairs : array, shape (n_transitions,)
        The transitions with a weight, as previous · K + current; others have none, which is zero.
    has_start, has_end : bool
        Whether there are K weights of the first label, and K of the last.
    step_starts, step_pairs
        The same as ``starts`` and ``labels`` for attributes of steps, whose weights belong to two labels.
    """

    n_labels: int
    starts: Ints
    labels: Codes
    pairs: Codes
    has_start: bool
    has_end: bool
    step_starts: Ints
    step_pairs: Codes

    @property
    def size(self) -> int:
        """The number of weights."""
        return self._bounds[-1]

    @cached_property
    def _bounds(self) -> tuple[int, ...]:
        k = self.n_labels
        sizes = (len(self.labels), len(self.pairs), k * self.has_start, k * self.has_end, len(self.step_pairs))
        return tuple(int(end) for end in np.cumsum([0, *sizes]))

    def _part(self, weights: Floats, number: int) -> Floats:
        bounds = self._bounds
        return weights[bounds[number] : bounds[number + 1]]

    def state_weights(self, weights: Floats) -> Floats:
        """Return those of attributes; a view, shape (n_state_weights,)."""
        return self._part(weights, 0)

    def transition_weights(self, weights: Floats) -> Floats:
        """Return those of transitions; a view, shape (n_transitions,)."""
        return self._part(weights, 1)

    def transition_matrix(self, weights: Floats) -> Floats:
        """Return those of transitions as a matrix, zero where there is none; shape (K, K)."""
        table = np.zeros(self.n_labels**2)
        table[self.pairs] = self.transition_weights(weights)
        return table.reshape(self.n_labels, self.n_labels)

    def start(self, weights: Floats) -> Floats:
        """Return the weights of the first label, zeros if there are none; shape (K,)."""
        return self._part(weights, 2) if self.has_start else np.zeros(self.n_labels)

    def end(self, weights: Floats) -> Floats:
        """Return the weights of the last label, zeros if there are none; shape (K,)."""
        return self._part(weights, 3) if self.has_end else np.zeros(self.n_labels)

    def step_weights(self, weights: Floats) -> Floats:
        """Return those of attributes of steps; a view."""
        return self._part(weights, 4)

    def state_matrix(self, weights: Floats) -> Any:
        """Return those of attributes as a sparse matrix, shape (n_attributes, K)."""
        from scipy.sparse import csr_array

        shape = (len(self.starts) - 1, self.n_labels)
        return csr_array((self.state_weights(weights), self.labels, self.starts), shape=shape)

    def step_matrix(self, weights: Floats) -> Any:
        """Return those of attributes of steps as a sparse matrix, shape (n_step_attributes, K²)."""
        from scipy.sparse import csr_array

        shape = (len(self.step_starts) - 1, self.n_labels**2)
        return csr_array((self.step_weights(weights), self.step_pairs, self.step_starts), shape=shape)

    def gathered(self, counts: ChainCounts) -> Floats:
        """Return the counts of the features that have a weight, in the order of the weights."""
        starts = counts.first if self.has_start else np.zeros(0)
        ends = counts.last if self.has_end else np.zeros(0)
        return np.concatenate(
            [
                _looked_up(counts.states, self.starts, self.labels),
                counts.transitions.reshape(-1)[self.pairs],
                starts,
                ends,
                _looked_up(counts.steps, self.step_starts, self.step_pairs),
            ]
        )

    def names(self, index: int, structure: LabelChain, labels: Sequence[object]) -> str:
        """Say in words which feature a weight belongs to."""
        bounds, k = self._bounds, self.n_labels
        part = int(np.searchsorted(bounds, index, "right")) - 1
        at = index - bounds[part]
        if part == 0:
            attribute = int(np.searchsorted(self.starts, at, "right")) - 1
            return f"{structure.vocabulary.name(attribute)!r} with {labels[self.labels[at]]!r}"
        if part == 1:
            return f"the step {labels[self.pairs[at] // k]!r} → {labels[self.pairs[at] % k]!r}"
        if part in (2, 3):
            return f"the {'first' if part == 2 else 'last'} label {labels[at]!r}"
        attribute, pair = int(np.searchsorted(self.step_starts, at, "right")) - 1, self.step_pairs[at]
        assert structure.step_vocabulary is not None
        named = structure.step_vocabulary.name(attribute)
        return f"{named!r} with the step {labels[pair // k]!r} → {labels[pair % k]!r}"

    def to_arrays(self) -> dict[str, Array]:
        """Return the layout as named arrays."""
        return {
            "layout": np.array([self.n_labels, self.has_start, self.has_end], np.int64),
            "starts": self.starts,
            "labels": self.labels,
            "pairs": self.pairs,
            "step_starts": self.step_starts,
            "step_pairs": self.step_pairs,
        }

    @classmethod
    def from_arrays(cls, arrays: Columns) -> ChainLayout:
        """Rebuild the layout from `to_arrays`."""
        k, has_start, has_end = (int(value) for value in arrays["layout"])
        starts, labels, pairs, step_starts, step_pairs = (
            arrays[name] for name in ("starts", "labels", "pairs", "step_starts", "step_pairs")
        )
        return cls(k, starts, labels, pairs, bool(has_start), bool(has_end), step_starts, step_pairs)


def layout_of(structure: LabelChain, counts: ChainCounts) -> ChainLayout:
    """Return the weights that a structure has, given which features the data has."""
    k = counts.variable.n_states
    n, m = len(structure.vocabulary), len(structure.step_vocabulary or ())
    _require_room(structure, k, n, m)
    starts, labels = _chosen(structure, counts.states, n, k)
    step_starts, step_pairs = _chosen(structure, counts.steps, m, k * k)
    every = np.arange(k * k, dtype=np.int32)
    pairs = every if structure.transitions == "all" else every[counts.transitions.reshape(-1) > 0]
    has_end = structure.boundaries and not structure.is_local
    return ChainLayout(k, starts, labels, pairs, structure.boundaries, has_end, step_starts, step_pairs)


def _chosen(structure: LabelChain, pairs: Pairs, n_attributes: int, n: int) -> tuple[Ints, Codes]:
    """Return which pairs of attribute and label have a weight."""
    if structure.states == "all":
        frequent = np.ones(n_attributes, bool)
        if structure.min_freq > 0:
            totals = np.bincount(pairs.keys // n, pairs.sizes, minlength=n_attributes)
            frequent = totals >= structure.min_freq
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(frequent * np.int64(n))])
        return starts, np.tile(np.arange(n, dtype=np.int32), int(frequent.sum()))
    keys = pairs.keys[pairs.sizes >= structure.min_freq] if structure.min_freq > 0 else pairs.keys
    found = np.bincount(keys // n, minlength=n_attributes) if n_attributes else np.zeros(0, np.int64)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(found, dtype=np.int64)]), (keys % n).astype(np.int32)


def _looked_up(pairs: Pairs, starts: Ints, codes: Codes) -> Floats:
    """Return the sums of some pairs, zero for those that do not occur."""
    keys = np.repeat(np.arange(len(starts) - 1, dtype=np.int64), np.diff(starts)) * pairs.n + codes
    if not len(pairs.keys):
        return np.zeros(len(keys))
    where = np.minimum(np.searchsorted(pairs.keys, keys), len(pairs.keys) - 1)
    return np.where(pairs.keys[where] == keys, pairs.sums[where], 0.0)


def _require_room(structure: LabelChain, k: int, n: int, m: int) -> None:
    """Refuse weights for all pairs when they are more than the memory holds."""
    if structure.states != "all":
        return
    needed, room = 8.0 * VECTORS * (n * k + m * k * k), settings().memory
    if needed > room:
        raise EstimationError(
            f"Weights for all pairs of {n:,} attributes and {k:,} labels, as many times as learning holds them, take "
            f"{needed / 1e9:,.1f} GB, more than the {room / 1e9:,.1f} GB of ",
            Mention("memory", "sf.config(memory=…)"),
            ". Use the observed ones, ",
            Remedy("states", "observed"),
            ", a larger min_freq, or more memory.",
        )
