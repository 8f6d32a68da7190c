"""Carry the weights of one chain over to another: by name, as far as both have them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.data.attributes import Vocabulary
from suffice.data.variable import Variable
from suffice.models.chain_layout import ChainLayout
from suffice.models.chain_model import ChainModel
from suffice.structures.label_chain import LabelChain
from suffice.types import Floats, Ints


def carried(model: ChainModel, structure: LabelChain, label: Variable, layout: ChainLayout) -> Floats:
    """Return the weights of a model in another layout; features that the model does not have get zero."""
    old, k, to = model.layout, model.layout.n_labels, layout.n_labels
    codes = np.array([_code(model.label, state) for state in label.states or ()], np.int64)
    known = codes >= 0
    pairs = np.where(known[:, None] & known, codes[:, None] * k + codes, -1).reshape(-1)
    transitions = np.append(old.transition_matrix(model.weights).reshape(-1), 0.0)[pairs[layout.pairs]]
    parts = [
        _matched(
            (_names(structure.vocabulary, model.structure.vocabulary), layout.starts, codes[layout.labels]),
            (k, old.starts, old.labels, old.state_weights(model.weights)),
        ),
        transitions,
        np.append(old.start(model.weights), 0.0)[codes] if layout.has_start else np.zeros(0),
        np.append(old.end(model.weights), 0.0)[codes] if layout.has_end else np.zeros(0),
        _matched(
            (
                _names(structure.step_vocabulary, model.structure.step_vocabulary),
                layout.step_starts,
                pairs[layout.step_pairs],
            ),
            (k * k, old.step_starts, old.step_pairs, old.step_weights(model.weights)),
        ),
    ]
    assert to == len(codes)
    return np.concatenate(parts)


def _code(variable: Variable, state: object) -> int:
    states = variable.states or ()
    return states.index(state) if state in states else -1


def _names(new: Vocabulary | None, old: Vocabulary | None) -> Ints:
    """Return, for every code of one vocabulary, that of the same name in another; −1 where there is none."""
    if new is None or old is None or new.n_buckets != old.n_buckets:
        return np.full(len(new or ()), -1, np.int64)
    if new is old or new.is_hashed:
        return np.arange(len(new), dtype=np.int64)
    return np.fromiter((old.index.get(name, -1) for name in new.names), np.int64, len(new))


def _matched(wanted: tuple[Ints, Ints, Ints], held: tuple[int, Ints, NDArray[np.int32], Floats]) -> Floats:
    """Look up weights by attribute and label."""
    attribute, starts, second = wanted
    n, old_starts, old_second, weights = held
    first = np.repeat(attribute, np.diff(starts))
    keys = np.where((first >= 0) & (second >= 0), first * n + second, -1)
    old = np.repeat(np.arange(len(old_starts) - 1, dtype=np.int64), np.diff(old_starts)) * n + old_second
    if not len(old):
        return np.zeros(len(keys))
    where = np.minimum(np.searchsorted(old, keys), len(old) - 1)
    return np.where(old[where] == keys, weights[where], 0.0)
