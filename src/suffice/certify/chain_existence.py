"""Whether the maximum conditional likelihood of a chain exists: where an attribute lacks a label, it does not.

Let an attribute have values of one sign, and never stand with some label. Raising all weights that it has with the
labels it does stand with, or lowering the others, makes the labels of the data more probable wherever the attribute is,
and changes nothing elsewhere. So the likelihood has no maximum. The converse is not decided here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.certify.claim import Claim
from suffice.models.chain_model import ChainModel
from suffice.stats.chain_counts import ChainCounts
from suffice.text import plural

if TYPE_CHECKING:
    from suffice.structures.label_chain import LabelChain


def attribute_without_maximum(claim: Claim[LabelChain, ChainModel], counts: ChainCounts) -> str:
    """Say which attribute's weights have no maximum; nothing where none is found."""
    model: ChainModel = claim.model
    states, k = counts.states, model.label.n_states
    attributes = states.keys // k
    n = len(model.structure.vocabulary)
    labels = np.bincount(attributes[states.sizes > 0], minlength=n)
    one_sign = np.bincount(attributes, np.abs(states.sums) < states.sizes * (1 - 1e-12), minlength=n) == 0
    rising = np.bincount(attributes, states.sums > 0, minlength=n)
    one_sign &= (rising == 0) | (rising == labels)
    weighted = np.diff(model.layout.starts) >= labels  # min_freq may leave an attribute without some of its weights
    lacking = np.flatnonzero((labels > 0) & (labels < k) & one_sign & weighted)
    if not len(lacking):
        return ""
    code = int(lacking[0])
    seen = set((states.keys[(attributes == code) & (states.sizes > 0)] % k).tolist())
    label = model.label.labels[next(state for state in range(k) if state not in seen)]
    more = f", and {plural(len(lacking) - 1, 'other attribute')} lack a label, too" if len(lacking) > 1 else ""
    return f"{model.structure.vocabulary.name(code)!r} never stands with {label!r}{more}"
