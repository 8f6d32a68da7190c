"""Scores of positions: the weights of their attributes, added up for every label."""

from __future__ import annotations

import numpy as np

from suffice.data.attributes import Attributes
from suffice.models.chain_design import Ready
from suffice.native import label_chains as kernels
from suffice.types import Floats

NONE = np.zeros(0)


def values_of(rows: Attributes) -> Floats:
    """Return the values of attributes; none where all are one."""
    return NONE if rows.values is None else rows.values


def fill_scores(ready: Ready, rows: Floats, weights: Floats, lo: int, hi: int, out: Floats) -> None:
    """Write the scores of positions ``lo`` to ``hi``; ``rows`` is the dense table of the weights of attributes."""
    many, few = ready.many, ready.few
    out[:] = 0.0
    kernels.add_scores(many.starts, many.codes, values_of(many), rows, lo, hi, out)
    kernels.add_few_scores(few.starts, few.codes, ready.few_labels, values_of(few), weights, lo, hi, out)


def scores_of(ready: Ready, rows: Floats, weights: Floats) -> Floats:
    """Return the scores of all positions; shape (n_positions, width)."""
    scores = np.empty((ready.sequences.n_positions, rows.shape[1]))
    fill_scores(ready, rows, weights, 0, len(scores), scores)
    return scores
