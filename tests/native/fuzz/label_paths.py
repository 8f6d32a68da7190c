"""Fuzzed calls of `suffice.native.label_paths`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from tests.native.fuzzing import Case

from suffice.native import label_paths


def draw_potentials(chance: Generator, kind: int, shape: tuple[int, ...]) -> Any:
    """Draw log-potentials: plain ones, ties, some that are forbidden, or some far from the others."""
    if kind == 1:
        return chance.integers(-1, 2, shape).astype(float)
    found = chance.normal(size=shape)
    if kind == 2:
        found[chance.random(shape) < 0.3] = -np.inf
    if kind == 3:
        found += np.array([0.0, 1e4, -1e4, 800.0, -650.0, -np.inf])[chance.integers(0, 6, shape)]
    return found


def draw_chains(chance: Generator) -> tuple[Any, ...]:
    """Draw offsets, a range of sequences, scores and steps; steps of first positions may be anything."""
    n_labels, n, kind = int(chance.integers(1, 12)), int(chance.integers(0, 12)), int(chance.integers(0, 4))
    cuts = np.sort(chance.integers(0, n + 1, int(chance.integers(0, 4))))
    offsets = np.concatenate([[0], cuts, [n]]).astype(np.int64)
    low, high = np.sort(chance.integers(0, len(offsets), 2)).tolist()
    scores = draw_potentials(chance, kind, (n, n_labels))
    shared = n == 0 or chance.random() < 0.5
    steps = draw_potentials(chance, kind, (1 if shared else n, n_labels, n_labels))
    if not shared and n > 1 and chance.random() < 0.5:
        steps[offsets[:-1][np.diff(offsets) > 0]] = np.nan
    return offsets, low, high, scores, steps


def draw_ranked(chance: Generator) -> tuple[Any, ...]:
    """Draw the same with a number of paths."""
    return *draw_chains(chance), int(chance.integers(1, 8))


def draw_reach(chance: Generator) -> tuple[Any, ...]:
    """Draw what a forward pass may fill: the greatest of each position is zero."""
    offsets, low, high, scores, steps = draw_chains(chance)
    scores[:, int(chance.integers(0, scores.shape[1]))] = 1.0
    reach = scores - scores.max(axis=1, keepdims=True)
    return offsets, low, high, steps, reach, bool(chance.random() < 0.5), chance.random(len(scores))


def run_best_paths(arguments: Any) -> Any:
    """Return paths and their scores."""
    labels, totals = np.zeros(len(arguments[3]), np.int32), np.zeros(len(arguments[0]) - 1)
    return label_paths.best_paths(*arguments, labels, totals), labels, totals


def run_n_best(arguments: Any) -> Any:
    """Return paths, their scores, and how many there are."""
    offsets, low, high, *_, n = arguments
    paths, totals = np.zeros((n, offsets[high] - offsets[low]), np.int32), np.zeros((high - low, n))
    found = np.zeros(high - low, np.int64)
    impossible = label_paths.n_best(*arguments, paths, totals, found)
    done = (impossible if impossible >= 0 else high) - low
    known = np.arange(n) < found[:, None]
    return impossible, paths, np.where(known, totals, 0.0)[:done], found[:done]


def run_forward(arguments: Any) -> Any:
    """Return sums over paths."""
    reach, log_z = np.zeros_like(arguments[3]), np.zeros(len(arguments[0]) - 1)
    return label_paths.forward(*arguments, reach, log_z), reach, log_z


def run_backward(arguments: Any) -> Any:
    """Return probabilities of labels and pairs."""
    *chains, reach, with_pairs, _ = arguments
    pairs = np.full((len(reach) if with_pairs else 0, reach.shape[1], reach.shape[1]), -1.0)
    return label_paths.backward(*chains, reach, pairs), reach, pairs


def run_draw_paths(arguments: Any) -> Any:
    """Return labels."""
    *chains, reach, _, uniform = arguments
    labels = np.zeros(len(reach), np.int32)
    return label_paths.draw_paths(*chains, reach, uniform, labels), labels


CASES = {
    "best_paths": Case(draw_chains, run_best_paths, 20),
    "n_best": Case(draw_ranked, run_n_best, 20),
    "forward": Case(draw_chains, run_forward, 20),
    "backward": Case(draw_reach, run_backward, 20),
    "draw_paths": Case(draw_reach, run_draw_paths, 20),
}
