"""A chain of labels without what has no effect: weights that are zero, and the names that only they had."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.data.attributes import Vocabulary, offsets_of
from suffice.models.chain_model import ChainModel
from suffice.types import Bools, Ints


def pruned(model: ChainModel) -> ChainModel:
    """Return a model with the same answers and without weights that are zero, but for those of a sequence's ends.

    Names whose weights are all zero go with them, unless their places matter: buckets, and columns of matrices.
    """
    layout, structure, weights = model.layout, model.structure, model.weights
    keep = layout.state_weights(weights) != 0
    keep_pairs = layout.transition_weights(weights) != 0
    keep_steps = layout.step_weights(weights) != 0
    sizes, step_sizes = _sizes(layout.starts, keep), _sizes(layout.step_starts, keep_steps)
    names, steps = structure.vocabulary, structure.step_vocabulary
    used, used_steps = _used(names, sizes), _used(steps or Vocabulary(), step_sizes)
    if steps == names:
        # One list of names that says both what positions have and what steps have stays one.
        used = used_steps = used | used_steps
    elif steps is not None and not (names.is_hashed or steps.is_hashed):
        # Attributes of steps may be read from those of positions, so that these must know their names.
        needed = {name for name, is_used in zip(steps.names, used_steps.tolist(), strict=True) if is_used}
        used = used | np.fromiter((name in needed for name in names.names), bool, len(names))
    parts = (
        layout.state_weights(weights)[keep],
        layout.transition_weights(weights)[keep_pairs],
        layout.start(weights) if layout.has_start else np.zeros(0),
        layout.end(weights) if layout.has_end else np.zeros(0),
        layout.step_weights(weights)[keep_steps],
    )
    smaller = replace(
        layout,
        starts=offsets_of(sizes[used]),
        labels=layout.labels[keep],
        pairs=layout.pairs[keep_pairs],
        step_starts=offsets_of(step_sizes[used_steps]),
        step_pairs=layout.step_pairs[keep_steps],
    )
    fewer = replace(
        structure,
        vocabulary=_chosen(names, used),
        step_vocabulary=None if steps is None else _chosen(steps, used_steps),
    )
    return ChainModel(fewer, model.label, smaller, np.concatenate(parts))


def columns_of(n: int) -> tuple[str, ...]:
    """Return the names that the columns of a matrix have.

    >>> columns_of(3)
    ('0', '1', '2')
    """
    return tuple(map(str, range(n)))


def _sizes(starts: Ints, keep: Bools) -> Ints:
    """Return how many weights of each attribute are kept."""
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(keep)])
    return np.diff(ends[starts])


def _used(names: Vocabulary, sizes: Ints) -> Bools:
    by_place = names.is_hashed or names.names == columns_of(len(names))
    return np.ones(len(names), bool) if by_place else sizes > 0


def _chosen(names: Vocabulary, used: Bools) -> Vocabulary:
    if used.all():
        return names
    return Vocabulary(tuple(name for name, is_used in zip(names.names, used.tolist(), strict=True) if is_used))
